r"""Depth, take, count, Borda, Condorcet, Comb*, DCG, RBP, RRF.

All take the `TopicRankings` of one topic, and return float64 of shape (n_documents,): the higher, the sooner
a document is judged. Ranks are those of the rankings after the cut, and sums are over the runs that returned
the document. Where a function says nothing else, values are positive and at most the number of runs, one run
alone gives its own order, and the cost is O(n) for n documents taken from all runs. Papers that break ties at
random, or leave them open ([2]_, [4]_), have the tie rule here: docno descending (trectools: ascending).

Most are sums of weights of ranks:

============ =================================================================== =========
count        :math:`n(d)`, the number of runs that returned d                    [2]_
dcg          :math:`\sum_r 1 / \log_2(\mathrm{rank}_r(d) + 1)`                   [2]_
rrf          :math:`\sum_r 1 / (k + \mathrm{rank}_r(d))`                         [5]_
rbp-a        :math:`\sum_r (1 - p) p^{\mathrm{rank}_r(d) - 1}` (Method A)         [4]_
============ =================================================================== =========

The Comb family [1]_ needs scores, and raises `ArgumentError` when they are not there. They are scaled
for every topic and run on its own, over the ranking after the cut: its best becomes 1, its worst
0. Where all scores of a ranking are equal, as they are in a ranking of one document, that is
0 / 0; then every document of it gets 0.5, since the run does not say which is better;
`n_constant_rankings` counts such rankings. With one run each gives its scaled scores. Documents
with the same scaled scores, from whichever runs, are tied to the last bit. O(n log n).

References
----------
.. [1] Fox and Shaw, "Combination of multiple searches", *TREC-2*, NIST Special Publication
   500-215, pp. 243-252, 1993.
.. [2] Lipani, Palotti, Lupu, Piroi, Zuccon and Hanbury, "Fixed-cost pooling strategies based
   on IR evaluation measures", *ECIR* 2017, doi:10.1007/978-3-319-56608-5_28.
.. [3] Aslam and Montague, "Models for metasearch", *SIGIR* 2001, doi:10.1145/383952.384007.
.. [4] Moffat, Webber and Zobel, "Strategic system comparisons via targeted relevance
   judgments", *SIGIR* 2007, pp. 375-382, doi:10.1145/1277741.1277806.
.. [5] Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and
   individual rank learning methods", *SIGIR* 2009, pp. 758-759, doi:10.1145/1571941.1572114.
.. [6] Montague and Aslam, "Condorcet fusion for improved retrieval", *CIKM* 2002, pp. 538-548,
   doi:10.1145/584792.584881.
.. [7] Lipani, Lupu, Palotti, Zuccon and Hanbury, "Fixed budget pooling strategies based on
   fusion methods", *SAC* 2017, pp. 919-924, doi:10.1145/3019612.3019692.
.. [8] Sparck Jones and van Rijsbergen, "Report on the need for and provision of an 'ideal'
   information retrieval test collection", British Library R&D Report 5266, 1975.
.. [9] Sakai et al., "Relevance assessments for web search evaluation: should we randomise or
   prioritise the pooled documents?", *ACM TOIS* 40(4), 2022.

Examples
--------
a is first in one run; b is second there, and first in the other:

>>> from pooler.strategies.rankings import rankings_of
>>> rankings, docnos = rankings_of([["a", "b"], ["b"]])
>>> count_values(rankings).tolist(), dcg_values(rankings).round(4).tolist()
([1.0, 2.0], [1.0, 1.6309])
>>> rrf_values(rankings, k=2).round(4).tolist(), rbp_a_values(rankings, p=0.5).tolist()
([0.3333, 0.5833], [0.5, 0.75])

One run scales a, b and c to 1, 0.25 and 0, the other b and a to 1 and 0:

>>> rankings, docnos = rankings_of([["a", "b", "c"], ["b", "a"]], [[9, 6, 5], [0.2, 0.1]])
>>> comb_max_values(rankings).tolist(), comb_sum_values(rankings).tolist()
([1.0, 1.0, 0.0], [1.0, 1.25, 0.0])
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pooler.strategies.kinds import FixedStrategy, Parameter
from pooler.strategies.rankings import TopicRankings
from store.analysis.pools.contributions import NO_DOCUMENT
from store.errors import ArgumentError


def depth_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value the documents of a depth pool by how likely they are relevant.

    The pool itself is the union of the rankings, cut at the depth [8]_; a shorter run gives all
    it has. The values order it for judges, as NTCIRPOOL does [9]_.

    The number of runs that returned the document, less a share below 1 that grows with the
    sum of its ranks: documents of more runs first, then those of the smaller sum of ranks.
    With n runs, the value is in (n - 1, n). O(n) for n documents taken from all runs.

    Examples
    --------
    The ranks of b are 2 and 1; two runs at depth 2 have a sum of at most 4:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["b", "d"]])
    >>> dict(zip(docnos, depth_values(rankings).tolist()))["b"] == 2 - 3 / 5
    True
    """
    n_returning = rankings.n_returning()
    rank_sums = rankings.sum_by_rank(np.arange(1.0, rankings.depth + 1))
    values: NDArray[np.float64] = n_returning - rank_sums / (n_returning * rankings.depth + 1)
    return values


def take_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by their best rank in any run.

    Minus the best rank of the document (TakeN of [2]_), plus a share below 1 that grows with the number
    of runs that gave it this rank.

    Notes
    -----
    The first N documents are depth pools of growing depth, the last of them cut short so that
    exactly N are taken. [2]_ breaks ties at random; here more runs at the best rank come first,
    then docno descending. O(n) for n documents taken from all runs.

    Examples
    --------
    Two runs have b first:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "c"], ["b", "a"], ["b"]])
    >>> dict(zip(docnos, take_values(rankings).tolist()))
    {'a': -0.75, 'b': -0.5, 'c': -1.75}
    """
    best = rankings.best_ranks()
    is_there = rankings.documents != NO_DOCUMENT
    ranks = np.broadcast_to(np.arange(1, rankings.depth + 1), is_there.shape)[is_there]
    documents = rankings.documents[is_there]
    at_best = np.bincount(documents[ranks == best[documents]], minlength=rankings.n_documents)
    values: NDArray[np.float64] = at_best / (rankings.n_runs + 1) - best
    return values


def borda_values(rankings: TopicRankings) -> NDArray[np.float64]:
    r"""Value documents by their points in a Borda election.

    Multiples of one half, from 1 to the number of runs times that of documents.

    Notes
    -----
    With c documents in the union, a run of length L gives [3]_

    .. math:: c - \mathrm{rank}(d) + 1

    points to a document it returned, and to each of the others (c - L + 1) / 2: the points of the
    ranks after its last, shared equally. The values are the sums over all runs, exact, so that
    ties are ties. The union is that of the rankings after the cut, as in ranx; other programs
    count the documents of the collection. A run that returned nothing for the topic would give
    all the same, and is no voter.

    Examples
    --------
    Of three documents, the first run gives 3 to a, 2 to b and 1 to c; the second gives 3 to b,
    and its 2 and 1 are shared:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b"]])
    >>> dict(zip(docnos, borda_values(rankings).tolist()))
    {'a': 4.5, 'b': 5.0, 'c': 2.5}
    """
    missing = (rankings.n_documents - rankings.lengths + 1) / 2
    points = rankings.n_documents - np.arange(float(rankings.depth))
    gains = rankings.sum_by_place(points - missing[:, np.newaxis])
    values: NDArray[np.float64] = gains + missing.sum()
    return values


CONSTANT = 0.5
"""What every document gets in a ranking whose scores are all equal."""


def comb_max_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by their greatest scaled score (CombMAX of [1]_).

    In [0, 1]. The first document of every run has 1, but for constant rankings.
    """
    is_there = rankings.documents != NO_DOCUMENT
    values = np.zeros(rankings.n_documents)
    np.maximum.at(values, rankings.documents[is_there], _scaled_scores(rankings)[is_there])
    return values


def comb_sum_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by the sum of their scaled scores (CombSUM of [1]_).

    From 0 to the number of runs.
    """
    return rankings.sum_by_place(_scaled_scores(rankings))


def comb_mnz_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by the sum of scaled scores times runs (CombMNZ of [1]_).

    From 0 to the square of the number of runs. [1]_ multiplies by the number of scores that
    are not zero; here by the number of runs that returned the document.
    """
    return comb_sum_values(rankings) * rankings.n_returning()


def n_constant_rankings(rankings: TopicRankings) -> int:
    """Count the runs whose scores for the topic are all equal; `ArgumentError` without scores.

    The Comb family gives `CONSTANT` to these rankings throughout, those of one document among them: with
    such runs it knows less than it seems to.

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, _ = rankings_of([["a", "b"], ["b", "c"], ["c"]], [[1, 1], [2, 1], [7]])
    >>> n_constant_rankings(rankings)
    2
    """
    least, most = _extremes(rankings, _scores(rankings))
    return int((least == most).sum())


def _scores(rankings: TopicRankings) -> NDArray[np.float64]:
    """Return the scores, shape (n_runs, depth), when they are there."""
    if rankings.scores is None:
        raise ArgumentError("rankings", "must have scores", None)
    return rankings.scores


def _extremes(
    rankings: TopicRankings, scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest score of each run, both of shape (n_runs, 1)."""
    is_there = rankings.documents != NO_DOCUMENT
    least = np.min(scores, axis=1, where=is_there, initial=np.inf, keepdims=True)
    most = np.max(scores, axis=1, where=is_there, initial=-np.inf, keepdims=True)
    return least, most


def _scaled_scores(rankings: TopicRankings) -> NDArray[np.float64]:
    """Return scores scaled to [0, 1], shape (n_runs, depth); NaN where there is no document."""
    scores = _scores(rankings)
    least, most = _extremes(rankings, scores)
    # Two huge scores may differ by more than the greatest float. Bringing the larger of them
    # near 1 by a power of two changes no digit.
    exponent = -np.frexp(np.maximum(np.abs(least), np.abs(most)))[1]
    scores, least, most = (np.ldexp(part, exponent) for part in (scores, least, most))
    is_constant = least == most
    scaled = (scores - least) / np.where(is_constant, 1, most - least)
    scaled[is_constant[:, 0]] = CONSTANT
    return scaled


_CELLS = 1 << 20
"""Pairs of documents held in memory at once."""


def condorcet_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by how many others they beat.

    Whole numbers from 0 to ``n_documents - 1``: the documents to which more runs prefer this
    one than the other way round.

    Notes
    -----
    A run prefers what it ranks higher, and what it returned to what it did not; between two
    documents it did not return it has no preference. [6]_ sorts documents by their pairwise
    majorities, which can go in circles, so that the result depends on where the sort began;
    counting victories [7]_ depends on nothing but the runs. A document that beats all others is
    first.

    O(u**2 + m l**2) for a union of u documents and m runs of length l: a margin is the difference
    of the numbers of runs that returned either document, put right by the runs that returned
    both. Memory: some 20 MB, whatever u is.

    Examples
    --------
    b beats a by two runs to one and c by three to none; a beats c by two to one:

    >>> from pooler.strategies.rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b", "a"], ["b", "c"]])
    >>> dict(zip(docnos, condorcet_values(rankings).tolist()))
    {'a': 1.0, 'b': 2.0, 'c': 0.0}
    """
    n_documents = rankings.n_documents
    n_returning = rankings.n_returning().astype(np.int32)
    by_run = [_by_number(row) for row in rankings.documents]
    wins = np.zeros(n_documents, np.float64)
    n_rows = max(1, _CELLS // max(1, n_documents))
    for first in range(0, n_documents, n_rows):
        block = slice(first, first + n_rows)
        # Runs that returned the row's document less those that returned the column's.
        margins = n_returning[block, np.newaxis] - n_returning
        for numbers, ranks in by_run:
            low, high = np.searchsorted(numbers, (first, first + n_rows))
            if low < high:
                preferences = np.sign(ranks - ranks[low:high, np.newaxis])
                margins[np.ix_(numbers[low:high] - first, numbers)] += preferences
        wins[block] = (margins > 0).sum(axis=1)
    return wins


def _by_number(row: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return a run's documents by ascending number, and their ranks from 0."""
    documents = row[row != NO_DOCUMENT]
    ranks = np.argsort(documents, kind="stable").astype(np.int32)
    return documents[ranks], ranks


def count_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by the number of runs that returned them: whole numbers, at least 1.

    Called PP in the program that belongs to [2]_. With one run every document is tied. For documents of as
    many runs in the order of their ranks, take the strategy ``depth`` with a budget.
    """
    return rankings.n_returning().astype(np.float64)


def dcg_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by what they are worth to the DCG of all runs together (DCGBased of [2]_)."""
    # The last bit of numpy's logarithm depends on the processor.
    discounts = [1 / math.log2(rank + 1) for rank in range(1, rankings.depth + 1)]
    return rankings.sum_by_rank(np.array(discounts, np.float64))


def rbp_weights(depth: int, *, p: float) -> NDArray[np.float64]:
    """Return what rank-biased precision gives each rank, shape (depth,).

    ``(1 - p) * p**(rank - 1)`` for ranks from 1, p being the chance that a reader goes on to the next rank,
    in (0, 1); all of them add up to ``1 - p**depth``. Far down, where the number is too small for a float, 0.

    >>> rbp_weights(3, p=0.5).tolist()
    [0.5, 0.25, 0.125]
    """
    factors = np.full(depth, p, np.float64)
    factors[:1] = 1 - p
    # A running product has the same last bit on every machine, which a power has not.
    return np.cumprod(factors, dtype=np.float64)


def rbp_a_values(rankings: TopicRankings, *, p: float) -> NDArray[np.float64]:
    """Value documents by what they are worth to the RBP of all runs together.

    The persistence p is in (0, 1); the smaller, the more the first ranks count. 0 only where a weight is too
    small for a float (below 1e-323; with ``p=0.8`` after rank 3300).
    """
    return rankings.sum_by_rank(rbp_weights(rankings.depth, p=p))


def rrf_values(rankings: TopicRankings, *, k: float) -> NDArray[np.float64]:
    """Value documents by the reciprocals of their ranks.

    To every rank k is added, at least 0; the larger, the less the first ranks stand out. [5]_ has 60. With
    1e16 or more the ranks drown, and the number of runs is left.
    """
    return rankings.sum_by_rank(1 / (k + np.arange(1.0, rankings.depth + 1)))


_LIPANI = "Lipani et al. 2017"
MOFFAT = "Moffat, Webber and Zobel 2007"
PERSISTENCE = Parameter("p", 0.8, "persistence", least=0, most=1, is_open=True)
_K = Parameter("k", 60.0, "added to every rank: the larger, the flatter", least=0)

FIXED = (
    FixedStrategy(
        "depth",
        "the first documents of every run (a budget: what most runs returned)",
        "Sparck Jones and van Rijsbergen 1975",
        values=depth_values,
    ),
    FixedStrategy(
        "take",
        "by best rank, then by the runs that gave it: stops at the budget",
        "Lipani et al. 2017",
        values=take_values,
    ),
    FixedStrategy("count", "by the number of runs that returned the document", _LIPANI, values=count_values),
    FixedStrategy(
        "borda",
        "by Borda points: most for a run's first; documents it lacks share the rest",
        "Aslam and Montague 2001",
        values=borda_values,
    ),
    *(
        FixedStrategy(name, summary, "Fox and Shaw 1993", uses_scores=True, values=values)
        for name, summary, values in (
            ("comb-max", "by the greatest score", comb_max_values),
            ("comb-sum", "by the sum of the scores", comb_sum_values),
            ("comb-mnz", "by the sum of the scores times the number of runs", comb_mnz_values),
        )
    ),
    FixedStrategy(
        "rrf", "by the sum of 1 / (k + rank)", "Cormack, Clarke and Büttcher 2009", (_K,), values=rrf_values
    ),
    FixedStrategy(
        "condorcet",
        "by the number of documents that fewer runs prefer",
        "Montague and Aslam 2002",
        values=condorcet_values,
    ),
    FixedStrategy("dcg", "by the sum of 1 / log2(rank + 1)", _LIPANI, values=dcg_values),
    FixedStrategy("rbp-a", "by the sum of (1 - p) p^(rank - 1)", MOFFAT, (PERSISTENCE,), values=rbp_a_values),
)
"""In the order in which strategies are listed."""
