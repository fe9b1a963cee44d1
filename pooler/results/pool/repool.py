"""How a pool was made, and the same made again without a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.pools.replay import JudgedTopic, judged_topics
from pooler.results.source import Judged, Source, opened_collection
from pooler.strategies import STRATEGIES, find_strategy
from pooler.strategies.kinds import AnyStrategy, FixedStrategy, ParameterValue, SamplingStrategy
from pooler.strategies.rankings import TopicRankings, descending
from pooler.telling import say, warn
from store.analysis.pools.contributions import NO_DOCUMENT
from store.analysis.rankings import JudgedRankings
from store.errors import PoolerError


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a pool of a fixed size was made."""

    strategy: FixedStrategy
    parameters: Mapping[str, ParameterValue]
    depth: int
    budget: int | None
    """Documents of each topic; ``None`` = all."""
    runs: frozenset[str]
    """Tags of the runs that fed it."""
    sizes: Mapping[str, int]
    """Documents of each topic that it had."""

    def plan(self, judged: Judged, rankings: JudgedRankings, advance: Callable[[int], None]) -> PoolPlan:
        """Make the plan, and make sure that it makes the pool that was judged (`PoolerError`)."""
        if self.runs != {*judged.feeding}:
            other = sorted(self.runs ^ {*judged.feeding})[0]
            did = "fed it and is not here" if other in self.runs else "is here and did not feed it"
            message = f"the pool cannot be made again: run `{other}` {did}"
            raise PoolerError(message, hint="--repool needs all runs that contribute, as they did")
        topics = judged_topics(
            judged.ranked, judged.qrels, level=judged.level, depth=self.depth, feeding=self.runs
        )
        feeding = np.array([tag in self.runs for tag in rankings.tags])
        plan = PoolPlan(self, rankings, topics, feeding=feeding, advance=advance)
        whole = plan(np.ones(len(rankings.tags), np.bool_))
        for topic, pool in zip(rankings.topics, whole, strict=True):
            there, was = int(np.count_nonzero(pool)), self.sizes.get(topic, 0)
            if there != was:
                message = (
                    f"the pool cannot be made again: topic `{topic}` has {there:,} documents, and had {was:,}"
                )
                raise PoolerError(message, hint="runs have changed since the pool was made")
        return plan


def recipe_of(manifest: Mapping[str, Any], *, order: str) -> Recipe | str:
    """Read how a pool was made from its manifest; text says why it cannot be made again without a run."""
    strategy: AnyStrategy | None = None
    if manifest.get("tool") == "pooler":
        strategy = find_strategy(manifest["strategy"])
    why = None
    if strategy is None:
        why = "it was not made here"
    elif not isinstance(strategy, FixedStrategy):
        why = f"what `{strategy.name}` draws next depends on judgements or on chance"
    elif strategy.uses_scores:
        why = f"`{strategy.name}` looks at scores, which are not read here"
    elif "without" in manifest:
        why = "it left out what another pool had"
    elif manifest["order"] != order:
        why = f"its runs were in order {manifest['order']} (--order {manifest['order']})"
    if why is not None or not isinstance(strategy, FixedStrategy):
        return why or ""
    parameters = dict(manifest["parameters"])
    depth = parameters.pop("depth")
    return Recipe(
        strategy=strategy,
        parameters=strategy.complete(parameters),
        depth=depth,
        budget=manifest.get("budget"),
        runs=frozenset(run["tag"] for run in manifest["runs"] if run["contributes"]),
        sizes=manifest["sizes"],
    )


class PoolPlan:
    """From which runs there are to which documents are pooled.

    A plan of `store.analysis.pools.contributions`.

    `topics`: the first documents of the runs that feed the pool, as in `rankings`. `advance` is called with 1
    for each pool that was made.
    """

    def __init__(
        self,
        recipe: Recipe,
        rankings: JudgedRankings,
        topics: list[JudgedTopic],
        *,
        feeding: NDArray[np.bool_],
        advance: Callable[[int], None] | None = None,
    ) -> None:
        self._recipe = recipe
        self._advance = advance
        # Rows of a topic's rankings are the feeding runs by tag, without those that lack the topic.
        by_tag = sorted(np.flatnonzero(feeding).tolist(), key=rankings.tags.__getitem__)
        self._rows = [
            np.array([row for row in by_tag if rankings.lengths[row, place]], np.int64)
            for place in range(len(topics))
        ]
        self._topics = [topic.rankings for topic in topics]
        self._sizes = [one.size for one in rankings.document_states]
        self._codes = []
        for place, (one, rows) in enumerate(zip(self._topics, self._rows, strict=True)):
            codes = np.zeros(one.n_documents, np.int64)
            # The same ranks hold the same documents, by number here and by code there.
            is_there = one.documents != NO_DOCUMENT
            theirs = rankings.documents[rows, place, : one.depth]
            codes[one.documents[is_there]] = theirs[is_there]
            self._codes.append(codes)

    def __call__(self, kept: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """Return the documents that are pooled from the runs that are kept, by code."""
        pools = []
        for one, rows, codes, size in zip(self._topics, self._rows, self._codes, self._sizes, strict=True):
            of_topic = np.zeros(size, np.bool_)
            documents = one.documents[kept[rows]]
            present = np.unique(documents[documents != NO_DOCUMENT])
            if present.size:
                of_topic[codes[present[self._chosen(one, documents, present)]]] = True
            pools.append(of_topic)
        if self._advance is not None:
            self._advance(1)
        return pools

    def _chosen(
        self, topic: TopicRankings, documents: NDArray[np.int32], present: NDArray[np.int32]
    ) -> NDArray[np.int64]:
        """Return places in `present` of the documents that are pooled."""
        width = int((documents != NO_DOCUMENT).sum(axis=1).max())
        numbers = np.searchsorted(present, documents[:, :width]).astype(np.int32)
        numbers[documents[:, :width] == NO_DOCUMENT] = NO_DOCUMENT
        again = replace(topic, documents=numbers, n_documents=int(present.size))
        values = self._recipe.strategy.values(again, **self._recipe.parameters)
        return descending(values)[: self._recipe.budget]


_HINT = "without --repool, what only this run brought within the depth is removed"


def check_pools(source: Source, *, repool: bool, depth: int | None) -> Recipe | None:
    """Say where pools of the collection are no depth pools; with `repool`, how the pool can be made again."""
    if source.is_of_files:
        return None
    with opened_collection(source.collection) as opened:
        pools = [pool for pool in opened.pools.all() if not pool.withdrawn]
    others = [f"pool `{pool.name}` {made}" for pool in pools if (made := made_otherwise(pool.manifest))]
    if not others:
        return None
    what = "; ".join(others)
    if repool:
        recipe: Recipe | str = "there are other pools too"
        if len(pools) == 1:
            recipe = recipe_of(pools[0].manifest, order=source.order)
        if isinstance(recipe, Recipe) and depth not in (None, recipe.depth):
            recipe = f"its depth is {recipe.depth:,}, not {depth:,}"
        if isinstance(recipe, str):
            message = f"{what}; it cannot be made again without a run: {recipe}"
            raise PoolerError(message, hint=_HINT)
        return recipe
    if depth is None:
        warn(f"{what}: what follows describes a depth pool of the same runs; --depth N chooses its depth")
    if any(is_sampled(pool.manifest) for pool in pools):
        say("`pooler estimate` scores runs from a sample of a pool")
    return None


def made_otherwise(manifest: Mapping[str, Any]) -> str | None:
    """Say how a pool was made; ``None`` = by depth alone."""
    strategy = manifest.get("strategy")
    budget = manifest.get("budget")
    if strategy == "depth" and budget is None:
        return None
    by = f"was made by `{strategy}`" if strategy else "was not made here"
    return by if budget is None else f"{by} with {budget:,} documents per topic"


def is_sampled(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a pool is a sample."""
    name = manifest.get("strategy")
    return name in STRATEGIES and isinstance(STRATEGIES[name], SamplingStrategy)
