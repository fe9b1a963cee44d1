"""What a pool is made of: sizes, ties at the cut, overlap, what each run alone brought."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.run_set import RunSet, TopicRuns
from pooler.strategies.comb import n_constant_rankings
from pooler.top_ranking import TieAtCut
from pooler.topic_rankings import NO_DOCUMENT


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """What a pool is made of. Runs that do not contribute are not counted."""

    sizes: dict[str, int]
    """Documents to judge by topic, topics in natural order."""
    total: int
    """(topic, docno) pairs to judge."""
    ties_at_cut: list[TieAtCut]
    """Rankings in which a tie rule decided what is in, by run tag, then topic."""
    overlap: dict[int, int]
    """Pairs by the number of runs that returned them, that number ascending."""
    unique: dict[str, int]
    """Pairs that no other run returned, by run tag; every contributing run has its key."""
    n_rankings: int
    """Rankings: one for every run and each of its topics."""
    n_short: int
    """Rankings with fewer documents than the depth."""
    n_below_budget: int
    """Topics with fewer documents than their budget."""
    n_not_sampled: int
    """Pairs that stand in a stratum, but were not sampled."""
    n_constant: int
    """Rankings whose scores are all equal, where the strategy looks at scores."""


class StatisticsCount:
    """The counts of a pool while it is built; `sizes` may be read at any time."""

    def __init__(self, runs: RunSet) -> None:
        self.sizes: dict[str, int] = {}
        self._runs = runs
        self._overlap = np.zeros(len(runs.feeding) + 1, np.int64)
        self._unique = np.zeros(len(runs.feeding), np.int64)
        self._n_below_budget = 0
        self._n_not_sampled = 0
        self._n_constant = 0

    def add(
        self,
        of_topic: TopicRuns,
        chosen: NDArray[np.bool_],
        *,
        n_listed: int,
        budget: int | None,
    ) -> None:
        """Count one topic.

        Parameters
        ----------
        of_topic : TopicRuns
            Its rankings; with scores where the strategy looks at them.
        chosen : ndarray of bool, shape (n_documents,)
            What is to be judged.
        n_listed : int
            Documents listed, to be judged or not.
        budget : int or None
            Documents that should be judged; ``None`` = all.
        """
        rankings = of_topic.rankings
        if rankings.scores is not None:
            self._n_constant += n_constant_rankings(rankings)
        self._n_not_sampled += n_listed - int(chosen.sum())
        n_returning = rankings.n_returning()
        self.sizes[rankings.topic] = int(chosen.sum())
        self._overlap += np.bincount(n_returning[chosen], minlength=self._overlap.size)
        is_unique = chosen & (n_returning == 1)
        unique_places = is_unique[rankings.documents] & (rankings.documents != NO_DOCUMENT)
        self._unique[of_topic.runs] += unique_places.sum(axis=1)
        self._n_below_budget += budget is not None and rankings.n_documents < budget

    def finish(self) -> PoolStatistics:
        """Return the counts so far."""
        lengths = self._runs.lengths()
        tags = [run.tag for run in self._runs.feeding]
        return PoolStatistics(
            sizes=dict(self.sizes),
            total=sum(self.sizes.values()),
            ties_at_cut=self._runs.ties_at_cut(),
            overlap={count: pairs for count, pairs in enumerate(self._overlap.tolist()) if pairs},
            unique=dict(zip(tags, self._unique.tolist(), strict=True)),
            n_rankings=int(lengths.size),
            n_short=int((lengths < self._runs.depth).sum()),
            n_below_budget=self._n_below_budget,
            n_not_sampled=self._n_not_sampled,
            n_constant=self._n_constant,
        )
