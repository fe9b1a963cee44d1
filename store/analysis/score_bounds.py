r"""The lowest and highest score each list can have, whatever its unjudged documents are.

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
    Neither all nor none is the extreme: S rises with each relevant document, and so does R. For a
    fixed number c of the u the precisions sum to most where the first c are relevant, to least
    where the last c are, since moving a relevant document up never lowers the sum; the e only
    raise R. So the highest is the greatest of S(first c) / (R + c), the lowest the least of
    S(last c) / (R + e + c), over all c.
Rprec
    For a fixed number c the rank R + c is fixed, and as many of the c as possible are above or
    below it. A relevant document far below can raise Rprec, which then looks further.
nDCG
    See `store.analysis.gain_bounds`: the lowest is at a corner, the highest may be in between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.analysis.average_precision import mean_average_precision
from store.analysis.gain_bounds import ndcg_bounds
from store.analysis.graded_rankings import GradedRankings
from store.analysis.measure_names import MeasureName
from store.analysis.measures import evaluate
from store.errors import ArgumentError, UnknownNameError

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper bounds, one shape."""


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """One measure of all runs and topics, and how far unjudged documents can move it."""

    measure: MeasureName
    lower: NDArray[np.float64]
    """Shape (n_runs, n_topics); NaN where no filling gives the measure a value."""
    values: NDArray[np.float64]
    """Shape (n_runs, n_topics): the score as judged, unjudged counting as not relevant; NaN =
    undefined."""
    upper: NDArray[np.float64]
    """Shape (n_runs, n_topics); NaN where `lower` is."""
    n_unjudged: NDArray[np.int64]
    """Shape (n_runs, n_topics): unjudged documents of the list, at any rank looked at."""

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
        Of those in `BOUNDED`.
    scale : sequence of int
        The grades a document may get, at least one.

    Returns
    -------
    list of Bounds
        In the order of `measures`. `values` is within the bounds if 0 or a grade below is in the
        scale and the level of relevance is above it.

    Raises
    ------
    UnknownNameError
        If the bounds of a measure are not known.
    ArgumentError
        If the scale is empty, or where `measures.evaluate` raises one.

    Notes
    -----
    O(ranks of all runs) a measure; nDCG as `ndcg_bounds`.

    Examples
    --------
    Relevant, unjudged, relevant. AP is least if the unjudged one is not relevant, and nDCG may be
    less still if it is, and of the higher grade:

    >>> from store.analysis.graded_rankings import graded_rankings
    >>> from store.analysis.measure_names import parse_measure
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
    n_unjudged = np.asarray(np.count_nonzero(free, axis=-1), dtype=np.int64)
    found = []
    for name, scores in zip(measures, evaluate(rankings, measures), strict=True):
        if name.name not in BOUNDED:
            raise UnknownNameError("measure with known bounds", name.name, BOUNDED)
        lower, upper = BOUNDED[name.name](rankings, free, name, grades)
        found.append(Bounds(name, lower, scores.values, upper, n_unjudged))
    return found


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
            replace(
                rankings,
                grades=filled,
                judged=rankings.judged | free,
                judged_grades=judged_grades,
            )
        )
    low, high = (evaluate(end, [name])[0].values for end in ends)
    return low, high


def _binary(
    bound: Callable[[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64], int], Pair],
) -> _Bound:
    """Apply bounds of relevant or not, run by run, at the measure's level."""

    def bounds(
        rankings: GradedRankings, free: NDArray[np.bool_], name: MeasureName, grades: list[int]
    ) -> Pair:
        level = 1 if name.rel is None else name.rel
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
    upper = -_least(-_divide(sums, counts), known)
    below_each = _from_below(free / ranks) - free / ranks
    sums = np.concatenate([judged, judged + _from_below(free * (own + below_each))], axis=-1)
    last = np.concatenate([np.zeros_like(below), _from_below(free)], axis=-1)
    lower = _least(_divide(sums, last + n_relevant[:, None] + below), known)
    # Where only ranks below the cutoff could be relevant, AP is 0 if one of them is.
    return lower, np.where(np.isnan(upper), 0.0 * lower, upper)


def _recall(
    relevant: NDArray[np.bool_], free: NDArray[np.bool_], n_relevant: NDArray[np.int64], cutoff: int
) -> Pair:
    found = np.count_nonzero(relevant[:, :cutoff], axis=-1)
    inside = np.count_nonzero(free[:, :cutoff], axis=-1)
    below = np.count_nonzero(free[:, cutoff:], axis=-1)
    upper = _divide(found + inside, n_relevant + inside)
    upper = np.where((n_relevant + inside == 0) & (below > 0), 0.0, upper)
    lower = _divide(found, n_relevant + below)
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
    return _least(_divide(least, ranks), known), -_least(-_divide(most, ranks), known)


def _ndcg(
    rankings: GradedRankings, free: NDArray[np.bool_], name: MeasureName, grades: list[int]
) -> Pair:
    return ndcg_bounds(
        rankings,
        free,
        scale=grades,
        cutoff=name.cutoff,
        gain="exponential" if name.dcg.startswith("exp-") else "grade",
        discount="log2" if name.dcg.endswith("log2") else "jarvelin",
    )


BOUNDED: dict[str, _Bound] = {
    **dict.fromkeys(("P", "RR", "Success", "SetP", "NumRet", "DCG", "RBP"), _by_extremes),
    "AP": _binary(_average_precision),
    "R": _binary(_recall),
    "SetR": _binary(_recall),
    "Rprec": _binary(_r_precision),
    "nDCG": _ndcg,
}
"""How each measure is bounded; see the module."""


def _from_below(values: NDArray[Any]) -> NDArray[Any]:
    """Sum each list from its last rank up to each rank, that included."""
    return np.asarray(np.cumsum(values[:, ::-1], axis=-1)[:, ::-1])


def _counted(flags: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the flags in the first 0, 1, ..., width ranks."""
    none = np.zeros((flags.shape[0], 1), dtype=np.int64)
    return np.concatenate([none, np.cumsum(flags, axis=-1)], axis=-1)


def _divide(part: NDArray[Any], whole: NDArray[Any]) -> NDArray[np.float64]:
    """Divide, with NaN where `whole` is 0."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0))


def _least(candidates: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the least candidate of each list that is one and no NaN; NaN where there is none."""
    usable = known & ~np.isnan(candidates)
    least = np.where(usable, candidates, np.inf).min(axis=-1, initial=np.inf)
    return np.where(np.isinf(least), np.nan, least)
