r"""Sums of :math:`v_i v_j w^A_{ij} w^B_{ij}` over all pairs of documents, without a loop over them.

:math:`w_{ij} = 1 / \max(a_i, a_j)` is what two documents at ranks :math:`a_i` and :math:`a_j`, both
relevant, add to the sum of precisions of a run; :math:`v_i` is the variance of a judgement, at each
of several nodes, and the sums are added up over the nodes with weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BY_MATRIX = 300
"""Documents up to which two runs' pairs are one matrix product."""
_SPARSE = 40
"""By how much a number in a matrix product is quicker than one that is picked from an array."""
_BLOCK = 8_000_000
"""Numbers held at once for all runs."""


def pair_sum_of_run(
    ranks: NDArray[np.float64], v: NDArray[np.float64], weights: NDArray[np.float64]
) -> float:
    r"""Sum :math:`v_i v_j w_{ij}^2` over the pairs of one run.

    Parameters
    ----------
    ranks : ndarray of float64, shape (n,)
        Ascending and finite.
    v : ndarray of float64, shape (n_nodes, n)
        Variances, at least 0.
    weights : ndarray of float64, shape (n_nodes,)
        Of the nodes.

    Notes
    -----
    O(n n_nodes): the lower of the two ranks decides.
    """
    before = np.cumsum(v, axis=1)
    before -= v
    return float(weights @ np.einsum("mi,mi->m", v, before * (1 / ranks**2)))


def cross_pair_sum(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    v: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> float:
    r"""Sum :math:`v_i v_j w^A_{ij} w^B_{ij}` over the pairs of documents that two runs have.

    Parameters
    ----------
    first, second : ndarray of float64, shape (n,)
        Ranks in the two runs, finite, each once in a run.
    v : ndarray of float64, shape (n_nodes, n)
        Variances.
    weights : ndarray of float64, shape (n_nodes,)
        Of the nodes.

    Notes
    -----
    O(n^2 n_nodes) in a matrix product for few documents, O(n log(n) n_nodes) for many.
    """
    if first.size < 2:
        return 0.0
    if first.size <= _BY_MATRIX:
        products = (v * weights[:, None]).T @ v
        smaller = np.minimum.outer(1 / first, 1 / first)
        smaller *= np.minimum.outer(1 / second, 1 / second)
        np.fill_diagonal(smaller, 0.0)
        return float(0.5 * np.vdot(products, smaller))
    return float(weights @ _by_bits(first, second, v))


def _by_bits(
    first: NDArray[np.float64], second: NDArray[np.float64], v: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum at every node: each pair meets at the highest bit in which its places differ.

    Documents stand in the order of the first run. At every bit they are grouped by the higher bits
    of their place in the second run: a document with the bit set meets those before it in its group
    that lack it (both runs agree on which is lower), and the other way about (they do not).
    """
    in_first = np.argsort(first)
    a, b, x = first[in_first], second[in_first], v[:, in_first]
    place = np.empty(a.size, dtype=np.int64)
    place[np.argsort(b)] = np.arange(a.size)
    total = np.zeros(v.shape[0])
    for bit in range(int(a.size - 1).bit_length()):
        group = place >> (bit + 1)
        order = np.argsort(group, kind="stable")
        group = group[order]
        starts = np.searchsorted(group, group)
        is_set = (place[order] >> bit & 1).astype(np.bool_)
        xs, over_a, over_b = x[:, order], 1 / a[order], 1 / b[order]
        # Sums over the group so far: the running sum less what it was where the group began.
        running = np.zeros((v.shape[0], a.size + 1))
        np.cumsum(np.where(is_set, 0.0, xs), axis=1, out=running[:, 1:])
        agree = running[:, :-1][:, is_set] - running[:, starts[is_set]]
        total += np.einsum("mi,mi,i->m", xs[:, is_set], agree, (over_a * over_b)[is_set])
        np.cumsum(np.where(is_set, xs * over_b, 0.0), axis=1, out=running[:, 1:])
        differ = running[:, :-1][:, ~is_set] - running[:, starts[~is_set]]
        total += np.einsum("mi,mi,i->m", xs[:, ~is_set], differ, over_a[~is_set])
    return total


def pair_matrix(
    ranks: NDArray[np.float64], v: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""Sum :math:`v_i v_j w^A_{ij} w^B_{ij}` over all pairs of documents, for every two runs.

    Parameters
    ----------
    ranks : ndarray of float64, shape (n_runs, n)
        Infinite = not retrieved.
    v : ndarray of float64, shape (n_nodes, n)
        Variances.
    weights : ndarray of float64, shape (n_nodes,)
        Of the nodes.

    Returns
    -------
    ndarray of float64, shape (n_runs, n_runs)
        The diagonal is `pair_sum_of_run`.

    Notes
    -----
    O(n_runs^2 n^2) in matrix products whatever the number of nodes; some 64 MB at once. Where runs
    have few of the documents, n is the number of those that a run has.
    """
    n_runs, n = ranks.shape
    inverse = 1 / ranks
    squares = int((np.count_nonzero(inverse, axis=1) ** 2).sum())
    if _SPARSE * squares < n_runs * n * n:
        return _by_runs(inverse, v, weights)
    total = np.zeros((n_runs, n_runs))
    step = max(1, _BLOCK // (n_runs * max(n, 1)))
    for first in range(0, n, step):
        last = min(first + step, n)
        products = (v[:, first:last] * weights[:, None]).T @ v[:, first:]
        # Each pair once: the second document comes after the first.
        products[np.tril_indices(last - first, 0, n - first)] = 0.0
        roots = np.sqrt(products)
        rows = np.minimum(inverse[:, first:last, None], inverse[:, None, first:]) * roots
        flat = rows.reshape(n_runs, -1)
        total += flat @ flat.T
    return total


def _by_runs(
    inverse: NDArray[np.float64], v: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Take each run's own documents, and what the others make of them."""
    n_runs = len(inverse)
    total = np.zeros((n_runs, n_runs))
    for run, row in enumerate(inverse):
        has = np.flatnonzero(row)
        own = np.minimum.outer(row[has], row[has])
        own *= (v[:, has] * weights[:, None]).T @ v[:, has]
        np.fill_diagonal(own, 0.0)
        step = max(1, _BLOCK // max(has.size**2, 1))
        for first in range(run, n_runs, step):
            others = inverse[first : first + step, has]
            smaller = np.minimum(others[:, :, None], others[:, None, :])
            sums = smaller.reshape(len(others), -1) @ own.ravel()
            total[run, first : first + step] = total[first : first + step, run] = 0.5 * sums
    return total
