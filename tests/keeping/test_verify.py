"""Damage: what tells of it, and that nothing is published, measured or saved of what is damaged."""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Boolean, Column, DateTime, Float, Integer, LargeBinary, text
from sqlmodel import Session

from store.collection import Collection
from store.db.columns import is_of
from store.db.digests import CHANGING, WHOLE, wrong_events, wrong_pools, wrong_runs, wrong_tables
from store.db.engine import collection_url, reading, writing
from store.db.tables import TABLES
from store.errors import StoreError
from store.keeping.backup import back_up
from store.keeping.verify import CHECKS, Verified, verify
from store.records import Action, JudgeKind, Qrel
from tests.helpers.full_collection import fill
from tests.helpers.places import held_place
from tests.helpers.run import Cli, Outcome, by_rule, run_inside
from tests.helpers.strategies import examples
from tests.helpers.world import (
    JudgeAtWork,
    carry,
    change_stored,
    engine_of,
    make_pool,
    make_run,
    new_collection,
    parse_scale,
    renew_digests,
    stored_rows,
)


@pytest.fixture
def served(whole: Path, postgres_url: str) -> str:
    """Make a copy on a server."""
    carry(str(whole), postgres_url)
    return postgres_url


def faults(name: Path | str) -> dict[str, Verified]:
    """Return the checks that found something."""
    return {one.name: one for one in verify(collection_url(str(name))) if one.n_faults}


def change(name: Path, statement: str, **values: Any) -> None:
    """Change a SQLite collection as no program of ours would: without its rules."""
    with contextlib.closing(sqlite3.connect(name)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute(statement, values)
        connection.commit()


def test_whole_collection_has_no_fault(full: Path, served: str) -> None:
    """Nothing is found in a collection with a bit of everything, and every check saw some of it."""
    for name in (str(full), served):
        found = verify(collection_url(name))
        assert [one.name for one in found] == [check.name for check in CHECKS]
        assert [(one.name, one.examples) for one in found if one.n_faults] == []
        looked = {one.name for one in found if one.n_checked}
        # A server looks after its own pages.
        assert {one.name for one in found} - looked <= ({"file"} if name == served else set())


FAULTS = [
    ("judgements", "UPDATE judgement SET revision = 5 WHERE id ="
     " (SELECT max(id) FROM judgement WHERE revision = 4)"),
    ("judgements", "DELETE FROM judgement WHERE id = (SELECT min(id) FROM judgement e"
     " WHERE revision = 1 AND NOT EXISTS (SELECT 1 FROM passage WHERE judgement_id = e.id)"
     " AND NOT EXISTS (SELECT 1 FROM judgement u WHERE u.undoes = e.id)"
     " AND EXISTS (SELECT 1 FROM judgement l WHERE l.revision = 2 AND l.topic_id = e.topic_id"
     " AND l.document_id = e.document_id AND l.judge_id = e.judge_id))"),
    ("judgements", "UPDATE judgement SET grade = 3 WHERE id = 1"),
    ("judgements", "UPDATE judgement SET state = 'graded', grade = NULL WHERE id = 1"),
    ("judgements", "UPDATE judgement SET action = 'skip' WHERE id = 1"),
    ("judgements", "UPDATE judgement SET undoes = 1 WHERE action = 'undo'"),
    ("judgements", "UPDATE judgement SET undoes = NULL WHERE action = 'undo'"),
    ("judgements", "UPDATE judgement SET undoes = id WHERE action = 'undo'"),
    ("judgements", "UPDATE judgement SET state = 'cannot', grade = NULL WHERE action = 'note'"),
    ("passages", "UPDATE passage SET start = start + 1"),
    ("passages", "UPDATE passage SET length = 2"),
    ("versions", "UPDATE guideline SET version = 3 WHERE version = 2"),
    ("file", "UPDATE judge SET kind = 'person' WHERE id = 2"),
    ("ids", "UPDATE judge SET name = 'a b' WHERE id = 2"),
    ("ids", "UPDATE judge SET uid = 'ann' WHERE id = 2"),
    ("versions", "UPDATE topic SET version = 3 WHERE id = 1"),
    ("versions", "UPDATE topic SET version = 1 WHERE id = 1"),
    ("versions", "UPDATE topic_version SET version = 2"),
    ("versions", "UPDATE topic SET changed_at = NULL WHERE id = 1"),
    ("file", "UPDATE erasure SET events = 2"),
    ("file", "UPDATE erasure SET kind = 'person'"),
    ("versions", "UPDATE judgement SET topic_version = 3 WHERE topic_version = 2"),
    ("versions", "UPDATE judgement SET topic_version = 0 WHERE topic_version = 2"),
    ("digests", "UPDATE judgement SET grade = 2 WHERE grade = 1 AND revision = 1"),
    ("digests", "UPDATE judgement SET judged_at = '2031-01-01 00:00:00.000000' WHERE id = 1"),
    ("digests", "UPDATE judgement SET iteration = '7' WHERE id = 1"),
    ("digests", "UPDATE judgement SET dwell_ms = 7 WHERE id = 1"),
    ("digests", "UPDATE pool_entry SET priority = 0.5"),
    ("digests", "UPDATE pool_entry SET position = 99 WHERE document_id = 1"),
    ("digests", "UPDATE ranking SET ranks = NULL"),
    ("judgements", "UPDATE judgement SET sitting_id = (SELECT id FROM sitting WHERE judge_id <> 1"
     " LIMIT 1) WHERE judge_id = 1 AND sitting_id IS NOT NULL"),
    ("file", "UPDATE assignment SET purpose = 'other' WHERE id = 1"),
    ("assignments", "UPDATE assignment SET judge_id = NULL WHERE id = 1"),
    ("assignments", "UPDATE assignment_plan SET manifest = '{' WHERE id = 1"),
    ("ids", "UPDATE topic SET number = '' WHERE id = 1"),
    ("texts", "UPDATE document SET sha256 = 'abc' WHERE id = 1"),
    ("texts", "UPDATE document SET text = NULL WHERE id = 1"),
    ("rankings", "UPDATE run SET sha256 = '' WHERE id = 1"),
    ("rankings", "UPDATE run SET sha256 = upper(sha256) WHERE id = 1"),
    ("rankings", "UPDATE ranking SET length = length - 1"),
    ("rankings", "UPDATE ranking SET codec = 2"),
    ("rankings", "UPDATE ranking SET scores = document_ids"),
    ("pools", "UPDATE pool SET manifest = 'depth' WHERE id = 1"),
    ("pools", "UPDATE pool_topic SET budget = 0"),
    ("pools", "UPDATE pool_entry SET position = 0 WHERE topic_id = 1"),
    ("file", "UPDATE pool_entry SET inclusion_probability = 1.5 WHERE topic_id = 1"),
    ("collection", "UPDATE collection SET scale = '{}'"),
    ("collection", "DELETE FROM collection"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("check", "statement"), FAULTS)
def test_fault_is_found(full: Path, check: str, statement: str) -> None:
    """Each thing that can be wrong is found by the check named for it, with an example."""
    change(full, statement)
    if check != "digests":
        with engine_of(str(full)) as engine, writing(engine) as session:
            renew_digests(session)
    found = faults(full)
    assert check in found, found
    assert found[check].examples
    assert found[check].advice


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE topic SET title = x'41' WHERE number = '007'", "the rows of `topic` are"),
        ("UPDATE guideline SET text = x'41' WHERE version = 2", "the rows of `guideline` are"),
        ("UPDATE run SET priority = 7 WHERE tag = 'lm'", "the rows of `run` are"),
        ("UPDATE judge SET disabled = 1 WHERE name = 'bob'", "the rows of `judge` are"),
        ("UPDATE pool_entry SET priority = 7", "pool `pool`: its entries are"),
        ("UPDATE ranking SET scores = CAST(scores || x'00' AS BLOB)", "run `bm25`: its rankings are"),
        ("UPDATE judgement SET iteration = '7' WHERE id = 1", "topic 1 `d00` of `qrels`, revision 1: it is"),
    ],
)
def test_changed_row_is_named(full: Path, statement: str, named: str) -> None:
    """What breaks no rule is told by its digest alone, and no backup is made of it."""
    change(full, statement)
    found = faults(full)["digests"]
    assert any(one.startswith(f"{named} not as") for one in found.examples), found
    assert found.advice == "restore a backup: pooler restore BACKUP --replace"
    backup = full.with_name("backup.db")
    with pytest.raises(StoreError, match="written"):
        back_up(collection_url(str(full)), backup)
    assert not backup.exists()


RULES = """
    SELECT conrelid::regclass, conname FROM pg_constraint
    WHERE contype = 'c' AND connamespace = current_schema()::regnamespace
"""


@pytest.mark.slow
def test_faults_are_found_on_a_server(served: str) -> None:
    """The same checks find the same things there."""
    # Its own rules would refuse some of it.
    with engine_of(served) as engine, reading(engine) as session:
        rules = session.execute(text(RULES)).all()
    for table, rule in rules:
        change_stored(served, f'ALTER TABLE {table} DROP CONSTRAINT "{rule}"')
    last = {"collection": ""}
    for check, statement in FAULTS:
        if check == "collection":
            last[check] = last[check] or statement
        elif "DELETE" not in statement and check != "file":
            change_stored(served, statement)
    found = faults(served)
    assert set(found) == {check for check, _ in FAULTS} - {"collection", "file"}
    change_stored(served, last["collection"])
    assert "collection" in faults(served)


def pack(*numbers: int) -> bytes:
    """Pack document ids."""
    return np.array(numbers, "<i4").tobytes()


@pytest.mark.parametrize("documents", [pack(1, 1), pack(1, 999), pack(0, 1), pack(1)])
def test_ranking_with_a_wrong_document_is_found(full: Path, documents: bytes) -> None:
    """A document twice, one that is not there, or one too few."""
    change(
        full,
        "UPDATE ranking SET length = 2, document_ids = :documents, scores = :scores, ranks = NULL,"
        " positions = :places WHERE run_id = 1 AND topic_id = 1",
        documents=documents,
        scores=b"1" + pack(2, 1),
        places=b"b\0\1",
    )
    with engine_of(str(full)) as engine, writing(engine) as session:
        renew_digests(session)
    assert list(faults(full)) == ["rankings"]
    assert faults(full)["rankings"].n_faults == 1


def test_reference_to_nothing_is_found(full: Path) -> None:
    """A row that refers to none is found in a file."""
    change(full, "UPDATE judgement SET topic_id = 99 WHERE id = 3")
    assert "references" in faults(full)


def test_missing_table_is_found(full: Path) -> None:
    """A table or a column that is gone is named, and what needs it could not be read."""
    change(full, "DROP TABLE passage")
    change(full, "ALTER TABLE run DROP COLUMN priority")
    found = faults(full)
    assert found["tables"].n_faults == 2
    assert "cannot be read" in found["passages"].examples[0]


@pytest.mark.slow
@settings(max_examples=examples(8))
@given(data=st.data())
def test_flipped_bit_is_told_or_harms_no_judgement(whole: Path, data: st.DataObject) -> None:
    """With any one bit of a collection flipped, opening or `verify` says so, in words.

    Or no judgement, passage, pool entry, ranking, text or link is another one than before.
    """
    content = bytearray(whole.read_bytes())
    bit = data.draw(st.integers(0, len(content) * 8 - 1))
    content[bit // 8] ^= 1 << bit % 8
    damaged = whole.with_name("damaged.db")
    damaged.write_bytes(content)
    try:
        found = faults(str(damaged))
    except StoreError:
        return
    finally:
        for path in whole.parent.glob("damaged.db-*"):
            path.unlink()
    if not found:
        one, other = (stored_rows(str(file)) for file in (damaged, whole))
        # The revision is looked up before all else.
        assert one | {"alembic_version": []} == other | {"alembic_version": []}


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


def test_digest_is_the_hash_of_the_values(full: Path) -> None:
    """The digest of an event, by hand: BLAKE2b of its values in the order of the table, then the names."""
    name = str(full)
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
                        for rule in session.scalars(text(RULES_OF.format(table.name))).all():
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


def test_another_type_of_the_same_bytes_is_seen(full: Path) -> None:
    """A bit of a value's type makes text of bytes, or a number of digits; an empty title is one."""
    name = str(full)
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


RULES_OF = "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = '{}'::regclass"


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


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO passage (judgement_id, start, length, text) VALUES (1, 0, 1, x'74')",
        "UPDATE judgement SET note = '`odd' WHERE note = x'6f6464'",
    ],
)
def test_a_passage_and_text_for_bytes_are_noticed(tmp_path: Path, statement: str) -> None:
    """What nobody marked hangs on no event, and a note of the same letters in another type is no note."""
    name = str(tmp_path / "c.db")
    with new_collection(name) as made:
        made.pools.add(make_pool({"7": ["a", "b"]}))
        made.judges.add("ann", JudgeKind.HUMAN)
        at_work = JudgeAtWork(made.desk("ann"), "7")
        at_work.grade("a", 0)
        at_work.act("b", Action.NOTE, note="odd")
    change_stored(name, statement)
    with Collection(name) as opened, pytest.raises(StoreError, match="not as it was written"):
        opened.judgements.current()


READERS = """
    status | status effort | show runs | show docs KG-E-002 | show judges strict | history G01 KG-E-002
    show guidelines | diagnose --qrels strict --table depths --depth 5 | agreement | adjudicate
    evaluate -m AP --qrels strict | sensitivity --depth 5 --qrels strict | export qrels strict | export pool
    export collection exported | pool --depth 3 --name second | import runs runs/bm25-words.run
    judge --judge strict --plain | backup b.backup | verify | upgrade
"""
"""Commands on a collection, each with what it needs."""


def test_whole_collection(cli: Cli, judged: Path) -> None:
    """A row a check, no fault, exit code 0, in every format."""
    rows = cli("verify", "--format", "json").fine().json()
    assert len(rows) == 16
    assert [row["faults"] for row in rows] == [0] * len(rows)
    assert {row["advice"] for row in rows} == {None}
    checked = {row["check"]: row["checked"] for row in rows}
    assert (checked["judgements"], checked["rankings"]) == (252, 72)
    assert len(cli("verify", "--format", "tsv").fine().tsv()) == len(rows)
    assert "what to do" not in cli("verify").fine().out


def test_faults_are_told_with_what_to_do(cli: Cli, judged: Path) -> None:
    """Each fault has an example and what to do; the exit code is 1."""
    change_stored("collection.db", "UPDATE run SET sha256 = '' WHERE id < 6")
    change_stored("collection.db", "UPDATE judgement SET grade = 7 WHERE id = 1")
    said = cli("verify")
    assert said.code == 1
    assert "rankings: `bm25-words` has no SHA-256 of its file, but ''" in said.out
    assert "rankings: and 2 more" in said.out
    assert "what to do: take the run again: pooler import runs FILE --replace" in said.out
    assert "grade 7" in said.out
    assert "it is not as it was written" in " ".join(said.out.split())
    # The state and the digest of the judgement, one a run, and the digest of their table.
    assert said.err == "collection.db has 8 faults\n"
    rows = {row["check"]: row for row in cli("verify", "--format", "json").json()}
    assert rows["rankings"]["faults"] == 5
    assert "restore" in rows["judgements"]["advice"]


def damage(kind: str, place: Path) -> None:
    """Damage a collection file."""
    content = place.read_bytes()
    if kind == "truncated":
        place.write_bytes(content[: len(content) // 2])
    elif kind == "empty":
        place.write_bytes(b"")
    elif kind == "text":
        place.write_text("51 Q0 d1 1 2.5 bm25\n" * 100)
    elif kind == "a page":
        place.write_bytes(content[:4096] + b"\xff" * 4096 + content[8192:])
    else:
        place.unlink()
        with closing(sqlite3.connect(place)) as other, other:
            other.execute("CREATE TABLE shelf (book TEXT)")
        other.close()


@pytest.mark.parametrize("kind", ["truncated", "empty", "text", "a page", "foreign"])
def test_every_command_refuses_what_is_no_whole_collection(cli: Cli, judged: Path, kind: str) -> None:
    """One line that says what is wrong, one that says what to do, and never a traceback."""
    damage(kind, judged / "collection.db")
    damaged = (judged / "collection.db").read_bytes()
    for words in map(str.split, re.split(r"[|\n]", READERS.strip())):
        if words == ["upgrade"] and kind == "a page":
            continue  # of a collection that is up to date it reads no more than that
        said = cli(*words, stdin=b"q\n")
        assert "Traceback" not in said.err
        if words == ["verify"] and kind == "a page":
            assert (said.code, "what to do: restore a backup" in said.out) == (1, True)
            continue
        assert said.code == 3, (words, said)
        error, hint = said.err.splitlines()[-2:]
        assert error.startswith("error: ")
        assert hint.startswith("hint: ")
        assert "restore" in hint
        assert words != ["verify"] or "pooler verify" not in hint
        for name in ("b.backup", "copied.db", "exported"):
            assert not (judged / name).exists()
    assert (judged / "collection.db").read_bytes() == damaged


def cuts(size: int) -> list[int]:
    """Choose lengths to cut a file to: in the header, at ends of pages, beside them, anywhere."""
    dice = random.Random(size)
    return [1, 99, 100, 4096, 4097, size - 4096, size - 1, dice.randrange(1, size)]


@pytest.mark.slow
def test_file_cut_anywhere_is_refused(cli: Cli, judged: Path) -> None:
    """However much of the end is gone: one line that says so, and what to do; nothing is read."""
    cli("backup", "whole.backup").fine()
    place = judged / "collection.db"
    content, sealed = place.read_bytes(), (judged / "whole.backup").read_bytes()
    for length in cuts(len(content)):
        place.write_bytes(content[:length])
        (judged / "cut.backup").write_bytes(sealed[:length])
        for words in (
            ("export", "qrels", "strict"),
            ("backup", "b.backup"),
            ("import", "judgements", "judgements/strict.qrels", "--judge", "late"),
            ("restore", "cut.backup", "--collection", "new.db"),
            ("verify",),
        ):
            said = cli(*words)
            assert said.code in ((1, 3) if words == ("verify",) else (3,)), (length, words, said)
            assert "restore" in said.err + said.out, (length, words, said)
            assert not said.out or words == ("verify",)
        assert place.read_bytes() == content[:length]
    assert not any((judged / name).exists() for name in ("b.backup", "new.db"))
    cli("restore", "whole.backup", "--replace").fine()
    cli("verify").fine()


def test_damaged_judgement_is_not_backed_up(cli: Cli, judged: Path) -> None:
    """A grade that became another one does not come in the place of a good backup."""
    cli("backup", "b").fine()
    good = (judged / "b").read_bytes()
    change_stored("collection.db", "UPDATE judgement SET grade = 1 - grade WHERE id = 1")
    said = cli("backup", "b", "--replace").failed(3)
    assert "it is not as it was written" in said.err
    assert "hint: nothing was saved; pooler verify says more" in said.err
    assert (judged / "b").read_bytes() == good
    cli("restore", "b", "--replace").fine()
    cli("verify").fine()


def test_damaged_text_is_not_exported(cli: Cli, judged: Path) -> None:
    """A text that became another makes no folder; `verify` says how to mend it, and then there is one."""
    change_stored(
        "collection.db", "UPDATE document SET text = CAST(text || 'x' AS BLOB) WHERE docno = 'KG-E-002'"
    )
    said = cli("export", "collection", "exported").failed(3)
    assert "`KG-E-002` has another title or text than its hash says" in said.err
    assert said.err.endswith("hint: nothing was exported; pooler verify says more\n")
    assert not (judged / "exported").exists()
    assert "pooler import docs FILE --replace" in cli("verify").out
    cli("import", "docs", "documents.jsonl", "--replace").fine()
    by_rule(cli, "export", "collection", "exported", "--judge", "strict").fine()


@pytest.mark.parametrize(
    ("table", "column", "keys"),
    [
        ("run", "tag", {"id": 1}),
        ("document", "text", {"id": 2}),
        ("judgement", "grade", {"id": 3}),
        ("ranking", "scores", {"run_id": 1, "topic_id": 2}),
        ("digest", "value", {"name": "run"}),
    ],
)
def test_text_that_is_no_utf8_is_named(
    cli: Cli, judged: Path, table: str, column: str, keys: dict[str, object]
) -> None:
    """A column of texts or of anything else: `verify` says where, and `backup`, which saves nothing."""
    chosen = " AND ".join(f"{name} = '{key}'" for name, key in keys.items())
    change_stored("collection.db", f"UPDATE {table} SET {column} = CAST(x'ff' AS TEXT) WHERE {chosen}")
    row = ", ".join(map(str, keys.values()))
    place = f"row {row} of `{table}`: `{column}` cannot be read: b'\\xff'"
    found = cli("verify", "--format", "json").json()
    assert {one["examples"] for one in found if one["faults"]} == {place}
    said = cli("backup", "b.backup").failed(3)
    assert f"error: collection.db: the database file is damaged: {place}\n" in said.err
    assert not (judged / "b.backup").exists()


N_DAMAGES = 600
OUTPUTS = {
    "qrels": ("export", "qrels", "strict"),
    "pool": ("export", "pool", "--annotated", "--qrels", "strict"),
    "judgements": ("export", "judgements", "--history"),
    "collection": ("export", "collection", "exported"),
    "scores": ("evaluate", "-m", "AP", "-m", "nDCG@5", "-m", "infAP", "--qrels", "strict", "--by-topic"),
    "report": ("report", "reported.html", "--qrels", "strict"),
}


@pytest.mark.long
def test_no_damage_changes_an_output_in_silence(cli: Cli, judged: Path) -> None:
    """Each of 600 damages is refused, found, or harmless; run it by hand, some ten minutes.

    A third flips bytes, a third zeroes a part of a page or all of it, a third changes a value.
    """
    place, whole = judged / "collection.db", judged / "whole.db"
    cli("judges", "add", "alice").fine()
    keys = b"0\ne\nclear\n1\n2\nu\ns\nq\n"
    cli("judge", "--plain", "--judge", "alice", "--topic", "G01", stdin=keys).fine()
    cli("pool", "--strategy", "thompson", "--name", "drawn", "--budget", "4", "--seed", "1").fine()
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(place, whole)
    before = {name: output(name) for name in OUTPUTS}
    assert None not in before.values(), [name for name, one in before.items() if one is None]
    dice, found = random.Random(20010909), Counter[str]()
    for number in range(N_DAMAGES):
        shutil.copy(whole, place)
        for log in judged.glob("collection.db-*"):
            log.unlink()
        what = damage_bytes(place, number % 3, dice)
        changed = []
        for name in OUTPUTS:
            if name == "report" and number % 10:  # it takes as long as all the others
                continue
            after = output(name)
            if after is None:
                found["refused"] += 1
            elif after != before[name]:
                changed.append(name)
        is_found = run_inside("verify", "--collection", str(place)).code != 0
        found["found by verify" if is_found else "not found"] += 1
        assert not changed, (number, what, changed, "found" if is_found else "not found")
        if not is_found:
            assert differences(whole, place) == set(), (number, what)
    sys.stdout.write(f"{N_DAMAGES} damages: {dict(found)}\n")


def damage_bytes(file: Path, kind: int, dice: random.Random) -> str:
    """Damage a file; return how."""
    if kind == 2:
        return change_a_value(file, dice)
    content = bytearray(file.read_bytes())
    if kind == 0:
        places = [dice.randrange(len(content)) for _ in range(dice.randint(1, 3))]
        for place in places:
            content[place] ^= dice.randint(1, 255)
        file.write_bytes(content)
        return f"bytes at {places}"
    start = dice.randrange(len(content) // 4096) * 4096
    start, end = (start, start + 4096) if dice.random() < 0.5 else (start + 2048, start + 4096)
    content[start:end] = bytes(end - start)
    file.write_bytes(content)
    return f"zeros from {start} to {end}"


def change_a_value(file: Path, dice: random.Random) -> str:
    """Give one value of one row another one, of the same kind, past every rule."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        tables = [name for name in tables if name not in {"alembic_version", "digest"}]
        while True:
            table = dice.choice(sorted(tables))
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            column = dice.choice(columns)
            rows = connection.execute(f'SELECT rowid, "{column}" FROM "{table}" ORDER BY rowid').fetchall()
            if rows:
                row_id, old = dice.choice(rows)
                with suppress(sqlite3.IntegrityError):  # a key that is taken: another one
                    new = another_value(old, dice)
                    connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (new, row_id))
                    return f"{table}.{column} of row {row_id}: {old!r:.40} -> {new!r:.40}"


def another_value(value: object, dice: random.Random) -> object:
    """Return another value of the same kind."""
    if value is None:
        return dice.choice([0, 1, "x"])
    if isinstance(value, int | float):
        return value + dice.choice([-1, 1, 2])
    if isinstance(value, bytes):
        return bytes([value[0] ^ 1]) + value[1:] if value else b"x"
    text = str(value)
    return f"{text[:-1]}{'x' if text[-1:] != 'x' else 'y'}"


def output(name: str) -> str | None:
    """Return what a command publishes; ``None`` = it refuses, in words."""
    shutil.rmtree("exported", ignore_errors=True)
    Path("reported.html").unlink(missing_ok=True)
    answer: Outcome = run_inside(*OUTPUTS[name])
    assert "Traceback" not in answer.err, answer.err
    if answer.code:
        assert "error: " in answer.err, answer
        return None
    files = [path for path in (*Path("exported").rglob("*"), Path("reported.html")) if path.is_file()]
    return "\n".join([answer.out, *(f"{path} {path.read_bytes()!r}" for path in sorted(files))])


def differences(one: Path, other: Path) -> set[str]:
    """Return the tables in which two files differ."""
    with closing(sqlite3.connect(one)) as first, closing(sqlite3.connect(other)) as second:
        names = [row[0] for row in first.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = (
            (name, *(sorted(map(repr, file.execute(f'SELECT * FROM "{name}"'))) for file in (first, second)))
            for name in names
        )
        return {name for name, mine, its in rows if mine != its}
