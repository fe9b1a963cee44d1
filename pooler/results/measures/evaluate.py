"""Scores of runs by any measure, and the list of measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pooler.messages import say
from pooler.results.reasons import joined
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.source import Measurable, Source, source_of
from pooler.results.table import REASON, RUN, TOPIC, Column, Table, View
from store.analysis.measures.names import (
    ALIASES,
    DCGS,
    MEASURES,
    Definition,
    MeasureName,
    Scores,
    parse_measure,
)
from store.analysis.measures.names import evaluate as score
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError, UnknownNameError


def evaluate(
    source: Measurable,
    measures: str | Sequence[str | MeasureName] = ("AP",),
    *,
    threshold: float | None = None,
    cutoff: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure runs.

    A run without a topic that has a relevant document scores 0 there, as with trec_eval -c. R
    counts every relevant document of the topic, retrieved or not. A topic without one has no AP; a
    measure that is defined without, such as P@10, is a mean over all judged topics.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        What is measured.
    measures : str or sequence of str
        Named as ir_measures does: ``"AP"``, ``"P@10"``, ``"nDCG@10"``, ``"RR(rel=2)"``; names of
        trec_eval are known.
    threshold : float, optional
        Least score of a document that counts as retrieved; default all do.
    cutoff : int, optional
        Ranks that are looked at, from 1. Default 1,000, and as many as a measure with a deeper
        cutoff of its own, as P@2000, names.

    Returns
    -------
    Evaluation
        Values by measure, run and topic, and their means.

    Raises
    ------
    UnknownNameError
        If a measure is not known.
    ArgumentError
        If a measure has parameters that it cannot have, or looks deeper than it may; if the threshold is NaN,
        or runs are not in the order of their scores.

    Notes
    -----
    O(runs topics cutoff) for each measure.

    Examples
    --------
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0}}}
    >>> found = evaluate((runs, {"1": {"x": 1, "y": 0}}), ["AP", "P@1"])
    >>> found.measures, found.mean.tolist()
    (('AP', 'P@1'), [[1.0, 0.0], [1.0, 0.0]])
    """
    measures = [measures] if isinstance(measures, str) else measures
    if not measures:
        raise ArgumentError("measures", "must name one or more", list(measures))
    if threshold is not None and np.isnan(threshold):
        raise ArgumentError("threshold", "must be a number", threshold)
    with collect_warnings(progress) as collected:
        found = source_of(source)
        if threshold is not None and found.order in ("rank", "file"):
            requirement = "needs runs in the order of their scores, not --order"
            raise ArgumentError("threshold", requirement, found.order)
        for measure in measures:
            known_measure(measure)
        names = _names(measures, found.numbered.level)  # measures need no docnos
        rankings, scores = measured(found, names, cutoff, threshold)
        missing = np.asarray((rankings.lengths == 0).sum(axis=1), dtype=np.int64)
        about = found.settings()
        found.say_pooled()
        _say_without_relevant(len(rankings.topics), scores)
    return Evaluation(
        runs=rankings.tags,
        topics=rankings.topics,
        missing=missing,
        rankings=rankings,
        scores=tuple(scores),
        settings=frozen_settings(
            measures=[str(name) for name in names], threshold=threshold, cutoff=cutoff, **about
        ),
        warnings=collected.warnings,
    )


def _names(measures: Sequence[str | MeasureName], level: int) -> list[MeasureName]:
    return list(dict.fromkeys(known_measure(measure, level=level) for measure in measures))


def known_measure(measure: str | MeasureName, *, level: int = 1) -> MeasureName:
    """Read a measure's name as `parse_measure` does, and say where an unknown one is looked up."""
    try:
        return measure if isinstance(measure, MeasureName) else parse_measure(str(measure), level=level)
    except UnknownNameError as error:
        error.hint = error.hint or "pooler show measures"
        raise


def measured(
    source: Source, names: Sequence[MeasureName], cutoff: int | None, threshold: float | None = None
) -> tuple[GradedRankings, list[Scores]]:
    """Score runs by measures, each named once; see `evaluate` of `cutoff` and `threshold`."""
    (look, plain), *deeper = reaches(names, cutoff)
    rankings = _retrieved(source, look, threshold)
    scores = dict(zip(plain, score(rankings, plain), strict=True))
    for deep, those in deeper:
        scores |= dict(zip(those, score(_retrieved(source, deep, threshold), those), strict=True))
    return rankings, [scores[name] for name in names]


def _retrieved(source: Source, cutoff: int, threshold: float | None) -> GradedRankings:
    """Return rankings beside grades, without the documents whose score is below a threshold."""
    rankings = source.graded(cutoff)
    if threshold is None:
        return rankings
    is_in = list_scores(source, rankings, cutoff) >= threshold  # NaN is not
    return replace(
        rankings,
        grades=np.where(is_in, rankings.grades, 0),
        judged=rankings.judged & is_in,
        lengths=np.count_nonzero(is_in, axis=-1),
        open=None if rankings.open is None else rankings.open & is_in,
    )


def list_scores(source: Source, rankings: GradedRankings, cutoff: int) -> NDArray[np.float64]:
    """Return scores by rank, as grades in shape (n_runs, n_topics, width); NaN below the end of a list."""
    runs = source.tops(cutoff, scores=True, tags=rankings.tags)
    places = [rankings.tags.index(run.tag) for run in runs.feeding]
    found = np.full(rankings.grades.shape, np.nan)
    for column, topic in enumerate(rankings.topics):
        if topic not in runs.topics:
            continue
        of_topic = runs.of_topic(topic, scores=True)
        scores = of_topic.rankings.scores
        assert scores is not None  # they were asked for
        for row, run in enumerate(of_topic.runs):
            length = int(rankings.lengths[places[run], column])
            found[places[run], column, :length] = scores[row, :length]
    return found


def reaches(names: Sequence[MeasureName], cutoff: int | None) -> list[tuple[int, list[MeasureName]]]:
    """Return the ranks that are looked at, and which measures look so far: all, or some that look deeper."""
    look = 1000 if cutoff is None else cutoff
    deep = [name for name in names if cutoff is None and (name.cutoff or 0) > look]
    found = [(look, [name for name in names if name not in deep])]
    return [*found, (max(name.cutoff or 0 for name in deep), deep)] if deep else found


def _say_without_relevant(n_topics: int, scores: Sequence[Scores]) -> None:
    """Say how many topics are undefined, and for which measures."""
    without: dict[int, list[str]] = {}
    for one in scores:
        count = int(one.lacks_relevant.sum())
        without.setdefault(count, []).append(str(one.measure))
    for count, names in without.items():
        if count:
            listed = ", ".join(names)
            say(f"{count:,} of {n_topics:,} judged topics have no relevant document, so no {listed}")


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Evaluation(Result):
    """Scores of runs.

    Tables: `measures`, a row a run and measure; `topics`, a row a run, topic and measure, the mean
    as topic `all`.
    """

    runs: tuple[str, ...]
    """Axis of runs."""
    topics: tuple[str, ...]
    """Axis of topics: the judged ones."""
    missing: NDArray[np.int64]
    """Shape (n_runs,): judged topics for which the run has no document."""
    rankings: GradedRankings
    """Rankings beside grades."""
    scores: tuple[Scores, ...]
    """By measure."""

    NAMES: ClassVar[tuple[str, ...]] = ("measures", "topics")

    @property
    def measures(self) -> tuple[str, ...]:
        """Axis of measures."""
        return tuple(str(one.measure) for one in self.scores)

    @property
    def values(self) -> NDArray[np.float64]:
        """Shape (n_measures, n_runs, n_topics); NaN = undefined, see `reasons`."""
        return np.stack([one.values for one in self.scores])

    @property
    def mean(self) -> NDArray[np.float64]:
        """Shape (n_measures, n_runs): over the defined topics; of counts their sum. NaN = none is."""
        return np.stack([one.overall for one in self.scores])

    @property
    def n_topics(self) -> NDArray[np.int64]:
        """Shape (n_measures, n_runs): topics that `mean` is over."""
        return np.stack([one.n_defined for one in self.scores])

    @property
    def reasons(self) -> tuple[tuple[tuple[str | None, ...], ...], ...]:
        """Why a value is NaN, as `values` by measure, run and topic; ``None`` = it is not."""
        return tuple(
            tuple(
                tuple(one.reason(run, topic) for topic in range(len(self.topics)))
                for run in range(len(self.runs))
            )
            for one in self.scores
        )

    def _table(self, name: str) -> Table:
        by_topic = name == "topics"
        columns = [
            RUN,
            *([TOPIC] if by_topic else []),
            Column("measure"),
            Column("value", "float"),
            REASON,
            Column("topics", "int", about="topics of the mean"),
            Column("missing", "int", about="judged topics where the run has no document"),
        ]
        missing = self.missing.tolist()
        rows: list[dict[str, Any]] = []
        for index, tag in enumerate(self.runs):
            if by_topic:
                for place, topic in enumerate(self.topics):
                    for one in self.scores:
                        value = _number(one, float(one.values[index, place]))
                        row = {"run": tag, "topic": topic, "measure": str(one.measure), "value": value}
                        rows.append(row | {"reason": one.reason(index, place)})
            for one in self.scores:
                count = int(one.n_defined[index])
                value = _number(one, float(one.overall[index])) if count else None
                row = {"run": tag, "topic": "all", "measure": str(one.measure), "value": value}
                row |= {"reason": None if count else one.reason(index, 0), "topics": count}
                rows.append(row | {"missing": missing[index]})
        return Table.of_rows(name, columns, rows)

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        if len(self.scores) > 1:
            table = self._wide(table, by_topic=name == "topics")
            by = self.measures[0]
        else:
            by = "value"
        return [View(table, rows=None if name == "topics" else table.order(by, descending=True))]

    def _wide(self, table: Table, *, by_topic: bool) -> Table:
        columns = [RUN, *([TOPIC] if by_topic else [])]
        columns += [Column(name, "float") for name in self.measures] + [REASON]
        step = len(self.scores)
        reasons: list[Any] = table.cells("reason")
        values = table.cells("value")
        data: dict[str, list[Any]] = {
            column.name: table.cells(column.name)[::step] for column in columns[: 1 + by_topic]
        }
        data |= {name: values[place::step] for place, name in enumerate(self.measures)}
        data["reason"] = [joined(reasons[first : first + step]) for first in range(0, len(table), step)]
        missing = int(self.missing.max(initial=0))
        note = f"A run lacks up to {missing} of the judged topics and scores 0 there." if missing else ""
        return Table(table.name, columns, data, notes=[note])


def _number(scores: Scores, value: float) -> float | int | None:
    """Return a count as a whole number, anything else as it is."""
    return int(value) if scores.is_sum and value == value else value


def list_measures() -> MeasureList:
    """List the measures, what they can be told, and what else they are called.

    Examples
    --------
    >>> list_measures().table("measures").to_records()[0]["measure"]
    'AP[@N]'
    """
    return MeasureList(settings=frozen_settings())


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MeasureList(Result):
    """The measures there are; table: `measures`."""

    NAMES: ClassVar[tuple[str, ...]] = ("measures",)

    def _table(self, name: str) -> Table:
        others: dict[str, list[str]] = {}
        for alias, known in ALIASES.items():
            others.setdefault(known, []).append(alias)
        columns = {
            Column("measure"): [known + _at(measure) for known, measure in MEASURES.items()],
            Column("parameters", "texts"): [
                [f"{parameter}=" for parameter in measure.parameters] for measure in MEASURES.values()
            ],
            Column("also", "texts"): [others.get(known, []) for known in MEASURES],
            Column("summary"): [measure.summary for measure in MEASURES.values()],
        }
        notes = [
            "@N: ranks that count; in brackets where optional. (rel=N): least relevant grade, instead of"
            f" the level. dcg: {', '.join(DCGS)} (the first two as ir_measures; the others of the original"
            " article, which it lacks).",
            "docs: size of the collection. beta: how much more recall counts than precision; in Q, how"
            " much gains count.",
            "Upper and lower case make no difference. Names of trec_eval are known: map, P_5,"
            " ndcg_cut_10, ...",
        ]
        return Table.of_columns(name, columns, notes=notes)

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        return [View(table, limit=len(table))]


def _at(measure: Definition) -> str:
    if measure.at is None:
        return ""
    at = "@RECALL" if measure.at == "recall" else "@N"
    return at if measure.is_at_required else f"[{at}]"
