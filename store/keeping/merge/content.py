"""Topics, documents, guidelines, runs united."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, bindparam, delete, insert, select, update
from sqlmodel import Session

from store.db.raw import insert_one
from store.db.tables import DOCUMENT, GUIDELINE, RANKING, RUN, TOPIC, TOPIC_VERSION
from store.keeping.merge.copies import Copy, Here

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
    session.execute(update(TOPIC).where(TOPIC.c.id == row_id).values(listed=True, **rows.pop(newest)))
    if rows:
        earlier = [{"topic_id": row_id, **rows[version]} for version in sorted(rows)]
        session.connection().execute(insert(TOPIC_VERSION), earlier)


_BATCH = 500


def unite_documents(here: Here, copy: Copy) -> None:
    """Take in the documents of a copy, and the texts that are not here; no text is replaced.

    One judge's part has no document of its own.
    """
    columns = (DOCUMENT.c.docno, DOCUMENT.c.id, DOCUMENT.c.listed, DOCUMENT.c.sha256)
    theirs = copy.session.execute(select(*columns).order_by(DOCUMENT.c.id)).all()
    if copy.is_part:
        for docno, _, _, _ in theirs:
            if docno not in here.documents.ids:
                here.differs(copy, f"document `{docno}` is not here, and it is a part of this")
    copy.count.new["documents"] += here.documents.add(here.session, (docno for docno, _, _, _ in theirs))
    known = select(DOCUMENT.c.docno, DOCUMENT.c.listed, DOCUMENT.c.sha256)
    own = {docno: (listed, sha256) for docno, listed, sha256 in here.session.execute(known)}
    ids = here.documents.ids
    to_list: list[dict[str, Any]] = []
    to_copy: dict[int, int] = {}
    for docno, row_id, listed, sha256 in theirs:
        copy.documents[row_id] = ids[docno]
        is_listed, hashed = own[docno]
        if sha256 is not None and hashed is not None and sha256 != hashed:
            here.differs(copy, f"document `{docno}` has another text")
        elif sha256 is not None and hashed is None:
            to_copy[row_id] = ids[docno]
        elif listed and not is_listed:
            to_list.append({"row_id": ids[docno]})
    connection = here.session.connection()
    own_row = DOCUMENT.c.id == bindparam("row_id")
    if to_list:
        connection.execute(update(DOCUMENT).where(own_row).values(listed=True), to_list)
    copy.count.new["texts"] += len(to_copy)
    _copy_texts(here, copy, to_copy)


def _copy_texts(here: Here, copy: Copy, to_copy: dict[int, int]) -> None:
    """Copy titles and texts, some hundred at a time."""
    statement = (
        update(DOCUMENT)
        .where(DOCUMENT.c.id == bindparam("row_id"))
        .values(
            listed=DOCUMENT.c.listed | bindparam("is_listed"),
            title=bindparam("new_title"),
            text=bindparam("new_text"),
            sha256=bindparam("new_sha256"),
        )
    )
    wanted = list(to_copy)
    for first in range(0, len(wanted), _BATCH):
        some = DOCUMENT.c.id.in_(wanted[first : first + _BATCH])
        rows = [
            {
                "row_id": to_copy[row.id],
                "is_listed": row.listed,
                "new_title": row.title,
                "new_text": row.text,
                "new_sha256": row.sha256,
            }
            for row in copy.session.execute(select(DOCUMENT).where(some))
        ]
        here.session.connection().execute(statement, rows)


def unite_guidelines(here: Here, copy: Copy) -> None:
    """Take in versions of the guidelines that are not here; one number is one text."""
    own = {row.version: row for row in here.session.execute(select(GUIDELINE))}
    for row in copy.session.execute(select(GUIDELINE).order_by(GUIDELINE.c.version)).all():
        mine = own.get(row.version)
        if mine is None:
            values = {"version": row.version, "text": row.text, "created_at": row.created_at}
            here.session.execute(insert(GUIDELINE).values(values))
            copy.count.new["versions of the guidelines"] += 1
        elif mine.text != row.text:
            what = (
                f"version {row.version} of the guidelines has another text: judgements made under"
                f" it there and here were made under different rules"
            )
            here.differs(copy, what)
        elif row.created_at < mine.created_at:
            here.session.execute(
                update(GUIDELINE).where(GUIDELINE.c.version == row.version).values(created_at=row.created_at)
            )


_RANKINGS = 64
"""Rankings in memory at a time."""


def unite_runs(here: Here, copy: Copy) -> None:
    """Take in the runs of a copy; one tag is one file.

    A run that one copy has taken out of the pools contributes no more.
    """
    own = {row.tag: row for row in here.session.execute(select(RUN))}
    numbers: NDArray[np.int32] | None = None
    for row in copy.session.execute(select(RUN).order_by(RUN.c.id)).all():
        mine = own.get(row.tag)
        if mine is None:
            if numbers is None:
                numbers = _document_numbers(copy)
            copy.runs[row.id] = _add(here, copy, row, numbers)
            continue
        copy.runs[row.id] = mine.id
        if mine.sha256 != row.sha256:
            here.differs(copy, f"run `{row.tag}` is another file ({row.file}, here {mine.file})")
            continue
        if mine.group and row.group and mine.group != row.group:
            here.differs(copy, f"run `{row.tag}` is of group {row.group}, here {mine.group}")
            continue
        values: dict[str, Any] = {
            "group": mine.group or row.group,
            "contributes": mine.contributes and row.contributes,
            "priority": max(mine.priority, row.priority),
            "file": min(mine.file, row.file),
            "imported_at": min(mine.imported_at, row.imported_at),
        }
        if any(getattr(mine, name) != value for name, value in values.items()):
            here.session.execute(update(RUN).where(RUN.c.id == mine.id).values(values))
        copy.count.changed["runs"] += mine.contributes != values["contributes"]


def _document_numbers(copy: Copy) -> NDArray[np.int32]:
    """Return the row id here of every row id of a document there; 0 = there is none."""
    numbers = np.zeros(max(copy.documents, default=0) + 1, np.int32)
    numbers[list(copy.documents)] = list(copy.documents.values())
    return numbers


def _add(here: Here, copy: Copy, row: Row[Any], numbers: NDArray[np.int32]) -> int:
    """Add a run and its rankings."""
    values = {column.name: getattr(row, column.name) for column in RUN.c if column.name != "id"}
    connection = here.session.connection()
    run_id = insert_one(here.session, RUN, values)
    query = select(RANKING).where(RANKING.c.run_id == row.id).order_by(RANKING.c.topic_id)
    left_out = ("run_id", "topic_id", "document_ids", "checksum")
    kept = [column.name for column in RANKING.c if column.name not in left_out]
    options = {"yield_per": _RANKINGS}
    with copy.session.connection().execute(query, execution_options=options) as result:
        for batch in result.partitions():
            rankings = [
                {
                    "run_id": run_id,
                    "topic_id": copy.topics[one.topic_id],
                    # To SQLite, a part of no bytes is no value.
                    "document_ids": numbers[np.frombuffer(one.document_ids or b"", "<i4")]
                    .astype("<i4")
                    .tobytes(),
                    **{name: getattr(one, name) for name in kept},
                }
                for one in batch
            ]
            connection.execute(insert(RANKING), rankings)
    copy.count.new["runs"] += 1
    return run_id
