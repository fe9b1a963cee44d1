"""Judgement events: the whole history of who judged what, one JSON object a line.

Files written before the last three keys were there are read without them.

================= ===================================================================
topic, docno      text, byte for byte
judge             a name
revision          from 1 without gaps, for each topic, docno and judge
action            judge, skip, cannot, note, mark, undo, reopen or settle
undoes            the revision that an undo takes back, else null
state             after the event: unjudged, skipped, cannot or judged
grade             an integer when the state is judged, else null
reason, note      text
iteration         the judging round
passages          marked evidence: lists of start, length and text, of the raw document; an empty
                  text is not here
display_order     how the documents lay before the judge; null = not at a desk
position          place in the queue, from 0, or null
shown_at          ISO 8601 with a time zone, or null
judged_at         ISO 8601 with a time zone
dwell_ms          milliseconds from first paint to the key, or null
active_ms         the same without idle time, or null
dropped_keys      keys that came too soon
guideline_version from 1, or null
document_sha256   of the text that was judged, or null
sitting           a number, from 1, that the events of one sitting share, or null
topic_version     of the topic's text that was judged by, from 1, or null
follows           the revision that stood when the judge acted, on a copy of the collection; null
                  = the one before
settled           the rule by which copies that differed were settled, or null
================= ===================================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from store.errors import ArgumentError, FaultList
from store.fields import READERS, checked_values
from store.records import Action, Passage, State

_STATE_OF = {
    Action.JUDGE: State.JUDGED,
    Action.SKIP: State.SKIPPED,
    Action.CANNOT: State.CANNOT,
    Action.REOPEN: State.UNJUDGED,
}
"""The state that an action leaves, where it leaves one only."""


@dataclass(frozen=True, slots=True)
class JudgementEvent:
    """What a judge did to a document, and the whole state after it."""

    topic: str
    docno: str
    judge: str
    revision: int
    """From 1 without gaps, for each (topic, docno, judge)."""
    action: Action
    undoes: int | None
    """The revision of the same judge and document that an undo takes back."""
    state: State
    grade: int | None
    """Given when `state` is judged, else ``None``."""
    reason: str
    note: str
    iteration: str
    passages: tuple[Passage, ...]
    """Of the raw text, ascending."""
    display_order: str | None
    """Seed included; ``None`` = not at a desk."""
    position: int | None
    """Place in the queue, from 0."""
    shown_at: datetime | None
    """UTC, as is `judged_at`."""
    judged_at: datetime
    dwell_ms: int | None
    active_ms: int | None
    dropped_keys: int
    guideline_version: int | None
    """From 1."""
    document_sha256: str | None
    sitting: int | None
    """From 1; events of one sitting share it, and it says no more than that."""
    topic_version: int | None = None
    """From 1."""
    follows: int | None = None
    """The revision that stood when the judge acted; ``None`` = the one before."""
    settled: str | None = None
    """The rule by which copies that differed were settled; ``None`` = a judge acted."""


_LATER = {"topic_version": None, "follows": None, "settled": None}
"""Keys that older files do not have."""

FIELDS = tuple(one.name for one in fields(JudgementEvent))
"""Keys of an event, in the order in which they are written."""


def event_values(event: JudgementEvent) -> dict[str, Any]:
    """Turn an event into JSON values, by the names of `FIELDS`.

    Raises
    ------
    ArgumentError
        If a moment has no time zone.
    """
    values: dict[str, Any] = {name: getattr(event, name) for name in FIELDS}
    values["action"], values["state"] = event.action.value, event.state.value
    values["passages"] = [[one.start, one.length, one.text] for one in event.passages]
    values["judged_at"] = _moment_text(event.judged_at)
    if event.shown_at is not None:
        values["shown_at"] = _moment_text(event.shown_at)
    return values


def event_of_values(values: dict[str, Any], line: int, faults: FaultList) -> JudgementEvent | None:
    """Turn JSON values into an event, or tell every fault of the line.

    Parameters
    ----------
    values : dict of str to JSON value
        By the names of `FIELDS`, in any order.
    line : int
        Line number from 1.
    faults : FaultList
        Where faults are told.
    """
    known = checked_values({**_LATER, **values}, READERS, line, faults)
    if known is None:
        return None
    event = JudgementEvent(**known)
    contradictions = list(_contradictions(event))
    for message in contradictions:
        faults.add(line, message, "state")
    return None if contradictions else event


class EventChain:
    """Checks that revisions rise by one, and that an undo undoes something."""

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._newest: dict[tuple[str, str, str], int] = {}

    def accepts(self, event: JudgementEvent, line: int) -> bool:
        """Say whether an event follows those before it; tell the fault where it does not."""
        key = (event.topic, event.docno, event.judge)
        before = self._newest.get(key, 0)
        # One fault for a gap, and none for what follows it.
        self._newest[key] = max(before, event.revision)
        if event.revision == before + 1:
            return True
        message = (
            f"expected revision {before + 1} of topic `{event.topic}` docno `{event.docno}` judge"
            f" `{event.judge}`, got {event.revision}"
        )
        self._faults.add(line, message, "revision")
        return False


def _contradictions(event: JudgementEvent) -> Iterator[str]:
    """Say which parts of an event contradict each other."""
    if (event.state is State.JUDGED) != (event.grade is not None):
        got = "none" if event.grade is None else event.grade
        is_due = "a grade" if event.state is State.JUDGED else "no grade"
        yield f"expected {is_due} in the state {event.state}, got {got}"
    due = _STATE_OF.get(event.action)
    if due is not None and event.state is not due:
        yield f"expected the state {due} after the action {event.action}, got {event.state}"
    if (event.action is Action.UNDO) != (event.undoes is not None):
        is_due = "a revision" if event.action is Action.UNDO else "null"
        got = "null" if event.undoes is None else event.undoes
        yield f"expected {is_due} in `undoes` of the action {event.action}, got {got}"
    elif event.undoes is not None and event.undoes >= event.revision:
        yield f"expected a revision before {event.revision} in `undoes`, got {event.undoes}"
    if event.follows is not None and event.follows >= event.revision:
        yield f"expected a revision before {event.revision} in `follows`, got {event.follows}"


def _moment_text(moment: datetime) -> str:
    """Write a moment in UTC."""
    if moment.tzinfo is None:
        raise ArgumentError("moment", "must have a time zone", moment)
    return moment.astimezone(UTC).isoformat()
