"""`import runs --search FILE.py`: what a search function finds is a run, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler as p
from tests.helpers.run import Cli, write


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
