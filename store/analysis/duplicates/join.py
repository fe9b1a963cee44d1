r"""Pairs of documents whose sets of shingles are nearly equal: all of them, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from store.analysis.duplicates.shingles import ShingleSets, runs_of
from store.errors import ArgumentError

THRESHOLD = Fraction(4, 5)
"""Least Jaccard of documents that are taken for one content (Bernstein & Zobel's content-equivalent)."""
_AT_ONCE = 4_000_000
"""Pairs that are made, or shingles that are compared, at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class NearPairs:
    """Pairs of documents, each once; all arrays have shape (n_pairs,)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    """Places of documents, `first` < `second`; pairs rise by both."""
    shared: NDArray[np.int64]
    """Shingles that both have."""
    united: NDArray[np.int64]
    """Shingles that one has at least; the Jaccard is ``shared / united``."""


def as_threshold(threshold: float | str | Fraction) -> Fraction:
    """Read a least Jaccard as it is written; `ArgumentError` if it is not above 0 and at most 1.

    Examples
    --------
    >>> as_threshold(0.8)
    Fraction(4, 5)
    """
    try:
        least = Fraction(str(threshold))
    except (ValueError, ZeroDivisionError):
        least = Fraction(0)
    if not 0 < least <= 1:
        raise ArgumentError("threshold", "must be above 0 and at most 1", threshold)
    return least


def near_pairs(sets: ShingleSets, threshold: float | str | Fraction) -> NearPairs:
    r"""Find every pair of documents with a Jaccard of at least a threshold, and no other pair.

    Parameters
    ----------
    sets : ShingleSets
    threshold : float, str or Fraction
        In (0, 1], else `ArgumentError`; a float stands for what it is written as, so that 0.8 is 4/5.

    Returns
    -------
    NearPairs
        Of documents that are their own `ShingleSets.twins`: what has the same words as another stands in its
        place. Jaccards are compared in integers, without rounding.

    Notes
    -----
    The prefix filter [1]_, [2]_. With :math:`|A \cap B| \ge t |A \cup B|` two sets share at least
    :math:`\lceil t |A| \rceil` elements, so one of the first :math:`|A| - \lceil t |A| \rceil + 1` of A, in
    an order of all elements, is among the same first elements of B. Only these are looked up, the rarest
    coming first; pairs whose sizes differ too much are dropped (:math:`|A| < t |B|`), the others counted.
    Nothing is left to chance. O(candidates) after sorting; n documents that are all alike make
    n (n - 1) / 2 pairs.

    References
    ----------
    .. [1] S. Chaudhuri, V. Ganti and R. Kaushik, "A primitive operator for similarity joins in data
       cleaning", *ICDE* 2006, doi:10.1109/ICDE.2006.9.
    .. [2] R. J. Bayardo, Y. Ma and R. Srikant, "Scaling up all pairs similarity search", *WWW* 2007,
       131-140, doi:10.1145/1242572.1242591.

    Examples
    --------
    >>> from store.analysis.duplicates.shingles import shingle_sets
    >>> river = "quick brown fox jumps over the lazy dog near the old river bank today"
    >>> sets = shingle_sets([f"The {river}", f"the {river}!", f"The {river.replace('dog', 'cat')}"])
    >>> near_pairs(sets, 0.6).shared.tolist(), sets.twins.tolist()  # 13 shingles of three words each
    ([10], [0, 0, 2])
    >>> near_pairs(sets, 0.65).shared.tolist()
    []
    """
    least = as_threshold(threshold)
    found: list[NDArray[np.int64]] = [np.empty((4, 0), dtype=np.int64)]
    n = sets.n_documents
    known = np.empty(0, dtype=np.int64)
    for candidates in _candidates(sets, least):
        new = np.setdiff1d(candidates, known, assume_unique=True)
        known = np.union1d(known, new)
        first, second = np.divmod(new, n)
        shared = count_shared(sets, first, second)
        united = sets.sizes[first] + sets.sizes[second] - shared
        is_near = shared * least.denominator >= united * least.numerator
        found.append(np.stack([first, second, shared, united])[:, is_near])
    pairs = np.concatenate(found, axis=1)
    return NearPairs(*pairs[:, np.lexsort((pairs[1], pairs[0]))])


def _candidates(sets: ShingleSets, least: Fraction) -> Iterator[NDArray[np.int64]]:
    """Yield pairs that share a shingle of their prefixes, as first * n + second: rising, once a block."""
    n, sizes = sets.n_documents, sets.sizes
    counts = np.diff(sets.starts)
    prefix = sizes - -(-sizes * least.numerator // least.denominator) + 1
    # Shingles that nobody else has are the rarest: they come first and find nobody.
    taken = np.clip(prefix - (sizes - counts), 0, counts)
    documents = np.repeat(np.arange(n), taken)
    names = sets.names[runs_of(sets.starts[:-1], taken)]
    # Within a shingle by size: whoever is near enough stands behind, up to a place.
    order = np.lexsort((documents, sizes[documents], names))
    documents, names = documents[order], names[order]
    width = int(sizes.max(initial=0)) + 1
    largest = sizes[documents] * least.denominator // least.numerator
    rising = names * width + sizes[documents]
    reach = np.searchsorted(rising, names * width + np.minimum(largest, width - 1), "right")
    n_after = reach - np.arange(documents.size) - 1
    for block in _blocks(n_after):
        at, some = np.arange(block.start, block.stop), n_after[block]
        one, other = documents[np.repeat(at, some)], documents[runs_of(at + 1, some)]
        yield np.unique(np.minimum(one, other) * n + np.maximum(one, other))


def _blocks(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Cut rows into blocks of no more than `_AT_ONCE` things together, or of one row."""
    total = np.cumsum(sizes)
    start = 0
    while start < sizes.size:
        done = int(total[start - 1]) if start else 0
        stop = max(int(np.searchsorted(total, done + _AT_ONCE, "right")), start + 1)
        yield slice(start, stop)
        start = stop


def count_shared(sets: ShingleSets, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the shingles that pairs of documents have in common, shape (n_pairs,).

    `first` and `second` are places of documents, their `twins` taken in their place.
    """
    first, second = sets.twins[first], sets.twins[second]
    counts = np.diff(sets.starts)
    found = np.empty(first.size, dtype=np.int64)
    n_names = int(sets.names.max(initial=0)) + 1
    for block in _blocks(counts[first] + counts[second]):
        keys = np.concatenate([_keyed(sets, documents[block], n_names) for documents in (first, second)])
        keys.sort()
        repeated = keys[1:][keys[1:] == keys[:-1]] // n_names
        found[block] = np.bincount(repeated, minlength=block.stop - block.start)
    same = first == second
    found[same] = sets.sizes[first[same]]
    return found


def _keyed(sets: ShingleSets, documents: NDArray[np.int64], n_names: int) -> NDArray[np.int64]:
    """Return the shingles of documents, each with the place of its document before it."""
    counts = np.diff(sets.starts)[documents]
    at = runs_of(sets.starts[documents], counts)
    return np.repeat(np.arange(documents.size), counts) * n_names + sets.names[at]
