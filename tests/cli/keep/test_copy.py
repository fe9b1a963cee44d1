"""`pooler copy`: from a file to a server and back, as users see it."""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Action, JudgeKind, Passage
from tests.helpers.run import Cli
from tests.helpers.world import JudgeAtWork
from tests.trec_covid import data_path

TEXT = "起源 of the virus\r\nin "


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.slow
def test_garden_is_the_same_at_three_places(cli: Cli, judged: Path, postgres_url: str) -> None:
    """The sample collection on SQLite, PostgreSQL and SQLite again exports the same bytes."""
    said = cli("copy", "collection.db", postgres_url).fine()
    assert "252 judgement events, 544 rows in all" in said.err
    cli("copy", postgres_url, "last.db").fine()
    exports = []
    for number, place in enumerate(("collection.db", postgres_url, "last.db")):
        cli("export", "collection", f"e{number}", "--collection", place).fine()
        exports.append(bytes_of(judged / f"e{number}"))
        cli("verify", "--collection", place).fine()
    assert exports[0] == exports[1] == exports[2]


def test_refusals(cli: Cli, judged: Path, postgres_url: str) -> None:
    """What cannot be copied is said in one line, with what to do."""
    cli("copy", "collection.db", "collection.db").failed(1)
    cli("copy", "none.db", "new.db").failed(3)
    cli("copy", "collection.db", "runs.tsv").failed(3)
    cli("copy", "collection.db", postgres_url).fine()
    assert "already holds" in cli("copy", "collection.db", postgres_url).failed(3).err
    cli("copy", postgres_url, "no/new.db").failed(3)
    assert not (judged / "new.db").exists()


def judge_some(place: Path, docnos: list[str]) -> None:
    """Let two judges sit down at topic 1: grades, skips, notes, passages, and some taken back."""
    dice = random.Random(1)
    with Collection(str(place)) as made:
        for judge in ("ann", "bob"):
            made.judges.add(judge, JudgeKind.HUMAN)
            for _ in range(2):
                sitting = JudgeAtWork(made.desk(judge, program="test"), "1")
                sitting.desk.set_terms("1", ("origin", "起源"))
                for docno in dice.sample(docnos, 20):
                    sitting.grade(docno, dice.randrange(3))
                    sitting.act(docno, Action.MARK, passages=(Passage(0, 4, TEXT[:4]),))
                    if dice.random() < 0.5:
                        sitting.undo()
                    if dice.random() < 0.3:
                        sitting.act(docno, Action.NOTE, note="備考\nwhy")
                        sitting.act(docno, Action.SKIP)
                        sitting.undo()
                        sitting.undo()
                sitting.desk.leave()


@pytest.mark.slow
def test_trec_covid_is_the_same_at_three_places(
    cli: Cli, here: Path, postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """TREC-COVID round 1, all runs and grades, and judges at work: the same bytes three times."""
    runs = sorted(data_path("runs-top120").glob("*.gz"))
    cli("init", "--scale", "0-2").fine()
    cli("import", "topics", data_path("topics.covid-round1.xml")).fine()
    cli("import", "runs", *runs, "--lenient").fine()
    cli("pool", "--depth", "7").fine()
    cli("import", "judgements", data_path("qrels-rnd1.txt.gz"), "--judge", "nist").fine()
    with Collection("collection.db") as made:
        docnos = [one.docno for one in made.pools.get("pool").entries if one.topic == "1"]
    docs = (json.dumps({"docno": docno, "text": TEXT + docno}) for docno in docnos)
    (here / "docs.jsonl").write_text("".join(f"{line}\n" for line in docs), "utf-8")
    cli("import", "docs", "docs.jsonl").fine()
    (here / "guide.md").write_text("# Relevance\n", "utf-8")
    cli("guidelines", "set", "guide.md").fine()
    judge_some(here / "collection.db", docnos)
    exports, took = [], []
    places = ("collection.db", postgres_url, "last.db")
    for number, place in enumerate(places):
        if number:
            began = time.monotonic()
            cli("copy", places[number - 1], place).fine()
            took.append(time.monotonic() - began)
        cli("export", "collection", f"e{number}", "--collection", place).fine()
        exports.append(bytes_of(here / f"e{number}"))
        rows = cli("verify", "--collection", place, "--format", "json").fine().json()
        checked = {row["check"]: row["checked"] for row in rows}
        assert min(checked[name] for name in ("passages", "undo", "notes", "sittings")) > 3
    assert exports[0] == exports[1] == exports[2]
    size = (here / "collection.db").stat().st_size / 1e6
    with capsys.disabled():
        sys.stdout.write(f"\n{len(runs)} runs, {size:.0f} MB: to the server {took[0]:.1f} s,"
                         f" back {took[1]:.1f} s\n")  # fmt: skip
