r"""How alike two rankings are when they do not hold the same documents.

References
----------
.. [1] W. Webber, A. Moffat and J. Zobel, "A similarity measure for indefinite rankings", *ACM
   Transactions on Information Systems* 28(4), 20:1-20:38, 2010, doi:10.1145/1852102.1852106.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

PERSISTENCE = 0.9
"""The first ten ranks then have 86% of the weight."""


def average_overlap(
    first: Sequence[Hashable], second: Sequence[Hashable], *, depth: int | None = None
) -> float | None:
    r"""Average the share of common documents over all depths.

    Parameters
    ----------
    first, second : sequence of hashable
        Documents from rank 1 on, none twice in one ranking.
    depth : int, optional
        k, ranks compared, at least 1; by default those of the shorter ranking. A ranking that ends
        before has no more documents to offer.

    Returns
    -------
    float or None
        In [0, 1]: 1 for the same ranking, 0 without a common document; ``None`` when `depth` is
        not given and a ranking is empty.

    Raises
    ------
    ArgumentError
        If a document is in a ranking twice, or `depth` is below 1.

    Notes
    -----
    .. math:: AO = \frac{1}{k} \sum_{d=1}^{k} \frac{X_d}{d}

    with :math:`X_d` the documents that the first d ranks have in common (section 3 of [1]_). O(k).

    Examples
    --------
    Figure 5 of [1]_, printed .312:

    >>> round(average_overlap("abcdefg", "zcavwxy"), 6)
    0.312245
    """
    _check("first", first)
    _check("second", second)
    if depth is not None and depth < 1:
        raise ArgumentError("depth", "must be an integer >= 1", depth)
    k = min(len(first), len(second)) if depth is None else depth
    if k == 0:
        return None
    return float(np.mean(_overlaps(first, second, k) / np.arange(1, k + 1)))


def rank_biased_overlap(
    first: Sequence[Hashable], second: Sequence[Hashable], *, persistence: float = PERSISTENCE
) -> float | None:
    r"""Average the share of common documents over all depths, the first ones weighing most.

    What follows the ends of the rankings is supposed to go on as they end.

    Parameters
    ----------
    first, second : sequence of hashable
        Documents from rank 1 on, none twice in one ranking; of any two lengths.
    persistence : float, default=0.9
        p, probability that a reader goes on to the next rank; above 0 and below 1.

    Returns
    -------
    float or None
        Extrapolated RBO in [0, 1]; ``None`` when a ranking is empty.

    Raises
    ------
    ArgumentError
        If a document is in a ranking twice, or `persistence` is outside its range.

    Notes
    -----
    .. math::

        RBO_{ext} = \frac{1-p}{p} \Bigl( \sum_{d=1}^{l} \frac{X_d}{d} p^d
                    + \sum_{d=s+1}^{l} \frac{X_s (d - s)}{s d} p^d \Bigr)
                    + \Bigl( \frac{X_l - X_s}{l} + \frac{X_s}{s} \Bigr) p^l    (Eq. 32 of [1]_)

    for rankings of s and l documents, s the shorter. O(l).

    Examples
    --------
    >>> round(rank_biased_overlap("abcdefg", "zcavwxy"), 6)
    0.288217
    """
    _check("first", first)
    _check("second", second)
    if not 0 < persistence < 1:
        raise ArgumentError("persistence", "must be above 0 and below 1", persistence)
    s, k = sorted((len(first), len(second)))
    if s == 0:
        return None
    overlaps = _overlaps(first, second, k)
    depths = np.arange(1, k + 1)
    weights = persistence**depths
    at_end, at_s = float(overlaps[k - 1]), float(overlaps[s - 1])
    seen = float(np.sum(overlaps / depths * weights))
    beyond = float(np.sum((at_s * (depths - s) / (s * depths) * weights)[s:]))
    rest = ((at_end - at_s) / k + at_s / s) * float(weights[-1])
    return min(1.0, (1 - persistence) / persistence * (seen + beyond) + rest)  # [1] Eq. 32


def _overlaps(
    first: Sequence[Hashable], second: Sequence[Hashable], depth: int
) -> NDArray[np.int64]:
    """Count the common documents of the first 1, 2, ..., `depth` ranks."""
    rank = {document: place for place, document in enumerate(first, start=1)}
    found = np.zeros(depth + 1, dtype=np.int64)
    for place, document in enumerate(second, start=1):
        deeper = max(place, rank.get(document, depth + 1))
        if deeper <= depth:
            found[deeper] += 1
    return np.cumsum(found)[1:]


def _check(name: str, ranking: Sequence[Hashable]) -> None:
    """Raise `ArgumentError` when a ranking holds a document twice."""
    if len(set(ranking)) != len(ranking):
        raise ArgumentError(name, "must hold no document twice", f"{len(ranking)} documents")
