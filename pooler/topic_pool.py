"""What a plan chose for one topic."""

from __future__ import annotations

from dataclasses import dataclass

from store.records import PoolEntry


@dataclass(frozen=True, slots=True, eq=False)
class TopicPool:
    """The documents of one topic: those to judge in display order, then those not sampled."""

    topic: str
    docnos: list[str]
    priorities: list[float]
    n_to_judge: int
    strata: list[int] | None = None
    """From 1; ``None`` = the strategy does not sample."""
    inclusion: list[float] | None = None

    @property
    def to_judge(self) -> list[str]:
        """The documents to judge, in display order."""
        return self.docnos[: self.n_to_judge]

    def entries(self) -> list[PoolEntry]:
        """Return the documents as entries of a pool."""
        return [
            PoolEntry(
                self.topic,
                docno,
                position,
                self.priorities[position],
                None if self.strata is None else self.strata[position],
                None if self.inclusion is None else self.inclusion[position],
                position < self.n_to_judge,
            )
            for position, docno in enumerate(self.docnos)
        ]
