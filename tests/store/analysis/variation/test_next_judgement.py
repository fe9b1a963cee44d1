"""Which document to judge next: gains by hand and by enumeration, settled pairs left out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import norm

from store.analysis.variation.collection import collection_variation, next_documents, settled_pairs
from store.errors import ArgumentError
from tests.store.analysis.variation.enumerated_variation import Topic, drawn_topics, enumerated
from tests.store.analysis.variation.outcome_table import Floats, OutcomeTable, outcome_table


@given(drawn_topics(most_documents=6, fewest_runs=3, most_runs=3))
def test_gain_is_what_a_judgement_takes_away_of_every_open_pair(topic: Topic) -> None:
    """Variance over all outcomes, less its mean once the document is known, added up."""
    p, ranks = topic
    topics = [topic]
    varied = collection_variation(topics, empty="zero")
    found = next_documents(topics, varied, confidence=0.9)
    open_pairs = [(a, b) for a, b in ((0, 1), (0, 2), (1, 2)) if found.unsettled[a, b]]
    assert found.n_unsettled == len(open_pairs)
    table = outcome_table(ranks)
    before = sum(spread(table, p, *pair) for pair in open_pairs)
    assert found.variance == pytest.approx(before, abs=1e-14)
    gains = dict(zip(found.document.tolist(), found.gain.tolist(), strict=True))
    for document in range(p.size):
        left = 0.0
        for value, weight in ((1.0, p[document]), (0.0, 1 - p[document])):
            known = p.copy()
            known[document] = value
            left += weight * sum(spread(table, known, *pair) for pair in open_pairs)
        assert gains.get(document, 0.0) == pytest.approx(before - left, abs=1e-13)


def spread(table: OutcomeTable, p: Floats, first: int, second: int) -> float:
    """Return the variance of the difference of two runs, from all outcomes."""
    _, of = table.moments(p)
    return float(of[first, first] + of[second, second] - 2 * of[first, second])


def test_topics_share_the_gain() -> None:
    """The same topic twice: MAP is a mean of two, so each document takes away a quarter."""
    topic = (np.array([0.5, 0.5]), np.array([[1.0, 2.0], [3.0, 2.0]]))
    once = next_documents([topic], collection_variation([topic], empty="zero"))
    twice = next_documents([topic] * 2, collection_variation([topic] * 2, empty="zero"))
    assert twice.topic.tolist() == [0, 1, 0, 1]
    assert twice.gain == pytest.approx(np.repeat(once.gain, 2) / 4)
    assert twice.variance == pytest.approx(once.variance / 2)


def test_settled_pairs_are_those_that_the_normal_law_is_sure_of() -> None:
    """At the confidence asked for, by mean and variance of all outcomes; equal lists are settled."""
    rng = np.random.default_rng(1)
    p = rng.uniform(0.1, 0.9, 8)
    ranks = np.array([rng.permutation(8) + 1.0 for _ in range(5)])
    ranks = np.vstack([ranks, ranks[:1]])
    varied = collection_variation([(p, ranks)], empty="zero")
    exact, table = enumerated(p, ranks), outcome_table(ranks)
    n_settled = []
    for confidence in (0.6, 0.7, 0.8):
        settled = settled_pairs(varied, confidence)
        for a, b in itertools.combinations(range(6), 2):
            deviation = spread(table, p, a, b) ** 0.5
            z = abs(exact.mean[a] - exact.mean[b]) / deviation if (a, b) != (0, 5) else np.inf
            assert settled[a, b] == settled[b, a] == (norm.cdf(z) >= confidence)
        assert settled.diagonal().all()
        n_settled.append(int(settled.sum()))
    assert len(set(n_settled)) > 1


def test_at_a_confidence_of_1_nothing_that_varies_is_settled() -> None:
    """Not even an order that judging again keeps for certain; above 1 there is no confidence."""
    varied = collection_variation([(np.array([1.0, 0.5]), np.array([[1.0, np.inf], [2.0, 1.0]]))])
    assert settled_pairs(varied, 1.0).tolist() == [[True, False], [False, True]]
    with pytest.raises(ArgumentError, match="confidence"):
        settled_pairs(varied, 1.1)


def test_sure_documents_tell_nothing() -> None:
    """Nothing varies: no document, no pair."""
    topic = (np.array([1.0, 0.0]), np.array([[1.0, 2.0], [2.0, 1.0]]))
    found = next_documents([topic], collection_variation([topic], empty="zero"))
    assert (found.document.size, found.n_unsettled, found.variance) == (0, 0, 0.0)
