"""Sums of floats without rounding, for states that must not depend on the order of judging."""

from __future__ import annotations

_UNITS = 1 << 1074
"""Units in 1: every finite float is a whole multiple of 2**-1074."""


def units(value: float) -> int:
    """Return a finite float as a whole number of units, exactly; sums of these are exact.

    Examples
    --------
    >>> from_units(units(1e300) + units(0.1) - units(1e300))
    0.1
    """
    numerator, denominator = value.as_integer_ratio()
    return numerator * (_UNITS // denominator)


def from_units(number: int) -> float:
    """Return the float nearest to a number of units."""
    return number / _UNITS
