"""`pooler backup` and `pooler restore`: what users see, and what is left after Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers.run import Cli, environment, program, run_process


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


def test_existing_files_stay(cli: Cli, judged: Path) -> None:
    """A file that is there is replaced only on request, and only if it is such a backup."""
    cli("backup", "runs.tsv").failed(3)
    before = (judged / "runs.tsv").read_bytes()
    assert "is no backup" in cli("backup", "runs.tsv", "--replace").failed(3).err
    assert (judged / "runs.tsv").read_bytes() == before
    cli("backup", "b").fine()
    assert "--replace" in cli("backup", "b").failed(3).err
    cli("backup", "b", "--replace").fine()
    cli("backup", "no/b").failed(3)
    cli("restore", "none.backup", "--collection", "new.db").failed(3)


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
    ("words", "sent", "code"), [(("backup", "b"), signal.SIGINT, 130), (("backup", "b"), signal.SIGTERM, 143)]
)
def test_interrupt_leaves_nothing(
    judged: Path, words: tuple[str, ...], sent: signal.Signals, code: int
) -> None:
    """Ctrl-C or `kill` during a backup: its exit code, and no file that was not there."""
    with contextlib.closing(sqlite3.connect(judged / "collection.db")) as connection:
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)"
            " INSERT INTO document (docno, listed) SELECT 'x' || i, 0 FROM n"
        )
        connection.commit()
    before = sorted(path.name for path in judged.iterdir())
    process = subprocess.Popen([*program(), *words], cwd=judged, env=environment({}), stderr=subprocess.PIPE)
    end = time.monotonic() + 30
    while not list(judged.glob(".b.*.part")):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.001)
    os.kill(process.pid, sent)
    _, told = process.communicate(timeout=60)
    assert process.returncode == code, told
    assert b"Traceback" not in told
    assert sorted(path.name for path in judged.iterdir()) == before


@pytest.mark.slow
def test_ctrl_c_during_a_restore_leaves_the_collection(judged: Path) -> None:
    """Ctrl-C while a collection is replaced leaves it as it was."""
    assert run_process("backup", "b", folder=judged).returncode == 0
    with contextlib.closing(sqlite3.connect(judged / "b")) as connection:
        connection.execute("PRAGMA application_id = 0")
        connection.execute("PRAGMA user_version = 0")
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)"
            " INSERT INTO document (docno, listed) SELECT 'x' || i, 0 FROM n"
        )
        connection.commit()
    before = run_process("status", "--table", "status", "--format", "json", folder=judged).stdout
    process = subprocess.Popen(
        [*program(), "restore", "b", "--replace"], cwd=judged, env=environment({}), stderr=subprocess.PIPE
    )
    end = time.monotonic() + 30
    while not list(judged.glob(".collection.db.*.part")):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert run_process("status", "--table", "status", "--format", "json", folder=judged).stdout == before
    assert not list(judged.glob(".*.part"))


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


def test_what_is_no_backup_is_told_what_one_is(cli: Cli, here: Path) -> None:
    """Restoring a text does not advise to restore."""
    (here / "x.txt").write_text("hello\n")
    told = cli("restore", "x.txt", "--collection", "new.db").failed(3)
    assert told.err == (
        "error: x.txt is not a pooler collection\n"
        "hint: restore another backup: a file that pooler backup made\n"
    )


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
