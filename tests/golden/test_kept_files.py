"""What earlier versions wrote: files are read, collections and backups are refused by name.

The expected judgements are those that the version itself exported.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.kept_files import GOLDEN, unpack, unpack_today
from tests.helpers.run import GARDEN, Outcome, copy_garden, run_inside
from tests.helpers.world import parse_scale

WRITTEN = GOLDEN / "written"


def on(collection: str | Path, *arguments: str | Path) -> Outcome:
    """Run a command on a collection."""
    return run_inside(*arguments, "--collection", collection).fine()


def records(text: str) -> list[dict[str, Any]]:
    """Read one JSON object a line."""
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(("name", "events"), [("built", 181), ("assigned", 13)])
def test_collection_is_read_and_has_no_fault(name: str, events: int, tmp_path: Path) -> None:
    """Whole collections open, every check passes, and no event is missing."""
    file = unpack_today(f"written/{name}.db", tmp_path / "collection.db")
    assert "no fault found" in on(file, "verify").out
    assert len(records(on(file, "export", "judgements", "--history").out)) == events


def test_first_collection_of_the_baseline_is_brought_to_today(tmp_path: Path) -> None:
    """A collection that 0.3.0 wrote, schema 1, is upgraded, has no fault, and every event of it."""
    file = unpack("written/baseline.db", tmp_path / "collection.db")
    on(file, "upgrade")
    assert "no fault found" in on(file, "verify").out
    assert len(records(on(file, "export", "judgements", "--history").out)) == 181
    made = on(file, "qrels", "--format", "tsv").tsv()
    assert [(row["qrels"], row["version"], row["documents"]) for row in made] == [
        ("official", "2", "42"),
        ("official", "1", ""),
    ]


def test_backup_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    """The page that says what to do is named, and nothing is made."""
    backup = unpack("written/monday.backup", tmp_path / "monday.backup")
    refused = run_inside("restore", backup, "--collection", tmp_path / "again.db").failed(3)
    assert "has the schema 0004 of another version" in refused.err
    assert "docs/upgrade.md" in refused.err
    assert {path.name for path in tmp_path.iterdir()} == {"monday.backup"}


def rows(text: str, form: str) -> list[dict[str, Any]]:
    """Read a file of judgements as a table, without how copies had come together, which was written once."""
    if form == "jsonl":
        found = records(text)
    else:
        header, *lines = (line.split("\t") for line in text.splitlines())
        found = [dict(zip(header, line, strict=True)) for line in lines]
    for row in found:
        row.pop("follows", None), row.pop("settled", None)
        assert not row.pop("view", None)  # how an HTML document was shown
        row["action"] = "judge" if row.get("action") == "settle" else row.get("action")
        if "display_order" in row and "order_seed" not in row:  # the seed was a part of the order's name
            order, _, seed = str(row["display_order"] or "").partition(":")
            is_random, none = order == "random", None if form == "jsonl" else ""
            row["order_seed"] = (int(seed) if form == "jsonl" else seed) if is_random else none
            row["display_order"] = order if is_random else row["display_order"]
    return found


@pytest.mark.parametrize("history", [["--history"], []])
@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_judgements_are_exported_as_they_were(form: str, history: list[str], tmp_path: Path) -> None:
    """The kept collection gives the kept files, value by value."""
    file = unpack_today("written/built.db", tmp_path / "collection.db")
    kept = (WRITTEN / f"{'history' if history else 'judgements'}.{form}").read_text("utf-8")
    assert rows(on(file, "export", "judgements", "--as", form, *history).out, form) == rows(kept, form)


@pytest.mark.parametrize("form", ["jsonl", "tsv"])
def test_history_is_imported_as_it_was_exported(form: str, tmp_path: Path) -> None:
    """A kept file of all events goes into an empty collection and comes out the same.

    Sittings are not in such a file, only their numbers, and the new collection has neither
    guidelines nor versions of its topics.
    """
    name = str(tmp_path / "new.db")
    on(name, "init", "--scale", "0-2")
    kept = WRITTEN / f"history.{form}"
    on(name, "import", "judgements", kept, "--as", form, "--allow-unknown")
    now = rows(on(name, "export", "judgements", "--history", "--as", form).out, form)
    before = rows(kept.read_text("utf-8"), form)
    assert len(now) == len(before) == 181
    differing = {key for one, old in zip(now, before, strict=True) for key in old if one[key] != old[key]}
    assert differing == {"sitting", "guideline_version", "topic_version"}


def test_what_settled_copies_is_a_decision_and_was_in_no_order(tmp_path: Path) -> None:
    """The rule stood where the order stands; an undo on a copy is a decision too, and has its order."""
    first = records((WRITTEN / "history.jsonl").read_text("utf-8"))[0] | {"display_order": "docno"}
    settled = first | {"revision": 2, "action": "settle", "display_order": "latest", "follows": 1}
    undone = settled | {"revision": 3, "action": "undo", "display_order": "docno", "undoes": 2}
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (first, settled, undone)))
    new = tmp_path / "new.db"
    on(new, "init", "--scale", "0-2")
    on(new, "import", "judgements", tmp_path / "old.jsonl", "--as", "jsonl", "--allow-unknown")
    found = records(on(new, "export", "judgements", "--history").out)
    assert [one["action"] for one in found] == ["judge"] * 3
    assert [one["display_order"] for one in found] == ["docno", None, "docno"]


@pytest.mark.parametrize("name", ["built", "assigned"])
def test_collection_goes_out_and_comes_back(name: str, tmp_path: Path) -> None:
    """A kept collection comes back from a folder without a fault, and exports to the same bytes."""
    file = unpack_today(f"written/{name}.db", tmp_path / "collection.db")
    on(file, "qrels", "define", "official", "--aggregate", "majority", "--ties", "low")
    on(file, "export", "collection", tmp_path / "one")
    on(tmp_path / "new.db", "import", "collection", tmp_path / "one")
    assert "no fault found" in on(tmp_path / "new.db", "verify").out
    on(tmp_path / "new.db", "export", "collection", tmp_path / "two")
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*"))
    assert len(files) > 30
    assert files == sorted(path.relative_to(tmp_path / "two") for path in (tmp_path / "two").rglob("*"))
    for path in files:
        if (tmp_path / "one" / path).is_file():
            assert (tmp_path / "two" / path).read_bytes() == (tmp_path / "one" / path).read_bytes(), path


def test_small_files_are_read(tmp_path: Path) -> None:
    """Scale, list of runs, pool, sample and qrels of an earlier version are understood."""
    scale = parse_scale(str(WRITTEN / "scale.toml"))
    assert (scale.values, scale.relaxed, scale.rigid) == ((-2, 0, 1, 2), 1, 2)
    copy_garden(tmp_path)
    shutil.copy(WRITTEN / "runs.tsv", tmp_path / "kept.tsv")
    pool = tmp_path / "pool.txt"
    run_inside("pool", "--runs", tmp_path / "kept.tsv", "--depth", "3", "--out", pool).fine()
    # One run was taken out of the kept pool afterwards, and what it alone had brought.
    assert {*(WRITTEN / "pool.txt").read_text().splitlines()} <= {*pool.read_text().splitlines()}
    name = str(unpack_today("written/built.db", tmp_path / "collection.db"))
    prels = WRITTEN / "sampled.prels"
    runs = sorted((GARDEN / "runs").glob("*.run"))
    form = ("-m", "xinfAP", "--as", "xinf", "--format", "tsv")
    estimated = run_inside("evaluate", "--prels", prels, *form, *runs).fine().tsv()
    assert [row["run"] for row in estimated] == [one.stem for one in runs]
    deeper = run_inside("pool", *runs[:2], "--depth", "3", "--minus", WRITTEN / "pool.txt")
    assert deeper.fine().out == ""  # all of it is in that pool
    imported = ("--judge", "eve", "--kind", "imported", "--code", "-1=unjudged")
    on(name, "import", "judgements", WRITTEN / "imported.qrels", *imported)
