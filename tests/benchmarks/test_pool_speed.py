"""A depth-100 pool from files to a file, by this program and by trectools: time and memory.

Whole processes on the same generated files, interleaved: wall time, processor time, and the
memory of the largest process. `POOLER_BENCH_RUNS` is the number of runs (default 20; 120 is a
track's), `POOLER_BENCH_REPEATS` how often each is timed (default 3).
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchmarks.generate import generate

RUNS = int(os.environ.get("POOLER_BENCH_RUNS", "20"))
REPEATS = int(os.environ.get("POOLER_BENCH_REPEATS", "3"))
TOPICS, DOCUMENTS, DEPTH = 50, 1000, 100

# A small process of its own starts and awaits each command: the memory of a started process is
# never told as less than that of the process which started it, and pytest's is large.
LAUNCHER = """
import json, os, sys, time
null = os.open(os.devnull, os.O_WRONLY)
quiet = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
start = time.perf_counter()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(pid, 0)
wall = time.perf_counter() - start
print(json.dumps([wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status]))
"""
TRECTOOLS = """
import sys
from trectools import TrecPoolMaker
pool = TrecPoolMaker().make_pool_from_files(sys.argv[3:], topX=int(sys.argv[2]))
pool.export_document_list(sys.argv[1], with_format="relevation")
"""


@dataclass(frozen=True)
class Timing:
    """What one process took."""

    wall: float
    """Seconds."""
    processor: float
    """Seconds, all its processes together."""
    memory: float
    """MiB of the largest of its processes, at its peak."""


def timed(*command: str) -> Timing:
    """Run a command and measure it."""
    launcher = [sys.executable, "-S", "-c", LAUNCHER, *command]
    done = subprocess.run(launcher, capture_output=True, text=True, check=True)
    wall, processor, memory, status = json.loads(done.stdout)
    assert status == 0, f"{command[:4]} ended with status {status}"
    return Timing(wall, processor, memory)


def median(timings: list[Timing]) -> Timing:
    """Take the median of each measure."""
    return Timing(
        statistics.median(timing.wall for timing in timings),
        statistics.median(timing.processor for timing in timings),
        max(timing.memory for timing in timings),
    )


@pytest.mark.benchmark
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="no wait4 here")
def test_pool_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print the time and memory of a whole pooling job beside those of the peer."""
    generated = generate(tmp_path / "runs", RUNS, TOPICS, DOCUMENTS, seed=1)
    files = [str(path) for path in generated]
    megabytes = sum(path.stat().st_size for path in generated) / 1e6
    ours, theirs = str(tmp_path / "pooler.pool"), str(tmp_path / "trectools.pool")
    depth = str(DEPTH)
    program = [sys.executable, "-m", "pooler.cli.main", "pool"]
    commands = {
        "pooler": [*program, *files, "--depth", depth, "--out", ours],
        "trectools": [sys.executable, "-c", TRECTOOLS, theirs, depth, *files],
    }
    if importlib.util.find_spec("trectools") is None:
        del commands["trectools"]
    timings: dict[str, list[Timing]] = {name: [] for name in commands}
    for _ in range(REPEATS):
        for name, command in commands.items():
            timings[name].append(timed(*command))
    medians = {name: median(of_command) for name, of_command in timings.items()}
    lines = [
        f"depth-{DEPTH} pool of {RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents"
        f" ({megabytes:.0f} MB), medians of {REPEATS}"
    ]
    lines += [
        f"  {name:10} wall {one.wall:7.2f} s  processor {one.processor:7.2f} s"
        f"  largest process {one.memory:5.0f} MiB"
        for name, one in medians.items()
    ]
    if "trectools" in medians:
        own, peer = medians["pooler"], medians["trectools"]
        lines.append(
            f"  ratio      wall {own.wall / peer.wall:7.3f}    processor"
            f" {own.processor / peer.processor:7.3f}    memory {own.memory / peer.memory:.2f}"
        )
        sizes = [len(Path(file).read_bytes().splitlines()) for file in (ours, theirs)]
        lines.append(f"  pairs      {sizes[0]:,} and {sizes[1]:,} (trectools cuts ties otherwise)")
    else:
        lines.append("  trectools  peer absent")
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")
