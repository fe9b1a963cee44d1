"""Krippendorff's alpha of two judges: published tables, slow fractions, its relation to pi."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement.kappa import METRICS, Metric, stacked_alpha
from store.analysis.agreement.tables import pair_tables
from tests.store.analysis.agreement.exact import scott_pi, two_judge_alpha
from tests.store.analysis.graded import Table, graded_tables, two_columns
from tests.vectors.agreement_tables import KAPPA_TABLES

COHEN = next(vector.table for vector in KAPPA_TABLES if vector.name == "cohen")


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
def test_stack_equals_exact_tables(tables: list[Table], metric: Metric) -> None:
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
def test_degenerate_tables_give_a_reason(first: str, second: str, reason: str, metric: Metric) -> None:
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
