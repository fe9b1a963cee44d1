"""The numbers of a column of scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.columns import Column
from pooler.digits import MOST_BYTES, FixedPoint, read_fixed_point

_MOST_EXACT = 2.0**53
"""float64 holds every integer up to here, and ..."""
_POWERS = np.array([float(10**exponent) for exponent in range(MOST_BYTES)])
"""... these powers of ten, up to ..."""
_EXACT_POWER = 22
_FEW = 50
"""So many numbers are read one by one as fast as all at once."""
_LOWER_CASE = 32
"""The bit that makes a small letter of a capital one."""
RELATIVE_ERROR = 1e-14
"""No approximate score is further than this, relatively, from the score."""


@dataclass(slots=True, eq=False)
class Scores:
    """The numbers of a column, some of them approximate until they are asked for."""

    column: Column
    approximate: NDArray[np.float64]
    """Within `RELATIVE_ERROR` of what is written, and of the same sign; shape (n_lines,)."""
    is_exact: NDArray[np.bool_] | None
    """Where `approximate` has the very bits that `float` gives; ``None`` = everywhere."""

    def __getitem__(self, rows: slice) -> Scores:
        """Return the numbers of some lines."""
        is_exact = None if self.is_exact is None else self.is_exact[rows]
        return Scores(self.column[rows], self.approximate[rows], is_exact)

    def exact(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the numbers of some lines to the last bit."""
        numbers = self.approximate[rows]
        if self.is_exact is not None:
            places = np.flatnonzero(~self.is_exact[rows])
            if places.size:
                numbers[places] = _read_singly(self.column, rows[places])
        return numbers


def parse_scores(column: Column) -> Scores:
    r"""Turn score fields into numbers.

    Parameters
    ----------
    column : Column
        Scores as they stand in the file.

    Returns
    -------
    Scores
        Finite numbers; `Scores.exact` gives, to the last bit, what `float` does.

    Raises
    ------
    ValueError
        If a field is not a number, has an underscore in it, or is infinite or not a number.

    Notes
    -----
    The digits of fields like ``-12.5`` and ``1.5e-07`` make an integer, which is multiplied or
    divided by one power of ten. With up to 15 digits, and powers up to 22, both are exact in
    float64, so the result is the number nearest to what is written, as `float` gives. With more
    digits it is approximate until asked for. What is written otherwise is read one by one.

    Examples
    --------
    >>> scores = parse_scores(Column.of([b"12.5", b"-0.25", b"1e-3"]))
    >>> scores.exact(np.arange(3)).tolist()
    [12.5, -0.25, 0.001]
    """
    read = read_fixed_point(column)
    numbers = read.digits
    is_exact = numbers < _MOST_EXACT
    if read.n_decimals is not None:
        is_exact &= read.n_decimals <= _EXACT_POWER
        numbers /= _POWERS[read.n_decimals]
    _set_signs(numbers, read)
    odd = np.flatnonzero(~read.is_plain)
    if odd.size:
        numbers[odd] = _read_exponents(column, odd)
        is_exact[odd] = True
    return Scores(column, numbers, None if is_exact.all() else is_exact)


def _set_signs(numbers: NDArray[np.float64], read: FixedPoint) -> None:
    """Give numbers the signs that were read."""
    if read.is_minus is not None:
        np.negative(numbers, out=numbers, where=read.is_minus)


def _read_exponents(column: Column, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Read fields like `1.5e-07` all at once, and what is otherwise one by one."""
    if rows.size <= _FEW:
        return _read_singly(column, rows)
    starts, lengths = column.starts[rows], column.lengths[rows]
    windows = column.windows(starts, min(int(lengths.max()), MOST_BYTES))
    is_letter = (windows | _LOWER_CASE) == ord("e")
    place = is_letter[0].argmax()
    is_same_place = bool(is_letter[:, place].all())
    # Where there is no letter, the place is 0.
    places = np.full(rows.size, place) if is_same_place else is_letter.argmax(axis=1)
    is_good = (places > 0) & (places < lengths - 1)
    # Where there is no exponent, the first character stands for both parts.
    n_before = np.where(is_good, places, 1)
    n_after = np.where(is_good, lengths - places - 1, 1)
    before = read_fixed_point(Column(column.text, starts, n_before))
    after = read_fixed_point(Column(column.text, starts + lengths - n_after, n_after))
    numbers, powers = before.digits, after.digits
    _set_signs(numbers, before)
    _set_signs(powers, after)
    if before.n_decimals is not None:
        powers -= before.n_decimals
    is_good &= before.is_plain & after.is_plain & (after.n_points == 0)
    is_good &= (np.abs(numbers) < _MOST_EXACT) & (np.abs(powers) <= _EXACT_POWER)
    exponents = np.where(is_good, powers, 0.0).astype(np.int64)
    numbers *= _POWERS[np.maximum(exponents, 0)]
    numbers /= _POWERS[np.maximum(-exponents, 0)]  # one of the two is 1
    odd = np.flatnonzero(~is_good)
    if odd.size:
        numbers[odd] = _read_singly(column, rows[odd])
    return numbers


def _read_singly(column: Column, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Read some fields as `float` does; raise `ValueError` for what is no finite number."""
    packed = column.packed(rows)
    if b"_" in packed:
        raise ValueError("could not convert a score with an underscore")
    numbers = np.fromiter(map(float, packed.split(b"\n")), np.float64, rows.size)
    if not np.isfinite(numbers).all():
        raise ValueError("could not convert a score that is infinite or NaN")
    return numbers
