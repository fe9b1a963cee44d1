"""The order of two runs by likely outcomes: equal to all, and honest where some are missed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.variation.collection import Topic
from store.analysis.variation.lists import Empty
from store.analysis.variation.order import order_probability
from store.analysis.variation.outcomes import enumerate_order, halves, likely_order, list_topic
from tests.store.analysis.variation.enumerated_variation import drawn_topics
from tests.store.analysis.variation.outcome_table import outcome_table

two_runs = drawn_topics(most_documents=5, fewest_runs=2, most_runs=2)
rules = st.sampled_from(["given", "zero"])


@given(two_runs, rules)
def test_all_outcomes_of_a_topic_are_listed(topic: Topic, empty: Empty) -> None:
    """Their probabilities add up to those of every outcome of the same value."""
    p, ranks = topic
    table = outcome_table(ranks)
    weights = table.weights(p)
    counts = np.ones(weights.size, dtype=bool)
    if empty == "given":
        counts = np.array([(number > 0) for number in range(weights.size)])
        if not weights[counts].sum() > 0:
            return
        weights = weights / weights[counts].sum()
    listed = list_topic(p, ranks, 1 << 12, empty=empty)
    assert listed.missed == pytest.approx(0, abs=1e-12)
    values = table.scores[:, 0] - table.scores[:, 1]
    for value in np.unique(np.round(values, 9)):
        expected = weights[counts & (abs(values - value) < 1e-8)].sum()
        assert listed.weights[abs(listed.values - value) < 1e-8].sum() == pytest.approx(expected, abs=1e-12)


@given(two_runs, two_runs, two_runs, rules)
def test_topics_are_added_up_as_all_outcomes_are(one: Topic, two: Topic, three: Topic, empty: Empty) -> None:
    """Above, below and tied of three topics are off by no more than is told."""
    topics = [one, two, three]
    if empty == "given" and not all((p > 0).any() for p, _ in topics):
        return
    found = likely_order(topics, 1 << 12, 0.01, empty=empty)
    assert found is not None
    exact = enumerate_order(topics, empty=empty)
    assert found.error < 0.02
    assert found.missed == pytest.approx(0, abs=1e-12)
    told = (found.above, found.below, found.tied)
    assert told == pytest.approx(exact[:3], abs=found.error + 1e-12)


@given(two_runs, st.integers(2, 12))
def test_what_is_left_out_is_the_least_likely(topic: Topic, most: int) -> None:
    """So many outcomes have the most probability that so many can have."""
    p, ranks = topic[0], np.nan_to_num(topic[1], posinf=99.0)
    weights = np.sort(outcome_table(ranks).weights(p))[::-1]
    listed = list_topic(p, ranks, most, empty="zero")
    assert listed.weights.sum() == pytest.approx(weights[:most].sum(), abs=1e-12)


@pytest.mark.parametrize(("most", "listed"), [(1026, True), (1025, False)])
def test_topics_of_few_outcomes_leave_the_others_more(most: int, listed: bool) -> None:
    """One document has 2 outcomes, ten have 2^10: both topics are whole among 1026, in any order.

    Of 1025 the ten documents would get 1023, less than the 2^10 that they need, all alike.
    """
    ten = np.full(10, 0.5), np.array([np.arange(1.0, 11), np.arange(10.0, 0, -1)])
    one = np.array([0.5]), np.array([[1.0], [np.inf]])
    for topics in ([one, ten], [ten, one]):
        found = likely_order(topics, most, 0.999, empty="zero")
        assert (found is not None) is listed
        if found is not None:
            exact = enumerate_order(topics, empty="zero")
            assert found.missed == pytest.approx(0, abs=1e-12)
            assert (found.above, found.below) == pytest.approx(exact[:2], abs=found.error + 1e-12)


def test_halves_are_of_22_random_documents_at_most() -> None:
    """A half of 2^22 outcomes is listed, one of 2^23 is not; what is sure does not count."""
    topics = {
        n_random: (np.array([0.5] * n_random + [0.0, 1.0]), np.arange(1.0, n_random + 3)[None])
        for n_random in (1, 22, 23)
    }
    assert halves([topics[22], topics[22]]) == ([0], [1])
    assert halves([topics[22], topics[23]]) is None
    assert halves([topics[23]]) is None
    assert halves([topics[23], topics[1]]) is None


def sparse(n_topics: int, n_documents: int, p: float, seed: int, *, sure: int = 0) -> list[Topic]:
    """Two runs that have all documents, each in an order of its own; the first are sure."""
    rng = np.random.default_rng(seed)
    return [
        (np.concatenate([np.ones(sure), np.full(n_documents - sure, p)]),
         np.array([rng.permutation(n_documents) + 1.0 for _ in range(2)]))
        for _ in range(n_topics)
    ]  # fmt: skip


def shares(topics: list[Topic], repetitions: int, seed: int) -> tuple[float, float]:
    """Judge by chance, leave judgings without a relevant document out, and count both orders."""
    rng = np.random.default_rng(seed)
    totals = np.zeros(repetitions)
    for p, ranks in topics:
        flags = rng.random((repetitions, p.size)) < p
        while (empty := ~flags.any(axis=1)).any():
            flags[empty] = rng.random((int(empty.sum()), p.size)) < p
        for row, sign in zip(ranks, (1, -1), strict=True):
            order = np.argsort(row)[: int(np.isfinite(row).sum())]
            own = flags[:, order].astype(float)
            totals += sign * (own * own.cumsum(1)) @ (1 / row[order]) / flags.sum(1)
    return float((totals > 1e-12).mean()), float((totals < -1e-12).mean())


@pytest.mark.parametrize(
    ("topics", "listed"),
    [
        (sparse(2, 40, 0.015, 3), True),
        (sparse(8, 12, 0.05, 5), True),
        (sparse(12, 41, 0.03, 10, sure=1), False),
        *(
            pytest.param(topics, True, marks=pytest.mark.slow)
            for topics in (
                sparse(2, 40, 0.03, 1),
                sparse(2, 40, 0.03, 2),
                sparse(1, 120, 0.01, 4),
                sparse(2, 41, 0.03, 6, sure=1),
                sparse(3, 41, 0.03, 7, sure=1),
                sparse(1, 61, 0.03, 8, sure=1),
                sparse(5, 31, 0.03, 9, sure=1),
            )
        ),
    ],
)
def test_few_relevant_among_many_documents(topics: list[Topic], listed: bool) -> None:
    """Steps and ties are large there: the error told holds against 60,000 judgings by chance."""
    found = order_probability(topics)
    assert (found.method == "likely") is listed
    assert found.error is not None
    assert found.error < 0.08
    above, below = shares(topics, 60_000, 11)
    noise = 4 * 0.5 / 60_000**0.5
    assert found.above == pytest.approx(above, abs=found.error + noise)
    assert found.below == pytest.approx(below, abs=found.error + noise)


def test_a_tie_of_nothing_relevant_is_taken_apart() -> None:
    """Runs that differ in two documents of many are tied by .97^2, whatever the others are."""
    rng = np.random.default_rng(8)
    p = np.concatenate([[0.03, 0.03], np.full(60, 0.5)])
    first = np.concatenate([[1.0, 2.0], rng.permutation(60) + 3.0])
    second = np.concatenate([[2.0, 1.0], first[2:]])
    found = order_probability([(p, np.array([first, second]))])
    assert found.method != "likely"
    assert found.tied == pytest.approx(0.97**2, abs=1e-9)
    # The document that a run has first lifts its AP alone; with both of them neither is ahead.
    assert found.error is not None
    assert found.above == pytest.approx(0.03 * 0.97, abs=found.error)
