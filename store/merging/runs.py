"""Runs of several copies, with their rankings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row, insert, select, update

from store.merging.copies import Copy, Here
from store.merging.raw_writing import insert_one
from store.models import RANKING, RUN

_BATCH = 64
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
    options = {"yield_per": _BATCH}
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
