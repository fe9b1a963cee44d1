"""What formulas of Kishida (2001) give for any numbers: differences, least and random AP, swaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pooler.command import Option, Share, command, decimals, whole_numbers
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
from store.analysis.undiscovered import required_difference, round_up
from store.errors import ArgumentError


@command
def paper_difference(
    *,
    variance: Annotated[
        Sequence[float],
        Option("--variance S2,...", least=0, read=decimals, default="0.01,0.03,0.05,0.07,0.09"),
    ] = (0.01, 0.03, 0.05, 0.07, 0.09),
    topics: Annotated[
        Sequence[int], Option("--topics L,...", least=2, read=whole_numbers, default="30,50,100,150")
    ] = (30, 50, 100, 150),
    variation: Annotated[
        Sequence[float], Option("--variation -K K,...", least=0, read=decimals, default="0")
    ] = (0.0,),
    drop: Annotated[Sequence[float], Option("--drop -Q Q,...", read=decimals, default="0")] = (0.0,),
    variance_drop: Annotated[
        Sequence[float], Option("--variance-drop -H H,...", below=1, read=decimals, default="0")
    ] = (0.0,),
    alpha: Share = 0.05,
    power: Annotated[float, Option(least=0.5, below=1)] = 0.5,
) -> RequiredDifference:
    """Compute the difference in MAP needed for significance, for any numbers.

    Tables 7 and 8 of Kishida (2001), eq. 23 and 24, rounded up as in the paper; --format json and tsv have
    every digit. `paper A B` has them with the variance, K, Q and H of two runs of yours; `design topics` says
    how many topics a difference needs.

    Example: pooler paper difference -Q 0.15,0.10 -H 0.10,0.05 --power 0.8

    variance : Variance over topics of the difference between two runs.
    topics : Numbers of topics.
    variation : Share of the variance that comes from differences between judges and is left out, below 1.
    drop : Share by which the difference falls once the undiscovered documents are known; at 1 the order
        turns.
    variance_drop : Share by which the variance then falls, as many values as Q or one: of the whole variance
        where K is 0, otherwise of what K leaves.
    alpha : Level of significance, two-sided.
    power : Wanted probability of a significant result, at least 0.5; 0.5 gives the smallest observed
        difference that is significant.

    Raises
    ------
    ArgumentError
        If a number is out of its range, or there are other numbers of H than of Q.

    Examples
    --------
    >>> from pooler import paper_difference
    >>> found = paper_difference(variance=[0.05], topics=[50])
    >>> [round(cell, 4) for cell in found.table("difference").cells("difference")]
    [0.0635]
    """
    for name, given, words in (
        ("drop", drop, "below 1 (from there on the order turns: no difference is enough)"),
        ("variation", variation, "at least 0 and below 1"),
    ):
        if any(one >= 1 for one in given):
            raise ArgumentError(name, f"must be {words}", max(given))
    n_pairs = max(len(drop), len(variance_drop))
    if not {len(drop), len(variance_drop)} <= {1, n_pairs}:
        words = f"must be one number, or as many as the {len(drop)} of Q"
        raise ArgumentError("variance_drop", words, list(variance_drop))
    q = [*drop] * (n_pairs if len(drop) == 1 else 1)
    h = [*variance_drop] * (n_pairs if len(variance_drop) == 1 else 1)
    return RequiredDifference(
        grids=tuple(
            (
                share,
                *drops,
                required_difference(
                    np.array(variance)[:, None],
                    np.array(topics),
                    variation_share=share,
                    difference_drop=drops[0],
                    variance_drop=drops[1],
                    alpha=alpha,
                    power=power,
                ),
            )
            for share, drops in product(variation, zip(q, h, strict=True))
        )
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class RequiredDifference(Result):
    """What difference is significant; table: `difference`, a row a variance, number of topics, K, Q and H."""

    grids: Sequence[tuple[float, float, float, NDArray[np.float64]]]
    """K, Q, H, and differences of shape (variances, topics)."""

    @property
    def difference(self) -> NDArray[np.float64]:
        """Shape (n_grids, n_variances, n_topics): the difference in MAP that is significant."""
        return np.stack([values for *_, values in self.grids])

    def _tables(self) -> Iterator[Table]:
        alpha, power = self.settings["alpha"], self.settings["power"]
        title = f"Difference needed at {alpha:g}" + ("" if power == 0.5 else f", power {power:g}")
        down, across = self.settings["variance"], self.settings["topics"]
        rows, views = [], []
        for share, q, h, values in self.grids:
            of_h = "judging removed" if share else "judging included"
            for variance, line in zip(down, values.tolist(), strict=True):
                rows += [(share, q, h, of_h, variance, n, one) for n, one in zip(across, line, strict=True)]
            words = f"{title}; K={share:g}, Q={q:g}, H={h:g}"
            words += f", of the variance {'without' if share else 'with'} judging" if h else ""
            grid = grid_of("difference", ("variance", "s2", down), ("topics", "L", across), round_up(values))
            views.append(View(grid, title=words))
        columns = [
            *(Column(name, "float") for name in "kqh"),
            Column("h_of"),
            Column("variance", "float"),
            Column("topics", "int"),
            Column("difference", "float"),
        ]
        cells = dict(zip(columns, zip(*rows, strict=True), strict=True))
        yield Table.of_columns("difference", cells).seen_as(*views)


Axis = tuple[str, str, Sequence[float]]
"""Of a grid: for programs, for people, and its values."""


def grid_of(name: str, down: Axis, across: Axis, values: NDArray[np.float64], *, digits: int = 4) -> Table:
    """Lay values out by two things: one runs down, the other across."""
    # The heading of a row is text, so that people see 0.05 and not 0.0500.
    columns = [Column(down[0], heading=down[1])]
    columns += [Column(f"{place:g}", "float", f"{across[1]}={place:g}", digits=digits) for place in across[2]]
    data: dict[str, Any] = {down[0]: [f"{place:g}" for place in down[2]]}
    data |= {f"{place:g}": values[:, number] for number, place in enumerate(across[2])}
    return Table(name, columns, data)


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
