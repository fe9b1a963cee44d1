"""Qrels by name: the designs that people have, what is never done unasked, and how two qrels differ."""

from __future__ import annotations

import gzip
import json
from math import log2
from pathlib import Path

import pytest

import pooler as p
from store.records import Action, Decision
from tests.helpers.run import Cli, write
from tests.helpers.trec_covid import data_path

TEN = [f"d{number}" for number in range(10)]


def judged_by(cli: Cli, here: Path, judge: str, kind: str, *lines: str) -> None:
    """Import lines of a qrels file as judgements."""
    write(here / f"{judge}.txt", *lines)
    cli("import", "judgements", f"{judge}.txt", "--judge", judge, "--kind", kind).fine()


def run_of(cli: Cli, here: Path, topics: str, docnos: list[str]) -> None:
    """Import a run with documents in their order, and pool all of it."""
    lines = [f"{topic} Q0 {one} 1 {-place} r" for topic in topics for place, one in enumerate(docnos)]
    write(here / "r.run", *lines)
    cli("import", "runs", "r.run").fine()
    cli("pool", "--depth", str(len(docnos))).fine()


def test_two_authors_second_judge_each_other(cli: Cli, here: Path) -> None:
    """The author of a topic decides; the other's grades there, given as second judge, never count."""
    cli("init", "--scale", "0-2").fine()
    cli("judges", "add", "ann", "bob").fine()
    run_of(cli, here, "12", ["x", "y"])
    write(here / "authors.tsv", "1\tann", "2\tbob")
    cli("assign", "--topic-judges", "authors.tsv", "--overlap", "1").fine()
    # Of each document the author says one grade, the second judge another.
    grades = {
        "ann": {"1 x": 2, "1 y": 0, "2 x": 0, "2 y": 0},
        "bob": {"1 x": 0, "1 y": 1, "2 x": 1, "2 y": 2},
    }
    with p.open_collection() as opened:
        for judge, given in grades.items():
            desk = opened.desk(judge)
            for pair, grade in given.items():
                topic, docno = pair.split()
                desk.queue(topic)
                desk.record(Decision(topic, docno, Action.JUDGE, grade))
            desk.leave()
    lines = "1 0 x 2\n1 0 y 0\n2 0 x 1\n2 0 y 2\n"
    cli("qrels", "define", "authors", "--aggregate", "primary").fine()
    assert cli("export", "qrels", "authors").fine().out == lines
    # The definition that is there from the start says the same: assignments name who is primary.
    assert cli("export", "qrels").fine().out == lines
    compared = cli("qrels", "diff", "authors", "official", "--format", "json").fine().json()
    assert compared["differences"] == []
    assert "final grade: 2 (relevant), of ann, primary there" in cli("history", "1", "x").fine().out


def test_a_file_says_who_is_primary_of_imported_judgements(cli: Cli, here: Path) -> None:
    """Where nothing is assigned, `--primary` does what assignments do, in a collection and on files."""
    cli("init", "--scale", "0-2").fine()
    judged_by(cli, here, "ann", "human", "1 0 x 2", "1 0 y 0", "2 0 x 0", "2 0 y 0")
    judged_by(cli, here, "bob", "human", "1 0 x 0", "1 0 y 1", "2 0 x 1", "2 0 y 2")
    refused = cli("export", "qrels").failed(1).err
    assert "official@1: 4 documents undecided: judges gave different grades, and no rule says" in refused
    write(here / "authors.tsv", "1\tann", "2\tbob")
    lines = "1 0 x 2\n1 0 y 0\n2 0 x 1\n2 0 y 2\n"
    rule = ("--aggregate", "primary", "--primary", "authors.tsv")
    cli("qrels", "define", "authors", *rule).fine()
    assert cli("export", "qrels", "authors").fine().out == lines
    assert cli("export", "qrels", "ann=ann.txt", "bob=bob.txt", *rule).fine().out == lines
    # Every line that names nobody, or nothing, is told of; in Python every topic.
    write(here / "wrong.tsv", "1\tann", "9\tbob", "2\tbib")
    refused = cli("qrels", "define", "authors", *rule[:2], "--primary", "wrong.tsv").failed(1).err
    assert "wrong.tsv:2: expected a topic of the collection, got `9`" in refused
    assert "wrong.tsv:3: expected a judge of the collection, got `bib`" in refused
    with pytest.raises(p.PoolerError, match="expected a topic of the collection, got `9`"):
        p.qrels_define("collection.db", "authors", p.Qrels(aggregate="primary", primary={"9": "bob"}))
    none = cli("export", "qrels", "ann=ann.txt", "bob=bob.txt", "--aggregate", "primary").failed(1).err
    assert "no document is judged by a judge to whom it is assigned as primary" in none


def test_one_check_does_not_take_the_place_of_imported_qrels(cli: Cli, here: Path) -> None:
    """One colleague looked at one of ten: nothing is measured before it is said whose grades count."""
    cli("init", "--scale", "0-1").fine()
    run_of(cli, here, "1", TEN)
    judged_by(cli, here, "trec", "imported", *(f"1 0 {one} {int(one in ('d0', 'd1'))}" for one in TEN))
    value = cli("evaluate", "-m", "AP", "--format", "json").fine().json()
    assert [row["value"] for row in value["measures"]] == [1.0]
    judged_by(cli, here, "eve", "human", "1 0 d1 1")
    write(here / "s.run", *(f"1 Q0 {one} 1 {place} s" for place, one in enumerate(TEN)))
    cli("import", "runs", "s.run").fine()
    measuring = ("evaluate -m AP", "export qrels", "sensitivity --depth 5", "variation --by pair")
    for command in (*measuring, "variation", "pool next", "paper r s --rank 7", "variation --qrels eve"):
        refused = cli(*command.split()).failed(1).err
        assert "people graded 1 document and imported judges 10: whose grades count?" in refused
        assert "hint: pooler qrels define official --kinds imported takes these" in refused
    said = cli("history", "1", "d1").fine().out
    assert "final grade: none; by their rule the qrels cannot be made" in said
    cli("qrels", "define", "official", "--aggregate", "min").fine()
    assert "final grade: none; by their rule the qrels cannot be made" in cli("history", "1", "d1").fine().out
    cli("qrels", "define", "official", "--kinds", "imported").fine()
    value = cli("evaluate", "r", "-m", "AP", "--format", "json").fine().json()
    assert [row["value"] for row in value["measures"]] == [1.0]
    assert "10 documents: p = share of judges" in cli("variation", "--qrels", "eve").fine().err
    # Her own grades are of one document at rank 2: AP is 1/2, where they are asked for.
    own = cli("evaluate", "r", "-m", "AP", "--qrels", "eve", "--format", "json").fine().json()
    assert [row["value"] for row in own["measures"]] == [0.5]


@pytest.mark.parametrize("more", [(), ("--without-topic", "2"), ("--pool", "pool")])
def test_what_was_published_is_made_again_to_the_byte(cli: Cli, here: Path, more: tuple[str, ...]) -> None:
    """Judge, publish as of now, judge on, define anew: version 2 gives the bytes of then."""
    cli("init", "--scale", "0-2").fine()
    run_of(cli, here, "12", ["a", "b"])
    judged_by(cli, here, "ann", "human", "1 0 a 2", "1 0 b 0", "2 0 a 1")
    judged_by(cli, here, "bob", "human", "1 0 a 2", "1 0 b 1", "2 0 b 1")
    rule = ("--aggregate", "majority", "--ties", "low")
    cli("qrels", "define", "official", *rule, "--as-of", "now", *more).fine()
    first = cli("export", "qrels", "official@2", "--unjudged", "-1", "--out", "first.qrels").fine()
    lines = ["1 0 a 2", "1 0 b 0", "2 0 a 1", "2 0 b 1"]
    assert (here / "first.qrels").read_text().splitlines() == lines[: 2 if "--without-topic" in more else 4]
    # Another judge, another grade of an old one, another pool, another rule.
    judged_by(cli, here, "cid", "human", "1 0 b 1", "2 0 a 2", "1 0 c 1")
    write(here / "ann.txt", "1 0 a 0")
    cli("import", "judgements", "ann.txt", "--judge", "ann", "--kind", "human", "--replace").fine()
    write(here / "s.run", "1 Q0 e 1 1 s")
    cli("import", "runs", "s.run").fine()
    cli("pool", "--depth", "1", "--name", "late").fine()
    cli("qrels", "define", "official", "--aggregate", "max").fine()
    again = cli("export", "qrels", "official@2", "--unjudged", "-1", "--out", "again.qrels").fine()
    assert (here / "again.qrels").read_bytes() == (here / "first.qrels").read_bytes()
    manifests = [(here / f"{one}.qrels.manifest.json").read_bytes() for one in ("first", "again")]
    assert manifests[0] == manifests[1]
    assert json.loads(manifests[0])["qrels"] == "official@2"
    assert again.err == first.err
    assert cli("export", "qrels", "official").fine().out != (here / "first.qrels").read_text()


def test_judgements_that_came_in_later_do_not_count_as_published(cli: Cli, here: Path) -> None:
    """The history of another site is dated before the publication; copies of all kinds know that, too."""
    cli("init", "--scale", "0-2").fine()
    write(here / "sue.txt", "1 0 a 2", "1 0 c 1")
    cli("import", "judgements", "sue.txt", "--judge", "sue", "--kind", "human").fine()
    cli("export", "judgements", "--history", "--out", "sue.jsonl").fine()
    (here / "collection.db").unlink()
    cli("init", "--scale", "0-2").fine()
    judged_by(cli, here, "zoe", "human", "1 0 a 1", "1 0 b 0")
    judged_by(cli, here, "ann", "human", "1 0 a 0", "1 0 b 1")
    run_of(cli, here, "1", ["a", "b", "c"])
    cli("qrels", "define", "official", "--aggregate", "max", "--as-of", "now").fine()
    cli("import", "judgements", "sue.jsonl", "--as", "jsonl").fine()
    cli("qrels", "define", "official", "--aggregate", "max", "--as-of", "now").fine()
    published = cli("export", "qrels", "official@2").fine()
    assert (published.out, "not as" in published.err) == ("1 0 a 1\n1 0 b 1\n", False)
    assert cli("export", "qrels", "official@3").fine().out == "1 0 a 2\n1 0 b 1\n1 0 c 1\n"
    # An id that is given again is not that of an event of then.
    cli("judges", "erase", "sue", "--yes").fine()
    cli("import", "judgements", "sue.jsonl", "--as", "jsonl").fine()
    assert cli("export", "qrels", "official@3").fine().out == "1 0 a 1\n1 0 b 1\n"
    cli("judges", "erase", "zoe", "--yes").fine()
    cli("backup", "b.db").fine()
    cli("restore", "b.db", "--collection", "restored.db").fine()
    for place, more in (("again.db", ()), ("unnamed.db", ("--anonymised",))):
        cli("export", "collection", f"{place}.folder", *more).fine()
        cli("import", "collection", f"{place}.folder", "--collection", place).fine()
    for place in ("collection.db", "restored.db", "again.db", "unnamed.db"):
        assert cli("export", "qrels", "official@2", "--collection", place).fine().out == "1 0 a 0\n1 0 b 1\n"


@pytest.mark.parametrize("more", [(), ("--pool", "pool")])
def test_what_was_published_keeps_to_the_pools_of_then(cli: Cli, here: Path, more: tuple[str, ...]) -> None:
    """A pool that is replaced or dropped was there, and what is not of a moment is of the new one."""
    cli("init", "--scale", "0-2").fine()
    run_of(cli, here, "1", ["a", "b", "c"])
    judged_by(cli, here, "ann", "human", "1 0 a 2", "1 0 b 0")
    cli("qrels", "define", "then", "--aggregate", "max", *more, "--as-of", "now").fine()
    cli("qrels", "define", "live", "--aggregate", "max", *more).fine()
    lines = "1 0 a 2\n1 0 b 0\n1 0 c -1\n"
    command = ("export", "qrels", "then@1", "--unjudged", "-1")
    assert cli(*command).fine().out == lines
    cli("pool", "--depth", "1", "--replace").fine()
    assert cli(*command).fine().out == lines
    live = cli("export", "qrels", "live", "--unjudged", "-1").fine().out
    assert live == ("1 0 a 2\n" if more else "1 0 a 2\n1 0 b 0\n")
    for name in ("pool.replaced-1", "pool"):
        cli("pool", "drop", "--pool", name).fine()
        assert cli(*command).fine().out == lines


def test_a_run_does_not_leave_a_pool_that_was_published(cli: Cli, here: Path) -> None:
    """Its documents would be unknown then; once nothing is published of the pool, it may."""
    cli("init", "--scale", "0-2").fine()
    run_of(cli, here, "1", ["a", "b"])
    judged_by(cli, here, "ann", "human", "1 0 a 2", "1 0 b 0")
    cli("qrels", "define", "then", "--aggregate", "max", "--pool", "pool", "--as-of", "now").fine()
    assert cli("pool", "drop", "r").failed(3).err.splitlines() == [
        "error: no document leaves pool `pool`: then@1 is of it as it was",
        "hint: pooler pool --name NEW makes another, which the run leaves with --pool NEW",
    ]
    cli("pool", "--depth", "2", "--name", "new").fine()
    cli("pool", "drop", "r", "--pool", "new").fine()
    assert cli("export", "qrels", "then@1").fine().out == "1 0 a 2\n1 0 b 0\n"
    cli("qrels", "drop", "then").fine()
    cli("pool", "drop", "r").fine()


def test_a_version_that_was_dropped_is_never_another(cli: Cli, here: Path) -> None:
    """A manifest's `strict@1` stays clear: after a drop the numbers go on, in an exported collection, too."""
    cli("init", "--scale", "0-2").fine()
    judged_by(cli, here, "ann", "human", "1 0 a 2")
    cli("qrels", "define", "strict", "--aggregate", "min", "--as-of", "now").fine()
    cli("qrels", "drop", "strict").fine()
    assert "strict" not in cli("qrels").fine().out
    assert (
        "unknown qrels `strict`; known: `ann`, `official`" in cli("export", "qrels", "strict").failed(1).err
    )
    assert "unknown definition `strict`" in cli("qrels", "drop", "strict").failed(1).err
    cli("export", "collection", "folder").fine()
    cli("import", "collection", "folder", "--collection", "again.db").fine()
    for place in ("collection.db", "again.db"):
        way = ("--collection", place)
        cli("qrels", "define", "strict", "--aggregate", "max", *way).fine()
        assert cli("export", "qrels", "strict@2", *way).fine().out == "1 0 a 2\n"
        assert cli("export", "qrels", "strict@1", *way).failed(1).err.splitlines() == [
            "error: `strict@1` was dropped, and its number is never given again",
            "hint: pooler qrels lists the versions",
        ]
        cli("verify", *way).fine()
    # The name is free for a judge once it is dropped.
    cli("qrels", "drop", "strict").fine()
    cli("judges", "add", "strict").fine()
    cli("verify").fine()


def test_events_of_then_that_are_gone_are_told(cli: Cli, here: Path) -> None:
    """Who was erased is missed: the qrels are no longer those that were defined, and say so."""
    cli("init", "--scale", "0-1").fine()
    judged_by(cli, here, "ann", "human", "1 0 a 1")
    judged_by(cli, here, "bob", "human", "1 0 a 1", "1 0 b 1")
    run_of(cli, here, "1", ["a", "b"])
    cli("qrels", "define", "then", "--aggregate", "max", "--as-of", "now").fine()
    cli("judges", "erase", "bob", "--yes").fine()
    said = cli("evaluate", "--qrels", "then").fine().err
    assert "warning: then@1: not as it was defined: 2 judgement events of then gone" in said


def test_sums_have_levels_of_their_own_in_both_forms_of_ntcir(cli: Cli, here: Path) -> None:
    """Three judges on 0 to 2: sums 0 to 6, relevant from 2, highly from 4; letters and levels by hand."""
    cli("init", "--scale", "0-2").fine()
    sums = {"a": (2, 2, 1), "b": (1, 1, 0), "c": (0, 1, 0), "d": (2, 1, 1)}
    for place, judge in enumerate(("ann", "bob", "cid")):
        judged_by(cli, here, judge, "human", *(f"1 0 {one} {three[place]}" for one, three in sums.items()))
    cli("qrels", "define", "sums", "--aggregate", "sum", "--relaxed", "2", "--rigid", "4").fine()
    assert cli("export", "qrels", "sums").fine().out == "1 0 a 5\n1 0 b 2\n1 0 c 1\n1 0 d 4\n"
    rigid = cli("export", "qrels", "sums", "--level", "rigid").fine().out
    assert rigid == "1 0 a 1\n1 0 b 0\n1 0 c 0\n1 0 d 1\n"
    told = cli("export", "qrels", "sums", "--as", "ntcireval").fine()
    assert told.out == "1 a L5\n1 b L2\n1 c L1\n1 d L4\n"
    cli("export", "qrels", "sums", "--as", "ntcir2", "--out", "web").fine()
    assert (here / "web.rigid").read_text() == "1\tA\ta\t1\n1\tB\tb\t0\n1\tC\tc\t0\n1\tA\td\t1\n"
    assert (here / "web.relaxed").read_text() == "1\tA\ta\t1\n1\tB\tb\t1\n1\tC\tc\t0\n1\tA\td\t1\n"
    cli("qrels", "define", "bare", "--aggregate", "sum").fine()
    refused = cli("export", "qrels", "bare", "--as", "ntcir2", "--out", "web").failed(1).err
    assert "must be defined with --relaxed and --rigid: a sum has no letter of the scale" in refused
    run_of(cli, here, "1", ["c", "a", "b", "d"])
    # Relevant from 2: a, b, d at ranks 2, 3, 4; from 4: a, d at ranks 2, 4.
    for level, ap in (("relaxed", (1 / 2 + 2 / 3 + 3 / 4) / 3), ("rigid", (1 / 2 + 2 / 4) / 2)):
        shown = cli("evaluate", "-m", "AP", "--qrels", "sums", "--level", level, "--format", "json").fine()
        assert shown.json()["measures"][0]["value"] == pytest.approx(ap)
    # Graded measures have the sums, as an evaluator of the exported file has: gains 1, 5, 2 of 5, 4, 2.
    ndcg = (1 + 5 / log2(3) + 2 / 2) / (5 + 4 / log2(3) + 2 / 2)
    shown = cli("evaluate", "-m", "nDCG@3", "-m", "AP(rel=4)", "--qrels", "sums", "--format", "json").fine()
    assert [one["value"] for one in shown.json()["measures"]] == pytest.approx([ndcg, 1 / 2])
    refused = cli("qrels", "define", "all", "--aggregate", "sum", "--relaxed", "0").failed(1).err
    assert "`--relaxed` must be above 0: every sum of grades is at least that, but got 0" in refused
    said = cli("qrels", "define", "none", "--aggregate", "sum", "--relaxed", "2", "--rigid", "7").fine().err
    assert "none@1: `--rigid` must be above 0 and at most 6, as sums of grades can be here" in said
    for level in ("0", "7"):
        refused = cli("evaluate", "--qrels", "sums", "--level", level).failed(1).err
        assert "must be above 0 and at most 6, as sums of grades can be here" in refused


def test_a_definition_never_becomes_the_default_by_being_made(cli: Cli, here: Path) -> None:
    """What is measured by default changes where `--default` says so, and nowhere else."""
    cli("init", "--scale", "0-1").fine()
    run_of(cli, here, "1", ["a", "b"])
    judged_by(cli, here, "ann", "human", "1 0 a 1", "1 0 b 0")
    cli("qrels", "define", "strict", "--map", "1=0").fine()
    listed = cli("qrels", "--format", "json").fine().json()
    assert [(row["qrels"], row["version"], row["default"]) for row in listed] == [
        ("official", 1, True), ("strict", 1, False),
    ]  # fmt: skip
    assert cli("evaluate").fine().err.startswith("official@1: 2 judgements (judge ann)")
    assert cli("qrels", "define", "strict", "--default").fine().err.startswith("strict@1: 2 documents")
    assert cli("export", "qrels").fine().out == "1 0 a 0\n1 0 b 0\n"
    assert "`strict` stays: it is the default" in cli("qrels", "drop", "strict").failed(1).err
    cli("qrels", "define", "official", "--default").fine()
    cli("qrels", "drop", "strict").fine()


def test_what_is_mistyped_does_not_become_the_default(cli: Cli, here: Path) -> None:
    """Without a rule `--default` takes qrels that are there, and names what is near."""
    cli("init").fine()
    cli("qrels", "define", "strict", "--aggregate", "min").fine()
    refused = cli("qrels", "define", "stirct", "--default").failed(1).err
    assert "unknown qrels `stirct`; known: `strict`" in refused
    assert [row["qrels"] for row in cli("qrels", "--format", "json").fine().json()] == ["official", "strict"]


def test_runs_and_qrels_come_from_files_and_a_collection_in_any_mix(cli: Cli, here: Path) -> None:
    """Two runs, four ways to name them and their qrels, one score."""
    cli("init", "--scale", "0-1").fine()
    run_of(cli, here, "1", ["a", "b", "c"])
    judged_by(cli, here, "ann", "human", "1 0 b 1", "1 0 c 0")
    cli("export", "qrels", "--out", "q.qrels").fine()
    ways = (
        (), ("r",), ("--qrels", "ann"), ("--qrels", "official@1"), ("r.run", "--qrels", "official"),
        ("--qrels", "q.qrels"), ("r", "--qrels", "q.qrels"), ("r.run", "--qrels", "q.qrels"),
    )  # fmt: skip
    found = {cli("evaluate", "-m", "AP", *words, "--format", "tsv").fine().out for words in ways}
    assert len(found) == 1
    assert "0.5" in found.pop()
    with p.open_collection() as opened:
        sources = (
            p.source(opened), p.source(opened, qrels="ann"), p.source(opened, qrels="q.qrels"),
            p.source("r.run", qrels="official", collection=opened), p.source("r.run", qrels=Path("q.qrels")),
            p.source(opened, qrels=p.Qrels(aggregate="max")),
            p.source("r.run", qrels=p.Qrels(aggregate="max"), judgements=["ann=ann.txt"]),
        )  # fmt: skip
        assert {p.evaluate(one, "AP").table("measures").cells("value")[0] for one in sources} == {0.5}


def test_undecided_documents_are_warned_of_and_not_published(cli: Cli, here: Path) -> None:
    """What looks warns and leaves them out, pooled without a grade; what publishes refuses."""
    cli("init", "--scale", "0-1").fine()
    run_of(cli, here, "1", ["a", "b", "c"])
    judged_by(cli, here, "ann", "human", "1 0 a 1", "1 0 b 0", "1 0 c 1")
    judged_by(cli, here, "bob", "human", "1 0 a 0", "1 0 b 0")
    said = cli("evaluate", "-m", "AP").fine().err
    assert "warning: official@1: 1 document undecided, left out: pooler adjudicate, or pooler " in said
    for command in (("export", "qrels"), ("export", "collection", "made")):
        assert "official@1: 1 document undecided" in cli(*command).failed(1).err
    cli("qrels", "define", "two", "--aggregate", "max", "--votes", "2").fine()
    assert cli("export", "qrels", "two").fine().out == "1 0 a 1\n1 0 b 0\n"
    assert "documents.jsonl" not in {one.name for one in here.iterdir()}


def test_documents_with_few_votes_are_told_from_those_that_judges_differ_on(cli: Cli, here: Path) -> None:
    """Of a, b, c, d two have two votes, of which one is tied; `adjudicate` lists that one alone."""
    cli("init", "--scale", "0-1").fine()
    judged_by(cli, here, "ann", "human", "1 0 a 1", "1 0 b 0", "1 0 c 1")
    judged_by(cli, here, "bob", "human", "1 0 a 0", "1 0 b 0", "1 0 d 1")
    rule = ("--aggregate", "majority", "--votes", "2", "--ties")
    cli("qrels", "define", "both", *rule, "unresolved").fine()
    said = cli("export", "qrels", "both").fine().err
    assert "3 documents left out: undecided, 2 of them with fewer than 2 votes" in said
    assert "shows those that judges differ on" in said
    assert "votes a document" not in said
    cli("qrels", "define", "both", *rule, "low").fine()
    said = cli("export", "qrels", "both").fine().err
    assert "2 documents left out: undecided, all with fewer than 2 votes" in said
    assert "adjudicate" not in said


def test_what_a_definition_says_of_itself(cli: Cli, here: Path) -> None:
    """Binary first there is nothing to count without a level; a moment to come ends nothing yet."""
    cli("init", "--scale", "0-2").fine()
    judged_by(cli, here, "ann", "human", "1 0 a 1", "1 0 b 0")
    judged_by(cli, here, "bob", "human", "1 0 a 2", "1 0 b 2")
    rule = ("--aggregate", "majority", "--ties", "low")
    said = cli("qrels", "define", "binary", *rule, "--binary-first").fine().err
    assert said.startswith("binary@1: --aggregate majority --ties low --binary-first; counted at a level")
    assert "document" not in said
    assert {row["qrels"]: row["documents"] for row in cli("qrels", "--format", "json").fine().json()} == {
        "binary": None, "official": 0,
    }  # fmt: skip
    said = cli("qrels", "define", "then", *rule, "--as-of", "9999-01-01T12:00+00:00").fine().err
    assert "then@1: judgements count until 9999-01-01 12:00:00+00:00, which is to come" in said
    assert "to come" not in cli("qrels", "define", "then", *rule, "--as-of", "now").fine().err


def test_a_rule_that_gives_nothing_stops_an_export_by_its_name(cli: Cli, here: Path) -> None:
    """Dawid and Skene need three judges; who drops the definition can export."""
    cli("init", "--scale", "0-1").fine()
    judged_by(cli, here, "ann", "human", "1 0 a 1")
    judged_by(cli, here, "bob", "human", "1 0 a 1")
    cli("qrels", "define", "dsk", "--aggregate", "dawid-skene").fine()
    refused = cli("export", "collection", "made").failed(1).err
    assert "dsk@1: Dawid-Skene needs votes of at least 3 judges" in refused
    assert "hint: pooler qrels drop dsk" in refused
    cli("qrels", "drop", "dsk").fine()
    cli("export", "collection", "made").fine()


def test_qrels_files_in_which_all_is_relevant_are_told(cli: Cli, here: Path) -> None:
    """Of grades 1 to 4 all are relevant at level 1; on the scale 1 to 4 the lowest is not."""
    write(here / "q.qrels", "1 0 a 1", "1 0 b 4")
    write(here / "r.run", "1 Q0 a 1 2 r", "1 Q0 b 2 1 r")
    command = ("evaluate", "r.run", "--qrels", "q.qrels", "-m", "AP")
    assert "every judged document is relevant at that level; --scale" in cli(*command).fine().err
    for more in (("--scale", "1-4"), ("--level", "1")):
        assert "every judged" not in cli(*command, *more).fine().err


def test_definitions_travel_with_the_collection(cli: Cli, here: Path) -> None:
    """Backup and folder bring every version back; `qrels.json` says what each file is; history has them."""
    cli("init", "--scale", "0-1").fine()
    run_of(cli, here, "1", ["a", "b"])
    judged_by(cli, here, "ann", "human", "1 0 a 1", "1 0 b 0")
    cli("qrels", "define", "official", "--judge", "ann", "--as-of", "now").fine()
    cli("qrels", "define", "strict", "--aggregate", "min", "--pool", "pool", "--without-topic", "1").fine()
    listed = cli("qrels", "--format", "json").fine().json()
    cli("backup", "b.db").fine()
    cli("restore", "b.db", "--collection", "restored.db").fine()
    cli("export", "collection", "folder").fine()
    cli("import", "collection", "folder", "--collection", "again.db").fine()
    for place in ("restored.db", "again.db"):
        assert cli("qrels", "--format", "json", "--collection", place).fine().json() == listed
        assert cli("export", "qrels", "--collection", place).fine().out == "1 0 a 1\n1 0 b 0\n"
        cli("verify", "--collection", place).fine()
    [official] = json.loads((here / "folder" / "qrels.json").read_text())["qrels"]
    assert (official["file"], official["qrels_version"]) == ("qrels/official.qrels", 2)
    assert (official["kinds"], official["levels"]["relaxed"]) == ({"human": 1}, 1)
    assert official["defined"]["judges"] == ["ann"]
    assert (here / "folder" / "qrels" / "official.qrels").read_text() == "1 0 a 1\n1 0 b 0\n"
    told = cli("history").fine().out
    assert "official@2" in told
    assert "official@1" not in told


def test_a_judge_whose_name_reads_as_a_file_is_told_of(cli: Cli, here: Path) -> None:
    """Warned of when it is given, not listed as a name of qrels, and measured with by a definition."""
    cli("init", "--scale", "0-2").fine()
    way = "pooler qrels define NAME --judge joe.x names that judge's own grades"
    assert f"warning: --qrels joe.x would be a file: {way}" in cli("judges", "add", "joe.x").fine().err
    assert "--judge ann/x" in cli("judges", "rename", "joe.x", "ann/x").fine().err
    write(here / "q", "1 0 a 1")
    for judge in ("joe.x", "plain"):
        said = cli("import", "judgements", "q", "--judge", judge, "--allow-unknown").fine().err
        assert (way in said) == (judge == "joe.x")
    assert "own grades: plain." in cli("qrels").fine().out
    for command in (["evaluate", "--qrels"], ["agreement", "--qrels"], ["export", "qrels"]):
        assert cli(*command, "joe.x").failed(1).err.splitlines() == [
            "error: joe.x: no such file or directory", f"hint: {way}"
        ]  # fmt: skip
    for _ in range(2):
        cli("qrels", "define", "joe", "--judge", "joe.x").fine()
    assert "documents -: not counted, of older versions" in cli("qrels").fine().out
    assert cli("export", "qrels", "joe").fine().out == "1 0 a 1\n"


def test_hints_of_one_judge_and_of_two_can_be_typed(cli: Cli, here: Path) -> None:
    """Judges that are named where qrels are meant: what the hints say makes them qrels."""
    cli("init", "--scale", "0-1").fine()
    judged_by(cli, here, "ann", "human", "1 0 a 1", "1 0 b 0")
    judged_by(cli, here, "bob", "human", "1 0 a 1", "1 0 b 1")
    refused = cli("export", "qrels", "--judge", "ann").failed(1).err
    assert "hint: pooler qrels define NAME --judge ...; then pooler export qrels NAME" in refused
    both = "pooler qrels define both --judge"
    assert f"{both} A --judge B`, then --qrels both" in cli("agreement", "--judge", "ann").failed(2).err
    alone = cli("agreement", "--qrels", "ann").failed(1).err
    assert f"hint: {both} ann --judge JUDGE, then --qrels both" in alone
    two = cli("agreement", "--qrels", "ann", "--qrels", "bob").failed(1).err
    assert f"hint: of judges: {both} ann --judge bob; then --qrels both" in two
    cli("qrels", "define", "both", "--judge", "ann", "--judge", "bob").fine()
    assert "ann" in cli("agreement", "--qrels", "both").fine().out


@pytest.fixture
def files(here: Path) -> Path:
    """Write two qrels and two runs of one topic, and a topic that one of the qrels has alone."""
    write(here / "a", "1 0 x 1", "1 0 y 0", "1 0 u -1", "1 0 v -1", "001 0 x 1", "1 0 w 2")
    write(here / "b", "1 0 x 0", "1 0 y 1", "1 0 u 0", "1 0 n 2", "001 1 x 1", "1 0 w -1")
    write(here / "p.run", "1 Q0 x 1 3 p", "1 Q0 y 2 2 p", "001 Q0 x 1 1 p")
    write(here / "q.run", "1 Q0 y 1 3 q", "1 Q0 x 2 2 q", "001 Q0 x 1 1 q")
    return here


def test_what_became_of_each_document_is_counted(cli: Cli, files: Path) -> None:
    """Added, removed, changed, judged and unjudged since: by hand from the lines above."""
    found = cli("qrels", "diff", "./a", "./b", "--format", "json").fine().json()
    counts = {row["what"]: row["documents"] for row in found["summary"]}
    assert counts == {
        "same": 1, "added": 1, "removed": 0, "changed": 2, "now judged": 1, "now unjudged": 1,
        "listed unjudged": 0, "unlisted unjudged": 1, "recoded unjudged": 0,
        "became relevant": 1, "ceased to be relevant": 1, "same but for the iteration": 1,
    }  # fmt: skip
    assert {(row["before"], row["after"]): row["documents"] for row in found["pairs"]} == {
        (1, 0): 1, (0, 1): 1, (-1, 0): 1, (-1, None): 1, (1, 1): 1, (2, -1): 1, (None, 2): 1
    }  # fmt: skip
    assert [(row["docno"], row["what"]) for row in found["differences"]] == [
        ("n", "added"),
        ("u", "now judged"),
        ("v", "unlisted unjudged"),
        ("w", "now unjudged"),
        ("x", "changed"),
        ("y", "changed"),
    ]
    assert [row["topic"] for row in found["topics"]] == ["1"]
    table = cli("qrels", "diff", "./a", "./b").fine().out
    assert "not listed" in table
    assert "recoded" not in table


def test_effect_on_runs_is_a_hand_calculation(cli: Cli, files: Path) -> None:
    """Two relevant of w, x with R = 2, then y, n: the runs change places, MAP by hand.

    Under A topic 1 has x and w relevant: p has 1/1 of 2, so AP 1/2; q 1/2 of 2, 1/4. Topic 001: 1.
    Under B topic 1 has y and n: p 1/4, q 1/2.
    """
    found = cli("qrels", "diff", "./a", "./b", "p.run", "q.run", "--format", "json").fine().json()
    told = {row["run"]: (row["map_before"], row["map_after"]) for row in found["runs"]}
    assert told == {"p": (0.75, 0.625), "q": (0.625, 0.75)}
    [order] = found["order"]
    assert (order["tau_b"], order["tau_ap"], order["swapped"]) == (-1, -1, 1)
    assert [row["place_before"] for row in found["runs"]] == [1, 2]
    evaluated = (
        cli("evaluate", "--qrels", "./b", "p.run", "--table", "measures", "--format", "json").fine().json()
    )
    assert evaluated[0]["value"] == told["p"][1]


def test_level_and_negative_grades_are_choices(cli: Cli, files: Path) -> None:
    """At level 2 nobody finds w, alone relevant under A; negative grades leave nothing unjudged."""
    found = cli("qrels", "diff", "./a", "./b", "p.run", "q.run", "--level", "2", "--format", "json").fine()
    assert {row["map_before"] for row in found.json()["runs"]} == {0}
    found = cli("qrels", "diff", "./a", "./b", "--code", "-1=grade", "--format", "json").fine()
    counts = {row["what"]: row["documents"] for row in found.json()["summary"]}
    assert (counts["changed"], counts["removed"], counts["now judged"]) == (4, 1, 0)


def test_grades_made_binary_first_are_compared_at_the_level(cli: Cli, here: Path) -> None:
    """The lower of two grades, relevant or not, beside the higher and beside a file: by hand."""
    cli("init", "--scale", "0-2").fine()
    for judge, z in (("ann", 1), ("bob", 0)):
        write(here / judge, "1 0 x 2", "1 0 y 1", f"1 0 z {z}")
        cli("import", "judgements", judge, "--judge", judge, "--kind", "human").fine()
    cli("qrels", "define", "low", "--aggregate", "min", "--binary-first").fine()
    cli("qrels", "define", "high", "--aggregate", "max").fine()
    write(here / "file", "1 0 x 2", "1 0 y 0", "1 0 z -1")
    for other, level, became, differ in (
        ("high", "1", 1, [("z", 0, 1)]),
        ("high", "2", 0, []),
        ("./file", "1", 0, [("y", 1, 0), ("z", 0, -1)]),
    ):
        found = cli("qrels", "diff", "low", other, "--level", level, "--format", "json").fine()
        assert [(row["docno"], row["before"], row["after"]) for row in found.json()["differences"]] == differ
        assert {"what": "became relevant", "documents": became} in found.json()["summary"]
        assert f"both are compared as relevant (1) or not (0) at level {level}" in found.err


def test_undefined_order_has_a_reason(cli: Cli, files: Path) -> None:
    """Nothing relevant at level 3, and one run alone, are dashes with a reason."""
    found = cli("qrels", "diff", "./a", "./b", "p.run", "q.run", "--level", "3", "--format", "json").fine()
    [order] = found.json()["order"]
    assert (order["tau_b"], order["swapped"], order["reason"]) == (None, None, "no-relevant")
    assert {row["reason"] for row in found.json()["runs"]} == {"no-relevant"}
    [order] = cli("qrels", "diff", "./a", "./b", "p.run", "--format", "json").fine().json()["order"]
    assert (order["tau_ap"], order["swapped"], order["reason"]) == (None, None, "fewer-than-two")


def test_real_qrels_against_a_plain_walk(cli: Cli, here: Path) -> None:
    """TREC-COVID's round 1 against itself with every tenth grade flipped, counted by hand here."""
    text = gzip.decompress(data_path("qrels-rnd1.txt.gz").read_bytes()).decode()
    rows = [line.split() for line in text.splitlines()]
    other = [[*row[:3], "2" if row[3] == "0" else "0"] if place % 10 == 0 else row
             for place, row in enumerate(rows)]  # fmt: skip
    write(here / "a", *(" ".join(row) for row in rows))
    write(here / "b", *(" ".join(row) for row in other))
    found = cli("qrels", "diff", "./a", "./b", "--format", "json").fine().json()
    counts = {row["what"]: row["documents"] for row in found["summary"]}
    assert counts["changed"] == sum(x[3] != y[3] for x, y in zip(rows, other, strict=True))
    assert counts["same"] + counts["changed"] == len(rows)
