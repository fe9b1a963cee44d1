"""The tables of `pooler sensitivity --pairs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf, isnan

import numpy as np

from pooler.cli.agreement_words import legend
from pooler.cli.console import Cell, Column, Format, Table, counted
from pooler.cli.pair_reasons import undefined_pairs
from pooler.cli.sensitivity_runs import Docnos, flipped, summary, who_gains
from store.analysis.average_precision import RMode
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


def _number(value: float) -> float | None:
    """Return a number, or ``None`` for NaN."""
    return None if isnan(value) else float(value)
