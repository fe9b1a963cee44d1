"""`pooler status`: five states, never mixed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import Action, Decision
from tests.cli.command_line import write
from tests.cli.conftest import Cli

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


def standing(cli: Cli, judge: str, topic: str = "") -> list[int]:
    """Return a judge's counts by state."""
    by_topic = ["--by-topic"] if topic else []
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
    cli("import", "judgements", "q", "--judge", "anna", "--kind", "human").fine()
    assert standing(cli, "anna") == [6, 1, 2, 2, 1, 1]
    assert standing(cli, "anna", "1") == [5, 1, 1, 2, 1, 0]
    assert standing(cli, "anna", "2") == [1, 0, 1, 0, 0, 0]
    assert standing(cli, "anna", "3") == [0, 0, 0, 0, 0, 1]
    assert standing(cli, "ben") == [6, 0, 6, 0, 0, 0]
    [row] = [row for row in cli("status", "--format", "json").json() if row["judge"] == "anna"]
    assert [row[f"grade_{grade}"] for grade in (0, 1, 2)] == [1, 0, 1]
    table = cli("status").fine().out
    assert "outside: judged, but in no pool" in table
    assert "pools: pool (6 pairs)" in table


def test_undone_judgement_is_unjudged_again(cli: Cli, six_pooled: Path) -> None:
    """Taking back a grade leaves the document unjudged, not skipped and not grade 0."""
    with Collection("collection.db") as opened:
        desk = opened.desk("anna")
        desk.queue("1")
        desk.record(Decision("1", "a", Action.JUDGE, grade=2))
        desk.undo()
        desk.leave()
    assert standing(cli, "anna") == [6, 0, 6, 0, 0, 0]
    assert (
        cli("export", "qrels", "--judge", "anna")
        .failed(1)
        .err.startswith("error: judge `anna` has judged nothing")
    )


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
    assert standing(cli, "anna", "2") == [3, 2, 1, 0, 0, 0]
    assert standing(cli, "anna") == [5, 2, 3, 0, 0, 0]


def test_empty_collection_says_what_to_do(cli: Cli, here: Path) -> None:
    """Without judges there is a hint for people and an empty list for programs."""
    cli("init").fine()
    answer = cli("status").fine()
    assert "no judges yet: pooler judges add NAME" in answer.out
    assert "0 topics, 0 runs; pools: none" in answer.out
    assert cli("status", "--format", "json").fine().json() == []
    assert cli("status", "--format", "tsv").fine().tsv() == []
