"""What can come of a key, and how far a topic has come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from store.records import Decision


class Outcome(StrEnum):
    """What came of a key."""

    SAVED = "saved"
    STUCK = "saved, stuck"
    """Written, but the next document could not be drawn; `Result.message` says why."""
    UNCHANGED = "unchanged"
    """The document has that grade already; nothing was written."""
    TOO_EARLY = "too early"
    """Within the minimum dwell; dropped and counted."""
    CONFIRM = "confirm"
    """It would take a grade away; ask, then call again with ``confirmed=True``."""
    CONFLICT = "conflict"
    """The same judge decided it elsewhere; not written until `keep_theirs` or
    `replace_theirs`."""
    NOTHING = "nothing"
    """There was nothing to do it to."""
    FAILED = "failed"
    """Not written; the document stays, `Result.message` says why."""


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a key, and what to tell the judge."""

    outcome: Outcome
    message: str = ""
    saved_at: datetime | None = None
    """UTC; set when something was written."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the open topic has come."""

    total: int
    judged: int
    skipped: int
    cannot: int

    @property
    def left(self) -> int:
        """Documents with no decision yet."""
        return self.total - self.judged - self.skipped - self.cannot


@dataclass(frozen=True, slots=True)
class Attempt:
    """A decision, and what it is called."""

    decision: Decision
    said: str
    """In full, as in ``2 relevant``."""
    done: str
    """In short, as undo names it: ``grade 2``."""
    is_redo: bool = False
    """Whether it was undone before."""

    @property
    def stays(self) -> bool:
        """Whether the document stays before the judge: nothing was decided about it."""
        return self.decision.note is not None or self.decision.passages is not None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A decision that met another one of the same judge, made elsewhere."""

    attempt: Attempt
    theirs: str
    """How the document stands there, in a word or two."""
    host: str
    """The machine it was decided at; empty = not known."""
    at: datetime
    """UTC."""
