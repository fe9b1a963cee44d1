"""A depth-100 pool from files to a file, beside trectools, mawk, and what others take to read.

Whole processes on the same generated files, interleaved: wall time, processor time, and the
memory of the largest process. `POOLER_BENCH_RUNS` is the number of runs of 50 topics x 1000
documents (default 20; 120 is a track's), `POOLER_BENCH_REPEATS` how often each is timed (default
3), `POOLER_BENCH_RANX_PYTHON` a Python that has ranx (default: this one).
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import sys
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
    is_here,
    print_table,
)

RANX_PYTHON = os.environ.get("POOLER_BENCH_RANX_PYTHON", sys.executable)
AWK_PROGRAM = Path(__file__).with_name("exact_pool.awk")

READ = """
import sys
from pooler.reading.tops import read_tops
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


def ranx_is_there() -> bool:
    """Say whether the Python for ranx has it."""
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec('ranx') is None)"
    return subprocess.run([RANX_PYTHON, "-c", code], check=False).returncode == 0


def pool_speed(folder: Path) -> None:
    """Print the time and memory of pooling beside those of peers that pool, or only read."""
    generated = generate(folder / "runs", RUNS, TOPICS, DOCUMENTS, seed=1)
    files = [str(path) for path in generated]
    packed = [f"{path}.gz" for path in files]
    for path, name in zip(generated, packed, strict=True):
        Path(name).write_bytes(gzip.compress(path.read_bytes(), 6))
    megabytes = sum(path.stat().st_size for path in generated) / 1e6
    outs = {name: str(folder / f"{name}.pool") for name in ("plain", "gz", "rrf", "awk", "peer")}
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
        "trectools": is_here("trectools"),
        "ir_measures reading": is_here("ir_measures"),
        "pytrec_eval reading": is_here("pytrec_eval"),
        "ranx loading": ranx_is_there(),
        "mawk | sort": shutil.which("mawk") is not None and shutil.which("sort") is not None,
    }
    commands = {
        "pooler": [*PROGRAM, "pool", *files, "--depth", depth, "--out", outs["plain"]],
        "pooler, .gz": [*PROGRAM, "pool", *packed, "--depth", depth, "--out", outs["gz"]],
        **{name: command for name, command in peers.items() if is_there[name]},
    }
    print(
        f"depth-{DEPTH} pool of {RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents"
        f" ({megabytes:.0f} MB), medians of {REPEATS}"
    )
    print_table(interleaved(commands), "pooler")
    for name in peers:
        if not is_there[name]:
            print(f"  {name:22} peer absent")
    pool = sorted(Path(outs["plain"]).read_text().splitlines())
    is_same = pool == sorted(Path(outs["gz"]).read_text().splitlines())
    print(f"  pairs: {len(pool):,}; the same from .gz: {is_same}")
    if is_there["mawk | sort"]:
        is_same = pool == sorted(Path(outs["awk"]).read_text().splitlines())
        print(f"  pairs of mawk | sort are the same: {is_same}")
    if is_there["trectools"]:
        n_pairs = len(Path(outs["peer"]).read_text().splitlines())
        print(f"  pairs of trectools: {n_pairs:,} (it cuts ties otherwise)")

    deep = interleaved(
        {
            "reading": [*python, READ, str(DOCUMENTS), *files],
            "pooler --strategy rrf": [
                *(*PROGRAM, "pool", *files, "--strategy", "rrf"),
                *("--depth", str(DOCUMENTS), "--out", outs["rrf"]),
            ],
        }
    )
    print(f"the same files at depth {DOCUMENTS}")
    print_table(deep, "reading")


if __name__ == "__main__":
    in_folder(pool_speed)
