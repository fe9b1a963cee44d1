"""AP of every run under every judge's own judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_cutoff
from store.analysis.votes import Votes
from store.errors import ArgumentError

NOT_RANKED = -1
"""Id of a document that no run retrieved. It counts in R."""


def judge_average_precisions(
    votes: Votes,
    document_ids: NDArray[np.int64],
    tags: Sequence[str],
    rankings: Mapping[tuple[str, str], NDArray[np.int64]],
    *,
    level_index: int,
    cutoff: int,
) -> NDArray[np.float64]:
    r"""Score all runs by the judgements of each judge alone.

    Parameters
    ----------
    votes : Votes
        The judgements.
    document_ids : integer ndarray, shape (n_documents,)
        Id of every document of `votes`, as in `rankings`; `NOT_RANKED` for those no run retrieved.
        Within a topic no two are the same but for that.
    tags : sequence of str
        The runs, in the order of the result.
    rankings : mapping of (tag, topic) to integer ndarray, shape (n_ranked,)
        Document ids in rank order, each once. A run without an entry for a topic retrieved nothing
        there. ``RankedDocuments.rankings`` is one.
    level_index : int
        Index into the scale of the least relevant grade, at least 1.
    cutoff : int
        Ranks that count, at least 1.

    Returns
    -------
    ndarray of float64, shape (n_topics, n_runs, n_judges)
        AP in [0, 1], topics and judges as in `votes`. R is over the documents that this judge
        found relevant, retrieved or not (mode ``pool``); what the judge did not grade counts as
        not relevant. NaN, for all runs alike, where R = 0: the judge graded nothing of the topic,
        or found nothing relevant.

    Raises
    ------
    ArgumentError
        If an argument has another shape or is out of range, or a document stands twice in a topic
        or in a ranking.

    Notes
    -----
    .. math:: \nu = \frac{1}{R} \sum_i \frac{x_i}{i} \Bigl(1 + \sum_{k<i} x_k\Bigr)

    as in `store.analysis.average_precision`. Only ranks whose document somebody found relevant are
    looked at: O(documents ranked) once, then O(such ranks) a judge.

    Examples
    --------
    One topic; `ann` finds documents 7 and 9 relevant, `bob` document 9 alone:

    >>> from store.analysis.votes import votes_from_rows
    >>> votes = votes_from_rows(
    ...     np.array([0, 0, 0, 0]),
    ...     np.array([7, 7, 9, 9]),
    ...     np.array([0, 1, 0, 1]),
    ...     np.array([1, 0, 1, 1]),
    ...     topics=["t"],
    ...     judges=["ann", "bob"],
    ...     scale_values=(0, 1),
    ... )
    >>> rankings = {("up", "t"): np.array([7, 8, 9]), ("down", "t"): np.array([9, 8, 7])}
    >>> ap = judge_average_precisions(
    ...     votes, np.array([7, 9]), ["up", "down"], rankings, level_index=1, cutoff=1000
    ... )
    >>> ap[0].round(4).tolist()  # ann: (1/1 + 2/3) / 2 twice; bob: 1/3 and 1/1
    [[0.8333, 0.3333], [0.8333, 1.0]]
    """
    document_ids = _check_arguments(votes, document_ids, level_index, cutoff)
    n_topics, n_runs, n_judges = len(votes.topics), len(tags), len(votes.judges)
    is_relevant = votes.places >= level_index
    documents, judges = votes.documents[is_relevant], votes.judge_codes[is_relevant]
    cells = votes.topic_codes[documents] * n_judges + judges
    n_relevant = np.bincount(cells, minlength=n_topics * n_judges).reshape(n_topics, n_judges)
    lists, ranks, found = _relevant_places(votes, document_ids, documents, tags, rankings, cutoff)

    sums = np.zeros((n_topics, n_runs, n_judges))
    n_lists = n_topics * n_runs
    for judge in range(n_judges):
        of_judge = np.zeros(votes.n_documents, dtype=np.bool_)
        of_judge[documents[judges == judge]] = True
        kept = of_judge[found]
        lists_here = lists[kept]
        n_in_list = np.bincount(lists_here, minlength=n_lists)
        before = np.cumsum(n_in_list) - n_in_list
        n_so_far = np.arange(1, lists_here.size + 1) - before[lists_here]
        precisions = np.bincount(lists_here, n_so_far / ranks[kept], minlength=n_lists)
        sums[:, :, judge] = precisions.reshape(n_topics, n_runs)
    counts = np.broadcast_to(n_relevant[:, np.newaxis, :], sums.shape)
    undefined = np.full(sums.shape, np.nan)
    return np.asarray(np.divide(sums, counts, out=undefined, where=counts > 0))


def _relevant_places(
    votes: Votes,
    document_ids: NDArray[np.int64],
    relevant: NDArray[np.int64],
    tags: Sequence[str],
    rankings: Mapping[tuple[str, str], NDArray[np.int64]],
    cutoff: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Find the ranks whose document is relevant to somebody: list, rank from 1, document.

    Lists are topic * n_runs + run, ascending; ranks ascend within a list.
    """
    to_somebody = np.zeros(votes.n_documents, dtype=np.bool_)
    to_somebody[relevant] = True
    bounds = np.searchsorted(votes.topic_codes, np.arange(len(votes.topics) + 1))
    lists, ranks, found = [], [], []
    for topic, name in enumerate(votes.topics):
        wanted = bounds[topic] + np.flatnonzero(to_somebody[bounds[topic] : bounds[topic + 1]])
        wanted = wanted[document_ids[wanted] != NOT_RANKED]
        wanted = wanted[np.argsort(document_ids[wanted])]
        ids = document_ids[wanted]
        if np.any(ids[1:] == ids[:-1]):
            raise ArgumentError("document_ids", "must differ within a topic", name)
        for run, tag in enumerate(tags):
            ranking = rankings.get((tag, name))
            if ranking is None or ids.size == 0:
                continue
            ranked = np.asarray(ranking[:cutoff], dtype=np.int64)
            places = np.searchsorted(ids, ranked)
            places[places == ids.size] = 0
            hits = np.flatnonzero(ids[places] == ranked)
            documents = wanted[places[hits]]
            if np.unique(documents).size != documents.size:
                requirement = "must hold each document of a ranking once"
                raise ArgumentError("rankings", requirement, (tag, name))
            lists.append(np.full(hits.size, topic * len(tags) + run))
            ranks.append(hits + 1)
            found.append(documents)
    nothing = [np.zeros(0, dtype=np.int64)]
    return (
        np.concatenate(nothing + lists),
        np.concatenate(nothing + ranks),
        np.concatenate(nothing + found),
    )


def _check_arguments(
    votes: Votes, document_ids: NDArray[np.int64], level_index: int, cutoff: int
) -> NDArray[np.int64]:
    """Return the ids; raise `ArgumentError` when an argument cannot be used."""
    document_ids = np.asarray(document_ids, dtype=np.int64)
    if document_ids.shape != (votes.n_documents,):
        requirement = f"must have shape ({votes.n_documents},)"
        raise ArgumentError("document_ids", requirement, document_ids.shape)
    if not 1 <= level_index < votes.n_grades:
        requirement = f"must be from 1 to {votes.n_grades - 1}"
        raise ArgumentError("level_index", requirement, level_index)
    check_cutoff(cutoff)
    return document_ids
