"""What came of bringing copies together, or would come of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from store.merging.settling import Rule, Take
from store.records import Action


@dataclass(frozen=True, slots=True)
class Version:
    """What one or more copies say of a document, where copies say different things."""

    copies: tuple[str, ...]
    """Collections in which it stands, as they were named."""
    outcome: Take
    action: Action
    """The event that decided it."""
    judged_at: datetime
    """UTC, by the clock of that copy's machine; when it was decided."""
    reason: str
    note: str
    settled: str | None = None
    """How copies had been settled to it; ``None`` = the judge decided it."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Decisions of one judge on one document that were made apart, and differ."""

    topic: str
    docno: str
    judge: str
    versions: tuple[Version, ...]
    """Two or more. After them, what rules had made of them before one of them came."""
    would: dict[Rule, Take]
    """What would stand by each rule."""
    settled: str | None = None
    """How it was settled; ``None`` = it is not."""
    took: Take | None = None
    """What stands now."""
    was_settled: bool = False
    """Whether it had been settled before, in this collection."""


@dataclass(slots=True)
class JudgeCount:
    """Events of one judge in the copies."""

    judge: str
    new: int = 0
    there: int = 0
    """In this collection already, or in a copy named before."""
    settled: Counter[str] = field(default_factory=Counter)
    """Documents on which copies had gone on apart, by how that was settled."""


@dataclass(slots=True)
class CopyCount:
    """What one copy brought, and what of it was left out."""

    name: str
    is_part: bool = False
    """Made by `pooler export work`: it brings what its judge did, and nothing else."""
    new: Counter[str] = field(default_factory=Counter)
    """Rows by the name of the noun."""
    changed: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    """Counted by a reason in words."""


@dataclass(slots=True)
class Merged:
    """What `store.merging.merge.merge` did."""

    copies: list[CopyCount]
    judges: list[JudgeCount]
    """By name."""
    conflicts: list[Conflict]
    """By topic and docno: settled by a rule or by hand, or open. Those that had been settled here
    before are left out."""
    erased: list[str] = field(default_factory=list)
    """Judges who were erased here because another copy had erased them."""
    n_emptied: int = 0
    """Events here whose note or reason was removed because it had been on another copy."""
    is_done: bool = False
    """False = nothing was changed: it was a trial, or conflicts are not settled."""

    @property
    def open_conflicts(self) -> list[Conflict]:
        """Conflicts that nothing settles yet."""
        return [one for one in self.conflicts if one.settled is None]

    @property
    def is_nothing_new(self) -> bool:
        """Whether the copies held nothing that is not here."""
        return not (
            self.erased
            or self.n_emptied
            or any(one.new or one.settled for one in self.judges)
            or any(one.new.total() + one.changed.total() for one in self.copies)
        )
