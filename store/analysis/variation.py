r"""How average precision varies when judgements do: exact means, variances and covariances.

Judges differ, so the relevance of a document is not sure: document i is judged relevant with
probability :math:`p_i`, independently of the others. Kishida [1]_ simulates what that does to AP;
here it is an integral over t in (0, 1) of plain sums, which a rule of some forty nodes gives to
twelve digits. R, in the denominator, varies too and is not taken to be fixed.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), sections 3.2 and 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.empty_outcomes import Empty, chance_left
from store.analysis.pair_terms import cross_pair_sum, pair_matrix, pair_sum_of_run
from store.analysis.quadrature import TOLERANCE, rule_for, window
from store.analysis.tilted import JudgedLists, Tilted, check_lists, run_sums, tilt

_BLOCK = 4_000_000
"""Numbers of all runs and nodes that are held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Variation:
    """First and second moments of AP over repeated judging of one topic."""

    mean: NDArray[np.float64]
    """Shape (n_runs,): E[AP], in [0, 1]; NaN, as are covariances, where no outcome counts."""
    covariance: NDArray[np.float64]
    """Shape (n_runs, n_runs): of AP, symmetric; the diagonal is the variance of each run."""
    none_relevant: float
    """Probability that no document is relevant."""
    n_nodes: int
    """Nodes of the quadrature; 0 = nothing varies, or there is nothing to integrate."""
    error: float
    """Bound, known beforehand, of the relative error of the quadrature in means and variances.

    Of a covariance it bounds the error in units of the two standard deviations. Rounding comes to
    some 1e-15 besides, 1e-14 with thousands of documents.
    """


def variation(
    probabilities: ArrayLike,
    ranks: ArrayLike,
    *,
    empty: Empty = "given",
    tolerance: float = TOLERANCE,
) -> Variation:
    r"""Compute mean and covariance of the average precision of runs on one topic.

    Parameters
    ----------
    probabilities : array of float, shape (n_documents,)
        Of each document to be judged relevant, from 0 to 1. R counts all of them: also those that
        no run retrieved (pool mode). For R in own mode of one run give that run's documents alone;
        for two runs see `own_variation`.
    ranks : array of float, shape (n_runs, n_documents)
        Rank of each document in each run, from 1 on; infinite = not retrieved. Documents without a
        chance to be relevant may be left out: they occupy ranks and do no more.
    empty : {"given", "zero"}, default="given"
        Whether outcomes without a relevant document are left out or have an AP of 0; see
        `store.analysis.empty_outcomes`.
    tolerance : float, default=1e-12
        Wanted bound of the error; see `Variation.error`.

    Returns
    -------
    Variation
        With ``given`` of the law given R > 0, which does not exist where every probability is 0.

    Raises
    ------
    ArgumentError
        If a probability is none, a rank is below 1 or stands twice in a run, or shapes differ.

    Notes
    -----
    With n documents, :math:`AP = S/R`, :math:`S = \sum_i x_i / a_i + \sum_{i<j} w_{ij} x_i x_j`,
    :math:`w_{ij} = 1 / \max(a_i, a_j)`, and :math:`1/R = \int_0^1 t^{R-1} dt`, and with ``zero``:

    .. math::

        E[AP] &= \int_0^1 \frac{G(t)}{t} E_t S \, dt

        Cov(AP_A, AP_B) &= \int_0^1 (-\ln t) \frac{G(t)}{t} \Big\{
            (E_t S_A - \mu_A Q)(E_t S_B - \mu_B Q) + \sum_i v_i (h^A_i - \mu_A)(h^B_i - \mu_B) +
            \sum_{i<j} v_i v_j w^A_{ij} w^B_{ij} \Big\} dt + \mu_A \mu_B P(R = 0)

    where every term of a variance is positive, so that nothing cancels. With ``given``, the mean is
    the first integral over P(R > 0), and the covariance the second one, with the new means in it,
    over P(R > 0); there is no further term. Documents never retrieved
    count in the middle sum: each of them, found relevant, lowers AP.

    One run costs O(n n_nodes), two O(n log(n) n_nodes), and k runs O(k n n_nodes + k^2 n^2) in
    matrix products; memory is bounded whatever k.

    Examples
    --------
    Two documents at ranks 1 and 2, each relevant half of the time: AP is 1, 1 or 1/2; or 0.

    >>> moments = variation([0.5, 0.5], [[1, 2]])
    >>> moments.mean.round(6).tolist(), moments.covariance.round(6).tolist()
    ([0.833333], [[0.055556]])
    >>> variation([0.5, 0.5], [[1, 2]], empty="zero").mean.round(12).tolist()
    [0.625]
    """
    given = check_lists(probabilities, ranks)
    lists = given.without(given.probabilities == 0)
    p = lists.probabilities
    n_runs = lists.ranks.shape[0]
    left = chance_left(p, empty)
    if not p.size:
        value = 0.0 if left else np.nan
        return Variation(np.full(n_runs, value), np.full((n_runs, n_runs), value), 1.0, 0, 0.0)
    is_random = p < 1
    if not is_random.any():
        sums = [run_sums(np.ones((1, p.size)), lists, run)[0][0] for run in range(n_runs)]
        return Variation(np.array(sums) / p.size, np.zeros((n_runs, n_runs)), 0.0, 0, 0.0)
    tilted = tilt(p, rule_for(*window(p), tolerance=tolerance))
    mean, covariance = _moments(lists, tilted, is_random, left)
    none_relevant = float(np.exp(np.log1p(-p).sum())) if is_random.all() else 0.0
    if empty == "zero":
        covariance += np.outer(mean, mean) * none_relevant
    rule = tilted.rule
    return Variation(mean, covariance, none_relevant, rule.t.size, max(rule.errors[:2]))


def _moments(
    lists: JudgedLists, tilted: Tilted, is_random: NDArray[np.bool_], left: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Integrate, over the chance of what is left; the covariance lacks the part of R = 0."""
    rule = tilted.rule
    n_runs = lists.ranks.shape[0]
    n_nodes, n_documents = tilted.q.shape
    of_mean = rule.weights[0] * tilted.density
    of_square = rule.weights[1] * tilted.density
    if n_runs * n_nodes * n_documents <= _BLOCK:
        found = [run_sums(tilted.q, lists, run) for run in range(n_runs)]
        sums = np.array([one for one, _ in found])
        mean = sums @ of_mean / left
        covariance = _linear_part(tilted, slice(None), mean, sums, [h for _, h in found], is_random)
    else:
        sums = np.array([run_sums(tilted.q, lists, run)[0] for run in range(n_runs)])
        mean = sums @ of_mean / left
        covariance = np.zeros((n_runs, n_runs))
        step = max(1, _BLOCK // (n_runs * n_documents))
        for first in range(0, n_nodes, step):
            part = slice(first, first + step)
            effects = [run_sums(tilted.q[part], lists, run)[1] for run in range(n_runs)]
            covariance += _linear_part(tilted, part, mean, sums[:, part], effects, is_random)
    covariance += _pair_part(lists, tilted.v, of_square, is_random)
    return mean, covariance / left


def _linear_part(
    tilted: Tilted,
    part: slice,
    mean: NDArray[np.float64],
    sums: NDArray[np.float64],
    effects: list[NDArray[np.float64]],
    is_random: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Integrate all but the pairs of documents, over some of the nodes."""
    weights = tilted.rule.weights[1, part] * tilted.density[part]
    centred = sums - mean[:, None] * tilted.q[part].sum(axis=1)
    roots = np.sqrt(weights[:, None] * tilted.v[part][:, is_random])
    rows = np.empty((len(effects), roots.size))
    for run, h in enumerate(effects):
        rows[run] = (roots * (h[:, is_random] - mean[run])).ravel()
    return np.asarray((centred * weights) @ centred.T + rows @ rows.T)


def _pair_part(
    lists: JudgedLists,
    v: NDArray[np.float64],
    weights: NDArray[np.float64],
    is_random: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Integrate the pairs of documents."""
    n_runs = lists.ranks.shape[0]
    if n_runs > 2:
        return pair_matrix(lists.ranks[:, is_random], v[:, is_random], weights)
    pairs = np.empty((n_runs, n_runs))
    for run in range(n_runs):
        order = lists.order[run, : lists.n_retrieved[run]]
        order = order[is_random[order]]
        pairs[run, run] = pair_sum_of_run(lists.ranks[run, order], v[:, order], weights)
    if n_runs == 2:
        both = is_random & np.isfinite(lists.ranks).all(axis=0)
        first, second = lists.ranks[:, both]
        pairs[0, 1] = pairs[1, 0] = cross_pair_sum(first, second, v[:, both], weights)
    return pairs
