"""Scores of runs by any measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Measured, Option, command
from pooler.messages import say
from pooler.results.measured import known_measure, measured
from pooler.results.reasons import joined
from pooler.results.result import Result, frozen_settings
from pooler.results.table import REASON, RUN, TOPIC, Column, Table, View
from store.analysis.measures.table import MeasureName, Scores
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError


@command
def evaluate(
    source: Measured,
    measures: Annotated[Sequence[str | MeasureName], Option("--measure -m MEASURE", default="AP")] = ("AP",),
    *,
    threshold: Annotated[float | None, Option("--threshold SCORE", default="none")] = None,
    cutoff: Cutoff = None,
) -> Evaluation:
    """Score runs. Means are over the judged topics that have a relevant document.

    A run without documents for one of those topics scores 0 there, as with trec_eval -c. R counts every
    relevant document of the topic, retrieved or not. AP does not exist for a topic without a relevant
    document; a measure that does, such as P@10, is a mean over all judged topics. A table has one
    column per measure; --format json and tsv have one row.

    Example: pooler evaluate -m AP -m P@10 -m nDCG@10 --judge alice

    Example: pooler evaluate --qrels judgements/strict.qrels runs/bm25-words.run --by-topic

    measures : AP, P@10, nDCG@10, RR(rel=2), ..., named as in ir_measures; may be repeated.
    threshold : Least score of a document that counts as retrieved.

    Raises
    ------
    UnknownNameError
        If a measure is not known.
    ArgumentError
        If a measure has parameters that it cannot have, or looks deeper than it may; if the threshold is NaN,
        or runs are not in the order of their scores.

    Notes
    -----
    Names of trec_eval are known, too. O(runs topics cutoff) for each measure.

    Examples
    --------
    >>> from pooler import evaluate
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0}}}
    >>> found = evaluate((runs, {"1": {"x": 1, "y": 0}}), ["AP", "P@1"])
    >>> found.measures, found.mean.tolist()
    (('AP', 'P@1'), [[1.0, 0.0], [1.0, 0.0]])
    """
    listed = [measures] if isinstance(measures, str) else measures
    if not listed:
        raise ArgumentError("measures", "must name one or more", list(measures))
    if threshold is not None and np.isnan(threshold):
        raise ArgumentError("threshold", "must be a number", threshold)
    if threshold is not None and source.order in ("rank", "file"):
        requirement = "needs runs in the order of their scores, not --order"
        raise ArgumentError("threshold", requirement, source.order)
    for measure in listed:
        known_measure(measure)
    level = source.numbered.level  # measures need no docnos
    names = [*dict.fromkeys(known_measure(measure, level=level) for measure in listed)]
    rankings, scores = measured(source, names, cutoff, threshold)
    source.say_pooled()
    _say_without_relevant(len(rankings.topics), scores)
    return Evaluation(
        runs=rankings.tags,
        topics=rankings.topics,
        missing=np.asarray((rankings.lengths == 0).sum(axis=1), dtype=np.int64),
        rankings=rankings,
        scores=tuple(scores),
        settings=frozen_settings(measures=[str(name) for name in names], **source.settings()),
    )


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
    as topic `all`. People see a column a measure.
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

    HAS_TOPICS = True

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

    def _tables(self) -> Iterator[Table]:
        for name in ("measures", "topics"):
            table = self._long(by_topic=name == "topics")
            wide = table if len(self.scores) == 1 else self._wide(table)
            best_first = wide.order("value" if wide is table else self.measures[0], descending=True)
            yield table.seen_as(View(wide, rows=None if name == "topics" else best_first))

    def _long(self, *, by_topic: bool) -> Table:
        """Make a row a run and measure, and topic."""
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
            for place, topic in enumerate(self.topics) if by_topic else ():
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
        return Table.of_rows("topics" if by_topic else "measures", columns, rows)

    def _wide(self, table: Table) -> Table:
        """Set the measures of a run, or a run and topic, side by side."""
        first = [one for one in table.columns if one in (RUN, TOPIC)]
        columns = [*first, *(Column(name, "float") for name in self.measures), REASON]
        step = len(self.scores)
        reasons: list[Any] = table.cells("reason")
        values = table.cells("value")
        data: dict[str, list[Any]] = {column.name: table.cells(column.name)[::step] for column in first}
        data |= {name: values[place::step] for place, name in enumerate(self.measures)}
        data["reason"] = [joined(reasons[row : row + step]) for row in range(0, len(table), step)]
        missing = int(self.missing.max(initial=0))
        note = f"A run lacks up to {missing} of the judged topics and scores 0 there." if missing else ""
        return Table(table.name, columns, data, notes=[note])


def _number(scores: Scores, value: float) -> float | int | None:
    """Return a count as a whole number, anything else as it is."""
    return int(value) if scores.is_sum and value == value else value
