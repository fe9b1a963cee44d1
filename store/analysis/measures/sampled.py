r"""Scores from a sample: xinfAP, infNDCG, statAP.

Four things that a plain qrels file runs together stay apart: a document is not in the pool at all,
in the pool and not sampled, sampled and without a grade, or sampled and graded. A sample is
described by strata, by how likely each document was to be chosen, or by both.

The pool of a topic is cut into strata, and a part of each is judged. What the sampled documents of
a stratum say stands for all of it: with :math:`N_c` documents pooled in stratum c, :math:`S_c` of
them graded and :math:`R_c` relevant, the topic has an estimated

.. math:: \hat R = \sum_c R_c N_c / S_c

relevant documents, which is unbiased for simple random samples of fixed size. The scores are those
of `sample_eval.pl` [1]_, [2]_, its small constants and its caps included.

A sampled document that had the probability :math:`\pi` of being chosen stands for
:math:`1/\pi` documents (Horvitz and Thompson). So the topic has an estimated

.. math:: \hat R = \sum_{d\,relevant} 1/\pi_d

relevant documents, without bias for any design of the sample. The scores are those of NIST's
`statAP_MQ_eval` [3]_, [4]_.

References
----------
.. [1] E. Yilmaz, E. Kanoulas and J. A. Aslam, "A simple and efficient sampling method for estimating AP and
   NDCG", *SIGIR* 2008, 603-610, doi:10.1145/1390334.1390437.
.. [2] `sample_eval.pl`, the scorer of TREC and TRECVID, with NIST's changes of 2010 and 2012.
.. [3] V. Pavlu and J. A. Aslam, "A practical sampling strategy for efficient retrieval evaluation", technical
   report, Northeastern University, 2007.
.. [4] `statAP_MQ_eval_v3.pl` and `_v4.pl`, the scorers of the Million Query and Web tracks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.measures.average_precision import mean_average_precision
from store.analysis.measures.ranked import inferred_average_precision
from store.analysis.rankings import NOT_RETRIEVED, judged_rankings
from store.analysis.ratios import quotient
from store.errors import ArgumentError

if TYPE_CHECKING:
    from store.analysis.arrays import RankedDocuments


NOT_POOLED = -1
"""Place of a rank that holds a document outside the pool; `NOT_RETRIEVED` = the rank is empty."""
NOT_SAMPLED = -1
"""Standing of a document that is in the pool and was not chosen for judging."""
UNGRADED = 0
"""Standing of a document that was chosen and has no grade: not judged yet, or cannot be."""
GRADED = 1


@dataclass(frozen=True, slots=True, eq=False)
class SampledPool:
    """The sampled pool of one topic; build it with `sampled_pool`.

    All arrays have shape (n_documents,).
    """

    documents: NDArray[np.int64]
    """Ids, ascending, each once."""
    states: NDArray[np.int8]
    """`NOT_SAMPLED`, `UNGRADED` or `GRADED`."""
    grades: NDArray[np.int64]
    """0 where the state is not `GRADED`."""
    strata: NDArray[np.int64] | None
    """Number of each document's stratum, any integer; ``None`` = not known."""
    inclusion: NDArray[np.float64] | None
    """Of being chosen, in (0, 1], or 0 or NaN (not known) for documents that were not; ``None`` =
    not known for any."""

    @property
    def graded(self) -> NDArray[np.bool_]:
        """Shape (n_documents,): which documents have a grade."""
        return np.asarray(self.states == GRADED)

    def relevant(self, level: int) -> NDArray[np.bool_]:
        """Shape (n_documents,): which documents are graded at least `level`."""
        return self.graded & (self.grades >= level)


def sampled_pool(
    documents: ArrayLike,
    states: ArrayLike,
    grades: ArrayLike,
    *,
    strata: ArrayLike | None = None,
    inclusion: ArrayLike | None = None,
) -> SampledPool:
    """Make the sampled pool of one topic.

    Parameters
    ----------
    documents : array_like of int, shape (n_documents,)
        Ids, each once, in any order. With strata all pooled documents belong here; for statAP the
        sampled ones are enough.
    states : array_like of int, shape (n_documents,)
        `NOT_SAMPLED`, `UNGRADED` or `GRADED`.
    grades : array_like of int, shape (n_documents,)
        Looked at where the state is `GRADED`; any integer, a negative one is a grade like another.
    strata : array_like of int, shape (n_documents,), optional
        Strata, by number.
    inclusion : array_like of float, shape (n_documents,), optional
        Probability of being chosen, in (0, 1]; may be 0 or NaN where the document was not chosen.

    Returns
    -------
    SampledPool
        `ArgumentError` if a document stands twice, or a probability cannot be. O(n log n).

    Examples
    --------
    Of three pooled documents one was not sampled and one still waits for its judge:

    >>> pool = sampled_pool([7, 5, 6], [GRADED, NOT_SAMPLED, UNGRADED], [2, 9, 9], strata=[1, 2, 2])
    >>> pool.documents.tolist(), pool.grades.tolist(), pool.strata.tolist()
    ([5, 6, 7], [0, 0, 2], [2, 2, 1])
    >>> pool.relevant(1).tolist()
    [False, False, True]
    """
    ids = np.asarray(documents, dtype=np.int64)
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    if (ids[1:] == ids[:-1]).any():
        repeated = int(ids[1:][ids[1:] == ids[:-1]][0])
        raise ArgumentError("documents", "must hold each document once", repeated)
    states = np.asarray(states, dtype=np.int8)[order]
    of_grades = np.asarray(grades, dtype=np.int64)[order]
    of_strata = None if strata is None else np.asarray(strata, dtype=np.int64)[order]
    chances = None
    if inclusion is not None:
        chances = np.asarray(inclusion, dtype=np.float64)[order]
        is_idle = (states == NOT_SAMPLED) & (np.isnan(chances) | (chances == 0))
        is_known = is_idle | ((chances > 0) & (chances <= 1))
        if not is_known.all():
            requirement = "must be above 0 and at most 1 for documents that were sampled"
            raise ArgumentError("inclusion", requirement, float(chances[~is_known][0]))
    return SampledPool(ids, states, np.where(states == GRADED, of_grades, 0), of_strata, chances)


@dataclass(frozen=True, slots=True, eq=False)
class SampledRankings:
    """Runs and sampled pools over the evaluation topics; build it with `sampled_rankings`."""

    topics: tuple[str, ...]
    """The evaluation topics: those with a sampled pool."""
    tags: tuple[str, ...]
    """The runs."""
    places: NDArray[np.int32]
    """Shape (n_runs, n_topics, width), in rank order: index into the arrays of the topic's pool,
    `NOT_POOLED`, or `NOT_RETRIEVED` below the end of the run."""
    lengths: NDArray[np.int64]
    """Shape (n_runs, n_topics): ranks filled; 0 = the run has no document for the topic."""
    pools: tuple[SampledPool, ...]
    """One a topic."""
    cutoff: int
    """Ranks that were looked at, at least 1. The width is smaller when every run is shorter."""


def sampled_rankings(
    tags: Sequence[str],
    rankings: Mapping[tuple[str, str], NDArray[np.signedinteger]],
    pools: Mapping[str, SampledPool],
    *,
    cutoff: int,
) -> SampledRankings:
    """Put rankings and sampled pools side by side in arrays.

    Parameters
    ----------
    tags : sequence of str
        The runs, in the order of the result.
    rankings : mapping of (tag, topic) to integer ndarray, shape (n_documents,)
        Document ids in rank order, each once, as for `judged_rankings`.
    pools : mapping of str to SampledPool
        The topics and their pools, in the order of the result.
    cutoff : int
        Ranks that count, at least 1; documents below are cut off.

    Returns
    -------
    SampledRankings
        `ArgumentError` if `cutoff` is below 1, or a ranking holds a document twice. O(m) a topic for m
        documents retrieved and pooled, or O(m log m) where their ids are sparse.

    Examples
    --------
    Document 8 is not pooled:

    >>> pool = sampled_pool([5, 6], [GRADED, NOT_SAMPLED], [1, 0])
    >>> ranked = {("a", "t1"): np.array([6, 8, 5]), ("b", "t1"): np.array([8])}
    >>> sampled_rankings(["a", "b"], ranked, {"t1": pool}, cutoff=1000).places.tolist()
    [[[1, -1, 0]], [[-1, -2, -2]]]
    """
    # Codes ascend with the id, so the place in the pool is the number of pooled codes below.
    binary = {topic: (one.documents, np.zeros(one.documents.size, np.bool_)) for topic, one in pools.items()}
    arrays = judged_rankings(list(pools), tags, rankings, binary, cutoff=cutoff)
    places = np.empty(arrays.documents.shape, dtype=np.int32)
    for column, states in enumerate(arrays.states):
        is_pooled = states >= 0
        of_code = np.where(is_pooled, np.cumsum(is_pooled) - 1, NOT_POOLED)
        # The padding code -1 picks the last element.
        places[:, column] = np.append(of_code, NOT_RETRIEVED)[arrays.documents[:, column]]
    return SampledRankings(arrays.topics, arrays.tags, places, arrays.lengths, tuple(pools.values()), cutoff)


def at_places(values: NDArray[Any], places: NDArray[np.int32]) -> NDArray[Any]:
    """Return the values of the pooled documents at some ranks; 0 where the rank holds none of the pool.

    >>> at_places(np.array([0.5, 0.25]), np.array([1, NOT_POOLED, 0, NOT_RETRIEVED])).tolist()
    [0.25, 0.0, 0.5, 0.0]
    """
    # The places -1 and -2 pick the last two elements.
    return np.append(values, np.zeros(2, values.dtype))[places]


EPSILON = 1e-5
"""Added to the relevant documents above a rank, and three times to the sampled ones: a stratum of
which nothing above is sampled counts as one third relevant."""


@dataclass(frozen=True, slots=True, eq=False)
class StratifiedScores:
    """Scores of runs from stratified samples.

    Axes are in the order of the tags and topics of the `SampledRankings`.
    """

    inf_ap: NDArray[np.float64]
    """Shape (n_runs, n_topics), at least 0; it may exceed 1. NaN where no sampled document is relevant, the
    program has 0 there; 0 for a run with no document, whose topic the program leaves out."""
    inf_ndcg: NDArray[np.float64]
    """Shape (n_runs, n_topics), at least 0; it may exceed 1. NaN where no sampled document has a
    grade above 0, the program has 0 there; otherwise as `inf_ap`."""
    precision: NDArray[np.float64]
    """Shape (n_cutoffs, n_runs, n_topics): relevant documents estimated down to each cutoff,
    divided by the cutoff; defined everywhere."""
    n_relevant_retrieved: NDArray[np.float64]
    """Shape (n_runs, n_topics): estimated relevant documents in the whole list (inum_rel_ret)."""
    n_relevant: NDArray[np.float64]
    """Shape (n_topics,): estimated relevant documents (inum_rel)."""
    n_uncovered: NDArray[np.int64]
    """Shape (n_topics,): pooled documents of strata of which none has a grade. They count as not
    relevant in `n_relevant`, silently in the program."""


def stratified_scores(
    rankings: SampledRankings, *, cutoffs: Sequence[int], max_retrieved: int, level: int
) -> StratifiedScores:
    r"""Score runs from stratified samples of their pools.

    Parameters
    ----------
    rankings : SampledRankings
        Rankings, and pools with strata.
    cutoffs : sequence of int
        Ranks at which precision is estimated, each at least 1.
    max_retrieved : int
        Ranks that count, and the cap in the notes; at least 1. TREC has 1000, TRECVID has had 2000.
    level : int
        Least grade that counts as relevant. infNDCG takes grades above 0 as gains, whatever the level.

    Returns
    -------
    StratifiedScores
        All of them, topic by topic. `ArgumentError` if a pool has no strata.

    Notes
    -----
    At a relevant document of rank k, with :math:`N_c^{<k}` pooled, :math:`s_c^{<k}` graded and
    :math:`r_c^{<k}` relevant documents of stratum c above it,

    .. math::

        P_k = \frac1k + \frac1k \sum_c N_c^{<k}
              \frac{r_c^{<k} + \varepsilon}{s_c^{<k} + 3 \varepsilon}, \qquad
        \mathrm{xinfAP} = \frac{1}{\hat R} \sum_c \frac{N_c}{S_c} \sum_{k \in c} P_k

    so that documents outside the pool count as not relevant. Where :math:`\hat R` exceeds `max_retrieved`,
    the score is multiplied by their quotient, since no run can return so many. Precision at K is that sum
    over :math:`N_c^{\le K}`, divided by K. infNDCG is :math:`\sum_c N_c^{ret} g_c / s_c^{ret}` divided by an
    ideal gain, with :math:`g_c` the discounted gains, grade / log2(k + 1), of the graded documents retrieved.

    In the ideal list the estimated number of documents of a grade is not rounded: with n of grade g expected
    after b of higher grades, g stands at the ranks b + 1, b + 2, ..., as many as are at most b + n. So a
    fraction of a document earns nothing, and the ranks after it are no integers. The list of a grade ends
    with its first rank from `max_retrieved` on, which counts; even a grade that begins below that has one
    document. All of this is what the program does.

    With every pooled document graded, xinfAP is AP but for the constants: a stratum with m > 0
    documents above moves P_k by :math:`\varepsilon |m - 3r| / (m + 3\varepsilon) / k`, which is at
    most :math:`2 \varepsilon / k`, so that

    .. math:: |\mathrm{xinfAP} - \mathrm{AP}| \le \frac{2 \varepsilon C}{R} \sum_{k\,relevant} 1/k

    with C strata. With one stratum it is trec_eval's infAP except that this has
    :math:`s + 2 \varepsilon` below the line: equal to about 1e-5 where a graded document stands
    above, and otherwise the pooled ones above count as half relevant there, as one third here.

    Sampled documents without a grade count as not sampled. Two differences to the program: strata
    are added up in the order of their numbers, not of their digits, and so are the grades of the
    ideal list, where the program puts grade 10 below 2.

    O(n_runs n_topics width n_strata); one topic in memory at a time.

    Examples
    --------
    Three of five pooled documents are graded; `d` is not pooled:

    >>> a, b, c, d, e, f = range(6)
    >>> pool = sampled_pool(
    ...     [a, b, c, e, f],
    ...     [GRADED, NOT_SAMPLED, GRADED, GRADED, NOT_SAMPLED],
    ...     [1, 0, 1, 0, 0],
    ...     strata=[1, 2, 2, 2, 2],
    ... )
    >>> arrays = sampled_rankings(["x"], {("x", "t"): np.array([a, d, c])}, {"t": pool}, cutoff=9)
    >>> scores = stratified_scores(arrays, cutoffs=[2], max_retrieved=1000, level=1)
    >>> scores.n_relevant.tolist()  # 1 * 1/1 + 1 * 4/2
    [3.0]
    >>> scores.inf_ap.round(4).tolist()  # (1/1 * 1 + 4/2 * (1 + 1) / 3) / 3
    [[0.7778]]
    >>> scores.precision.round(4).tolist()
    [[[0.5]]]
    """
    n_runs, n_topics = rankings.lengths.shape
    scores = StratifiedScores(
        inf_ap=np.empty((n_runs, n_topics)),
        inf_ndcg=np.empty((n_runs, n_topics)),
        precision=np.empty((len(cutoffs), n_runs, n_topics)),
        n_relevant_retrieved=np.empty((n_runs, n_topics)),
        n_relevant=np.empty(n_topics),
        n_uncovered=np.empty(n_topics, dtype=np.int64),
    )
    for topic, pool in enumerate(rankings.pools):
        strata = _strata(pool, level)
        places = rankings.places[:, topic, :max_retrieved]
        total = _expected(strata.n_relevant, strata)
        scores.n_relevant[topic] = total
        scores.n_uncovered[topic] = strata.n_pooled[strata.n_graded == 0].sum()
        found = _found(strata, places)
        scores.n_relevant_retrieved[:, topic] = found[:, -1]
        scores.inf_ap[:, topic] = _xinf_ap(strata, places, found, total, max_retrieved)
        best = _ideal_gain(strata, pool, max_retrieved)
        scores.inf_ndcg[:, topic] = _gained(strata, pool, places) / best if best > 0 else np.nan
        for row, cutoff in enumerate(cutoffs):
            scores.precision[row, :, topic] = found[:, min(cutoff, found.shape[1] - 1)] / cutoff
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class _Strata:
    codes: NDArray[np.int64]
    """Shape (n_documents,): stratum of each document, from 0."""
    graded: NDArray[np.bool_]
    relevant: NDArray[np.bool_]
    n_pooled: NDArray[np.int64]
    """Shape (n_strata,), as the two that follow."""
    n_graded: NDArray[np.int64]
    n_relevant: NDArray[np.int64]


def _strata(pool: SampledPool, level: int) -> _Strata:
    if pool.strata is None:
        raise ArgumentError("pools", "must have strata", None)
    numbers, codes = np.unique(pool.strata, return_inverse=True)
    graded, relevant = pool.graded, pool.relevant(level)
    counts = [np.bincount(codes[kept], minlength=numbers.size) for kept in (slice(None), graded, relevant)]
    return _Strata(codes, graded, relevant, counts[0], counts[1], counts[2])


def _expected(counts: NDArray[np.int64], strata: _Strata) -> float:
    """Return how many documents those counted in the sample of each stratum stand for."""
    total = 0.0
    for stratum in np.flatnonzero(counts):
        total += float(counts[stratum] * strata.n_pooled[stratum] / strata.n_graded[stratum])
    return total


def _found(strata: _Strata, places: NDArray[np.int32]) -> NDArray[np.float64]:
    """Estimate the relevant documents among the first 0, 1, ... ranks; (n_runs, width + 1)."""
    n_runs, width = places.shape
    found = np.zeros((n_runs, width + 1))
    graded, relevant = at_places(strata.graded, places), at_places(strata.relevant, places)
    for stratum in range(strata.n_pooled.size):
        is_pooled = at_places(strata.codes == stratum, places)
        share = np.cumsum(relevant & is_pooled, axis=1) + EPSILON
        share /= np.cumsum(graded & is_pooled, axis=1) + 3 * EPSILON
        found[:, 1:] += np.cumsum(is_pooled, axis=1) * share
    return found


def _xinf_ap(
    strata: _Strata, places: NDArray[np.int32], found: NDArray[np.float64], total: float, max_retrieved: int
) -> NDArray[np.float64]:
    """Return xinfAP of one topic, shape (n_runs,)."""
    if total == 0:
        return np.full(places.shape[0], np.nan)
    runs, columns = np.nonzero(at_places(strata.relevant, places))
    stratum = strata.codes[places[runs, columns]]
    precision = (1 + found[runs, columns]) / (columns + 1)
    worth = precision * strata.n_pooled[stratum] / strata.n_graded[stratum]
    sums = np.bincount(runs, worth, minlength=places.shape[0])
    return np.asarray(sums / min(total, max_retrieved))


def _ideal_gain(strata: _Strata, pool: SampledPool, max_retrieved: int) -> float:
    """Compute the discounted gain of the best list, for estimated numbers of each grade above 0."""
    positive = pool.graded & (pool.grades > 0)
    total = start = 0.0
    for grade in np.unique(pool.grades[positive])[::-1].tolist():
        of_grade = strata.codes[positive & (pool.grades == grade)]
        expected = _expected(np.bincount(of_grade, minlength=strata.n_pooled.size), strata)
        # Counted up by ones, as the program does: the last rank may hang on a rounding.
        steps = np.ones(int(expected) + 2)
        steps[0] = start + 1
        ranks = np.cumsum(steps)
        ranks = ranks[ranks <= start + expected]
        n_counting = np.count_nonzero(ranks < max_retrieved) + 1
        total += float(np.sum(grade / np.log2(ranks[:n_counting] + 1)))
        start += expected
    return total


def _gained(strata: _Strata, pool: SampledPool, places: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the estimated discounted gain of one topic, shape (n_runs,)."""
    n_runs, n_strata = places.shape[0], strata.n_pooled.size
    runs, columns = np.nonzero(places >= 0)
    of_rank = places[runs, columns]
    cells = runs * n_strata + strata.codes[of_rank]
    gains = np.maximum(pool.grades[of_rank], 0) / np.log2(columns + 2)
    sums = [
        np.bincount(cells, weights, minlength=n_runs * n_strata)
        for weights in (None, strata.graded[of_rank], gains)
    ]
    n_pooled, n_graded, gained = (one.reshape(n_runs, n_strata) for one in sums)
    means = np.divide(gained, n_graded, out=np.zeros(gained.shape), where=n_graded > 0)
    return np.asarray(np.sum(n_pooled * means, axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class StatapScores:
    """Scores of runs from samples with known probabilities.

    Axes are in the order of the tags and topics of the `SampledRankings`. NaN = undefined: no
    sampled document of the topic is relevant (``no-relevant``).
    """

    stat_ap: NDArray[np.float64]
    """Shape (n_runs, n_topics), at least 0; it may exceed 1. NaN: see the class; 0 for a run with
    no document, whose topic the program leaves out."""
    variance: NDArray[np.float64]
    """Shape (n_runs, n_topics): of `stat_ap`, at most 1, see the notes of `statap_scores`. It may
    be negative. NaN also where one document only has a grade."""
    n_relevant_retrieved: NDArray[np.float64]
    """Shape (n_runs, n_topics): estimated relevant documents in the whole list."""
    n_relevant: NDArray[np.float64]
    """Shape (n_topics,): R-hat, not rounded."""


def statap_scores(rankings: SampledRankings, *, level: int) -> StatapScores:
    r"""Score runs from documents sampled with known probabilities.

    Parameters
    ----------
    rankings : SampledRankings
        Rankings, and pools with inclusion probabilities.
    level : int
        Least grade that counts as relevant.

    Returns
    -------
    StatapScores
        All of them, topic by topic. `ArgumentError` if a pool has no inclusion probabilities.

    Notes
    -----
    With w = 1/:math:`\pi` the documents that a sampled relevant one stands for,

    .. math::

        p_d = \frac{1}{k_d} \Bigl(1 + \sum_{e\,above\,d} w_e\Bigr), \qquad
        \mathrm{statAP} = \frac{1}{\hat R} \sum_d w_d \, p_d

    over the sampled relevant documents, with :math:`k_d` the rank of d. Where every document of
    the pool is certain to be sampled, this is AP, unjudged documents taken as not relevant.
    :math:`\hat R` is not rounded here; a port to Java rounds it, and cuts the sum above a document
    to an integer besides, so its scores differ.

    The variance is that of version 4 of the program. With :math:`y_d = w_d (p_d - \mathrm{statAP})`
    over all sampled relevant documents, :math:`p_d = 0` for those not retrieved, n graded documents
    and m of them retrieved,

    .. math::

        \frac{n}{(m + 0.1) \hat R^2} \Bigl[ \sum_d (1 - \pi_d) y_d^2 - \frac{\sum_{d \ne e} y_d y_e}{n - 1}
        + \sum_d (1 - \pi_d) w_d^2 \Bigl(\sum_{e\,below\,d} w_e / k_e \Bigr)^2 \Bigr]

    but 1 where this is more. It takes the sample to be the only source of chance and its joint
    probabilities to be nearly products; it does not become 0 for a pool that is judged whole.

    Documents without a grade are passed over, so those that wait for a judge bias the estimates
    downwards. The program orders tied documents at random; here they stand as in `rankings`. Its
    nDCG takes no account of the sampling, and is left out.

    O(n_runs n_topics width); one topic in memory at a time.

    Examples
    --------
    The second relevant document stands for two, and one at rank 2 is not sampled:

    >>> pool = sampled_pool([1, 3], [GRADED, GRADED], [1, 2], inclusion=[1, 0.5])
    >>> arrays = sampled_rankings(["x"], {("x", "t"): np.array([1, 2, 3])}, {"t": pool}, cutoff=9)
    >>> scores = statap_scores(arrays, level=1)
    >>> scores.n_relevant.tolist(), scores.n_relevant_retrieved.tolist()
    ([3.0], [[3.0]])
    >>> scores.stat_ap.round(4).tolist()  # (1 * 1/1 + 2 * (1 + 1)/3) / 3
    [[0.7778]]
    """
    n_runs, n_topics = rankings.lengths.shape
    scores = StatapScores(
        stat_ap=np.full((n_runs, n_topics), np.nan),
        variance=np.full((n_runs, n_topics), np.nan),
        n_relevant_retrieved=np.empty((n_runs, n_topics)),
        n_relevant=np.empty(n_topics),
    )
    for topic, pool in enumerate(rankings.pools):
        weights = _weights(pool, level)
        places = rankings.places[:, topic]
        by_rank = at_places(weights, places)
        found = np.zeros((n_runs, by_rank.shape[1] + 1))
        np.cumsum(by_rank, axis=1, out=found[:, 1:])
        total = float(np.sum(weights))
        scores.n_relevant[topic] = total
        scores.n_relevant_retrieved[:, topic] = found[:, -1]
        if total == 0:
            continue
        precision = (1 + found[:, :-1]) / np.arange(1, found.shape[1])
        scores.stat_ap[:, topic] = np.sum(by_rank * precision, axis=1) / total
        n_graded = int(np.count_nonzero(pool.graded))
        if n_graded > 1:
            n_retrieved = np.count_nonzero(at_places(pool.graded, places), axis=1)
            spread = _spread(weights, by_rank, precision, scores.stat_ap[:, topic], n_graded)
            variance = spread * n_graded / ((n_retrieved + 0.1) * total**2)
            scores.variance[:, topic] = np.minimum(variance, 1.0)
    return scores


def _weights(pool: SampledPool, level: int) -> NDArray[np.float64]:
    """Return for how many relevant documents each stands; 0 for all but relevant ones."""
    if pool.inclusion is None:
        raise ArgumentError("pools", "must have inclusion probabilities", None)
    relevant = pool.relevant(level)
    weights = np.zeros(pool.documents.size)
    weights[relevant] = 1 / pool.inclusion[relevant]
    return weights


def _spread(
    weights: NDArray[np.float64],
    by_rank: NDArray[np.float64],
    precision: NDArray[np.float64],
    stat_ap: NDArray[np.float64],
    n_graded: int,
) -> NDArray[np.float64]:
    """Return the bracket of the variance of one topic, shape (n_runs,)."""
    # Per document w (p - statAP), with p = 0 for those that are not retrieved. (1 - pi) w^2 is
    # w (w - 1).
    all_of_them = np.sum(weights)
    squares = np.sum(weights**2)
    shifted = precision - stat_ap[:, None]
    missed = all_of_them - np.sum(by_rank, axis=1)
    missed_squares = squares - np.sum(by_rank**2, axis=1)
    total = np.sum(by_rank * shifted, axis=1) - missed * stat_ap
    own = np.sum((by_rank * shifted) ** 2, axis=1) + missed_squares * stat_ap**2
    chosen = by_rank * (by_rank - (by_rank > 0))
    missed_chosen = missed_squares - missed
    first = np.sum(chosen * shifted**2, axis=1) + missed_chosen * stat_ap**2
    per_rank = by_rank / np.arange(1, by_rank.shape[1] + 1)
    below = np.cumsum(per_rank[:, ::-1], axis=1)[:, ::-1] - per_rank
    third = np.sum(chosen * below**2, axis=1)
    return np.asarray(first - (total**2 - own) / (n_graded - 1) + third)


@dataclass(frozen=True, slots=True, eq=False)
class SampleScores:
    """Estimated scores of runs; axes are in the order of the tags and topics of the rankings."""

    rankings: SampledRankings
    values: Mapping[str, NDArray[np.float64]]
    """By measure, as ``"iP@5"``, shape (n_runs, n_topics); NaN = no sampled document of the topic is
    relevant. An estimate that the sample does not allow is not there."""
    reasons: Mapping[str, str]
    """By measure, why an estimate is not in `values`: ``no-strata``, ``no-probabilities``, or
    ``uneven-sample`` where strata were judged at different rates."""
    variance: NDArray[np.float64] | None
    """Shape (n_runs, n_topics), of statAP."""
    by_strata: NDArray[np.float64] | None
    """Shape (n_topics,): estimated relevant documents; ``None`` = no strata."""
    by_probability: NDArray[np.float64] | None
    """Shape (n_topics,): estimated relevant documents; ``None`` = no probabilities."""
    found: NDArray[np.float64]
    """Shape (n_runs, n_topics): of those, in the lists of the runs; by strata where there are."""
    n_uncovered: int
    """Pooled documents of strata of which none is graded."""

    @property
    def relevant(self) -> NDArray[np.float64]:
        """Shape (n_topics,): estimated relevant documents, by strata where there are."""
        either = self.by_probability if self.by_strata is None else self.by_strata
        return np.zeros(len(self.rankings.topics)) if either is None else either

    def mean(self, name: str) -> NDArray[np.float64]:
        """Return the mean over topics where an estimate is defined; (n_runs,), NaN = nowhere."""
        return mean_average_precision(self.values[name])[0]

    def n_defined(self, name: str) -> int:
        """Count the topics of the mean of an estimate; they are the same for all runs."""
        return int(np.sum(~np.isnan(self.values[name][:1])))

    def standard_errors(self) -> NDArray[np.float64]:
        """Return the standard error of the mean statAP, shape (n_runs,).

        Topics were sampled independently: the root of the summed variances, divided by the number
        of topics. NaN where a variance is not known, or where the sum is below 0, as
        `store.analysis.measures.sampled` says that it may be.
        """
        if self.variance is None:
            return np.full(len(self.rankings.tags), np.nan)
        is_defined = ~np.isnan(self.values["statAP"])
        total = np.sum(np.where(is_defined, self.variance, 0.0), axis=1)
        n_topics = np.sum(is_defined, axis=1)
        return np.where(total >= 0, quotient(np.sqrt(np.abs(total)), n_topics), np.nan)


def estimates(
    ranked: RankedDocuments,
    pools: Mapping[str, SampledPool],
    *,
    cutoff: int,
    level: int,
    cutoffs: Sequence[int] = (5, 10),
) -> SampleScores:
    """Estimate all scores that a sample allows: for all topics, as strata of half of them allow no mean.

    Of each topic of `pools` a document is graded. `cutoff`, at least 1, are the documents of a ranking that
    are looked at, and the most that `sample_eval.pl` lets a run return; `level` is the least grade that
    counts as relevant, `cutoffs` the ranks at which precision is estimated.
    """
    rankings = sampled_rankings(ranked.tags, ranked.rankings, pools, cutoff=cutoff)
    stratified = ("xinfAP", "infNDCG", *(f"iP@{one}" for one in cutoffs))
    values: dict[str, NDArray[np.float64]] = {}
    reasons: dict[str, str] = {}
    by_strata = by_probability = variance = None
    found = np.zeros(rankings.lengths.shape)
    n_uncovered = 0
    if all(pool.inclusion is not None for pool in pools.values()):
        sampled = statap_scores(rankings, level=level)
        values["statAP"], variance = sampled.stat_ap, sampled.variance
        by_probability, found = sampled.n_relevant, sampled.n_relevant_retrieved
    else:
        reasons["statAP"] = "no-probabilities"
    if all(pool.strata is not None for pool in pools.values()):
        strata = stratified_scores(rankings, cutoffs=cutoffs, max_retrieved=cutoff, level=level)
        columns = strata.inf_ap, strata.inf_ndcg, *strata.precision
        values |= dict(zip(stratified, columns, strict=True))
        by_strata, found = strata.n_relevant, strata.n_relevant_retrieved
        n_uncovered = int(strata.n_uncovered.sum())
        if all(map(_is_even, pools.values())):
            values["infAP"] = _inferred(rankings, level)
        else:
            reasons["infAP"] = "uneven-sample"
    else:
        reasons |= dict.fromkeys((*stratified, "infAP"), "no-strata")
    return SampleScores(
        rankings=rankings,
        values={name: values[name] for name in (*stratified, "infAP", "statAP") if name in values},
        reasons=reasons,
        variance=variance,
        by_strata=by_strata,
        by_probability=by_probability,
        found=found,
        n_uncovered=n_uncovered,
    )


def _is_even(pool: SampledPool) -> bool:
    """Return whether the same share of every stratum is graded."""
    _, codes = np.unique(np.asarray(pool.strata), return_inverse=True)
    n_pooled = np.bincount(codes)
    n_graded = np.bincount(codes, pool.graded)
    return bool((n_graded * codes.size == n_pooled * np.count_nonzero(pool.graded)).all())


def _inferred(rankings: SampledRankings, level: int) -> NDArray[np.float64]:
    """Return infAP, shape (n_runs, n_topics): pooled documents without a grade are unjudged."""
    found = np.empty(rankings.lengths.shape)
    for topic, pool in enumerate(rankings.pools):
        places, is_relevant = rankings.places[:, topic], pool.relevant(level)
        relevant, judged = (at_places(one, places) for one in (is_relevant, pool.graded))
        n_relevant = int(is_relevant.sum())
        found[:, topic] = inferred_average_precision(relevant, judged, places >= 0, n_relevant)
    return found
