"""How time and memory grow with a collection: each command at three sizes, beside peers and a floor in C.

`POOLER_BENCH_TOPICS` lists the sizes (default 5,10,20; 12,25,50 is a track's), in topics of
`POOLER_BENCH_RUNS` runs of 1000 documents; `POOLER_BENCH_PEERS` is a Python that has trectools, ranx,
ir_measures, pytrec_eval, krippendorff and scikit-learn (default: this one; what is not there is named). Whole
processes, medians, interleaved. The exponent is the slope of log time over log size: 1 = twice the topics,
twice the time.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tests.benchmarks.evaluate_speed import PEER, write_qrels
from tests.benchmarks.generate import generate
from tests.benchmarks.pool_speed import RANX, TRECTOOLS
from tests.benchmarks.timing import DEPTH, DOCUMENTS, PROGRAM, RUNS, Timing, in_folder, interleaved

SIZES = [int(number) for number in os.environ.get("POOLER_BENCH_TOPICS", "5,10,20").split(",")]
PEERS = os.environ.get("POOLER_BENCH_PEERS", sys.executable)
PROGRAM_TEXT = shlex.join(PROGRAM)
FLOOR = Path(__file__).with_name("pool_floor.c")
IR_MEASURES = """
import sys, ir_measures
qrels = list(ir_measures.read_trec_qrels(sys.argv[1]))
for path in sys.argv[2:]:
    ir_measures.calc_aggregate([ir_measures.AP], qrels, ir_measures.read_trec_run(path))
"""
KRIPPENDORFF = """
import sys, krippendorff
units = {}
for judge, path in enumerate(sys.argv[1:]):
    for line in open(path):
        topic, _, docno, grade = line.split()
        units.setdefault((topic, docno), {})[judge] = int(grade)
rows = [[unit.get(judge) for unit in units.values()] for judge in range(len(sys.argv) - 1)]
krippendorff.alpha([[float("nan") if one is None else one for one in row] for row in rows])
"""
KAPPA = """
import sys
from sklearn.metrics import cohen_kappa_score
first, second = ({tuple(line.split()[::2]): line.split()[3] for line in open(path)} for path in sys.argv[1:])
both = [pair for pair in first if pair in second]
cohen_kappa_score([first[pair] for pair in both], [second[pair] for pair in both])
"""


def second_opinion(place: Path, qrels: Path) -> None:
    """Write what another judge says, who agrees on nine documents of ten."""
    rng = np.random.default_rng(2)
    lines = qrels.read_text().splitlines()
    changed = rng.random(len(lines)) < 0.1
    grades = rng.integers(0, 3, len(lines))
    with place.open("w") as file:
        for line, is_changed, grade in zip(lines, changed, grades, strict=True):
            file.write(f"{line[:-1]}{grade}\n" if is_changed else f"{line}\n")


def commands_for(folder: Path, topics: int) -> dict[str, dict[str, Sequence[str]]]:
    """Make files and a collection of one size; return what is timed, by what it does and who does it."""
    files = [str(path) for path in generate(folder / "runs", RUNS, topics, DOCUMENTS, seed=1)]
    qrels, other = folder / "first.qrels", folder / "second.qrels"
    write_qrels(qrels, files)
    second_opinion(other, qrels)
    judged = ("--qrels", str(qrels), "--level", "1")
    chosen = ("--collection", str(folder / "c.db"))
    for one in (
        ("init",),
        ("import", "runs", *files),
        ("import", "judgements", str(qrels), "--judge", "a"),
        ("import", "judgements", str(other), "--judge", "b"),
    ):
        subprocess.run([*PROGRAM, *one, *chosen], check=True, capture_output=True)
    imported = str(folder / "again.db")
    made = f'rm -f "$0"; {PROGRAM_TEXT} init --collection "$0"'
    again = f'{made} && exec {PROGRAM_TEXT} import runs --collection "$0" "$@"'
    compiled = folder / "floor"
    if shutil.which("cc"):
        subprocess.run(["cc", "-O2", "-o", str(compiled), str(FLOOR)], check=True)
    floor = {"floor in C": (str(compiled), str(DEPTH), *files)} if compiled.exists() else {}
    return {
        "pool": {
            "pooler": (*PROGRAM, "pool", "--depth", str(DEPTH), "--out", str(folder / "pool"), *files),
            **floor,
            "trectools": (PEERS, "-c", TRECTOOLS, str(folder / "trectools"), str(DEPTH), *files),
            "ranx (reads)": (PEERS, "-c", RANX, *files),
        },
        "evaluate -m AP": {
            "pooler": (*PROGRAM, "evaluate", *judged, *files),
            "of a collection": (*PROGRAM, "evaluate", "--qrels", "a", *chosen),
            "pytrec_eval": (PEERS, "-c", PEER, str(qrels), *files),
            "ir_measures": (PEERS, "-c", IR_MEASURES, str(qrels), *files),
        },
        "sensitivity": {
            "pooler": (*PROGRAM, "sensitivity", "--depth", str(DEPTH), *judged, *files),
            "of a collection": (*PROGRAM, "sensitivity", "--depth", str(DEPTH), "--qrels", "a", *chosen),
        },
        "check": {"pooler": (*PROGRAM, "check", *files)},
        "import runs": {"pooler": ("/bin/sh", "-c", again, imported, *files)},
        "agreement": {
            "pooler": (*PROGRAM, "agreement", "--qrels", str(qrels), "--qrels", str(other)),
            "krippendorff": (PEERS, "-c", KRIPPENDORFF, str(qrels), str(other)),
            "scikit-learn": (PEERS, "-c", KAPPA, str(qrels), str(other)),
        },
        "variation": {"pooler": (*PROGRAM, "variation", *chosen)},
    }


def scaling(folder: Path) -> None:
    """Print a table: what, who, wall seconds at each size, exponent, memory at the largest."""
    timings: dict[tuple[str, str], list[Timing | None]] = {}
    for topics in SIZES:
        for what, programs in commands_for(folder / str(topics), topics).items():
            for who, one in _timed(programs).items():
                timings.setdefault((what, who), []).append(one)
    sizes = "".join(f"{RUNS * topics * DOCUMENTS / 1e6:>8.2f} M" for topics in SIZES)
    print(f"{'':34}{sizes}  lines; exponent, memory of the largest; load {os.getloadavg()[0]:.1f}")
    for (what, who), ones in timings.items():
        known = [one for one in ones if one is not None]
        if len(known) < len(SIZES):
            print(f"  {what:16}{who:16} peer absent, or it failed")
            continue
        walls = [one.wall for one in known]
        slope = float(np.polyfit(np.log(SIZES), np.log(walls), 1)[0]) if len(SIZES) > 1 else float("nan")
        cells = "".join(f"{wall:>8.2f} s" for wall in walls)
        print(f"  {what:16}{who:16}{cells}  {slope:5.2f}  {known[-1].memory:5.0f} MiB")


def _timed(programs: Mapping[str, Sequence[str]]) -> dict[str, Timing | None]:
    """Time programs in turn; ``None`` = one that does not run here."""
    runs = {}
    for who, command in programs.items():
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 0:
            runs[who] = command
        elif who in ("pooler", "of a collection"):
            raise AssertionError(done.stderr.decode())
    timed = interleaved(runs)
    return {who: timed.get(who) for who in programs}


if __name__ == "__main__":
    in_folder(scaling)
