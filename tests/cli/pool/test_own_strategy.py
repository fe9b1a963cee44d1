"""`--strategy FILE.py:function`: anybody's own strategy, and what is told of its mistakes."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

import pooler as p
from tests.helpers.run import Cli, write

ISR = (
    "import numpy as np",
    "",
    "def isr(rankings, *, power=2.0):",
    '    """By 1 / rank^power, times the number of runs."""',
    "    ranks = np.arange(1, rankings.depth + 1)",
    "    return rankings.n_returning() * rankings.sum_by_rank(1 / ranks**power)",
)
RUNS = {"a": {"1": {"x": 3.0, "y": 2.0, "z": 1.0}}, "b": {"1": {"y": 9.0, "w": 8.0}}}


@pytest.fixture
def mine(here: Path) -> Path:
    """Write a file with a strategy."""
    return write(here / "mine.py", *ISR)


def test_function_of_a_file_values_the_documents(cli: Cli, mine: Path, here: Path) -> None:
    """By inverse squares y has 2 (1/4 + 1), x 1, w 1/4 and z 1/9; parameters are those of the function."""
    found = p.pool(RUNS, strategy="mine.py:isr")
    assert {one.docno: one.priority for one in found.pool.entries} == pytest.approx(
        {"y": 2.5, "x": 1, "w": 1 / 4, "z": 1 / 9}
    )
    assert found.manifest["strategy"] == "mine.py:isr"
    assert found.manifest["strategy_sha256"] == sha256(mine.read_bytes()).hexdigest()
    assert found.manifest["parameters"] == {"depth": 100, "power": 2.0}
    write(here / "a.run", "1 Q0 x 1 3 a", "1 Q0 y 2 2 a")
    given = ("-s", f"{mine}:isr", "--param", "power=3", "--budget", "1", "--out", "p.txt")
    cli("pool", "a.run", *given).fine()
    manifest = json.loads((here / "p.txt.manifest.json").read_text())
    assert (manifest["strategy"], manifest["parameters"]["power"]) == ("mine.py:isr", 3.0)
    assert (here / "p.txt").read_text() == "1 x\n"


def test_function_replays_and_is_added_to(cli: Cli, judged: Path) -> None:
    """`replay` compares it, and a pool of it in a collection goes on with --add."""
    write(judged / "mine.py", *ISR)
    rows = cli("replay", "--qrels", "strict", "-s", "take", "-s", "mine.py:isr:power=1", "--format", "json")
    assert {one["strategy"] for one in rows.fine().json()} == {"take", "mine.py:isr:power=1"}
    cli("pool", "-s", "mine.py:isr", "--budget", "3", "--name", "own").fine()
    cli("pool", "--add", "--budget", "40", "--name", "more").fine()
    manifests = {one["pool"]: one for one in cli("show", "pools", "--format", "json").fine().json()}
    assert manifests["more"]["strategy"] == "mine.py:isr"
    write(judged / "mine.py", *ISR, "# another file")
    refused = cli("pool", "-s", "mine.py:isr", "--budget", "3", "--name", "own").failed(3).err
    assert "the file of its strategy" in refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def f(rankings):\n    return 1 / 0", "`mine.py:f`, topic `1`: line 2: ZeroDivisionError: division"),
        ("def f(rankings):\n    return [1.0]", "`mine.py:f`, topic `1`: must return 4 finite numbers"),
        ("def f(rankings):\n    return [float('nan')] * 4", "must return 4 finite numbers"),
        ("def f(rankings):\n    rankings.documents[0] = 0", "line 2: ValueError: assignment destination is"),
        ("def f(rankings, *more): ...", "parameter `more` must have a name, and be a number or a text"),
        ("def f(rankings, *, is_x=True): ...", "parameter `is_x` must have a name"),
        ("def f(rankings, *, k): ...", "must be given: a number"),
        ("def g(rankings): ...", "unknown function `f`; known: `g`"),
        ("def f(rankings)", "mine.py: line 1: SyntaxError: expected ':'"),
        ("import none_of_these", "mine.py: line 1: ModuleNotFoundError: No module named 'none_of_these'"),
    ],
)
def test_mistakes_are_told_in_one_line(here: Path, text: str, words: str) -> None:
    """With the file and its line, or the topic."""
    write(here / "mine.py", text)
    with pytest.raises(p.PoolerError) as told:
        p.pool(RUNS, strategy="mine.py:f")
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_file_that_is_not_there_is_told(cli: Cli, here: Path) -> None:
    """As any other file."""
    write(here / "a.run", "1 Q0 x 1 3 a")
    assert "none.py: no such file" in cli("pool", "a.run", "-s", "none.py:f").failed(1).err
