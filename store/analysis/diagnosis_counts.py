"""What a diagnosis counts: judged documents by rank and by topic, runs by document, close runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.judged_rankings import NOT_RELEVANT, RELEVANT, UNJUDGED, JudgedRankings
from store.analysis.provenance import NO_DOCUMENT, n_contributing
from store.errors import ArgumentError


@dataclass(frozen=True, slots=True, eq=False)
class RankCounts:
    """What the runs have at each rank, over all runs and topics; arrays of shape (width,)."""

    documents: NDArray[np.int64]
    """Lists that reach the rank."""
    judged: NDArray[np.int64]
    """Of them, those with a judged document there."""

    @property
    def unjudged(self) -> NDArray[np.int64]:
        """Of them, those with an unjudged one."""
        return self.documents - self.judged

    def judged_down_to(self, share: float) -> tuple[int, int, int] | None:
        """Find the lowest rank down to which a share of all documents is judged.

        Parameters
        ----------
        share : float
            In (0, 1].

        Returns
        -------
        (int, int, int) or None
            The rank; the documents down to it, and the judged ones. ``None`` = there is no such
            rank.
        """
        documents, judged = np.cumsum(self.documents), np.cumsum(self.judged)
        reached = np.flatnonzero(judged >= share * documents)
        if not reached.size:
            return None
        last = int(reached[-1])
        return last + 1, int(documents[last]), int(judged[last])

    def unjudged_share(self) -> NDArray[np.float64]:
        """Return the share of unjudged documents at each rank; NaN where no list reaches it."""
        undefined = np.full(self.documents.shape, np.nan)
        return np.asarray(
            np.divide(self.unjudged, self.documents, out=undefined, where=self.documents > 0)
        )


def rank_counts(rankings: JudgedRankings) -> RankCounts:
    """Count documents and judged documents at each rank.

    Parameters
    ----------
    rankings : JudgedRankings
        Runs and judgements.

    Returns
    -------
    RankCounts
        For every rank that some list reaches.

    Notes
    -----
    O(size of the rankings).

    Examples
    --------
    >>> from store.analysis.judged_rankings import judged_rankings
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["a", "b"],
    ...     {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([2])},
    ...     {"t": (np.array([2]), np.array([True]))},
    ...     cutoff=10,
    ... )
    >>> counts = rank_counts(arrays)
    >>> counts.documents.tolist(), counts.judged.tolist(), counts.unjudged_share().tolist()
    ([2, 1], [1, 1], [0.5, 0.0])
    """
    width = rankings.documents.shape[-1]
    # A list of length n reaches the ranks 1..n.
    ends = np.bincount(rankings.lengths.reshape(-1), minlength=width + 1)
    documents = np.cumsum(ends[::-1])[::-1][1 : width + 1]
    judged = np.zeros(width, np.int64)
    for topic in range(len(rankings.topics)):
        is_judged = rankings.standing_by_rank(topic) >= NOT_RELEVANT
        judged += np.count_nonzero(is_judged, axis=0)
    return RankCounts(np.asarray(documents, np.int64), judged)


@dataclass(frozen=True, slots=True, eq=False)
class TopicCounts:
    """Documents of each topic; arrays of shape (n_topics,)."""

    judged: NDArray[np.int64]
    """All judged documents, retrieved or not."""
    relevant: NDArray[np.int64]
    """All relevant ones."""
    pooled: NDArray[np.int64]
    """Documents of the pool."""
    pool_judged: NDArray[np.int64]
    pool_relevant: NDArray[np.int64]

    @property
    def pool_not_relevant(self) -> NDArray[np.int64]:
        """Documents of the pool that were judged and are not relevant."""
        return self.pool_judged - self.pool_relevant

    @property
    def pool_unjudged(self) -> NDArray[np.int64]:
        """Documents of the pool that nobody judged."""
        return self.pooled - self.pool_judged

    @property
    def outside(self) -> NDArray[np.int64]:
        """Judged documents that are not in the pool."""
        return self.judged - self.pool_judged


def topic_counts(rankings: JudgedRankings, pooled: NDArray[np.bool_] | None = None) -> TopicCounts:
    """Count what is judged of each topic, and of its pool.

    Parameters
    ----------
    rankings : JudgedRankings
        Runs and judgements.
    pooled : ndarray of bool, shape (n_runs, n_topics, width), optional
        Which ranks brought their document to the pool; `contributions.within_depth` for a depth
        pool. Default: the pool is empty.

    Returns
    -------
    TopicCounts

    Raises
    ------
    ArgumentError
        If `pooled` has another shape.

    Notes
    -----
    O(size of the rankings).

    Examples
    --------
    Depth 1 holds document 1 alone, which is judged; 2 is judged, too, and relevant:

    >>> from store.analysis.contributions import within_depth
    >>> from store.analysis.judged_rankings import judged_rankings
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["a"],
    ...     {("a", "t"): np.array([1, 2])},
    ...     {"t": (np.array([1, 2]), np.array([False, True]))},
    ...     cutoff=10,
    ... )
    >>> counts = topic_counts(arrays, within_depth(arrays, 1))
    >>> counts.judged.tolist(), counts.relevant.tolist(), counts.pooled.tolist()
    ([2], [1], [1])
    >>> counts.pool_relevant.tolist(), counts.pool_unjudged.tolist(), counts.outside.tolist()
    ([0], [0], [1])
    """
    if pooled is not None:
        _check_shape(pooled, rankings)
    counts = np.zeros((4, len(rankings.topics)), np.int64)
    for topic, standing in enumerate(rankings.standing):
        counts[0, topic] = np.count_nonzero(standing >= NOT_RELEVANT)
        if pooled is not None:
            there = np.zeros(standing.size, np.bool_)
            there[rankings.documents[:, topic][pooled[:, topic]]] = True
            for row, least in ((1, UNJUDGED), (2, NOT_RELEVANT), (3, RELEVANT)):
                counts[row, topic] = np.count_nonzero(there & (standing >= least))
    return TopicCounts(
        judged=counts[0],
        relevant=rankings.n_relevant,
        pooled=counts[1],
        pool_judged=counts[2],
        pool_relevant=counts[3],
    )


@dataclass(frozen=True, slots=True, eq=False)
class BroughtBy:
    """Documents of a pool by how many runs brought them; arrays of shape (n_runs + 1,).

    Place `n` counts the documents that `n` runs brought, so that the first is 0.
    """

    documents: NDArray[np.int64]
    judged: NDArray[np.int64]
    relevant: NDArray[np.int64]


def brought_by(rankings: JudgedRankings, pooled: NDArray[np.bool_]) -> BroughtBy:
    """Count the documents of a pool by how many runs brought them.

    Parameters
    ----------
    rankings : JudgedRankings
        Runs and judgements.
    pooled : ndarray of bool, shape (n_runs, n_topics, width)
        Which ranks brought their document to the pool; `contributions.within_depth`.

    Returns
    -------
    BroughtBy

    Raises
    ------
    ArgumentError
        If `pooled` has another shape.

    Notes
    -----
    O(size of the rankings).

    Examples
    --------
    Depth 1: both runs brought document 1, and 2 is in no pool.

    >>> from store.analysis.judged_rankings import judged_rankings
    >>> from store.analysis.contributions import within_depth
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["a", "b"],
    ...     {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([1])},
    ...     {"t": (np.array([1]), np.array([True]))},
    ...     cutoff=10,
    ... )
    >>> brought_by(arrays, within_depth(arrays, 1)).relevant.tolist()
    [0, 0, 1]
    """
    _check_shape(pooled, rankings)
    n_runs = len(rankings.tags)
    counts = np.zeros((3, n_runs + 1), np.int64)
    for topic, standing in enumerate(rankings.standing):
        documents = np.where(pooled[:, topic], rankings.documents[:, topic], NO_DOCUMENT)
        runs = n_contributing(documents, standing.size)
        for row, of_kind in enumerate(
            (standing >= UNJUDGED, standing >= NOT_RELEVANT, standing == RELEVANT)
        ):
            counts[row] += np.bincount(runs[(runs > 0) & of_kind], minlength=n_runs + 1)
    return BroughtBy(counts[0], counts[1], counts[2])


def held_by_pool(rankings: JudgedRankings, pooled: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tell which ranks of any run hold a document of the pool.

    Parameters
    ----------
    rankings : JudgedRankings
        Runs, whether they fed the pool or not.
    pooled : ndarray of bool, shape (n_runs, n_topics, width)
        Which ranks brought their document to the pool; `contributions.within_depth`.

    Returns
    -------
    ndarray of bool, shape (n_runs, n_topics, width)
        False below the end of a list.

    Raises
    ------
    ArgumentError
        If `pooled` has another shape.

    Notes
    -----
    O(size of the rankings).

    Examples
    --------
    The pool is the first document of `a`, which `b` has second:

    >>> from store.analysis.judged_rankings import judged_rankings
    >>> from store.analysis.contributions import within_depth
    >>> arrays = judged_rankings(
    ...     ["t"],
    ...     ["a", "b"],
    ...     {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([3, 1])},
    ...     {"t": (np.array([1]), np.array([True]))},
    ...     cutoff=10,
    ... )
    >>> held_by_pool(arrays, within_depth(arrays, 1, np.array([True, False]))).tolist()
    [[[True, False]], [[False, True]]]
    """
    _check_shape(pooled, rankings)
    held = np.zeros(rankings.documents.shape, np.bool_)
    for topic, standing in enumerate(rankings.standing):
        # The padding code -1 picks the last element, which stays False.
        table = np.zeros(standing.size + 1, np.bool_)
        table[rankings.documents[:, topic][pooled[:, topic]]] = True
        held[:, topic] = table[rankings.documents[:, topic]]
    return held


@dataclass(frozen=True, slots=True)
class Overlap:
    """Runs next to each other by their scores, and whether unjudged documents could swap them."""

    n_pairs: int
    """Neighbours: one less than the runs with a score."""
    n_overlapping: int
    """Of them, those of which the upper limit of the lower run is not below the lower limit of the
    higher one."""
    n_settled: int
    """Pairs of all runs, neighbours or not, whose limits do not overlap."""
    n_all_pairs: int


def overlaps(
    lower: NDArray[np.float64], scores: NDArray[np.float64], upper: NDArray[np.float64]
) -> Overlap:
    """Count runs whose limits overlap.

    Parameters
    ----------
    lower, scores, upper : ndarray of float64, shape (n_runs,)
        Of each run; NaN = without a score, and left out.

    Returns
    -------
    Overlap
        Of equal scores the run that is first in the arrays comes first.

    Notes
    -----
    Limits that overlap do not say that the runs may swap: documents that both have count for both.
    Limits that do not overlap say that they cannot. O(n_runs**2).

    Examples
    --------
    >>> low, high = np.array([0.5, 0.3, 0.1]), np.array([0.7, 0.55, 0.2])
    >>> overlaps(low, (low + high) / 2, high)
    Overlap(n_pairs=2, n_overlapping=1, n_settled=2, n_all_pairs=3)
    """
    known = ~np.isnan(scores)
    order = np.argsort(-scores[known], kind="stable")
    low, high = lower[known][order], upper[known][order]
    n = order.size
    meets = np.triu(high[None, :] >= low[:, None], 1)
    n_all = n * (n - 1) // 2
    return Overlap(
        n_pairs=max(n - 1, 0),
        n_overlapping=int(np.count_nonzero(high[1:] >= low[:-1])),
        n_settled=n_all - int(np.count_nonzero(meets)),
        n_all_pairs=n_all,
    )


def _check_shape(pooled: NDArray[np.bool_], rankings: JudgedRankings) -> None:
    """Raise `ArgumentError` unless there is one flag for each rank."""
    if pooled.shape != rankings.documents.shape:
        requirement = f"must have shape {rankings.documents.shape}"
        raise ArgumentError("pooled", requirement, pooled.shape)
