"""Topics and guidelines: texts that judges read, in versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, bindparam, insert, select, update
from sqlmodel import Session

from store.db.columns import insert_row
from store.db.database import Area
from store.db.engine import database_now
from store.db.tables import GUIDELINE, JUDGEMENT, TOPIC, TOPIC_VERSION
from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.records import Guideline, ImportReport, Topic
from store.text import natural_key

_TEXTS = ("title", "description", "narrative")


def texts_of(row: Row[Any] | Topic) -> dict[str, str]:
    """Return title, description and narrative, by these names."""
    return {name: getattr(row, name) for name in _TEXTS}


def set_text(session: Session, row: Row[Any], topic: Topic, *, keeps_old: bool) -> None:
    """Give a topic a text, by its row as it is now; with `keeps_old` that stays as an earlier version."""
    values: dict[str, Any] = {**texts_of(topic)}
    if keeps_old:
        old = {"topic_id": row.id, "version": row.version, "changed_at": row.changed_at}
        session.connection().execute(insert(TOPIC_VERSION), [{**old, **texts_of(row)}])
        values |= {"version": row.version + 1, "changed_at": database_now(session)}
    session.execute(update(TOPIC).where(TOPIC.c.id == row.id).values(listed=True, **values))


def current_versions(session: Session) -> dict[int, set[int]]:
    """Return the versions with the text of now, by topic row id; none of topics with one text.

    An older text that comes back is the text of now, whatever its number.
    """
    query = select(TOPIC).where(TOPIC.c.version > 1)
    now = {row.id: row for row in session.execute(query)}
    current = {row_id: {row.version} for row_id, row in now.items()}
    if now:
        for row in session.execute(select(TOPIC_VERSION)):
            if row.topic_id in now and texts_of(row) == texts_of(now[row.topic_id]):
                current[row.topic_id].add(row.version)
    return current


_GUIDELINES = select(GUIDELINE.c.version, GUIDELINE.c.text, GUIDELINE.c.created_at)


def newest_guideline(session: Session) -> Guideline | None:
    """Return the newest version of the guidelines, its text raw; ``None`` = there is none."""
    row = session.execute(_GUIDELINES.order_by(GUIDELINE.c.version.desc()).limit(1)).first()
    return None if row is None else Guideline(*row)


def fetch_guidelines(session: Session) -> list[Guideline]:
    """Return every version of the guidelines, the oldest first, texts raw."""
    return [Guideline(*row) for row in session.execute(_GUIDELINES.order_by(GUIDELINE.c.version))]


class Topics(Area):
    """The topics of a collection."""

    def add(self, topics: Sequence[Topic], *, replace: bool = False) -> ImportReport:
        """Add topics, each id once, or see that they are there already.

        With `replace` another text is the next version, without it raises `ConflictError`. The text that a
        topic had stays, as an earlier version; so does an empty one by which somebody judged.
        """
        with self._db.filling() as (session, keys, _):
            known = set(keys.ids)
            keys.add(session, (topic.topic for topic in topics))
            stored = {row.number: row for row in session.execute(select(TOPIC))}
            added = unchanged = replaced = 0
            new = []
            for topic in topics:
                row = stored[topic.topic]
                if topic.topic not in known:
                    texts = {f"new_{name}": text for name, text in texts_of(topic).items()}
                    new.append({"row_id": row.id, **texts})
                    continue
                is_other = texts_of(row) != texts_of(topic)
                if row.listed:
                    if not is_other:
                        unchanged += 1
                        continue
                    if not replace:
                        message = f"topic `{topic.topic}` exists with another text"
                        hint = f"--replace takes the new text, as version {row.version + 1} of it"
                        raise ConflictError(message, hint=hint)
                    replaced += 1
                else:
                    added += 1
                # Anybody who sat at a desk over the topic judged by the text that it had.
                sat = select(JUDGEMENT.c.id).where(JUDGEMENT.c.topic_id == row.id)
                at_desk = sat.where(JUDGEMENT.c.sitting_id.is_not(None)).limit(1)
                keeps_old = row.listed or (is_other and session.scalar(at_desk) is not None)
                set_text(session, row, topic, keeps_old=keeps_old)
            if new:
                own = TOPIC.c.id == bindparam("row_id")
                new_texts: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _TEXTS}
                session.connection().execute(update(TOPIC).where(own).values(listed=True, **new_texts), new)
            return ImportReport(added=added + len(new), unchanged=unchanged, replaced=replaced)

    def listed(self) -> set[str]:
        """Return the ids that a topics file named; empty = no topics file was imported."""
        with self._db.reading() as session:
            return set(session.scalars(select(TOPIC.c.number).where(TOPIC.c.listed)))

    def all(self) -> list[Topic]:
        """Return every topic in natural order, those without a text too."""
        with self._db.reading() as session:
            rows = session.execute(select(TOPIC))
            topics = [Topic(row.number, **texts_of(row)) for row in rows]
            return sorted(topics, key=lambda topic: natural_key(topic.topic))


class Guidelines(Area):
    """The judging guidelines of a collection, in versions."""

    def add(self, text: str) -> tuple[Guideline, bool]:
        """Add a version of the guidelines, unless the newest has the same text; return whether it is new.

        An older text that comes back is a new version, so that every judgement made under the newest version
        was made under the newest text. `ArgumentError` is raised if the text is blank.
        """
        with self._db.writing(bulk=True) as session:
            if not text.strip():
                raise ArgumentError("guidelines", "must hold a text", text[:20])
            newest = newest_guideline(session)
            if newest is not None and newest.text == text:
                return newest, False
            made = Guideline(1 if newest is None else newest.version + 1, text, datetime.now(UTC))
            insert_row(session, GUIDELINE, **asdict(made))
            return made, True

    def get(self, version: int | None = None) -> Guideline:
        """Return one version of the guidelines, its text raw; default the newest."""
        with self._db.reading() as session:
            versions = fetch_guidelines(session)
            for one in reversed(versions):
                if version in (None, one.version):
                    return one
            hint = "pooler show guidelines" if versions else "pooler import guidelines FILE"
            name = "newest" if version is None else str(version)
            known = (str(one.version) for one in versions)
            raise UnknownNameError("guideline version", name, known, hint=hint)

    def all(self) -> list[Guideline]:
        """Return every version, the oldest first, texts raw."""
        with self._db.reading() as session:
            return fetch_guidelines(session)
