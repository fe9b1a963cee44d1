"""Looking at a collection of 100 runs x 50 topics x 1000 documents with 50,000 judgements.

`POOLER_BENCH_REPEATS` says how often each command is timed (three times that, default 3). Python's
compiled files are kept, as an installation has them.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.benchmarks.generate_scale import generate_scale
from tests.benchmarks.test_pool_speed import REPEATS, median, timed
from tests.helpers.run import run

RUNS, TOPICS, DOCUMENTS, DEPTH = 100, 50, 1000, 100
JUDGES, JUDGEMENTS, STEP = 5, 10_000, 8_000
"""Judges, judgements of each, and pairs from where one begins to where the next does."""
TARGET_S = 0.6
PROGRAM = (sys.executable, "-m", "pooler.cli.main")


@pytest.mark.benchmark
def test_listing_speed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Print how long every look takes from process start, beside the target of 0.6 s."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "compiled"))
    collection = str(tmp_path / "collection.db")
    monkeypatch.setenv("POOLER_COLLECTION", collection)
    pairs = build(tmp_path)
    topic, docno = pairs[STEP + 1]
    commands = {
        "--version": ("--version",),
        "status": ("status",),
        "list runs": ("list", "runs"),
        "list topics": ("list", "topics"),
        "list docs": ("list", "docs"),
        "list docs --topic": ("list", "docs", "--topic", topic, "--limit", "1000"),
        "list docs, all, tsv": ("list", "docs", "--format", "tsv"),
        "list pools": ("list", "pools"),
        "list judges": ("list", "judges"),
        "list rounds": ("list", "rounds"),
        "history": ("history", topic, docno),
        "show doc": ("show", "doc", docno),
        "show run": ("show", "run", "run0"),
        "show topic": ("show", "topic", topic),
        "show pool": ("show", "pool", "pool"),
        "show judge": ("show", "judge", "judge0"),
    }
    lines = [
        f"{RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents, {len(pairs):,} pooled pairs,"
        f" {JUDGES * JUDGEMENTS:,} judgements; medians of {3 * REPEATS}, target {TARGET_S} s;"
        f" load {os.getloadavg()[0]:.1f}"
    ]
    code = {
        "an empty process": "pass",
        "import sqlmodel": "import sqlmodel",
        "import the collection": "import pooler.cli.main, store.collection",
    }
    for name, statement in code.items():
        lines.append(line_of(name, (sys.executable, "-c", statement)))
    for name, arguments in commands.items():
        lines.append(line_of(f"pooler {name}", (*PROGRAM, *arguments)))
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")


def line_of(name: str, command: tuple[str, ...]) -> str:
    """Time a command, once unseen so that it is compiled, and say how long it took."""
    timed(*command)
    one = median([timed(*command) for _ in range(3 * REPEATS)])
    return f"  {name:28} wall {one.wall:6.3f} s  processor {one.processor:6.3f} s"


def build(folder: Path) -> list[tuple[str, str]]:
    """Make the collection by the program's own commands; return the pooled pairs."""
    runs = folder / "runs"
    files = [str(path) for path in generate_scale(runs, RUNS, TOPICS, DOCUMENTS, seed=1)]
    pool = str(folder / "pool.txt")
    for command in (
        ["init", "--scale", "0-3"],
        ["import", "runs", *files],
        ["pool", "--depth", str(DEPTH)],
        ["export", "pool", "--out", pool],
    ):
        assert run(command) == 0
    shutil.rmtree(runs)
    pairs = [tuple(line.split()) for line in Path(pool).read_text("utf-8").splitlines()]
    for judge in range(JUDGES):
        qrels = folder / f"{judge}.qrels"
        mine = pairs[judge * STEP : judge * STEP + JUDGEMENTS]
        rows = (f"{topic} 0 {docno} {(place * 7 + judge) % 4}\n" for place, (topic, docno) in enumerate(mine))
        qrels.write_text("".join(rows), "utf-8")
        assert run(["import", "judgements", str(qrels), "--judge", f"judge{judge}"]) == 0
    return [(topic, docno) for topic, docno in pairs]
