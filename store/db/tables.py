"""The tables, without behaviour; `store.db.columns` says what the columns hold.

The table of judgement events follows from `store.event`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING
from functools import partial
from secrets import token_hex
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Column, ForeignKey
from sqlmodel import SQLModel

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


_filled = partial(Column[Any], nullable=False)
"""Makes a column that always has a value."""


def _table(name: str, *parts: Any) -> sa.Table:
    table = sa.Table(name, SQLModel.metadata, *parts)
    for column in [one for one in table.columns if isinstance(one.type, UtcDateTime)]:
        # PostgreSQL has moments that Python has not, infinity among them; SQLite takes anything.
        rule = f"{column.name} BETWEEN '0001-01-02' AND '9999-12-30'"
        table.append_constraint(sa.CheckConstraint(rule, name=f"moment_{column.name}"))
    return table


COLLECTION = _table(
    "collection",
    Column("id", sa.Integer, primary_key=True, default=1),
    _filled("name", KeyText),
    # JSON, see `store.formats.scale.scale_to_json`.
    _filled("scale", sa.Text),
    _filled("created_at", UtcDateTime),
    # Name and version of the program.
    _filled("created_by", sa.Text),
    # JSON: names of the fields of documents that judges are shown, in their order; ``None`` = none.
    Column("fields", RawText),
    # Signs what leaves and comes back, as pages do; it is in backups, and in no exported collection.
    _filled("secret", sa.String(64), default=token_hex),
)
"""The one row that says what this database is."""
GUIDELINE = _table(
    "guideline",
    Column("id", sa.Integer, primary_key=True),
    _filled("version", sa.Integer, unique=True),
    _filled("text", RawText),
    _filled("created_at", UtcDateTime),
)
"""One version of the judging guidelines, in markdown."""
TOPIC = _table(
    "topic",
    Column("id", sa.Integer, primary_key=True),
    _filled("number", KeyText, unique=True),
    # Named by a topics file; otherwise known from a run or a qrels file alone.
    _filled("listed", sa.Boolean, default=False),
    _filled("title", RawText, default=""),
    _filled("description", RawText, default=""),
    _filled("narrative", RawText, default=""),
    # Of the text, from 1; those before it are in `topic_version`.
    _filled("version", sa.Integer, default=1, server_default="1"),
    # When this version came; ``None`` = it is the first.
    Column("changed_at", UtcDateTime),
    *words("number"),
)
"""A topic."""
TOPIC_VERSION = _table(
    "topic_version",
    Column("topic_id", ForeignKey("topic.id"), primary_key=True),
    Column("version", sa.Integer, primary_key=True),
    _filled("title", RawText),
    _filled("description", RawText),
    _filled("narrative", RawText),
    # When it came; ``None`` = it was the first.
    Column("changed_at", UtcDateTime),
)
"""A text that a topic had before."""
DOCUMENT = _table(
    "document",
    Column("id", sa.Integer, primary_key=True),
    _filled("docno", KeyText, unique=True),
    # Named by a documents file; otherwise known from a run or a qrels file alone.
    _filled("listed", sa.Boolean, default=False),
    Column("title", RawText),
    Column("text", RawText),
    # Hash of title and text; ``None`` = no text stored.
    Column("sha256", sa.Text),
    *words("docno"),
)
"""A document; without text until a documents file brings it."""
DOCUMENT_METADATA = _table(
    "document_metadata",
    Column("document_id", ForeignKey("document.id"), primary_key=True),
    # How the text is marked up, see `store.formats.markup`; ``None`` = unknown, and it is plain.
    Column("markup", sa.String(16)),
    # JSON: the values of fields, as text, by name.
    _filled("fields", RawText, default="{}"),
)
"""What is known of a document besides title and text; few collections have any."""
RUN = _table(
    "run",
    Column("id", sa.Integer, primary_key=True),
    _filled("tag", KeyText, unique=True),
    _filled("group", KeyText, default=""),
    _filled("contributes", sa.Boolean, default=True),
    _filled("priority", sa.Integer, default=0),
    _filled("sha256", sa.Text),
    _filled("file", RawText),
    _filled("imported_at", UtcDateTime),
    # Of its rankings, see `store.db.digests`.
    Column("digest", sa.BigInteger),
    *words("tag"),
)
"""A run."""
RANKING = _table(
    "ranking",
    Column("run_id", sa.Integer, primary_key=True),
    Column("topic_id", sa.Integer, primary_key=True),
    _filled("length", sa.Integer),
    # Little-endian int32, in trec order.
    _filled("document_ids", sa.LargeBinary),
    # In trec order.
    _filled("scores", sa.LargeBinary),
    # Stated ranks in trec order; ``None`` = not all integers.
    Column("ranks", sa.LargeBinary),
    # File positions from 0, in trec order.
    _filled("positions", sa.LargeBinary),
    _filled("codec", sa.Integer, default=1),
    sa.ForeignKeyConstraint(["run_id"], ["run.id"], ondelete="CASCADE"),
    sa.ForeignKeyConstraint(["topic_id"], ["topic.id"]),
)
"""What one run gave for one topic, packed (`store.db.packing`)."""
POOL = _table(
    "pool",
    Column("id", sa.Integer, primary_key=True),
    _filled("name", KeyText, unique=True),
    _filled("round", KeyText, default="0"),
    # JSON: the plan, its seed, and the hashes of the runs.
    _filled("manifest", sa.Text),
    # How `pool_entry.position` lays the documents: `docno`, `priority`, `drawn`.
    _filled("display_order", sa.Text),
    _filled("withdrawn", sa.Boolean, default=False),
    Column("withdrawn_at", UtcDateTime),
    _filled("created_at", UtcDateTime),
    # Of its entries, see `store.db.digests`.
    Column("digest", sa.BigInteger),
    *words("round"),
)
"""A pool: one choice of documents for judging."""
POOL_ENTRY = _table(
    "pool_entry",
    Column("pool_id", ForeignKey("pool.id", ondelete="CASCADE"), primary_key=True),
    Column("topic_id", ForeignKey("topic.id"), primary_key=True),
    Column("document_id", ForeignKey("document.id"), primary_key=True),
    _filled("position", sa.Integer),
    Column("priority", sa.Float),
    Column("stratum", sa.Integer),
    Column("inclusion_probability", sa.Float),
    # False = not to be judged: listed in its stratum alone, or not drawn yet.
    _filled("sampled", sa.Boolean, default=True, server_default=sa.true()),
    sa.Index("pool_entry_pair", "topic_id", "document_id"),
    sa.CheckConstraint("position >= 0 AND stratum >= 0", name="places_from_0"),
    sa.CheckConstraint("0 <= inclusion_probability AND inclusion_probability <= 1", name="probability"),
)
"""One document of a pool, for one topic."""
POOL_RUN = _table(
    "pool_run",
    Column("pool_id", ForeignKey("pool.id", ondelete="CASCADE"), primary_key=True),
    Column("run_id", ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
)
"""A run that fed a pool."""
POOL_TOPIC = _table(
    "pool_topic",
    Column("pool_id", ForeignKey("pool.id", ondelete="CASCADE"), primary_key=True),
    Column("topic_id", ForeignKey("topic.id"), primary_key=True),
    _filled("budget", sa.Integer),
)
"""How many documents an adaptive pool may draw for a topic."""
JUDGE = _table(
    "judge",
    Column("id", sa.Integer, primary_key=True),
    _filled("name", KeyText, unique=True),
    _filled("kind", sa.String(16)),
    _filled("disabled", sa.Boolean, default=False),
    _filled("created_at", UtcDateTime),
    # The same in every backup of the collection, whatever the judge is called there.
    _filled("uid", sa.String(16), unique=True, default=new_uid),
    # When the name was last changed; ``None`` = never.
    Column("renamed_at", UtcDateTime),
    one_of("kind", JudgeKind),
    *words("name"),
)
"""A judge."""
MODEL_JUDGE = _table(
    "model_judge",
    Column("judge_id", ForeignKey("judge.id"), primary_key=True),
    # Canonical JSON, see `store.model_judge.ModelIdentity`.
    _filled("identity", RawText),
    # Of `identity`.
    _filled("sha256", sa.Text),
    # As declared; empty = it is not.
    _filled("family", RawText, default=""),
    # The template, whose hash the identity has; ``None`` = not stated.
    Column("prompt", RawText),
    _filled("stated_at", UtcDateTime),
)
"""Who a judge of kind model is; a judge without a row has not stated it. Never changed."""
JUDGE_CODE = _table(
    "judge_code",
    Column("judge_id", ForeignKey("judge.id"), primary_key=True),
    # Of the code, which is nowhere.
    _filled("sha256", sa.Text, unique=True),
    _filled("made_at", UtcDateTime),
)
"""The access code of a judge who may judge in a browser. It never leaves: no copy has it."""
LOGIN = _table(
    "login",
    # Of the cookie, which the browser alone has.
    _filled("sha256", sa.Text, primary_key=True),
    _filled("judge_id", ForeignKey("judge.id"), index=True),
    # The code that was entered: the login ends with it.
    _filled("code_sha256", sa.Text),
    _filled("began_at", UtcDateTime),
    _filled("seen_at", UtcDateTime),
)
"""A browser in which a judge's code was entered."""
OF_THIS_PLACE = (JUDGE_CODE, LOGIN)
"""Who may come in here: no copy has it."""
ERASURE = _table(
    "erasure",
    Column("id", sa.Integer, primary_key=True),
    # Of the judge, so that no backup brings the judgements back by mistake.
    _filled("uid", sa.String(16), unique=True, default=new_uid),
    _filled("kind", sa.String(16)),
    # Documents that had a grade.
    _filled("judgements", sa.Integer),
    _filled("events", sa.Integer),
    _filled("erased_at", UtcDateTime),
    one_of("kind", JudgeKind),
    sa.CheckConstraint("0 <= judgements AND judgements <= events", name="judgements_among_events"),
)
"""What is left of a judge who was erased: that there was one, and how much is gone."""
ASSIGNMENT_PLAN = _table(
    "assignment_plan",
    Column("id", sa.Integer, primary_key=True),
    # JSON: the options, the judges, the seed.
    _filled("manifest", sa.Text),
    # How long a document stays claimed without a decision; ``None`` = assigned by name.
    Column("lease_s", sa.Integer),
    _filled("created_at", UtcDateTime),
)
"""One way documents were assigned: to judges by name, or to the first who claim them."""
ASSIGNMENT = _table(
    "assignment",
    Column("id", sa.Integer, primary_key=True),
    _filled("topic_id", ForeignKey("topic.id")),
    _filled("document_id", ForeignKey("document.id")),
    # ``None`` = open to any judge.
    Column("judge_id", ForeignKey("judge.id"), index=True),
    # In its judge's display order, from 0; of a place to be claimed, in the plan's.
    _filled("position", sa.Integer),
    # primary, overlap or calibration; never shown to the judge.
    _filled("purpose", sa.String(16), default="primary"),
    # Until when a claimed document waits for a decision; ``None`` = it has one, or needs no lease.
    Column("lease_until", UtcDateTime),
    Column("plan_id", ForeignKey("assignment_plan.id")),
    # How `position` lays the documents: `docno`, `priority`, `random`.
    _filled("display_order", sa.Text, default="docno", server_default="docno"),
    # Of the order `random`; ``None`` = not known, or another order.
    Column("order_seed", sa.BigInteger),
    # See `store.db.digests`.
    Column("digest", sa.BigInteger),
    sa.UniqueConstraint("topic_id", "document_id", "judge_id"),
    one_of("purpose", ("primary", "overlap", "calibration")),
    sa.CheckConstraint("position >= 0", name="position_from_0"),
    one_of("display_order", ("docno", "priority", "random")),
    sa.CheckConstraint("order_seed IS NULL OR display_order = 'random'", name="seed_of_random_order"),
    sa.Index("assignment_of_topic", "topic_id", "position", sqlite_where=_CAN_BE_CLAIMED),
    sa.Index("assignment_without_digest", "id", sqlite_where=sa.text("digest IS NULL")),
)
"""One judge's place at one document: a document for two judges has two rows."""
QRELS = _table(
    "qrels",
    Column("id", sa.Integer, primary_key=True),
    _filled("name", KeyText),
    _filled("version", sa.Integer),
    # JSON, see `store.grades.definition.QrelsDefinition.to_json`; judges by their identities.
    _filled("rule", RawText),
    # Whether its name is what is measured with where none is named.
    _filled("is_default", sa.Boolean, default=False),
    _filled("created_at", UtcDateTime),
    # The newest event when it was made, of one whose moment was not to come; no later one counts.
    Column("last_event", ForeignKey("judgement.id")),
    # Kept so that no version is another's again.
    _filled("dropped", sa.Boolean, default=False),
    sa.UniqueConstraint("name", "version"),
    *words("name"),
)
"""One version of how judges' grades become one, under a name. Its rule changes with names of pools alone."""
SITTING = _table(
    "sitting",
    Column("id", sa.Integer, primary_key=True),
    _filled("judge_id", ForeignKey("judge.id"), index=True),
    _filled("started_at", UtcDateTime),
    # Last sign of life.
    _filled("seen_at", UtcDateTime),
    Column("ended_at", UtcDateTime),
    _filled("host", sa.Text, default=""),
    _filled("process", sa.Integer, default=0),
    _filled("program", sa.Text, default=""),
    # The topic that is open.
    Column("topic_id", ForeignKey("topic.id")),
    # Of a page: which of its windows, so that what was taken in is known again; ``None`` = at a desk.
    Column("window", sa.String(16)),
    # See `store.db.digests`.
    Column("digest", sa.BigInteger),
)
"""One stretch of work of one judge at one terminal."""
PASSAGE = _table(
    "passage",
    Column("id", sa.Integer, primary_key=True),
    _filled("judgement_id", ForeignKey("judgement.id"), index=True),
    _filled("start", sa.Integer),
    _filled("length", sa.Integer),
    _filled("text", RawText),
)
"""A passage that a judge marked as evidence; offsets refer to the raw text.

Every event has its own: the whole state after it."""
ANSWER = _table(
    "answer",
    Column("id", sa.Integer, primary_key=True),
    _filled("judge_id", ForeignKey("judge.id")),
    _filled("topic_id", ForeignKey("topic.id")),
    _filled("document_id", ForeignKey("document.id")),
    _filled("asked", sa.String(16)),
    # Of the judgement event of the same judge and document that it led to; ``None`` = it led to none.
    Column("judged_at", UtcDateTime),
    Column("grade", sa.Integer),
    Column("unreadable", sa.String(16)),
    Column("topic_version", sa.Integer),
    Column("document_sha256", sa.Text),
    _filled("request_sha256", sa.Text, default=""),
    _filled("attempt", sa.Integer, default=1),
    Column("sent_at", UtcDateTime),
    Column("received_at", UtcDateTime),
    Column("status", sa.Integer),
    # Compressed with zlib.
    _filled("body", sa.LargeBinary),
    _filled("served_model", RawText, default=""),
    _filled("fingerprint", RawText, default=""),
    _filled("finish_reason", RawText, default=""),
    Column("prompt_tokens", sa.Integer),
    Column("cached_tokens", sa.Integer),
    Column("completion_tokens", sa.Integer),
    Column("reasoning_tokens", sa.Integer),
    Column("cost", sa.Float),
    # JSON: grades to probabilities.
    Column("probabilities", sa.Text),
    Column("mass", sa.Float),
    # See `store.db.digests`.
    Column("digest", sa.BigInteger),
    sa.Index("answer_of_judge", "judge_id", "topic_id", "document_id"),
)
"""One request to a model and what came of it; see `store.model_judge.Answer`. Never changed."""
DIGEST = _table("digest", Column("name", sa.String, primary_key=True), _filled("value", sa.BigInteger))
"""The digest of a table; see `store.db.digests`."""


def _event_columns() -> Iterator[Column[Any]]:
    """Make the columns of `store.event.EVENT`, in an order that only grows.

    Columns of one revision after the first stand by name.
    """
    stored = [one for one in EVENT if one.name in COLUMNS]
    for one in sorted(stored, key=lambda field: (field.since, field.name if field.since > 1 else "")):
        name = COLUMNS[one.name]
        table = "judgement" if name == "undoes" else name.removesuffix("_id")
        refers = table != name
        yield Column(
            name,
            sa.Integer if refers else COLUMN_TYPES[one.kind.name],
            *([ForeignKey(f"{table}.id")] if refers else []),
            nullable=one.may_be_none,
            default=None if one.default is MISSING else one.default,
            index=name == "sitting_id",
        )


JUDGEMENT = _table(
    "judgement",
    Column("id", sa.Integer, primary_key=True),
    *_event_columns(),
    Column("digest", sa.BigInteger),
    sa.UniqueConstraint("topic_id", "document_id", "judge_id", "revision"),
    sa.CheckConstraint("(state = 'judged') = (grade IS NOT NULL)", name="grade_when_judged"),
    one_of("state", State),
    one_of("action", Action),
    *words("iteration"),
    sa.Index("judgement_of_judge", "judge_id", "topic_id", "document_id", "revision"),
)
"""One row an event: what a judge did to a document, and the whole state after it. Never changed.

Its columns are `store.event.EVENT`; ``undoes`` holds the row id of the event that an undo takes back.
"""

TABLES = SQLModel.metadata.tables
