"""Corrected levels with the model's order: corrections of runs shrunk to their mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Composite:
    """Scores between a model's and corrected ones; they have no interval."""

    scores: NDArray[np.float64]
    """Shape (n_runs,)."""
    kept: float
    """B, the share of a run's own correction that is kept, in [0, 1]; 0 = only the common level was
    corrected; NaN of one run."""
    common: float
    """Mean correction."""


def composite(
    model: NDArray[np.float64], corrected: NDArray[np.float64], covariance: NDArray[np.float64]
) -> Composite:
    r"""Correct the level of all runs, and their order as far as the sample tells it.

    Parameters
    ----------
    model, corrected : ndarray of float64, shape (n_runs,)
        Mean scores by the model, and corrected ones.
    covariance : ndarray of float64, shape (n_runs, n_runs)
        Of the corrected ones; NaN = not known, and neither are the scores then.

    Returns
    -------
    Composite
        With :math:`b_r` corrected less model, :math:`V_r` the variance of :math:`b_r - \bar b`,
        :math:`\tau^2 = \max(0, \sum (b_r - \bar b)^2 / (R - 1) - \bar V)` and
        :math:`B = \tau^2 / (\tau^2 + \bar V)`, scores are model + :math:`\bar b + B (b_r - \bar b)`.

    Notes
    -----
    Empirical Bayes with a normal law for the runs' own corrections. Not known: coverage; its intervals were
    tried and do not cover.

    Examples
    --------
    b = .1, .3; each b_r less their mean has variance .005; tau^2 = .02 - .005, B = .75:

    >>> found = composite(np.array([0.5, 0.4]), np.array([0.6, 0.7]), np.eye(2) * 0.01)
    >>> found.scores.round(4).tolist(), round(found.kept, 4), round(found.common, 4)
    ([0.625, 0.675], 0.75, 0.2)
    """
    own = corrected - model
    common = float(own.mean())
    across = covariance.mean(axis=0)
    variance = float(np.mean(np.diag(covariance) - 2 * across + across.mean()))
    if own.size < 2:
        return Composite(corrected.copy(), float("nan"), common)
    between = max(0.0, float(np.sum((own - common) ** 2)) / (own.size - 1) - variance)
    if np.isnan(variance):
        between = float("nan")
    kept = between / (between + variance) if between else 0.0
    return Composite(model + common + kept * (own - common), kept, common)
