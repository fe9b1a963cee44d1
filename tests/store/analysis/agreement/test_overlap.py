"""Agreement without chance: by hand, by scikit-learn, by sets, undefined cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import jaccard_score

from store.analysis.agreement.kappa import Share
from store.analysis.agreement.overlap import (
    MacroOverlap,
    macro_overlap,
    macro_sums,
    marginals,
    overlap,
    positive_agreement,
    raw_agreement,
    relevant_in,
    relevant_to_all,
    specific_agreement,
    stacked_macro_overlap,
    stacked_overlap,
    stacked_raw,
    stacked_specific,
)
from store.analysis.agreement.tables import pair_tables
from store.analysis.agreement.votes import Votes
from store.analysis.collapse import collapse_table
from store.errors import ArgumentError
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
    assert_prints("0.909091", overlap(table).value)
    # 300 relevant to both, 310 and 320 relevant to one judge: 2 * 300 / (310 + 320).
    assert positive_agreement(table) == Share(600 / 630, None, 330)
    assert overlap(table) == Share(300 / 330, None, 330)


def test_overlap_nothing_relevant_is_no_number() -> None:
    """Judges who found nothing relevant have no overlap, which is neither 0 nor 1."""
    table = np.array([[4, 0], [0, 0]])
    assert overlap(table) == positive_agreement(table) == Share(None, "no-relevant", 0)


def test_overlap_disjoint_sets_is_zero() -> None:
    """Relevant documents without a common one overlap by 0, which is defined."""
    table = np.array([[4, 1], [2, 0]])
    assert overlap(table) == positive_agreement(table) == Share(0.0, None, 3)


def test_overlap_graded_table_is_refused() -> None:
    """Overlap is asked of a binary table only."""
    with pytest.raises(ArgumentError, match="`tables` must be 2 x 2"):
        overlap(np.eye(3, dtype=np.int64))


@pytest.mark.parametrize("table", [[[1, -1], [0, 0]], [[0.5, 0.0], [0.0, 0.5]]])
def test_overlap_no_counts_are_refused(table: list[list[float]]) -> None:
    """What is no table of counts has no overlap."""
    with pytest.raises(ArgumentError, match="`tables` must hold counts >= 0"):
        overlap(np.array(table))


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
    assert macro_overlap(relevant_in(tables)) == MacroOverlap(0.5, None, 3, 1, 1)
    assert overlap(tables.sum(axis=0)).value == 4 / 8  # 4 of 8: topics thrown together
    assert macro_overlap(relevant_in(tables[3:])) == MacroOverlap(None, "no-relevant", 0, 1, 1)
    assert macro_overlap(relevant_in(tables[4:])) == MacroOverlap(None, "no-common-docs", 0, 0, 1)
    assert macro_overlap(relevant_in(tables[:0])) == MacroOverlap(None, "no-common-docs", 0, 0, 0)


@given(graded_tables())
def test_marginals_add_up_to_every_document(table: Table) -> None:
    """Marginals are the two judges' own counts of grades."""
    first, second = expand(table)
    rows, columns = marginals(table)
    assert rows.tolist() == np.bincount(first, minlength=len(table)).tolist()
    assert columns.tolist() == np.bincount(second, minlength=len(table)).tolist()


def test_no_common_document_has_no_share() -> None:
    """D4: judges of different documents have a reason instead of every share."""
    (table,) = pair_tables(two_columns("012...", "...012"), "judge 0", "judge 1")
    binary = collapse_table(table, 1)
    nothing = Share(None, "no-common-docs", 0)
    for one in (raw_agreement(table), overlap(binary), positive_agreement(binary)):
        assert one == nothing
    assert specific_agreement(table) == (nothing,) * 4


def test_raw_agreement_of_one_grade_is_one() -> None:
    """D1: judges with one grade agree on all documents, whatever chance has to do with it."""
    (table,) = pair_tables(two_columns("1" * 10, "1" * 10), "judge 0", "judge 1")
    assert raw_agreement(table) == Share(1.0, None, 10)


def test_specific_agreement_by_hand() -> None:
    """Agreement on a grade is 2 n_kk / (r_k + c_k), over the documents that have it."""
    table = np.array([[3, 1, 0], [0, 1, 0], [0, 1, 1]])
    # Rows 4 1 2, columns 3 3 1.
    assert specific_agreement(table) == (Share(6 / 7, None, 4), Share(2 / 4, None, 3), Share(2 / 3, None, 2))
    wider = np.pad(table, ((0, 1), (0, 1)))
    assert specific_agreement(wider)[3] == Share(None, "no-relevant", 0)


@given(graded_tables())
def test_stacks_equal_exact_shares(table: Table) -> None:
    """Shares of a stack are the exact ones, NaN exactly where those are reasons."""
    binary = collapse_table(table, 1)
    pairs = [
        (stacked_raw(table[np.newaxis]), raw_agreement(table)),
        (stacked_overlap(binary[np.newaxis]), overlap(binary)),
        (stacked_specific(binary[np.newaxis])[:, 1], positive_agreement(binary)),
        *zip(stacked_specific(table[np.newaxis]).T, specific_agreement(table), strict=True),
    ]
    for values, exact in pairs:
        assert values.shape == (1,)
        assert np.isnan(values[0]) == (exact.value is None)
        assert exact.value is None or values[0] == exact.value


@given(graded_tables(), st.integers(1, 4))
def test_overlap_random_table_equals_scikit_learn(table: Table, level: int) -> None:
    """Overlap is the Jaccard score of the documents at or above the level."""
    level = min(level, len(table) - 1)
    result = overlap(collapse_table(table, level))
    first, second = (grades >= level for grades in expand(table))
    if result.value is None:
        assert not first.any()
        assert not second.any()
    else:
        assert result.value == pytest.approx(jaccard_score(first, second), rel=1e-12)


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
    assert macro_overlap(relevant_to_all(votes, 1)) == MacroOverlap(0.5, None, 2, 0, 1)
    # At level 2 topic 1 has no relevant document, topic 2 has 1 of 2.
    assert macro_overlap(relevant_to_all(votes, 2)) == MacroOverlap(0.5, None, 1, 1, 1)


@given(drawn_votes(max_judges=3, max_documents=12))
def test_macro_sums_give_the_macro_overlap(votes: Votes) -> None:
    """Sums over topics give the mean back, and weights count topics several times."""
    counts = relevant_to_all(votes, 1)
    sums = macro_sums(counts)
    exact = macro_overlap(counts)
    mean = stacked_macro_overlap(sums.sum(axis=0)[np.newaxis])
    assert mean[0] == pytest.approx(np.nan if exact.value is None else exact.value, nan_ok=True, rel=1e-15)
    weights = np.array([2, 0, 1][: len(sums)])
    drawn = np.repeat(np.arange(len(sums)), weights)
    again = macro_overlap(type(counts)(*(column[drawn] for column in counts)))
    assert stacked_macro_overlap(weights @ sums) == pytest.approx(
        np.nan if again.value is None else again.value, nan_ok=True, rel=1e-15
    )


@pytest.mark.parametrize("level", [0, 3])
def test_level_that_cuts_nothing_is_refused(level: int) -> None:
    """A level has a grade below and a grade at or above."""
    with pytest.raises(ArgumentError, match="`level_index` must be an integer from 1 to 2"):
        relevant_to_all(votes_in(["01"], range(3)), level)
