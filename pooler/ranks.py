"""The stated ranks of a column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.columns import Column
from pooler.digits import read_fixed_point
from pooler.runs import whole_ranks

_MOST_BYTES = 15
"""Ranks of so many digits are exact in float64."""


@dataclass(slots=True, eq=False)
class Ranks:
    """Stated ranks, as far as they are plain integers."""

    column: Column
    numbers: NDArray[np.int64]
    """Shape (n_lines,); 0 where the field is not plain digits."""
    is_plain: NDArray[np.bool_]
    """Where it is, shape (n_lines,)."""

    def __getitem__(self, rows: slice) -> Ranks:
        """Return the ranks of some lines."""
        return Ranks(self.column[rows], self.numbers[rows], self.is_plain[rows])

    def all_or_none(self) -> NDArray[np.int64] | None:
        """Return the ranks as `pooler.runs.whole_ranks` does: ``None`` unless all are integers."""
        if self.is_plain.all():
            return self.numbers
        return whole_ranks(self.column.packed(np.arange(len(self.column))).split(b"\n"))


def parse_ranks(column: Column) -> Ranks:
    """Read stated ranks.

    Parameters
    ----------
    column : Column
        Ranks as they stand in the file.

    Returns
    -------
    Ranks
        Fields of up to 15 digits are read at once, others when they are asked for.

    Examples
    --------
    >>> ranks = parse_ranks(Column.of([b"1", b"02", b"x"]))
    >>> ranks[:2].all_or_none().tolist(), ranks.all_or_none() is None
    ([1, 2], True)
    """
    read = read_fixed_point(column)
    is_plain = read.is_plain & (read.n_points == 0) & (column.lengths <= _MOST_BYTES)
    if read.is_minus is not None:
        np.negative(read.digits, out=read.digits, where=read.is_minus)
    return Ranks(column, np.where(is_plain, read.digits, 0.0).astype(np.int64), is_plain)
