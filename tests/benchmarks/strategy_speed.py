"""Replaying a judged collection with every adaptive strategy, to exhaustion: processor time.

Generated rankings, 60 runs x 50 topics x depth 100, about 1,500 documents a topic. The state's
making, every choice and every observation are timed; reading files is not.
`POOLER_BENCH_TOPICS` is the number of topics (default 10), told as if there were 50.
"""

from __future__ import annotations

import os
import time

import numpy as np

from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import AdaptiveStrategy
from pooler.strategies.rankings import TopicRankings, rankings_of

TOPICS = int(os.environ.get("POOLER_BENCH_TOPICS", "10"))
ALL_TOPICS, RUNS, DEPTH, CANDIDATES = 50, 60, 100, 6000


def generated_topic(seed: int) -> tuple[TopicRankings, list[bool]]:
    """Make the rankings of a topic, and which of its documents are relevant."""
    rng = np.random.default_rng(seed)
    merit = rng.normal(size=CANDIDATES)
    rankings = []
    for _ in range(RUNS):
        scores = merit * rng.uniform(0.5, 2.2) + rng.normal(size=CANDIDATES)
        rankings.append([f"d{i:05}" for i in np.argsort(-scores)[:DEPTH]])
    arrays, docnos = rankings_of(rankings, topic=str(seed))
    return arrays, [bool(merit[int(docno[1:])] > 2.2) for docno in docnos]


def strategy_speed() -> None:
    """Print seconds for 50 topics, microseconds a document, and how soon half of R is found."""
    topics = [generated_topic(seed) for seed in range(TOPICS)]
    n_documents = sum(rankings.n_documents for rankings, _ in topics)
    print(f"{TOPICS} topics, {n_documents} documents")
    print("strategy       seconds us/doc   half")
    for name, strategy in STRATEGIES.items():
        if not isinstance(strategy, AdaptiveStrategy):
            continue
        parameters = strategy.complete({})
        if strategy.needs_seed_for(parameters):
            parameters["seed"] = 1
        begin = time.process_time()
        half = 0
        for rankings, relevant in topics:
            state = strategy.start(rankings, **parameters)
            n_left = sum(relevant) / 2
            while (document := state.choose()) is not None:
                state.observe(document, relevant[document])
                half += n_left > 0
                n_left -= relevant[document]
        seconds = time.process_time() - begin
        print(
            f"{name:15} {seconds * ALL_TOPICS / TOPICS:6.2f} {seconds / n_documents * 1e6:6.1f}"
            f" {half / n_documents:6.1%}"
        )


if __name__ == "__main__":
    strategy_speed()
