"""The alternative annotator test: whether a model may take the place of a judge among several people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError

FEW_PAIRS = 30
"""With fewer documents a person, the t test of the paper does not hold."""
_SAME = 1e-12
"""Differences no further apart are one difference."""


@dataclass(frozen=True, slots=True)
class LeftOutPerson:
    """One person left out, and compared with the model by how near either is to the other people."""

    n: int
    """Documents that this person, another one and the model graded."""
    model_wins: float | None = None
    """Share of documents where the model is at least as near, in [0, 1]; ``None`` without documents."""
    person_wins: float | None = None
    """Share where the person is; a tie counts for both."""
    difference: float | None = None
    """`person_wins` less `model_wins`."""
    t: float | None = None
    """``None`` with a reason."""
    p: float | None = None
    """One-sided: how easily so low a difference comes about where it is `epsilon`; in [0, 1]."""
    t_of_topics: float | None = None
    """The same of the sums of topics, whose documents are not independent; ``None`` with fewer than two."""
    p_of_topics: float | None = None
    reason: str | None = None
    """``no-common-docs``, ``one-doc``, or ``same-difference``: then p is 0 or 1, as the difference is below
    `epsilon` or not."""
    rejected: bool = False
    """Whether the person is found no better than the model by `epsilon`, all people considered."""


@dataclass(frozen=True, slots=True)
class AlternativeTest:
    """Each person left out in turn."""

    people: tuple[LeftOutPerson, ...]
    winning_rate: float | None
    """Share of people of whom that is found, of those with a p: omega; ``None`` with fewer than two."""
    advantage: float | None
    """Mean over people of `model_wins`."""
    reason: str | None
    """``one-human``, or ``no-common-docs``."""


def alternative_test(
    people: NDArray[np.float64],
    model: NDArray[np.float64],
    topics: NDArray[np.int64],
    *,
    epsilon: float,
    nominal: bool = False,
    q: float = 0.05,
) -> AlternativeTest:
    r"""Test whether a model stands in for any person of a group.

    Parameters
    ----------
    people : ndarray of float64, shape (n_documents, n_people)
        Grades; NaN = not graded.
    model : ndarray of float64, shape (n_documents,)
        The model's; NaN likewise.
    topics : ndarray of int64, shape (n_documents,)
        Code of every document's topic.
    epsilon : float
        What a person's time is worth: by how much a person may be better and still be replaced, in [0, 1).
    nominal : bool, default=False
        Nearness is the share of other people with the same grade, instead of the distance of grades.
    q : float, default=0.05
        Least false discovery rate, in (0, 1).

    Returns
    -------
    AlternativeTest
        The paper has the model pass where `winning_rate` is at least one half. `ArgumentError` if an argument
        cannot be used.

    Notes
    -----
    For person j and each document i that j, another person and the model graded, the nearness to the others k
    is :math:`S = -\sqrt{\mathrm{mean}_k (x - x_{ki})^2}`, or if nominal the share of :math:`x = x_{ki}`;
    :math:`h_i` and :math:`f_i` are 1 where the person and the model are at least as near as the other, and
    :math:`d_i = h_i - f_i`. Of :math:`H_0: \bar d \ge \epsilon` a one-sided t test has n - 1 degrees of
    freedom [1]_; all p are judged together by Benjamini and Yekutieli [2]_: reject the r smallest, r the
    largest with :math:`p_{(r)} \le r q / (m \sum_{i \le m} 1/i)`. O(n_documents * n_people**2).

    References
    ----------
    .. [1] N. Calderon, R. Reichart and R. Dror, "The alternative annotator test for LLM-as-a-judge: how to
       statistically justify replacing human annotators with LLMs", *ACL* 2025, arXiv:2501.10970.
    .. [2] Y. Benjamini and D. Yekutieli, "The control of the false discovery rate in multiple testing under
       dependency", *The Annals of Statistics* 29(4), 1165-1188, 2001, doi:10.1214/aos/1013699998.

    Examples
    --------
    Six documents; the differences are all 0 of the first person, have the mean -1/6 of the second, -1/3 of
    the third; the limits of p are .0091, .0182, .0273:

    >>> people = np.array([[2, 2, 1], [1, 0, 1], [0, 0, 0], [3, 3, 2], [1, 2, 1], [0, 0, 1]], dtype=float)
    >>> model, topics = np.array([2.0, 1, 0, 3, 2, 1]), np.zeros(6, dtype=np.int64)
    >>> found = alternative_test(people, model, topics, epsilon=0.2, nominal=True)
    >>> [round(one.p, 5) for one in found.people], [one.rejected for one in found.people]
    ([0.0, 0.03955, 0.02627], [True, False, False])
    >>> round(found.winning_rate, 4), found.advantage
    (0.3333, 1.0)
    """
    people, model = np.asarray(people, dtype=np.float64), np.asarray(model, dtype=np.float64)
    if people.ndim != 2 or not len(people) == len(model) == len(topics):
        requirement = "must be documents by people, as many documents as the others have"
        raise ArgumentError("people", requirement, people.shape)
    if not 0 <= epsilon < 1:
        raise ArgumentError("epsilon", "must be at least 0 and below 1", epsilon)
    if not 0 < q < 1:
        raise ArgumentError("q", "must be between 0 and 1", q)
    n_people = people.shape[1]
    if n_people < 2:
        return AlternativeTest((), None, None, "one-human")
    tested = [
        _tested(people, model, np.asarray(topics), person, epsilon=epsilon, nominal=nominal)
        for person in range(n_people)
    ]
    p_values = [one.p for one in tested]
    rejected = rejections(p_values, q)
    found = tuple(replace(one, rejected=is_in) for one, is_in in zip(tested, rejected, strict=True))
    wins = [one.model_wins for one in found if one.model_wins is not None]
    n_tested = sum(p is not None for p in p_values)
    return AlternativeTest(
        found,
        sum(rejected) / n_tested if n_tested > 1 else None,
        float(np.mean(wins)) if wins else None,
        None if n_tested > 1 else "no-common-docs",
    )


def rejections(p_values: Sequence[float | None], q: float) -> list[bool]:
    """Return which hypotheses Benjamini and Yekutieli reject at a false discovery rate; ``None`` is no test.

    Examples
    --------
    >>> rejections([0.04, None, 0.001, 0.5], 0.05)  # limits .0091, .0182, .0273
    [False, False, True, False]
    """
    known = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    m = len(known)
    limit = q / (m * sum(1 / i for i in range(1, m + 1))) if m else 0.0
    last = max((rank for rank, (p, _) in enumerate(known, start=1) if p <= rank * limit), default=0)
    chosen = {place for _, place in known[:last]}
    return [place in chosen for place in range(len(p_values))]


def _nearness(
    grades: NDArray[np.float64], others: NDArray[np.float64], *, nominal: bool
) -> NDArray[np.float64]:
    """Return how near grades are to those of others, who did not all grade."""
    apart = others - grades[:, np.newaxis]
    if nominal:
        n_graded = np.count_nonzero(~np.isnan(others), axis=1)
        return np.asarray(np.count_nonzero(apart == 0, axis=1) / n_graded)
    return np.asarray(-np.sqrt(np.nanmean(apart**2, axis=1)))


def _tested(
    people: NDArray[np.float64],
    model: NDArray[np.float64],
    topics: NDArray[np.int64],
    person: int,
    *,
    epsilon: float,
    nominal: bool,
) -> LeftOutPerson:
    """Compare one person's nearness to the others with the model's, by documents and by topics."""
    others = np.delete(people, person, axis=1)
    used = ~np.isnan(people[:, person]) & ~np.isnan(model) & ~np.isnan(others).all(axis=1)
    of_model, of_person = (
        _nearness(grades[used], others[used], nominal=nominal) for grades in (model, people[:, person])
    )
    model_wins, person_wins = of_model >= of_person - _SAME, of_person >= of_model - _SAME
    n = int(model_wins.size)
    if not n:
        return LeftOutPerson(n, reason="no-common-docs")
    differences = person_wins.astype(np.float64) - model_wins
    mean = float(differences.mean())
    found = LeftOutPerson(
        n,
        model_wins=float(model_wins.mean()),
        person_wins=float(person_wins.mean()),
        difference=mean,
        reason="one-doc",
    )
    if n < 2:
        return found
    t, p = _one_sided(differences - epsilon)
    _, of_topic = np.unique(topics[used], return_inverse=True)
    sums = np.bincount(of_topic, differences - epsilon).astype(np.float64)
    t_of_topics, p_of_topics = _one_sided(sums) if sums.size > 1 else (None, None)
    found = replace(found, t=t, p=p, t_of_topics=t_of_topics, p_of_topics=p_of_topics, reason=None)
    return found if t is not None else replace(found, p=float(mean >= epsilon), reason="same-difference")


def _one_sided(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Return t of a mean against 0, and its p below; ``None`` where nothing varies."""
    from scipy.special import stdtr

    if float(np.ptp(values)) <= _SAME:
        return None, None
    t = float(values.mean() / (values.std(ddof=1) / math.sqrt(values.size)))
    return t, float(stdtr(values.size - 1, t))
