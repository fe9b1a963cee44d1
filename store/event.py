"""Judgement events: THE record of who judged what, and the one table of its fields.

`EVENT` says of every field of `JudgementEvent` what kind of value it has, what it is for and since when it
is there. The columns of the table ``judgement``, the keys of files, what a history shows and what a README
says follow from it. A file has one JSON object an event; files written before a field was there are read
without it. A new field that a screen hands over needs its place in `store.records.Decision` and in
`judge_ui.session.session`, one that a page measures in ``judge_ui/page/page.js`` and `store.keeping.work`,
and one with a judge's own words in `store.judging.erasing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, fields, replace
from datetime import datetime
from typing import Any, get_args, get_type_hints

from store.errors import FaultList
from store.fields import (
    HASH,
    ID,
    MOMENT,
    PASSAGES,
    PROSE,
    SEED,
    TOPIC,
    WORD,
    Reader,
    ValueKind,
    checked_values,
    choice,
    or_none,
    whole,
)
from store.records import Action, Passage, State


@dataclass(frozen=True, slots=True)
class JudgementEvent:
    """What a judge did to a document, and the whole state after it; `EVENT` says what each field is."""

    topic: str
    docno: str
    judge: str
    revision: int
    action: Action
    _: KW_ONLY
    undoes: int | None = None
    state: State
    grade: int | None = None
    reason: str = ""
    note: str = ""
    iteration: str = "0"
    passages: tuple[Passage, ...] = ()
    display_order: str | None = None
    order_seed: int | None = None
    position: int | None = None
    shown_at: datetime | None = None
    judged_at: datetime
    dwell_ms: int | None = None
    active_ms: int | None = None
    dropped_keys: int = 0
    guideline_version: int | None = None
    document_sha256: str | None = None
    sitting: int | None = None
    topic_version: int | None = None
    view: str | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """One field of `JudgementEvent`: its names, its kind and where it is kept."""

    name: str
    kind: ValueKind
    about: str
    """What a README says of it."""
    column: str = ""
    """Where it is stored; empty = by its name."""
    since: int = 1
    """Of which revision of the tables its column is."""
    may_be_none: bool = False
    """As `JudgementEvent` declares it, as is `default`."""
    default: Any = None
    """``MISSING`` of `dataclasses` where there is none."""

    @property
    def reader(self) -> Reader:
        """What turns a JSON value into one of the field, or raises `store.fields.UnfitValueError`."""
        return or_none(self.kind.read) if self.may_be_none else self.kind.read


def _declared(*table: Field) -> tuple[Field, ...]:
    hints = get_type_hints(JudgementEvent)
    return tuple(
        replace(row, default=one.default, may_be_none=type(None) in get_args(hints[row.name]))
        for row, one in zip(table, fields(JudgementEvent), strict=True)
    )


EVENT = _declared(
    Field("topic", TOPIC, "text, byte for byte", column="topic_id"),
    Field("docno", ID, "text, byte for byte", column="document_id"),
    Field("judge", ID, "a name", column="judge_id"),
    Field("revision", whole(1), "from 1 without gaps; the highest of a topic, docno and judge is the"
          " current state"),
    Field("action", choice(Action), "what the judge did (judge, skip, cannot, note, mark, undo), or"
          " what was done for them (reopen: put back into the queue by the organiser)"),
    Field("undoes", whole(1), "the revision that an undo takes back"),
    Field("state", choice(State), "after the event: unjudged, skipped, cannot or judged"),
    Field("grade", whole(), "of the scale, where the state is judged"),
    Field("reason", PROSE, "why it cannot be judged, or was reopened"),
    Field("note", PROSE, "the judge's own words; they stay with the events that follow"),
    Field("iteration", ID, "the judging round"),
    Field("passages", PASSAGES, "marked evidence: start, length and text, in characters of the"
          " document's text, which is empty where texts are left out"),
    Field("display_order", WORD, "how the documents were ordered for the judge: docno, priority, random,"
          " drawn; of a ruling also the grades that were seen; null = not at a desk"),
    Field("order_seed", SEED, "the seed of the order `random`", since=4),
    Field("position", whole(0), "place in the queue, from 0"),
    Field("shown_at", MOMENT, "when the document was painted, UTC"),
    Field("judged_at", MOMENT, "when the judge acted, UTC"),
    Field("dwell_ms", whole(), "milliseconds from first paint to the key"),
    Field("active_ms", whole(), "the same without idle time"),
    Field("dropped_keys", whole(0), "keys that came too soon"),
    Field("guideline_version", whole(1), "of the guidelines that were judged by, from 1"),
    Field("document_sha256", HASH, "of the text that was judged"),
    Field("sitting", whole(1), "a number, from 1, that the events of one sitting share",
          column="sitting_id"),
    Field("topic_version", whole(1), "of the topic's text that was judged by, from 1", since=4),
    Field("view", WORD, "how a document with markup was shown: structure, raw; null = as text", since=5),
)  # fmt: skip  # a field a line or two, as a table is read
"""Every field of an event, in the order in which files have them."""
FIELDS = tuple(one.name for one in EVENT)
COLUMNS = {one.name: one.column or one.name for one in EVENT if one.kind is not PASSAGES}
"""Where each field is stored; passages have a table of their own."""
SHOWN = ("position", "shown_at", "dwell_ms", "active_ms", "dropped_keys", "view")
"""What a screen hands over with a decision."""
READERS = {one.name: one.reader for one in EVENT}
"""How the value of each field is read."""
_LATER = {one.name: one.default for one in EVENT if one.since > 1}
"""Keys that older files do not have."""
_WRITERS = tuple((one.name, one.kind.write) for one in EVENT if one.kind.write is not None)
STATE_OF = {
    Action.JUDGE: State.JUDGED,
    Action.SKIP: State.SKIPPED,
    Action.CANNOT: State.CANNOT,
    Action.REOPEN: State.UNJUDGED,
}
"""The state that an action leaves, where it leaves one only."""
ACTION_OF: dict[str, Action] = {state: action for action, state in STATE_OF.items()}
"""The action that leaves a state."""


def event_values(event: JudgementEvent) -> dict[str, Any]:
    """Turn an event into JSON values, by the names of `FIELDS`; moments must have a time zone."""
    values: dict[str, Any] = {name: getattr(event, name) for name in FIELDS}
    for name, write in _WRITERS:
        if values[name] is not None:
            values[name] = write(values[name])
    return values


def event_of_values(values: dict[str, Any], line: int, faults: FaultList) -> JudgementEvent | None:
    """Turn JSON values into an event, or report every fault of the line; names may be in any order."""
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
        """Return whether an event follows those before it; report the fault where it does not."""
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


def grade_fault(state: State, grade: int | None) -> str | None:
    """Return how a state and a grade contradict each other; ``None`` = they do not."""
    if (state is State.JUDGED) == (grade is not None):
        return None
    is_due = "a grade" if state is State.JUDGED else "no grade"
    return f"expected {is_due} in the state {state}, got {'none' if grade is None else grade}"


def _contradictions(event: JudgementEvent) -> Iterator[str]:
    if message := grade_fault(event.state, event.grade):
        yield message
    due = STATE_OF.get(event.action)
    if due is not None and event.state is not due:
        yield f"expected the state {due} after the action {event.action}, got {event.state}"
    if (event.action is Action.UNDO) != (event.undoes is not None):
        is_due = "a revision" if event.action is Action.UNDO else "null"
        got = "null" if event.undoes is None else event.undoes
        yield f"expected {is_due} in `undoes` of the action {event.action}, got {got}"
    elif event.undoes is not None and event.undoes >= event.revision:
        yield f"expected a revision before {event.revision} in `undoes`, got {event.undoes}"
