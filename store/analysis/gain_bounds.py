r"""The lowest and highest nDCG each list can have, whatever its unjudged documents are.

A filling gives each unjudged document of the list a grade of the scale, and so changes both the
DCG of the list and the ideal. nDCG is a quotient of a linear and a convex function of the gains,
for the ideal DCG is the greatest of the sums over all orders. Hence it is quasi-concave:

- It is least at a corner, where each gain is the lowest or the highest. For a fixed number c of
  the highest the ideal is fixed, and the DCG is least where they stand at the last ranks. Unjudged
  documents below the cutoff only raise the ideal. So the lowest is the least over all c.
- It may be greatest in between: of grades 1, ?, 1 the best filling is 1, not 2. For a fixed number
  of each grade the better ones stand first, so a filling is known by the numbers c_s of unjudged
  documents that reach each step s of the scale. Split by steps, with n_s the judged documents that
  reach one, D(c) the discounts of the first c unjudged ranks and H(n) those of the first n ranks,

  .. math:: D - t I = \text{const} + \sum_s \delta_s (D(c_s) - t H(n_s + c_s))

  is a sum of functions of one c_s each. That the c_s must descend takes care of itself: fewer
  judged documents reach a higher step, so that one more costs a heavier ideal rank there. The
  highest nDCG is the greatest t for which the maximum is 0, found by Dinkelbach's iteration [1]_.

References
----------
.. [1] W. Dinkelbach, "On nonlinear fractional programming", *Management Science* 13(7), 492-498,
   1967, doi:10.1287/mnsc.13.7.492.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_cutoff
from store.analysis.gain import Discount, Gain, discounted_gain, discounts
from store.analysis.graded_rankings import GradedRankings
from store.errors import ArgumentError

_MOST_STEPS = 100
"""Dinkelbach's iteration needs a handful; rounding shall not make it endless."""


def ndcg_bounds(
    rankings: GradedRankings,
    free: NDArray[np.bool_],
    *,
    scale: Sequence[int],
    cutoff: int | None = None,
    gain: Gain = "grade",
    discount: Discount = "log2",
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound nDCG over all grades that unjudged documents may have.

    Parameters
    ----------
    rankings : GradedRankings
        Runs and grades.
    free : ndarray of bool, shape (n_runs, n_topics, width)
        Which ranks hold a document that may have any grade of the scale.
    scale : sequence of int
        Grades, at least one.
    cutoff, gain, discount
        As for `gain.normalised_gain`.

    Returns
    -------
    lower, upper : ndarray of float64, shape (n_runs, n_topics)
        In [0, 1], each attained by a filling; NaN where none gives any document a gain.

    Raises
    ------
    ArgumentError
        If the scale is empty, or where `gain.discounted_gain` raises one.

    Notes
    -----
    O(ranks * steps) a run and iteration, of which there are a handful.

    Examples
    --------
    Grades 1, ?, 1: best 1, of which nDCG is 1; worst 2

    >>> from store.analysis.graded_rankings import graded_rankings
    >>> rankings = graded_rankings(
    ...     ["t"],
    ...     ["a"],
    ...     {("a", "t"): np.array([1, 2, 3])},
    ...     {"t": (np.array([1, 3]), np.array([1, 1]))},
    ...     cutoff=1000,
    ... )
    >>> lower, upper = ndcg_bounds(rankings, ~rankings.judged, scale=(0, 1, 2))
    >>> lower.round(4).tolist(), upper.tolist()
    ([[0.8821]], [[1.0]])
    """
    check_cutoff(cutoff)
    if not scale:
        raise ArgumentError("scale", "must hold at least one grade", list(scale))
    grades = sorted(set(scale))
    steps = _steps(rankings, grades, cutoff, gain, discount)
    lower, upper = np.empty((2, *rankings.lengths.shape))
    for run in range(len(rankings.tags)):
        filled = np.where(free[run], np.int32(grades[0]), rankings.grades[run])
        total = discounted_gain(filled, cutoff=cutoff, gain=gain, discount=discount) * 1.0
        lower[run], upper[run] = _of_run(steps, free[run], total, cutoff)
    return lower, upper


@dataclass(frozen=True, slots=True, eq=False)
class _Steps:
    """Judged documents by how high their gain is, and what each step up is worth."""

    at_rank: NDArray[np.float64]
    """Weight of each rank of a list, 0 below the cutoff."""
    ideal: NDArray[np.float64]
    """Weight of the first 0, 1, 2, ... ranks together, of as many as there are documents."""
    worth: NDArray[np.float64]
    """Shape (n_thresholds,): gain that reaching each threshold adds."""
    reaching: NDArray[np.int64]
    """Shape (n_topics, n_thresholds): judged documents that do."""
    grade: NDArray[np.int64]
    """Shape (n_thresholds,): number of the least grade of the scale that does; 0 = all do."""
    n_grades: int

    def ideal_of(self, step: int, number: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what one step adds to the ideal if so many unjudged documents reach it.

        `number` has shape (n_topics, n).
        """
        total = np.zeros(number.shape)
        for place in np.flatnonzero(self.grade == step):
            total += self.worth[place] * self.ideal[self.reaching[:, place, None] + number]
        return total

    def gain_of(self, step: int) -> float:
        """Return the gain between a grade of the scale and the one before."""
        return float(np.sum(self.worth[self.grade == step]))


def _steps(
    rankings: GradedRankings,
    grades: list[int],
    cutoff: int | None,
    gain: Gain,
    discount: Discount,
) -> _Steps:
    """Tabulate what is the same for every run."""
    width = rankings.grades.shape[-1]
    most = max((judged.size for judged in rankings.judged_grades), default=0) + width
    weights = discounts(most, discount)
    weights[most if cutoff is None else cutoff :] = 0.0
    known = {int(grade) for judged in rankings.judged_grades for grade in np.unique(judged)}
    thresholds = np.array(sorted({max(0, grade) for grade in (0, *known, *grades)}))
    reaching = [[np.count_nonzero(j >= v) for v in thresholds[1:]] for j in rankings.judged_grades]
    return _Steps(
        at_rank=weights[:width],
        ideal=np.concatenate([[0.0], np.cumsum(weights)]),
        worth=np.diff(discounted_gain(thresholds[:, None], gain=gain)),
        reaching=np.array(reaching, dtype=np.int64).reshape(len(reaching), thresholds.size - 1),
        grade=np.searchsorted(grades, thresholds[1:]),
        n_grades=len(grades),
    )


def _of_run(
    steps: _Steps, free: NDArray[np.bool_], total: NDArray[np.float64], cutoff: int | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound one run, whose DCG is `total` if all free documents have the lowest grade."""
    n_free = np.count_nonzero(free, axis=-1, keepdims=True)
    inside = free[:, :cutoff]
    n_inside = np.count_nonzero(inside, axis=-1, keepdims=True)
    numbers = np.minimum(np.arange(int(n_inside.max(initial=0)) + 1), n_inside)
    order = np.argsort(~inside, axis=-1, kind="stable")[:, : numbers.shape[-1] - 1]
    none = np.zeros((free.shape[0], 1))
    # Weight of the first 0, 1, 2, ... free ranks; numbers above theirs repeat the last.
    first = np.concatenate([none, np.cumsum(steps.at_rank[order], axis=-1)], axis=-1)
    first = np.take_along_axis(first, numbers, axis=-1)
    last = first[:, -1:] - np.take_along_axis(first, n_inside - numbers, axis=-1)
    fixed = steps.ideal_of(0, n_free) + steps.ideal_of(steps.n_grades, np.zeros_like(n_free))
    inner = [step for step in range(1, steps.n_grades) if steps.gain_of(step) > 0]
    low = total[:, None] + sum(steps.gain_of(step) for step in inner) * last
    ideals = np.broadcast_to(fixed, low.shape).copy()
    for step in inner:
        ideals += steps.ideal_of(step, numbers + n_free - n_inside)
    lower = np.where(ideals > 0, _divide(low, ideals), np.inf).min(axis=-1)
    lower = np.where(np.isinf(lower), np.nan, lower)
    gains = [steps.gain_of(step) for step in inner]
    tables = [steps.ideal_of(step, numbers) for step in inner]
    upper = _highest(total, fixed[:, 0], gains, tables, first)
    # Where only documents below the cutoff could have a gain, nDCG is 0 if one of them has.
    return lower, np.where(np.isnan(upper), 0.0 * lower, upper)


def _highest(
    total: NDArray[np.float64],
    fixed: NDArray[np.float64],
    gains: list[float],
    tables: list[NDArray[np.float64]],
    first: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Maximise (total + gains * first[c]) / (fixed + tables[c]) over a c for each step."""
    rows = np.arange(total.size)
    # All of the highest grade: where that has no gain, nothing has.
    best = _divide(
        total + sum(gains) * first[:, -1], fixed + sum((table[:, -1] for table in tables), 0.0)
    )
    for _ in range(_MOST_STEPS):
        found, ideal = total.copy(), fixed.copy()
        for gain, table in zip(gains, tables, strict=True):
            chosen = np.argmax(gain * first - best[:, None] * table, axis=-1)
            found += gain * first[rows, chosen]
            ideal += table[rows, chosen]
        quotient = _divide(found, ideal)
        better = quotient > best
        if not better.any():
            break
        best = np.where(better, quotient, best)
    return best


def _divide(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide, with NaN where `whole` is 0."""
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))
