"""What the benchmarks share: sizes, an empty folder, seconds of a call, time and memory of a process.

`POOLER_BENCH_RUNS` is the number of runs of 50 topics x 1000 documents (default 20; 120 is a track's),
`POOLER_BENCH_REPEATS` how often each thing is timed (default 3).
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

RUNS = int(os.environ.get("POOLER_BENCH_RUNS", "20"))
REPEATS = int(os.environ.get("POOLER_BENCH_REPEATS", "3"))
TOPICS, DOCUMENTS, DEPTH = 50, 1000, 100
PROGRAM = (sys.executable, "-m", "pooler.cli.main")

# Commands are timed as an installation has them, with compiled files.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A small process of its own starts and awaits each command: the memory of a started process is
# never told as less than that of the process which started it, and a benchmark's may be large.
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


def in_folder(benchmark: Callable[..., None], *arguments: object) -> None:
    """Call a benchmark with an empty folder, which goes afterwards."""
    with TemporaryDirectory(prefix="pooler-") as folder:
        benchmark(Path(folder), *arguments)


def is_here(module: str) -> bool:
    """Say whether a peer is installed."""
    return importlib.util.find_spec(module) is not None


def once(call: Callable[[], object]) -> float:
    """Return the time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def seconds(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of some calls."""
    return statistics.median(once(call) for _ in range(repeats))


def fastest(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the least time of some calls, of more where they are short."""
    taken: list[float] = []
    while len(taken) < repeats or (repeats > 1 and sum(taken) < 0.3):
        taken.append(once(call))
    return min(taken)


@dataclass(frozen=True)
class Timing:
    """What one process took."""

    wall: float
    """Seconds."""
    processor: float
    """Seconds, all its processes together."""
    memory: float
    """MiB of the largest of its processes, at its peak."""

    def __str__(self) -> str:
        return (
            f"wall {self.wall:7.3f} s  processor {self.processor:7.3f} s"
            f"  largest process {self.memory:5.0f} MiB"
        )


def timed(*command: str) -> Timing:
    """Run a command and measure it."""
    launcher = [sys.executable, "-S", "-c", LAUNCHER, *command]
    done = subprocess.run(launcher, capture_output=True, text=True, check=True)
    wall, processor, memory, status = json.loads(done.stdout)
    assert status == 0, f"{command[:4]} ended with status {status}"
    return Timing(wall, processor, memory)


def median(timings: Sequence[Timing]) -> Timing:
    """Take the medians of time, and the largest memory."""
    return Timing(
        statistics.median(timing.wall for timing in timings),
        statistics.median(timing.processor for timing in timings),
        max(timing.memory for timing in timings),
    )


def repeated(*command: str, repeats: int = REPEATS) -> Timing:
    """Measure a command some times."""
    return median([timed(*command) for _ in range(repeats)])


def interleaved(commands: Mapping[str, Sequence[str]], repeats: int = REPEATS) -> dict[str, Timing]:
    """Measure every command some times, in turn: a busy machine is as busy for all."""
    rounds = [{name: timed(*command) for name, command in commands.items()} for _ in range(repeats)]
    return {name: median([one[name] for one in rounds]) for name in commands}


def print_table(medians: Mapping[str, Timing], first: str) -> None:
    """Print a line for each command, with its wall and processor time as multiples of `first`."""
    one = medians[first]
    for name, taken in medians.items():
        print(
            f"  {name:22} {taken}"
            f"  x {taken.wall / one.wall:5.2f} wall, x {taken.processor / one.processor:5.2f} processor"
        )
