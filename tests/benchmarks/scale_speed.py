"""Depth-100 pools of tens of millions of lines, time, memory and hash.

`POOLER_BENCH_TOPICS` lists how many topics each of 10 runs has, with 1000 documents each (default
100, a million lines; 700,3500,7000 makes 7, 35 and 70 million, the last one some 2.5 GB of files).
`POOLER_BENCH_REPEATS` is how often it is timed (default 3).
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tests.benchmarks.generate_scale import generate_scale
from tests.benchmarks.timing import DEPTH, DOCUMENTS, PROGRAM, REPEATS, Timing, in_folder, median, timed

TOPICS = [int(number) for number in os.environ.get("POOLER_BENCH_TOPICS", "100").split(",")]
RUNS = 10


def scale_speed(folder: Path, topics: int) -> None:
    """Print time and memory and the hash of what is written."""
    files = [str(path) for path in generate_scale(folder / "runs", RUNS, topics, DOCUMENTS, seed=1)]
    n_lines = RUNS * topics * DOCUMENTS
    n_bytes = sum(Path(file).stat().st_size for file in files)
    out = folder / "scale.pool"
    taken: list[Timing] = []
    loads = [os.getloadavg()[0]]
    for _ in range(REPEATS):
        taken.append(timed(*PROGRAM, "pool", *files, "--depth", str(DEPTH), "--out", str(out)))
        loads.append(os.getloadavg()[0])
    one = median(taken)
    print(
        f"{n_lines:,} lines, {n_bytes / 1e6:,.0f} MB, depth {DEPTH}, {REPEATS} times;"
        f" load {min(loads):.1f} to {max(loads):.1f}"
    )
    print(f"  {one}  {one.processor / n_lines * 1e9:3.0f} ns a line  pool {hash_of(out)[:16]}")


def hash_of(path: Path) -> str:
    """Hash a pool and its manifest."""
    manifest = Path(f"{path}.manifest.json")
    return hashlib.sha256(path.read_bytes() + manifest.read_bytes()).hexdigest()


if __name__ == "__main__":
    for number in TOPICS:
        in_folder(scale_speed, number)
