"""`store.analysis.pools.diagnosis` against loops over plain lists and sets."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from store.analysis.pools.contributions import within_depth
from store.analysis.pools.diagnosis import RankCounts, brought_by, overlaps, rank_counts, topic_counts
from store.analysis.rankings import JudgedRankings, judged_rankings
from tests.strategies import examples

CUTOFF = 6
DOCUMENTS = range(9)

rankings_of = st.lists(
    st.tuples(
        st.lists(st.permutations(DOCUMENTS).map(lambda one: one[:5]), min_size=1, max_size=4),
        st.dictionaries(st.sampled_from(DOCUMENTS), st.booleans()),
        st.lists(st.integers(0, 5), min_size=4, max_size=4),
    ),
    min_size=1,
    max_size=3,
)
"""For each topic: whole lists of the runs, judgements, and how long the lists are."""


def arrays_of(drawn: list) -> tuple[JudgedRankings, dict, dict]:
    """Make arrays, and plain lists and judgements by topic."""
    n_runs = min(len(lists) for lists, _, _ in drawn)
    plain = {
        (f"r{run}", f"t{topic}"): lists[run][: lengths[run]]
        for topic, (lists, _, lengths) in enumerate(drawn)
        for run in range(n_runs)
    }
    judged = {f"t{topic}": judgements for topic, (_, judgements, _) in enumerate(drawn)}
    arrays = judged_rankings(
        list(judged),
        [f"r{run}" for run in range(n_runs)],
        {key: np.array(one, dtype=np.int64) for key, one in plain.items()},
        {
            topic: (np.array([*one], dtype=np.int64), np.array([*one.values()], dtype=np.bool_))
            for topic, one in judged.items()
        },
        cutoff=CUTOFF,
    )
    return arrays, plain, judged


@settings(max_examples=examples(60))
@given(rankings_of, st.integers(1, CUTOFF))
def test_counts_are_those_of_sets(drawn: list, depth: int) -> None:
    """Ranks, topics and runs a document: all counted one by one."""
    arrays, plain, judged = arrays_of(drawn)
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
        assert counts.outside[place] == len({*grades} - pool)
    brought = brought_by(arrays, within_depth(arrays, depth))
    for n in range(len(arrays.tags) + 1):
        pairs = [pair for pair, runs in by_runs.items() if runs == n]
        assert brought.documents[n] == len(pairs)
        assert brought.judged[n] == sum(docno in judged[topic] for topic, docno in pairs)
        assert brought.relevant[n] == sum(judged[topic].get(docno, False) for topic, docno in pairs)


def test_rank_that_no_list_reaches_has_no_share() -> None:
    """Runs without any document: no rank at all."""
    arrays, _, _ = arrays_of([([[0, 1, 2, 3, 4]], {0: True}, [0, 0, 0, 0])])
    assert rank_counts(arrays).unjudged_share().tolist() == []


def test_topics_without_a_pool_have_no_pooled_documents() -> None:
    """All that is judged is outside."""
    arrays, _, _ = arrays_of([([[0, 1, 2, 3, 4]], {0: True, 8: False}, [5, 0, 0, 0])])
    counts = topic_counts(arrays)
    assert counts.pooled.tolist() == [0]
    assert counts.outside.tolist() == [2]


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


def test_judged_documents_of_a_pool_are_relevant_or_not() -> None:
    """Depth 2 of one list: 1 judged relevant, 2 judged not; 3, below, is neither here nor there."""
    arrays = judged_rankings(
        ["t"],
        ["a"],
        {("a", "t"): np.array([1, 2, 3])},
        {"t": (np.array([1, 2, 3]), np.array([True, False, False]))},
        cutoff=3,
    )
    counts = topic_counts(arrays, within_depth(arrays, 2))
    assert (counts.pool_relevant.tolist(), counts.pool_not_relevant.tolist()) == ([1], [1])
