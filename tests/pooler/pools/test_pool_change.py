"""What a change of the pools does to documents, against plain sets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pooler.pools.change import ChangeCount, PooledWhen, StatesInPool
from store.judging.states import PairState
from store.records import State

POOLS = ("main", "late", "deep")
PAIRS = st.tuples(st.sampled_from("12"), st.sampled_from("abcdefg"))
STANDINGS = st.builds(PairState, st.frozensets(st.sampled_from(POOLS)), st.sampled_from(list(State)))


@given(
    now=st.dictionaries(PAIRS, STANDINGS),
    whole=st.sets(st.sampled_from(POOLS)),
    partly=st.dictionaries(st.sampled_from(POOLS), st.sets(PAIRS)),
    added=st.lists(PAIRS),
)
def test_any_change_is_counted_as_sets_would_be(
    now: dict[tuple[str, str], PairState],
    whole: set[str],
    partly: dict[str, set[tuple[str, str]]],
    added: list[tuple[str, str]],
) -> None:
    """Pools as sets before and after: differences and intersection, split by state."""
    leaving = {**partly, **dict.fromkeys(whole, None)}
    count = ChangeCount(now, leaving)
    count.add(added[:2])
    count.add(added[2:])
    change = count.finish()
    pools = {name: {pair for pair, one in now.items() if name in one.pools} for name in POOLS}
    before = set().union(*pools.values())
    for name in whole:
        pools[name] = set()
    for name in partly.keys() - whole:
        pools[name] = pools[name] - partly[name]
    after = set().union(*pools.values(), added)
    judged = {pair for pair, one in now.items() if one.state is State.JUDGED}
    expected = {
        PooledWhen.NEW: after - before,
        PooledWhen.LEAVING: before - after,
        PooledWhen.STAYING: before & after,
    }
    states = {pair: one.state for pair, one in now.items()}
    for part, pairs in expected.items():
        for topic in "12":
            of_topic = [pair for pair in pairs if pair[0] == topic]
            found = change.by_topic.get(topic, {}).get(part, StatesInPool())
            assert found.documents == len(of_topic)
            for state in State:
                in_state = [p for p in of_topic if states.get(p, State.UNJUDGED) is state]
                assert getattr(found, state.value) == len(in_state)
        assert change.total(part).documents == len(pairs)
    assert set(change.new) == expected[PooledWhen.NEW]
    assert len(change.new) == len(set(change.new))
    assert (change.outside_before, change.outside_after) == (len(judged - before), len(judged - after))


def test_topics_are_in_natural_order() -> None:
    """Topic 9 comes before topic 10."""
    count = ChangeCount({})
    count.add([("10", "a"), ("9", "a")])
    assert list(count.finish().by_topic) == ["9", "10"]
