r"""Between which limits scores lie, and every other reading of them where judgements are incomplete.

A filling gives each unjudged document of a list, down to the last rank that was looked at, a grade
of the scale. Documents that are not in the list stay as they are: were R allowed to grow without
end, AP and nDCG could be anything above 0. The bounds are the least and the greatest value over
all fillings for which the measure is defined, and each is attained. They hold for one list: two
runs that share unjudged documents need not attain theirs in the same filling.

What is proved, with u the unjudged ranks within the cutoff, and e the unjudged ranks below it:

P, RR, Success, SetP, NumRet, DCG, RBP
    Do not depend on R and do not fall when a grade rises: all worst, all best.
R, SetR
    (found + a) / (R + a + b), a of the u and b of the e relevant, rises with a and falls with b.
AP
    Neither all nor none is the extreme: S rises with each relevant document, and so does R. For a fixed
    number c of the u the precisions sum to most where the first c are relevant, to least where the last c
    are, since moving a relevant document up never lowers the sum; the e only raise R. So the highest is the
    greatest of S(first c) / (R + c), the lowest the least of S(last c) / (R + e + c), over all c.
Rprec
    For a fixed number c the rank R + c is fixed, and as many of the c as possible are above or
    below it. A relevant document far below can raise Rprec, which then looks further.
nDCG
    A quotient of a linear and a convex function of the gains, for the ideal DCG is the greatest of
    the sums over all orders. Hence it is quasi-concave:


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
.. [1] W. Dinkelbach, "On nonlinear fractional programming", *Management Science* 13(7), 492-498, 1967,
   doi:10.1287/mnsc.13.7.492.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures.average_precision import mean_average_precision
from store.analysis.measures.gain import discounted_gain, discounts, rbp_residual
from store.analysis.measures.names import MeasureName, Scores, evaluate
from store.analysis.rankings import GradedRankings
from store.analysis.ratios import quotient
from store.errors import ArgumentError, UnknownNameError

_MOST_STEPS = 100
"""Dinkelbach's iteration needs a handful; rounding shall not make it endless."""


Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper bounds, one shape."""


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """One measure of all runs and topics, and how far unjudged documents can move it."""

    measure: MeasureName
    lower: NDArray[np.float64]
    """Shape (n_runs, n_topics); NaN where no filling gives the measure a value."""
    values: NDArray[np.float64]
    """Shape (n_runs, n_topics): the score as judged, unjudged counting as not relevant; NaN = undefined."""
    upper: NDArray[np.float64]
    """Shape (n_runs, n_topics); NaN where `lower` is."""

    def means(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return lower bound, score and upper bound of each run's mean, shape (n_runs,) each.

        All three are over the topics for which `values` has a score; NaN where there is none. The
        bounds are attained, for the topics do not depend on each other.
        """
        defined = ~np.isnan(self.values)
        low, mean, high = (
            mean_average_precision(np.where(defined, bound, np.nan))[0]
            for bound in (self.lower, self.values, self.upper)
        )
        return low, mean, high


def score_bounds(
    rankings: GradedRankings, measures: Sequence[MeasureName], *, scale: Sequence[int]
) -> list[Bounds]:
    """Bound each score over all grades that the unjudged documents of the list may have.

    Parameters
    ----------
    rankings : GradedRankings
        Runs and grades; what is not judged is what may be filled.
    measures : sequence of MeasureName
        Of those in `BOUNDED`, of whole lists, else `UnknownNameError`.
    scale : sequence of int
        The grades a document may get, at least one; else `ArgumentError`.

    Returns
    -------
    list of Bounds
        In the order of `measures`. `values` is within the bounds if 0 or a grade below is in the scale and
        the level of relevance is above it. O(ranks of all runs) a measure; nDCG O(ranks * steps of the scale)
        a run and iteration, of which there are a handful.

    Examples
    --------
    Relevant, unjudged, relevant. AP is least if the unjudged one is not relevant, and nDCG may be
    less still if it is, and of the higher grade:

    >>> from store.analysis.rankings import graded_rankings
    >>> from store.analysis.measures.names import parse_measure
    >>> rankings = graded_rankings(
    ...     ["t"],
    ...     ["a"],
    ...     {("a", "t"): np.array([1, 2, 3])},
    ...     {"t": (np.array([1, 3]), np.array([1, 1]))},
    ...     cutoff=1000,
    ... )
    >>> for text in ("AP", "nDCG", "P@2"):
    ...     (bounds,) = score_bounds(rankings, [parse_measure(text)], scale=(0, 1, 2))
    ...     low, high = float(bounds.lower[0, 0]), float(bounds.upper[0, 0])
    ...     print(text, round(low, 4), round(float(bounds.values[0, 0]), 4), round(high, 4))
    AP 0.8333 0.8333 1.0
    nDCG 0.8821 0.9197 1.0
    P@2 0.5 0.5 1.0
    """
    if not scale:
        raise ArgumentError("scale", "must hold at least one grade", list(scale))
    grades = sorted(set(scale))
    there = np.arange(rankings.grades.shape[-1]) < rankings.lengths[..., None]
    free = there & ~rankings.judged
    found = []
    for name, scores in zip(measures, evaluate(rankings, measures), strict=True):
        if not is_bounded(name):
            raise UnknownNameError("measure with known bounds", str(name), BOUNDED)
        lower, upper = BOUNDED[name.name](rankings, free, name, grades)
        found.append(Bounds(name, lower, scores.values, upper))
    return found


def _ndcg(rankings: GradedRankings, free: NDArray[np.bool_], name: MeasureName, grades: list[int]) -> Pair:
    steps = _steps(rankings, grades, name)
    lower, upper = np.empty((2, *rankings.lengths.shape))
    for run in range(len(rankings.tags)):
        filled = np.where(free[run], np.int32(grades[0]), rankings.grades[run])
        total = discounted_gain(filled, cutoff=name.cutoff, gain=name.gain, discount=name.discount)
        lower[run], upper[run] = _of_run(steps, free[run], total, name.cutoff)
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


def _steps(rankings: GradedRankings, grades: list[int], name: MeasureName) -> _Steps:
    width = rankings.grades.shape[-1]
    most = max((judged.size for judged in rankings.judged_grades), default=0) + width
    weights = discounts(most, name.discount)
    weights[most if name.cutoff is None else name.cutoff :] = 0.0
    known = {int(grade) for judged in rankings.judged_grades for grade in np.unique(judged)}
    thresholds = np.array(sorted({max(0, grade) for grade in (0, *known, *grades)}))
    reaching = [[np.count_nonzero(j >= v) for v in thresholds[1:]] for j in rankings.judged_grades]
    return _Steps(
        at_rank=weights[:width],
        ideal=np.concatenate([[0.0], np.cumsum(weights)]),
        worth=np.diff(discounted_gain(thresholds[:, None], gain=name.gain)),
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
    lower = np.where(ideals > 0, quotient(low, ideals), np.inf).min(axis=-1)
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
    best = quotient(total + sum(gains) * first[:, -1], fixed + sum((table[:, -1] for table in tables), 0.0))
    for _ in range(_MOST_STEPS):
        found, ideal = total.copy(), fixed.copy()
        for gain, table in zip(gains, tables, strict=True):
            chosen = np.argmax(gain * first - best[:, None] * table, axis=-1)
            found += gain * first[rows, chosen]
            ideal += table[rows, chosen]
        reached = quotient(found, ideal)
        better = reached > best
        if not better.any():
            break
        best = np.where(better, reached, best)
    return best


_Bound = Callable[[GradedRankings, NDArray[np.bool_], MeasureName, list[int]], Pair]


def _by_extremes(
    rankings: GradedRankings, free: NDArray[np.bool_], name: MeasureName, grades: list[int]
) -> Pair:
    """Bound a measure that does not depend on R and rises with every grade."""
    ends = []
    most = np.count_nonzero(free, axis=-1).max(axis=0, initial=0)
    for grade in (grades[0], grades[-1]):
        filled = np.where(free, np.int32(grade), rankings.grades)
        # R changes nothing, but must not be below what any run found.
        judged_grades = tuple(
            np.sort(np.append(judged, np.full(n, grade, dtype=np.int32)))[::-1]
            for judged, n in zip(rankings.judged_grades, most.tolist(), strict=True)
        )
        ends.append(
            replace(rankings, grades=filled, judged=rankings.judged | free, judged_grades=judged_grades)
        )
    low, high = (evaluate(end, [name])[0].values for end in ends)
    return low, high


def _binary(bound: Callable[[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64], int], Pair]) -> _Bound:
    """Apply bounds of relevant or not, run by run, at the measure's level."""

    def bounds(
        rankings: GradedRankings, free: NDArray[np.bool_], name: MeasureName, grades: list[int]
    ) -> Pair:
        level = name.level
        relevant, n_relevant = rankings.relevant(level), rankings.n_relevant(level)
        cutoff = relevant.shape[-1] if name.cutoff is None else name.cutoff
        lower, upper = np.empty((2, *relevant.shape[:-1]))
        for run in range(len(rankings.tags)):
            of_run, open_, r = relevant[run], free[run], n_relevant
            if level <= grades[0]:  # every grade of the scale is relevant
                of_run, r = of_run | open_, r + np.count_nonzero(open_, axis=-1)
            if not grades[0] < level <= grades[-1]:
                open_ = np.zeros_like(open_)
            lower[run], upper[run] = bound(of_run, open_, r, cutoff)
        return lower, upper

    return bounds


def _average_precision(
    relevant: NDArray[np.bool_], free: NDArray[np.bool_], n_relevant: NDArray[np.int64], cutoff: int
) -> Pair:
    below = np.count_nonzero(free[:, cutoff:], axis=-1, keepdims=True)
    relevant, free = relevant[:, :cutoff], free[:, :cutoff]
    ranks = np.arange(1.0, relevant.shape[-1] + 1)
    above = np.cumsum(relevant, axis=-1)
    # At an unjudged rank: what it adds itself, and to each relevant document further down.
    own = (1 + above) / ranks + _from_below(relevant / ranks)
    judged = np.sum(relevant * above / ranks, axis=-1)[:, None]
    first = np.cumsum(free, axis=-1)
    sums = judged + np.cumsum(free * (own + (first - 1) / ranks), axis=-1)
    known = np.concatenate([np.ones((free.shape[0], 1), dtype=np.bool_), free], axis=-1)
    # The first column is that of no unjudged document.
    sums = np.concatenate([judged, sums], axis=-1)
    counts = np.concatenate([np.zeros_like(below), first], axis=-1) + n_relevant[:, None]
    upper = -_least(-quotient(sums, counts), known)
    below_each = _from_below(free / ranks) - free / ranks
    sums = np.concatenate([judged, judged + _from_below(free * (own + below_each))], axis=-1)
    last = np.concatenate([np.zeros_like(below), _from_below(free)], axis=-1)
    lower = _least(quotient(sums, last + n_relevant[:, None] + below), known)
    # Where only ranks below the cutoff could be relevant, AP is 0 if one of them is.
    return lower, np.where(np.isnan(upper), 0.0 * lower, upper)


def _recall(
    relevant: NDArray[np.bool_], free: NDArray[np.bool_], n_relevant: NDArray[np.int64], cutoff: int
) -> Pair:
    found = np.count_nonzero(relevant[:, :cutoff], axis=-1)
    inside = np.count_nonzero(free[:, :cutoff], axis=-1)
    below = np.count_nonzero(free[:, cutoff:], axis=-1)
    upper = quotient(found + inside, n_relevant + inside)
    upper = np.where((n_relevant + inside == 0) & (below > 0), 0.0, upper)
    lower = quotient(found, n_relevant + below)
    # Without any other relevant document those within the cutoff are all there are.
    return np.where((n_relevant + below == 0) & (inside > 0), 1.0, lower), upper


def _r_precision(
    relevant: NDArray[np.bool_], free: NDArray[np.bool_], n_relevant: NDArray[np.int64], _: int
) -> Pair:
    width = relevant.shape[-1]
    n_free = np.count_nonzero(free, axis=-1)[:, None]
    filled = np.arange(int(n_free.max(initial=0)) + 1)
    ranks = n_relevant[:, None] + filled
    found = np.take_along_axis(_counted(relevant), np.minimum(ranks, width), axis=-1)
    unjudged = np.take_along_axis(_counted(free), np.minimum(ranks, width), axis=-1)
    known = filled <= n_free
    most = found + np.minimum(filled, unjudged)
    least = found + np.maximum(0, filled - (n_free - unjudged))
    return _least(quotient(least, ranks), known), -_least(-quotient(most, ranks), known)


BOUNDED: dict[str, _Bound] = {
    **dict.fromkeys(("P", "RR", "Success", "SetP", "NumRet", "DCG", "RBP"), _by_extremes),
    "AP": _binary(_average_precision),
    "R": _binary(_recall),
    "SetR": _binary(_recall),
    "Rprec": _binary(_r_precision),
    "nDCG": _ndcg,
}
"""How each measure is bounded; see the module."""


def is_bounded(name: MeasureName) -> bool:
    """Return whether bounds of a measure are known: of condensed lists none are."""
    return name.name in BOUNDED and not name.condensed


def _from_below(values: NDArray[Any]) -> NDArray[Any]:
    """Sum each list from its last rank up to each rank, that included."""
    return np.asarray(np.cumsum(values[:, ::-1], axis=-1)[:, ::-1])


def _counted(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    none = np.zeros((flags.shape[0], 1), dtype=np.int64)
    return np.concatenate([none, np.cumsum(flags, axis=-1)], axis=-1)


def _least(candidates: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the least candidate of each list that is one and no NaN; NaN where there is none."""
    usable = known & ~np.isnan(candidates)
    least = np.where(usable, candidates, np.inf).min(axis=-1, initial=np.inf)
    return np.where(np.isinf(least), np.nan, least)


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """One measure of all runs, over the topics; NaN = undefined."""

    scores: Scores
    """As judged."""
    judged_only: Scores
    """Of the judged documents alone: condensed lists."""
    low: NDArray[np.float64] | None
    """Shape (n_runs,): the least it could be; ``None`` = bounds of the measure are not known."""
    high: NDArray[np.float64] | None
    """Shape (n_runs,): the most."""
    residual: NDArray[np.float64] | None
    """Shape (n_runs,): of RBP, what unjudged documents and the ranks below the end of each list
    could add; ``None`` = another measure."""


def readings(
    rankings: GradedRankings, measures: Sequence[MeasureName], *, scale: Sequence[int]
) -> list[Readings]:
    """Read each measure in every way.

    Parameters
    ----------
    rankings : GradedRankings
    measures : sequence of MeasureName
        From `parse_measure`.
    scale : sequence of int
        The grades that an unjudged document may have, at least one.

    Returns
    -------
    list of Readings
        In the order of `measures`.

    Notes
    -----
    Bounds and residual are over the topics for which the measure is defined as judged. O(ranks of all runs) a
    measure, but nDCG as the module says.

    Examples
    --------
    Unjudged, relevant: AP is 1/2 as judged and 1 of the judged document alone, and the unjudged one can only
    raise it. RBP leaves open the first rank and all from the third on.

    >>> from store.analysis.measures.names import parse_measure
    >>> from store.analysis.rankings import graded_rankings
    >>> lists, grades = {("a", "t"): np.array([1, 2])}, {"t": (np.array([2]), np.array([1]))}
    >>> rankings = graded_rankings(["t"], ["a"], lists, grades, cutoff=9)
    >>> names = [parse_measure("AP"), parse_measure("RBP(p=0.5)"), parse_measure("Bpref")]
    >>> for one in readings(rankings, names, scale=(0, 1)):
    ...     print(one.scores.measure, one.scores.overall, one.judged_only.overall, one.low, one.high)
    AP [0.5] [1.] [0.5] [1.]
    RBP(rel=1,p=0.5) [0.25] [0.5] [0.25] [0.75]
    Bpref [1.] [1.] None None
    >>> readings(rankings, names[1:2], scale=(0, 1))[0].residual.tolist()
    [0.75]
    """
    bounded = [*filter(is_bounded, measures)]
    bounds = iter(score_bounds(rankings, bounded, scale=scale))
    as_judged = evaluate(rankings, measures)
    alone = evaluate(rankings, [replace(name, condensed=True) for name in measures])
    found = []
    for name, scores, judged_only in zip(measures, as_judged, alone, strict=True):
        low = high = residual = None
        if is_bounded(name):
            bound = next(bounds)
            low, high = (_over_topics(one, scores) for one in (bound.lower, bound.upper))
        if name.name == "RBP" and not name.condensed:
            open_ = rbp_residual(rankings.judged, rankings.lengths, p=name.p)
            residual = _over_topics(open_, scores)
        found.append(Readings(scores, judged_only, low, high, residual))
    return found


def _over_topics(values: NDArray[np.float64], scores: Scores) -> NDArray[np.float64]:
    """Average or add up over the topics that a score is over."""
    defined = np.where(np.isnan(scores.values), np.nan, values)
    if scores.is_sum:
        return np.asarray(np.nansum(defined, axis=-1))
    return mean_average_precision(defined)[0]
