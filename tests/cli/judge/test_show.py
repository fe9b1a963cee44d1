"""`pooler show`: one thing whole; an object for programs, facts and small tables for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from pooler import __version__
from store.collection import Collection
from tests.helpers.filled_collection import fill
from tests.helpers.run import Cli, controls

THINGS = (("run", "bm25"), ("topic", "1"), ("doc", "a"), ("pool", "main"), ("judge", "ann"))


@pytest.fixture
def looked(cli: Cli, here: Path) -> Path:
    """Work beside a collection with every state there is."""
    cli("init", "--scale", "0-2").fine()
    with Collection("collection.db") as opened:
        fill(opened)
    return here


@pytest.mark.parametrize(("kind", "name"), THINGS)
def test_every_thing_is_one_object(cli: Cli, looked: Path, kind: str, name: str) -> None:
    """JSON is one object that names the thing first; TSV is rectangular; people see its name."""
    found = cli("show", f"{kind}s", name, "--format", "json").fine().known()
    assert next(iter(found.values())) == name
    lists = {one: value for one, value in found.items() if isinstance(value, list)}
    lists = {one: rows for one, rows in lists.items() if not rows or isinstance(rows[0], dict)}
    assert lists
    table = next(one for one, rows in lists.items() if rows)
    rows = cli("show", f"{kind}s", name, "--format", "tsv", "--table", table).fine().tsv()
    assert len(rows) == len(found[table])
    heading = cli("show", f"{kind}s", name).fine().out.splitlines()[0]
    assert heading.split()[-1] == name


def test_document_shows_its_text_when_asked(cli: Cli, looked: Path) -> None:
    """The text is a table of its own, without what could steer a terminal; programs get it raw."""
    assert "text of a" not in cli("show", "docs", "a").fine().out.replace("text\x1b", "")
    shown = cli("show", "docs", "a", "--table", "text").fine().out
    assert shown.endswith("\ntext\u241b]0;owned\u2407 of a\n")
    assert controls(shown) == []
    found = cli("show", "docs", "a", "--format", "json").fine()
    assert controls(found.out) == []
    assert [line["text"] for line in found.known()["text"]] == ["text\x1b]0;owned\x07 of a"]
    assert "the text is not in the collection" in cli("show", "docs", "b", "--table", "text").fine().out


def test_document_shows_pools_runs_and_judgements(cli: Cli, looked: Path) -> None:
    """Where it is pooled, who retrieved it at which rank, and what each judge made of it."""
    found = cli("show", "docs", "c", "--format", "json").fine().known()
    assert [(row["topic"], row["pool"], row["sampled"]) for row in found["pools"]] == [("1", "main", True)]
    assert [(row["run"], row["rank"], row["score"]) for row in found["retrieved"]] == [
        ("bm25", 3, 7.0),
        ("other", 3, 7.0),
    ]
    told = [(row["judge"], row["state"], row["grade"], row["label"]) for row in found["judgements"]]
    assert told == [("ann", "skipped", None, None), ("bob", "judged", 1, "partially relevant")]


def test_pool_shows_how_it_was_chosen(cli: Cli, judged: Path) -> None:
    """Strategy, depth, order and program stand there, and its topics add up."""
    found = cli("show", "pools", "pool", "--format", "json").fine().known()
    assert (found["strategy"], found["depth"], found["order"]) == ("depth", 5, "trec")
    assert (found["program"], "version" in found) == (f"pooler {__version__}", False)
    assert found["documents"] == sum(row["documents"] for row in found["topics"]) == 84
    assert len(found["runs"]) == found["number_of_runs"] == 8


def test_people_are_told_once_what_rows_have_in_common(cli: Cli, judged: Path) -> None:
    """Columns of one value are said below the table, and odd words explained; json has them all."""
    shown = cli("show", "topics", "G01").fine().out
    assert "the same in every row: disabled no, cannot 0, skipped 0, undecided 0\n" in shown
    assert "disabled  judged" not in shown
    for word in ("listed", "outside", "round", "undecided"):
        assert sum(line.startswith(f"{word}: ") for line in shown.splitlines()) == 1
    [row, *_] = cli("show", "topics", "G01", "--format", "json").fine().known()["judges"]
    assert (row["disabled"], row["cannot"]) == (False, 0)
    shown = cli("show", "docs", "KG-E-002").fine().out
    for word in ("position", "priority", "round"):
        assert sum(line.startswith(f"{word}: ") for line in shown.splitlines()) == 1


@pytest.mark.parametrize(("kind", "name"), [("run", "bm25-words"), ("doc", "KG-E-002")])
def test_hash_is_short_for_people(cli: Cli, judged: Path, kind: str, name: str) -> None:
    """Twelve digits tell files apart; programs get all."""
    sha256 = cli("show", f"{kind}s", name, "--format", "json").fine().known()["sha256"]
    shown = cli("show", f"{kind}s", name).fine().out
    assert len(sha256) == 64
    assert sha256[:12] in shown.split()
    assert sha256 not in shown


@pytest.mark.parametrize("kind", ["run", "topic", "doc", "pool", "judge"])
def test_unknown_thing_is_a_mistake(cli: Cli, looked: Path, kind: str) -> None:
    """What is not there is no empty page."""
    what = "document" if kind == "doc" else kind
    assert f"unknown {what} `nope`; known: " in cli("show", f"{kind}s", "nope").failed(1).err


def test_long_facts_are_folded_and_not_cut(cli: Cli, looked: Path) -> None:
    """A long narrative takes several lines, of 80 columns at most; programs get one."""
    words = [f"word{number}" for number in range(60)]
    text = f'{{"topic": "66", "title": "t", "narrative": "{" ".join(words)}"}}'
    (looked / "t.jsonl").write_text(text)
    cli("import", "topics", "t.jsonl").fine()
    shown = cli("show", "topics", "66").fine().out
    assert max(map(len, shown.splitlines())) <= 80
    assert [word for word in shown.split() if word.startswith("word")] == words
    told = cli("show", "topics", "66", "--format", "json").fine().known()
    assert told["narrative"] == " ".join(words)
