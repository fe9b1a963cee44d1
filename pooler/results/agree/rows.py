"""Rows of agreement: pairs of judges, all judges together, judges against a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pooler.results.agree.settings import ALL_LABELS
from pooler.results.table import TOPIC, Column
from pooler.telling import progress as telling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.results.agree.settings import AgreementOptions, Pair
    from store.analysis.agreement.intervals import Interval
    from store.analysis.agreement.many import AllJudges
    from store.analysis.agreement.populations import PopulationVotes
    from store.analysis.agreement.tables import PairStack
    from store.grades.policy import Policy

FIRST, SECOND = Column("first"), Column("second")
PART = Column("part", about="who is measured: people, models, or each person with each model")
UNDEFINED = "undefined"
"""The code of an interval whose coefficient has no number: `reason` says why."""


def pair_columns(*, by_topic: bool, in_parts: bool = False) -> list[Column]:
    """Name the columns of pairs."""
    names = ["raw", "kappa", "kappa_low", "kappa_high", "kappa_se", "band", "linear"]
    names += ["quadratic", "quadratic_low", "quadratic_high", "quadratic_se", "pi", "s"]
    names += ["ac1", "ac2", "alpha_ordinal", "alpha_nominal", "alpha_interval"]
    names += ["positive", "overlap", "macro_overlap", "macro_overlap_low", "macro_overlap_high"]
    return [
        *([PART] if in_parts else []),
        FIRST,
        SECOND,
        *([TOPIC] if by_topic else []),
        Column("level", "int"),
        Column("n", "int"),
        *(Column(name, "text" if name == "band" else "float", digits=3) for name in names),
        Column("macro_topics", "int"),
        Column("first_marginals", "ints"),
        Column("second_marginals", "ints"),
        Column("reason"),
        Column("interval_reason"),
    ]


def pair_rows(
    stacks: Sequence[PairStack],
    pairs: Sequence[Pair],
    topics: Sequence[str],
    options: AgreementOptions,
    *,
    intervals: bool,
) -> list[dict[str, Any]]:
    """Make the rows of pairs: graded, then each level, then topic by topic."""
    from store.analysis.agreement.tables import pair_intervals

    of_stacks = [_stack_rows(stack.tables, stack.level_index, options, stack.overlaps) for stack in stacks]
    rows: list[dict[str, Any]] = []
    with telling("intervals", len(pairs) if intervals else 0) as advance:
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
    from store.analysis.agreement.many import all_judges, all_judges_by_topic

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
    """Make one row a table."""
    from store.analysis.agreement.kappa import band
    from store.analysis.agreement.tables import coefficients, reasons

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
    """Make the rows of one pair for every topic with common documents."""
    by_topic: dict[str, list[dict[str, Any]]] = {}
    for stack in stacks:
        tables = stack.topic_tables(number)
        (kept,) = np.nonzero(tables.any(axis=(1, 2)))
        found = _stack_rows(tables[kept], stack.level_index, options)
        for topic, row in zip(kept.tolist(), found, strict=True):
            by_topic.setdefault(topics[topic], []).append({**row, "topic": topics[topic]})
    return [row for rows in by_topic.values() for row in rows]


def _judges_row(one: AllJudges, level: int | None, options: AgreementOptions) -> dict[str, Any]:
    """Turn one coefficient of all judges into a row."""
    from store.analysis.agreement.kappa import band

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
    """Turn intervals into cells; the reasons for missing ones stand together."""
    cells: dict[str, Any] = {}
    for name, interval in intervals.items():
        cells |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    codes = (interval.reason for interval in intervals.values())
    told = dict.fromkeys(str(code) for code in codes if code and code != UNDEFINED)
    cells["interval_reason"] = ", ".join(told) or None
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
    policy: Policy | None,
    *,
    intervals: bool,
) -> list[dict[str, Any]]:
    """Compare judges with a reference, then all their labels thrown together.

    Then their aggregate, where there is a policy.

    `intervals`: whether each judge has intervals; the rows on all of them have in any case.
    """
    from store.grades.reference import aggregate_against, pairs_together

    topics, wanted = population.votes.topics, options.kind != "none"
    each, together = pairs_together(
        population, [(other, reference) for other in others], options.level_indices
    )
    rows = pair_rows(together, [(ALL_LABELS, reference)], topics, options, intervals=wanted)
    if policy is not None:
        stacks = aggregate_against(population, reference, others, options.scale, options.levels, policy)
        named: list[Pair] = [(aggregate_name(policy), reference)]
        rows += pair_rows(stacks, named, topics, options, intervals=wanted)
    pairs: list[Pair] = [(other, reference) for other in others]
    rows += pair_rows(each, pairs, topics, options, intervals=intervals)
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
