"""`pooler diagnose` and `pooler report` as processes, on a collection and on bare files.

`POOLER_BENCH_RUNS` is the number of runs of 50 topics x 1000 documents (default 20; 120 is a
track's), `POOLER_BENCH_REPEATS` how often each is timed (default 3). The pool of depth 100 is
judged whole, one document in eight relevant. Targets for 120 runs: 20 s from the store, leave-out
included, and at most 15 s more from files; 60 s for a report. A second judge differs in one
document of 31, so that the report of a majority has judgements that vary.
"""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

from tests.benchmarks.generate import generate
from tests.benchmarks.timing import (
    DEPTH,
    DOCUMENTS,
    PROGRAM,
    REPEATS,
    RUNS,
    TOPICS,
    in_folder,
    interleaved,
    print_table,
)
from tests.helpers.run import run_inside

MAJORITY = ("--aggregate", "majority", "--ties", "low")


def diagnose_process_speed(folder: Path) -> None:
    """Print time and memory of both ways, and see that both say the same."""
    files = [str(path) for path in generate(folder / "runs", RUNS, TOPICS, DOCUMENTS, seed=1)]
    pool, qrels = folder / "pool.txt", folder / "all.qrels"
    collection = str(folder / "collection.db")
    listed = folder / "runs.tsv"
    groups = "".join(f"{file}\tg{number // 2}\n" for number, file in enumerate(files))
    listed.write_text(f"file\tgroup\n{groups}")
    run_inside("pool", *files, "--depth", str(DEPTH), "--out", pool).fine()
    pairs = pool.read_text().split("\n")[:-1]
    second = folder / "two.qrels"
    for place, steps in ((qrels, (8,)), (second, (8, 31))):
        grades = [int(any(number % step == 0 for step in steps)) for number in range(len(pairs))]
        rows = zip(pairs, grades, strict=True)
        place.write_text("".join(f"{pair.replace(' ', ' 0 ')} {grade}\n" for pair, grade in rows))
    for command in (
        ["init", "--scale", "binary"],
        ["import", "runs", "--runs", str(listed)],
        ["pool", "--depth", str(DEPTH)],
        ["import", "judgements", str(qrels), "--judge", "one"],
        ["import", "judgements", str(second), "--judge", "two"],
        ["qrels", "define", "official", *MAJORITY],
    ):
        run_inside(*command, "--collection", collection).fine()
    stored = [*PROGRAM, "diagnose", "--collection", collection, "--qrels", "one"]
    bare = [*PROGRAM, "diagnose", "--qrels", str(qrels), "--runs", str(listed)]
    bare += ["--depth", str(DEPTH)]
    page = [*PROGRAM, "report", str(folder / "page.html")]
    commands = {
        "collection": stored,
        "files": bare,
        "collection, groups": [*stored, "--by-group"],
        "collection, scores": [*stored, "--table", "scores"],
        "report, one judge": [*page, "--collection", collection, "--qrels", "one"],
        "report, two judges": [*page, "--collection", collection],
        "report, files": [*page, *bare[len(PROGRAM) + 1 :]],
    }
    medians = interleaved(commands)
    rows = []
    for command in (stored, bare):
        done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=True)
        rows.append({row["run"]: row for row in json.loads(done.stdout)["runs"]})
    more = medians["files"].wall - medians["collection"].wall
    print(
        f"diagnose, {RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents, pool of depth"
        f" {DEPTH}: {len(pairs):,} judged pairs, medians of {REPEATS}"
    )
    print_table(medians, "collection")
    print(f"  files take {more:.2f} s more than the collection")
    assert rows[0].keys() == rows[1].keys()
    for tag, row in rows[0].items():
        other = rows[1][tag]
        assert row.keys() == other.keys()
        for name, value in row.items():
            assert value == other[name] or math.isclose(value, other[name], rel_tol=1e-6), (tag, name)


if __name__ == "__main__":
    in_folder(diagnose_process_speed)
