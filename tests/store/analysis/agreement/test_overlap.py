"""Agreement without chance: by hand, by scikit-learn, by sets, undefined cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import jaccard_score

from store.analysis.agreement.intervals import ratio_of_sums
from store.analysis.agreement.kappa import (
    MacroOverlap,
    macro_overlap,
    macro_sums,
    relevant_to_all,
    stacked_overlap,
    stacked_raw,
    stacked_specific,
)
from store.analysis.agreement.tables import pair_tables
from store.analysis.agreement.votes import Votes, collapse_table
from tests.store.analysis.agreement.exact import relevant_in
from tests.store.analysis.graded import (
    MISSING,
    Table,
    drawn_votes,
    expand,
    graded_tables,
    texts_of,
    two_columns,
    votes_in,
)
from tests.vectors.agreement_tables import KAPPA_TABLES, assert_prints


@pytest.mark.vector("Manning, Raghavan and Schütze 2008, table 8.2; scikit-learn's jaccard_score")
def test_overlap_ir_book_table_gives_printed_digits() -> None:
    """The overlap of the IR book's table is .909091, its positive agreement 600 / 630."""
    table = KAPPA_TABLES[0].table[::-1, ::-1]  # the book writes relevant first
    assert_prints("0.909091", float(stacked_overlap(table)))
    # 300 relevant to both, 310 and 320 relevant to one judge: 2 * 300 / (310 + 320).
    assert stacked_specific(table)[1] == 600 / 630
    assert stacked_overlap(table) == 300 / 330


def test_overlap_nothing_relevant_is_no_number() -> None:
    """Judges who found nothing relevant have no overlap, which is neither 0 nor 1."""
    table = np.array([[4, 0], [0, 0]])
    assert np.isnan(stacked_overlap(table))
    assert np.isnan(stacked_specific(table)[1])


def test_overlap_disjoint_sets_is_zero() -> None:
    """Relevant documents without a common one overlap by 0, which is defined."""
    table = np.array([[4, 1], [2, 0]])
    assert stacked_overlap(table) == stacked_specific(table)[1] == 0


def test_macro_overlap_averages_topics_and_counts_the_others() -> None:
    """Voorhees' overlap is a mean over topics, of which undefined ones are left out and counted."""
    tables = np.array(
        [
            [[5, 0], [1, 1]],  # 1 / 2
            [[0, 0], [0, 3]],  # 3 / 3
            [[9, 2], [1, 0]],  # 0 / 3
            [[4, 0], [0, 0]],  # nothing relevant
            [[0, 0], [0, 0]],  # no common document
        ]
    )
    assert macro_overlap(relevant_in(tables)) == MacroOverlap(0.5, None, 3)
    assert stacked_overlap(tables.sum(axis=0)) == 4 / 8  # 4 of 8: topics thrown together
    assert macro_overlap(relevant_in(tables[3:])) == MacroOverlap(None, "no-relevant", 0)
    assert macro_overlap(relevant_in(tables[4:])) == MacroOverlap(None, "no-common-docs", 0)
    assert macro_overlap(relevant_in(tables[:0])) == MacroOverlap(None, "no-common-docs", 0)


def test_no_common_document_has_no_share() -> None:
    """D4: judges of different documents have no share of any kind."""
    (table,) = pair_tables(two_columns("012...", "...012"), "judge 0", "judge 1")
    assert np.isnan([stacked_raw(table), stacked_overlap(collapse_table(table, 1))]).all()
    assert np.isnan(stacked_specific(table)).tolist() == [True] * 4


def test_raw_agreement_of_one_grade_is_one() -> None:
    """D1: judges with one grade agree on all documents, whatever chance has to do with it."""
    (table,) = pair_tables(two_columns("1" * 10, "1" * 10), "judge 0", "judge 1")
    assert stacked_raw(table) == 1.0


def test_specific_agreement_by_hand() -> None:
    """Agreement on a grade is 2 n_kk / (r_k + c_k); a grade that nobody gave has none."""
    table = np.array([[3, 1, 0], [0, 1, 0], [0, 1, 1]])
    # Rows 4 1 2, columns 3 3 1.
    assert stacked_specific(table).tolist() == [6 / 7, 2 / 4, 2 / 3]
    assert np.isnan(stacked_specific(np.pad(table, ((0, 1), (0, 1))))[3])


@given(graded_tables(), st.integers(1, 4))
def test_overlap_random_table_equals_scikit_learn(table: Table, level: int) -> None:
    """Overlap is the Jaccard score of the documents at or above the level."""
    level = min(level, len(table) - 1)
    result = float(stacked_overlap(collapse_table(table, level)))
    first, second = (grades >= level for grades in expand(table))
    if np.isnan(result):
        assert not first.any()
        assert not second.any()
    else:
        assert result == pytest.approx(jaccard_score(first, second), rel=1e-12)


@given(drawn_votes(max_judges=4), st.integers(1, 3))
def test_relevant_to_all_equals_sets(votes: Votes, level: int) -> None:
    """Of any number of judges, over documents that all graded: what all and what any found."""
    level = min(level, votes.n_grades - 1)
    counts = relevant_to_all(votes, level)
    expected = np.zeros((3, len(votes.topics)), dtype=int)
    for topic, text in zip(votes.topic_codes.tolist(), texts_of(votes), strict=True):
        if MISSING not in text:
            relevant = [int(place) >= level for place in text]
            expected[:, topic] += (1, all(relevant), any(relevant))
    assert np.array(counts).tolist() == expected.tolist()
    assert np.array(counts).dtype == np.int64
    if len(votes.judges) == 2:
        tables = collapse_table(pair_tables(votes, *votes.judges), level)
        assert np.array(relevant_in(tables)).tolist() == expected.tolist()


def test_macro_overlap_of_three_judges_by_hand() -> None:
    """Three judges' overlap is all three sets' intersection over their union, topic by topic."""
    votes = votes_in(["111", "110", "000", "11.", "222", "021"], range(3), topics=[0, 0, 0, 0, 1, 1])
    # Topic 1: 1 of 2 (the fourth document lacks a judge); topic 2: 1 of 2; topic 3: no document.
    assert macro_overlap(relevant_to_all(votes, 1)) == MacroOverlap(0.5, None, 2)
    # At level 2 topic 1 has no relevant document, topic 2 has 1 of 2.
    assert macro_overlap(relevant_to_all(votes, 2)) == MacroOverlap(0.5, None, 1)


@given(drawn_votes(max_judges=3, max_documents=12))
def test_macro_sums_give_the_macro_overlap(votes: Votes) -> None:
    """Sums over topics give the mean back, and weights count topics several times."""
    counts = relevant_to_all(votes, 1)
    sums = macro_sums(counts)
    exact = macro_overlap(counts)
    mean = ratio_of_sums(sums.sum(axis=0)[np.newaxis])
    assert mean[0] == pytest.approx(np.nan if exact.value is None else exact.value, nan_ok=True, rel=1e-15)
    weights = np.array([2, 0, 1][: len(sums)])
    drawn = np.repeat(np.arange(len(sums)), weights)
    again = macro_overlap(type(counts)(*(column[drawn] for column in counts)))
    assert ratio_of_sums(weights @ sums) == pytest.approx(
        np.nan if again.value is None else again.value, nan_ok=True, rel=1e-15
    )
