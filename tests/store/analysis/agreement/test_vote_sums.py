"""Sums over documents: against counting pairs of votes, and what may change nothing."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement.tables import sums_apart, vote_sums
from store.analysis.agreement.votes import Votes, votes_from_rows, votes_of_judges
from tests.store.analysis.graded import MISSING, drawn_votes, texts_of


@given(drawn_votes(max_judges=5, max_documents=12))
def test_sums_equal_pairs_of_votes_counted_one_by_one(votes: Votes) -> None:
    """Every ordered pair of votes of a document counts 1, 1 / (m - 1) and 1 / (m (m - 1))."""
    n_topics, q = len(votes.topics), votes.n_grades
    squares = np.full((3, n_topics, q, q), Fraction(0))
    given_ = np.full((n_topics, q), Fraction(0))
    n_graded, n_shared = [0] * n_topics, [0] * n_topics
    for topic, text in zip(votes.topic_codes.tolist(), texts_of(votes), strict=True):
        places = [int(place) for place in text if place != MISSING]
        m = len(places)
        n_graded[topic] += 1
        n_shared[topic] += m > 1
        for place in places:
            given_[topic, place] += Fraction(1, m)
        for one, other in permutations(places, 2):
            shares = [Fraction(1), Fraction(1, m - 1), Fraction(1, m * (m - 1))]
            squares[:, topic, one, other] += shares
    sums = vote_sums(votes)
    assert sums.dtype == np.float64
    parts = sums_apart(sums)
    assert parts.pairs.tolist() == squares[0].tolist()
    for part, slow in (
        (parts.coincidences, squares[1]),
        (parts.rates, squares[2]),
        (parts.grade_shares, given_),
    ):
        assert part == pytest.approx(slow.astype(float), rel=1e-14)
    assert (parts.n_graded.tolist(), parts.n_shared.tolist()) == (n_graded, n_shared)


@given(drawn_votes(max_judges=5, max_documents=12), st.data())
def test_sums_do_not_depend_on_the_order_of_judges_and_documents(votes: Votes, data: st.DataObject) -> None:
    """Other orders of judges and of documents change no digit."""
    sums = vote_sums(votes)
    judges = data.draw(st.permutations(votes.judges))
    assert np.array_equal(vote_sums(votes_of_judges(votes, judges)), sums)
    numbers = np.array(data.draw(st.permutations(range(votes.n_documents))), dtype=np.int64)
    shuffled = votes_from_rows(
        votes.topic_codes[votes.documents],
        numbers[votes.documents] if len(numbers) else votes.documents,
        votes.judge_codes,
        votes.places,
        topics=votes.topics,
        judges=votes.judges,
        scale_values=votes.scale_values,
    )
    assert np.array_equal(vote_sums(shuffled), sums)


@pytest.mark.parametrize("n_grades", range(2, 30))
def test_parts_are_found_for_any_scale(n_grades: int) -> None:
    """The number of sums says how many grades the scale has."""
    parts = sums_apart(np.zeros((2, 3 * n_grades**2 + n_grades + 2)))
    assert parts.grade_shares.shape == (2, n_grades)
    assert parts.rates.shape == (2, n_grades, n_grades)
