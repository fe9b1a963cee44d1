"""Check of the texts of documents: whether each is the one that its hash was made of."""

from __future__ import annotations

import hashlib
from typing import Any

from sqlalchemy import text
from sqlmodel import Session

from store.checks.check import Check, Found

_BATCH = 256
"""Texts fetched at a time."""


def wrong_texts(session: Session) -> Found:
    """Check that the hash of a document is that of its stored title and text."""
    found = Found()
    query = text("SELECT docno, title, text, sha256 FROM document WHERE text IS NOT NULL"
                 " OR title IS NOT NULL OR sha256 IS NOT NULL ORDER BY id")  # fmt: skip
    options = {"yield_per": _BATCH}
    with session.connection().execute(query, execution_options=options) as result:
        for docno, title, body, sha256 in result:
            found.n_checked += 1
            if body is None or sha256 is None:
                found.add(f"`{docno}` has a hash without a text, or a text without a hash")
                continue
            raw = _raw(title or b"")
            stored = hashlib.sha256(b"%d " % len(raw) + raw + _raw(body)).hexdigest()
            if stored != sha256:
                found.add(f"`{docno}` has another title or text than its hash says")
    return found


def _raw(value: Any) -> bytes:
    """Return the bytes of a column of bytes, in which SQLite may have text."""
    return value.encode() if isinstance(value, str) else bytes(value)


TEXT_CHECKS = (
    Check("texts", "documents with a text", wrong_texts,
          "take the texts again: pooler import docs FILE --replace"),
)  # fmt: skip
