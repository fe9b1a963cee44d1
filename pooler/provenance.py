"""Who brought what: contributions of runs and groups, and the pool at every depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.run_set import RunSet, TopicRuns
from pooler.topic_rankings import NO_DOCUMENT
from store.analysis.provenance import best_ranks, unique_contributions
from store.errors import ArgumentError

IsRelevant = Mapping[tuple[str, str], bool]
"""(topic, docno) to whether it is relevant, for every pair that is judged."""


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What each of several runs, or groups of runs, brought to a depth pool."""

    names: list[str]
    documents: NDArray[np.int64]
    """Shape (n_names,): pairs of topic and docno it has within the depth, alone or not."""
    unique: NDArray[np.int64]
    """Shape (n_names,): those that no other one has."""
    unique_judged: NDArray[np.int64]
    unique_relevant: NDArray[np.int64]


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
    counts = np.zeros((4, len(names)), np.int64)
    for topic in runs.topics:
        of_topic = runs.of_topic(topic)
        documents = of_topic.rankings.documents[:, :depth]
        owner_of = _only_owner(documents, codes[of_topic.runs], of_topic.rankings.n_documents)
        for code in range(len(names)):
            own = documents[codes[of_topic.runs] == code]
            counts[0, code] += np.unique(own[own != NO_DOCUMENT]).size
        judged, relevant = _grades(of_topic, is_relevant)
        alone = owner_of >= 0
        for row, kept in enumerate((alone, alone & judged, alone & relevant), start=1):
            counts[row] += np.bincount(owner_of[kept], minlength=len(names))
    return Contributions(names, counts[0], counts[1], counts[2], counts[3])


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


def _only_owner(
    documents: NDArray[np.int32], owners: NDArray[np.int64], n_documents: int
) -> NDArray[np.int64]:
    """Return the owner of each document that has one only, else -1."""
    rows, _ = places = np.nonzero(documents != NO_DOCUMENT)
    numbers, codes = documents[places], owners[rows]
    highest = np.full(n_documents, -1, np.int64)
    lowest = np.full(n_documents, np.iinfo(np.int64).max)
    np.maximum.at(highest, numbers, codes)
    np.minimum.at(lowest, numbers, codes)
    return np.where(highest == lowest, highest, -1)


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
