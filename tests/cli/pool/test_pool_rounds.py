"""Incremental pools: what a late run adds, what a run alone had brought, rounds and judgements."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.helpers.run import Cli, read_lines, write, write_run
from tests.trec_covid import data_path


@pytest.fixture
def two_runs(cli: Cli, here: Path) -> Path:
    """Pool two runs of two topics at depth 2 as round 1, and judge a of topic 1 and e of 2."""
    cli("init", "--scale", "0-2").fine()
    first = write_run(here, "first", {"1": "abc", "2": "ef"})
    second = write_run(here, "second", {"1": "bdz"})
    cli("import", "runs", first, second).fine()
    cli("pool", "--depth", "2", "--round", "1", "--order", "docno-asc").fine()
    write(here / "q.txt", "1 1 a 2", "2 1 e 0", "1 1 y 1")
    cli("import", "judgements", "q.txt", "--judge", "ann").fine()
    return here


def test_add_lists_only_what_is_new(cli: Cli, two_runs: Path) -> None:
    """A late run adds its own documents as the next round, planned as the first pool was."""
    cli("import", "runs", write_run(two_runs, "late", {"1": "ay", "2": "eg"})).fine()
    answer = cli("pool", "--add", "--out", "new.txt").fine()
    # The pool had a b d of topic 1, e f of topic 2; late brings a y and e g at depth 2.
    assert read_lines(two_runs / "new.txt") == ["1 y", "2 g"]
    assert "1 of the pairs are already judged, and stay so" in answer.err
    assert "pool `pool-2`, round 2, is in the collection" in answer.err
    manifest = json.loads((two_runs / "new.txt.manifest.json").read_text())
    assert (manifest["parameters"], manifest["order"]) == ({"depth": 2}, "docno-asc")
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["judged"], row["outside"]) for row in status] == [(7, 3, 0)]
    exported = cli("export", "qrels", "ann").fine().out.splitlines()
    assert exported == ["1 1 a 2", "1 1 y 1", "2 1 e 0"]
    again = cli("pool", "--add").fine()
    assert "every document is in a pool already: nothing to add" in again.err


def test_add_takes_what_is_said_and_keeps_the_rest(cli: Cli, two_runs: Path) -> None:
    """Deeper with --add lists what the deeper pool has more, in the same order rule."""
    cli("pool", "--add", "--depth", "3", "--name", "deep", "--round", "1.5", "-o", "new.txt").fine()
    assert read_lines(two_runs / "new.txt") == ["1 c", "1 z"]
    manifest = json.loads((two_runs / "new.txt.manifest.json").read_text())
    assert (manifest["name"], manifest["round"], manifest["order"]) == ("deep", "1.5", "docno-asc")
    # Rounds count on from the highest: after 1 and 1.5 comes 2.
    cli("pool", "--add", "-s", "rrf", "--param", "k=1", "--depth", "9").fine()


def test_add_needs_a_pool_and_a_round_it_can_count(cli: Cli, two_runs: Path) -> None:
    """Without a pool built from runs, or without a number to count on, it says what to do."""
    cli("pool", "--name", "named", "--round", "spring", "--depth", "3").fine()
    cli("import", "runs", write_run(two_runs, "late", {"3": "q"})).fine()
    assert "round 2" in cli("pool", "--add").fine().err
    cli("init", "--scale", "0-2", "--collection", "empty.db").fine()
    cli("import", "runs", "first.run", "--collection", "empty.db").fine()
    answer = cli("pool", "--add", "--collection", "empty.db").failed(1)
    assert "--add needs a pool to add to" in answer.err
    cli("pool", "--round", "spring", "--collection", "empty.db").fine()
    answer = cli("pool", "--add", "--depth", "9", "--collection", "empty.db").failed(1)
    assert "`--round` must be given, since no round is a number" in answer.err


def test_unpool_shows_and_takes_out_what_a_run_alone_brought(cli: Cli, two_runs: Path) -> None:
    """The documents leave the pool, the judged one stays judged and counts as outside."""
    dry = cli("pool", "drop", "first", "--dry-run", "--format", "json").fine()
    rows = [(row["topic"], row["docno"], row["rank"], row["state"], row["grade"]) for row in dry.json()]
    # b is second's too; a, e and f are first's alone.
    assert rows == [("1", "a", 1, "judged", 2), ("2", "e", 1, "judged", 0), ("2", "f", 2, "unjudged", None)]
    assert "3 documents that only `first` brought would leave the pools; 2 of them are judged" in dry.err
    before = cli("export", "pool").fine().out
    assert cli("pool", "drop", "first", "--format", "json").fine().json() == dry.json()
    assert cli("export", "pool").fine().out.splitlines() == ["1 b", "1 d"]
    assert len(before.splitlines()) == 5
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["judged"], row["outside"]) for row in status] == [(2, 0, 3)]
    # What is left is the pool of the other run alone.
    cli("pool", "second.run", "--depth", "2", "--order", "docno-asc", "-o", "alone.txt").fine()
    assert read_lines(two_runs / "alone.txt") == ["1 b", "1 d"]
    answer = cli("pool", "drop", "first").failed(1)
    assert "run `first` does not feed any pool, nor will it" in answer.err
    assert "nothing to take out: it was added with --late, or taken out before" in answer.err
    assert "pooler show runs first" in answer.err
    cli("show", "runs", "first").fine()
    # It feeds no later pool either.
    assert "depth 100 of 1 run" in cli("pool", "--name", "later").fine().err


def test_unpool_of_a_late_run_says_that_it_fed_nothing(cli: Cli, two_runs: Path) -> None:
    """No pool is promised where there is none."""
    run = write_run(two_runs, "late", {"1": "ay"})
    cli("import", "runs", run, "--late").fine()
    answer = cli("pool", "drop", "late").failed(1)
    assert "nothing to take out: it was added with --late, or taken out before" in answer.err
    assert "the pools it fed" not in answer.err
    answer = cli("pool", "drop", "late", "--pool", "pool").failed(1)
    assert "run `late` does not feed pool `pool`" in answer.err
    assert "nothing to take out" in answer.err


def test_unpool_refuses_what_it_cannot_tell(cli: Cli, two_runs: Path) -> None:
    """Unknown names, replaced runs, and pools whose strategy looked at every run."""
    assert "unknown run `third`" in cli("pool", "drop", "third").failed(1).err
    assert "unknown pool `pol`" in cli("pool", "drop", "first", "--pool", "pol").failed(1).err
    cli("pool", "-s", "mtf", "--name", "live").fine()
    words = "what `mtf` chose depends on every run"
    assert words in cli("pool", "drop", "first", "--pool", "live").failed(1).err
    assert words in cli("pool", "drop", "first", "--dry-run").fine().err
    write_run(two_runs, "second", {"1": "xyz"})
    answer = cli("import", "runs", "second.run", "--replace").fine()
    assert "pooler pool --replace --name pool --dry-run says" in answer.err
    cli("pool", "--replace", "--name", "pool", "--dry-run").fine()
    words = "its run `second` has been replaced since"
    assert words in cli("pool", "drop", "first", "--pool", "pool").failed(1).err
    # Without --pool both pools keep what they have, and the run feeds no later one.
    answer = cli("pool", "drop", "first", "--format", "json").fine()
    assert answer.json() == []
    assert answer.err.count("keeps its documents") == 2
    assert "depth 100 of 1 run" in cli("pool", "--name", "later").fine().err


def test_a_run_that_has_fed_no_pool_yet_feeds_no_later_one(cli: Cli, two_runs: Path) -> None:
    """A run may be withdrawn before it is pooled; nothing leaves the pools, which is said."""
    cli("import", "runs", write_run(two_runs, "new", {"1": "vw"})).fine()
    before = cli("export", "pool").fine().out
    dry = cli("pool", "drop", "new", "--dry-run").fine()
    assert "run `new` has fed no pool yet\n`new` would contribute to no later pool" in dry.err
    answer = cli("pool", "drop", "new", "--format", "json").fine()
    assert answer.json() == []
    assert "`new` contributes to no later pool" in answer.err
    assert cli("export", "pool").fine().out == before
    assert "(left out: `new`, not contributing)" in cli("pool", "--add").fine().err


def test_what_was_taken_out_comes_back_on_demand_alone(cli: Cli, two_runs: Path) -> None:
    """Importing the same file again leaves the run out, and says so; --replace lets it in."""
    cli("pool", "drop", "first").fine()
    write(two_runs / "runs.tsv", "file\tgroup\tcontributes", "first.run\tg\tyes", "second.run\tg\tyes")
    answer = cli("import", "runs", "--runs", "runs.tsv").fine()
    assert "warning: `first`: already there, and left out of pools; --replace" in answer.err
    assert "nothing to add (left out: `first`, not contributing)" in cli("pool", "--add").fine().err
    answer = cli("import", "runs", "first.run", "--replace").fine()
    assert "left out" not in answer.err
    rows = cli("diagnose", "--table", "contributions", "--format", "json").fine().json()
    assert [(row["run"], row["group"]) for row in rows] == [("first", "g"), ("second", "g")]
    assert "3 pairs to judge" in cli("pool", "--add").fine().err


def test_a_pool_can_be_withdrawn(cli: Cli, two_runs: Path) -> None:
    """Its documents are in no pool, what is judged stays, and another pool may take them."""
    assert "`RUN` must be given, or --pool NAME" in cli("pool", "drop").failed(1).err
    assert "unknown pool `pol`" in cli("pool", "drop", "--pool", "pol").failed(1).err
    words = "pool `pool` would be withdrawn: 5 documents, of which 2 are judged"
    assert words in cli("pool", "drop", "--pool", "pool", "--dry-run").fine().err
    assert "is withdrawn" in cli("pool", "drop", "--pool", "pool").fine().err
    assert "was already withdrawn" in cli("pool", "drop", "--pool", "pool").fine().err
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["outside"]) for row in status] == [(0, 3)]
    cli("pool", "--name", "again").fine()
    status = cli("status", "--table", "status", "--format", "json").fine().json()
    assert [(row["pooled"], row["judged"], row["outside"]) for row in status] == [(7, 2, 1)]


def test_a_budget_with_add_counts_new_documents(cli: Cli, two_runs: Path) -> None:
    """Two more of every topic are two that no pool has, as far as there are any."""
    cli("import", "runs", write_run(two_runs, "late", {"1": "aqrst", "2": "e"})).fine()
    cli("pool", "--add", "-s", "take", "--depth", "5", "--budget", "2", "-o", "new.txt").fine()
    # By best rank: q at 2; then c, z (of the first two runs) and r at 3, the later docno first.
    assert read_lines(two_runs / "new.txt") == ["1 q", "1 z"]


@pytest.mark.slow
@pytest.mark.vector("TREC-COVID round 1: castorini/TREC-COVID, commit be3ed3f")
def test_late_runs_of_trec_covid(cli: Cli, here: Path) -> None:
    """To the 56 runs savantx_nist_run_3 adds 155 documents, of which 2 are judged; BBGhelani1 none."""
    with data_path("leaderboard.csv").open(encoding="utf-8", newline="") as file:
        names = [row["run"] for row in csv.DictReader(file) if row["contributed judgments"] == "yes"]
    runs = [data_path(f"runs-top120/{name}.gz") for name in names]
    late = data_path("runs-top120/savantx_nist_run_3.gz")
    options = ("--depth", "7", "--order", "docno-asc")
    cli("pool", *runs, *options, "-o", "56.txt").fine()
    assert len(read_lines(here / "56.txt")) == 6959
    cli("pool", *runs, late, *options, "--minus", "56.txt", "-o", "late.txt").fine()
    new = set(read_lines(here / "late.txt"))
    assert len(new) == 155
    cli("init", "--scale", "0-2").fine()
    cli("import", "runs", *runs).fine()
    cli("pool", *options, "--round", "1").fine()
    cli("import", "judgements", data_path("qrels-rnd1.txt.gz"), "--judge", "nist").fine()
    cli("import", "runs", late).fine()
    answer = cli("pool", "--add", "-o", "added.txt").fine()
    assert set(read_lines(here / "added.txt")) == new
    assert "2 of the pairs are already judged" in answer.err
    gone = cli("pool", "drop", "savantx_nist_run_3", "--format", "json").fine().json()
    assert {f"{row['topic']} {row['docno']}" for row in gone} == new
    assert sum(row["state"] == "judged" for row in gone) == 2
    # Its seven best of every topic are all pooled: counted by hand with a sorted list and a set.
    cli("import", "runs", data_path("runs-top120/BBGhelani1.gz")).fine()
    assert "nothing to add" in cli("pool", "--add").fine().err


def test_topics_without_a_pooled_document_are_named(cli: Cli, two_runs: Path) -> None:
    """By hand: the runs have topics 1 and 2; 3 to 14 come from a topics file, twelve in all."""
    write(two_runs / "t.tsv", *[f"{number}\ttitle {number}" for number in range(1, 15)])
    cli("import", "topics", "t.tsv").fine()
    words = (
        "warning: 12 of 14 topics without a pooled document: 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and"
        " 2 more; no contributing run has a document"
    )
    dry = cli("pool", "--depth", "3", "--name", "deep", "--dry-run").fine()
    assert words in dry.err
    assert words in cli("pool", "--depth", "3", "--name", "deep").fine().err
    # A late run alone has topic 3: an adaptive pool may draw from it, and one of 1 and 2 cannot.
    cli("import", "runs", write_run(two_runs, "late", {"3": "q"})).fine()
    live = cli("pool", "-s", "mtf", "--name", "live").fine()
    assert "warning: 11 of 14 topics without a pooled document: 4, 5" in live.err
