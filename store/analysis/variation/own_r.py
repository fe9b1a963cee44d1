r"""How the average precision of two runs varies together when each counts only what it retrieved.

In own mode R is a run's own number of relevant documents, and two runs have two of them. An AP
counts as 0 here where its R is 0: no rule for outcomes without a relevant document is both runs'.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.quadrature import Rule, rule_for, window
from store.analysis.variation.lists import JudgedLists, check_lists, logarithms, run_sums, tilt
from store.analysis.variation.moments import ScoreMoments, variation
from store.errors import ArgumentError

_BLOCK = 1_000_000
"""Numbers of documents and nodes held at once."""


def own_variation(probabilities: ArrayLike, ranks: ArrayLike) -> ScoreMoments:
    r"""Compute mean and covariance of the AP of two runs, each divided by its own R.

    Parameters
    ----------
    probabilities : array of float, shape (n_documents,)
        Of each document to be judged relevant, from 0 to 1.
    ranks : array of float, shape (2, n_documents)
        Rank of each document in either run; infinite = not retrieved, and not counted in its R.

    Returns
    -------
    ScoreMoments
        `none_relevant` is the probability that neither run retrieved a relevant document.

    Notes
    -----
    Means and variances are those of each run by itself. For the covariance, with :math:`\tau_i` =
    t, s, or t s for documents of A alone, of B alone, and of both, and
    :math:`q_i = p_i \tau_i / (1 - p_i + p_i \tau_i)`,

    .. math::

        E[(AP_A - \mu_A)(AP_B - \mu_B); R_A R_B > 0] = \int_0^1 \int_0^1 \frac{G(t, s)}{t s}
            \Big\{ (E S_A - \mu_A Q_A) (E S_B - \mu_B Q_B) + \sum_i v_i (h^A_i - \mu_A 1^A_i)
            (h^B_i - \mu_B 1^B_i) + \sum_{i<j} v_i v_j w^A_{ij} w^B_{ij} \Big\} dt ds

    where Q sums :math:`q_i` over a run's own documents and :math:`1^A_i` says whether i is one of
    them. Nothing large cancels, as E[AP_A AP_B] less the product of the means would. What is left
    are outcomes in which one R is 0; there the other run's documents that are not common still
    vary, which is an integral over one variable.

    O(n n_nodes^2), and O(n^2) in matrix products for the pairs.

    Examples
    --------
    Two documents, each relevant half of the time; A retrieved the first alone, B both, in reverse:

    >>> moments = own_variation([0.5, 0.5], [[1, np.inf], [2, 1]])
    >>> moments.mean.round(12).tolist(), moments.covariance.round(12).tolist()
    ([0.5, 0.625], [[0.25, 0.0625], [0.0625, 0.171875]])
    """
    checked = check_lists(probabilities, ranks)
    if checked.ranks.shape[0] != 2:
        raise ArgumentError("ranks", "must be of two runs", checked.ranks.shape)
    retrieved = np.isfinite(checked.ranks)
    lists = checked.without((checked.probabilities == 0) | ~retrieved.any(axis=0))
    own = [
        variation(
            checked.probabilities[retrieved[run]], checked.ranks[run : run + 1, retrieved[run]], empty="zero"
        )
        for run in (0, 1)
    ]
    mean = np.array([one.mean[0] for one in own])
    covariance = np.diag([one.covariance[0, 0] for one in own])
    p = lists.probabilities
    n_nodes, error = max(one.n_nodes for one in own), max(one.error for one in own)
    if ((p > 0) & (p < 1)).any():
        rules = [rule_for(*window(p[one]), power=1) for one in np.isfinite(lists.ranks) if one.any()]
        if len(rules) == 2:
            found = _both_found(lists, rules[0], rules[1], mean)
            found += _one_empty(lists, mean)
            covariance[0, 1] = covariance[1, 0] = found
            n_nodes = max(n_nodes, rules[0].t.size * rules[1].t.size)
            error = max(error, rules[0].errors[0] + rules[1].errors[0])
    none_relevant = float(np.prod(1 - p))
    return ScoreMoments(mean, covariance, none_relevant, n_nodes, error)


def _one_empty(lists: JudgedLists, mean: NDArray[np.float64]) -> float:
    """Add up the products of deviations where a run has no relevant document, or both have none."""
    p = lists.probabilities
    none = float(np.prod(1 - p))
    total = -mean[0] * mean[1] * none
    for empty, other in ((0, 1), (1, 0)):
        is_own = np.isfinite(lists.ranks[empty])
        p_empty = float(np.prod(1 - p[is_own]))
        if not p_empty:
            continue
        # The documents of the one being not relevant, the other has what is left.
        left = lists.without(is_own)
        score = 0.0
        if left.probabilities.size:
            rule = rule_for(*window(left.probabilities), power=1)
            tilted = tilt(left.probabilities, rule)
            sums, _ = run_sums(tilted.q, left, other)
            score = float(sums @ (rule.weights[0] * tilted.density))
        total += -mean[empty] * p_empty * (score - mean[other])
    return float(total)


def _both_found(lists: JudgedLists, first: Rule, second: Rule, mean: NDArray[np.float64]) -> float:
    """Integrate over both rules' nodes, one pair of nodes a row."""
    p = lists.probabilities
    in_a, in_b = np.isfinite(lists.ranks)
    total = 0.0
    step = max(1, _BLOCK // (max(p.size, 1) * second.t.size))
    pairs = _pair_weights(lists)
    for start in range(0, first.t.size, step):
        part = slice(start, start + step)
        t = np.repeat(first.t[part], second.t.size)[:, None]
        s = np.tile(second.t, first.t[part].size)[:, None]
        u = np.repeat(first.u[part], second.t.size)[:, None]
        z = np.tile(second.u, first.t[part].size)[:, None]
        tau = np.where(in_a, t, 1.0) * np.where(in_b, s, 1.0)
        lacking = np.where(in_a, u, 0.0) + np.where(in_b, z, 0.0) * np.where(in_a, t, 1.0)
        d = (1 - p) + p * tau
        q = p * tau / d
        v = q * (1 - p) / d
        logs = logarithms(d, p * lacking).sum(axis=1)
        logs -= logarithms(t[:, 0], u[:, 0]) + logarithms(s[:, 0], z[:, 0])
        weights = np.repeat(first.weights[0, part], second.t.size)
        weights = weights * np.tile(second.weights[0], first.t[part].size) * np.exp(logs)
        (sums_a, h_a), (sums_b, h_b) = (run_sums(q, lists, run) for run in (0, 1))
        sums_a -= mean[0] * q[:, in_a].sum(axis=1)
        sums_b -= mean[1] * q[:, in_b].sum(axis=1)
        h_a[:, in_a] -= mean[0]
        h_b[:, in_b] -= mean[1]
        inside = sums_a * sums_b + np.einsum("mi,mi,mi->m", v, h_a, h_b)
        inside += 0.5 * np.einsum("mi,mi->m", v @ pairs, v)
        total += float(weights @ inside)
    return total


def _pair_weights(lists: JudgedLists) -> NDArray[np.float64]:
    """Return what every two documents add to both runs, multiplied, shape (n, n)."""
    inverse = 1 / lists.ranks
    found = np.minimum.outer(inverse[0], inverse[0]) * np.minimum.outer(inverse[1], inverse[1])
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)
