"""Every number of `pooler agreement`, as tables for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pooler.cli.console import Cell, Column, Table, progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.cli.agreement_settings import Asked, Pair
    from store.analysis.all_judges import AllJudges
    from store.analysis.intervals import Interval
    from store.analysis.pair_stacks import PairStack
    from store.analysis.populations import PopulationVotes
    from store.records import Scale

UNDEFINED = "undefined"
"""The code of an interval whose coefficient has no number: `reason` says why."""


def pair_columns(*, by_topic: bool) -> list[Column]:
    """Name the columns of pairs."""
    names = ["first", "second", *(["topic"] if by_topic else []), "level", "n", "raw"]
    names += ["kappa", "kappa_low", "kappa_high", "kappa_se", "band", "linear"]
    names += ["quadratic", "quadratic_low", "quadratic_high", "quadratic_se", "pi", "s"]
    names += ["ac1", "ac2", "alpha_ordinal", "alpha_nominal", "alpha_interval"]
    names += ["positive", "overlap", "macro_overlap", "macro_overlap_low", "macro_overlap_high"]
    names += ["macro_topics", "first_marginals", "second_marginals"]
    return [Column(name) for name in (*names, "reason", "interval_reason")]


def pair_rows(
    stacks: Sequence[PairStack],
    pairs: Sequence[Pair],
    topics: Sequence[str],
    asked: Asked,
    *,
    intervals: bool,
) -> list[dict[str, Cell]]:
    """Make the rows of pairs: graded, then each level, then topic by topic."""
    from store.analysis.pair_stacks import pair_intervals

    of_stacks = [
        _stack_rows(stack.tables, stack.level_index, asked, stack.overlaps) for stack in stacks
    ]
    rows: list[dict[str, Cell]] = []
    with progress("intervals", len(pairs) if intervals else 0) as advance:
        for number, (first, second) in enumerate(pairs):
            named: dict[str, Cell] = {"first": first, "second": second}
            found = [of_stack[number] for of_stack in of_stacks]
            if intervals:
                made = pair_intervals(
                    stacks, number, asked.kind, resamples=asked.resamples, seed=asked.seed
                )
                for row, of_row in zip(found, made, strict=True):
                    row |= _limits(of_row)
                advance(1)
            rows += [{**named, "topic": "all", **row} for row in found]
            if asked.by_topic:
                rows += [{**named, **row} for row in _topic_rows(stacks, number, topics, asked)]
    return rows


def judges_rows(population: PopulationVotes, asked: Asked) -> list[dict[str, Cell]]:
    """Make the rows of all judges together: graded, then each level; then topic by topic."""
    from store.analysis.all_judges import all_judges, all_judges_by_topic

    rows: list[dict[str, Cell]] = []
    indices: list[int | None] = [None, *asked.level_indices]
    for index in indices:
        found = all_judges(
            population, index, asked.kind, resamples=asked.resamples, seed=asked.seed
        )
        rows += [_judges_row(one, asked.level_at(index), asked) for one in found]
    if asked.by_topic:
        for index in indices:
            for topic, found in all_judges_by_topic(population, index).items():
                rows += [
                    {**_judges_row(one, asked.level_at(index), asked), "topic": topic}
                    for one in found
                ]
    return rows


def judges_columns(*, by_topic: bool) -> list[Column]:
    """Name the columns of all judges together."""
    names = [*(["topic"] if by_topic else []), "level", "coefficient", "value", "low", "high"]
    return [Column(one) for one in (*names, "band", "n", "topics", "reason", "interval_reason")]


def judge_table(population: PopulationVotes, asked: Asked) -> Table:
    """Say what each judge did, and what of it is measured."""
    votes, given = population.votes, population.given()
    columns = [Column("judge"), Column("graded"), Column("outside"), Column("skipped"),
               Column("cannot"), Column("unlisted")]  # fmt: skip
    columns += [Column(f"grade_{value}", str(value)) for value in asked.scale.values]
    table = Table("judges", columns)
    for code, judge in enumerate(votes.judges):
        counts = {f"grade_{value}": int(given[code, place])
                  for place, value in enumerate(asked.scale.values)}  # fmt: skip
        table.rows.append({
            "judge": judge, "graded": int(population.graded[code]),
            "outside": int(population.outside[code]), "skipped": int(population.skipped[code]),
            "cannot": int(population.cannot[code]), "unlisted": int(population.filled[code]),
            **counts,
        })  # fmt: skip
    return table


def cross_tables(stack: PairStack, pairs: Sequence[Pair], scale: Scale) -> Table:
    """Make the cross table of grades of every pair."""
    columns = [Column("first"), Column("second"), Column("first_grade", "grade")]
    columns += [Column(f"second_{value}", str(value)) for value in scale.values]
    title = "Documents by the grades of both: the first judge's down, the second's across"
    table = Table("cross_tables", columns, title=title)
    for (first, second), counts in zip(pairs, stack.tables.tolist(), strict=True):
        for value, line in zip(scale.values, counts, strict=True):
            cells = {f"second_{other}": count
                     for other, count in zip(scale.values, line, strict=True)}  # fmt: skip
            table.rows.append({"first": first, "second": second, "first_grade": value, **cells})
    return table


def grade_table(stack: PairStack, pairs: Sequence[Pair], scale: Scale) -> Table:
    """Make the table of the agreement specific to each grade."""
    from store.analysis.overlap import stacked_specific

    columns = [Column("first"), Column("second"), Column("grade"), Column("given"),
               Column("agreement", digits=3), Column("reason")]  # fmt: skip
    table = Table("per_grade", columns, title="How likely the other gives a grade when one does")
    shares = stacked_specific(stack.tables).tolist()
    given = (stack.tables.sum(axis=-1) + stack.tables.sum(axis=-2)).tolist()
    for (first, second), values, counts in zip(pairs, shares, given, strict=True):
        for grade, value, count in zip(scale.values, values, counts, strict=True):
            reason = "no-relevant" if sum(counts) else "no-common-docs"
            table.rows.append({
                "first": first, "second": second, "grade": grade, "given": count,
                "agreement": value if count else None, "reason": None if count else reason,
            })  # fmt: skip
    return table


def _stack_rows(
    tables: NDArray[np.int64],
    level_index: int | None,
    asked: Asked,
    overlaps: NDArray[np.float64] | None = None,
) -> list[dict[str, Cell]]:
    """Make one row a table."""
    from store.analysis.bands import band
    from store.analysis.pair_stacks import coefficients, reasons

    found = coefficients(tables, binary=level_index is not None, values=asked.scale.values)
    columns: dict[str, list[Cell]] = {
        "level": [asked.level_at(level_index)] * len(tables),
        "n": tables.sum(axis=(1, 2)).tolist(),
        **{name: _cells(values) for name, values in found.items()},
        "first_marginals": ["/".join(map(str, line)) for line in tables.sum(axis=2).tolist()],
        "second_marginals": ["/".join(map(str, line)) for line in tables.sum(axis=1).tolist()],
        "reason": list(reasons(tables, found)),
    }
    if overlaps is not None:
        columns["macro_overlap"] = [
            total / count if count else None for total, count in overlaps.tolist()
        ]
        columns["macro_topics"] = [int(count) for count in overlaps[:, 1].tolist()]
    if asked.bands is not None:
        bands = asked.bands
        columns["band"] = [
            band(kappa, bands) if isinstance(kappa, float) else None for kappa in columns["kappa"]
        ]
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _topic_rows(
    stacks: Sequence[PairStack], number: int, topics: Sequence[str], asked: Asked
) -> list[dict[str, Cell]]:
    """Make the rows of one pair for every topic with common documents."""
    by_topic: dict[str, list[dict[str, Cell]]] = {}
    for stack in stacks:
        tables = stack.topic_tables(number)
        (kept,) = np.nonzero(tables.any(axis=(1, 2)))
        found = _stack_rows(tables[kept], stack.level_index, asked)
        for topic, row in zip(kept.tolist(), found, strict=True):
            by_topic.setdefault(topics[topic], []).append({**row, "topic": topics[topic]})
    return [row for rows in by_topic.values() for row in rows]


def _judges_row(one: AllJudges, level: int | None, asked: Asked) -> dict[str, Cell]:
    """Turn one coefficient of all judges into a row."""
    from store.analysis.bands import band

    row: dict[str, Cell] = {
        "topic": "all", "level": level, "coefficient": one.name, "value": one.value,
        "n": one.n_documents, "topics": one.n_topics, "reason": one.reason,
    }  # fmt: skip
    if one.interval is not None:
        limits = _limits({"": one.interval})
        row |= {"low": limits["_low"], "high": limits["_high"]}
        row["interval_reason"] = limits["interval_reason"]
    if asked.bands and one.value is not None and one.name not in ("raw", "macro_overlap"):
        row["band"] = band(one.value, asked.bands)
    return row


def _limits(intervals: Mapping[str, Interval]) -> dict[str, Cell]:
    """Turn intervals into cells; the reasons for missing ones stand together."""
    cells: dict[str, Cell] = {}
    for name, interval in intervals.items():
        cells |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    codes = (interval.reason for interval in intervals.values())
    told = dict.fromkeys(str(code) for code in codes if code and code != UNDEFINED)
    cells["interval_reason"] = ", ".join(told) or None
    return cells


def _cells(values: NDArray[np.float64]) -> list[Cell]:
    """Turn an array into cells; NaN is ``None``."""
    cells: list[Cell] = values.tolist()
    for place in np.flatnonzero(np.isnan(values)).tolist():
        cells[place] = None
    return cells
