"""Tables of results, as search engines and notebooks write them, are runs wherever run files are."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import pooler as p
from tests.helpers.run import Cli, write

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
    against = "the stated ranks are against the scores in topic {}: scores count, but with --order rank"
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
