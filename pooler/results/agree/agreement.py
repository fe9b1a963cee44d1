"""The coefficients of pairs and of all judges as tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pooler.results.agree.people import (
    MOST_APART,
    MOST_PAIRS,
    Row,
    band_column,
    bands_line,
    interval_cell,
    legend,
    sharing,
    skew_line,
)
from pooler.results.agree.settings import ALL_LABELS, Asked, Pair, flat
from pooler.results.agree.sharing import pairs_of
from pooler.results.printed import Cell, Column, Table
from pooler.telling import progress
from store.analysis.agreement.tables import all_pair_stacks, sharing_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.results.agree.settings import Asked, Pair
    from pooler.results.printed import Cell
    from store.analysis.agreement.intervals import Interval
    from store.analysis.agreement.many import AllJudges
    from store.analysis.agreement.populations import PopulationVotes
    from store.analysis.agreement.tables import PairStack
    from store.grades.policy import Policy
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
    from store.analysis.agreement.tables import pair_intervals

    of_stacks = [_stack_rows(stack.tables, stack.level_index, asked, stack.overlaps) for stack in stacks]
    rows: list[dict[str, Cell]] = []
    with progress("intervals", len(pairs) if intervals else 0) as advance:
        for number, (first, second) in enumerate(pairs):
            named: dict[str, Cell] = {"first": first, "second": second}
            found = [of_stack[number] for of_stack in of_stacks]
            if intervals:
                made = pair_intervals(stacks, number, asked.kind, resamples=asked.resamples, seed=asked.seed)
                for row, of_row in zip(found, made, strict=True):
                    row |= _limits(of_row)
                advance(1)
            rows += [{**named, "topic": "all", **row} for row in found]
            if asked.by_topic:
                rows += [{**named, **row} for row in _topic_rows(stacks, number, topics, asked)]
    return rows


def judges_rows(population: PopulationVotes, asked: Asked) -> list[dict[str, Cell]]:
    """Make the rows of all judges together: graded, then each level; then topic by topic."""
    from store.analysis.agreement.many import all_judges, all_judges_by_topic

    rows: list[dict[str, Cell]] = []
    indices: list[int | None] = [None, *asked.level_indices]
    for index in indices:
        found = all_judges(population, index, asked.kind, resamples=asked.resamples, seed=asked.seed)
        rows += [_judges_row(one, asked.level_at(index), asked) for one in found]
    if asked.by_topic:
        for index in indices:
            for topic, found in all_judges_by_topic(population, index).items():
                rows += [{**_judges_row(one, asked.level_at(index), asked), "topic": topic} for one in found]
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
    from store.analysis.agreement.overlap import stacked_specific

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
    from store.analysis.agreement.kappa import band
    from store.analysis.agreement.tables import coefficients, reasons

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
        columns["macro_overlap"] = [total / count if count else None for total, count in overlaps.tolist()]
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
    from store.analysis.agreement.kappa import band

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


def against_rows(
    population: PopulationVotes,
    reference: str,
    others: Sequence[str],
    asked: Asked,
    policy: Policy | None,
    *,
    intervals: bool,
) -> list[dict[str, Cell]]:
    """Compare judges with a reference.

    Parameters
    ----------
    population : PopulationVotes
        Votes of `reference` and `others`.
    reference : str
        The second of every pair.
    others : sequence of str
        The first ones; then come all their labels thrown together.
    asked : Asked
        What is to be computed.
    policy : Policy, optional
        How the others' grades are aggregated, for one more comparison.
    intervals : bool
        Whether each judge has intervals; the rows on all of them have in any case.
    """
    from store.grades.reference import aggregate_against, judges_against

    topics, wanted = population.votes.topics, asked.kind != "none"
    each, together = judges_against(population, reference, others, asked.level_indices)
    rows = pair_rows(together, [(ALL_LABELS, reference)], topics, asked, intervals=wanted)
    if policy is not None:
        stacks = aggregate_against(population, reference, others, asked.scale, asked.levels, policy)
        named: list[Pair] = [(aggregate_name(policy), reference)]
        rows += pair_rows(stacks, named, topics, asked, intervals=wanted)
    pairs: list[Pair] = [(other, reference) for other in others]
    rows += pair_rows(each, pairs, topics, asked, intervals=intervals)
    return rows


def aggregate_name(policy: Policy) -> str:
    """Name the aggregate in the place of a judge.

    Examples
    --------
    >>> from store.grades.policy import Policy
    >>> aggregate_name(Policy(rule="majority", ties="low", collapse="before", level=2))
    '(majority, ties low, collapsed before)'
    """
    parts = [str(policy.rule), *([f"ties {policy.ties}"] if policy.ties else [])]
    parts += ["collapsed before"] if policy.collapse == "before" else []
    return f"({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Agreement of judges, as rows with every number."""

    judges: Table
    pairs: list[Pair]
    found: list[dict[str, Cell]]
    """Of the pairs, but for those left out."""
    n_apart: int
    """Pairs left out, as they share no document."""
    together: list[dict[str, Cell]]
    """Of all judges; empty for two, and against a reference."""
    stacks: list[PairStack]
    """Contingency tables of every two judges; empty where nobody needs them."""
    stacked: list[Pair]
    """The pairs of `stacks`."""
    intervals: bool
    """Whether pairs have intervals."""


def coefficients(
    votes: PopulationVotes,
    asked: Asked,
    *,
    against: str | None,
    policy: Policy,
    per_grade: bool,
    tables: bool,
    pairs_too: bool,
    all_pairs: bool = True,
) -> Coefficients:
    """Compute agreement; intervals of many pairs take long, and `pairs_too` asks for them.

    Without `all_pairs`, pairs that share no document are counted only, where pairs are many: a
    crowd has a million of them.
    """
    judges, topics = votes.votes.judges, votes.votes.topics
    pairs = pairs_of(judges, against)
    leaves_out = not all_pairs and len(pairs) > MOST_APART
    n_apart = 0
    intervals = asked.kind != "none" and (pairs_too or len(pairs) <= MOST_PAIRS)
    together: list[dict[str, Cell]] = []
    stacks: list[PairStack] = []
    stacked: list[Pair] = []
    if against is None or per_grade or tables:
        stacks = list(all_pair_stacks(votes, asked.level_indices))
        stacked = pairs_of(judges, None)
    if leaves_out and stacks:
        stacks, kept = sharing_pairs(stacks)
        stacked = [stacked[number] for number in kept]
    if against is None:
        n_apart = len(pairs) - len(stacked)
        found = pair_rows(stacks, stacked, topics, asked, intervals=intervals)
        together = judges_rows(votes, asked) if len(judges) > 2 else []
    else:
        others = [first for first, _ in pairs]
        rule = None if policy.rule is None else policy
        found = against_rows(votes, against, others, asked, rule, intervals=intervals)
        if leaves_out:
            shared, n_apart = sharing(found)
            found = [dict(row) for row in shared]
    return Coefficients(judge_table(votes, asked), pairs, found, n_apart, together, stacks,
                        stacked, intervals)  # fmt: skip


def for_programs(
    made: Coefficients, settings: dict[str, Any], extra: Sequence[Table], *, by_topic: bool
) -> list[Table]:
    """Make the tables with every column and row."""
    columns = [Column(name) for name in settings]
    return [
        Table("settings", columns, [{key: flat(value) for key, value in settings.items()}]),
        made.judges,
        Table("all_judges", judges_columns(by_topic=by_topic), list(made.together)),
        Table("pairs", pair_columns(by_topic=by_topic), list(made.found)),
        *extra,
    ]


def extra_tables(made: Coefficients, asked: Asked, *, per_grade: bool, tables: bool) -> list[Table]:
    """Make the tables of grades that were asked for."""
    if not made.stacks:
        return []
    stack = made.stacks[0]
    of_grades = [grade_table(stack, made.stacked, asked.scale)] if per_grade else []
    return [*of_grades, *([cross_tables(stack, made.stacked, asked.scale)] if tables else [])]


MEASURES = {
    "alpha_ordinal": "alpha, ordinal",
    "alpha_nominal": "alpha, nominal",
    "alpha_interval": "alpha, interval",
    "fleiss": "Fleiss' kappa",
    "ac1": "AC1",
    "macro_overlap": "overlap of all",
}
GRADED = ("alpha_ordinal", "alpha_nominal", "alpha_interval", "fleiss")
BINARY = ("alpha_nominal", "fleiss", "macro_overlap")


def all_for_people(rows: Sequence[Row], n_judges: int, asked: Asked, *, skewed: Collection[Cell]) -> Table:
    """Show the agreement of all judges together.

    Parameters
    ----------
    rows : sequence of Row
        Of all judges; those of single topics are passed over.
    n_judges : int
        How many they are.
    asked : Asked
        What was to be computed.
    skewed : collection of int or None
        Levels at which one grade prevails, ``None`` = graded: AC1 is shown there.
    """
    has_intervals = asked.kind != "none"
    columns = [Column("on"), Column("measure"), Column("value", digits=3)]
    columns += [Column("interval", "95 %")] * has_intervals
    columns += [Column("n", "N"), Column("topics"), *band_column(asked)]
    table = Table("all_judges", columns, title=f"All {n_judges} judges together")
    two_grades = len(asked.scale.values) == 2
    for row in rows:
        level, name = row["level"], str(row["coefficient"])
        if row["topic"] != "all" or (two_grades and level is None):
            continue
        wanted = (*(GRADED if level is None else BINARY), *(["ac1"] if level in skewed else []))
        if name not in wanted:
            continue
        binary = level is not None
        measure = "alpha" if binary and name == "alpha_nominal" else MEASURES[name]
        shown = {**row, "on": f"relevant {level}+" if binary else "grades", "measure": measure}
        if row["value"] is not None and row.get("low") is None and not row.get("interval_reason"):
            shown["interval_reason"] = _no_interval(name, asked)
        table.rows.append({**shown, "interval": interval_cell(shown, "low", "high")})
    if not has_intervals and any(row["reason"] for row in table.rows):
        table.columns = [*table.columns, Column("reason")]
    measures = {str(row["measure"]) for row in table.rows}
    lines = ["alpha, Fleiss' kappa: 1 = all agree, 0 = as by chance, below 0 = less than by chance;"
             " N: documents with two graders or more."]  # fmt: skip
    if "alpha, ordinal" in measures:
        lines.append("alpha, ordinal: a near miss counts less than a far one.")
    if "overlap of all" in measures:
        lines.append("overlap of all: documents relevant to everybody among those relevant to"
                     " anybody, mean of the topics that have one; N: documents that everybody"
                     " graded.")  # fmt: skip
    if "AC1" in measures:
        lines.append(skew_line(binary=None not in skewed or two_grades))
    table.caption = legend([*lines, bands_line(asked)])
    return table


def topics_for_people(rows: Sequence[Row], asked: Asked) -> Table:
    """Show the agreement of all judges topic by topic, one row a topic."""
    wanted: list[tuple[int | None, str, str]] = []
    if len(asked.scale.values) > 2:
        wanted.append((None, "alpha_ordinal", "alpha"))
    for level in asked.levels:
        wanted += [(level, "alpha_nominal", f"alpha {level}+"),
                   (level, "macro_overlap", f"overlap {level}+")]  # fmt: skip
    name_of = {(level, name): f"{name}_{level}" for level, name, _ in wanted}
    columns = [Column("topic"), Column("n", "N")]
    columns += [Column(name_of[level, name], heading, 3) for level, name, heading in wanted]
    by_topic: dict[Cell, dict[str, Cell]] = {}
    reasons: dict[Cell, dict[str, None]] = {}
    for row in rows:
        of_row = row["level"] if isinstance(row["level"], int) else None
        name = name_of.get((of_row, str(row["coefficient"])))
        if row["topic"] == "all" or name is None:
            continue
        made = by_topic.setdefault(row["topic"], {"topic": row["topic"], "n": row["n"]})
        made[name] = row["value"]
        codes = reasons.setdefault(row["topic"], {})
        if row["reason"]:
            codes[str(row["reason"])] = None
    for topic, made in by_topic.items():
        made["reason"] = ", ".join(reasons[topic]) or None
    columns += [Column("reason")] * any(reasons.values())
    table = Table("all_judges", columns, list(by_topic.values()),
                  title="All judges together, topic by topic")  # fmt: skip
    lines = ["N: documents of the topic with two graders or more."]
    if asked.levels:
        lines.append("overlap is over those that everybody graded.")
    lines += ["reason: of every dash in the row."] if any(reasons.values()) else []
    table.caption = legend([" ".join(lines)])
    return table


def _no_interval(name: str, asked: Asked) -> str | None:
    """Say why a number has no interval of the kind that was asked for."""
    if asked.kind == "none":
        return None
    return "topics-only" if name == "macro_overlap" else "no-standard-error"
