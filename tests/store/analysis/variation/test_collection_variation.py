"""Collections whose judgements vary: example X6 in every printed digit, the paper's own shares."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from store.analysis.variation.collection import (
    CollectionVariation,
    Components,
    Topic,
    collection_variation,
    pair_components,
    run_components,
)
from store.errors import ArgumentError
from tests.vectors import variation_examples as x6


def three_topics() -> list[Topic]:
    """Make the topics of X6."""
    return [
        (np.array([float(Fraction(one)) for one in p.split()]), np.array(ranks, dtype=np.float64))
        for p, ranks in x6.X6
    ]


@pytest.mark.vector("formulas of the project, section 6: X6")
def test_three_topics() -> None:
    """Means, variances and covariances by topic; MAP, components, K and the four tests."""
    varied = collection_variation(three_topics(), empty="zero")
    own = np.diagonal(varied.covariance, axis1=1, axis2=2).T
    assert varied.mean.ravel() == pytest.approx(np.ravel(x6.X6_MEANS), abs=1e-14)
    assert own.ravel() == pytest.approx(np.ravel(x6.X6_VARIANCES), abs=x6.NEAR)
    assert varied.covariance[:, 0, 1] == pytest.approx(x6.X6_COVARIANCES, abs=1e-14)
    assert varied.map_mean == pytest.approx(x6.X6_MAP, abs=1e-14)
    runs = run_components(varied)
    assert runs.topic_variance == pytest.approx(x6.X6_TOPIC_VARIANCE, abs=1e-14)
    assert runs.judging_variance == pytest.approx(x6.X6_JUDGING_VARIANCE, abs=1e-14)
    assert runs.of_mean == pytest.approx(x6.X6_OF_MEAN, abs=1e-14)
    assert runs.by_judging**2 == pytest.approx(np.diagonal(varied.map_covariance), rel=1e-13)
    pairs = pair_components(varied)
    for name, expected in x6.X6_DIFFERENCE.items():
        assert getattr(pairs.components, name).tolist() == pytest.approx([expected], abs=x6.NEAR)
    for name, expected in x6.X6_TESTS.items():
        assert getattr(pairs, name).tolist() == pytest.approx([expected], abs=x6.NEAR)


def test_p_values_are_of_t() -> None:
    """Two-sided, with 2 L - 2 and L - 1 degrees of freedom."""
    found = pair_components(collection_variation(three_topics(), empty="zero")).p_values()
    for name, t in x6.X6_TESTS.items():
        law = stats.t(4 if name.startswith("t1") else 2)
        assert found[name].tolist() == pytest.approx([2 * law.sf(t)])


def paper_s_runs() -> CollectionVariation:
    """Make runs and their difference with the paper's moments over 53 topics.

    .0018 of sigma_d^2 in run A and .0036 in run B are chosen so that the difference, of independent
    judgements, has the .00487 less the covariance that the paper leaves unprinted.
    """
    shape = (np.arange(53) - 26.0) / 238.5**0.5  # of variance 1
    mean = np.stack([0.35774 + 0.0330**0.5 * shape, np.full(53, 0.27974)])
    covariance = np.broadcast_to([[0.00487, 0.0], [0.0, 0.0]], (53, 2, 2))
    return CollectionVariation(mean, np.array(covariance), 0.0)


def test_paper_s_own_pair() -> None:
    """Section 4.2: .0330 over topics, .00487 by judging: K is .129, and nothing would turn about.

    sqrt(.00487 / 53) = .009586.
    """
    (share,) = pair_components(paper_s_runs()).components.share
    assert share == pytest.approx(0.00487 / (0.00487 + 0.0330))
    (spread,) = pair_components(paper_s_runs()).components.by_judging
    assert round(float(spread), 6) == 0.009586


def test_interval_is_as_wide_as_judging_says() -> None:
    """The mean and sqrt(.04 / 4) = .1 to either side hold one standard deviation of judgings.

    That is 68.27% of a normal law; 95%, the default, lies within 1.96 of them.
    """
    runs = Components(np.array([0.3]), np.array([0.01]), np.array([0.04]), 4)
    assert np.ravel(runs.interval()) == pytest.approx([0.104, 0.496], abs=1e-5)


def test_undefined_is_nan_and_no_error() -> None:
    """One topic has no variance over topics; runs that are the same have no t."""
    (topic, *_) = three_topics()
    alone = pair_components(collection_variation([topic], empty="zero"))
    assert np.isnan(alone.components.topic_variance).all()
    assert np.isnan(alone.t2_included).all()
    p, ranks = topic
    same = pair_components(collection_variation([(p, ranks[[0, 0]])] * 2, empty="zero"))
    assert np.isnan(same.t2_removed).all()
    assert np.isnan(same.components.share).all()
    assert same.components.judging_variance.tolist() == [0.0]


def test_pairs_and_progress_are_those_asked_for() -> None:
    """The second run before the first turns the signs about; each topic counts once."""
    ticks: list[int] = []
    varied = collection_variation(three_topics(), progress=ticks.append, empty="zero")
    assert ticks == [1, 1, 1]
    back = pair_components(varied, (np.array([1]), np.array([0])))
    assert back.t2_included.tolist() == pytest.approx([-x6.X6_TESTS["t2_included"]])


def test_topics_must_have_the_same_runs() -> None:
    """None at all, and a topic with a run less."""
    with pytest.raises(ArgumentError, match="one or more"):
        collection_variation([], empty="zero")
    first, second, _ = three_topics()
    with pytest.raises(ArgumentError, match="2 runs each"):
        collection_variation([first, (second[0], second[1][:1])], empty="zero")
