"""Stopping rules that others use and pooler does not offer: to compare its bound with them.

References
----------
.. [1] Cormack and Grossman, "Engineering quality and reliability in technology-assisted review", *SIGIR*
   2016, doi:10.1145/2911451.2911510: the knee.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import lgamma


def knee(labels: Sequence[bool]) -> tuple[int, float, float]:
    """Return the rank of the knee of what was judged, its slope ratio, and the ratio that stops [1]_."""
    n_relevant, n_judged = sum(labels), len(labels)
    best, found, at = 0.0, 0, 0
    for rank, is_relevant in enumerate(labels, 1):
        found += is_relevant
        if rank == n_judged:
            break
        ratio = (found / rank) / ((1 + n_relevant - found) / (n_judged - rank))
        if ratio > best:
            best, at = ratio, rank
    return at, best, 156 - min(n_relevant, 150)


def stops_at_knee(labels: Sequence[bool]) -> bool:
    """Say whether the knee rule stops here."""
    _, ratio, least = knee(labels)
    return ratio >= least


def most_relevant_once(n_documents: int, n_judged: int, n_relevant: int, *, confidence: float = 0.95) -> int:
    """Bound how many documents are relevant, by one look: the largest K with P(X <= k) > 1 - confidence."""
    first, last = n_relevant, n_documents - (n_judged - n_relevant)
    while first < last:
        middle = (first + last + 1) // 2
        if at_most(n_relevant, n_documents, middle, n_judged) > 1 - confidence:
            first = middle
        else:
            last = middle - 1
    return first


def at_most(k: int, n_documents: int, n_relevant: int, n_judged: int) -> float:
    """Return P(X <= k) of the hypergeometric distribution: X relevant ones among those judged."""
    low, high = max(0, n_judged - (n_documents - n_relevant)), min(n_relevant, n_judged)
    if k >= high:
        return 1.0
    all_ways = _log_choose(n_documents, n_judged)
    ways = (
        _log_choose(n_relevant, x) + _log_choose(n_documents - n_relevant, n_judged - x)
        for x in range(low, k + 1)
    )
    return math.fsum(math.exp(one - all_ways) for one in ways)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
