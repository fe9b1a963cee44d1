r"""Average precision, on arrays of relevant ranks; its least value, its value by chance, one swap.

Throughout, ``relevant``, ndarray of bool, shape (..., width), says of rank r in ``relevant[..., r - 1]``
whether it holds a relevant document, and R, the denominator, is an argument: the documents judged relevant
for the topic, retrieved or not (mode ``pool``, trec_eval's), or those in the run's own list (mode ``own``,
eq. 1 of the paper). Functions cost O(size of `relevant`). Equation numbers are those of [1]_; E1 and E3 are
ours. What the paper misprints is listed in `store.analysis`; the code follows the derivation.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment", 2001 (in
   Japanese), section 2 and appendix 1. Eq. 1 is printed there with the prefactor 1/N; its own worked example
   uses 1/R.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.rankings import RELEVANT, JudgedRankings
from store.analysis.ratios import quotient
from store.errors import ArgumentError

RMode = Literal["pool", "own"]
"""What R counts: relevant documents of the topic, or those in the run's own list."""
R_MODES: tuple[RMode, ...] = get_args(RMode)


def precision_sum(relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    r"""Sum the precision at every relevant rank, shape (...): S, 0 where there is none.

    Notes
    -----
    .. math:: S = \sum_i \frac{x_i}{i} \Bigl(1 + \sum_{k<i} x_k\Bigr)

    The sum of eq. 1 of [1]_ without its prefactor.

    Examples
    --------
    >>> float(precision_sum(np.array([True, False, True, False])))  # 1/1 + 2/3
    1.6666666666666665
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    *shape, width = relevant.shape
    # Few ranks hold a relevant document: only those are looked at.
    lists, columns = np.divmod(np.flatnonzero(relevant), max(width, 1))
    return precision_sums(lists, columns + 1, math.prod(shape)).reshape(shape)


def precision_sums(lists: NDArray[np.int64], ranks: NDArray[np.int64], n_lists: int) -> NDArray[np.float64]:
    """Add up, list by list, the precisions at the ranks of relevant documents, shape (n_lists,).

    Each place is a list, ascending, and a rank from 1, ascending within its list.
    """
    n_in_list = np.bincount(lists, minlength=n_lists)
    before = np.cumsum(n_in_list) - n_in_list
    n_so_far = np.arange(1, lists.size + 1) - before[lists]
    return np.asarray(np.bincount(lists, n_so_far / ranks, minlength=n_lists), dtype=np.float64)


def own_n_relevant(relevant: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the relevant documents of each list, shape (...): R of mode ``own``."""
    return np.asarray(np.count_nonzero(relevant, axis=-1), dtype=np.int64)


def average_precision(relevant: NDArray[np.bool_], n_relevant: NDArray[np.int64]) -> NDArray[np.float64]:
    r"""Average the precision over the relevant documents.

    Parameters
    ----------
    relevant : ndarray of bool, shape (..., width)
        See the module.
    n_relevant : ndarray of int64, shape (...) or one that broadcasts to it
        R, at least the number of relevant ranks, else `ArgumentError`. Use `own_n_relevant` for mode ``own``.

    Returns
    -------
    ndarray of float64, shape (...)
        AP in [0, 1]. NaN where R = 0: there is no answer, and a front end shows no number with
        the reason ``no-relevant``. An empty list with R > 0 has AP 0.

    Notes
    -----
    .. math:: \nu = \frac{1}{R} \sum_i \frac{x_i}{i} \Bigl(1 + \sum_{k<i} x_k\Bigr)

    Eq. 1 of [1]_ (mode ``own``) and its variant with R defined outside (mode ``pool``), which
    trec_eval computes as `map`; it needs no limit such as R <= N.

    Examples
    --------
    The paper's strings 1010 and 0011, which give 5/6 and 5/12:

    >>> relevant = np.array([[True, False, True, False], [False, False, True, True]])
    >>> average_precision(relevant, own_n_relevant(relevant)).round(6).tolist()
    [0.833333, 0.416667]
    """
    counts = np.broadcast_to(np.asarray(n_relevant, dtype=np.int64), np.shape(relevant)[:-1])
    if np.any(counts < own_n_relevant(relevant)):
        requirement = "must be at least the number of relevant documents in the list"
        raise ArgumentError("n_relevant", requirement, np.asarray(n_relevant).tolist())
    return quotient(precision_sum(relevant), counts)


LEAST_IN_LOGARITHMS = 0.00001
"""What AP is at least in a geometric mean: MIN_GEO_MEAN of trec_eval."""


def log_average_precision(relevant: NDArray[np.bool_], n_relevant: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the natural logarithm of AP, or of .00001 where AP is less, at most 0; NaN where R = 0.

    Arguments as of `average_precision`. The exponential of its mean over topics is GMAP, the `gm_map` of
    trec_eval and pytrec_eval, which have this very logarithm by topic.

    >>> float(np.exp(log_average_precision(np.array([[True], [False]]), np.array([1, 1])).mean()).round(6))
    0.003162
    """
    return np.asarray(np.log(np.maximum(average_precision(relevant, n_relevant), LEAST_IN_LOGARITHMS)))


def gains(relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    r"""Compute what one more relevant document would add to S, at every rank, shape (..., width).

    Above 0. It does not depend on whether rank r itself is relevant, so it is also what S loses when a
    relevant document at rank r turns not relevant. Over the ranks that are not relevant it falls strictly
    with r.

    Notes
    -----
    .. math:: g_r = \frac{1}{r} \Bigl(1 + \sum_{k<r} x_k\Bigr) + \sum_{t>r} \frac{x_t}{t}

    Eq. 6 of [1]_. For one change only: two changes interact.

    Examples
    --------
    >>> gains(np.array([False, True])).tolist()  # 1/1 + 1/2, and 1/2
    [1.5, 0.5]
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    ranks = np.arange(1, relevant.shape[-1] + 1, dtype=np.float64)
    above = np.cumsum(relevant, axis=-1, dtype=np.int64) - relevant
    reciprocal = relevant / ranks
    # Summed from the bottom, the part below the last relevant rank is exactly 0.
    from_here_down = np.cumsum(reciprocal[..., ::-1], axis=-1)[..., ::-1]
    below = np.zeros_like(reciprocal)
    below[..., :-1] = from_here_down[..., 1:]
    gain: NDArray[np.float64] = (1 + above) / ranks + below  # [1] Eq. 6
    return gain


def mean_average_precision(
    average_precisions: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Average AP, or any measure, over the topics of the last axis where it is defined; MAP, eq. 7 of [1]_.

    Beside the mean, NaN when no topic is defined, the number of topics that it is over.

    >>> mean, n_defined = mean_average_precision(np.array([0.5, np.nan, 0.25]))
    >>> float(mean), int(n_defined)
    (0.375, 2)
    """
    defined = ~np.isnan(average_precisions)
    n_defined = np.asarray(np.count_nonzero(defined, axis=-1), dtype=np.int64)
    total = np.asarray(np.sum(np.where(defined, average_precisions, 0.0), axis=-1))
    return quotient(total, n_defined), n_defined


@dataclass(frozen=True, slots=True, eq=False)
class RelevantRanks:
    """Where every relevant document stands in every run; build it with `relevant_ranks`.

    Only relevant documents move average precision, and most ranks hold none. So the ranks that do are
    gathered once, and any part of the relevant documents is scored in the time it takes to look at them.
    Relevant documents are numbered topic by topic, and within a topic in the order of their codes
    in `JudgedRankings`, which is that of their ids. Those that no run retrieved have a number too.
    """

    n_runs: int
    topic_of: NDArray[np.int64]
    """Shape (n_relevant,): place of the document's topic, ascending."""
    n_topics: int
    lists: NDArray[np.int64]
    """Shape (n_places,), ascending: run * n_topics + topic of each relevant document retrieved."""
    ranks: NDArray[np.int64]
    """Shape (n_places,): its rank there, from 1; ascending within a list."""
    documents: NDArray[np.int64]
    """Shape (n_places,): its number."""

    def average_precision(self, found: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return AP of every run and topic, were only some relevant documents known.

        Shape (n_runs, n_topics). `found`, shape (n_relevant,), says which; the others count as not relevant,
        and not in R. As `average_precision`, R over the pool: NaN where R = 0. O(n_relevant + n_places).
        """
        is_known = found[self.documents]
        sums = precision_sums(self.lists[is_known], self.ranks[is_known], self.n_runs * self.n_topics)
        n_relevant = np.bincount(self.topic_of[found], minlength=self.n_topics)
        return quotient(sums.reshape(self.n_runs, self.n_topics), n_relevant)

    def mean_average_precision(
        self, found: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return MAP of every run, and the topics it is over, as of `average_precision`."""
        return mean_average_precision(self.average_precision(found))


def relevant_ranks(arrays: JudgedRankings) -> RelevantRanks:
    """Gather the ranks that hold a relevant document; O(ranks of all runs).

    Documents 10 and 30 are relevant. With both known, AP is (1/1 + 2/3) / 2; with 30 alone, which is at rank
    3, it is 1/3:

    >>> from store.analysis.rankings import judged_rankings
    >>> grades = {"t": (np.array([10, 20, 30]), np.array([True, False, True]))}
    >>> lists = {("run", "t"): np.array([10, 20, 30])}
    >>> ranks = relevant_ranks(judged_rankings(["t"], ["run"], lists, grades, cutoff=1000))
    >>> ranks.mean_average_precision(np.array([True, True]))[0].round(4).tolist()
    [0.8333]
    >>> ranks.mean_average_precision(np.array([False, True]))[0].round(4).tolist()
    [0.3333]
    """
    runs, topics, columns = np.nonzero(arrays.relevant())
    is_relevant = [states == RELEVANT for states in arrays.states]
    together = np.concatenate([np.zeros(0, np.bool_), *is_relevant])
    sizes = np.array([one.size for one in is_relevant], dtype=np.int64)
    before = np.cumsum(sizes) - sizes
    numbers = np.cumsum(together) - 1
    codes = arrays.documents[runs, topics, columns]
    n_topics = len(arrays.topics)
    return RelevantRanks(
        n_runs=len(arrays.tags),
        topic_of=np.repeat(np.arange(n_topics), arrays.n_relevant),
        n_topics=n_topics,
        lists=runs * n_topics + topics,
        ranks=columns + 1,
        documents=numbers[before[topics] + codes],
    )


def least_average_precision(
    n_documents: ArrayLike, n_relevant: ArrayLike, collection_size: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""Compute AP of the worst order: all relevant documents at the bottom of the list.

    Parameters
    ----------
    n_documents : int or array of int, shape (...)
        N, ranks of the list; at least 1.
    n_relevant : int or array of int, broadcasts with `n_documents`
        R, at least 0.
    collection_size : int or array of int, broadcasts with the others, optional
        M, documents that the N were taken from, R of which are relevant; at least N. By default
        M = N: the list holds all R, as in mode ``own``. With more, mode ``pool``: as few relevant
        documents as possible are retrieved, and the value is 0 from M = N + R on.

    Returns
    -------
    ndarray of float64, the broadcast shape
        In [0, 1]; NaN where R = 0 (``no-relevant``) or R > M, which cannot be. `ArgumentError` if an argument
        is no whole number, or outside its range.

    Notes
    -----
    .. math:: \nu_{min} = \frac{1}{R} \sum_{k=1}^{R} \frac{k}{N - R + k}    (Eq. 4 of [1]_)

    For M > N the sum is over the r = max(0, R - (M - N)) documents that must be retrieved, with
    N - r in place of N - R. O(sum of R).

    Examples
    --------
    The paper's 0011, and the first two rows of its table 1 as far as R = 10:

    >>> float(least_average_precision(4, 2).round(6))  # 5/12
    0.416667
    >>> least_average_precision([[10], [20]], [5, 10, 30]).round(3).tolist()
    [[0.354, 1.0, nan], [0.161, 0.331, nan]]
    """
    return _tabulated(_least, n_documents, n_relevant, collection_size)


def expected_average_precision(
    n_documents: ArrayLike, n_relevant: ArrayLike, collection_size: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""Compute what AP is on average when documents are put in a random order.

    Arguments, undefined cases and errors are those of `least_average_precision`. With M > N the list is the
    first N of M documents in random order, and AP is divided by all R (mode ``pool``).

    Notes
    -----
    .. math:: E(\nu) = \frac{R - 1 + \frac{N - R}{N} H_N}{N - 1}    (Eq. 5 of [1]_)

    for M = N; the value for N = R = 1, where eq. 5 is 0/0, is 1. In general

    .. math:: E(\nu) = \frac{1}{M} \Bigl[ H_N + (N - H_N) \frac{R - 1}{M - 1} \Bigr]

    with the harmonic number H_N. O(sum of N).

    Examples
    --------
    The first two rows of table 2 of [1]_ as far as R = 10:

    >>> expected_average_precision([[10], [20]], [5, 10]).round(3).tolist()
    [[0.607, 1.0], [0.353, 0.568]]
    """
    return _tabulated(_expected, n_documents, n_relevant, collection_size)


def variance_of_average_precision(
    n_documents: ArrayLike, n_relevant: ArrayLike, collection_size: ArrayLike | None = None
) -> NDArray[np.float64]:
    r"""Compute the variance of AP when documents are put in a random order.

    As for `expected_average_precision`; in [0, 1/4], and exactly 0 where R = M = N.

    Notes
    -----
    Equation E1; the paper has the mean only. With :math:`f_j`, the probability that j documents drawn are all
    relevant, :math:`\rho_i = (i-1)/i + H_N - H_i`, :math:`H'_N = \sum 1/i^2`, :math:`W = N - H_N`, :math:`W'
    = H_N - H'_N`, :math:`a = \sum \rho_i/i` and :math:`b = \sum \rho_i^2`:

    .. math::

        E(S) = H_N f_1 + W f_2

        E(S^2) = H'_N f_1 + (H_N^2 - H'_N + 2a + W') f_2
                 + [2(H_N W - a) + b - 2W'] f_3 + (W^2 + W' - b) f_4

        V(\nu) = [E(S^2) - E(S)^2] / R^2

    O(sum of N).

    Examples
    --------
    The six orders of two relevant documents among four have AP 1, 5/6, 3/4, 7/12, 1/2, 5/12:

    >>> orders = np.array([1, 5 / 6, 3 / 4, 7 / 12, 1 / 2, 5 / 12])
    >>> float(np.var(orders).round(12)), float(variance_of_average_precision(4, 2).round(12))
    (0.040316358025, 0.040316358025)
    """
    return _tabulated(_variance, n_documents, n_relevant, collection_size)


def swap_effect(
    relevant: NDArray[np.bool_], n_relevant: ArrayLike, from_rank: ArrayLike, to_rank: ArrayLike
) -> NDArray[np.float64]:
    r"""Compute the change of AP when a relevant document changes places with one that is not.

    Parameters
    ----------
    relevant : ndarray of bool, shape (..., width)
        Which ranks hold a relevant document.
    n_relevant : int or array of int, shape (...) or one that broadcasts to it
        R, at least the number of relevant ranks; a swap does not change it.
    from_rank, to_rank : int or array of int, shape (...) or one that broadcasts to it
        Where the relevant document stands, and where it goes: from 1 to width. The other one,
        which is not relevant, goes from `to_rank` to `from_rank`.

    Returns
    -------
    ndarray of float64, shape (...)
        In (-1, 1): above 0 exactly when the relevant document goes up. `ArgumentError` if a rank is outside
        the list, the document at `from_rank` is not relevant or the one at `to_rank` is, or `n_relevant` is
        below the number of relevant ranks.

    Notes
    -----
    .. math:: \Delta = \frac{1}{R} \Bigl[ g_b - g_a - \frac{1}{\max(a, b)} \Bigr]

    for a swap from a to b, with g of eq. 6 of [1]_ on the ranking before (equation E3). The last
    term is what the two changes do to each other. O(size of `relevant`).

    Examples
    --------
    The paper's 11000 to 10100: AP falls from 1 to (1/1 + 2/3) / 2.

    >>> relevant = np.array([True, True, False, False, False])
    >>> float(swap_effect(relevant, 2, 2, 3).round(6))
    -0.166667
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    shape = relevant.shape[:-1]
    counts = np.broadcast_to(_whole("n_relevant", n_relevant, least=1), shape)
    if np.any(counts < own_n_relevant(relevant)):
        requirement = "must be at least the number of relevant documents in the list"
        raise ArgumentError("n_relevant", requirement, np.asarray(n_relevant).tolist())
    places = []
    for name, argument, wanted in (("from_rank", from_rank, True), ("to_rank", to_rank, False)):
        ranks = np.broadcast_to(_whole(name, argument, least=1), shape)
        if np.any(ranks > relevant.shape[-1]):
            raise ArgumentError(name, f"must be at most {relevant.shape[-1]}", ranks.tolist())
        if np.any(np.take_along_axis(relevant, ranks[..., None] - 1, axis=-1) != wanted):
            requirement = f"must hold a document that is {'' if wanted else 'not '}relevant"
            raise ArgumentError(name, requirement, ranks.tolist())
        places.append(ranks)
    gain = gains(relevant)
    old, new = (np.take_along_axis(gain, rank[..., None] - 1, axis=-1)[..., 0] for rank in places)
    return np.asarray((new - old - 1 / np.maximum(*places)) / counts)  # E3


def _least(n_documents: int, n_relevant: int, collection_size: int) -> float:
    retrieved = max(0, n_relevant - (collection_size - n_documents))
    found = np.arange(1, retrieved + 1, dtype=np.float64)
    return float(np.sum(found / (n_documents - retrieved + found)) / n_relevant)  # [1] Eq. 4


def _expected(n_documents: int, n_relevant: int, collection_size: int) -> float:
    """Compute eq. 5 of one list, from any collection."""
    harmonic = float(np.sum(1 / np.arange(1, n_documents + 1)))
    second = _falling_share(n_relevant, collection_size, 2) * collection_size / n_relevant
    return (harmonic + (n_documents - harmonic) * second) / collection_size  # [1] Eq. 5


def _variance(n_documents: int, n_relevant: int, collection_size: int) -> float:
    """Compute E1 of one list."""
    if n_relevant == collection_size == n_documents:
        return 0.0
    f1, f2, f3, f4 = (_falling_share(n_relevant, collection_size, j) for j in range(1, 5))
    ranks = np.arange(1, n_documents + 1, dtype=np.float64)
    harmonics = np.cumsum(1 / ranks)
    h = float(harmonics[-1])
    h_squares = float(np.sum(1 / ranks**2))
    rho = (ranks - 1) / ranks + h - harmonics
    w, w_prime = n_documents - h, h - h_squares
    a, b = float(np.sum(rho / ranks)), float(np.sum(rho**2))
    mean = h * f1 + w * f2
    square = (
        h_squares * f1
        + (h**2 - h_squares + 2 * a + w_prime) * f2
        + (2 * (h * w - a) + b - 2 * w_prime) * f3
        + (w**2 + w_prime - b) * f4
    )
    return float(max(0.0, square - mean**2) / n_relevant**2)  # E1


def _falling_share(n_relevant: int, collection_size: int, n_drawn: int) -> float:
    """Return the probability that documents drawn without replacement are all relevant."""
    if n_relevant < n_drawn:
        return 0.0
    share = 1.0
    for drawn in range(n_drawn):
        share *= (n_relevant - drawn) / (collection_size - drawn)
    return share


def _tabulated(
    function: Callable[[int, int, int], float],
    n_documents: ArrayLike,
    n_relevant: ArrayLike,
    collection_size: ArrayLike | None,
) -> NDArray[np.float64]:
    """Compute a function of N, R and M over all their combinations, NaN where it is undefined."""
    lists = _whole("n_documents", n_documents, least=1)
    relevant = _whole("n_relevant", n_relevant, least=0)
    sizes = lists if collection_size is None else _whole("collection_size", collection_size, 1)
    lists, relevant, sizes = np.broadcast_arrays(lists, relevant, sizes)
    if np.any(sizes < lists):
        raise ArgumentError("collection_size", "must be at least `n_documents`", sizes.tolist())
    cells = np.stack([lists.ravel(), relevant.ravel(), sizes.ravel()], axis=1).tolist()
    values = [function(n, r, m) if 1 <= r <= m else np.nan for n, r, m in cells]
    return np.array(values, dtype=np.float64).reshape(lists.shape)


def _whole(name: str, argument: ArrayLike, least: int) -> NDArray[np.int64]:
    """Return whole numbers as int64; raise `ArgumentError` when they are not, or too small."""
    values = np.asarray(argument)
    if not np.issubdtype(values.dtype, np.integer) or np.any(values < least):
        raise ArgumentError(name, f"must hold integers >= {least}", values.tolist())
    return values.astype(np.int64)


def _t_quantile(freedom: int) -> float:
    """Return the t between whose negative and which 95 % of Student's t distribution lies.

    Abramowitz and Stegun, eq. 26.7.3 and 26.7.4, by Newton's method: within 1e-12 of SciPy's for up to 10,000
    topics. To import SciPy takes longer than to measure a run.
    """
    is_odd = freedom % 2
    powers = np.arange(is_odd, freedom, 2)
    ratios = np.arange(1 + is_odd, freedom - 1, 2) / np.arange(2 + is_odd, freedom, 2)
    factors = np.append(1.0, np.cumprod(ratios))[: powers.size]  # 1, 1/2, 3/8, ... or 1, 2/3, 8/15, ...
    root = math.sqrt(freedom)
    ratio = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    scale = 2 * math.exp(ratio) / math.sqrt(math.pi * freedom)
    t, step = 0.0, 1.0
    while step > 1e-13 * t:  # the share is concave in t: every step is forward, and none goes too far
        angle = math.atan(t / root)
        share = math.sin(angle) * float(factors @ math.cos(angle) ** powers)
        share = 2 / math.pi * (angle + share) if is_odd else share
        step = (0.95 - share) / (scale * math.cos(angle) ** (freedom + 1))
        t += step
    return t


def topic_interval(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the t interval of 95 % of means over topics: of these and other topics like them.

    Parameters
    ----------
    scores : ndarray of float64, shape (..., n_topics)
        By topic; NaN = undefined, and left out.

    Returns
    -------
    low, high : ndarray of float64, shape (...)
        NaN with fewer than two topics.

    Examples
    --------
    Mean 2, standard error 1 / sqrt(3), t of 2 degrees of freedom 4.302653:

    >>> [limit.round(4).tolist() for limit in topic_interval(np.array([[1.0, 2.0, 3.0]]))]
    [[-0.4841], [4.4841]]
    """
    mean, n = mean_average_precision(scores)
    variance = quotient(np.nansum((scores - mean[..., None]) ** 2, axis=-1), n * (n - 1.0))
    found, places = np.unique(np.maximum(n - 1, 1), return_inverse=True)
    half = np.array([*map(_t_quantile, found.tolist())])[places] * np.sqrt(variance)
    return mean - half, mean + half
