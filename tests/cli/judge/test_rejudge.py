"""`pooler status outdated`: lists what rests on something changed, and puts it back when asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Action, Decision, JudgeKind
from tests.helpers.run import Cli, write
from tests.helpers.world import change_stored, stored_rows


@pytest.fixture
def changed(cli: Cli, here: Path) -> Path:
    """Work beside a collection whose guidelines changed, and whose document `b` did, since."""
    cli("init").fine()
    write(here / "x.run", *[f"{topic} Q0 {docno} 1 1 x" for topic in "12" for docno in "abc"])
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    cli("judges", "add", "anna", "ben").fine()
    texts(cli, here, a="one", b="two")
    cli("import", "guidelines", "-", stdin=b"first").fine()
    judge("anna", "1", a=2, b=0)
    judge("ben", "2", b=1)
    with Collection("collection.db") as opened:
        desk = opened.desk("ben")
        desk.queue("1")
        desk.record(Decision("1", "c", Action.CANNOT, reason="no text"))
        desk.leave()
    cli("import", "guidelines", "-", stdin=b"second").fine()
    judge("anna", "2", a=1, b=1)
    texts(cli, here, b="new", c="came")
    return here


def texts(cli: Cli, folder: Path, **documents: str) -> None:
    """Import texts of documents."""
    lines = [json.dumps({"docno": docno, "text": text}) for docno, text in documents.items()]
    write(folder / "docs.jsonl", *lines)
    cli("import", "docs", "docs.jsonl", "--replace").fine()


def judge(name: str, topic: str, **grades: int) -> None:
    """Grade documents."""
    with Collection("collection.db") as opened:
        desk = opened.desk(name)
        tasks = {task.docno: task for task in desk.queue(topic)}
        for docno, grade in grades.items():
            seen = tasks[docno].revision
            desk.record(Decision(topic, docno, Action.JUDGE, grade=grade, seen_revision=seen))
        desk.leave()


EVERYTHING = [
    ("anna", "1", "a", "judged", 2, 1, "guidelines"),
    ("anna", "1", "b", "judged", 0, 1, "guidelines text"),
    ("anna", "2", "b", "judged", 1, 2, "text"),
    ("ben", "1", "c", "cannot", None, 1, "guidelines text-came-later"),
    ("ben", "2", "b", "judged", 1, 1, "guidelines text"),
]
NAMES = ("judge", "topic", "docno", "state", "grade", "guidelines", "why")


def listed(cli: Cli, *options: str) -> list[tuple[object, ...]]:
    """List what is outdated."""
    rows = cli("status", "outdated", *options, "--format", "json").fine().json()
    return [(*(row[name] for name in NAMES[:-1]), " ".join(row["why"])) for row in rows]


def test_listing_changes_nothing(cli: Cli, changed: Path) -> None:
    """Without --requeue everything outdated is listed with its reasons, and nothing is written."""
    file = str(changed / "collection.db")
    before = stored_rows(file)
    assert listed(cli) == EVERYTHING
    answer = cli("status", "outdated").fine()
    assert "nothing is changed; --requeue puts 5 documents back for their judges" in answer.err
    summary = "5 judgements: 4 guidelines, 3 text, 1 text-came-later"
    assert f"{summary}\nguidelines now: version 2\n" in answer.out
    assert stored_rows(file) == before
    assert max(map(len, answer.out.splitlines())) <= 80


def test_filters(cli: Cli, changed: Path) -> None:
    """Judge, topic and reason narrow the list; each may be given more than once."""
    assert listed(cli, "--judge", "ben") == EVERYTHING[3:]
    assert listed(cli, "--judge", "ben", "--judge", "anna", "--topic", "2") == [EVERYTHING[2], EVERYTHING[4]]
    assert listed(cli, "--why", "text") == [EVERYTHING[1], EVERYTHING[2], EVERYTHING[4]]
    assert listed(cli, "--why", "text-came-later", "--why", "text") == EVERYTHING[1:]
    assert "unknown judge `eve`" in cli("status", "outdated", "--judge", "eve").failed(1).err
    assert "unknown topic `3`" in cli("status", "outdated", "--topic", "3").failed(1).err
    assert (
        "`--why` must be some of guidelines, text" in cli("status", "outdated", "--why", "mood").failed(1).err
    )


def test_requeued_are_before_their_judges_again(cli: Cli, changed: Path) -> None:
    """Asked to, it puts them back, says what leaves the qrels, and lists them no more."""
    answer = cli("status", "outdated", "--why", "text", "--requeue", "--format", "json").fine()
    assert [row["docno"] for row in answer.json()] == ["b", "b", "b"]
    assert answer.err == (
        "3 documents put back for 2 judges; 3 grades left the qrels until they are judged again\n"
    )
    assert listed(cli) == [EVERYTHING[0], EVERYTHING[3]]
    qrels = cli("export", "qrels", "anna").fine().out
    assert qrels.splitlines() == ["1 0 a 2", "2 0 a 1"]
    rest = cli("status", "outdated", "--requeue").fine()
    assert "2 documents put back for 2 judges; 1 grade left the qrels" in rest.err
    assert "nothing was put back" in cli("status", "outdated", "--requeue").fine().err
    assert "no judgement rests on older guidelines or another text" in cli("status", "outdated").fine().out
    judge("anna", "1", b=2)
    assert "1 0 b 2" in cli("export", "qrels", "anna").fine().out
    assert listed(cli) == []


def test_what_nobody_would_judge_again_is_left(cli: Cli, changed: Path) -> None:
    """A disabled judge's judgements are listed with the obstacle, and stay when asked for."""
    change_stored(str(changed / "collection.db"), "UPDATE judge SET disabled = TRUE WHERE name = 'ben'")
    answer = cli("status", "outdated").fine()
    assert "judge-disabled" in answer.out
    assert "--requeue puts 3 documents back" in answer.err
    requeued = cli("status", "outdated", "--requeue").fine().err
    assert "3 documents put back for 1 judge; 3 grades left" in requeued
    assert "2 judgements not put back: their judge is disabled" in requeued
    assert listed(cli) == EVERYTHING[3:]


def test_imported_judgements_are_told_apart(cli: Cli, changed: Path) -> None:
    """How many judgements nothing is known of is said, and not one is listed."""
    write(changed / "q", "1 0 a 1", "1 0 b 1")
    cli("import", "judgements", "q", "--judge", "gpt", "--kind", JudgeKind.MODEL.value).fine()
    answer = cli("status", "outdated", "--format", "tsv").fine()
    assert "2 imported judgements not looked at" in answer.err
    assert {row["judge"] for row in answer.tsv()} == {"anna", "ben"}
