"""How far off newcomers' scores are, and what can be added to them.

Both go by what happened to the runs that were pooled when each was scored as if it had not been
(`store.analysis.pools.leave_out`).

References
----------
.. [1] A. Lipani, M. Lupu and A. Hanbury, "Splitting water: precision and anti-precision to reduce
   pool bias", *SIGIR* 2015, 103-112, doi:10.1145/2766462.2767749.
.. [2] W. Webber and L. A. F. Park, "Score adjustment for correction of pooling bias", *SIGIR*
   2009, 444-451, doi:10.1145/1571941.1572018.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.pools.leave_out import TIED, LeaveOut
from store.analysis.run_order import TauResult, kendall_tau_b, tau_ap
from store.analysis.significance.t_tests import paired_t
from store.errors import ArgumentError

SIGNIFICANT = 0.05
"""A difference with a lower p counts for `PoolErrors.sre_significant`, as in [1]_."""


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
    n_pooled: int
    """Runs it is the mean of."""
    scores: NDArray[np.float64]
    """Shape (n_runs,): as before for pooled runs; NaN where there was no score, or no bias."""


def pool_errors(left: LeaveOut, runs: NDArray[np.bool_] | None = None) -> PoolErrors:
    """Sum up how far off newcomers would be; see `adjust_scores` for an example.

    Parameters
    ----------
    left : LeaveOut
        Of runs or of groups.
    runs : ndarray of bool, shape (n_runs,), optional
        The runs that count, usually those that were pooled; default: all; `ArgumentError` for another shape.
        They are ranked among all runs with a score, and correlated with each other.

    Returns
    -------
    PoolErrors

    Notes
    -----
    The errors of [1]_ and their program: here a rank is that of one run's score after among the scores before
    of all others, those of its group too. So a run passes as many as its rank changes by: all that were above
    it and are no more, or the reverse. Whether two runs differ is told by a paired t-test on the topics that
    both have a score for; without a p they do not.
    """
    before, after = left.score_before, left.score_after
    counted = _flags("runs", runs, before) & ~np.isnan(before)
    sre = significant = 0
    for run in np.flatnonzero(counted).tolist():
        others = np.arange(before.size) != run
        was_above = others & (before > before[run] + TIED)
        is_above = others & (before > after[run] + TIED)
        passed = np.flatnonzero(was_above != is_above)
        sre += passed.size
        significant += sum(_differ(left.before, run, other) for other in passed.tolist())
    both = before[counted], after[counted]
    return PoolErrors(
        n_runs=int(counted.sum()),
        mae=float(np.mean(np.abs(both[1] - both[0]))) if counted.any() else None,
        sre=sre,
        sre_significant=significant,
        tau_b=kendall_tau_b(*both, tolerance=TIED),
        tau_ap=tau_ap(both[1], both[0], tolerance=TIED),
    )


def adjust_scores(left: LeaveOut, pooled: NDArray[np.bool_]) -> Adjusted:
    """Add to the score of each run that was not pooled what pooled runs owe to the pool.

    Parameters
    ----------
    left : LeaveOut
        Of runs; of groups where newcomers come from no group that was pooled.
    pooled : ndarray of bool, shape (n_runs,)
        The runs that were pooled; `ArgumentError` for another shape.

    Returns
    -------
    Adjusted

    Notes
    -----
    The mean over the pooled runs of score before less score after, as Lipani's estimator WebberOnRuns has it.
    It is the same for all newcomers, so that their order among themselves stays; only that of newcomers and
    pooled runs changes. A score may leave its range. It supposes that newcomers are like the pooled runs;
    [2]_, who begin from it, call that problematic, and would rather judge the newcomer in full on some of the
    topics and take the bias from these.

    Examples
    --------
    Depth 2: without what is unique to them `a` and `b` each have document 2 only, at rank 2 of R = 2, and
    lose .6667 - .25. `c`, which was not pooled, has document 2 alone, at rank 1.

    >>> from store.analysis.pools.contributions import remove_uniques, within_depth
    >>> from store.analysis.rankings import judged_rankings
    >>> from store.analysis.pools.leave_out import leave_out
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
    is_pooled = _flags("pooled", pooled, left.score_before)
    losses = -left.difference()[is_pooled & ~np.isnan(left.score_before)]
    bias = float(np.mean(losses)) if losses.size else None
    moved = left.score_before + (np.nan if bias is None else bias)
    return Adjusted(bias, losses.size, np.where(is_pooled, left.score_before, moved))


def _differ(scores: NDArray[np.float64], first: int, second: int) -> bool:
    """Tell whether two runs differ significantly."""
    differences = scores[first] - scores[second]
    p = paired_t(differences[~np.isnan(differences)]).p
    return p is not None and p < SIGNIFICANT


def _flags(name: str, flags: NDArray[np.bool_] | None, scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return one flag a run, by default True; raise `ArgumentError` when they are not that."""
    found = np.ones(scores.shape, np.bool_) if flags is None else np.asarray(flags, np.bool_)
    if found.shape != scores.shape:
        raise ArgumentError(name, f"must be one flag for each of {scores.size} runs", found.shape)
    return found
