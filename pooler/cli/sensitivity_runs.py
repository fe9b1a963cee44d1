"""The tables of `pooler sensitivity` by run and by topic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
from numpy.typing import NDArray

from pooler.cli.agreement_words import legend
from pooler.cli.console import Cell, Column, Format, Table, counted
from store.analysis import undiscovered
from store.analysis.average_precision import RMode
from store.analysis.discoveries import Scenario
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
    table = Table("sensitivity", columns, title=_title(result))
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
    if fmt is Format.TABLE:
        # With more columns a row outgrows a screen. MAP and its change say what MAP is after.
        left_out = {"map_after"} | ({"tau_b"} if result.flips > 1 else set())
        left_out |= set() if counts["no_run"].any() else {"no_run"}
        left_out |= set() if any(row["reason"] for row in table.rows) else {"reason"}
        table.columns = [column for column in columns if column.name not in left_out]
    table.caption = legend([
        summary(result.status, at=result.at, depth=result.depth, flips=result.flips) + ".",
        who_gains(result.scenario, result.r_mode),
        _states_in_words(result),
        "change: of the run's MAP, were its own documents relevant; the MAPs of the other runs"
        " change too. "
        + ("tau-b, " if result.flips == 1 else "")
        + "tau_AP (which weighs the first places most): the order of all runs by MAP then, against"
        " the order as judged; 1 = the same. swapped: pairs of runs that change places.",
        *conclusion(arrays.tags, result),
    ])  # fmt: skip
    return table


def _states_in_words(result: Sensitivity) -> str:
    """Say what the columns of states count."""
    if result.at == "next" and result.flips == 1:
        return (
            "unjudged, judged, ended: topics where the run's document at that rank is unjudged, is"
            " judged, or where its list ended before."
        )
    where = {"next": "there", "first": "below that rank"}.get(result.at, "in its list")
    return (
        f"unjudged, judged, ended: topics where the run has an unjudged document {where}, where it"
        " has judged ones alone, or where its list ended before."
        + (" turned: documents of all topics." if result.flips > 1 else "")
    )


def conclusion(tags: Sequence[str], result: Sensitivity) -> list[str]:
    """Say how far MAP moves, and for whose documents the order of runs changes most."""
    if not (result.status == undiscovered.UNJUDGED).any():
        return [
            "No run has an unjudged document there, so that nothing could be asked: of what lies"
            " below the lists, or was not retrieved, nothing is known."
        ]
    changes = np.diagonal(result.map_after) - result.map_before
    defined = np.flatnonzero(~np.isnan(changes))
    if not defined.size:
        return []
    least, most = (int(defined[pick(changes[defined])]) for pick in (np.argmin, np.argmax))
    lines = [f"MAP changes by {changes[least]:.4f} ({tags[least]}) to {changes[most]:.4f}"
             f" ({tags[most]})."]  # fmt: skip
    n_pairs = defined.size * (defined.size - 1) // 2
    if not n_pairs:
        return [f"MAP changes by {changes[most]:.4f}."]
    swapped = result.n_swapped[defined]
    n_most, n_none = int(swapped.max()), int((swapped == 0).sum())
    pairs = f"Of {counted(n_pairs, 'pair')} of runs, "
    if not n_most:
        return [*lines, f"{pairs}none is swapped by any run's documents."]
    worst = tags[int(defined[np.argmax(swapped)])]
    return [
        *lines,
        f"{pairs}at most {n_most:,} ({n_most / n_pairs:.1%}) {'is' if n_most == 1 else 'are'}"
        f" swapped by one run's documents ({worst})"
        + (f"; those of {counted(n_none, 'run')} swap none." if n_none else "."),
    ]


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


def _title(result: Sensitivity) -> str:
    """Say what is supposed."""
    return f"{flipped(at=result.at, depth=result.depth, flips=result.flips)} turned relevant"


def who_gains(scenario: Scenario, r_mode: RMode) -> str:
    """Say what `--scenario` and `--r` suppose."""
    if scenario == "own":
        whom = "Relevant in the run they are of alone; for all others R grows"
    elif r_mode == "pool":
        whom = "Relevant in every run that retrieved them; for the others R alone grows"
    else:
        whom = "Relevant in every run that retrieved them; the others stay as they are"
    counts = "of the topic" if r_mode == "pool" else "that the run retrieved"
    return f"{whom} (scenario {scenario}). R: relevant documents {counts}."


def flipped(*, at: str, depth: int | None, flips: int) -> str:
    """Name the documents that turn relevant, for a title."""
    first = (depth or 0) + 1
    if at == "next":
        ranks = f"rank {first}" if flips == 1 else f"ranks {first} to {first + flips - 1}"
        return f"Unjudged documents at {ranks}"
    documents = "unjudged document" if flips == 1 else f"{flips} unjudged documents"
    leave = "leaves" if flips == 1 else "leave"
    return {
        "first": f"The first {documents} below rank {first - 1}",
        "best": f"The {documents} of each list that {leave} the highest AP",
        "worst": f"The {documents} of each list that {leave} the lowest AP",
    }[at]


def by_topic(arrays: JudgedRankings, result: Sensitivity, docnos: Docnos, fmt: Format) -> Table:
    """Make the table of runs and topics."""
    words = {
        undiscovered.JUDGED: "judged", undiscovered.UNJUDGED: "unjudged",
        undiscovered.ENDED: "run ended", undiscovered.NO_RUN: "no documents",
    }  # fmt: skip
    is_next = result.at == "next" and result.flips == 1
    columns = [Column("run"), Column("topic"), Column("docno"), Column("rank"), Column("status"),
               Column("ap_before", "AP"), Column("ap_after", "after"),
               Column("change"), Column("threshold"), Column("reason")]  # fmt: skip
    if is_next:
        columns = [column for column in columns if column.name != "rank"]
    thresholds = run_thresholds(arrays, r_mode=result.r_mode)
    table = Table("sensitivity", columns, title=_title(result))
    table.caption = legend([
        summary(result.status, at=result.at, depth=result.depth, flips=result.flips) + ".",
        who_gains(result.scenario, result.r_mode),
        "change: of the run's AP, were its own documents relevant. threshold: a relevant document"
        " discovered at this rank of the run or below lowers its AP, one above does not; it may be"
        " beyond the last rank. -: it cannot fall.",
    ])  # fmt: skip
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
    if fmt is Format.TABLE:
        left_out = {"ap_after"}
        left_out |= set() if any(row["reason"] for row in table.rows) else {"reason"}
        table.columns = [column for column in columns if column.name not in left_out]
    return table


def _number(value: float) -> float | None:
    """Return a number, or ``None`` for NaN."""
    return None if isnan(value) else float(value)
