r"""Third central moment of the difference of two runs' average precision when judgements vary."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.empty_outcomes import Empty, chance_left
from store.analysis.quadrature import TOLERANCE, rule_for, window
from store.analysis.tilted import check_lists, run_sums, tilt
from store.errors import ArgumentError

_BLOCK = 2_000_000
"""Numbers of all nodes that are held at once."""
_BY_MATRIX = 200
"""Documents up to which a matrix product is quicker than running sums."""


def third_moment(
    probabilities: ArrayLike,
    ranks: ArrayLike,
    *,
    empty: Empty = "given",
    tolerance: float = TOLERANCE,
) -> float:
    r"""Compute the third central moment of :math:`u = AP_A - AP_B`.

    Parameters
    ----------
    probabilities : array of float, shape (n_documents,)
        Of each document to be judged relevant, from 0 to 1; R counts all of them (pool mode).
    ranks : array of float, shape (2, n_documents)
        Rank of each document in run A and run B; infinite = not retrieved.
    empty : {"given", "zero"}, default="given"
        Whether outcomes without a relevant document are left out or have an AP of 0; see
        `store.analysis.empty_outcomes`.
    tolerance : float, default=1e-12
        Relative error of the quadrature, of each of the terms that add up to the moment.

    Returns
    -------
    float
        :math:`E (u - E u)^3`, in [-2, 2]; of topics judged independently they add up. 0 where no
        document may be relevant.

    Raises
    ------
    ArgumentError
        If there are not two runs, a probability is none, a rank is below 1 or stands twice in a
        run, or shapes differ.

    Notes
    -----
    With ``zero``, :math:`\delta = E u`, :math:`U = S_A - S_B`, :math:`h = h^A - h^B - \delta`,
    :math:`W = w^A - w^B` with a diagonal of zeros, :math:`c_i = v_i (1 - 2 q_i)`,
    :math:`y_0 = E_t U - \delta Q`, and `Var_t` the sum in braces of `variation`,

    .. math::

        \kappa_3 &= \sum_i h_i^3 c_i + 3 \sum_{i \ne j} W_{ij} h_i v_i h_j v_j
            + 3 \sum_{i \ne j} h_i c_i W_{ij}^2 v_j + \frac{1}{2} \sum_{i \ne j} W_{ij}^3 c_i c_j
            + tr (W diag(v))^3

        E (u - \delta)^3 &= \int_0^1 \frac{(\ln t)^2}{2} \frac{G(t)}{t}
            (y_0^3 + 3 y_0 Var_t + \kappa_3) dt - \delta^3 P(R = 0)

    and with ``given`` :math:`\delta = E(u | R > 0)`, and the integral is over P(R > 0) in place of
    the last term. O(n^2) a node, by running sums in the order of the ranks where a product of
    matrices would be O(n^3).

    Examples
    --------
    One document that only the first run has, relevant three times of four: u is 1; or 0.

    >>> third_moment([0.75], [[1], [np.inf]])
    0.0
    >>> moment = third_moment([0.75], [[1], [np.inf]], empty="zero")
    >>> round(moment, 12)  # p (1 - p) (1 - 2 p)
    -0.09375
    """
    given = check_lists(probabilities, ranks)
    if given.ranks.shape[0] != 2:
        raise ArgumentError("ranks", "must be of two runs", given.ranks.shape)
    lists = given.without(given.probabilities == 0)
    p = lists.probabilities
    is_random = p < 1
    if not is_random.any():
        return 0.0
    left = chance_left(p, empty)
    rule = rule_for(*window(p), power=3, tolerance=tolerance)
    tilted = tilt(p, rule)
    (sums_a, h_a), (sums_b, h_b) = (run_sums(tilted.q, lists, run) for run in (0, 1))
    delta = float((sums_a - sums_b) @ (rule.weights[0] * tilted.density)) / left
    y0 = sums_a - sums_b - delta * tilted.q.sum(axis=1)
    v, q = tilted.v[:, is_random], tilted.q[:, is_random]
    h = (h_a - h_b)[:, is_random] - delta
    variances, skews = _quadratic_forms(lists.ranks[:, is_random], v, q, h)
    weights = rule.weights[2] * tilted.density
    found = float(weights @ (y0**3 + 3 * y0 * variances + skews)) / left
    if empty == "zero" and is_random.all():
        found -= delta**3 * float(np.exp(np.log1p(-p).sum()))
    return found


def _quadratic_forms(
    ranks: NDArray[np.float64],
    v: NDArray[np.float64],
    q: NDArray[np.float64],
    h: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute variance and third cumulant of ``U - delta R`` at every node, shape (n_nodes,) each.

    The arrays have a column for each document that is neither sure nor impossible.
    """
    c = v * (1 - 2 * q)
    hv = h * v
    variances = np.einsum("mi,mi->m", h, hv)
    skews = np.einsum("mi,mi,mi,mi->m", h, h, h, c)
    # A document that neither run has is in no pair.
    has = np.isfinite(ranks).any(axis=0)
    ranks, v, c, hv, hc = ranks[:, has], v[:, has], c[:, has], hv[:, has], (h * c)[:, has]
    w_a, w_b = (np.minimum.outer(1 / row, 1 / row) for row in ranks)
    w = w_a - w_b
    np.fill_diagonal(w, 0.0)
    squares = w * w
    variances += 0.5 * np.einsum("mi,mi->m", v @ squares, v)
    skews += 3 * np.einsum("mi,mi->m", hv @ w, hv)
    skews += 3 * np.einsum("mi,mi->m", hc @ squares, v)
    skews += 0.5 * np.einsum("mi,mi->m", c @ (squares * w), c)
    return variances, skews + _traces(ranks, w, v)


def _traces(
    ranks: NDArray[np.float64], w: NDArray[np.float64], v: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the trace of the cube of ``W diag(v)`` at every node, shape (n_nodes,)."""
    n_nodes, n = v.shape
    traces = np.empty(n_nodes)
    if n <= _BY_MATRIX:
        step = max(1, _BLOCK // max(n * n, 1))
        for first in range(0, n_nodes, step):
            part = v[first : first + step]
            twice = (w * part[:, None, :]) @ w
            twice *= w
            traces[first : first + step] = np.einsum("mij,mi,mj->m", twice, part, part)
        return traces
    orders = [(np.argsort(row), 1 / np.sort(row)[:, None]) for row in ranks]
    for node in range(n_nodes):
        scaled = v[node, :, None] * w
        twice = _product(*orders[0], scaled) - _product(*orders[1], scaled)
        # The running sums took the diagonals of both w for what they are, not for 0.
        twice -= (1 / ranks[0] - 1 / ranks[1])[:, None] * scaled
        traces[node] = np.einsum("ij,ij,i,j->", twice, w, v[node], v[node])
    return traces


def _product(
    order: NDArray[np.int64], inverse: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Multiply 1 / max(a_i, a_j), of one run, by a matrix: O(n) a column.

    `inverse` is 1 / rank in the order of the ranks, shape (n, 1).
    """
    rows = right[order]
    found = np.cumsum(rows, axis=0)
    found *= inverse
    rows *= inverse
    found[:-1] += np.cumsum(rows[:0:-1], axis=0)[::-1]
    out = np.empty_like(found)
    out[order] = found
    return out
