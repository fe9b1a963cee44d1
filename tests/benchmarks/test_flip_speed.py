"""Discoveries of 120 runs x 50 topics x 1000 ranks, from arrays.

Beside each other: one pass of AP over all runs, and every unjudged document turned relevant in all
runs that have it, with the order of runs after each. Runs are noisy views of the same order of
8,000 documents a topic; the first 100 ranks of each are judged, and some 60 documents a topic are
relevant. Wall time, best of 3.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import pytest

from store.analysis.measures.average_precision import average_precision
from store.analysis.rankings import JudgedRankings, judged_rankings
from store.analysis.undiscovered.each import each_discovery

RUNS, TOPICS, RANKS, DEPTH, DOCUMENTS = 120, 50, 1000, 100, 8000


def collection(seed: int) -> JudgedRankings:
    """Draw runs and judge the pool of depth `DEPTH`."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.5, 1.5, size=RUNS)
    rankings, judged = {}, {}
    for topic in map(str, range(TOPICS)):
        quality = rng.gumbel(size=DOCUMENTS)
        relevant = quality > np.sort(quality)[-60]
        pool: set[int] = set()
        for run in range(RUNS):
            seen = quality + noise[run] * rng.normal(size=DOCUMENTS)
            order = np.argsort(-seen)[:RANKS]
            rankings[str(run), topic] = order
            pool.update(order[:DEPTH].tolist())
        ids = np.array(sorted(pool), dtype=np.int64)
        judged[topic] = ids, relevant[ids]
    tags = list(map(str, range(RUNS)))
    return judged_rankings(list(judged), tags, rankings, judged, cutoff=RANKS)


def seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """Return the least wall time of some calls."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


@pytest.mark.benchmark
def test_flip_speed(capsys: pytest.CaptureFixture[str]) -> None:
    """Print seconds of an AP pass, of all single flips and of each document, and peak memory."""
    arrays = collection(1)

    def ap_pass() -> object:
        return average_precision(arrays.relevant(), arrays.n_relevant)

    one_pass = seconds(ap_pass)
    found = each_discovery(arrays)
    each = seconds(lambda: each_discovery(arrays), 2)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{RUNS} runs, {TOPICS} topics, {RANKS} ranks"
            f"\nAP of all                      {one_pass:7.2f} s"
            f"\neach of {found.code.size:,} documents      {each:7.2f} s,"
            f" {int((found.n_swapped > 0).sum()):,} swap runs\n"
        )
