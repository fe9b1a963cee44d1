r"""Differences of runs: what moves them and their tests, and how far apart two MAPs must be.

If document d turns relevant, the difference u of the APs of runs A and B changes by

.. math:: \Delta u = \frac{g_A - g_B - u}{R + 1}    (E2)

where g is 0 in a run that did not retrieve d; so a document that neither of them has moves it too.

Unjudged documents at rank N+1 turn relevant, those of one run at a time, and t2 of the
difference is computed again from the judgements as they are. The paper's section 4.3 asks the like
of one pair, and otherwise: there the documents at rank 101 of the run with the lower MAP turn
relevant wherever their probability of relevance is 0, judged or not (51 of 53 topics), the other
run gets R + 1 and not the document, and mean and variance are those of its measurement-error model.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 5.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.measures.average_precision import RMode, check_r_mode
from store.analysis.rankings import Depths, JudgedRankings
from store.analysis.run_order import TIED_MAP
from store.analysis.significance.pairs import RunPairs, compare_pairs
from store.analysis.undiscovered.sensitivity import (
    At,
    Scenario,
    check_at,
    check_scenario,
    flip_topic,
    scores_of_runs,
)
from store.errors import ArgumentError

SIGN_WORDS: dict[int, str | None] = {0: "kept", 1: "swapped", 2: "tied", 3: "parted", -1: None}
"""What `sign_moves` returns for a pair; ``None`` = there is no difference to look at."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSensitivity:
    """Every pair before and after; arrays of `RunPairs` have shape (n_pairs,).

    The first run of a pair is the one with the higher mean over the topics where both have an AP.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    before: RunPairs
    after_first: RunPairs
    """After the first run's documents turned relevant."""
    after_second: RunPairs
    """After those of the second, the lower one, as in section 4.3 of the paper."""


def better_first(scores: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair every two runs, the one with the higher mean over the common topics first.

    Rows of both runs, shape (n_pairs,) each, of scores of shape (n_runs, n_topics), NaN = undefined;
    where the means are tied, the lower row is first.
    """
    first, second = np.triu_indices(len(scores), 1)
    differences = scores[first] - scores[second]
    is_lower = np.nansum(differences, axis=1) < -TIED_MAP * max(1, scores.shape[1])
    return np.where(is_lower, second, first), np.where(is_lower, first, second)


def sign_moves(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return what happened to the sign of each difference, as keys of `SIGN_WORDS`, shape (n_pairs,).

    Differences of means, NaN = undefined, are 0 within `TIED_MAP` of it. The sign was kept (0 before and
    after, too), swapped, became 0 (tied), was 0 and is not (parted), or there is no difference.

    >>> sign_moves(np.array([0.1, 0.1, 0.1, 0.0]), np.array([0.2, -0.1, 0.0, 0.1])).tolist()
    [0, 1, 2, 3]
    """
    undefined = np.isnan(before) | np.isnan(after)
    was, now = (np.where(np.abs(values) <= TIED_MAP, 0.0, values) for values in (before, after))
    moves = np.select([was * now < 0, (was != 0) & (now == 0), (was == 0) & (now != 0)], [1, 2, 3])
    return np.where(undefined, -1, moves).astype(np.int8)


def pair_sensitivity(
    rankings: JudgedRankings,
    *,
    depth: Depths,
    at: At = "next",
    flips: int = 1,
    scenario: Scenario = "shared",
    r_mode: RMode = "pool",
    progress: Callable[[int], None] | None = None,
) -> PairSensitivity:
    """Turn the documents of either run of each pair relevant and test the difference again.

    Parameters
    ----------
    rankings, depth, at, flips, scenario, r_mode
        As in `store.analysis.undiscovered.sensitivity.sensitivity`.

    Returns
    -------
    PairSensitivity
        All pairs of two runs. Means are over the topics where both had an AP before.
        O(n_topics n_runs (width + n_runs flips)) time; O(n_pairs n_topics) memory.

    Examples
    --------
    Run A, relevant at ranks 1, 3, 6, and B at 2 and 5, R = 4; rank 7 of A is not in B. With A's
    document AP is .5476190 against .18, from .5416667 against .225:

    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.arange(1, 11), ("b", "t"): np.array([101, 1, 102, 103, 109, 104])}
    >>> grades = {"t": (np.array([1, 3, 6, 109]), np.ones(4, bool))}
    >>> arrays = judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10)
    >>> moved = pair_sensitivity(arrays, depth=6)
    >>> moved.before.difference.round(7).tolist(), moved.after_first.difference.round(7).tolist()
    ([0.3166667], [0.367619])
    """
    r_mode, scenario = check_r_mode(r_mode), check_scenario(scenario)
    at = check_at(at, depth, flips, rankings.cutoff)
    n_runs, n_topics = rankings.lengths.shape
    if n_runs < 2:
        raise ArgumentError("rankings", "must hold two runs to make a pair", n_runs)
    scores = scores_of_runs(rankings, r_mode)
    first, second = better_first(scores)
    before = scores[first] - scores[second]
    after = {"first": before.copy(), "second": before.copy()}
    row_of = np.empty(n_runs, dtype=np.int64)
    for topic in range(n_topics):
        one = flip_topic(rankings, topic, at=at, depth=depth, flips=flips, scenario=scenario, r_mode=r_mode)
        row_of[:] = -1
        row_of[one.flipped] = np.arange(one.flipped.size)
        for name, whose in (("first", first), ("second", second)):
            pairs = np.flatnonzero((row_of[whose] >= 0) & ~np.isnan(before[:, topic]))
            rows = one.after[row_of[whose[pairs]]]
            at_pair = np.arange(pairs.size)
            after[name][pairs, topic] = rows[at_pair, first[pairs]] - rows[at_pair, second[pairs]]
        if progress is not None:
            progress(1)
    return PairSensitivity(
        first=first,
        second=second,
        before=_tests(before),
        after_first=_tests(after["first"]),
        after_second=_tests(after["second"]),
    )


def _tests(differences: NDArray[np.float64]) -> RunPairs:
    """Test differences by topic, shape (n_pairs, n_topics), each row alone, by t2."""
    n_pairs = len(differences)
    scores = np.vstack([differences, np.zeros(differences.shape[1])])
    rows = np.arange(n_pairs), np.full(n_pairs, n_pairs)
    return compare_pairs(scores, pairs=rows, tests=("t",))


ALPHA = 0.05
"""Level of significance, two-sided, unless another is asked for."""


def required_difference(
    variance: ArrayLike,
    n_topics: ArrayLike,
    *,
    variation_share: ArrayLike = 0.0,
    difference_drop: ArrayLike = 0.0,
    variance_drop: ArrayLike = 0.0,
    alpha: ArrayLike = ALPHA,
    power: ArrayLike = 0.5,
) -> NDArray[np.float64]:
    r"""Compute the difference of two MAPs that a paired t test finds significant.

    Parameters
    ----------
    variance : float or array of float
        :math:`s^2`, variance of the differences of each topic; at least 0.
    n_topics : int or array of int
        L, at least 2.
    variation_share : float or array of float, default=0
        K, share of :math:`s^2` that is there because judges vary, to be left out as an error of
        measurement; in [0, 1). See `variation.collection.Components.share`. The careful take 0.
    difference_drop : float or array of float, default=0
        Q, by what share the difference might fall were all relevant documents known; below 1.
        Negative when it would grow. See `relative_drop`.
    variance_drop : float or array of float, default=0
        H, by what share :math:`s^2` would fall; below 1.
    alpha : float or array of float, default=0.05
        Level of significance, two-sided; above 0 and below 1.
    power : float or array of float, default=0.5
        Wanted probability of a significant result if the true difference is the one returned; at
        least 0.5, below 1. With 0.5 it is the smallest difference that is significant when it is
        what was observed, the paper's.

    Returns
    -------
    ndarray of float64, the shape that all arguments broadcast to
        At least 0, in the unit of the scores. `round_up` before printing.

    Notes
    -----
    .. math:: y = \frac{1}{1 - Q} \sqrt{\frac{s^2 (1 - K)(1 - H)}{L}} \;
              (t_{1 - \alpha/2, L - 1} + t_{power, L - 1})

    Eq. 24 of [1]_, and with Q = H = 0 its eq. 23; the quantile of `power` is 0 there. The power is
    an approximation: with 30 topics or more it is within .007 of that of the noncentral t.

    Examples
    --------
    Two cells of tables 7 and 8 of [1]_, and what finds a true difference four times of five:

    >>> float(round_up(required_difference(0.03, 50)))
    0.0493
    >>> float(round_up(required_difference(0.03, 50, difference_drop=0.15, variance_drop=0.1)))
    0.055
    >>> float(round_up(required_difference(0.03, 50, power=0.8)))
    0.0701
    """
    from scipy.special import stdtrit

    s2 = _between("variance", variance, 0.0, np.inf, closed=True)
    topics = np.asarray(n_topics)
    if not np.issubdtype(topics.dtype, np.integer) or np.any(topics < 2):
        raise ArgumentError("n_topics", "must hold integers >= 2", topics.tolist())
    k = _between("variation_share", variation_share, 0.0, 1.0, closed=True)
    q = _between("difference_drop", difference_drop, -np.inf, 1.0, closed=False)
    h = _between("variance_drop", variance_drop, -np.inf, 1.0, closed=False)
    tail = _between("alpha", alpha, 0.0, 1.0, closed=False)
    wanted = _between("power", power, 0.5, 1.0, closed=True)
    quantiles = stdtrit(topics - 1, 1 - tail / 2)
    quantiles = quantiles + np.where(wanted == 0.5, 0.0, stdtrit(topics - 1, wanted))
    error = np.sqrt(s2 * (1 - k) * (1 - h) / topics)
    return np.asarray(error * quantiles / (1 - q), dtype=np.float64)  # [1] Eq. 24


def round_up(values: ArrayLike, digits: int = 4) -> NDArray[np.float64]:
    """Round what is at least 0 upwards, as what is needed has to be.

    Tables 7 and 8 of [1]_ are printed so, with 4 digits: to the nearest, 61 of their 120 cells would be
    smaller. A value that has so many digits but for a floating-point error stays what it is.

    >>> round_up([0.03734061, 0.1 + 0.2], 4).tolist()
    [0.0374, 0.3]
    """
    scale = 10.0**digits
    scaled = np.asarray(values, dtype=np.float64) * scale
    # A value that is whole but for its last bits must not go one up.
    return np.asarray(np.ceil(scaled - 1e-9 * np.maximum(1.0, scaled)) / scale) + 0.0


def relative_drop(before: ArrayLike, after: ArrayLike) -> NDArray[np.float64]:
    """Compute by what share a value, finite, falls: Q of a difference in MAPs, H of its variance.

    At most 1 as long as the sign stays; above 1 where it changes, below 0 where the value grows. NaN where
    `before` is 0: there is nothing to fall.

    Section 4.3 of [1]_: the difference of two MAPs falls by 17.3%, its variance by 10.9%.

    >>> relative_drop([0.04615, 0.0330], [0.03816, 0.0294]).round(3).tolist()
    [0.173, 0.109]
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    drop = np.full(np.broadcast_shapes(first.shape, second.shape), np.nan)
    return np.asarray(np.divide(first - second, first, out=drop, where=first != 0))


def _between(name: str, argument: ArrayLike, low: float, high: float, *, closed: bool) -> NDArray[np.float64]:
    """Return numbers of an interval, its lower end belonging to it if `closed`."""
    values = np.asarray(argument, dtype=np.float64)
    above = values >= low if closed else values > low
    if not np.all(above & (values < high)):
        least = "" if low == -np.inf else f"{'at least' if closed else 'above'} {low:g}"
        most = "finite" if high == np.inf else f"below {high:g}"
        requirement = f"must be {' and '.join(part for part in (least, most) if part)}"
        raise ArgumentError(name, requirement, values.tolist())
    return values
