"""How likely another judging turns two runs about: the normal law, and draws, beside all outcomes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from store.analysis.variation.collection import (
    CollectionVariation,
    Reversals,
    Topic,
    collection_variation,
    expected_tau,
    order_probabilities,
    reversals,
    simulated_reversals,
)
from store.analysis.variation.moments import Empty
from store.analysis.variation.simulation import simulate_maps
from tests.store.analysis.variation.enumerated_variation import drawn_topics
from tests.store.analysis.variation.kitchen_garden import two_runs
from tests.store.analysis.variation.outcome_table import reversed_in
from tests.store.analysis.variation.test_collection_variation import three_topics
from tests.strategies import examples
from tests.vectors.variation_examples import X6_ABOVE

DRAWS = 20_000
NORMAL_IS_OFF = 0.1
"""What `docs/reference/mathematics.md` allows the normal law in four topics of eight documents, and more."""


def simulated(topics: list[Topic], *, empty: Empty = "given", seed: int = 1) -> Reversals:
    """Draw for the nearest pairs."""
    turned = reversals(collection_variation(topics, empty=empty))
    return simulated_reversals(topics, turned, seed=seed, empty=empty)


def noise(p: float) -> float:
    """Return four standard errors of a share of the draws."""
    return 4 * (max(p * (1 - p), 1 / DRAWS) / DRAWS) ** 0.5


@pytest.mark.vector("formulas of the project, section 6: X6")
def test_three_topics() -> None:
    """Exactly .7450588: the normal law to its own twelve digits, draws within four standard errors."""
    topics = three_topics()
    table = order_probabilities(collection_variation(topics, empty="zero"))
    assert table[0, 1] == pytest.approx(X6_ABOVE["normal"], abs=0.51e-12)
    assert table + table.T == pytest.approx(np.ones((2, 2)))
    drawn = simulate_maps(topics, seed=1, empty="zero").above[0, 1]
    assert drawn == pytest.approx(X6_ABOVE["exact"], abs=noise(X6_ABOVE["exact"]))


KG = "methods of the project, sections 1.5, 1.6 and 2.4"


@pytest.mark.vector(KG)
@pytest.mark.parametrize(
    ("topics", "exact", "normal"),
    [
        (two_runs(), 0.0811933471, 0.0754655876),
        (two_runs("not-relevant", of=1), 0.9994105390, 0.9980865461),
        (two_runs("unjudged", of=1), 0.5388261903, 0.5694456289),
        (two_runs("not-relevant", of=1, scenario="shared"), 0.1653152846, 0.1677005618),
        (two_runs("unjudged", of=1, scenario="shared"), 0.3344895460, 0.3718504666),
        (two_runs("not-relevant", of=0), 8.4026e-6, 2.724e-6),
    ],
)
def test_28_documents_of_the_sample_collection(topics: list[Topic], exact: float, normal: float) -> None:
    """P(B above A) by all 2^28 outcomes: the normal law as printed, .04 off at most; draws by their error."""
    varied = collection_variation(topics)
    assert order_probabilities(varied)[1, 0] == pytest.approx(normal, abs=0.51e-9)
    assert normal == pytest.approx(exact, abs=0.04)
    assert simulate_maps(topics, seed=1).above[1, 0] == pytest.approx(exact, abs=noise(exact))


@pytest.mark.parametrize("empty", ["given", "zero"])
@settings(max_examples=examples(60), deadline=None)
@given(
    one=drawn_topics(most_documents=5, fewest_runs=3, most_runs=3),
    two=drawn_topics(most_documents=4, fewest_runs=3, most_runs=3),
)
def test_draws_agree_with_the_sum_of_all_outcomes(empty: Empty, one: Topic, two: Topic) -> None:
    """Every pair of three runs, ties apart, within five standard errors: there are many examples."""
    topics = [one, two]
    if empty == "given" and not all(p.any() for p, _ in topics):
        return
    found = simulated(topics, empty=empty)
    for a, b, share in zip(found.first.tolist(), found.second.tolist(), found.simulated, strict=True):
        exact = reversed_in(topics, a, b, empty=empty)
        assert share == pytest.approx(exact, abs=1.25 * noise(exact))


@pytest.mark.parametrize("seed", range(6))
def test_normal_law_is_as_far_off_as_documented(seed: int) -> None:
    """Four topics of four uncertain documents and a sure one, whose outcomes can be listed."""
    rng = np.random.default_rng(seed)
    topics = []
    for _ in range(4):
        p = np.concatenate([rng.beta(0.3, 1, 4), [1.0]])
        topics.append((p, np.array([rng.permutation(5) + 1.0 for _ in "ab"])))
    turned = reversals(collection_variation(topics))
    exact = reversed_in(topics, int(turned.first[0]), int(turned.second[0]))
    assert turned.reversed[0] == pytest.approx(exact, abs=NORMAL_IS_OFF)


def test_one_document_may_turn_runs_that_the_normal_law_sees_far_apart() -> None:
    """Run 1 has an unlikely document at rank 1 and the sure one at 3: 5/6 of 1 with it, or 1/3.

    Run 0 has the sure one alone: 1/2 with the other relevant, else 1. So they turn about with .1, of which
    the law of mean and deviation knows nothing; the draws do.
    """
    topics = [(np.array([1.0, 0.1]), np.array([[1.0, np.inf], [3.0, 1.0]]))]
    found = simulated(topics)
    assert found.reversed[0] < 0.03
    assert found.simulated[0] == pytest.approx(0.1, abs=noise(0.1))


def many_runs(n_runs: int) -> list[Topic]:
    """Make a topic of twenty documents and runs in orders of their own."""
    rng = np.random.default_rng(5)
    return [(rng.uniform(0, 1, 20), np.array([rng.permutation(20) + 1.0 for _ in range(n_runs)]))]


def test_the_nearest_pairs_are_drawn_together() -> None:
    """Ten runs have all 45 pairs drawn; of twelve those 45 with the highest probability are."""
    assert not np.isnan(simulated(many_runs(10)).simulated).any()
    found = simulated(many_runs(12))
    drawn = ~np.isnan(found.simulated)
    assert (drawn.sum(), found.simulated.size) == (45, 66)
    assert found.reversed[drawn].min() >= found.reversed[~drawn].max()
    assert (np.isnan(found.error) == ~drawn).all()
    share = found.simulated[drawn]
    assert found.error[drawn] == pytest.approx((share * (1 - share) / DRAWS) ** 0.5)


def test_a_seed_decides_and_the_order_of_documents_does_not() -> None:
    """The same shares for a seed, from draws that are there already, too, and for documents in any order."""
    topics = many_runs(6)
    whole = simulated(topics)
    assert whole.simulated.tolist() == simulated(topics).simulated.tolist()
    assert whole.simulated.tolist() != simulated(topics, seed=2).simulated.tolist()
    turned = [(p[::-1], ranks[:, ::-1]) for p, ranks in topics]
    assert whole.simulated.tolist() == simulated(turned).simulated.tolist()
    pairs = reversals(collection_variation(topics))
    maps = simulate_maps(topics, seed=1)
    of_all = simulated_reversals(topics, pairs, seed=1, simulated=maps)
    assert of_all.simulated.tolist() == whole.simulated.tolist()


def test_nothing_varies() -> None:
    """The order is what it is: above, below or tied."""
    sure = (np.ones(2), np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]))
    table = order_probabilities(collection_variation([sure], empty="zero"))
    assert table.tolist() == [[0.5, 1.0, 0.5], [0.0, 0.5, 0.0], [0.5, 1.0, 0.5]]
    assert simulated([sure]).simulated.tolist() == [0.0, 0.0, 0.0]


def test_expected_tau_by_hand() -> None:
    """Three runs: pairs stay with .9, .6 and .7; one pair is tied in this judging."""
    above = np.array([[0.5, 0.9, 0.6], [0.1, 0.5, 0.7], [0.4, 0.3, 0.5]])
    assert expected_tau(above, np.array([3.0, 2.0, 1.0])) == pytest.approx((0.8 + 0.2 + 0.4) / 3)
    assert expected_tau(above, np.array([3.0, 2.0, 2.0])) == pytest.approx((0.8 + 0.2) / 3)
    assert np.isnan(expected_tau(np.array([[0.5]]), np.array([1.0])))


@pytest.mark.vector("formulas of the project, section 2: P(order reversed), the paper's own case")
def test_paper_s_own_pair_would_not_turn_about() -> None:
    """MAP difference .04615, sd by judging sqrt(.00487/53) = .009586: z = 4.81, P = 7.4e-7."""
    mean = np.array([[0.04615] * 53, [0.0] * 53])
    covariance = np.broadcast_to([[0.00487, 0.0], [0.0, 0.0]], (53, 2, 2))
    table = order_probabilities(CollectionVariation(mean, np.array(covariance), 0.0))
    assert table[1, 0] == pytest.approx(7.4e-7, abs=0.05e-7)
