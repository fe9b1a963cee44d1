"""A pool of depth 100 from run files, beside trectools, and a C program that checks nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.benchmarks.evaluate import DOCUMENTS, RUNS, TOPICS
from tests.benchmarks.generate import generate
from tests.benchmarks.timing import POOLER, PROGRAM, PYTHON, compare, folder, peer, timed

TRECTOOLS = """
import sys
from trectools import TrecPoolMaker
pool = TrecPoolMaker().make_pool_from_files(sys.argv[2:], topX=100)
pool.export_document_list(sys.argv[1], with_format="relevation")
"""


def pool(place: Path) -> None:
    """Print the table."""
    files = [str(path) for path in generate(place / "runs", RUNS["129 runs"], TOPICS, DOCUMENTS, seed=1)]
    out, program = str(place / "out"), str(place / "floor")
    floor = "a C program, no field checked: absent"
    if shutil.which("cc"):
        source = str(Path(__file__).with_name("pool_floor.c"))
        subprocess.run(["cc", "-O2", "-o", program, source], check=True)
        floor = floor.removesuffix(": absent")

    def pooled(size: str, *how: str) -> list[str]:
        Path(out).unlink(missing_ok=True)
        return [*PROGRAM, "pool", "--depth", "100", "--out", out, *how, *files[: RUNS[size]]]

    compare(
        f"A pool of depth 100 from run files, {TOPICS} topics, {DOCUMENTS:,} lines a topic",
        RUNS,
        {
            POOLER: lambda size: timed(*pooled(size)),
            f"{POOLER}, --strategy rrf": lambda size: timed(*pooled(size, "--strategy", "rrf")),
            floor: lambda size: timed(
                "/bin/sh",
                "-c",
                'out=$1; shift; LC_ALL=C "$@" | LC_ALL=C sort -u > "$out"',
                *("sh", out, program, "100", *files[: RUNS[size]]),
            ),
            peer("trectools"): lambda size: timed(*PYTHON, TRECTOOLS, out, *files[: RUNS[size]]),
        },
    )


if __name__ == "__main__":
    with folder() as made:
        pool(made)
