"""What a run alone had brought into a pool."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pooler.run_set import RunSet
from pooler.topic_rankings import NO_DOCUMENT


def brought_alone(
    runs: RunSet, tag: str, pooled: Iterable[tuple[str, str]]
) -> list[tuple[str, str, int]]:
    """List the documents of a pool that only one of its runs returned.

    Parameters
    ----------
    runs : RunSet
        The runs that fed the pool, at its depth and order.
    tag : str
        One of them.
    pooled : iterable of (str, str)
        Topic and docno of everything in the pool.

    Returns
    -------
    list of (str, str, int)
        Topic, docno and the run's rank, from 1; topics in natural order, then by rank. Documents
        that no run of the pool has at its depth (they came with an earlier pool's file, say) are
        nobody's.

    Notes
    -----
    O(n) for n documents taken from all runs.
    """
    place = [run.tag for run in runs.feeding].index(tag)
    known = set(pooled)
    alone = []
    for topic in runs.topics:
        of_topic = runs.of_topic(topic)
        if place not in of_topic.runs:
            continue
        rankings = of_topic.rankings
        own = rankings.documents[of_topic.runs.index(place)]
        own = own[own != NO_DOCUMENT]
        unique = rankings.n_returning()[own] == 1
        alone += [
            (topic, of_topic.docnos[number], rank + 1)
            for rank, number in zip(
                np.flatnonzero(unique).tolist(), own[unique].tolist(), strict=True
            )
            if (topic, of_topic.docnos[number]) in known
        ]
    return alone
