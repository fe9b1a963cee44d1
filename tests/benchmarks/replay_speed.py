"""Every strategy replayed to the last document: 50 topics, 60 runs, depth 100, all judged.

The runs see the merits of 400 documents a topic through noise of their own, and a sixth of the
documents are relevant, the more likely the greater their merit. `POOLER_BENCH_RUNS` is the number
of runs (default 60). No peer replays strategies in Python.
"""

from __future__ import annotations

import os
import time

import numpy as np

from pooler.pools.replay import JudgedTopic, replay_topic
from pooler.strategies import STRATEGIES
from pooler.strategies.kinds import SamplingStrategy
from pooler.strategies.rankings import TopicRankings
from store.analysis.rankings import NOT_RELEVANT, RELEVANT

RUNS = int(os.environ.get("POOLER_BENCH_RUNS", "60"))
TOPICS, DEPTH, CANDIDATES = 50, 100, 1500


def make_topic(number: int) -> JudgedTopic:
    """Make the rankings and judgements of one topic from its number."""
    rng = np.random.default_rng([20010101, number])
    merits = rng.exponential(size=CANDIDATES)
    noise = rng.uniform(0.2, 2.0, size=(RUNS, 1))
    seen = merits + noise * rng.standard_normal((RUNS, CANDIDATES))
    listed = np.argsort(-seen, axis=1, kind="stable")[:, :DEPTH]
    present, documents = np.unique(listed, return_inverse=True)
    documents = documents.reshape(listed.shape).astype(np.int32)
    scores = np.take_along_axis(seen, listed, axis=1)
    is_relevant = merits[present] + rng.standard_normal(present.size) > 2.5
    outcomes = np.where(is_relevant, RELEVANT, NOT_RELEVANT).astype(np.int8)
    rankings = TopicRankings(documents, present.size, scores, str(number))
    relevant = np.flatnonzero(is_relevant)
    return JudgedTopic(rankings, outcomes, relevant, np.arange(relevant.size))


def replay_speed() -> None:
    """Print what each strategy takes to go through all topics, and what it finds half way."""
    topics = [make_topic(number) for number in range(TOPICS)]
    n_documents = sum(topic.rankings.n_documents for topic in topics)
    n_relevant = sum(topic.relevant.size for topic in topics)
    print(
        f"replay of {TOPICS} topics x {RUNS} runs x depth {DEPTH} to the last of {n_documents:,}"
        f" documents, {n_relevant:,} relevant"
    )
    for name, row in STRATEGIES.items():
        if isinstance(row, SamplingStrategy):
            continue
        parameters = row.complete({})
        start = time.perf_counter()
        replays = [replay_topic(row, topic, parameters, seed=1) for topic in topics]
        wall = time.perf_counter() - start
        assert sum(replay.n_judgements for replay in replays) == n_documents
        found = sum(replay.n_found(replay.n_judgements // 2) for replay in replays)
        print(f"  {name:15} {wall:7.2f} s  {found / n_relevant:4.0%} found half way")


if __name__ == "__main__":
    replay_speed()
