"""Pools before and after, two compared, the judgements that the change asks for.

Judgements stay when pools change. A judged document that is in no pool any more is counted
apart, as judged outside every pool; one that comes into a pool is judged there from the start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Set
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from operator import add
from typing import TYPE_CHECKING

from store.records import State
from store.text import natural_key

if TYPE_CHECKING:
    from store.judging.states import IfPooled, PairState

Pair = tuple[str, str]


class PooledWhen(StrEnum):
    """What happens to a document that is pooled before or after the change."""

    NEW = "new"
    """Comes into the pools; it was in none."""
    LEAVING = "leaving"
    """Is left without a pool."""
    STAYING = "staying"
    """Was in a pool and is in one afterwards, be it another."""


@dataclass(frozen=True, slots=True)
class StatesInPool:
    """Documents counted by their state with all judges together."""

    judged: int = 0
    """Graded by somebody."""
    cannot: int = 0
    """Graded by no judge, and found impossible to judge by some judge."""
    skipped: int = 0
    """Decided by no judge, and skipped by some judge."""
    unjudged: int = 0

    @property
    def documents(self) -> int:
        """All of them."""
        return sum(astuple(self))

    def __add__(self, other: StatesInPool) -> StatesInPool:
        return StatesInPool(*map(add, astuple(self), astuple(other)))


@dataclass(frozen=True, slots=True)
class PoolChange:
    """A change of the pools, counted."""

    by_topic: Mapping[str, Mapping[PooledWhen, StatesInPool]]
    """Topics in natural order, those with a pooled document before or after; every part."""
    outside_before: int
    """Judged by somebody, and in no pool."""
    outside_after: int
    new: list[Pair] = field(default_factory=list)
    """In the order in which they were added."""
    leaving: list[Pair] = field(default_factory=list)

    def total(self, part: PooledWhen) -> StatesInPool:
        """Add up a part over all topics."""
        return sum((parts[part] for parts in self.by_topic.values()), StatesInPool())


class ChangeCount:
    """A change of the pools while it is made, topic by topic.

    `now`: how documents stood; what is not named is neither pooled nor looked at. `leaving`: by name of a
    pool, the pairs that leave it; ``None`` = all, the pool is withdrawn.
    """

    def __init__(
        self, now: Mapping[Pair, PairState], leaving: Mapping[str, Container[Pair] | None] | None = None
    ) -> None:
        self._now = now
        self._leaving = {pair for pair, one in now.items() if _leaves(pair, one, leaving or {})}
        self._new: dict[Pair, None] = {}

    def add(self, pairs: Iterable[Pair]) -> None:
        """Put documents into a pool; those that have been added already count once."""
        for pair in pairs:
            one = self._now.get(pair)
            if one is None or not one.pools:
                self._new[pair] = None
            else:
                self._leaving.discard(pair)

    def finish(self) -> PoolChange:
        """Return the counts so far."""
        counts: dict[str, Counter[tuple[PooledWhen, State]]] = {}
        outside: Counter[str] = Counter()
        for pair, one in self._now.items():
            if one.pools:
                part = PooledWhen.LEAVING if pair in self._leaving else PooledWhen.STAYING
                counts.setdefault(pair[0], Counter())[part, one.state] += 1
            if one.state is State.JUDGED:
                outside["before"] += not one.pools
                is_pooled = pair in self._new if not one.pools else pair not in self._leaving
                outside["after"] += not is_pooled
        for pair in self._new:
            known = self._now.get(pair)
            state = State.UNJUDGED if known is None else known.state
            counts.setdefault(pair[0], Counter())[PooledWhen.NEW, state] += 1
        by_topic = {
            topic: {
                part: StatesInPool(**{state.value: counts[topic][part, state] for state in State})
                for part in PooledWhen
            }
            for topic in sorted(counts, key=natural_key)
        }
        return PoolChange(by_topic, outside["before"], outside["after"], [*self._new], [*self._leaving])


def _leaves(pair: Pair, one: PairState, leaving: Mapping[str, Container[Pair] | None]) -> bool:
    if not one.pools:
        return False
    return all(name in leaving and ((gone := leaving[name]) is None or pair in gone) for name in one.pools)


class PoolSide(StrEnum):
    """Which of two pools has a document."""

    ONLY_A = "only in A"
    ONLY_B = "only in B"
    BOTH = "in both"


class CollectionState(StrEnum):
    """How a document stands in the whole collection, all judges together."""

    JUDGED = "judged"
    """Pooled somewhere, and graded by somebody."""
    CANNOT = "cannot"
    SKIPPED = "skipped"
    UNJUDGED = "unjudged"
    """Pooled somewhere, and none of the others."""
    OUTSIDE = "outside"
    """Graded by somebody, and in no pool that is in use."""
    NOT_POOLED = "not_pooled"
    """In no pool that is in use, and graded by no judge."""


PoolDiff = Mapping[PoolSide, list[Pair]]
"""The documents of two pools by who has them; topics in natural order, then by docno."""


def by_topic(found: PoolDiff) -> dict[str, dict[PoolSide, list[Pair]]]:
    """Return the same topic by topic, topics in natural order."""
    topics = sorted({pair[0] for pairs in found.values() for pair in pairs}, key=natural_key)
    parts: dict[str, dict[PoolSide, list[Pair]]] = {
        topic: {side: [] for side in PoolSide} for topic in topics
    }
    for side, pairs in found.items():
        for pair in pairs:
            parts[pair[0]][side].append(pair)
    return parts


@dataclass(frozen=True, slots=True)
class Bringer:
    """What a run brought of several documents."""

    tag: str
    documents: int
    alone: int


def pool_diff(first: Set[Pair], second: Set[Pair]) -> PoolDiff:
    """Compare two pools."""
    parts = {PoolSide.ONLY_A: first - second, PoolSide.ONLY_B: second - first, PoolSide.BOTH: first & second}
    return {
        side: sorted(part, key=lambda pair: (natural_key(pair[0]), pair[1])) for side, part in parts.items()
    }


def place_of(known: PairState | None) -> CollectionState:
    """Return how a document stands; ``None`` = nothing is known of it."""
    if known is None:
        return CollectionState.NOT_POOLED
    if known.pools:
        return CollectionState(known.state.value)
    return CollectionState.OUTSIDE if known.state is State.JUDGED else CollectionState.NOT_POOLED


def count_places(pairs: Iterable[Pair], known: Mapping[Pair, PairState]) -> dict[CollectionState, int]:
    """Count documents by how they stand; every place has its key."""
    counts = Counter(place_of(known.get(pair)) for pair in pairs)
    return {place: counts[place] for place in CollectionState}


def count_bringers(brought: Mapping[Pair, list[tuple[int, str]]]) -> list[Bringer]:
    """Count what every run brought, most first, then by tag."""
    documents: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for bringers in brought.values():
        documents.update(tag for _, tag in bringers)
        if len(bringers) == 1:
            alone[bringers[0][1]] += 1
    tags = sorted(documents, key=lambda tag: (-documents[tag], tag))
    return [Bringer(tag, documents[tag], alone[tag]) for tag in tags]


def n_judgements(if_pooled: IfPooled, *, drawable: int = 0) -> int:
    """Count the judgements that documents ask for, as they are assigned, or as every judge sees all."""
    plan, judges, documents = if_pooled.plan, if_pooled.judges, if_pooled.documents
    if plan is None:
        n_decided = sum(len(one.decided.intersection(judges)) for one in documents)
        return (drawable + len(documents)) * len(judges) - n_decided
    new = [one for one in documents if not one.has_place]
    waiting = sum(len(one.holders - one.decided) + one.n_open for one in documents if one.has_place)
    least, overlap = plan.get("per_document", 1), plan.get("overlap") or 0
    more = (plan.get("overlap_judges") or least + 1) - least
    named = plan.get("judges")
    n_judges = len(named) if isinstance(named, list) else len(judges)
    wanted = 0
    for n in Counter(one.topic for one in new).values():
        # Some of each topic go to all judges, and of the others a share of the topic, halves up, to more.
        n_all = min(plan.get("calibration") or 0, n)
        n_more = min(int(overlap * n + 0.5), n - n_all)
        wanted += n * least + n_all * max(0, n_judges - least) + n_more * more
    return waiting + max(0, wanted - sum(len(one.decided) for one in new))
