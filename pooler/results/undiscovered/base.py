"""What results have in common where unjudged documents are supposed to be relevant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.results.result import Result
from pooler.results.source import Source
from pooler.results.table import DIFFERENCE, RUN, RUN_A, RUN_B, TOPIC, TOPICS_HIDDEN, Column, Table, View
from store.analysis.rankings import Depths, JudgedRankings
from store.analysis.undiscovered.pairs import PairSensitivity
from store.text import counted

NO_RUN_TOPICS = Column("no_run", "int", "no run", "topics for which the run has no document", show="if_any")
STATUS = Column("status")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class UndiscoveredResult(Result):
    """Base of what is found where unjudged documents are supposed to be relevant."""

    __slots__ = ()

    arrays: JudgedRankings
    """Rankings beside judgements."""
    source: Source

    @property
    def runs(self) -> tuple[str, ...]:
        """Axis of runs."""
        return self.arrays.tags

    @property
    def topics(self) -> tuple[str, ...]:
        """Axis of topics."""
        return self.arrays.topics

    def docno(self, run: int, topic: int, column: int) -> str | None:
        """Return the docno at a rank, all counted from 0; ``None`` below the end of the run."""
        if column >= self.arrays.lengths[run, topic]:
            return None
        # What is read without docnos has none.
        ranked = self.source.read.ranked if self.source.read.grades is None else self.source.rankings
        return ranked.docnos[int(ranked.rankings[self.runs[run], self.topics[topic]][column])]

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        is_of_runs = "map_before" in table.data
        return [View(table, rows=table.order("map_before", descending=True) if is_of_runs else None)]

    def _ranks(self) -> dict[str, Any]:
        return {name: self.settings[name] for name in ("at", "depth", "flips")}

    def _lists(self) -> dict[Column, Any]:
        return {RUN: [tag for tag in self.runs for _ in self.topics], TOPIC: [*self.topics] * len(self.runs)}

    def _two_runs(self, found: PairSensitivity, n_topics: Any, difference: Any) -> dict[Column, Any]:
        return {
            RUN_A: [self.runs[run] for run in found.first],
            RUN_B: [self.runs[run] for run in found.second],
            TOPICS_HIDDEN: n_topics,
            DIFFERENCE: difference,
        }

    def _nearest(self, table: Table) -> Table:
        """Keep as many pairs as are asked for, nearest to a swap or furthest past it first; say so.

        Pairs without a difference are last.
        """
        if self.settings["limit"] is None:
            return table
        after = zip(*map(table.cells, ("difference_a", "difference_b")), strict=True)
        least = [min((cell for cell in cells if isinstance(cell, float)), default=inf) for cells in after]
        rows = sorted(range(len(table)), key=least.__getitem__)[: self.settings["limit"]]
        shown = f"Shown: {len(rows):,} of {counted(len(table), 'pair')}"
        words = f"{shown}, those furthest past a swap, or nearest to one."
        return replace(table.take(rows), notes=[words, *table.notes])


def depth_in_words(depth: Depths) -> int | str:
    """Return a depth as it is told: a number, or ``7-10`` where runs and topics have several."""
    return depth if isinstance(depth, int) else f"{depth.min():,}-{depth.max():,}"


def ranks_below(depth: int | str, number: int = 1) -> str:
    """Name the first ranks below a pool.

    >>> ranks_below(7), ranks_below(7, 3), ranks_below("7-10")
    ('rank 8', 'ranks 8 to 10', 'rank N+1 (N 7-10)')
    """
    first, last = (f"{depth + more:,}" if isinstance(depth, int) else f"N+{more}" for more in (1, number))
    words = f"rank {first}" if number == 1 else f"ranks {first} to {last}"
    return words if isinstance(depth, int) else f"{words} (N {depth})"


def no_relevant(scores: NDArray[np.float64]) -> list[str | None]:
    """Say why scores are not there."""
    return ["no-relevant" if isnan(score) else None for score in scores.flat]
