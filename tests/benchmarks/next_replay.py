"""How many judgements settle the order of two runs: `pooler pool next` against other orders of judging.

TREC-COVID round 1, pairs drawn at random of the 61 runs whose first seven documents are judged
(`POOLER_BENCH_PAIRS`, default 20). The documents of a pair are those within rank 7 of either run:
all of them judged by the track, so that neither run is ahead by what nobody looked at. Before it is
judged, a document is relevant with one probability for all: the share of relevant ones among the documents
of twenty other pairs. After every judgement the sign of the difference in MAP is settled if the exact
mean and variance give it a probability of 95%. All orders are stopped by the same rule, so that
they differ in what they ask first alone.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from math import erfc, sqrt

import numpy as np
from numpy.typing import NDArray

from pooler.pools.replay import JudgedTopic, replay_topic
from pooler.strategies import find_strategy
from pooler.strategies.rankings import rankings_of
from store.analysis.rankings import NOT_RELEVANT, RELEVANT
from store.analysis.variation.moments import variation, variation_gradient
from tests.trec_covid import DATA, MIN_GRADE, load_qrels, load_rankings

PAIRS = int(os.environ.get("POOLER_BENCH_PAIRS", "20"))
DEPTH = int(os.environ.get("POOLER_BENCH_DEPTH", "7"))
SURE = 0.95
ORDERS = ("next", "max-mean", "take", "random")

Pick = tuple[int, int]
"""Topic and document."""


@dataclass
class Pair:
    """The judged documents of two runs, topic by topic."""

    topics: list[JudgedTopic]
    ranks: list[NDArray[np.float64]]
    relevant: list[NDArray[np.bool_]]

    @property
    def n_documents(self) -> int:
        """Judgements there are."""
        return sum(one.size for one in self.relevant)


def contributing() -> list[str]:
    """Return the runs whose first seven documents are judged in every topic."""
    rankings, qrels = load_rankings(), load_qrels()
    return [
        tag
        for tag in sorted({tag for tag, _ in rankings})
        if all(set(rankings.get((tag, topic), [])[:7]) <= set(qrels[topic]) for topic in qrels)
    ]


def pair_of(first: str, second: str) -> Pair:
    """Take the judged documents within the depth of either run."""
    rankings, qrels = load_rankings(), load_qrels()
    topics, ranks, relevant = [], [], []
    for topic, grades in qrels.items():
        lists = [
            [docno for docno in rankings.get((tag, topic), [])[:DEPTH] if docno in grades]
            for tag in (first, second)
        ]
        if not all(lists):
            continue
        placed, docnos = rankings_of(lists)
        flags = np.array([grades[docno] >= MIN_GRADE for docno in docnos], dtype=np.bool_)
        outcomes = np.where(flags, RELEVANT, NOT_RELEVANT).astype(np.int8)
        own = np.full((2, len(docnos)), np.inf)
        number = {docno: place for place, docno in enumerate(docnos)}
        for row, tag in zip(own, (first, second), strict=True):
            for rank, docno in enumerate(rankings[tag, topic][:DEPTH], start=1):
                if docno in number:
                    row[number[docno]] = rank
        nothing = np.zeros(0, dtype=np.int64)
        topics.append(JudgedTopic(placed, outcomes, nothing, nothing))
        ranks.append(own)
        relevant.append(flags)
    return Pair(topics, ranks, relevant)


def share_of(pairs: list[tuple[str, str]]) -> float:
    """Return the share of relevant documents of other pairs."""
    return float(np.concatenate([flags for one in pairs for flags in pair_of(*one).relevant]).mean())


def fixed_order(pair: Pair, name: str, rng: np.random.Generator) -> Iterator[Pick]:
    """Yield documents at random, or one of every topic in turn by a strategy."""
    if name == "random":
        every = [(topic, place) for topic, flags in enumerate(pair.relevant)
                 for place in range(flags.size)]  # fmt: skip
        for place in rng.permutation(len(every)).tolist():
            yield every[place]
        return
    strategy = find_strategy(name)
    orders = [
        [(topic, document) for document in replay_topic(
            strategy, one, strategy.complete({}), seed=1).order.tolist()]
        for topic, one in enumerate(pair.topics)
    ]  # fmt: skip
    yield from (pick for pick in chain.from_iterable(zip_longest(*orders)) if pick is not None)


def judgements_needed(pair: Pair, share: float, name: str, rng: np.random.Generator) -> tuple[int, bool]:
    """Judge in an order until the sign is settled; return how many, and whether it is right."""
    p = [np.full(ranks.shape[1], share) for ranks in pair.ranks]
    n_topics = len(p)
    moments = np.array([of_topic(*one) for one in zip(p, pair.ranks, strict=True)])
    gains = [gain_of(*one) for one in zip(p, pair.ranks, strict=True)] if name == "next" else []
    truth = sum(of_topic(flags.astype(np.float64), ranks)[0]
                for flags, ranks in zip(pair.relevant, pair.ranks, strict=True))  # fmt: skip
    order = None if name == "next" else fixed_order(pair, name, rng)
    for n_judged in range(pair.n_documents + 1):
        mean, variance = moments.sum(axis=0)
        sure = variance <= 1e-20 or 1 - 0.5 * erfc(abs(mean) / sqrt(2 * variance)) >= SURE
        if sure or n_judged == pair.n_documents:
            return n_judged, bool(mean * truth > 0 or abs(mean - truth) < 1e-12)
        if order is None:
            topic = max(range(n_topics), key=lambda one: gains[one].max(initial=0))
            document = int(gains[topic].argmax())
        else:
            topic, document = next(order)
        p[topic][document] = float(pair.relevant[topic][document])
        moments[topic] = of_topic(p[topic], pair.ranks[topic])
        if gains:
            gains[topic] = gain_of(p[topic], pair.ranks[topic])
    raise AssertionError


def of_topic(p: NDArray[np.float64], ranks: NDArray[np.float64]) -> tuple[float, float]:
    """Return mean and variance of the difference in AP."""
    found = variation(p, ranks, tolerance=1e-8)
    own = found.covariance
    return (float(found.mean[0] - found.mean[1]),
            max(float(own[0, 0] + own[1, 1] - 2 * own[0, 1]), 0.0))  # fmt: skip


def gain_of(p: NDArray[np.float64], ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a judgement of each document would tell; 0 for those judged."""
    gradient = variation_gradient(p, ranks, tolerance=1e-8)
    return np.asarray(p * (1 - p) * (gradient[0] - gradient[1]) ** 2)


def next_replay() -> None:
    """Print judgements until the sign is settled, by order."""
    tags = contributing()
    rng = np.random.default_rng(8)
    drawn = [tuple(rng.choice(len(tags), 2, replace=False).tolist()) for _ in range(PAIRS + 20)]
    chosen = [(tags[a], tags[b]) for a, b in drawn]
    share = share_of(chosen[:20])
    needed: dict[str, list[int]] = {name: [] for name in ORDERS}
    right: dict[str, list[bool]] = {name: [] for name in ORDERS}
    sizes = []
    for place, tag_pair in enumerate(chosen[20:]):
        pair = pair_of(*tag_pair)
        sizes.append(pair.n_documents)
        for name in ORDERS:
            count, is_right = judgements_needed(pair, share, name, np.random.default_rng(place))
            needed[name].append(count)
            right[name].append(is_right)
    print(f"{PAIRS} pairs, {statistics.mean(sizes):,.0f} judged documents a pair; settled at {SURE:g}")
    for name in ORDERS:
        counts = needed[name]
        print(
            f"  {name:9} judgements: mean {statistics.mean(counts):7.1f}  median"
            f" {statistics.median(counts):7.1f}  at once {sum(one == 0 for one in counts):3}"
            f"  right {statistics.mean(right[name]):.3f}"
        )


if __name__ == "__main__":
    if DATA.is_dir():
        next_replay()
    else:
        print("TREC-COVID round 1: data absent")
