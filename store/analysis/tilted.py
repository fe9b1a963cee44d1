r"""Independent judgements under the law with weight :math:`t^R`, at every node t at once.

Under that law the judgements stay independent, document i being relevant with
:math:`q_i = p_i t / (1 - p_i (1 - t))`. All exact moments of average precision are integrals over t
of plain sums of the :math:`q_i`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.quadrature import Rule
from store.errors import ArgumentError


@dataclass(frozen=True, slots=True, eq=False)
class JudgedLists:
    """Checked documents of one topic, and where runs have them."""

    probabilities: NDArray[np.float64]
    """Shape (n_documents,)."""
    ranks: NDArray[np.float64]
    """Shape (n_runs, n_documents); infinite where a run has not retrieved a document."""
    order: NDArray[np.int64]
    """Shape (n_runs, n_documents): documents by rank, those not retrieved last."""
    n_retrieved: NDArray[np.int64]
    """Shape (n_runs,): how many of `order` were retrieved."""

    def without(self, dropped: NDArray[np.bool_]) -> JudgedLists:
        """Leave documents out, those of probability 0 mostly; they only occupy ranks."""
        if not dropped.any():
            return self
        return _lists(self.probabilities[~dropped], self.ranks[:, ~dropped])


@dataclass(frozen=True, slots=True, eq=False)
class Tilted:
    """One topic's judgements at every node; arrays of shape (n_nodes, n_documents)."""

    rule: Rule
    q: NDArray[np.float64]
    """Probabilities of relevance."""
    v: NDArray[np.float64]
    """Variances ``q (1 - q)``; 0 where p is 0 or 1."""
    d: NDArray[np.float64]
    """``1 - p (1 - t)``."""
    density: NDArray[np.float64]
    """Shape (n_nodes,): G(t) / t, G being the mean of t^R."""


def check_lists(probabilities: ArrayLike, ranks: ArrayLike) -> JudgedLists:
    """Check the documents of a topic.

    Parameters
    ----------
    probabilities : array of float, shape (n_documents,)
        Of being relevant, from 0 to 1.
    ranks : array of float, shape (n_runs, n_documents)
        From 1 on, each once in a run; infinite = not retrieved.

    Raises
    ------
    ArgumentError
        If a shape or a value is none of these.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    places = np.asarray(ranks, dtype=np.float64)
    # Written so that NaN is out of range; as plain reductions, since this is done often.
    if p.ndim != 1 or not (p.min(initial=0.0) >= 0 and p.max(initial=1.0) <= 1):
        raise ArgumentError("probabilities", "must be a row of numbers from 0 to 1", p.tolist())
    if places.ndim != 2 or places.shape[1] != p.size:
        requirement = f"must have the shape (n_runs, {p.size})"
        raise ArgumentError("ranks", requirement, places.shape)
    if not places.min(initial=1.0) >= 1:
        raise ArgumentError("ranks", "must be at least 1, or infinite", places.tolist())
    lists = _lists(p, places)
    for row, order, size in zip(places, lists.order, lists.n_retrieved.tolist(), strict=True):
        ordered = row[order[:size]]
        if (ordered[1:] == ordered[:-1]).any():
            requirement = "must not repeat a rank within a run"
            raise ArgumentError("ranks", requirement, places.tolist())
    return lists


def _lists(p: NDArray[np.float64], places: NDArray[np.float64]) -> JudgedLists:
    """Sort the documents of every run."""
    return JudgedLists(p, places, places.argsort(axis=1), (places < np.inf).sum(axis=1))


def tilt(probabilities: NDArray[np.float64], rule: Rule) -> Tilted:
    """Compute the law at every node of a rule.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_documents,)
        From 0 to 1.
    rule : Rule
        For their window.

    Notes
    -----
    O(n_nodes n_documents). The product G is a sum of logarithms: plain, thousands of factors lose
    digits.
    """
    pt = probabilities * rule.t[:, None]
    # A sum of what is not negative: 1 - p u has no digits left where p and u are nearly 1.
    d = (1 - probabilities) + pt
    q = pt / d
    v = q * (1 - probabilities) / d
    logs = logarithms(d, probabilities * rule.u[:, None]).sum(axis=1)
    density = np.exp(logs - logarithms(rule.t, rule.u.copy()))
    return Tilted(rule, q, v, d, density)


def logarithms(d: NDArray[np.float64], lacking: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ln d of numbers in (0, 1], given both d and ``lacking``, which is 1 - d.

    Parameters
    ----------
    d, lacking : ndarray of float64, of one shape
        Each without the rounding error of the difference from 1; `lacking` is overwritten.
    """
    is_small = d < 0.125
    lacking[is_small] = 0.0
    logs = np.log1p(-lacking)
    logs[is_small] = np.log(d[is_small])
    return logs


def run_sums(
    q: NDArray[np.float64], lists: JudgedLists, run: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Compute the mean of S, the sum of precisions, and what each document adds to it.

    Parameters
    ----------
    q : ndarray of float64, shape (n_nodes, n_documents)
        Probabilities of relevance.
    lists : JudgedLists
        The documents.
    run : int
        Which run.

    Returns
    -------
    mean : ndarray of float64, shape (n_nodes,)
        :math:`E_t S = \sum_i (q_i / a_i) (1 + \sum_{a_k < a_i} q_k)`.
    h : ndarray of float64, shape (n_nodes, n_documents)
        :math:`h_i = (1 / a_i) (1 + \sum_{a_k < a_i} q_k) + \sum_{a_k > a_i} q_k / a_k`, by how
        much S is larger on average with document i relevant than without; 0 where it was not
        retrieved.
    """
    order = lists.order[run, : lists.n_retrieved[run]]
    w = 1 / lists.ranks[run, order]
    ordered = q[:, order]
    before = ordered.cumsum(axis=1)
    before -= ordered
    before += 1
    before *= w
    mean = (ordered * before).sum(axis=1)
    ordered *= w
    before[:, :-1] += ordered[:, :0:-1].cumsum(axis=1)[:, ::-1]
    h = np.zeros(q.shape)
    h[:, order] = before
    return mean, h
