"""Every pair compared; Holm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.agreement.intervals import LEVEL
from store.analysis.measures.average_precision import quotient
from store.analysis.significance.randomisation import RESOLUTION, rounded_differences, sign_flip_p
from store.analysis.significance.signs import doubled_signed_ranks, signed_rank_p
from store.analysis.significance.t_tests import SAME, TestReason
from store.errors import ArgumentError, PoolerError

PairTest = Literal["t", "randomisation", "wilcoxon"]
PAIR_TESTS: tuple[PairTest, ...] = get_args(PairTest)

_PAIRS_AT_ONCE = 256
"""Pairs between two reports of progress."""


@dataclass(frozen=True, slots=True, eq=False)
class RunPairs:
    """Two-sided tests of pairs of runs. Every array has shape (n_pairs,); NaN = undefined.

    Nothing is adjusted for the number of pairs: give one column of p-values to `holm`.
    """

    first: NDArray[np.int64]
    """Row of the first run in the scores."""
    second: NDArray[np.int64]
    """Row of the second run."""
    n_topics: NDArray[np.int64]
    """Topics where both have a score."""
    difference: NDArray[np.float64]
    """Mean of the first less mean of the second over these topics; NaN without one."""
    variance: NDArray[np.float64]
    """Of the differences, over n_topics - 1; NaN with fewer than two topics."""
    low: NDArray[np.float64]
    """Lower limit of the t interval of `difference`; NaN with fewer than two topics."""
    high: NDArray[np.float64]
    """Upper limit."""
    t: NDArray[np.float64]
    """As `paired_t`."""
    t_reasons: tuple[TestReason | None, ...]
    """Why `t`, `p_t` and `effect_size` are NaN; ``None`` where they are numbers."""
    effect_size: NDArray[np.float64]
    """`difference` in standard deviations of the differences."""
    p_t: NDArray[np.float64]
    p_randomisation: NDArray[np.float64]
    """As `randomisation_test`; NaN without topics, or where it was not asked for."""
    p_wilcoxon: NDArray[np.float64]
    """The p of `wilcoxon_test`; NaN without a difference that does not round to 0, or where
    it was not asked for."""
    resolution: float
    """What differences were rounded to for the last two."""
    level: float
    """Nominal coverage of the intervals."""


def compare_pairs(
    scores: NDArray[np.float64],
    *,
    pairs: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    tests: Iterable[PairTest] = PAIR_TESTS,
    resolution: float = RESOLUTION,
    level: float = LEVEL,
    progress: Callable[[int], None] | None = None,
) -> RunPairs:
    """Test many pairs of runs, each as if it were the only one.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_runs, n_topics)
        Every run's score in every topic; NaN = undefined, infinite none.
    pairs : two ndarrays of int64, shape (n_pairs,), optional
        Rows of the first runs and of the second. By default all pairs, the first before the
        second: ``np.triu_indices(n_runs, 1)``.
    tests : iterable of {"t", "randomisation", "wilcoxon"}, optional
        By default all. The t test is always done: it costs nothing.
    resolution : float, default=1e-4
        Differences are rounded to multiples of it for randomisation and Wilcoxon.
    level : float, default=0.95
        Coverage of the intervals.

    Returns
    -------
    RunPairs
        Each pair has what `paired_t`, `randomisation_test` and `wilcoxon_test` give for it alone.

    Notes
    -----
    The exact tests take O(n_topics * W / 4) a pair, see `randomisation_test`: all 7,140 pairs of
    120 runs over 50 topics take some seconds.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.3, 0.6, 0.4], [0.2, 0.1, 0.1, np.nan], [0.5, 0.1, 0.7, 0.2]])
    >>> compared = compare_pairs(scores)
    >>> compared.first.tolist(), compared.second.tolist(), compared.n_topics.tolist()
    ([0, 0, 1], [1, 2, 2], [3, 4, 3])
    >>> compared.difference.round(3).tolist(), compared.p_randomisation.tolist()
    ([0.333, 0.075, -0.3], [0.25, 0.5, 0.5])
    """
    wanted = set(tests)
    first, second = np.triu_indices(len(scores), 1) if pairs is None else pairs
    n_pairs = first.size
    p_randomisation, p_wilcoxon = np.full(n_pairs, np.nan), np.full(n_pairs, np.nan)
    n_topics = np.zeros(n_pairs, dtype=np.int64)
    difference, variance = np.full(n_pairs, np.nan), np.full(n_pairs, np.nan)
    for start in range(0, n_pairs, _PAIRS_AT_ONCE):
        part = slice(start, start + _PAIRS_AT_ONCE)
        differences = scores[first[part]] - scores[second[part]]
        n_topics[part], difference[part], variance[part] = _moments(differences)
        for place, row in enumerate(differences, start=start):
            if wanted <= {"t"} or n_topics[place] == 0:
                continue
            whole = rounded_differences(row[~np.isnan(row)], resolution)
            if "randomisation" in wanted:
                p_randomisation[place] = sign_flip_p(whole)
            if "wilcoxon" in wanted and np.any(whole):
                p_wilcoxon[place] = signed_rank_p(doubled_signed_ranks(whole))
        if progress is not None:
            progress(len(differences))
    t, p_t, effect_size, half = _student(n_topics, difference, variance, level)
    return RunPairs(
        first=first,
        second=second,
        n_topics=n_topics,
        difference=difference,
        variance=variance,
        low=difference - half,
        high=difference + half,
        t=t,
        t_reasons=tuple(map(_t_reason, n_topics.tolist(), variance.tolist())),
        effect_size=effect_size,
        p_t=p_t,
        p_randomisation=p_randomisation,
        p_wilcoxon=p_wilcoxon,
        resolution=resolution,
        level=level,
    )


def _moments(
    differences: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Return count, mean and variance of each row's numbers; 0 for a variance within `SAME`."""
    defined = ~np.isnan(differences)
    count = np.count_nonzero(defined, axis=1)
    mean = quotient(np.sum(differences, axis=1, where=defined), count)
    squares = np.sum((differences - mean[:, None]) ** 2, axis=1, where=defined)
    variance = quotient(squares, count - 1)
    highest = np.max(differences, axis=1, where=defined, initial=-np.inf)
    lowest = np.min(differences, axis=1, where=defined, initial=np.inf)
    variance[(count > 1) & (highest - lowest <= SAME)] = 0.0
    return count.astype(np.int64), mean, variance


def _student(
    n_topics: NDArray[np.int64], difference: NDArray[np.float64], variance: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return t, its p, the effect size and half the width of the interval."""
    from scipy.special import stdtr, stdtrit

    undefined = np.full(difference.shape, np.nan)
    freedom = np.maximum(n_topics - 1, 1)
    deviation = np.sqrt(variance)
    varies = variance > 0
    effect_size = np.divide(difference, deviation, out=undefined, where=varies)
    t = effect_size * np.sqrt(n_topics)  # [1] Eq. 9 of `significance`
    half = stdtrit(freedom, (1 + level) / 2) * deviation / np.sqrt(np.maximum(n_topics, 1))
    return t, np.minimum(1.0, 2 * stdtr(freedom, -np.abs(t))), effect_size, half


def neighbours(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Find the pairs of runs that stand next to each other, from the first two runs to the last two.

    `first` and `second`, shape (n_pairs,), are the rows of every two runs, the one ahead first; returned are
    places of pairs, shape (n_runs - 1,). A run's place is how many are ahead of it; of several with as many,
    which only ties within a tolerance bring about, the lower row is first. O(n_pairs).

    Examples
    --------
    Run 2 is ahead of run 0, and both are ahead of run 1:

    >>> neighbours(np.array([0, 2, 2]), np.array([1, 0, 1])).tolist()
    [1, 0]
    """
    n_ahead = np.bincount(second, minlength=1 + int(np.max(first, initial=0)))
    order = np.argsort(n_ahead, kind="stable")
    place = np.empty((n_ahead.size, n_ahead.size), dtype=np.int64)
    place[first, second] = place[second, first] = np.arange(first.size)
    return place[order[:-1], order[1:]]


def _t_reason(n_topics: int, variance: float) -> TestReason | None:
    if n_topics < 2:
        return "one-topic" if n_topics else "no-topics"
    return None if variance > 0 else "no-variation"


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    r"""Adjust p-values for their number, so that one wrong rejection among all is rare.

    Parameters
    ----------
    p_values : array of float, shape (...)
        One family of tests, each in [0, 1]; NaN = undefined.

    Returns
    -------
    ndarray of float64, shape (...)
        Each in [0, 1] and at least the p-value it adjusts: compare it with the level itself. NaN
        where there was none; such tests do not count.

    Notes
    -----
    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\{1, (m - j + 1) \, p_{(j)}\}

    for m tests, p-values ascending. It needs no assumption on how the tests depend on each other.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", *Scandinavian
       Journal of Statistics* 6(2), 65-70, 1979.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()  # 3 * .01; 2 * .03; no less than that
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    flat = values.ravel()
    tested = np.flatnonzero(~np.isnan(flat))
    if np.any((flat[tested] < 0) | (flat[tested] > 1)):
        raise ArgumentError("p_values", "must be in [0, 1]", values.tolist())
    ascending = tested[np.argsort(flat[tested], kind="stable")]
    multiplied = flat[ascending] * np.arange(ascending.size, 0, -1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[ascending] = np.minimum(1.0, np.maximum.accumulate(multiplied))
    return adjusted.reshape(values.shape)


def check_pair(tags: Sequence[str]) -> None:
    """Raise `PoolerError` when there is one run only."""
    if len(tags) < 2:
        message = f"there is one run, `{tags[0]}`: a pair needs two"
        raise PoolerError(message, hint="name another run")
