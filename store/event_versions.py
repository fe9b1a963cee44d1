"""Versions of guidelines and topics that an event from elsewhere names, and that are not here."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import select
from sqlmodel import Session

from store.formats.judgements import JudgementEvent
from store.models import GUIDELINE, TOPIC


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
