"""Queries on topics."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select, update
from sqlmodel import Session

from store.errors import ConflictError
from store.imports import ImportReport
from store.keys import Keys
from store.models import TOPIC
from store.ranking import natural_key
from store.records import Topic


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
        Whether a topic with another text takes the new one.

    Raises
    ------
    ConflictError
        If a listed topic has another text and `replace` is false.
    """
    stored = {row.number: row for row in session.execute(select(TOPIC))}
    added = unchanged = replaced = 0
    keys.add(session, (topic.topic for topic in topics))
    for topic in topics:
        row = stored.get(topic.topic)
        if row is not None and row.listed:
            if (row.title, row.description, row.narrative) == (
                topic.title,
                topic.description,
                topic.narrative,
            ):
                unchanged += 1
                continue
            if not replace:
                message = f"topic `{topic.topic}` is there with another text"
                raise ConflictError(message, hint="--replace takes the new text")
            replaced += 1
        else:
            added += 1
        session.execute(
            update(TOPIC)
            .where(TOPIC.c.id == keys.ids[topic.topic])
            .values(
                listed=True,
                title=topic.title,
                description=topic.description,
                narrative=topic.narrative,
            )
        )
    return ImportReport(added=added, unchanged=unchanged, replaced=replaced)


def fetch_topics(session: Session) -> list[Topic]:
    """Return every topic in natural order, those without a text too."""
    rows = session.execute(select(TOPIC))
    topics = [Topic(row.number, row.title, row.description, row.narrative) for row in rows]
    return sorted(topics, key=lambda topic: natural_key(topic.topic))


def listed_topics(session: Session) -> set[str]:
    """Return the ids that a topics file named; empty = no topics file was imported."""
    return set(session.scalars(select(TOPIC.c.number).where(TOPIC.c.listed)))
