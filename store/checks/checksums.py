"""Check of values that only their row's checksum can confirm: grades, notes, moments, scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table, text
from sqlmodel import Session

from store.checks.check import N_EXAMPLES, RESTORE, Check, Found
from store.models import JUDGEMENT, PASSAGE, POOL_ENTRY, RANKING
from store.row_checksums import wrong_rows

_PAIR = "(SELECT number FROM topic WHERE id = :topic_id)"
_DOCNO = "(SELECT docno FROM document WHERE id = :document_id)"
_NAMES = {
    "ranking": ("run `{0}` topic {1}", f"(SELECT tag FROM run WHERE id = :run_id), {_PAIR}"),
    "pool_entry": (
        "pool `{0}` topic {1} `{2}`",
        f"(SELECT name FROM pool WHERE id = :pool_id), {_PAIR}, {_DOCNO}",
    ),
    "judgement": (
        "topic {0} `{1}` of `{2}`, revision {3}",
        f"{_PAIR}, {_DOCNO}, (SELECT name FROM judge WHERE id = :judge_id), :revision",
    ),
    "passage": ("a passage of judgement event {0}", ":judgement_id"),
}
"""What a row is called, and where its names are."""
_KEYS = ("run_id", "topic_id", "pool_id", "document_id", "judge_id", "revision", "judgement_id")


def wrong_checksums(session: Session) -> Found:
    """Check that rows of judgements, passages, pools and rankings are as they were written."""
    found = Found()
    for table in (RANKING, POOL_ENTRY, JUDGEMENT, PASSAGE):
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
    row = session.execute(text(f"SELECT {names}"), dict(keys)).one()
    return f"{words.format(*row)}: not as it was written, by its checksum"


CHECKSUM_CHECKS = (Check("checksums", "rows", wrong_checksums, RESTORE),)
