"""What one judge's scores add to another's, run by run, and whether some runs gain more than others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import Interval, ratio_of_sums, topic_bootstrap
from store.analysis.significance.pairs import holm
from store.analysis.significance.t_tests import TTest, paired_t
from store.errors import ArgumentError


@dataclass(frozen=True, slots=True, eq=False)
class Bias:
    """Differences of scores, the second judge's less the first one's."""

    of_runs: NDArray[np.float64]
    """Shape (n_runs,): mean over topics."""
    mean: float
    """Over topics and the runs that count."""
    interval: Interval
    """Of the mean, over topics."""
    own: tuple[TTest, ...]
    """For each run, whether it gains more than the runs do on the average: a paired t test over topics."""
    p_holm: NDArray[np.float64]
    """Shape (n_runs,): their p, adjusted for the number of runs; NaN = undefined."""
    correlation: float | None
    """Pearson's, of runs' biases and their scores by the first judge; ``None`` where one does not vary."""


def bias(
    human: NDArray[np.float64],
    model: NDArray[np.float64],
    *,
    seed: int,
    resamples: int,
    counted: NDArray[np.bool_] | None = None,
) -> Bias:
    r"""Measure by how much one judge's scores lie above another's.

    Parameters
    ----------
    human, model : ndarray of float64, shape (n_runs, n_topics)
        Scores by the first judge and by the second; finite.
    seed, resamples : int
        Of the bootstrap over topics.
    counted : ndarray of bool, shape (n_runs,), optional
        Runs that means and the correlation are over, one at least; default all. The others, too, are held
        against their mean.

    Returns
    -------
    Bias
        With :math:`d_{rt}` the difference in scores, run r has the bias :math:`\bar d_r` and, of its own,
        :math:`e_{rt} = d_{rt} - \bar d_t`, whose mean over topics is tested. A negative `correlation` is a
        ceiling: good runs cannot gain as much, so a favour to them does not show.

    Examples
    --------
    >>> human, model = np.array([[0.1, 0.2], [0.2, 0.4]]), np.array([[0.3, 0.4], [0.2, 0.5]])
    >>> found = bias(human, model, seed=1, resamples=100)
    >>> found.of_runs.round(3).tolist(), round(found.mean, 3)
    ([0.2, 0.05], 0.125)
    >>> [round(one.difference, 3) for one in found.own]
    [0.075, -0.075]
    """
    differences = np.asarray(model, dtype=np.float64) - np.asarray(human, dtype=np.float64)
    counted = np.ones(len(differences), dtype=np.bool_) if counted is None else counted
    of_runs, by_topic = differences.mean(axis=1), differences[counted].mean(axis=0)
    own = tuple(paired_t(row) for row in differences - by_topic)
    x, y = of_runs[counted], np.mean(human, axis=1)[counted]
    varies = x.size > 1 and min(np.ptp(x), np.ptp(y)) > 1e-12
    return Bias(
        of_runs=of_runs,
        mean=float(by_topic.mean()),
        interval=_mean_interval(by_topic, seed=seed, resamples=resamples),
        own=own,
        p_holm=holm([np.nan if one.p is None else one.p for one in own]),
        correlation=float(np.corrcoef(x, y)[0, 1]) if varies else None,
    )


@dataclass(frozen=True, slots=True)
class Favour:
    """What some runs gain over the others."""

    test: TTest
    """Its `difference` is the mean over topics; a paired t test."""
    interval: Interval
    """Over topics."""


def favour(
    differences: NDArray[np.float64], chosen: NDArray[np.bool_], *, seed: int, resamples: int
) -> Favour | None:
    """Measure whether some runs gain more from the second judge than the others do.

    Topic by topic, the mean gain of the chosen runs less that of the others, from `differences`, scores by
    the second judge less those by the first, shape (n_runs, n_topics); ``None`` where there are none of one
    of the two.
    """
    if chosen.all() or not chosen.any():
        return None
    by_topic = differences[chosen].mean(axis=0) - differences[~chosen].mean(axis=0)
    return Favour(paired_t(by_topic), _mean_interval(by_topic, seed=seed, resamples=resamples))


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """How much likelier one judge calls documents of some runs relevant, at equal grades of another."""

    value: float | None
    """Above 0, 1 = no likelier; ``None`` where no stratum has documents of both kinds that differ."""
    interval: Interval
    """Over topics."""
    n_exposed: int
    """Documents that only these runs found."""
    n_others: int


def exposure_odds(
    topics: NDArray[np.int64],
    grades: NDArray[np.int64],
    exposed: NDArray[np.bool_],
    relevant: NDArray[np.bool_],
    *,
    seed: int,
    resamples: int,
) -> OddsRatio:
    r"""Measure whether a judge calls exposed documents relevant more readily than others of the same grade.

    Parameters
    ----------
    topics, grades : ndarray of int64, shape (n_documents,)
        Code of the topic, and place of the first judge's grade, both from 0: the strata.
    exposed : ndarray of bool, shape (n_documents,)
        Whether the document was found by the runs that are asked about, and by no other.
    relevant : ndarray of bool, shape (n_documents,)
        Whether the second judge calls it relevant.
    seed, resamples : int
        Of the bootstrap over topics.

    Returns
    -------
    OddsRatio
        `ArgumentError` if the arrays differ in length.

    Notes
    -----
    .. math:: \psi = \frac{\sum_s a_s d_s / n_s}{\sum_s b_s c_s / n_s}    [1]_

    over strata s of n documents: a exposed and relevant, b exposed and not, c other and relevant, d neither.

    References
    ----------
    .. [1] N. Mantel and W. Haenszel, "Statistical aspects of the analysis of data from retrospective studies
       of disease", *Journal of the National Cancer Institute* 22(4), 719-748, 1959.

    Examples
    --------
    One stratum with 2 of 3 exposed and 1 of 3 other documents relevant: (2 * 2) / (1 * 1).

    >>> zeros = np.zeros(6, dtype=np.int64)
    >>> exposed, relevant = np.array([1, 1, 1, 0, 0, 0]) > 0, np.array([1, 1, 0, 1, 0, 0]) > 0
    >>> exposure_odds(zeros, zeros, exposed, relevant, seed=1, resamples=100).value
    4.0
    """
    if len({len(topics), len(grades), len(exposed), len(relevant)}) > 1:
        raise ArgumentError("exposed", f"must be {len(topics)} documents, as the others", len(exposed))
    n_topics, n_grades = (1 + int(codes.max(initial=-1)) for codes in (topics, grades))
    cells = ((topics * n_grades + grades) * 2 + exposed) * 2 + relevant
    counts = np.bincount(cells, minlength=n_topics * n_grades * 4).reshape(n_topics, n_grades, 2, 2)
    n = np.maximum(counts.sum(axis=(2, 3)), 1)
    right = (counts[..., 1, 1] * counts[..., 0, 0] / n).sum(axis=1)
    left = (counts[..., 1, 0] * counts[..., 0, 1] / n).sum(axis=1)
    sums = np.stack([right, left], axis=1).reshape(n_topics, 2)
    interval = topic_bootstrap(sums, ratio_of_sums, seed=seed, resamples=resamples)
    n_exposed = int(np.count_nonzero(exposed))
    below = float(left.sum())
    value = float(right.sum()) / below if below else None
    return OddsRatio(value, interval, n_exposed, len(exposed) - n_exposed)


def _mean_interval(by_topic: NDArray[np.float64], *, seed: int, resamples: int) -> Interval:
    n_topics = by_topic.size
    how = {"seed": seed, "resamples": resamples}
    return topic_bootstrap(by_topic, lambda sums: sums / n_topics, units=np.ones(n_topics, np.bool_), **how)
