"""Backups and copies: whole or not at all, while others judge; and what becomes of them again."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from store.collection import Collection
from store.db.engine import collection_url
from store.db.files import seal_fault
from store.errors import StoreError
from store.keeping.backup import back_up, look_at_backup, restore
from store.keeping.verify import verify
from store.records import Document, JudgeKind, Topic
from tests.helpers.full_collection import DOCNOS, judge_to_file
from tests.helpers.run import Cli, bytes_of, environment, program, run_inside, run_process
from tests.helpers.strategies import examples
from tests.helpers.world import (
    JudgeAtWork,
    carry,
    change_stored,
    count_rows,
    engine_of,
    meanwhile,
    stored_rows,
)

JUDGES = ("ann", "bob", "cy", "dee")
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.helpers.full_collection"])


def save(place: Path | str, file: Path, *, replaces: bool = False) -> Path:
    """Back a collection up."""
    return back_up(collection_url(str(place)), file, replaces=replaces).file


def bring(file: Path, place: Path, *, replaces: bool = False) -> Path | None:
    """Restore a backup; return the file that has what was there."""
    return restore(file, collection_url(str(place)), replaces=replaces).kept


def is_sealed(file: Path) -> bool:
    """Say whether a file is marked as sealed: by the application's id in the header of a SQLite file."""
    return file.read_bytes()[68:72] == b"pool"


def names(folder: Path) -> list[str]:
    """List a folder, but for what SQLite keeps beside a file that was open."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(("-shm", "-wal")))


def events(name: str) -> set[tuple[str, str, int, int]]:
    """Return judge, docno, revision and grade of every graded event of topic 1."""
    with contextlib.closing(sqlite3.connect(f"file:{name}?mode=ro", uri=True)) as connection:
        return set(
            connection.execute(
                "SELECT j.name, d.docno, e.revision, e.grade FROM judgement e"
                " JOIN judge j ON j.id = e.judge_id JOIN document d ON d.id = e.document_id"
                " WHERE e.grade IS NOT NULL AND e.topic_id = 1"
            )
        )


@contextlib.contextmanager
def four_judges(place: Path) -> Iterator[list[Path]]:
    """Let four processes judge; gives the files in which they note what was acknowledged."""
    stop = place.with_name("stop")
    told = [place.with_name(f"{judge}.told") for judge in JUDGES]
    at_work = [
        processes.Process(target=judge_to_file, args=(str(place), judge, str(file), str(stop)))
        for judge, file in zip(JUDGES, told, strict=True)
    ]
    for one in at_work:
        one.start()
    try:
        end = time.monotonic() + 120
        while not all(file.exists() and file.stat().st_size for file in told):
            assert time.monotonic() < end
            time.sleep(0.01)
        yield told
    finally:
        stop.touch()
        for one in at_work:
            one.join(30)
    assert [one.exitcode for one in at_work] == [0] * len(JUDGES)


def acknowledged(told: list[Path]) -> set[tuple[str, str, int, int]]:
    """Read what was acknowledged so far."""
    found = set()
    for file in told:
        whole = file.read_text("utf-8").rpartition("\n")[0]
        for line in whole.splitlines():
            judge, docno, revision, grade = line.split()
            found.add((judge, docno, int(revision), int(grade)))
    return found


def check_backups_at_work(full: Path, n_backups: int) -> int:
    """Take backups while four processes judge; return how many events the last one has."""
    file = full.with_name("b.backup")
    with four_judges(full) as told:
        for number in range(n_backups):
            before = acknowledged(told)
            made = back_up(collection_url(str(full)), file, replaces=number > 0)
            after_at_most = stored_rows(str(full))["judgement"]
            held = events(str(file))
            assert before <= held
            assert len(held) <= len(after_at_most)
            assert is_sealed(file)
            assert seal_fault(file) is None
            assert not [one for one in verify(collection_url(str(file))) if one.n_faults]
            with Collection(str(file)) as opened:
                assert opened.name == "full"
    assert not list(full.parent.glob(".*"))
    return made.n_events


@pytest.mark.slow
def test_backups_hold_what_was_acknowledged_before(full: Path) -> None:
    """Each of 8 backups taken while 4 processes judge opens, verifies and lacks no judgement."""
    assert check_backups_at_work(full, 8) > 100


@pytest.mark.long
def test_a_hundred_backups_hold_what_was_acknowledged_before(full: Path) -> None:
    """The same of 100 backups."""
    assert check_backups_at_work(full, 100) > 1000


def test_backup_is_of_the_moment_it_began(full: Path) -> None:
    """What is committed after the first look is not in it, not even in part."""
    before = stored_rows(str(full))

    def judge() -> None:
        with Collection(str(full)) as opened:
            JudgeAtWork(opened.desk("dee"), "1").grade("d05", 1)

    with meanwhile("count(*) FROM collection", judge):
        save(full, full.with_name("b.backup"))
    assert stored_rows(str(full.with_name("b.backup"))) == before
    assert stored_rows(str(full)) != before


def test_backup_from_a_server(full: Path, postgres_url: str) -> None:
    """A backup of a PostgreSQL collection is the same file's worth of rows, and can be restored."""
    carry(str(full), postgres_url)
    file = save(postgres_url, full.with_name("b.backup"))
    assert stored_rows(str(file)) == stored_rows(str(full))
    assert is_sealed(file)
    change_stored(postgres_url, "UPDATE collection SET name = 'renamed'")
    with pytest.raises(StoreError, match="backup of another collection, `full`"):
        save(postgres_url, file, replaces=True)
    bring(file, full.with_name("new.db"))
    assert stored_rows(str(full.with_name("new.db"))) == stored_rows(str(full))


@pytest.mark.slow
def test_restored_to_a_server(full: Path, postgres_url: str) -> None:
    """A backup is restored into an empty database, and not into one that has a collection."""
    file = save(full, full.with_name("b.backup"))
    restore(file, collection_url(postgres_url))
    with Collection(postgres_url) as there, Collection(str(full)) as here:
        assert sorted(there.judgements.current(), key=repr) == sorted(here.judgements.current(), key=repr)
    with pytest.raises(StoreError, match="already holds"):
        restore(file, collection_url(postgres_url))
    with pytest.raises(StoreError, match="only a collection file can be replaced") as told:
        restore(file, collection_url(postgres_url), replaces=True)
    assert told.value.hint == "pooler backup saves it; restore into an empty database"


@pytest.mark.slow
def test_what_is_no_backup_stays(full: Path) -> None:
    """A file that is there stays, unless it is an earlier backup of the same collection."""
    file, other = full.with_name("b.backup"), full.with_name("other.db")
    save(full, file)
    shutil.copy(full, other)
    change_stored(str(other), "UPDATE collection SET name = 'other'")
    notes = full.with_name("notes.txt")
    notes.write_text("by hand " * 50)
    empty = full.with_name("empty")
    empty.touch()
    with pytest.raises(StoreError, match="already exists"):
        save(full, file)
    before = {path.name: path.read_bytes() for path in full.parent.iterdir()}
    for there, why in ((other, "a backup of another collection, `other`"),
                       (notes, "is no backup"), (empty, "is no backup"),
                       (full, "is the collection itself")):  # fmt: skip
        with pytest.raises(StoreError, match=why):
            save(full, there, replaces=True)
    assert {path.name: path.read_bytes() for path in full.parent.iterdir()} == before
    for place in (full.with_name("no") / "b", full.parent):
        with pytest.raises(StoreError, match="cannot be written"):
            save(full, place)
    save(full, file, replaces=True)


def test_more_judgements_are_never_replaced_by_fewer(full: Path) -> None:
    """A file with more judgement events than the collection is not taken for an old backup."""
    file = save(full, full.with_name("b.backup"))
    with Collection(str(file)) as worked_on:
        JudgeAtWork(worked_on.desk("dee"), "1").grade("d05", 1)
    with pytest.raises(StoreError, match="has 1 judgement events more"):
        save(full, file, replaces=True)


def test_backup_that_is_worked_on_is_no_longer_sealed(full: Path) -> None:
    """Reading a backup changes no byte of it; the first event takes the seal off."""
    file = save(full, full.with_name("b.backup"))
    before = file.read_bytes()
    with Collection(str(file)) as opened:
        assert opened.judgements.current()
    assert file.read_bytes() == before
    with Collection(str(file)) as opened:
        JudgeAtWork(opened.desk("dee"), "1").grade("d05", 1)
        assert not [one for one in verify(collection_url(str(file))) if one.n_faults]
    assert not is_sealed(file)
    assert not [one for one in verify(collection_url(str(file))) if one.n_faults]


def test_restored_collection_is_the_one_that_was_saved(full: Path) -> None:
    """A restored collection has every row, is not sealed, and can be worked on."""
    file, new = save(full, full.with_name("b.backup")), full.with_name("new.db")
    assert bring(file, new) is None
    assert stored_rows(str(new)) == stored_rows(str(full))
    assert not is_sealed(new)
    with Collection(str(new)) as opened:
        JudgeAtWork(opened.desk("dee"), "1").grade("d05", 1)
    assert is_sealed(file)
    assert seal_fault(file) is None
    with pytest.raises(StoreError, match="already exists"):
        bring(file, new)


def test_what_is_replaced_is_saved_first(full: Path) -> None:
    """Restoring over a collection keeps what was there, its latest judgement too."""
    file = save(full, full.with_name("b.backup"))
    saved = stored_rows(str(full))
    with Collection(str(full)) as opened:
        sitting = JudgeAtWork(opened.desk("dee"), "1")
        sitting.grade("d05", 1)
        with pytest.raises(StoreError, match="`dee` may be judging"):
            bring(file, full, replaces=True)
        sitting.desk.leave()
        worked = stored_rows(str(full))
        # Whoever has it open goes on with what was restored.
        kept = bring(file, full, replaces=True)
        assert len(opened.judgements.current()) > 0
        assert stored_rows(str(full)) == saved
    assert kept == full.with_name("full.db.replaced")
    assert stored_rows(str(kept)) == worked
    assert bring(kept, full, replaces=True) == full.with_name("full.db.replaced-2")
    assert stored_rows(str(full)) == worked
    assert not is_sealed(full)
    assert not [one for one in verify(collection_url(str(full))) if one.n_faults]


def test_left_over_log_is_not_played_into_a_restored_file(full: Path) -> None:
    """The log of a collection that was moved away is named, and nothing is put beside it."""
    file, new = save(full, full.with_name("b.backup")), full.with_name("new.db")
    new.with_name("new.db-wal").write_bytes(b"x" * 5000)
    with pytest.raises(StoreError, match=r"new.db-wal was left by another collection"):
        bring(file, new)
    assert not new.exists()


@pytest.fixture(scope="module")
def sealed(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a backup for the tests that damage copies of it."""
    return save(whole, tmp_path_factory.mktemp("sealed") / "b.backup")


@settings(max_examples=examples(8))
@given(data=st.data())
def test_every_flipped_bit_of_a_backup_is_seen(sealed: Path, data: st.DataObject) -> None:
    """A backup with any one bit flipped is refused, and makes no collection."""
    content = bytearray(sealed.read_bytes())
    bit = data.draw(st.integers(0, len(content) * 8 - 1))
    content[bit // 8] ^= 1 << bit % 8
    damaged, new = sealed.with_name("damaged"), sealed.with_name("new.db")
    damaged.write_bytes(content)
    try:
        with pytest.raises(StoreError):
            bring(damaged, new)
        assert not new.exists()
    finally:
        for path in sealed.parent.glob("damaged*"):
            path.unlink()


@pytest.mark.parametrize("bit", [60 * 8, 63 * 8 + 7, *range(68 * 8, 72 * 8)])
def test_flipped_bit_of_the_seal_is_seen(sealed: Path, tmp_path: Path, bit: int) -> None:
    """The mark of the seal and its checksum confirm each other."""
    content = bytearray(sealed.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    (tmp_path / "damaged").write_bytes(content)
    with pytest.raises(StoreError, match=r"its seal is broken|its checksum does not match"):
        look_at_backup(tmp_path / "damaged")


@pytest.mark.slow
def test_three_places_export_the_same_bytes(full: Path, tmp_path: Path, postgres_url: str) -> None:
    """SQLite, PostgreSQL and SQLite again: all rows with their ids, and the same export."""
    first, last = str(full), str(tmp_path / "last.db")
    carry(first, postgres_url)
    carry(postgres_url, last)
    assert stored_rows(last) == stored_rows(first)
    assert count_rows(postgres_url) == count_rows(first)
    exports = []
    for number, name in enumerate((first, postgres_url, last)):
        run_inside("export", "collection", tmp_path / str(number), "--collection", name).fine()
        exports.append(bytes_of(tmp_path / str(number)))
    assert len(exports[0]) > 15
    assert exports[0] == exports[1] == exports[2]
    for name in (first, postgres_url, last):
        assert not [one for one in verify(collection_url(name)) if one.n_faults]


@pytest.mark.slow
def test_work_goes_on_at_the_copy(full: Path, tmp_path: Path, postgres_url: str) -> None:
    """What is added to a copy gets the next row ids, of every table that counts them."""
    name = str(full)
    carry(name, postgres_url)
    highest = {}
    with engine_of(name) as engine, engine.connect() as connection:
        for table in ("topic", "document", "judge", "judgement", "sitting", "guideline"):
            query = text(f"SELECT max(id) FROM {table}")
            highest[table] = connection.execute(query).scalar_one()
    with Collection(postgres_url) as opened:
        opened.topics.add([Topic("99")])
        opened.documents.add([Document("new", "new", "new")], all_texts=True)
        opened.judges.add("eve", JudgeKind.HUMAN)
        opened.guidelines.add("# Three\n")
        JudgeAtWork(opened.desk("dee"), "1").grade(DOCNOS[0], 2)
    with engine_of(postgres_url) as engine, engine.connect() as connection:
        for table in highest:
            ids = sorted(connection.execute(text(f"SELECT id FROM {table}")).scalars())
            assert ids == list(range(1, highest[table] + 2)), table


def test_empty_collection_is_copied(full: Path, tmp_path: Path, postgres_url: str) -> None:
    """A collection without a row but its own begins to count at 1 where it is copied to."""
    name = str(full)
    for table in (*("passage", "answer", "model_judge", "judgement", "sitting", "assignment", "judge"),):
        change_stored(name, f"DELETE FROM {table}")
    carry(name, postgres_url)
    with Collection(postgres_url) as opened:
        opened.judges.add("eve", JudgeKind.HUMAN)
    assert [row[0] for row in stored_rows(postgres_url)["judge"]] == [1]


def test_value_that_does_not_fit_leaves_nothing(full: Path, tmp_path: Path, postgres_url: str) -> None:
    """What PostgreSQL cannot hold is named, and no table is left there."""
    name = str(full)
    change_stored(name, "UPDATE sitting SET host = 'a' || char(0) || 'b' WHERE id = 1")
    with pytest.raises(StoreError, match=r"cannot take a value: .*NUL") as told:
        carry(name, postgres_url)
    assert "nothing was copied" in (told.value.hint or "")
    assert stored_rows(postgres_url) == {}


def test_one_state_is_copied(full: Path, tmp_path: Path, postgres_url: str) -> None:
    """What is judged while a server's collection is copied or backed up is not half in it."""
    name = str(full)
    carry(name, postgres_url)
    before = stored_rows(name)

    def judge() -> None:
        with Collection(postgres_url) as opened:
            JudgeAtWork(opened.desk("dee"), "1").grade("d07", 2)

    with meanwhile("CREATE TABLE judgement", judge):
        made = back_up(collection_url(postgres_url), tmp_path / "b.backup")
    assert made.n_events == len(before["judgement"])
    assert stored_rows(str(tmp_path / "b.backup")) == before
    assert count_rows(postgres_url)["judgement"] == len(before["judgement"]) + 1


def test_interrupted_copy_says_nothing_more(
    full: Path, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in the middle of a table leaves no reader behind that outlives its connection."""

    @contextlib.contextmanager
    def interrupted(_what: str, _total: int) -> Iterator[Callable[[int], None]]:
        def advance(_n: int) -> None:
            raise KeyboardInterrupt

        yield advance

    said: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    source, target = full, tmp_path / "to.db"
    carry(source, postgres_url)
    with pytest.raises(KeyboardInterrupt):
        back_up(collection_url(postgres_url), target, progress=interrupted)
    gc.collect()
    assert said == []
    assert not target.exists()


def test_backup_and_restore(cli: Cli, judged: Path) -> None:
    """A backup says how much it holds; a restored collection exports the same."""
    said = cli("backup", "monday.backup").fine()
    assert said.out == ""
    assert "monday.backup: 252 judgement events, 0." in said.err
    assert "checked and sealed" in said.err
    qrels = cli("export", "qrels", "strict").fine().out
    cli("import", "judgements", "judgements/strict.qrels", "--judge", "late").fine()
    assert "252 judgement events of monday.backup" in cli(
        "restore", "monday.backup", "--collection", "new.db").fine().err  # fmt: skip
    for place in ("new.db", "collection.db"):
        assert cli("export", "qrels", "strict", "--collection", place).out == qrels
    refused = cli("restore", "monday.backup").failed(3)
    assert "--replace saves it" in refused.err
    said = cli("restore", "monday.backup", "--replace").fine()
    assert "what was there is saved in collection.db.replaced" in said.err
    cli("export", "qrels", "late").failed(1)
    cli("export", "qrels", "late", "--collection", "collection.db.replaced").fine()


def test_damaged_file_is_put_aside(cli: Cli, judged: Path) -> None:
    """What to do about a damaged collection is said, and works as it is said."""
    cli("backup", "b").fine()
    place = judged / "collection.db"
    place.write_bytes(place.read_bytes()[:50_000])
    told = cli("status").failed(3)
    assert "the database file is damaged" in told.err
    assert "pooler restore BACKUP --replace" in told.err
    said = cli("restore", "b", "--replace").fine()
    assert "what was there is damaged; it is kept as it was in collection.db.damaged" in said.err
    cli("verify").fine()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "part", "sent", "code"),
    [
        ("backup new", ".new.*.part", signal.SIGINT, 130),
        ("backup new", ".new.*.part", signal.SIGTERM, 143),
        ("restore b --replace", ".collection.db.*.part", signal.SIGINT, 130),
    ],
    ids=["backup-ctrl-c", "backup-kill", "restore-ctrl-c"],
)
def test_interrupt_leaves_nothing(
    judged: Path, words: str, part: str, sent: signal.Signals, code: int
) -> None:
    """Ctrl-C or `kill`: its exit code, no file that was not there, and the collection as it was."""
    with contextlib.closing(sqlite3.connect(judged / "collection.db")) as connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)"
            " INSERT INTO document (docno, listed) SELECT 'x' || i, 0 FROM n"
        )
        connection.commit()
    (judged / "b").write_bytes((judged / "collection.db").read_bytes())
    before, status = names(judged), run_process("status", folder=judged).stdout
    process = subprocess.Popen(
        [*program(), *words.split()], cwd=judged, env=environment({}), stderr=subprocess.PIPE
    )
    end = time.monotonic() + 30
    while not list(judged.glob(part)):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.001)
    os.kill(process.pid, sent)
    _, told = process.communicate(timeout=60)
    assert process.returncode == code, told
    assert b"Traceback" not in told
    assert names(judged) == before
    assert run_process("status", folder=judged).stdout == status


AT_THE_DOOR = """
import contextlib, sys
from pooler.cli.main import main
from pooler.interrupts import Interrupted
enter = contextlib._GeneratorContextManager.__enter__
def interrupted(self):
    made = enter(self)
    if self.gen.gi_code.co_name == "part_beside":
        raise Interrupted
    return made
contextlib._GeneratorContextManager.__enter__ = interrupted
sys.argv = ["pooler", "backup", "new"]
main()
"""
"""A program interrupted when a part of a file is made, and the block that removes it is not begun."""


def test_interrupt_before_a_block_begins_leaves_no_part_of_a_file(judged: Path) -> None:
    """Of Python's steps between the two, one acts on signals."""
    before = names(judged)
    ended = subprocess.run(
        [sys.executable, "-c", AT_THE_DOOR], cwd=judged, env=environment({}), capture_output=True, check=False
    )
    assert (ended.returncode, names(judged)) == (130, before), ended.stderr


def test_empty_file_and_damaged_backup_are_told_as_such(cli: Cli, judged: Path) -> None:
    """An empty file is called empty; of a damaged backup another one is advised."""
    (judged / "empty.db").touch()
    told = cli("status", "--collection", "empty.db").failed(3)
    assert "empty.db is not a pooler collection: the file is empty" in told.err
    cli("backup", "b").fine()
    content = (judged / "b").read_bytes()
    (judged / "b").write_bytes(content[:50_000])
    told = cli("restore", "b", "--collection", "new.db").failed(3).err
    assert "restore another backup" in told
    assert "--replace" not in told
    (judged / "x.txt").write_text("hello\n")
    assert cli("restore", "x.txt", "--collection", "new.db").failed(3).err == (
        "error: x.txt is not a pooler collection\n"
        "hint: restore another backup: a file that pooler backup made\n"
    )
    assert "there is no backup at no" in cli("restore", "no").failed(3).err
    assert not (judged / "new.db").exists()


def test_erased_judge_does_not_come_back_unasked(cli: Cli, judged: Path) -> None:
    """A backup from before a judge was erased replaces the collection only with `--with-erased`."""
    cli("backup", "b").fine()
    cli("judges", "erase", "strict", "--yes").fine()
    told = cli("restore", "b", "--replace").failed(3).err
    assert "b still has 1 judge who was erased in collection.db" in told
    assert "pooler judges erase NAME" in told
    cli("restore", "b", "--replace", "--with-erased").fine()
    cli("export", "qrels", "strict").fine()
    cli("judges", "erase", "strict", "--yes").fine()


def test_database_of_another_program_is_kept(cli: Cli, judged: Path) -> None:
    """It is not taken for a damaged collection, which `restore` would put aside."""
    cli("backup", "b").fine()
    other = judged / "other.db"
    with contextlib.closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE song (name TEXT)")
    before = other.read_bytes()
    told = cli("restore", "b", "--replace", "--collection", "other.db").failed(3)
    assert "hint: name another place with --collection, or move it away\n" in told.err
    assert other.read_bytes() == before
    other.rename(judged / "songs.db")
    cli("restore", "b", "--replace", "--collection", "other.db").fine()


def test_backup_in_use_is_not_replaced(cli: Cli, judged: Path) -> None:
    """What has it open keeps it; once it is closed it gives way."""
    cli("backup", "b").fine()
    with contextlib.closing(sqlite3.connect(judged / "b")) as connection:
        connection.execute("SELECT * FROM judge").fetchall()
        told = cli("backup", "b", "--replace").failed(3)
    assert told.err == "error: b is in use\nhint: close what has it open, or name another file\n"
    cli("backup", "b", "--replace").fine()
