"""Discoveries of 120 runs x 50 topics x 1000 ranks, from arrays.

Beside each other: one pass of AP over all runs, and every unjudged document turned relevant in all
runs that have it, with the order of runs after each. Runs are noisy views of the same order of
8,000 documents a topic; the first 100 ranks of each are judged, and some 60 documents a topic are
relevant. Wall time, the fastest of a few.
"""

from __future__ import annotations

import numpy as np

from store.analysis.measures.average_precision import average_precision
from store.analysis.rankings import JudgedRankings, judged_rankings
from store.analysis.undiscovered.each import each_discovery
from tests.benchmarks.timing import fastest

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


def flip_speed() -> None:
    """Print seconds of an AP pass, and of each document turned relevant."""
    arrays = collection(1)

    one_pass = fastest(lambda: average_precision(arrays.relevant(), arrays.n_relevant))
    found = each_discovery(arrays)
    each = fastest(lambda: each_discovery(arrays), 2)
    print(f"{RUNS} runs, {TOPICS} topics, {RANKS} ranks")
    print(f"AP of all                      {one_pass:7.2f} s")
    n_swaps = int((found.n_swapped > 0).sum())
    print(f"each of {found.code.size:,} documents      {each:7.2f} s, {n_swaps:,} swap runs")


if __name__ == "__main__":
    flip_speed()
