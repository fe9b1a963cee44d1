"""`pooler history`: who changed what, and why this grade; for people a page, for programs all."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from store.collection import Collection
from store.records import Action, JudgeKind, Passage, Qrel, Topic
from tests.helpers.filled_collection import fill
from tests.helpers.run import Cli, controls, run
from tests.helpers.wine import make, work
from tests.helpers.world import JudgeAtWork, change_stored, make_pool


@pytest.fixture
def looked(cli: Cli, here: Path) -> Path:
    """Work beside a collection with every state there is."""
    cli("init", "--scale", "0-2").fine()
    with Collection("collection.db") as opened:
        fill(opened)
    return here


def final_line(cli: Cli, topic: str, docno: str) -> str:
    """Return what the history says of the final grade, first below the table."""
    lines = cli("history", topic, docno).fine().out.split("final grade: ")[1].splitlines()
    ends = ("it stands: ", "no event")
    until = next(number for number, line in enumerate(lines) if line.startswith(ends))
    return "final grade: " + " ".join(lines[:until])


def test_final_grade_is_given_or_its_want_explained(cli: Cli, looked: Path) -> None:
    """One judge's grade is final; none, several, cannot, skipped and unpooled are five reasons."""
    assert final_line(cli, "1", "a") == (
        "final grade: 0 (not relevant), of ann, the only judge to grade it;"
        " relevant from level 1 (relaxed): no, from level 2 (rigid): no"
    )
    assert "found impossible to judge" in final_line(cli, "1", "d")
    assert "pooled, without a decision yet" in final_line(cli, "1", "e")
    assert "it is in no pool and has no grade" in final_line(cli, "2", "f")
    with Collection("collection.db") as opened:
        bob = JudgeAtWork(opened.desk("bob"), "1")
        bob.grade("a", 1)
        bob.act("f", Action.SKIP)
        bob.desk.leave()
        opened.judgements.add({"gpt": [Qrel("1", "b", 1), Qrel("1", "e", 1)]}, JudgeKind.MODEL)
    assert "none; judges gave different grades" in final_line(cli, "1", "a")
    assert ", of ann, the only person to grade it (models did, too, and" in final_line(cli, "1", "b")
    assert "none; only models graded it, and by default people alone count" in final_line(cli, "1", "e")
    assert "none; skipped, without a decision" in final_line(cli, "1", "f")
    reasons = {
        docno: cli("history", "1", docno, "--format", "json").fine().known()["final"]["reason"]
        for docno in "abdef"
    }
    assert reasons == {"a": "undecided", "b": None, "d": "cannot", "e": "other-kinds",
                       "f": "skipped"}  # fmt: skip


def test_events_stand_in_full_in_json(cli: Cli, looked: Path) -> None:
    """Passages with their texts, undo with what it took back, states after each event."""
    with Collection("collection.db") as opened:
        ann = JudgeAtWork(opened.desk("ann"), "1")
        marked = (Passage(0, 4, "text"),)
        ann.act("a", Action.MARK, passages=marked)
        ann.grade("a", 2)
        ann.undo()
        ann.desk.leave()
    found = cli("history", "1", "a", "--format", "json").fine().known()
    assert [row["action"] for row in found["events"]] == ["judge", "mark", "judge", "undo"]
    assert found["events"][1]["passages"] == [{"start": 0, "length": 4, "text": "text"}]
    assert (found["events"][2]["is_undone"], found["events"][3]["undid"]) == (True, 3)
    assert found["events"][3]["grade"] == 0
    assert found["standing"] == [{"judge": "ann", "kind": "human", "state": "judged", "grade": 0}]
    assert found["final"]["by"] == "ann"
    assert [one["pool"] for one in found["pools"]] == ["main", "late"]
    rows = cli("history", "1", "a", "--format", "tsv", "--table", "events").fine().tsv()
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
        assert f"the only judge to grade it; {expected} it stands: " in " ".join(out.split())


def test_what_no_judge_did_is_not_under_their_name_alone(cli: Cli, here: Path) -> None:
    """The organiser is named."""
    place = make(here / "whole.db")
    work(place, ("ann", "a", Action.JUDGE, 1))
    with Collection(str(place)) as opened:
        opened.guidelines.add("# Two\n")
        opened.rejudging.reopen()
    asked = ("history", "1", "a", "--collection", str(place))
    assert "reopened by organiser: guidelines" in " ".join(cli(*asked).fine().out.split())
    rows = cli(*asked, "--format", "tsv", "--table", "events").fine().tsv()
    assert [row["action"] for row in rows] == ["judge", "reopen"]


def test_document_nobody_looked_at_has_a_history_without_events(cli: Cli, looked: Path) -> None:
    """No event is said as such, in every format."""
    assert "no event" in cli("history", "2", "a").fine().out
    assert cli("history", "2", "a", "--format", "json").json()["events"] == []
    assert cli("history", "2", "a", "--format", "tsv", "--table", "events").fine().tsv() == []


def test_notes_steer_no_terminal(cli: Cli, looked: Path) -> None:
    """A judge's words are data."""
    with Collection("collection.db") as opened:
        ann = JudgeAtWork(opened.desk("ann"), "1")
        ann.act("f", Action.NOTE, note="a\x1b]0;owned\x07\u202eb [red]")
        ann.desk.leave()
    for options in ((), ("--format", "tsv", "--table", "events"), ("--format", "json")):
        out = cli("history", "1", "f", *options).fine().out
        assert controls(out) == []
        assert "\u202e" not in out
        assert "[red]" in out


def test_unknown_topic_or_document_is_a_mistake(cli: Cli, looked: Path) -> None:
    """Neither is guessed: 01 is not 1."""
    assert "unknown topic `01`; known: `1`" in cli("history", "01", "a").failed(1).err
    refused = cli("history", "1", "aa").failed(1)
    assert "unknown document `aa`; known: `a`" in refused.err
    assert "pooler show docs" in refused.err


def test_collection_tells_who_changed_what_in_every_format(cli: Cli, looked: Path) -> None:
    """The table's rows are those of json and tsv, the newest last, with the grade before."""
    with Collection("collection.db") as opened:
        opened.guidelines.add("# One\n")
        bob = JudgeAtWork(opened.desk("bob"), "1")
        bob.grade("c", 2)
        bob.desk.leave()
    rows = cli("history", "--format", "json").fine().json()
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert cli("history", "--format", "tsv").fine().tsv() == [
        {name: "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)
         for name, cell in row.items()}
        for row in rows
    ]  # fmt: skip
    assert {row["what"] for row in rows} == {
        "collection", "event", "guidelines", "judge", "pool", "run",
    }  # fmt: skip
    last = rows[-1]
    assert (last["judge"], last["topic"], last["docno"]) == ("bob", "1", "c")
    assert (last["grade_before"], last["grade"], last["guideline_version"]) == (1, 2, 1)
    table = cli("history").fine().out.splitlines()
    end = table.index(f"{len(rows)} rows")
    words = table[end - 1].split()
    assert table[0].startswith(f"when, {last['at'][:4]} UTC  ")
    assert words[:2] == [last["at"][5:10], last["at"][11:19]]
    assert words[2:] == ["bob", "1", "c", "judge", "1", "->", "2", "guidelines", "1"]
    assert table[end + 1].startswith("withdrawals have no time of their own")
    assert any("pool late; round 2" in line for line in table)
    assert any("torn" in line for line in table)


def test_of_a_topic_and_of_judges(cli: Cli, looked: Path) -> None:
    """TOPIC and --judge choose; both, and several judges, go together."""
    told = cli("history", "1", "--judge", "bob", "--format", "json").fine().json()
    assert [(row["judge"], row["docno"]) for row in told] == [("bob", "c"), ("bob", "b")]
    both = cli("history", "1", "--judge", "bob", "--judge", "ann", "--format", "tsv").fine().tsv()
    assert {row["judge"] for row in both} == {"ann", "bob"}
    assert len(both) == 8
    one = cli("history", "1", "b", "--judge", "bob", "--format", "json").fine().json()
    assert [row["judge"] for row in one["events"]] == ["bob"]
    assert {row["judge"] for row in one["standing"]} == {"ann", "bob"}


def test_limit_tells_the_newest_and_how_many_are_left_out(cli: Cli, looked: Path) -> None:
    """What is not shown is counted on stderr, in every format and form; nothing left, no word."""
    n_rows = len(cli("history", "--format", "json").fine().json())
    for fmt in ("table", "tsv", "json"):
        told = cli("history", "--limit", "2", "--format", fmt).fine()
        assert f"{n_rows - 2} older rows are not shown" in told.err
        assert cli("history", "--limit", n_rows, "--format", fmt).fine().err == ""
    newest = cli("history", "--limit", "1", "--format", "json").fine().json()
    assert [row["docno"] for row in newest] == ["z"]
    with Collection("collection.db") as opened:
        ann = JudgeAtWork(opened.desk("ann"), "1")
        ann.grade("a", 2)
        ann.desk.leave()
    one = cli("history", "1", "a", "--limit", "1").fine()
    assert "1 older event is not shown" in one.err
    assert "1 of 2 events of 1 judge" in one.out


def test_table_of_many_rows_shows_the_newest_fifty(cli: Cli, collection_of: Callable[..., None]) -> None:
    """People get a page or so without asking, programs everything."""
    collection_of(old=[f"1 0 d{number} 1" for number in range(80)])
    told = cli("history").fine()
    # The collection was made, the judge added.
    assert "50 of 82 rows" in told.out
    assert "32 older rows are not shown" in told.err
    assert len(cli("history", "--format", "tsv").fine().tsv()) == 82


def test_stretch_of_time_is_of_utc_unless_a_zone_says_otherwise(cli: Cli, looked: Path) -> None:
    """A date is its first moment; with +01:00 that is an hour earlier."""
    change_stored("collection.db", "UPDATE judgement SET judged_at = '2026-03-02 00:00:00.000000'")
    change_stored("collection.db", "UPDATE judgement SET judged_at = '2026-03-01 23:30:00.000000'"
            " WHERE judge_id = (SELECT id FROM judge WHERE name = 'bob')")  # fmt: skip

    def judges(*options: str) -> set[str]:
        rows = cli("history", "1", *options, "--until", "2026-03-09", "--format", "json").json()
        return {row["judge"] for row in rows if row["what"] == "event"}

    assert judges("--since", "2026-03-01") == {"ann", "bob"}
    assert judges("--since", "2026-03-02") == {"ann"}
    assert judges("--since", "2026-03-02+01:00") == {"ann", "bob"}
    assert judges("--since", "2026-03-02T01:30+02:00") == {"ann", "bob"}
    assert judges("--since", "2026-03-01T23:30:00.000001Z") == {"ann"}
    assert judges("--since", "2026-03-02T00:00:01") == set()
    nothing = cli("history", "--since", "2199-01-01").fine()
    assert nothing.out == "nothing with a date has happened\n"
    assert cli("history", "--since", "2199-01-01", "--format", "json").fine().json() == []


@pytest.mark.parametrize(
    "wrong", ["soon", "25:00", "2026-13-01", "2026-03-02T09:30+1", "", "0001-01-01T00:00+14:00"]
)
def test_what_is_no_moment_is_a_mistake(cli: Cli, looked: Path, wrong: str) -> None:
    """One line says what was expected, with examples."""
    told = cli("history", f"--since={wrong}").failed(1).err
    assert told.startswith("error: `--since` must be a date or date-time like 2026-03-02, ")
    assert repr(wrong) in told
    assert len(told.splitlines()) == 1


def test_end_before_the_beginning_unknown_topic_and_judge_are_mistakes(cli: Cli, looked: Path) -> None:
    """Nothing is shown for any of them."""
    swapped = cli("history", "--since", "2026-03-02", "--until", "2026-03-01").failed(1)
    assert "`--until` must be later than --since 2026-03-02" in swapped.err
    assert "unknown topic `01`; known: `1`" in cli("history", "01").failed(1).err
    for where in ((), ("1",), ("1", "a")):
        refused = cli("history", *where, "--judge", "an").failed(1)
        assert "unknown judge `an`; known: `ann`" in refused.err
        assert refused.out == ""


def test_tables_fit_80_columns_and_lose_nothing(
    cli: Cli, here: Path, on_terminal: Callable[[Callable[[], object]], list[str]]
) -> None:
    """Long names, docnos, labels and notes are folded under their columns, whole."""
    docno = "clueweb09-en0000-00-00000"
    note = "the wine is red, and from a place that nobody at all has ever heard of, " * 4
    long = "a-judge-with-a-very-long-name"
    scale = here / "scale.toml"
    labels = ("not relevant at all to anybody", "relevant, if only a little")
    scale.write_text("".join(f'[[grade]]\nvalue = {grade}\nlabel = "{label}"\n'
                             for grade, label in enumerate(labels)), "utf-8")  # fmt: skip
    cli("init", "--scale", scale).fine()
    with Collection("collection.db") as opened:
        opened.topics.add([Topic("topic-2026-001", "wine")])
        opened.pools.add(make_pool({"topic-2026-001": [docno, "文" * 30]}, name="p" * 70))
        opened.judges.add(long, JudgeKind.HUMAN)
        sitting = JudgeAtWork(opened.desk(long), "topic-2026-001")
        sitting.grade(docno, 1)
        sitting.act(docno, Action.CANNOT, reason="torn", note=note)
        sitting.act("文" * 30, Action.SKIP)
        sitting.desk.leave()
    for where in ((), ("topic-2026-001",), ("topic-2026-001", docno)):
        lines = on_terminal(lambda where=where: run(["history", *where]))
        assert [line for line in lines if cell_len(line) > 80] == []
        ruled = next(number for number, line in enumerate(lines) if line.startswith("──"))
        begin = lines[ruled - 1].index("about")
        table = [line for line in lines[ruled + 1 :] if len(line) > begin]
        assert "heard of, the wine" in " ".join(" ".join(line[begin:] for line in table).split())


def test_words_of_others_steer_no_terminal_in_the_list(cli: Cli, looked: Path) -> None:
    """Notes and topics' titles are data there, too."""
    evil = "a\x1b]0;owned\x07\u202eb [red]"
    with Collection("collection.db") as opened:
        ann = JudgeAtWork(opened.desk("ann"), "1")
        ann.act("f", Action.NOTE, note=evil)
        ann.desk.leave()
        opened.topics.add([Topic("1", evil)], replace=True)
    for fmt in ("table", "tsv", "json"):
        out = cli("history", "--format", fmt).fine().out
        assert controls(out) == []
        assert "\u202e" not in out
        assert out.count("[red]") == 2


def test_who_is_gone_is_named_nowhere(cli: Cli, looked: Path) -> None:
    """Of an erased judge a count is told; of one who was renamed the new name."""
    with Collection("collection.db") as opened:
        opened.erasures.erase("ann")
        opened.judges.rename("bob", "judge-1")
    for fmt in ("table", "tsv", "json"):
        out = cli("history", "--format", fmt).fine().out
        assert not re.search(r"\b(ann|bob)\b", out)
        assert "judge-1" in out
    words = " ".join(cli("history").fine().out.split())
    # ann graded a, b and h, skipped c, could not judge d, and noted e.
    assert "a judge of kind human; with 3 judgements, 6 events" in words
    assert "withdrawn since" in words
