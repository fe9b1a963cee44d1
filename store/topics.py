"""Queries on topics."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlmodel import Session

from store.errors import ConflictError
from store.imports import ImportReport
from store.keys import Keys
from store.models import TOPIC
from store.natural_order import natural_key
from store.records import Topic
from store.topic_versions import set_text, texts_of, was_judged


def add_topics(
    session: Session, keys: Keys, topics: Sequence[Topic], *, replace: bool = False
) -> ImportReport:
    """Add topics, or see that they are there already.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    keys : Keys
        Of the topics; fresh.
    topics : sequence of Topic
        Each id once.
    replace : bool, default=False
        Whether a topic with another text takes the new one, as its next version.

    Raises
    ------
    ConflictError
        If a listed topic has another text and `replace` is false.

    Notes
    -----
    Texts are compared byte for byte. The text that a topic had stays, as an earlier version; so
    does the empty text of a topic that no topics file had named when somebody judged it.
    """
    keys.add(session, (topic.topic for topic in topics))
    stored = {row.number: row for row in session.execute(select(TOPIC))}
    added = unchanged = replaced = 0
    for topic in topics:
        row = stored[topic.topic]
        is_other = texts_of(row) != texts_of(topic)
        if row.listed:
            if not is_other:
                unchanged += 1
                continue
            if not replace:
                message = f"topic `{topic.topic}` is there with another text"
                hint = f"--replace takes the new text, as version {row.version + 1} of it"
                raise ConflictError(message, hint=hint)
            replaced += 1
        else:
            added += 1
        keeps_old = row.listed or (is_other and was_judged(session, row.id))
        set_text(session, row, topic, keeps_old=keeps_old)
    return ImportReport(added=added, unchanged=unchanged, replaced=replaced)


def fetch_topics(session: Session) -> list[Topic]:
    """Return every topic in natural order, those without a text too."""
    rows = session.execute(select(TOPIC))
    topics = [Topic(row.number, row.title, row.description, row.narrative) for row in rows]
    return sorted(topics, key=lambda topic: natural_key(topic.topic))


def listed_topics(session: Session) -> set[str]:
    """Return the ids that a topics file named; empty = no topics file was imported."""
    return set(session.scalars(select(TOPIC.c.number).where(TOPIC.c.listed)))
