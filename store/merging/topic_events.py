"""The events of one topic in one collection, as rows, and as chains where they must be united."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from sqlmodel import Session

from store.errors import StoreError
from store.merging.copies import Copy
from store.merging.event_graph import Content, Event
from store.merging.raw_writing import with_checksums
from store.models import JUDGEMENT, PASSAGE
from store.raw_rows import raw_rows
from store.row_checksums import CHECKSUM

NAMES = tuple(column.name for column in JUDGEMENT.columns)
AT = {name: place for place, name in enumerate(NAMES)}
"""Where a column stands in a row."""

_TOLD = [name for name in Content._fields if name != "passages"]
_read_content = itemgetter(*(AT[name] for name in _TOLD))
_read_compared = itemgetter(*(AT[name] for name in (*_TOLD, "revision", "follows")))
_read_document_and_judge = itemgetter(AT["document_id"], AT["judge_id"])
_read_revision = itemgetter(AT["revision"])
_PASSAGE_NAMES = tuple(column.name for column in PASSAGE.columns)

Key = tuple[int, int]
"""Row ids, here, of a document and a judge."""

Row = Sequence[Any]
"""Of the table of events, as `store.raw_rows` gives it."""

Passages = Mapping[int, tuple[tuple[int, int, bytes], ...]]
"""By row id of an event."""


@dataclass(frozen=True, slots=True)
class Side:
    """The events of one topic in one collection."""

    rows: dict[Key, list[Row]] = field(default_factory=dict)
    """By document and judge, by rising revision."""
    passages: Passages = field(default_factory=dict)


def read_side(
    session: Session, topic: int, copy: Copy | None = None, *, has_passages: bool
) -> Side:
    """Read the events of a topic.

    Parameters
    ----------
    session : Session
        Any session.
    topic : int
        Row id in that collection.
    copy : Copy, optional
        Whose collection it is; ``None`` = the one that is written to. Events of judges who are
        erased here are left out.
    has_passages : bool
        Whether the collection has any.
    """
    rows: dict[Key, list[Row]] = {}
    for row in raw_rows(session, JUDGEMENT, where=f"topic_id = {topic:d}"):
        key = _read_document_and_judge(row)
        if copy is not None:
            document, judge = key
            if judge not in copy.judges:
                continue
            key = copy.documents[document], copy.judges[judge]
        known = rows.get(key)
        if known is None:
            rows[key] = [row]
        else:
            known.append(row)
    for some in rows.values():
        if len(some) > 1:
            some.sort(key=_read_revision)
    return Side(rows, _read_passages(session, topic) if has_passages else {})


def _read_passages(session: Session, topic: int) -> Passages:
    """Read the passages of a topic's events, by row id."""
    where = f"judgement_id IN (SELECT id FROM judgement WHERE topic_id = {topic:d})"
    found: dict[int, list[tuple[int, int, bytes]]] = {}
    for row in raw_rows(session, PASSAGE, where=where):
        one = dict(zip(_PASSAGE_NAMES, row, strict=True))
        part = one["start"], one["length"], bytes(one["text"])
        found.setdefault(one["judgement_id"], []).append(part)
    return {event: tuple(sorted(parts)) for event, parts in found.items()}


def refuse_damaged(taken: Sequence[tuple[Copy, Row]]) -> None:
    """Refuse events that are not as they were written, before they are written anew.

    Raises
    ------
    StoreError
        If the checksum of a row of a copy is another than its values give.
    """
    place = AT[CHECKSUM]
    written = with_checksums(JUDGEMENT, (row for _, row in taken))
    for (copy, row), one in zip(taken, written, strict=True):
        if row[place] is not None and row[place] != one[place]:
            message = f"{copy.name} is damaged: a judgement event in it is not as it was written"
            hint = (
                f"nothing was merged: pooler verify --collection {copy.name} says which; merge a"
                " backup of it instead"
            )
            raise StoreError(message, hint=hint)


def is_beginning(short: Sequence[Row], own: Side, long: Sequence[Row], other: Side) -> bool:
    """Say whether the events of one collection are the first ones of another's."""
    for one, two in zip(short, long, strict=False):
        if _read_compared(one) != _read_compared(two):
            return False
        undone = one[AT["undoes"]], two[AT["undoes"]]
        if undone != (None, None) and _place(short, undone[0]) != _place(long, undone[1]):
            return False
        marked = own.passages.get(one[AT["id"]]), other.passages.get(two[AT["id"]])
        if marked[0] != marked[1]:
            return False
    return True


def _place(rows: Sequence[Row], row_id: int | None) -> int | None:
    """Return the place of an event among others by its row id."""
    return next((place for place, row in enumerate(rows) if row[AT["id"]] == row_id), None)


def chain_of_rows(number: int, side: Side, key: Key) -> list[Event]:
    """Make a chain of the events of a judge and a document; tags are the side and the row."""
    rows = side.rows[key]
    revisions = {row[AT["id"]]: row[AT["revision"]] for row in rows}
    return [
        Event(
            Content._make((*_read_content(row), side.passages.get(row[AT["id"]], ()))),
            None if row[AT["undoes"]] is None else revisions[row[AT["undoes"]]],
            row[AT["follows"]],
            (number, row),
        )
        for row in rows
    ]
