"""`pooler import docs --fields --markup`: what is kept, shown and left out is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.run import Cli, write

LINES = [
    {
        "docno": "KG-E-002",
        "title": "Oaks",
        "text": "<p>Some <b>bold</b> text.",
        "url": "http://a",
        "date": "1991",
    },
    {"docno": "KG-E-008", "text": "<p>More &amp; more.", "url": "http://b", "vector": [0.5, 1]},
]


@pytest.fixture
def pooled(cli: Cli, garden: Path) -> Path:
    """Work beside a collection with a pool, and a file of two of its documents with fields."""
    cli("init").fine()
    cli("import", "topics", "topics.jsonl").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "5").fine()
    cli("judges", "add", "ann").fine()
    write(garden / "docs.jsonl", *map(json.dumps, LINES))
    return garden


def test_what_is_left_out_is_said(cli: Cli, pooled: Path) -> None:
    """With how many documents have it, and what to type; and nothing of it is shown."""
    said = cli("import", "docs", "docs.jsonl").fine().err
    assert (
        "docs.jsonl: fields left out: url (2 documents), date (1 document), vector (1 document);"
        " --fields url,date,vector keeps and shows them"
    ) in said
    assert cli("show", "docs", "KG-E-002", "--format", "json").fine().known()["fields"] is None


def test_fields_are_chosen_shown_and_remembered(cli: Cli, pooled: Path) -> None:
    """The order is the collection's; a later file has the same ones; what no document has is said."""
    said = cli("import", "docs", "docs.jsonl", "--fields", "date, url,author", "--markup", "html").fine().err
    assert "docs.jsonl: fields left out: vector (1 document); --fields date,url,author,vector keeps" in said
    assert "docs.jsonl: no document has `author`" in said
    assert "judges are shown above the text: date, url, author\n" in said
    again = cli("import", "docs", "docs.jsonl").fine().err
    assert "nothing new, 2 documents already there" in again
    assert "judges are shown" not in again
    found = cli("show", "docs", "KG-E-002", "--format", "json").fine().known()
    assert (found["fields"], found["markup"]) == (["date: 1991", "url: http://a"], "html")
    shown = cli("judge", "--judge", "ann", "--topic", "G01", "--plain", stdin=b"n\nq\n").fine().out
    assert "Title: Oaks\ndate: 1991\nurl: http://a\nSome bold text.\n" in shown
    cli("verify").fine()
    later = cli("import", "docs", "docs.jsonl", "--fields", "-").fine().err
    assert "judges are shown above the text: the title alone" in later


def test_fields_are_added_later(cli: Cli, pooled: Path) -> None:
    """The same file again with a choice adds them, and changes no text."""
    cli("import", "docs", "docs.jsonl").fine()
    said = cli("import", "docs", "docs.jsonl", "--fields", "url").fine().err
    assert "docs.jsonl: fields or markup of 2 documents added\n" in said


@pytest.mark.parametrize("names", ["", "url,", "url,URL", "title", "docno", "url,text"])
def test_odd_names_are_refused(cli: Cli, pooled: Path, names: str) -> None:
    """Before anything is read; the collection stays as it was."""
    told = cli("import", "docs", "docs.jsonl", "--fields", names).failed(1).err
    assert "`--fields` must be names of fields, each once, and none of docno, title and text" in told


def test_another_value_needs_replace(cli: Cli, pooled: Path) -> None:
    """As another text does."""
    cli("import", "docs", "docs.jsonl", "--fields", "url").fine()
    write(pooled / "docs.jsonl", json.dumps({**LINES[0], "url": "http://c"}))
    told = cli("import", "docs", "docs.jsonl").failed(3).err
    assert "document `KG-E-002` exists with another url" in told
    assert "1 replaced" in cli("import", "docs", "docs.jsonl", "--replace").fine().err
