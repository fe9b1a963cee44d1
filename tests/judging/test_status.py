"""`pooler status`: five states, pace, the next line to type, what judging cost, recall."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pooler.commands.judge.status_next import Stage, next_command
from store.analysis.pools.stopping import most_relevant
from store.collection import Collection
from store.judging.events import Effort, recent_active_ms
from store.judging.progress import Unclaimed
from store.records import Action, Decision, Document, Grade, JudgeKind, Qrel, Scale, Task
from tests.helpers.drawing import adaptive_pool
from tests.helpers.filled_collection import Counts, by_topic, state_counts
from tests.helpers.fixtures import made_once
from tests.helpers.full_collection import fill_by_chance, named_contents
from tests.helpers.places import held_place, let_lapse
from tests.helpers.run import Cli, by_rule, write
from tests.helpers.strategies import examples
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, new_collection, reading

STATES = ("pooled", "judged", "unjudged", "skipped", "cannot", "outside")


@pytest.fixture
@made_once
def six_pooled(cli: Cli, here: Path, collection_of: Callable[..., None]) -> Path:
    """Work beside a collection whose pool holds a, b, c, d, e of topic 1 and a of topic 2."""
    collection_of()
    write(here / "x.run", *[f"1 Q0 {docno} 1 1 x" for docno in "abcde"], "2 Q0 a 1 1 x")
    cli("import", "runs", "x.run").fine()
    cli("pool", "--depth", "5").fine()
    cli("judges", "add", "anna", "ben").fine()
    return here


def document_states(cli: Cli, judge: str, topic: str = "") -> list[int | None]:
    """Return a judge's counts by state."""
    by_topic = ["--by-topic"] if topic else ["--table", "status"]
    rows = cli("status", *by_topic, "--format", "json").fine().json()
    [row] = [row for row in rows if (row["judge"], row["topic"] if topic else "") == (judge, topic)]
    return [row[state] for state in STATES]


def test_five_states_stay_five(cli: Cli, six_pooled: Path) -> None:
    """Grade 0, skipped, cannot be judged, a note alone, and nothing are counted apart, by judge."""
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        desk.queue("1")
        desk.record(Decision("1", "a", Action.JUDGE, grade=0))
        desk.record(Decision("1", "b", Action.SKIP))
        desk.record(Decision("1", "c", Action.CANNOT, reason="not in my language"))
        desk.record(Decision("1", "d", Action.NOTE, note="odd"))
        desk.record(Decision("1", "e", Action.SKIP))
        desk.leave()
    write(six_pooled / "q", "3 0 z 2")
    cli("import", "judgements", "q", "--judge", "anna", "--kind", "human", "--allow-unknown").fine()
    assert document_states(cli, "anna") == [6, 1, 2, 2, 1, 1]
    assert document_states(cli, "anna", "1") == [5, 1, 1, 2, 1, 0]
    assert document_states(cli, "anna", "2") == [1, 0, 1, 0, 0, 0]
    assert document_states(cli, "anna", "3") == [0, 0, 0, 0, 0, 1]
    assert document_states(cli, "ben") == [6, 0, 6, 0, 0, 0]
    row = row_of(cli, "anna")
    assert [row[f"grade_{grade}"] for grade in (0, 1, 2)] == [1, 0, 1]
    table = cli("status").fine().out
    assert "outside: judged, but in no pool" in table
    assert "pools: pool (6 pairs)" in table


def judge_timed(judge: str, topic: str, seconds: dict[str, float]) -> None:
    """Grade documents, each with its active time."""
    with Collection("collection.db") as opened:
        desk = opened.desk(judge)
        desk.queue(topic)
        moment = datetime(2026, 1, 1, tzinfo=UTC)
        for number, (docno, taken) in enumerate(seconds.items()):
            times = {"active_ms": round(taken * 1000), "dwell_ms": round(taken * 1000)}
            shown = moment + timedelta(minutes=number)
            desk.record(Decision(topic, docno, Action.JUDGE, grade=0, shown_at=shown, **times))
        desk.leave()


def row_of(cli: Cli, judge: str, *arguments: str) -> dict[str, Any]:
    """Return what programs are told of a judge."""
    [row] = [
        row for row in cli("status", *arguments, "--format", "json").json()["status"] if row["judge"] == judge
    ]
    found: dict[str, Any] = row
    return found


FORECAST = ("pace_s", "forecast_s", "forecast_low_s", "forecast_high_s", "timed", "reason")


def test_forecast_is_the_pace_times_what_is_left(cli: Cli, here: Path) -> None:
    """Five decisions of 30, 50, 20, 60, 40 s and 90 documents left make an hour, give or take."""
    cli("init").fine()
    docnos = [f"d{number:02}" for number in range(95)]
    write(here / "x.run", *[f"1 Q0 {docno} 1 {-n} x" for n, docno in enumerate(docnos)])
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    cli("judges", "add", "anna", "ben").fine()
    judge_timed("anna", "1", dict(zip(docnos, (30, 50, 20, 60, 40), strict=False)))
    judge_timed("ben", "1", dict(zip(docnos, (30, 50, 20, 60), strict=False)))
    row = row_of(cli, "anna")
    assert (row["left"], row["pace_s"], row["forecast_s"]) == (90, 40.0, 3600.0)
    # exp(2.1318 * 15.811 / 40 * sqrt(1/5 + 1/90)) = exp(.38718) = 1.4728
    assert row["forecast_low_s"] == pytest.approx(3600 / 1.4728, rel=1e-3)
    assert row["forecast_high_s"] == pytest.approx(3600 * 1.4728, rel=1e-3)
    assert (row["timed"], row["reason"]) == (5, None)
    few = row_of(cli, "ben")
    assert [few[name] for name in FORECAST] == [None, None, None, None, 4, "fewer-than-5"]
    lines = [line.split() for line in cli("status").fine().out.splitlines()]
    assert ["anna", "90", "40.0", "5", "about", "1", "h", "41", "min", "to", "1", "h", "30"] in lines
    assert ["ben", "91", "-", "4", "too", "few", "decisions", "-"] in lines


def test_undefined_pace_is_a_reason(cli: Cli, six_pooled: Path) -> None:
    """Without times there is no number and a word for why: nothing timed, imported, model."""
    write(six_pooled / "q", "1 0 a 2", "1 0 b 1")
    cli("import", "judgements", "q", "--judge", "gpt", "--kind", "model").fine()
    cli("import", "judgements", "q", "--judge", "trec", "--kind", "imported").fine()
    assert [row_of(cli, "anna")[name] for name in FORECAST] == [None] * 4 + [0, "no-times"]
    for judge, kind in (("gpt", "model"), ("trec", "imported")):
        assert [row_of(cli, judge)[name] for name in FORECAST] == [None] * 5 + [kind]
        assert row_of(cli, judge)["left"] is None
    assert "at this pace" not in cli("status").fine().out
    judge_timed("ben", "1", {"a": 3})
    table = cli("status").fine().out.split("at this pace")[1]
    assert "no decision yet" in table
    assert "gpt" not in table


def test_nothing_left_takes_no_time(cli: Cli, six_pooled: Path) -> None:
    """Who has decided everything is told so; a skipped document is not left."""
    judge_timed("anna", "1", dict.fromkeys("abcd", 2.0))
    judge_timed("anna", "2", {"a": 2.0})
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        desk.queue("1")
        desk.record(Decision("1", "e", Action.SKIP))
        desk.leave()
    row = row_of(cli, "anna")
    assert (row["left"], row["pace_s"], row["forecast_s"]) == (0, 2.0, 0.0)
    assert "nothing left" in cli("status").fine().out


def test_topics_are_forecast_by_the_judges_own_pace(cli: Cli, six_pooled: Path) -> None:
    """With --by-topic each row has its own documents left, at the pace over all topics."""
    judge_timed("anna", "1", dict.fromkeys("abcde", 6.0))
    rows = {row["topic"]: row for row in cli("status", "--by-topic", "--format", "json").json()
            if row["judge"] == "anna"}  # fmt: skip
    assert (rows["1"]["left"], rows["1"]["forecast_s"]) == (0, 0.0)
    assert (rows["2"]["left"], rows["2"]["forecast_s"], rows["2"]["pace_s"]) == (1, 6.0, 6.0)
    tsv = {row["topic"]: row for row in cli("status", "--by-topic", "--format", "tsv").tsv()
           if row["judge"] == "ben"}  # fmt: skip
    assert (tsv["2"]["left"], tsv["2"]["pace_s"], tsv["2"]["reason"]) == ("1", "", "no-times")


def test_assigned_documents_alone_are_left(cli: Cli, six_pooled: Path) -> None:
    """With assignments a judge has what is assigned; what lies before nobody is said."""
    held_place(str(six_pooled / "collection.db"), "1", "ab", "anna")
    held_place(str(six_pooled / "collection.db"), "1", "cd", None, lease_s=600)
    judge_timed("anna", "1", {"a": 2.0})
    row = row_of(cli, "anna")
    assert [row[name] for name in STATES] == [2, 1, 1, 0, 0, 0]
    assert (row["left"], row["open_places"], row["unassigned"]) == (1, 2, 2)
    assert document_states(cli, "ben") == [0, 0, 0, 0, 0, 0]
    rows = cli("status", "--by-topic", "--format", "json").json()
    assert {(row["topic"], row["open_places"], row["unassigned"]) for row in rows} == {
        ("1", 2, 1),
        ("2", 0, 1),
    }
    table = cli("status").fine().out
    assert "2 assignments open to any judge, counted for no judge" in table
    assert "2 pooled documents unassigned" in table


def test_adaptive_topic_with_nothing_drawn_is_listed(cli: Cli, here: Path) -> None:
    """What may still be drawn is left to every judge; its topics are there at once, in natural order."""
    cli("init").fine()
    write(here / "x.run", *[f"{topic} Q0 d{n} 1 {-n} x" for topic in ("10", "9") for n in range(30)])
    cli("import", "runs", "x.run").fine()
    cli("pool", "-s", "mtf", "--name", "live", "--depth", "30", "-b", "20").fine()
    cli("judges", "add", "anna").fine()
    rows = cli("status", "--by-topic", "--format", "json").fine().json()
    assert [(row["topic"], row["pooled"], row["left"], row["undrawn"]) for row in rows] == [
        ("9", 0, 20, 20),
        ("10", 0, 20, 20),
    ]
    with Collection("collection.db") as opened:
        for number in range(3):
            opened.pools.draw("live", "9", lambda _, docno=f"d{number}": docno)
    judge_timed("anna", "9", {"d0": 3.0, "d1": 4.0})
    row = row_of(cli, "anna")
    assert (row["pooled"], row["judged"], row["left"], row["undrawn"]) == (3, 2, 38, 37)
    assert "left includes 37 that adaptive pools may still draw" in cli("status").fine().out


def test_adaptive_pool_says_how_many_it_has_drawn(cli: Cli, here: Path) -> None:
    """An adaptive pool counts its draws of those it may make; others count their pairs."""
    cli("init").fine()
    docnos = [f"d{number:04}" for number in range(1200)]
    lines = [f"{topic} Q0 {docno} 1 {-n} x" for topic in "12" for n, docno in enumerate(docnos)]
    write(here / "x.run", *lines)
    cli("import", "runs", "x.run").fine()
    cli("pool", "--depth", "2").fine()
    cli("pool", "-s", "mtf", "--name", "live", "--depth", "1200", "-b", "700").fine()
    cli("judges", "add", "anna").fine()
    # Judged: both documents of the depth pool; drawn are these two and one more.
    cli("judge", "--judge", "anna", "--topic", "2", "--plain", stdin=b"0\n0\n").fine()
    pools = "pools: pool (4 pairs), live (3 of 1,400 drawn)"
    assert f"2 topics, 1 run; {pools}" in cli("status").fine().out
    assert document_states(cli, "anna", "2") == [3, 2, 1, 0, 0, 0]
    assert document_states(cli, "anna") == [5, 2, 3, 0, 0, 0]


def test_adjudicator_has_rulings_and_no_pool(cli: Cli, six_pooled: Path) -> None:
    """Nothing of the pool is owed: rulings are counted, and open disagreements once for all."""
    write(six_pooled / "q", "1 0 a 0", "1 0 b 0", "1 0 c 2", "3 0 z 2")
    cli("import", "judgements", "q", "--judge", "anna", "--kind", "human").fine()
    assert "disagreement" not in cli("status").fine().out
    write(six_pooled / "q", "1 0 a 1", "1 0 b 1", "1 0 c 2", "3 0 z 1")
    cli("import", "judgements", "q", "--judge", "ben", "--kind", "human").fine()
    cli("judges", "add", "zoe", "yan", "--kind", "adjudicator").fine()
    write(six_pooled / "q", "1 0 a 2", "3 0 z 0")
    options = ("--kind", "adjudicator", "--replace")
    cli("import", "judgements", "q", "--judge", "zoe", *options).fine()
    assert document_states(cli, "zoe") == [None, 2, None, 0, 0, None]
    assert document_states(cli, "zoe", "1") == [None, 1, None, 0, 0, None]
    assert document_states(cli, "yan") == [None, 0, None, 0, 0, None]
    assert document_states(cli, "anna") == [6, 3, 3, 0, 0, 1]
    assert [row_of(cli, "zoe")[f"grade_{grade}"] for grade in (0, 1, 2)] == [1, 0, 1]
    table = cli("status").fine().out
    # anna and ben differ on a, b and z; zoe has ruled on a and z.
    assert table.count("3 disagreements, 1 open") == 1
    assert ["zoe", "-", "2", "-", "0", "0", "-", "1", "0", "1"] in [
        line.split() for line in table.splitlines()
    ]


def test_ruling_on_other_grades_than_now_is_not_open(cli: Cli, six_pooled: Path) -> None:
    """What `adjudicate` calls changed since, `status` does not call open."""
    for judge, grade in (("anna", 0), ("ben", 2), ("carl", 1)):
        write(six_pooled / "q", f"1 0 a {grade}")
        cli("import", "judgements", "q", "--judge", judge, "--kind", "human").fine()
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    cli("adjudicate", "--judge", "zoe", "--topic", "1", "--plain", stdin=b"1\nq\n").fine()
    assert "1 disagreement, 0 open\n" in cli("status").fine().out
    cli("judges", "erase", "carl", "--yes").fine()
    assert "changed since" in cli("adjudicate").fine().out
    assert "1 disagreement, 0 open, 1 changed since\n" in cli("status").fine().out


def test_disagreements_are_of_those_whom_the_default_qrels_count(cli: Cli, six_pooled: Path) -> None:
    """`status` counts what `adjudicate` lists, here of models, too."""
    for judge, kind, grade in (("anna", "human", 0), ("gpt", "model", 2)):
        write(six_pooled / "q", f"1 0 a {grade}")
        cli("import", "judgements", "q", "--judge", judge, "--kind", kind).fine()
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    assert "0 disagreements, 0 open\n" in cli("status").fine().out
    cli("qrels", "define", "official", "--kinds", "human,model").fine()
    assert "1 document: 1 open" in cli("adjudicate").fine().out
    assert "1 disagreement, 1 open\n" in cli("status").fine().out


def test_empty_collection_says_what_to_do(cli: Cli, here: Path) -> None:
    """Without judges there is a hint for people and an empty list for programs."""
    cli("init").fine()
    answer = cli("status").fine()
    assert "no judges yet" in answer.out
    assert "0 topics, 0 runs; pools: none" in answer.out
    assert cli("status", "--table", "status", "--format", "json").fine().json() == []
    assert cli("status", "--format", "tsv").fine().tsv() == []
    assert "no document is judged" in cli("status", "effort").fine().out


BEGUN: dict[str, Any] = {"topics": 2, "runs": 2, "pools": 1}
JUDGED: dict[str, Any] = {**BEGUN, "judges": 1, "people": 1, "judgements": 9}
TWO: dict[str, Any] = {**BEGUN, "judges": 2, "people": 2}
BOTH_LEFT: dict[str, Any] = {**TWO, "left": ["ann", "ben"], "untouched": True}
RULE = "qrels define official --aggregate majority --ties low"
EXPORT = "export qrels --out qrels.txt"
STAGES: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({}, "import topics FILE"),
    "topics alone": ({"topics": 2}, "import runs RUN..."),
    "runs without topics": ({"runs": 2}, "import topics FILE"),
    "no pool": ({"topics": 2, "runs": 2}, "pool"),
    "pool without runs": ({"topics": 2, "pools": 1}, "judges add NAME"),
    "no texts": ({**BEGUN, "without_text": 3}, "import docs FILE"),
    "texts of what is judged": ({**JUDGED, "without_text": 3}, EXPORT),
    "no judges": (BEGUN, "judges add NAME"),
    "one person": ({**BEGUN, "judges": 1, "people": 1, "left": ["ann"]}, "judge --judge ann"),
    "nobody assigned": (BOTH_LEFT, "assign --per-document 1"),
    "nobody assigned, but begun": ({**BOTH_LEFT, "judgements": 1}, "serve"),
    "assigned": ({**BOTH_LEFT, "assigned": True}, "serve"),
    "assigned, one is left": (
        {**TWO, "assigned": True, "left": ["ben"], "judgements": 4},
        "judge --judge ben",
    ),
    "pooled since": ({**TWO, "assigned": True, "unassigned": 3, "judgements": 9}, "assign --add"),
    "late run before judging": ({**BOTH_LEFT, "unpooled": 1}, "pool --add"),
    "late run behind": ({**JUDGED, "unpooled": 1}, "pool --add"),
    "a model is left": ({**BEGUN, "judges": 1, "models": ["llama"], "untouched": True}, "ask llama"),
    "people before models": (
        {**BEGUN, "judges": 2, "people": 1, "left": ["ann"], "models": ["m"]},
        "judge --judge ann",
    ),
    "models that cannot be asked": (
        {**BEGUN, "judges": 1, "judgements": 5, "untouched": True},
        "judges add NAME",
    ),
    "disputes and nobody to settle": ({**JUDGED, "disputes": 2}, RULE),
    "disputes and an adjudicator": (
        {**JUDGED, "disputes": 2, "adjudicator": "zoe"},
        "adjudicate --judge zoe",
    ),
    "disputes under a rule": ({**JUDGED, "disputes": 2, "has_rule": True}, EXPORT),
    "all is judged": (JUDGED, EXPORT),
    "judgements from elsewhere": ({"runs": 2, "judges": 1, "judgements": 9}, EXPORT),
}


@pytest.mark.parametrize(("stage", "line"), STAGES.values(), ids=STAGES)
def test_next_command_follows_from_the_stage(stage: dict[str, Any], line: str) -> None:
    """Each state of a collection has one line, and the line says one thing."""
    assert next_command(Stage(**stage)) == line


def next_of(cli: Cli, *options: str) -> str:
    """Return what `status` ends with, which is what its JSON says."""
    last = cli("status", *options).fine().err.splitlines()[-1]
    assert cli("status", *options, "--format", "json").whole()["facts"] == {
        "next": last.removeprefix("next: ")
    }
    return last.removeprefix("next: pooler ")


def test_the_line_leads_from_an_empty_collection_to_qrels(cli: Cli, here: Path) -> None:
    """Whoever types what `status` says, and fills in what is in capitals, gets qrels of two judges."""
    write(here / "topics.tsv", "1\tbees", "2\twasps")
    write(here / "docs.tsv", *[f"{docno}\ttext of {docno}" for docno in "abc"])
    for tag, docnos in {"x": "ab", "y": "ac"}.items():
        lines = [f"{topic} Q0 {docno} 1 {9 - at} {tag}" for topic in "12" for at, docno in enumerate(docnos)]
        write(here / f"{tag}.run", *lines)
    write(here / "ben.qrels", *[f"{topic} 0 {docno} 2" for topic in "12" for docno in "abc"])
    cli("init").fine()
    typed: list[str] = []

    def step(*filled: str, stdin: bytes = b"") -> None:
        line = next_of(cli)
        typed.append(line)
        words = [word for word in shlex.split(line) if not word.rstrip(".").isupper()]
        cli(*words, *filled, stdin=stdin).fine()

    step("topics.tsv")
    step("x.run")
    step()
    step("docs.tsv")
    step("ann")
    step("--plain", stdin=b"\n1\n1\n\n" * 2 + b"q\n")
    cli("import", "runs", "y.run").fine()
    step()
    step("docs.tsv")
    step("--plain", stdin=b"\n1\n\n" * 2 + b"q\n")
    cli("import", "judgements", "ben.qrels", "--judge", "ben", "--kind", "human").fine()
    step()
    step()
    assert typed == [
        "import topics FILE", "import runs RUN...", "pool", "import docs FILE", "judges add NAME",
        "judge --judge ann", "pool --add", "import docs FILE", "judge --judge ann",
        RULE, EXPORT,
    ]  # fmt: skip
    assert (here / "qrels.txt").read_text() == "".join(
        f"{topic} 0 {docno} 1\n" for topic in "12" for docno in "abc"
    )


def test_a_run_that_brings_nothing_new_is_not_to_be_pooled(cli: Cli, here: Path) -> None:
    """`pool --add` is not said of a run whose documents are in the pool: it would add none, for ever."""
    write(here / "x.run", *[f"1 Q0 {docno} 1 1 x" for docno in "ab"])
    write(here / "y.run", *[f"1 Q0 {docno} 1 1 y" for docno in "ab"])
    cli("init").fine()
    write(here / "t.tsv", "1\tbees")
    cli("import", "topics", "t.tsv").fine()
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    cli("import", "runs", "y.run").fine()
    assert next_of(cli) == "import docs FILE"
    write(here / "z.run", "1 Q0 c 1 1 z")
    cli("import", "runs", "z.run", "--late").fine()
    said = " ".join(cli("status").fine().out.split())
    assert "1 run kept out of pools (z): pooler diagnose tells the cost; pooler import runs FILE" in said
    cli("import", "runs", "z.run", "--replace").fine()
    assert next_of(cli) == "pool --add"
    assert "kept out" not in cli("status").out


def test_the_line_names_a_collection_that_is_not_found_without(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collection of `--collection` stands in the line, in quotes where it must; a set one does not."""
    cli("init", "--collection", "my wine.db").fine()
    assert next_of(cli, "--collection", "my wine.db") == "import topics FILE --collection 'my wine.db'"
    monkeypatch.setenv("POOLER_COLLECTION", "my wine.db")
    assert next_of(cli) == "import topics FILE"


def test_the_program_alone_is_status_where_there_is_a_collection(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a collection it is help."""
    told = cli()
    assert "Usage: pooler" in told.out + told.err
    cli("init", "--collection", "wine.db").fine()
    assert "Usage: pooler" in cli().out + cli().err
    monkeypatch.setenv("POOLER_COLLECTION", "wine.db")
    assert cli().fine().err.endswith("next: pooler import topics FILE\n")
    monkeypatch.delenv("POOLER_COLLECTION")
    cli("init").fine()
    assert cli().fine().err.endswith("next: pooler import topics FILE\n")


def report(cli: Cli, *options: str) -> dict[str, list[dict[str, object]]]:
    """Return the tables as programs are given them."""
    tables: dict[str, list[dict[str, object]]] = cli(
        "status", "effort", *options, "--format", "json"
    ).fine().json()  # fmt: skip
    return tables


def test_costs_by_hand(cli: Cli, worked: Path) -> None:
    """Active time has what was taken back; quartiles are of the decisions that stand."""
    anna, gpt = report(cli)["effort"]
    # 8 and 20, twice 7 + 6 + 5 + 4 + 3 + 2 + .5, and twice 3 taken back.
    assert (anna["judge"], anna["sittings"], anna["active_s"]) == ("anna", 2, 89.0)
    assert (anna["decided"], anna["pace_s"]) == (16, 89 / 16)
    # Dwells .75 2.25 3.25 4.25 5.25 6.25 7.25 twice, 8.25 20.25: places 3.75, 7.5, 11.25 of 0-15.
    quartiles = [anna[f"dwell_{name}_s"] for name in ("lower", "median", "upper")]
    assert quartiles == pytest.approx([3.0, 4.75, 6.5])
    assert (anna["low_dwell"], anna["dropped_keys"], anna["undone"]) == (2, 2, 2)
    assert (anna["imported"], anna["reason"]) == (0, None)
    assert gpt == {**dict.fromkeys(anna), "judge": "gpt", "decided": 2, "imported": 2, "reason": "no-times"}


def test_chosen_judges(cli: Cli, worked: Path) -> None:
    """Judges can be named; one without an event has no row, an unknown one is an error."""
    assert [row["judge"] for row in report(cli, "gpt")["effort"]] == ["gpt"]
    assert report(cli, "ben") == {"effort": [], "models": []}
    assert "no document is judged" in cli("status", "effort", "ben").fine().out
    assert "unknown judge `eve`" in cli("status", "effort", "eve").failed(1).err
    tsv = cli("status", "effort", "--format", "tsv", "--table", "effort").fine().tsv()
    assert {row["judge"] for row in tsv} == {row["judge"] for row in report(cli)["effort"]}


TOPIC = "G01"


@pytest.fixture
def tail(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection: a person, a sample of 30 documents a topic in random order."""
    cli("judges", "add", "anna").fine()
    cli("pool", "drop", "--pool", "pool").fine()
    drawn = ("--strategy", "uniform", "--depth", "20", "--budget", "30", "--seed", "4")
    cli("pool", *drawn, "--name", "tail").fine()
    cli("assign", "anna", "--order", "random", "--seed", "4").fine()
    return judged


def rows(cli: Cli, *arguments: str) -> dict[str, dict[str, object]]:
    """Return the rows of a table of recall by topic."""
    found = json.loads(cli(*arguments, "--format", "json").fine().out)["recall"]
    return {row["topic"]: row for row in found}


@pytest.mark.slow
def test_a_target_adds_what_is_needed(cli: Cli, tail: Path) -> None:
    """Six documents are judged in the order of the sample, two of them relevant: by the limit itself.

    People read on what it rests: universe, confidence, assumption; and why there is no bound.
    """
    cli("judge", "--judge", "anna", "--topic", TOPIC, "--plain", stdin=b"2\n0\n1\n0\n0\n0\nq\n").fine()
    status, to_do = (
        rows(cli, "status", "recall", "--confidence", ".9", *more) for more in ((), ("--target", ".6"))
    )
    size = status[TOPIC]["n_random"]
    assert isinstance(size, int)
    limit = most_relevant(size, 6, 2, confidence=0.9)
    for row in (status[TOPIC], to_do[TOPIC]):
        assert (row["found"], row["judged"], row["relevant"], row["waiting"]) == (2, 6, 2, 24)
        assert (row["more"], row["recall"]) == (limit - 2, 2 / limit)
    assert (
        to_do[TOPIC]["needed"]
        == next(
            n for n in range(6, size + 1) if min(most_relevant(size, n, 2, confidence=0.9), 2 + size - n) <= 3
        )
        - 6
    )
    assert {row["reason"] for topic, row in status.items() if topic != TOPIC} == {"sample-unjudged"}
    text = " ".join(cli("status", "recall").fine().out.split())
    for words in (
        "Recall is of the documents that pool tail lists, drawn or not: the first 20 documents of its runs.",
        "Each bound holds with confidence 0.95, however often one looks, if the sample is random",
        "sample-unjudged: nothing of the random sample is judged yet",
    ):
        assert words in text


@pytest.mark.slow
def test_a_judge_is_offered_to_stop_where_the_organiser_says(
    cli: Cli, tail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the option, or by POOLER_GOAL; without both no word of it."""
    typed = b"2\n" * 25 + b"q\n"
    said = "goal reached: at least 50% of the relevant documents of the runs are found (95% sure)"
    silent = cli("judge", "--judge", "anna", "--topic", "G02", "--plain", stdin=typed).fine()
    assert "goal" not in silent.out
    by_option = cli(
        "judge", "--judge", "anna", "--topic", "G03", "--plain", "--goal", "recall=.5", stdin=typed
    )
    assert by_option.fine().out.count(said) == 1
    monkeypatch.setenv("POOLER_GOAL", "recall=.5@.95")
    by_setting = cli("judge", "--judge", "anna", "--topic", "G04", "--plain", stdin=typed)
    assert by_setting.fine().out.count(said) == 1


@pytest.mark.slow
def test_without_a_sample_both_say_what_to_do(cli: Cli, judged: Path) -> None:
    """It names itself with a target, and what that names draws a sample, once its two numbers are chosen."""
    cli("judges", "add", "anna").fine()
    told = " ".join(cli("status", "recall").fine().out.split())
    assert "no sample, pooler status recall --target .8 shows how many" in told
    told = " ".join(by_rule(cli, "status", "recall", "--target", ".8", "--kinds", "model").fine().out.split())
    command = told.partition("fewer: pooler ")[2].partition(".")[0]
    cli(*command.replace(" N ", " 500 ").replace(" D ", " 20 ").split()).fine()
    assert "no-sample" not in cli("status", "recall").fine().out


@pytest.mark.slow
def test_refusals(cli: Cli, tail: Path) -> None:
    """One line, and what to do instead."""
    sit = ("judge", "--judge", "anna", "--plain")
    for arguments, message in (
        ((*sit, "--goal", "recall=2"), "`--goal` must have a recall"),
        ((*sit, "--goal", "all"), "`--goal` must be recall=R"),
        (("status", "recall", "--confidence", "95"), "`--confidence` must be between 0 and 1"),
        (("status", "recall", "--target", "0"), "`--target` must be between 0 and 1"),
    ):
        assert message in cli(*arguments).failed(1).err


HUMAN = JudgeKind.HUMAN


@pytest.fixture
def half_judged(collection: Collection) -> Collection:
    """Make a pool of six documents for topic 1, one of each state, and one of topic 2."""
    collection.judges.add("ann", HUMAN)
    collection.judges.add("bob", HUMAN)
    collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a"]}))
    sitting = JudgeAtWork(collection.desk("ann"), "1")
    sitting.grade("a", 0)
    sitting.grade("b", 2)
    sitting.act("c", Action.SKIP)
    sitting.act("d", Action.CANNOT, reason="no text")
    sitting.grade("e", 1)
    sitting.undo()
    return collection


def test_states_by_hand(half_judged: Collection) -> None:
    """A grade of 0 is a judgement; undone is unjudged; another judge's work counts for nobody."""
    progress = by_topic(half_judged)
    assert progress["1", "ann"] == Counts(
        pooled=6, judged=2, skipped=1, cannot=1, outside=0, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert progress["1", "ann"].unjudged == 2
    nothing = {0: 0, 1: 0, 2: 0}
    assert progress["1", "bob"] == Counts(pooled=6, by_grade=nothing)
    assert progress["2", "ann"] == progress["2", "bob"] == Counts(pooled=1, by_grade=nothing)
    assert set(progress) == {(topic, judge) for topic in "12" for judge in ("ann", "bob")}


@pytest.mark.parametrize("revisions", [0, 2048])
@pytest.mark.parametrize("high", [1, 2**48])
def test_grades_and_revisions_of_any_size(high: int, revisions: int, collection_name: str) -> None:
    """An event is read as one number where it has the bits, and as three where it has not."""
    low, high = -3, high if "://" not in collection_name else min(high, 2**31 - 1)  # a server's integers
    scale = Scale((Grade(low, "spam", "s"), Grade(0, "no", "0"), Grade(high, "yes", "1")), high, None)
    with Collection.create(collection_name, name="test", scale=scale, program="test") as collection:
        collection.pools.add(make_pool({"1": list("abc")}))
        grades = [Qrel("1", "a", low), Qrel("1", "b", high), Qrel("2", "a", low)]
        collection.judgements.add({"ann": grades}, HUMAN)
        change_stored(collection_name, f"UPDATE judgement SET revision = revision + {revisions}")
        progress = by_topic(collection)
    assert progress["1", "ann"] == Counts(pooled=3, judged=2, by_grade={low: 1, 0: 0, high: 1})
    assert progress["2", "ann"] == Counts(outside=1, by_grade={low: 1, 0: 0, high: 0})


def test_withdrawn_pool_does_not_count(half_judged: Collection, collection_name: str) -> None:
    """What only a withdrawn pool held is not pooled: judgements count outside, skips nowhere."""
    half_judged.pools.add(make_pool({"1": ["a", "c"]}, name="second"))
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'pool'")
    progress = by_topic(half_judged)
    assert progress["1", "ann"] == Counts(
        pooled=2, judged=1, skipped=1, cannot=0, outside=1, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert ("2", "ann") not in progress


def test_drawn_documents_without_a_place_are_apart(half_judged: Collection, collection_name: str) -> None:
    """Once anything is assigned nobody draws, and what adaptive pools alone drew has no place."""
    half_judged.pools.add(adaptive_pool({"1": ["a", "x"], "2": list("yz")}, budget=2))
    for docno in "ax":
        half_judged.pools.draw("live", "1", lambda _, docno=docno: docno)  # type: ignore[misc]
    held_place(collection_name, "1", "b", "ann")
    # Of six documents of 1 and one of 2 that the other pool has, b has a place; a is one of them.
    assert half_judged.progress.unclaimed() == Unclaimed(
        {}, is_assigned=True, unassigned={"1": 5, "2": 1}, drawn={"1": 1}
    )
    held_place(collection_name, "1", "x", "ann")
    assert half_judged.progress.unclaimed().drawn == {}


def test_assigned_documents_are_a_persons_pool(half_judged: Collection, collection_name: str) -> None:
    """Once anything is assigned, that is what a person has; the rest judged counts as outside."""
    half_judged.judges.add("eve", JudgeKind.ADJUDICATOR)
    half_judged.judgements.add({"gpt": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    half_judged.pools.add(make_pool({"1": ["y", "z"]}, name="withdrawn", manifest={}))
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'withdrawn'")
    for judge, docno in (("ann", "a"), ("ann", "c"), ("ann", "f"), ("ann", "z"), ("bob", "b")):
        held_place(collection_name, "1", docno, judge)
    progress = by_topic(half_judged)
    assert progress["1", "ann"] == Counts(
        pooled=3, judged=1, skipped=1, cannot=0, outside=1, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert progress["1", "ann"].unjudged == 1
    assert progress["2", "ann"].pooled == progress["2", "bob"].pooled == 0
    assert progress["1", "bob"].pooled == 1
    assert (progress["1", "gpt"].pooled, progress["1", "gpt"].judged) == (6, 1)
    assert progress["1", "eve"].pooled == 6


def test_what_lies_before_nobody(half_judged: Collection, collection_name: str) -> None:
    """Open places, lapsed claims, and documents without a place are counted where they are."""
    half_judged.pools.add(make_pool({"1": ["z"]}, name="withdrawn", manifest={}))
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'withdrawn'")
    held_place(collection_name, "1", "a", "ann")
    for docno in "eff":
        held_place(collection_name, "1", docno, None, lease_s=600)
    for judge in ("ann", "bob"):
        assert half_judged.desk(judge).claim("1")
    let_lapse(collection_name, "ann", "e")
    for docno in "bbz":
        held_place(collection_name, "1", docno, None, lease_s=600)
    assert half_judged.progress.unclaimed() == Unclaimed(
        {}, is_assigned=True, open_places={"1": 2}, lapsed={"1": 1}, unassigned={"1": 2, "2": 1}
    )


Rows = list[dict[str, Any]]


@contextmanager
def drawn(data: st.DataObject) -> Iterator[tuple[Collection, str]]:
    """Make a random collection that has an adjudicator, too."""
    with TemporaryDirectory() as folder:
        where = str(Path(folder) / "any.db")
        with new_collection(where) as collection:
            fill_by_chance(collection, where, data)
            ruled = data.draw(st.lists(st.sampled_from("abz"), max_size=3, unique=True))
            collection.judgements.add(
                {"eve": [Qrel("1", docno, 2) for docno in ruled]}, JudgeKind.ADJUDICATOR
            )
            for judge in collection.judges.all():
                if data.draw(st.integers(0, 3)) == 0:
                    collection.judges.set_disabled([judge.name], disabled=True)
            yield collection, where


def looked_up(where: str) -> tuple[dict[str, Rows], set[tuple[str, str]]]:
    """Return the rows of every table by names, and what is to be judged in pools not withdrawn."""
    rows = named_contents(where)
    in_use = {row["name"] for row in rows["pool"] if not row["withdrawn"]}
    entries = [row for row in rows["pool_entry"] if row["pool_id"] in in_use and row["sampled"]]
    return rows, {(row["topic_id"], row["document_id"]) for row in entries}


def to_draw(rows: Mapping[str, Rows]) -> Counter[str]:
    """Count what adaptive pools may still draw by topic, one pool after the other."""
    if rows["assignment"]:
        return Counter()
    left: Counter[str] = Counter()
    in_use = {row["name"] for row in rows["pool"] if not row["withdrawn"]}
    for one in rows["pool_topic"]:
        if one["pool_id"] in in_use:
            key = (one["pool_id"], one["topic_id"])
            left[one["topic_id"]] += one["budget"] - sum(
                row["sampled"] for row in rows["pool_entry"] if (row["pool_id"], row["topic_id"]) == key
            )
    return +left


def counted(where: str) -> dict[tuple[str, str], Counts]:
    """Look at every document of every topic and judge, one by one."""
    rows, pooled = looked_up(where)
    now: dict[tuple[str, str, str], dict[str, Any]] = {}
    for event in sorted(rows["judgement"], key=lambda row: row["revision"]):
        now[event["topic_id"], event["document_id"], event["judge_id"]] = event
    held = {(row["topic_id"], row["document_id"], row["judge_id"]) for row in rows["assignment"]}
    topics = {topic for topic, _ in pooled} | {topic for topic, _, _ in now} | set(to_draw(rows))
    found: dict[tuple[str, str], Counts] = {}
    for judge in rows["judge"]:
        name = judge["name"]
        for topic in topics:
            events = {docno: one for (t, docno, j), one in now.items() if (t, j) == (topic, name)}
            if judge["disabled"] and not events:
                continue
            own = {docno for one, docno in pooled if one == topic}
            if rows["assignment"] and judge["kind"] == "human":
                own = {docno for docno in own if (topic, docno, name) in held}
            states = Counter((one["state"], docno in own) for docno, one in events.items())
            grades = Counter(one["grade"] for one in events.values())
            found[topic, name] = Counts(
                pooled=len(own),
                judged=states["judged", True],
                skipped=states["skipped", True],
                cannot=states["cannot", True],
                outside=states["judged", False],
                by_grade={grade: grades[grade] for grade in range(3)},
            )
    return found | {("", judge): summed(found, judge) for _, judge in found}


def summed(found: Mapping[tuple[str, str], Counts], judge: str) -> Counts:
    """Add up the topics of a judge."""
    own = [counts for (_, name), counts in found.items() if name == judge]
    return Counts(
        pooled=sum(one.pooled for one in own),
        judged=sum(one.judged for one in own),
        skipped=sum(one.skipped for one in own),
        cannot=sum(one.cannot for one in own),
        outside=sum(one.outside for one in own),
        by_grade={grade: sum(one.by_grade[grade] for one in own) for grade in range(3)},
    )


def lying(where: str) -> Unclaimed:
    """Look at every pooled document and every place, one by one."""
    rows, pooled = looked_up(where)
    if not rows["assignment"]:
        return Unclaimed(dict(to_draw(rows)))
    adaptive = {row["pool_id"] for row in rows["pool_topic"]}
    in_use = {row["name"] for row in rows["pool"] if not row["withdrawn"]}
    assignable = {
        (row["topic_id"], row["document_id"])
        for row in rows["pool_entry"]
        if row["sampled"] and row["pool_id"] in in_use - adaptive
    }
    places = [(row["topic_id"], row["document_id"]) for row in rows["assignment"]]
    inside = [row for row in rows["assignment"] if (row["topic_id"], row["document_id"]) in pooled]
    without = pooled - set(places)
    return Unclaimed(
        is_assigned=True,
        open_places=Counter(row["topic_id"] for row in inside if row["judge_id"] is None),
        # Whatever `fill` claims has lapsed long ago.
        lapsed=Counter(row["topic_id"] for row in inside if row["judge_id"] and row["lease_until"]),
        unassigned=Counter(topic for topic, _ in without & assignable),
        drawn=Counter(topic for topic, _ in without - assignable),
    )


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(5), deadline=None)
def test_counts_equal_a_look_at_every_document(data: st.DataObject) -> None:
    """By topic and judge, and by judge; and what lies before nobody."""
    with drawn(data) as (collection, where):
        assert state_counts(collection) == counted(where)
        assert collection.progress.unclaimed() == lying(where)


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection with two judges and a pool of two topics."""
    collection.judges.add("ann", HUMAN)
    collection.judges.add("bob", HUMAN)
    manifest = {"strategy": "depth", "out_order": "priority"}
    collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a"]}, manifest=manifest))
    return collection


class Clocked(JudgeAtWork):
    """A judge whose every event has times; a showing begins with `show`."""

    shown_at = datetime(2026, 1, 1, tzinfo=UTC)

    def show(self) -> None:
        """Show a document."""
        self.shown_at += timedelta(minutes=1)

    def do(self, docno: str, action: Action, seconds: float, **fields: Any) -> Task:
        """Act so many active seconds after the document was shown; it was on twice as long."""
        times = {"active_ms": round(seconds * 1000), "dwell_ms": round(seconds * 2000)}
        return self.act(docno, action, shown_at=self.shown_at, **times, **fields)

    def decide(self, docno: str, seconds: float, grade: int = 1, **fields: Any) -> Task:
        """Show a document and grade it."""
        self.show()
        return self.do(docno, Action.JUDGE, seconds, grade=grade, **fields)


def sit(collection: Collection, judge: str = "ann", topic: str = "1") -> Clocked:
    """Sit down."""
    return Clocked(collection.desk(judge), topic)


def effort_of(collection: Collection, judge: str = "ann") -> Effort:
    """Return one judge's effort."""
    [found] = [one for one in collection.progress.effort() if one.judge == judge]
    return found


def recent(name: str, judge: int = 1, limit: int = 100) -> list[int]:
    """Return a judge's latest times."""
    with engine_of(name) as engine, reading(engine) as session:
        return recent_active_ms(session, judge=judge, limit=limit)


@pytest.mark.slow
def test_every_decision_has_its_times(ready: Collection, collection_name: str) -> None:
    """Documents come in the order of the first decision, with dwell and active time."""
    ann = sit(ready)
    ann.decide("b", 4, grade=2)
    ann.decide("a", 10.5, dropped_keys=3)
    ann.show()
    ann.do("c", Action.CANNOT, 1, reason="no text", dropped_keys=1)
    ann.desk.leave()
    sit(ready, topic="2").decide("a", 2)
    found = effort_of(ready)
    times = [(one.dwell_ms, one.active_ms) for one in found.documents]
    assert times == [(8000, 4000), (21_000, 10_500), (2000, 1000), (4000, 2000)]
    assert (found.sittings, found.active_ms, found.dropped_keys) == (2, 17_500, 4)
    assert (found.undone, found.elsewhere, found.kind) == (0, 0, HUMAN)
    assert recent(collection_name) == [4000, 10_500, 1000, 2000]
    assert recent(collection_name, limit=2) == [1000, 2000]
    assert [one.judge for one in ready.progress.effort()] == ["ann"]


EFFORTS: dict[str, tuple[str, list[tuple[int, int]], int, int, list[int]]] = {
    "the last time of a showing has those before in it": (
        "a note 5, + a note 8, + a 0 11", [(11, 22)], 11, 0, [11],
    ),
    "a note after the grade is time of the document": (
        "a note 5, + a 0 8, + a note 11", [(11, 16)], 11, 0, [11],
    ),
    "what is taken back was spent, and has no dwell": (
        "a 1 6, undo, b 1 1, undo, a 1 2", [(8, 4)], 9, 2, [8],
    ),
    "a correction taken back leaves the first dwell": ("a 2 6, a 0 1, undo", [(7, 12)], 7, 1, [7]),
    "a skip is no decision": ("a skip 3", [], 3, 0, []),
    "its time counts once the document is judged": (
        "a skip 3, b 1 5, a 1 4", [(5, 10), (7, 8)], 12, 0, [5, 7],
    ),
    "a correction keeps the first place, as a decision it is the newest": (
        "a 0 1, b 1 2, a 2 3", [(4, 6), (2, 4)], 6, 0, [2, 4],
    ),
}  # fmt: skip
"""By hand: what is done, after so many seconds (+ = of the same showing); of each document in turn the
active time, and the dwell, which is twice the seconds; then the time spent, how many were taken back, the
latest times."""


@pytest.mark.parametrize("case", EFFORTS)
def test_times_by_hand(ready: Collection, collection_name: str, case: str) -> None:
    """Times run from the beginning of a showing; those of a document are added up."""
    done, documents, spent, undone, latest = EFFORTS[case]
    ann = sit(ready)
    for step in done.split(", "):
        if step == "undo":
            ann.undo()
            continue
        if not step.startswith("+ "):
            ann.show()
        docno, what, seconds = step.removeprefix("+ ").split()
        if what.isdigit():
            ann.do(docno, Action.JUDGE, float(seconds), grade=int(what))
        else:
            ann.do(docno, Action(what), float(seconds), note=f"after {seconds} s")
    found = effort_of(ready)
    times = [((one.active_ms or 0) / 1000, (one.dwell_ms or 0) / 1000) for one in found.documents]
    assert times == documents
    assert (found.active_ms, found.undone) == (spent * 1000, undone)
    assert recent(collection_name) == [one * 1000 for one in latest]


def test_imported_grades_have_no_times(ready: Collection, collection_name: str) -> None:
    """Of imports only the count is known, also where the judge sits down as well."""
    ready.judgements.add({"ann": [Qrel("1", "a", 1), Qrel("1", "b", 1), Qrel("1", "c", 2)]}, HUMAN)
    ready.judgements.add({"gpt": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    gpt = effort_of(ready, "gpt")
    assert gpt == Effort("gpt", JudgeKind.MODEL, 0, None, 0, 0, 1, ())
    ann = sit(ready)
    ann.decide("a", 2)
    ann.show()
    ann.do("b", Action.NOTE, 9, note="imported, and noted")
    found = effort_of(ready)
    assert [one.active_ms for one in found.documents] == [2000]
    assert (found.elsewhere, found.sittings, found.active_ms) == (2, 1, 11_000)
    assert recent(collection_name) == [2000]
    assert recent(collection_name, judge=3) == []


def test_untimed_decisions_have_no_time(ready: Collection, collection_name: str) -> None:
    """A decision without times is one, and its time is not 0."""
    sit(ready).grade("a", 1)
    found = effort_of(ready)
    [document] = found.documents
    assert (document.dwell_ms, document.active_ms, found.active_ms) == (None, None, None)
    assert recent(collection_name) == []


def test_judging_again_begins_anew(ready: Collection, collection_name: str) -> None:
    """A document judged again after it was reopened is another decision."""
    ready.documents.add([Document("a", text="one")])
    ann = sit(ready)
    ann.decide("a", 5, grade=2)
    ann.decide("b", 3)
    ready.documents.add([Document("a", text="two")], replace=True)
    assert len(ready.rejudging.reopen()) == 1
    assert [one.active_ms for one in effort_of(ready).documents] == [3000]
    assert recent(collection_name) == [5000, 3000]
    ann.look()
    ann.decide("a", 2, grade=0)
    found = effort_of(ready)
    assert [one.active_ms for one in found.documents] == [3000, 2000]
    assert found.active_ms == 10_000
    assert recent(collection_name) == [5000, 3000, 2000]
    sit(ready, "bob").decide("a", 7)  # nobody's time counts for another
    assert [(one.judge, one.active_ms) for one in ready.progress.effort()] == [("ann", 10_000), ("bob", 7000)]
    assert ready.progress.recent_times(limit=9) == {"ann": [5000, 3000, 2000], "bob": [7000]}
