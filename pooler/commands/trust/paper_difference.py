"""The difference of two MAPs that is significant, for any numbers (eq. 23 and 24 of Kishida 2001)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pooler.command import Option, Share, command, decimals, whole_numbers
from pooler.result import Result
from pooler.tables import Column, Table, View
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
