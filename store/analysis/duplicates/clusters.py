"""Clusters of near-duplicates: what joins them; whether grades are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.alpha import alpha
from store.analysis.duplicates.join import NearPairs, count_shared
from store.analysis.duplicates.shingles import ShingleSets
from store.errors import ArgumentError

MOST_COMPARED = 2_000_000
"""Pairs of a cluster that are compared to find the least Jaccard."""


def components(pairs: NearPairs, twins: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put together what chains of near pairs join, shape (n_documents,): the least place of each cluster.

    Examples
    --------
    >>> chain = NearPairs(*np.array([[0, 1], [1, 4], [8, 8], [9, 9]]))
    >>> components(chain, np.array([0, 1, 1, 3, 4])).tolist()
    [0, 0, 0, 3, 0]
    """
    parent = twins.tolist()

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    for first, second in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
        one, other = root(first), root(second)
        parent[max(one, other)] = min(one, other)
    return np.array([root(place) for place in range(len(parent))], dtype=np.int64)


def least_shared(sets: ShingleSets, members: Sequence[int]) -> tuple[int, int] | None:
    """Return shared and united shingles of the two members of a cluster that are least alike.

    ``None`` = there are more than `MOST_COMPARED` pairs. Of one text there is nothing to compare: all of it.
    """
    places = np.unique(sets.twins[np.array(members, dtype=np.int64)])
    if places.size * (places.size - 1) // 2 > MOST_COMPARED:
        return None
    if places.size < 2:
        size = int(sets.sizes[places[0]])
        return size, size
    one, other = np.triu_indices(places.size, 1)
    first, second = places[one], places[other]
    shared = count_shared(sets, first, second)
    united = sets.sizes[first] + sets.sizes[second] - shared
    least = int(np.argmin(shared / united))
    return int(shared[least]), int(united[least])


@dataclass(frozen=True, slots=True)
class PairConsistency:
    """How alike the grades of pairs are."""

    pairs: int
    same: int
    """With equal grades."""
    alpha: float | None
    """Krippendorff's, ordinal: the two of a pair have no order. ``None`` = undefined."""
    reason: str | None
    """Why it is: ``no-common-docs`` (no pair), ``one-doc`` (one pair), ``single-grade`` (no other grade)."""

    @property
    def share(self) -> float | None:
        """Share of the pairs with equal grades; ``None`` = there is no pair."""
        return self.same / self.pairs if self.pairs else None


def pair_consistency(pairs: Sequence[tuple[int, int]], values: Sequence[int]) -> PairConsistency:
    """Measure how alike the two grades of pairs are.

    Grades stand in either order, and are of the scale `values`, ascending, else `ArgumentError`. A pair is a
    unit of two votes of which neither is the first, so that alpha, and not kappa, corrects for chance.

    Examples
    --------
    >>> pair_consistency([(1, 1), (0, 0), (1, 0)], [0, 1]).same
    2
    >>> pair_consistency([(1, 1)], [0, 1]).reason
    'one-doc'
    """
    place = {value: index for index, value in enumerate(values)}
    if unknown := {grade for pair in pairs for grade in pair if grade not in place}:
        raise ArgumentError("pairs", f"must be of grades {list(values)}", min(unknown))
    table = np.zeros((len(values), len(values)), dtype=np.int64)
    for one, other in pairs:
        table[place[one], place[other]] += 1
    found = alpha(table + table.T, "ordinal", n_documents=len(pairs))
    return PairConsistency(len(pairs), int(np.trace(table)), found.value, found.reason)
