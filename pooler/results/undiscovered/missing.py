"""Bounds of scores and differences if relevant documents of every topic went unjudged, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pooler.results.reasons import undefined_pairs
from pooler.results.result import Progress, frozen, heard, taken
from pooler.results.source import Measurable, source_of
from pooler.results.table import REASON, REASON_UNSEEN, RUN, Column, Plot, Table, cells_where
from pooler.results.undiscovered.supposed import NO_RUN_TOPICS, STATUS, Supposed, no_relevant
from pooler.telling import progress as telling
from store.analysis.measures.average_precision import RMode
from store.analysis.rankings import UNJUDGED
from store.analysis.run_order import TIED_MAP
from store.analysis.significance.pairs import check_pair
from store.analysis.undiscovered.missing import MissingBounds, MissingPairBounds
from store.analysis.undiscovered.missing import missing_bounds as bounds_of_runs
from store.analysis.undiscovered.missing import missing_pair_bounds as bounds_of_pairs
from store.text import counted


def missing_bounds(
    source: Measurable, missing: int, *, r: RMode = "pool", cutoff: int = 1000
) -> MissingResult:
    """Bound AP and MAP if relevant documents of every topic went unjudged, wherever they are.

    Parameters
    ----------
    source, r, cutoff
        As for `sensitivity`.
    missing : int
        Relevant documents of each topic that nobody judged, from 1.

    Returns
    -------
    MissingResult
        The lowest and the highest of every run; both can come true.

    Raises
    ------
    ArgumentError
        If `missing` is below 1.
    """
    with heard() as said:
        found = source_of(source)
        arrays = found.arrays(cutoff)
        result = bounds_of_runs(arrays, missing, r_mode=r)
    settings = frozen(missing=missing, r=r, cutoff=cutoff, **found.settings())
    return MissingResult(
        **taken(result), settings=settings, warnings=said.warnings, arrays=arrays, source=found
    )


def missing_pairs(
    source: Measurable,
    missing: int,
    *,
    r: RMode = "pool",
    cutoff: int = 1000,
    limit: int | None = None,
    progress: Progress | None = None,
) -> MissingPairs:
    """Bound the difference of every two runs as `missing_bounds` does the runs.

    Parameters
    ----------
    source, missing, r, cutoff, limit
        As for `missing_bounds` and `sensitivity_pairs`.

    Returns
    -------
    MissingPairs
        Limits of each difference in MAP.
    """
    with heard(progress) as said:
        found = source_of(source)
        arrays = found.arrays(cutoff)
        check_pair(arrays.tags)
        with telling("topics", len(arrays.topics)) as advance:
            result = bounds_of_pairs(arrays, missing, r_mode=r, progress=advance)
    settings = frozen(missing=missing, r=r, cutoff=cutoff, limit=limit, **found.settings())
    return MissingPairs(
        **taken(result), settings=settings, warnings=said.warnings, arrays=arrays, source=found
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MissingResult(Supposed, MissingBounds):
    """Limits of every run's scores; tables: `missing`, a row a run; `topics`, a row a run and topic."""

    NAMES: ClassVar[tuple[str, ...]] = ("missing", "topics")

    def plots(self) -> tuple[Plot, ...]:
        """Return the limits of every run's MAP."""
        table = self._table("missing")
        return (
            Plot(
                table=table,
                kind="dots",
                label="run",
                value="map_before",
                low="map_low",
                high="map_high",
                title=table.title,
                words=("MAP as judged", "low to high"),
                by="map_before",
            ),
        )

    def _table(self, name: str) -> Table:
        lengths = self.arrays.lengths
        n_unjudged = np.stack(
            [
                np.count_nonzero(self.arrays.states_by_rank(topic) == UNJUDGED, axis=1)
                for topic in range(len(self.topics))
            ],
            axis=1,
        )
        undefined = Column("undefined", "int", about="topics without a relevant document", show="if_any")
        is_of_topics = name == "topics"
        if is_of_topics:
            unjudged, listed = n_unjudged.ravel(), lengths.ravel()
            score, before, low, high = "AP", self.ap_before.ravel(), self.ap_low.ravel(), self.ap_high.ravel()
            of_run = "the run's list"
            status = np.select([unjudged > 0, listed > 0], ["unjudged", "judged"], "no documents")
        else:
            unjudged, listed = n_unjudged.sum(axis=1), lengths.sum(axis=1)
            score, before, low, high = "MAP", self.map_before, self.map_low, self.map_high
            of_run = "the run's lists"
        last = " or has them last" if self.r_mode == "own" else ""
        at_least = f"{score} if the run retrieved none of the missing ones{last}"
        at_most = f"{score} if they are its first unjudged documents; both can happen"
        columns = {
            **(self._lists() if is_of_topics else {RUN: self.runs}),
            Column("unjudged", "int", about=f"documents in {of_run}"): unjudged,
            Column("judged", "int"): listed - unjudged,
            **({} if is_of_topics else {NO_RUN_TOPICS: (lengths == 0).sum(axis=1)}),
            Column(f"{score.lower()}_before", "float", score): before,
            Column(f"{score.lower()}_low", "float", "low", at_least): low,
            Column(f"{score.lower()}_high", "float", "high", at_most): high,
            **({STATUS: status} if is_of_topics else {undefined: self.n_topics_undefined}),
            REASON: no_relevant(before),
        }
        missing = counted(self.n_missing, "relevant document")
        title = f"Limits if {missing} of every topic went unjudged (R {self.r_mode})"
        return Table.of_columns(name, columns, title)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MissingPairs(Supposed, MissingPairBounds):
    """Limits of the difference of every two runs; table: `pairs`."""

    NAMES: ClassVar[tuple[str, ...]] = ("pairs",)

    def _pairs(self) -> Table:
        missed = counted(self.n_missing, "relevant document")
        if_missed = f"if {missed} of every topic went unjudged, wherever they are"
        attained = (
            "whether some documents are known to give the limit; otherwise it holds but may not be reached"
        )
        is_defined = self.n_topics > 0
        certain = cells_where(is_defined, self.low > TIED_MAP)
        reasons = [None if known else "no-topics" for known in is_defined]
        n_certain = certain.count(True)
        notes = [
            f"Of {counted(len(certain), 'pair')}, {n_certain:,} {'is' if n_certain == 1 else 'are'} certain.",
            undefined_pairs(reasons),
        ]
        columns = {
            **self._two_runs(self, self.n_topics, self.before),
            Column("low", "float", about=f"lower limit of A - B {if_missed}"): self.low,
            Column("low_attained", "bool", "attained", attained): cells_where(is_defined, self.low_attained),
            Column("high", "float", about="upper limit"): self.high,
            Column("high_attained", "bool", "attained"): cells_where(is_defined, self.high_attained),
            Column("certain", "bool", about="B cannot draw level or get ahead"): certain,
            REASON_UNSEEN: reasons,
        }
        return self._nearest(Table.of_columns("pairs", columns, notes=notes))
