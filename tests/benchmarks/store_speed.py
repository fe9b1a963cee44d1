"""Whole runs into a collection and back, beside pytrec_eval's reader: time, memory, size of the file.

`POOLER_BENCH_RUNS` is the number of runs of 50 topics x 1000 documents (default 20; 120 is a
track's), `POOLER_BENCH_REPEATS` how often each thing is timed (default 3). SQLite.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from store.analysis.arrays import TopDocuments
from store.analysis.pools.contributions import best_ranks, unique_contributions
from store.collection import Collection
from tests.benchmarks.generate import generate
from tests.benchmarks.pool_speed import PYTREC_EVAL
from tests.benchmarks.timing import (
    DEPTH,
    DOCUMENTS,
    PROGRAM,
    REPEATS,
    RUNS,
    TOPICS,
    in_folder,
    is_here,
    median,
    repeated,
    timed,
)


def import_speed(folder: Path) -> None:
    """Print the time of importing runs beside that of the peer's reader, which stores nothing."""
    files = [str(path) for path in generate(folder / "runs", RUNS, TOPICS, DOCUMENTS, seed=1)]
    taken, sizes = [], []
    for number in range(REPEATS):
        place = folder / f"c{number}.db"
        chosen = ("--collection", str(place))
        timed(*PROGRAM, "init", *chosen)
        taken.append(timed(*PROGRAM, "import", "runs", *files, *chosen))
        sizes.append(place.stat().st_size / 1e6)
    print(f"import of {RUNS} runs x {TOPICS} topics x {DOCUMENTS} documents, medians of {REPEATS}")
    print(f"  pooler import        {median(taken)}  file {max(sizes):5.1f} MB")
    peer = repeated(sys.executable, "-c", PYTREC_EVAL, *files) if is_here("pytrec_eval") else "peer absent"
    print(f"  pytrec_eval reading  {peer}  (keeps nothing)")
    with Collection(str(folder / "c0.db")) as collection:
        _loading(collection)


def _loading(collection: Collection) -> None:
    """Time what an analysis asks of a collection."""
    top = collection.runs.top(depth=DEPTH)
    ids = np.unique(top.ids)[1:].tolist()
    asked: dict[str, Callable[[], object]] = {
        "all rankings as arrays": lambda: collection.runs.top(depth=None),
        f"first {DEPTH} of each ranking": lambda: collection.runs.top(depth=DEPTH),
        f"first {DEPTH} by trec9, scores": lambda: collection.runs.top(
            depth=DEPTH, order="trec9", scores=True
        ),
        "pool and uniques, all depths": lambda: _pool_and_uniques(top),
        f"docnos of {len(ids):,} documents": lambda: collection.documents.names(ids),
    }
    for name, call in asked.items():
        walls, processor = [], []
        for _ in range(REPEATS):
            began, used = time.perf_counter(), time.process_time()
            call()
            walls.append(time.perf_counter() - began)
            processor.append(time.process_time() - used)
        wall, cpu = statistics.median(walls), statistics.median(processor)
        print(f"  {name:30} wall {wall:6.3f} s  processor {cpu:6.3f} s")


def _pool_and_uniques(top: TopDocuments) -> int:
    """Pool every topic, and count what each run alone brought."""
    total = 0
    for column in range(len(top.topics)):
        ids = top.ids[:, column]
        present, numbers = np.unique(ids, return_inverse=True)
        documents = numbers.reshape(ids.shape) - int(present[0] < 0)  # the padding becomes -1
        unique_contributions(documents)
        entering = np.bincount(best_ranks(documents, present.size))
        sizes = np.cumsum(entering[1:])  # of the pool at every depth
        total += int(sizes[-1])
    return total


if __name__ == "__main__":
    in_folder(import_speed)
