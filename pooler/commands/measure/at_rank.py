"""Which values recall and precision at a rank can take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.result import Progress, Result, collect_warnings, frozen_settings
from pooler.sources.source import Measurable, source_of
from pooler.tables import REASON, TOPIC, Column, Table
from store.analysis.measures.ranked import Attainable, attainable_precision, attainable_recall


def attainable(source: Measurable, rank: int = 10, *, progress: Progress | None = None) -> AttainableValues:
    """Report which values precision and recall at a rank can take, topic by topic.

    `rank` is N, at least 1. What runs found plays no part: the judgements tell R of every topic.

    Raises
    ------
    ArgumentError
        If `rank` is below 1.

    Notes
    -----
    P@N goes from 0 to min(1, R/N) in steps of 1/N, R@N from 0 to min(1, N/R) in steps of 1/R.

    Examples
    --------
    Five relevant documents, N = 10: no run has a P@10 above a half.

    >>> qrels = {"1": {str(number): 1 for number in range(5)}}
    >>> found = attainable(({"a": {"1": {"0": 1.0}}}, qrels), 10)
    >>> found.precision.highest.tolist(), found.recall.step.tolist()
    ([0.5], [0.2])
    """
    with collect_warnings(progress) as collected:
        found = source_of(source)
        rankings = found.graded(rank)
        n_relevant = rankings.n_relevant(found.level)
    return AttainableValues(
        topics=tuple(rankings.topics),
        n_relevant=n_relevant,
        precision=attainable_precision(n_relevant, rank),
        recall=attainable_recall(n_relevant, rank),
        settings=frozen_settings(rank=rank, **found.settings()),
        warnings=collected.warnings,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AttainableValues(Result):
    """Values of P@N and R@N that can occur; table: `attainable`, a row a topic and measure."""

    topics: tuple[str, ...]
    """Axis of topics: the judged ones."""
    n_relevant: NDArray[np.int64]
    """Shape (n_topics,): R."""
    precision: Attainable
    recall: Attainable

    def _tables(self) -> Iterator[Table]:
        both, rank = (self.precision, self.recall), self.settings["rank"]
        # Of each topic P, and then R.
        highest = np.stack([one.highest for one in both], axis=1).ravel()
        step = np.stack([one.step for one in both], axis=1).ravel()
        is_missing = np.isnan(highest)
        columns = {
            TOPIC: np.repeat(self.topics, 2).tolist(),
            Column("relevant", "int", "R", "relevant documents of the topic"): np.repeat(self.n_relevant, 2),
            Column("measure"): [f"P@{rank}", f"R@{rank}"] * len(self.topics),
            Column("least", "float"): np.where(is_missing, np.nan, 0.0),
            Column("greatest", "float"): highest,
            Column("step", "float", about="what one more relevant document adds"): step,
            REASON: ["no-relevant" if missing else None for missing in is_missing],
        }
        yield Table.of_columns("attainable", columns)
