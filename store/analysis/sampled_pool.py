"""A pool of which only a sample was judged, and where its documents stand in the rankings.

Four things that a plain qrels file runs together stay apart: a document is not in the pool at all,
in the pool and not sampled, sampled and without a grade, or sampled and graded. A sample is
described by strata (see `store.analysis.stratified_scores`), by how likely each document was to be
chosen (see `store.analysis.statap`), or by both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.judged_rankings import NOT_RETRIEVED, judged_rankings
from store.errors import ArgumentError

NOT_POOLED = -1
"""Place of a rank that holds a document outside the pool; `NOT_RETRIEVED` = the rank is empty."""
NOT_SAMPLED = -1
"""Standing of a document that is in the pool and was not chosen for judging."""
UNGRADED = 0
"""Standing of a document that was chosen and has no grade: not judged yet, or cannot be."""
GRADED = 1


@dataclass(frozen=True, slots=True, eq=False)
class SampledPool:
    """The sampled pool of one topic; build it with `sampled_pool`.

    All arrays have shape (n_documents,).
    """

    documents: NDArray[np.int64]
    """Ids, ascending, each once."""
    standing: NDArray[np.int8]
    """`NOT_SAMPLED`, `UNGRADED` or `GRADED`."""
    grades: NDArray[np.int64]
    """0 where the standing is not `GRADED`."""
    strata: NDArray[np.int64] | None
    """Number of each document's stratum, any integer; ``None`` = not known."""
    inclusion: NDArray[np.float64] | None
    """Of being chosen, in (0, 1], or 0 or NaN (not known) for documents that were not; ``None`` =
    not known for any."""

    @property
    def graded(self) -> NDArray[np.bool_]:
        """Shape (n_documents,): which documents have a grade."""
        return np.asarray(self.standing == GRADED)

    def relevant(self, level: int) -> NDArray[np.bool_]:
        """Shape (n_documents,): which documents are graded at least `level`."""
        return self.graded & (self.grades >= level)


def sampled_pool(
    documents: ArrayLike,
    standing: ArrayLike,
    grades: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    inclusion: ArrayLike | None = None,
) -> SampledPool:
    """Make the sampled pool of one topic.

    Parameters
    ----------
    documents : array_like of int, shape (n_documents,)
        Ids, each once, in any order. With strata all pooled documents belong here; for statAP the
        sampled ones are enough.
    standing : array_like of int, shape (n_documents,)
        `NOT_SAMPLED`, `UNGRADED` or `GRADED`.
    grades : array_like of int, shape (n_documents,)
        Looked at where the standing is `GRADED`; any integer, a negative one is a grade like
        another.
    strata : array_like of int, shape (n_documents,), optional
        Strata, by number.
    inclusion : array_like of float, shape (n_documents,), optional
        Probability of being chosen, in (0, 1]; may be 0 or NaN where the document was not chosen.

    Raises
    ------
    ArgumentError
        If lengths differ, a document stands twice, a standing is another number, or a probability
        cannot be.

    Notes
    -----
    O(n log n) for n documents.

    Examples
    --------
    Of three pooled documents one was not sampled and one still waits for its judge:

    >>> pool = sampled_pool([7, 5, 6], [GRADED, NOT_SAMPLED, UNGRADED], [2, 9, 9], strata=[1, 2, 2])
    >>> pool.documents.tolist(), pool.grades.tolist(), pool.strata.tolist()
    ([5, 6, 7], [0, 0, 2], [2, 2, 1])
    >>> pool.relevant(1).tolist()
    [False, False, True]
    """
    ids = _vector("documents", documents, None)
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    if (ids[1:] == ids[:-1]).any():
        repeated = int(ids[1:][ids[1:] == ids[:-1]][0])
        raise ArgumentError("documents", "must hold each document once", repeated)
    states = _vector("standing", standing, ids.size)[order]
    if not np.isin(states, (NOT_SAMPLED, UNGRADED, GRADED)).all():
        requirement = f"must be {NOT_SAMPLED}, {UNGRADED} or {GRADED}"
        raise ArgumentError("standing", requirement, np.unique(states).tolist())
    of_grades = _vector("grades", grades, ids.size)[order]
    of_strata = None if strata is None else _vector("strata", strata, ids.size)[order]
    chances = None
    if inclusion is not None:
        chances = np.asarray(inclusion, dtype=np.float64)
        if chances.shape != ids.shape:
            raise ArgumentError("inclusion", f"must have shape {ids.shape}", chances.shape)
        chances = chances[order]
        is_idle = (states == NOT_SAMPLED) & (np.isnan(chances) | (chances == 0))
        is_known = is_idle | ((chances > 0) & (chances <= 1))
        if not is_known.all():
            requirement = "must be above 0 and at most 1 for documents that were sampled"
            raise ArgumentError("inclusion", requirement, float(chances[~is_known][0]))
    return SampledPool(
        documents=ids,
        standing=states.astype(np.int8),
        grades=np.where(states == GRADED, of_grades, 0),
        strata=of_strata,
        inclusion=chances,
    )


@dataclass(frozen=True, slots=True, eq=False)
class SampledRankings:
    """Runs and sampled pools over the evaluation topics; build it with `sampled_rankings`."""

    topics: tuple[str, ...]
    """The evaluation topics: those with a sampled pool."""
    tags: tuple[str, ...]
    """The runs."""
    places: NDArray[np.int32]
    """Shape (n_runs, n_topics, width), in rank order: index into the arrays of the topic's pool,
    `NOT_POOLED`, or `NOT_RETRIEVED` below the end of the run."""
    lengths: NDArray[np.int64]
    """Shape (n_runs, n_topics): ranks filled; 0 = the run has no document for the topic."""
    pools: tuple[SampledPool, ...]
    """One a topic."""
    cutoff: int
    """Ranks that were looked at, at least 1. The width is smaller when every run is shorter."""


def sampled_rankings(
    tags: Sequence[str],
    rankings: Mapping[tuple[str, str], NDArray[np.signedinteger]],
    pools: Mapping[str, SampledPool],
    *,
    cutoff: int,
) -> SampledRankings:
    """Put rankings and sampled pools side by side in arrays.

    Parameters
    ----------
    tags : sequence of str
        The runs, in the order of the result.
    rankings : mapping of (tag, topic) to integer ndarray, shape (n_documents,)
        Document ids in rank order, each once, as for `judged_rankings`.
    pools : mapping of str to SampledPool
        The topics and their pools, in the order of the result.
    cutoff : int
        Ranks that count, at least 1; documents below are cut off.

    Raises
    ------
    ArgumentError
        If `cutoff` is below 1, or a ranking holds a document twice.

    Notes
    -----
    O(m) a topic for m documents retrieved and pooled, or O(m log m) where their ids are sparse.

    Examples
    --------
    Document 8 is not pooled:

    >>> pool = sampled_pool([5, 6], [GRADED, NOT_SAMPLED], [1, 0])
    >>> ranked = {("a", "t1"): np.array([6, 8, 5]), ("b", "t1"): np.array([8])}
    >>> sampled_rankings(["a", "b"], ranked, {"t1": pool}, cutoff=1000).places.tolist()
    [[[1, -1, 0]], [[-1, -2, -2]]]
    """
    # Codes ascend with the id, so the place in the pool is the number of pooled codes below.
    binary = {topic: (one.documents, np.zeros(one.documents.size, np.bool_))
              for topic, one in pools.items()}  # fmt: skip
    arrays = judged_rankings(list(pools), tags, rankings, binary, cutoff=cutoff)
    places = np.empty(arrays.documents.shape, dtype=np.int32)
    for column, standing in enumerate(arrays.standing):
        is_pooled = standing >= 0
        of_code = np.where(is_pooled, np.cumsum(is_pooled) - 1, NOT_POOLED)
        # The padding code -1 picks the last element.
        places[:, column] = np.append(of_code, NOT_RETRIEVED)[arrays.documents[:, column]]
    return SampledRankings(
        topics=arrays.topics,
        tags=arrays.tags,
        places=places,
        lengths=arrays.lengths,
        pools=tuple(pools.values()),
        cutoff=cutoff,
    )


def _vector(name: str, values: ArrayLike, size: int | None) -> NDArray[np.int64]:
    """Return integers as an array of one dimension, checked."""
    array = np.asarray(values)
    if array.size == 0:
        array = array.astype(np.int64)
    if array.ndim != 1 or (size is not None and array.size != size):
        requirement = "must be one-dimensional" if size is None else f"must have length {size}"
        raise ArgumentError(name, requirement, f"shape {array.shape}")
    if not np.issubdtype(array.dtype, np.integer):
        raise ArgumentError(name, "must be integers", str(array.dtype))
    return array.astype(np.int64)
