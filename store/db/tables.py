"""The tables, without behaviour; `store.db.columns` says what the columns hold.

The table of judgement events follows from `store.event`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import MISSING
from datetime import datetime
from secrets import token_hex
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import declared_attr
from sqlmodel import Field, SQLModel

from store.db.columns import COLUMN_TYPES, KeyText, RawText, UtcDateTime, new_uid
from store.event import COLUMNS, EVENT
from store.records import Action, JudgeKind, State

_CAN_BE_CLAIMED = sa.text("judge_id IS NULL OR lease_until IS NOT NULL")
"""Places that somebody may claim now or later; few, once most are settled."""


def one_of(column: str, values: Iterable[str]) -> sa.CheckConstraint:
    """Make the rule that a column holds one of some words."""
    words = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({words})", name=f"known_{column}")


def words(*columns: str) -> Iterator[sa.CheckConstraint]:
    """Make the rules that columns hold ids: files part their fields at blanks."""
    for column in columns:
        rest = column
        for blank in " \t\n\r":
            rest = f"replace({rest}, '{blank}', '')"
        yield sa.CheckConstraint(f"{column} <> '' AND {column} = {rest}", name=f"word_{column}")


class _Row(SQLModel):
    """A row of the table that is called as its class is: `pool_entry` of `PoolEntryRow`."""

    @declared_attr  # type: ignore[arg-type]  # SQLModel says so of its own name
    @classmethod
    def __tablename__(cls) -> str:
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__.removesuffix("Row")).lower()


class CollectionRow(_Row, table=True):
    """The one row that says what this database is."""

    id: int = Field(default=1, primary_key=True)
    name: str = Field(sa_type=KeyText)
    scale: str = Field(sa_type=sa.Text)
    """JSON, see `store.formats.scale.scale_to_json`."""
    created_at: datetime = Field(sa_type=UtcDateTime)
    created_by: str = Field(sa_type=sa.Text)
    """Name and version of the program."""
    fields: str | None = Field(default=None, sa_type=RawText)
    """JSON: names of the fields of documents that judges are shown, in their order; ``None`` = none."""
    secret: str = Field(
        default_factory=token_hex, sa_type=sa.String(64), sa_column_kwargs={"default": token_hex}
    )
    """Signs what leaves and comes back, as pages do; it is in backups, and in no exported collection."""


class GuidelineRow(_Row, table=True):
    """One version of the judging guidelines, in markdown."""

    id: int | None = Field(default=None, primary_key=True)
    version: int = Field(unique=True)
    text: str = Field(sa_type=RawText)
    created_at: datetime = Field(sa_type=UtcDateTime)


class TopicRow(_Row, table=True):
    """A topic."""

    __table_args__ = (*words("number"),)

    id: int | None = Field(default=None, primary_key=True)
    number: str = Field(sa_type=KeyText, unique=True)
    listed: bool = False
    """Named by a topics file; otherwise known from a run or a qrels file alone."""
    title: str = Field(default="", sa_type=RawText)
    description: str = Field(default="", sa_type=RawText)
    narrative: str = Field(default="", sa_type=RawText)
    version: int = Field(default=1, sa_column_kwargs={"server_default": "1"})
    """Of the text, from 1; those before it are in `topic_version`."""
    changed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """When this version came; ``None`` = it is the first."""


class TopicVersionRow(_Row, table=True):
    """A text that a topic had before."""

    topic_id: int = Field(primary_key=True, foreign_key="topic.id")
    version: int = Field(primary_key=True)
    title: str = Field(sa_type=RawText)
    description: str = Field(sa_type=RawText)
    narrative: str = Field(sa_type=RawText)
    changed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """When it came; ``None`` = it was the first."""


class DocumentRow(_Row, table=True):
    """A document; without text until a documents file brings it."""

    __table_args__ = (*words("docno"),)

    id: int | None = Field(default=None, primary_key=True)
    docno: str = Field(sa_type=KeyText, unique=True)
    listed: bool = False
    """Named by a documents file; otherwise known from a run or a qrels file alone."""
    title: str | None = Field(default=None, sa_type=RawText)
    text: str | None = Field(default=None, sa_type=RawText)
    sha256: str | None = Field(default=None, sa_type=sa.Text)
    """Hash of title and text; ``None`` = no text stored."""


class DocumentMetadataRow(_Row, table=True):
    """What is known of a document besides title and text; few collections have any."""

    document_id: int = Field(primary_key=True, foreign_key="document.id")
    markup: str | None = Field(default=None, sa_type=sa.String(16))
    """How the text is marked up, see `store.formats.markup`; ``None`` = unknown, and it is plain."""
    fields: str = Field(default="{}", sa_type=RawText, sa_column_kwargs={"default": "{}"})
    """JSON: the values of fields, as text, by name."""


class RunRow(_Row, table=True):
    """A run."""

    __table_args__ = (*words("tag"),)

    id: int | None = Field(default=None, primary_key=True)
    tag: str = Field(sa_type=KeyText, unique=True)
    group: str = Field(default="", sa_type=KeyText)
    contributes: bool = True
    priority: int = 0
    sha256: str = Field(sa_type=sa.Text)
    file: str = Field(sa_type=RawText)
    imported_at: datetime = Field(sa_type=UtcDateTime)
    digest: int | None = Field(default=None, sa_type=sa.BigInteger)
    """Of its rankings, see `store.db.digests`."""
    header: str | None = Field(default=None, sa_type=RawText)
    """The lines in which the file says what the run is, as they stand there; ``None`` = none."""


class RankingRow(_Row, table=True):
    """What one run gave for one topic, packed (`store.db.packing`)."""

    __table_args__ = (
        sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["topic_id"], ["topic.id"]),
    )

    run_id: int = Field(primary_key=True)
    topic_id: int = Field(primary_key=True)
    length: int
    document_ids: bytes
    """Little-endian int32, in trec order."""
    scores: bytes
    """In trec order."""
    ranks: bytes | None = None
    """Stated ranks in trec order; ``None`` = not all integers."""
    positions: bytes
    """File positions from 0, in trec order."""
    codec: int = 1


class PoolRow(_Row, table=True):
    """A pool: one choice of documents for judging."""

    __table_args__ = (*words("round"),)

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=KeyText, unique=True)
    round: str = Field(default="0", sa_type=KeyText)
    manifest: str = Field(sa_type=sa.Text)
    """JSON: the plan, its seed, and the hashes of the runs."""
    display_order: str = Field(sa_type=sa.Text)
    """How `pool_entry.position` lays the documents: `docno`, `priority`, `drawn`."""
    withdrawn: bool = False
    created_at: datetime = Field(sa_type=UtcDateTime)
    digest: int | None = Field(default=None, sa_type=sa.BigInteger)
    """Of its entries, see `store.db.digests`."""


class PoolEntryRow(_Row, table=True):
    """One document of a pool, for one topic."""

    __table_args__ = (
        sa.Index("pool_entry_pair", "topic_id", "document_id"),
        sa.CheckConstraint("position >= 0 AND stratum >= 0", name="places_from_0"),
        sa.CheckConstraint("0 <= inclusion_probability AND inclusion_probability <= 1", name="probability"),
    )

    pool_id: int = Field(primary_key=True, foreign_key="pool.id", ondelete="CASCADE")
    topic_id: int = Field(primary_key=True, foreign_key="topic.id")
    document_id: int = Field(primary_key=True, foreign_key="document.id")
    position: int
    priority: float | None = None
    stratum: int | None = None
    inclusion_probability: float | None = None
    sampled: bool = Field(default=True, sa_column_kwargs={"server_default": sa.true()})
    """False = not to be judged: listed in its stratum alone, or not drawn yet."""


class PoolRunRow(_Row, table=True):
    """A run that fed a pool."""

    pool_id: int = Field(primary_key=True, foreign_key="pool.id", ondelete="CASCADE")
    run_id: int = Field(primary_key=True, foreign_key="run.id", ondelete="CASCADE")


class PoolTopicRow(_Row, table=True):
    """How many documents an adaptive pool may draw for a topic."""

    pool_id: int = Field(primary_key=True, foreign_key="pool.id", ondelete="CASCADE")
    topic_id: int = Field(primary_key=True, foreign_key="topic.id")
    budget: int


class JudgeRow(_Row, table=True):
    """A judge."""

    __table_args__ = (one_of("kind", JudgeKind), *words("name"))

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=KeyText, unique=True)
    kind: str = Field(sa_type=sa.String(16))
    disabled: bool = False
    created_at: datetime = Field(sa_type=UtcDateTime)
    uid: str = Field(
        default_factory=new_uid, sa_type=sa.String(16), unique=True, sa_column_kwargs={"default": new_uid}
    )
    """The same in every backup of the collection, whatever the judge is called there."""
    renamed_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """When the name was last changed; ``None`` = never."""


class ModelJudgeRow(_Row, table=True):
    """Who a judge of kind model is; a judge without a row has not stated it. Never changed."""

    judge_id: int = Field(primary_key=True, foreign_key="judge.id")
    identity: str = Field(sa_type=RawText)
    """Canonical JSON, see `store.model_judge.ModelIdentity`."""
    sha256: str = Field(sa_type=sa.Text)
    """Of `identity`."""
    family: str = Field(default="", sa_type=RawText)
    """As declared; empty = it is not."""
    prompt: str | None = Field(default=None, sa_type=RawText)
    """The template, whose hash the identity has; ``None`` = not stated."""
    stated_at: datetime = Field(sa_type=UtcDateTime)


class JudgeCodeRow(_Row, table=True):
    """The access code of a judge who may judge in a browser. It never leaves: no copy has it."""

    judge_id: int = Field(primary_key=True, foreign_key="judge.id")
    sha256: str = Field(sa_type=sa.Text, unique=True)
    """Of the code, which is nowhere."""
    made_at: datetime = Field(sa_type=UtcDateTime)


class ErasureRow(_Row, table=True):
    """What is left of a judge who was erased: that there was one, and how much is gone."""

    __table_args__ = (
        one_of("kind", JudgeKind),
        sa.CheckConstraint("0 <= judgements AND judgements <= events", name="judgements_among_events"),
    )

    id: int | None = Field(default=None, primary_key=True)
    uid: str = Field(default_factory=new_uid, sa_type=sa.String(16), unique=True)
    """Of the judge, so that no backup brings the judgements back by mistake."""
    kind: str = Field(sa_type=sa.String(16))
    judgements: int
    """Documents that had a grade."""
    events: int
    erased_at: datetime = Field(sa_type=UtcDateTime)


class AssignmentPlanRow(_Row, table=True):
    """One way documents were assigned: to judges by name, or to the first who claim them."""

    id: int | None = Field(default=None, primary_key=True)
    manifest: str = Field(sa_type=sa.Text)
    """JSON: the options, the judges, the seed."""
    lease_s: int | None = None
    """How long a document stays claimed without a decision; ``None`` = assigned by name."""
    created_at: datetime = Field(sa_type=UtcDateTime)


class AssignmentRow(_Row, table=True):
    """One judge's place at one document: a document for two judges has two rows."""

    __table_args__ = (
        sa.UniqueConstraint("topic_id", "document_id", "judge_id"),
        one_of("purpose", ("primary", "overlap", "calibration")),
        sa.CheckConstraint("position >= 0", name="position_from_0"),
        one_of("display_order", ("docno", "priority", "random")),
        sa.CheckConstraint("order_seed IS NULL OR display_order = 'random'", name="seed_of_random_order"),
        sa.Index("assignment_of_topic", "topic_id", "position", sqlite_where=_CAN_BE_CLAIMED),
        sa.Index("assignment_without_digest", "id", sqlite_where=sa.text("digest IS NULL")),
    )

    id: int | None = Field(default=None, primary_key=True)
    topic_id: int = Field(foreign_key="topic.id")
    document_id: int = Field(foreign_key="document.id")
    judge_id: int | None = Field(default=None, foreign_key="judge.id", index=True)
    """``None`` = open to any judge."""
    position: int
    """In its judge's display order, from 0; of a place to be claimed, in the plan's."""
    purpose: str = Field(default="primary", sa_type=sa.String(16))
    """primary, overlap or calibration; never shown to the judge."""
    lease_until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """Until when a claimed document waits for a decision; ``None`` = it has one, or needs no
    lease."""
    plan_id: int | None = Field(default=None, foreign_key="assignment_plan.id")
    display_order: str = Field(default="docno", sa_type=sa.Text, sa_column_kwargs={"server_default": "docno"})
    """How `position` lays the documents: `docno`, `priority`, `random`."""
    order_seed: int | None = Field(default=None, sa_type=sa.BigInteger)
    """Of the order `random`; ``None`` = not known, or another order."""
    digest: int | None = Field(default=None, sa_type=sa.BigInteger)
    """See `store.db.digests`."""


class QrelsRow(_Row, table=True):
    """One version of how judges' grades become one, under a name. Never changed but for the default."""

    __table_args__ = (sa.UniqueConstraint("name", "version"), *words("name"))

    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(sa_type=KeyText)
    version: int
    rule: str = Field(sa_type=RawText)
    """JSON, see `store.grades.definition.QrelsDefinition.to_json`; judges by their identities."""
    is_default: bool = False
    """Whether its name is what is measured with where none is named."""
    created_at: datetime = Field(sa_type=UtcDateTime)


class SittingRow(_Row, table=True):
    """One stretch of work of one judge at one terminal."""

    id: int | None = Field(default=None, primary_key=True)
    judge_id: int = Field(foreign_key="judge.id", index=True)
    started_at: datetime = Field(sa_type=UtcDateTime)
    seen_at: datetime = Field(sa_type=UtcDateTime)
    """Last sign of life."""
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    host: str = Field(default="", sa_type=sa.Text)
    process: int = 0
    program: str = Field(default="", sa_type=sa.Text)
    topic_id: int | None = Field(default=None, foreign_key="topic.id")
    """The topic that is open."""
    window: str | None = Field(default=None, sa_type=sa.String(16))
    """Of a page: which of its windows, so that what was taken in is known again; ``None`` = at a desk."""
    digest: int | None = Field(default=None, sa_type=sa.BigInteger)
    """See `store.db.digests`."""


class PassageRow(_Row, table=True):
    """A passage that a judge marked as evidence; offsets refer to the raw text.

    Every event has its own: the whole state after it.
    """

    id: int | None = Field(default=None, primary_key=True)
    judgement_id: int = Field(foreign_key="judgement.id", index=True)
    start: int
    length: int
    text: str = Field(sa_type=RawText)


class AnswerRow(_Row, table=True):
    """One request to a model and what came of it; see `store.model_judge.Answer`. Never changed."""

    __table_args__ = (sa.Index("answer_of_judge", "judge_id", "topic_id", "document_id"),)

    id: int | None = Field(default=None, primary_key=True)
    judge_id: int = Field(foreign_key="judge.id")
    topic_id: int = Field(foreign_key="topic.id")
    document_id: int = Field(foreign_key="document.id")
    asked: str = Field(sa_type=sa.String(16))
    judged_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    """Of the judgement event of the same judge and document that it led to; ``None`` = it led to none."""
    grade: int | None = None
    unreadable: str | None = Field(default=None, sa_type=sa.String(16))
    topic_version: int | None = None
    document_sha256: str | None = Field(default=None, sa_type=sa.Text)
    request_sha256: str = Field(default="", sa_type=sa.Text)
    attempt: int = 1
    sent_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    received_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    status: int | None = None
    body: bytes
    """Compressed with zlib."""
    served_model: str = Field(default="", sa_type=RawText)
    fingerprint: str = Field(default="", sa_type=RawText)
    finish_reason: str = Field(default="", sa_type=RawText)
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    probabilities: str | None = Field(default=None, sa_type=sa.Text)
    """JSON: grades to probabilities."""
    mass: float | None = None
    digest: int | None = Field(default=None, sa_type=sa.BigInteger)
    """See `store.db.digests`."""


class DigestRow(_Row, table=True):
    """The digest of a table; see `store.db.digests`."""

    name: str = Field(primary_key=True)
    value: int = Field(sa_type=sa.BigInteger)


_REFERS_TO = {
    "topic_id": "topic.id",
    "document_id": "document.id",
    "judge_id": "judge.id",
    "sitting_id": "sitting.id",
    "undoes": "judgement.id",
}
"""Columns of events that hold a row id."""


def _event_columns() -> Iterator[sa.Column[Any]]:
    """Make the columns of `store.event.EVENT`, in an order that only grows.

    Columns of one revision after the first stand by name.
    """
    stored = [one for one in EVENT if one.name in COLUMNS]
    for one in sorted(stored, key=lambda field: (field.since, field.name if field.since > 1 else "")):
        name = COLUMNS[one.name]
        refers = _REFERS_TO.get(name)
        yield sa.Column(
            name,
            sa.Integer if refers else COLUMN_TYPES[one.kind.name],
            *([sa.ForeignKey(refers)] if refers else []),
            nullable=one.may_be_none,
            default=None if one.default is MISSING else one.default,
            index=True if name == "sitting_id" else None,
        )


sa.Table(
    "judgement",
    SQLModel.metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    *_event_columns(),
    sa.Column("digest", sa.BigInteger),
    sa.UniqueConstraint("topic_id", "document_id", "judge_id", "revision"),
    sa.CheckConstraint("(state = 'judged') = (grade IS NOT NULL)", name="grade_when_judged"),
    one_of("state", State),
    one_of("action", Action),
    *words("iteration"),
    sa.Index("judgement_of_judge", "judge_id", "topic_id", "document_id", "revision"),
)

TABLES = SQLModel.metadata.tables
for _column in [
    one for table in TABLES.values() for one in table.columns if isinstance(one.type, UtcDateTime)
]:
    # PostgreSQL has moments that Python has not, infinity among them; SQLite takes anything.
    _rule = f"{_column.name} BETWEEN '0001-01-02' AND '9999-12-30'"
    _column.table.append_constraint(sa.CheckConstraint(_rule, name=f"moment_{_column.name}"))
TOPIC = TABLES["topic"]
TOPIC_VERSION = TABLES["topic_version"]
GUIDELINE = TABLES["guideline"]
DOCUMENT = TABLES["document"]
DOCUMENT_METADATA = TABLES["document_metadata"]
RUN = TABLES["run"]
RANKING = TABLES["ranking"]
POOL = TABLES["pool"]
POOL_ENTRY = TABLES["pool_entry"]
POOL_RUN = TABLES["pool_run"]
POOL_TOPIC = TABLES["pool_topic"]
JUDGE = TABLES["judge"]
MODEL_JUDGE = TABLES["model_judge"]
JUDGE_CODE = TABLES["judge_code"]
ERASURE = TABLES["erasure"]
QRELS = TABLES["qrels"]
ASSIGNMENT = TABLES["assignment"]
ASSIGNMENT_PLAN = TABLES["assignment_plan"]
SITTING = TABLES["sitting"]
JUDGEMENT = TABLES["judgement"]
"""One row an event: what a judge did to a document, and the whole state after it. Never changed.

Its columns are `store.event.EVENT`; ``undoes`` holds the row id of the event that an undo takes
back.
"""
ANSWER = TABLES["answer"]
DIGEST = TABLES["digest"]
PASSAGE = TABLES["passage"]
