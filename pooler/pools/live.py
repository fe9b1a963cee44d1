"""Adaptive pools at work: the next document, from what was drawn and judged so far; why documents wait.

Nothing of a strategy's state is stored. It follows from the rankings, the parameters, the seed and
the draws with their grades, so after a crash, or with another judge, the next document is the same
as if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pooler.pools.runs import StoredRuns, stored_runs
from pooler.strategies import find_strategy
from pooler.strategies.kinds import Adaptive, AdaptiveStrategy
from pooler.strategies.rankings import TopicRankings
from store.errors import PoolerError, StoreError
from store.records import Workloads
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection
    from store.content.documents import TextCounts
    from store.content.pools import Draw, StoredPool


class AdaptivePool:
    """An adaptive pool of a collection; `PoolerError`: its runs are not those it was made from."""

    def __init__(self, runs: StoredRuns, manifest: dict[str, Any]) -> None:
        self._runs = runs
        self._manifest = manifest
        self._topics: dict[str, tuple[Adaptive, list[str], list[Draw]]] = {}
        """A strategy on a topic, its docnos by number, and the draws it knows of."""
        fed = {run["tag"]: run["sha256"] for run in manifest["runs"] if run["contributes"]}
        if fed != {run.tag: run.sha256 for run in runs.feeding}:
            message = f"the runs of pool `{manifest['name']}` have changed since it was made"
            raise PoolerError(message, hint="make another pool: its draws cannot be continued")

    def choose(self, topic: str, draws: Sequence[Draw]) -> str | None:
        """Return the next document after all drawn so far; ``None`` when the strategy has no other."""
        known = self._topics.get(topic)
        if known is None or known[2] != list(draws[: len(known[2])]):
            of_topic = self._runs.of_topic(topic)
            strategy = start_strategy(self._manifest, of_topic.rankings)
            known = self._topics[topic] = strategy, of_topic.docnos, []
        strategy, docnos, replayed = known
        numbers = {docno: number for number, docno in enumerate(docnos)}
        for draw in draws[len(replayed) :]:
            if draw.docno in numbers:
                relevant = None if draw.grade is None else draw.grade >= self._manifest["level"]
                strategy.observe(numbers[draw.docno], relevant)
            replayed.append(draw)
        chosen = strategy.choose()
        return None if chosen is None else docnos[chosen]


def start_strategy(manifest: dict[str, Any], rankings: TopicRankings) -> Adaptive:
    """Start the strategy that a manifest names on one topic; it must be an adaptive one."""
    row = find_strategy(manifest["strategy"])
    if not isinstance(row, AdaptiveStrategy):
        raise PoolerError(f"strategy `{row.name}` of pool `{manifest['name']}` is not adaptive")
    own = {name: value for name, value in manifest["parameters"].items() if name != "depth"}
    parameters = row.complete(own)
    seed = {"seed": manifest["seed"]} if row.needs_seed_for(parameters) else {}
    return row.start(rankings, **seed, **parameters)


class LiveDrawing:
    """Draws from the adaptive pools of a collection, the oldest first; runs are read at the first draw."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._pools: dict[str, AdaptivePool] = {}
        self._refused: dict[str, PoolerError] = {}
        self._adaptive = collection.pools.adaptive()

    def draw(self, topic: str) -> bool:
        """Draw one more document for a topic; False when no pool has one left for it."""
        for name, manifest in self._adaptive.items():
            pool = self._pool(name, manifest)
            if pool is not None:
                choose = partial(pool.choose, topic)
                if self._collection.pools.draw(name, topic, choose) is not None:
                    return True
        if self._refused:
            raise next(iter(self._refused.values()))
        return False

    def _pool(self, name: str, manifest: dict[str, Any]) -> AdaptivePool | None:
        """Return a pool with its runs; ``None`` = they are not those it was made from."""
        if name not in self._pools and name not in self._refused:
            try:
                tags = [run["tag"] for run in manifest["runs"] if run["contributes"]]
                depth, order = manifest["parameters"]["depth"], manifest["order"]
                runs = stored_runs(self._collection, depth=depth, order=order, tags=tags)
                self._pools[name] = AdaptivePool(runs, manifest)
            except StoreError:
                raise
            except PoolerError as error:
                self._refused[name] = error
        return self._pools.get(name)


def drawable(pools: Iterable[StoredPool]) -> list[str]:
    """Name the adaptive pools in use that have documents left to draw, were anybody to draw."""
    return [
        pool.name
        for pool in pools
        if not pool.withdrawn and pool.budget is not None and pool.pairs < pool.budget
    ]


def idle_words(names: Sequence[str]) -> str:
    """Say that no draws from adaptive pools, of which there are some, and why.

    >>> idle_words(["live"])
    'no draws from adaptive pool `live`: while anything is assigned, each judge sees ...'
    """
    noun = "adaptive pool" if len(names) == 1 else "adaptive pools"
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"no draws from {noun} {listed}: while anything is assigned, each judge sees only what is"
        " assigned to them or open to claim"
    )


def way_out(workloads: Workloads) -> str:
    """Say when judges would draw again.

    >>> from store.records import Workload, Workloads
    >>> ann = Workload("ann", 1, 5, 5, 0, 0, decided=2, claimed=0, lapsed=0, until=None)
    >>> way_out(Workloads([ann], pooled=5))
    '2 assignments have a decision, which pooler assign --clear keeps: draw in another collection'
    >>> way_out(Workloads())
    'once pooler assign --clear has taken back every assignment, all judges draw'
    """
    if n_decided := sum(line.decided for line in workloads.lines):
        has = "has" if n_decided == 1 else "have"
        return (
            f"{counted(n_decided, 'assignment')} {has} a decision, which pooler assign --clear keeps: draw"
            " in another collection"
        )
    return "once pooler assign --clear has taken back every assignment, all judges draw"


def missing_words(counts: TextCounts) -> str | None:
    """Word how many documents that judges are or may be shown have no text; ``None`` = none.

    >>> from store.content.documents import TextCounts
    >>> missing_words(TextCounts(missing=2, pooled=11))
    '2 of 11 pooled documents have no text'
    >>> missing_words(TextCounts(11, 11, 13, 13))
    '11 of 11 pooled documents have no text, nor have 13 of 13 others that adaptive pools may draw'
    >>> missing_words(TextCounts(0, 11, 3, 13))
    '3 of 13 documents that adaptive pools may draw have no text'
    """
    pooled = f"{counts.missing:,} of {counted(counts.pooled, 'pooled document')} have no text"
    drawable = f"{counts.missing_undrawn:,} of {counts.undrawn:,}"
    if counts.missing and counts.missing_undrawn:
        return f"{pooled}, nor have {drawable} others that adaptive pools may draw"
    if counts.missing:
        return pooled
    if counts.missing_undrawn:
        return f"{drawable} documents that adaptive pools may draw have no text"
    return None
