r"""Q-measure: average precision with grades, and AP itself where grades weigh nothing [1]_.

References
----------
.. [1] T. Sakai, "On the reliability of information retrieval metrics based on graded relevance",
   *Information Processing & Management* 43(2), 531-548, 2007, doi:10.1016/j.ipm.2006.07.020.
.. [2] T. Sakai, "Alternatives to bpref", *SIGIR* 2007, 71-78, doi:10.1145/1277741.1277756.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_cutoff
from store.errors import ArgumentError


def q_measure(
    grades: NDArray[np.integer[Any]],
    judged_grades: Sequence[NDArray[np.integer[Any]]],
    *,
    beta: float = 1.0,
    cutoff: int | None = None,
) -> NDArray[np.float64]:
    r"""Average the blended ratio over the relevant documents of each topic.

    Parameters
    ----------
    grades : ndarray of int, shape (..., n_topics, width)
        Grades in rank order; 0 for unjudged documents and below the end of a list. Those above 0
        are relevant, and their gains.
    judged_grades : sequence of ndarray of int, length n_topics
        Grades of all judged documents of each topic, retrieved or not, in any order.
    beta : float, default=1
        Finite, at least 0: what grades weigh; 0 makes it AP.
    cutoff : int, optional
        Ranks that count, at least 1; by default all.

    Returns
    -------
    ndarray of float64, shape (..., n_topics)
        Q in [0, 1], 1 for an ideal list; NaN where no judged document of the topic has a grade
        above 0 (``no-relevant``).

    Raises
    ------
    ArgumentError
        If an argument is outside its range, or there are not as many `judged_grades` as topics.

    Notes
    -----
    .. math:: Q = \frac{1}{R} \sum_{r\,relevant} \frac{C(r) + \beta\,cg(r)}{r + \beta\,cg^*(r)}

    with C the relevant documents and cg the gains down to rank r, and cg* those of the ideal list
    ([1]_, section 3.1). Of a condensed list, see `incomplete_measures.condensed`, it is the Q' of
    [2]_. With a cutoff k the sum is divided by min(R, k), as in NTCIREVAL, so that an ideal list
    has 1; AP@k of trec_eval divides by R. O(size of `grades`).

    Examples
    --------
    Grades 0, 3, unjudged, 2, as 3 3 3 2 2 2 1 1 1 1 would be ideal: (4/8 + 7/15) / 10

    >>> ideal = np.array([3, 3, 3, 2, 2, 2, 1, 1, 1, 1])
    >>> float(q_measure(np.array([[0, 3, 0, 2]]), [ideal])[0].round(6))
    0.096667
    """
    check_cutoff(cutoff)
    if not 0 <= beta < math.inf:
        raise ArgumentError("beta", "must be a finite number >= 0", beta)
    grades = np.asarray(grades)
    if grades.ndim < 2 or grades.shape[-2] != len(judged_grades):
        requirement = f"must have shape (..., {len(judged_grades)}, width)"
        raise ArgumentError("grades", requirement, grades.shape)
    grades = grades[..., :cutoff]
    *shape, n_topics, width = grades.shape
    n_lists = math.prod(shape) * n_topics
    ideal = np.zeros((n_topics, width))
    divisor = np.zeros(n_topics)
    for topic, judged in enumerate(judged_grades):
        best = np.sort(np.maximum(np.asarray(judged), 0))[::-1]
        ideal[topic, : best.size] = best[:width]
        divisor[topic] = np.count_nonzero(best)
    if cutoff is not None:
        divisor = np.minimum(divisor, cutoff)
    np.cumsum(ideal, axis=-1, out=ideal)
    places = np.flatnonzero(grades > 0)
    lists, columns = np.divmod(places, max(width, 1))
    # What the lists before found and gained is taken off the sums over all of them.
    starts = np.searchsorted(lists, np.arange(n_lists))[lists]
    gains = np.cumsum(np.append(0, grades.reshape(-1)[places]))
    found = np.arange(1, places.size + 1) - starts
    gained = gains[1:] - gains[starts]
    at_best = ideal[lists % max(n_topics, 1), columns]
    ratios = (found + beta * gained) / (columns + 1 + beta * at_best)
    sums = np.bincount(lists, ratios, minlength=n_lists)
    undefined = np.full((*shape, n_topics), np.nan)
    return np.asarray(
        np.divide(sums.reshape(undefined.shape), divisor, out=undefined, where=divisor > 0)
    )
