"""Two qrels compared: which judgements came, went or changed, and what that does to runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures.average_precision import average_precision, mean_average_precision
from store.analysis.rankings import JudgedRankings
from store.analysis.run_order import TIED_MAP, TauResult, kendall_tau_b, n_swapped_pairs, tau_ap
from store.errors import ArgumentError
from store.records import Qrel
from store.text import natural_key

Code = int | None
"""A grade, or a negative code; ``None`` = the pair is not listed."""


class ChangeKind(StrEnum):
    """What happened to a (topic, docno); not listed, unjudged and judged are three things."""

    ADDED = "added"
    """Not listed, then judged."""
    REMOVED = "removed"
    """Judged, then not listed."""
    CHANGED = "changed"
    """Judged, then judged otherwise."""
    NOW_JUDGED = "now judged"
    """Listed as unjudged, then judged."""
    NOW_UNJUDGED = "now unjudged"
    """Judged, then listed as unjudged."""
    LISTED = "listed unjudged"
    """Not listed, then listed as unjudged."""
    UNLISTED = "unlisted unjudged"
    """Listed as unjudged, then not listed."""
    RECODED = "recoded unjudged"
    """Unjudged under two different codes."""


_KINDS = {
    ("absent", "judged"): ChangeKind.ADDED,
    ("judged", "absent"): ChangeKind.REMOVED,
    ("judged", "judged"): ChangeKind.CHANGED,
    ("unjudged", "judged"): ChangeKind.NOW_JUDGED,
    ("judged", "unjudged"): ChangeKind.NOW_UNJUDGED,
    ("absent", "unjudged"): ChangeKind.LISTED,
    ("unjudged", "absent"): ChangeKind.UNLISTED,
    ("unjudged", "unjudged"): ChangeKind.RECODED,
}


@dataclass(frozen=True, slots=True)
class QrelsChange:
    """One (topic, docno) that two qrels have otherwise."""

    topic: str
    docno: str
    before: Code
    after: Code
    kind: ChangeKind


@dataclass(frozen=True, slots=True)
class QrelsDiff:
    """How two qrels differ."""

    differences: tuple[QrelsChange, ...]
    """Topics in natural order, docnos bytewise."""
    pairs: dict[tuple[Code, Code], int]
    """(topic, docno) counted by the two codes, equal ones too; ``None`` = not listed there."""
    same: dict[str, int]
    """By topic, in natural order, what both have alike; every topic of either has its key."""
    n_iterations: int
    """Of what is alike, that which stands under another iteration."""

    @property
    def n_same(self) -> int:
        """Count what both have alike."""
        return sum(self.same.values())

    def counts(self) -> dict[ChangeKind, int]:
        """Count differences by kind; every kind has its key."""
        found = Counter(one.kind for one in self.differences)
        return {kind: found[kind] for kind in ChangeKind}

    def crossings(self, level: int) -> tuple[int, int]:
        """Count the changed grades that became relevant at a level, and those that ceased to be."""
        became = ceased = 0
        for one in self.differences:
            if one.kind is ChangeKind.CHANGED and one.before is not None and one.after is not None:
                became += one.before < level <= one.after
                ceased += one.after < level <= one.before
        return became, ceased


def qrels_diff(
    before: Sequence[Qrel], after: Sequence[Qrel], *, unjudged: Collection[int] = (-1,)
) -> QrelsDiff:
    """Compare two qrels; O(n log n).

    Parameters
    ----------
    before, after : sequence of Qrel
        Each (topic, docno) once, in any order; `ArgumentError` for one that comes twice.
    unjudged : collection of int, default=(-1,)
        Codes that say that a document is pooled and not judged; all others are grades.

    Returns
    -------
    QrelsDiff
        Swapping the two swaps every pair of codes, and turns added into removed. The iteration is no part of
        a judgement: one that differs in nothing else is alike.

    Examples
    --------
    >>> a = [Qrel("1", "x", 0), Qrel("1", "y", -1), Qrel("001", "x", 1)]
    >>> b = [Qrel("1", "x", 2), Qrel("1", "y", 0), Qrel("1", "z", 1), Qrel("001", "x", 1)]
    >>> found = qrels_diff(a, b)
    >>> [(one.docno, one.before, one.after, one.kind.value) for one in found.differences]
    [('x', 0, 2, 'changed'), ('y', -1, 0, 'now judged'), ('z', None, 1, 'added')]
    >>> found.same, found.crossings(1)
    ({'001': 1, '1': 0}, (1, 0))
    """
    first, second = _by_pair("before", before), _by_pair("after", after)
    topics = sorted({topic for topic, _ in first.keys() | second.keys()}, key=natural_key)
    place = {topic: number for number, topic in enumerate(topics)}
    same = dict.fromkeys(topics, 0)
    pairs: Counter[tuple[Code, Code]] = Counter()
    differences = []
    n_iterations = 0
    for topic, docno in sorted(first.keys() | second.keys(), key=lambda one: (place[one[0]], one)):
        old, new = first.get((topic, docno)), second.get((topic, docno))
        codes = (None if old is None else old.grade, None if new is None else new.grade)
        pairs[codes] += 1
        if old is not None and new is not None and old.grade == new.grade:
            same[topic] += 1
            n_iterations += old.iteration != new.iteration
            continue
        states = (_state(codes[0], unjudged), _state(codes[1], unjudged))
        differences.append(QrelsChange(topic, docno, *codes, _KINDS[states]))
    return QrelsDiff(tuple(differences), dict(pairs), same, n_iterations)


@dataclass(frozen=True, slots=True, eq=False)
class OrderEffect:
    """What a change of qrels does to the order of runs."""

    tags: tuple[str, ...]
    map_before: NDArray[np.float64]
    """Shape (n_runs,): MAP in [0, 1], each over the topics of its own qrels with a relevant
    document; NaN = there is none."""
    map_after: NDArray[np.float64]
    places_before: tuple[int | None, ...]
    """From 1, equal MAPs at one place; ``None`` = no MAP."""
    places_after: tuple[int | None, ...]
    n_topics_before: int
    """That MAP is over."""
    n_topics_after: int
    tau: TauResult
    """Kendall's tau-b; ``None`` with the reason ``no-relevant`` where a MAP is undefined."""
    tau_ap: TauResult
    """The first places are those before."""
    tau_ap_reversed: TauResult
    """The first places are those after."""
    n_swapped: int | None
    """Pairs of runs in strictly opposite order; ``None`` as of `tau`."""


def order_effect(before: JudgedRankings, after: JudgedRankings) -> OrderEffect:
    """Compare the order of the same runs by MAP under two qrels.

    Parameters
    ----------
    before, after : JudgedRankings
        Of the same runs in the same order.

    Returns
    -------
    OrderEffect
        R is that of the qrels, over all judged documents of the topic. A run without one of the topics has AP
        0 there, as with trec_eval -c. O(n_runs * n_topics * cutoff + n_runs**2).
    """
    scored = []
    for arrays in (before, after):
        scores = average_precision(arrays.relevant(), arrays.n_relevant[None, :])
        means, _ = mean_average_precision(scores)
        scored.append((means, int(np.count_nonzero(arrays.n_relevant))))
    (x, n_x), (y, n_y) = scored
    undefined = TauResult(None, "no-relevant")
    is_defined = bool(n_x and n_y)
    return OrderEffect(
        tags=before.tags,
        map_before=x,
        map_after=y,
        places_before=_places(x),
        places_after=_places(y),
        n_topics_before=n_x,
        n_topics_after=n_y,
        tau=kendall_tau_b(x, y, tolerance=TIED_MAP) if is_defined else undefined,
        tau_ap=tau_ap(x, y, tolerance=TIED_MAP) if is_defined else undefined,
        tau_ap_reversed=tau_ap(y, x, tolerance=TIED_MAP) if is_defined else undefined,
        n_swapped=n_swapped_pairs(x, y, tolerance=TIED_MAP) if is_defined else None,
    )


def _by_pair(name: str, qrels: Iterable[Qrel]) -> dict[tuple[str, str], Qrel]:
    found: dict[tuple[str, str], Qrel] = {}
    for one in qrels:
        pair = (one.topic, one.docno)
        if pair in found:
            requirement = "must have each document once a topic"
            raise ArgumentError(name, requirement, f"{one.topic} {one.docno} twice")
        found[pair] = one
    return found


def _state(code: Code, unjudged: Collection[int]) -> str:
    if code is None:
        return "absent"
    return "unjudged" if code in unjudged else "judged"


def _places(means: NDArray[np.float64]) -> tuple[int | None, ...]:
    """Return the place of every run, the best first."""
    return tuple(
        None if np.isnan(mean) else 1 + int(np.count_nonzero(means > mean + TIED_MAP)) for mean in means
    )
