"""What search engines, notebooks and functions find is a run: tables of results, and `--search FILE.py`."""

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
