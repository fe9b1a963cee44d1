"""Topics, documents, guidelines, runs united."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, bindparam, delete, insert, select, update
from sqlmodel import Session

from store.content.documents import Metadata, differing, fetch_metadata, fields_text, write_metadata
from store.db.raw import CHECKSUM
from store.db.tables import DOCUMENT, RANKING, TABLES, TOPIC, TOPIC_VERSION
from store.keeping.merge.copies import Copy, Here
from store.keeping.merge.tables import RUNS, United, same, united_values

_TEXTS = ("title", "description", "narrative")


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return when a text came, if both copies know it; else what this collection knows."""
    return min(one, other) if one and other else one


_VERSION = (
    United(_TEXTS, same, "topic `{row[number]}` has another text as version {row[version]}"),
    United(("changed_at",), _earlier),
)


def unite_topics(here: Here, copy: Copy) -> None:
    """Take in the topics of a copy; the highest version of a text is the one of now."""
    theirs = {row.number: row for row in copy.session.execute(select(TOPIC).order_by(TOPIC.c.id))}
    copy.count.new["topics"] += here.topics.add(here.session, theirs)
    own = {row.number: row for row in here.session.execute(select(TOPIC))}
    versions, more = _versions(here.session, own), _versions(copy.session, theirs)
    for number, topic in theirs.items():
        mine = own[number]
        copy.topics[topic.id] = mine.id
        before, other = versions.get(number, {}), more.get(number, {})
        after = {**other, **before}
        for version in sorted(before.keys() & other.keys()):
            values = united_values(here, copy, _VERSION, before[version], other[version])
            after[version] = {**before[version], **(values or {})}
        if after != before or topic.listed > mine.listed:
            _write(here.session, mine.id, after)
            copy.count.changed["topics"] += bool(before)


def _versions(session: Session, topics: Mapping[str, Row[Any]]) -> dict[str, dict[int, dict[str, Any]]]:
    """Return all texts of topics by version, the one of now too; none where no topics file named one."""
    numbers = {row.id: number for number, row in topics.items()}
    found: dict[str, dict[int, dict[str, Any]]] = {}

    def add(number: str, row: Row[Any]) -> None:
        names = ("version", "changed_at", *_TEXTS)
        values = {name: getattr(row, name) for name in names}
        found.setdefault(number, {})[row.version] = {"number": number, **values}

    for row in session.execute(select(TOPIC_VERSION)):
        add(numbers[row.topic_id], row)
    for number, row in topics.items():
        if row.listed or number in found:
            add(number, row)
    return found


def _write(session: Session, row_id: int, versions: Mapping[int, Mapping[str, Any]]) -> None:
    """Give a topic its versions."""
    *earlier, newest = (versions[version] for version in sorted(versions))
    session.execute(delete(TOPIC_VERSION).where(TOPIC_VERSION.c.topic_id == row_id))
    session.execute(update(TOPIC).where(TOPIC.c.id == row_id).values({**newest, "listed": True}))
    if earlier:
        rows = [{key: row[key] for key in row if key != "number"} | {"topic_id": row_id} for row in earlier]
        session.connection().execute(insert(TOPIC_VERSION), rows)


_BATCH = 500


def unite_documents(here: Here, copy: Copy) -> None:
    """Take in the documents of a copy, and the texts that are not here; no text is replaced.

    One judge's part has no document of its own, and brings no field, no markup and no choice of fields.
    """
    has_text = DOCUMENT.c.text.is_not(None).label("has_text")
    query = select(DOCUMENT.c.id, DOCUMENT.c.docno, DOCUMENT.c.listed, DOCUMENT.c.sha256, has_text)
    theirs = copy.session.execute(query.order_by(DOCUMENT.c.id)).all()
    ids = here.documents.ids
    for row in theirs if copy.is_part else ():
        if row.docno not in ids:
            here.differs(copy, f"document `{row.docno}` is not here, and it is a part of this")
    copy.count.new["documents"] += here.documents.add(here.session, (row.docno for row in theirs))
    own = {row.docno: row for row in here.session.execute(query)}
    to_list: list[dict[str, Any]] = []
    to_copy: dict[int, int] = {}
    for row in theirs:
        mine = own[row.docno]
        copy.documents[row.id] = mine.id
        if row.sha256 is not None and mine.sha256 is not None and row.sha256 != mine.sha256:
            here.differs(copy, f"document `{row.docno}` has another text")
        elif row.sha256 is not None and mine.sha256 is None and not row.has_text:
            # What a page saved has only the hashes of what its judge read.
            here.differs(copy, f"document `{row.docno}` has no text here, and was judged with one")
        elif row.sha256 is not None and mine.sha256 is None:
            to_copy[row.id] = mine.id
        elif row.listed and not mine.listed:
            to_list.append({"row_id": mine.id})
    if to_list:
        statement = update(DOCUMENT).where(DOCUMENT.c.id == bindparam("row_id")).values(listed=True)
        here.session.connection().execute(statement, to_list)
    copy.count.new["texts"] += len(to_copy)
    _copy_texts(here, copy, to_copy)
    if not copy.is_part:
        _unite_metadata(here, copy, {row.id: row.docno for row in theirs})


def _unite_metadata(here: Here, copy: Copy, docnos: Mapping[int, str]) -> None:
    """Take in fields and markup that are not here; no value is replaced.

    Of two choices of what judges are shown the longer one stands.
    """
    mine, changes = fetch_metadata(here.session), dict[int, Metadata]()
    for row_id, (markup, fields) in fetch_metadata(copy.session).items():
        own = mine.get(copy.documents[row_id], (None, {}))
        if another := differing(own, (markup, fields)):
            here.differs(copy, f"document `{docnos[row_id]}` has another {another}")
        elif (now := (own[0] or markup, {**fields, **own[1]})) != own:
            changes[copy.documents[row_id]] = now
    write_metadata(here.session, changes, mine)
    table = TABLES["collection"]
    chosen = [session.scalar(select(table.c.fields)) for session in (here.session, copy.session)]
    shown, other = (tuple(json.loads(one or "[]")) for one in chosen)
    if (len(other), other) > (len(shown), shown):
        here.session.execute(update(table).values(fields=fields_text(other)))


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


_RANKINGS = 64
"""Rankings in memory at a time."""


def unite_runs(here: Here, copy: Copy) -> None:
    """Take in the runs of a copy, with the rankings of those that are new; one tag is one file."""
    copy.runs, new = RUNS.unite_all(here, copy)
    # The row id here of every row id of a document there; 0 = there is none.
    numbers = np.zeros(max(copy.documents, default=0) + 1, np.int32)
    numbers[list(copy.documents)] = list(copy.documents.values())
    for row in new:
        _add_rankings(here, copy, row["id"], numbers)


def _add_rankings(here: Here, copy: Copy, run: int, numbers: NDArray[np.int32]) -> None:
    """Add the rankings of a run of a copy."""
    query = select(RANKING).where(RANKING.c.run_id == run).order_by(RANKING.c.topic_id)
    options = {"yield_per": _RANKINGS}
    with copy.session.connection().execute(query, execution_options=options) as result:
        for batch in result.mappings().partitions():
            rankings = [
                {
                    **{name: row[name] for name in row if name != CHECKSUM},
                    "run_id": copy.runs[run],
                    "topic_id": copy.topics[row["topic_id"]],
                    # To SQLite, a part of no bytes is no value.
                    "document_ids": numbers[np.frombuffer(row["document_ids"] or b"", "<i4")]
                    .astype("<i4")
                    .tobytes(),
                }
                for row in batch
            ]
            here.session.connection().execute(insert(RANKING), rankings)
