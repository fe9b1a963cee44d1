"""The Comb family: fusion of scores made comparable by min-max scaling.

Scores are scaled for every topic and run on its own, over the ranking after the cut: its best
becomes 1, its worst 0. Where all scores of a ranking are equal, as they are in a ranking of one
document, that is 0 / 0; then every document of it gets 0.5, since the run does not say which is
better. `n_constant_rankings` counts such rankings.

A document's value is made of the scaled scores of the runs that returned it; the others have no
say. All functions here take the rankings of one topic with their scores and raise `ArgumentError`
when the scores are not there. With one run each gives its scaled scores. Ties: docno descending;
documents with the same scaled scores, from whichever runs, are tied to the last bit.
O(n log n) for n documents taken from all runs.

References
----------
.. [1] Fox and Shaw, "Combination of multiple searches", *TREC-2*, NIST Special Publication
   500-215, pp. 243-252, 1993.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import NO_DOCUMENT, TopicRankings
from store.errors import ArgumentError

CONSTANT = 0.5
"""What every document gets in a ranking whose scores are all equal."""


def comb_min_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by their least scaled score (CombMIN of [1]_, see the module).

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic, with scores.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        In [0, 1]. A document at the bottom of any run has 0, one of few runs is at an advantage.

    Examples
    --------
    The first run scales to 1, 0.25 and 0, the second to 1 and 0:

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b", "a"]], [[9, 6, 5], [0.2, 0.1]])
    >>> dict(zip(docnos, comb_min_values(rankings).tolist()))
    {'a': 0.0, 'b': 0.25, 'c': 0.0}
    """
    values, first, _ = _ascending_by_document(rankings)
    return values[first]


def comb_max_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by their greatest scaled score (CombMAX of [1]_, see the module).

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic, with scores.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        In [0, 1]. The first document of every run has 1, but for constant rankings.
    """
    values, _, last = _ascending_by_document(rankings)
    return values[last]


def comb_med_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by the median of their scaled scores (CombMED of [1]_, see the module).

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic, with scores.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        In [0, 1]; for an even number of scores the mean of the middle two.
    """
    values, first, last = _ascending_by_document(rankings)
    middle: NDArray[np.float64] = values[(first + last) // 2] + values[(first + last + 1) // 2]
    return middle / 2


def comb_sum_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by the sum of their scaled scores (CombSUM of [1]_, see the module).

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic, with scores.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        From 0 to the number of runs.

    Examples
    --------
    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b", "c"], ["b", "a"]], [[9, 6, 5], [0.2, 0.1]])
    >>> dict(zip(docnos, comb_sum_values(rankings).tolist()))
    {'a': 1.0, 'b': 1.25, 'c': 0.0}
    """
    return rankings.sum_by_place(_scaled_scores(rankings))


def comb_anz_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by the mean of their scaled scores (CombANZ of [1]_, see the module).

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic, with scores.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        In [0, 1]. [1]_ divides by the number of scores that are not zero; here by the number of
        runs that returned the document, so that being last in a run counts as 0.
    """
    return comb_sum_values(rankings) / rankings.n_returning()


def comb_mnz_values(rankings: TopicRankings) -> NDArray[np.float64]:
    """Value documents by the sum of scaled scores times runs (CombMNZ of [1]_, see the module).

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic, with scores.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        From 0 to the square of the number of runs. [1]_ multiplies by the number of scores that
        are not zero; here by the number of runs that returned the document.
    """
    return comb_sum_values(rankings) * rankings.n_returning()


def n_constant_rankings(rankings: TopicRankings) -> int:
    """Count the runs whose scores for the topic are all equal.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic, with scores.

    Returns
    -------
    int
        Rankings to which the Comb family gives `CONSTANT` throughout, those of one document
        among them: with such runs it knows less than it seems to.

    Raises
    ------
    ArgumentError
        If `rankings` has no scores.

    Examples
    --------
    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, _ = rankings_of([["a", "b"], ["b", "c"], ["c"]], [[1, 1], [2, 1], [7]])
    >>> n_constant_rankings(rankings)
    2
    """
    least, most = _extremes(rankings, _scores(rankings))
    return int((least == most).sum())


def _scores(rankings: TopicRankings) -> NDArray[np.float64]:
    """Return the scores, shape (n_runs, depth), when they are there."""
    if rankings.scores is None:
        requirement = "must have scores"
        raise ArgumentError("rankings", requirement, None)
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


def _ascending_by_document(
    rankings: TopicRankings,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return scaled scores document by document, each document's ascending, and where they are.

    The second and third array, shape (n_documents,), say at which index the scores of each
    document begin, and which is its last.
    """
    is_there = rankings.documents != NO_DOCUMENT
    documents = rankings.documents[is_there]
    scaled = _scaled_scores(rankings)[is_there]
    counts = rankings.n_returning()
    last = counts.cumsum() - 1
    return scaled[np.lexsort((scaled, documents))], last - counts + 1, last
