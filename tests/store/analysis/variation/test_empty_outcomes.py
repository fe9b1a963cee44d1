"""Judgings that leave a topic without a relevant document: left out, or with an AP of 0."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from store.analysis.variation.collection import (
    Topic,
    collection_variation,
    next_documents,
    pair_components,
    reversals,
    run_components,
    simulated_reversals,
)
from store.analysis.variation.moments import (
    Empty,
    chance_left,
    chance_of_any,
    check_chances,
    judgement_weights,
    variation,
    variation_gradient,
)
from store.analysis.variation.simulation import simulate_maps
from store.errors import ArgumentError
from tests.store.analysis.variation.enumerated_variation import drawn_topics
from tests.store.analysis.variation.outcome_table import OutcomeTable, outcome_table, reversed_in
from tests.strategies import examples

NOT = np.inf
SOURCE = "methods of the project, section 3"


def topic(p: list[float], *ranks: list[float]) -> Topic:
    """Make a topic of lists."""
    return np.array(p), np.array(ranks, dtype=np.float64)


D1 = topic([0.5, 0.5], [1, NOT], [2, 1])
D3 = topic([0.1, 0.2, 0.05, 0.3], [1, 2, 3, 4], [4, 3, 2, NOT])
D4 = topic([0.4, 0, 0.3], [1, 2, 4], [3, 2, 1])
D5 = topic([0.2, 0.3], [2, NOT], [1, 3])


@pytest.mark.vector(SOURCE)
@pytest.mark.parametrize(
    ("one", "none", "mean", "moments"),
    [
        (D1, 0.25, [1 / 2, 5 / 6], [1 / 6, 1 / 18, -1 / 12]),
        (D3, 0.4788, [0.476256715272, 0.180623507717],
         [0.063535574955, 0.028522720939, 0.023100018797]),
        (D4, 0.42, [0.715517241379, 0.643678160920],
         [0.106569560048, 0.093341260404, -0.092746730083]),
        (D5, 0.56, [0.193181818182, 0.613636363636],
         [0.050748966942, 0.096935261708, 0.068956611570]),
    ],
)  # fmt: skip
def test_topics_given_a_relevant_document(
    one: Topic, none: float, mean: list[float], moments: list[float]
) -> None:
    """D1, D3, D4 and D5: means, variances and covariance to twelve digits."""
    found = variation(*one)
    assert found.none_relevant == pytest.approx(none, rel=1e-12)
    assert found.mean == pytest.approx(mean, abs=0.51e-12)
    covariance = found.covariance
    assert [covariance[0, 0], covariance[1, 1], covariance[0, 1]] == pytest.approx(moments, abs=0.51e-12)


@pytest.mark.vector(SOURCE)
def test_rule_turns_the_order_about() -> None:
    """E0: with an AP of 0 counted B is ahead, given a relevant document A is."""
    two = [topic([1], [2], [1]), topic([0.25], [1], [3])]
    zero = collection_variation(two, empty="zero")
    assert zero.map_mean == pytest.approx([0.375, 0.5416666667], abs=0.51e-10)
    found = collection_variation(two)
    assert found.map_mean == pytest.approx([0.75, 0.6666666667], abs=0.51e-10)
    assert found.none_relevant.tolist() == [0.0, 0.75]


E1 = [
    topic([0.5, 0.3, 1, 0.2], [1, NOT, 4, 2], [3, 2, 1, NOT]),
    topic([0.5, 0.4], [1, 3], [NOT, 2]),
    topic([0.1, 0.2, 0.05], [2, 3, NOT], [4, 1, 3]),
]


@pytest.mark.vector(SOURCE)
@pytest.mark.parametrize(
    ("empty", "expected"),
    [
        ("zero", (0.3756990741, 0.4153148148, 0.1520776594, 0.1494027078, 0.4955636387,
                  -0.1759526039)),
        ("given", (0.5305150777, 0.5999670149, 0.2856306573, 0.1751072713, 0.3800582945,
                   -0.2250829414)),
    ],
)  # fmt: skip
def test_three_topics_by_both_rules(empty: str, expected: tuple[float, ...]) -> None:
    """E1: MAPs, the two variances of the difference, K and t2 to ten digits."""
    varied = collection_variation(E1, empty="given" if empty == "given" else "zero")
    assert varied.none_relevant == pytest.approx([0, 0.3, 0.684])
    pair = pair_components(varied)
    parts = pair.components
    found = [*varied.map_mean, parts.topic_variance[0], parts.judging_variance[0], parts.share[0],
             pair.t2_removed[0]]  # fmt: skip
    assert found == pytest.approx(expected, abs=0.51e-10)


def conditional(table: OutcomeTable, p: np.ndarray) -> np.ndarray:
    """Return the weight of every outcome given that one document is relevant."""
    weights = table.weights(p) * table.relevant.any(axis=1)
    return np.asarray(weights / weights.sum())


@settings(max_examples=examples(100))
@given(drawn_topics(most_documents=9))
def test_moments_equal_all_outcomes_with_a_relevant_document(one: Topic) -> None:
    """Means and covariances below 1e-12."""
    p, ranks = one
    if not p.any():
        assert np.isnan(variation(p, ranks).mean).all()
        assert np.isnan(variation_gradient(p, ranks)).all()
        return
    table = outcome_table(ranks)
    weights = conditional(table, p)
    mean = weights @ table.scores
    apart = table.scores - mean
    found = variation(p, ranks)
    assert np.abs(found.mean - mean).max() < 1e-12
    assert np.abs(found.covariance - (apart * weights[:, None]).T @ apart).max() < 1e-12


@given(drawn_topics(most_documents=7, fewest_runs=2, most_runs=2))
def test_gain_is_what_a_judgement_takes_away_of_what_is_left(one: Topic) -> None:
    """Variance less its mean once a document is known, over the outcomes that count."""
    p, ranks = one
    if not p.any():
        return
    table = outcome_table(ranks)
    weights = conditional(table, p)
    difference = table.scores[:, 0] - table.scores[:, 1]

    def spread(kept: np.ndarray) -> float:
        """Return the part of the variance within some outcomes."""
        share = weights[kept].sum()
        if not share:
            return 0.0
        mean = weights[kept] @ difference[kept] / share
        return float(weights[kept] @ (difference[kept] - mean) ** 2)

    everything = np.ones(len(weights), dtype=np.bool_)
    expected = [spread(everything) - spread(column) - spread(~column) for column in table.relevant.T]
    gradient = variation_gradient(p, ranks)
    gains = judgement_weights(p) * (gradient[0] - gradient[1]) ** 2
    assert gains == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("empty", ["given", "zero"])
def test_order_by_both_rules(empty: Empty) -> None:
    """E1 and two more topics: draws within four standard errors of all outcomes."""
    topics = [*E1, D3, D5]
    turned = reversals(collection_variation(topics, empty=empty))
    found = simulated_reversals(topics, turned, seed=1, empty=empty)
    exact = reversed_in(topics, int(found.first[0]), int(found.second[0]), empty=empty)
    assert found.simulated[0] == pytest.approx(exact, abs=4 * found.error[0])
    assert found.reversed[0] == pytest.approx(exact, abs=0.03)


def test_simulation_judges_anew_what_left_nothing() -> None:
    """Four standard errors from the moments, however rare a relevant document is."""
    rare = topic([1e-4, 3e-4], [1, 2], [2, 1])
    for one in (D3, D5, rare):
        expected, found = variation(*one), simulate_maps([one], seed=3, repetitions=100_000)
        spread = expected.covariance.diagonal()
        assert (abs(found.mean - expected.mean) <= 4.5 * (spread / found.repetitions) ** 0.5).all()
        assert found.covariance.diagonal() == pytest.approx(spread, rel=0.03)


def test_next_asks_for_no_document_that_must_be_the_relevant_one() -> None:
    """The only uncertain document of a topic is relevant in every judging that counts."""
    only, other = topic([0.3, 0], [1, 2], [2, 1]), topic([0.5, 1], [1, 2], [2, 1])
    found = next_documents([only, other], collection_variation([only, other]))
    assert found.topic.tolist() == [1]
    zero = collection_variation([only, other], empty="zero")
    assert sorted(next_documents([only, other], zero).topic.tolist()) == [0, 1]


def test_topics_that_never_count_are_refused() -> None:
    """Every function of all topics names the first; an unknown rule is none."""
    never = topic([0, 0], [1, 2], [2, 1])
    with pytest.raises(ArgumentError, match="document that may be relevant"):
        collection_variation([D1, never])
    collection_variation([D1, never], empty="zero")
    with pytest.raises(ArgumentError, match="document that may be relevant"):
        simulate_maps([never], seed=1)
    with pytest.raises(ArgumentError, match="given or zero"):
        chance_left(D1[0], "third")  # type: ignore[arg-type]  # what is refused
    check_chances([never[0]], "zero")
    assert chance_of_any(np.full(2, 1e-18)) == pytest.approx(2e-18)


@pytest.mark.parametrize("n_documents", [5, 60])
def test_topic_that_is_surely_empty_divides_by_one_more(n_documents: int) -> None:
    """With ``zero`` every MAP is 2/3 of that of the two other topics, and no order changes."""
    rng = np.random.default_rng(1)
    others = [
        (rng.random(n_documents) / 2, np.array([rng.permutation(n_documents) + 1.0 for _ in "ab"]))
        for _ in range(2)
    ]
    for never in ((np.zeros(0), np.zeros((2, 0))), topic([0, 0], [1, 2], [2, 1])):
        topics = [others[0], never, others[1]]
        two, three = (collection_variation(some, empty="zero") for some in (others, topics))
        assert three.none_relevant[1] == 1
        np.testing.assert_allclose(three.map_mean, two.map_mean * 2 / 3, rtol=1e-12)
        np.testing.assert_allclose(three.map_covariance, two.map_covariance * 4 / 9, rtol=1e-12)
        of_two, of_three = run_components(two).interval(), run_components(three).interval()
        np.testing.assert_allclose(of_three, np.array(of_two) * 2 / 3, rtol=1e-9)
        np.testing.assert_allclose(reversals(three).reversed, reversals(two).reversed, rtol=1e-9)
        of_two_next, of_three_next = next_documents(others, two), next_documents(topics, three)
        np.testing.assert_allclose(of_three_next.gain, of_two_next.gain * 4 / 9, rtol=1e-9)
        assert set(of_three_next.topic.tolist()) == {0, 2}
        simulated = simulate_maps(topics, seed=1, repetitions=2000, empty="zero")
        assert (
            abs(simulated.mean - three.map_mean) < 5 * (simulated.covariance.diagonal() / 2000) ** 0.5
        ).all()
