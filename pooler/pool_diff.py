"""Two pools compared: what each has alone, how that stands, and which runs brought it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from pooler.topic_rankings import NO_DOCUMENT
from store.natural_order import natural_key
from store.records import State

if TYPE_CHECKING:
    from pooler.run_set import RunSet
    from store.pair_standings import PairStanding

Pair = tuple[str, str]
"""Topic and docno."""


class Side(StrEnum):
    """Which of two pools has a document."""

    ONLY_A = "only in A"
    ONLY_B = "only in B"
    BOTH = "in both"


class Place(StrEnum):
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
    """In no pool that is in use, and graded by nobody."""


@dataclass(frozen=True, slots=True)
class PoolDiff:
    """The documents of two pools by who has them; topics in natural order, then by docno."""

    pairs: Mapping[Side, list[Pair]]

    def by_topic(self) -> dict[str, dict[Side, list[Pair]]]:
        """Return the same topic by topic, topics in natural order."""
        topics = {pair[0] for pairs in self.pairs.values() for pair in pairs}
        parts: dict[str, dict[Side, list[Pair]]] = {
            topic: {side: [] for side in Side} for topic in sorted(topics, key=natural_key)
        }
        for side, pairs in self.pairs.items():
            for pair in pairs:
                parts[pair[0]][side].append(pair)
        return parts


@dataclass(frozen=True, slots=True)
class Bringer:
    """What a run brought of several documents."""

    tag: str
    documents: int
    """That it returned."""
    alone: int
    """That no other run returned."""


def pool_diff(first: Set[Pair], second: Set[Pair]) -> PoolDiff:
    """Compare two pools.

    Parameters
    ----------
    first, second : set of (str, str)
        Topic and docno of what is to be judged.

    Examples
    --------
    >>> found = pool_diff({("1", "a"), ("1", "b")}, {("1", "b"), ("10", "c"), ("9", "c")})
    >>> found.pairs[Side.ONLY_A], found.pairs[Side.ONLY_B]
    ([('1', 'a')], [('9', 'c'), ('10', 'c')])
    """
    parts = {Side.ONLY_A: first - second, Side.ONLY_B: second - first, Side.BOTH: first & second}
    return PoolDiff({side: sorted(part, key=_place) for side, part in parts.items()})


def place_of(standing: PairStanding | None) -> Place:
    """Say how a document stands; ``None`` = nothing is known of it.

    Examples
    --------
    >>> from store.pair_standings import PairStanding
    >>> place_of(PairStanding(frozenset(), State.JUDGED, 0)).value
    'outside'
    """
    if standing is None:
        return Place.NOT_POOLED
    if standing.pools:
        return Place(standing.state.value)
    return Place.OUTSIDE if standing.state is State.JUDGED else Place.NOT_POOLED


def count_places(pairs: Iterable[Pair], standings: Mapping[Pair, PairStanding]) -> dict[Place, int]:
    """Count documents by how they stand; every place has its key."""
    counts = Counter(place_of(standings.get(pair)) for pair in pairs)
    return {place: counts[place] for place in Place}


def brought_by(runs: RunSet, pairs: Collection[Pair]) -> dict[Pair, list[tuple[int, str]]]:
    """Say which runs returned documents, and at which rank.

    Parameters
    ----------
    runs : RunSet
        The runs that fed a pool, at its depth and order.
    pairs : collection of (str, str)
        Topic and docno.

    Returns
    -------
    dict of (str, str) to list of (int, str)
        Rank from 1 and tag, the best rank first, then by tag; of documents that some run returned.

    Notes
    -----
    O(n) for n documents taken from all runs.
    """
    wanted: dict[str, set[str]] = {}
    for topic, docno in pairs:
        wanted.setdefault(topic, set()).add(docno)
    found: dict[Pair, list[tuple[int, str]]] = {}
    for topic in runs.topics:
        if topic not in wanted:
            continue
        of_topic = runs.of_topic(topic)
        is_wanted = np.array([docno in wanted[topic] for docno in of_topic.docnos], np.bool_)
        documents = of_topic.rankings.documents
        places = (documents != NO_DOCUMENT) & is_wanted[documents]
        for row, rank in np.argwhere(places).tolist():
            docno = of_topic.docnos[documents[row, rank]]
            tag = runs.feeding[of_topic.runs[row]].tag
            found.setdefault((topic, docno), []).append((rank + 1, tag))
    return {pair: sorted(bringers) for pair, bringers in found.items()}


def count_bringers(brought: Mapping[Pair, list[tuple[int, str]]]) -> list[Bringer]:
    """Count what every run brought, most first, then by tag.

    Examples
    --------
    >>> count_bringers({("1", "a"): [(1, "x"), (3, "y")], ("1", "b"): [(2, "x")]})
    [Bringer(tag='x', documents=2, alone=1), Bringer(tag='y', documents=1, alone=0)]
    """
    documents: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for bringers in brought.values():
        documents.update(tag for _, tag in bringers)
        if len(bringers) == 1:
            alone[bringers[0][1]] += 1
    tags = sorted(documents, key=lambda tag: (-documents[tag], tag))
    return [Bringer(tag, documents[tag], alone[tag]) for tag in tags]


def _place(pair: Pair) -> tuple[object, str]:
    """Return the key by which pairs are sorted."""
    return natural_key(pair[0]), pair[1]
