"""Confidence intervals from standard errors."""

from __future__ import annotations

import pytest

from store.analysis.agreement.intervals import NORMAL_QUANTILE, Interval, asymptotic_interval


@pytest.mark.vector("SAS/STAT FREQ: kappa .4842, error .1380, limits .2137 and .7547")
def test_limits_of_sas() -> None:
    """The limits of a published kappa follow from its error, to the digits printed."""
    interval = asymptotic_interval(0.4842, 0.1380)
    assert interval.low == pytest.approx(0.2137, abs=1e-4)
    assert interval.high == pytest.approx(0.7547, abs=1e-4)
    assert interval.reason is None


@pytest.mark.vector("tables of the normal distribution")
def test_normal_quantile() -> None:
    """The level stands for both sides together."""
    assert pytest.approx(1.9600, abs=5e-5) == NORMAL_QUANTILE


def test_limits_are_not_cut() -> None:
    """A limit above 1 stays what the formula says."""
    interval = asymptotic_interval(0.95, 0.1)
    assert interval.high == pytest.approx(0.95 + 0.196, abs=1e-4)


def test_undefined_is_a_reason() -> None:
    """Without a value or an error there is no interval."""
    no_value = asymptotic_interval(None, None)
    assert no_value == Interval(None, None, "undefined")
    assert asymptotic_interval(1.0, None).reason == "no-standard-error"
    assert asymptotic_interval(1.0, 0.0).reason == "no-standard-error"
    assert no_value.width is None


def test_width() -> None:
    """The width is the distance of the limits."""
    assert Interval(0.25, 0.75).width == 0.5
