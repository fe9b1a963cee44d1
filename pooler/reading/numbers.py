"""Step 2: scores and stated ranks, the numbers of a column.

The characters of all fields are laid out in rows: their last characters, those before them, and so on. Two
rows of digits make a row of numbers to 99, two of these numbers to 9,999, and so on: a column is read in the
time in which `float` reads a few of its fields, and to the last bit as `float` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.reading.fields import WORD, FieldColumn
from pooler.reading.strict import whole_ranks

MOST_BYTES = 24
"""Of a field whose digits are read here."""
_ZERO, _NINE = ord("0"), 9
_POINT, _MINUS, _PLUS = ord("."), ord("-"), ord("+")
_POWERS = np.array([10.0**exponent for exponent in range(23)])
"""Exact in float64, as is every integer up to ..."""
_MOST_EXACT = 2.0**53
_HIGHEST = 230
"""Of the first 8 of 24 digits: with 8 zeros for the last ones, 53 bits still hold them all."""
_LOWER_CASE = 32


@dataclass(slots=True, eq=False)
class Decimals:
    """What a column of fields like `-12.5` says; meaningless where a field is no such one."""

    is_plain: NDArray[np.bool_]
    digits: NDArray[np.float64]
    """The number that the digits make without point and sign, rounded to float64, shape (n_lines,)."""
    rest: NDArray[np.float64]
    """What is to be added to `digits`; all of it 0 below 2**53."""
    n_decimals: NDArray[np.int64] | None
    """Digits after the point; ``None`` = no field has a point."""
    is_minus: NDArray[np.bool_]


def read_decimals(column: FieldColumn) -> Decimals:
    """Read digits, points and signs."""
    first = np.frombuffer(column.text, np.uint8)[column.starts]
    is_minus = first == _MINUS
    n_characters = column.lengths - (is_minus | (first == _PLUS))
    n_rows = min(-(-int(column.lengths.max()) // WORD) * WORD, MOST_BYTES)
    digits = column.windows(column.starts + column.lengths - n_rows, n_rows).T.copy()
    digits -= np.uint8(_ZERO)
    n_before = n_rows - np.minimum(n_characters, n_rows).astype(np.uint8)
    some = digits[: int(n_before.max())]
    np.copyto(some, 0, where=np.arange(len(some), dtype=np.uint8)[:, np.newaxis] < n_before)
    is_other = digits > _NINE
    # What was less than a zero has become more than 9: unsigned numbers wrap round.
    n_others, n_points = _count(is_other), _count(digits == (_POINT - _ZERO) % 256)
    is_plain = (n_others == n_points) & (n_points <= 1) & (n_characters > n_others)
    is_plain &= column.lengths <= MOST_BYTES
    n_decimals = None
    if n_points.any():
        digits, n_decimals = _without_points(digits, is_other)
        is_plain &= n_decimals < _POWERS.size
    pairs = digits[0::2] * np.uint8(10) + digits[1::2]
    fours = pairs[0::2].astype(np.uint16) * np.uint16(100) + pairs[1::2]
    eights = fours[0::2].astype(np.uint32) * np.uint32(10_000) + fours[1::2]
    if n_rows == MOST_BYTES:
        is_plain &= eights[0] < _HIGHEST
    numbers = eights[0].astype(np.float64)
    rest = np.zeros_like(numbers)
    for more in eights[1:]:
        before = numbers * 1e8
        numbers = before + more
        rest = more - (numbers - before)
    return Decimals(is_plain, numbers, rest, n_decimals, is_minus)


def _without_points(
    digits: NDArray[np.uint8], is_point: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Close the gaps that points leave; return also how many digits came after each."""
    n_rows, n_lines = digits.shape
    row = int(is_point[:, 0].argmax())
    if is_point[row].all():
        return np.delete(np.insert(digits, 0, 0, axis=0), row + 1, axis=0), np.full(n_lines, n_rows - 1 - row)
    # Up to its point, a number moves one place back.
    is_after = is_point.copy()
    for row in range(1, n_rows):
        is_after[row] |= is_after[row - 1]
    n_decimals = np.maximum(_count(is_after).astype(np.int64) - 1, 0)
    moved = np.zeros_like(digits)
    moved[1:] = digits[:-1]
    is_kept = is_after & ~is_point
    is_kept |= ~is_after[-1]
    return np.where(is_kept, digits, moved), n_decimals


def _count(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Count the flags of each line; rows of bytes are added faster than flags."""
    counts: NDArray[np.uint8] = flags.view(np.uint8).sum(axis=0, dtype=np.uint8)
    return counts


def parse_scores(column: FieldColumn) -> NDArray[np.float64]:
    """Turn score fields into the finite numbers that `float` makes of them, to the last bit.

    `ValueError`: a field is no finite number.
    """
    read = read_decimals(column)
    is_odd = ~read.is_plain
    numbers = read.digits
    is_large = numbers.max() >= _MOST_EXACT
    if read.n_decimals is not None:
        powers = _POWERS[np.minimum(read.n_decimals, _POWERS.size - 1)]
        if is_large:
            numbers, is_unsure = _quotients(read, powers)
            is_odd |= is_unsure
        else:
            numbers /= powers  # both are exact, so that it is rounded once
    elif is_large:
        is_odd |= numbers >= _MOST_EXACT
    np.negative(numbers, out=numbers, where=read.is_minus)
    odd = np.flatnonzero(is_odd)
    if odd.size:
        numbers[odd] = _with_exponents(column[odd])
    return numbers


def _with_exponents(column: FieldColumn) -> NDArray[np.float64]:
    """Read fields like `1.25e-3`: all at once where all are such, else one by one."""
    windows = column.windows(column.starts, min(int(column.lengths.max()), MOST_BYTES))
    places = ((windows | _LOWER_CASE) == ord("e")).argmax(axis=1)  # 0 where there is none
    if (places > 0).all() and (places < column.lengths - 1).all():
        starts = column.starts + places + 1
        before = read_decimals(FieldColumn(column.text, column.starts, places))
        after = read_decimals(FieldColumn(column.text, starts, column.lengths - places - 1))
        powers = np.where(after.is_minus, -after.digits, after.digits)
        if before.n_decimals is not None:
            powers -= before.n_decimals
        is_exact = after.n_decimals is None and np.abs(powers).max() < _POWERS.size
        is_exact = is_exact and before.digits.max() < _MOST_EXACT
        if is_exact and before.is_plain.all() and after.is_plain.all():
            places = powers.astype(np.int64)  # one of the two that follow is 1
            exact: NDArray[np.float64] = (
                before.digits * _POWERS[np.maximum(places, 0)] / _POWERS[np.maximum(-places, 0)]
            )
            np.negative(exact, out=exact, where=before.is_minus)
            return exact
    packed = column.packed()
    if b"_" in packed:
        raise ValueError("could not convert a score with an underscore")
    numbers = np.array([*map(float, packed.split(b"\n"))])
    if not np.isfinite(numbers).all():
        raise ValueError("could not convert a score that is infinite or NaN")
    return numbers


def _quotients(read: Decimals, powers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Divide numbers of more than 53 bits, rounding once; return also where that is not sure.

    The error of the quotient of rounded numbers is found as Dekker does: the remainder of a division is
    exact, and so are products of half as many bits. It is known to more than nine digits, which do not
    suffice where the true quotient lies almost in the middle between two numbers.
    """
    quotients = read.digits / powers
    products = quotients * powers
    (a, b), (c, d) = map(_halves, (quotients, powers))
    remainders = read.digits - products - (((a * c - products) + a * d + b * c) + b * d)
    errors = (remainders + read.rest) / powers
    lowest, highest = quotients + errors * (1 - 1e-9), quotients + errors * (1 + 1e-9)
    return lowest, lowest != highest


def _halves(numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    moved = numbers * (2.0**27 + 1)
    high = moved - (moved - numbers)
    return high, numbers - high


def parse_ranks(column: FieldColumn) -> NDArray[np.int64] | None:
    """Turn stated ranks into integers; ``None`` unless all are, as `whole_ranks` does one by one."""
    read = read_decimals(column)
    if read.is_plain.all() and read.n_decimals is None and read.digits.max() < _MOST_EXACT:
        return np.where(read.is_minus, -read.digits, read.digits).astype(np.int64)
    return whole_ranks(column.packed().split(b"\n"))
