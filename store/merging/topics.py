"""Topics of several copies, with every text that they had."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import delete, insert, select, update
from sqlmodel import Session

from store.merging.copies import Copy, Here
from store.models import TOPIC, TOPIC_VERSION

_TEXTS = ("title", "description", "narrative")


class _Text(NamedTuple):
    """One version of a topic's text."""

    texts: tuple[str, str, str]
    changed_at: datetime | None


class _Known(NamedTuple):
    """A topic on one copy."""

    row_id: int
    listed: bool
    versions: dict[int, _Text]
    """All of them, the one of now too; none where no topics file named it."""


def unite_topics(here: Here, copy: Copy) -> None:
    """Take in the topics of a copy; the highest version of a text is the one of now."""
    theirs = _fetch(copy.session)
    copy.count.new["topics"] += here.topics.add(here.session, theirs)
    own = _fetch(here.session)
    for number, topic in theirs.items():
        mine = own[number]
        copy.topics[topic.row_id] = mine.row_id
        versions = {**topic.versions, **mine.versions}
        for version in sorted(topic.versions.keys() & mine.versions.keys()):
            one, other = mine.versions[version], topic.versions[version]
            if one.texts != other.texts:
                what = f"topic `{number}` has another text as version {version}"
                here.differs(copy, what)
            elif one.changed_at and other.changed_at:
                versions[version] = _Text(one.texts, min(one.changed_at, other.changed_at))
        if versions != mine.versions or topic.listed > mine.listed:
            _write(here.session, mine.row_id, versions)
            copy.count.changed["topics"] += bool(mine.versions)


def _fetch(session: Session) -> dict[str, _Known]:
    """Return the topics of a collection with their versions, by number."""
    earlier: dict[int, dict[int, _Text]] = {}
    for row in session.execute(select(TOPIC_VERSION)):
        earlier.setdefault(row.topic_id, {})[row.version] = _text(row)
    found: dict[str, _Known] = {}
    for row in session.execute(select(TOPIC).order_by(TOPIC.c.id)):
        is_named = row.listed or row.id in earlier
        now = {row.version: _text(row)} if is_named else {}
        found[row.number] = _Known(row.id, row.listed, {**earlier.get(row.id, {}), **now})
    return found


def _text(row: Any) -> _Text:
    return _Text((row.title, row.description, row.narrative), row.changed_at)


def _write(session: Session, row_id: int, versions: dict[int, _Text]) -> None:
    """Give a topic its versions."""
    newest = max(versions)
    rows = {
        version: {
            "version": version,
            "changed_at": text.changed_at,
            **dict(zip(_TEXTS, text.texts, strict=True)),
        }
        for version, text in versions.items()
    }
    session.execute(delete(TOPIC_VERSION).where(TOPIC_VERSION.c.topic_id == row_id))
    session.execute(
        update(TOPIC).where(TOPIC.c.id == row_id).values(listed=True, **rows.pop(newest))
    )
    if rows:
        earlier = [{"topic_id": row_id, **rows[version]} for version in sorted(rows)]
        session.connection().execute(insert(TOPIC_VERSION), earlier)
