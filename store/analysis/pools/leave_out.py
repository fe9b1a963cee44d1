"""What happens to a run when what it, or its group, alone brought to the pool is not judged.

A new system will meet judgements that were made without it. To know how it fares, each run that
was pooled is scored as if it had come late: the judgements owed to it alone are withdrawn
(`store.analysis.pools.contributions`), and only its own score, or those of its group, is replaced, as in
[1]_. Small changes mean that the collection can be used again; `pool_errors` sums them up. `adjust_scores`
adds to newcomers what pooled runs owe to the pool.

References
----------
.. [1] J. Zobel, "How reliable are the results of large-scale information retrieval experiments?", *SIGIR*
   1998, 307-314, doi:10.1145/290941.291014.
.. [2] A. Lipani, M. Lupu and A. Hanbury, "Splitting water: precision and anti-precision to reduce pool bias",
   *SIGIR* 2015, 103-112, doi:10.1145/2766462.2767749.
.. [3] W. Webber and L. A. F. Park, "Score adjustment for correction of pooling bias", *SIGIR* 2009, 444-451,
   doi:10.1145/1571941.1572018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures.average_precision import mean_average_precision, precision_sum
from store.analysis.pools.contributions import Withdrawn
from store.analysis.rankings import RELEVANT, JudgedRankings
from store.analysis.ratios import quotient
from store.analysis.run_order import TIED_MAP, TauResult, kendall_tau_b, tau_ap, tau_values
from store.analysis.significance.t_tests import paired_t

NOT_RANKED = 0
"""Rank of a run without a score."""


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOut:
    """Scores of every run with all judgements and without those owed to it or its group alone.

    Runs and topics are in the order of the rankings.
    """

    withdrawn: Withdrawn
    n_relevant: NDArray[np.int64]
    """Shape (n_names,): relevant documents among the withdrawn."""
    before: NDArray[np.float64]
    """Shape (n_runs, n_topics); NaN = undefined."""
    after: NDArray[np.float64]
    """Shape (n_runs, n_topics); NaN exactly where `before` is, 0 without a relevant document left."""
    score_before: NDArray[np.float64]
    """Shape (n_runs,): mean over the defined topics; NaN = none is."""
    score_after: NDArray[np.float64]
    """Shape (n_runs,): over the same topics."""
    rank_before: NDArray[np.int64]
    """Shape (n_runs,): 1 + runs with a higher score; `NOT_RANKED` without a score."""
    rank_after: NDArray[np.int64]
    """Shape (n_runs,): the same with the scores of the run, or of its group, replaced, and all
    others as before."""
    tau_b: NDArray[np.float64]
    """Shape (n_names,): Kendall's tau-b of all scores before and with those of one replaced, over
    the runs with a score; NaN when undefined."""
    tau_ap: NDArray[np.float64]
    """Shape (n_names,): tau_AP of the order with one replaced, against that before; NaN when undefined."""

    def difference(self) -> NDArray[np.float64]:
        """Return after less before, shape (n_runs,); NaN without a score."""
        return np.asarray(self.score_after - self.score_before)

    def relative(self) -> NDArray[np.float64]:
        """Return the difference over the score before, shape (n_runs,); NaN where that is 0."""
        base = np.where(self.score_before == 0, np.nan, self.score_before)
        return np.asarray(self.difference() / base)


def leave_out(rankings: JudgedRankings, withdrawn: Withdrawn) -> LeaveOut:
    """Score every run by AP with all judgements and without those owed to it or its group.

    Parameters
    ----------
    rankings : JudgedRankings
        The rankings that `withdrawn` was made from.
    withdrawn : Withdrawn
        From `remove_uniques`.

    Returns
    -------
    LeaveOut
        A withdrawn document is unjudged, in the list and in R.

    Notes
    -----
    Lists without a withdrawn relevant document keep their sum of precisions, so that the cost is O(size of
    the rankings) for all runs together; the taus take O(n_names n_runs**2).

    Examples
    --------
    Depth 2: document 1 is unique to `a`, 3 to `b`. Without 1 `a` has 2, at rank 2, of R = 2; without 3 `b`
    has 2, at rank 2, of R = 2.

    >>> from store.analysis.pools.contributions import remove_uniques, within_depth
    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([3, 2])}
    >>> grades = {"t": (np.array([1, 2, 3]), np.array([True, True, True]))}
    >>> arrays = judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10)
    >>> left = leave_out(arrays, remove_uniques(arrays, within_depth(arrays, 2)))
    >>> left.score_before.round(4).tolist(), left.score_after.tolist()
    ([0.6667, 0.6667], [0.25, 0.25])
    >>> left.rank_before.tolist(), left.rank_after.tolist()
    ([1, 1], [2, 2])
    """
    gone = _gone_by_rank(rankings, withdrawn)
    shape = (len(withdrawn.names), len(rankings.topics))
    lost = np.zeros(shape, np.int64)
    if withdrawn.by.size:
        starts = np.cumsum([0, *(states.size for states in rankings.states)])
        everything = np.concatenate(rankings.states)
        is_relevant = everything[starts[withdrawn.topics] + withdrawn.codes] == RELEVANT
        np.add.at(lost, (withdrawn.by[is_relevant], withdrawn.topics[is_relevant]), 1)
    before, after = _average_precisions(rankings, gone, lost[withdrawn.owners])
    score_before, _ = mean_average_precision(before)
    score_after, _ = mean_average_precision(after)
    rank_after, taus = _orders(score_before, score_after, withdrawn)
    return LeaveOut(
        withdrawn=withdrawn,
        n_relevant=lost.sum(axis=1),
        before=before,
        after=after,
        score_before=score_before,
        score_after=score_after,
        rank_before=_ranks(score_before),
        rank_after=rank_after,
        tau_b=tau_values(tau_b for tau_b, _ in taus),
        tau_ap=tau_values(of_ap for _, of_ap in taus),
    )


def _gone_by_rank(rankings: JudgedRankings, withdrawn: Withdrawn) -> NDArray[np.bool_]:
    """Return which ranks of each run hold a document withdrawn with it; shape of the documents."""
    gone = np.zeros(rankings.documents.shape, np.bool_)
    bounds = np.searchsorted(withdrawn.topics, np.arange(len(rankings.topics) + 1))
    for topic, states in enumerate(rankings.states):
        here = slice(bounds[topic], bounds[topic + 1])
        # The padding code -1 picks the last column, which stays False.
        table = np.zeros((len(withdrawn.names), states.size + 1), np.bool_)
        table[withdrawn.by[here], withdrawn.codes[here]] = True
        gone[:, topic] = table[withdrawn.owners[:, None], rankings.documents[:, topic]]
    return gone


def _average_precisions(
    rankings: JudgedRankings, gone: NDArray[np.bool_], lost: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return AP before and after; `lost`, (n_runs, n_topics), is of R."""
    relevant = rankings.relevant()
    counts = np.broadcast_to(rankings.n_relevant, rankings.lengths.shape)
    left = counts - lost
    sums = precision_sum(relevant)
    before = quotient(sums, counts)
    moved = (relevant & gone).any(axis=-1)
    sums[moved] = precision_sum(relevant[moved] & ~gone[moved])
    return before, np.where((left == 0) & (counts > 0), 0.0, quotient(sums, left))


def _ranks(scores: NDArray[np.float64], rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Rank some runs, by default all, among all with a score."""
    shown = scores if rows is None else scores[rows]
    above = np.count_nonzero(scores > shown[:, None] + TIED_MAP, axis=1)
    return np.where(np.isnan(shown), NOT_RANKED, 1 + above)


def _orders(
    before: NDArray[np.float64], after: NDArray[np.float64], withdrawn: Withdrawn
) -> tuple[NDArray[np.int64], list[tuple[TauResult, TauResult]]]:
    """Rank every run with the scores of its owner replaced, and correlate the whole order."""
    ranks = np.empty(before.size, np.int64)
    scored = ~np.isnan(before)
    taus = []
    for owner in range(len(withdrawn.names)):
        rows = np.flatnonzero(withdrawn.owners == owner)
        replaced = before.copy()
        replaced[rows] = after[rows]
        ranks[rows] = _ranks(replaced, rows)
        pair = before[scored], replaced[scored]
        taus.append((kendall_tau_b(*pair, tolerance=TIED_MAP), tau_ap(pair[1], pair[0], tolerance=TIED_MAP)))
    return ranks, taus


SIGNIFICANT = 0.05
"""A difference with a lower p counts for `PoolErrors.sre_significant`, as in [2]_."""


@dataclass(frozen=True, slots=True, eq=False)
class PoolErrors:
    """How far off the scores are that runs would have had as newcomers."""

    n_runs: int
    """Those with a score."""
    mae: float | None
    """Mean absolute difference of the score; ``None`` of no run."""
    sre: int
    """System rank error: sum of the changes of rank."""
    sre_significant: int
    """SRE*: of the runs that were passed, those whose scores before differ from the passing run's
    with p < `SIGNIFICANT`. At most `sre`."""
    tau_b: TauResult
    """Kendall's tau-b of the scores before and after, all replaced at once."""
    tau_ap: TauResult
    """tau_AP of the order after, against that before."""


@dataclass(frozen=True, slots=True, eq=False)
class Adjusted:
    """Scores with what newcomers lose on average added."""

    bias: float | None
    """Mean loss of the pooled runs; ``None`` when none of them has a score."""
    scores: NDArray[np.float64]
    """Shape (n_runs,): as before for pooled runs; NaN where there was no score, or no bias."""


def pool_errors(left: LeaveOut, runs: NDArray[np.bool_] | None = None) -> PoolErrors:
    """Sum up how far off newcomers would be; see `adjust_scores` for an example.

    Parameters
    ----------
    left : LeaveOut
        Of runs or of groups.
    runs : ndarray of bool, shape (n_runs,), optional
        The runs that count, usually those that were pooled; default: all. They are ranked among all runs with
        a score, and correlated with each other.

    Notes
    -----
    The errors of [2]_ and their program: here a rank is that of one run's score after among the scores before
    of all others, those of its group too. So a run passes as many as its rank changes by: all that were above
    it and are no more, or the reverse. Two runs differ by a paired t-test on the topics that
    both have a score for; without a p they do not.
    """
    before, after = left.score_before, left.score_after
    counted = ~np.isnan(before) & (np.True_ if runs is None else runs)
    sre = significant = 0
    for run in np.flatnonzero(counted).tolist():
        others = np.arange(before.size) != run
        was_above = others & (before > before[run] + TIED_MAP)
        is_above = others & (before > after[run] + TIED_MAP)
        passed = np.flatnonzero(was_above != is_above)
        sre += passed.size
        significant += sum(_differ(left.before, run, other) for other in passed.tolist())
    both = before[counted], after[counted]
    return PoolErrors(
        n_runs=int(counted.sum()),
        mae=float(np.mean(np.abs(both[1] - both[0]))) if counted.any() else None,
        sre=sre,
        sre_significant=significant,
        tau_b=kendall_tau_b(*both, tolerance=TIED_MAP),
        tau_ap=tau_ap(both[1], both[0], tolerance=TIED_MAP),
    )


def adjust_scores(left: LeaveOut, pooled: NDArray[np.bool_]) -> Adjusted:
    """Add to the score of each run that was not pooled what pooled runs owe to the pool.

    Parameters
    ----------
    left : LeaveOut
        Of runs; of groups where newcomers come from no group that was pooled.
    pooled : ndarray of bool, shape (n_runs,)
        The runs that were pooled.

    Notes
    -----
    The mean over the pooled runs of score before less score after, as Lipani's estimator WebberOnRuns has it.
    It is the same for all newcomers, so that their order among themselves stays; only that of newcomers and
    pooled runs changes. A score may leave its range. It supposes that newcomers are like the pooled runs;
    [3]_, who begin from it, call that problematic, and would rather judge the newcomer in full on some of the
    topics and take the bias from these.

    Examples
    --------
    Depth 2: without what is unique to them `a` and `b` each have document 2 only, at rank 2 of R = 2, and
    lose .6667 - .25. `c`, which was not pooled, has document 2 alone, at rank 1.

    >>> from store.analysis.pools.contributions import remove_uniques, within_depth
    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([3, 2]), ("c", "t"): np.array([2])}
    >>> grades = {"t": (np.array([1, 2, 3]), np.array([True, True, True]))}
    >>> arrays = judged_rankings(["t"], ["a", "b", "c"], lists, grades, cutoff=10)
    >>> pooled = np.array([True, True, False])
    >>> left = leave_out(arrays, remove_uniques(arrays, within_depth(arrays, 2, pooled)))
    >>> adjusted = adjust_scores(left, pooled)
    >>> round(adjusted.bias, 4), adjusted.scores.round(4).tolist()
    (0.4167, [0.6667, 0.6667, 0.75])
    >>> pool_errors(left, pooled).sre  # each falls below the other and `c`
    4
    """
    losses = -left.difference()[pooled & ~np.isnan(left.score_before)]
    bias = float(np.mean(losses)) if losses.size else None
    moved = left.score_before + (np.nan if bias is None else bias)
    return Adjusted(bias, np.where(pooled, left.score_before, moved))


def _differ(scores: NDArray[np.float64], first: int, second: int) -> bool:
    differences = scores[first] - scores[second]
    p = paired_t(differences[~np.isnan(differences)]).p
    return p is not None and p < SIGNIFICANT
