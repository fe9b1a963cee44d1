"""Confidence intervals of coefficients, and why there may be none."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from store.errors import ArgumentError

IntervalReason = Literal[
    "no-common-docs",
    "one-topic",
    "one-doc",
    "undefined",
    "mostly-undefined",
    "no-variation",
    "no-standard-error",
]
"""Why there is no interval:

================= ==============================================================================
no-common-docs    no topic, or no document, has anything to resample
one-topic         of one topic every resample is itself
one-doc           of one document every resample is itself
undefined         the coefficient itself has no value
mostly-undefined  it has none in more than half of the resamples
no-variation      it has the same value in all resamples: perfect agreement, or a judge who used
                  one grade only; an interval of no width would promise too much
no-standard-error the formula of the standard error degenerates
================= ==============================================================================
"""

LEVEL = 0.95
"""Nominal coverage unless another is asked for."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, or the reason why there is none."""

    low: float | None
    high: float | None
    reason: IntervalReason | None
    """``None`` when there is an interval."""
    n_units: int
    """What was resampled: topics, or documents."""
    n_resamples: int
    """0 when nothing was resampled."""
    n_undefined: int
    """Resamples left out because the coefficient had no value there."""
    n_empty: int = 0
    """Topics that are no unit because they add nothing: no document was judged by both."""
    level: float = LEVEL
    """Nominal coverage, above 0 and below 1."""

    @property
    def width(self) -> float | None:
        """The distance of the limits; ``None`` without an interval."""
        return None if self.low is None or self.high is None else self.high - self.low


def asymptotic_interval(
    value: float | None,
    standard_error: float | None,
    *,
    n_units: int,
    level: float = LEVEL,
) -> Interval:
    """Make an interval from a standard error that supposes independent documents.

    Parameters
    ----------
    value : float or None
        The coefficient; ``None`` = undefined.
    standard_error : float or None
        At least 0; ``None`` or 0 = the formula degenerates.
    n_units : int
        Documents it was computed from.
    level : float, default=0.95
        Nominal coverage.

    Returns
    -------
    Interval
        ``value -+ z * standard_error`` with the normal quantile z, not cut at 1. Reasons:
        ``undefined``, ``no-standard-error``. `ArgumentError` for a level that is none, and for a
        number that is not finite or below 0.

    Examples
    --------
    Kappa .776119 and its error .038888, of 400 documents:

    >>> interval = asymptotic_interval(0.776119, 0.038888, n_units=400)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.6999, 0.8523)
    """
    z = normal_quantile(level)
    if value is None:
        return Interval(None, None, "undefined", n_units, 0, 0, 0, level)
    if not standard_error:
        return Interval(None, None, "no-standard-error", n_units, 0, 0, 0, level)
    if not (np.isfinite(value) and np.isfinite(standard_error) and standard_error > 0):
        requirement = "must be finite, the standard error above 0"
        raise ArgumentError("standard_error", requirement, (value, standard_error))
    half = z * standard_error
    return Interval(value - half, value + half, None, n_units, 0, 0, 0, level)


def normal_quantile(level: float) -> float:
    """Return z such that a normal variable is within z standard errors with probability `level`.

    Raise `ArgumentError` unless ``0 < level < 1``.

    Examples
    --------
    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    check_level(level)
    return NormalDist().inv_cdf((1 + level) / 2)


def check_level(level: float) -> None:
    """Raise `ArgumentError` when `level` is no probability between 0 and 1."""
    if not 0 < level < 1:
        raise ArgumentError("level", "must be above 0 and below 1", level)
