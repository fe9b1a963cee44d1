r"""The sign test and Wilcoxon's signed-rank test of two runs over the same topics, on rounded differences.

References
----------
.. [1] F. Wilcoxon, "Individual comparisons by ranking methods", *Biometrics Bulletin* 1(6), 80-83,
   1945, doi:10.2307/3001968.
.. [2] W. J. Conover, *Practical Nonparametric Statistics*, 3rd edition, Wiley, 1999, sections 3.4 and 5.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import vector
from store.analysis.significance.randomisation import RESOLUTION, rounded_differences, sign_flip_p
from store.analysis.significance.t_tests import normal_p

SignReason = Literal["no-topics", "no-difference"]
"""Why there is no p: no topic at all, or only differences that round to 0."""

MOST_EXACT = 1000
"""Differing topics up to which p is exact; beyond, the approximation is right to four digits."""


@dataclass(frozen=True, slots=True)
class SignTest:
    """Whether one run is ahead in more topics than chance would have it."""

    p: float | None
    """Two-sided and exact, in (0, 1]; ``None`` when it is undefined."""
    reason: SignReason | None
    """``None`` when there is a p."""
    positive: int
    """Topics in which the first run is ahead."""


def sign_test(differences: NDArray[np.float64], *, resolution: float = RESOLUTION) -> SignTest:
    """Test by the signs of differences whether two runs differ, with the arguments of `randomisation_test`.

    p is twice the smaller tail of the binomial law with 1/2, at most 1. Differences that round to 0 are left
    out (section 3.4 of [2]_).

    Examples
    --------
    Ahead in one of five topics: p = 2 (1 + 5) / 32.

    >>> sign_test(np.array([0.1, -0.1, -0.2, -0.1, -0.3])).p
    0.375
    """
    whole = rounded_differences(differences, resolution=resolution)
    positive, negative = int((whole > 0).sum()), int((whole < 0).sum())
    if not positive + negative:
        return SignTest(None, "no-difference" if whole.size else "no-topics", 0)
    n_topics = positive + negative
    # In whole numbers: 4 to 3 is 1, not 1 but for rounding.
    ways = one = 1
    for fewer in range(min(positive, negative)):
        one = one * (n_topics - fewer) // (fewer + 1)
        ways += one
    return SignTest(min(1.0, 2 * ways / 2**n_topics), None, positive)


@dataclass(frozen=True, slots=True)
class WilcoxonTest:
    """Whether the signed ranks of differences lean to one run."""

    p: float | None
    """Two-sided, ties allowed for, in (0, 1]; exact up to `MOST_EXACT` differing topics, then
    `p_normal`. ``None`` when it is undefined."""
    p_normal: float | None
    """Two-sided, by the normal approximation with ties allowed for and no correction for
    continuity: what is published for tied differences. ``None`` as `p`."""
    reason: SignReason | None
    """``None`` when there is a p."""
    positive: float
    """Sum of the ranks of the topics where the first run is ahead."""


def wilcoxon_test(differences: NDArray[np.float64], *, resolution: float = RESOLUTION) -> WilcoxonTest:
    r"""Test by signed ranks whether two runs differ.

    Parameters
    ----------
    differences, resolution
        As in `randomisation_test`.

    Returns
    -------
    WilcoxonTest
        Both p-values. Reasons: ``no-topics``, ``no-difference``.

    Notes
    -----
    Absolute differences that are not 0 are ranked from 1, as in [1]_, tied ones by the mean of their ranks.
    The exact p is that of `sign_flip_p` on twice the signed ranks, which are whole numbers. The
    approximation divides by the variance of the signed ranks,

    .. math:: z = \frac{\sum_h \pm r_h}{\sqrt{\sum_h r_h^2}}    (section 5.7 of [2]_)

    It asks for a symmetric distribution of the differences, and answers for their median rather
    than for the difference of the means. O(n_topics**3), .2 s for 1,000 topics.

    Examples
    --------
    Ranks 1, 2, 3.5, 3.5, the least negative: sums 9 and 1, and 2 of 8 kinds of sign are as extreme.

    >>> test = wilcoxon_test(np.array([-0.1, 0.2, 0.3, 0.3]))
    >>> test.positive, test.p
    (9.0, 0.25)
    """
    whole = rounded_differences(vector("differences", differences), resolution)
    doubled = doubled_signed_ranks(whole)
    if not whole.any():
        return WilcoxonTest(None, None, "no-difference" if whole.size else "no-topics", 0.0)
    positive = float(doubled[doubled > 0].sum() / 2)
    return WilcoxonTest(signed_rank_p(doubled), _normal_p(doubled), None, positive)


def signed_rank_p(doubled: NDArray[np.int64]) -> float:
    """Compute p of `wilcoxon_test` from what `doubled_signed_ranks` gives.

    In (0, 1]: exact up to `MOST_EXACT` ranks, then by the normal approximation. One rank at least
    is not 0.

    >>> signed_rank_p(np.array([-2, 4, 7, 7]))
    0.25
    """
    exact = np.count_nonzero(doubled) <= MOST_EXACT
    return sign_flip_p(doubled) if exact else _normal_p(doubled)


def doubled_signed_ranks(whole: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rank whole numbers by their size, times 2 and with their sign.

    Shape (n,): twice the rank among those that are not 0, ties by the mean of their ranks; 0 where
    the rounded difference is 0.

    >>> doubled_signed_ranks(np.array([-5, 0, 5, 7])).tolist()
    [-3, 0, 3, 6]
    """
    sizes, place, count = np.unique(np.abs(whole), return_inverse=True, return_counts=True)
    count = np.where(sizes == 0, 0, count)
    last = np.cumsum(count)
    doubled = 2 * last - count + 1
    ranks: NDArray[np.int64] = np.sign(whole) * doubled[place]
    return ranks


def _normal_p(doubled: NDArray[np.int64]) -> float:
    z = float(doubled.sum()) / math.sqrt(float(np.sum(doubled.astype(np.float64) ** 2)))
    return normal_p(z)
