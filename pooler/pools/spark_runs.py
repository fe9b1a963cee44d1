"""Runs whose rankings Spark holds, on as many machines as it has: a pool cannot tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pooler.pools.runs import FileRuns, TopicRuns, topic_runs
from pooler.reading.blocks import TopRanking
from pooler.spark.tops import SparkTops

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class _OfTopic(Generic[Given, Made]):
    """A task of `RunSet.each`, as a worker of Spark does it."""

    task: Callable[[TopicRuns, Given], Made]
    rows: tuple[int | None, ...]
    """By file, the place of its run in `RunSet.feeding`."""
    scores: bool

    def __call__(self, topic: str, tops: Sequence[tuple[int, TopRanking]], given: Given) -> Made:
        placed = [(row, top) for file, top in tops if (row := self.rows[file]) is not None]
        placed.sort(key=lambda item: item[0])
        return self.task(topic_runs(topic, placed, scores=self.scores), given)


class SparkRuns(FileRuns):
    """Runs read by Spark; what is said of them is here, and rankings stay there."""

    def __init__(self, tops: SparkTops) -> None:
        super().__init__(tops.heads)
        self._spark = tops
        rows = {run.tag: row for row, run in enumerate(self.feeding)}
        self._rows = tuple(rows.get(head.tag) for head in tops.heads)

    def of_topic(self, topic: str, *, scores: bool = False) -> TopicRuns:
        """Fetch the rankings of one topic."""
        task: _OfTopic[None, TopicRuns] = _OfTopic(_itself, self._rows, scores)
        return next(self._spark.each([topic], task, {topic: None}))

    def each(
        self, task: Callable[[TopicRuns, Given], Made], given: Mapping[str, Given], *, scores: bool = False
    ) -> Iterator[Made]:
        """Yield what a task makes of the rankings of each topic, topics in natural order."""
        return self._spark.each(self.topics, _OfTopic(task, self._rows, scores), given)


def _itself(of_topic: TopicRuns, _given: None) -> TopicRuns:
    return of_topic
