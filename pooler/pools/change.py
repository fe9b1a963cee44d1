"""Pools before and after, two compared, what the change costs.

Judgements stay when pools change. A judged document that is in no pool any more is counted
apart, as judged outside every pool; one that comes into a pool is judged there from the start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from operator import add
from typing import TYPE_CHECKING, Any

from pooler.assigning import AssignmentOptions, plan_assignment
from store.analysis.pools.pace import Forecast, forecast
from store.errors import PoolerError
from store.records import Existing, State
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


NO_JUDGES = "no-judges"
NO_PLAN = "plan-cannot-be-continued"
"""The documents cannot be assigned as they were last: judges are missing, say."""
NOT_ASSIGNED = "not-assigned"
"""Documents of adaptive pools cannot be assigned, and judges are shown what is assigned alone."""
NO_TIMES = "too-few-times"
OTHERS_TIMES = "pace-of-all-judges"


@dataclass(frozen=True, slots=True)
class JudgeShare:
    """What falls to one judge."""

    judge: str | None = None
    """``None`` = any judge, or unknown."""
    judgements: int | None = None
    """``None`` = not known, see `reason`."""
    pace: float | None = None
    seconds: float | None = None
    """Active time of all; ``None`` = not known, see `reason`."""
    reason: str | None = None
    is_at_most: bool = False
    """Whether the number is the most there can be: an adaptive pool may draw less."""


def judging_cost(
    if_pooled: IfPooled, times: Mapping[str, Sequence[int]], *, drawable: int = 0
) -> list[JudgeShare]:
    """Count the judgements that new documents ask for, and forecast their time."""
    if not if_pooled.documents and not drawable:
        return []
    if if_pooled.plan is None and not if_pooled.judges:
        return [JudgeShare(reason=NO_JUDGES)]
    if if_pooled.plan is not None and drawable:
        return [JudgeShare(reason=NOT_ASSIGNED)]
    if if_pooled.plan is None:
        counts: dict[str | None, int] = {
            judge: drawable + sum(judge not in one.decided for one in if_pooled.documents)
            for judge in if_pooled.judges
        }
    else:
        try:
            counts = _by_plan(if_pooled, if_pooled.plan)
        except PoolerError:
            return [JudgeShare(reason=NO_PLAN)]
    everybody = [one for judge in if_pooled.judges for one in times.get(judge, ())]
    return [
        _share(judge, counts[judge], times, everybody, is_at_most=bool(drawable))
        for judge in sorted(counts, key=lambda name: (name is None, name or ""))
    ]


def total_seconds(shares: Iterable[JudgeShare]) -> float | None:
    """Add up the times; ``None`` when one of them is not known."""
    seconds = [share.seconds for share in shares]
    known = [one for one in seconds if one is not None]
    return sum(known) if len(known) == len(seconds) else None


def _by_plan(if_pooled: IfPooled, plan: Mapping[str, Any]) -> dict[str | None, int]:
    known = {name: plan[name] for name in _OPTIONS if name in plan}
    # A plan that named a judge who is anonymous now has lost its seed: any other does.
    options = AssignmentOptions(
        **{"seed": 0, **known}, existing=Existing.ADD, primary=tuple(plan.get("primary", {}).items())
    )
    named = plan.get("judges")
    of_plan = set(named) if isinstance(named, list) else set()
    judges = [judge for judge in if_pooled.judges if judge in of_plan] or if_pooled.judges
    decided = {(one.topic, one.docno): one.decided for one in if_pooled.documents}
    counts: Counter[str | None] = Counter(
        place.judge
        for place in plan_assignment(if_pooled.documents, judges, options).places
        if place.judge not in decided[place.topic, place.docno]
    )
    for one in if_pooled.documents:
        if one.has_place:
            counts.update(one.holders - one.decided)
            counts[None] += one.n_open
    return {judge: n for judge, n in counts.items() if n}


def _share(
    judge: str | None,
    judgements: int,
    times: Mapping[str, Sequence[int]],
    everybody: Sequence[int],
    *,
    is_at_most: bool,
) -> JudgeShare:
    """Forecast the time of one judge, at the pace of all where there is none of their own."""
    own: Forecast | None = None if judge is None else forecast(times.get(judge, ()), judgements)
    reason = None
    if own is None or own.pace is None:
        own = forecast(everybody, judgements)
        reason = NO_TIMES if own.pace is None else OTHERS_TIMES
    return JudgeShare(judge, judgements, own.pace, own.seconds, reason, is_at_most)


_OPTIONS = ("seed", "by", "per_document", "overlap", "overlap_judges", "calibration", "lease_s")
"""Of a plan's manifest; the order before judges changes no number."""
