"""A collection of up to a million judgements: 7,000 topics, 504,000 pooled pairs, 100 judges.

`POOLER_BENCH_ENGINES` is sqlite (default), postgresql or both with a comma; PostgreSQL is started for it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from tests.benchmarks.timing import POOLER, PROGRAM, compare, folder, timed
from tests.helpers.postgres import empty_schema, postgres_server

ENGINES = os.environ.get("POOLER_BENCH_ENGINES", "sqlite").split(",")
SIZES = {"0.1 M": 700, "0.3 M": 2_100, "1 M": 7_000}
"""Topics."""
PAIRS_A_TOPIC, JUDGES, GRADES, RUNS, DEPTH = 72, 100, 4, 4, 40


def generate_million(place: Path, n_topics: int) -> tuple[list[str], str]:
    """Write run files, a list of topics and one table of all judges' grades; return runs and table.

    Each run of a topic has 40 of its 72 documents, so that together they bring all; a pair has two judges or
    one.
    """
    rng = np.random.default_rng(1)
    place.mkdir()
    topics = [str(1_000_000 + number) for number in range(n_topics)]
    (place / "topics.tsv").write_text("".join(f"{topic}\tquestion {topic}\n" for topic in topics))
    drawn = rng.integers(0, 8_841_823, (n_topics, PAIRS_A_TOPIC + 8)).tolist()
    docnos = [list(dict.fromkeys(row))[:PAIRS_A_TOPIC] for row in drawn]
    runs = [str(place / f"run{run}") for run in range(RUNS)]
    for run, name in enumerate(runs):
        # Runs start at 0, 11, 22, 32 of 72 documents: the first and the last are brought, none is missed.
        start = round(run * (PAIRS_A_TOPIC - DEPTH) / (RUNS - 1))
        with Path(name).open("w") as file:
            for topic, own in zip(topics, docnos, strict=True):
                file.writelines(
                    f"{topic} Q0 {docno} {rank} {DEPTH - rank}.5 run{run}\n"
                    for rank, docno in enumerate(own[start : start + DEPTH], start=1)
                )
    table = place / "judgements.tsv"
    with table.open("w") as file:
        file.write("topic\tdocno\tjudge\tkind\tstate\tgrade\treason\tnote\titeration\n")
        for topic, own in zip(topics, docnos, strict=True):
            true = rng.integers(0, GRADES, len(own))
            for number, docno in enumerate(own):
                first = int(rng.integers(JUDGES))
                for judge in {first, (first + 1 + number % 7) % JUDGES} if number % 72 else {first}:
                    grade = int(true[number]) if rng.random() < 0.7 else int(rng.integers(GRADES))
                    file.write(f"{topic}\t{docno}\tj{judge:03}\thuman\tjudged\t{grade}\t\t\t0\n")
    return runs, str(table)


def million(place: Path) -> None:
    """Print a table an engine."""
    for engine in ENGINES:
        is_file = engine == "sqlite"
        with nullcontext() if is_file else postgres_server() as server:
            where = {
                size: str(place / f"{n}.db") if is_file else empty_schema(server) for size, n in SIZES.items()
            }
            _on(engine, place / engine, where)


def _on(engine: str, place: Path, where: dict[str, str]) -> None:
    place.mkdir()
    files = {size: generate_million(place / str(n), n) for size, n in SIZES.items()}

    def commands(size: str) -> dict[str, Sequence[str]]:
        of_each: dict[str, Sequence[str]] = {
            "init": ("--scale", f"0-{GRADES - 1}"),
            "import topics": (str(place / str(SIZES[size]) / "topics.tsv"),),
            "import runs": files[size][0],
            "pool": ("--depth", str(DEPTH)),
            "import judgements": (files[size][1], "--as", "tsv"),
            "qrels define": ("official", "--aggregate", "majority", "--ties", "low"),
            "status": (),
            "status --by-topic": (),
            "judge --plain": ("--judge", "j001"),
            "export qrels": ("--out", str(place / f"{SIZES[size]}.qrels")),
            "evaluate": (),
            "agreement": ("--resamples", "200"),
            "diagnose": ("--level", "2"),
            "show judges": (),
            "history --limit 20": (),
            "verify": (),
        }
        if engine == "sqlite":
            of_each["backup"] = (str(place / f"{SIZES[size]}.backup"),)
        return of_each

    compare(
        f"Up to a million judgements of 100 judges, {engine}",
        SIZES,
        {
            f"{POOLER} {name}": lambda size, name=name: timed(
                *PROGRAM, *name.split(), *commands(size)[name], "--collection", where[size]
            )
            for name in commands("1 M")
        },
        repeats=1,
    )


if __name__ == "__main__":
    with folder() as made:
        million(made)
