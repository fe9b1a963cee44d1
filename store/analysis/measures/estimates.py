"""Every score that a judged sample allows, of all runs and topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures.average_precision import mean_average_precision, quotient
from store.analysis.measures.incomplete import inferred_average_precision
from store.analysis.measures.sampled import (
    SampledPool,
    SampledRankings,
    at_places,
    sampled_rankings,
    statap_scores,
    stratified_scores,
)

if TYPE_CHECKING:
    from store.analysis.arrays import RankedDocuments


@dataclass(frozen=True, slots=True, eq=False)
class SampleScores:
    """Estimated scores of runs; axes are in the order of the tags and topics of the rankings."""

    rankings: SampledRankings
    values: Mapping[str, NDArray[np.float64]]
    """By measure, as ``"iP@5"``, shape (n_runs, n_topics); NaN = no sampled document of the topic is
    relevant. An estimate that the sample does not allow is not there."""
    reasons: Mapping[str, str]
    """By measure, why an estimate is not in `values`: ``no-strata``, ``no-probabilities``, or
    ``uneven-sample`` where strata were judged at different rates."""
    variance: NDArray[np.float64] | None
    """Shape (n_runs, n_topics), of statAP."""
    by_strata: NDArray[np.float64] | None
    """Shape (n_topics,): estimated relevant documents; ``None`` = no strata."""
    by_probability: NDArray[np.float64] | None
    """Shape (n_topics,): estimated relevant documents; ``None`` = no probabilities."""
    found: NDArray[np.float64]
    """Shape (n_runs, n_topics): of those, in the lists of the runs; by strata where there are."""
    n_uncovered: int
    """Pooled documents of strata of which none is graded."""

    @property
    def relevant(self) -> NDArray[np.float64]:
        """Shape (n_topics,): estimated relevant documents, by strata where there are."""
        either = self.by_probability if self.by_strata is None else self.by_strata
        return np.zeros(len(self.rankings.topics)) if either is None else either

    def mean(self, name: str) -> NDArray[np.float64]:
        """Return the mean over topics where an estimate is defined; (n_runs,), NaN = nowhere."""
        return mean_average_precision(self.values[name])[0]

    def n_defined(self, name: str) -> int:
        """Count the topics of the mean of an estimate; they are the same for all runs."""
        return int(np.sum(~np.isnan(self.values[name][:1])))

    def standard_errors(self) -> NDArray[np.float64]:
        """Return the standard error of the mean statAP, shape (n_runs,).

        Topics were sampled independently: the root of the summed variances, divided by the number
        of topics. NaN where a variance is not known, or where the sum is below 0, as
        `store.analysis.measures.sampled` says that it may be.
        """
        if self.variance is None:
            return np.full(len(self.rankings.tags), np.nan)
        is_defined = ~np.isnan(self.values["statAP"])
        total = np.sum(np.where(is_defined, self.variance, 0.0), axis=1)
        n_topics = np.sum(is_defined, axis=1)
        return np.where(total >= 0, quotient(np.sqrt(np.abs(total)), n_topics), np.nan)


def estimates(
    ranked: RankedDocuments,
    pools: Mapping[str, SampledPool],
    *,
    cutoff: int,
    level: int,
    cutoffs: Sequence[int] = (5, 10),
) -> SampleScores:
    """Estimate all scores that a sample allows.

    Parameters
    ----------
    ranked : RankedDocuments
        The runs.
    pools : mapping of str to SampledPool
        The topics, of each of which a document is graded.
    cutoff : int
        Documents of a ranking that are looked at, and the most that `sample_eval.pl` lets a run
        return; at least 1.
    level : int
        Least grade that counts as relevant.
    cutoffs : sequence of int
        Ranks at which precision is estimated.

    Notes
    -----
    An estimate is there for all topics or for none: strata of half of them allow no mean.
    """
    rankings = sampled_rankings(ranked.tags, ranked.rankings, pools, cutoff=cutoff)
    stratified = ("xinfAP", "infNDCG", *(f"iP@{one}" for one in cutoffs))
    values: dict[str, NDArray[np.float64]] = {}
    reasons: dict[str, str] = {}
    by_strata = by_probability = variance = None
    found = np.zeros(rankings.lengths.shape)
    n_uncovered = 0
    if all(pool.inclusion is not None for pool in pools.values()):
        sampled = statap_scores(rankings, level=level)
        values["statAP"], variance = sampled.stat_ap, sampled.variance
        by_probability, found = sampled.n_relevant, sampled.n_relevant_retrieved
    else:
        reasons["statAP"] = "no-probabilities"
    if all(pool.strata is not None for pool in pools.values()):
        strata = stratified_scores(rankings, cutoffs=cutoffs, max_retrieved=cutoff, level=level)
        columns = strata.inf_ap, strata.inf_ndcg, *strata.precision
        values |= dict(zip(stratified, columns, strict=True))
        by_strata, found = strata.n_relevant, strata.n_relevant_retrieved
        n_uncovered = int(strata.n_uncovered.sum())
        if all(map(_is_even, pools.values())):
            values["infAP"] = _inferred(rankings, level)
        else:
            reasons["infAP"] = "uneven-sample"
    else:
        reasons |= dict.fromkeys((*stratified, "infAP"), "no-strata")
    return SampleScores(
        rankings=rankings,
        values={name: values[name] for name in (*stratified, "infAP", "statAP") if name in values},
        reasons=reasons,
        variance=variance,
        by_strata=by_strata,
        by_probability=by_probability,
        found=found,
        n_uncovered=n_uncovered,
    )


def _is_even(pool: SampledPool) -> bool:
    """Return whether the same share of every stratum is graded."""
    _, codes = np.unique(np.asarray(pool.strata), return_inverse=True)
    n_pooled = np.bincount(codes)
    n_graded = np.bincount(codes, pool.graded)
    return bool((n_graded * codes.size == n_pooled * np.count_nonzero(pool.graded)).all())


def _inferred(rankings: SampledRankings, level: int) -> NDArray[np.float64]:
    """Return infAP, shape (n_runs, n_topics): pooled documents without a grade are unjudged."""
    found = np.empty(rankings.lengths.shape)
    for topic, pool in enumerate(rankings.pools):
        places, is_relevant = rankings.places[:, topic], pool.relevant(level)
        relevant, judged = (at_places(one, places) for one in (is_relevant, pool.graded))
        n_relevant = int(is_relevant.sum())
        found[:, topic] = inferred_average_precision(relevant, judged, places >= 0, n_relevant)
    return found
