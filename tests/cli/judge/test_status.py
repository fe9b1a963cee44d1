"""`pooler status`: five states, never mixed; pace and forecast, or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from store.collection import Collection
from store.records import Action, Decision
from tests.helpers.run import Cli, write
from tests.helpers.world import change_stored

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


def test_outside_is_explained_where_it_is_shown(cli: Cli, six_pooled: Path) -> None:
    """The column has its words before anything is in it."""
    table = cli("status").fine().out
    assert "outside" in table.splitlines()[1].split()
    assert "\noutside: judged, but in no pool.\n" in table


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


def test_undone_judgement_is_unjudged_again(cli: Cli, six_pooled: Path) -> None:
    """Taking back a grade leaves the document unjudged, not skipped and not grade 0."""
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        desk.queue("1")
        desk.record(Decision("1", "a", Action.JUDGE, grade=2))
        desk.undo()
        desk.leave()
    assert document_states(cli, "anna") == [6, 0, 6, 0, 0, 0]
    assert cli("export", "qrels", "anna").failed(1).err.startswith("error: judge `anna` has judged nothing")


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
