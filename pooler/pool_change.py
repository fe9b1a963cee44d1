"""What a change of the pools does to documents: which come, which go, and what is known of them.

Judgements stay whatever happens to pools. A judged document that is in no pool any more is counted
apart, as judged outside every pool; one that comes into a pool is judged there from the start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from store.natural_order import natural_key
from store.records import State

if TYPE_CHECKING:
    from store.pair_standings import PairStanding

Pair = tuple[str, str]
"""Topic and docno."""


class Part(StrEnum):
    """What becomes of a document that is pooled before or after the change."""

    NEW = "new"
    """Comes into the pools; it was in none."""
    LEAVING = "leaving"
    """Is left without a pool."""
    STAYING = "staying"
    """Was in a pool and is in one afterwards, be it another."""


@dataclass(frozen=True, slots=True)
class StateCounts:
    """Documents counted by their state with all judges together."""

    judged: int = 0
    """Graded by somebody."""
    cannot: int = 0
    """Graded by nobody, and found impossible to judge by somebody."""
    skipped: int = 0
    """Decided by nobody, and skipped by somebody."""
    unjudged: int = 0

    @property
    def documents(self) -> int:
        """All of them."""
        return self.judged + self.cannot + self.skipped + self.unjudged

    def __add__(self, other: StateCounts) -> StateCounts:
        """Add up state by state."""
        return StateCounts(
            self.judged + other.judged,
            self.cannot + other.cannot,
            self.skipped + other.skipped,
            self.unjudged + other.unjudged,
        )


@dataclass(frozen=True, slots=True)
class PoolChange:
    """A change of the pools, counted."""

    by_topic: Mapping[str, Mapping[Part, StateCounts]]
    """Topics in natural order, those with a pooled document before or after; every part."""
    outside_before: int
    """Judged by somebody, and in no pool."""
    outside_after: int
    new: list[Pair] = field(default_factory=list)
    """In the order in which they were added."""
    leaving: list[Pair] = field(default_factory=list)
    """In no order."""

    def total(self, part: Part) -> StateCounts:
        """Add up a part over all topics."""
        return sum((parts[part] for parts in self.by_topic.values()), StateCounts())


class ChangeCount:
    """A change of the pools while it is made, topic by topic.

    Parameters
    ----------
    now : mapping of (str, str) to PairStanding
        How documents stand before the change (`store.pair_standings`); what is not named is
        neither pooled nor looked at.
    leaving : mapping of str to container of (str, str) or None
        By name of a pool, the pairs that leave it; ``None`` = all, the pool is withdrawn.

    Notes
    -----
    O(n) for n pairs in `now`, O(1) for every pair that is added.

    Examples
    --------
    >>> from store.pair_standings import PairStanding
    >>> pool = frozenset({"main"})
    >>> now = {
    ...     ("1", "a"): PairStanding(pool, State.JUDGED, 2),
    ...     ("1", "b"): PairStanding(pool, State.SKIPPED),
    ...     ("1", "z"): PairStanding(frozenset(), State.JUDGED, 0),
    ... }
    >>> count = ChangeCount(now, {"main": None})
    >>> count.add([("1", "b"), ("1", "c"), ("1", "z")])
    >>> change = count.finish()
    >>> change.total(Part.NEW), change.new
    (StateCounts(judged=1, cannot=0, skipped=0, unjudged=1), [('1', 'c'), ('1', 'z')])
    >>> change.total(Part.LEAVING).judged, change.total(Part.STAYING).skipped
    (1, 1)
    >>> change.outside_before, change.outside_after
    (1, 1)
    """

    def __init__(
        self,
        now: Mapping[Pair, PairStanding],
        leaving: Mapping[str, Container[Pair] | None] | None = None,
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
        counts: dict[str, Counter[tuple[Part, State]]] = {}
        outside: Counter[str] = Counter()
        for pair, one in self._now.items():
            if one.pools:
                part = Part.LEAVING if pair in self._leaving else Part.STAYING
                counts.setdefault(pair[0], Counter())[part, one.state] += 1
            if one.state is State.JUDGED:
                outside["before"] += not one.pools
                is_pooled = pair in self._new if not one.pools else pair not in self._leaving
                outside["after"] += not is_pooled
        for pair in self._new:
            known = self._now.get(pair)
            state = State.UNJUDGED if known is None else known.state
            counts.setdefault(pair[0], Counter())[Part.NEW, state] += 1
        by_topic = {
            topic: {part: _state_counts(counts[topic], part) for part in Part}
            for topic in sorted(counts, key=natural_key)
        }
        return PoolChange(
            by_topic, outside["before"], outside["after"], [*self._new], [*self._leaving]
        )


def _leaves(pair: Pair, one: PairStanding, leaving: Mapping[str, Container[Pair] | None]) -> bool:
    """Say whether a pooled document leaves every pool that has it."""
    if not one.pools:
        return False
    return all(
        name in leaving and ((gone := leaving[name]) is None or pair in gone) for name in one.pools
    )


def _state_counts(counts: Counter[tuple[Part, State]], part: Part) -> StateCounts:
    """Return the counts of one part."""
    return StateCounts(**{state.value: counts[part, state] for state in State})
