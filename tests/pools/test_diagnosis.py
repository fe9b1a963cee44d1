"""Whether a pool was deep enough, and what it was made by."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from store.analysis.measures.bounds import coverage, readings
from store.analysis.measures.names import parse_measure
from store.analysis.pools.contributions import RANKS_PER_HOLE, UNTOLD, infer_pool, within_depth
from store.analysis.pools.diagnosis import (
    PoolDiagnosis,
    RankCounts,
    brought_by,
    diagnose,
    overlaps,
    rank_counts,
    topic_counts,
)
from store.analysis.rankings import RELEVANT, graded_rankings, judged_rankings
from store.errors import ArgumentError
from tests.helpers.plain_lists import Drawn, Grades, Lists, arrays_of, drawn_collections
from tests.helpers.strategies import examples
from tests.helpers.trec_covid import covid_arrays, leaderboard

GradedLists = dict[tuple[str, str], list[int]]
OfTopics = dict[str, dict[int, int]]
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


def collection(lists: list[list[list[int]]], grades: list[dict[int, int]]) -> tuple[GradedLists, OfTopics]:
    """Name the runs and the topics that there are of both."""
    n_topics = min(len(grades), *map(len, lists))
    return (
        {(f"r{run}", f"t{topic}"): one[topic] for run, one in enumerate(lists) for topic in range(n_topics)},
        {f"t{topic}": grades[topic] for topic in range(n_topics)},
    )


def diagnosed(lists: GradedLists, grades: OfTopics, **options: object) -> PoolDiagnosis:
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


def test_counts_are_added_up_and_not_averaged() -> None:
    """NumRet of two topics: 2 + 1 as judged, 1 + 0 of the judged documents."""
    lists: GradedLists = {("a", "t"): [1, 2], ("a", "u"): [3]}
    found = diagnosed(lists, {"t": {1: 1}, "u": {9: 1}})
    (one,) = readings(found.graded, [parse_measure("NumRet")], scale=(0, 1))
    assert one.scores.overall.tolist() == [3]
    assert one.judged_only.overall.tolist() == [1]
    assert one.low is not None
    assert one.low.tolist() == [3]
    nothing = diagnosed(lists, {"t": {1: 1}, "u": {9: 1}}, depth=1, contributing=np.zeros(1, np.bool_))
    assert (nothing.pool, nothing.reason) == (None, "no-contributing-run")


def test_bounds_are_over_the_topics_that_have_a_score() -> None:
    """Topic `u` has nothing relevant and no AP; it is in no bound, though it might be."""
    lists: GradedLists = {("a", "t"): [1, 2], ("a", "u"): [3]}
    found = diagnosed(lists, {"t": {2: 1}, "u": {9: 0}})
    (one,) = readings(found.graded, [parse_measure("AP")], scale=(0, 1))
    assert one.low is not None
    assert one.high is not None
    # Unjudged, relevant: 1/2, or 1 of R = 2.
    assert (one.low.tolist(), one.scores.overall.tolist(), one.high.tolist()) == ([0.5], [0.5], [1])


@settings(max_examples=examples(60))
@given(drawn_collections(), st.integers(1, WIDTH))
def test_counts_are_those_of_sets(drawn: Drawn, depth: int) -> None:
    """Ranks, topics and runs a document: all counted one by one."""
    arrays, judged, depth = drawn.arrays(), drawn.grades, min(depth, drawn.cutoff)
    plain = {(tag, topic): drawn.listed(tag, topic) for tag in drawn.tags for topic in judged}
    ranks = rank_counts(arrays)
    for rank, (n, known) in enumerate(zip(ranks.documents, ranks.judged, strict=True)):
        there = [(topic, one[rank]) for (_, topic), one in plain.items() if len(one) > rank]
        assert (n, known) == (len(there), sum(docno in judged[topic] for topic, docno in there))
    counts = topic_counts(arrays, within_depth(arrays, depth))
    by_runs: dict[tuple[str, int], int] = {}
    for place, (topic, grades) in enumerate(judged.items()):
        pool = {docno for (_, its), one in plain.items() if its == topic for docno in one[:depth]}
        for docno in pool:
            lists = [one[:depth] for (_, its), one in plain.items() if its == topic]
            by_runs[topic, docno] = sum(docno in one for one in lists)
        assert counts.judged[place] == len(grades)
        assert counts.relevant[place] == sum(grades.values())
        assert counts.pooled[place] == len(pool)
        assert counts.pool_judged[place] == len(pool & {*grades})
        assert counts.pool_unjudged[place] == len(pool - {*grades})
        assert counts.pool_relevant[place] == sum(grades.get(docno, False) for docno in pool)
        assert counts.pool_not_relevant[place] == sum(grades.get(docno) is False for docno in pool)
        assert counts.outside[place] == len({*grades} - pool)
    brought = brought_by(arrays, within_depth(arrays, depth))
    for n in range(len(arrays.tags) + 1):
        pairs = [pair for pair, runs in by_runs.items() if runs == n]
        assert brought.documents[n] == len(pairs)
        assert brought.judged[n] == sum(docno in judged[topic] for topic, docno in pairs)
        assert brought.relevant[n] == sum(judged[topic].get(docno, False) for topic, docno in pairs)


def test_overlaps_of_all_pairs() -> None:
    """Limits that touch overlap; a run without a score is no neighbour."""
    low = np.array([0.1, 0.6, np.nan, 0.4, 0.1])
    high = np.array([0.2, 0.9, np.nan, 0.6, 0.4])
    scores = np.array([0.15, 0.7, np.nan, 0.5, 0.3])
    found = overlaps(low, scores, high)
    # In order .7, .5, .3, .15: .6 meets .6; .4 meets .4; .2 is above .1.
    assert (found.n_pairs, found.n_overlapping) == (3, 3)
    # 1 of 6 pairs of neighbours at two steps: .7 | .3, .7 | .15, .5 | .15 are apart.
    assert (found.n_settled, found.n_all_pairs) == (3, 6)
    assert overlaps(low[2:3], scores[2:3], high[2:3]).n_pairs == 0


def test_depth_down_to_which_nearly_all_is_judged() -> None:
    """Cumulated 4 of 4, 7 of 8, 11 of 12, 11 of 16: .9 holds to rank 3 again, 1 to rank 1."""
    counts = RankCounts(np.array([4, 4, 4, 4]), np.array([4, 3, 4, 0]))
    assert counts.judged_down_to(0.9) == (3, 12, 11)
    assert counts.judged_down_to(1.0) == (1, 4, 4)
    assert counts.unjudged.tolist() == [0, 1, 0, 4]
    assert RankCounts(np.array([4]), np.array([3])).judged_down_to(0.9) is None


def test_rank_without_documents_has_no_share() -> None:
    """Nothing is unjudged of nothing: NaN, and no warning of a division by 0."""
    shares = RankCounts(np.array([4, 0]), np.array([3, 0])).unjudged_share()
    np.testing.assert_array_equal(shares, [0.25, np.nan])


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


@pytest.mark.parametrize(("depth", "n_forgiven"), [(19, 0), (20, 1), (39, 1), (40, 2)])
def test_holes_are_forgiven_by_the_depth(depth: int, n_forgiven: int) -> None:
    """One hole in every twenty ranks of each list is forgiven, and one more is not."""
    assert depth // RANKS_PER_HOLE == n_forgiven
    for n_holes in (n_forgiven, n_forgiven + 1):
        judged = dict.fromkeys(range(n_holes, 50), False)
        lists: Lists = {("a", "t"): list(range(60)), ("a", "u"): list(range(n_holes, 60))}
        pool = infer_pool(arrays_of(lists, {"t": judged, "u": judged}, 100), depth)
        assert pool.pooled.tolist() == [n_holes == n_forgiven]


@pytest.mark.vector("V10: sample.rel and sample.res of pyNTCIREVAL")
def test_ntcir_sample_is_judged_to_rank_two() -> None:
    """Of dummy11, 01, 12 and 04 the third is unjudged, so that the depth is 2."""
    grades: Grades = {"1": {number: number < 11 for number in range(1, 12)}}
    arrays = arrays_of({("run", "1"): [11, 1, 12, 4]}, grades, 1000)
    assert int(np.count_nonzero(arrays.states_by_rank(0) == RELEVANT)) == 2
    pool = infer_pool(arrays)
    assert (pool.depth, pool.pooled.tolist()) == (2, [True])
    with pytest.raises(ArgumentError, match="`depth` must be from 1 to 1000"):
        within_depth(arrays, 1001)


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
