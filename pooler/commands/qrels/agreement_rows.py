"""What agreement is measured of, and its rows: pairs, all together, a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from pooler.judge_kinds import voters_words, warn_about_voters
from pooler.messages import progress as report_progress
from pooler.messages import warn
from store.analysis.agreement.many import AllJudges, all_judges, all_judges_by_topic
from store.analysis.agreement.tables import PairStack, coefficients, pair_intervals, reasons
from store.analysis.agreement.votes import level_index
from store.errors import PoolerError, UnknownNameError
from store.grades.definition import QrelsDefinition
from store.judging.kinds import SORTS, Voters, choose_voters

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.sources.source import Opinions
    from store.analysis.agreement.intervals import Interval
    from store.analysis.agreement.votes import PopulationVotes
    from store.records import Scale


UNDEFINED = "undefined"
"""The code of an interval whose coefficient has no number: `reason` says why."""


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
                made = pair_intervals(stacks, number, resamples=options.resamples, seed=options.seed)
                for row, of_row in zip(found, made, strict=True):
                    row |= _limits(of_row)
                advance(1)
            rows += [{**named, "topic": "all", **row} for row in found]
            by_topic: dict[int, list[dict[str, Any]]] = {}
            for stack in stacks if options.by_topic else ():
                tables = stack.topic_tables(number)
                (kept,) = np.nonzero(tables.any(axis=(1, 2)))
                of_topics = _stack_rows(tables[kept], stack.level_index, options)
                for topic, row in zip(kept.tolist(), of_topics, strict=True):
                    by_topic.setdefault(topic, []).append({**named, **row, "topic": topics[topic]})
            rows += [row for of_topic in by_topic.values() for row in of_topic]
    return rows


def judges_rows(population: PopulationVotes, options: AgreementOptions) -> list[dict[str, Any]]:
    """Make the rows of all judges together: graded, then each level; then topic by topic."""
    rows: list[dict[str, Any]] = []
    indices: list[int | None] = [None, *options.level_indices]
    for index in indices:
        found = all_judges(population, index, resamples=options.resamples, seed=options.seed)
        rows += [_judges_row(one, options.level_at(index)) for one in found]
    if options.by_topic:
        for index in indices:
            for topic, found in all_judges_by_topic(population, index).items():
                rows += [{**_judges_row(one, options.level_at(index)), "topic": topic} for one in found]
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
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _judges_row(one: AllJudges, level: int | None) -> dict[str, Any]:
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
        row |= {name.removeprefix("_"): cell for name, cell in _limits({"": one.interval}).items()}
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
    cells: list[Any] = values.tolist()
    for place in np.flatnonzero(np.isnan(values)).tolist():
        cells[place] = None
    return cells


def against_rows(
    population: PopulationVotes,
    reference: str,
    others: Sequence[str],
    options: AgreementOptions,
    *,
    intervals: bool,
) -> list[dict[str, Any]]:
    """Compare judges with a reference, after all their labels thrown together.

    `intervals`: whether each judge has intervals; the row on all of them has in any case.
    """
    from store.grades.qrels import pairs_together

    topics, wanted = population.votes.topics, options.resamples > 0
    pairs: list[Pair] = [(other, reference) for other in others]
    each, together = pairs_together(population, pairs, options.level_indices)
    rows = pair_rows(together, [(ALL_LABELS, reference)], topics, options, intervals=wanted)
    return rows + pair_rows(each, pairs, topics, options, intervals=intervals)


Pair = tuple[str, str]

ALL_LABELS = "(all labels)"
"""Every label of the others, each compared with the reference; no judge's name has a blank."""


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """What is to be computed."""

    scale: Scale
    levels: tuple[int, ...]
    """Least relevant grades, by value, ascending."""
    resamples: int = 10_000
    """Of topics, for intervals; 0 = none."""
    seed: int = 1
    by_topic: bool = False

    @property
    def level_indices(self) -> list[int]:
        """The levels as indices into the scale."""
        return [level_index(self.scale, level) for level in self.levels]

    def level_at(self, index: int | None) -> int | None:
        """Return the level of an index; ``None`` = graded."""
        return None if index is None else self.scale.values[index]


def resolve_levels(scale: Scale, levels: Sequence[int | str], *, all_of_them: bool) -> tuple[int, ...]:
    """Resolve the levels; by default all of the scale, or its relaxed and rigid one."""
    if levels:
        return tuple(sorted({QrelsDefinition().level_on(scale, level) for level in levels}))
    if all_of_them:
        return scale.values[1:]
    both = [scale.relaxed, *([] if scale.rigid is None else [scale.rigid])]
    return tuple(dict.fromkeys(both))


def fetch_chosen(
    opinions: Opinions, named: Sequence[str], against: str | None
) -> tuple[PopulationVotes, Voters]:
    """Return the votes of the judges to be measured, two at least, and whose they are.

    By default the judges who count and graded are measured; with a reference they are the others.
    """
    opened, whose = opinions.grades, opinions.source.definition
    reference = [] if against is None else [against]
    kind_of = {judge.name: judge.kind for judge in opened.judges()}
    for name in dict.fromkeys([*named, *reference]):
        if name not in kind_of:
            raise UnknownNameError("judge", name, list(kind_of))
        if kind_of[name] == "adjudicator":
            warn(
                f"{name} is an adjudicator, who saw the others' opinions: agreement with {name} says"
                " little about how far judges agree"
            )
    names = named or whose.judges
    kinds = () if names else whose.kinds
    every = opened.voters(kinds=[*SORTS])
    others = [one for one in every.judges if one.name != against]
    of_files = opinions.collection is None and not kinds and not names and opened.voters().is_named
    of = [*names, *reference] if names else [one.name for one in others] if of_files else []
    voters = opened.voters(of) if names else choose_voters(others, every.graders, of=of, kinds=kinds)
    chosen = list(dict.fromkeys([*names, *reference])) if names else [*voters.voting, *reference]
    votes = opened.votes(chosen)
    judges = votes.votes.judges
    if not judges or not votes.graded.any():
        raise _nothing(opinions, names, voters)
    if len(judges) < 2:
        raise _alone(opinions, judges[0], named, names, voters)
    if not votes.n_documents and opinions.collection is None:
        message = f"no document is judged by two of the judges: {', '.join(judges)}"
        raise PoolerError(message, hint="name files of judges who had the same documents")
    warn_about_voters(voters, "are measured together", others=against is not None, is_headed=True)
    return votes, voters


def _nothing(opinions: Opinions, names: Sequence[str], voters: Voters) -> PoolerError:
    message = "there is nothing to measure: "
    if voters.kinds and voters.graders:
        message += f"no judge of kind {' or '.join(voters.kinds)} has graded a document"
    elif names and voters.graders:  # others have
        message += "none of them has graded a document"
    else:
        message += "no judge has graded a document yet"
    hint = (
        "no line of the files is a judgement"
        if opinions.collection is None
        else "pooler judge makes judgements; pooler import judgements reads them"
    )
    return PoolerError(message, hint=hint)


def _alone(
    opinions: Opinions, name: str, named: Sequence[str], names: Sequence[str], voters: Voters
) -> PoolerError:
    message = f"agreement needs two judges, but there is only `{name}`"
    hint = "name another judge, or none: then all who graded are measured"
    if names and not named:
        message = f"agreement needs two judges, but --qrels counts only `{name}`"
        hint = f"pooler qrels define both --judge {quote(name)} --judge JUDGE, then --qrels both"
    elif not names and voters.left_out:
        message += f" ({voters_words(voters)})"
        hint = "name the judges, or --qrels of several kinds, as of `qrels define NAME --kinds human,model`"
    elif not names:
        hint = (
            "let another judge grade the same documents: pooler judge --judge NAME"
            if opinions.collection is not None
            else "name another judge's file with --qrels, too; a file of several judges is read by"
            " `pooler import judgements FILE --judge-column 2`"
        )
    return PoolerError(message, hint=hint)


def pairs_of(judges: Sequence[str], reference: str | None) -> list[tuple[str, str]]:
    """Return every two judges, or each with the reference."""
    if reference is None:
        return list(combinations(judges, 2))
    return [(judge, reference) for judge in judges if judge != reference]
