"""A plan carried out: pool and manifest.

The manifest says all that is needed to build the same pool again: the hash of every run, the
order within runs, strategy, parameters, budget, display order, seed and version. It holds no times
and no folders, so the same input gives the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pooler.pools.contents import PoolStatistics, StatisticsCount, TopicContents
from pooler.pools.runs import RunSet, TopicRuns
from pooler.strategies import find_strategy
from pooler.strategies.kinds import (
    AdaptiveStrategy,
    AnyStrategy,
    FixedStrategy,
    ParameterValue,
    SamplingStrategy,
)
from pooler.strategies.rankings import descending, raw_numbers
from store.errors import ArgumentError
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


def share_budget(total: int, sizes: Sequence[int]) -> list[int]:
    """Share a budget so that every topic gets the same, as far as its documents go.

    As `findTopicSizes` of Lipani et al., "Fixed-cost pooling strategies", *IEEE TKDE* 33(4), 2021, but the
    last round's surplus is not taken from the smallest shares, which can leave a topic of one document with
    none.
    """
    if not sizes:
        return []
    left = min(total, sum(sizes))
    shares = [min(size, total // len(sizes)) for size in sizes]
    left -= sum(shares)
    while left:
        for index, size in enumerate(sizes):
            if left and shares[index] < size:
                shares[index] += 1
                left -= 1
    return shares


OutOrder = Literal["docno", "priority", "random"]
OUT_ORDERS: tuple[OutOrder, ...] = get_args(OutOrder)
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
    total_budget: int | None = None
    """Documents to judge for all topics together, shared by `pooler.pools.plan.share_budget`."""
    out_order: OutOrder = "docno"
    """How a topic's documents are shown to judges: by docno ascending bytewise, by priority, or
    shuffled. An adaptive pool is shown as it is drawn."""
    seed: int | None = None
    """Not negative; needed by random strategies and by the random display order."""
    level: int | None = None
    """Least grade that rewards an adaptive strategy; needed by those alone."""
    name: str = "pool"
    round: str = "0"
    """Iteration label that judgements of this pool carry into qrels."""


@dataclass(frozen=True, slots=True)
class BuiltPool:
    """A pool, and what it is made of."""

    pool: Pool
    statistics: PoolStatistics


@dataclass(frozen=True, slots=True, eq=False)
class TopicGiven:
    """What is known of a topic beside its rankings, when its documents are chosen."""

    budget: int | None = None
    """``None`` = all documents."""
    known: AbstractSet[str] = frozenset()
    """Docnos that another pool holds."""


@dataclass(frozen=True, slots=True)
class TopicChoice:
    """How the documents of one topic are chosen, whatever becomes of the others: a task of `RunSet.each`."""

    plan: Plan
    strategy: AnyStrategy
    parameters: Mapping[str, ParameterValue]
    """All of them."""

    def __call__(self, of_topic: TopicRuns, given: TopicGiven) -> tuple[TopicPool, TopicContents]:
        """Choose, and count what was chosen."""
        pooled = self.choose(of_topic, given)
        to_judge = set(pooled.to_judge)
        chosen = np.array([docno in to_judge for docno in of_topic.docnos], np.bool_)
        return pooled, TopicContents.of(of_topic, chosen, n_listed=len(pooled.docnos), budget=given.budget)

    def choose(self, of_topic: TopicRuns, given: TopicGiven) -> TopicPool:
        """Choose the documents."""
        rankings, docnos, strategy = of_topic.rankings, of_topic.docnos, self.strategy
        if isinstance(strategy, SamplingStrategy):
            seed = self.plan.seed
            sample = strategy.draw(rankings, budget=given.budget, seed=seed, **self.parameters)
            values = sample.values
            ordered = descending(values)
            chosen = _not_known(of_topic, ordered[sample.sampled[ordered]], given.known)
            rest = np.flatnonzero(~sample.sampled & (sample.strata > 0))
            shown = self._shown(of_topic, chosen)
            listed = np.concatenate((shown, _not_known(of_topic, rest, given.known)))
            strata = sample.strata[listed].tolist()
            inclusion = sample.inclusion[listed].tolist()
        elif isinstance(strategy, FixedStrategy):
            values = strategy.values(rankings, **self.parameters)
            chosen = _not_known(of_topic, descending(values), given.known)[: given.budget]
            listed = shown = self._shown(of_topic, chosen)
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
        )

    def _shown(self, of_topic: TopicRuns, by_priority: NDArray[np.int64]) -> NDArray[np.int64]:
        """Order documents for judging."""
        if self.plan.out_order == "priority":
            return by_priority
        by_docno = np.sort(by_priority)
        if self.plan.out_order == "docno" or self.plan.seed is None:
            return by_docno
        # Sorted by random numbers: numpy's own shuffles may change between versions (NEP 19).
        numbers = raw_numbers(self.plan.seed, of_topic.rankings.topic, by_docno.size)
        return by_docno[np.argsort(numbers, kind="stable")]


def _not_known(of_topic: TopicRuns, numbers: NDArray[np.int64], known: AbstractSet[str]) -> NDArray[np.int64]:
    """Leave out the documents that another pool holds."""
    if not known:
        return numbers
    docnos = of_topic.docnos
    return np.array([number for number in numbers.tolist() if docnos[number] not in known], np.int64)


def _n_choosable(of_topic: TopicRuns, given: TopicGiven) -> int:
    """Count the documents of a topic that no other pool holds."""
    return _not_known(of_topic, np.arange(of_topic.rankings.n_documents), given.known).size


class PoolBuild:
    """A pool while it is built, topic by topic, the same for every order of the runs.

    Nothing of a topic is kept but counts, so a pool of any size can be written as it is built. The pairs of
    `known` are left out; `known_from` is what the manifest says of them beside their number and hash.
    """

    def __init__(
        self,
        runs: RunSet,
        plan: Plan,
        *,
        version: str,
        known: Collection[tuple[str, str]] | None = None,
        known_from: Mapping[str, Any] | None = None,
    ) -> None:
        self.runs = runs
        self.plan = plan
        self.strategy: AnyStrategy = find_strategy(plan.strategy)
        self.parameters = self.strategy.complete(plan.parameters)
        self._version = version
        self._known = known
        self._known_from = known_from or {}
        _check(plan, self.strategy, self.parameters)
        if isinstance(self.strategy, SamplingStrategy):
            _check_sample(self.strategy, self.parameters, runs, known)
        self._count = StatisticsCount(runs)
        self._drawn_at_most: dict[str, int] = {}
        self._budgets: dict[str, int] | None = None
        if plan.total_budget is not None:
            sizes = [*runs.each(_n_choosable, self._given())]
            shares = share_budget(plan.total_budget, sizes)
            self._budgets = dict(zip(runs.topics, shares, strict=True))
            if isinstance(self.strategy, SamplingStrategy) and not all(shares):
                requirement = f"must be >= {len(shares)}, so that every topic has a sample"
                raise ArgumentError("total_budget", requirement, plan.total_budget)

    @property
    def is_adaptive(self) -> bool:
        """Whether documents are drawn while they are judged, so that none are listed now."""
        return isinstance(self.strategy, AdaptiveStrategy)

    def again(self) -> PoolBuild:
        """Return the same with nothing built yet."""
        return PoolBuild(
            self.runs, self.plan, version=self._version, known=self._known, known_from=self._known_from
        )

    def topics(self) -> Iterator[TopicPool]:
        """Yield the documents of every topic, topics in natural order."""
        choice = TopicChoice(self.plan, self.strategy, self.parameters)
        for pooled, counts in self.runs.each(choice, self._given(), scores=self.strategy.uses_scores):
            self._count.add(counts)
            yield pooled

    def lines(self) -> Iterator[str]:
        """Yield the lines `topic docno` of what is to be judged, without line ends."""
        for pooled in self.topics():
            for docno in pooled.to_judge:
                yield f"{pooled.topic} {docno}"

    def statistics(self) -> PoolStatistics:
        """Return what the pool is made of, as far as it is built."""
        return self._count.finish()

    def manifest(self) -> dict[str, Any]:
        """Return the manifest, complete once every topic is built."""
        plan, sizes = self.plan, self._count.sizes
        manifest: dict[str, Any] = {
            "tool": "pooler",
            "version": self._version,
            "name": plan.name,
            "round": plan.round,
            "strategy": self.strategy.name,
            "parameters": {"depth": self.runs.depth, **self.parameters},
            "order": self.runs.order,
            "out_order": "drawn" if self.is_adaptive else plan.out_order,
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
            "total_budget": plan.total_budget,
            "level": plan.level if self.is_adaptive else None,
            "strategy_sha256": self.strategy.sha256 if isinstance(self.strategy, FixedStrategy) else None,
            "without": _manifest_pairs(self._known, self._known_from),
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
            self._count.sizes[topic] = 0
            yield [
                PoolEntry(topic, docno, place, sampled=False) for place, docno in enumerate(of_topic.docnos)
            ]

    def pool(self, entries: Iterable[PoolEntry] = ()) -> Pool:
        """Return the pool with these entries, complete once every topic is built."""
        tags = tuple(run.tag for run in self.runs.feeding)
        name, label = self.plan.name, self.plan.round
        return Pool([*entries], self.manifest(), name, label, tags, dict(self._drawn_at_most))

    def result(self) -> BuiltPool:
        """Build every topic and return the pool."""
        entries = [entry for of_topic in self.entries() for entry in of_topic]
        return BuiltPool(self.pool(entries), self.statistics())

    def _drawable(self, of_topic: TopicRuns) -> int:
        """Return how many documents an adaptive strategy may draw, none more than there are."""
        rankings = of_topic.rankings
        budget = self._budget(rankings.topic)
        if budget is None:
            return rankings.n_documents
        strategy = self.strategy
        if isinstance(strategy, AdaptiveStrategy) and strategy.least_budget is not None:
            least = strategy.least_budget(rankings, **self.parameters)
            if budget < least:
                requirement = f"must be >= {least} for `{strategy.name}` in topic `{rankings.topic}`"
                raise ArgumentError("budget", requirement, budget)
        return min(budget, rankings.n_documents)

    def _budget(self, topic: str) -> int | None:
        """Return the budget of a topic; ``None`` = all documents."""
        return self.plan.budget if self._budgets is None else self._budgets[topic]

    def _given(self) -> dict[str, TopicGiven]:
        """Return what is known of each topic beside its rankings, so far."""
        known: dict[str, set[str]] = {}
        for topic, docno in self._known or ():
            known.setdefault(topic, set()).add(docno)
        return {
            topic: TopicGiven(self._budget(topic), known.get(topic, frozenset()))
            for topic in self.runs.topics
        }


def pool_lines(pool: Pool) -> Iterator[str]:
    """Yield the lines `topic docno` of what a pool has to judge, without line ends."""
    for entry in pool.entries:
        if entry.sampled:
            yield f"{entry.topic} {entry.docno}"


def _check(plan: Plan, strategy: AnyStrategy, parameters: Mapping[str, ParameterValue]) -> None:
    """Raise `ArgumentError` unless the parts of a plan fit each other."""
    if plan.out_order not in OUT_ORDERS:
        raise ArgumentError("out_order", f"must be one of {', '.join(OUT_ORDERS)}", plan.out_order)
    for name, budget in (("budget", plan.budget), ("total_budget", plan.total_budget)):
        if budget is not None and budget < 1:
            raise ArgumentError(name, "must be an integer >= 1", budget)
    if plan.budget is not None and plan.total_budget is not None:
        raise ArgumentError("total_budget", "must not go with --budget", plan.total_budget)
    has_budget = plan.budget is not None or plan.total_budget is not None
    if isinstance(strategy, SamplingStrategy) and strategy.needs_budget and not has_budget:
        hint = "--budget N documents a topic, or --total-budget N over all topics"
        raise ArgumentError("budget", f"is needed by `{strategy.name}`", None, hint=hint)
    reason = None
    if isinstance(strategy, SamplingStrategy):
        reason = f"`{strategy.name}` draws at random"
    elif isinstance(strategy, AdaptiveStrategy):
        if strategy.needs_seed_for(parameters):
            reason = f"`{strategy.name}` chooses at random"
    elif plan.out_order == "random":
        reason = "the order is random"
    if (plan.seed is None and reason) or (plan.seed is not None and plan.seed < 0):
        requirement = "must be an integer >= 0" + (f", since {reason}" if reason else "")
        raise ArgumentError("seed", requirement, plan.seed, hint=SEED_HINT)


def _check_sample(
    strategy: SamplingStrategy,
    parameters: Mapping[str, ParameterValue],
    runs: RunSet,
    known: Collection[tuple[str, str]] | None,
) -> None:
    """Raise `ArgumentError` where a sample would not be what its probabilities say."""
    if known is not None:
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
    """Say which pairs were left out: how many, the hash of their sorted lines, and others."""
    if pairs is None:
        return None
    digest = hashlib.sha256()
    for topic, docno in sorted(pairs):
        digest.update(f"{topic} {docno}\n".encode())
    return {"pairs": len(pairs), "sha256": digest.hexdigest(), **others}
