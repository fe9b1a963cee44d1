"""Depth-100 pools of tens of millions of lines, time, memory and hash.

`POOLER_BENCH_TOPICS` lists how many topics each of 10 runs has, with 1000 documents each (default
100, a million lines; 700,3500,7000 makes 7, 35 and 70 million, the last one some 2.5 GB of files).
`POOLER_BENCH_REPEATS` is how often it is timed (default 3).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.benchmarks.generate_scale import generate_scale
from tests.benchmarks.test_pool_speed import DEPTH, DOCUMENTS, REPEATS, Timing, median, timed

TOPICS = [int(number) for number in os.environ.get("POOLER_BENCH_TOPICS", "100").split(",")]
RUNS = 10
PROGRAM = (sys.executable, "-m", "pooler.cli.main", "pool")


@pytest.mark.benchmark
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="no wait4 here")
@pytest.mark.parametrize("topics", TOPICS)
def test_scale_speed(topics: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print time and memory and the hash of what is written."""
    folder = tmp_path / "runs"
    try:
        files = [str(path) for path in generate_scale(folder, RUNS, topics, DOCUMENTS, seed=1)]
        report = report_of(files, topics, tmp_path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # pytest would keep the files of three sessions
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(report) + "\n")


def report_of(files: list[str], topics: int, folder: Path) -> list[str]:
    """Time pooling some files; return lines that say how it did."""
    n_lines = RUNS * topics * DOCUMENTS
    n_bytes = sum(Path(file).stat().st_size for file in files)
    out = folder / "scale.pool"
    taken: list[Timing] = []
    loads = [os.getloadavg()[0]]
    for _ in range(REPEATS):
        taken.append(timed(*PROGRAM, *files, "--depth", str(DEPTH), "--out", str(out)))
        loads.append(os.getloadavg()[0])
    one = median(taken)
    return [
        f"{n_lines:,} lines, {n_bytes / 1e6:,.0f} MB, depth {DEPTH}, {REPEATS} times;"
        f" load {min(loads):.1f} to {max(loads):.1f}",
        f"  wall {one.wall:6.2f} s  processor {one.processor:6.2f} s"
        f"  ({one.processor / n_lines * 1e9:3.0f} ns a line)"
        f"  memory {one.memory:4.0f} MiB a process  pool {hash_of(out)[:16]}",
    ]


def hash_of(path: Path) -> str:
    """Hash a pool and its manifest."""
    manifest = Path(f"{path}.manifest.json")
    return hashlib.sha256(path.read_bytes() + manifest.read_bytes()).hexdigest()
