"""Axes: round numbers to mark them with, and where a value stands on them.

All is done in decimals, so that a tick is exactly the number that its label says, at 1e-9 as well
as at 1e300.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from store.errors import ArgumentError

_STEPS = (1, 2, 5)
_LEAST_SHARE = Decimal("1e-9")
"""A range is not less than this of the numbers in it: their labels could not be told apart."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What is measured along one side of a chart, and from where to where."""

    label: str
    """The quantity, with its unit in brackets where it has one."""
    low: float | None = None
    """End of the axis, unless data lie beyond it; ``None`` = from the data alone."""
    high: float | None = None
    with_zero: bool = True
    """Whether 0 is on an axis whose ends are not given. It always is where bars begin there."""


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to places."""

    low: Decimal
    high: Decimal
    """More than `low`."""
    start: float
    """Place of `low`."""
    stop: float
    """Place of `high`; less than `start` where values go up."""

    def place(self, value: float) -> float:
        """Return where a finite value stands, which lies between the ends."""
        share = (Decimal(value) - self.low) / (self.high - self.low)
        return self.start + float(share) * (self.stop - self.start)


def make_scale(
    values: Iterable[float], axis: Axis, start: float, stop: float, *, most: int = 6
) -> tuple[Scale, list[Decimal]]:
    """Choose the ends of an axis and its ticks.

    Parameters
    ----------
    values : iterable of float
        What is to be shown; those that are not finite do not count.
    axis : Axis
        Ends that are given stay where no value lies beyond; others go out to the next tick.
    start, stop : float
        Places of the two ends.
    most : int, default=6
        Ticks at most, 2 or more.

    Returns
    -------
    (Scale, list of Decimal)
        The ticks ascend and lie within the scale.

    Raises
    ------
    ArgumentError
        If an end that is given is not finite, or the low one is not below the high one.

    Examples
    --------
    >>> scale, marks = make_scale([3, 42], Axis("documents"), 0, 100)
    >>> [str(mark) for mark in marks], scale.place(25)
    (['0', '10', '20', '30', '40', '50'], 50.0)
    """
    found = [Decimal(value) for value in values if math.isfinite(value)]
    low, high = (_given(end) for end in (axis.low, axis.high))
    if not found:
        found = [end for end in (low, high) if end is not None] or [Decimal(0)]
    if axis.with_zero and low is None and high is None:
        found.append(Decimal(0))
    if low is not None and high is not None and low >= high:
        raise ArgumentError("axis.low", f"must be below {axis.high}", axis.low)
    lowest, highest = min(found), max(found)
    low = None if low is not None and lowest < low else low
    high = None if high is not None and highest > high else high
    lowest = lowest if low is None else low
    highest = highest if high is None else high
    lowest, highest = _apart(lowest, highest, low_moves=low is None, high_moves=high is None)
    marks = ticks(lowest, highest, most=most)
    step = marks[1] - marks[0] if len(marks) > 1 else highest - lowest
    if low is None:
        lowest = (lowest / step).to_integral_value("ROUND_FLOOR") * step
    if high is None:
        highest = (highest / step).to_integral_value("ROUND_CEILING") * step
    return Scale(lowest, highest, start, stop), ticks(lowest, highest, most=most + 2, step=step)


def ticks(
    low: Decimal, high: Decimal, *, most: int = 6, step: Decimal | None = None
) -> list[Decimal]:
    """Return the multiples of 1, 2 or 5 times a power of ten that lie in a range.

    Parameters
    ----------
    low, high : Decimal
        Ends of the range, `low` below `high`; both belong to it.
    most : int, default=6
        Ticks at most, 2 or more: the least step is taken that gives no more.
    step : Decimal, optional
        The step, where it is known.

    Returns
    -------
    list of Decimal
        Ascending. At least one where `most` is 3 or more.

    Examples
    --------
    >>> [str(mark) for mark in ticks(Decimal("0.13"), Decimal("0.38"))]
    ['0.15', '0.20', '0.25', '0.30', '0.35']
    >>> [str(mark) for mark in ticks(Decimal(0), Decimal(73))]
    ['0', '20', '40', '60']
    """
    if step is not None:
        return _multiples(low, high, step)
    exponent = ((high - low) / most).adjusted() - 1
    while True:
        for first in _STEPS:
            step = Decimal(first).scaleb(exponent)
            if (high / step).to_integral_value("ROUND_FLOOR") - (low / step).to_integral_value(
                "ROUND_CEILING"
            ) < most:
                return _multiples(low, high, step)
        exponent += 1


def tick_labels(marks: list[Decimal]) -> list[str]:
    """Write ticks alike: all with the same decimals, or all with the same power of ten.

    Examples
    --------
    >>> tick_labels([Decimal("0.0"), Decimal("0.5"), Decimal("1.0")])
    ['0.0', '0.5', '1.0']
    >>> tick_labels([Decimal(0), Decimal(2000), Decimal(4000)])
    ['0', '2,000', '4,000']
    >>> tick_labels([Decimal(0), Decimal("2e-9")])
    ['0', '2e-9']
    """
    largest = max((abs(mark) for mark in marks), default=Decimal(0))
    steps = [after - before for before, after in pairwise(marks)]
    finest = min((step.normalize() for step in steps), default=largest.normalize())
    decimals = max(0, -int(finest.as_tuple().exponent))
    if largest < Decimal("1e7") and decimals <= 6:
        return [f"{_unsigned_zero(mark):,.{decimals}f}" for mark in marks]
    return [_with_power(mark) for mark in marks]


def _multiples(low: Decimal, high: Decimal, step: Decimal) -> list[Decimal]:
    """Return the multiples of a step in a range."""
    first = int((low / step).to_integral_value("ROUND_CEILING"))
    last = int((high / step).to_integral_value("ROUND_FLOOR"))
    # Adding 0 writes 2E+1 as 20.
    return [step * number + 0 for number in range(first, last + 1)]


def _given(end: float | None) -> Decimal | None:
    """Return an end of an axis that the caller has set."""
    if end is not None and not math.isfinite(end):
        raise ArgumentError("axis", "must have finite ends", end)
    return None if end is None else Decimal(repr(float(end)))


def _apart(
    lowest: Decimal, highest: Decimal, *, low_moves: bool, high_moves: bool
) -> tuple[Decimal, Decimal]:
    """Move ends that coincide, or nearly, away from each other."""
    largest = max(abs(lowest), abs(highest))
    least = largest * _LEAST_SHARE if largest else Decimal(1)
    if highest - lowest >= least:
        return lowest, highest
    room = largest / 10 if largest else Decimal(1)
    if low_moves and (largest or not high_moves):
        lowest = min(lowest, highest) - room
    if high_moves or not low_moves:
        highest = max(lowest, highest) + room
    return lowest, highest


def _unsigned_zero(mark: Decimal) -> Decimal:
    """Return 0 for minus 0."""
    return mark if mark else Decimal(0)


def _with_power(mark: Decimal) -> str:
    """Write a number with its power of ten."""
    if not mark:
        return "0"
    digits = mark.normalize()
    power = digits.adjusted()
    first = digits.scaleb(-power).normalize()
    return f"{first:f}e{power}"
