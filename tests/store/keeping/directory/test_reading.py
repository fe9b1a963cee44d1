"""Reading a directory: whatever was done to it, it is refused by file and line."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.errors import PoolerError, SchemaError, StoreError
from store.keeping.directory.read import read_directory
from store.keeping.directory.tables import ExportChoice
from store.keeping.directory.write import write_directory
from store.records import Document, JudgeKind, Qrel, Topic
from tests.helpers.world import JudgeAtWork, count_rows, make_pool, make_run, parse_scale


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Export a small collection."""
    where = str(tmp_path / "old.db")
    with Collection.create(where, name="x", scale=parse_scale("0-2"), program="p 1") as made:
        made.topics.add([Topic("1", "one"), Topic("2", "two")])
        made.runs.add(make_run("bm25", {"1": [("a", 2.0), ("b", 1.5)], "2": [("a", 1.0)]}))
        made.pools.add(make_pool({"1": ["a", "b"], "2": ["a"]}, run_tags=("bm25",)))
        made.documents.add([Document("a", "A", "text of a"), Document("b", "B", "text of b")])
        made.judgements.add({"ann": [Qrel("1", "a", 2), Qrel("1", "b", 0)]}, JudgeKind.HUMAN)
        made.guidelines.add("# Judge\n")
        write_directory(made.as_it_stands(), tmp_path / "out", ExportChoice(), program="p 1")
    return tmp_path / "out"


def refused(folder: Path, match: str) -> str:
    """Return the message of the refusal, after which there is nothing new."""
    before = sorted(folder.parent.iterdir())
    with pytest.raises(PoolerError, match=match) as caught:
        read_directory(str(folder.parent / "new.db"), folder)
    assert sorted(folder.parent.iterdir()) == before
    return caught.value.message


def sign(folder: Path, change: Callable[[dict[str, Any]], None] = lambda _data: None) -> None:
    """Make the manifest say what is in the files, and change it, as a forger would."""
    path = folder / "manifest.json"
    data = json.loads(path.read_text("utf-8"))
    for name, facts in data["files"].items():
        content = (folder / name).read_bytes()
        facts |= {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    change(data)
    data.pop("sha256")
    data["sha256"] = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(data), "utf-8")


def edit(folder: Path, name: str, old: str, new: str) -> None:
    """Replace a part of a file and sign the directory."""
    content = (folder / name).read_text("utf-8")
    assert old in content
    (folder / name).write_text(content.replace(old, new, 1), "utf-8", newline="\n")
    sign(folder)


def test_one_byte_changed_anywhere_is_named(folder: Path) -> None:
    """Whichever file has one byte changed, or more or less of them, is named; the README is not."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert len(files) > 12
    for path in files:
        name = path.relative_to(folder).as_posix()
        content = path.read_bytes()
        for changed in (bytes([content[0] ^ 1]) + content[1:], content + b"\n", content[:-1]):
            path.write_bytes(changed)
            if name == "README.md":
                continue
            if name == "manifest.json" and changed[1:] == content[1:]:
                refused(folder, "manifest.json:1: expected JSON")
            elif name != "manifest.json":
                refused(folder, f"{name}: expected (another hash|[0-9,]+ bytes)")
        path.write_bytes(content)
    read_directory(str(folder.parent / "new.db"), folder)


def test_any_change_of_the_manifest_is_seen(folder: Path) -> None:
    """The manifest holds its own hash: a name or a count in it cannot be changed unseen."""
    path = folder / "manifest.json"
    path.write_text(path.read_text("utf-8").replace('"name": "x"', '"name": "y"'), "utf-8")
    refused(folder, "manifest.json: expected its own hash")


def test_edited_readme_is_no_fault(folder: Path) -> None:
    """The publisher's README is told apart, and read by nobody."""
    (folder / "README.md").write_text("licence: CC0", "utf-8")
    assert read_directory(str(folder.parent / "new.db"), folder).readme_edited


def test_files_of_somebody_else_are_named_and_not_read(folder: Path) -> None:
    """What lies in the directory and is not of the export is told, and is no fault."""
    (folder / "LICENSE").write_text("CC0", "utf-8")
    (folder / "qrels" / "mine.qrels").write_text("1 0 a 0\n", "utf-8")
    (folder / "notes").mkdir()
    (folder / "notes" / "a").write_text("x", "utf-8")
    read = read_directory(str(folder.parent / "new.db"), folder)
    assert read.not_read == ["LICENSE", "notes", "qrels/mine.qrels"]
    assert not read.readme_edited


def test_all_damaged_files_are_named_at_once(folder: Path) -> None:
    """Every file that is missing or another one is told, not the first one alone."""
    (folder / "topics.jsonl").unlink()
    (folder / "pools.tsv").write_bytes(b"")
    message = refused(folder, "topics.jsonl: expected a file, and there is none")
    assert "pools.tsv: expected" in message


@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "runs/../../secret", "a\\b", "C:x", "runs/", "", ".x", "x/"]
)
def test_path_outside_is_refused(folder: Path, path: str) -> None:
    """A manifest that lists a file elsewhere is refused before anything is opened."""
    secret = folder.parent / "secret"
    secret.write_text("x", "utf-8")
    sign(folder, lambda data: data["files"].update({path: {"sha256": "0", "bytes": 1}}))
    refused(folder, "manifest.json: `files`: expected a file in the directory")


def test_table_that_names_a_file_elsewhere_is_refused(folder: Path) -> None:
    """Files are read when the manifest lists them, whatever a table says."""
    (folder.parent / "secret").write_text("x", "utf-8")
    edit(folder, "runs.tsv", "runs/bm25.run", "../secret")
    refused(folder, r"runs.tsv:2: expected a file of the manifest, each once, got '../secret'")


@pytest.mark.parametrize("name", ["topics.jsonl", "runs/bm25.run", "runs"])
def test_link_is_refused(folder: Path, name: str) -> None:
    """A link in place of a file or folder is refused, even to the same content."""
    path, elsewhere = folder / name, folder.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    refused(folder, "expected a file, got a link")


def test_pipe_is_refused(folder: Path) -> None:
    """What is no file is not opened: reading from it might never end."""
    (folder / "topics.jsonl").unlink()
    os.mkfifo(folder / "topics.jsonl")
    refused(folder, "topics.jsonl: expected a file, got something else")


@pytest.mark.parametrize(
    ("name", "old", "new", "match"),
    [
        ("runs/bm25.run", "1 Q0 a 1", "1 Q0 x 1", "bm25.run:1: unknown docno `x`"),
        ("runs/bm25.run", "2 Q0 a", "3 Q0 a", "bm25.run:3: unknown topic `3`"),
        ("runs/bm25.run", "1.5", "nan", "bm25.run:2: expected a finite number, got 'nan'"),
        ("runs/bm25.run", "1.5", "1_5", "bm25.run:2: expected a finite number"),
        ("runs/bm25.run", " 2 1.5", " 2", "bm25.run:2: expected 6 fields"),
        ("runs/bm25.run", "1 Q0 b", "1 Q0 a", "bm25.run:2: expected each docno once a topic"),
        ("runs/bm25.run", "b 2 1.5", "b - 1.5", "bm25.run:1: expected ranks in all lines"),
        ("runs/bm25.run", "1.5 bm25", "1.5 bm26", "bm25.run:2: expected the tag `bm25`"),
        ("topics.jsonl", '"2"', '"1"', "topics.jsonl:2: expected each id once, got `1` again"),
        ("topics.jsonl", '"2"', '"#2"', "topics.jsonl:2: expected a topic that does not begin"),
        ("topics.jsonl", '"one"', "7", "topics.jsonl:1: `title`: expected another kind"),
        ("documents.jsonl", "text of b", "text", "documents.jsonl:2: expected the hash of title"),
        ("pools/pool.tsv", "1\tb\t", "1\tz\t", "pool.tsv:3: unknown docno `z`"),
        ("pools/pool.tsv", "1\tb\t", "1\ta\t", "pool.tsv:3: expected each document once a topic"),
        ("pools/pool.json", '"bm25"', '"bm26"', "pool.json: expected tags of runs"),
        ("judges.tsv", "human", "robot", "judges.tsv:2: `kind`: expected one of human, model"),
        ("judges.tsv", "judge\tkind", "kind\tjudge", "judges.tsv:1: expected the columns judge"),
        ("judgements.jsonl", '"grade": 2', '"grade": 3', "judgements.jsonl:1: expected a grade of"),
        ("judgements.jsonl", '"ann"', '"eve"', "judgements.jsonl:1: unknown judge `eve`"),
        ("judgements.jsonl", '"revision": 1', '"revision": 2', "judgements.jsonl:1: expected rev"),
        ("judgements.jsonl", '"sitting": null', '"sitting": 1', "jsonl:1: unknown sitting 1"),
    ],
)
def test_fault_is_told_by_file_and_line(folder: Path, name: str, old: str, new: str, match: str) -> None:
    """A file that was changed together with its hash is refused where it says what cannot be."""
    edit(folder, name, old, new)
    refused(folder, match)


def test_faults_of_several_files_are_told_together(folder: Path) -> None:
    """Reading goes on after a fault, so that one attempt shows all of them."""
    edit(folder, "runs/bm25.run", "1.5", "nan")
    edit(folder, "judgements.jsonl", '"grade": 2', '"grade": 3')
    message = refused(folder, "bm25.run:2")
    assert "judgements.jsonl:1: expected a grade" in message


def test_place_that_is_taken_is_left_alone(folder: Path) -> None:
    """A collection is made where there is none."""
    old = folder.parent / "old.db"
    before = count_rows(str(old))
    with pytest.raises(StoreError, match=r"old.db already exists"):
        read_directory(str(old), folder)
    assert count_rows(str(old)) == before


def test_fault_leaves_no_tables_on_a_server(folder: Path, postgres_url: str) -> None:
    """After a refusal the database is as empty as before, and takes the corrected directory."""
    edit(folder, "runs/bm25.run", "1.5", "nan")
    with pytest.raises(PoolerError, match=r"bm25.run:2"):
        read_directory(postgres_url, folder)
    edit(folder, "runs/bm25.run", "nan", "1.5")
    read_directory(postgres_url, folder)
    with Collection(postgres_url) as opened:
        assert len(opened.judgements.current()) == 2
    with pytest.raises(StoreError, match="already holds a collection"):
        read_directory(postgres_url, folder)
    with Collection(postgres_url) as opened:
        assert len(opened.judgements.current()) == 2


@pytest.mark.parametrize("label", ["files", "documents", "runs", "judgements"])
def test_interrupt_leaves_nothing(folder: Path, label: str) -> None:
    """Ctrl-C while anything is read leaves no file behind."""

    class PressedError(BaseException):
        """Stands for Ctrl-C, which is no Exception either."""

    @contextmanager
    def press(at: str, _total: int) -> Iterator[Callable[[int], None]]:
        if at == label:
            raise PressedError
        yield lambda _steps: None

    progress: Callable[[str, int], AbstractContextManager[Callable[[int], None]]] = press
    before = sorted(folder.parent.iterdir())
    with pytest.raises(PressedError):
        read_directory(str(folder.parent / "new.db"), folder, progress=progress)
    assert sorted(folder.parent.iterdir()) == before


def test_newer_format_is_refused(folder: Path) -> None:
    """A directory of a newer program is told from a damaged one."""
    sign(folder, lambda data: data.update(format_version=3))
    with pytest.raises(SchemaError, match="newer format 3"):
        read_directory(str(folder.parent / "new.db"), folder)


def test_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    """A folder without a manifest, or none at all, is said to be one."""
    with pytest.raises(PoolerError, match="there is no such folder"):
        read_directory(str(tmp_path / "new.db"), tmp_path / "none")
    with pytest.raises(PoolerError, match=r"there is no manifest.json"):
        read_directory(str(tmp_path / "new.db"), tmp_path)


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    """Export a collection with a topic of three versions, an erased judge, and one renamed."""
    where = str(tmp_path / "old.db")
    with Collection.create(where, name="x", scale=parse_scale("0-2"), program="p 1") as made:
        for title in ("one", "two", "three"):
            made.topics.add([Topic("1", title)], replace=True)
        made.pools.add(make_pool({"1": ["a"]}))
        for judge in ("ann", "bob"):
            made.judges.add(judge, JudgeKind.HUMAN)
            desk = made.desk(judge)
            desk.topic("1")
            JudgeAtWork(desk, "1").grade("a", 1)
            desk.leave()
        made.erasures.erase("bob")
        made.judges.rename("ann", "anna")
        write_directory(made.as_it_stands(), tmp_path / "out", ExportChoice(), program="p 1")
    return tmp_path / "out"


def test_versions_and_erasures_come_back(lived: Path) -> None:
    """Every text, the version each judgement was made by, the tombstone, and who is who."""
    assert "Erased: 1 judgement of an erased judge removed" in (lived / "README.md").read_text()
    read_directory(str(lived.parent / "new.db"), lived)
    with Collection(str(lived.parent / "old.db")) as old, Collection(str(lived.parent / "new.db")) as new:
        assert new.details.topic("1") == old.details.topic("1")
        assert [one.topic.title for one in new.details.topic("1").versions] == [
            "one", "two", "three",
        ]  # fmt: skip
        assert [event.topic_version for event in new.judgements.history()] == [3]
        assert new.erasures.all() == old.erasures.all()
        assert len(new.erasures.all()) == 1


def test_directory_of_before_is_read_as_it_is(lived: Path) -> None:
    """Without versions, identities and tombstones, as programs wrote it that knew none."""
    path = lived / "topics.jsonl"
    one = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({key: one[key] for key in list(one)[:5]}) + "\n", "utf-8")
    path = lived / "judges.tsv"
    rows = [line.split("\t")[:4] for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    path = lived / "judgements.jsonl"
    event = json.loads(path.read_text("utf-8"))
    old_event = {key: value for key, value in event.items() if key != "topic_version"}
    path.write_text(json.dumps(old_event) + "\n", "utf-8")

    def as_before(data: dict[str, Any]) -> None:
        for name in ("erasures.tsv", "topic_versions.jsonl"):
            del data["files"][name]
        for name in ("erasures", "erased_judgements", "topic_versions"):
            del data["counts"][name]

    sign(lived, as_before)
    read_directory(str(lived.parent / "new.db"), lived)
    with Collection(str(lived.parent / "new.db")) as new:
        assert [one.version for one in new.details.topic("1").versions] == [1]
        assert new.erasures.all() == []
        assert len(new.judgements.current(["anna"])) == 1


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("topic_versions.jsonl", '"version": 2', '"version": 3', "2: expected a version before 3"),
        ("topic_versions.jsonl", '"version": 2', '"version": 1', "2: expected each version once"),
        ("topic_versions.jsonl", '"topic": "1"', '"topic": "9"', "1: unknown topic `9`"),
        ("topics.jsonl", '"version": 3', '"version": 4', "expected 3 earlier texts of `1`, got 2"),
        ("topics.jsonl", '"version": 3', '"version": 0', "1: `version`: expected a number from 1"),
        ("judgements.jsonl", '"topic_version": 3', '"topic_version": 4', "1: unknown version 4 of"),
        ("erasures.tsv", "\thuman\t1\t", "\thuman\t2\t", "2: expected at least 2 events, got 1"),
    ],
)
def test_fault_of_versions_and_erasures_is_told(
    lived: Path, file: str, old: str, new: str, message: str
) -> None:
    """Versions without gaps, of topics that are there; no more judgements gone than events."""
    edit(lived, file, old, new)
    assert message in refused(lived, "expected|unknown")


def test_identity_is_one_judges(lived: Path) -> None:
    """A judge who is there cannot be an erased one."""
    uid = (lived / "erasures.tsv").read_text("utf-8").split()[-1]
    own = (lived / "judges.tsv").read_text("utf-8").splitlines()[1].split("\t")[4]
    edit(lived, "erasures.tsv", uid, own)
    assert f"2: expected each uid once, got {own} again" in refused(lived, "erasures.tsv")
