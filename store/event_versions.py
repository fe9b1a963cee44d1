"""Versions of guidelines and topics: what a decision rests on, and what a collection knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Row, select
from sqlmodel import Session

from store.deciding import deciding_events
from store.formats.judgements import JudgementEvent
from store.models import GUIDELINE, TOPIC
from store.records import DECIDED, Action

_SETTLES = "settles:"
"""How a settlement lists the revisions it follows, as in ``settles:2,4``."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What a decision was made by."""

    decider: Row[Any]
    """The event that decided: of a judge at a desk, or a settlement of copies by hand."""
    guideline_version: int | None
    """``None`` = there were no guidelines."""
    topic_version: int | None
    """``None`` = the event is older than topics' versions are: the first."""
    hashes: frozenset[str | None]
    """Of the document's text, where there was one."""


def basis_of(events: Sequence[Row[Any]]) -> Basis | None:
    """Return what the decision that stands was made by.

    Parameters
    ----------
    events : sequence of Row
        Of one judge and one document, all of them, by rising revision.

    Returns
    -------
    Basis or None
        ``None`` = no decision stands, or one that was imported: nobody knows what it rests on.

    Notes
    -----
    A settlement of copies rests on what the decision rests on that it took. One by hand, with a
    grade that was given on no copy, rests on the decisions that it settled: on the oldest of their
    guidelines and of their topic's texts, and on every text of the document that was seen.
    """
    deciders = {
        event.revision: decider
        for event, decider in zip(events, deciding_events(events), strict=True)
    }
    decider = deciders[events[-1].revision]
    if decider is None or decider.state not in DECIDED:
        return None
    made = _at_desks(events, deciders, decider)
    if not made:
        return None
    return Basis(
        decider,
        min((one.guideline_version for one in made), key=lambda version: version or 0),
        min((one.topic_version for one in made), key=lambda version: version or 1),
        frozenset(one.document_sha256 for one in made),
    )


def _at_desks(
    events: Sequence[Row[Any]], deciders: dict[int, Row[Any] | None], decider: Row[Any]
) -> list[Row[Any]]:
    """Return the decisions at desks that one rests on: itself, or those that it settled."""
    if decider.action != Action.SETTLE:
        return [] if decider.sitting_id is None else [decider]
    behind = _behind(events)
    own = [deciders.get(revision) for revision in behind[decider.revision][0]]
    decided = [one for one in own if one is not None and one.state in DECIDED]
    # What another decision was made knowing was no side of the conflict.
    known = set().union(*(behind[one.revision][1] for one in decided))
    sides = {one.revision: one for one in decided if one.revision not in known}
    return [made for one in sides.values() for made in _at_desks(events, deciders, one)]


def _behind(events: Sequence[Row[Any]]) -> dict[int, tuple[frozenset[int], frozenset[int]]]:
    """Return the revisions that each event follows, and all behind it, near or far.

    They are told as `store.merging.event_graph` says.
    """
    found: dict[int, tuple[frozenset[int], frozenset[int]]] = {}
    ends: set[int] = set()
    for event in events:
        before = event.revision - 1 if event.follows is None else event.follows
        parents = frozenset({before} if before else ())
        if event.action == Action.SETTLE:
            order = event.display_order or ""
            listed = order.removeprefix(_SETTLES) if order.startswith(_SETTLES) else ""
            parents = frozenset(map(int, listed.split(","))) if listed else frozenset(ends)
        every = parents.union(*(found[one][1] for one in parents if one in found))
        found[event.revision] = (parents, every)
        ends = ends - parents | {event.revision}
    return found


class KnownVersions:
    """The versions of guidelines and of topics' texts that a collection has.

    Parameters
    ----------
    session : Session
        Any session.
    """

    def __init__(self, session: Session) -> None:
        self._guidelines = set(session.scalars(select(GUIDELINE.c.version)))
        rows = session.execute(select(TOPIC.c.number, TOPIC.c.version))
        self._topics: dict[str, int] = {row.number: row.version for row in rows}

    def without_unknown(self, event: JudgementEvent) -> JudgementEvent:
        """Return an event that names no version that is not here: it is not known, then.

        One that names none such is returned as it is.
        """
        if event.guideline_version not in {None, *self._guidelines}:
            event = replace(event, guideline_version=None)
        if (event.topic_version or 0) > self._topics.get(event.topic, 1):
            event = replace(event, topic_version=None)
        return event


def is_same_event(there: JudgementEvent, event: JudgementEvent) -> bool:
    """Say whether an event from elsewhere is one that is here.

    Sittings are not compared, nor versions that were not known here when it came.
    """
    guideline = None if there.guideline_version is None else event.guideline_version
    topic = None if there.topic_version is None else event.topic_version
    coming = replace(event, sitting=None, guideline_version=guideline, topic_version=topic)
    return replace(there, sitting=None) == coming
