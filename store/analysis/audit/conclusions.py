"""Which pairs of runs differ significantly by one judge's scores, and which by another's."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.significance.pairs import compare_pairs

Conclusion = Literal["both", "opposite", "vanishes", "appears", "neither", "neither-opposite"]
CONCLUSIONS: tuple[Conclusion, ...] = get_args(Conclusion)


def conclusions(
    human: NDArray[np.float64], model: NDArray[np.float64], *, alpha: float
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Say of every pair of runs what two judges' scores conclude.

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
