"""Drift: quarters of every topic, and trends inside topics."""

from __future__ import annotations

import itertools
import math
import statistics

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.agreement.drift import Drift, Spread, Trend, drift, quarters, quartiles, trend
from store.errors import ArgumentError

grades = st.lists(st.integers(0, 3).map(float), min_size=10, max_size=40)
grouped = st.lists(st.tuples(st.integers(0, 3).map(float), st.integers(0, 4)), max_size=40)


def pair_surplus(values: list[float]) -> int:
    """Count rising minus falling pairs by looking at each."""
    return sum((y > x) - (y < x) for x, y in itertools.combinations(values, 2))


@given(grades)
def test_trend_of_one_topic_equals_scipy(values: list[float]) -> None:
    """Both tau and p are those of scipy's Kendall test, with its correction for ties."""
    assume(len(set(values)) > 1)
    found = trend(values, [5] * len(values))
    expected = stats.kendalltau(range(len(values)), values, method="asymptotic")
    assert found.tau == pytest.approx(float(expected.statistic), abs=1e-12)
    assert found.p == pytest.approx(float(expected.pvalue), abs=1e-12)
    assert (found.n, found.reason) == (len(values), None)


@given(grouped)
def test_pairs_are_compared_inside_topics_only(rows: list[tuple[float, int]]) -> None:
    """The tau is that of counting the pairs of each topic one by one."""
    found = trend([value for value, _ in rows], [group for _, group in rows])
    topics = [[value for value, group in rows if group == one] for one in range(5)]
    pairs = [pair for topic in topics for pair in itertools.combinations(topic, 2)]
    untied = sum(x != y for x, y in pairs)
    if not untied:
        assert found.tau is None
        assert found.reason == ("all-tied" if pairs else "fewer-than-two")
        return
    surplus = sum(map(pair_surplus, topics))
    assert found.tau == pytest.approx(surplus / math.sqrt(len(pairs) * untied), abs=1e-12)
    assert found.n == sum(len(topic) for topic in topics if len(topic) > 1)
    assert (found.p is None) == (found.n < 10)


def test_variance_is_that_of_all_orders() -> None:
    """The p is that of the normal distribution with the variance of S over all orders."""
    first, second = [0.0, 0.0, 1.0, 2.0, 1.0], [3.0, 3.0, 3.0, 1.0, 2.0]
    variances = []
    for values in (first, second):
        surpluses = [pair_surplus(list(order)) for order in itertools.permutations(values)]
        assert statistics.fmean(surpluses) == 0
        variances.append(statistics.pvariance(surpluses))
    surplus = pair_surplus(first) + pair_surplus(second)
    assert surplus == (7 - 1) + (1 - 6)
    z = surplus / math.sqrt(sum(variances))
    found = trend([*first, *second], [1] * 5 + [2] * 5)
    assert found.p == pytest.approx(2 * statistics.NormalDist().cdf(-abs(z)), abs=1e-12)


def test_richer_later_topics_are_no_trend() -> None:
    """A topic with more in it that happens to come later moves nothing; drift inside one does."""
    poor, rich = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0], [2.0, 1.0, 2.0, 2.0, 1.0, 2.0]
    found = trend([*poor, *rich], [1] * 6 + [2] * 6)
    # In each topic four pairs rise and four fall.
    assert (found.tau, found.p) == (0.0, 1.0)
    falling = trend([2.0, 2.0, 1.0, 1.0, 0.0, 0.0] * 2, [1] * 6 + [2] * 6)
    assert falling.tau == pytest.approx(-24 / math.sqrt(30 * 24))
    assert falling.p is not None
    assert falling.p < 0.01


def test_undefined_trends_have_a_reason() -> None:
    """No pair, no difference, or too few for a p: each is a word, never a number."""
    assert trend([], []) == Trend(0, None, None, "fewer-than-two")
    assert trend([1, 2, 3], [1, 2, 3]) == Trend(0, None, None, "fewer-than-two")
    assert trend([1] * 20, [1] * 20) == Trend(20, None, None, "all-tied")
    assert trend(range(9), [1] * 9) == Trend(9, 1.0, None, "fewer-than-10")
    assert trend(range(10), [1] * 10).reason is None


@given(st.lists(st.integers(0, 3), max_size=60))
def test_quarters_are_of_one_size_in_order(groups: list[int]) -> None:
    """In every topic the parts rise with time and differ by at most one document."""
    parts = quarters(groups)
    for group in set(groups):
        own = [int(part) for part, one in zip(parts, groups, strict=True) if one == group]
        if len(own) < 4:
            assert set(own) == {-1}
            continue
        assert own == sorted(own)
        sizes = [own.count(part) for part in range(4)]
        assert sum(sizes) == len(own)
        assert max(sizes) - min(sizes) <= 1


def test_drift_by_hand() -> None:
    """Quarters pool the topics; a topic that cannot be cut in four is left out of everything."""
    # Topic 1: 2 0 | 1 1 | 0 0 | 0 1; topic 2: 2 | 1 | 1 | 0; topic 3 has three.
    values = [2, 0, 2, 1, 1, 1, 0, 0, 1, 0, 1, 0, 9, 9, 9]
    topics = [1, 1, 2, 1, 1, 2, 1, 1, 2, 1, 1, 2, 3, 3, 3]
    found = drift(values, topics)
    assert found.quarters == pytest.approx((4 / 3, 1.0, 1 / 3, 1 / 3))
    assert found.trend == trend(values[:12], topics[:12])
    assert found.trend.n == 12
    assert drift(values, topics, summary="median").quarters == (2.0, 1.0, 0.0, 0.0)


def test_too_little_for_quarters() -> None:
    """Without a topic of four there is no number and a reason."""
    nothing = Drift((None, None, None, None), Trend(0, None, None, "fewer-than-4"))
    assert drift([1, 2, 3, 4], [1, 1, 1, 2]) == nothing
    assert drift([], []) == nothing


@given(st.lists(st.integers(0, 100).map(float), min_size=2, max_size=30))
def test_quartiles_equal_the_standard_library(values: list[float]) -> None:
    """Quartiles are those of the standard library's inclusive method."""
    found = quartiles(values)
    expected = statistics.quantiles(values, n=4, method="inclusive")
    assert [found.lower, found.median, found.upper] == pytest.approx(expected)


def test_quartiles_of_little() -> None:
    """One value is its own quartiles; none has none."""
    assert quartiles([7]) == Spread(1, 7.0, 7.0, 7.0)
    assert quartiles([]) == Spread(0, None, None, None)


def test_impossible_arguments_are_refused() -> None:
    """Lengths must fit, and values must be numbers."""
    with pytest.raises(ArgumentError, match="`groups` must be as long as `values`"):
        trend([1.0, 2.0], [1])
    with pytest.raises(ArgumentError, match="`groups` must be as long as `values`"):
        drift([1.0, 2.0], [1])
    with pytest.raises(ArgumentError, match="`values` must be finite"):
        trend([math.nan], [1])
    with pytest.raises(ArgumentError, match="`values` must be one-dimensional"):
        quartiles(np.zeros((2, 2)))
    with pytest.raises(ArgumentError, match="`groups` must be one-dimensional"):
        quarters(np.zeros((2, 2), dtype=int))
