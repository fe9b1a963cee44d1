"""What is left of judges who were erased: that there was one, and how much is gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlmodel import Session

from store.models import ERASURE
from store.records import JudgeKind


@dataclass(frozen=True, slots=True)
class Erasure:
    """A judge who was erased."""

    uid: str
    """The same in every copy of the collection; it says nothing of whose it was."""
    kind: JudgeKind
    judgements: int
    """Documents that had a grade."""
    events: int
    """All there were, taken back or not."""
    erased_at: datetime
    """UTC."""


def fetch_erasures(session: Session) -> list[Erasure]:
    """Return every erasure, the oldest first; those of one moment in an order of their content."""
    found = [
        Erasure(row.uid, JudgeKind(row.kind), row.judgements, row.events, row.erased_at)
        for row in session.execute(select(ERASURE))
    ]
    return sorted(
        found, key=lambda one: (one.erased_at, one.kind, one.judgements, one.events, one.uid)
    )


def removed_words(judgements: Iterable[int]) -> str:
    """Say how much is gone with judges who were erased.

    Parameters
    ----------
    judgements : iterable of int
        Documents that had a grade, one number a judge.

    Returns
    -------
    str
        Empty when nobody was erased.

    Examples
    --------
    >>> removed_words([31])
    '31 judgements of an erased judge removed'
    >>> removed_words([1]), removed_words([1200, 3]), removed_words([])
    ('1 judgement of an erased judge removed', '1,203 judgements of 2 erased judges removed', '')
    """
    counts = list(judgements)
    if not counts:
        return ""
    noun = "judgement" if sum(counts) == 1 else "judgements"
    whose = "an erased judge" if len(counts) == 1 else f"{len(counts):,} erased judges"
    return f"{sum(counts):,} {noun} of {whose} removed"
