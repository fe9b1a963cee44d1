"""`pooler ap-properties`: what average precision is in the worst order, and by chance."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import Format, Table, emit
from pooler.cli.grid import Axis, grid_table
from pooler.cli.number_lists import decimals, whole_numbers
from pooler.cli.options import FormatOption
from store.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

DOCUMENTS = "10,20,30,40,50,100,300,400,500,1000"
RELEVANT = "5,10,30,50,100,500"


def ap_properties(
    documents: Annotated[
        str, typer.Option("--documents", "-n", metavar="N,...", help="N: ranks of the list.")
    ] = DOCUMENTS,
    relevant: Annotated[
        str, typer.Option("--relevant", "-r", metavar="R,...", help="R: relevant documents.")
    ] = RELEVANT,
    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            metavar="M",
            min=1,
            help="The list holds N of M documents, and not all relevant ones need be among them.",
            show_default="all R are in the list",
        ),
    ] = None,
    rank: Annotated[
        int | None,
        typer.Option(
            "--rank",
            min=1,
            help="Instead: by how much AP changes when the document at this rank turns relevant,"
            " all R others above it (eq. 20).",
            show_default=False,
        ),
    ] = None,
    ap: Annotated[
        str, typer.Option("--ap", metavar="AP,...", help="With --rank: AP before.")
    ] = "0.1,0.3,0.5",
    fmt: FormatOption = Format.TABLE,
) -> None:
    """Print what AP is at least, and on average in random order, for any N and R.

    Tables 1 and 2 of Kishida (2001), eq. 4 and 5, and the standard deviation beside them; with
    --rank table 3, eq. 20, and what can occur where not all R stand above that
    rank. A cell that cannot occur is empty.

    Example: pooler ap-properties

    Example: pooler ap-properties --rank 101 --relevant 10,50,100
    """
    n_relevant = Axis("relevant", "R", whole_numbers("--relevant", relevant, least=1))
    if rank is not None:
        before = Axis("ap", "AP", decimals("--ap", ap))
        emit(
            [_changes(rank, n_relevant, before, fmt), *_ranges(rank, n_relevant, before, fmt)], fmt
        )
        return
    n_documents = Axis("documents", "N", whole_numbers("--documents", documents, least=1))
    if size is not None and size < max(n_documents.values):
        raise ArgumentError("--size", "must be at least every N", size)
    emit(_orders(n_documents, n_relevant, size, fmt), fmt)


def _orders(n_documents: Axis, n_relevant: Axis, size: int | None, fmt: Format) -> list[Table]:
    """Make the tables of the worst order and of random order."""
    import numpy as np

    from store.analysis.ap_properties import (
        expected_average_precision,
        least_average_precision,
        variance_of_average_precision,
    )

    arguments = np.array(n_documents.values)[:, None], np.array(n_relevant.values), size
    found = (
        ("least", "Least AP: all relevant documents last (eq. 4)",
         least_average_precision(*arguments)),
        ("mean", "Mean AP in random order (eq. 5)", expected_average_precision(*arguments)),
        ("standard_deviation", "Standard deviation of AP in random order",
         np.sqrt(variance_of_average_precision(*arguments))),
    )  # fmt: skip
    reason = "more-relevant-than-documents"
    caption = "" if size is None else f"N of {size:,} documents, R of which are relevant"
    return [
        grid_table(name, n_documents, n_relevant, _cells(values), fmt, title=title,
                   reason=reason, digits=3 if size is None else 6, caption=caption)
        for name, title, values in found
    ]  # fmt: skip


def _changes(rank: int, n_relevant: Axis, ap: Axis, fmt: Format) -> Table:
    """Make the table of the change by one discovery."""
    from store.analysis.ap_properties import least_average_precision
    from store.analysis.undiscovered import discovery_effect_below

    values = []
    for count in map(int, n_relevant.values):
        # With all R above the rank, AP is at least that of the worst order.
        least = float(least_average_precision(rank - 1, count)) if count < rank else 2.0
        values.append([
            None if before < least - 1e-12 else discovery_effect_below(count, before, rank)
            for before in ap.values
        ])  # fmt: skip
    title = f"Change of AP when the document at rank {rank} turns relevant (eq. 20)"
    caption = "-: all R above that rank already give a higher AP, so that it cannot occur"
    return grid_table("change", n_relevant, ap, values, fmt, title=title, digits=5,
                      reason="cannot-occur",
                      caption=caption if any(None in line for line in values) else "")  # fmt: skip


def _ranges(rank: int, n_relevant: Axis, ap: Axis, fmt: Format) -> list[Table]:
    """Make the tables of the least and the greatest change over what can stand above the rank."""
    from store.analysis.undiscovered import discovery_range

    found = [
        [discovery_range(int(count), before, rank) for before in ap.values]
        for count in n_relevant.values
    ]
    above = f"that can occur, with no relevant document below rank {rank} (eq. 19)"
    return [
        grid_table(name, n_relevant, ap,
                   [[None if one is None else one[which] for one in line] for line in found],
                   fmt, title=f"{words} change {above}", digits=5, reason="cannot-occur")
        for which, (name, words) in enumerate((("least", "Least"), ("greatest", "Greatest")))
    ]  # fmt: skip


def _cells(values: NDArray[np.float64]) -> Sequence[Sequence[float | None]]:
    """Return numbers, ``None`` for NaN."""
    return [[None if isnan(value) else value for value in line] for line in values.tolist()]
