"""Versions of topics: the texts that a topic had, and the judgements made under older ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select, update
from sqlmodel import Session

from store.database import database_now
from store.deciding import fetch_histories, sat_down
from store.event_versions import Basis, basis_of
from store.models import JUDGEMENT, TOPIC, TOPIC_VERSION
from store.records import Topic


@dataclass(frozen=True, slots=True)
class TopicVersion:
    """One text of a topic."""

    version: int
    """From 1."""
    topic: Topic
    changed_at: datetime | None
    """UTC; when it came. ``None`` = it is the first."""
    judgements: int
    """Documents judged under it at a desk whose decision stands; of whoever it was."""


def texts_of(row: Row[Any] | Topic) -> tuple[str, str, str]:
    """Return title, description and narrative."""
    return row.title, row.description, row.narrative


def set_text(session: Session, row: Row[Any], topic: Topic, *, keeps_old: bool) -> None:
    """Give a topic a text, by its row; the old one stays as an earlier version, if it is to.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    row : Row
        Of the topic, as it is now.
    topic : Topic
        With the text.
    keeps_old : bool
        Whether anybody may have judged by the old text.
    """
    names = ("title", "description", "narrative")
    values: dict[str, Any] = dict(zip(names, texts_of(topic), strict=True))
    if keeps_old:
        old = {"topic_id": row.id, "version": row.version, "changed_at": row.changed_at}
        texts = dict(zip(names, texts_of(row), strict=True))
        session.connection().execute(insert(TOPIC_VERSION), [{**old, **texts}])
        values |= {"version": row.version + 1, "changed_at": database_now(session)}
    session.execute(update(TOPIC).where(TOPIC.c.id == row.id).values(listed=True, **values))


def was_judged(session: Session, topic: int) -> bool:
    """Say whether anybody sat at a desk over a topic, by its row id."""
    at_desk = select(JUDGEMENT.c.id).where(
        JUDGEMENT.c.topic_id == topic, JUDGEMENT.c.sitting_id.is_not(None)
    )
    return session.scalar(at_desk.limit(1)) is not None


def fetch_topic_versions(session: Session, topic: int) -> tuple[TopicVersion, ...]:
    """Return every text of a topic, by its row id: the oldest first, the last is that of now."""
    query = select(TOPIC_VERSION).where(TOPIC_VERSION.c.topic_id == topic)
    now = session.execute(select(TOPIC).where(TOPIC.c.id == topic)).one()
    earlier = session.execute(query.order_by(TOPIC_VERSION.c.version)).all()
    counts = _count_by_version(session, {topic})
    return tuple(
        TopicVersion(
            row.version,
            Topic(now.number, *texts_of(row)),
            row.changed_at,
            counts[topic, row.version],
        )
        for row in (*earlier, now)
    )


def current_versions(session: Session) -> dict[int, set[int]]:
    """Return the versions with the text of now, by topic row id.

    Topics whose text never changed are left out. An older text that comes back is the text of now,
    whatever its number.
    """
    query = select(TOPIC).where(TOPIC.c.version > 1)
    now = {row.id: row for row in session.execute(query)}
    current = {row_id: {row.version} for row_id, row in now.items()}
    if now:
        for row in session.execute(select(TOPIC_VERSION)):
            if row.topic_id in now and texts_of(row) == texts_of(now[row.topic_id]):
                current[row.topic_id].add(row.version)
    return current


def judged_under(basis: Basis) -> int:
    """Return the version of the topic's text that a decision rests on.

    Events of before topics had versions do not say; there was one version then, the first.
    """
    return 1 if basis.topic_version is None else basis.topic_version


def count_older(session: Session) -> Counter[int]:
    """Count, by topic row id, the judgements made at desks under another text than that of now."""
    current = current_versions(session)
    older: Counter[int] = Counter()
    for (topic, version), n in _count_by_version(session, set(current)).items():
        if version not in current[topic]:
            older[topic] += n
    return older


def _count_by_version(session: Session, topics: Collection[int]) -> Counter[tuple[int, int]]:
    """Count the decisions that stand, by topic and the version they rest on."""
    counts: Counter[tuple[int, int]] = Counter()
    for judge in sat_down(session) if topics else ():
        for (topic, _), events in fetch_histories(session, judge=judge).items():
            basis = basis_of(events) if topic in topics else None
            if basis is not None:
                counts[topic, judged_under(basis)] += 1
    return counts
