"""The same work on SQLite and on PostgreSQL gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Action, Decision, JudgeKind
from tests.helpers.run import run

SAMPLE = Path(__file__).resolve().parents[1] / "sample_collections" / "kitchen_garden"


def build(where: str) -> None:
    """Make the sample collection, and let Akiko judge some of it in one sitting."""
    chosen = ["--collection", where]
    steps = [
        ["init", "--scale", "0-2", "--name", "garden"],
        ["import", "topics", str(SAMPLE / "topics.jsonl")],
        ["import", "runs", "--runs", str(SAMPLE / "runs.tsv")],
        ["pool", "--depth", "5", "--seed", "7", "--round", "2"],
        ["import", "docs", str(SAMPLE / "documents.jsonl")],
        ["import", "judgements", str(SAMPLE / "judgements/strict.qrels"), "--judge", "strict"],
        ["judges", "add", "明子"],
    ]
    for step in steps:
        assert run([*step, *chosen]) == 0, step
    with Collection(where) as opened:
        opened.judges.add("model", JudgeKind.MODEL)
        desk = opened.desk("明子")
        for line in desk.inbox()[:3]:
            first, second, third, fourth, fifth = desk.queue(line.topic)[:5]
            desk.record(Decision(line.topic, first.docno, Action.JUDGE, 2))
            desk.record(Decision(line.topic, second.docno, Action.SKIP))
            desk.record(Decision(line.topic, third.docno, Action.CANNOT, reason="文字化け\x00"))
            desk.record(Decision(line.topic, fourth.docno, Action.NOTE, note="後で \ud800 \x1b[31m"))
            desk.record(Decision(line.topic, fifth.docno, Action.JUDGE, 0))
            desk.record(Decision(line.topic, fifth.docno, Action.JUDGE, 1, seen_revision=1))
            desk.undo()
        desk.leave()


def exports(where: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> dict[str, bytes]:
    """Write everything that can be written, and return it by name."""
    folder.mkdir()
    rule = ["--kinds", "human", "--aggregate", "majority", "--ties", "low"]
    assert run(["qrels", "define", "official", *rule, "--collection", where]) == 0
    every = ["--kinds", "human,imported,model", "--aggregate", "min"]
    assert run(["qrels", "define", "all", *every, "--collection", where]) == 0
    files = {
        "pool": ["export", "pool"],
        "judgements": ["export", "judgements"],
        "qrels": ["export", "qrels", "--unjudged", "-1"],
        "binary": ["export", "qrels", "明子", "--level", "relaxed"],
    }
    for name, command in files.items():
        out = ["--out", str(folder / name), "--collection", where]
        assert run([*command, *out]) == 0, name
    result = {path.name: path.read_bytes() for path in folder.iterdir()}
    tables = {
        "status": ["status", "--by-topic"],
        "agreement": ["agreement", "--by-topic", "--qrels", "all"],
        "evaluate": ["evaluate", "--by-topic"],
        "sensitivity": ["sensitivity", "--depth", "5"],
    }
    for name, command in tables.items():
        capfd.readouterr()
        form = "tsv" if name == "status" else "json"  # its next command names the collection
        assert run([*command, "--format", form, "--collection", where]) == 0, name
        result[name] = capfd.readouterr().out.encode()
    return result


def test_same_work_on_both_engines_exports_the_same_bytes(
    tmp_path: Path, postgres_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Pool, judgements, notes, qrels, manifests and tables do not tell which engine held them."""
    sqlite = str(tmp_path / "garden.db")
    for where in (sqlite, postgres_url):
        build(where)
    first = exports(sqlite, tmp_path / "first", capfd)
    second = exports(postgres_url, tmp_path / "second", capfd)
    assert first == second
    assert len(first) == 8 + 4
    assert "後で".encode() in first["judgements"] or rb"\u5f8c\u3067" in first["judgements"]
