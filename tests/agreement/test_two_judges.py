"""Kappas of two judges: published tables, other programs, undefined cases, properties."""

from __future__ import annotations

import warnings
from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score, jaccard_score
from statsmodels.stats.inter_rater import cohens_kappa

from store.analysis.agreement.intervals import ratio_of_sums
from store.analysis.agreement.kappa import (
    METRICS,
    WEIGHTS,
    Chance,
    MacroOverlap,
    Metric,
    Weights,
    band,
    macro_overlap,
    macro_sums,
    relevant_to_all,
    stacked_alpha,
    stacked_chance_corrected,
    stacked_overlap,
    stacked_raw,
    stacked_specific,
    stacked_standard_errors,
)
from store.analysis.agreement.tables import PAIR_NAMES, PairName, pair_tables, stacked
from store.analysis.agreement.votes import Votes, collapse_table, level_index
from store.errors import ArgumentError, UnknownNameError
from store.records import Grade
from tests.agreement.graded import (
    MISSING,
    Table,
    bennett_s,
    chance_corrected,
    cohen_kappa,
    drawn_votes,
    expand,
    graded_tables,
    gwet_ac,
    pair_coefficient,
    relevant_in,
    scott_pi,
    texts_of,
    two_columns,
    two_judge_alpha,
    votes_in,
    votes_of,
)
from tests.cf_collection import SCALE, load_judgements
from tests.helpers.world import make_scale, parse_scale
from tests.vectors.agreement_tables import (
    ANXIETY,
    ANXIETY_DECLARED,
    ANXIETY_OCCURRING,
    CF_KAPPAS,
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


N_CF_UNLISTED = 100 * 1239 - 4819


@pytest.mark.parametrize("vector", TABLES)
def test_coefficients_published_table_give_printed_digits(vector: KappaTable) -> None:
    """Every published coefficient of two judges comes out to every printed digit, stacked too."""
    names = {"none": "kappa", "linear": "linear", "quadratic": "quadratic"}
    printed = [(names[weights], kappa) for weights, kappa, _ in vector.kappas]
    for name, value in (*printed, *vector.others):
        assert_prints(value, pair_coefficient(name, vector.table).value)  # type: ignore[arg-type]
        assert_prints(value, float(stacked(name, vector.table)))  # type: ignore[arg-type]


@given(
    st.lists(graded_tables(min_grades=3, max_grades=3), min_size=1, max_size=4), st.sampled_from(PAIR_NAMES)
)
def test_stack_by_name_equals_exact_tables(tables: list[Table], name: PairName) -> None:
    """A stack by any name has the exact numbers to 1e-12, NaN exactly where there is a reason."""
    values = stacked(name, np.array(tables), [-2, 0, 1])
    for table, value in zip(tables, values, strict=True):
        exact = pair_coefficient(name, table, values=[-2, 0, 1]).value
        expected = np.nan if exact is None else exact
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", PAIR_NAMES)
def test_degenerate_tables_have_no_number_under_any_name(name: PairName) -> None:
    """One grade, no document, one document: a reason each, and NaN in a stack of all four."""
    one_grade, nothing = np.diag([0, 10, 0]), np.zeros((3, 3), dtype=np.int64)
    same, other = nothing.copy(), nothing.copy()
    same[1, 1] = other[1, 2] = 1
    tables = [one_grade, nothing, same, other]
    results = [pair_coefficient(name, table) for table in tables]
    assert [result.value for result in results] == [None] * 4
    reasons = [result.reason for result in results]
    assert reasons == ["single-grade", "no-common-docs", "one-doc", "one-doc"]
    assert np.isnan(stacked(name, np.array(tables))).tolist() == [True] * 4


def test_coefficients_of_a_table_by_hand() -> None:
    """Every coefficient of one table is the one that its definition gives by hand."""
    table = np.array([[3, 1, 0], [0, 1, 0], [0, 1, 1]])
    values = {name: pair_coefficient(name, table).value for name in PAIR_NAMES}
    # Po = 5/7 = 35/49, Pe = (4*3 + 1*3 + 2*1) / 49 = 17/49.
    assert values["kappa"] == 18 / 32
    # Linear costs: observed 2; by chance 4*3 + 4*1*2 + 1*3 + 1*1 + 2*3*2 + 2*3 = 42; 1 - 7*2/42.
    assert values["linear"] == (42 - 14) / 42
    # Squared costs: by chance 4*3 + 4*1*4 + 1*3 + 1*1 + 2*3*4 + 2*3 = 62; 1 - 7*2/62.
    assert values["quadratic"] == (62 - 14) / 62
    # m = (7, 4, 3) / 14: Pe of pi 74/196, of AC1 (1 - 74/196) / 2 = 61/196; of S 1/3.
    assert values["pi"] == (140 - 74) / (196 - 74)
    assert values["ac1"] == (140 - 61) / (196 - 61)
    assert values["s"] == (15 - 7) / (21 - 7)
    # Two of 14 votes' pairs disagree each way: 1 - 13 * 4 / (2 * (7*4 + 7*3 + 4*3)).
    assert values["alpha_nominal"] == 1 - 52 / 122
    binary = collapse_table(table, 1)
    # Pe = (4*3 + 3*4) / 49; kappa = (42 - 24) / (49 - 24).
    assert pair_coefficient("kappa", binary).value == 18 / 25
    assert (stacked("raw", binary), stacked("positive", binary)) == (6 / 7, 6 / 7)
    assert (stacked("overlap", binary), stacked("overlap", collapse_table(table, 2))) == (3 / 4, 1 / 2)


def test_values_reach_interval_alpha() -> None:
    """Grade values given for the scale are used by the alpha of intervals, and by no other."""
    spread = {name: stacked(name, COHEN, [-2, 0, 1]) for name in PAIR_NAMES}
    exact = two_judge_alpha(COHEN, "interval", values=[-2, 0, 1])
    assert spread["alpha_interval"] == pytest.approx(exact.value)
    assert [name for name in PAIR_NAMES if spread[name] != stacked(name, COHEN)] == ["alpha_interval"]


@pytest.mark.vector("scikit-learn 1.9.1 on the Cystic Fibrosis collection")
def test_kappa_cf_collection_gives_known_kappas() -> None:
    """All six judge pairs of the CF collection have the kappas measured by scikit-learn."""
    votes = votes_of(load_judgements(), SCALE)
    assert votes.n_documents == 4819
    for (first, second), printed in CF_KAPPAS.items():
        tables = pair_tables(votes, first, second)
        assert tables.shape == (100, 3, 3)
        overall = tables.sum(axis=0)
        everything = overall.copy()
        everything[0, 0] += N_CF_UNLISTED
        results = [
            *(cohen_kappa(overall, weights) for weights in ("none", "linear", "quadratic")),
            *(cohen_kappa(collapse_table(overall, level)) for level in (1, 2)),
            cohen_kappa(everything),
            cohen_kappa(collapse_table(everything, 1)),
        ]
        for expected, result in zip(printed.split(), results, strict=True):
            assert_prints(expected, result.value)


def slow_alpha(coincidences: list[list[Fraction]], metric: Metric) -> Fraction:
    """Apply 1 - (n - 1) sum o d / sum n n d, each distance spelt out, in fractions."""
    grades = range(len(coincidences))
    given_ = [sum(row, Fraction(0)) for row in coincidences]

    def distance(c: int, k: int) -> Fraction:
        if metric == "nominal":
            return Fraction(c != k)
        if metric == "interval":
            return Fraction((c - k) ** 2)
        low, high = min(c, k), max(c, k)
        return (sum(given_[low : high + 1], Fraction(0)) - (given_[c] + given_[k]) / 2) ** 2

    seen = sum((coincidences[c][k] * distance(c, k) for c, k in product(grades, repeat=2)), 0)
    by_chance = sum((given_[c] * given_[k] * distance(c, k) for c, k in product(grades, repeat=2)))
    return 1 - (sum(given_) - 1) * seen / by_chance


def is_defined(table: Table) -> bool:
    """Tell whether a table holds two documents and two grades."""
    return bool(table.sum() > 1 and np.count_nonzero(table.sum(axis=0) + table.sum(axis=1)) > 1)


@given(graded_tables(), st.sampled_from(METRICS))
def test_alpha_random_table_equals_slow_fractions(table: Table, metric: Metric) -> None:
    """Alpha of two judges is the formula's, to the last digit, and symmetric."""
    result = two_judge_alpha(table, metric)
    assert two_judge_alpha(table.T, metric) == result
    if not is_defined(table):
        assert result.value is None
        return
    both = (table + table.T).tolist()
    slow = slow_alpha([[Fraction(count) for count in row] for row in both], metric)
    assert result.value == float(slow)


@given(graded_tables())
def test_alpha_two_judges_follows_from_pi(table: Table) -> None:
    """1 - alpha = (1 - pi) (1 - 1 / 2N): nominal with plain pi, interval with quadratic pi."""
    if not is_defined(table):
        return
    shrink = 1 - 1 / (2 * int(table.sum()))
    for metric, weights in (("nominal", "none"), ("interval", "quadratic")):
        left = two_judge_alpha(table, metric).value  # type: ignore[arg-type]
        right = scott_pi(table, weights).value  # type: ignore[arg-type]
        assert left is not None
        assert right is not None
        assert 1 - left == pytest.approx((1 - right) * shrink, rel=1e-12, abs=1e-15)


@given(graded_tables(), st.sampled_from(METRICS), st.integers(0, 5))
def test_alpha_unused_grade_changes_no_digit(table: Table, metric: Metric, place: int) -> None:
    """A declared grade that nobody used changes no alpha, wherever it stands on the scale."""
    place = min(place, len(table))
    wider = np.insert(np.insert(table, place, 0, axis=0), place, 0, axis=1)
    values = [grade + (grade >= place) for grade in range(len(table))]
    one = two_judge_alpha(table, metric, values=values)
    other = two_judge_alpha(wider, metric)
    assert one.value == other.value
    assert one.reason == other.reason


@given(st.lists(graded_tables(min_grades=3, max_grades=3), min_size=1, max_size=4), st.sampled_from(METRICS))
def test_stack_of_alphas_equals_exact_tables(tables: list[Table], metric: Metric) -> None:
    """A stack in floats has the exact alphas to 1e-12, with values too."""
    stack = np.array(tables)
    stacked = stacked_alpha(stack + np.swapaxes(stack, -1, -2), metric, values=[-2, 0, 1])
    for table, value in zip(tables, stacked, strict=True):
        exact = two_judge_alpha(table, metric, values=[-2, 0, 1])
        if exact.reason == "one-doc":
            continue
        expected = np.nan if exact.value is None else exact.value
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("1111111111", "1111111111", "single-grade"),
        ("012...", "...012", "no-common-docs"),
        ("1..", "1..", "one-doc"),
        ("1..", "2..", "one-doc"),
    ],
    ids=["D1", "D4", "D6", "D6-differ"],
)
def test_degenerate_tables_have_no_alpha(first: str, second: str, reason: str, metric: Metric) -> None:
    """D1, D4, D6: there is no alpha, and the reason says why."""
    (table,) = pair_tables(two_columns(first, second), "judge 0", "judge 1")
    result = two_judge_alpha(table, metric)
    assert (result.value, result.reason) == (None, reason)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Ten documents; n = 20 votes, 5 of 0 and 15 of 1; o_01 = 5: 1 - 19 * 10 / (2 * 75).
        ("1111111111", "0000011111", (-4, 15)),
        # o_01 = 10 of n_0 = n_1 = 10: 1 - 19 * 20 / (2 * 100).
        ("0000000000", "1111111111", (-9, 10)),
        # Four documents in common (D9): votes 0 0 0 1 1 1 1 1, o_01 = 1: 1 - 7 * 2 / (2 * 15).
        ("0101.1", "01111.", (8, 15)),
    ],
    ids=["D2", "D3", "D9"],
)
def test_constant_judges_have_an_alpha(
    first: str, second: str, expected: tuple[int, int], metric: Metric
) -> None:
    """D2, D3 and D9 have -.267, -.9 and .533 by every metric, as there are two grades."""
    (table,) = pair_tables(two_columns(first, second), "judge 0", "judge 1")
    assert two_judge_alpha(table, metric).value == expected[0] / expected[1]


def test_alpha_huge_counts_do_not_overflow() -> None:
    """A billion times the documents leave alpha at the limit where 1 / 2N vanishes."""
    for metric, weights in (("nominal", "none"), ("interval", "quadratic")):
        many = two_judge_alpha(COHEN * 10**15, metric)  # type: ignore[arg-type]
        pi = scott_pi(COHEN, weights)  # type: ignore[arg-type]
        assert many.value == pytest.approx(pi.value, abs=1e-14)


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


@pytest.mark.vector("Landis and Koch 1977, table in section 2; IR book section 8.5; Krippendorff")
@pytest.mark.parametrize(
    ("bands", "value", "word"),
    [
        ("landis-koch", -0.01, "poor"),
        ("landis-koch", 0.0, "slight"),
        ("landis-koch", 0.20, "slight"),
        ("landis-koch", 0.21, "fair"),
        ("landis-koch", 0.40, "fair"),
        ("landis-koch", 0.60, "moderate"),
        ("landis-koch", 0.80, "substantial"),
        ("landis-koch", 0.81, "almost perfect"),
        ("ir-book", 0.81, "good"),
        ("ir-book", 0.80, "fair"),
        ("ir-book", 0.67, "fair"),
        ("ir-book", 0.66, "dubious"),
        ("krippendorff", 0.80, "firm"),
        ("krippendorff", 0.667, "tentative"),
        ("krippendorff", 0.66, "unreliable"),
    ],
)
def test_band_is_the_authors_word(bands: Any, value: float, word: str) -> None:
    """A value on a limit is on the side the author put it."""
    assert band(value, bands) == word


def slow_table(votes: Votes, first: int, second: int) -> list[list[list[int]]]:
    """Count the documents of two judges, topic by topic, one after another."""
    seen = Counter(
        (topic, text[first], text[second])
        for topic, text in zip(votes.topic_codes.tolist(), texts_of(votes), strict=True)
    )
    grades = [str(place) for place in range(votes.n_grades)]
    topics = range(len(votes.topics))
    return [[[seen[topic, a, b] for b in grades] for a in grades] for topic in topics]


@given(drawn_votes(max_judges=4))
def test_tables_of_a_pair_count_documents_graded_by_both(votes: Votes) -> None:
    """A topic's table counts the documents graded by both, and transposed the other way round."""
    for first, second in combinations(range(len(votes.judges)), 2):
        names = votes.judges[first], votes.judges[second]
        tables = pair_tables(votes, *names)
        assert tables.tolist() == slow_table(votes, first, second)
        assert tables.dtype == np.int64
        assert np.array_equal(pair_tables(votes, *names[::-1]), tables.transpose(0, 2, 1))


def test_judge_not_there_is_refused() -> None:
    """An unknown judge is an error that lists the judges."""
    votes = votes_in(["0"], (0, 1))
    with pytest.raises(UnknownNameError, match="unknown judge `ann`; known: `judge 0`"):
        pair_tables(votes, "judge 0", "ann")


GAPS = make_scale(
    tuple(Grade(value, f"grade {value}", key) for value, key in ((-2, "j"), (0, "0"), (3, "3")))
)


@given(arrays(np.int64, (3, 2, 4, 4), elements=st.integers(0, 9)), st.integers(1, 3))
def test_collapse_table_equals_collapsing_the_grades(tables: NDArray[np.int64], level: int) -> None:
    """A collapsed table counts the collapsed grades of the same documents."""
    collapsed = collapse_table(tables, level)
    assert collapsed.shape == (3, 2, 2, 2)
    for stack in np.ndindex(3, 2):
        expected = np.zeros((2, 2), dtype=np.int64)
        for (row, column), count in np.ndenumerate(tables[stack]):
            expected[int(row >= level), int(column >= level)] += count
        assert collapsed[stack].tolist() == expected.tolist()


@pytest.mark.parametrize("level", [0, 4, -1])
def test_level_that_cuts_nothing_off_is_refused(level: int) -> None:
    """A level that makes everything or nothing relevant is an error."""
    scale = parse_scale("0-3")
    with pytest.raises(ArgumentError, match="`level` must be above 0 and at most 3"):
        level_index(scale, level)


def test_level_index_is_the_least_relevant_place() -> None:
    """The place is that of the least grade at or above the level, on scales with gaps too."""
    assert [level_index(parse_scale("0-3"), level) for level in (1, 2, 3)] == [1, 2, 3]
    assert [level_index(GAPS, level) for level in (-1, 0, 1, 2, 3)] == [1, 1, 2, 2, 2]
