"""How many documents stand where, as plain values that a test can compare."""

from __future__ import annotations

from dataclasses import dataclass, field

from store.collection import Collection


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one judge, for one topic or all."""

    pooled: int = 0
    judged: int = 0
    skipped: int = 0
    cannot: int = 0
    outside: int = 0
    by_grade: dict[int, int] = field(default_factory=dict)

    @property
    def unjudged(self) -> int:
        """What is left of the pool."""
        return self.pooled - self.judged - self.skipped - self.cannot


def state_counts(collection: Collection) -> dict[tuple[str, str], Counts]:
    """Return the counts of every topic and judge; under the empty topic those of all topics."""
    progress = collection.progress.counts()
    found: dict[tuple[str, str], Counts] = {}
    for counts in (progress.by_topic(), progress.by_judge()):
        topics = counts.topics.tolist() if counts.topics.size else [-1] * len(counts.judges)
        numbers = (counts.pooled, counts.judged, counts.skipped, counts.cannot, counts.outside)
        columns = [column.tolist() for column in (*numbers, counts.by_grade, counts.unjudged)]
        for topic, judge, *cells, grades, unjudged in zip(
            topics, counts.judges.tolist(), *columns, strict=True
        ):
            one = Counts(*cells, dict(zip(collection.scale.values, grades, strict=True)))
            assert one.unjudged == unjudged
            found["" if topic < 0 else progress.topics[topic], progress.judges[judge]] = one
    return found


def by_topic(collection: Collection) -> dict[tuple[str, str], Counts]:
    """Return the counts of every topic and judge."""
    return {pair: counts for pair, counts in state_counts(collection).items() if pair[0]}
