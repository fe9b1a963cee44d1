"""Fields like `-12.5`, read all at once: digits, a point perhaps, a sign perhaps.

A row of the last characters of all fields, a row of those before them, and so on: each row is
arithmetic on small integers for all lines at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.columns import WORD, Column

MOST_BYTES = 24
"""Longer fields are not read."""
_ZERO, _NINE = ord("0"), 9
_POINT, _MINUS, _PLUS = ord("."), ord("-"), ord("+")


@dataclass(slots=True, eq=False)
class FixedPoint:
    """What a column of fields like `-12.5` says; meaningless where a field is no such one."""

    is_plain: NDArray[np.bool_]
    """Where it is, shape (n_lines,)."""
    digits: NDArray[np.float64]
    """The number that the digits make without their point, shape (n_lines,): to the last digit
    below 2**53, and else within a few units of the last place of float64."""
    n_points: NDArray[np.uint8]
    """Points in each field, shape (n_lines,)."""
    n_decimals: NDArray[np.int64] | None
    """Digits after the point, shape (n_lines,); ``None`` when there are no points."""
    is_minus: NDArray[np.bool_] | None
    """Where the sign is minus, shape (n_lines,); ``None`` when there are no signs."""


def read_fixed_point(column: Column) -> FixedPoint:
    """Read digits, points and signs.

    Examples
    --------
    >>> read = read_fixed_point(Column.of([b"-12.5", b"7", b"x"]))
    >>> read.is_plain.tolist(), read.digits[:2].tolist(), read.n_decimals[:2].tolist()
    ([True, True, False], [125.0, 7.0], [1, 0])
    """
    first = np.frombuffer(column.text, np.uint8)[column.starts]
    is_minus = first == _MINUS
    is_signed = is_minus | (first == _PLUS)
    has_signs = bool(is_signed.any())
    n_characters = column.lengths - is_signed if has_signs else column.lengths
    digits = _characters(column, n_characters)
    is_other = digits > _NINE
    n_others = _count(is_other)
    # What was less than a zero has become more than 9: unsigned numbers wrap round.
    n_points = _count(digits == (_POINT - _ZERO) % 256)
    is_plain = (n_others == n_points) & (n_points <= 1) & (n_characters > n_others)
    if int(column.lengths.max()) > MOST_BYTES:
        is_plain &= column.lengths <= MOST_BYTES
    n_decimals = None
    if n_points.any():
        digits, n_decimals = _without_points(digits, is_other)
    return FixedPoint(
        is_plain, _together(digits), n_points, n_decimals, is_minus if has_signs else None
    )


def _characters(column: Column, n_characters: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Lay out the last characters of fields, less the code of zero.

    Returns an array of shape (8, 16 or 24, n_lines): the last character of every field in the last
    row, and 0 before its `n_characters` last ones.
    """
    n_rows = min(-(-int(column.lengths.max()) // WORD) * WORD, MOST_BYTES)
    ends = column.starts + column.lengths
    digits = column.windows(ends - n_rows, n_rows).T.copy()
    digits -= _ZERO
    n_before = n_rows - np.minimum(n_characters, n_rows).astype(np.uint8)
    some = digits[: int(n_before.max())]
    rows = np.arange(len(some), dtype=np.uint8)[:, np.newaxis]
    np.copyto(some, 0, where=rows < n_before)
    return digits


def _without_points(
    digits: NDArray[np.uint8], is_point: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Close the gaps that points leave; return also how many digits came after each."""
    n_rows, n_lines = digits.shape
    row = int(is_point[:, 0].argmax())
    if is_point[row].all():
        digits[1 : row + 1] = digits[:row].copy()
        digits[0] = 0
        return digits, np.full(n_lines, n_rows - 1 - row)
    # Up to its point, a number moves one place back.
    is_before = is_point.view(np.uint8).copy()
    for row in range(n_rows - 2, -1, -1):
        is_before[row] |= is_before[row + 1]
    n_decimals = n_rows - is_before.sum(axis=0, dtype=np.uint8).astype(np.int64)
    n_decimals[n_decimals == n_rows] = 0
    moved = np.zeros_like(digits)
    moved[1:] = digits[:-1]
    moved -= digits  # differences wrap round, and come back in the sum
    moved *= is_before
    digits += moved
    return digits, n_decimals


def _count(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Count the flags of each line; rows of bytes are added faster than flags."""
    counts: NDArray[np.uint8] = flags.view(np.uint8).sum(axis=0, dtype=np.uint8)
    return counts


def _together(digits: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Put digits together, shape (8, 16 or 24, n_lines)."""
    pairs = digits[0::2] * np.uint8(10) + digits[1::2]
    fours = pairs[0::2].astype(np.uint16) * np.uint16(100) + pairs[1::2]
    eights = fours[0::2].astype(np.uint32) * np.uint32(10_000) + fours[1::2]
    numbers: NDArray[np.float64] = eights[0].astype(np.float64)
    for more in eights[1:]:
        numbers *= 1e8
        numbers += more
    return numbers
