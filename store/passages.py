"""Passages that judges mark as evidence: kept with every event, as offsets into the raw text."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import insert, select
from sqlmodel import Session

from store.errors import ArgumentError
from store.models import DOCUMENT, PASSAGE
from store.records import Passage
from store.sanitise import sanitise


def fetch_passages(session: Session, events: Sequence[int]) -> dict[int, tuple[Passage, ...]]:
    """Return the passages of events, as offsets into the raw text.

    Parameters
    ----------
    session : Session
        Any session.
    events : sequence of int
        Row ids of judgement events.

    Returns
    -------
    dict of int to tuple of Passage
        Ascending by start; events without passages are left out.
    """
    found: dict[int, list[Passage]] = {}
    for first in range(0, len(events), 1000):
        batch = list(events[first : first + 1000])
        query = select(PASSAGE).where(PASSAGE.c.judgement_id.in_(batch))
        for row in session.execute(query):
            passage = Passage(row.start, row.length, row.text)
            found.setdefault(row.judgement_id, []).append(passage)
    return {event: tuple(sorted(passages)) for event, passages in found.items()}


def fetch_shown_passages(
    session: Session, events: Mapping[int, int]
) -> dict[int, tuple[Passage, ...]]:
    """Return the passages of events as a screen has them: as parts of the sanitised text.

    Parameters
    ----------
    session : Session
        Any session.
    events : mapping of int to int
        Row ids of judgement events, and of their documents.

    Returns
    -------
    dict of int to tuple of Passage
        By event. Passages whose text is no longer in its place - the document was replaced - are
        left out; they stay in the store.
    """
    raw = fetch_passages(session, list(events))
    documents = {events[event] for event in raw}
    query = select(DOCUMENT.c.id, DOCUMENT.c.text).where(DOCUMENT.c.id.in_(documents))
    texts = {row.id: row.text or "" for row in session.execute(query)} if raw else {}
    shown = {}
    for event, passages in raw.items():
        text = texts[events[event]]
        shown[event] = tuple(
            as_shown(one, text) for one in passages if text[one.start : one.end] == one.text
        )
    return shown


def add_passages(session: Session, event: int, passages: Iterable[Passage]) -> None:
    """Store the passages of an event, as offsets into the raw text."""
    rows = [
        {"judgement_id": event, "start": one.start, "length": one.length, "text": one.text}
        for one in passages
    ]
    if rows:
        session.connection().execute(insert(PASSAGE), rows)


def as_raw(passages: Iterable[Passage], text: str) -> tuple[Passage, ...]:
    r"""Turn passages of a sanitised text into those of the raw one.

    Parameters
    ----------
    passages : iterable of Passage
        In characters of ``sanitise(text)``.
    text : str
        The raw text.

    Raises
    ------
    ArgumentError
        If one is empty, or not where it says.

    Examples
    --------
    >>> as_raw([Passage(2, 3, "b\nc")], "a\r\nb\r\nc")
    (Passage(start=3, length=4, text='b\r\nc'),)
    """
    places = [place for place, character in enumerate(text) if character != "\r"]
    shown = sanitise(text)
    found = []
    for one in sorted(set(passages)):
        is_there = shown[one.start : one.end] == one.text and len(one.text) == one.length
        if one.length < 1 or one.start < 0 or not is_there:
            raise ArgumentError("passage", "must be a part of the document", one)
        start, end = places[one.start], places[one.end - 1] + 1
        found.append(Passage(start, end - start, text[start:end]))
    return tuple(found)


def as_shown(passage: Passage, text: str) -> Passage:
    r"""Turn a passage of the raw text into one of the sanitised text.

    Examples
    --------
    >>> as_shown(Passage(3, 4, "b\r\nc"), "a\r\nb\r\nc")
    Passage(start=2, length=3, text='b\nc')
    """
    returns = [place for place, character in enumerate(text) if character == "\r"]
    start = passage.start - bisect_left(returns, passage.start)
    shown = sanitise(passage.text)
    return Passage(start, len(shown), shown)
