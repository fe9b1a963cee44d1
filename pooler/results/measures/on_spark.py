"""Scores of runs by Spark: topics are measured where their rankings are, and put together here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pooler.reading.blocks import TopRanking
from pooler.reading.ranked import see_tag
from pooler.spark.tops import SparkTops
from store.analysis.arrays import RankedDocuments, graded_arrays, grades_by_topic
from store.analysis.measures.names import MeasureName
from store.analysis.measures.table import Scores, evaluate, joined
from store.judging.kinds import Heard
from store.records import Qrel
from store.text import natural_key

if TYPE_CHECKING:
    from pooler.results.source import Source

Reach = tuple[int, list[MeasureName]]
"""Ranks that are looked at, and the measures that look so far."""


class SparkScoring:
    """Runs that are measured on Spark; made, the judgements are read, and the runs are not."""

    def __init__(self, source: Source, master: str | None) -> None:
        self._source = source
        self._master = master
        self._files = source.run_files()
        rows, self.level = source.file_grades()
        found: dict[str, list[Qrel]] = {}
        for row in rows:
            found.setdefault(row.topic, []).append(row)
        self._qrels = {topic: found[topic] for topic in sorted(found, key=natural_key)}

    def settings(self) -> dict[str, Any]:
        """Say what is measured, as `Source.settings` does."""
        return self._source.named() | {"level": self.level, "order": self._source.order} | Heard().to_json()

    def measured(self, reaches: Sequence[Reach]) -> tuple[dict[str, Any], dict[MeasureName, Scores]]:
        """Return the axes, as `Evaluation` has them, and the scores by measure."""
        how: dict[str, Any] = {"order": self._source.order, "lenient": self._source.lenient}
        depth = max(reach for reach, _ in reaches)
        tops = SparkTops(self._files, depth, topics=self._qrels, is_measured=True, master=self._master, **how)
        tags: list[str] = []
        for head in tops.heads:
            see_tag(head.tag, tags)
        task = _Scoring(tuple(tags), tuple(reaches))
        topics = tuple(self._qrels)
        parts = [*tops.each(topics, task, self._qrels)] or [
            task.of(RankedDocuments(tuple(tags), {}, {}, {}), {})
        ]
        missing = np.array([len(self._qrels.keys() - head.topics.keys()) for head in tops.heads], np.int64)
        axes = {"runs": tuple(tags), "topics": topics, "missing": missing, "rankings": None}
        return axes, {one.measure: one for one in joined(parts)}


@dataclass(frozen=True, slots=True)
class _Scoring:
    """How a topic is measured: a task of `SparkTops.each`."""

    tags: tuple[str, ...]
    reaches: tuple[Reach, ...]

    def __call__(
        self, topic: str, tops: Sequence[tuple[int, TopRanking]], qrels: Sequence[Qrel]
    ) -> list[Scores]:
        """Return the scores of the topic, by measure."""
        ids: dict[str, int] = {}
        rankings = {
            (self.tags[place], topic): np.array(
                [ids.setdefault(one, len(ids)) for one in top.docnos], np.int64
            )
            for place, top in tops
        }
        ranked = RankedDocuments(self.tags, rankings, ids, dict(enumerate(ids)))
        return self.of(ranked, grades_by_topic(ranked, qrels))

    def of(self, ranked: RankedDocuments, grades: Any) -> list[Scores]:
        """Score rankings by all measures."""
        scores = []
        for reach, names in self.reaches:
            scores += evaluate(graded_arrays(ranked, grades, cutoff=reach), names)
        return scores
