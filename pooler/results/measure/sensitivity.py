"""Sensitivity: runs, pairs, each, missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan

import numpy as np
from numpy.typing import NDArray

from pooler.results.agree.people import legend
from pooler.results.measure.conclusions import percent, rough
from pooler.results.printed import Cell, Column, Format, Table
from pooler.results.reasons import undefined_pairs
from store.analysis.arrays import RankedDocuments
from store.analysis.measures.average_precision import RMode
from store.analysis.rankings import UNJUDGED, JudgedRankings
from store.analysis.run_order import TIED_MAP
from store.analysis.significance.pairs import RunPairs
from store.analysis.undiscovered.each import EachDiscovery
from store.analysis.undiscovered.flips import ENDED, JUDGED, NO_RUN, At, Scenario
from store.analysis.undiscovered.missing import MissingBounds, MissingPairBounds
from store.analysis.undiscovered.pairs import (
    FIRST,
    NEITHER,
    SIGN_WORDS,
    PairDiscovery,
    PairSensitivity,
    sign_moves,
)
from store.analysis.undiscovered.sensitivity import Sensitivity, run_thresholds
from store.text import counted


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
    "judged": JUDGED, "unjudged": UNJUDGED,
    "ended": ENDED, "no_run": NO_RUN,
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
        " the order as judged; 1 = the same, ties too. swapped: pairs of runs that change places;"
        " in tau_AP a tie made or broken costs half as much.",
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
    if not (result.status == UNJUDGED).any():
        return [
            "No run has an unjudged document there, so that nothing could be asked: of what lies"
            " below the lists, or was not retrieved, nothing is known."
        ]
    changes = np.diagonal(result.map_after) - result.map_before
    defined = np.flatnonzero(~np.isnan(changes))
    if not defined.size:
        return []
    least, most = (int(defined[pick(changes[defined])]) for pick in (np.argmin, np.argmax))
    lines = [f"MAP changes by {rough(changes[least])} ({tags[least]}) to {rough(changes[most])}"
             f" ({tags[most]})."]  # fmt: skip
    n_pairs = defined.size * (defined.size - 1) // 2
    if not n_pairs:
        return [f"MAP changes by {rough(changes[most])}."]
    swapped = result.n_swapped[defined]
    n_most, n_none = int(swapped.max()), int((swapped == 0).sum())
    pairs = f"Of {counted(n_pairs, 'pair')} of runs, "
    if not n_most:
        return [*lines, f"{pairs}none is swapped by any run's documents."]
    worst = tags[int(defined[np.argmax(swapped)])]
    return [
        *lines,
        f"{pairs}at most {n_most:,} ({percent(n_most, n_pairs)}) {'is' if n_most == 1 else 'are'}"
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
        JUDGED: "judged", UNJUDGED: "unjudged",
        ENDED: "run ended", NO_RUN: "no documents",
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


ALPHA = 0.05
"""Level at which the captions count significant differences."""


def both_ways(
    arrays: JudgedRankings,
    result: PairSensitivity,
    fmt: Format,
    *,
    at: At,
    depth: int | None,
    flips: int,
    scenario: Scenario,
    r_mode: RMode,
) -> Table:
    """Make the table of pairs, with the documents of either run turned relevant."""
    columns = [
        Column("a", "A"), Column("b", "B"), Column("topics"), Column("difference", "A - B"),
        Column("t2"), Column("p"), Column("variance"),
        Column("difference_a", "A's found"), Column("t2_a"), Column("p_a", "p"),
        Column("variance_a"), Column("drop_a"), Column("variance_drop_a"), Column("sign_a", "sign"),
        Column("difference_b", "B's found"), Column("t2_b"), Column("p_b", "p"),
        Column("variance_b"), Column("drop_b"), Column("variance_drop_b"), Column("sign_b", "sign"),
        Column("reason"),
    ]  # fmt: skip
    signs = {
        side: sign_moves(result.before.difference, after.difference)
        for side, after in (("a", result.after_first), ("b", result.after_second))
    }
    rows: list[Mapping[str, Cell]] = []
    for place, (first, second) in enumerate(zip(result.first, result.second, strict=True)):
        row: dict[str, Cell] = {"a": arrays.tags[first], "b": arrays.tags[second]}
        row |= _tests(result.before, place, "")
        row |= {"topics": int(result.before.n_topics[place])}
        for side, after in (("a", result.after_first), ("b", result.after_second)):
            row |= _tests(after, place, f"_{side}")
            row[f"sign_{side}"] = SIGN_WORDS[int(signs[side][place])]
            row[f"drop_{side}"] = _drop(row["difference"], row[f"difference_{side}"])
            row[f"variance_drop_{side}"] = _drop(row["variance"], row[f"variance_{side}"])
        row["reason"] = _reasons(place, result.before, result.after_first, result.after_second)
        rows.append(row)
    numbers = ("t2", "variance", "drop", "variance_drop")
    # A difference below 0 says that a pair has swapped.
    left_out = {"topics", "sign_a", "sign_b", *numbers}
    left_out |= {f"{name}_{side}" for name in numbers for side in "ab"}
    shown = _shown(columns, fmt, left_out)
    caption = legend([
        summary(result.status, at=at, depth=depth, flips=flips) + ".",
        who_gains(scenario, r_mode),
        "A is the run ahead. A's found, B's found: A - B once the documents of A, or of B, are"
        " relevant; below 0 the two have swapped. p: of t2, the paired t test"
        " (two-sided). json and tsv have t2, the variances, and by what share both fall: Q and H"
        " of `required-difference`.",
        f"Of {counted(len(rows), 'pair')}, {int((signs['a'] == 1).sum()):,} swap with A's"
        f" documents, {int((signs['b'] == 1).sum()):,} with B's.",
        _undefined(rows),
        _significant(result.before, {
            "with A's documents": result.after_first, "with B's": result.after_second,
        }),
    ])  # fmt: skip
    title = f"{flipped(at=at, depth=depth, flips=flips)} turned relevant"
    return Table("pairs", shown, rows, title=title, caption=caption)


def single_documents(
    arrays: JudgedRankings, result: PairDiscovery, docnos: Docnos, fmt: Format, *, towards: bool
) -> Table:
    """Make the table of pairs with the one document that moves each most."""
    columns = [
        Column("a", "A"), Column("b", "B"), Column("topics"), Column("difference", "A - B"),
        Column("t2"), Column("p"), Column("topic"), Column("docno", most=24),
        Column("rank_a", "in A"), Column("rank_b", "in B"), Column("difference_after", "after"),
        Column("t2_after"), Column("p_after", "p"), Column("sign"), Column("reason"),
    ]  # fmt: skip
    signs = sign_moves(result.before.difference, result.after.difference)
    rows: list[Mapping[str, Cell]] = []
    for place, (first, second) in enumerate(zip(result.first, result.second, strict=True)):
        topic = int(result.topic[place])
        row: dict[str, Cell] = {
            "a": arrays.tags[first], "b": arrays.tags[second],
            "topics": int(result.before.n_topics[place]),
            "topic": arrays.topics[topic] if topic >= 0 else None,
            "reason": _reasons(place, result.before, result.after),
            "sign": SIGN_WORDS[int(signs[place])],
        }  # fmt: skip
        if result.holder[place] != NEITHER:
            holder = int(first if result.holder[place] == FIRST else second)
            column = int(result.column[place])
            code = arrays.documents[holder, topic, column]
            row["docno"] = docnos.at(holder, topic, column)
            row["rank_a"] = _rank(arrays, int(first), topic, int(code))
            row["rank_b"] = _rank(arrays, int(second), topic, int(code))
        row |= _tests(result.before, place, "")
        row |= _tests(result.after, place, "_after")
        rows.append(row)
    shown = _shown(columns, fmt, {"t2", "t2_after", "topics", "p", "sign"})
    way = "towards 0, and past it" if towards else "away from 0"
    caption = legend([
        "A is the run ahead. docno: of all unjudged documents, inside and below the pool, the one"
        f" that moves A - B most {way}; with no docno, any that neither run has. in A, in B: its"
        " ranks. after: A - B with this one document relevant; below 0 the two have swapped. p: of"
        " t2, the paired t test (two-sided), after.",
        f"One document swaps {int((signs == 1).sum()):,} of {counted(len(rows), 'pair')}.",
        _undefined(rows),
        _significant(result.before, {"with that document": result.after}),
    ])  # fmt: skip
    return Table("pairs", shown, rows, caption=caption)


def missing_by_pair(arrays: JudgedRankings, bounds: MissingPairBounds, fmt: Format) -> Table:
    """Make the table of the limits of each difference."""
    columns = [
        Column("a", "A"), Column("b", "B"), Column("topics"), Column("difference", "A - B"),
        Column("low"), Column("low_attained", "attained"), Column("high"),
        Column("high_attained", "attained"), Column("certain"), Column("reason"),
    ]  # fmt: skip
    rows: list[Mapping[str, Cell]] = []
    for place, (first, second) in enumerate(zip(bounds.first, bounds.second, strict=True)):
        defined = bounds.n_topics[place] > 0
        rows.append({
            "a": arrays.tags[first], "b": arrays.tags[second],
            "topics": int(bounds.n_topics[place]),
            "difference": _number(bounds.before[place]), "low": _number(bounds.low[place]),
            "high": _number(bounds.high[place]),
            "low_attained": bool(bounds.low_attained[place]) if defined else None,
            "high_attained": bool(bounds.high_attained[place]) if defined else None,
            "certain": bool(bounds.low[place] > TIED_MAP) if defined else None,
            "reason": None if defined else "no-topics",
        })  # fmt: skip
    missed = counted(bounds.n_missing, "relevant document")
    n_certain = sum(row["certain"] is True for row in rows)
    caption = legend([
        f"A is the run ahead. low, high: limits of A - B if {missed} of every topic went unjudged,"
        " wherever they are; attained: some documents are known to give the limit, else it holds"
        " but may not be reached. certain: B cannot come to be level or ahead.",
        _undefined(rows),
        f"Of {counted(len(rows), 'pair')}, {n_certain:,} {'is' if n_certain == 1 else 'are'}"
        " certain.",
    ])  # fmt: skip
    return Table("pairs", _shown(columns, fmt, {"topics"}), rows, caption=caption)


def nearest(table: Table, limit: int) -> Table:
    """Keep the pairs that come nearest to a swap, or go furthest past it, these first.

    Parameters
    ----------
    table : Table
        Made by a function of this module.
    limit : int
        The most rows.

    Returns
    -------
    Table
        With a line that says so; pairs without a difference are last.
    """
    names = {column.name for column in table.columns}
    after = [name for name in ("difference_a", "difference_b", "difference_after", "low")
             if name in names]  # fmt: skip

    def least(row: Mapping[str, Cell]) -> float:
        return min((cell for name in after if isinstance(cell := row[name], float)), default=inf)

    rows = sorted(table.rows, key=least)[:limit]
    words = (
        f"Shown: {len(rows):,} of {counted(len(table.rows), 'pair')}, those that go furthest past a"
        " swap, or come nearest to one."
    )
    return replace(table, rows=rows, caption=legend([words, table.caption]))


def _tests(tests: RunPairs, place: int, suffix: str) -> dict[str, Cell]:
    """Return the numbers of one pair."""
    return {
        f"difference{suffix}": _number(tests.difference[place]),
        f"t2{suffix}": _number(tests.t[place]),
        f"p{suffix}": _number(tests.p_t[place]),
        f"variance{suffix}": _number(tests.variance[place]),
    }


def _reasons(place: int, *tests: RunPairs) -> str | None:
    """Say why a pair has no t2 before or after; ``None`` = it has them all."""
    reasons = dict.fromkeys(one.t_reasons[place] for one in tests)
    return ", ".join(reason for reason in reasons if reason is not None) or None


def _drop(before: Cell, after: Cell) -> float | None:
    """Return by what share a number falls; ``None`` where it was 0 or is undefined."""
    if not isinstance(before, float) or not isinstance(after, float) or abs(before) <= TIED_MAP:
        return None
    return 1 - after / before


def _significant(before: RunPairs, afters: Mapping[str, RunPairs]) -> str:
    """Say how many pairs are significant as judged, and how many come and cease to be."""
    was = before.p_t <= ALPHA
    moves = [
        f"{with_what} {np.count_nonzero((after.p_t <= ALPHA) & ~was):,} come to be and"
        f" {np.count_nonzero(was & ~(after.p_t <= ALPHA)):,} cease"
        for with_what, after in afters.items()
    ]
    return f"Significant at {ALPHA:g} as judged: {np.count_nonzero(was):,}; {', '.join(moves)}."


def _rank(arrays: JudgedRankings, run: int, topic: int, code: int) -> int | None:
    """Return the rank that a run gave a document; ``None`` = it did not retrieve it."""
    columns = np.flatnonzero(arrays.documents[run, topic] == code)
    return int(columns[0]) + 1 if columns.size else None


def _shown(columns: list[Column], fmt: Format, for_programs: set[str]) -> list[Column]:
    """Leave out what people are not shown, so that a row fits a screen."""
    if fmt is not Format.TABLE:
        return columns
    return [column for column in columns if column.name not in {"reason", *for_programs}]


def _undefined(rows: list[Mapping[str, Cell]]) -> str:
    """Say why cells are empty."""
    return undefined_pairs(str(row["reason"]) if row["reason"] else None for row in rows)


def each_table(arrays: JudgedRankings, result: EachDiscovery, docnos: Docnos, limit: int | None) -> Table:
    """Make the table of documents, those that swap most pairs of runs first."""
    columns = [
        Column("topic"), Column("docno", most=30), Column("runs"), Column("best_rank", "best rank"),
        Column("best_run", "in run", most=20), Column("up", "MAP up"), Column("down", "down"),
        Column("tau_b", "tau-b"), Column("swapped"),
    ]  # fmt: skip
    order = result.order()[:limit]
    table = Table("each", columns)
    for place in order.tolist():
        run, topic = int(result.best_run[place]), int(result.topic[place])
        tau = float(result.tau_b[place])
        rank = int(result.best_rank[place])
        table.rows.append({
            "topic": arrays.topics[topic], "docno": docnos.at(run, topic, rank - 1),
            "runs": int(result.n_runs_with[place]), "best_rank": rank,
            "best_run": arrays.tags[run], "up": float(result.up[place]),
            "down": float(result.down[place]), "tau_b": None if isnan(tau) else tau,
            "swapped": int(result.n_swapped[place]),
        })  # fmt: skip
    n_runs = int((~np.isnan(result.map_before)).sum())
    n_pairs = n_runs * (n_runs - 1) // 2
    n_all, n_swapping = result.code.size, int((result.n_swapped > 0).sum())
    shown = f"the first {len(order):,} of " if len(order) < n_all else ""
    most = int(result.n_swapped.max()) if n_all else 0
    words = [
        "Each unjudged document, inside and below the pool, turned relevant alone in every run"
        f" that retrieved it: {shown}{counted(n_all, 'document')}, those that swap most pairs of"
        " runs first.",
        "runs: how many retrieved it; best rank, in run: the highest it has, and where. MAP up,"
        " down: the largest rise and fall of a run's MAP. tau-b: the order of all runs after it"
        " against the order as judged, 1 = the same; swapped: pairs of runs that change places.",
        f"{n_swapping:,} of {counted(n_all, 'document')} swap a pair of runs or more; none swaps"
        f" more than {most:,} of {counted(n_pairs, 'pair')}." if n_pairs and most else
        "None swaps a pair of runs." if n_pairs and n_all else "",
    ]  # fmt: skip
    if result.n_undefined:
        words.append(
            f"{counted(result.n_undefined, 'document')} of topics without a relevant document move"
            " no MAP and are not shown."
        )
    table.caption = legend(words)
    return table


def missing_by_run(arrays: JudgedRankings, bounds: MissingBounds, fmt: Format) -> Table:
    """Make the table of runs."""
    columns = [
        Column("run"), Column("unjudged"), Column("judged"), Column("no_run", "no run"),
        Column("map_before", "MAP"), Column("map_low", "low"), Column("map_high", "high"),
        Column("undefined"), Column("reason"),
    ]  # fmt: skip
    table = Table("missing", columns, title=_missing_title(bounds))
    n_unjudged = np.zeros(len(arrays.tags), dtype=np.int64)
    for topic in range(len(arrays.topics)):
        n_unjudged += np.count_nonzero(arrays.standing_by_rank(topic) == UNJUDGED, axis=1)
    n_documents = arrays.lengths.sum(axis=1)
    n_without = (arrays.lengths == 0).sum(axis=1)
    for index, tag in enumerate(arrays.tags):
        before = float(bounds.map_before[index])
        table.rows.append({
            "run": tag, "unjudged": int(n_unjudged[index]),
            "judged": int(n_documents[index] - n_unjudged[index]),
            "no_run": int(n_without[index]),
            "map_before": _limit(before), "map_low": _limit(float(bounds.map_low[index])),
            "map_high": _limit(float(bounds.map_high[index])),
            "undefined": int(bounds.n_topics_undefined[index]),
            "reason": "no-relevant" if isnan(before) else None,
        })  # fmt: skip
    if fmt is Format.TABLE:
        kept = {name for row in table.rows for name, cell in row.items() if cell}
        optional = {"no_run", "undefined", "reason"} - kept
        table.columns = [column for column in columns if column.name not in optional]
    table.caption = _missing_caption(bounds, "MAP")
    return table


def missing_by_topic(arrays: JudgedRankings, bounds: MissingBounds, fmt: Format) -> Table:
    """Make the table of runs and topics."""
    columns = [
        Column("run"), Column("topic"), Column("unjudged"), Column("judged"),
        Column("ap_before", "AP"), Column("ap_low", "low"), Column("ap_high", "high"),
        Column("status"), Column("reason"),
    ]  # fmt: skip
    table = Table("missing", columns, title=_missing_title(bounds))
    n_unjudged = np.stack(
        [
            np.count_nonzero(arrays.standing_by_rank(topic) == UNJUDGED, axis=1)
            for topic in range(len(arrays.topics))
        ],
        axis=1,
    )
    for index, tag in enumerate(arrays.tags):
        for place, topic in enumerate(arrays.topics):
            before = float(bounds.ap_before[index, place])
            length, unjudged = int(arrays.lengths[index, place]), int(n_unjudged[index, place])
            status = "unjudged" if unjudged else "judged" if length else "no documents"
            table.rows.append({
                "run": tag, "topic": topic, "unjudged": unjudged, "judged": length - unjudged,
                "ap_before": _limit(before),
                "ap_low": _limit(float(bounds.ap_low[index, place])),
                "ap_high": _limit(float(bounds.ap_high[index, place])),
                "status": status, "reason": "no-relevant" if isnan(before) else None,
            })  # fmt: skip
    if fmt is Format.TABLE and not any(row["reason"] for row in table.rows):
        table.columns = columns[:-1]
    table.caption = _missing_caption(bounds, "AP")
    return table


def _missing_caption(bounds: MissingBounds, mean: str) -> str:
    """Say what the columns are."""
    return legend([
        f"unjudged, judged: documents in the run's lists. low: {mean} if the run retrieved none of"
        " the missing ones"
        + (" or has them last" if bounds.r_mode == "own" else "")
        + ", high: if they are its first unjudged documents; both can come true."
    ])  # fmt: skip


def _missing_title(bounds: MissingBounds) -> str:
    """Say what is supposed."""
    missing = counted(bounds.n_missing, "relevant document")
    return f"Limits if {missing} of every topic went unjudged (R {bounds.r_mode})"


def _limit(value: float) -> float | None:
    """Return a number, or ``None`` for NaN."""
    return None if isnan(value) else value
