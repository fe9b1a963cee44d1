"""Exact moments of AP beside the simulation of 100,000 judgings, in the same run.

`POOLER_BENCH_REPEATS` is how often each thing is timed (default 5). Targets: 30 random and 15 sure
documents 300 times as fast as the simulation (a pair 200), 200 + 50 documents 500 (300), 990 + 10
500 (150); 53 topics of a pair in 60 ms; 100 runs x 50 topics x 200 documents with all pairs in
60 s; 5,000 documents in 100 ms a run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

import numpy as np

from store.analysis.variation.collection import (
    Topic,
    collection_variation,
    order_probabilities,
    pair_components,
)
from store.analysis.variation.moments import variation
from store.analysis.variation.simulation import simulate_maps
from tests.benchmarks.timing import once, seconds

REPEATS = int(os.environ.get("POOLER_BENCH_REPEATS", "5"))
REPETITIONS = 100_000
SIZES = ((30, 15), (60, 30), (200, 50), (990, 10))


def drawn(rng: np.random.Generator, n_random: int, n_sure: int, n_runs: int) -> Topic:
    """Draw a topic; runs retrieve what is within rank 1,000 of theirs."""
    n = n_random + n_sure
    p = np.concatenate([rng.uniform(0.01, 0.99, n_random), np.ones(n_sure)])
    places = np.arange(1.0, max(1000, n) + 1)
    return p, np.array([rng.permutation(places)[:n] for _ in range(n_runs)])


def warm(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median milliseconds of a function, after one call that fills caches."""
    work()
    return 1e3 * seconds(work, repeats)


def variation_speed() -> None:
    """Print milliseconds, the simulation's beside."""
    rng = np.random.default_rng(1)
    print(f"medians of {REPEATS}; simulation: {REPETITIONS:,} judgings")
    for n_random, n_sure in SIZES:
        p, ranks = drawn(rng, n_random, n_sure, 2)
        for name, rows in (("one run", ranks[:1]), ("a pair", ranks)):
            exact = warm(partial(variation, p, rows), 9 * REPEATS)
            peer = warm(partial(simulate_maps, [(p, rows)], repetitions=REPETITIONS, seed=1))
            print(
                f"  {n_random:4} + {n_sure:2} documents, {name:7}"
                f"  {exact:8.3f} ms   simulation {peer:8.1f} ms  {peer / exact:6.0f} times"
            )
    topics = [drawn(rng, 30, 15, 2) for _ in range(53)]

    def pair() -> None:
        varied = collection_variation(topics)
        pair_components(varied).p_values()
        order_probabilities(varied)

    exact, peer = warm(pair), warm(partial(simulate_maps, topics, repetitions=REPETITIONS, seed=1), 1)
    print(
        f"  53 topics, a pair: means, covariances, t1, t2, K, P  {exact:8.1f} ms   simulation {peer:8.1f} ms"
    )
    p, ranks = drawn(rng, 5000, 0, 1)
    print(f"  5,000 documents, one run  {warm(partial(variation, p, ranks)):8.1f} ms")
    many = [drawn(rng, 160, 40, 100) for _ in range(50)]

    def all_pairs() -> None:
        varied = collection_variation(many)
        pair_components(varied)
        order_probabilities(varied)

    print(f"  100 runs x 50 topics x 200 documents, all pairs  {once(all_pairs):8.1f} s")


if __name__ == "__main__":
    variation_speed()
