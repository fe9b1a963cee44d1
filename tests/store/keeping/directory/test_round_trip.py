"""Out of a collection into a directory and back: the same collection, the same bytes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import inspect, text

from store.collection import Collection
from store.db.engine import writing
from store.grades.definition import QrelsDefinition
from store.keeping.directory import ExportChoice, read_directory, write_directory
from store.records import JudgeKind, Qrel
from tests.helpers.world import engine_of, make_run, parse_scale
from tests.store.keeping.directory.any_collection import fill, named_contents
from tests.strategies import examples

PHASES = [Phase.explicit, Phase.reuse, Phase.generate]
"""Making a failing collection smaller would take many minutes."""


def export(where: str, folder: Path, export_choice: ExportChoice) -> dict[str, bytes]:
    """Export a collection and return the bytes of every file."""
    with Collection(where) as opened:
        write_directory(opened.as_it_stands(), folder, export_choice, program="pooler 1")
    return bytes_of(folder)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def make(where: str, data: st.DataObject) -> None:
    """Make a collection of everything."""
    with Collection.create(where, name="x|y", scale=parse_scale("0-2"), program="old 7") as made:
        # The qrels of people and models are refused where models judged more and nobody says who counts.
        made.qrels.define("official", QrelsDefinition(kinds=("human", "model")))
        fill(made, where, data)


@pytest.mark.slow
@settings(max_examples=examples(10), phases=PHASES)
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
@settings(max_examples=examples(10), phases=PHASES)
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
        with Collection(where) as opened:
            if not any(one.grade is not None for one in opened.judgements.current()):
                export_choice = ExportChoice(texts, runs, notes)
        first = export(where, folder / "one", export_choice)
        read_directory(again, folder / "one")
        assert export(again, folder / "two", export_choice) == first


@pytest.mark.slow
@settings(max_examples=examples(20), phases=PHASES)
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
@settings(max_examples=examples(20), phases=PHASES)
@given(st.data())
def test_same_collection_is_the_same_bytes(data: st.DataObject) -> None:
    """Two exports of one collection differ in nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(str(folder / "a.db"), data)
        first = export(str(folder / "a.db"), folder / "one", ExportChoice())
        assert export(str(folder / "a.db"), folder / "two", ExportChoice()) == first


@pytest.mark.slow
@settings(max_examples=examples(20), phases=PHASES)
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
