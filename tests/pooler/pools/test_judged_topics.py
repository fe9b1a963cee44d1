"""Rankings beside judgements, topic by topic."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooler.pools.replay import judged_topics
from pooler.reading.whole import ranked_runs
from pooler.strategies.rankings import rankings_of
from store.analysis.arrays import RankedDocuments, judged_arrays
from store.analysis.measures.average_precision import relevant_ranks
from store.analysis.rankings import NOT_RELEVANT, RELEVANT, UNJUDGED
from store.records import Qrel, Ranking, Run
from tests.strategies import ids


def run_of(tag: str, **topics: str) -> Run:
    """Make a run of documents of one letter; `t1="ba"` ranks b, then a for topic t1."""
    rankings = [
        Ranking(topic, list(docnos), -np.arange(float(len(docnos))), None) for topic, docnos in topics.items()
    ]
    return Run(tag, rankings, sha256=tag)


def ranked() -> RankedDocuments:
    """Return two runs; the second has nothing for topic t10, neither has t2."""
    return ranked_runs([run_of("y", t1="cb", t9="a"), run_of("x", t1="bac", t10="de")])


QRELS = [
    Qrel("t10", "e", 2),
    Qrel("t1", "b", 0),
    Qrel("t1", "c", 1),
    Qrel("t1", "z", 1),
    Qrel("t2", "q", 3),
    Qrel("t10", "d", 1),
]


def test_topics_by_hand() -> None:
    """At depth 2 topic t1 is b, a of run x over c, b of run y; c is relevant, a unjudged.

    Relevant documents are numbered over t1 (c 0, z 1), t2 (q 2) and t10 (d 3, e 4).
    """
    one, two, ten = judged_topics(ranked(), QRELS, level=1, depth=2)
    assert one.rankings.documents.tolist() == [[1, 0], [2, 1]]
    assert (one.rankings.topic, one.rankings.n_documents) == ("t1", 3)
    assert one.outcomes.tolist() == [UNJUDGED, NOT_RELEVANT, RELEVANT]
    assert (one.relevant.tolist(), one.among_relevant.tolist()) == ([2], [0])
    assert (two.rankings.n_documents, two.outcomes.tolist(), two.relevant.tolist()) == (0, [], [])
    assert ten.rankings.documents.tolist() == [[0, 1]]
    assert (ten.relevant.tolist(), ten.among_relevant.tolist()) == ([0, 1], [3, 4])


def test_level_and_feeding_runs_are_heeded() -> None:
    """At level 2 only e is relevant, and without run y document c is not in the union."""
    one, _, ten = judged_topics(ranked(), QRELS, level=2, depth=2, feeding=["x"])
    assert one.rankings.documents.tolist() == [[1, 0]]
    assert one.relevant.size == 0
    assert (ten.outcomes.tolist(), ten.relevant.tolist()) == ([NOT_RELEVANT, RELEVANT], [1])


@given(
    st.lists(st.lists(ids, unique=True, max_size=6), min_size=1, max_size=4),
    st.dictionaries(ids, st.integers(0, 2)),
    st.integers(1, 7),
)
def test_rankings_are_those_of_docnos_and_numbers_those_of_the_arrays(
    rankings: list[list[str]], grades: dict[str, int], depth: int
) -> None:
    """Rankings equal `rankings_of`, and a relevant document's number is its own in the arrays."""
    runs = [
        Run(f"r{number}", [Ranking("1", docnos, -np.arange(float(len(docnos))), None)], "")
        for number, docnos in enumerate(rankings)
    ]
    documents = ranked_runs(runs, order="file")
    qrels = [Qrel("1", docno, grade) for docno, grade in grades.items()]
    topics = judged_topics(documents, qrels, level=1, depth=depth)
    if not qrels:
        assert topics == []
        return
    expected, docnos = rankings_of([one[:depth] for one in rankings])
    [topic] = topics
    assert topic.rankings.documents.tolist() == expected.documents.tolist()
    known = {True: RELEVANT, False: NOT_RELEVANT}
    assert topic.outcomes.tolist() == [
        known[grades[docno] >= 1] if docno in grades else UNJUDGED for docno in docnos
    ]
    # A document alone has AP 1/rank in a run: so its number is told by the ranks it has.
    arrays = judged_arrays(documents, qrels, level=1, cutoff=1000)
    ranks = relevant_ranks(arrays)
    for document, number in zip(topic.relevant, topic.among_relevant, strict=True):
        is_known = np.arange(ranks.topic_of.size) == number
        means, _ = ranks.mean_average_precision(is_known)
        docno = docnos[document]
        assert means.tolist() == [1 / (one.index(docno) + 1) if docno in one else 0.0 for one in rankings]
