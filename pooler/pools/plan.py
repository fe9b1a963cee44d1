"""A plan carried out: pool and manifest.

The manifest says all that is needed to build the same pool again. It holds no times and no folders, so the
same input gives the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pooler.pools.contents import PoolStatistics, TopicContents, topic_contents
from pooler.pools.runs import RunSet, TopicRuns
from pooler.strategies import find_strategy
from pooler.strategies.kinds import (
    AdaptiveStrategy,
    AnyStrategy,
    FixedStrategy,
    ParameterValue,
    SamplingStrategy,
)
from pooler.strategies.rankings import descending
from store.errors import ArgumentError
from store.formats.pairs import classes_facts
from store.records import Pool, PoolEntry


@dataclass(frozen=True, slots=True, eq=False)
class TopicPool:
    """The documents of one topic: those to judge in display order, then those not sampled."""

    topic: str
    docnos: list[str]
    priorities: list[float]
    n_to_judge: int
    strata: list[int] | None = None
    """From 1; ``None`` = the strategy does not sample."""
    inclusion: list[float] | None = None
    n_left_out: int = 0
    """Documents that would have been chosen, but that a near-duplicate stands for."""

    @property
    def to_judge(self) -> list[str]:
        """The documents to judge, in display order."""
        return self.docnos[: self.n_to_judge]

    def entries(self) -> list[PoolEntry]:
        """Return the documents as entries of a pool."""
        return [
            PoolEntry(
                self.topic,
                docno,
                position,
                self.priorities[position],
                None if self.strata is None else self.strata[position],
                None if self.inclusion is None else self.inclusion[position],
                position < self.n_to_judge,
            )
            for position, docno in enumerate(self.docnos)
        ]


DEPTH = 100
SEED_HINT = "`--seed 1`: the same seed gives the same again"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How documents are chosen: what makes a pool, together with the runs."""

    strategy: str = "depth"
    """A name of `pooler.strategies.STRATEGIES`, or ``FILE.py:function``."""
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    """The strategy's own; those left out take their defaults."""
    budget: int | None = None
    """Documents to judge for each topic, at least 1; a topic that has fewer gives all it has."""
    seed: int | None = None
    """Not negative; needed by random strategies."""
    level: int | None = None
    """Least grade that rewards an adaptive strategy; needed by those alone."""
    name: str = "pool"
    round: str = "0"
    """Iteration label that judgements of this pool carry into qrels."""


@dataclass(frozen=True, slots=True)
class TopicChoice:
    """How the documents of one topic are chosen, independently of the others: a task of `RunSet.each`."""

    plan: Plan
    strategy: AnyStrategy
    parameters: Mapping[str, ParameterValue]
    classes: Mapping[str, str] = field(default_factory=dict)
    """By docno the class of near-duplicates of which one document is chosen: the first by priority."""

    def __call__(self, of_topic: TopicRuns, known: AbstractSet[str]) -> tuple[TopicPool, TopicContents]:
        """Choose documents that no other pool holds, and count what was chosen."""
        pooled = self.choose(of_topic, known)
        n_listed, budget = len(pooled.docnos), self.plan.budget
        return pooled, topic_contents(of_topic, pooled.to_judge, n_listed=n_listed, budget=budget)

    def choose(self, of_topic: TopicRuns, known: AbstractSet[str]) -> TopicPool:
        """Choose the documents."""
        rankings, docnos, strategy = of_topic.rankings, of_topic.docnos, self.strategy
        if isinstance(strategy, SamplingStrategy):
            seed = self.plan.seed
            sample = strategy.draw(rankings, budget=self.plan.budget, seed=seed, **self.parameters)
            values = sample.values
            ordered = descending(values)
            chosen = _not_known(of_topic, ordered[sample.sampled[ordered]], known)
            rest = np.flatnonzero(~sample.sampled & (sample.strata > 0))
            shown, n_left_out = np.sort(chosen), 0  # by docno
            listed = np.concatenate((shown, _not_known(of_topic, rest, known)))
            strata = sample.strata[listed].tolist()
            inclusion = sample.inclusion[listed].tolist()
        elif isinstance(strategy, FixedStrategy):
            values = strategy.values(rankings, **self.parameters)
            chosen, n_left_out = self._choosable(of_topic, descending(values), known)
            listed = shown = np.sort(chosen)
            strata = inclusion = None
        else:
            raise ArgumentError("strategy", "must be one that chooses at once", strategy.name)
        return TopicPool(
            rankings.topic,
            [docnos[number] for number in listed.tolist()],
            values[listed].tolist(),
            len(shown),
            strata,
            inclusion,
            n_left_out,
        )

    def _choosable(
        self, of_topic: TopicRuns, by_priority: NDArray[np.int64], known: AbstractSet[str]
    ) -> tuple[NDArray[np.int64], int]:
        """Leave out what another pool holds, and count and leave out what a near-duplicate stands for."""
        docnos, classes, budget = of_topic.docnos, self.classes, self.plan.budget
        if not classes:
            return _not_known(of_topic, by_priority, known)[:budget], 0
        stood_for = {classes[docno] for docno in known if docno in classes}
        chosen: list[int] = []
        n_left_out = 0
        for number in by_priority.tolist():
            docno = docnos[number]
            if len(chosen) == budget:
                break
            if docno in known:
                continue
            if docno in classes:
                if classes[docno] in stood_for:
                    n_left_out += 1
                    continue
                stood_for.add(classes[docno])
            chosen.append(number)
        return np.array(chosen, np.int64), n_left_out


def _not_known(of_topic: TopicRuns, numbers: NDArray[np.int64], known: AbstractSet[str]) -> NDArray[np.int64]:
    if not known:
        return numbers
    docnos = of_topic.docnos
    return np.array([number for number in numbers.tolist() if docnos[number] not in known], np.int64)


class PoolBuild:
    """A pool while it is built, topic by topic, the same for every order of the runs.

    Nothing of a topic is kept but counts, so a pool of any size can be written as it is built. The pairs of
    `known` are left out; `known_from` is what the manifest says of them beside their number and hash. Of the
    documents of one of `classes` only the first is chosen.
    """

    def __init__(
        self,
        runs: RunSet,
        plan: Plan,
        *,
        version: str,
        known: Collection[tuple[str, str]] | None = None,
        known_from: Mapping[str, Any] | None = None,
        classes: Mapping[str, str] | None = None,
    ) -> None:
        self.runs = runs
        self.plan = plan
        self.strategy: AnyStrategy = find_strategy(plan.strategy)
        self.parameters = self.strategy.complete(plan.parameters)
        self._version = version
        self._known = known
        self._known_from = known_from or {}
        self._classes = classes
        self._n_left_out = 0
        _check(plan, self.strategy, self.parameters)
        if isinstance(self.strategy, SamplingStrategy):
            _check_sample(self.strategy, self.parameters, runs, leaves_out=(known, classes) != (None, None))
        self.statistics = PoolStatistics(runs)
        """What the pool is made of, as far as it is built."""
        self._drawn_at_most: dict[str, int] = {}

    @property
    def is_adaptive(self) -> bool:
        """Whether documents are drawn while they are judged, so that none are listed now."""
        return isinstance(self.strategy, AdaptiveStrategy)

    def again(self) -> PoolBuild:
        """Return the same with nothing built yet."""
        fresh = copy(self)
        fresh.statistics, fresh._n_left_out, fresh._drawn_at_most = PoolStatistics(self.runs), 0, {}
        return fresh

    def topics(self) -> Iterator[TopicPool]:
        """Yield the documents of every topic, topics in natural order."""
        choice = TopicChoice(self.plan, self.strategy, self.parameters, self._classes or {})
        known: dict[str, set[str]] = {topic: set() for topic in self.runs.topics}
        for topic, docno in self._known or ():
            known.setdefault(topic, set()).add(docno)
        for pooled, counts in self.runs.for_each_topic(choice, known, scores=self.strategy.uses_scores):
            self.statistics.add(counts)
            self._n_left_out += pooled.n_left_out
            yield pooled

    def lines(self) -> Iterator[str]:
        """Yield the lines `topic docno` of what is to be judged, without line ends."""
        for pooled in self.topics():
            for docno in pooled.to_judge:
                yield f"{pooled.topic} {docno}"

    def manifest(self) -> dict[str, Any]:
        """Return the manifest, complete once every topic is built."""
        plan, sizes = self.plan, self.statistics.sizes
        manifest: dict[str, Any] = {
            "tool": "pooler",
            "version": self._version,
            "name": plan.name,
            "round": plan.round,
            "strategy": self.strategy.name,
            "parameters": {"depth": self.runs.depth, **self.parameters},
            "order": self.runs.order,
            "out_order": "drawn" if self.is_adaptive else "docno",
            "seed": plan.seed,
            "runs": [
                {
                    "tag": run.tag,
                    "group": run.group,
                    "contributes": run.contributes,
                    "file": run.file,
                    "sha256": run.sha256,
                    "topics": run.n_topics,
                    "documents": run.n_documents,
                }
                for run in self.runs.runs
            ],
            "topics": len(sizes),
            "pairs": sum(sizes.values()),
            "sizes": dict(sizes),
        }
        optional = {
            "budget": plan.budget,
            "level": plan.level if self.is_adaptive else None,
            "strategy_sha256": self.strategy.sha256 if isinstance(self.strategy, FixedStrategy) else None,
            "without": _manifest_pairs(self._known, self._known_from),
            "one_of": None
            if self._classes is None
            else {**classes_facts(self._classes), "left_out": self._n_left_out},
        }
        manifest |= {name: value for name, value in optional.items() if value is not None}
        return manifest

    def entries(self) -> Iterator[list[PoolEntry]]:
        """Yield the entries of one topic after another."""
        if not isinstance(self.strategy, AdaptiveStrategy):
            for pooled in self.topics():
                yield pooled.entries()
            return
        for topic in self.runs.topics:
            of_topic = self.runs.of_topic(topic)
            self._drawn_at_most[topic] = self._drawable(of_topic)
            self.statistics.sizes[topic] = 0
            yield [
                PoolEntry(topic, docno, place, sampled=False) for place, docno in enumerate(of_topic.docnos)
            ]

    def pool(self, entries: Iterable[PoolEntry] = ()) -> Pool:
        """Return the pool with these entries, complete once every topic is built."""
        tags = tuple(run.tag for run in self.runs.feeding)
        name, label = self.plan.name, self.plan.round
        return Pool([*entries], self.manifest(), name, label, tags, dict(self._drawn_at_most))

    def whole(self) -> Pool:
        """Build every topic and return the pool."""
        return self.pool([entry for of_topic in self.entries() for entry in of_topic])

    def _drawable(self, of_topic: TopicRuns) -> int:
        rankings = of_topic.rankings
        budget = self.plan.budget
        if budget is None:
            return rankings.n_documents
        strategy = self.strategy
        if isinstance(strategy, AdaptiveStrategy) and strategy.least_budget is not None:
            least = strategy.least_budget(rankings, **self.parameters)
            if budget < least:
                requirement = f"must be >= {least} for `{strategy.name}` in topic `{rankings.topic}`"
                raise ArgumentError("budget", requirement, budget)
        return min(budget, rankings.n_documents)


def pool_lines(pool: Pool) -> Iterator[str]:
    """Yield the lines `topic docno` of what a pool has to judge, without line ends."""
    for entry in pool.entries:
        if entry.sampled:
            yield f"{entry.topic} {entry.docno}"


def _check(plan: Plan, strategy: AnyStrategy, parameters: Mapping[str, ParameterValue]) -> None:
    if isinstance(strategy, SamplingStrategy) and strategy.needs_budget and plan.budget is None:
        hint = "--budget N chooses N documents a topic"
        raise ArgumentError("budget", f"is needed by `{strategy.name}`", None, hint=hint)
    reason = None
    if isinstance(strategy, SamplingStrategy):
        reason = f"`{strategy.name}` draws at random"
    elif isinstance(strategy, AdaptiveStrategy) and strategy.needs_seed_for(parameters):
        reason = f"`{strategy.name}` chooses at random"
    if plan.seed is None and reason:
        raise ArgumentError("seed", f"must be an integer >= 0, since {reason}", None, hint=SEED_HINT)


def _check_sample(
    strategy: SamplingStrategy, parameters: Mapping[str, ParameterValue], runs: RunSet, *, leaves_out: bool
) -> None:
    if leaves_out:
        requirement = "must not leave out documents: their probabilities would no longer hold"
        raise ArgumentError("strategy", requirement, strategy.name)
    if strategy.least_depth is not None:
        least = strategy.least_depth(**parameters)
        if runs.depth < least:
            requirement = f"must be >= {least} for these parameters of `{strategy.name}`"
            raise ArgumentError("depth", requirement, runs.depth)


def _manifest_pairs(
    pairs: Collection[tuple[str, str]] | None, others: Mapping[str, Any]
) -> dict[str, Any] | None:
    if pairs is None:
        return None
    digest = hashlib.sha256()
    for topic, docno in sorted(pairs):
        digest.update(f"{topic} {docno}\n".encode())
    return {"pairs": len(pairs), "sha256": digest.hexdigest(), **others}
