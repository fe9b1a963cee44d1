"""The nouns as frozen values: topic, document, run, pool, judge, place, state, qrel.

A place is one judge's turn at one document of a topic; a document for two judges has two places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from store.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from store.text import Readable


@dataclass(frozen=True, slots=True)
class Topic:
    """An information need."""

    topic: str
    """Id, text byte for byte: `001` is not `1`."""
    title: str = ""
    description: str = ""
    narrative: str = ""
    """What counts as relevant, in the topic author's words."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the collection, as it came: raw text, not yet fit for a terminal."""

    docno: str
    title: str = ""
    text: str | None = None
    """``None`` = the text is not in the collection; an empty text is a text."""
    fields: tuple[tuple[str, str], ...] = ()
    """Names and values of what else is known of it: address, date, author; no name twice."""
    markup: str | None = None
    """How the text is marked up, see `store.formats.markup`; ``None`` = it is plain, or that is not said."""


@dataclass(frozen=True, slots=True)
class Grade:
    """One level of relevance."""

    value: int
    label: str
    key: str
    """The key a judge presses; one character."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The declared grades of a collection, in ascending order, used or not."""

    grades: tuple[Grade, ...]
    relaxed: int
    """Least grade that counts as relevant in the relaxed reading (NTCIR: S, A, B)."""
    rigid: int | None
    """Least grade that counts as relevant in the rigid reading (NTCIR: S, A); ``None`` when the
    scale has one relevant grade only."""

    @property
    def values(self) -> tuple[int, ...]:
        """The grade values, ascending."""
        return tuple(grade.value for grade in self.grades)

    def label(self, value: int) -> str:
        """Return the label of a grade value; raise `UnknownNameError` off the scale."""
        for grade in self.grades:
            if grade.value == value:
                return grade.label
        raise UnknownNameError("grade", str(value), map(str, self.values))

    def check_level(self, level: int) -> int:
        """Return `level` when it cuts the scale in two, else raise `ArgumentError`."""
        low, high = self.values[0], self.values[-1]
        if not low < level <= high:
            raise ArgumentError("level", f"must be above {low} and at most {high} on this scale", level)
        return level


@dataclass(frozen=True, slots=True)
class Ranking:
    """The documents one run gave for one topic, in file order."""

    topic: str
    docnos: list[str]
    scores: NDArray[np.float64]
    """Shape (n_documents,), finite; higher is better."""
    ranks: NDArray[np.int64] | None
    """Stated ranks, shape (n_documents,); ``None`` when they are not all integers."""


@dataclass(frozen=True, slots=True)
class Run:
    """One system's rankings."""

    tag: str
    rankings: list[Ranking]
    """One a topic: in file order as read from a file, in natural order from a collection."""
    sha256: str
    """Hash of the uncompressed file."""
    file: str = ""
    """File name as given, without its folder."""
    group: str = ""
    """The organisation or kind of system; empty = none given."""
    contributes: bool = True
    """Whether the run feeds pools."""


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What is known of a run without reading its rankings; fields as in `Run`."""

    tag: str
    group: str
    contributes: bool
    sha256: str
    file: str


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """One document chosen for judging, for one topic."""

    topic: str
    docno: str
    position: int
    """Place in the topic's display order, from 0."""
    priority: float | None = None
    """What the strategy thought of it, higher first; ``None`` = no opinion."""
    stratum: int | None = None
    """From 1, where the pool is a sample of strata."""
    inclusion_probability: float | None = None
    """Of being sampled, where the pool is a sample."""
    sampled: bool = True
    """False = not to be judged: listed in its stratum alone, or not drawn yet."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Documents chosen for judging, and how they were chosen."""

    entries: list[PoolEntry]
    """Topics in natural order; documents by `PoolEntry.position`."""
    manifest: dict[str, Any]
    """Everything needed to build the same pool again; JSON values only."""
    name: str = "pool"
    round: str = "0"
    """Iteration label that judgements of this pool carry into qrels."""
    run_tags: tuple[str, ...] = ()
    budgets: dict[str, int] = field(default_factory=dict)
    """Of an adaptive pool, the most documents that may be drawn for each topic; else empty."""


class JudgeKind(StrEnum):
    """Who stands behind a judge's name."""

    HUMAN = "human"
    MODEL = "model"
    """A language model's labels."""
    IMPORTED = "imported"
    """A qrels file of unknown making."""
    ADJUDICATOR = "adjudicator"


@dataclass(frozen=True, slots=True)
class Judge:
    """A person or program that grades documents."""

    name: str
    kind: JudgeKind
    disabled: bool = False


class State(StrEnum):
    """Where a pooled document stands with one judge."""

    UNJUDGED = "unjudged"
    SKIPPED = "skipped"
    CANNOT = "cannot"
    JUDGED = "judged"


DECIDED = (State.JUDGED.value, State.CANNOT.value)
"""States in which a judge is done with a document; a skipped one comes again."""
RANKS = {State.UNJUDGED: 0, State.SKIPPED: 1, State.CANNOT: 2, State.JUDGED: 3}
"""Of several judges' states the one of the highest rank is the document's."""


class Action(StrEnum):
    """What a judge did in one event."""

    JUDGE = "judge"
    SKIP = "skip"
    CANNOT = "cannot"
    NOTE = "note"
    MARK = "mark"
    """Marked or unmarked passages."""
    UNDO = "undo"
    REOPEN = "reopen"
    """Put back into the queue, because what it rests on has changed."""


class AsOf(NamedTuple):
    """The events that were there once: up to a moment, and in the collection by then."""

    moment: datetime
    event: int = 2**31 - 1
    """Row id of the newest: others may come in later that were done before."""

    def took(self, events: Any) -> Any:
        """Return the SQL condition that an event of a table was there."""
        return (events.c.judged_at <= self.moment) & (events.c.id <= self.event)


@dataclass(frozen=True, slots=True)
class Judgement:
    """How one document stands with one judge: the whole state after one event."""

    topic: str
    docno: str
    judge: str
    state: State
    grade: int | None
    """A value of the declared scale when `state` is judged, else ``None``."""
    revision: int = 1
    """From 1; 0 = no event yet. The highest revision is the current state."""
    reason: str = ""
    """Why it cannot be judged."""
    note: str = ""
    iteration: str = "0"
    judged_at: datetime | None = None
    """UTC."""


Order = Literal["trec", "trec9", "docno-asc", "rank", "file"]
Ties = Literal["low", "high", "unresolved"]
"""What a tied vote gives when several judgements of a document become one."""
TieRule = Literal["majority", "median"]
"""A rule that leaves votes tied unless a tie rule is given."""


class Qrel(NamedTuple):
    """One line of a qrels file."""

    topic: str
    docno: str
    grade: int
    iteration: str = "0"


class QrelColumns(Sequence[Qrel]):
    """Lines of qrels as four columns, which what reads and what measures them take whole."""

    def __init__(
        self, topics: Sequence[str], docnos: Sequence[str], grades: Sequence[int], iterations: Sequence[str]
    ) -> None:
        self.topics, self.docnos, self.grades, self.iterations = topics, docnos, grades, iterations

    @classmethod
    def of(cls, rows: Sequence[Qrel]) -> QrelColumns:
        """Return the columns of some lines."""
        return rows if isinstance(rows, cls) else cls(*(zip(*rows, strict=True) if rows else ((),) * 4))

    def __len__(self) -> int:
        return len(self.topics)

    def __getitem__(self, at: Any) -> Any:
        return [*self][at]

    def __iter__(self) -> Iterator[Qrel]:
        columns = self.topics, self.docnos, self.grades, self.iterations
        return map(tuple.__new__, repeat(Qrel), zip(*columns, strict=True))


@dataclass(frozen=True, slots=True)
class InboxLine:
    """One topic as it stands with this judge."""

    topic: str
    title: str
    documents: int
    """Pooled documents this judge is to grade, and those that may still be drawn."""
    judged: int
    skipped: int
    cannot: int
    last_judged_at: datetime | None

    @property
    def left(self) -> int:
        """Documents with no decision yet."""
        return self.documents - self.judged - self.skipped - self.cannot


@dataclass(frozen=True, slots=True, order=True)
class Passage:
    """A part of a document that a judge marked as evidence.

    In what a desk gives and takes, in characters of `ShownDocument.text`; as stored, of the raw text.
    """

    start: int
    length: int
    text: str

    @property
    def end(self) -> int:
        """Where it ends; exclusive."""
        return self.start + self.length


@dataclass(frozen=True, slots=True)
class Task:
    """One document in a judge's queue for a topic, and how it stands."""

    docno: str
    state: State
    grade: int | None
    note: str
    reason: str
    revision: int
    """Of the event shown; 0 = none."""
    passages: tuple[Passage, ...] = ()
    """Ascending by start."""
    dwell_ms: int | None = None
    """How long it had been on the screen when it was decided; ``None`` = not known."""
    judged_at: datetime | None = None
    """UTC; of the event shown."""


@dataclass(frozen=True, slots=True)
class SeenEvent:
    """One thing a judge did, as that judge is shown it."""

    topic: str
    docno: str
    action: Action
    state: State
    """After it, as are `grade`, `reason` and `note`."""
    grade: int | None
    reason: str
    note: str
    revision: int
    judged_at: datetime
    """UTC."""
    is_undone: bool
    """Whether a later event took it back."""
    is_here: bool
    """Whether it is of this sitting."""
    host: str = ""
    """The machine it was done at; empty = not known."""


class Undone(NamedTuple):
    """An event that was taken back."""

    topic: str
    task: Task
    """How its document stands again."""
    revision: int
    """Of the event."""


@dataclass(frozen=True, slots=True)
class LiveSitting:
    """Another sitting of the same judge that gave a sign of life lately."""

    host: str
    topic: str
    """The topic it has open; empty = none."""
    seen_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True)
class Guideline:
    """One version of the judging guidelines."""

    version: int
    """From 1."""
    text: str
    """Markdown."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document, fit for a terminal."""

    docno: str
    title: str
    text: str | None
    """``None`` = the text is not in the collection."""
    sha256: str | None = field(default=None, compare=False)
    """Hash of title and text as they came; ``None`` = no text."""
    fields: tuple[tuple[str, str], ...] = ()
    """Names and values of what else judges are shown of it, in the order of the collection."""
    readable: Readable | None = field(default=None, compare=False)
    """Where `text` comes from in a text that is marked up; ``None`` = it is as it came."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a judge did, ready to be appended."""

    topic: str
    docno: str
    action: Action
    grade: int | None = None
    reason: str = ""
    note: str | None = None
    """``None`` = as it was."""
    passages: tuple[Passage, ...] | None = None
    """``None`` = as they were."""
    seen_revision: int = 0
    position: int | None = None
    """Place in the queue, from 0."""
    document_sha256: str | None = ""
    """Hash of the page that was decided about; ``None`` = it had no text, empty = not known."""
    shown_at: datetime | None = None
    dwell_ms: int | None = None
    active_ms: int | None = None
    dropped_keys: int = 0
    view: str | None = None
    """How a document with markup was shown; ``None`` = as text."""


class Purpose(StrEnum):
    """Why a document has as many judges as it has; never shown to a judge."""

    PRIMARY = "primary"
    OVERLAP = "overlap"
    """One of the share that more judges grade, for agreement."""
    CALIBRATION = "calibration"
    """One of the few that every judge grades."""


class Existing(StrEnum):
    """What happens to places that are there already."""

    REFUSE = "refuse"
    """They are in the way."""
    ADD = "add"
    """All stay; documents that have one get no other."""
    REPLACE = "replace"
    """Those without a decision go; those with one stay, and count."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents are meant."""

    pools: tuple[str, ...] = ()
    """Names; empty = every pool not withdrawn. Of adaptive ones nothing can be assigned."""
    topics: tuple[str, ...] = ()
    """Ids; empty = all."""


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
    """Places there that stay, without a judge."""

    @property
    def has_place(self) -> bool:
        """Whether a place there stays."""
        return bool(self.holders or self.n_open)


DisplayOrder = Literal["docno", "priority", "random"]
"""How the documents that a judge is given are laid."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place to be made."""

    topic: str
    docno: str
    judge: str | None
    """``None`` = open to any judge."""
    purpose: Purpose
    position: int
    """From 0, in the judge's order of the topic; of a place to be claimed, in the plan's."""
    display_order: DisplayOrder
    order_seed: int | None = None
    """Of the order `random`."""


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
    """The workload of one judge: places at pooled documents."""

    judge: str | None
    """``None`` = for any judge who claims it."""
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
    """The workloads of all judges."""

    lines: list[Workload] = field(default_factory=list)
    """Judges by name, those without a place left out; open places last, if there are any."""
    pooled: int = 0
    """Documents to judge."""
    unassigned: int = 0
    """Those without a place: no judge sees them until they are assigned."""
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


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Counts of one imported file."""

    added: int = 0
    unchanged: int = 0
    """There already, the same."""
    replaced: int = 0
    without_text: int = 0
    """Documents that the file has no text of; one that is there already stays."""
    texts: int = 0
    """Documents that were there without a text, and have one now."""
    left_out: int = 0
    """Documents whose docno was kept and whose text was not: they are in no pool."""
    described: int = 0
    """Documents that were there, and have fields or a markup now that they had not."""

    def __add__(self, other: ImportReport) -> ImportReport:
        names = (one.name for one in fields(self))
        return ImportReport(*(getattr(self, name) + getattr(other, name) for name in names))

    @property
    def total(self) -> int:
        """All of the file."""
        return self.added + self.unchanged + self.replaced + self.texts + self.described

    @property
    def changed(self) -> bool:
        """Whether the collection is another one than before."""
        return bool(self.added or self.replaced or self.texts or self.described)
