"""Leaving runs out of 120 runs x 50 topics x 1000 ranks with a pool of depth 100.

Beside each other: one pass of AP over all runs; the uniques of every run withdrawn, AP, ranks and
taus; the pool made again without each run; the errors; and the pool's depth inferred.
Target: a few seconds for runs, by uniques, with AP. Wall time, the fastest of a few.
"""

from __future__ import annotations

import tracemalloc

import numpy as np

from store.analysis.measures.average_precision import average_precision
from store.analysis.pools.contributions import infer_pool, remove_uniques, within_depth
from store.analysis.pools.leave_out import LeaveOut, leave_out, pool_errors
from store.analysis.rankings import JudgedRankings, judged_rankings
from tests.benchmarks.timing import fastest

RUNS, TOPICS, RANKS, DEPTH, DOCUMENTS = 120, 50, 1000, 100, 8000


def collection(seed: int) -> JudgedRankings:
    """Draw runs and judge the pool of depth `DEPTH`, 60 documents a topic of grade 1 or 2."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.5, 1.5, size=RUNS)
    rankings, judged = {}, {}
    for topic in map(str, range(TOPICS)):
        quality = rng.gumbel(size=DOCUMENTS)
        worth = quality + 2 * rng.normal(size=DOCUMENTS)  # so that some runs alone find some
        cuts = np.sort(worth)[[-60, -20]]
        pool: set[int] = set()
        for run in range(RUNS):
            order = np.argsort(-(quality + noise[run] * rng.normal(size=DOCUMENTS)))[:RANKS]
            rankings[str(run), topic] = order
            pool.update(order[:DEPTH].tolist())
        ids = np.array(sorted(pool), dtype=np.int64)
        judged[topic] = ids, np.searchsorted(cuts, worth[ids], side="right")
    tags = list(map(str, range(RUNS)))
    binary = {topic: (ids, grades >= 1) for topic, (ids, grades) in judged.items()}
    return judged_rankings(list(judged), tags, rankings, binary, cutoff=RANKS)


def leave_out_speed() -> None:
    """Print seconds of an AP pass, of each way of leaving out, and peak memory."""
    arrays = collection(1)

    def by_uniques() -> LeaveOut:
        return leave_out(arrays, remove_uniques(arrays, within_depth(arrays, DEPTH)))

    tracemalloc.start()
    left = by_uniques()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    withdrawn = left.withdrawn
    lines = {
        "AP of all": lambda: average_precision(arrays.relevant(), arrays.n_relevant),
        "uniques withdrawn, AP, ranks, taus": by_uniques,
        "errors": lambda: pool_errors(left),
        "depth inferred": lambda: infer_pool(arrays),
    }
    print(
        f"{RUNS} runs, {TOPICS} topics, {RANKS} ranks, pool of depth {DEPTH}:"
        f" {withdrawn.by.size:,} uniques, {int(left.n_relevant.sum()):,} relevant,"
        f" peak {peak / 1e6:.0f} MB"
    )
    for name, call in lines.items():
        print(f"{name:36} {fastest(call):7.2f} s")


if __name__ == "__main__":
    leave_out_speed()
