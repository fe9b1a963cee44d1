"""Coefficients of two judges by name, exact and in stacks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement.tables import PAIR_NAMES, PairName, pair_tables, stacked
from store.analysis.agreement.votes import collapse_table
from tests.cf_collection import SCALE, load_judgements
from tests.store.analysis.agreement.exact import cohen_kappa, pair_coefficient, two_judge_alpha
from tests.store.analysis.graded import Table, graded_tables, votes_of
from tests.vectors.agreement_tables import CF_KAPPAS, KAPPA_TABLES, KappaTable, assert_prints

TABLES = [
    pytest.param(vector, id=vector.name, marks=pytest.mark.vector(vector.source)) for vector in KAPPA_TABLES
]
COHEN = next(vector.table for vector in KAPPA_TABLES if vector.name == "cohen")
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
def test_stack_equals_exact_tables(tables: list[Table], name: PairName) -> None:
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
