"""Rows of agreement: pairs of judges, all together, people and models apart, judges and a reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from pooler.commands.qrels.agreement_settings import ALL_LABELS, AgreementOptions, ChosenJudges, Pair
from pooler.messages import progress as report_progress
from store.analysis.agreement.kappa import band
from store.analysis.agreement.many import AllJudges, all_judges, all_judges_by_topic
from store.analysis.agreement.tables import (
    PairStack,
    all_pair_stacks,
    coefficients,
    pair_intervals,
    reasons,
    sharing_pairs,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from store.analysis.agreement.intervals import Interval
    from store.analysis.agreement.votes import PopulationVotes
    from store.grades.definition import QrelsDefinition

UNDEFINED = "undefined"
"""The code of an interval whose coefficient has no number: `reason` says why."""
PEOPLE, ACROSS, MODELS = "people", "people and models", "models"
"""The parts, in order."""
EVERY_PERSON, EVERY_MODEL = "(people)", "(models)"
"""Stand for every label of one side; no judge's name has a bracket in front."""

_ACROSS = ("kappa", "linear", "quadratic", "pi", "s", "ac1", "ac2", "raw", "positive", "macro_overlap")
"""Coefficients of pairs that say how far two sides agree, all pairs thrown together."""
_WITH_INTERVAL = ("kappa", "quadratic", "macro_overlap")


def pair_rows(
    stacks: Sequence[PairStack],
    pairs: Sequence[Pair],
    topics: Sequence[str],
    options: AgreementOptions,
    *,
    intervals: bool,
) -> list[dict[str, Any]]:
    """Make the rows of pairs: graded, then each level, then topic by topic."""
    of_stacks = [_stack_rows(stack.tables, stack.level_index, options, stack.overlaps) for stack in stacks]
    rows: list[dict[str, Any]] = []
    with report_progress("intervals", len(pairs) if intervals else 0) as advance:
        for number, (first, second) in enumerate(pairs):
            named: dict[str, Any] = {"first": first, "second": second}
            found = [of_stack[number] for of_stack in of_stacks]
            if intervals:
                made = pair_intervals(
                    stacks, number, options.kind, resamples=options.resamples, seed=options.seed
                )
                for row, of_row in zip(found, made, strict=True):
                    row |= _limits(of_row)
                advance(1)
            rows += [{**named, "topic": "all", **row} for row in found]
            if options.by_topic:
                rows += [{**named, **row} for row in _topic_rows(stacks, number, topics, options)]
    return rows


def judges_rows(population: PopulationVotes, options: AgreementOptions) -> list[dict[str, Any]]:
    """Make the rows of all judges together: graded, then each level; then topic by topic."""
    rows: list[dict[str, Any]] = []
    indices: list[int | None] = [None, *options.level_indices]
    for index in indices:
        found = all_judges(population, index, options.kind, resamples=options.resamples, seed=options.seed)
        rows += [_judges_row(one, options.level_at(index), options) for one in found]
    if options.by_topic:
        for index in indices:
            for topic, found in all_judges_by_topic(population, index).items():
                rows += [
                    {**_judges_row(one, options.level_at(index), options), "topic": topic} for one in found
                ]
    return rows


def _stack_rows(
    tables: NDArray[np.int64],
    level_index: int | None,
    options: AgreementOptions,
    overlaps: NDArray[np.float64] | None = None,
) -> list[dict[str, Any]]:
    found = coefficients(tables, binary=level_index is not None, values=options.scale.values)
    columns: dict[str, list[Any]] = {
        "level": [options.level_at(level_index)] * len(tables),
        "n": tables.sum(axis=(1, 2)).tolist(),
        **{name: _cells(values) for name, values in found.items()},
        "first_marginals": tables.sum(axis=2).tolist(),
        "second_marginals": tables.sum(axis=1).tolist(),
        "reason": list(reasons(tables, found)),
    }
    if overlaps is not None:
        columns["macro_overlap"] = [total / count if count else None for total, count in overlaps.tolist()]
        columns["macro_topics"] = [int(count) for count in overlaps[:, 1].tolist()]
    if options.bands is not None:
        bands = options.bands
        columns["band"] = [
            band(kappa, bands) if isinstance(kappa, float) else None for kappa in columns["kappa"]
        ]
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _topic_rows(
    stacks: Sequence[PairStack], number: int, topics: Sequence[str], options: AgreementOptions
) -> list[dict[str, Any]]:
    by_topic: dict[str, list[dict[str, Any]]] = {}
    for stack in stacks:
        tables = stack.topic_tables(number)
        (kept,) = np.nonzero(tables.any(axis=(1, 2)))
        found = _stack_rows(tables[kept], stack.level_index, options)
        for topic, row in zip(kept.tolist(), found, strict=True):
            by_topic.setdefault(topics[topic], []).append({**row, "topic": topics[topic]})
    return [row for rows in by_topic.values() for row in rows]


def _judges_row(one: AllJudges, level: int | None, options: AgreementOptions) -> dict[str, Any]:
    row: dict[str, Any] = {
        "topic": "all",
        "level": level,
        "coefficient": one.name,
        "value": one.value,
        "n": one.n_documents,
        "topics": one.n_topics,
        "reason": one.reason,
    }
    if one.interval is not None:
        limits = _limits({"": one.interval})
        row |= {"low": limits["_low"], "high": limits["_high"]}
        row["interval_reason"] = limits["interval_reason"]
    if options.bands and one.value is not None and one.name not in ("raw", "macro_overlap"):
        row["band"] = band(one.value, options.bands)
    return row


def _limits(intervals: Mapping[str, Interval]) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for name, interval in intervals.items():
        cells |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    codes = (interval.reason for interval in intervals.values())
    codes_given = dict.fromkeys(str(code) for code in codes if code and code != UNDEFINED)
    cells["interval_reason"] = ", ".join(codes_given) or None
    return cells


def _cells(values: NDArray[np.float64]) -> list[Any]:
    """Turn an array into cells; NaN is ``None``."""
    cells: list[Any] = values.tolist()
    for place in np.flatnonzero(np.isnan(values)).tolist():
        cells[place] = None
    return cells


def against_rows(
    population: PopulationVotes,
    reference: str,
    others: Sequence[str],
    options: AgreementOptions,
    rule: QrelsDefinition | None,
    *,
    intervals: bool,
) -> list[dict[str, Any]]:
    """Compare judges with a reference, then all their labels thrown together.

    Then their aggregate, where there is a rule.

    `intervals`: whether each judge has intervals; the rows on all of them have in any case.
    """
    from store.grades.reference import aggregate_against, pairs_together

    topics, wanted = population.votes.topics, options.kind != "none"
    each, together = pairs_together(
        population, [(other, reference) for other in others], options.level_indices
    )
    rows = pair_rows(together, [(ALL_LABELS, reference)], topics, options, intervals=wanted)
    if rule is not None:
        stacks = aggregate_against(population, reference, others, options.scale, options.levels, rule)
        named: list[Pair] = [(aggregate_name(rule), reference)]
        rows += pair_rows(stacks, named, topics, options, intervals=wanted)
    pairs: list[Pair] = [(other, reference) for other in others]
    rows += pair_rows(each, pairs, topics, options, intervals=intervals)
    return rows


def aggregate_name(rule: QrelsDefinition) -> str:
    """Name the aggregate in the place of a judge.

    Examples
    --------
    >>> from store.grades.definition import QrelsDefinition
    >>> aggregate_name(QrelsDefinition(aggregate="majority", ties="low", binary_first=True))
    '(majority, ties low, binary first)'
    """
    parts = [str(rule.aggregate), *([f"ties {rule.ties}"] if rule.ties else [])]
    parts += ["binary first"] if rule.binary_first else []
    return f"({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class JudgePart:
    """Some of the judges who are measured, and which pairs of them."""

    name: str
    judges: tuple[str, ...]
    pairs: tuple[Pair, ...]

    @property
    def is_across(self) -> bool:
        """Whether each pair is a person and a model."""
        return self.name == ACROSS


def parts_of(chosen: ChosenJudges) -> Iterator[JudgePart]:
    """Yield the parts that have a pair."""
    people, models = chosen.people, chosen.models
    for part in (
        JudgePart(PEOPLE, people, tuple(combinations(people, 2))),
        JudgePart(ACROSS, (*people, *models), tuple(product(people, models))),
        JudgePart(MODELS, models, tuple(combinations(models, 2))),
    ):
        if part.pairs:
            yield part


def _across_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "topic": row["topic"],
            "level": row["level"],
            "coefficient": name,
            "value": row[name],
            "low": row.get(f"{name}_low"),
            "high": row.get(f"{name}_high"),
            "n": row["n"],
            "topics": row.get("macro_topics") if name == "macro_overlap" else row["topics"],
            "reason": row["reason"] if row[name] is None else None,
            "interval_reason": row.get("interval_reason") if name in _WITH_INTERVAL else None,
        }
        for row in rows
        for name in _ACROSS
        if name == "kappa" or row.get(name) is not None
    ]


def part_rows(
    part: JudgePart,
    population: PopulationVotes,
    options: AgreementOptions,
    *,
    intervals: bool,
    leaves_out: bool,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Measure one part of the judges: rows of its pairs, of all of them, and how many pairs are left out.

    `population` has the judges of the part; `leaves_out`: pairs that share no document.
    """
    from store.grades.reference import pairs_together

    topics, named = population.votes.topics, list(part.pairs)
    if part.is_across:
        stacks, both = pairs_together(population, named, options.level_indices)
        labels = (EVERY_PERSON, EVERY_MODEL)
        together = pair_rows(both, [labels], topics, options, intervals=options.kind != "none")
        n_topics = int(both[0].topic_tables(0).any(axis=(1, 2)).sum())
        all_ = _across_rows([{"topics": n_topics if row["topic"] == "all" else 1, **row} for row in together])
    else:
        stacks = list(all_pair_stacks(population, options.level_indices))
        all_ = judges_rows(population, options)
    n_pairs = len(named)
    if leaves_out:
        stacks, kept = sharing_pairs(stacks)
        named = [named[number] for number in kept]
    rows = pair_rows(stacks, named, topics, options, intervals=intervals)
    of_part = {"part": part.name}
    return ([{**of_part, **row} for row in rows], [{**of_part, **row} for row in all_], n_pairs - len(named))
