"""A collection of a million judgements: how long each command takes, and how much memory.

7,000 topics, 504,000 pairs in a pool, 100 judges. `POOLER_BENCH_SIZES` lists shares of it (default 0.01;
0.1,0.3,1 shows how time and memory grow). With `POOLER_BENCH_DATABASE` = a PostgreSQL URL it is made there,
in an empty database.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from tests.benchmarks.timing import PROGRAM, in_folder, timed

SIZES = [float(number) for number in os.environ.get("POOLER_BENCH_SIZES", "0.01").split(",")]
TOPICS, PAIRS_A_TOPIC, JUDGES, GRADES = 7_000, 72, 100, 4
RUNS, DEPTH = 4, 40
MAJORITY = ("--aggregate", "majority", "--ties", "low")


def generate_million(folder: Path, share: float) -> tuple[list[str], str]:
    """Write run files, a list of topics and one table of all judges' grades; return runs and table.

    Each run of a topic has 40 of its 72 documents, so that together they bring all; a pair has two judges or
    one.
    """
    rng = np.random.default_rng(1)
    folder.mkdir(parents=True)
    n_topics = max(JUDGES // 10, round(TOPICS * share))
    topics = [str(1_000_000 + number) for number in range(n_topics)]
    (folder / "topics.tsv").write_text("".join(f"{topic}\tquestion {topic}\n" for topic in topics))
    docnos = rng.integers(0, 8_841_823, (n_topics, PAIRS_A_TOPIC + 8))
    runs = []
    for run in range(RUNS):
        # Runs start at 0, 11, 22, 32 of 72 documents: the first and the last are brought, none is missed.
        start = round(run * (PAIRS_A_TOPIC - DEPTH) / (RUNS - 1))
        with (folder / f"run{run}").open("w") as file:
            for row, topic in enumerate(topics):
                own = list(dict.fromkeys(docnos[row].tolist()))[:PAIRS_A_TOPIC][start : start + DEPTH]
                file.writelines(
                    f"{topic} Q0 {docno} {rank} {DEPTH - rank}.5 run{run}\n"
                    for rank, docno in enumerate(own, start=1)
                )
        runs.append(str(folder / f"run{run}"))
    table = folder / "judgements.tsv"
    with table.open("w") as file:
        file.write("topic\tdocno\tjudge\tkind\tstate\tgrade\treason\tnote\titeration\n")
        for row, topic in enumerate(topics):
            own = list(dict.fromkeys(docnos[row].tolist()))[:PAIRS_A_TOPIC]
            true = rng.integers(0, GRADES, len(own))
            for number, docno in enumerate(own):
                first = int(rng.integers(JUDGES))
                for judge in {first, (first + 1 + number % 7) % JUDGES} if number % 72 else {first}:
                    grade = int(true[number]) if rng.random() < 0.7 else int(rng.integers(GRADES))
                    file.write(f"{topic}\t{docno}\tj{judge:03}\thuman\tjudged\t{grade}\t\t\t0\n")
    return runs, str(table)


def million_speed(folder: Path, share: float) -> None:
    """Print wall and processor time and the largest memory of each command."""
    runs, table = generate_million(folder / "files", share)
    where = os.environ.get("POOLER_BENCH_DATABASE", str(folder / "million.db"))
    at = ("--collection", where)
    files = Path(runs[0]).parent
    n_lines = Path(table).read_bytes().count(b"\n") - 1
    print(f"{n_lines:,} judgements (share {share:g}); load {os.getloadavg()[0]:.1f}")
    commands: dict[str, tuple[str, ...]] = {
        "init": ("init", "--scale", f"0-{GRADES - 1}", *at),
        "import topics": ("import", "topics", str(files / "topics.tsv"), *at),
        "import runs": ("import", "runs", *runs, *at),
        "pool": ("pool", "--depth", str(DEPTH), *at),
        "import judgements": ("import", "judgements", table, "--as", "tsv", *at),
        "status": ("status", *at),
        "status --by-topic": ("status", "--by-topic", *at),
        "qrels define": ("qrels", "define", "official", *MAJORITY, *at),
        "export qrels": ("export", "qrels", "--out", str(files / "qrels"), *at),
        "agreement": ("agreement", "--resamples", "200", *at),
        "diagnose": ("diagnose", "--level", "2", *at),
        "show judges": ("show", "judges", *at),
        "history --limit 20": ("history", "--limit", "20", *at),
        "judge opens and quits": ("judge", "--judge", "j001", "--plain", *at),
        "verify": ("verify", *at),
    }
    if not where.startswith("postgresql"):
        commands["backup"] = ("backup", str(files / "backup.db"), *at)
    for name, command in commands.items():
        print(f"  {name:22} {timed(*PROGRAM, *command)}")


if __name__ == "__main__":
    for size in SIZES:
        in_folder(million_speed, size)
