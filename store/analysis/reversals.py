"""How likely another judging turns two runs about, for every two: each by the law it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.collection_variation import CollectionVariation, Topic
from store.analysis.enumerated_order import MOST_OF_HALF, halves
from store.analysis.order_probability import (
    OrderProbability,
    order_probabilities,
    order_probability,
)

MOST_BY_ONE = 45
"""Pairs that get the best law, those nearest to a swap; the others get the normal one."""
MOST_OUTCOMES = 1 << 25
"""Outcomes of halves of the topics that are enumerated for all pairs together, some twenty seconds:
the pairs nearest to a swap get them, and the others of `MOST_BY_ONE` another law."""
FAR_APART = 1e-4
"""Probability to swap below which the normal law will do."""


@dataclass(frozen=True, slots=True, eq=False)
class Reversals:
    """Every pair of runs, the one with the higher expected MAP first; shape (n_pairs,) each."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    reversed: NDArray[np.float64]
    """Probability that the second run comes to be above."""
    single: Mapping[tuple[int, int], OrderProbability]
    """What is known besides of the pairs that may swap."""


def reversals(
    topics: Sequence[Topic],
    varied: CollectionVariation,
    *,
    progress: Callable[[int], None] | None = None,
) -> Reversals:
    """Compute how likely every pair turns about; one by one where it well may.

    Parameters
    ----------
    topics : sequence of (probabilities, ranks)
        See `store.analysis.variation.variation`; R counts all documents (pool mode).
    varied : CollectionVariation
        The moments of these topics; their rule for R = 0 counts.
    progress : callable, optional
        Called with the number of pairs done since the last call.

    Returns
    -------
    Reversals
        Of two runs with the same mean the earlier row comes first.

    Notes
    -----
    `order_probabilities` for all, and `order_probability` for at most `MOST_BY_ONE` pairs.

    Examples
    --------
    Two documents, each relevant half of the time, the first of which run 0 lacks:

    >>> from store.analysis.collection_variation import collection_variation
    >>> topics = [(np.array([0.5, 0.5]), np.array([[np.inf, 1.0], [1.0, 2.0]]))]
    >>> found = reversals(topics, collection_variation(topics, empty="zero"))
    >>> found.first.tolist(), found.second.tolist(), found.reversed.tolist()
    ([1], [0], [0.25])
    """
    above = order_probabilities(varied)
    mean = varied.map_mean
    low, high = np.triu_indices(mean.size, 1)
    ahead = mean[low] >= mean[high]
    first, second = np.where(ahead, low, high), np.where(ahead, high, low)
    turned = above[second, first]
    nearest = np.argsort(-turned, kind="stable")[:MOST_BY_ONE]
    nearest = nearest[turned[nearest] >= FAR_APART]
    single = {}
    n_exact = _exact_pairs(topics)
    for number, place in enumerate(nearest.tolist()):
        pair = int(first[place]), int(second[place])
        most = MOST_OF_HALF if number < n_exact else 0
        single[pair] = order_probability(topics, *pair, varied=varied, most_of_half=most)
        turned[place] = single[pair].below
        if progress is not None:
            progress(1)
    if progress is not None:
        progress(first.size - nearest.size)
    return Reversals(first.astype(np.int64), second.astype(np.int64), turned, single)


def _exact_pairs(topics: Sequence[Topic]) -> int:
    """Return of how many pairs all outcomes may be enumerated."""
    parts = halves(topics)
    if parts is None:
        return 0
    numbers = [int(((p > 0) & (p < 1)).sum()) for p, _ in topics]
    return MOST_OUTCOMES >> max(sum(numbers[place] for place in part) for part in parts)
