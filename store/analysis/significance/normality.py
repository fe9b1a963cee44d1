r"""How far differences over topics are from normal, as the t test supposes them to be.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 4.2.2, figure 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.significance.t_tests import SAME
from store.errors import ArgumentError

Reason = Literal["fewer-than-two-topics", "no-variation"]


@dataclass(frozen=True, slots=True, eq=False)
class NormalityPicture:
    """The points of figure 3 of [1]_ and the curve beside them."""

    reason: Reason | None
    """Why there is no curve; ``None`` when there is one."""
    differences: NDArray[np.float64]
    """Shape (n_topics,), ascending: the x of each point."""
    shares: NDArray[np.float64]
    """Shape (n_topics,): n / n_topics for the n-th difference, the y of each point."""
    standardised: NDArray[np.float64]
    """Shape (n_topics,), ascending: differences less their mean, in standard deviations."""
    normal: NDArray[np.float64]
    """Shape (n_topics,): the normal distribution at each difference, in [0, 1]."""
    mean: float
    standard_deviation: float
    """Over n_topics - 1; NaN with fewer than two topics."""
    largest_distance: float
    """Between steps and curve, in [0, 1]: the statistic of Kolmogorov and Smirnov. Mean and
    variance are estimated, so their tables do not hold for it; Lilliefors' do."""

    @property
    def n_topics(self) -> int:
        """Topics in the picture."""
        return int(self.differences.size)

    def curve(self, at: NDArray[np.float64]) -> NDArray[np.float64]:
        """Compute the normal curve at any differences, for drawing: in [0, 1], NaN where there is none."""
        from scipy.special import ndtr

        at = np.asarray(at, dtype=np.float64)
        if self.reason is not None:
            return np.full(at.shape, np.nan)
        return np.asarray(ndtr((at - self.mean) / self.standard_deviation))


def normality_picture(differences: NDArray[np.float64]) -> NormalityPicture:
    r"""Lay the distribution of differences over topics beside the normal curve.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_topics,)
        Score of the first run less score of the second, by topic; finite.

    Returns
    -------
    NormalityPicture
        Without a curve (NaN) for the reasons ``fewer-than-two-topics`` and ``no-variation``.

    Notes
    -----
    Figure 3 of [1]_: the n-th smallest difference is drawn at height n/L, beside the normal
    distribution of the same mean and sample variance. O(n_topics log n_topics).

    Examples
    --------
    Mean 2, standard deviation 1:

    >>> picture = normality_picture(np.array([3.0, 1.0, 2.0]))
    >>> picture.shares.round(3).tolist(), picture.normal.round(3).tolist()
    ([0.333, 0.667, 1.0], [0.159, 0.5, 0.841])
    >>> round(picture.largest_distance, 3)  # 1/3 - .159, and .841 - 2/3
    0.175
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all():
        requirement = "must be finite and one-dimensional"
        raise ArgumentError("differences", requirement, values.tolist())
    values = np.sort(values)
    n_topics = values.size
    shares = np.arange(1, n_topics + 1) / max(n_topics, 1)
    mean = float(np.mean(values)) if n_topics else np.nan
    deviation = float(np.std(values, ddof=1)) if n_topics > 1 else np.nan
    reason: Reason | None = None
    standardised = normal = np.full(values.shape, np.nan)
    distance = np.nan
    if n_topics < 2 or np.ptp(values) <= SAME:
        reason = "fewer-than-two-topics" if n_topics < 2 else "no-variation"
    else:
        from scipy.special import ndtr

        standardised = (values - mean) / deviation
        normal = np.asarray(ndtr(standardised))
        above, below = shares - normal, normal - (shares - 1 / n_topics)
        distance = float(max(above.max(), below.max()))
    return NormalityPicture(
        reason=reason,
        differences=values,
        shares=shares,
        standardised=standardised,
        normal=normal,
        mean=mean,
        standard_deviation=deviation,
        largest_distance=distance,
    )


def shapiro_wilk(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Test whether numbers, finite and in any order, are of a normal law, with Shapiro and Wilk's W.

    W and p, both in (0, 1]; ``None`` with fewer than three numbers, or where all are the same. SciPy's, after
    Royston (1995); p is an approximation above 3 numbers.

    >>> w, p = shapiro_wilk(np.array([-1.0, 0.0, 1.0]))
    >>> round(w, 6), round(p, 6)
    (1.0, 1.0)
    """
    if values.size < 3 or np.ptp(values) <= SAME:
        return None, None
    from scipy.stats import shapiro

    w, p = shapiro(values)
    return float(w), float(p)
