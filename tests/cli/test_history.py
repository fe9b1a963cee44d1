"""`pooler history`: why this grade, for people in sentences, for programs in full."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.collection import Collection
from store.merging.settling import Rule
from store.records import Action, Passage
from tests.cli.command_line import controls
from tests.cli.conftest import Cli
from tests.store.looking import fill
from tests.store.merging.apart import copies, make, merge, work
from tests.store.outside import Sitting


@pytest.fixture
def looked(cli: Cli, here: Path) -> Path:
    """Work beside a collection with every state there is."""
    cli("init", "--scale", "0-2").fine()
    with Collection("collection.db") as opened:
        fill(opened)
    return here


def last_line(cli: Cli, topic: str, docno: str) -> str:
    """Return what the history says of the final grade."""
    return cli("history", topic, docno).fine().out.splitlines()[-1]


def test_final_grade_is_given_or_its_want_explained(cli: Cli, looked: Path) -> None:
    """One judge's grade is final; none, several, cannot, skipped and unpooled are five reasons."""
    assert last_line(cli, "1", "a") == (
        "final grade: 0 (not relevant), of ann, who alone graded it;"
        " relevant from level 1 (relaxed): no, from level 2 (rigid): no"
    )
    assert "somebody found it impossible to judge" in last_line(cli, "1", "d")
    assert "pooled, and nobody has decided on it yet" in last_line(cli, "1", "e")
    assert "it is in no pool, and nobody graded it" in last_line(cli, "2", "f")
    with Collection("collection.db") as opened:
        bob = Sitting(opened.desk("bob"), "1")
        bob.grade("a", 0)
        bob.act("f", Action.SKIP)
        bob.desk.leave()
    assert "none; several judges graded it" in last_line(cli, "1", "a")
    assert "somebody skipped it" in last_line(cli, "1", "f")
    reasons = {
        docno: cli("history", "1", docno, "--format", "json").fine().json()["final"]["reason"]
        for docno in "abdef"
    }
    assert reasons == {"a": "several-judges", "b": None, "d": "cannot", "e": "unjudged",
                       "f": "skipped"}  # fmt: skip


def test_events_stand_in_full_in_json(cli: Cli, looked: Path) -> None:
    """Passages with their texts, undo with what it took back, states after each event."""
    with Collection("collection.db") as opened:
        ann = Sitting(opened.desk("ann"), "1")
        marked = (Passage(0, 4, "text"),)
        ann.act("a", Action.MARK, passages=marked)
        ann.grade("a", 2)
        ann.undo()
        ann.desk.leave()
    found = cli("history", "1", "a", "--format", "json").fine().json()
    assert [row["action"] for row in found["events"]] == ["judge", "mark", "judge", "undo"]
    assert found["events"][1]["passages"] == [{"start": 0, "length": 4, "text": "text"}]
    assert (found["events"][2]["is_undone"], found["events"][3]["undid"]) == (True, 3)
    assert found["events"][3]["grade"] == 0
    assert found["standing"] == [{"judge": "ann", "kind": "human", "state": "judged", "grade": 0}]
    assert found["final"]["by"] == "ann"
    assert [one["pool"] for one in found["pools"]] == ["main", "late"]
    rows = cli("history", "1", "a", "--format", "tsv").fine().tsv()
    assert [row["passages"] for row in rows] == ["0", "1", "1", "1"]
    table = cli("history", "1", "a").fine().out
    assert "takes back no. 3" in table
    assert "4 events of 1 judge" in table


def test_grade_is_relevant_from_the_levels_of_the_scale(cli: Cli, here: Path) -> None:
    """Grade 1 of 0-2 is relevant relaxed and not rigid; a scale of one relevant grade has one."""
    for scale, expected in (
        ("0-2", "relevant from level 1 (relaxed): yes, from level 2 (rigid): no"),
        ("binary", "relevant from level 1: yes"),
    ):
        place = make(here / f"{scale}.db", scale=scale)
        work(place, ("ann", "a", Action.JUDGE, 1))
        out = cli("history", "1", "a", "--collection", str(place)).fine().out
        assert out.splitlines()[-1].endswith(f"who alone graded it; {expected}")


def test_what_no_judge_did_is_not_under_their_name_alone(cli: Cli, here: Path) -> None:
    """The merge and the organiser are named, and that a merge has no time of its own, once."""
    made = copies(make(here / "whole.db"), 2)
    for grade, place in enumerate(made):
        work(place, ("ann", "a", Action.JUDGE, grade))
    merge(*made, rule=Rule.LATEST)
    with Collection(str(made[0])) as opened:
        opened.add_guideline("# Two\n")
        opened.reopen_outdated()
    out = cli("history", "1", "a", "--collection", str(made[0])).fine().out
    words = " ".join(out.split())
    assert "settled by merge" in words
    assert "copies settled: by latest" in words
    assert "reopened by organiser: guidelines" in words
    assert "done on a copy that had no event before it" in words
    assert words.count("a merge has no time of its own") == 1
    rows = cli("history", "1", "a", "--collection", str(made[0]), "--format", "tsv").fine().tsv()
    assert [row["action"] for row in rows] == ["judge", "judge", "settle", "reopen"]
    assert "a merge" not in cli("history", "1", "b", "--collection", str(made[0])).fine().out


def test_document_nobody_looked_at_has_a_history_without_events(cli: Cli, looked: Path) -> None:
    """No event is said as such, in every format."""
    assert "no event: nobody has looked at it" in cli("history", "2", "a").fine().out
    assert cli("history", "2", "a", "--format", "json").json()["events"] == []
    assert cli("history", "2", "a", "--format", "tsv").fine().tsv() == []


def test_notes_steer_no_terminal(cli: Cli, looked: Path) -> None:
    """A judge's words are data."""
    with Collection("collection.db") as opened:
        ann = Sitting(opened.desk("ann"), "1")
        ann.act("f", Action.NOTE, note="a\x1b]0;owned\x07\u202eb [red]")
        ann.desk.leave()
    for fmt in ("table", "tsv", "json"):
        out = cli("history", "1", "f", "--format", fmt).fine().out
        assert controls(out) == []
        assert "\u202e" not in out
        assert "[red]" in out


def test_unknown_topic_or_document_is_a_mistake(cli: Cli, looked: Path) -> None:
    """Neither is guessed: 01 is not 1."""
    assert "unknown topic `01`; known: `1`" in cli("history", "01", "a").failed(1).err
    refused = cli("history", "1", "aa").failed(1)
    assert "unknown document `aa`; known: `a`" in refused.err
    assert "pooler list docs" in refused.err
