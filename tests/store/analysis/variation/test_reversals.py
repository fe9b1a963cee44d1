"""Pairs of runs that turn about: the nearest to a swap get the law of all outcomes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.analysis.variation import order as module
from store.analysis.variation.collection import Topic, collection_variation
from store.analysis.variation.lists import Empty
from store.analysis.variation.order import order_probability, reversals
from tests.store.analysis.variation.enumerated_variation import outcomes
from tests.store.analysis.variation.kitchen_garden import two_runs
from tests.strategies import examples


def three_runs() -> list[Topic]:
    """Add a run that is the second with its first two documents swapped."""
    topics = []
    for p, ranks in two_runs():
        third = ranks[1].copy()
        third[ranks[1] == 1], third[ranks[1] == 2] = 2, 1
        topics.append((p, np.vstack([ranks, third])))
    return topics


@pytest.mark.vector("methods of the project, section 1.6")
def test_outcomes_go_to_the_nearest_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """28 documents are halves of 14: with 2^14 outcomes for all, one of two pairs gets them."""
    topics = three_runs()
    varied = collection_variation(topics)
    whole = reversals(topics, varied)
    assert {one.method for one in whole.single.values()} == {"enumeration"}
    pairs = list(zip(whole.first.tolist(), whole.second.tolist(), strict=True))
    of_vector = whole.reversed[pairs.index((0, 1))]
    assert of_vector == pytest.approx(0.0811933471, abs=0.51e-10)
    monkeypatch.setattr(module, "MOST_OUTCOMES", 1 << 14)
    some = reversals(topics, varied)
    methods = [one.method for one in some.single.values()]
    assert methods[0] == "enumeration"
    assert len(methods) == 2
    assert methods[1] == "likely"
    assert some.reversed == pytest.approx(whole.reversed, abs=0.01)
    assert all(one.error is not None for one in some.single.values())


def test_far_out_in_the_tail_a_probability_is_not_0() -> None:
    """.0005894610 of the sample collection with rank 6 of its second run found relevant."""
    topics = two_runs("not-relevant", of=1)
    found = reversals(topics, collection_variation(topics))
    assert (found.first.tolist(), found.second.tolist()) == ([1], [0])
    assert found.reversed == pytest.approx([0.0005894610], abs=0.51e-10)
    other = order_probability(topics, most_of_half=0, most_listed=0)
    assert other.method == "mixture"
    assert other.above == pytest.approx(0.0005894610, abs=other.error)


def test_tau_counts_ties_apart_from_both_orders() -> None:
    """One document of .75 that the second run lacks: above with .75, tied with .25, never below.

    The pair agrees three times of four, and counts as 0 where it is tied: a tau of .75 on average.
    The normal law would give 2 Phi(sqrt(3)) - 1 = .917.
    """
    topics = [(np.array([0.75]), np.array([[1.0], [np.inf]]))]
    found = reversals(topics, collection_variation(topics, empty="zero"), quick=True)
    assert found.tau(np.array([0.75, 0.0])) == pytest.approx(0.75, abs=1e-12)
    assert found.tau(np.array([0.0, 0.75])) == pytest.approx(-0.75, abs=1e-12)
    assert found.tau(np.array([0.5, 0.5])) == 0.0


@pytest.mark.parametrize("p", [0.03, 0.002])
def test_one_document_may_turn_runs_that_the_normal_law_sees_far_apart(p: float) -> None:
    """Run 1 has an unlikely document at rank 1 and the sure one at 3: 5/6 of 1 with it, or 1/3.

    Run 0 has the sure one alone: 1/2 with the other relevant, else 1. So they turn about with `p`;
    by the normal law of the mean 2/3 - p and a deviation of some root of p, never.
    """
    topics = [(np.array([1.0, p]), np.array([[1.0, np.inf], [3.0, 1.0]]))]
    found = reversals(topics, collection_variation(topics))
    assert found.reversed == pytest.approx([p], abs=1e-12)
    assert found.error.tolist() == pytest.approx([0.0], abs=1e-12)


def test_a_pair_by_the_normal_law_tells_what_a_correction_would_add(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no pair gets another law: an error for each, and no less than it is off."""
    topics = three_runs()
    varied = collection_variation(topics)
    exact = reversals(topics, varied).reversed
    monkeypatch.setattr(module, "MOST_BY_ONE", 0)
    monkeypatch.setattr(module, "MOST_OUTCOMES", 0)
    found = reversals(topics, varied)
    assert not found.single
    assert (found.error > 0).all()
    assert (abs(found.reversed - exact) <= found.error).all()


def test_error_by_the_normal_law_goes_by_the_rule_for_topics_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred topics of one document of .1 that the second run lacks: a binomial number of them.

    Where topics without relevant documents count as 0, its skewness is (1 - .2) / sqrt(100 .1 .9), and
    a correction adds up to that times the density at 0 over 6.
    """
    topics = [(np.array([0.1]), np.array([[1.0], [np.inf]]))] * 100
    monkeypatch.setattr(module, "MOST_BY_ONE", 0)
    found = reversals(topics, collection_variation(topics, empty="zero"))
    assert not found.single
    expected = 0.8 / 3 / math.sqrt(2 * math.pi) / 6
    assert found.error.tolist() == pytest.approx([expected], rel=1e-3)


@st.composite
def small_topics(draw: st.DrawFn) -> list[Topic]:
    """One or two topics of up to four documents and three runs."""
    topics = []
    for _ in range(draw(st.integers(1, 2))):
        n = draw(st.integers(1, 4))
        p = draw(st.lists(st.sampled_from([0.0, 0.002, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=n, max_size=n))
        p[0] = p[0] or 0.25  # something can be relevant
        places = st.permutations([1.0, 2.0, 5.0, 9.0, 20.0, float("inf"), float("inf")])
        ranks = np.array([draw(places)[:n] for _ in range(3)])
        topics.append((np.array(p), ranks))
    return topics


def plainly_reversed(topics: list[Topic], first: int, second: int, empty: Empty) -> float:
    """Add up the outcomes of all topics in which the second run has the higher MAP."""
    kept = []
    for p, ranks in topics:
        listed = [one for one in outcomes(p.tolist(), ranks.tolist()) if one.weight]
        if empty == "given":
            listed = [one for one in listed if any(one.flags)]
        share = math.fsum(one.weight for one in listed)
        kept.append([(one.weight / share, one.scores[first] - one.scores[second]) for one in listed])
    return math.fsum(
        math.prod(weight for weight, _ in whole)
        for whole in itertools.product(*kept)
        if sum(difference for _, difference in whole) < 0
    )


@pytest.mark.parametrize("empty", ["given", "zero"])
@given(topics=small_topics())
@settings(max_examples=examples(60))
def test_every_pair_is_the_sum_of_all_outcomes(empty: Empty, topics: list[Topic]) -> None:
    """However far apart the runs are: fractions of whole numbers, so that ties are ties."""
    found = reversals(topics, collection_variation(topics, empty=empty))
    pairs = zip(found.first.tolist(), found.second.tolist(), strict=True)
    expected = [plainly_reversed(topics, *pair, empty) for pair in pairs]
    assert found.reversed.tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("n", "n_topics", "p"), [(3, 2, 0.5), (4, 3, 0.6), (6, 3, 0.5)])
def test_two_runs_far_apart_never_turn_about(n: int, n_topics: int, p: float) -> None:
    """A run that has every document 20 ranks above the other is better by every outcome.

    The normal law has a tail beyond what any outcome reaches.
    """
    ranks = np.array([np.arange(1.0, n + 1), np.arange(21.0, n + 21)])
    topics = [(np.full(n, p), ranks)] * n_topics
    found = reversals(topics, collection_variation(topics))
    assert found.reversed.tolist() == [0.0]
