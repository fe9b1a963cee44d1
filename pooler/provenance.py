"""Who brought what: contributions of runs and groups, and the pool at every depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.run_set import RunSet, TopicRuns
from pooler.topic_rankings import NO_DOCUMENT
from store.analysis.provenance import (
    best_ranks,
    n_contributing,
    only_contributor,
    unique_contributions,
)
from store.errors import ArgumentError

IsRelevant = Mapping[tuple[str, str], bool]
"""(topic, docno) to whether it is relevant, for every pair that is judged."""


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What each of several runs, or groups of runs, brought to a depth pool."""

    names: list[str]
    documents: NDArray[np.int64]
    """Shape (n_names,), as the next five: pairs of topic and docno it has within the depth, alone
    or not."""
    judged: NDArray[np.int64]
    """Those of `documents` that are judged."""
    relevant: NDArray[np.int64]
    unique: NDArray[np.int64]
    """Those that no other one has."""
    unique_judged: NDArray[np.int64]
    unique_relevant: NDArray[np.int64]
    n_contributors: NDArray[np.int64]
    """Shape (n_names + 1,): how many pairs of the pool this many have; the first is 0."""

    def unique_relevant_ratio(self) -> NDArray[np.float64]:
        """Divide `unique_relevant` by `unique`.

        Returns
        -------
        ndarray of float64, shape (n_names,)
            In [0, 1]; NaN for one that brought nothing alone. Unjudged pairs count as not relevant:
            where not all of `unique` are judged, it is the least that the ratio can be.
        """
        undefined = np.full(self.unique.shape, np.nan)
        ratio = np.divide(self.unique_relevant, self.unique, out=undefined, where=self.unique > 0)
        return np.asarray(ratio)


@dataclass(frozen=True, slots=True, eq=False)
class DepthCurve:
    """The depth pool at every depth; index ``k - 1`` of each array is depth k."""

    pairs: NDArray[np.int64]
    judged: NDArray[np.int64]
    relevant: NDArray[np.int64]
    unique: NDArray[np.int64]
    """Pairs that one run alone brought."""


def contributions(
    runs: RunSet, is_relevant: IsRelevant, *, depth: int, by_group: bool = False
) -> Contributions:
    """Count what runs or groups brought to the pool of one depth.

    Parameters
    ----------
    runs : RunSet
        Read at `depth` or deeper. Runs that do not contribute are passed over.
    is_relevant : mapping
        Every judged pair; may be empty.
    depth : int
        Depth of the pool.
    by_group : bool, default=False
        Count groups: a pair is unique to a group when every run that has it belongs to it. A run
        without a group is one of its own, under its tag.

    Raises
    ------
    ArgumentError
        If the runs were read at less than `depth`.

    Notes
    -----
    O(n log n) for n documents taken from all runs.
    """
    _check_depth(runs, depth)
    owners = [run.group or run.tag if by_group else run.tag for run in runs.feeding]
    names = sorted(set(owners))
    codes = np.array([names.index(owner) for owner in owners], np.int64)
    counts = np.zeros((6, len(names)), np.int64)
    n_contributors = np.zeros(len(names) + 1, np.int64)
    for topic in runs.topics:
        of_topic = runs.of_topic(topic)
        documents = of_topic.rankings.documents[:, :depth]
        n_documents, owners_here = of_topic.rankings.n_documents, codes[of_topic.runs]
        judged, relevant = _grades(of_topic, is_relevant)
        for code in np.unique(owners_here).tolist():
            own = documents[owners_here == code]
            has = np.zeros(n_documents, np.bool_)
            has[own[own != NO_DOCUMENT]] = True
            for row, kept in enumerate((has, has & judged, has & relevant)):
                counts[row, code] += np.count_nonzero(kept)
        owner_of = only_contributor(documents, n_documents, owners_here)
        alone = owner_of >= 0
        for row, kept in enumerate((alone, alone & judged, alone & relevant), start=3):
            counts[row] += np.bincount(owner_of[kept], minlength=len(names))
        having = n_contributing(documents, n_documents, owners_here)
        n_contributors += np.bincount(having[having > 0], minlength=len(names) + 1)
    return Contributions(
        names=names,
        documents=counts[0],
        judged=counts[1],
        relevant=counts[2],
        unique=counts[3],
        unique_judged=counts[4],
        unique_relevant=counts[5],
        n_contributors=n_contributors,
    )


def depth_curve(runs: RunSet, is_relevant: IsRelevant) -> DepthCurve:
    """Count the pool at every depth up to that of the runs, in one pass.

    Parameters
    ----------
    runs : RunSet
        Runs that do not contribute are passed over.
    is_relevant : mapping
        Every judged pair; may be empty.

    Notes
    -----
    O(n log n) for n documents taken from all runs, whatever the depth.
    """
    curve = np.zeros((4, runs.depth), np.int64)
    for topic in runs.topics:
        of_topic = runs.of_topic(topic)
        documents = of_topic.rankings.documents
        enters = best_ranks(documents, of_topic.rankings.n_documents)
        judged, relevant = _grades(of_topic, is_relevant)
        for row, kept in enumerate((np.ones(enters.size, np.bool_), judged, relevant)):
            entering = np.bincount(enters[kept], minlength=runs.depth + 1)[1:]
            curve[row] += np.cumsum(entering)
        unique = unique_contributions(documents).sum(axis=0)
        curve[3, : unique.size] += unique
        curve[3, unique.size :] += unique[-1] if unique.size else 0
    return DepthCurve(curve[0], curve[1], curve[2], curve[3])


def _grades(
    of_topic: TopicRuns, is_relevant: IsRelevant
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which documents of a topic are judged, and which are relevant."""
    topic = of_topic.rankings.topic
    found = [is_relevant.get((topic, docno)) for docno in of_topic.docnos]
    judged = np.array([one is not None for one in found], np.bool_)
    return judged, np.array([bool(one) for one in found], np.bool_)


def _check_depth(runs: RunSet, depth: int) -> None:
    """Raise `ArgumentError` when the runs do not reach the depth."""
    if not 1 <= depth <= runs.depth:
        requirement = f"must be from 1 to {runs.depth}, the depth the runs were read at"
        raise ArgumentError("depth", requirement, depth)
