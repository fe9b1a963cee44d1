"""From process start to the last line: every look at the sample collection and at TREC-COVID.

`POOLER_BENCH_REPEATS` says how often each command is timed (three times that, default 3). Python's
compiled files are kept, as an installation has them. The rounds are interleaved, so that a busy
machine is as busy for the peers, which are imports alone, as for the commands.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.timing import PROGRAM, REPEATS, in_folder, median, timed
from tests.helpers.run import GARDEN, JUDGES, run_inside
from tests.trec_covid import DATA

TARGET_S = 0.6
PEERS = {
    "python -c pass": "pass",
    "import sqlalchemy.orm": "import sqlalchemy.orm",
    "import sqlmodel, rich, typer, numpy": "import sqlmodel, rich, typer, numpy",
}


def start_speed(folder: Path, build: Callable[[Path], tuple[str, str, str, str]]) -> None:
    """Print how long every look takes from process start, beside the target and the peers."""
    os.environ["POOLER_COLLECTION"] = str(folder / "collection.db")
    topic, docno, run, judge = build(folder)
    commands = {peer: (sys.executable, "-c", code) for peer, code in PEERS.items()}
    for words in (
        "--help",
        "status",
        "status --by-topic",
        *(f"show {noun}" for noun in ("runs", "topics", "docs", "pools", "judges")),
        f"show runs {run}",
        f"show topics {topic}",
        f"show docs {docno}",
        "show pools pool",
        f"show judges {judge}",
        f"history {topic} {docno}",
    ):
        commands[f"pooler {words}"] = (*PROGRAM, *words.split())
    for command in commands.values():
        timed(*command)  # unseen, so that everything is compiled
    rounds = [{one: timed(*command) for one, command in commands.items()} for _ in range(3 * REPEATS)]
    print(f"medians of {len(rounds)}, target {TARGET_S} s; load {os.getloadavg()[0]:.1f}")
    for one in commands:
        middle = median([each[one] for each in rounds])
        least = min(each[one].wall for each in rounds)
        print(f"  {one:36} {middle}  least {least:6.3f} s")


def build_sample(folder: Path) -> tuple[str, str, str, str]:
    """Make the sample collection, and name a topic, document, run and judge of it."""
    garden = folder / "garden"
    shutil.copytree(GARDEN, garden, ignore=shutil.ignore_patterns("__pycache__"))
    run_inside("init", "--scale", "0-2").fine()
    run_inside("import", "topics", garden / "topics.jsonl").fine()
    run_inside("import", "runs", "--runs", garden / "runs.tsv").fine()
    run_inside("pool", "--depth", "5").fine()
    run_inside("import", "docs", garden / "documents.jsonl").fine()
    for judge in JUDGES:
        qrels = garden / "judgements" / f"{judge}.qrels"
        run_inside("import", "judgements", qrels, "--judge", judge, "--kind", "model").fine()
    topic, _, docno, _ = (garden / "judgements" / "strict.qrels").read_text("utf-8").split()[:4]
    return topic, docno, "bm25-words", "strict"


def build_trec_covid(folder: Path) -> tuple[str, str, str, str]:
    """Make TREC-COVID round 1: 143 runs, their pool, and three judges of 8,691 judgements each."""
    runs = sorted((DATA / "runs-top120").glob("*.gz"))
    qrels = DATA / "qrels-rnd1.txt.gz"
    run_inside("init", "--scale", "0-2").fine()
    run_inside("import", "topics", DATA / "topics.covid-round1.xml").fine()
    run_inside("import", "runs", *runs).fine()
    run_inside("pool", "--depth", "7").fine()
    for judge in ("nist", "second", "third"):
        run_inside("import", "judgements", qrels, "--judge", judge).fine()
    row = run_inside("export", "qrels", "nist").fine().out.split()[:4]
    return row[0], row[2], runs[0].name.removesuffix(".gz"), "nist"


if __name__ == "__main__":
    print("the sample collection")
    in_folder(start_speed, build_sample)
    print("TREC-COVID round 1")
    if DATA.is_dir():
        in_folder(start_speed, build_trec_covid)
    else:
        print("  data absent")
