"""`pooler diagnose` and `pooler report` as processes, on a collection and on bare files.

`POOLER_BENCH_RUNS` is the number of runs of 50 topics x 1000 documents (default 20; 120 is a
track's), `POOLER_BENCH_REPEATS` how often each is timed (default 3). The pool of depth 100 is
judged whole, one document in eight relevant. Targets for 120 runs: 20 s from the store, leave-out
included, and at most 15 s more from files; 60 s for a report. A second judge differs in one
document of 31, so that the report of a majority has judgements that vary.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.generate import generate
from tests.benchmarks.test_pool_speed import DEPTH, DOCUMENTS, REPEATS, RUNS, TOPICS, interleaved, table
from tests.helpers.run import run

PROGRAM = (sys.executable, "-m", "pooler.cli.main")
MAJORITY = ("--aggregate", "majority", "--ties", "low")


@pytest.mark.benchmark
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="no wait4 here")
def test_diagnose_process_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print time and memory of both ways, and see that both say the same."""
    files = [str(path) for path in generate(tmp_path / "runs", RUNS, TOPICS, DOCUMENTS, seed=1)]
    pool, qrels = tmp_path / "pool.txt", tmp_path / "all.qrels"
    collection = str(tmp_path / "collection.db")
    listed = tmp_path / "runs.tsv"
    groups = "".join(f"{file}\tg{number // 2}\n" for number, file in enumerate(files))
    listed.write_text(f"file\tgroup\n{groups}")
    assert run(["pool", *files, "--depth", str(DEPTH), "--out", str(pool)]) == 0
    pairs = pool.read_text().split("\n")[:-1]
    lines = [f"{pair.replace(' ', ' 0 ')} {int(at % 8 == 0)}\n" for at, pair in enumerate(pairs)]
    qrels.write_text("".join(lines))
    for command in (
        ["init", "--scale", "binary"],
        ["import", "runs", "--runs", str(listed)],
        ["pool", "--depth", str(DEPTH)],
        ["import", "judgements", str(qrels), "--judge", "one"],
    ):
        assert run([*command, "--collection", collection]) == 0
    second = tmp_path / "two.qrels"
    lines = [f"{pair.replace(' ', ' 0 ')} {int(at % 8 == 0 or at % 31 == 0)}\n"
             for at, pair in enumerate(pairs)]  # fmt: skip
    second.write_text("".join(lines))
    two = ["import", "judgements", str(second), "--judge", "two", "--collection", collection]
    assert run(two) == 0
    capsys.readouterr()
    stored = [*PROGRAM, "diagnose", "--collection", collection, "--judge", "one"]
    bare = [*PROGRAM, "diagnose", "--qrels", str(qrels), "--runs", str(listed)]
    bare += ["--depth", str(DEPTH)]
    page = [*PROGRAM, "report", str(tmp_path / "page.html")]
    commands = {
        "collection": stored,
        "files": bare,
        "collection, groups": [*stored, "--by-group"],
        "collection, --repool": [*stored, "--repool"],
        "collection, --scores": [*stored, "--scores"],
        "report, one judge": [*page, "--collection", collection, "--judge", "one"],
        "report, two judges": [*page, "--collection", collection, *MAJORITY],
        "report, files": [*page, *bare[len(PROGRAM) + 1 :]],
    }
    medians = interleaved(commands)
    rows = []
    for command in (stored, bare):
        done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=True)
        rows.append({row["run"]: row for row in json.loads(done.stdout)["runs"]})
    more = medians["files"].wall - medians["collection"].wall
    with capsys.disabled():
        sys.stdout.write(
            f"\n\ndiagnose, {RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents, pool of depth"
            f" {DEPTH}: {len(pairs):,} judged pairs, medians of {REPEATS}\n"
            + "\n".join(table(medians, [], "collection"))
            + f"\n  files take {more:.2f} s more than the collection\n"
        )
    assert rows[0].keys() == rows[1].keys()
    for tag, row in rows[0].items():
        assert row == pytest.approx(rows[1][tag])
