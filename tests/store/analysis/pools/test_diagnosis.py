"""`store.analysis.pools.diagnosis` and its readings: what fits together, and what is undefined."""

from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.bounds import coverage, readings
from store.analysis.measures.names import parse_measure
from store.analysis.pools.diagnosis import PoolDiagnosis, diagnose
from store.analysis.rankings import graded_rankings, judged_rankings

Lists = dict[tuple[str, str], list[int]]
Grades = dict[str, dict[int, int]]
WIDTH = 6

drawn_lists = st.lists(
    st.lists(st.permutations(range(10)).map(lambda one: one[:WIDTH]), min_size=2, max_size=3),
    min_size=2,
    max_size=4,
)
"""By run, then topic."""
drawn_grades = st.lists(
    st.dictionaries(st.integers(0, 11), st.integers(0, 2), min_size=1), min_size=2, max_size=3
)


def collection(lists: list[list[list[int]]], grades: list[dict[int, int]]) -> tuple[Lists, Grades]:
    """Name the runs and the topics that there are of both."""
    n_topics = min(len(grades), *map(len, lists))
    return (
        {(f"r{run}", f"t{topic}"): one[topic] for run, one in enumerate(lists) for topic in range(n_topics)},
        {f"t{topic}": grades[topic] for topic in range(n_topics)},
    )


def diagnosed(lists: Lists, grades: Grades, **options: object) -> PoolDiagnosis:
    """Diagnose; relevant = grade 1 or more."""
    tags = list(dict.fromkeys(tag for tag, _ in lists))
    ranked = {key: np.array(one, dtype=np.int64) for key, one in lists.items()}
    ids = {topic: np.array([*one], dtype=np.int64) for topic, one in grades.items()}
    codes = {topic: np.array([*one.values()], dtype=np.int64) for topic, one in grades.items()}
    binary = {topic: (ids[topic], codes[topic] >= 1) for topic in grades}
    both = {topic: (ids[topic], codes[topic]) for topic in grades}
    return diagnose(
        judged_rankings([*grades], tags, ranked, binary, cutoff=50),
        graded_rankings([*grades], tags, ranked, both, cutoff=50),
        level=1,
        **options,  # type: ignore[arg-type]  # the tests' own keywords
    )


@given(drawn_lists, drawn_grades, st.integers(1, WIDTH), st.data())
def test_sums_agree(lists: list, grades: list, depth: int, data: st.DataObject) -> None:
    """Topics add up to the pool, and so do runs a document."""
    named, judged = collection(lists, grades)
    n_runs = len(lists)
    fed = np.array(data.draw(st.lists(st.booleans(), min_size=n_runs, max_size=n_runs)))
    groups = data.draw(st.lists(st.sampled_from(["", "g", "h"]), min_size=n_runs, max_size=n_runs))
    options = {"depth": depth, "contributing": fed, "groups": groups}
    found = diagnosed(named, judged, **options)
    if not fed.any():
        assert (found.pool, found.reason) == (None, "no-contributing-run")
        return
    pool = found.pool
    assert pool is not None
    assert pool.n_pairs == found.topics.pooled.sum() == pool.brought.documents.sum()
    assert pool.n_judged == found.topics.pool_judged.sum() == pool.brought.judged.sum()
    assert pool.n_outside == found.topics.outside.sum()
    assert pool.brought.documents[1] == pool.by_run.unique.sum()
    assert pool.brought.relevant[1] == pool.by_run.scores.n_relevant.sum()
    kinds = {group or tag for group, tag in zip(groups, found.rankings.tags, strict=True)}
    assert (pool.by_group is not None) == (1 < len(kinds) < n_runs)


@given(drawn_lists, drawn_grades, st.integers(1, WIDTH))
def test_infap_with_a_pool_is_trec_evals(lists: list, grades: list, depth: int) -> None:
    """A pooled document without a judgement is a line of grade -1 to trec_eval."""
    named, judged = collection(lists, grades)
    fed = np.ones(len(lists), np.bool_)
    found = diagnosed(named, judged, depth=depth, contributing=fed)
    assert found.pool is not None
    held = found.pool.holds
    told = {topic: {str(docno): grade for docno, grade in one.items()} for topic, one in judged.items()}
    for run, tag in enumerate(found.rankings.tags):
        for place, topic in enumerate(judged):
            for rank, docno in enumerate(named[tag, topic]):
                within = any(docno in one[:depth] for (_, its), one in named.items() if its == topic)
                assert held[run, place, rank] == within
                if within:
                    told[topic].setdefault(str(docno), -1)
    of_runs = coverage(found.graded, level=1, cutoff=3, pooled=held)
    for run, tag in enumerate(found.rankings.tags):
        ranked = {
            topic: {str(docno): -float(rank) for rank, docno in enumerate(named[tag, topic])}
            for topic in judged
        }
        theirs = pytrec_eval.RelevanceEvaluator(told, {"infAP"}).evaluate(ranked)
        for place, topic in enumerate(judged):
            if any(grade > 0 for grade in judged[topic].values()):
                expected = pytest.approx(theirs[topic]["infAP"], abs=1e-12)
                assert of_runs.inferred_ap.values[run, place] == expected
            else:
                assert np.isnan(of_runs.inferred_ap.values[run, place])


def test_depth_below_the_end_of_every_list() -> None:
    """The pool is all there is, and the guess begins where the lists end."""
    lists: Lists = {("a", "t"): [1, 2, 3, 4], ("b", "t"): [3, 5, 6]}
    found = diagnosed(
        lists, {"t": {1: 1, 2: 1, 3: 1, 4: 0, 5: 0, 6: 1}}, depth=20, contributing=np.ones(2, np.bool_)
    )
    assert found.pool is not None
    assert (found.pool.depth, found.pool.n_pairs) == (20, 6)
    assert (found.pool.missed.depth, found.pool.missed.to_depth) == (4, 8)


def test_counts_are_added_up_and_not_averaged() -> None:
    """NumRet of two topics: 2 + 1 as judged, 1 + 0 of the judged documents."""
    lists: Lists = {("a", "t"): [1, 2], ("a", "u"): [3]}
    found = diagnosed(lists, {"t": {1: 1}, "u": {9: 1}})
    (one,) = readings(found.graded, [parse_measure("NumRet")], scale=(0, 1))
    assert one.scores.overall.tolist() == [3]
    assert one.judged_only.overall.tolist() == [1]
    assert one.low is not None
    assert one.low.tolist() == [3]


def test_bounds_are_over_the_topics_that_have_a_score() -> None:
    """Topic `u` has nothing relevant and no AP; it is in no bound, though it might be."""
    lists: Lists = {("a", "t"): [1, 2], ("a", "u"): [3]}
    found = diagnosed(lists, {"t": {2: 1}, "u": {9: 0}})
    (one,) = readings(found.graded, [parse_measure("AP")], scale=(0, 1))
    assert one.low is not None
    assert one.high is not None
    # Unjudged, relevant: 1/2, or 1 of R = 2.
    assert (one.low.tolist(), one.scores.overall.tolist(), one.high.tolist()) == ([0.5], [0.5], [1])
