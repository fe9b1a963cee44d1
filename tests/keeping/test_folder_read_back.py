"""A folder is read back: the same collection, the same bytes; refused by file and line after any change."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import inspect, text

from store.collection import Collection
from store.db.engine import writing
from store.errors import PoolerError, SchemaError, StoreError
from store.grades.definition import QrelsDefinition
from store.keeping.directory import ExportChoice, read_directory, write_directory
from store.records import Document, JudgeKind, Qrel, Topic
from tests.helpers.full_collection import fill, fill_by_chance, named_contents
from tests.helpers.run import bytes_of
from tests.helpers.strategies import examples
from tests.helpers.world import JudgeAtWork, count_rows, engine_of, make_pool, make_run, parse_scale


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Export a small collection."""
    where = str(tmp_path / "old.db")
    with Collection.create(where, name="x", scale=parse_scale("0-2"), program="p 1") as made:
        made.topics.add([Topic("1", "one"), Topic("2", "two")])
        made.runs.add(make_run("bm25", {"1": [("a", 2.0), ("b", 1.5)], "2": [("a", 1.0)]}, sha256="0" * 64))
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
    for name in data["files"]:
        data["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    change(data)
    path.write_text(json.dumps(data), "utf-8")


def edit(folder: Path, table: str, old: str, new: str) -> None:
    """Replace a part of the file of a table and sign the directory."""
    name = f"tables/{table}.jsonl"
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
                refused(folder, "manifest.json: expected a JSON object")
            elif name != "manifest.json":
                refused(folder, f"{name}: expected another hash")
        path.write_bytes(content)
    read_directory(str(folder.parent / "new.db"), folder)


def test_change_of_a_count_in_the_manifest_is_seen(folder: Path) -> None:
    """The rows of every table are counted again."""
    path = folder / "manifest.json"
    path.write_text(path.read_text("utf-8").replace('"judgement": 2', '"judgement": 3'), "utf-8")
    refused(folder, "judgement.jsonl: expected 3 rows, as the manifest has it, got 2")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("counts", {"topic": float("inf")}),
        ("counts", {"topic": "2"}),
        ("counts", [["topic", 2]]),
        ("counts", None),
        ("files", [["topics.jsonl", "0"], [2, "0"]]),
        ("files", "ab"),
        ("options", []),
    ],
)
def test_manifest_of_another_shape_is_refused(folder: Path, key: str, value: object) -> None:
    """Whatever stands in the place of hashes and counts, it is a fault of the manifest, in one line."""
    path = folder / "manifest.json"
    data = json.loads(path.read_text("utf-8")) | {key: value}
    path.write_text(json.dumps(data).replace("Infinity", "1e400"), "utf-8")
    refused(folder, "manifest.json: expected ")


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("pool", "manifest", "null"),
        ("pool", "manifest", '{"runs": [1]}'),
        ("pool", "manifest", '{"parameters": 5}'),
        ("pool", "manifest", "[" * 5000),
        ("qrels", "rule", "[]"),
        ("qrels", "rule", "[" * 5000),
        ("collection", "scale", "[" * 5000),
    ],
)
def test_json_of_another_shape_is_refused(folder: Path, table: str, column: str, value: str) -> None:
    """A forger's JSON in a column of text would end later commands in a traceback."""
    path = folder / "tables" / f"{table}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows[0][column] = value
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8", newline="\n")
    sign(folder)
    refused(folder, "tables: ")


def test_what_is_the_publishers_is_not_read(folder: Path) -> None:
    """The README may be edited, and other files lie beside the export: neither is a fault."""
    (folder / "README.md").write_text("licence: CC0", "utf-8")
    (folder / "LICENSE").write_text("CC0", "utf-8")
    (folder / "qrels" / "mine.qrels").write_text("1 0 a 0\n", "utf-8")
    where, counts = read_directory(str(folder.parent / "new.db"), folder)
    assert (where, counts["judgement"]) == (str(folder.parent / "new.db"), 2)


def test_all_damaged_files_are_named_at_once(folder: Path) -> None:
    """Every file that is missing or another one is told, not the first one alone."""
    (folder / "topics.jsonl").unlink()
    (folder / "tables" / "pool.jsonl").write_bytes(b"")
    message = refused(folder, "topics.jsonl: expected a file, and there is none")
    assert "pool.jsonl: expected" in message


@pytest.mark.parametrize(
    "path", ["../secret", "/etc/passwd", "runs/../../secret", "a\\b", "C:x", "runs/", "", ".x", "x/", "x."]
)
def test_path_outside_is_refused(folder: Path, path: str) -> None:
    """A manifest that lists a file elsewhere is refused before anything is opened."""
    secret = folder.parent / "secret"
    secret.write_text("x", "utf-8")
    sign(folder, lambda data: data["files"].update({path: hashlib.sha256(b"x").hexdigest()}))
    refused(folder, "expected a file, and there is none")


@pytest.mark.parametrize("name", ["x", "judge_code"])
def test_file_of_no_table_is_refused(folder: Path, name: str) -> None:
    """Access codes come in from nowhere, and a file that is not known is not passed over."""
    (folder / "tables" / f"{name}.jsonl").write_text("{}\n", "utf-8")
    listed = {f"tables/{name}.jsonl": ""}
    path = folder / "manifest.json"
    data = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(data | {"files": data["files"] | listed}), "utf-8")
    sign(folder)
    refused(folder, f"{name}.jsonl: expected a table of a collection")


@pytest.mark.parametrize("name", ["topics.jsonl", "runs/bm25.run", "runs"])
def test_link_is_refused(folder: Path, name: str) -> None:
    """A link in place of a file or folder is refused, even to the same content."""
    path, elsewhere = folder / name, folder.parent / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    refused(folder, f"{name}.*: expected a file, and there is none")


def test_pipe_is_refused(folder: Path) -> None:
    """What is no file is not opened: reading from it might never end."""
    (folder / "topics.jsonl").unlink()
    os.mkfifo(folder / "topics.jsonl")
    refused(folder, "topics.jsonl: expected a file, and there is none")


FAULTS = """
    ranking | ["a", "b"] | ["a", "x"] | ranking.jsonl:1: `document_ids`: unknown document `x`
    ranking | ["a", "b"] | "ab" | ranking.jsonl:1: `document_ids`: expected a list of docnos
    ranking | ["a", "b"] | ["a", "a"] | tables: rankings: run `bm25` topic 1: a document twice
    ranking | "scores": " | "scores": "? | ranking.jsonl:1: `scores`: expected base64
    ranking | "topic": "2" | "topic": "3" | ranking.jsonl:2: `topic`: unknown topic `3`
    pool_entry | "priority": null | "priority": "1.5" | entry.jsonl:1: `priority`: expected a finite
    pool_entry | "priority": null | "priority": 1e999 | entry.jsonl:1: `priority`: expected a finite
    pool_entry | "priority": null | "priority": NaN | entry.jsonl:1: expected a JSON object, got NaN
    ranking | "topic": "2" | "topic": "1" | ranking.jsonl:2: expected what the database can hold
    topic | "2" | "1" | topic.jsonl:2: expected each number once, got `1`, which line 1 has
    topic | "2" | "#2" | topic.jsonl:2: `number`: expected a topic that does not begin
    topic | "one" | 7 | topic.jsonl:1: `title`: expected text, got 7
    topic | "title" | "name" | topic.jsonl:1: unknown key `name`
    topic | true | 1 | topic.jsonl:1: `listed`: expected true or false, got 1
    pool_entry | "document": "b" | "document": "z" | `document`: unknown document `z`
    pool_entry | "document": "b" | "document": "a" | entry.jsonl:2: expected what the database can
    pool_run | "bm25" | "bm26" | pool_run.jsonl:1: `run`: unknown run `bm26`
    judge | human | robot | judge.jsonl:1: expected what the database can hold, got: .*known_kind
    judge | "kind": "human",  |  | judge.jsonl:1: expected the key `kind`, got none
    judge | +00:00 |  | judge.jsonl:1: `created_at`: expected a moment like
    judgement | "grade": 2 | "grade": null | judgement.jsonl:1: expected what the database
    judgement | "judged" | "guessed" | judgement.jsonl:1: expected what the database
    judgement | "ann" | "eve" | judgement.jsonl:1: `judge`: unknown judge `eve`
    judgement | "revision": 1 | "revision": 2 | tables: judgements: topic 1 `a` of `ann` has 1
    judgement | "sitting": null | "sitting": 1 | judgement.jsonl:1: `sitting`: unknown sitting
    judgement | "undoes": null | "undoes": 2 | judgement.jsonl:1: expected what the database can
"""
"""Table, what stands in its file, what takes its place, and what is said of it."""


@pytest.mark.parametrize(
    ("table", "old", "new", "match"), [line.strip().split(" | ") for line in FAULTS.strip().splitlines()]
)
def test_fault_is_told_by_file_and_line(folder: Path, table: str, old: str, new: str, match: str) -> None:
    """A file that was changed together with its hash is refused where it says what cannot be."""
    edit(folder, table, old, new)
    refused(folder, match)


def test_faults_of_several_files_are_told_together(folder: Path) -> None:
    """Reading goes on after a fault, so that one attempt shows all of them."""
    edit(folder, "ranking", '["a", "b"]', '["a", "x"]')
    edit(folder, "judgement", '"grade": 2', '"grade": "2"')
    message = refused(folder, "ranking.jsonl:1")
    assert "judgement.jsonl:1: `grade`: expected an integer" in message


def test_place_that_is_taken_is_left_alone(folder: Path) -> None:
    """A collection is made where there is none."""
    old = folder.parent / "old.db"
    before = count_rows(str(old))
    with pytest.raises(StoreError, match="already holds a collection"):
        read_directory(str(old), folder)
    assert count_rows(str(old)) == before


def test_fault_leaves_no_tables_on_a_server(folder: Path, postgres_url: str) -> None:
    """After a refusal the database is as empty as before, and takes the corrected directory."""
    edit(folder, "ranking", '["a", "b"]', '["a", "x"]')
    with pytest.raises(PoolerError, match=r"ranking.jsonl:1"):
        read_directory(postgres_url, folder)
    edit(folder, "ranking", '["a", "x"]', '["a", "b"]')
    read_directory(postgres_url, folder)
    with Collection(postgres_url) as opened:
        assert len(opened.judgements.current()) == 2
    with pytest.raises(StoreError, match="already holds a collection"):
        read_directory(postgres_url, folder)
    with Collection(postgres_url) as opened:
        assert len(opened.judgements.current()) == 2


@pytest.mark.parametrize("label", ["files", "tables"])
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
    sign(folder, lambda data: data.update(format_version=2))
    with pytest.raises(SchemaError, match="newer format 2"):
        read_directory(str(folder.parent / "new.db"), folder)


def test_folder_that_is_no_export_is_refused(tmp_path: Path) -> None:
    """A folder without a manifest, or none at all, is said to be one."""
    with pytest.raises(PoolerError, match=r"none: there is no manifest.json"):
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


LIVED = """
    topic_version | "version": 2 | "version": 3 | tables: versions: topic 1 is at version 3
    topic_version | "version": 2 | "version": 1 | version.jsonl:2: expected what the database
    topic_version | "topic": "1" | "topic": "9" | version.jsonl:1: `topic`: unknown topic `9`
    topic | "version": 3 | "version": 4 | topic 1 is at version 4, and has 2 earlier texts
    judgement | "topic_version": 3 | "topic_version": 4 | topic has no text of version 4
    erasure | "judgements": 1 | "judgements": 2 | got: CHECK constraint failed: judgements_among_events
"""


@pytest.mark.parametrize(
    ("table", "old", "new", "message"), [line.strip().split(" | ") for line in LIVED.strip().splitlines()]
)
def test_fault_of_versions_and_erasures_is_told(
    lived: Path, table: str, old: str, new: str, message: str
) -> None:
    """Versions without gaps, of topics that are there; no more judgements gone than events."""
    edit(lived, table, old, new)
    assert message in refused(lived, "expected|unknown|tables")


def test_identity_is_one_judges(lived: Path) -> None:
    """A judge who is there cannot be an erased one."""
    files = [(lived / f"tables/{name}.jsonl").read_text("utf-8") for name in ("judge", "erasure")]
    own, erased = (json.loads(text)["uid"] for text in files)
    edit(lived, "erasure", erased, own)
    assert "`anna` was erased, and is still there" in refused(lived, "ids")


def test_row_that_is_lacking_is_told(folder: Path) -> None:
    """A judgement that is missing is told even where every hash is right."""
    path = folder / "tables" / "judgement.jsonl"
    path.write_text(path.read_text("utf-8").splitlines(keepends=True)[0], "utf-8")
    sign(folder)
    refused(folder, "judgement.jsonl: expected 2 rows, as the manifest has it, got 1")


def test_folder_of_others_is_refused_as_a_collection(tmp_path: Path) -> None:
    """A BEIR folder is no whole collection: the message says what takes its files."""
    fill(str(tmp_path / "a.db"))
    with Collection(str(tmp_path / "a.db")) as opened:
        choice = ExportChoice(layout="beir")
        write_directory(opened.as_it_stands(), tmp_path / "beir", choice, program="p 1")
    with pytest.raises(PoolerError, match="laid out as beir: it does not hold a whole collection"):
        read_directory(str(tmp_path / "b.db"), tmp_path / "beir")
    assert not (tmp_path / "b.db").exists()


PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
"""Making a failing collection smaller would take many minutes."""


def export(where: str, folder: Path, export_choice: ExportChoice) -> dict[str, bytes]:
    """Export a collection and return the bytes of every file."""
    with Collection(where) as opened:
        write_directory(opened.as_it_stands(), folder, export_choice, program="pooler 1")
    return bytes_of(folder)


def make(where: str, data: st.DataObject) -> None:
    """Make a collection of everything."""
    with Collection.create(where, name="x|y", scale=parse_scale("0-2"), program="old 7") as made:
        # The qrels of people and models are refused where models judged more and nobody says who counts.
        made.qrels.define("official", QrelsDefinition(kinds=("human", "model")))
        fill_by_chance(made, where, data)


@pytest.mark.slow
@settings(max_examples=examples(5), phases=PHASES)
@given(st.data())
def test_collection_comes_back_as_it_was(data: st.DataObject) -> None:
    """Every row of every table is there again, in the same order, and exports to the same bytes, twice."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        where, again = str(folder / "a.db"), str(folder / "b.db")
        make(where, data)
        first = export(where, folder / "one", ExportChoice())
        assert export(where, folder / "same", ExportChoice()) == first
        read_directory(again, folder / "one")
        assert named_contents(again) == named_contents(where)
        assert export(again, folder / "two", ExportChoice()) == first
        names = {path.name for path in folder.iterdir()}
        assert names == {"a.db", "b.db", "one", "same", "two"}


@pytest.mark.slow
@settings(max_examples=examples(5), phases=PHASES)
@given(st.data())
def test_what_is_left_out_stays_out(data: st.DataObject) -> None:
    """A directory without texts, runs or notes makes a collection that gives it again."""
    flags = data.draw(st.tuples(*[st.booleans()] * 3).filter(any), label="left out")
    texts, runs, notes = (not flag for flag in flags)
    export_choice = ExportChoice(texts=texts, runs=runs, notes=notes)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        where, again = str(folder / "a.db"), str(folder / "b.db")
        make(where, data)
        first = export(where, folder / "one", export_choice)
        read_directory(again, folder / "one")
        assert export(again, folder / "two", export_choice) == first


@pytest.mark.slow
@settings(max_examples=examples(5), phases=PHASES)
@given(st.data())
def test_anonymised_directory_comes_back(data: st.DataObject) -> None:
    """What was exported under new names is a collection that gives the same again, but for its README."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        where, again = str(folder / "a.db"), str(folder / "b.db")
        make(where, data)
        first = export(where, folder / "one", ExportChoice(anonymised=True))
        read_directory(again, folder / "one")
        with Collection(again) as opened:
            named = {one.name for one in opened.judges.all()}
        assert named == {f"judge-{number}" for number in range(1, len(named) + 1)}
        second = export(again, folder / "two", ExportChoice())
        # Identities are made anew; a value that was left out stood at its line's end.
        differing = {"README.md", "manifest.json", "tables/judge.jsonl", "tables/erasure.jsonl"}
        for file in first.keys() - differing:
            one, other = (folder[file].decode(errors="surrogatepass") for folder in (first, second))
            if file.startswith("tables/"):
                assert [*map(json.loads, one.splitlines())] == [*map(json.loads, other.splitlines())], file
            else:
                assert one == other, file


@pytest.mark.slow
@settings(max_examples=examples(5), phases=PHASES)
@given(data=st.data())
def test_postgresql_gives_the_same_directory(data: st.DataObject, postgres_url: str) -> None:
    """SQLite to PostgreSQL and back again loses nothing."""
    with tempfile.TemporaryDirectory() as name, emptied(postgres_url):
        folder = Path(name)
        where, again = str(folder / "a.db"), str(folder / "b.db")
        make(where, data)
        first = export(where, folder / "one", ExportChoice())
        read_directory(postgres_url, folder / "one")
        assert export(postgres_url, folder / "two", ExportChoice()) == first
        with Collection(postgres_url) as opened:  # rows added now get ids that are free
            opened.judgements.add({"new": [Qrel("new", "new", 1)]}, JudgeKind.HUMAN)
            opened.runs.add(make_run("new", {"new": [("newer", 1.0)]}))
        read_directory(again, folder / "two")
        assert named_contents(again) == named_contents(where)


@contextmanager
def emptied(where: str) -> Iterator[None]:
    """Remove everything from a PostgreSQL schema at the end."""
    try:
        yield
    finally:
        with engine_of(where) as engine, writing(engine) as session:
            connection = session.connection()
            for table in inspect(connection).get_table_names():
                connection.execute(text(f'DROP TABLE "{table}" CASCADE'))
