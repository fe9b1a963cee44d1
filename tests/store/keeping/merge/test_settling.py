"""What stands where a judge went on with one document on two copies."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from store.keeping.merge.copies import SettleRule, Take
from store.keeping.merge.graph import CopyEvent, placed
from store.keeping.merge.settle import BY_HAND, choose
from store.records import Action, State
from tests.store.keeping.merge.laptops import (
    act,
    bare,
    chain_of,
    content,
    judged,
    merge,
    merged,
    states,
    worked_apart,
)
from tests.strategies import examples

BASE = [CopyEvent(judged(0, 1, guideline_version=1))]
ONE = act(BASE, Action.JUDGE, 5, grade=1)
TWO = act(BASE, Action.JUDGE, 3, grade=2)
CANNOT = act(BASE, Action.CANNOT, 4, word=b"torn")


def test_different_decisions_are_left_open_without_a_rule() -> None:
    """Nothing chooses between two grades by itself; both are told, with when they were given."""
    found = merged(ONE, TWO)
    assert (found.is_open, found.is_conflict, found.how) == (True, True, None)
    assert [(one.outcome.grade, one.decider.content.judged_at[-8:-7]) for one in found.stands] == [
        (2, "3"), (1, "5"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (SettleRule.LATEST, Take(State.JUDGED, 1)),
        (SettleRule.EARLIEST, Take(State.JUDGED, 2)),
        (SettleRule.HIGHEST, Take(State.JUDGED, 2)),
        (SettleRule.LOWEST, Take(State.JUDGED, 1)),
        (SettleRule.UNJUDGED, Take(State.UNJUDGED)),
    ],
)
def test_rules_choose_as_their_names_say(rule: SettleRule, expected: Take) -> None:
    """Grade 2 was given first and 1 later; cannot has no grade, and is neither high nor low."""
    for chains in ([ONE, TWO], [TWO, ONE], [ONE, CANNOT, TWO]):
        last = merged(*chains, rule=rule).row[-1].content
        assert (last.state, last.grade) == (expected.state.value, expected.grade)
        assert (last.action, last.settled) == ("settle", rule.value)


def test_latest_goes_by_the_decision_not_by_a_note_after_it() -> None:
    """A note written later on one copy does not make its older grade the later one."""
    noted = act(TWO, Action.NOTE, 9, word=b"n")
    assert merged(ONE, noted, rule=SettleRule.LATEST).row[-1].content.grade == 1


def test_first_and_second_grade_of_one_copy_count_as_one() -> None:
    """What stands on a copy is its last decision; the ones before are history."""
    longer = act(ONE, Action.JUDGE, 6, grade=0)
    assert [one.outcome.grade for one in merged(longer, TWO).stands] == [2, 0]


@pytest.mark.parametrize(
    ("first", "second", "how", "stands"),
    [
        (ONE, act(BASE, Action.SKIP, 9), "decision", ("judged", 1)),
        (CANNOT, act(BASE, Action.REOPEN, 9), "decision", ("cannot", None)),
        (act(BASE, Action.SKIP, 2), act(BASE, Action.REOPEN, 9), "decision", ("skipped", None)),
        (ONE, act(BASE, Action.JUDGE, 9, grade=1), "agreed", ("judged", 1)),
        (CANNOT, act(BASE, Action.CANNOT, 9, word=b"lost"), "agreed", ("cannot", None)),
        (ONE, act(BASE, Action.NOTE, 9, word=b"n"), "agreed", ("judged", 1)),
        (act(BASE, Action.SKIP, 2), act(BASE, Action.NOTE, 9, word=b"n"), "agreed",
         ("skipped", None)),
        (act(ONE, Action.UNDO, 6), TWO, None, None),
    ],
)  # fmt: skip
def test_what_is_no_conflict_settles_itself(
    first: list[CopyEvent], second: list[CopyEvent], how: str | None, stands: tuple[str, int | None] | None
) -> None:
    """A decision stands against what is none, equal decisions agree, and a note contests nothing.

    An undo decides too: it took back to grade 0 what the other copy graded 2.
    """
    for pair in ((first, second), (second, first)):
        found = merged(*pair)
        assert found.is_open == (how is None)
        if how is not None:
            last = found.row[-1].content
            assert (found.how, (last.state, last.grade)) == (how, stands)


def test_settlement_keeps_a_note_that_was_written_knowing_the_old_one() -> None:
    """A grade changed on one copy and a note on the other: both stand."""
    noted = act(BASE, Action.NOTE, 9, word=b"see p. 3")
    marked = act(noted, Action.MARK, 10, word=b"pea")
    last = merge(TWO, marked)[-1].content
    assert (last.grade, last.note, last.passages) == (2, b"see p. 3", ((0, 3, b"pea"),))


def test_settlement_rests_on_what_its_decision_rested_on() -> None:
    """Guidelines and text are those of the event that decided, not of a note under newer ones."""
    newer = content("note", "judged", 9, grade=0, note=b"n", guideline_version=2)
    other = [*BASE, CopyEvent(content("skip", "skipped", 4))]
    last = merge([*BASE, CopyEvent(newer)], other)[-1].content
    assert (last.state, last.guideline_version) == ("skipped", None)
    again = [*BASE, CopyEvent(judged(0, 4, guideline_version=1)), CopyEvent(newer)]
    last = merge(again, other)[-1].content
    assert (last.state, last.guideline_version, last.note) == ("judged", 1, b"n")


def test_settlement_is_made_anew_when_one_more_copy_comes() -> None:
    """What nobody has built upon depends on all copies, whichever came first."""
    three = act(BASE, Action.JUDGE, 7, grade=0)
    first = merge(merge(ONE, TWO, rule=SettleRule.HIGHEST), three, rule=SettleRule.HIGHEST)
    assert [event.content.action for event in first].count("settle") == 1
    assert states(first) == states(merge(three, TWO, ONE, rule=SettleRule.HIGHEST))


def test_settlement_that_a_judge_went_on_from_stays() -> None:
    """The judge saw it, and decided: the older decisions are no conflict any more."""
    whole = act(merge(ONE, TWO, rule=SettleRule.HIGHEST), Action.JUDGE, 9, grade=0)
    for copy in (ONE, TWO, BASE):
        found = merged(whole, copy)
        assert (found.how, found.row[-1].content.grade) == (None, 0)


def test_settled_conflict_stays_settled_with_a_copy_that_adds_nothing() -> None:
    """Merging on, with no rule or another one, does not open it again."""
    whole = merge(ONE, TWO, rule=SettleRule.LOWEST)
    for rule in (None, SettleRule.HIGHEST):
        found = merged(whole, TWO, rule=rule)
        assert (found.how, found.row[-1].content.grade) == ("lowest", 1)


def test_settlement_by_hand_goes_before_rules_and_other_hands() -> None:
    """Taken by hand: a grade that no copy has, a skip; and again otherwise."""
    by_rule = merge(ONE, TWO, rule=SettleRule.LATEST)
    by_hand = chain_of(placed(merged(ONE, TWO, take=Take(State.JUDGED, 0)).row))
    assert (by_hand[-1].content.settled, by_hand[-1].content.grade) == (BY_HAND, 0)
    for chains in ((by_rule, by_hand), (by_hand, by_rule)):
        assert merge(*chains)[-1].content.settled == BY_HAND
    again = merged(by_hand, by_rule, take=Take(State.SKIPPED))
    assert (again.how, again.row[-1].content.state) == (BY_HAND, "skipped")
    other = chain_of(placed(again.row))
    assert [event.content.settled for event in other if event.content.settled] == [BY_HAND] * 2
    assert merged(by_hand, other).row[-1].content.state == "skipped"  # made knowing the first
    same = merged(by_hand, take=Take(State.JUDGED, 0)).row
    assert [one.identity for one in same] == [
        one.identity for one in merged(ONE, TWO, take=Take(State.JUDGED, 0)).row
    ]


def ruled(*chains: list[CopyEvent], take: Take) -> list[CopyEvent]:
    """Merge copies and settle by hand."""
    return chain_of(placed(merged(*chains, take=take).row))


def test_two_hands_that_did_not_know_each_other_are_a_conflict() -> None:
    """One list took 0, another one skipped: both rulings are told, and stay."""
    first, second = (ruled(ONE, TWO, take=take) for take in (Take(State.JUDGED, 0),
                                                             Take(State.SKIPPED)))  # fmt: skip
    found = merged(first, second)
    assert found.is_open
    assert sorted(one.outcome.state for one in found.stands) == ["judged", "skipped"]
    assert all(one.ruling is not None for one in found.stands)
    alike = merged(first, ruled(TWO, ONE, BASE, take=Take(State.JUDGED, 0)))
    assert (alike.is_open, alike.row[-1].content.grade) == (False, 0)
    both = merge(first, second, rule=SettleRule.HIGHEST)
    assert bare(merge(second, first, rule=SettleRule.HIGHEST)) == bare(both)


NOTED = act([], Action.NOTE, 4, word=b"heard")
MARKED = act(BASE, Action.MARK, 30, word=b"pea")
APART = act([], Action.JUDGE, 5, grade=1), act([], Action.JUDGE, 3, grade=2)


@pytest.mark.parametrize("extra", [NOTED, act(APART[0], Action.NOTE, 9, word=b"x"), MARKED])
@pytest.mark.parametrize("rule", [None, *SettleRule])
@pytest.mark.parametrize("how", [Take(State.JUDGED, 0), Take(State.SKIPPED), *SettleRule])
def test_settlement_stands_when_a_copy_brings_but_a_note(
    extra: list[CopyEvent], rule: SettleRule | None, how: Take | SettleRule
) -> None:
    """Whatever rule is asked for then; the note comes in, and a ruling by hand stays an event."""
    chains = (ONE, TWO) if extra is MARKED else APART
    take = how if isinstance(how, Take) else None
    first = None if isinstance(how, Take) else how
    settled = merged(*chains, rule=first, take=take)
    whole = chain_of(placed(settled.row))
    for pair in ((whole, extra), (extra, whole)):
        found = merged(*pair, rule=rule)
        assert not found.is_open
        assert found.row[-1].content[1:3] == whole[-1].content[1:3]
        assert not take or [one.identity for one in settled.row if one.is_settlement] == [
            one.identity for one in found.row if one.content.settled == BY_HAND
        ]
    last = merge(whole, extra)[-1].content
    assert (last.note or last.passages) == (extra[-1].content.note or extra[-1].content.passages)


def test_note_does_not_change_which_of_two_equal_decisions_stands() -> None:
    """Two grades of one moment: the latest is the last in the row, whatever was noted since."""
    first, second = act([], Action.JUDGE, 5, grade=1), act([], Action.JUDGE, 5, grade=2)
    whole = merge(first, second, rule=SettleRule.LATEST)
    for chain in (first, second):
        noted = act(chain, Action.NOTE, 9, word=b"n")
        assert merge(whole, noted)[-1].content.grade == whole[-1].content.grade
        assert merge(first, second, noted, rule=SettleRule.LATEST)[-1].content.grade == (
            whole[-1].content.grade
        )


def test_new_decision_asks_again_and_the_ruling_is_a_candidate() -> None:
    """Ruled 0 by hand; a third copy says 1 anew: the two of them are asked for, and both stay."""
    whole = ruled(*APART, take=Take(State.JUDGED, 0))
    third = act([], Action.JUDGE, 8, grade=1)
    found = merged(third, whole)
    assert found.is_open
    assert [(one.outcome.grade, one.ruling is None) for one in found.stands] == [
        (0, False), (1, True),
    ]  # fmt: skip
    settled = merge(whole, third, rule=SettleRule.HIGHEST)
    assert [(one.content.settled, one.content.grade) for one in settled if one.content.settled] == [
        (BY_HAND, 0), ("highest", 1),
    ]  # fmt: skip
    agreeing = merged(whole, act([], Action.JUDGE, 8, grade=0))
    assert (agreeing.is_open, agreeing.row[-1].content.grade) == (False, 0)


def test_new_decision_asks_again_after_a_rule_and_what_it_made_is_told() -> None:
    """What a rule made of two decisions is no decision, but is shown beside the three."""
    whole = merge(*APART, rule=SettleRule.HIGHEST)
    found = merged(whole, act([], Action.JUDGE, 8, grade=0))
    assert found.is_open
    assert [one.outcome.grade for one in found.stands] == [2, 1, 0]
    assert [one.content.grade for one in found.outdated] == [2]


def test_ruling_given_before_or_after_a_third_copy_comes_to_the_same() -> None:
    """Two events, as the order in which things were done was another; both together agree."""
    take = Take(State.JUDGED, 0)
    early = merge(ruled(*APART, take=take), NOTED)
    late = ruled(merge(NOTED, APART[1]), APART[0], take=take)
    assert states(early) == states(late)
    both = merged(early, late)
    assert states(chain_of(placed(both.row))) == states(early)
    assert bare(merge(early, late)) == bare(merge(late, early))


def test_list_that_was_settled_by_once_settles_nothing_more() -> None:
    """The same grade, or the rule that chose it, says nothing new; what was ruled out can be."""
    whole = ruled(*APART, take=Take(State.UNJUDGED, rule=SettleRule.LATEST))
    for take in (Take(State.JUDGED, 1), Take(State.UNJUDGED, rule=SettleRule.LATEST)):
        found = merged(whole, NOTED, take=take)
        assert (found.is_conflict, len(found.stands), len(found.before)) == (True, 2, 1)
        assert bare(chain_of(placed(found.row))) == bare(merge(whole, NOTED))
    again = merged(merge(whole, NOTED), take=Take(State.UNJUDGED, rule=SettleRule.EARLIEST))
    assert (again.how, again.row[-1].content.grade) == (BY_HAND, 2)
    back = ruled(chain_of(placed(again.row)), take=Take(State.UNJUDGED, rule=SettleRule.LATEST))
    assert back[-1].content.grade == 1


def test_two_rules_that_differ_are_a_conflict_again() -> None:
    """Two copies settled one conflict by different rules: that is said, not chosen."""
    chains = [merge(ONE, TWO, rule=rule) for rule in (SettleRule.LATEST, SettleRule.HIGHEST)]
    assert merged(*chains).is_open
    assert merged(*chains, rule=SettleRule.EARLIEST).row[-1].content.grade == 2
    alike = [merge(ONE, TWO, rule=rule) for rule in (SettleRule.LATEST, SettleRule.LOWEST)]
    assert bare(merge(*alike)) == bare(merge(*alike[::-1]))
    assert states(merge(*alike))[1] == 1


@settings(max_examples=examples(60))
@given(worked_apart())
def test_settlement_is_what_one_of_the_copies_said(chains: list[list[CopyEvent]]) -> None:
    """No rule but by hand makes a decision that no judge made."""
    chains = [chain for chain in chains if chain]
    if chains:
        whole = merge(*chains, rule=SettleRule.LATEST)
        said = {states(chain)[:3] for chain in chains}
        made = {(event.content.state, event.content.grade, event.content.reason)
                for event in whole if event.content.action != "settle"}  # fmt: skip
        assert states(whole)[:3] in said | made


def test_equal_choices_take_the_last_in_the_row() -> None:
    """Two copies with the highest grade: the one that comes last stands, with its note."""
    first = act(act(BASE, Action.JUDGE, 3, grade=2), Action.NOTE, 4, word=b"first")
    second = act(act(BASE, Action.JUDGE, 6, grade=2), Action.NOTE, 8, word=b"second")
    found = merged(first, second, ONE, rule=SettleRule.HIGHEST)
    assert choose(found.stands, SettleRule.HIGHEST).end.content.note == b"second"
    assert found.row[-1].content.note == b"second"


def test_equal_decisions_that_settle_themselves_take_the_last_in_the_row() -> None:
    """Both copies say that it cannot be judged: the reason given later stands."""
    lost = act(BASE, Action.CANNOT, 9, word=b"lost")
    for pair in ((CANNOT, lost), (lost, CANNOT)):
        found = merged(*pair)
        assert (found.how, found.row[-1].content.reason) == ("agreed", b"lost")


@pytest.mark.parametrize(
    ("grade", "note", "version"), [(1, b"first", 1), (2, b"second", 2), (0, b"second", 2)]
)
def test_grade_taken_by_hand_brings_the_note_of_the_copy_that_gave_it(
    grade: int, note: bytes, version: int
) -> None:
    """With the note, the guideline it rests on; a grade that no copy gave has those of the last."""
    first = [*BASE, CopyEvent(judged(1, 3, note=b"first", guideline_version=1))]
    second = [*BASE, CopyEvent(judged(2, 6, note=b"second", guideline_version=2))]
    for pair in ((first, second), (second, first)):
        last = merged(*pair, take=Take(State.JUDGED, grade)).row[-1].content
        assert (last.settled, last.grade, last.note) == (BY_HAND, grade, note)
        assert last.guideline_version == version
