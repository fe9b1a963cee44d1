"""One check of a collection: what it looks at, what it finds, and what to do about a fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import text
from sqlmodel import Session

N_EXAMPLES = 3
"""Faults of a check that are told; the rest are counted."""

RESTORE = "restore a backup: pooler restore BACKUP --replace"
REPORT = f"please report this, and {RESTORE}"

EVENT_NAMES = """
    LEFT JOIN topic t ON t.id = e.topic_id LEFT JOIN document d ON d.id = e.document_id
    LEFT JOIN judge j ON j.id = e.judge_id
"""
"""Joins that name the topic `t`, document `d` and judge `j` of an event `e`."""


@dataclass(slots=True)
class Found:
    """What a check found."""

    n_checked: int = 0
    n_faults: int = 0
    examples: list[str] = field(default_factory=list)
    """The first faults, at most `N_EXAMPLES`."""

    def add(self, fault: str) -> None:
        """Take in one fault."""
        self.n_faults += 1
        if len(self.examples) < N_EXAMPLES:
            self.examples.append(fault)


@dataclass(frozen=True, slots=True)
class Check:
    """One rule that holds in every collection."""

    name: str
    what: str
    """What is counted: a plural noun."""
    look: Callable[[Session], Found]
    advice: str
    """What to do about a fault."""


def is_postgresql(session: Session) -> bool:
    """Say which engine a session is on."""
    return session.get_bind().dialect.name == "postgresql"


def count(session: Session, table: str) -> int:
    """Count the rows of a table."""
    return int(session.execute(text(f'SELECT count(*) FROM "{table}"')).scalar_one())


def gather(
    session: Session, found: Found, query: str, describe: Callable[[Sequence[Any]], str]
) -> None:
    """Take in a fault for every row of a query."""
    for row in session.execute(text(query)):
        found.add(describe(tuple(row)) if len(found.examples) < N_EXAMPLES else "")


def quoted(values: Iterable[str]) -> str:
    """List words for a statement."""
    return ", ".join(f"'{value}'" for value in values)
