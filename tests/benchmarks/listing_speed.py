"""Looking at a collection of 100 runs x 50 topics x 1000 documents with 50,000 judgements.

`POOLER_BENCH_REPEATS` says how often each command is timed (three times that, default 3). Python's
compiled files are kept, as an installation has them.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tests.benchmarks.generate_scale import generate_scale
from tests.benchmarks.timing import PROGRAM, REPEATS, in_folder, repeated, timed
from tests.helpers.run import run_inside

RUNS, TOPICS, DOCUMENTS, DEPTH = 100, 50, 1000, 100
JUDGES, JUDGEMENTS, STEP = 5, 10_000, 8_000
"""Judges, judgements of each, and pairs from where one begins to where the next does."""
TARGET_S = 0.6


def listing_speed(folder: Path) -> None:
    """Print how long every look takes from process start, beside the target of 0.6 s."""
    os.environ["POOLER_COLLECTION"] = str(folder / "collection.db")
    pairs = build(folder)
    topic, docno = pairs[STEP + 1]
    commands = {
        "--version": ("--version",),
        "status": ("status",),
        "show runs": ("show", "runs"),
        "show topics": ("show", "topics"),
        "show docs": ("show", "docs"),
        "show docs --topic": ("show", "docs", "--topic", topic, "--limit", "1000"),
        "show docs, all, tsv": ("show", "docs", "--format", "tsv"),
        "show pools": ("show", "pools"),
        "show judges": ("show", "judges"),
        "history": ("history", topic, docno),
        "show one document": ("show", "docs", docno),
        "show one run": ("show", "runs", "run0"),
        "show one topic": ("show", "topics", topic),
        "show one pool": ("show", "pools", "pool"),
        "show one judge": ("show", "judges", "judge0"),
    }
    print(
        f"{RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents, {len(pairs):,} pooled pairs,"
        f" {JUDGES * JUDGEMENTS:,} judgements; medians of {3 * REPEATS}, target {TARGET_S} s;"
        f" load {os.getloadavg()[0]:.1f}"
    )
    code = {
        "an empty process": "pass",
        "import sqlmodel": "import sqlmodel",
        "import the collection": "import pooler.cli.main, store.collection",
    }
    for name, statement in code.items():
        show(name, (sys.executable, "-c", statement))
    for name, arguments in commands.items():
        show(f"pooler {name}", (*PROGRAM, *arguments))


def show(name: str, command: tuple[str, ...]) -> None:
    """Time a command, once unseen so that it is compiled, and print how long it took."""
    timed(*command)
    print(f"  {name:28} {repeated(*command, repeats=3 * REPEATS)}")


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
        run_inside(*command).fine()
    shutil.rmtree(runs)
    pairs = [tuple(line.split()) for line in Path(pool).read_text("utf-8").splitlines()]
    for judge in range(JUDGES):
        qrels = folder / f"{judge}.qrels"
        mine = pairs[judge * STEP : judge * STEP + JUDGEMENTS]
        rows = (f"{topic} 0 {docno} {(place * 7 + judge) % 4}\n" for place, (topic, docno) in enumerate(mine))
        qrels.write_text("".join(rows), "utf-8")
        run_inside("import", "judgements", qrels, "--judge", f"judge{judge}").fine()
    return [(topic, docno) for topic, docno in pairs]


if __name__ == "__main__":
    in_folder(listing_speed)
