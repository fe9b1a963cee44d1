"""Two pools compared, and who brought what: against plain loops over the lines of runs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooler.pools.change import CollectionState, PoolSide, by_topic, count_bringers, count_places, pool_diff
from pooler.pools.contents import brought_by
from pooler.pools.runs import FileRuns
from pooler.reading.tops import RunTop, TopRanking
from store.judging.states import PairState
from store.records import State

PAIRS = st.sets(st.tuples(st.sampled_from(["9", "10", "a"]), st.sampled_from("xyz")))


def runs_of(rankings: dict[str, dict[str, str]]) -> FileRuns:
    """Make runs whose docnos are single letters in rank order, by tag and topic."""
    return FileRuns([
        RunTop(tag, f"{tag}.run", "", 5, "trec",
               {topic: TopRanking.of(list(docnos), np.arange(len(docnos), 0.0, -1.0), len(docnos))
                for topic, docnos in topics.items()}, sum(map(len, topics.values())))
        for tag, topics in rankings.items()
    ])  # fmt: skip


@given(first=PAIRS, second=PAIRS)
def test_every_document_is_on_one_side(first: set[tuple[str, str]], second: set[tuple[str, str]]) -> None:
    """The three lists are the two differences and the intersection, sorted; topics add up."""
    found = pool_diff(first, second)
    sides = {PoolSide.ONLY_A: first - second, PoolSide.ONLY_B: second - first, PoolSide.BOTH: first & second}
    assert {side: set(pairs) for side, pairs in found.items()} == sides
    for side, pairs in found.items():
        assert pairs == sorted(pairs, key=lambda p: (["9", "10", "a"].index(p[0]), p[1]))
        assert sum(len(parts[side]) for parts in by_topic(found).values()) == len(pairs)


def test_places_keep_the_states_apart() -> None:
    """Pooled and judged, judged outside, cannot, skipped, unjudged, not pooled: six counts."""
    main, nowhere = frozenset({"main"}), frozenset[str]()
    pair_states = {
        ("1", "a"): PairState(main, State.JUDGED, 0),
        ("1", "b"): PairState(nowhere, State.JUDGED, 2),
        ("1", "c"): PairState(main, State.CANNOT),
        ("1", "d"): PairState(main, State.SKIPPED),
        ("1", "e"): PairState(main, State.UNJUDGED),
        ("1", "f"): PairState(nowhere, State.SKIPPED),
    }
    found = count_places([("1", docno) for docno in "abcdefg"], pair_states)
    assert found == {
        CollectionState.JUDGED: 1,
        CollectionState.CANNOT: 1,
        CollectionState.SKIPPED: 1,
        CollectionState.UNJUDGED: 1,
        CollectionState.OUTSIDE: 1,
        CollectionState.NOT_POOLED: 2,
    }


@given(
    rankings=st.dictionaries(
        st.sampled_from(["t1", "t2", "t3"]),
        st.dictionaries(
            st.sampled_from("12"),
            st.permutations("abcd").map(lambda letters: "".join(letters[:3])),
            min_size=1,
        ),
        min_size=1,
    ),
    wanted=st.sets(st.tuples(st.sampled_from("12"), st.sampled_from("abcde"))),
)
def test_bringers_are_the_runs_that_return_it(
    rankings: dict[str, dict[str, str]], wanted: set[tuple[str, str]]
) -> None:
    """Rank and tag of every run that has the document, the best rank first."""
    expected = {}
    for topic, docno in wanted:
        has = [
            (topics[topic].index(docno) + 1, tag)
            for tag, topics in rankings.items()
            if docno in topics.get(topic, "")
        ]
        if has:
            expected[topic, docno] = sorted(has)
    found = brought_by(runs_of(rankings), wanted)
    assert found == expected
    for one in count_bringers(found):
        mine = [has for has in expected.values() if one.tag in {tag for _, tag in has}]
        assert (one.documents, one.alone) == (len(mine), sum(len(has) == 1 for has in mine))
