"""What earlier versions wrote is read: collections of every schema, parts, backups, exports.

The expected judgements are those that the version itself exported.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from judge_ui.session.keymap import read_keymap
from judge_ui.session.keys import Command
from store.db.engine import SCHEMA_REVISION
from tests.golden.kept import GOLDEN, unpack, unpack_upgraded
from tests.helpers.run import GARDEN, Outcome, copy_garden, run, run_inside
from tests.helpers.world import parse_scale

WRITTEN = GOLDEN / "written"
SHAPES = ["0001", "0002-first", "0002", "0003", "0004-first", "0004-second", "0004", "0005", "0009"]
OLDER = [shape for shape in SHAPES if shape[:4] < SCHEMA_REVISION]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def engine(request: pytest.FixtureRequest) -> str:
    """Name each engine in turn."""
    return str(request.param)


def restored(shape: str, engine: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """Make the kept collection of a shape on an engine and return its name."""
    if engine == "sqlite":
        return str(unpack(f"schemas/{shape}.db", folder / "collection.db"))
    url: str = request.getfixturevalue("postgres_url")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute((GOLDEN / "schemas" / f"{shape}.sql").read_bytes())
    return url


def on(collection: str | Path, *arguments: str | Path) -> Outcome:
    """Run a command on a collection."""
    return run_inside(*arguments, "--collection", collection).fine()


def records(text: str) -> list[dict[str, Any]]:
    """Read one JSON object a line."""
    return [json.loads(line) for line in text.splitlines()]


def part_of(record: Mapping[str, Any], kept: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a kept record says, as a record of today says it."""
    return {name: record[name] for name in kept}


@pytest.mark.parametrize("shape", OLDER)
def test_collection_of_every_schema_is_upgraded_and_keeps_its_judgements(
    shape: str, engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """An older one is refused first; then nothing is at fault and every judgement is as it was."""
    name = restored(shape, engine, tmp_path, request)
    refused = run_inside("status", "--collection", name).failed(3)
    assert f"older schema {shape[:4]}" in refused.err
    assert "pooler upgrade" in refused.err
    on(name, "upgrade", *(["--no-backup"] if engine == "postgresql" else []))
    assert "no fault found" in on(name, "verify").out
    now = records(on(name, "export", "judgements").out)
    kept = records((GOLDEN / "schemas" / f"{shape}.jsonl").read_text("utf-8"))
    assert len(kept) in (6, 7, 8)
    # Before 0003 the first export left out what was only taken back.
    now = [one for one in now if len(kept) > 6 or one["state"] != "unjudged"]
    assert [part_of(one, old) for one, old in zip(now, kept, strict=True)] == kept
    on(name, "judges", "add", "carol")
    texts = on(name, "show", "topic", "2", "--format", "json").known()
    assert "水やり" in json.dumps(texts, ensure_ascii=False)


def test_answers_of_a_model_are_kept(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Who the model was, what it said, and what of it could not be read."""
    name = restored("0005", engine, tmp_path, request)
    on(name, "upgrade", *(["--no-backup"] if engine == "postgresql" else []))
    assert records(on(name, "export", "answers", "gpt").out) == [
        {
            "topic": "1",
            "docno": "d1",
            "grade": 1,
            "answer": "1",
            "cost": 0.002,
            "probabilities": {"0": 0.2, "1": 0.7, "2": 0.1},
        },
        {"topic": "1", "docno": "d2", "grade": 0, "answer": "0"},
        {"topic": "2", "docno": "d4", "grade": None, "unreadable": "no-grade", "answer": "I am not sure."},
        {"topic": "2", "docno": "d5", "grade": 2, "answer": "2"},
    ]
    assert "gpt-4o" in on(name, "show", "judge", "gpt").out
    assert "no fault found" in on(name, "verify").out


@pytest.mark.parametrize("shape", ["0001", "0003", "0004", "0005", "0009"])
def test_upgraded_collection_is_judged_on(shape: str, tmp_path: Path) -> None:
    """A judge goes on where the older version stopped, and what was there stays."""
    name = str(unpack(f"schemas/{shape}.db", tmp_path / "collection.db"))
    on(name, "upgrade")
    before = records(on(name, "export", "judgements").out)
    assert run(["judges", "add", "zoe", "--collection", name]) == 0
    qrels = tmp_path / "zoe.qrels"
    qrels.write_text("1 0 d1 2\n2 0 d2 0\n")
    on(name, "import", "judgements", qrels, "--judge", "zoe", "--kind", "human")
    after = records(on(name, "export", "judgements").out)
    assert [one for one in after if one["judge"] != "zoe"] == before
    assert [one["grade"] for one in after if one["judge"] == "zoe"] == [2, 0]


@pytest.mark.parametrize(
    ("name", "events"), [("built", 181), ("assigned", 13), ("before", 159), ("copy", 162)]
)
def test_collection_is_read_and_has_no_fault(name: str, events: int, tmp_path: Path) -> None:
    """Whole collections open, every check passes, and no event is missing."""
    file = unpack_upgraded(f"written/{name}.db", tmp_path / "collection.db")
    assert "no fault found" in on(file, "verify").out
    assert len(records(on(file, "export", "judgements", "--history").out)) == events


@pytest.mark.parametrize("history", [["--history"], []])
@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_judgements_are_exported_as_they_were(form: str, history: list[str], tmp_path: Path) -> None:
    """The kept collection gives the kept files, to the byte."""
    file = unpack_upgraded("written/built.db", tmp_path / "collection.db")
    kept = (WRITTEN / f"{'history' if history else 'judgements'}.{form}").read_bytes()
    assert on(file, "export", "judgements", "--format", form, *history).out.encode() == kept


def rows(text: str, form: str) -> list[dict[str, Any]]:
    """Read a file of judgements as a table, each value as it stands there."""
    if form == "jsonl":
        return records(text)
    header, *lines = (line.split("\t") for line in text.splitlines())
    return [dict(zip(header, line, strict=True)) for line in lines]


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_history_is_imported_as_it_was_exported(form: str, tmp_path: Path) -> None:
    """A kept file of all events goes into an empty collection and comes out the same.

    Sittings are not in such a file, only their numbers, and the new collection has neither
    guidelines nor versions of its topics.
    """
    name = str(tmp_path / "new.db")
    on(name, "init", "--scale", "0-2")
    kept = WRITTEN / f"history.{form}"
    on(name, "import", "judgements", kept, "--format", form, "--allow-unknown")
    now = rows(on(name, "export", "judgements", "--history", "--format", form).out, form)
    before = rows(kept.read_text("utf-8"), form)
    assert len(now) == len(before) == 181
    differing = {key for one, old in zip(now, before, strict=True) for key in old if one[key] != old[key]}
    assert differing == {"sitting", "guideline_version", "topic_version"}


def test_backup_is_restored_as_it_was(tmp_path: Path) -> None:
    """A kept backup is whole, and the collection made of it has the kept history."""
    backup = unpack("written/monday.backup", tmp_path / "monday.backup")
    name = tmp_path / "again.db"
    run_inside("restore", backup, "--collection", name).fine()
    on(name, "upgrade", "--no-backup")
    history = on(name, "export", "judgements", "--history").out
    assert history.encode() == (WRITTEN / "history.jsonl").read_bytes()


def test_part_and_copy_are_merged_as_they_were(tmp_path: Path) -> None:
    """The kept part brings ann's three grades; the copy asks about bob's, and is settled."""
    name = unpack_upgraded("written/before.db", tmp_path / "collection.db")
    for file in ("part.db", "copy.db"):
        unpack_upgraded(f"written/{file}", tmp_path / file)
    before = len(records(on(name, "export", "judgements", "--history").out))
    on(name, "merge", tmp_path / "part.db")
    on(name, "merge", tmp_path / "copy.db")
    merged = records(on(name, "export", "judgements", "--history").out)
    assert len(merged) == before + 3 + 3
    kept = records((WRITTEN / "history.jsonl").read_text("utf-8"))
    new = [one for one in merged if one["topic"] in ("G03", "G04") and one["judge"] in ("ann", "bob")]
    assert [(one["docno"], one["judge"], one["grade"], one["judged_at"]) for one in new] == [
        (one["docno"], one["judge"], one["grade"], one["judged_at"])
        for one in kept
        if one["topic"] in ("G03", "G04")
        and one["judge"] in ("ann", "bob")
        and (one["topic"], one["revision"]) in (("G03", 1), ("G04", 1))
    ]


def test_small_files_are_read(tmp_path: Path) -> None:
    """Keymap, scale, list of runs, pool, sample and qrels of an earlier version are understood."""
    scale = parse_scale(str(WRITTEN / "scale.toml"))
    assert (scale.values, scale.relaxed, scale.rigid) == ((-2, 0, 1, 2), 1, 2)
    keys = read_keymap(str(WRITTEN / "keymap.toml"), parse_scale("0-2"))
    assert (keys.grades[0], keys.grades[1]) == (("f",), ("d", "j"))
    assert keys.commands[Command.UNDO] == ("z", "f2")
    copy_garden(tmp_path)
    shutil.copy(WRITTEN / "runs.tsv", tmp_path / "kept.tsv")
    pool = tmp_path / "pool.txt"
    run_inside("pool", "--runs", tmp_path / "kept.tsv", "--depth", "3", "--out", pool).fine()
    # One run was taken out of the kept pool afterwards, and what it alone had brought.
    assert {*(WRITTEN / "pool.txt").read_text().splitlines()} <= {*pool.read_text().splitlines()}
    name = str(unpack_upgraded("written/built.db", tmp_path / "collection.db"))
    prels = WRITTEN / "sampled.prels"
    runs = sorted((GARDEN / "runs").glob("*.run"))
    form = ("--form", "xinf", "--format", "tsv")
    estimated = run_inside("estimate", "--prels", prels, *form, *runs).fine().tsv()
    assert [row["run"] for row in estimated] == [one.stem for one in runs]
    deeper = run_inside("pool", *runs[:2], "--depth", "3", "--minus", WRITTEN / "pool.txt")
    assert deeper.fine().out == ""  # all of it is in that pool
    imported = ("--judge", "eve", "--kind", "imported", "--code", "-1=unjudged")
    on(name, "import", "judgements", WRITTEN / "imported.qrels", *imported)
