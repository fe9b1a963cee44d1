"""Confidence intervals from standard errors."""

from __future__ import annotations

import pytest

from store.analysis.agreement.intervals import NORMAL_QUANTILE, Interval, asymptotic_interval, check_level
from store.errors import ArgumentError


@pytest.mark.vector("SAS/STAT FREQ: kappa .4842, error .1380, limits .2137 and .7547")
def test_limits_of_sas() -> None:
    """The limits of a published kappa follow from its error, to the digits printed."""
    interval = asymptotic_interval(0.4842, 0.1380, n_units=19)
    assert interval.low == pytest.approx(0.2137, abs=1e-4)
    assert interval.high == pytest.approx(0.7547, abs=1e-4)
    assert (interval.reason, interval.n_units) == (None, 19)


@pytest.mark.vector("tables of the normal distribution")
def test_normal_quantile() -> None:
    """The level stands for both sides together."""
    assert pytest.approx(1.9600, abs=5e-5) == NORMAL_QUANTILE


def test_limits_are_not_cut() -> None:
    """A limit above 1 stays what the formula says."""
    interval = asymptotic_interval(0.95, 0.1, n_units=9)
    assert interval.high == pytest.approx(0.95 + 0.196, abs=1e-4)


def test_undefined_is_a_reason() -> None:
    """Without a value or an error there is no interval."""
    no_value = asymptotic_interval(None, None, n_units=1)
    assert no_value == Interval(None, None, "undefined", 1, 0)
    assert asymptotic_interval(1.0, None, n_units=5).reason == "no-standard-error"
    assert asymptotic_interval(1.0, 0.0, n_units=5).reason == "no-standard-error"
    assert no_value.width is None


def test_width() -> None:
    """The width is the distance of the limits."""
    assert Interval(0.25, 0.75, None, 9, 0).width == 0.5


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_level_out_of_range(level: float) -> None:
    """A level is a probability strictly between 0 and 1."""
    with pytest.raises(ArgumentError, match="`level` must be above 0 and below 1"):
        check_level(level)


@pytest.mark.parametrize(("value", "error"), [(0.5, -0.1), (float("nan"), 0.1), (0.5, float("inf"))])
def test_numbers_that_are_none(value: float, error: float) -> None:
    """NaN, infinity and negative errors are refused."""
    with pytest.raises(ArgumentError, match="must be finite, the standard error above 0"):
        asymptotic_interval(value, error, n_units=5)
