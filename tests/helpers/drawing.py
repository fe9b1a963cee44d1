"""Adaptive pools in small: a pool, a strategy one can follow by hand, a process that draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection as Pipe
from multiprocessing.synchronize import Barrier
from typing import Any

from store.collection import Collection
from store.content.pools import Choose, Draw
from store.records import Pool, PoolEntry


def adaptive_pool(
    documents: Mapping[str, Sequence[str]], budget: int, *, name: str = "live", **other: Any
) -> Pool:
    """Make a pool that may draw some of each topic's documents."""
    entries = [
        PoolEntry(topic, docno, place, sampled=False)
        for topic, docnos in documents.items()
        for place, docno in enumerate(docnos)
    ]
    budgets = dict.fromkeys(documents, budget)
    return Pool(entries, {"strategy": "ends", "level": 1}, name, budgets=budgets, **other)


def ends(docnos: str) -> Choose:
    """Make a strategy: the first document that is left after a hit and at the start, else the last.

    Each letter is a docno; a hit is a grade of 1 or more.
    """

    def choose(draws: Sequence[Draw]) -> str | None:
        left = docnos
        for draw in draws:
            left = left.replace(draw.docno, "")
        if not left:
            return None
        return left[0] if not draws or (draws[-1].grade or 0) > 0 else left[-1]

    return choose


@dataclass
class Watched:
    """A strategy that keeps what it was told last, and how often it was asked."""

    choose: Choose
    told: list[Draw] | None = None
    n_asked: int = 0

    def __call__(self, draws: Sequence[Draw]) -> str | None:
        """Choose the next document."""
        self.told = list(draws)
        self.n_asked += 1
        return self.choose(draws)


def draw_at_once(name: str, docnos: str, barrier: Barrier, answers: Pipe) -> None:
    """Draw from the pool `live` for topic 1 until nothing is left, each time as others do.

    Runs in a process of its own; sends (draw number, docno) of each document it drew.
    """
    with Collection(name) as collection:
        watched = Watched(ends(docnos))
        drawn = []
        barrier.wait(30)
        while (docno := collection.pools.draw("live", "1", watched)) is not None:
            drawn.append((len(watched.told or ()), docno))
            barrier.wait(30)
        answers.send(drawn)
