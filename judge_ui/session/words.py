"""Outcomes of keys, how far a topic has come, and the names of grades."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from store.errors import PoolerError
from store.records import Decision, Scale
from store.text import sanitise_line

CANNOT_MARK = "can't"


def grade_mark(scale: Scale, value: int | None) -> str:
    """Name a decision as shortly as can be: by the letter where its key is one, else by the grade's value.

    ``None`` = cannot be judged.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> grade_mark(parse_scale("0-2"), 2), grade_mark(parse_scale("ntcir"), 3)
    ('2', 'S')
    """
    if value is None:
        return CANNOT_MARK
    for grade in scale.grades:
        if grade.value == value and grade.key.isalpha():
            first, colon, _ = sanitise_line(grade.label).partition(":")
            return first if colon and first.lower() == grade.key.lower() else grade.key
    return str(value)


def grade_name(scale: Scale, value: int | None) -> str:
    """Name a decision by the letter or value of its grade, and its label; ``None`` = cannot be judged.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> grade_name(parse_scale("0-2"), 2), grade_name(parse_scale("ntcir"), 3)
    ('2 relevant', 'S: highly relevant')
    """
    if value is None:
        return f"{CANNOT_MARK} be judged"
    label, mark = sanitise_line(scale.label(value)), grade_mark(scale, value)
    if label.startswith(f"{mark}:"):
        return label
    return f"{mark}: {label}" if mark.isalpha() else f"{mark} {label}"


class Goal(Protocol):
    """What the organiser wants found in a topic, which may be reached before its last document."""

    def is_reached(self, topic: str) -> bool:
        """Return whether judging of a topic may end; asked after every decision, so it is quick."""

    def words(self, topic: str) -> str:
        """Return how the topic stands at its end, no more than the organiser wants shown."""


class KeyOutcome(StrEnum):
    """What came of a key."""

    SAVED = "saved"
    STUCK = "saved, stuck"
    """Written, but the next document could not be drawn; `KeyResult.message` says why."""
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
    """Not written; the document stays, `KeyResult.message` says why."""


@dataclass(frozen=True, slots=True)
class KeyResult:
    """The outcome of a key, and the message for the judge."""

    outcome: KeyOutcome
    message: str = ""
    saved_at: datetime | None = None
    """UTC; set when something was written."""


def tried(act: Callable[[], KeyResult]) -> KeyResult:
    """Let a session act; an error of the store becomes a failed result."""
    try:
        return act()
    except PoolerError as error:
        return KeyResult(KeyOutcome.FAILED, error.message)


class Lit(StrEnum):
    """Which words of a document are lit up."""

    ALL = "words of the topic and your own"
    TOPIC = "words of the topic"
    OWN = "your own words"
    NONE = "none"


class TermGroups(NamedTuple):
    """Terms to be lit up, each group in a style of its own."""

    topic: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    """The judge's."""
    common: tuple[str, ...] = ()
    """Of the topic, and in so many documents that they distinguish none."""


@dataclass(frozen=True, slots=True)
class TopicProgress:
    """How far the open topic has come."""

    total: int
    judged: int
    skipped: int
    cannot: int

    @property
    def left(self) -> int:
        """Documents that were not even skipped."""
        return self.total - self.decided - self.skipped

    @property
    def decided(self) -> int:
        """Documents with a decision; what is skipped is not decided."""
        return self.judged + self.cannot


@dataclass(frozen=True, slots=True)
class Attempt:
    """A decision, and what it is called."""

    decision: Decision
    words: str
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
class DecisionConflict:
    """A decision that met another one of the same judge, made elsewhere."""

    attempt: Attempt
    theirs: str
    """How the document stands there, in a word or two."""
    host: str
    """The machine it was decided at; empty = not known."""
    at: datetime
    """UTC."""
