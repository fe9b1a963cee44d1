"""What is assigned to whom, as plain values: no SQL.

A place is one judge's turn at one document of a topic; a document for two judges has two places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Purpose(StrEnum):
    """Why a document has as many judges as it has; never shown to a judge."""

    PRIMARY = "primary"
    OVERLAP = "overlap"
    """One of the share that more judges grade, for agreement."""
    CALIBRATION = "calibration"
    """One of the few that every judge grades."""


class Existing(StrEnum):
    """What becomes of places that are there already."""

    REFUSE = "refuse"
    """They are in the way."""
    ADD = "add"
    """All stay; documents that have one get no other."""
    REPLACE = "replace"
    """Those without a decision go; those with one stay, and count."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A place that a judge holds, as a desk needs it."""

    document_id: int
    position: int
    """In the judge's order of the topic; rising, not without gaps."""
    display_order: str
    """How `position` lays the documents: ``docno``, ``priority``, ``random:SEED``."""
    lease_until: datetime | None
    """UTC; ``None`` = it does not lapse."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents are meant."""

    pools: tuple[str, ...] = ()
    """Names; empty = every pool not withdrawn. Of adaptive ones nothing can be assigned."""
    topics: tuple[str, ...] = ()
    """Ids; empty = all."""

    @property
    def is_everything(self) -> bool:
        """Whether no document is left out."""
        return not self.pools and not self.topics


@dataclass(frozen=True, slots=True)
class Assignable:
    """A pooled document before places are made."""

    topic: str
    docno: str
    pool: int = 0
    """Rises with the age of the pools; of the oldest that has the document."""
    priority: float | None = None
    """In that pool, higher first; ``None`` = the strategy had no opinion."""
    decided: frozenset[str] = frozenset()
    """People whose decision stands."""
    holders: frozenset[str] = frozenset()
    """Judges who hold a place there that stays."""
    n_open: int = 0
    """Places there that stay and are nobody's."""

    @property
    def has_place(self) -> bool:
        """Whether a place there stays."""
        return bool(self.holders or self.n_open)


@dataclass(frozen=True, slots=True)
class Place:
    """A place to be made."""

    topic: str
    docno: str
    judge: str | None
    """``None`` = open: whoever claims it."""
    purpose: Purpose
    position: int
    """From 0, in the judge's order of the topic; of a place to be claimed, in the plan's."""
    display_order: str


@dataclass(frozen=True, slots=True)
class AssignmentPlan:
    """Places to be made, and how they were chosen."""

    places: list[Place]
    """Topics in natural order, then by position, docno and judge."""
    manifest: Mapping[str, Any]
    """Options, judges, seed and counts; JSON values only."""
    lease_s: int | None = None
    """Seconds a claimed place waits for a decision; ``None`` = places are by name."""


@dataclass(frozen=True, slots=True)
class Workload:
    """What lies before one judge, at pooled documents."""

    judge: str | None
    """``None`` = before whoever claims it."""
    topics: int
    documents: int
    primary: int
    """Places at documents of this purpose, as `overlap` and `calibration`. A judge has one place
    at a document; of open places one may have several."""
    overlap: int
    calibration: int
    decided: int
    """Places whose judge found a grade, or that there is none."""
    claimed: int
    """Places that wait for a decision until a lease runs out."""
    lapsed: int
    """Places whose lease ran out before there was one: others may claim them."""
    until: datetime | None
    """UTC; when the last lease that still runs will have run out."""

    @property
    def places(self) -> int:
        """All places."""
        return self.primary + self.overlap + self.calibration

    @property
    def left(self) -> int:
        """Places without a decision."""
        return self.places - self.decided


@dataclass(frozen=True, slots=True)
class Workloads:
    """What lies before all judges."""

    lines: list[Workload] = field(default_factory=list)
    """Judges by name, those without a place left out; open places last, if there are any."""
    pooled: int = 0
    """Documents to judge."""
    unassigned: int = 0
    """Those without a place: nobody is shown them until they are assigned."""
    drawn: int = 0
    """Those without a place that adaptive pools alone have: they cannot be assigned."""
    outside: int = 0
    """Places at documents that are in no pool any more; counted nowhere else."""

    @property
    def is_assigned(self) -> bool:
        """Whether there is any place: if so, judges are shown only what they have places at."""
        return bool(self.lines or self.outside)


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was taken away, and what stays."""

    removed: int = 0
    """Places without a decision."""
    claimed: int = 0
    """Those of `removed` that a judge had claimed and that had not lapsed."""
    kept: int = 0
    """Places with a decision."""
