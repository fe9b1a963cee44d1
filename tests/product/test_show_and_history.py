"""`pooler show` and `pooler history`: what is there, and what happened to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len

from pooler import __version__
from store.collection import Collection
from store.records import Action, JudgeKind, Passage, Qrel, Topic
from tests.helpers.filled_collection import fill
from tests.helpers.fixtures import made_once
from tests.helpers.run import Cli, Terminal, controls, run, run_to, write
from tests.helpers.wine import make, work
from tests.helpers.world import JudgeAtWork, change_stored, make_pool

KINDS = ("runs", "topics", "docs", "pools", "judges")


@pytest.fixture
@made_once
def looked(cli: Cli, here: Path) -> Path:
    """Work beside a collection with every state there is."""
    cli("init", "--scale", "0-2").fine()
    with Collection("collection.db") as opened:
        fill(opened)
    return here


@pytest.mark.slow
def test_states_add_up_to_what_is_pooled(cli: Cli, looked: Path) -> None:
    """Judged, cannot, skipped and unjudged are parts of pooled; outside is none of it."""
    for kind, size in (("topics", "pooled"), ("docs", "pooled"), ("pools", "documents")):
        for row in cli("show", kind, "--format", "json").fine().json():
            parts = sum(row[name] for name in ("judged", "cannot", "skipped", "unjudged"))
            assert parts == row[size], row
    [row] = [one for one in cli("show", "topics", "--format", "json").json() if one["topic"] == "1"]
    assert (row["pooled"], row["judged"], row["cannot"], row["unjudged"]) == (7, 3, 1, 3)
    assert (row["outside"], row["relevant"]) == (1, 3)
    words = cli("show", "topics").fine().out.splitlines()
    for line in (
        "3 topics",
        "relevant: graded 1 or more by somebody, person or model.",
        "outside: judged, but in no pool.",
    ):
        assert line in words


@pytest.mark.slow
def test_judges_are_counted_as_status_does(cli: Cli, looked: Path) -> None:
    """What a judge has judged, in pools or not."""
    here = cli("show", "judges", "--format", "json").fine().json()
    outside = {row["judge"]: row["judged"] + row["outside"]
               for row in cli("status", "--table", "status", "--format", "json").fine().json()}  # fmt: skip
    assert {row["judge"]: row["judged"] for row in here if row["judge"] in outside} == outside


@pytest.mark.slow
def test_documents_are_cut_for_people_alone(cli: Cli, looked: Path) -> None:
    """A table says of how many it shows the first; programs get all unless they ask for fewer."""
    lines = "".join(f"9 0 d{number:03} 1\n" for number in range(60))
    write(looked / "q", *lines.splitlines())
    cli("import", "judgements", "q", "--judge", "many", "--allow-unknown").fine()
    table = cli("show", "docs").fine().out
    assert "50 of 69 documents: --limit shows more" in table
    assert len(cli("show", "docs", "--format", "json").json()) == 69
    assert len(cli("show", "docs", "--limit", "2", "--format", "json").json()) == 2
    assert "69 documents\n" in cli("show", "docs", "--limit", "1000").fine().out


@pytest.mark.slow
def test_tables_for_people_say_once_what_all_rows_say(cli: Cli, looked: Path) -> None:
    """A column of one value is said in words, so that documents fit; programs have all of it."""
    table = cli("show", "docs").fine().out.splitlines()
    words = next(line for line in table if line.startswith("the same in every row: "))
    said = dict(part.split() for part in words.removeprefix("the same in every row: ").split(", "))
    rows = cli("show", "docs", "--format", "json").fine().json()
    assert said
    for name, value in said.items():
        assert {row[name] for row in rows} == {{"yes": True, "no": False}.get(value, 0)}
        assert name not in table[0].split()
    for name in ("cannot", "skipped", "unjudged", "outside", "text", "listed"):
        assert (name in said) is (len({row[name] for row in rows}) == 1 and (
            rows[0][name] in (0, True)))  # fmt: skip


@pytest.mark.slow
def test_columns_of_states_are_explained_where_they_stand(cli: Cli, looked: Path) -> None:
    """What is listed, outside or a round is said below the table, once."""
    for kind, words in (
        ("topics", ("listed: ", "outside: ")),
        ("docs", ("listed: ", "outside: ")),
        ("pools", ("round: ",)),
        ("judges", ("undecided: ",)),
    ):
        shown = cli("show", kind).fine().out
        for word in words:
            assert shown.count(word) == 1, (kind, word)


@pytest.mark.slow
def test_a_topic_that_nobody_knows_is_refused(cli: Cli, looked: Path) -> None:
    """A filter that nothing has is a mistake."""
    assert "unknown topic `x9`" in cli("show", "docs", "--topic", "x9").failed(1).err


@pytest.mark.slow
def test_empty_collection_says_what_comes_next(cli: Cli, here: Path) -> None:
    """Nothing there is an empty list for programs, and a command to type for people."""
    cli("init").fine()
    for kind in KINDS:
        assert cli("show", kind, "--format", "json").fine().json() == []
        assert cli("show", kind).fine().out.startswith("no ")
    assert "pooler import runs" in cli("show", "runs").out


@pytest.mark.slow
def test_hostile_texts_steer_no_terminal(cli: Cli, looked: Path) -> None:
    """Titles reach a terminal without their control characters."""
    write(looked / "t.jsonl", '{"topic": "66", "title": "[bold]x\\u001b]0;owned\\u0007\\u202e"}')
    cli("import", "topics", "t.jsonl").fine()
    for fmt in ("table", "tsv", "json"):
        out = cli("show", "topics", "--format", fmt).fine().out
        assert controls(out) == []
        assert "\u202e" not in out
    assert "[bold]x" in cli("show", "topics").out


@pytest.mark.slow
def test_titles_of_documents_are_as_wide_as_there_is_room(
    cli: Cli, looked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole on a line of a wide terminal, and within a narrow one."""
    title = " ".join(f"word{n}" for n in range(12))
    write(looked / "d.jsonl", f'{{"docno": "new", "title": "{title}", "text": "t"}}')
    cli("import", "docs", "d.jsonl", "--all").fine()
    for width in (200, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = re.sub(r"\x1b\[[0-9;]*m", "", run_to(Terminal(), "show", "docs").fine().out)
        lines = shown.splitlines()
        assert any(title in line for line in lines) == (width == 200)
        assert max(map(cell_len, lines)) <= width


@pytest.mark.slow
def test_titles_are_folded_and_not_cut(cli: Cli, looked: Path) -> None:
    """A long title takes several lines, and no word of it is missing."""
    words = [f"word{number}" for number in range(30)]
    write(looked / "t.jsonl", f'{{"topic": "66", "title": "{" ".join(words)}"}}')
    cli("import", "topics", "t.jsonl").fine()
    shown = cli("show", "topics").fine().out
    assert sum("word" in line for line in shown.splitlines()) > 1
    assert [word for word in shown.split() if word.startswith("word")] == words


THINGS = (("run", "bm25"), ("topic", "1"), ("doc", "a"), ("pool", "main"), ("judge", "ann"))


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
