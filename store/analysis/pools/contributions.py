"""What each run brought, at every depth.

A document enters the depth-k pool at its best rank in any run, so one pass over the rankings answers for
every depth up to theirs. A document is unique to a group of runs at depth k when every run that has it within
its first k documents belongs to the group; a run is a group of its own.

Common arguments: `documents`, ndarray of integers of shape (n_runs, depth), holds documents numbered from 0
to below `n_documents`, in rank order where ranks are asked for, and -1 where a ranking has ended; no run has
a document twice. Its first `k` columns are those of the depth-k pool. `groups`, ndarray of integers of shape
(n_runs,), holds the code of each run's group, from 0; by default each run is its own group. The cost is
O(n_runs * depth + n_documents).

A pool without a run holds fewer documents, so fewer would have been judged: not the judged documents that
only runs of the one left out brought to the pool. Documents judged without being in the pool belong to no run
and stay.

How deep a pool was, and which runs fed it, is inferred from runs and judgements alone. A run that was pooled
to depth k has its first k documents judged in every topic. So the shortest stretch of judged documents at the
top of its lists is k or, by luck, more; the runs that were pooled share k, and it is the mode. A list judged
to its end says nothing about the depth. Where judgements are missing there are holes, and some are forgiven.

The rank order must be that of the pool's makers: with ties broken another way the stretches are cut short.
And it must be a depth pool; of others it gives the depth down to which all is judged.

Reasons for what cannot be inferred:

============ ======================================================================================
no-documents no run has a document for any topic with judgements
all-judged   every list of every run is judged to its end, or to the cutoff, so that the depth is at
             least that
none-judged  of no run is the first document judged in every topic: there is no common depth
============ ======================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.rankings import NOT_RELEVANT, Depths, JudgedRankings
from store.errors import ArgumentError
from store.records import Order

NO_DOCUMENT = -1
"""Stands where a ranking has ended."""


def best_ranks(documents: NDArray[np.integer], n_documents: int) -> NDArray[np.int64]:
    """Return the least depth at which each document is in the pool, shape (n_documents,).

    That is its best rank in any run, from 1; 0 for a document that no run has.

    >>> best_ranks(np.array([[0, 1, 2], [2, 0, -1]]), 4).tolist()
    [1, 2, 1, 0]
    """
    numbers, ranks, _ = _by_rank(documents)
    best = np.zeros(n_documents, np.int64)
    best[numbers[::-1]] = ranks[::-1]  # of several values for one place the last one stays
    return best


def unique_contributions(
    documents: NDArray[np.integer], groups: NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """Count the documents that the depth-k pool has through one group of runs alone, for every k.

    Shape (n_groups, depth): at row `g` and column ``k - 1`` the documents within the first `k` of a run of
    group `g` and of no other run; `n_groups` is the highest code + 1, or `n_runs` without codes.

    A document is unique from its best rank on, to the group of the run that has it there, up to the best rank
    that a run of another group gives it: deeper than that it is unique no more. So the count may fall with k.

    >>> unique_contributions(np.array([[0, 1, 2], [2, 0, -1]])).tolist()
    [[1, 1, 1], [1, 1, 0]]
    >>> unique_contributions(np.array([[0, 1, 2], [2, 0, -1]]), np.array([0, 0])).tolist()
    [[2, 3, 3]]
    """
    n_runs, depth = documents.shape
    codes = np.arange(n_runs) if groups is None else groups
    numbers, ranks, runs = _by_rank(documents)
    owners = codes[runs]
    n_documents = int(numbers.max(initial=NO_DOCUMENT)) + 1
    first = np.zeros(n_documents, np.int64)
    owner = np.zeros(n_documents, np.int64)
    first[numbers[::-1]] = ranks[::-1]
    owner[numbers[::-1]] = owners[::-1]
    # Depth + 1, the column cut off below, stands for never.
    lost = np.full(n_documents, depth + 1, np.int64)
    is_other = owners != owner[numbers]
    lost[numbers[is_other][::-1]] = ranks[is_other][::-1]
    returned = np.flatnonzero(first)
    n_groups = int(codes.max(initial=-1)) + 1
    shape = (n_groups, depth + 1)
    cells = n_groups * (depth + 1)
    row = owner[returned] * (depth + 1)
    gained = np.bincount(row + first[returned] - 1, minlength=cells).reshape(shape)
    given_up = np.bincount(row + lost[returned] - 1, minlength=cells).reshape(shape)
    return np.cumsum(gained - given_up, axis=1)[:, :depth]


def n_contributing(documents: NDArray[np.integer], n_documents: int) -> NDArray[np.int64]:
    """Count the runs that have each document, shape (n_documents,).

    >>> n_contributing(np.array([[0, 1, 2], [2, 0, -1]]), 4).tolist()
    [2, 1, 2, 0]
    """
    return np.bincount(documents[documents != NO_DOCUMENT], minlength=n_documents)


def only_contributor(
    documents: NDArray[np.integer], n_documents: int, groups: NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """Return the run or group that each document is unique to, by its code, shape (n_documents,).

    -1 where several have the document, or none.

    >>> only_contributor(np.array([[0, 1, 2], [2, 0, -1]]), 4).tolist()
    [-1, 0, -1, -1]
    >>> only_contributor(np.array([[0, 1, 2], [2, 0, -1]]), 4, np.array([5, 5])).tolist()
    [5, 5, 5, -1]
    """
    codes = np.arange(len(documents)) if groups is None else groups
    rows, columns = np.nonzero(documents != NO_DOCUMENT)
    numbers, owners = documents[rows, columns], codes[rows].astype(np.int64)
    highest = np.full(n_documents, -1, np.int64)
    lowest = np.full(n_documents, np.iinfo(np.int64).max)
    np.maximum.at(highest, numbers, owners)
    np.minimum.at(lowest, numbers, owners)
    return np.where(highest == lowest, highest, -1)


def _by_rank(
    documents: NDArray[np.integer],
) -> tuple[NDArray[np.integer], NDArray[np.int64], NDArray[np.int64]]:
    """Return document, rank and run of every place taken, by rank ascending."""
    columns, runs = np.nonzero(documents.T != NO_DOCUMENT)
    return documents[runs, columns], columns + 1, runs


@dataclass(frozen=True, slots=True, eq=False)
class Withdrawn:
    """The judgements that would not have been made without each run or group."""

    names: tuple[str, ...]
    """What is left out, one at a time: runs, in the order of their tags, or groups, in the order
    of their first run. A run without a group is one of its own, under its tag."""
    owners: NDArray[np.int64]
    """Shape (n_runs,): place in `names` of what each run belongs to."""
    by: NDArray[np.int64]
    """Shape (n_withdrawn,), as the next two: place in `names`."""
    topics: NDArray[np.int64]
    """Place of the topic, ascending."""
    codes: NDArray[np.int64]
    """Code of the judged document in its topic."""

    def n_judged(self) -> NDArray[np.int64]:
        """Count the judgements withdrawn with each, shape (n_names,)."""
        return np.bincount(self.by, minlength=len(self.names))


@dataclass(frozen=True, slots=True)
class FedPool:
    """A depth pool, the runs that fed it and its topics, by name, and the order of documents within a run."""

    depth: int
    runs: frozenset[str]
    topics: frozenset[str]
    order: Order = "trec"


def depths_fed(pools: Sequence[FedPool], tags: Sequence[str], topics: Sequence[str]) -> Depths:
    """Return the depth of every run in every topic, one number where all are alike.

    It is the largest of the pools that the run fed there; a run that fed none, as one that came late, has the
    smallest of the topic's pools, or, where a topic has none, of all, of which there is one at least.

    >>> first = FedPool(7, frozenset("ab"), frozenset("12"))
    >>> second = FedPool(10, frozenset("bc"), frozenset("1"))
    >>> depths_fed([first, second], "abcd", "12").tolist()
    [[7, 7], [10, 7], [10, 7], [7, 7]]
    >>> depths_fed([second, FedPool(7, frozenset("a"), frozenset("2"))], "d", "123").tolist()
    [[10, 7, 7]]
    >>> depths_fed([first, second], "b", "1")
    10
    """
    smallest = min(pool.depth for pool in pools)
    least = [
        min((pool.depth for pool in pools if topic in pool.topics), default=smallest) for topic in topics
    ]
    found = np.tile(np.array(least, np.int64), (len(tags), 1))
    for pool in pools:
        fed = np.outer([tag in pool.runs for tag in tags], [topic in pool.topics for topic in topics])
        np.maximum(found, pool.depth * fed, out=found)
    return found if np.unique(found).size > 1 else int(found.max(initial=smallest))


def within_depth(
    rankings: JudgedRankings, depth: Depths, contributing: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Return which ranks brought their document to a depth pool.

    Parameters
    ----------
    rankings : JudgedRankings
    depth : int or ndarray of int64, shape (n_runs, n_topics)
        Ranks taken from each run, from 1 to the cutoff of the rankings.
    contributing : ndarray of bool, shape (n_runs,), optional
        The runs that were pooled; default: all.

    Returns
    -------
    ndarray of bool, shape (n_runs, n_topics, width)
        False where a run has ended.
    """
    check_depth(depth, rankings)
    n_runs, _, width = rankings.documents.shape
    taking = np.ones(n_runs, np.bool_) if contributing is None else contributing
    reach = np.minimum(rankings.lengths, depth) * taking[:, None]
    return np.asarray(np.arange(width) < reach[:, :, None])


def remove_uniques(
    rankings: JudgedRankings, pooled: NDArray[np.bool_], groups: Sequence[str] | None = None
) -> Withdrawn:
    """Withdraw the judged documents that one run or group alone brought to the pool.

    Parameters
    ----------
    rankings : JudgedRankings
        All runs that contributed, whole to the depth they were pooled at; others may be among them.
    pooled : ndarray of bool, shape (n_runs, n_topics, width)
        Which ranks brought their document to the pool; `within_depth` for a depth pool.
    groups : sequence of str, shape (n_runs,), optional
        Group of each run; empty = none. Default: every run by itself.

    Returns
    -------
    Withdrawn
        No document is withdrawn with two of them.

    Notes
    -----
    As NIST leaves out groups ("GLOO"). O(size of the rankings).

    Examples
    --------
    Depth 2: `a` alone brought document 1, `b` alone document 3; 3 is unjudged.

    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.array([1, 2, 3]), ("b", "t"): np.array([3, 2])}
    >>> grades = {"t": (np.array([1, 2]), np.array([True, True]))}
    >>> arrays = judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10)
    >>> withdrawn = remove_uniques(arrays, within_depth(arrays, 2))
    >>> withdrawn.names, withdrawn.by.tolist(), withdrawn.n_judged().tolist()
    (('a', 'b'), [0], [1, 0])
    """
    named = [group or tag for group, tag in zip(groups or rankings.tags, rankings.tags, strict=True)]
    names = tuple(dict.fromkeys(named))
    owners = np.array([names.index(name) for name in named], dtype=np.int64)
    found = []
    for topic, states in enumerate(rankings.states):
        brought = np.where(pooled[:, topic], rankings.documents[:, topic], NO_DOCUMENT)
        owner_of = only_contributor(brought, states.size, owners)
        codes = np.flatnonzero((owner_of >= 0) & (states >= NOT_RELEVANT))
        found.append((owner_of[codes], np.full(codes.size, topic), codes))
    nothing = (np.empty(0, np.int64),) * 3
    by, topics, codes = map(np.concatenate, zip(nothing, *found, strict=True))
    order = np.lexsort((codes, by, topics))
    return Withdrawn(names, owners, by[order], topics[order], codes[order])


def check_depth(depth: Depths, rankings: JudgedRankings) -> None:
    """Raise `ArgumentError` when a pool of this depth reaches below the ranks of the rankings."""
    for one in (int(np.min(depth)), int(np.max(depth))):
        if not 1 <= one <= rankings.cutoff:
            requirement = f"must be from 1 to {rankings.cutoff}, the ranks that were looked at"
            raise ArgumentError("depth", requirement, one)


RANKS_PER_HOLE = 20
"""One unjudged document is forgiven for every so many ranks of the depth."""
UNTOLD = -1
"""Stands for a prefix that cannot be inferred."""

PoolReason = Literal["no-documents", "all-judged", "none-judged"]


@dataclass(frozen=True, slots=True, eq=False)
class InferredPool:
    """A depth pool as far as it can be inferred. Runs are in the order of the rankings."""

    prefixes: NDArray[np.int64]
    """Shape (n_runs,): ranks from the top that are judged in every topic, leaving out the lists
    that are judged to their end; `UNTOLD` where there are no others."""
    depth: int | None
    """Mode of the prefixes above 0; of several, the largest."""
    reason: PoolReason | None
    pooled: NDArray[np.bool_]
    """Shape (n_runs,): runs of which no list has more unjudged documents within `depth` than are
    forgiven; those that are judged to their end are among them. Without a depth, no run."""


def infer_pool(rankings: JudgedRankings, depth: int | None = None) -> InferredPool:
    """Infer the depth of the pool and the runs that fed it.

    Parameters
    ----------
    rankings : JudgedRankings
        Runs, whether pooled or not, in the order they were pooled in, looked at deeper than the pool may have
        been.
    depth : int, optional
        Where it is known, from 1 to the cutoff of the rankings, else `ArgumentError`; only the runs are
        inferred then.

    Notes
    -----
    As PoolAnalyzer of Lipani's PoolBiasEstimators, of which versions differ: some take the mode over runs and
    topics, and forgive depth/10. Here, over runs, and depth/20. A topic that a run does not answer is passed
    over. A run that was not pooled may have all of its first documents judged by chance, the more so the
    shallower the pool; so the pooled runs are at least those that fed it. O(size of the rankings).

    Examples
    --------
    Two runs were pooled to depth 2; the third, which was not, has only document 1 in common.

    >>> from store.analysis.rankings import judged_rankings
    >>> ranked = {"a": [1, 2, 8], "b": [1, 3, 9], "c": [1, 7, 2]}
    >>> lists = {(tag, "t"): np.array(ranking) for tag, ranking in ranked.items()}
    >>> grades = {"t": (np.array([1, 2, 3]), np.array([True, False, True]))}
    >>> pool = infer_pool(judged_rankings(["t"], ["a", "b", "c"], lists, grades, cutoff=10))
    >>> pool.depth, pool.prefixes.tolist(), pool.pooled.tolist()
    (2, [2, 2, 1], [True, True, False])
    """
    if depth is not None:
        check_depth(depth, rankings)
    lengths = rankings.lengths
    width = rankings.documents.shape[-1]
    unjudged = ~rankings.judged() & (np.arange(width) < lengths[:, :, None])
    is_open = np.asarray(unjudged.any(axis=-1))
    # Where a list is judged to its end, one more than any rank.
    first_hole = np.where(is_open, np.argmax(unjudged, axis=-1) if width else 0, width)
    shortest = first_hole.min(axis=1, initial=width)
    prefixes = np.where(is_open.any(axis=1), shortest, UNTOLD).astype(np.int64)
    n_documents = lengths.sum(axis=1)
    reason: PoolReason | None = None
    if depth is None:
        positive = prefixes[prefixes > 0]
        counts = np.bincount(positive)
        if positive.size:
            depth = int(np.flatnonzero(counts == counts.max())[-1])
        elif not n_documents.any():
            reason = "no-documents"
        else:
            reason = "none-judged" if np.any(prefixes == 0) else "all-judged"
    reach = 0 if depth is None else depth
    holes = np.count_nonzero(unjudged[:, :, :reach], axis=-1)
    pooled = (n_documents > 0) & np.all(holes <= reach // RANKS_PER_HOLE, axis=1) & (reach > 0)
    return InferredPool(prefixes, depth, reason, pooled)
