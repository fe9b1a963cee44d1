"""How far scores by one judge order runs, and tell them apart, as those by another do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import Interval, topic_bootstraps, topic_weights
from store.analysis.run_order import TauResult, kendall_tau_b, tau_ap
from store.analysis.significance.pairs import compare_pairs
from store.errors import ArgumentError

DIGITS = 10
"""Means are rounded to as many decimals before runs are put in order: sums of the same scores in another
order differ in the last bit, and would break ties."""
LEAST_TOP = 3
"""Fewer best runs have no order to speak of."""
Conclusion = Literal["both", "opposite", "vanishes", "appears", "neither", "neither-opposite"]
CONCLUSIONS: tuple[Conclusion, ...] = get_args(Conclusion)
"""Of a pair of runs, by two judges; see `conclusions`."""

_AT_ONCE = 500
"""Resamples whose pairs of runs are compared at once."""


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """Two orders of the same runs over the same topics."""

    tau: TauResult
    tau_interval: Interval
    tau_ap: TauResult
    """Down the order of the second judge, the first one's taken for true; every tied pair is half right."""
    tau_ap_interval: Interval
    n_top: int
    """Runs at or above the score of the last of the best runs asked for: more where runs are tied."""
    tau_top: TauResult
    """tau-b among these; also ``too-few-runs`` where they are fewer than `LEAST_TOP`."""
    tau_top_interval: Interval
    ceiling: float | None
    """Mean tau-b of the first judge's order on resampled topics and on all; ``None`` = undefined."""
    best: int
    """The first judge's best run, of several tied the first in the array."""
    best_place: int
    """Its place by the second: one more than there are runs above."""


def mean_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over topics, the last axis, rounded to `DIGITS`."""
    return np.asarray(np.round(scores.mean(axis=-1), DIGITS))


def top_runs(means: NDArray[np.float64], top: int) -> NDArray[np.bool_]:
    """Return which runs are at or above the mean at place `top`; all where there are no more; last axis."""
    at = min(top, means.shape[-1]) - 1
    limit = np.sort(means, axis=-1)[..., ::-1][..., at : at + 1]
    return np.asarray(means >= limit)


def order_agreement(
    human: NDArray[np.float64], model: NDArray[np.float64], *, top: int, seed: int, resamples: int
) -> OrderAgreement:
    """Compare the orders of runs that two judges' scores give.

    Parameters
    ----------
    human, model : ndarray of float64, shape (n_runs, n_topics)
        Scores by the first judge, taken for true, and by the second; finite. At least one run and one topic.
    top : int
        How many of the best runs to look at apart, at least 1.
    seed, resamples : int
        Of the bootstrap over topics: both judges' scores of the same topics are drawn.

    Returns
    -------
    OrderAgreement
        Percentiles are of resamples; the best runs are chosen anew in each. A tau of resampled topics is
        lower on the average than that of all topics, as each order then has noise of its own: `ceiling` is
        what the first judge's own order has against itself. `ArgumentError` if the arrays differ in shape,
        are empty, or hold a value that is not finite.

    Notes
    -----
    tau-b is Kendall's [1]_, tau_AP that of [2]_, down the order of the model, with ties as
    `store.analysis.run_order.tau_ap` has them. O(resamples * (n_runs**2 + n_runs * n_topics)).

    References
    ----------
    .. [1] M. G. Kendall, "The treatment of ties in ranking problems", *Biometrika* 33(3), 239-251, 1945,
       doi:10.1093/biomet/33.3.239.
    .. [2] E. Yilmaz, J. A. Aslam and S. Robertson, "A new rank correlation coefficient for information
       retrieval", *SIGIR* 2008, 587-594, doi:10.1145/1390334.1390435.

    Examples
    --------
    >>> human = np.array([[0.9, 0.7], [0.5, 0.5], [0.1, 0.3]])
    >>> found = order_agreement(human, human[[1, 0, 2]], top=3, seed=1, resamples=100)
    >>> found.tau.tau, found.tau_ap.tau, found.best_place
    (0.333..., 0.0, 2)
    """
    human, model = np.asarray(human, dtype=np.float64), np.asarray(model, dtype=np.float64)
    if human.ndim != 2 or human.shape != model.shape or not human.size:
        requirement = "must be runs by topics, one at least, as `human` is"
        raise ArgumentError("model", requirement, f"shapes {human.shape} and {model.shape}")
    means_h, means_m = mean_scores(human), mean_scores(model)
    is_top = top_runs(means_h, top)
    n_top = int(np.count_nonzero(is_top))
    of_top = kendall_tau_b(means_h[is_top], means_m[is_top])
    if n_top < LEAST_TOP:
        of_top = TauResult(None, "too-few-runs")
    first, second = np.triu_indices(len(human), 1)
    n_topics = human.shape[1]

    def taus(sums: NDArray[np.float64], *, of_best: bool) -> NDArray[np.float64]:
        means = np.round(sums / n_topics, DIGITS)
        best = top_runs(means[:, 0], top) if of_best else None
        found = _taus(means[:, 0], means[:, 1], first, second, best)
        return found if n_top >= LEAST_TOP or not of_best else np.full(len(found), np.nan)

    def taus_ap(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        means = np.round(sums / n_topics, DIGITS)
        found = (tau_ap(of_model, of_human).tau for of_human, of_model in means)
        return np.array([np.nan if one is None else one for one in found], dtype=np.float64)

    sums = np.stack([human.T, model.T], axis=1)
    intervals = topic_bootstraps(
        sums,
        {"all": partial(taus, of_best=False), "ap": taus_ap, "top": partial(taus, of_best=True)},
        seed=seed,
        resamples=resamples,
        units=np.ones(n_topics, dtype=np.bool_),
    )
    own = np.empty(0)  # tau-b of the first judge's order on resampled topics and on all
    if n_topics > 1:
        resampled = (weights @ human.T / n_topics for weights in topic_weights(n_topics, resamples, seed))
        of_all = means_h[np.newaxis]
        own = np.concatenate([_taus(np.round(one, DIGITS), of_all, first, second, None) for one in resampled])
        own = own[np.isfinite(own)]
    best = int(np.argmax(means_h))
    return OrderAgreement(
        tau=kendall_tau_b(means_h, means_m),
        tau_interval=intervals["all"],
        tau_ap=tau_ap(means_m, means_h),
        tau_ap_interval=intervals["ap"],
        n_top=n_top,
        tau_top=of_top,
        tau_top_interval=intervals["top"],
        ceiling=float(own.mean()) if own.size else None,
        best=best,
        best_place=int(1 + np.sum(means_m > means_m[best])),
    )


def _taus(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    chosen: NDArray[np.bool_] | None,
) -> NDArray[np.float64]:
    """Return tau-b of every row, shape (n_rows,), NaN = undefined; of the chosen runs alone, if any are."""
    found = np.empty(len(x))
    for start in range(0, len(x), _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        of_y = y if len(y) == 1 else y[rows]
        signs_x = np.sign(x[rows][:, first] - x[rows][:, second])
        signs_y = np.sign(of_y[:, first] - of_y[:, second])
        if chosen is not None:
            both = chosen[rows][:, first] & chosen[rows][:, second]
            signs_x, signs_y = signs_x * both, signs_y * both
        surplus = np.sum(signs_x * signs_y, axis=1)
        untied = np.abs(signs_x).sum(axis=1) * np.abs(signs_y).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[rows] = surplus / np.sqrt(untied)
    return found


def conclusions(
    human: NDArray[np.float64], model: NDArray[np.float64], *, alpha: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return for every pair of runs what two judges' scores conclude.

    Parameters
    ----------
    human, model : ndarray of float64, shape (n_runs, n_topics)
        Scores by the first judge and by the second; finite.
    alpha : float
        Level of the paired t test of each pair, two-sided, in (0, 1); not adjusted for the number of pairs.

    Returns
    -------
    ndarray of int64, shape (n_pairs,)
        Index into `CONCLUSIONS`, pairs in the order of ``np.triu_indices(n_runs, 1)``: significant by both
        in the same or in opposite directions, by the first alone, by the second alone, or by neither, in
        the same direction or in others.
    ndarray of bool, shape (n_pairs,)
        Whether the means differ in opposite directions; means that are level to 10 decimals have none.

    Notes
    -----
    The kinds are those of [1]_ and [2]_: active agreement and disagreement, mixed (two ways), passive
    agreement and disagreement. A pair that differs by the same in every topic has no t and is not
    significant. O(n_runs**2 * n_topics).

    References
    ----------
    .. [1] A. Moffat, F. Scholer and P. Thomas, "Models and metrics: IR evaluation as a user process", *ADCS*
       2012, 47-54.
    .. [2] N. Ferro and M. Sanderson, "Improving the accuracy of system performance estimation by using
       shards", *SIGIR* 2019.

    Examples
    --------
    >>> human = np.array([[0.1, 0.2, 0.3, 0.1], [0.5, 0.7, 0.8, 0.6]])
    >>> kinds, opposite = conclusions(
    ...     human, np.array([[0.1, 0.2, 0.3, 0.1], [0.2, 0.1, 0.3, 0.4]]), alpha=0.05
    ... )
    >>> CONCLUSIONS[kinds[0]], bool(opposite[0])
    ('vanishes', False)
    """
    both = [compare_pairs(np.asarray(scores), tests=("t",)) for scores in (human, model)]
    by_human, by_model = (one.p_t <= alpha for one in both)  # NaN is not
    signs = [np.sign(np.round(one.difference, 10)) for one in both]
    opposite = signs[0] * signs[1] < 0
    kinds = np.select(
        [by_human & by_model & ~opposite, by_human & by_model, by_human, by_model, ~opposite],
        list(range(5)),
        5,
    )
    return kinds.astype(np.int64), opposite
