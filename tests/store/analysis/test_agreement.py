"""Agreement of two judges: published tables, other programs, undefined cases, properties."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from store.analysis.agreement import (
    WEIGHTS,
    MacroOverlap,
    Share,
    Weights,
    cohen_kappa,
    collapse_table,
    macro_overlap,
    marginals,
    overlap,
    pair_agreement,
    pair_tables,
    positive_agreement,
    raw_agreement,
)
from store.analysis.grade_matrix import grade_matrix
from store.errors import ArgumentError
from store.records import Judgement, State
from tests.cf_collection import SCALE, load_judgements
from tests.vectors.agreement_tables import (
    ANXIETY,
    ANXIETY_DECLARED,
    ANXIETY_OCCURRING,
    CF_KAPPAS,
    KAPPA_TABLES,
    KappaTable,
    assert_prints,
)

Table = NDArray[np.int64]

TABLES = [
    pytest.param(vector, id=vector.name, marks=pytest.mark.vector(vector.source))
    for vector in KAPPA_TABLES
]
N_CF_UNLISTED = 100 * 1239 - 4819


@st.composite
def graded_tables(draw: st.DrawFn, *, min_grades: int = 2) -> Table:
    """Draw a table of 2 to 5 declared grades, often with grades that one or both never use."""
    n_grades = draw(st.integers(min_grades, 5))
    counts = st.one_of(st.just(0), st.integers(0, 30))
    table = draw(arrays(np.int64, (n_grades, n_grades), elements=counts))
    used = draw(arrays(np.bool_, (2, n_grades)))
    if used.any(axis=1).all() and draw(st.booleans()):
        table = table * used[0][:, np.newaxis] * used[1]
    return table


def count_pairs(first: list[int], second: list[int], n_grades: int) -> Table:
    """Count two judges' grades, given as places on the scale."""
    table = np.zeros((n_grades, n_grades), dtype=np.int64)
    np.add.at(table, (first, second), 1)
    return table


def expand(table: Table) -> tuple[Table, Table]:
    """Turn a table back into two columns of grades."""
    rows, columns = np.indices(table.shape)
    counts = table.ravel()
    return np.repeat(rows.ravel(), counts), np.repeat(columns.ravel(), counts)


def slow_kappa(table: Table, agreement: list[list[Fraction]]) -> Fraction:
    """Apply kappa = (Po - Pe) / (1 - Pe) with the agreement weights w, in fractions."""
    counts = table.tolist()
    n = sum(map(sum, counts))
    cells = list(product(range(len(counts)), repeat=2))
    rows = [Fraction(sum(row), n) for row in counts]
    columns = [Fraction(sum(column), n) for column in zip(*counts, strict=True)]
    observed = sum((agreement[i][j] * Fraction(counts[i][j], n) for i, j in cells), Fraction(0))
    expected = sum((agreement[i][j] * rows[i] * columns[j] for i, j in cells), Fraction(0))
    return (observed - expected) / (1 - expected)


def tables_of(first: str, second: str) -> Table:
    """Count pairs of grades 0 to 3 of documents written one a character, `.` for not judged."""
    rows = [
        Judgement("1", f"d{place}", judge, State.JUDGED, int(grade))
        for judge, grades in (("a", first), ("b", second))
        for place, grade in enumerate(grades)
        if grade != "."
    ]
    return pair_tables(grade_matrix(rows, (0, 1, 2, 3)), "a", "b")


@pytest.mark.parametrize("vector", TABLES)
def test_kappa_published_table_gives_printed_digits(vector: KappaTable) -> None:
    """Every published kappa and standard error comes out to every printed digit."""
    for weights, kappa, error in vector.kappas:
        result = cohen_kappa(vector.table, weights)  # type: ignore[arg-type]
        assert result.reason is None
        assert result.n_documents == vector.table.sum()
        assert_prints(kappa, result.kappa)
        if error is not None:
            assert_prints(error, result.standard_error)


@pytest.mark.parametrize("vector", TABLES)
def test_observed_and_expected_published_table_give_printed_digits(vector: KappaTable) -> None:
    """Observed and expected agreement are those of the publication, where it prints them."""
    result = cohen_kappa(vector.table)
    if vector.observed is not None:
        assert_prints(vector.observed, result.observed)
        assert_prints(vector.observed, raw_agreement(vector.table).value)
    if vector.expected is not None:
        assert_prints(vector.expected, result.expected)


@pytest.mark.vector("R irr, anxiety data; scikit-learn with labels=")
def test_kappa_unused_grade_counts_when_declared() -> None:
    """A declared grade that nobody used widens the distance between its neighbours."""
    first, second = ([int(grade) for grade in grades] for grades in ANXIETY)
    occurring = sorted({*first, *second})
    assert occurring == [1, 2, 3, 4, 6]
    squeezed = count_pairs(
        [occurring.index(grade) for grade in first],
        [occurring.index(grade) for grade in second],
        len(occurring),
    )
    declared = count_pairs([grade - 1 for grade in first], [grade - 1 for grade in second], 6)
    for weights, kappa in ANXIETY_OCCURRING:
        assert_prints(kappa, cohen_kappa(squeezed, weights).kappa)  # type: ignore[arg-type]
    for weights, kappa in ANXIETY_DECLARED:
        assert_prints(kappa, cohen_kappa(declared, weights).kappa)  # type: ignore[arg-type]
        # The same documents on a scale without the grade 5, at distances of grade values.
        by_value = cohen_kappa(squeezed, weights, values=occurring)  # type: ignore[arg-type]
        assert_prints(kappa, by_value.kappa)


@pytest.mark.vector("Manning, Raghavan and Schütze 2008, table 8.2; scikit-learn's jaccard_score")
def test_overlap_ir_book_table_gives_printed_digits() -> None:
    """The overlap of the IR book's table is .909091, its positive agreement 600 / 630."""
    table = KAPPA_TABLES[0].table[::-1, ::-1]  # the book writes relevant first
    assert_prints("0.909091", overlap(table).value)
    # 300 relevant to both, 310 and 320 relevant to one judge: 2 * 300 / (310 + 320).
    assert positive_agreement(table) == Share(600 / 630, None, 330)
    assert overlap(table) == Share(300 / 330, None, 330)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_one_grade_only_is_no_number(weights: Weights) -> None:
    """D1: both judges used grade 1 only, so that there is no kappa, and agreement is still told."""
    (table,) = tables_of("1111111111", "1111111111")
    result = cohen_kappa(table, weights)
    assert (result.kappa, result.reason, result.standard_error) == (None, "single-grade", None)
    assert (result.n_documents, result.observed, result.expected) == (10, 1.0, 1.0)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    ("first", "second", "raw"),
    [("1111111111", "0000011111", 0.5), ("0000000000", "1111111111", 0.0)],
    ids=["D2", "D3"],
)
def test_kappa_constant_judge_is_zero(
    first: str, second: str, raw: float, weights: Weights
) -> None:
    """D2 and D3: one constant judge, or two that never agree, have kappa 0 without an error."""
    (table,) = tables_of(first, second)
    result = cohen_kappa(table, weights)
    assert (result.kappa, result.reason, result.standard_error) == (0.0, None, None)
    assert raw_agreement(table) == Share(raw, None, 10)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_no_common_document_is_no_number(weights: Weights) -> None:
    """D4: judges of different documents have a reason instead of every coefficient."""
    (table,) = tables_of("012...", "...012")
    result = cohen_kappa(table, weights)
    assert (result.kappa, result.reason, result.n_documents) == (None, "no-common-docs", 0)
    assert (result.observed, result.expected, result.standard_error) == (None, None, None)
    binary = collapse_table(table, 1)
    for share in (raw_agreement(table), overlap(binary), positive_agreement(binary)):
        assert share == Share(None, "no-common-docs", 0)


@pytest.mark.parametrize(("second", "raw"), [("1..", 1.0), ("2..", 0.0)])
def test_kappa_one_document_is_no_number(second: str, raw: float) -> None:
    """D6: one common document gives no kappa, be the grades the same or not."""
    (table,) = tables_of("123", second)
    for weights in WEIGHTS:
        result = cohen_kappa(table, weights)
        assert (result.kappa, result.reason, result.n_documents) == (None, "one-doc", 1)
        assert result.standard_error is None
    assert raw_agreement(table) == Share(raw, None, 1)


def test_kappa_document_judged_by_one_never_counts() -> None:
    """D9: (0,0) (1,1) (0,1) (1,1) (-,1) (1,-) has kappa 0.5 over the four common documents."""
    (table,) = tables_of("0101.1", "01111.")
    # Po = 3/4; rows 2/4, 2/4; columns 1/4, 3/4; Pe = 2/16 + 6/16 = 1/2; kappa = (1/4) / (1/2).
    result = cohen_kappa(table)
    assert (result.n_documents, result.observed, result.expected) == (4, 0.75, 0.5)
    assert result.kappa == 0.5


def test_kappa_perfect_agreement_has_no_error() -> None:
    """Perfect agreement on several grades is exactly 1, and has no standard error."""
    for weights in WEIGHTS:
        result = cohen_kappa(np.diag([7, 1, 0, 3]), weights)
        assert (result.kappa, result.reason, result.standard_error) == (1.0, None, None)


def test_kappa_huge_counts_do_not_overflow() -> None:
    """A billion times the documents leave kappa and divide the error by the root of a billion."""
    table = KAPPA_TABLES[2].table
    one, many = cohen_kappa(table, "quadratic"), cohen_kappa(table * 10**9, "quadratic")
    assert many.kappa == one.kappa
    assert one.standard_error is not None
    assert many.standard_error == pytest.approx(one.standard_error / 10**4.5, rel=1e-12)


def test_kappa_nearly_one_grade_only_is_defined() -> None:
    """One document of another grade makes kappa defined, though Pe rounds to 1 in floats."""
    result = cohen_kappa(np.array([[10**17, 0], [0, 1]]))
    assert (result.kappa, result.reason, result.expected) == (1.0, None, 1.0)


@given(graded_tables(), st.sampled_from(WEIGHTS))
def test_kappa_random_table_equals_scikit_learn(table: Table, weights: Weights) -> None:
    """Kappa is scikit-learn's with the declared grades as labels, wherever it is defined."""
    result = cohen_kappa(table, weights)
    if result.kappa is None:
        diagonal = np.diagonal(table)
        assert table.sum() < 2 or np.count_nonzero(diagonal) == np.count_nonzero(table) == 1
        return
    first, second = expand(table)
    peer = cohen_kappa_score(
        first,
        second,
        labels=list(range(len(table))),
        weights=None if weights == "none" else weights,
    )
    assert result.kappa == pytest.approx(peer, rel=1e-12, abs=1e-12)
    assert -1 <= result.kappa <= 1


@given(graded_tables(), st.sampled_from(WEIGHTS))
def test_standard_error_random_table_equals_statsmodels(table: Table, weights: Weights) -> None:
    """The standard error is statsmodels', and ``None`` exactly where that is 0."""
    result = cohen_kappa(table, weights)
    if result.kappa is None:
        assert result.standard_error is None
        return
    with warnings.catch_warnings():
        # statsmodels takes the root of a difference, which can be a hair below 0.
        warnings.simplefilter("ignore", RuntimeWarning)
        peer = cohens_kappa(table, wt=None if weights == "none" else weights)
    assert result.kappa == pytest.approx(peer.kappa, rel=1e-9, abs=1e-9)
    variance = 0.0 if result.standard_error is None else result.standard_error**2
    assert variance == pytest.approx(peer.var_kappa, rel=1e-9, abs=1e-13)


@given(graded_tables(), st.sampled_from(WEIGHTS))
def test_kappa_transposed_table_is_the_same(table: Table, weights: Weights) -> None:
    """Exchanging the judges changes no digit of kappa, its error or its reason."""
    assert cohen_kappa(table.T, weights) == cohen_kappa(table, weights)


@given(graded_tables(), st.sampled_from(WEIGHTS))
def test_kappa_reversed_scale_is_the_same(table: Table, weights: Weights) -> None:
    """Counting the grades from the other end changes no digit of kappa."""
    assert cohen_kappa(table[::-1, ::-1], weights) == cohen_kappa(table, weights)


@given(graded_tables(min_grades=3), st.data())
def test_kappa_collapsed_table_equals_grouped_weights(table: Table, data: st.DataObject) -> None:
    """Collapsing to binary is kappa on the graded table with weight 1 inside each side."""
    level_index = data.draw(st.integers(1, len(table) - 1))
    result = cohen_kappa(collapse_table(table, level_index))
    if result.kappa is None:
        return
    side = [grade >= level_index for grade in range(len(table))]
    grouped = [[Fraction(one == other) for other in side] for one in side]
    assert result.kappa == float(slow_kappa(table, grouped))


@given(graded_tables(), st.data())
def test_kappa_values_equal_hand_made_weights(table: Table, data: st.DataObject) -> None:
    """With `values`, distances are differences of grade values."""
    n_grades = len(table)
    values = sorted(
        data.draw(st.lists(st.integers(-5, 9), min_size=n_grades, max_size=n_grades, unique=True))
    )
    result = cohen_kappa(table, "quadratic", values=values)
    if result.kappa is None:
        return
    width = (values[-1] - values[0]) ** 2
    weights = [[1 - Fraction((one - other) ** 2, width) for other in values] for one in values]
    assert result.kappa == float(slow_kappa(table, weights))


@given(graded_tables())
def test_kappa_two_grades_need_no_weights(table: Table) -> None:
    """On two grades unweighted, linear and quadratic kappa are the same."""
    binary = collapse_table(table, 1)
    assert len({cohen_kappa(binary, weights) for weights in WEIGHTS}) == 1


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2, 3], [4, 5, 6]], "`table` must be square, 2 x 2 or more, but got 'shape (2, 3)'"),
        ([[1]], "`table` must be square"),
        ([[1, -2], [3, 4]], "`table` must hold counts >= 0"),
        ([[0.5, 0.5], [0.0, 1.0]], "`table` must hold counts >= 0"),
    ],
)
def test_kappa_no_table_of_counts_is_refused(table: list[list[float]], message: str) -> None:
    """What is no square table of counts is refused, with what it must be."""
    with pytest.raises(ArgumentError) as caught:
        cohen_kappa(np.array(table))
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("values", [[0, 1], [0, 2, 1], [0, 1, 1]])
def test_kappa_values_not_of_the_scale_are_refused(values: list[int]) -> None:
    """Values must be as many as the grades, and ascend."""
    with pytest.raises(ArgumentError, match="`values` must be 3 grades, ascending"):
        cohen_kappa(np.eye(3, dtype=np.int64), "linear", values=values)


def test_kappa_unknown_weights_are_refused() -> None:
    """Unknown weights are an error that lists the known ones."""
    with pytest.raises(ArgumentError, match="must be one of none, linear, quadratic"):
        cohen_kappa(np.eye(2, dtype=np.int64), "cubic")  # type: ignore[arg-type]


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
    with pytest.raises(ArgumentError, match="`table` must be 2 x 2"):
        overlap(np.eye(3, dtype=np.int64))


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
    assert macro_overlap(tables) == MacroOverlap(0.5, None, 3, 1, 1)
    assert overlap(tables.sum(axis=0)).value == 4 / 8  # 4 of 8: topics thrown together
    assert macro_overlap(tables[3:]) == MacroOverlap(None, "no-relevant", 0, 1, 1)
    assert macro_overlap(tables[4:]) == MacroOverlap(None, "no-common-docs", 0, 0, 1)
    assert macro_overlap(tables[:0]) == MacroOverlap(None, "no-common-docs", 0, 0, 0)


def test_pair_agreement_bundles_overall_and_topics() -> None:
    """A pair's bundle holds every coefficient of the whole and of each topic, by hand here."""
    tables = np.array([[[2, 1, 0], [0, 1, 0], [0, 1, 1]], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]])
    pair = pair_agreement(tables, 1)
    overall, (first, second) = pair.overall, pair.topics
    assert overall.table.tolist() == [[3, 1, 0], [0, 1, 0], [0, 1, 1]]
    assert overall.n_documents == 7
    assert overall.first_marginals.tolist() == [4, 1, 2]
    assert overall.second_marginals.tolist() == [3, 3, 1]
    assert overall.raw == Share(5 / 7, None, 7)
    # Po = 5/7 = 35/49, Pe = (4*3 + 1*3 + 2*1) / 49 = 17/49.
    assert overall.kappa.kappa == 18 / 32
    # Linear costs: observed 2; by chance 4*3 + 4*1*2 + 1*3 + 1*1 + 2*3*2 + 2*3 = 42; 1 - 7*2/42.
    assert overall.linear.kappa == (42 - 14) / 42
    # Squared costs: by chance 4*3 + 4*1*4 + 1*3 + 1*1 + 2*3*4 + 2*3 = 62; 1 - 7*2/62.
    assert overall.quadratic.kappa == (62 - 14) / 62
    assert overall.binary.table.tolist() == [[3, 1], [0, 3]]
    assert overall.binary.raw == Share(6 / 7, None, 7)
    # Pe = (4*3 + 3*4) / 49; kappa = (42 - 24) / (49 - 24).
    assert overall.binary.kappa.kappa == 18 / 25
    assert overall.binary.positive == Share(6 / 7, None, 4)
    assert pair.micro_overlap == Share(3 / 4, None, 4)
    assert pair.macro_overlap == MacroOverlap(3 / 4, None, 1, 1, 0)
    assert first.binary.overlap == Share(3 / 4, None, 4)
    assert (second.kappa.reason, second.binary.kappa.reason) == ("one-doc", "one-doc")
    assert second.binary.overlap == Share(None, "no-relevant", 0)


def test_pair_agreement_values_reach_the_weighted_kappas() -> None:
    """Grade values given for the scale are used by linear and quadratic kappa alike."""
    table = KAPPA_TABLES[2].table
    overall = pair_agreement(table[np.newaxis], 1, values=[-2, 0, 1]).overall
    assert overall.linear == cohen_kappa(table, "linear", values=[-2, 0, 1])
    assert overall.quadratic == cohen_kappa(table, "quadratic", values=[-2, 0, 1])
    assert overall.linear != cohen_kappa(table, "linear")


@given(graded_tables())
def test_marginals_add_up_to_every_document(table: Table) -> None:
    """Marginals are the two judges' own counts of grades."""
    first, second = expand(table)
    rows, columns = marginals(table)
    assert rows.tolist() == np.bincount(first, minlength=len(table)).tolist()
    assert columns.tolist() == np.bincount(second, minlength=len(table)).tolist()


@pytest.mark.vector("scikit-learn 1.9.1 on the Cystic Fibrosis collection")
def test_pair_agreement_cf_collection_gives_known_kappas() -> None:
    """All six judge pairs of the CF collection have the kappas measured by scikit-learn."""
    matrix = grade_matrix(load_judgements(), SCALE)
    assert len(matrix.pairs) == 4819
    for (first, second), printed in CF_KAPPAS.items():
        tables = pair_tables(matrix, first, second)
        assert tables.shape == (100, 3, 3)
        low, high = pair_agreement(tables, 1).overall, pair_agreement(tables, 2).overall
        everything = tables.sum(axis=0)
        everything[0, 0] += N_CF_UNLISTED
        results = [
            low.kappa,
            low.linear,
            low.quadratic,
            low.binary.kappa,
            high.binary.kappa,
            cohen_kappa(everything),
            cohen_kappa(collapse_table(everything, 1)),
        ]
        for expected, result in zip(printed.split(), results, strict=True):
            assert_prints(expected, result.kappa)
