"""All benchmarks in turn, as Markdown: `python -m tests.benchmarks > tables.md`; some ten minutes."""

from __future__ import annotations

import os
import platform
from datetime import date

from tests.benchmarks import evaluate, judge, million, pool, read, variation
from tests.benchmarks.timing import REPEATS, folder

if __name__ == "__main__":
    python, load = platform.python_version(), os.getloadavg()[0]
    print(f"Machine: {os.cpu_count()} cores, Python {python}, {date.today():%B %Y}, load {load:.1f}.")
    print(f"Medians of {REPEATS}, of variation and a million judgements of one.\n")
    for benchmark in (
        evaluate.evaluate,
        pool.pool,
        read.read,
        variation.variation,
        million.million,
        judge.judge,
    ):
        with folder() as made:
            benchmark(made)
