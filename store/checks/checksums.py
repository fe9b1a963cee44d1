"""Check of values that only their row's checksum can confirm: grades, notes, scores, texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table, text
from sqlmodel import Session

from store.checks.check import N_EXAMPLES, RESTORE, Check, Found
from store.database import stored_columns
from store.row_checksums import guarded_tables, wrong_rows

_TOPIC = "(SELECT number FROM topic WHERE id = :topic_id)"
_DOCNO = "(SELECT docno FROM document WHERE id = :document_id)"
_POOL = "(SELECT name FROM pool WHERE id = :pool_id)"
_JUDGE = "(SELECT name FROM judge WHERE id = :judge_id)"
_NAMES = {
    "collection": ("the collection's name, scale or making", ""),
    "guideline": ("version {0} of the guidelines", ":version"),
    "topic": ("topic {0}", ":number"),
    "topic_version": ("topic {0}, version {1} of its text", f"{_TOPIC}, :version"),
    "run": ("run `{0}`", ":tag"),
    "ranking": ("run `{0}` topic {1}", f"(SELECT tag FROM run WHERE id = :run_id), {_TOPIC}"),
    "pool": ("pool `{0}`, its plan or state", ":name"),
    "pool_entry": ("pool `{0}` topic {1} `{2}`", f"{_POOL}, {_TOPIC}, {_DOCNO}"),
    "pool_topic": ("pool `{0}` topic {1}, its budget", f"{_POOL}, {_TOPIC}"),
    "judge": ("judge `{0}`", ":name"),
    "erasure": ("what is left of the erased judge {0}", ":uid"),
    "assignment_plan": ("assignment plan {0}", ":id"),
    "judgement": (
        "topic {0} `{1}` of `{2}`, revision {3}",
        f"{_TOPIC}, {_DOCNO}, {_JUDGE}, :revision",
    ),
    "judge_term": ("a word that `{0}` marks in topic {1}", f"{_JUDGE}, {_TOPIC}"),
    "passage": ("a passage of judgement event {0}", ":judgement_id"),
}
"""What a row is called, and where its names are."""
_KEYS = (
    "id", "version", "number", "tag", "name", "uid", "run_id", "topic_id", "pool_id",
    "document_id", "judge_id", "revision", "judgement_id",
)  # fmt: skip


def wrong_checksums(session: Session) -> Found:
    """Check that rows that have a checksum are as they were written.

    Tables of another schema, without all the columns they have now, are not looked at.
    """
    found = Found()
    columns = stored_columns(session)
    for table in guarded_tables():
        if not columns.issuperset((table.name, column.name) for column in table.columns):
            continue
        wrong = []
        for values, is_wrong in wrong_rows(session, table):
            found.n_checked += 1
            if is_wrong:
                wrong.append({name: values[name] for name in _KEYS if name in values})
        # A server answers one question at a time.
        for number, keys in enumerate(wrong):
            found.add(_describe(session, table, keys) if number < N_EXAMPLES else "")
    return found


def _describe(session: Session, table: Table, keys: Mapping[str, Any]) -> str:
    """Name a row that is not as it was written."""
    words, names = _NAMES[table.name]
    row = session.execute(text(f"SELECT {names}"), dict(keys)).one() if names else ()
    return f"{words.format(*row)}: not as it was written, by its checksum"


CHECKSUM_CHECKS = (Check("checksums", "rows", wrong_checksums, RESTORE),)
