"""Kappas of two judges: published tables, other programs, undefined cases, properties."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from store.analysis.agreement.kappa import (
    WEIGHTS,
    Chance,
    Weights,
    stacked_chance_corrected,
    stacked_raw,
    stacked_standard_errors,
)
from store.analysis.agreement.tables import pair_tables
from store.analysis.agreement.votes import collapse_table
from tests.store.analysis.agreement.exact import bennett_s, chance_corrected, cohen_kappa, gwet_ac, scott_pi
from tests.store.analysis.graded import Table, expand, graded_tables, two_columns
from tests.vectors.agreement_tables import (
    ANXIETY,
    ANXIETY_DECLARED,
    ANXIETY_OCCURRING,
    KAPPA_TABLES,
    KappaTable,
    assert_prints,
)

TABLES = [
    pytest.param(vector, id=vector.name, marks=pytest.mark.vector(vector.source)) for vector in KAPPA_TABLES
]
COHEN = next(vector.table for vector in KAPPA_TABLES if vector.name == "cohen")
IR_BOOK = KAPPA_TABLES[0].table


def tables_of(first: str, second: str) -> Table:
    """Count pairs of grades 0 to 3 of documents written one a character, `.` for not judged."""
    return pair_tables(two_columns(first, second), "judge 0", "judge 1")


def slow_kappa(table: Table, agreement: list[list[Fraction]], chance: Chance = "cohen") -> Fraction:
    """Apply kappa = (Po - Pe) / (1 - Pe) with the agreement weights w, in fractions."""
    counts = table.tolist()
    n = sum(map(sum, counts))
    cells = list(product(range(len(counts)), repeat=2))
    rows = [Fraction(sum(row), n) for row in counts]
    columns = [Fraction(sum(column), n) for column in zip(*counts, strict=True)]
    observed = sum((agreement[i][j] * Fraction(counts[i][j], n) for i, j in cells), Fraction(0))
    middles = [(row + column) / 2 for row, column in zip(rows, columns, strict=True)]
    q = len(counts)
    expected = sum(
        (
            agreement[i][j]
            * {
                "cohen": rows[i] * columns[j],
                "scott": middles[i] * middles[j],
                "bennett": Fraction(1, q * q),
                "gwet": sum(m * (1 - m) for m in middles) / (q * (q - 1)),
            }[chance]
            for i, j in cells
        ),
        Fraction(0),
    )
    return (observed - expected) / (1 - expected)


def agreement_weights(n_grades: int, weights: Weights) -> list[list[Fraction]]:
    """Spell out 1 - d / (q - 1) to the power of 1 or 2, or who agrees."""
    grades = range(n_grades)
    if weights == "none":
        return [[Fraction(i == j) for j in grades] for i in grades]
    power = 1 if weights == "linear" else 2
    return [[1 - Fraction(abs(i - j), n_grades - 1) ** power for j in grades] for i in grades]


def says_nothing(table: Table) -> bool:
    """Tell whether a table has fewer than two documents, or one grade of both judges alone."""
    diagonal = np.diagonal(table)
    return bool(table.sum() < 2 or np.count_nonzero(diagonal) == np.count_nonzero(table) == 1)


@pytest.mark.parametrize("vector", TABLES)
def test_kappa_published_table_gives_printed_digits(vector: KappaTable) -> None:
    """Every published kappa and standard error comes out to every printed digit."""
    for weights, kappa, error in vector.kappas:
        result = cohen_kappa(vector.table, weights)  # type: ignore[arg-type]
        assert result.reason is None
        assert result.n_documents == vector.table.sum()
        assert_prints(kappa, result.value)
        if error is not None:
            assert_prints(error, result.standard_error)


@pytest.mark.parametrize("vector", TABLES)
def test_observed_and_expected_published_table_give_printed_digits(vector: KappaTable) -> None:
    """Observed and expected agreement are those of the publication, where it prints them."""
    observed, kappa = float(stacked_raw(vector.table)), cohen_kappa(vector.table).value
    if vector.observed is not None:
        assert_prints(vector.observed, observed)
    if vector.expected is not None:
        assert kappa is not None
        assert_prints(vector.expected, (observed - kappa) / (1 - kappa))


@pytest.mark.vector("R irr, anxiety data; scikit-learn with labels=")
def test_kappa_unused_grade_counts_when_declared() -> None:
    """A declared grade that nobody used widens the distance between its neighbours."""
    first, second = ([int(grade) for grade in grades] for grades in ANXIETY)
    occurring = sorted({*first, *second})
    assert occurring == [1, 2, 3, 4, 6]
    declared = np.zeros((6, 6), dtype=np.int64)
    np.add.at(declared, (np.array(first) - 1, np.array(second) - 1), 1)
    squeezed = np.delete(np.delete(declared, 4, axis=0), 4, axis=1)
    for weights, kappa in ANXIETY_OCCURRING:
        assert_prints(kappa, cohen_kappa(squeezed, weights).value)  # type: ignore[arg-type]
    for weights, kappa in ANXIETY_DECLARED:
        assert_prints(kappa, cohen_kappa(declared, weights).value)  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_one_grade_only_is_no_number(weights: Weights) -> None:
    """D1: both judges used grade 1 only, so that there is no kappa."""
    (table,) = tables_of("1111111111", "1111111111")
    result = cohen_kappa(table, weights)
    assert (result.value, result.reason, result.standard_error) == (None, "single-grade", None)
    assert result.n_documents == 10


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    ("first", "second", "raw"),
    [("1111111111", "0000011111", 0.5), ("0000000000", "1111111111", 0.0)],
    ids=["D2", "D3"],
)
def test_kappa_constant_judge_is_zero(first: str, second: str, raw: float, weights: Weights) -> None:
    """D2 and D3: one constant judge, or two that never agree, have kappa 0 without an error."""
    (table,) = tables_of(first, second)
    result = cohen_kappa(table, weights)
    assert (result.value, result.reason, result.standard_error) == (0.0, None, None)
    assert stacked_raw(table) == raw


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_no_common_document_is_no_number(weights: Weights) -> None:
    """D4: judges of different documents have a reason instead of every coefficient."""
    (table,) = tables_of("012...", "...012")
    result = cohen_kappa(table, weights)
    assert (result.value, result.reason, result.n_documents) == (None, "no-common-docs", 0)
    assert result.standard_error is None


@pytest.mark.parametrize(("second", "raw"), [("1..", 1.0), ("2..", 0.0)])
def test_kappa_one_document_is_no_number(second: str, raw: float) -> None:
    """D6: one common document gives no kappa, be the grades the same or not."""
    (table,) = tables_of("123", second)
    for weights in WEIGHTS:
        result = cohen_kappa(table, weights)
        assert (result.value, result.reason, result.n_documents) == (None, "one-doc", 1)
        assert result.standard_error is None
    assert stacked_raw(table) == raw


def test_kappa_document_judged_by_one_never_counts() -> None:
    """D9: (0,0) (1,1) (0,1) (1,1) (-,1) (1,-) has kappa 0.5 over the four common documents."""
    (table,) = tables_of("0101.1", "01111.")
    # Po = 3/4; rows 2/4, 2/4; columns 1/4, 3/4; Pe = 2/16 + 6/16 = 1/2; kappa = (1/4) / (1/2).
    result = cohen_kappa(table)
    assert (result.n_documents, result.value) == (4, 0.5)


def test_kappa_perfect_agreement_has_no_error() -> None:
    """Perfect agreement on several grades is exactly 1, and has no standard error."""
    for weights in WEIGHTS:
        result = cohen_kappa(np.diag([7, 1, 0, 3]), weights)
        assert (result.value, result.reason, result.standard_error) == (1.0, None, None)


def test_kappa_huge_counts_do_not_overflow() -> None:
    """A billion times the documents leave kappa and divide the error by the root of a billion."""
    table = KAPPA_TABLES[2].table
    one, many = cohen_kappa(table, "quadratic"), cohen_kappa(table * 10**9, "quadratic")
    assert many.value == one.value
    assert one.standard_error is not None
    assert many.standard_error == pytest.approx(one.standard_error / 10**4.5, rel=1e-12)


def test_kappa_nearly_one_grade_only_is_defined() -> None:
    """One document of another grade makes kappa defined, though Pe rounds to 1 in floats."""
    result = cohen_kappa(np.array([[10**17, 0], [0, 1]]))
    assert (result.value, result.reason) == (1.0, None)


@given(graded_tables(), st.sampled_from(WEIGHTS))
def test_kappa_random_table_equals_scikit_learn(table: Table, weights: Weights) -> None:
    """Kappa is scikit-learn's with the declared grades as labels, wherever it is defined."""
    result = cohen_kappa(table, weights)
    if result.value is None:
        assert says_nothing(table)
        return
    first, second = expand(table)
    peer = cohen_kappa_score(
        first, second, labels=list(range(len(table))), weights=None if weights == "none" else weights
    )
    assert result.value == pytest.approx(peer, rel=1e-12, abs=1e-12)
    assert -1 <= result.value <= 1


@given(graded_tables(), st.sampled_from(WEIGHTS))
def test_standard_error_random_table_equals_statsmodels(table: Table, weights: Weights) -> None:
    """The standard error is statsmodels', and ``None`` exactly where that is 0."""
    result = cohen_kappa(table, weights)
    if result.value is None:
        assert result.standard_error is None
        return
    with warnings.catch_warnings():
        # statsmodels takes the root of a difference that may be a hair below 0, and divides by it.
        warnings.simplefilter("ignore", RuntimeWarning)
        peer = cohens_kappa(table, wt=None if weights == "none" else weights)
    assert result.value == pytest.approx(peer.kappa, rel=1e-9, abs=1e-9)
    variance = 0.0 if result.standard_error is None else result.standard_error**2
    assert variance == pytest.approx(peer.var_kappa, rel=1e-9, abs=1e-13)


@given(graded_tables(min_grades=3), st.data())
def test_kappa_collapsed_table_equals_grouped_weights(table: Table, data: st.DataObject) -> None:
    """Collapsing to binary is kappa on the graded table with weight 1 inside each side."""
    level_index = data.draw(st.integers(1, len(table) - 1))
    result = cohen_kappa(collapse_table(table, level_index))
    if result.value is None:
        return
    side = [grade >= level_index for grade in range(len(table))]
    grouped = [[Fraction(one == other) for other in side] for one in side]
    assert result.value == float(slow_kappa(table, grouped))


@given(graded_tables())
def test_kappa_two_grades_need_no_weights(table: Table) -> None:
    """On two grades unweighted, linear and quadratic kappa are the same."""
    binary = collapse_table(table, 1)
    assert len({cohen_kappa(binary, weights) for weights in WEIGHTS}) == 1


# D2: judge a gives 1 alone, b 0 and 1 evenly: Po = 1/2, m = (1/4, 3/4). Pe of pi is 5/8, of S 1/2,
# of AC1 2 * 1/4 * 3/4 = 3/8; on a declared scale of 4 grades, of S 1/4, of AC1 3/8 / 3 = 1/8.
# D3: a gives 0, b gives 1: Po = 0, m = (1/2, 1/2). Pe is 1/2 for all three; on the scale of 4
# grades, of S 1/4, of AC1 1/2 / 3 = 1/6.
@pytest.mark.parametrize(
    ("first", "second", "n_grades", "pi", "s", "ac1"),
    [
        ("1111111111", "0000011111", 2, (-1, 3), (0, 1), (1, 5)),
        ("1111111111", "0000011111", 4, (-1, 3), (1, 3), (3, 7)),
        ("0000000000", "1111111111", 2, (-1, 1), (-1, 1), (-1, 1)),
        ("0000000000", "1111111111", 4, (-1, 1), (-1, 3), (-1, 5)),
    ],
    ids=["D2", "D2-declared", "D3", "D3-declared"],
)
def test_constant_judges_have_the_other_coefficients(
    first: str, second: str, n_grades: int, pi: tuple[int, int], s: tuple[int, int], ac1: tuple[int, int]
) -> None:
    """D2 and D3 are defined for pi, S and AC1, each with its own answer, on the declared scale."""
    table = tables_of(first, second)[0, :n_grades, :n_grades]
    for function, (part, whole) in ((scott_pi, pi), (bennett_s, s), (gwet_ac, ac1)):
        assert function(table).value == part / whole


@pytest.mark.parametrize("chance", get_args(Chance))
@pytest.mark.parametrize(
    ("first", "second", "reason", "n_documents"),
    [
        ("1111111111", "1111111111", "single-grade", 10),
        ("012...", "...012", "no-common-docs", 0),
        ("1..", "1..", "one-doc", 1),
        ("1..", "2..", "one-doc", 1),
    ],
    ids=["D1", "D4", "D6", "D6-differ"],
)
def test_degenerate_tables_give_a_reason(
    first: str, second: str, reason: str, n_documents: int, chance: Chance
) -> None:
    """D1, D4, D6: no coefficient, however weighted, invents a number; a stack has NaN there."""
    (table,) = tables_of(first, second)
    for weights in WEIGHTS:
        result = chance_corrected(chance, table, weights)
        assert (result.value, result.reason, result.n_documents) == (None, reason, n_documents)
        values = stacked_chance_corrected(chance, table[np.newaxis], weights)
        assert np.isnan(values).tolist() == [True]


@given(graded_tables(), st.sampled_from(get_args(Chance)), st.sampled_from(WEIGHTS))
def test_coefficient_random_table_equals_slow_fractions(
    table: Table, chance: Chance, weights: Weights
) -> None:
    """Every coefficient is the textbook's (Po - Pe) / (1 - Pe), to the last digit."""
    result = chance_corrected(chance, table, weights)
    if result.value is None:
        assert says_nothing(table)
        return
    slow = slow_kappa(table, agreement_weights(len(table), weights), chance)
    assert result.value == float(slow)


@given(
    st.lists(graded_tables(min_grades=3, max_grades=3), min_size=1, max_size=4),
    st.sampled_from(get_args(Chance)),
    st.sampled_from(WEIGHTS),
)
def test_stack_equals_exact_tables(tables: list[Table], chance: Chance, weights: Weights) -> None:
    """A stack in floats has the exact numbers to 1e-12, and NaN exactly where there is none."""
    stack = np.array(tables)
    values = stacked_chance_corrected(chance, stack, weights)
    errors = stacked_standard_errors(stack, weights)
    for table, value, error in zip(tables, values, errors, strict=True):
        exact = chance_corrected(chance, table, weights)
        expected = np.nan if exact.value is None else exact.value
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)
        exact_error = cohen_kappa(table, weights).standard_error
        expected = np.nan if exact_error is None else exact_error
        assert error == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_two_documents_are_enough_for_a_stack() -> None:
    """Agreement on two documents of two grades, and disagreement on both: half is expected by chance."""
    found = stacked_chance_corrected("cohen", np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]]))
    assert found.tolist() == [1.0, -1.0]


@given(graded_tables(), st.sampled_from(get_args(Chance)), st.sampled_from(WEIGHTS))
def test_coefficient_exchanged_judges_are_the_same(table: Table, chance: Chance, weights: Weights) -> None:
    """Exchanging the judges, or counting grades from the other end, changes no digit."""
    result = chance_corrected(chance, table, weights)
    assert chance_corrected(chance, table.T, weights) == result
    assert chance_corrected(chance, table[::-1, ::-1], weights) == result


@given(graded_tables(), st.sampled_from(get_args(Chance)))
def test_unused_grade_of_unweighted_cohen_and_pi_is_free(table: Table, chance: Chance) -> None:
    """A grade that nobody uses leaves kappa and pi alone, and counts for S and AC1."""
    wider = np.pad(table, ((0, 1), (0, 1)))
    one, other = chance_corrected(chance, table), chance_corrected(chance, wider)
    assert one.reason == other.reason
    if chance in ("cohen", "scott"):
        assert one == other
    elif one.value is not None and one.value < 1:
        assert one.value != other.value


def test_pabak_of_two_grades_is_twice_the_agreement_less_one() -> None:
    """On two grades S is PABAK: 2 * 370 / 400 - 1 = .85."""
    assert bennett_s(IR_BOOK).value == 0.85


def test_stack_without_tables_is_empty() -> None:
    """No tables give no coefficients."""
    assert stacked_chance_corrected("gwet", np.zeros((0, 3, 3))).shape == (0,)
    assert stacked_standard_errors(np.zeros((2, 0, 3, 3))).shape == (2, 0)
