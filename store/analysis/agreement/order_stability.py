"""The order of runs under each judge.

Judges may disagree about every other document and yet put the runs in the same order. The runs are ordered by
MAP under each judge's own judgements, and under mixtures in which the judge of each topic is drawn at random.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.votes import Votes
from store.analysis.measures.average_precision import relevant_ranks
from store.analysis.rankings import judged_rankings
from store.analysis.run_order import TIED_MAP, TauResult, kendall_tau_b, n_swapped_pairs, tau_ap

MIXTURES = 1000
SHOWN_SHARE = 0.05
"""Pairs of runs that change places in fewer mixtures are not listed."""
QUANTILES = (0.025, 0.25, 0.5, 0.75, 0.975)

_CHUNK_VALUES = 1 << 18
"""Differences of scores held at once: 2 MB, which the cache of a processor holds."""

MixtureReason = Literal["one-judge", "fewer-than-two", "no-common-topics", "all-tied"]
"""Why mixtures say nothing: fewer than two judges to draw from, fewer than two runs, no topic with
enough judges, or no two runs that the reference tells apart."""


@dataclass(frozen=True, slots=True)
class JudgeMap:
    """The runs' scores under one judge."""

    scores: tuple[float, ...] | None
    """MAP of every run, in [0, 1]; ``None`` when the judge has no topic."""
    n_topics: int
    """Topics it is the mean of."""


@dataclass(frozen=True, slots=True)
class JudgePairOrder:
    """Two judges' orders of the same runs, over the topics both have."""

    first: int
    """Place of the judge in the array."""
    second: int
    n_topics: int
    tau: TauResult
    """Kendall's tau-b; reasons ``no-common-topics``, ``fewer-than-two``, ``all-tied``."""
    tau_ap: TauResult
    """With the second judge's order taken as the true one."""
    tau_ap_reversed: TauResult
    """With the first judge's order taken as the true one."""
    n_swapped: int | None
    """Pairs of runs in strictly opposite order; ``None`` without common topics."""


@dataclass(frozen=True, slots=True)
class TauSpread:
    """A rank correlation with the reference over all mixtures where it is defined."""

    mean: float
    least: float
    greatest: float
    quantiles: tuple[float, ...]
    """At `QUANTILES`, interpolated linearly."""


@dataclass(frozen=True, slots=True)
class RunSwap:
    """Two runs that change places in some mixtures."""

    better: int
    """The run that the reference puts higher: its place in the array."""
    worse: int
    n_mixtures: int
    """Mixtures in which `worse` is strictly above `better`."""
    share: float
    difference: float
    """MAP of `better` minus MAP of `worse` under the reference, above 0."""


@dataclass(frozen=True, slots=True)
class Mixtures:
    """The order of runs when each topic's judge is drawn at random, against a reference."""

    reason: MixtureReason | None
    """Why there is nothing below; ``None`` when there is."""
    n_topics: int
    """Topics the scores are means of."""
    n_mixtures: int
    n_undefined: int
    """Mixtures without a correlation, because all runs were tied; left out of the spreads."""
    tau: TauSpread | None
    """Tau-b; ``None`` when no mixture has one."""
    tau_ap: TauSpread | None
    """With the reference taken as the true order."""
    reference: tuple[float, ...] | None
    """MAP of every run under the reference."""
    lowest: tuple[float, ...] | None
    """Least MAP of every run over all mixtures."""
    highest: tuple[float, ...] | None
    swaps: tuple[RunSwap, ...]
    """The most frequent first, then as the runs come."""


@dataclass(frozen=True, slots=True)
class JudgeOrder:
    """What Voorhees' experiment says; topics, runs and judges are places in the array."""

    topics: tuple[int, ...]
    n_left_out: int
    """Topics left out because too few judges have a score."""
    n_scored: tuple[int, ...]
    """Topics each judge has a score for, those left out included."""
    min_judges: int
    """Drawn judges who must have a score for a topic to be used."""
    judges: tuple[JudgeMap, ...]
    """One a column of the array."""
    pairs: tuple[JudgePairOrder, ...]
    """Every two columns, in the order of ``itertools.combinations``."""
    mixtures: Mixtures


def judge_order(
    average_precisions: NDArray[np.float64],
    *,
    seed: int,
    mixtures: int = MIXTURES,
    min_judges: int | None = None,
    shown_share: float = SHOWN_SHARE,
    drawn: Sequence[int] | None = None,
) -> JudgeOrder:
    """Compare the order of runs under different judges and under mixtures of them.

    Parameters
    ----------
    average_precisions : ndarray of float64, shape (n_topics, n_runs, n_judges)
        AP in [0, 1] by each judge's judgements alone; NaN for all runs where the judge has no score for the
        topic: nothing judged, or nothing relevant. `judge_average_precisions` makes it.
    seed : int
        Not negative; one seed gives the same mixtures.
    mixtures : int, default=1000
        At least 1.
    min_judges : int, optional
        Topics with scores of at least this many judges are used, and mixtures draw from those who have one.
        By default all must have one. At least 2, unless there is one judge only.
    shown_share : float, default=0.05
        Least share of mixtures, in [0, 1], for a pair of runs to be listed; one that never changes places is
        not.
    drawn : sequence of int, optional
        Judges that mixtures draw from, by place; the others, as the union of all, are compared in pairs.
        By default all. `min_judges` must be its default then.

    Returns
    -------
    JudgeOrder
        Mixtures are compared with the mean over the judges who have a score. Scores of runs that differ by
        no more than `TIED_MAP` are tied.

    Notes
    -----
    The experiment of [1]_: there, one of three judges for each of 48 topics, 100,000 mixtures of them, and a
    mean tau of about .94 although the judges overlapped by .3 only. Judges are drawn with equal probability,
    from raw bits of PCG64, the same in every version of numpy. O(mixtures * n_runs * (n_topics + n_runs)).

    References
    ----------
    .. [1] E. M. Voorhees, "Variations in Relevance Judgments and the Measurement of Retrieval Effectiveness",
       *Information Processing & Management* 36(5), 697-716, 2000, doi:10.1016/S0306-4573(00)00010-8.

    Examples
    --------
    Two topics, two runs, two judges. Of the four ways to mix the judges one turns the runs round and one ties
    them:

    >>> ap = np.array([[[0.9, 0.5], [0.5, 0.6]], [[0.6, 0.6], [0.5, 0.8]]])
    >>> result = judge_order(ap, seed=1, mixtures=4000)
    >>> result.pairs[0].tau
    TauResult(tau=-1.0, reason=None)
    >>> swap = result.mixtures.swaps[0]
    >>> swap.better, swap.worse, abs(swap.share - 1 / 4) < 0.02
    (0, 1, True)
    """
    ap = np.asarray(average_precisions, dtype=np.float64)
    has_score = np.asarray(~np.isnan(ap).all(axis=1))  # without runs, no judge has one
    n_topics, _, n_judges = ap.shape
    least = n_judges if min_judges is None else min_judges
    used = np.flatnonzero(has_score.sum(axis=1) >= least)
    n_scored = tuple(has_score.sum(axis=0).tolist())
    ap, has_score = ap[used], has_score[used]
    places = [*range(n_judges)] if drawn is None else [*drawn]
    return JudgeOrder(
        topics=tuple(used.tolist()),
        n_left_out=n_topics - used.size,
        n_scored=n_scored,
        min_judges=least,
        judges=tuple(
            JudgeMap(tuple(of[scored].mean(axis=0).tolist()) if scored.any() else None, int(scored.sum()))
            for of, scored in zip(np.moveaxis(ap, 2, 0), has_score.T, strict=True)
        ),
        pairs=tuple(
            _pair_order(ap, has_score, first, second)
            for first, second in itertools.combinations(range(n_judges), 2)
        ),
        mixtures=_mixtures(ap[:, :, places], has_score[:, places], mixtures, seed, shown_share),
    )


def _pair_order(
    ap: NDArray[np.float64], has_score: NDArray[np.bool_], first: int, second: int
) -> JudgePairOrder:
    """Compare two columns over the topics both have."""
    common = has_score[:, first] & has_score[:, second]
    n_topics = int(np.count_nonzero(common))
    if n_topics == 0:
        none = TauResult(None, "no-common-topics")
        return JudgePairOrder(first, second, 0, none, none, none, None)
    x, y = ap[common, :, first].mean(axis=0), ap[common, :, second].mean(axis=0)
    return JudgePairOrder(
        first,
        second,
        n_topics,
        tau=kendall_tau_b(x, y, tolerance=TIED_MAP),
        tau_ap=tau_ap(x, y, tolerance=TIED_MAP),
        tau_ap_reversed=tau_ap(y, x, tolerance=TIED_MAP),
        n_swapped=n_swapped_pairs(x, y, tolerance=TIED_MAP),
    )


def _mixtures(
    ap: NDArray[np.float64], has_score: NDArray[np.bool_], n_mixtures: int, seed: int, shown_share: float
) -> Mixtures:
    """Score the runs under mixtures of judges and compare each with the mean over judges."""
    n_topics, n_runs, n_judges = ap.shape
    total = np.where(has_score[:, np.newaxis, :], ap, 0.0).sum(axis=2)
    true = total / has_score.sum(axis=1)[:, np.newaxis]
    reason: MixtureReason | None = None
    if n_judges < 2:
        reason = "one-judge"
    elif n_topics == 0:
        reason = "no-common-topics"
    elif n_runs < 2:
        reason = "fewer-than-two"
    elif np.ptp(true.mean(axis=0)) <= TIED_MAP:
        reason = "all-tied"
    if reason is not None:
        return Mixtures(reason, n_topics, 0, 0, None, None, None, None, None, ())
    reference = true.mean(axis=0)
    told = reference[:, np.newaxis] - reference > TIED_MAP  # the run of a row is above that of a column
    n_pairs, n_told = n_runs * (n_runs - 1) // 2, np.count_nonzero(told)
    swapped = np.zeros((n_runs, n_runs), dtype=np.int64)
    lowest, highest = np.full(n_runs, np.inf), np.full(n_runs, -np.inf)
    taus, taus_ap = (np.full(n_mixtures, np.nan) for _ in range(2))
    start = 0
    for scores in _mixture_scores(ap, has_score, n_mixtures, seed):
        rows = slice(start, start := start + len(scores))
        above = scores[:, :, np.newaxis] - scores[:, np.newaxis, :] > TIED_MAP
        n_above, right = (one.sum(axis=1, dtype=np.int32) for one in (above, above & told))
        above &= told.T
        wrong = above.sum(axis=1, dtype=np.int32)
        swapped += np.count_nonzero(above, axis=0)
        surplus, n_untied = right - wrong, n_above.sum(axis=1)
        is_told = n_untied > 0
        taus[rows][is_told] = surplus.sum(axis=1)[is_told] / np.sqrt(n_untied[is_told] * n_told)
        # `tau_ap` without ties; those with are left to it.
        taus_ap[rows] = (surplus / np.maximum(n_above, 1)).sum(axis=1) / (n_runs - 1)
        for row in np.flatnonzero((n_untied < n_pairs) | (n_told < n_pairs)).tolist():
            tau = tau_ap(scores[row], reference, tolerance=TIED_MAP).tau
            taus_ap[rows][row] = np.nan if tau is None else tau
        lowest, highest = np.minimum(lowest, scores.min(axis=0)), np.maximum(highest, scores.max(axis=0))
    return Mixtures(
        reason=None,
        n_topics=n_topics,
        n_mixtures=n_mixtures,
        n_undefined=int(np.isnan(taus).sum()),
        tau=_spread(taus),
        tau_ap=_spread(taus_ap),
        reference=tuple(reference.tolist()),
        lowest=tuple(lowest.tolist()),
        highest=tuple(highest.tolist()),
        swaps=_swaps(swapped.T, n_mixtures, reference, shown_share),
    )


def _mixture_scores(
    ap: NDArray[np.float64], may_be_drawn: NDArray[np.bool_], n_mixtures: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    """Draw a judge for each topic of each mixture; yield MAP by mixture and run, some mixtures at a time."""
    bits = np.random.PCG64(seed)
    drawn = np.empty((len(ap), n_mixtures), dtype=np.int16)
    for row, may in zip(drawn, may_be_drawn, strict=True):
        judges = np.flatnonzero(may)
        raw = bits.random_raw(n_mixtures) >> np.uint64(32)
        row[:] = judges[((raw * np.uint64(judges.size)) >> np.uint64(32)).astype(np.int64)]
    n_at_once = max(1, _CHUNK_VALUES // ap.shape[1] ** 2)
    for start in range(0, n_mixtures, n_at_once):
        of_mixtures = drawn[:, start : start + n_at_once]
        total = np.zeros((of_mixtures.shape[1], ap.shape[1]))
        for of_topic, judges in zip(ap, of_mixtures, strict=True):
            total += of_topic[:, judges].T
        yield total / len(ap)


def _swaps(
    counts: NDArray[np.int64], n_mixtures: int, reference: NDArray[np.float64], shown_share: float
) -> tuple[RunSwap, ...]:
    """List the pairs of runs that often change places, of counts by the better run and the worse one."""
    better, worse = np.nonzero((counts > 0) & (counts >= shown_share * n_mixtures - 1e-9))
    order = np.argsort(-counts[better, worse], kind="stable")
    return tuple(
        RunSwap(
            better=one,
            worse=other,
            n_mixtures=int(counts[one, other]),
            share=int(counts[one, other]) / n_mixtures,
            difference=float(reference[one] - reference[other]),
        )
        for one, other in zip(better[order].tolist(), worse[order].tolist(), strict=True)
    )


def _spread(taus: NDArray[np.float64]) -> TauSpread | None:
    """Describe the correlations that are defined; ``None`` when none is."""
    defined = taus[~np.isnan(taus)]
    if defined.size == 0:
        return None
    quantiles = tuple(np.quantile(defined, QUANTILES).tolist())
    return TauSpread(float(defined.mean()), float(defined.min()), float(defined.max()), quantiles)


def judge_average_precisions(
    votes: Votes,
    document_ids: NDArray[np.int64],
    tags: Sequence[str],
    rankings: Mapping[tuple[str, str], NDArray[np.int64]],
    *,
    level_index: int,
    cutoff: int,
) -> NDArray[np.float64]:
    """Score all runs by the judgements of each judge alone, shape (n_topics, n_runs, n_judges).

    `document_ids` are the ids of the documents of `votes`, as in `rankings`, rising within a topic; the rest
    is as of `judged_rankings`, `level_index` the place of the least relevant grade, at least 1. AP is that of
    `store.analysis.measures.average_precision`, R over the documents that this judge found relevant,
    retrieved or not (mode ``pool``); what the judge did not grade counts as not relevant. NaN, for all runs
    alike, where R = 0. Only ranks whose document somebody found relevant are looked at: O(documents ranked)
    once, then O(such ranks) a judge.

    Examples
    --------
    One topic; `ann` finds documents 7 and 9 relevant, `bob` document 9 alone:

    >>> from store.analysis.agreement.votes import votes_from_rows
    >>> documents, judges, grades = np.array([[7, 7, 9, 9], [0, 1, 0, 1], [1, 0, 1, 1]])
    >>> names = {"topics": ["t"], "judges": ["ann", "bob"], "scale_values": (0, 1)}
    >>> votes = votes_from_rows(np.zeros(4, int), documents, judges, grades, **names)
    >>> lists = {("up", "t"): np.array([7, 8, 9]), ("down", "t"): np.array([9, 8, 7])}
    >>> ids = np.array([7, 9])
    >>> ap = judge_average_precisions(votes, ids, ["up", "down"], lists, level_index=1, cutoff=1000)
    >>> ap[0].round(4).tolist()  # ann: (1/1 + 2/3) / 2 twice; bob: 1/3 and 1/1
    [[0.8333, 0.3333], [0.8333, 1.0]]
    """
    relevant = votes.places >= level_index
    found = np.zeros((len(votes.judges), votes.n_documents), dtype=np.bool_)
    found[votes.judge_codes[relevant], votes.documents[relevant]] = True
    to_somebody = np.asarray(found.any(axis=0))
    ends = np.searchsorted(votes.topic_codes, np.arange(len(votes.topics) + 1)).tolist()
    judged = {
        topic: (document_ids[begin:end], to_somebody[begin:end])
        for topic, (begin, end) in zip(votes.topics, itertools.pairwise(ends), strict=True)
    }
    ranks = relevant_ranks(judged_rankings(votes.topics, tags, rankings, judged, cutoff=cutoff))
    return np.stack([ranks.average_precision(of_judge[to_somebody]).T for of_judge in found], axis=-1)
