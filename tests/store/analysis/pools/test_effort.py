"""Forecasts: from a judge's own pace, with an interval, and no number where there is none."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.pools.pace import (
    LEAST_DECISIONS,
    RECENT_DECISIONS,
    Forecast,
    duration_words,
    forecast,
    student_quantile,
)

times = st.lists(st.integers(0, 600_000), min_size=LEAST_DECISIONS, max_size=RECENT_DECISIONS)


def test_total_is_the_mean_times_what_is_left() -> None:
    """One long document in ten counts: 10 s nine times and 910 s make 100 s each, not 10."""
    made = forecast([10_000] * 9 + [910_000], 20)
    assert (made.left, made.pace, made.seconds, made.n) == (20, 100.0, 2000.0, 10)


@given(times, st.integers(1, 5000))
def test_interval_equals_the_formula_by_other_programs(active: list[int], left: int) -> None:
    """With mean and deviation of the standard library and scipy's quantile, the ends are these."""
    made = forecast(active, left)
    seconds = [value / 1000 for value in active]
    mean, n = statistics.fmean(seconds), len(seconds)
    assert made.seconds == pytest.approx(mean * left)
    assert made.low is not None
    assert made.high is not None
    assert made.seconds is not None
    if mean == 0:
        assert made.low == made.high == 0
        return
    relative = statistics.stdev(seconds) / mean * math.sqrt(1 / n + 1 / left)
    log_width = float(stats.t.ppf(0.95, n - 1)) * relative
    assert math.log(made.high / made.seconds) == pytest.approx(log_width, rel=2e-3, abs=1e-9)
    assert math.log(made.seconds / made.low) == pytest.approx(log_width, rel=2e-3, abs=1e-9)


@given(times, st.integers(1, 5000))
def test_arrays_are_times_too(active: list[int], left: int) -> None:
    """Of an array the forecast is that of the same times in a list, in Python's own numbers."""
    made = forecast(np.array(active, dtype=np.int64), left)
    assert made == forecast(np.array(active, dtype=np.float64), left) == forecast(active, left)
    assert type(made.pace) is float


def test_equal_times_leave_no_doubt() -> None:
    """Where every decision took the same time, the interval is a point."""
    assert forecast([12_000] * 6, 5) == Forecast(5, 60.0, 60.0, 60.0, 6, 12.0)


def test_no_number_below_five_decisions() -> None:
    """Four decisions say nothing, and five do; how many there are is told in both cases."""
    assert forecast([1000] * 4, 10) == Forecast(10, None, None, None, 4, None)
    assert forecast([], 10) == Forecast(10, None, None, None, 0, None)
    assert forecast([1000] * 5, 10).seconds == 10.0


def test_nothing_left_takes_no_time() -> None:
    """With nothing left the answer is 0, whatever the pace."""
    assert forecast([], 0) == Forecast(0, 0.0, 0.0, 0.0, 0, None)
    assert forecast([1000] * 5, 0) == Forecast(0, 0.0, 0.0, 0.0, 5, 1.0)


def test_newest_decisions_alone_count() -> None:
    """What is older than the newest so many has no influence."""
    newest = [2000] * RECENT_DECISIONS
    assert forecast([500_000, *newest], 10) == forecast(newest, 10)
    assert forecast([500_000, *newest[1:]], 10).pace != 2.0


def test_interval_holds_what_it_says() -> None:
    """Of 2,000 judges with long-tailed times about nine in ten end inside their interval."""
    rng = np.random.default_rng(11)
    inside = 0
    for _ in range(2000):
        active = rng.lognormal(10, 0.9, size=40)
        truth = rng.lognormal(10, 0.9, size=150).sum() / 1000
        made = forecast(active, 150)
        assert made.low is not None
        assert made.high is not None
        inside += made.low <= truth <= made.high
    assert 0.86 < inside / 2000 < 0.94


@pytest.mark.parametrize("degrees", [4, 5, 7, 12, 40, 199])
@pytest.mark.parametrize("probability", [0.9, 0.95, 0.975])
def test_student_quantile_equals_scipy(probability: float, degrees: int) -> None:
    """The expansion is within 0.1 % of scipy's quantile."""
    expected = float(stats.t.ppf(probability, degrees))
    assert student_quantile(probability, degrees) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "under a minute"),
        (59.9, "under a minute"),
        (60, "about 1 min"),
        (89, "about 1 min"),
        (90, "about 2 min"),
        (3569, "about 59 min"),
        (3571, "about 1 h"),
        (3600, "about 1 h"),
        (3899, "about 1 h"),
        (3901, "about 1 h 10"),
        (6600, "about 1 h 50"),
        (6899, "about 1 h 50"),
        (6901, "about 2 h"),
        (35_699, "about 9 h 50"),
        (35_701, "about 10 h"),
        (37_801, "about 11 h"),
        (4_500_000, "about 1,250 h"),
    ],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    """Durations are rounded as coarsely as they are known."""
    assert duration_words(seconds) == words
