"""`pooler status`: five states, pace, the next line to type, what is outdated, what judging cost, recall."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pooler.commands.judge.status_next import Stage, next_command
from store.analysis.pools.stopping import most_relevant
from store.collection import Collection
from store.records import Action, Decision, JudgeKind
from tests.helpers.run import Cli, by_rule, write
from tests.helpers.world import change_stored, stored_rows

STATES = ("pooled", "judged", "unjudged", "skipped", "cannot", "outside")


@pytest.fixture
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
    places = [("a", "anna"), ("b", "anna"), ("c", None), ("d", None)]
    for docno, judge in places:
        change_stored(
            str(six_pooled / "collection.db"),
            "INSERT INTO assignment (topic_id, document_id, judge_id, position, purpose)"
            " SELECT t.id, d.id, (SELECT id FROM judge WHERE name = :judge), 0, 'primary'"
            " FROM topic t, document d WHERE t.number = '1' AND d.docno = :docno",
            docno=docno,
            judge=judge,
        )
    judge_timed("anna", "1", {"a": 2.0})
    row = row_of(cli, "anna")
    assert [row[name] for name in STATES] == [2, 1, 1, 0, 0, 0]
    assert (row["left"], row["open_places"], row["unassigned"]) == (1, 2, 2)
    assert document_states(cli, "ben") == [0, 0, 0, 0, 0, 0]
    one, two = (
        [
            (row["open_places"], row["unassigned"])
            for row in cli("status", "--by-topic", "--format", "json").json()
            if row["topic"] == topic
        ]
        for topic in "12"
    )
    assert set(one) == {(2, 1)}
    assert set(two) == {(0, 1)}
    table = cli("status").fine().out
    assert "2 assignments open to any judge, counted for no judge" in table
    assert "2 pooled documents unassigned" in table


def test_adaptive_topic_with_nothing_drawn_is_listed(cli: Cli, here: Path) -> None:
    """What may still be drawn is left to every judge, and its topics are there from the start."""
    cli("init").fine()
    write(here / "x.run", *[f"{topic} Q0 d{n} 1 {-n} x" for topic in "12" for n in range(30)])
    cli("import", "runs", "x.run").fine()
    cli("pool", "-s", "mtf", "--name", "live", "--depth", "30", "-b", "20").fine()
    cli("judges", "add", "anna").fine()
    rows = cli("status", "--by-topic", "--format", "json").fine().json()
    assert [(row["topic"], row["pooled"], row["left"], row["undrawn"]) for row in rows] == [
        ("1", 0, 20, 20),
        ("2", 0, 20, 20),
    ]
    with Collection("collection.db") as opened:
        for number in range(3):
            opened.pools.draw("live", "2", lambda _, docno=f"d{number}": docno)
    judge_timed("anna", "2", {"d0": 3.0, "d1": 4.0})
    row = row_of(cli, "anna")
    assert (row["pooled"], row["judged"], row["left"], row["undrawn"]) == (3, 2, 38, 37)
    assert "left includes 37 that adaptive pools may still draw" in cli("status").fine().out


def test_topics_stand_in_natural_order(cli: Cli, here: Path) -> None:
    """Topic 9 comes before topic 10."""
    cli("init").fine()
    write(here / "x.run", "10 Q0 a 1 1 x", "9 Q0 a 1 1 x")
    cli("import", "runs", "x.run").fine()
    cli("pool").fine()
    cli("judges", "add", "anna").fine()
    rows = cli("status", "--by-topic", "--format", "tsv").fine().tsv()
    assert [row["topic"] for row in rows] == ["9", "10"]


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


def test_empty_collection_says_what_to_do(cli: Cli, here: Path) -> None:
    """Without judges there is a hint for people and an empty list for programs."""
    cli("init").fine()
    answer = cli("status").fine()
    assert "no judges yet" in answer.out
    assert "0 topics, 0 runs; pools: none" in answer.out
    assert cli("status", "--table", "status", "--format", "json").fine().json() == []
    assert cli("status", "--format", "tsv").fine().tsv() == []


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


def test_low_dwell_is_listed_when_asked(cli: Cli, worked: Path) -> None:
    """The documents decided below the threshold are listed; the threshold is an option."""
    assert [
        (row["judge"], row["topic"], row["docno"], row["grade"], row["dwell_s"], row["active_s"])
        for row in report(cli)["low_dwell"]
    ] == [("anna", "1", "d7", 0, 0.75, 0.5), ("anna", "2", "d7", 0, 0.75, 0.5)]
    for below, n_low in (("2.25", 2), ("2.2501", 4)):
        tables = report(cli, "--below", below)
        assert tables["effort"][0]["low_dwell"] == len(tables["low_dwell"]) == n_low
    assert report(cli, "--below", "0")["low_dwell"] == []
    assert "<1 s" in cli("status", "effort").fine().out
    assert "Decided below 1 s" in cli("status", "effort", "--table", "low_dwell").fine().out


def test_chosen_judges(cli: Cli, worked: Path) -> None:
    """Judges can be named; one without an event has no row, an unknown one is an error."""
    assert [row["judge"] for row in report(cli, "gpt")["effort"]] == ["gpt"]
    assert report(cli, "ben") == {"effort": [], "models": [], "low_dwell": []}
    assert "no document is judged" in cli("status", "effort", "ben").fine().out
    assert "unknown judge `eve`" in cli("status", "effort", "eve").failed(1).err
    tsv = cli("status", "effort", "--format", "tsv", "--table", "effort").fine().tsv()
    assert {row["judge"] for row in tsv} == {row["judge"] for row in report(cli)["effort"]}


def test_empty_collection(cli: Cli, here: Path) -> None:
    """Without judges there is nothing to report, and that is said."""
    cli("init").fine()
    answer = cli("status", "effort").fine().out
    assert "no document is judged" in answer


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
    """Six documents are judged in the order of the sample, two of them relevant: by the limit itself."""
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


@pytest.mark.slow
def test_people_read_a_table_and_on_what_it_rests(cli: Cli, tail: Path) -> None:
    """Universe, confidence, assumption; why there is no bound."""
    cli("judge", "--judge", "anna", "--topic", TOPIC, "--plain", stdin=b"2\n0\n1\n0\n0\n0\nq\n").fine()
    shown = cli("status", "recall").fine()
    text = " ".join(shown.out.split())
    assert (
        "Recall is of the documents that pool tail lists, drawn or not: the first 20 documents of its runs."
        in text
    )
    assert "Each bound holds with confidence 0.95, however often one looks, if the sample is random" in text
    assert "sample-unjudged: nothing of the random sample is judged yet" in text


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
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("judge", "--judge", "anna", "--plain", "--goal", "recall=2"), "`--goal` must have a recall"),
        (("judge", "--judge", "anna", "--plain", "--goal", "all"), "`--goal` must be recall=R"),
        (("status", "recall", "--confidence", "95"), "`--confidence` must be between 0 and 1"),
        (("status", "recall", "--target", "0"), "`--target` must be between 0 and 1"),
    ],
)
def test_refusals(cli: Cli, tail: Path, arguments: tuple[str, ...], message: str) -> None:
    """One line, and what to do instead."""
    refused = cli(*arguments)
    assert refused.code != 0
    assert message in refused.err
    assert "Traceback" not in refused.err
