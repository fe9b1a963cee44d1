"""`pooler import topics|docs|runs`: of files, of search programs and of ir_datasets; again, and replaced."""

from __future__ import annotations

import gzip
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import pooler as p
from store.collection import Collection
from store.records import Document, Topic
from tests.helpers.fixtures import made_once
from tests.helpers.run import Cli, write


@pytest.fixture
@made_once
def started(cli: Cli, garden: Path) -> Path:
    """Work beside an empty collection in a copy of the sample collection."""
    cli("init").fine()
    return garden


@pytest.mark.parametrize(
    "command",
    [
        ["import", "topics", "topics.jsonl"],
        ["import", "docs", "documents.jsonl", "--all"],
        ["import", "runs", "--runs", "runs.tsv"],
    ],
)
def test_same_file_again_changes_nothing(cli: Cli, started: Path, command: list[str]) -> None:
    """A second import finds everything there already; stdout has nothing either time."""
    first = cli(*command).fine()
    again = cli(*command).fine()
    assert first.out == again.out == ""
    assert "added" in first.err
    expected = "nothing new" if command[1] != "runs" else "9 runs: 0 added, 9 already there"
    assert expected in again.err


def test_topics_come_as_trec_and_in_other_formats(cli: Cli, here: Path) -> None:
    """TREC, TSV and JSON lines say the same topics, so the later ones change nothing."""
    cli("init").fine()
    write(here / "t.trec", "<top>", "<num> Number: 301", "<title> Crime", "</top>")
    write(here / "t.tsv", "301\tCrime")
    write(here / "t.jsonl", '{"topic": "301", "title": "Crime"}')
    assert "t.trec: 1 topic added" in cli("import", "topics", "t.trec").fine().err
    for file in ("t.tsv", "t.jsonl"):
        assert "nothing new, 1 topic already there" in cli("import", "topics", file).fine().err
    zipped = gzip.compress((here / "t.tsv").read_bytes())
    assert "nothing new" in cli("import", "topics", "-", stdin=zipped).fine().err
    cli("import", "topics", "t.tsv", "--as", "jsonl").failed(1)


def test_texts_are_kept_of_pooled_documents_only(cli: Cli, started: Path) -> None:
    """Without `--all` a text that is in no pool stays out, and stderr says how many and why."""
    early = cli("import", "docs", "documents.jsonl").fine()
    assert "106 documents added\n" in early.err
    assert (
        "documents.jsonl: of its 106 documents 0 are stored with their text, 106 only as a docno:"
        " there is no pool yet"
    ) in early.err
    cli("import", "runs", "--runs", "runs.tsv").fine()
    pooled = cli("pool", "--depth", "5").fine()
    assert "74 of 74 pooled documents have no text" in pooled.err
    late = cli("import", "docs", "documents.jsonl").fine()
    assert "documents.jsonl: the text of 74 documents added, 32 already there" in late.err
    assert (
        "documents.jsonl: of its 106 documents 74 are stored with their text, 32 only as a"
        " docno: they are in no pool (import the file again after pooler pool, or use --all)"
    ) in late.err
    assert "have no text" not in cli("status").fine().out
    every = cli("import", "docs", "documents.jsonl", "--all").fine()
    assert every.err == "documents.jsonl: the text of 32 documents added, 74 already there\n"
    write(started / "more.jsonl", '{"docno": "KG-E-001"}', '{"docno": "x"}', '{"id": 7, "text": ""}')
    more = cli("import", "docs", "more.jsonl").fine()
    assert (
        "more.jsonl: of its 3 documents 0 are stored with their text, 2 have no text in the file, 1 only"
        " as a docno: they are in no pool"
    ) in more.err


def test_documents_to_be_drawn_are_told_apart_from_pooled_ones(cli: Cli, started: Path) -> None:
    """An adaptive pool has no document yet: what it chooses from is not said to be pooled."""
    cli("import", "runs", "--runs", "runs.tsv").fine()
    said = cli("pool", "-s", "mtf", "--depth", "5", "-b", "3", "--name", "live").fine().err
    words = "74 of 74 documents that adaptive pools may draw have no text: pooler import docs FILE"
    assert f"{words} brings it" in said
    assert words.partition(":")[0] in " ".join(cli("status").fine().out.split())
    cli("pool", "--depth", "1").fine()
    both = re.search(r"(\d+) of \1 pooled documents have no text, nor have (\d+) of \2 others that"
                     r" adaptive pools may draw", " ".join(cli("status").fine().out.split()))  # fmt: skip
    assert both
    assert int(both[1]) + int(both[2]) == 74
    cli("import", "docs", "documents.jsonl").fine()
    assert "no text" not in cli("status").fine().out


def test_names_of_columns_are_no_topic_or_document(cli: Cli, here: Path) -> None:
    """What is named as usual is known; what merely looks like names is warned of."""
    cli("init").fine()
    write(here / "known.tsv", "Query ID\tquery", "1\tred", "2\tblue")
    assert cli("import", "topics", "known.tsv").fine().err == "known.tsv: 2 topics added\n"
    write(here / "odd.tsv", "keyword\tquery", "11\tred", "12\tblue")
    assert cli("import", "topics", "odd.tsv").fine().err == (
        "warning: odd.tsv: the first line was read as topic `keyword`, but looks like names of"
        " columns, since all other ids have digits; known names are topic, title, description,"
        " narrative\nodd.tsv: 3 topics added\n"
    )
    write(here / "docs.tsv", "id\tcontents", "d1\tred", "d2\tblue")
    assert "docs.tsv: 2 documents added\n" in cli("import", "docs", "docs.tsv").fine().err
    write(here / "other.tsv", "key\tvalue", "d11\tred", "d12\tblue")
    told = cli("import", "docs", "other.tsv").fine().err
    assert "warning: other.tsv: the first line was read as document `key`, but looks like" in told


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("topics", "topic (or id, qid, query_id, number, ...), title (or query, text), description"),
        ("docs", "docno (or id, doc_id, ...), title if there is one, text (or contents, body"),
    ],
)
def test_help_names_columns_and_keys(cli: Cli, here: Path, what: str, words: str) -> None:
    """Nobody has to guess what a file's columns or keys may be called."""
    shown = " ".join(cli("import", what, "--help").fine().out.split())
    assert words in shown


def test_run_of_another_file_needs_replace(cli: Cli, started: Path) -> None:
    """A known tag with other bytes is refused without `--replace` and taken with it."""
    cli("import", "runs", "--runs", "runs.tsv").fine()
    run = (started / "runs" / "bm25-words.run").read_text("utf-8").splitlines()
    write(started / "short.run", *run[:10])
    refused = cli("import", "runs", "short.run").failed(3)
    assert "run `bm25-words` exists with another file (bm25-words.run)" in refused.err
    assert "1 replaced" in cli("import", "runs", "short.run", "--replace").fine().err
    pool = cli("pool", "--depth", "40", "--annotated", "--name", "p", "--out", "-").fine()
    assert sum(" bm25-words " in line for line in pool.out.splitlines()) == 10


def test_late_runs_feed_no_pool(cli: Cli, started: Path) -> None:
    """`--late` and `contributes` no keep a run out of pools; it is evaluated all the same."""
    cli("import", "runs", "runs/bm25-words.run", "runs/rm3-bigrams.run", "--late").fine()
    refused = cli("pool", "--depth", "5").failed(1)
    assert "must hold a run that contributes" in refused.err
    again = cli("import", "runs", "runs/bm25-words.run", "--group", "words").fine()
    assert "warning: `bm25-words`: already there, and left out of pools" in again.err
    cli("import", "runs", "runs/bm25-words.run", "--replace").fine()
    pool = cli("pool", "--depth", "1", "--annotated", "--out", "-").fine().out.splitlines()
    assert {tuple(line.split()[2:4]) for line in pool} == {("bm25-words", "words")}


def test_runs_with_unknown_ids_are_told_of_and_taken(cli: Cli, started: Path) -> None:
    """A run is refused where it has no topic of the collection, and never for documents without a text."""
    cli("import", "topics", "topics.jsonl").fine()
    write(started / "x.run", "G99 Q0 KG-E-001 1 1 x")
    assert (
        "no topic of x.run is in the collection: `G99` here" in cli("import", "runs", "x.run").failed(1).err
    )
    write(started / "d.jsonl", '{"docno": "KG-E-001", "text": "leek"}')
    cli("import", "docs", "d.jsonl", "--all").fine()
    write(started / "x.run", "G99 Q0 KG-E-001 1 1 x", "G01 Q0 KG-E-001 1 2 x", "G01 Q0 new 2 1 x")
    told = cli("import", "runs", "x.run").fine().err
    assert "warning: 1 of 2 topics of x.run not in the collection: `G99`;" in told
    assert "1 of 2 documents of these runs have no text" in told
    # The document is known by the run, and another one is not.
    write(started / "q", "G01 0 new 1", "G01 0 newer 1", "G01 0 newest 1", "G99 0 new 0")
    told = cli("import", "judgements", "q", "--judge", "ann").failed(1).err
    assert told.startswith(
        "error: q: 2 of 3 docnos (2 lines) not in the collection: `newer`, `newest`\nhint: "
    )
    cli("import", "judgements", "q", "--judge", "ann", "--allow-unknown").fine()


@pytest.mark.parametrize(
    ("kind", "lines", "words"),
    [
        (
            "topics",
            ['{"topic": "001", "title": "leek"}'],
            "without leading zeros, 1 of 2 would meet (`1` and `001`)",
        ),
        (
            "docs",
            ['{"docno": "A.txt", "text": "leek"}'],
            "without an ending such as `.txt`, 1 of 1 would meet",
        ),
        ("judgements", ["01 0 a 1"], "without leading zeros, 1 of 1 would meet (`01` and `1`)"),
        (
            "judgements",
            ["1 0 a.txt 1"],
            "without an ending such as `.txt`, 1 of 1 would meet (`a.txt` and `a`)",
        ),
    ],
)
def test_files_whose_ids_do_not_meet_those_of_runs_are_refused(
    kind: str, lines: list[str], words: str, cli: Cli, started: Path
) -> None:
    """With what would make them meet, and nothing of them is kept."""
    write(started / "x.run", "1 Q0 a 1 2 x", "1 Q0 A 2 1 x", "2 Q0 a 1 1 x")
    cli("import", "runs", "x.run").fine()
    write(started / "f", *lines)
    options = ("--judge", "ann") if kind == "judgements" else ("--as", "jsonl")
    assert words in cli("import", kind, "f", *options).failed(1).err
    assert "no judges" in cli("show", "judges").fine().out
    with Collection("collection.db") as opened:
        assert (opened.topics.listed(), opened.documents.listed()) == (set(), set())


def test_lenient_reads_runs_by_trec_evals_rules(cli: Cli, started: Path) -> None:
    """`--lenient` passes over comments and what follows field 6, and joins a split topic."""
    write(started / "odd.run", *("# by hand", "1 Q0 a 1 2 x more", "2 Q0 a 1 2 x", "1 Q0 b 2 1 x"))
    cli("import", "runs", "odd.run").failed(1)
    assert "run x, 2 topics: added" in cli("import", "runs", "odd.run", "--lenient").fine().err


def test_file_after_a_faulty_one_is_not_reached(cli: Cli, started: Path) -> None:
    """Runs are one transaction a file: those before a faulty one are in, the others are not."""
    write(started / "bad.run", "G01 Q0 d 1 x bad")
    files = ("runs/bm25-words.run", "bad.run", "runs/rm3-bigrams.run")
    refused = cli("import", "runs", *files).failed(1)
    assert "bad.run:1: expected a finite number" in refused.err
    assert "stopped at bad.run: 1 of 3 files are in" in refused.err
    assert "1 run; pools: none" in cli("status").fine().out


def test_pools_of_a_replaced_run_are_named(cli: Cli, judged: Path) -> None:
    """A run that is replaced after pooling leaves its pools as they are, and says which."""
    write(judged / "new.run", "G01 Q0 KG-E-001 1 1 bm25-words")
    answer = cli("import", "runs", "new.run", "--replace").fine()
    assert "warning: pool `pool` was made from another file of a run" in answer.err


def test_same_file_again_keeps_what_was_said_of_the_run(cli: Cli, started: Path) -> None:
    """A plain second import neither forgets a group nor makes a late run contribute."""
    cli("import", "runs", "runs/bm25-words.run", "--group", "words", "--late").fine()
    again = cli("import", "runs", "runs/bm25-words.run").fine()
    assert "nothing new" in again.err
    pool = cli("pool", "--depth", "1").failed(1)
    assert "must hold a run that contributes" in pool.err


TOPICS = ("topic\ttitle", "1\tRed  shoes", "2\tblue hat", "3\tgold", "4\tgold")
BOTH = {"1": {"d1": 0.5, "d2": 0.25}, "2": {"d3": 9.0}}
RANKED = {"1": {"d1": -1.0, "d2": -2.0}, "2": {"d3": -1.0}}


@pytest.mark.parametrize(
    ("text", "tag", "expected"),
    [
        ("query,doc_id,score\n1,d1,.5\n1,d2,.25\n2,d3,9\n", "x", BOTH),
        ("Topic ID;Document;Position\n1;d1;1\n2;d3;1\n1;d2;2\n", "x", RANKED),  # rows of a topic apart
        ("rank\tqid\tdocno\n1\t1\td1\n2\t1\td2\n1\t2\td3\n", "x", RANKED),
        ("system,topic,Q0,docno,rank,score\nb,1,Q0,d1,,.5\nb,1,Q0,d2,,.25\nb,2,Q0,d3,,9\n", "b", BOTH),
        (
            '\ufeffquery,id,score,text\r\n1,d1,.5,"a, ""b""\r\n\r\nc"\r\n1,d2,.25,\r\n\r\n2,d3,9,x\r\n',
            "x",
            BOTH,
        ),
    ],
)
def test_table_is_the_run_that_its_rows_say(
    text: str, tag: str, expected: dict[str, dict[str, float]], cli: Cli, here: Path
) -> None:
    """Whatever parts the cells; minus the rank stands for a score; a run without a name has the file's."""
    (here / "x.csv").write_bytes(text.encode())
    (here / "x.csv.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("x.csv", "x.csv.gz"):
        assert p.read_runs(name).to_dict() == {tag: expected}
        assert f"run {tag}, 2 topics, 3 documents" in cli("check", name).fine().out
    for words in (["x.csv"], ["--runs", "x.csv"], ["-"]):
        assert cli("pool", *words, "--depth", "1", stdin=text.encode()).fine().out == "1 d1\n2 d3\n"
    write(here / "x.qrels", "1 0 d2 1", "2 0 d3 1")
    source = p.source("x.csv", qrels="x.qrels")
    assert p.evaluate(source, ["AP"]).mean.tolist() == [[(1 / 2 + 1) / 2]]  # d2 is second
    cli("init").fine()
    assert f"run {tag}, 2 topics: added" in cli("import", "runs", "x.csv").fine().err
    assert p.evaluate(p.source(p.open_collection(), qrels="x.qrels"), ["AP"]).mean.tolist() == [[0.75]]


@pytest.mark.parametrize(
    ("rows", "faults"),
    [
        ("1,d1,1,a\n1,d1,2,a", ["3: document `d1` is in topic `1` already, on line 2"]),
        (
            "1,d1,nan,a\n1,d2,,a",
            ["2: expected a finite number as score, got `nan`", "3: score: expected a number"],
        ),
        (
            "1,d 1,1,a\n1,,1,a",
            ["2: docno: expected an id without blanks, got 'd 1'", "3: docno: expected an id, g"],
        ),
        ("1,d1\n1,d2,1,a", ["2: expected 4 cells, got 2"]),
        ("1,d1,1,a\n2,d1,1,b", ["3: expected one run tag, `a`, got also `b`", "hint: a file holds one run"]),
        (
            "#1,d1,1,a\n,d2,1,a",
            ["2: topic id: expected a topic that does not begin", "3: topic id: expected an id"],
        ),
        (
            "a b,d1,1,a\na b,d2,1,a",
            [
                "2: expected a topic id, got the query `a b`",
                "hint: queries are found by their text among the titles of a collection's topics:"
                " pooler check FILE --collection FILE, pooler import runs FILE",
            ],
        ),
        ('1,d1,1,a\n1,"d2,1,a', ["3: expected 4 cells, got 2"]),
    ],
)
def test_rows_that_are_no_run_are_refused_with_their_lines(
    rows: str, faults: list[str], cli: Cli, here: Path
) -> None:
    """By the rules of run files, and nothing is imported."""
    write(here / "x.csv", "query,docno,score,run", *rows.split("\n"))
    out = cli("check", "x.csv").out
    assert [one for one in faults if f"x.csv:{one}" not in out and f"x.csv: {one}" not in out] == []
    cli("init").fine()
    assert "error: x.csv:" in cli("import", "runs", "x.csv").failed(1).err
    assert "no runs" in cli("show", "runs").fine().out


def test_ranks_without_numbers_and_columns_without_a_use_are_told(cli: Cli, here: Path) -> None:
    """Without a column of ranks there is none to order by; a column that nothing takes is named."""
    write(here / "x.csv", "query,docno,rank,price", "1,d1,first,3")
    assert "x.csv:2: expected a finite number as score, got `-first`" in cli("check", "x.csv").out
    write(here / "y.csv", "query,docno,score,price", "1,d1,2,3")
    out = cli("check", "y.csv", "--depth", "1", "--order", "rank").fine().out
    assert "`price` is passed over" in out
    assert "ranks" not in out
    assert "has no such ranks" in cli("pool", "y.csv", "--depth", "1", "--order", "rank").failed(1).err


def test_ranks_against_the_scores_are_told_at_import(cli: Cli, here: Path) -> None:
    """Of tables and run files alike: scores count, where perhaps distances were meant; ties are no fault."""
    write(here / "x.csv", "query,docno,rank,score", "1,d1,1,.1", "1,d2,2,.3")
    write(here / "y.run", "1 Q0 d1 2 1 y", "1 Q0 d2 1 1 y", "2 Q0 d2 1 2 y", "2 Q0 d1 0 1 y")
    write(here / "z.csv", "query,docno,rank,score", "1,d1,1,.3", "1,d2,2,.3")
    cli("init").fine()
    err = cli("import", "runs", "x.csv", "y.run", "z.csv").fine().err
    against = "the stated ranks are against the scores in topic {}: scores count, unless --order rank"
    assert [line for line in err.splitlines() if "warning" in line] == [
        f"warning: {file}: {against.format(topic)}" for file, topic in (("x.csv", "1"), ("y.run", "2"))
    ]


def test_queries_named_by_their_text_are_topics_of_the_collection(cli: Cli, here: Path) -> None:
    """By their titles, blanks and case aside; a title of no topic, or of two, is a fault told once."""
    write(here / "topics.tsv", *TOPICS)
    write(here / "x.csv", "query,docno,rank", "red shoes,d1,1", "red shoes,d2,2", "Blue hat,d3,1")
    cli("init").fine()
    cli("import", "topics", "topics.tsv").fine()
    assert "run x, 2 topics, 3 documents" in cli("check", "x.csv", "--collection", "collection.db").fine().out
    write(here / "track.toml", "depth = 2")
    cli("import", "runs", "x.csv", "--rules", "track.toml").fine()
    with p.open_collection() as opened:
        assert opened.runs.sizes() == {"x": (2, 3)}
        assert {topic for _, topic in opened.runs.ranked().rankings} == {"1", "2"}
    write(here / "x.qrels", "1 0 d1 1", "2 0 d3 0")
    cli("import", "judgements", "x.qrels", "--judge", "ann").fine()
    measured = cli(
        "evaluate", "./x.csv", "--qrels", "official", "-m", "RR", "--format", "json", "--table", "topics"
    )
    assert {one["topic"]: one["value"] for one in measured.fine().json()} == {"1": 1.0, "2": 0.0, "all": 0.5}
    cli("diagnose", "./x.csv", "--qrels", "official", "--depth", "1", "--table", "depths").fine()
    write(here / "y.csv", "query,docno,rank", "green sock,d1,1", "green sock,d2,2", "gold,d3,1")
    refused = cli("import", "runs", "y.csv").failed(1).err
    assert refused.count("green sock") == 1
    assert "y.csv:2: expected the title of one topic, got the query `green sock`" in refused


@pytest.fixture
def pauses(here: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Make a collection of three topics; the pauses that were asked for, which take no time."""
    write(here / "topics.tsv", "topic\ttitle", "1\tred shoes", "2\tblue hat", "3\tsock")
    cli("init").fine()
    cli("import", "topics", "topics.tsv").fine()
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    return waited


def _write(here: Path, body: str, name: str = "mine.py") -> None:
    write(here / name, "from collections import namedtuple", "def search(query, k):", f"    {body}")


@pytest.mark.parametrize(
    "body",
    [
        "return [('d2', .5), ('d1', .25)]",
        "yield from [('d2', .5, 'a title', 'a text'), ('d1', .25, '', 'more')]",
        "return [{'_id': 'd2', 'score': .5, 'contents': 'a text'}, {'docno': 'd1', 'score': .25}]",
        "Hit = namedtuple('Hit', 'query_id doc_id score'); return [Hit(1, 'd2', .5), Hit(1, 'd1', .25)]",
        "return (('d2', .5) if n == 0 else ('d1', .25) if n == 1 else (n, -n) for n in range(10**9))",
    ],
)
def test_results_of_any_shape_are_the_run(body: str, pauses: list[float], cli: Cli, here: Path) -> None:
    """Tuples, mappings and objects, as many as --depth; the run has the file's name, and is known again."""
    _write(here, body, "new ranker.py")
    told = (
        cli("import", "runs", "--search", "new ranker.py", "--depth", "2", "--group", "us", "--late")
        .fine()
        .err
    )
    assert "new ranker.py: run new_ranker, 3 topics, 6 results: added\n" in told
    with p.open_collection() as opened:
        (run,) = opened.runs.all()
        assert (run.tag, run.file, run.group, run.contributes) == ("new_ranker", "new ranker.py", "us", False)
        rankings, ids = (ranked := opened.runs.ranked()).rankings, ranked.ids
        assert {topic for _, topic in rankings} == {*"123"}
        assert {(*of.tolist(),) for of in rankings.values()} == {(ids["d2"], ids["d1"])}
        text = "a text" if "a text" in body else None
        assert [one.text for one in opened.documents.read(["d2"])] == [text]
    again = cli("import", "runs", "--search", "new ranker.py", "--depth", "2").fine().err
    assert "nothing new, already there" in again
    assert (
        "exists with other results"
        in cli("import", "runs", "--search", "new ranker.py", "-N", "1").failed(3).err
    )
    assert "3 topics, 3 results: replaced" in (
        cli("import", "runs", "--search", "new ranker.py", "-N", "1", "--replace").fine().err
    )
    assert pauses == []


def test_results_are_ranked_as_they_come(pauses: list[float], cli: Cli, here: Path) -> None:
    """Without scores, and with scores that tie or rise, which is warned of, as of topics without results."""
    _write(here, "return [] if query == 'sock' else [(one,) for one in 'bca']", "one.py")
    _write(here, "return [('b', 1), ('c', 1), ('a', 0)]", "two.py")
    _write(here, "return [('b', 3), ('c', 2), ('a', 1)]", "three.py")
    told = (
        cli("import", "runs", "--search", "one.py", "--search", "two.py", "--search", "three.py").fine().err
    )
    assert "warning: one.py: no result for topic 3\n" in told
    assert (
        "warning: two.py: minus the rank stands for scores that are tied or rise in topic 1 and 2 more"
        in told
    )
    assert told.count("warning: ") == 2
    write(here / "x.qrels", "1 0 c 1")
    measured = cli("evaluate", "-m", "RR", "--qrels", "x.qrels", "--format", "json", "--table", "measures")
    values = {one["run"]: one["value"] for one in measured.fine().json()}
    assert values == dict.fromkeys(("one", "two", "three"), 0.5)
    scores = {
        one["run"]: one["score"]
        for one in cli("show", "docs", "b", "--format", "json").fine().json()["retrieved"]
    }
    assert scores == {"one": -1, "two": -1, "three": 3}


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ("return [('a', 1), ('a', 2)]", ["topic 1, result 2: document `a` is among the results already"]),
        (
            "return [('a', float('inf')), ('b', '3'), ('c',)]",
            ["got inf", "got '3'", "result 3: expected a finite"],
        ),
        (
            "return [('a b', 1), ('', 1), (None, 1), 7]",
            ["without blanks", "got nothing", "result 3: docno", "result 4: docno"],
        ),
        ("return [('a', 1, 'x', 5)]", ["expected title and text of document `a` to be text"]),
        (
            "return [('a', 1, '', query)]",
            ["topic 2, result 1: document `a` has another title or text than for topic 1"],
        ),
        ("return []", ["expected results for a topic or more, got none"]),
        ("return None", ["topic 3: TypeError: 'NoneType' object is not iterable"]),
    ],
)
def test_results_that_are_no_run_are_refused_at_once(
    body: str, faults: list[str], pauses: list[float], cli: Cli, here: Path
) -> None:
    """All of them by topic and place, and neither run nor text is stored."""
    _write(here, body)
    told = cli("import", "runs", "--search", "mine.py").failed(1).err
    assert [one for one in faults if one not in told] == []
    with p.open_collection() as opened:
        assert (opened.runs.all(), opened.documents.listed()) == ([], set())


@pytest.mark.parametrize("words", ["import runs", "check"])
def test_a_program_given_as_a_run_is_one_line(words: str, cli: Cli, here: Path) -> None:
    """It is not read as a run with faults: the message says how it is asked."""
    write(here / "mine.py", "def search(query, k):", "    return []")
    cli("init").fine()
    told = cli(*words.split(), "mine.py").failed(1)
    assert (told.out, len(told.err.splitlines())) == ("", 2)
    assert "hint: pooler import runs --search mine.py " in told.err


def test_topic_is_tried_again_and_all_that_fail_are_told(pauses: list[float], cli: Cli, here: Path) -> None:
    """Each time in a line; one that fails for good fails the run at its end, and the next is tried once."""
    write(here / "beside_mine.py", "tries = []")
    _write(
        here,
        "from beside_mine import tries; tries.append(query)\n"
        "    if len(tries) < 3: raise TimeoutError('at\\nlast')\n"
        "    return [('d1', 1.0)]",
    )
    told = cli("import", "runs", "--search", "mine.py").fine().err
    assert "mine.py: topic 1: line 4: TimeoutError: at last; again in 2 s\n" in told
    assert (pauses, "3 topics, 3 results: added" in told) == ([1, 2], True)
    pauses.clear()
    _write(here, "yield 'd1', 1.0\n    if query != 'red shoes': raise OSError(query)", "other.py")
    told = cli("import", "runs", "--search", "other.py").failed(1).err
    assert "other.py: topic 2: line 4: OSError: blue hat; again in 4 s\n" in told
    assert "other.py: topic 2: line 4: OSError: blue hat\nother.py: topic 3: line 4: OSError: sock\n" in told
    assert pauses == [1, 2, 4]
    with p.open_collection() as opened:
        assert [run.tag for run in opened.runs.all()] == ["mine"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def search(query k): pass", "mine.py: line 1: SyntaxError"),
        ("import sys; sys.exit('set KEY')", "mine.py: line 1: SystemExit: set KEY"),
        ("def find(query, k): pass", "unknown function `search`; known: `find`"),
    ],
)
def test_file_without_a_search_function_is_told(
    text: str, words: str, pauses: list[float], cli: Cli, here: Path
) -> None:
    """In one line, as what else cannot be: a file that is not there, rules, a collection without queries."""
    write(here / "mine.py", text)
    assert words in cli("import", "runs", "--search", "mine.py").failed(1).err
    assert "none.py: no such file" in cli("import", "runs", "--search", "none.py").failed(1).err
    assert "--search makes none" in cli("import", "runs", "--search", "mine.py", "--rules", "x").failed(1).err
    cli("init", "--collection", "empty.db").fine()
    given = ("import", "runs", "--search", "mine.py", "--collection", "empty.db")
    assert "has no topic with a title" in cli(*given).failed(1).err


def test_topics_without_a_title_are_told(pauses: list[float], cli: Cli, here: Path) -> None:
    """They have no query, so the run lacks them."""
    assert not pauses
    write(here / "more.jsonl", '{"topic": "4", "description": "socks that last"}')
    cli("import", "topics", "more.jsonl").fine()
    _write(here, "yield 'd1', 1.0")
    told = cli("import", "runs", "--search", "mine.py").fine().err
    assert "warning: 1 topic without a title, which is the query: not asked for\n" in told
    assert "3 topics, 3 results: added" in told


class Page(NamedTuple):
    """A document as a crawl has it."""

    doc_id: str
    url: str
    raw: bytes

    def default_text(self) -> str:
        return self.raw.decode()


@pytest.fixture
def dataset(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register datasets of files in this folder; whoever opens a connection fails."""
    ir_datasets = pytest.importorskip("ir_datasets", reason="ir_datasets is not installed")
    formats, registry = ir_datasets.formats, ir_datasets.registry

    class Pages(formats.BaseDocs):  # type: ignore[misc] # it has no types
        def docs_iter(self) -> Iterator[Page]:
            yield Page("p1", "http://p1", b"read \xc3\xa9")

        def docs_cls(self) -> type:
            return Page

    class PartQrels(formats.BaseQrels):  # type: ignore[misc]
        def qrels_iter(self) -> Iterator[object]:
            yield formats.TrecSubQrel("1", "p1", 1, "2")

        def qrels_cls(self) -> type:
            return formats.TrecSubQrel  # type: ignore[no-any-return]

    monkeypatch.setenv("IR_DATASETS_HOME", str(here / "home"))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("asked the network"))
    files = (
        write(here / "docs.tsv", "d1\tfirst text", "d2\tsecond text"),
        write(here / "queries.tsv", "1\twhat is first", "2\twhat is second"),
        write(here / "qrels.txt", "1 0 d1 1", "1 0 d2 0", "2 R2 d2 1"),
    )
    before = dict(registry._registered)
    registry.register("local/two", ir_datasets.create_dataset(*map(str, files)))
    registry.register("local/pages", ir_datasets.Dataset(Pages(), PartQrels()))
    yield
    registry._registered.clear()
    registry._registered.update(before)


datasets = pytest.mark.usefixtures("dataset")


@datasets
def test_dataset_is_a_collection(cli: Cli, here: Path) -> None:
    """Topics, documents and judgements come in as from files, and go out again as they were."""
    cli("init", "--scale", "0-1").fine()
    said = cli("import", "topics", "irds:local/two").fine().err
    assert "irds:local/two#queries: 2 topics added" in said
    cli("import", "judgements", "irds:local/two", "--judge", "nist", "--as-pool", "all").fine()
    cli("import", "docs", "irds:local/two").fine()
    with Collection("collection.db") as made:
        assert made.topics.all() == [Topic("1", "what is first"), Topic("2", "what is second")]
        assert made.documents.get("d2") == Document("d2", "", "second text")
        assert made.judges.all()[0].kind == "imported"
    cli("export", "qrels", "--out", "again.txt").fine()
    assert (here / "again.txt").read_text("utf-8") == (here / "qrels.txt").read_text("utf-8")


@datasets
def test_documents_of_unknown_fields_have_their_text(cli: Cli) -> None:
    """What the dataset calls a document's text is its text; fields are wanted by name, as of files."""
    cli("init").fine()
    said = cli("import", "docs", "irds:local/pages", "--all", "--fields", "url").fine().err
    assert "fields left out: raw (1 document)" in said
    with Collection("collection.db") as made:
        assert made.documents.get("p1") == Document("p1", "", "read é", (("url", "http://p1"),))


@datasets
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("topics", "irds:vaswani"), "irds:vaswani: its topics are not on this machine: http"),
        (("docs", "irds:beir/scifact"), "irds:beir/scifact: its documents are not on this machine"),
        (("docs", "irds:aquaint"), "its documents are not on this machine: "),
        (("topics", "irds:local/tow"), "unknown dataset of ir_datasets `local/tow`; known: `local/two`"),
        (("topics", "irds:local/pages"), "irds:local/pages has no topics; it has documents, judgements"),
        (("judgements", "irds:local/pages", "--judge", "x"), "expected judgements with one grade a"),
        (("topics", "irds:"), "unknown dataset of ir_datasets ``"),
    ],
)
def test_what_is_absent_is_said_and_nothing_is_written(cli: Cli, arguments: list[str], message: str) -> None:
    """One line, with what to do; the collection stays as it was."""
    cli("init").fine()
    refused = cli("import", *arguments)
    assert refused.code == 1
    assert message in refused.err
    assert "Traceback" not in refused.err
    with Collection("collection.db") as made:
        assert (made.topics.all(), made.documents.listed()) == ([], set())


@datasets
def test_hint_says_how_it_comes_here(cli: Cli) -> None:
    """What ir_datasets can fetch, and what a publisher hands out."""
    cli("init").fine()
    said = cli("import", "topics", "irds:vaswani").err
    assert "hint: ir_datasets export vaswani queries > /dev/null downloads it" in said
    said = cli("import", "docs", "irds:aquaint").err
    assert "hint: its publisher hands it out: see https://ir-datasets.com/aquaint.html" in said
    assert "hint: `ir_datasets list` names them" in cli("import", "topics", "irds:vaswny").err
    listed = subprocess.run([sys.executable, "-m", "ir_datasets", "list"], capture_output=True, check=True)
    assert b"vaswani" in listed.stdout.split()


@datasets
def test_without_ir_datasets_it_is_said_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """An extra, named."""
    cli("init").fine()
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    refused = cli("import", "topics", "irds:vaswani")
    assert "ir_datasets is not installed" in refused.err
    assert "hint: pip install 'pooler[datasets]'" in refused.err
