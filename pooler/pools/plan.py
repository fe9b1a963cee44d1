"""A plan carried out: pool and manifest.

The manifest says all that is needed to build the same pool again: the hash of every run, the
order within runs, strategy, parameters, budget, display order, seed and version. It holds no times
and no folders, so the same input gives the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pooler.pools.classes import classes_facts
from pooler.pools.contents import PoolStatistics, StatisticsCount, TopicContents
from pooler.pools.runs import RunSet, TopicRuns
from pooler.strategies import find_strategy
from pooler.strategies.kinds import (
    MODEL,
    AdaptiveStrategy,
    AnyStrategy,
    FixedStrategy,
    ParameterValue,
    Sample,
    SamplingStrategy,
    uses_model,
)
from pooler.strategies.rankings import TopicRankings, descending, raw_numbers
from store.analysis.corrected.drawn import NO_GRADE
from store.errors import ArgumentError, PoolerError
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
    """A name of `pooler.strategies.STRATEGIES`."""
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


ModelGrades = Mapping[str, Mapping[str, int]]
"""A model's grades by topic and docno; one below 0 counts as 0."""


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
    sample: Sample | None = None
    """Of topics that are drawn together."""


@dataclass(frozen=True, slots=True)
class TopicChoice:
    """How the documents of one topic are chosen, whatever becomes of the others: a task of `RunSet.each`."""

    plan: Plan
    parameters: Mapping[str, ParameterValue]
    """All of them."""
    classes: Mapping[str, str] = field(default_factory=dict)
    """By docno the class of near-duplicates of which one document is chosen: the first by priority."""

    def __call__(self, of_topic: TopicRuns, given: TopicGiven) -> tuple[TopicPool, TopicContents]:
        """Choose, and count what was chosen."""
        pooled = self.choose(of_topic, given)
        to_judge = set(pooled.to_judge)
        chosen = np.array([docno in to_judge for docno in of_topic.docnos], np.bool_)
        return pooled, TopicContents.of(of_topic, chosen, n_listed=len(pooled.docnos), budget=given.budget)

    def choose(self, of_topic: TopicRuns, given: TopicGiven) -> TopicPool:
        """Choose the documents."""
        rankings, docnos = of_topic.rankings, of_topic.docnos
        strategy = find_strategy(self.plan.strategy)
        if isinstance(strategy, SamplingStrategy):
            if strategy.draw is not None:
                seed = self.plan.seed
                sample = strategy.draw(rankings, budget=given.budget, seed=seed, **self.parameters)
            elif given.sample is not None:
                sample = given.sample
            else:
                raise ArgumentError("sample", "must have been drawn from all topics together", None)
            values = sample.values
            ordered = descending(values)
            rest = np.flatnonzero(~sample.sampled & (sample.strata > 0))
            shown, n_left_out = self._shown(of_topic, ordered[sample.sampled[ordered]]), 0
            listed = np.concatenate((shown, rest))
            strata = sample.strata[listed].tolist()
            inclusion = sample.inclusion[listed].tolist()
        elif isinstance(strategy, FixedStrategy):
            values = strategy.values(rankings, **self.parameters)
            chosen, n_left_out = self._choosable(of_topic, descending(values), given.known, given.budget)
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
            n_left_out,
        )

    def count_choosable(self, of_topic: TopicRuns, given: TopicGiven) -> int:
        """Count the documents of a topic that no other pool holds, one a class."""
        numbers = np.arange(of_topic.rankings.n_documents)
        return self._choosable(of_topic, numbers, given.known)[0].size

    def _choosable(
        self,
        of_topic: TopicRuns,
        by_priority: NDArray[np.int64],
        known: AbstractSet[str],
        budget: int | None = None,
    ) -> tuple[NDArray[np.int64], int]:
        """Leave out what another pool holds, and count and leave out what a near-duplicate stands for.

        That is one chosen before, or one that another pool holds.
        """
        if not (known or self.classes):
            return by_priority[:budget], 0
        docnos, classes = of_topic.docnos, self.classes
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


def _with_grades(
    of_topic: TopicRuns, of_model: Mapping[str, int]
) -> tuple[TopicRankings, NDArray[np.int64], bytes]:
    """Return a topic's rankings, a model's grades of their documents, and these as lines."""
    topic, docnos = of_topic.rankings.topic, of_topic.docnos
    grades = np.full(len(docnos), NO_GRADE, np.int64)
    lines = []
    for number, docno in enumerate(docnos):
        if (grade := of_model.get(docno)) is not None:
            grades[number] = max(grade, 0)
            lines.append(f"{topic} {docno} {grade}\n")
    return of_topic.rankings, grades, "".join(lines).encode()


class PoolBuild:
    """A pool while it is built, topic by topic, the same for every order of the runs.

    Nothing of a topic is kept but counts, so a pool of any size can be written as it is built; of topics that
    are drawn together, their samples. The pairs of `known` are left out; `known_from` is what the manifest
    says of them beside their number and hash. Of the documents of one of `classes` only the first is chosen.
    `grades` are a model's, where the strategy draws by them.
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
        grades: ModelGrades | None = None,
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
        self._grades = grades
        _check(plan, self.strategy, self.parameters)
        if isinstance(self.strategy, SamplingStrategy):
            _check_sample(self.strategy, self.parameters, runs, leaves_out=(known, classes) != (None, None))
        self._count = StatisticsCount(runs)
        self._drawn_at_most: dict[str, int] = {}
        self._budgets: dict[str, int] | None = None
        self._samples: dict[str, Sample] = {}
        self._model: dict[str, Any] | None = None
        if isinstance(self.strategy, SamplingStrategy) and self.strategy.draw_all is not None:
            self._draw_all(self.strategy.draw_all)
        elif plan.total_budget is not None:
            sizes = [*runs.each(self._choice().count_choosable, self._given())]
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
            self.runs,
            self.plan,
            version=self._version,
            known=self._known,
            known_from=self._known_from,
            classes=self._classes,
            grades=self._grades,
        )

    def topics(self) -> Iterator[TopicPool]:
        """Yield the documents of every topic, topics in natural order."""
        scores = self.strategy.uses_scores
        for pooled, counts in self.runs.each(self._choice(), self._given(), scores=scores):
            self._count.add(counts)
            self._n_left_out += pooled.n_left_out
            yield pooled

    def _choice(self) -> TopicChoice:
        return TopicChoice(self.plan, self.parameters, self._classes or {})

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
            "strategy": plan.strategy,
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
            "without": _manifest_pairs(self._known, self._known_from),
            "one_of": None
            if self._classes is None
            else {**classes_facts(self._classes), "left_out": self._n_left_out},
            "model_grades": self._model,
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
            topic: TopicGiven(self._budget(topic), known.get(topic, frozenset()), self._samples.get(topic))
            for topic in self.runs.topics
        }

    def _draw_all(self, draw: Callable[..., list[Sample]]) -> None:
        """Draw all topics together, by the model's grades; note which these were."""
        name = self.parameters[MODEL]
        if self._grades is None:
            raise ArgumentError("grades", f"must be those of `{name}`", None)
        known = {topic: self._grades.get(topic, {}) for topic in self.runs.topics}
        digest, n_graded = hashlib.sha256(), 0
        rankings, found = [], []
        for of_topic, grades, lines in self.runs.each(_with_grades, known):
            digest.update(lines)
            n_graded += lines.count(b"\n")
            rankings.append(of_topic)
            found.append(grades)
        if not n_graded:
            message = f"`{name}` graded none of the documents of the runs"
            raise PoolerError(message, hint=f"`{self.strategy.name}` draws by a model's grades")
        others = {one: value for one, value in self.parameters.items() if one != MODEL}
        budget, seed = self.plan.total_budget, self.plan.seed
        samples = draw(rankings, grades=found, budget=budget, seed=seed, **others)
        self._samples = dict(zip(self.runs.topics, samples, strict=True))
        n_without = sum(one.size for one in found) - n_graded
        self._model = {"pairs": n_graded, "without_grade": n_without, "sha256": digest.hexdigest()}


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
    if uses_model(strategy) and plan.budget is not None:
        requirement = f"must not be of each topic: `{strategy.name}` draws all topics together"
        raise ArgumentError("budget", requirement, plan.budget, hint="--total-budget N over all topics")
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
    strategy: SamplingStrategy, parameters: Mapping[str, ParameterValue], runs: RunSet, *, leaves_out: bool
) -> None:
    """Raise `ArgumentError` where a sample would not be what its probabilities say."""
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
    """Say which pairs were left out: how many, the hash of their sorted lines, and others."""
    if pairs is None:
        return None
    digest = hashlib.sha256()
    for topic, docno in sorted(pairs):
        digest.update(f"{topic} {docno}\n".encode())
    return {"pairs": len(pairs), "sha256": digest.hexdigest(), **others}
