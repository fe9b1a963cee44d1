"""Documents of several copies."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select, update

from store.merging.copies import Copy, Here
from store.models import DOCUMENT

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
    copy.count.new["documents"] += here.documents.add(
        here.session, (docno for docno, _, _, _ in theirs)
    )
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
