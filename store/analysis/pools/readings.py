"""Every reading of a score where judgements are incomplete, side by side.

As judged (unjudged = not relevant), of the judged documents alone, the least and the most it could
be, and what RBP leaves open. Nothing is computed here that another module does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures.average_precision import mean_average_precision
from store.analysis.measures.bounds import BOUNDED, score_bounds
from store.analysis.measures.gain import rbp_residual
from store.analysis.measures.incomplete import condensed, inferred_average_precision
from store.analysis.measures.names import MeasureName, Scores, evaluate, parse_measure
from store.analysis.measures.ranked import judged_share, unjudged_share
from store.analysis.pools.contributions import check_pooled
from store.analysis.rankings import GradedRankings


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
    measure, but nDCG as `store.analysis.measures.bounds` says.

    Examples
    --------
    Unjudged, relevant: AP is 1/2 as judged and 1 of the judged document alone, and the unjudged one can only
    raise it. RBP leaves open the first rank and all from the third on.

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
    bounded = [name for name in measures if name.name in BOUNDED]
    bounds = iter(score_bounds(rankings, bounded, scale=scale))
    as_judged = evaluate(rankings, measures)
    alone = evaluate(condensed(rankings), measures)
    found = []
    for name, scores, judged_only in zip(measures, as_judged, alone, strict=True):
        low = high = residual = None
        if name.name in BOUNDED:
            bound = next(bounds)
            low, high = (_over_topics(one, scores) for one in (bound.lower, bound.upper))
        if name.name == "RBP":
            open_ = rbp_residual(rankings.judged, rankings.lengths, p=name.p)
            residual = _over_topics(open_, scores)
        found.append(Readings(scores, judged_only, low, high, residual))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Coverage:
    """How much of each run is judged, and the measures made for gaps; shape (n_runs,) or NaN."""

    bpref: Scores
    inferred_ap: Scores
    """infAP; AP itself where everything pooled is judged."""
    judged: NDArray[np.float64]
    """Share of the documents among the first k that are judged, as ``Judged@k`` of ir_measures: of
    those there are, over the topics that the run has documents for."""
    unjudged: NDArray[np.float64]
    """Share of k ranks that hold an unjudged document, as `unj_k` of trec_eval: of k, over all
    topics, however short the list."""


def coverage(
    rankings: GradedRankings, *, level: int, cutoff: int, pooled: NDArray[np.bool_] | None = None
) -> Coverage:
    """Return how much of each run is judged.

    Parameters
    ----------
    rankings : GradedRankings
    level : int
        Least grade that counts as relevant.
    cutoff : int
        k, at least 1; else `ArgumentError`.
    pooled : ndarray of bool, shape (n_runs, n_topics, width), optional
        Which ranks hold a document of the pool, judged or not. Judged ones are taken for pooled. Default: no
        other document is. `ArgumentError` for another shape.

    Returns
    -------
    Coverage
        trec_eval takes a grade below 0 (or below a level that is lower still) for no judgement, ir_measures
        for one.

    Examples
    --------
    One judged, one not, and the list ends:

    >>> from store.analysis.rankings import graded_rankings
    >>> lists, grades = {("a", "t"): np.array([1, 2])}, {"t": (np.array([1]), np.array([1]))}
    >>> found = coverage(graded_rankings(["t"], ["a"], lists, grades, cutoff=9), level=1, cutoff=10)
    >>> found.judged.tolist(), found.unjudged.tolist()
    ([0.5], [0.1])
    """
    names = [parse_measure(text, level=level) for text in ("Bpref", "infAP")]
    bpref, inferred_ap = evaluate(rankings, names)
    if pooled is not None:
        inferred_ap = _inferred(rankings, inferred_ap, pooled, level)
    judged = judged_share(rankings.judged, rankings.lengths, cutoff)
    counted = rankings.relevant(min(0, level))
    unjudged = unjudged_share(counted, rankings.lengths, cutoff)
    return Coverage(
        bpref=bpref,
        inferred_ap=inferred_ap,
        judged=mean_average_precision(judged)[0],
        unjudged=mean_average_precision(unjudged)[0],
    )


def _inferred(rankings: GradedRankings, scores: Scores, pooled: NDArray[np.bool_], level: int) -> Scores:
    """Return infAP with unjudged documents of the pool."""
    check_pooled(pooled, rankings.judged.shape)
    values = inferred_average_precision(
        rankings.relevant(level),
        rankings.relevant(min(0, level)),
        rankings.judged | pooled,
        rankings.n_relevant(level),
    )
    overall, n_defined = mean_average_precision(values)
    return replace(scores, values=values, overall=overall, n_defined=n_defined)


def _over_topics(values: NDArray[np.float64], scores: Scores) -> NDArray[np.float64]:
    """Average or add up over the topics that a score is over."""
    defined = np.where(np.isnan(scores.values), np.nan, values)
    if scores.is_sum:
        return np.asarray(np.nansum(defined, axis=-1))
    return mean_average_precision(defined)[0]
