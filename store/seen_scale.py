"""The scale of files that declare none: as far as the grades in them go."""

from __future__ import annotations

from collections.abc import Collection

from store.errors import ArgumentError
from store.records import Scale
from store.scale import parse_scale

MOST_STEPS = 20
"""A scale rises by as many grades at most, as `store.scale.parse_scale` has it."""


def scale_of_grades(grades: Collection[int]) -> Scale:
    """Return the scale from the lowest to the highest of some grades.

    Parameters
    ----------
    grades : collection of int
        The grades that were given, in any order; none is negative.

    Returns
    -------
    Scale
        Every integer between them is a grade of it, used or not. A single grade is taken with those
        down to 0; 0 alone, or no grade at all, with 1.

    Raises
    ------
    ArgumentError
        If the grades lie too far apart to be one scale.

    Examples
    --------
    >>> scale_of_grades({3, 0, 2}).values
    (0, 1, 2, 3)
    >>> scale_of_grades([2]).values, scale_of_grades([0]).values
    ((0, 1, 2), (0, 1))
    """
    low, high = min(grades, default=0), max(grades, default=1)
    if low == high:
        low, high = 0, max(high, 1)
    if high - low > MOST_STEPS:
        hint = f"--scale FILE.toml declares the grades there are; --map {high}=N takes one as N"
        requirement = f"must be given: the grades go from {low} to {high}"
        raise ArgumentError("--scale", requirement, None, hint=hint)
    return parse_scale(f"{low}-{high}")
