"""What the benchmarks share: how a program is timed at several sizes, and how its row is printed.

`POOLER_BENCH_REPEATS` is how often each thing is timed (default 3; the medians are printed).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pooler.version import __version__

REPEATS = int(os.environ.get("POOLER_BENCH_REPEATS", "3"))
PROGRAM = (sys.executable, "-m", "pooler.cli.main")
PYTHON = (sys.executable, "-c")
POOLER = f"pooler {__version__}"

# Commands are timed as an installation has them, with compiled files.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A small process of its own starts and awaits each command: the memory of a started process is never told as
# less than that of the process which started it.
_LAUNCHER = """
import json, os, sys, time
null = os.open(os.devnull, os.O_WRONLY)
quiet = [(os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)]
start = time.perf_counter()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, usage = os.wait4(pid, 0)
wall = time.perf_counter() - start
print(json.dumps([wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status]))
"""
_CALL = """
import json, resource, time
call()  # imports what it needs
wall, processor = time.perf_counter(), time.process_time()
call()
taken = time.perf_counter() - wall, time.process_time() - processor
print(json.dumps([*taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


class Timing(NamedTuple):
    """What a process or a call took."""

    wall: float
    """Seconds."""
    processor: float
    """Seconds, all its processes together."""
    memory: float
    """MiB of the largest of its processes, at its peak."""


def timed(*command: str) -> Timing:
    """Run a command and measure it."""
    launcher = [sys.executable, "-S", "-c", _LAUNCHER, *command]
    done = subprocess.run(launcher, capture_output=True, text=True, check=True)
    *taken, status = json.loads(done.stdout)
    assert status == 0, f"{command[:6]} ended with status {status}"
    return Timing(*taken)


def timed_call(code: str, *arguments: str) -> Timing:
    """Measure the second call of the function `call` that some code defines, in a process of its own."""
    done = subprocess.run([*PYTHON, code + _CALL, *arguments], capture_output=True, text=True, check=True)
    return Timing(*json.loads(done.stdout.splitlines()[-1]))


def peer(package: str, module: str = "") -> str:
    """Name a peer with its version, or as absent."""
    try:
        return f"{module or package} {version(package)}"
    except PackageNotFoundError:
        return f"{module or package}: absent"


@contextmanager
def folder() -> Iterator[Path]:
    """Give an empty folder, which goes afterwards."""
    with TemporaryDirectory(prefix="pooler-") as name:
        yield Path(name)


def compare(
    title: str,
    sizes: Mapping[str, int],
    programs: Mapping[str, Callable[[str], Timing]],
    *,
    repeats: int = REPEATS,
) -> None:
    """Print a table: a row a program, seconds at every size, cores and memory at the largest, and growth.

    Programs are measured in turn, so that a busy machine is as busy for all; those that are absent are named.
    A cell has seconds by the clock, and in brackets of the processor. Growth is the exponent k by which
    processor time grew as size^k between the last two sizes.
    """
    here = {name: call for name, call in programs.items() if not name.endswith("absent")}
    taken = {
        (name, size): _median(rounds)
        for size in sizes
        for name, rounds in _interleaved(here, size, repeats).items()
    }
    print_rows(
        title,
        ["Program", *sizes, "Cores", "MiB", "Growth"],
        [
            [name, *(["-"] * (len(sizes) + 3))] if name not in here else _row(name, taken, sizes)
            for name in programs
        ],
    )


def _interleaved(
    programs: Mapping[str, Callable[[str], Timing]], size: str, repeats: int
) -> dict[str, list[Timing]]:
    rounds = [{name: call(size) for name, call in programs.items()} for _ in range(repeats)]
    return {name: [one[name] for one in rounds] for name in programs}


def _median(rounds: Sequence[Timing]) -> Timing:
    wall, processor, memory = zip(*rounds, strict=True)
    return Timing(statistics.median(wall), statistics.median(processor), max(memory))


def _row(name: str, taken: Mapping[tuple[str, str], Timing], sizes: Mapping[str, int]) -> list[str]:
    *_, before, last = sizes
    most, less = taken[name, last], taken[name, before]
    growth = log(most.processor / less.processor) / log(sizes[last] / sizes[before])
    cells = [f"{taken[name, size].wall:.2f} ({taken[name, size].processor:.2f})" for size in sizes]
    return [name, *cells, f"{most.processor / most.wall:.1f}", f"{most.memory:.0f}", f"{growth:.2f}"]


def print_rows(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of Markdown under a heading; what follows the first column stands to the right."""
    print(f"## {title}\n")
    print(f"| {' | '.join(headings)} |\n| --- |{' ---: |' * (len(headings) - 1)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print(flush=True)
