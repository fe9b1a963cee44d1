"""What a run alone had brought into a pool."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pooler.run_set import RunSet
from pooler.topic_rankings import NO_DOCUMENT
from store.records import Judgement, State


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


def standing(
    judgements: Iterable[Judgement],
) -> dict[tuple[str, str], tuple[State, int | None]]:
    """Say how documents stand when all judges are looked at together.

    Parameters
    ----------
    judgements : iterable of Judgement
        The current one of every document and judge.

    Returns
    -------
    dict of (str, str) to (State, int or None)
        By topic and docno: judged with the highest grade, when some judge has graded it; else
        what the first judge who decided anything said.

    Examples
    --------
    >>> one = Judgement("1", "d", "ann", State.SKIPPED, None)
    >>> two = Judgement("1", "d", "bob", State.JUDGED, 2)
    >>> standing([one, two])[("1", "d")] == (State.JUDGED, 2)
    True
    """
    found: dict[tuple[str, str], tuple[State, int | None]] = {}
    for one in judgements:
        pair = (one.topic, one.docno)
        state, grade = found.get(pair, (State.UNJUDGED, None))
        if one.grade is not None and (grade is None or one.grade > grade):
            found[pair] = (one.state, one.grade)
        elif state is State.UNJUDGED:
            found[pair] = (one.state, None)
    return found
