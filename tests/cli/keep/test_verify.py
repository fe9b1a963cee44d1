"""`pooler verify`, and what every command says of a file that is damaged."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers.run import Cli, by_rule
from tests.helpers.world import change_stored

READERS = (
    ("status",),
    ("status", "effort"),
    ("show", "runs"),
    ("show", "topics"),
    ("show", "docs"),
    ("show", "pools"),
    ("show", "runs", "bm25-words"),
    ("show", "topics", "G01"),
    ("show", "docs", "KG-E-002"),
    ("show", "judges", "strict"),
    ("history", "G01", "KG-E-002"),
    ("show", "judges"),
    ("show", "guidelines"),
    ("diagnose", "--qrels", "strict", "--table", "depths", "--depth", "5"),
    ("status", "outdated"),
    ("agreement",),
    ("adjudicate",),
    ("evaluate", "-m", "AP", "--qrels", "strict"),
    ("sensitivity", "--depth", "5", "--qrels", "strict"),
    ("export", "qrels", "strict"),
    ("export", "judgements"),
    ("export", "pool"),
    ("export", "collection", "exported"),
    ("pool", "--depth", "3", "--name", "second"),
    ("import", "runs", "runs/bm25-words.run"),
    ("import", "topics", "topics.jsonl"),
    ("judge", "--judge", "strict", "--plain"),
    ("backup", "b.backup"),
    ("verify",),
    ("upgrade",),
)
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
    for words in READERS:
        if words == ("upgrade",) and kind == "a page":
            continue  # of a collection that is up to date it reads no more than that
        said = cli(*words, stdin=b"q\n")
        assert "Traceback" not in said.err
        if words == ("verify",) and kind == "a page":
            assert (said.code, "what to do: restore a backup" in said.out) == (1, True)
            continue
        assert said.code == 3, (words, said)
        error, hint = said.err.splitlines()[-2:]
        assert error.startswith("error: ")
        assert hint.startswith("hint: ")
        assert "restore" in hint
        for name in ("b.backup", "copied.db", "exported"):
            assert not (judged / name).exists()
    assert (judged / "collection.db").read_bytes() == damaged


def cuts(size: int) -> list[int]:
    """Choose lengths to cut a file to: in the header, at ends of pages, beside them, anywhere."""
    dice = random.Random(size)
    return [1, 16, 99, 100, 101, 4095, 4096, 4097, 40_000, 40_960, size - 4096, size - 4097,
            size - 100, size - 1, *(dice.randrange(1, size) for _ in range(4))]  # fmt: skip


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


def test_restore_says_what_is_wrong_with_a_backup(cli: Cli, judged: Path) -> None:
    """A flipped bit of a backup is told in one line, with what to do; the collection stays."""
    cli("backup", "b").fine()
    content = bytearray((judged / "b").read_bytes())
    content[len(content) * 5 // 8] ^= 4
    (judged / "b").write_bytes(content)
    before = (judged / "collection.db").read_bytes()
    told = cli("restore", "b", "--replace").failed(3).err.splitlines()
    assert told[-2].startswith("error: b: the database file is damaged: ")
    assert told[-1] == "hint: restore another backup: a file that pooler backup made"
    assert (judged / "collection.db").read_bytes() == before
    assert cli("verify", "--collection", "b").code == 1


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
