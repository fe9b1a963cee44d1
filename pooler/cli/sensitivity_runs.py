"""The tables of `pooler sensitivity` by run and by topic."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import NDArray

from pooler.cli.console import Cell, Column, Format, Table
from store.analysis import undiscovered
from store.analysis.judged_rankings import JudgedRankings
from store.analysis.threshold_rank import run_thresholds
from store.analysis.undiscovered import Sensitivity
from store.arrays import RankedDocuments


@dataclass(frozen=True, slots=True, eq=False)
class Docnos:
    """What the documents of the arrays are called."""

    arrays: JudgedRankings
    ranked: RankedDocuments

    def at(self, run: int, topic: int, column: int) -> str | None:
        """Return the docno at a rank, all counted from 0; ``None`` below the end of the run."""
        if column >= self.arrays.lengths[run, topic]:
            return None
        ids = self.ranked.rankings[self.arrays.tags[run], self.arrays.topics[topic]]
        return self.ranked.docnos[int(ids[column])]


_STATES = {
    "judged": undiscovered.JUDGED, "unjudged": undiscovered.UNJUDGED,
    "ended": undiscovered.ENDED, "no_run": undiscovered.NO_RUN,
}  # fmt: skip


def by_run(arrays: JudgedRankings, result: Sensitivity, fmt: Format) -> Table:
    """Make the table of runs."""
    n_flipped = result.n_flipped()
    columns = [
        Column("run"), Column("unjudged"), Column("judged"), Column("ended"),
        Column("no_run", "no run"), Column("turned"), Column("map_before", "MAP"),
        Column("map_after", "after"), Column("change"), Column("tau_b", "tau-b"),
        Column("tau_ap", "tau_AP"), Column("swapped"), Column("reason"),
    ]  # fmt: skip
    if result.flips == 1:
        columns = [column for column in columns if column.name != "turned"]
    table = Table("sensitivity", columns, title=f"{_documents(result)} turned relevant"
                  f" (scenario {result.scenario}, R {result.r_mode})")  # fmt: skip
    counts = {name: (result.status == code).sum(axis=1) for name, code in _STATES.items()}
    for index, tag in enumerate(arrays.tags):
        row: dict[str, Cell] = {"run": tag, "turned": int(n_flipped[index])}
        row |= {name: int(count[index]) for name, count in counts.items()}
        before, after = result.map_before[index], result.map_after[index, index]
        defined = not isnan(before)
        reason = result.tau_reason[index]
        comparable = defined and reason != "fewer-than-two"
        row |= {"map_before": float(before) if defined else None,
                "map_after": float(after) if defined else None,
                "change": float(after - before) if defined else None,
                "tau_b": _number(result.tau_b[index]), "tau_ap": _number(result.tau_ap[index]),
                "swapped": int(result.n_swapped[index]) if comparable else None,
                "reason": reason if defined else "no-relevant"}  # fmt: skip
        table.rows.append(row)
    empty = {
        "reason": all(row["reason"] is None for row in table.rows),
        "no_run": not counts["no_run"].any(),
    }
    if fmt is Format.TABLE:
        table.columns = [column for column in columns if not empty.get(column.name)]
    table.caption = summary(result.status, at=result.at, depth=result.depth, flips=result.flips) + (
        ".\nafter: the run's MAP with its own documents turned relevant. The other runs'\n"
        "MAPs change too; tau-b, tau_AP (which weighs the first places most) and swapped\n"
        "say what all that does to the order of the runs."
    )
    return table


def summary(status: NDArray[np.int8], *, at: str, depth: int | None, flips: int) -> str:
    """Say how many of the places looked at are unjudged, judged and not there."""
    n = {name: int((status == code).sum()) for name, code in _STATES.items()}
    looked = n["unjudged"] + n["judged"]
    if at == "next" and flips == 1 and depth is not None:
        text = f"At rank {depth + 1}, {n['unjudged']:,} of {looked:,} documents are unjudged"
    else:
        where = {"next": f" at ranks {(depth or 0) + 1} to {(depth or 0) + flips}",
                 "first": f" below rank {depth}"}.get(at, "")  # fmt: skip
        text = f"{n['unjudged']:,} of {looked:,} rankings have an unjudged document{where}"
    parts = [text + ("" if n["unjudged"] else ": nothing to turn")]
    parts += [f"{n['ended']:,} rankings ended before it"] if n["ended"] else []
    parts += [f"{n['no_run']:,} times a run has no document for a topic"] if n["no_run"] else []
    return "; ".join(parts)


def _documents(result: Sensitivity) -> str:
    """Name the documents that turned relevant, for the title."""
    flips, depth = result.flips, result.depth or 0
    if result.at == "next":
        ranks = f"rank {depth + 1}" if flips == 1 else f"ranks {depth + 1} to {depth + flips}"
        return f"Unjudged documents at {ranks}"
    documents = "unjudged document" if flips == 1 else f"{flips} unjudged documents"
    leave = "leaves" if flips == 1 else "leave"
    return {
        "first": f"The first {documents} below rank {depth}",
        "best": f"The {documents} of each list that {leave} the highest AP",
        "worst": f"The {documents} of each list that {leave} the lowest AP",
    }[result.at]


def by_topic(arrays: JudgedRankings, result: Sensitivity, docnos: Docnos) -> Table:
    """Make the table of runs and topics."""
    words = {
        undiscovered.JUDGED: "judged", undiscovered.UNJUDGED: "unjudged",
        undiscovered.ENDED: "run ended", undiscovered.NO_RUN: "no documents",
    }  # fmt: skip
    is_next = result.at == "next" and result.flips == 1
    columns = [Column("run"), Column("topic"), Column("docno"), Column("rank"), Column("status"),
               Column("ap_before", "AP before"), Column("ap_after", "AP after"),
               Column("change"), Column("threshold"), Column("reason")]  # fmt: skip
    if is_next:
        columns = [column for column in columns if column.name != "rank"]
    thresholds = run_thresholds(arrays, r_mode=result.r_mode)
    table = Table("sensitivity", columns)
    table.caption = (
        "threshold: a relevant document discovered at this rank of the run or below lowers its\n"
        "AP, one above does not; it may be beyond the last rank. -: it cannot fall."
    )
    for index, tag in enumerate(arrays.tags):
        for place, topic in enumerate(arrays.topics):
            before = float(result.ap_before[index, place])
            after = float(result.ap_after[index, place])
            known = not isnan(before)
            chosen = [column for column in result.columns[index, place].tolist() if column >= 0]
            # What stands at rank N+1 is named, judged or not.
            named = [result.depth] if is_next and result.depth is not None else chosen
            found = [docno for one in named if (docno := docnos.at(index, place, one))]
            table.rows.append({
                "run": tag, "topic": topic, "docno": " ".join(found) or None,
                "rank": " ".join(str(column + 1) for column in chosen) or None,
                "status": words[int(result.status[index, place])],
                "ap_before": before if known else None,
                "ap_after": None if isnan(after) else after,
                "change": after - before if known else None,
                "threshold": int(thresholds[index, place]) or None,
                "reason": None if known else "no-relevant",
            })  # fmt: skip
    return table


def _number(value: float) -> float | None:
    """Return a number, or ``None`` for NaN."""
    return None if isnan(value) else float(value)
