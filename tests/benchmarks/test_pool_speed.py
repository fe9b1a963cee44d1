"""A depth-100 pool from files to a file, by this program and by others: time and memory.

Whole processes on the same generated files, interleaved: wall time, processor time, and the
memory of the largest process. `POOLER_BENCH_RUNS` is the number of runs of 50 topics x 1000
documents (default 20; 120 is a track's), `POOLER_BENCH_REPEATS` how often each is timed (default
3), `POOLER_BENCH_RANX_PYTHON` a Python that has ranx (default: this one).
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchmarks.generate import generate

RUNS = int(os.environ.get("POOLER_BENCH_RUNS", "20"))
REPEATS = int(os.environ.get("POOLER_BENCH_REPEATS", "3"))
RANX_PYTHON = os.environ.get("POOLER_BENCH_RANX_PYTHON", sys.executable)
TOPICS, DOCUMENTS, DEPTH = 50, 1000, 100
AWK_PROGRAM = Path(__file__).with_name("exact_pool.awk")

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
PROGRAM = (sys.executable, "-m", "pooler.cli.main", "pool")
READ = """
import sys
from pooler.reading.top import read_tops
read_tops(sys.argv[2:], int(sys.argv[1]))
"""
TRECTOOLS = """
import sys
from trectools import TrecPoolMaker
pool = TrecPoolMaker().make_pool_from_files(sys.argv[3:], topX=int(sys.argv[2]))
pool.export_document_list(sys.argv[1], with_format="relevation")
"""
IR_MEASURES = """
import sys, ir_measures
for path in sys.argv[1:]:
    for _ in ir_measures.read_trec_run(path):
        pass
"""
PYTREC_EVAL = """
import sys, pytrec_eval
for path in sys.argv[1:]:
    with open(path) as file:
        pytrec_eval.parse_run(file)
"""
RANX = """
import sys
from ranx import Run
for path in sys.argv[1:]:
    Run.from_file(path, kind="trec")
"""
AWK = """
LC_ALL=C; export LC_ALL; out=$1; depth=$2; program=$3; shift 3
mawk -v N=$depth -f "$program" "$@" | sort -u > "$out"
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


def interleaved(commands: Mapping[str, Sequence[str]]) -> dict[str, Timing]:
    """Time every command `REPEATS` times, in turn, and take the medians."""
    timings: dict[str, list[Timing]] = {name: [] for name in commands}
    for _ in range(REPEATS):
        for name, command in commands.items():
            timings[name].append(timed(*command))
    return {name: median(of_command) for name, of_command in timings.items()}


def ranx_is_there() -> bool:
    """Say whether the Python for ranx has it."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('ranx') is None)"
    return subprocess.run([RANX_PYTHON, "-c", code], check=False).returncode == 0


def table(medians: Mapping[str, Timing], absent: Sequence[str], first: str) -> list[str]:
    """Write a line for each command, with its wall and processor time as multiples of `first`."""
    one = medians[first]
    lines = [
        f"  {name:22} wall {taken.wall:7.2f} s  processor {taken.processor:7.2f} s"
        f"  largest process {taken.memory:6.0f} MiB"
        f"  x {taken.wall / one.wall:5.2f} wall, x {taken.processor / one.processor:5.2f} processor"
        for name, taken in medians.items()
    ]
    return [*lines, *(f"  {name:22} peer absent" for name in absent)]


@pytest.mark.benchmark
@pytest.mark.skipif(not hasattr(os, "wait4"), reason="no wait4 here")
def test_pool_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print the time and memory of pooling beside those of peers that pool, or only read."""
    generated = generate(tmp_path / "runs", RUNS, TOPICS, DOCUMENTS, seed=1)
    files = [str(path) for path in generated]
    packed = [f"{path}.gz" for path in files]
    for path, name in zip(generated, packed, strict=True):
        Path(name).write_bytes(gzip.compress(path.read_bytes(), 6))
    megabytes = sum(path.stat().st_size for path in generated) / 1e6
    outs = {name: str(tmp_path / f"{name}.pool") for name in ("plain", "gz", "rrf", "awk", "peer")}
    depth = str(DEPTH)
    python = (sys.executable, "-c")
    peers = {
        "trectools": [*python, TRECTOOLS, outs["peer"], depth, *files],
        "ir_measures reading": [*python, IR_MEASURES, *files],
        "pytrec_eval reading": [*python, PYTREC_EVAL, *files],
        "ranx loading": [RANX_PYTHON, "-c", RANX, *files],
        "mawk | sort": ["/bin/sh", "-c", AWK, "sh", outs["awk"], depth, str(AWK_PROGRAM), *files],
    }
    is_there = {
        "trectools": importlib.util.find_spec("trectools") is not None,
        "ir_measures reading": importlib.util.find_spec("ir_measures") is not None,
        "pytrec_eval reading": importlib.util.find_spec("pytrec_eval") is not None,
        "ranx loading": ranx_is_there(),
        "mawk | sort": shutil.which("mawk") is not None and shutil.which("sort") is not None,
    }
    commands = {
        "pooler": [*PROGRAM, *files, "--depth", depth, "--out", outs["plain"]],
        "pooler, .gz": [*PROGRAM, *packed, "--depth", depth, "--out", outs["gz"]],
        **{name: command for name, command in peers.items() if is_there[name]},
    }
    medians = interleaved(commands)
    lines = [
        f"depth-{DEPTH} pool of {RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents"
        f" ({megabytes:.0f} MB), medians of {REPEATS}",
        *table(medians, [name for name in peers if not is_there[name]], "pooler"),
    ]
    pool = sorted(Path(outs["plain"]).read_text().splitlines())
    is_same = pool == sorted(Path(outs["gz"]).read_text().splitlines())
    lines.append(f"  pairs: {len(pool):,}; the same from .gz: {is_same}")
    if is_there["mawk | sort"]:
        is_same = pool == sorted(Path(outs["awk"]).read_text().splitlines())
        lines.append(f"  pairs of mawk | sort are the same: {is_same}")
    if is_there["trectools"]:
        n_pairs = len(Path(outs["peer"]).read_text().splitlines())
        lines.append(f"  pairs of trectools: {n_pairs:,} (it cuts ties otherwise)")

    deep = interleaved(
        {
            "reading": [*python, READ, str(DOCUMENTS), *files],
            "pooler --strategy rrf": [
                *(*PROGRAM, *files, "--strategy", "rrf"),
                *("--depth", str(DOCUMENTS), "--out", outs["rrf"]),
            ],
        }
    )
    lines += [f"the same files at depth {DOCUMENTS}", *table(deep, [], "reading")]
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")
