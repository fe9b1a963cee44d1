"""Inverse square rank fusion, and its logarithmic form."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pooler.topic_rankings import TopicRankings


def isr_values(rankings: TopicRankings) -> NDArray[np.float64]:
    r"""Value documents by the inverse squares of their ranks, times the number of runs.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Positive, at most the square of the number of runs.

    Notes
    -----
    .. math:: s(d) = n(d) \sum_r 1 / \mathrm{rank}_r(d)^2    (ISR of [1]_)

    over the n(d) runs that returned d. With one run this is the run's own order. Ties: docno
    descending. O(n) for n documents taken from all runs.

    References
    ----------
    .. [1] Mourão, Martins and Magalhães, "Multimodal medical information retrieval with
       unsupervised rank fusion", *Computerized Medical Imaging and Graphics* 39, pp. 35-45, 2015,
       doi:10.1016/j.compmedimag.2014.05.006.

    Examples
    --------
    b is second and first: 2 * (1/4 + 1).

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["b"]])
    >>> dict(zip(docnos, isr_values(rankings).tolist()))
    {'a': 1.0, 'b': 2.5}
    """
    return rankings.n_returning() * _inverse_squares(rankings)


def log_isr_values(rankings: TopicRankings) -> NDArray[np.float64]:
    r"""Value documents by the inverse squares of their ranks, times a logarithm of the runs.

    Parameters
    ----------
    rankings : TopicRankings
        Of one topic.

    Returns
    -------
    ndarray of float64, shape (n_documents,)
        Positive.

    Notes
    -----
    .. math:: s(d) = \ln(n(d) + 1) \sum_r 1 / \mathrm{rank}_r(d)^2

    over the n(d) runs that returned d. It is logISR of [1]_, which counts single runs less than
    ISR does, with the 1 added inside the logarithm: without it every document of a single run is
    worth 0, at whatever rank (ranx has that form as ``log_isr``, and this one as ``logn_isr``
    with ``sigma=1``). With one run this is the run's own order. Ties: docno descending. O(n) for
    n documents taken from all runs.

    References
    ----------
    .. [1] Mourão, Martins and Magalhães, "Multimodal medical information retrieval with
       unsupervised rank fusion", *Computerized Medical Imaging and Graphics* 39, pp. 35-45, 2015,
       doi:10.1016/j.compmedimag.2014.05.006.

    Examples
    --------
    b is second and first: ln 3 * (1/4 + 1).

    >>> from pooler.topic_rankings import rankings_of
    >>> rankings, docnos = rankings_of([["a", "b"], ["b"]])
    >>> log_isr_values(rankings).round(4).tolist()
    [0.6931, 1.3733]
    """
    # The last bit of numpy's logarithm depends on the processor.
    logarithms = np.array([math.log(n + 1) for n in range(rankings.n_runs + 1)])
    values: NDArray[np.float64] = logarithms[rankings.n_returning()] * _inverse_squares(rankings)
    return values


def _inverse_squares(rankings: TopicRankings) -> NDArray[np.float64]:
    """Add up the inverse squares of every document's ranks."""
    return rankings.sum_by_rank(1 / np.arange(1.0, rankings.depth + 1) ** 2)
