r"""Exact tests of two runs on rounded differences: randomisation, signs, signed ranks; studentised bootstrap.

Floating point tells differences apart that are equal: .3 - .2 is not .2 - .1. A test that ranks
differences, or adds them up with other signs, then breaks ties that are there, and its p-value
rests on the last bit. So these tests are defined on rounded differences, and the resolution stands
beside their p-value, which it often moves.

If the two runs were as good as each other, the difference of every topic could as well have had
the other sign. The randomisation test [1]_, [2]_ counts in how many of the :math:`2^L` ways of
setting the signs the mean difference is at least as far from 0 as it is. With whole numbers for
differences, all ways are counted at once, topic by topic, and ties are ties.

References
----------
.. [1] R. A. Fisher, *The Design of Experiments*, Oliver & Boyd, 1935, section 21.
.. [2] M. D. Smucker, J. Allan and B. Carterette, "A comparison of statistical significance tests for
   information retrieval evaluation", *CIKM* 2007, 623-632, doi:10.1145/1321440.1321528.
.. [3] T. Sakai, "Evaluating evaluation metrics based on the bootstrap", *SIGIR* 2006, 525-532,
   doi:10.1145/1148170.1148261.
.. [4] B. Efron and R. J. Tibshirani, *An Introduction to the Bootstrap*, Chapman & Hall, 1993, section 16.4.
.. [5] F. Wilcoxon, "Individual comparisons by ranking methods", *Biometrics Bulletin* 1(6), 80-83, 1945,
   doi:10.2307/3001968.
.. [6] W. J. Conover, *Practical Nonparametric Statistics*, 3rd edition, Wiley, 1999, sections 3.4 and 5.7.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import topic_weights
from store.analysis.significance.t_tests import SAME, normal_p
from store.errors import ArgumentError

RESOLUTION = 1e-4
"""The four digits that trec_eval prints."""

MOST_MULTIPLES = 2**52
"""Above, not every whole number is a float64."""


def rounded_differences(
    differences: NDArray[np.float64], resolution: float = RESOLUTION
) -> NDArray[np.int64]:
    """Round differences to whole multiples of a resolution.

    Parameters
    ----------
    differences : ndarray of float64, shape (...)
        Differences of scores, finite.
    resolution : float, default=1e-4
        Above 0, in the unit of the scores, and not too fine to count the differences in whole numbers.

    Returns
    -------
    ndarray of int64, shape (...)
        Multiples, to the nearest; a half to the even one.

    Examples
    --------
    >>> rounded_differences(np.array([0.3 - 0.2, 0.2 - 0.1, 0.00004]), 0.01).tolist()
    [10, 10, 0]
    """
    values = np.asarray(differences, dtype=np.float64)
    if not (resolution > 0 and np.isfinite(resolution)):
        raise ArgumentError("resolution", "must be above 0", resolution)
    if not np.isfinite(values).all():
        raise ArgumentError("differences", "must be finite", "NaN or infinity")
    if np.max(np.abs(values), initial=0.0) >= MOST_MULTIPLES * resolution:
        raise ArgumentError("resolution", "must not be so fine against the differences", resolution)
    # 1/resolution is a whole number for the usual resolutions, which 1e-4 itself is not.
    inverse = 1 / resolution
    nearest = float(np.rint(inverse))
    scaled = values * nearest if abs(inverse - nearest) < 1e-9 * inverse else values / resolution
    return np.rint(scaled).astype(np.int64)


MOST_STEPS = 20_000_000_000
"""Additions an exact test may take: some ten seconds. A coarser resolution takes fewer."""

MOST_SUMS = 1 << 27
"""Sums of one half of the topics that may be held: 1 GB."""

_RESCALED_EVERY = 1000
"""Topics after which counts are scaled down: 2**1000 is still below the largest float."""


class ExactTest(NamedTuple):
    """How often chance alone makes differences lean to one run as far as they do."""

    p: float | None
    """Two-sided, in (0, 1]; ``None`` when it is undefined."""
    reason: Literal["no-topics", "no-difference"] | None = None
    """Why it is: no topic at all, or, by signs and ranks, only differences that round to 0."""
    ahead: float | None = None
    """By signs, topics in which the first run is ahead; by ranks, the sum of theirs; ``None`` without p."""
    p_normal: float | None = None
    """Of ranks: two-sided, by the normal approximation with ties allowed for and no correction for
    continuity, what is published for tied differences."""


def randomisation_test(differences: NDArray[np.float64], *, resolution: float = RESOLUTION) -> ExactTest:
    r"""Test whether two runs differ, with no assumption on how scores are distributed.

    Parameters
    ----------
    differences : ndarray of float64, shape (n_topics,)
        Score of the first run less score of the second, by topic; finite.
    resolution : float, default=1e-4
        Differences are rounded to multiples of it, see `rounded_differences`; not so fine for so
        many topics that the test would take too long.

    Returns
    -------
    ExactTest
        ``p`` is exact on the rounded differences; 1 when they are all 0. ``None`` with the reason
        ``no-topics``.

    Notes
    -----
    .. math:: p = 2^{-L} \, \#\Bigl\{ s \in \{-1, 1\}^L : \Bigl|\sum_h s_h u_h\Bigr|
              \ge \Bigl|\sum_h u_h\Bigr| \Bigr\}

    With d the sum of the differences and W that of their absolute values, both in multiples of the
    resolution, the condition is that the absolute values with a plus add up to at most (W - \|d\|)/2, or to
    at least (W + \|d\|)/2. The ways to reach each sum are counted for two halves of the topics and joined.
    All terms are positive, so p is right to some 1e-13 of itself, however small. O(n_topics * W / 4) time and
    O(W) memory: 1 ms for 50 topics and some 10 ms for 250, with differences of .15 at the default resolution.

    Examples
    --------
    Five topics, all for the first run: 2 of 32 ways are as extreme.

    >>> randomisation_test(np.array([0.1, 0.2, 0.1, 0.05, 0.3])).p
    0.0625

    Of .1, .1 and -.1 all 8 ways have a sum of at least .1, because ties count:

    >>> randomisation_test(np.array([0.3 - 0.2, 0.2 - 0.1, -0.1])).p
    1.0
    """
    whole = rounded_differences(differences, resolution)
    if not whole.size:
        return ExactTest(None, "no-topics")
    return ExactTest(sign_flip_p(whole, resolution))


def sign_flip_p(whole: NDArray[np.int64], resolution: float | None = None) -> float:
    """Compute the exact p-value of whole numbers whose signs are set at random.

    Parameters
    ----------
    whole : ndarray of int64, shape (n,)
        Any whole numbers: rounded differences, or twice the signed ranks of Wilcoxon's test. `ArgumentError`
        if they are so many and so large that it would take too long.
    resolution : float, optional
        What they were rounded to, for the text of that error.

    Returns
    -------
    float
        Two-sided, in (0, 1]; 1 when there is none, or all are 0.

    Examples
    --------
    >>> sign_flip_p(np.array([1, 2, 3]))  # 2 of 8
    0.25
    """
    sizes = np.sort(np.abs(whole[whole != 0]))
    surplus = abs(int(whole.sum()))
    if surplus == 0:
        return 1.0
    step = int(np.gcd.reduce(sizes))
    sizes //= step
    surplus //= step
    total = int(sizes.sum())
    if sizes.size * total // 4 > MOST_STEPS or total // 2 > MOST_SUMS:
        requirement = f"is too fine for {sizes.size} topics that differ by {total} multiples of it"
        raise ArgumentError("resolution", requirement, resolution, hint="take a coarser one")
    # A plus for the sums up to this one is a tail; the other tail is its mirror image.
    last = (total - surplus) // 2
    # Every second one: halves alike in number and in size.
    few, many = _probabilities(sizes[::2], last), _probabilities(sizes[1::2], last)
    at_most = np.cumsum(many)
    # A sum of the first half takes what is left from the second: all of it, or up to the limit.
    n_whole = min(max(0, last - many.size + 2), few.size)
    n_part = min(last + 1, few.size)
    of_part = at_most[last - n_part + 1 : last - n_whole + 1][::-1]
    # Not a dot product: BLAS would share it among threads, and wait for them longer than it takes.
    few[n_whole:n_part] *= of_part
    tail = float(few[:n_whole].sum() * at_most[-1] + few[n_whole:n_part].sum())
    return min(1.0, 2 * tail)


def _probabilities(sizes: NDArray[np.int64], last: int) -> NDArray[np.float64]:
    """Return the probability of every sum up to `last` when each size counts by even chance."""
    # Two buffers: adding an array to a part of itself would allocate a third, large one each time.
    now, after = np.empty((2, min(int(sizes.sum()), last) + 1))
    now[0] = 1.0
    n_sums, unscaled = 1, 0
    for size in sizes.tolist():
        n_after = min(n_sums + size, now.size)
        low, high = min(size, n_sums), min(max(size, n_sums), n_after)
        after[:low] = now[:low]
        if size < n_sums:
            np.add(now[size:n_sums], now[: n_sums - size], out=after[size:n_sums])
        else:
            after[n_sums:high] = 0.0
        after[high:n_after] = now[high - size : n_after - size]
        now, after, n_sums = after, now, n_after
        unscaled += 1
        if unscaled == _RESCALED_EVERY:
            now[:n_sums] *= 0.5**unscaled
            unscaled = 0
    scaled: NDArray[np.float64] = now[:n_sums] * 0.5**unscaled
    return scaled


MOST_EXACT = 1000
"""Differing topics up to which p is exact; beyond, the approximation is right to four digits."""


def sign_test(differences: NDArray[np.float64], *, resolution: float = RESOLUTION) -> ExactTest:
    """Test by the signs of differences whether two runs differ, with the arguments of `randomisation_test`.

    p is twice the smaller tail of the binomial law with 1/2, at most 1. Differences that round to 0 are left
    out (section 3.4 of [6]_).

    Ahead in one of five topics: p = 2 (1 + 5) / 32.

    >>> sign_test(np.array([0.1, -0.1, -0.2, -0.1, -0.3])).p
    0.375
    """
    whole = rounded_differences(differences, resolution=resolution)
    positive, negative = int((whole > 0).sum()), int((whole < 0).sum())
    if not positive + negative:
        return ExactTest(None, "no-difference" if whole.size else "no-topics")
    n_topics = positive + negative
    # In whole numbers: 4 to 3 is 1, not 1 but for rounding.
    ways = one = 1
    for fewer in range(min(positive, negative)):
        one = one * (n_topics - fewer) // (fewer + 1)
        ways += one
    return ExactTest(min(1.0, 2 * ways / 2**n_topics), ahead=float(positive))


def wilcoxon_test(differences: NDArray[np.float64], *, resolution: float = RESOLUTION) -> ExactTest:
    r"""Test by signed ranks whether two runs differ, with the arguments of `randomisation_test`.

    Absolute differences that are not 0 are ranked from 1, as in [5]_, tied ones by the mean of their ranks.
    The exact p is that of `sign_flip_p` on twice the signed ranks, which are whole numbers. The
    approximation divides by the variance of the signed ranks,

    .. math:: z = \frac{\sum_h \pm r_h}{\sqrt{\sum_h r_h^2}}    (section 5.7 of [6]_)

    It asks for a symmetric distribution of the differences, and answers for their median rather
    than for the difference of the means. O(n_topics**3), .2 s for 1,000 topics.

    Examples
    --------
    Ranks 1, 2, 3.5, 3.5, the least negative: sums 9 and 1, and 2 of 8 kinds of sign are as extreme.

    >>> test = wilcoxon_test(np.array([-0.1, 0.2, 0.3, 0.3]))
    >>> test.ahead, test.p
    (9.0, 0.25)
    """
    whole = rounded_differences(differences, resolution)
    doubled = doubled_signed_ranks(whole)
    if not whole.any():
        return ExactTest(None, "no-difference" if whole.size else "no-topics")
    ahead = float(doubled[doubled > 0].sum() / 2)
    return ExactTest(signed_rank_p(doubled), ahead=ahead, p_normal=_normal_p(doubled))


def signed_rank_p(doubled: NDArray[np.int64]) -> float:
    """Compute p of `wilcoxon_test` from what `doubled_signed_ranks` gives.

    In (0, 1]: exact up to `MOST_EXACT` ranks, then by the normal approximation. One rank at least is not 0.

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


RESAMPLES = 10_000

_CHUNK = 1 << 20
"""Resampled values held at once: 8 MB an array."""


def studentised_bootstrap(
    differences: NDArray[np.float64], *, seed: int, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    r"""Test whether runs differ, taking the law of t from the differences themselves.

    Parameters
    ----------
    differences : ndarray of float64, shape (..., n_topics)
        Score of the first run less score of the second, by topic; finite. All pairs of runs can be
        given at once: each has the p-value that it has alone.
    seed : int
        Not negative; stored with the result.
    resamples : int, default=10000
        B, at least 1.

    Returns
    -------
    ndarray of float64, shape (...)
        p, two-sided, at least 1 / (B + 1): how often a resampled t is as large as the one seen. NaN =
        undefined: fewer than two topics, or the same difference in all of them (``no-variation``).

    Notes
    -----
    With :math:`t(u) = \bar u / \sqrt{s_u^2 / L}`, B resamples :math:`u^*` of L topics are drawn with
    replacement from the differences shifted to mean 0, and p is the share with :math:`|t(u^*)| \ge |t(u)|`
    (section 3 of [3]_, which follows [4]_), the differences as they are counted as one more resample: so p is
    never 0. A resample without variation has infinite t, or, with mean 0, t = 0.

    The draws are made from raw bits of PCG64 and so are the same in every version of numpy.
    O(B n_pairs n_topics): 20 ms for a pair of 50 topics, some seconds for 7,140 pairs.

    Examples
    --------
    >>> p = studentised_bootstrap(np.array([0.1, 0.2, 0.15, 0.3, 0.05, 0.1]), seed=1)
    >>> bool(p < 0.05)
    True
    """
    values = np.asarray(differences, dtype=np.float64)
    n_topics = values.shape[-1]
    p = np.full(values.shape[:-1], np.nan)
    varies = np.ptp(values, axis=-1) > SAME if n_topics > 1 else np.zeros(p.shape, dtype=np.bool_)
    rows = values[varies]
    if rows.size:
        p[varies] = (_n_as_large(rows, seed, resamples) + 1) / (resamples + 1)
    return p


def _n_as_large(rows: NDArray[np.float64], seed: int, resamples: int) -> NDArray[np.int64]:
    """Count the resamples of each row of differences whose t is at least that of the row."""
    n_rows, n_topics = rows.shape
    means = rows.mean(axis=1, keepdims=True)
    # In units of the standard deviation, so that one threshold says what no variation is.
    shifted = (rows - means) / rows.std(axis=1, ddof=1, keepdims=True)
    bound = (means / rows.std(axis=1, ddof=1, keepdims=True))[:, 0] ** 2
    columns, squares = shifted.T, (shifted**2).T
    count = np.zeros(n_rows, dtype=np.int64)
    for weights in topic_weights(n_topics, resamples, seed):
        n_at_once = max(1, _CHUNK // len(weights))
        for first in range(0, n_rows, n_at_once):
            part = slice(first, first + n_at_once)
            mean = weights @ columns[:, part] / n_topics
            variance = (weights @ squares[:, part] / n_topics - mean**2) * n_topics
            variance /= n_topics - 1
            # Squared: |mean| / s >= bound, also where s is 0; t = 0 where both are.
            mean_square = mean**2
            near = 1e-12
            as_large = mean_square + near * bound[part] >= bound[part] * np.maximum(variance, 0.0)
            as_large &= (mean_square > near) | (bound[part] <= near)
            count[part] += np.count_nonzero(as_large, axis=0)
    return count
