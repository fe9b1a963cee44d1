"""Pools told from runs and judgements, against loops over lists and pools whose depth is known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.pools.contributions import RANKS_PER_HOLE, UNTOLD, infer_pool, within_depth
from store.analysis.pools.diagnosis import topic_counts
from store.analysis.rankings import RELEVANT, UNJUDGED
from store.errors import ArgumentError
from tests.store.analysis.drawn_collections import Drawn, drawn_collections
from tests.store.analysis.plain_lists import Grades, Lists, arrays_of
from tests.trec_covid import covid_arrays, leaderboard


def plain_prefix(drawn: Drawn, tag: str) -> int | None:
    """Count the judged documents from the top, list by list; ``None`` where all are judged."""
    prefixes = []
    for topic, judged in drawn.grades.items():
        documents = drawn.listed(tag, topic)
        n_judged = 0
        while n_judged < len(documents) and documents[n_judged] in judged:
            n_judged += 1
        if n_judged < len(documents):
            prefixes.append(n_judged)
    return min(prefixes, default=None)


@given(drawn=drawn_collections(most_runs=6), given_depth=st.sampled_from([None, None, 1, 2]))
def test_every_field_equals_a_plain_count(drawn: Drawn, given_depth: int | None) -> None:
    """Prefixes, depth, runs, pairs and judgements outside are those of loops over lists."""
    pool = infer_pool(drawn.arrays(), given_depth)
    prefixes = {tag: plain_prefix(drawn, tag) for tag in drawn.tags}
    answers = {tag: any(drawn.listed(tag, topic) for topic in drawn.grades) for tag in drawn.tags}
    assert pool.prefixes.tolist() == [UNTOLD if prefix is None else prefix for prefix in prefixes.values()]
    counts = Counter(prefix for prefix in prefixes.values() if prefix)
    depth = given_depth
    if depth is None and counts:
        depth = max(counts, key=lambda prefix: (counts[prefix], prefix))
    assert pool.depth == depth
    if depth is not None:
        assert pool.reason is None
    elif not any(answers.values()):
        assert pool.reason == "no-documents"
    else:
        assert pool.reason == ("none-judged" if 0 in prefixes.values() else "all-judged")
    reach = depth or 0
    for row, tag in enumerate(drawn.tags):
        holes = [
            sum(one not in judged for one in drawn.listed(tag, topic)[:reach])
            for topic, judged in drawn.grades.items()
        ]
        assert pool.pooled[row] == (answers[tag] and bool(depth) and not any(holes))


@given(drawn=drawn_collections(most_runs=6), depth=st.integers(1, 4))
def test_runs_that_were_pooled_are_found(drawn: Drawn, depth: int) -> None:
    """Where a depth pool was judged in full, every run is pooled and no prefix is shorter."""
    depth = min(depth, drawn.cutoff)
    grades: Grades = {topic: {} for topic in drawn.grades}
    for tag in drawn.tags:
        for topic in grades:
            grades[topic].update(dict.fromkeys(drawn.listed(tag, topic)[:depth], True))
    arrays = Drawn(drawn.tags, drawn.rankings, grades, drawn.cutoff).arrays()
    pool = infer_pool(arrays, depth)
    told = pool.prefixes[pool.prefixes != UNTOLD]
    assert np.all(told >= depth)
    answers = [any(drawn.listed(tag, topic) for topic in grades) for tag in drawn.tags]
    assert pool.pooled.tolist() == answers
    assert topic_counts(arrays, within_depth(arrays, depth, pool.pooled)).outside.sum() == 0


def test_the_larger_depth_wins_a_tie() -> None:
    """Two runs judged to rank 1 and two to rank 3: the pool is of depth 3."""
    rankings: Lists = {
        ("a", "t"): [1, 2, 3, 9],
        ("b", "t"): [3, 2, 1, 8],
        ("c", "t"): [1, 9, 2],
        ("d", "t"): [2, 8, 3],
    }
    pool = infer_pool(arrays_of(rankings, {"t": dict.fromkeys([1, 2, 3], True)}, 10))
    assert pool.prefixes.tolist() == [3, 3, 1, 1]
    assert pool.depth == 3
    assert pool.pooled.tolist() == [True, True, False, False]


@pytest.mark.parametrize(("depth", "n_forgiven"), [(19, 0), (20, 1), (39, 1), (40, 2)])
def test_holes_are_forgiven_by_the_depth(depth: int, n_forgiven: int) -> None:
    """One hole in every twenty ranks of each list is forgiven, and one more is not."""
    assert depth // RANKS_PER_HOLE == n_forgiven
    for n_holes in (n_forgiven, n_forgiven + 1):
        judged = dict.fromkeys(range(n_holes, 50), False)
        lists: Lists = {("a", "t"): list(range(60)), ("a", "u"): list(range(n_holes, 60))}
        pool = infer_pool(arrays_of(lists, {"t": judged, "u": judged}, 100), depth)
        assert pool.pooled.tolist() == [n_holes == n_forgiven]


def test_reasons_for_what_cannot_be_told() -> None:
    """Lists judged to their end, runs without a document, and nothing judged at the top."""
    lists: Lists = {("a", "t"): [1, 2], ("b", "t"): [9, 1]}
    grades: Grades = {"t": {1: True, 2: False}}
    pool = infer_pool(arrays_of(lists, grades, 10, ["a", "b", "c"]))
    assert pool.prefixes.tolist() == [UNTOLD, 0, UNTOLD]
    assert (pool.depth, pool.reason) == (None, "none-judged")
    assert not pool.pooled.any()
    assert infer_pool(arrays_of(lists, grades, 10, ["a", "c"])).reason == "all-judged"
    assert infer_pool(arrays_of(lists, grades, 10, ["c"])).reason == "no-documents"
    assert infer_pool(arrays_of({}, {}, 10)).reason == "no-documents"
    # With the depth known, the run that is judged to its end is one that may have been pooled.
    pool = infer_pool(arrays_of(lists, grades, 10, ["a", "b", "c"]), 1)
    assert pool.pooled.tolist() == [True, False, False]
    # A list cut off where it is judged says no more than one that ends there.
    assert infer_pool(arrays_of(lists, {"t": {9: True}}, 1, ["b"])).reason == "all-judged"


def test_depth_is_checked() -> None:
    """A depth beyond the ranks that were looked at is refused."""
    arrays = arrays_of({("a", "t"): [1]}, {"t": {1: True}}, 5)
    for depth in (0, 6):
        with pytest.raises(ArgumentError, match="`depth` must be from 1 to 5"):
            infer_pool(arrays, depth)


@pytest.mark.vector("TestPoolAnalyser.scala of PoolBiasEstimators")
def test_three_runs_of_the_pool_bias_estimators() -> None:
    """Depth 3 and 2 pooled runs; pools of 6, 1 and 7 judged documents.

    What their test calls document_id_x, again and again, are documents from 100 on here, and in the
    second list of run 2, rank 6, where document 1 stands twice, one of them.
    """
    lists: Lists = {
        ("1", "1"): [1, 4, 3, 2, 5, 6, 7, 8, 9, 10],
        ("1", "2"): list(range(1, 11)),
        ("2", "1"): [1, 2, 3, 100, 101, 102, 103, 104, 9, 10],
        ("2", "2"): [1, 2, 3, 4, 5, 100, 101, 102, 103, 104],
        ("3", "1"): [100, 101, 4, 102, 103, 104, 105, 106, 107, 108],
        ("3", "2"): [4, *range(100, 109)],
    }
    one, two = {1: True, 2: False, 3: False, 4: False, 5: True}, {1: False, 2: False, 3: False}
    arrays = arrays_of(lists, {"1": one, "2": two}, 100)
    pool = infer_pool(arrays)
    assert (pool.depth, pool.pooled.tolist()) == (3, [True, True, False])
    sizes = []
    for kept in ([1], [2], [0, 1, 2]):
        within = within_depth(arrays, 3, np.isin([0, 1, 2], kept))
        pooled = [arrays.documents_at(topic, within[:, topic]) for topic in (0, 1)]
        judged = [states != UNJUDGED for states in arrays.states]
        sizes.append(sum(int((a & b).sum()) for a, b in zip(pooled, judged, strict=True)))
    assert sizes == [6, 1, 7]


@pytest.mark.vector("V10: sample.rel and sample.res of pyNTCIREVAL")
def test_ntcir_sample_is_judged_to_rank_two() -> None:
    """Of dummy11, 01, 12 and 04 the third is unjudged, so that the depth is 2."""
    grades: Grades = {"1": {number: number < 11 for number in range(1, 12)}}
    arrays = arrays_of({("run", "1"): [11, 1, 12, 4]}, grades, 1000)
    assert int(np.count_nonzero(arrays.states_by_rank(0) == RELEVANT)) == 2
    pool = infer_pool(arrays)
    assert (pool.depth, pool.pooled.tolist()) == (2, [True])


def test_trec_covid_was_pooled_to_depth_seven() -> None:
    """The depth and the 56 runs that fed it are found, with 5 that were judged by chance.

    6,959 pairs, and 1,732 judgements from elsewhere, are those of the leaderboard's runs alone: the
    5 others bring nothing new. Ties in another order hide 4 of the runs, not the depth.
    """
    arrays, rows = covid_arrays(), leaderboard()
    fed = np.array([rows[tag]["contributed judgments"] == "yes" for tag in arrays.tags])
    pool = infer_pool(arrays)
    assert (pool.depth, np.count_nonzero(pool.prefixes == 7)) == (7, 61)
    assert (int(fed.sum()), int(pool.pooled.sum())) == (56, 61)
    assert pool.pooled[fed].all()
    counts = topic_counts(arrays, within_depth(arrays, 7, pool.pooled))
    assert (counts.pooled.sum(), counts.pool_judged.sum(), counts.outside.sum()) == (6959, 6959, 8691 - 6959)
    other = infer_pool(covid_arrays(order="trec"))
    assert other.depth == 7
    assert int(np.count_nonzero(fed & other.pooled)) == 52
