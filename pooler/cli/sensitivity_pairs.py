"""The tables of `pooler sensitivity --pairs`."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan

import numpy as np

from pooler.cli.console import Cell, Column, Format, Table, counted
from pooler.cli.sensitivity_runs import Docnos, summary
from store.analysis.discoveries import Scenario
from store.analysis.flip_choice import At
from store.analysis.judged_rankings import JudgedRankings
from store.analysis.missing_pairs import MissingPairBounds
from store.analysis.pair_extremes import FIRST, NEITHER
from store.analysis.pair_sensitivity import (
    SIGN_WORDS,
    PairDiscovery,
    PairSensitivity,
    sign_moves,
)
from store.analysis.run_pairs import RunPairs
from store.analysis.undiscovered import TIED_MAP

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
    for_programs = {"topics", *numbers, *(f"{name}_{side}" for name in numbers for side in "ab")}
    shown = _shown(columns, rows, fmt, for_programs)
    whose = "it alone" if scenario == "own" else "every run that has them"
    changed = {side: _n_changed(result.before, after) for side, after in (
        ("a", result.after_first), ("b", result.after_second))}  # fmt: skip
    caption = (
        f"{summary(result.status, at=at, depth=depth, flips=flips)}.\n"
        "A is the run ahead. A's found, B's found: the difference once the documents of A,\n"
        f"or of B, are relevant for {whose}; p: of t2 (two-sided).\n"
        "sign: kept, swapped, tied after, or parted (tied before). json and tsv have t2, the\n"
        "variances, and by what share both fall: Q and H of `required-difference`.\n"
        f"Of {counted(len(rows), 'pair')}, {int((signs['a'] == 1).sum()):,} swap with A's"
        f" documents and {int((signs['b'] == 1).sum()):,} with B's;\n"
        f"{changed['a']:,} and {changed['b']:,} come to be significant at {ALPHA:g}, or cease."
    )
    return Table("pairs", shown, rows, caption=caption)


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
    shown = _shown(columns, rows, fmt, {"t2", "t2_after", "topics"})
    way = "towards 0, and past it" if towards else "away from 0"
    caption = (
        "A is the run ahead. docno: of all unjudged documents, inside and below the pool, the\n"
        f"one that moves A - B most {way}; with no docno, any that\n"
        "neither run has. after: A - B with this one document relevant.\n"
        f"One document swaps {int((signs == 1).sum()):,} of {counted(len(rows), 'pair')}; in"
        f" {_n_changed(result.before, result.after):,} the difference comes to be significant\n"
        f"at {ALPHA:g}, or ceases."
    )
    return Table("pairs", shown, rows, caption=caption)


def missing(arrays: JudgedRankings, bounds: MissingPairBounds, fmt: Format) -> Table:
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
    caption = (
        f"A is the run ahead. low, high: limits of A - B if {missed} of every topic\n"
        "went unjudged, wherever they are; attained: some documents are known to give the\n"
        "limit, else it holds but may not be reached. certain: B cannot come to be level or\n"
        f"ahead. Of {counted(len(rows), 'pair')}, {n_certain:,}"
        f" {'is' if n_certain == 1 else 'are'} certain."
    )
    return Table("pairs", _shown(columns, rows, fmt, {"topics"}), rows, caption=caption)


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


def _n_changed(before: RunPairs, after: RunPairs) -> int:
    """Count the pairs that are significant before or after, and not both times."""
    return int(np.count_nonzero((before.p_t <= ALPHA) != (after.p_t <= ALPHA)))


def _rank(arrays: JudgedRankings, run: int, topic: int, code: int) -> int | None:
    """Return the rank that a run gave a document; ``None`` = it did not retrieve it."""
    columns = np.flatnonzero(arrays.documents[run, topic] == code)
    return int(columns[0]) + 1 if columns.size else None


def _shown(
    columns: list[Column], rows: list[Mapping[str, Cell]], fmt: Format, for_programs: set[str]
) -> list[Column]:
    """Leave out what people are not shown, so that a row fits a screen."""
    if fmt is not Format.TABLE:
        return columns
    left_out = for_programs | (set() if any(row["reason"] for row in rows) else {"reason"})
    return [column for column in columns if column.name not in left_out]


def _number(value: float) -> float | None:
    """Return a number, or ``None`` for NaN."""
    return None if isnan(value) else float(value)
