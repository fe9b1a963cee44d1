"""Checksums of rows: in every row, whoever writes it, and another one when a value is."""

from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    select,
    text,
    update,
)
from sqlalchemy.types import TypeEngine

from store.collection import Collection
from store.db.columns import is_of
from store.db.engine import reading, writing
from store.db.raw import checksum_of, guarded_tables, renew_checksums, wrong_rows
from store.db.tables import (
    ANSWER,
    ASSIGNMENT_PLAN,
    DOCUMENT_METADATA,
    ERASURE,
    GUIDELINE,
    JUDGE,
    JUDGEMENT,
    MODEL_JUDGE,
    PASSAGE,
    POOL,
    POOL_ENTRY,
    POOL_TOPIC,
    RANKING,
    RUN,
    TABLES,
    TOPIC,
    TOPIC_VERSION,
)
from tests.helpers.world import carry, change_stored, checksum_by_definition, engine_of, make_run, stored_rows
from tests.store.full_collection import fill

GUARDED = (
    TABLES["collection"], GUIDELINE, TOPIC, TOPIC_VERSION, RUN, RANKING, POOL, POOL_ENTRY,
    POOL_TOPIC, JUDGE, ERASURE, ASSIGNMENT_PLAN, JUDGEMENT, PASSAGE, MODEL_JUDGE, ANSWER,
    DOCUMENT_METADATA,
)  # fmt: skip


WITHOUT_RULES = (
    ("PRAGMA defer_foreign_keys = ON", "PRAGMA ignore_check_constraints = ON"),
    (
        "SET LOCAL session_replication_role = replica",
        "ALTER TABLE judgement DROP CONSTRAINT grade_when_judged",
    ),
)
"""What lets a file, or a server, take any value."""


def document_states(name: str) -> tuple[int, int, int]:
    """Count the rows of all tables that have a checksum, those that have none, and the wrong."""
    n_with = n_without = n_wrong = 0
    with engine_of(name) as engine, reading(engine) as session:
        for table in GUARDED:
            found = [is_wrong for _, is_wrong in wrong_rows(session, table)]
            n_with, n_wrong = n_with + len(found), n_wrong + sum(found)
            query = text(f"SELECT count(*) FROM {table.name} WHERE checksum IS NULL")
            n_without += session.scalar(query) or 0
    return n_with, n_without, n_wrong


def test_every_row_has_one(collection_name: str) -> None:
    """Imports, draws, desks and rejudging leave no row without a checksum, on either engine."""
    fill(collection_name)
    rows = stored_rows(collection_name)
    n_rows = sum(len(rows[table.name]) for table in GUARDED)
    assert n_rows > 100
    assert document_states(collection_name) == (n_rows, 0, 0)


def test_topic_of_a_run_alone_has_one(collection_name: str, collection: Collection) -> None:
    """A topic that no topics file names has a checksum, too, as soon as a run brings it."""
    collection.runs.add(make_run("bm25", {"7": [("a", 1.0)]}))
    # The collection, the topic, the run and its ranking.
    assert document_states(collection_name) == (4, 0, 0)


def test_checksum_is_the_crc_of_the_values(tmp_path: Path) -> None:
    """The checksum of an event, by hand: CRC-32 of `name=value;` of what it has, in ASCII."""
    name = str(tmp_path / "full.db")
    fill(name)
    with closing(sqlite3.connect(name)) as connection:
        (stored,) = connection.execute(
            "SELECT e.checksum FROM judgement e JOIN judge j ON j.id = e.judge_id JOIN document d"
            " ON d.id = e.document_id WHERE j.name = 'cy' AND docno = 'd11' AND revision = 4"
        ).fetchone()
    # Bytes are written as their number and CRC-32; of none both are 0.
    written = (
        b"topic_id=1;document_id=12;judge_id=3;revision=4;action='note';state='judged';grade=2;"
        b"reason=(0, 0);note=(0, 0);iteration='0';judged_at='2030-01-02 03:04:05.000678';"
        b"dropped_keys=0;"
    )
    assert stored % 2**32 == zlib.crc32(written)


def test_copies_keep_them(tmp_path: Path, postgres_url: str) -> None:
    """What SQLite was given is right on PostgreSQL, and back, value by value."""
    first, last = str(tmp_path / "first.db"), str(tmp_path / "last.db")
    fill(first)
    expected = document_states(first)
    carry(first, postgres_url)
    carry(postgres_url, last)
    assert document_states(postgres_url) == document_states(last) == expected


def test_updated_row_gets_another(collection_name: str) -> None:
    """What the program updates is computed anew when it is committed; nothing is rolled back."""
    fill(collection_name)
    n_rows = document_states(collection_name)[0]
    with engine_of(collection_name) as engine:
        for table, values in (
            (JUDGEMENT, {"note": "by hand", "grade": None, "state": "skipped"}),
            (POOL_ENTRY, {"position": 77, "inclusion_probability": 0.25}),
            (RANKING, {"ranks": None}),
            (PASSAGE, {"start": 5}),
        ):
            with writing(engine) as session:
                session.execute(update(table).values(**values))
            assert document_states(collection_name) == (n_rows, 0, 0)
        before = stored_rows(collection_name)
        with reading(engine) as session:
            session.execute(update(PASSAGE).values(start=6))
        assert stored_rows(collection_name) == before


@pytest.mark.slow
def test_change_behind_the_back_is_seen(collection_name: str) -> None:
    """What something else changed has another checksum; renewing passes over what has one."""
    fill(collection_name)
    n_rows = document_states(collection_name)[0]
    change_stored(collection_name, "UPDATE passage SET start = start + 1 WHERE id = 1")
    assert document_states(collection_name) == (n_rows, 0, 1)
    change_stored(collection_name, "UPDATE passage SET checksum = NULL")
    with engine_of(collection_name) as engine, writing(engine) as session:
        n_passages = len(session.execute(select(PASSAGE.c.id)).all())
        assert renew_checksums(session, PASSAGE) == n_passages
        assert renew_checksums(session, PASSAGE) == 0
    assert document_states(collection_name) == (n_rows, 0, 0)


def another(column: Column[Any], *, on_server: bool) -> str:
    """Return SQL for another value than a column has, of the same kind."""
    name = f'"{column.name}"'
    if is_of(column, LargeBinary):
        return r"'\x07'" if on_server else "x'07'"
    if is_of(column, DateTime):
        return "'2031-01-01 00:00:00.000000'"
    if is_of(column, Boolean):
        return f"NOT {name}"
    if is_of(column, Integer) or is_of(column, Float):
        return f"coalesce({name} + 1000, 0)"
    return f"coalesce('x' || substr({name}, 2), 'x')"


@pytest.mark.slow
def test_another_value_of_any_column_is_seen(collection_name: str) -> None:
    """Any column of any of these tables may change: every row that did is seen."""
    fill(collection_name)
    assert set(guarded_tables()) == set(GUARDED)
    on_server = "://" in collection_name
    with engine_of(collection_name) as engine:
        for table in GUARDED:
            for column in table.columns:
                if column.name in ("id", "checksum"):
                    continue
                with reading(engine) as session:
                    for statement in WITHOUT_RULES[on_server]:
                        session.execute(text(statement))
                    new = another(column, on_server=on_server)
                    session.execute(text(f'UPDATE "{table.name}" SET "{column.name}" = {new}'))
                    found = [is_wrong for _, is_wrong in wrong_rows(session, table)]
                assert found, table
                assert all(found), column
    assert document_states(collection_name)[1:] == (0, 0)


KINDS: dict[str, tuple[type[TypeEngine[Any]], st.SearchStrategy[Any]]] = {
    "whole": (Integer, st.integers(-(2**63), 2**63 - 1)),
    "real": (Float, st.floats(allow_nan=False)),
    "text": (Text, st.text()),
    "bytes": (LargeBinary, st.binary()),
}
CHECKSUM = checksum_of(Table("t", MetaData(), *(Column(name, kind) for name, (kind, _) in KINDS.items())))
values = st.tuples(*(st.none() | strategy for _, strategy in KINDS.values()))


@given(values, values, st.sampled_from(range(len(KINDS))), st.data())
def test_another_value_has_another_checksum(
    row: tuple[Any, ...], other: tuple[Any, ...], at: int, data: st.DataObject
) -> None:
    """A value in the place of another changes it, as does a flipped bit; it fits both engines."""
    checksum, new = CHECKSUM(row), other[at]
    assert -(2**31) <= checksum < 2**31
    if isinstance(row[at], bytes) and row[at] and data.draw(st.booleans()):
        flipped = bytearray(row[at])
        flipped[0] ^= 1
        new = bytes(flipped)
    changed = (*row[:at], new, *row[at + 1 :])
    assert (CHECKSUM(changed) == checksum) == (row[at] == new)


@given(st.sampled_from(range(len(KINDS))), st.sampled_from([None, 1, 1.5, "x", b"x"]))
def test_value_of_another_kind_has_another_checksum(at: int, new: Any) -> None:
    """In a damaged file any column may hold anything: that is another row, and no failure."""
    row: tuple[Any, ...] = (7, 2.5, "seven", b"seven")
    assert CHECKSUM((*row[:at], new, *row[at + 1 :])) != CHECKSUM(row)


def test_empty_columns_do_not_count() -> None:
    """A column that comes later changes nothing while it is empty; zero has one sign."""
    assert CHECKSUM((1, None, None, None)) == checksum_by_definition({"whole": 1})
    assert CHECKSUM((None, 0.0, None, None)) == CHECKSUM((None, -0.0, None, None))
