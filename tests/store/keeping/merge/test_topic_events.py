"""The events of one topic on two copies, compared."""

from __future__ import annotations

from typing import Any

from store.keeping.merge.histories import NAMES, Row, TopicEvents, is_beginning


def row(row_id: int, revision: int, **other: Any) -> Row:
    """Make an event of little, as the table keeps it."""
    values = {"id": row_id, "revision": revision, "action": "judge", "state": "judged", **other}
    return [values.get(name) for name in NAMES]


def test_undo_of_another_event_is_another_event() -> None:
    """Two undos that leave the same behind are one event only if they took back the same one.

    Row ids of a copy are its own: there 11 is the first event, as 1 is here.
    """
    here = [row(1, 1), row(2, 2), row(3, 3, action="undo", undoes=1)]
    same = [row(11, 1), row(12, 2), row(13, 3, action="undo", undoes=11), row(14, 4)]
    other = [row(11, 1), row(12, 2), row(13, 3, action="undo", undoes=12), row(14, 4)]
    assert is_beginning(here, TopicEvents(), same, TopicEvents())
    assert not is_beginning(here, TopicEvents(), other, TopicEvents())


def test_event_with_other_passages_is_another_event() -> None:
    """What was marked is compared too, by the row ids of each copy."""
    here, there = [row(1, 1)], [row(11, 1), row(12, 2)]
    marked = TopicEvents(passages={1: ((0, 4, b"text"),)})
    for passages, is_same in (
        ({11: ((0, 4, b"text"),)}, True),
        ({11: ((0, 3, b"tex"),)}, False),
        ({}, False),
    ):
        assert is_beginning(here, marked, there, TopicEvents(passages=passages)) == is_same
