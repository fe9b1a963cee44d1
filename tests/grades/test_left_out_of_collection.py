"""`pooler export collection`: what is to be left out is nowhere in the directory."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import pooler as p
from judge_ui.session.session import JudgingSession
from store.records import Passage
from tests.helpers.run import Cli


@pytest.fixture
def named(cli: Cli, garden: Path) -> Path:
    """Work in a collection whose judges have names, orders, rounds and marked passages."""
    cli("init", "--scale", "0-2").fine()
    cli("import", "topics", "topics.jsonl").fine()
    cli("import", "runs", "--runs", "runs.tsv").fine()
    cli("pool", "--depth", "3", "--name", "samp-ann", "--round", "ann").fine()
    cli("import", "docs", "documents.jsonl").fine()
    cli("judges", "add", "ann", "bob").fine()
    cli("assign", "ann", "bob", "--order", "random", "--seed", "7").fine()
    with p.open_collection("collection.db") as opened:
        session = JudgingSession(opened.desk("ann"))
        session.open_topic("G01")
        text = session.page().text or ""
        session.mark_shown()
        session.mark([Passage(0, 20, text[:20])])
        session.desk.leave()
    answers = b"1\ncant damaged\n2\nq\n"
    cli("judge", "--judge", "ann", "--topic", "G01", "--plain", "--min-dwell", "0", stdin=answers)
    return garden


def contents(folder: Path) -> str:
    """Return the text of every file of a directory."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return "\n".join(path.read_text("utf-8") for path in files)


def seeds(file: Path) -> set[int | None]:
    """Return the seeds of orders in a file."""
    return {json.loads(line)["order_seed"] for line in file.read_text("utf-8").splitlines()}


def test_no_name_of_a_judge_and_no_seed_of_an_order_is_left(cli: Cli, named: Path) -> None:
    """With a seed, and a guessed name, a judge's order could be drawn again: both are gone."""
    cli("export", "collection", "open").fine()
    assert seeds(named / "open" / "tables" / "assignment.jsonl").isdisjoint({None})
    cli("export", "collection", "hidden", "--anonymised").fine()
    text = contents(named / "hidden")
    assert "ann" in re.findall(r"\w+", contents(named / "open"))
    assert "ann" not in re.findall(r"\w+", text)
    for file in ("tables/assignment.jsonl", "tables/judgement.jsonl", "judgements.jsonl"):
        assert seeds(named / "hidden" / file) == {None}
    [plan] = (named / "hidden/tables/assignment_plan.jsonl").read_text("utf-8").splitlines()
    assert "seed" not in json.loads(json.loads(plan)["manifest"])
    cli("import", "collection", "hidden", "--collection", "copy.db").fine()


def test_without_texts_no_passage_quotes_one(cli: Cli, named: Path) -> None:
    """Where a passage lies stays; what it says is text of the document."""

    def passages(folder: str) -> list[list[object]]:
        lines = (named / folder / "judgements.jsonl").read_text("utf-8").splitlines()
        return [one for line in lines for one in json.loads(line)["passages"]]

    cli("export", "collection", "whole").fine()
    cli("export", "collection", "bare", "--without-texts").fine()
    whole, bare = passages("whole"), passages("bare")
    assert whole
    assert all(len(str(text)) == length for _, length, text in whole)
    assert bare == [[start, length, ""] for start, length, _ in whole]
    cli("import", "collection", "bare", "--collection", "copy.db").fine()
    cli("export", "collection", "again", "--without-texts", "--collection", "copy.db").fine()
    assert contents(named / "again") == contents(named / "bare")
