"""Events of copies that were worked on apart: united, laid in one row, and read again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from store.keeping.merge.copies import SettleRule
from store.keeping.merge.graph import CopyEvent, in_order, placed, united
from store.keeping.merge.settle import BY_HAND
from store.records import Action
from tests.store.keeping.merge.laptops import (
    QUIET,
    act,
    bare,
    chain_of,
    content,
    judged,
    merge,
    moment,
    states,
    worked_apart,
)
from tests.strategies import examples

RULES = st.sampled_from(list(SettleRule))
many = settings(max_examples=examples(60))


@many
@given(st.data(), RULES)
def test_any_order_of_merging_gives_the_same(data: st.DataObject, rule: SettleRule) -> None:
    """However copies are merged, two by two or all at once, the events are the same."""
    chains = [chain for chain in data.draw(worked_apart(rule)) if chain]
    if not chains:
        return
    whole = bare(merge(*chains, rule=rule))
    order = data.draw(st.permutations(chains))
    assert bare(merge(*order, rule=rule)) == whole
    left = order[0]
    for chain in order[1:]:
        left = merge(left, chain, rule=rule)
    right = order[-1]
    for chain in reversed(order[:-1]):
        right = merge(chain, right, rule=rule)
    assert bare(left) == whole
    assert bare(right) == whole


@many
@given(st.data(), RULES)
def test_merging_twice_changes_nothing(data: st.DataObject, rule: SettleRule) -> None:
    """A copy that is in already, or was merged before, adds nothing."""
    chains = [chain for chain in data.draw(worked_apart(rule)) if chain]
    if not chains:
        return
    whole = merge(*chains, rule=rule)
    for chain in (*chains, whole):
        assert bare(merge(whole, chain, rule=rule)) == bare(whole)
        assert bare(merge(whole, chain)) == bare(whole)  # nothing is left to be settled


@many
@given(st.data(), RULES.filter(lambda rule: rule is not SettleRule.UNJUDGED), st.none() | RULES)
def test_settlement_stands_against_copies_with_but_notes(
    data: st.DataObject, rule: SettleRule, other: SettleRule | None
) -> None:
    """Notes and marks on any copy there was ask nothing again, and no rule settles otherwise.

    A document that a rule put back stands by no decision: it is not among them.
    """
    chains = [chain for chain in data.draw(worked_apart(rule)) if chain]
    if not chains:
        return
    whole = merge(*chains, rule=rule)
    extra = data.draw(st.sampled_from([[], *chains]))
    extra = extra[: data.draw(st.integers(0, len(extra)))]
    for number in range(data.draw(st.integers(1, 3))):
        action = data.draw(st.sampled_from(QUIET))
        extra = act(extra, action, data.draw(st.integers(0, 40)), word=b"e%d" % number)
    found = merge(whole, extra, rule=other)
    assert states(found)[:2] == states(whole)[:2]
    assert bare(found) == bare(merge(extra, whole, rule=other)) == bare(merge(found, extra))


@many
@given(worked_apart())
def test_no_ruling_by_hand_is_lost(chains: list[list[CopyEvent]]) -> None:
    """What was settled by hand on any copy stays in the history, whatever comes."""
    chains = [chain for chain in chains if chain]
    if not chains:
        return
    known = united(dict(enumerate(chains)))
    ruled = {one for one, node in known.items() if node.content.settled == BY_HAND}
    assert ruled <= united({0: merge(*chains, rule=SettleRule.LATEST)}).keys()


@many
@given(worked_apart())
def test_no_event_of_a_judge_is_lost_or_invented(chains: list[list[CopyEvent]]) -> None:
    """What judges did on any copy is there once, and nothing else but settlements."""
    chains = [chain for chain in chains if chain]
    if not chains:
        return
    known = united(dict(enumerate(chains)))
    acted = sorted(one for one, node in known.items() if not node.is_settlement)
    whole = merge(*chains, rule=SettleRule.LATEST)
    found = united({0: whole})
    assert sorted(one for one, node in found.items() if not node.is_settlement) == acted
    for number, event in enumerate(whole):
        assert event.undoes is None or event.undoes <= number
        assert event.follows is None or event.follows < number


@many
@given(worked_apart())
def test_every_event_comes_after_all_it_follows(chains: list[list[CopyEvent]]) -> None:
    """The row keeps each copy's own order, whatever the clocks said."""
    chains = [chain for chain in chains if chain]
    graph = united(dict(enumerate(chains)))
    places = {node.identity: place for place, node in enumerate(in_order(graph))}
    assert len(places) == len(graph)
    for node in graph.values():
        assert all(places[parent] < places[node.identity] for parent in node.parents)


@many
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=6),
       st.integers(2, 5), st.data())  # fmt: skip
def test_work_in_turns_is_as_on_one_machine(
    steps: list[tuple[int, int]], n_copies: int, data: st.DataObject
) -> None:
    """When copies are merged before each goes on, the row is what one machine would have."""
    chains: list[list[CopyEvent]] = [[] for _ in range(n_copies)]
    alone: list[CopyEvent] = []
    for at, (grade, kind) in enumerate(steps):
        copy = data.draw(st.integers(0, n_copies - 1))
        chains[copy] = merge(*(one for one in chains if one)) if alone else []
        action = [Action.JUDGE, Action.SKIP, Action.NOTE, Action.UNDO, Action.CANNOT, Action.MARK][kind]
        chains[copy] = act(chains[copy], action, at, grade=grade, word=b"w%d" % at)
        alone = act(alone, action, at, grade=grade, word=b"w%d" % at)
    if alone:
        assert bare(merge(*(one for one in chains if one))) == bare(alone)


def test_row_of_a_fork_is_worked_out_by_hand() -> None:
    """Ann judged 1, then on one copy 2 at 9:00:09, on the other 0 at 9:00:05 and a note at 9:00:30.

    All follow revision 1. In one row: 1 (1 s), 0 (5 s), 2 (9 s), note (30 s); 2 follows 1, not 0
    before it, and the note follows revision 2; the settlement by the latest decision took 2.
    """
    base = [CopyEvent(judged(1, 1))]
    first = [*base, CopyEvent(judged(2, 9))]
    second = [*base, CopyEvent(judged(0, 5)),
              CopyEvent(content("note", "judged", 30, grade=0, note=b"n"))]  # fmt: skip
    whole = merge(first, second, rule=SettleRule.LATEST)
    assert [(one.content.action, one.content.grade, one.follows) for one in whole] == [
        ("judge", 1, None), ("judge", 0, None), ("judge", 2, 1), ("note", 0, 2), ("settle", 2, 3),
    ]  # fmt: skip
    assert whole[-1].content.judged_at == moment(30)
    assert whole[-1].content.display_order is None


def test_two_first_events_follow_nothing() -> None:
    """What was done on two copies before either had an event: the second follows none, 0."""
    whole = merge([CopyEvent(judged(1, 1))], [CopyEvent(judged(2, 2))], rule=SettleRule.HIGHEST)
    assert [one.follows for one in whole] == [None, 0, None]
    assert [one.content.grade for one in whole] == [1, 2, 2]


def test_equal_actions_on_one_copy_stay_two() -> None:
    """The same grade twice, at the same moment, is two events; on two copies it is one each."""
    twice = [CopyEvent(judged(1, 1)), CopyEvent(judged(1, 1))]
    assert len(united({0: twice, 1: twice[:1]})) == 2
    assert bare(merge(twice[:1], twice)) == bare(twice)


def test_settlement_lists_its_ends_where_its_place_does_not_say_them() -> None:
    """Two copies settled different ends, and went on: the second lists what it follows."""
    base = [CopyEvent(judged(0, 1))]
    one, two, three = (act(base, Action.JUDGE, at, grade=at) for at in (2, 3, 4))
    left = act(merge(one, two, rule=SettleRule.LATEST), Action.NOTE, 5, word=b"left")
    right = act(merge(one, three, rule=SettleRule.LATEST), Action.NOTE, 6, word=b"right")
    whole = merge(left, right, rule=SettleRule.LATEST)
    listed = [event.content.display_order for event in whole if event.content.action == "settle"]
    assert [one for one in listed if one] == ["settles:2,5"]
    assert united({0: whole}).keys() == united({0: left, 1: right}).keys() | {
        next(reversed(united({0: whole})))
    }
    assert bare(chain_of(placed(in_order(united({0: whole}))))) == bare(whole)
