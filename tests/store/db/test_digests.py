"""Digests: on everything that is written, by whatever way, and another one when a value is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary, text
from sqlmodel import Session

from store.collection import Collection
from store.db.columns import is_of
from store.db.digests import CHANGING, WHOLE, digest_of, wrong_events, wrong_pools, wrong_runs, wrong_tables
from store.db.engine import reading
from store.db.tables import TABLES
from store.errors import StoreError
from store.keeping.verify import CHECKS
from store.records import JudgeKind, Qrel
from tests.helpers.world import JudgeAtWork, carry, change_stored, engine_of, make_pool, make_run, parse_scale
from tests.store.full_collection import fill
from tests.store.places import held_place

WITHOUT_RULES = (
    ("PRAGMA defer_foreign_keys = ON", "PRAGMA ignore_check_constraints = ON"),
    ("SET LOCAL session_replication_role = replica",),
)
"""What lets a file, or a server, take any value."""
COVERED = (*WHOLE, *CHANGING, "document", "ranking", "pool_entry", "judgement", "passage", "answer")
LEFT_OUT = {
    ("document", "title"), ("document", "text"), ("passage", "id"),
    ("pool_entry", "pool_id"), ("ranking", "run_id"), ("sitting", "topic_id"), ("assignment", "judge_id"),
}  # fmt: skip
"""Columns of covered tables that something else tells of: a hash, or a reference."""


def wrong(name: str) -> list[str]:
    """Return all that is not as it was written."""
    with engine_of(name) as engine, reading(engine) as session:
        return all_faults(session)


def all_faults(session: Session) -> list[str]:
    """Return what every digest tells."""
    found = [*wrong_tables(session), *wrong_runs(session), *wrong_pools(session)]
    for name in ("judgement", "answer", *CHANGING):
        found += wrong_events(session, TABLES[name])
    return found


def test_everything_has_one(collection_name: str) -> None:
    """Imports, draws, desks and rejudging leave nothing without a digest, on either engine."""
    fill(collection_name)
    assert wrong(collection_name) == []
    with engine_of(collection_name) as engine, reading(engine) as session:
        for table in ("judgement", "answer", *CHANGING):
            rows = session.execute(text(f"SELECT digest FROM {table}")).scalars().all()
            assert rows
            assert None not in rows


def test_digest_is_the_hash_of_the_values(tmp_path: Path) -> None:
    """The digest of an event, by hand: BLAKE2b of its values in the order of the table, then the names."""
    name = str(tmp_path / "full.db")
    fill(name)
    with closing(sqlite3.connect(name)) as connection:
        stored, uid, row_id = connection.execute(
            "SELECT e.digest, j.uid, e.id FROM judgement e JOIN judge j ON j.id = e.judge_id JOIN document d"
            " ON d.id = e.document_id WHERE j.name = 'cy' AND docno = 'd11' AND revision = 4"
        ).fetchone()
    # Id, revision and action; undoes, which it lacks; state and grade; all as Python writes them.
    values = [str(row_id), "4", "'note'", "None", "'judged'", "2", "b''", "b''", "'0'", *3 * ["None"],
              "'2030-01-02 03:04:05.000678'", *2 * ["None"], "0", *6 * ["None"],
              "'1'", "'d11'", f"'{uid}'"]  # fmt: skip
    written = blake2b("\x1f".join(values).encode(), digest_size=8).digest()
    assert stored == int.from_bytes(written, "big", signed=True)


def test_copies_keep_them(tmp_path: Path, postgres_url: str) -> None:
    """What SQLite was given is right on PostgreSQL, and back."""
    first, last = str(tmp_path / "first.db"), str(tmp_path / "last.db")
    fill(first)
    carry(first, postgres_url)
    carry(postgres_url, last)
    assert wrong(postgres_url) == wrong(last) == []


def another(column: Column[object], *, on_server: bool) -> str:
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
    """Any value may become another one of the same kind behind the program's back: it is seen."""
    fill(collection_name)
    with Collection(collection_name) as opened:
        opened.codes.give("cy")
    on_server = "://" in collection_name
    unseen = []
    with engine_of(collection_name) as engine:
        for table in (TABLES[name] for name in COVERED):
            for column in table.columns:
                if (table.name, column.name) in LEFT_OUT:
                    continue
                with reading(engine) as session:
                    for statement in WITHOUT_RULES[on_server]:
                        session.execute(text(statement))
                    if on_server:
                        for rule in session.scalars(text(RULES.format(table.name))).all():
                            session.execute(text(f'ALTER TABLE "{table.name}" DROP CONSTRAINT "{rule}"'))
                    row = f'(SELECT max("{one}") FROM "{table.name}")' if (one := _number(table.name)) else ""
                    where = f' WHERE "{one}" = {row}' if row else ""
                    new = another(column, on_server=on_server)
                    session.execute(text(f'UPDATE "{table.name}" SET "{column.name}" = {new}{where}'))
                    found = all_faults(session)
                if not found:
                    unseen.append((table.name, column.name))
    assert unseen == []
    assert wrong(collection_name) == []


def test_another_type_of_the_same_bytes_is_seen(tmp_path: Path) -> None:
    """A bit of a value's type makes text of bytes, or a number of digits; an empty title is one."""
    name = str(tmp_path / "full.db")
    fill(name)
    unseen, tried = [], 0
    with engine_of(name) as engine:
        for table in (TABLES[one] for one in (*COVERED, "document")):
            for column in table.columns:
                kind, named = "TEXT" if is_of(column, LargeBinary) else "BLOB", f'"{column.name}"'
                where = f"typeof({named}) IN ('text', 'blob') AND length({named})"
                change = f"UPDATE {table.name} SET {named} = CAST({named} AS {kind}) WHERE {where}"
                with suppress(StoreError), reading(engine) as session:  # no UTF-8: it cannot be read
                    session.execute(text("PRAGMA ignore_check_constraints = ON"))
                    tried += (is_changed := session.execute(text(change)).rowcount > 0)
                    texts = next(check for check in CHECKS if check.name == "texts")
                    if is_changed and not [*all_faults(session), *texts.faults[0](session)]:
                        unseen.append((table.name, column.name))
    assert tried > 40
    assert unseen == []
    change_stored(name, "UPDATE document SET title = NULL WHERE title IS NOT NULL")
    with Collection(name) as opened:
        assert [one.name for one in opened.verify() if one.n_faults] == ["texts"]


RULES = "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = '{}'::regclass"


def _number(table: str) -> str:
    """Return the column by which one row of a table is chosen."""
    return "id" if "id" in TABLES[table].columns else ""


def test_two_at_once_are_both_in_it(postgres_url: str) -> None:
    """Of two that change one table at the same time on a server, each counts what the other wrote."""
    Collection.create(postgres_url, name="c", scale=parse_scale("0-1"), program="test").close()

    def add(name: str) -> None:
        with Collection(postgres_url) as opened:
            for number in range(15):
                opened.judges.add(f"{name}{number}", JudgeKind.HUMAN)

    at_work = [Thread(target=add, args=(name,)) for name in ("ann", "bob", "cy")]
    for one in at_work:
        one.start()
    for one in at_work:
        one.join()
    with Collection(postgres_url) as opened:
        assert len(opened.grades.judges()) == 45
    assert wrong(postgres_url) == []


DAMAGE: dict[str, tuple[str, Callable[[Collection], object]]] = {
    "grade": ("UPDATE judgement SET grade = 1 - grade", lambda one: one.judgements.current()),
    "whose": ("UPDATE judge SET name = 'zoe'", lambda one: one.judgements.current()),
    "docno": ("UPDATE document SET docno = 'e' || docno", lambda one: list(one.judgements.history())),
    "scores": ("UPDATE ranking SET positions = scores", lambda one: one.runs.top(depth=10, scores=True)),
    "plan": ("UPDATE pool SET round = '7'", lambda one: one.pools.get("pool")),
    "event": ("DELETE FROM judgement WHERE revision = 1", lambda one: one.judgements.current()),
    "pooled": ("DELETE FROM pool_entry", lambda one: one.grades.judges() and one.judgements.current()),
    "entry": ("UPDATE pool_entry SET inclusion_probability = 0.5", lambda one: one.pools.get("pool")),
    "listed": ("UPDATE document SET listed = NOT listed", lambda one: all_of(one)),
    "place": ("UPDATE assignment SET position = position + 1", lambda one: all_of(one)),
    "sitting": ("UPDATE sitting SET host = 'x'", lambda one: all_of(one)),
}


def all_of(collection: Collection) -> str:
    """Open a collection as an export of all of it does."""
    with collection.as_it_stands() as inside:
        return str(inside)


@pytest.mark.parametrize("what", DAMAGE)
def test_what_is_read_is_checked(collection_name: str, collection: Collection, what: str) -> None:
    """What measures or publishes refuses what is not as it was written, and reads it where it is."""
    collection.runs.add(make_run("bm25", {"7": [("a", 1.0), ("b", 0.5)]}))
    collection.pools.add(make_pool({"7": ["a", "b"]}))
    collection.judges.add("ann", JudgeKind.HUMAN)
    grades = [Qrel("7", "a", 1), Qrel("7", "b", 0)]
    collection.judgements.add({"ann": grades}, JudgeKind.HUMAN)
    JudgeAtWork(collection.desk("ann"), "7").grade("a", 0)
    held_place(collection_name, "7", "b", "ann")
    statement, read = DAMAGE[what]
    with Collection(collection_name) as opened:
        read(opened)
    change_stored(collection_name, statement)
    with Collection(collection_name) as opened, pytest.raises(StoreError, match=r"damaged: .* not ") as told:
        read(opened)
    assert told.value.hint == "restore a backup: pooler restore BACKUP --replace; pooler verify says more"


@given(
    st.lists(st.none() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(), max_size=4),
    st.data(),
)
def test_another_value_has_another_digest(row: list[object], data: st.DataObject) -> None:
    """A value in the place of another changes it; it fits both engines, and a zero has one sign."""
    digest = digest_of(row)
    assert -(2**63) <= digest < 2**63
    if row:
        place = data.draw(st.integers(0, len(row) - 1))
        flipped = [*row]
        flipped[place] = f"{row[place]!s}x"
        assert digest_of(flipped) != digest
    assert digest_of([0.0]) == digest_of([-0.0]) != digest_of([None]) != digest_of([""])
