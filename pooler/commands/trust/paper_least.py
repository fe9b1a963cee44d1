"""What AP is at least, and in random order, for any numbers (eq. 4, 5 and 6 of Kishida 2001)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pooler.command import Option, command, whole_numbers
from pooler.commands.trust.paper_difference import grid_of
from pooler.result import Result, frozen_settings
from pooler.tables import Column, Table, View
from store.analysis.measures.average_precision import (
    average_precision,
    expected_average_precision,
    gains,
    least_average_precision,
    swap_effect,
    variance_of_average_precision,
)
from store.errors import ArgumentError

DOCUMENTS = (10, 20, 30, 40, 50, 100, 300, 400, 500, 1000)
RELEVANT = (5, 10, 30, 50, 100, 500)
TITLES = {
    "least": "Least AP: all relevant documents last (eq. 4)",
    "mean": "Mean AP in random order (eq. 5)",
    "standard_deviation": "Standard deviation of AP in random order",
}


@command
def paper_least(
    *,
    documents: Annotated[
        Sequence[int],
        Option("--documents -n N,...", least=1, read=whole_numbers, default=",".join(map(str, DOCUMENTS))),
    ] = DOCUMENTS,
    relevant: Annotated[
        Sequence[int],
        Option("--relevant -r R,...", least=1, read=whole_numbers, default=",".join(map(str, RELEVANT))),
    ] = RELEVANT,
    size: Annotated[int | None, Option("--size M", least=1, default="all R are in the list")] = None,
) -> LeastAp:
    """Compute the least and the expected AP for any N and R.

    Tables 1 and 2 of Kishida (2001), eq. 4 and 5, with the standard deviation added. A cell that cannot occur
    is empty.

    Example: pooler paper least --documents 100,1000 --relevant 5,10

    documents : N: ranks of the list.
    relevant : R: relevant documents.
    size : The list holds N of M documents, and some relevant ones may be missing from it.

    Raises
    ------
    ArgumentError
        If the size is below an N.

    Examples
    --------
    >>> from pooler import paper_least
    >>> [round(cell, 4) for cell in paper_least(documents=[10], relevant=[5]).table("least").cells("value")]
    [0.3544]
    """
    if size is not None and size < max(documents):
        raise ArgumentError("size", "must be at least every N", size)
    arguments = np.array(documents)[:, None], np.array(relevant), size
    return LeastAp(
        least=least_average_precision(*arguments),
        mean=expected_average_precision(*arguments),
        standard_deviation=np.sqrt(variance_of_average_precision(*arguments)),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class LeastAp(Result):
    """AP by chance; tables `least`, `mean` and `standard_deviation`, a row an N and R.

    Arrays have shape (documents, relevant); NaN = cannot occur.
    """

    least: NDArray[np.float64]
    mean: NDArray[np.float64]
    standard_deviation: NDArray[np.float64]

    SHOWN = None

    def _tables(self) -> Iterator[Table]:
        down, across, size = (self.settings[name] for name in ("documents", "relevant", "size"))
        notes = [] if size is None else [f"N of {size:,} documents, R of which are relevant"]
        for name, title in TITLES.items():
            values = getattr(self, name)
            axes = ("documents", "N", down), ("relevant", "R", across)
            grid = grid_of(name, *axes, values, digits=3 if size is None else 6)
            columns = {
                Column("documents", "float"): [place for place in down for _ in across],
                Column("relevant", "float"): [*across] * len(down),
                Column("value", "float"): values.ravel(),
                Column("reason"): [
                    "more-relevant-than-documents" if is_empty else None for is_empty in np.isnan(values).flat
                ],
            }
            yield Table.of_columns(name, columns).seen_as(View(grid, title=title, notes=notes))


def swap_of_ranks(ranks: Sequence[int], first: int, second: int, n_relevant: int | None = None) -> Swap:
    """Compute what AP becomes when the documents at two ranks change places, one of them relevant.

    Parameters
    ----------
    ranks : sequence of int
        Ranks of the relevant documents in the list, from 1.
    first, second : int
        The two ranks, one of which is among `ranks`.
    n_relevant : int, optional
        R; default as many as the list holds.

    Returns
    -------
    Swap
        AP before and after, and the paper's two uses of eq. 6 on the ranking before.

    Raises
    ------
    ArgumentError
        If both documents are relevant or neither is, or R is below the number of `ranks`.

    Notes
    -----
    Eq. 6 of Kishida (2001). Its second use has to be on the ranking after the first: with both on the
    ranking before, as the paper writes, 11000 to 10100 would change nothing.

    Examples
    --------
    >>> found = swap_of_ranks([1, 2], 2, 3)
    >>> round(found.before, 4), round(found.after, 4), round(found.both_on_before, 4)
    (1.0, 0.8333, 0.0)
    """
    wanted = sorted(set(ranks))
    if (first in wanted) == (second in wanted):
        raise ArgumentError("swap", "must name one relevant rank and one other", [first, second])
    source, target = (first, second) if first in wanted else (second, first)
    relevant = np.isin(np.arange(1, max(*wanted, source, target) + 1), wanted)
    count = relevant.sum() if n_relevant is None else n_relevant
    before = float(average_precision(relevant, np.array(count)))
    change = float(swap_effect(relevant, count, source, target))
    gain = gains(relevant)
    naive = float(gain[target - 1] - gain[source - 1]) / int(count)
    settings = frozen_settings(ranks=wanted, swap=[first, second], n_relevant=int(count))
    return Swap(before=before, after=before + change, both_on_before=naive, settings=settings)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Swap(Result):
    """AP before and after two documents change places; table: `swap`."""

    before: float
    after: float
    both_on_before: float
    """Change by eq. 6 with both uses on the ranking before, as the paper writes it."""

    def _tables(self) -> Iterator[Table]:
        first, second = self.settings["swap"]
        columns: dict[Column, Any] = {
            Column("first", "int", "rank"): [first],
            Column("second", "int", "and rank"): [second],
            Column("before", "float", "AP"): [self.before],
            Column("after", "float"): [self.after],
            Column("change", "float", about="by eq. 6, its second use on the ranking after the first"): [
                self.after - self.before
            ],
            Column("as_printed", "float", "as printed", "both uses on the ranking before, as in the paper"): [
                self.both_on_before
            ],
        }
        yield Table.of_columns("swap", columns)
