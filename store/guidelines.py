"""Judging guidelines: markdown, in numbered versions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, select
from sqlmodel import Session

from store.errors import ArgumentError, UnknownNameError
from store.models import GUIDELINE, GuidelineRow
from store.records import Guideline


def add_guideline(session: Session, text: str) -> tuple[Guideline, bool]:
    """Add a version of the guidelines, unless the newest has the same text.

    Parameters
    ----------
    session : Session
        A bulk writing session.
    text : str
        Markdown, kept as it is.

    Returns
    -------
    tuple of Guideline and bool
        The newest version, and whether it is new.

    Raises
    ------
    ArgumentError
        If the text is empty or blank.

    Notes
    -----
    An older text that comes back is a new version, so that every judgement made under the newest
    version was made under the newest text.
    """
    if not text.strip():
        raise ArgumentError("guidelines", "must hold a text", text[:20])
    newest = newest_guideline(session)
    if newest is not None and newest.text == text:
        return newest, False
    version = 1 if newest is None else newest.version + 1
    row = GuidelineRow(version=version, text=text, created_at=datetime.now(UTC))
    session.add(row)
    session.flush()
    return Guideline(version, text, row.created_at), True


def newest_guideline(session: Session) -> Guideline | None:
    """Return the newest version of the guidelines, its text raw; ``None`` = there is none."""
    row = session.execute(select(GUIDELINE).order_by(GUIDELINE.c.version.desc()).limit(1)).first()
    return None if row is None else _as_record(row)


def fetch_guideline(session: Session, version: int | None = None) -> Guideline:
    """Return one version of the guidelines, its text raw; default the newest.

    Raises
    ------
    UnknownNameError
        If there is no such version.
    """
    versions = fetch_guidelines(session)
    for one in reversed(versions):
        if version in (None, one.version):
            return one
    hint = "pooler guidelines list" if versions else "pooler guidelines set FILE"
    name = "newest" if version is None else str(version)
    known = (str(one.version) for one in versions)
    raise UnknownNameError("guideline version", name, known, hint=hint)


def fetch_guidelines(session: Session) -> list[Guideline]:
    """Return every version of the guidelines, the oldest first, texts raw."""
    rows = session.execute(select(GUIDELINE).order_by(GUIDELINE.c.version))
    return [_as_record(row) for row in rows]


def _as_record(row: Row[Any]) -> Guideline:
    """Turn a row into a `Guideline`."""
    return Guideline(row.version, row.text, row.created_at)
