"""Topics that are judged already, as a replay sees them: rankings beside what is known of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import NO_DOCUMENT, TopicRankings
from store.analysis.judged_rankings import NOT_RELEVANT, RELEVANT, UNJUDGED
from store.arrays import RankedDocuments
from store.errors import ArgumentError
from store.natural_order import natural_key
from store.records import Qrel

_OUTCOMES = {None: UNJUDGED, True: RELEVANT, False: NOT_RELEVANT}
_NO_IDS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedTopic:
    """The first documents of every run for one topic, and what is known of them."""

    rankings: TopicRankings
    outcomes: NDArray[np.int8]
    """Shape (n_documents,): `RELEVANT`, `NOT_RELEVANT` or `UNJUDGED`, by document number."""
    relevant: NDArray[np.int64]
    """Shape (n_relevant,): numbers of the relevant documents of the union, ascending, ..."""
    among_relevant: NDArray[np.int64]
    """... and the number of each in `RelevantRanks`."""


def judged_topics(
    ranked: RankedDocuments,
    qrels: Sequence[Qrel],
    *,
    level: int,
    depth: int,
    feeding: Collection[str] | None = None,
) -> list[JudgedTopic]:
    """Put the first documents of every run beside what is known of them.

    Parameters
    ----------
    ranked : RankedDocuments
        Whole rankings.
    qrels : sequence of Qrel
        One grade a (topic, docno); every listed pair is judged.
    level : int
        Least grade that counts as relevant.
    depth : int
        Ranks taken from each run, at least 1.
    feeding : collection of str, optional
        Tags of the runs that feed the pool; default all of `ranked`.

    Returns
    -------
    list of JudgedTopic
        The topics of the qrels in natural order, as `store.arrays.judged_arrays` has them. A topic
        that no feeding run has is there, without a document. Scores are not loaded.

    Raises
    ------
    ArgumentError
        If `depth` is below 1.

    Notes
    -----
    O(n log n) a topic for n documents taken.

    Examples
    --------
    At depth 2 the union is b and c; b is relevant, c has no judgement:

    >>> ranked = RankedDocuments(
    ...     tags=("run",),
    ...     rankings={("run", "1"): np.array([7, 5, 6])},
    ...     ids={"a": 6, "b": 5, "c": 7},
    ...     docnos={6: "a", 5: "b", 7: "c"},
    ... )
    >>> [topic] = judged_topics(ranked, [Qrel("1", "b", 2)], level=1, depth=2)
    >>> topic.rankings.documents.tolist(), topic.outcomes.tolist()
    ([[1, 0]], [1, -1])
    """
    if depth < 1:
        raise ArgumentError("--depth", "must be an integer >= 1", depth)
    by_topic: dict[str, dict[int, bool]] = {}
    n_relevant: Counter[str] = Counter()
    for qrel in qrels:
        judged = by_topic.setdefault(qrel.topic, {})
        is_relevant = qrel.grade >= level
        n_relevant[qrel.topic] += is_relevant
        number = ranked.ids.get(qrel.docno)
        if number is not None:
            judged[number] = is_relevant
    tags = sorted(ranked.tags if feeding is None else feeding)
    topics = []
    n_before = 0
    for topic in sorted(by_topic, key=natural_key):
        rows = [ranked.rankings.get((tag, topic)) for tag in tags]
        taken = [row[:depth] for row in rows if row is not None and row.size]
        rankings, ids = _numbered(taken, ranked.docnos, topic)
        judged = by_topic[topic]
        outcomes = np.array([_OUTCOMES[judged.get(one)] for one in ids.tolist()], np.int8)
        relevant = np.flatnonzero(outcomes == RELEVANT)
        # Documents that no run retrieved come last in the numbers of `RelevantRanks`.
        known = np.sort(np.array([one for one, is_so in judged.items() if is_so], np.int64))
        among = n_before + np.searchsorted(known, ids[relevant])
        topics.append(JudgedTopic(rankings, outcomes, relevant, among))
        n_before += n_relevant[topic]
    return topics


def _numbered(
    taken: Sequence[NDArray[np.int64]], docnos: Mapping[int, str], topic: str
) -> tuple[TopicRankings, NDArray[np.int64]]:
    """Turn rankings of ids into numbers by docno; return with them the id of each number."""
    shape = (len(taken), max((row.size for row in taken), default=0))
    present, places = np.unique(np.concatenate([_NO_IDS, *taken]), return_inverse=True)
    names = [docnos[one] for one in present.tolist()]
    by_docno = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
    numbers = np.empty(len(names), np.int32)
    numbers[by_docno] = np.arange(len(names))
    documents = np.full(shape, NO_DOCUMENT, np.int32)
    lengths = np.array([row.size for row in taken], np.int64)
    # A boolean mask is filled row by row: the order in which `taken` was joined.
    documents[np.arange(shape[1]) < lengths[:, np.newaxis]] = numbers[places]
    return TopicRankings(documents, len(names), topic=topic), present[by_docno]
