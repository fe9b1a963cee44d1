"""What other parts of the store make of a history in which copies came together."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from judge_ui.session.messages import event_words
from store.judging.disagreements import Ruling, latest_ruling
from store.judging.events import deciding_events, ruling_of
from store.records import Action, SeenEvent, State
from tests.helpers.world import parse_scale

JUDGED, UNJUDGED = State.JUDGED, State.UNJUDGED
AT = datetime(2026, 3, 1, tzinfo=UTC)


def row(revision: int, action: Action, state: State, grade: int | None, **other: Any) -> Any:
    """Make an event as far as it matters who decided."""
    values = {"undoes": None, "follows": None, "display_order": None, "judged_at": AT, **other}
    return SimpleNamespace(
        id=100 + revision, revision=revision, action=action, state=state, grade=grade, **values
    )


FORK = [
    row(1, Action.JUDGE, JUDGED, 1),
    row(2, Action.JUDGE, JUDGED, 2),
    row(3, Action.NOTE, JUDGED, 1, follows=1),
    row(4, Action.UNDO, UNJUDGED, None, follows=2, undoes=101),
]  # fmt: skip
"""Judged 1; on one copy 2, on another a note; and a third event that took the first one back."""


@pytest.mark.parametrize(
    ("settlement", "decided_by"),
    [
        (row(5, Action.SETTLE, JUDGED, 2, follows=2), 2),
        (row(5, Action.SETTLE, JUDGED, 1, follows=3), 1),
        (row(5, Action.SETTLE, JUDGED, 0, follows=2), 5),  # by hand: nobody else decided so
        (row(5, Action.SETTLE, UNJUDGED, None, follows=2), None),
    ],
)
def test_decider_is_followed_across_copies(settlement: Any, decided_by: int | None) -> None:
    """A note keeps what its judge knew, not the row before; a settlement, what it took."""
    events = [*FORK, settlement]
    deciders = deciding_events(events)
    found = [None if one is None else one.revision for one in deciders]
    assert found == [1, 2, 1, None, decided_by]


RULED = FORK[:3]


def test_ruling_is_the_one_that_a_settlement_took() -> None:
    """An adjudicator who ruled on two copies: the ruling taken stands, by its own event."""
    taken = row(4, Action.SETTLE, JUDGED, 2, follows=2)
    assert ruling_of(7, [*RULED, taken]) == Ruling(7, 2, 102, at=AT)
    noted = row(4, Action.SETTLE, JUDGED, 1, follows=3)
    assert ruling_of(7, [*RULED, noted]) == Ruling(7, 1, 101, at=AT)
    by_hand = row(4, Action.SETTLE, JUDGED, 0, follows=3)
    assert ruling_of(7, [*RULED, by_hand]) == Ruling(7, 0, 104, at=AT)
    open_again = row(4, Action.SETTLE, UNJUDGED, None, follows=3)
    assert ruling_of(7, [*RULED, open_again]) is None
    # A note of another copy came in later: the ruling by hand is still that of no. 4.
    later = [by_hand, row(5, Action.NOTE, JUDGED, 2, follows=2), row(6, Action.SETTLE, JUDGED, 0, follows=4)]
    assert ruling_of(7, [*RULED, *later]) == Ruling(7, 0, 104, at=AT)
    after = row(5, Action.NOTE, JUDGED, 2)
    assert ruling_of(7, [*RULED, taken, after]) == Ruling(7, 2, 102, at=AT)


def test_latest_ruling_goes_by_time_then_by_name() -> None:
    """Not by row ids, which a merge gives in the order in which copies came."""
    early, late = (datetime(2026, 3, 1, hour, tzinfo=UTC) for hour in (9, 10))
    zoe, yan = Ruling(1, 2, 50, at=early), Ruling(2, 0, 40, at=late)
    names = {1: "zoe", 2: "yan"}
    assert latest_ruling([zoe, yan], names) == latest_ruling([yan, zoe], names) == yan
    as_early = Ruling(2, 0, 40, at=early)
    assert latest_ruling([zoe, as_early], names) == latest_ruling([as_early, zoe], names) == zoe
    assert latest_ruling([Ruling(2, 1, 99), zoe], names) == zoe
    assert latest_ruling([], names) is None


def test_judge_is_told_of_a_settlement_in_words() -> None:
    """In the list of what was done to a document."""
    at = datetime(2026, 3, 1, tzinfo=UTC)
    event = SeenEvent("1", "a", Action.SETTLE, JUDGED, 1, "", "", 3, at, is_undone=False, is_here=False)
    assert event_words(event, parse_scale("binary")) == "copies merged: 1 relevant"
