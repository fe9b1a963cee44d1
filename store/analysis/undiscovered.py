r"""What undiscovered relevant documents do to AP: eq. 19 for one, for several at once, and for whole runs.

A pool of depth N leaves the document at rank N+1 of a run unjudged unless another run brought it
in. The paper asks how much the scores move if that document is relevant, and answers with eq. 19;
the rank just below the pool is the worst case where the change is positive, since the gain of AP
(`store.analysis.measures.average_precision.gains`) falls with the rank, and a set of discoveries gains
less when any of its ranks is lower. A change below 0 grows on further down: to -AP / (R + 1) in the limit.

S is a quadratic form of the relevant ranks, so a set F of discoveries adds the gains of each one
and, for every two of them, one over the lower of their ranks:

.. math::

    S' = S + \sum_{f \in F} g_f + \sum_{f < f'} \frac{1}{\max(r_f, r_{f'})}, \qquad
    \nu' = \frac{S'}{R + |F|}    (E3)

Documents that a run did not retrieve only raise R. With one document it is eq. 19 of [1]_.

If document d turns relevant, the difference u of the APs of runs A and B changes by

.. math:: \Delta u = \frac{g_A - g_B - u}{R + 1}    (E2)

where g is 0 in a run that did not retrieve d; so a document that neither of them has moves it too.
Of pairs of runs, t2 of the difference is computed again from the judgements as they are. The paper's
section 4.3 asks the like of one pair, and otherwise: there the documents at rank 101 of the run with the
lower MAP turn relevant wherever their probability of relevance is 0, judged or not (51 of 53 topics), the
other run gets R + 1 and not the document, and mean and variance are those of its measurement-error model.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), sections 3.3, 4.3 and 5; E3 is derived from its eq. 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from store.analysis.arguments import one_of
from store.analysis.measures.average_precision import (
    R_MODES,
    RMode,
    average_precision,
    gains,
    mean_average_precision,
    own_n_relevant,
    precision_sum,
)
from store.analysis.rankings import NOT_RETRIEVED, RELEVANT, UNJUDGED, Depths, JudgedRankings
from store.analysis.ratios import quotient
from store.analysis.run_order import TIED_MAP, kendall_tau_b, n_swapped_pairs, tau_ap, tau_values
from store.analysis.significance.pairs import RunPairs, compare_pairs
from store.errors import ArgumentError

At = Literal["next", "first"]
"""Where documents are supposed relevant; see `choose_flips`."""
AT: tuple[At, ...] = get_args(At)

JUDGED = 0
"""Every document that was looked at is judged, relevant or not. `UNJUDGED` is the other case."""
ENDED = -2
"""The run has documents for the topic, but ends at rank N or above."""
NO_RUN = -3
"""The run has no document for the topic."""


def check_at(at: str, depth: Depths, cutoff: int) -> At:
    """Return `at` when it is one of `AT`, and `depth` is below the cutoff, else raise `ArgumentError`."""
    known = one_of("at", at, AT)
    for one in (np.min(depth), np.max(depth)):
        if not 1 <= one < cutoff:
            raise ArgumentError("depth", f"must be an integer >= 1 and below the cutoff ({cutoff})", int(one))
    return known


def choose_flips(
    states: NDArray[np.int8], *, at: At, depth: Depths, flips: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Choose unjudged ranks of every run in one topic, of `JudgedRankings.states_by_rank`.

    ``next``: those of the ranks N+1 to N+flips that are unjudged. ``first``: the first unjudged ranks below
    N, the `depth`, of all runs or of each. Returned are, of shape (n_runs, flips), rank less 1 of the
    documents that are supposed relevant, ascending, then -1 where a run has fewer; and of every run
    `UNJUDGED`, `JUDGED`, `ENDED` or `NO_RUN`. O(size of `states`).

    Examples
    --------
    Unjudged at ranks 2, 4 and 5 of one run; the other ends at rank 2:

    >>> states = np.array([[1, -1, 0, -1, -1], [0, -1, -2, -2, -2]], dtype=np.int8)
    >>> choose_flips(states, at="first", depth=2, flips=2)[0].tolist()
    [[3, 4], [-1, -1]]
    """
    last = np.broadcast_to(depth, len(states))[:, None]
    places = np.arange(states.shape[1])
    below = places >= last
    if at == "next":
        below &= places < last + flips
    unjudged = below & (states == UNJUDGED)
    chosen = unjudged & (np.cumsum(unjudged, axis=1) <= flips)
    runs, columns = np.nonzero(chosen)
    result = np.full((len(states), flips), -1, dtype=np.int64)
    result[runs, (np.cumsum(chosen, axis=1) - 1)[runs, columns]] = columns
    filled = states != NOT_RETRIEVED
    status = np.full(len(states), NO_RUN, dtype=np.int8)
    status[filled.any(axis=1)] = ENDED
    status[(filled & below).any(axis=1)] = JUDGED
    status[chosen.any(axis=1)] = UNJUDGED
    return result, status


Scenario = Literal["shared", "own"]
"""Who gains from a discovery: every run that retrieved the document, or the flipped run alone."""
SCENARIOS: tuple[Scenario, ...] = get_args(Scenario)


@dataclass(frozen=True, slots=True, eq=False)
class TopicFlips:
    """AP of all runs in one topic, after the documents of one run after the other turn relevant."""

    columns: NDArray[np.int64]
    """Shape (n_runs, `most_flips`): the flipped ranks of each run, less 1; then -1."""
    status: NDArray[np.int8]
    """Shape (n_runs,): as of `choose_flips`."""
    before: NDArray[np.float64]
    """Shape (n_runs,): AP in [0, 1]; NaN where R = 0."""
    flipped: NDArray[np.int64]
    """Shape (n_flipped,): the runs that have something to flip, ascending."""
    after: NDArray[np.float64]
    """Shape (n_flipped, n_runs): AP of every run after the documents of a flipped one turn
    relevant; NaN where R is 0 still."""


def most_flips(rankings: JudgedRankings, flips: int) -> int:
    """Return how many documents of a list can turn relevant where `flips` are asked for: >= 1."""
    return min(flips, max(1, int(rankings.documents.shape[2])))


def lists_of_topic(
    rankings: JudgedRankings, topic: int, r_mode: RMode
) -> tuple[NDArray[np.int8], NDArray[np.bool_], NDArray[np.int64]]:
    """Look up one topic in every run: what is known of each rank, which are relevant, and R of the run."""
    states = rankings.states_by_rank(topic)
    relevant = states == RELEVANT
    if r_mode == "own":
        return states, relevant, own_n_relevant(relevant)
    counts = np.full(len(relevant), rankings.n_relevant[topic], dtype=np.int64)
    return states, relevant, counts


def scores_of_runs(rankings: JudgedRankings, r_mode: RMode) -> NDArray[np.float64]:
    """Compute AP of every run and topic as judged, shape (n_runs, n_topics)."""
    n_runs, n_topics = rankings.lengths.shape
    scores = np.empty((n_runs, n_topics))
    for topic in range(n_topics):
        _, relevant, counts = lists_of_topic(rankings, topic, r_mode)
        scores[:, topic] = average_precision(relevant, counts)
    return scores


def discovered_sums(
    documents: NDArray[np.int32], relevant: NDArray[np.bool_], sets: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Compute what sets of documents add to S in each run of one topic if they are relevant.

    `documents` and `relevant`, shape (n_runs, width), are the topic's rankings, -1 below the end of a run,
    and what is relevant so far; `sets`, shape (n_sets, n_flips), codes of documents that are not relevant,
    each once in a set, -1 = no document. Returned are S' - S of E3, at least 0, and how many documents of the
    set the run retrieved, shape (n_sets, n_runs) each. O(size of `documents` + n_sets n_runs n_flips log
    n_flips).

    Examples
    --------
    Relevant at ranks 1, 3 and 6, so S = 13/6. With ranks 2 and 7 it is 13/6 + 1.5 + 4/7 + 1/7:

    >>> documents = np.arange(1, 11, dtype=np.int32)[None]
    >>> relevant = np.isin(documents, [1, 3, 6])
    >>> added, n_retrieved = discovered_sums(documents, relevant, np.array([[2, 7]]))
    >>> round(float(13 / 6 + added[0, 0]) / (4 + 2), 7)
    0.7301587
    """
    # Runs often share these documents: each is looked up once.
    codes = np.unique(sets)
    codes = codes[codes >= 0]
    row_of_code = np.full(int(documents.max(initial=-1)) + 2, -1, dtype=np.int64)
    retrieved = codes[codes < row_of_code.size - 1]
    row_of_code[retrieved] = np.arange(retrieved.size)
    rows = row_of_code[documents]  # the padding code -1 picks the last element, which stays -1
    runs, columns = np.nonzero(rows >= 0)
    # The last row is that of no document, and of one that no run retrieved.
    ranks = np.full((retrieved.size + 1, len(documents)), np.inf)
    gain = np.zeros(ranks.shape)
    ranks[rows[runs, columns], runs] = columns + 1
    gain[rows[runs, columns], runs] = gains(relevant)[runs, columns]
    places = np.searchsorted(retrieved, sets)
    places[(sets < 0) | (sets >= row_of_code.size - 1)] = retrieved.size
    added = gain[places].sum(axis=1)
    in_order = ranks[places]
    if sets.shape[1] > 1:
        in_order.sort(axis=1)
        added += (np.arange(sets.shape[1])[:, None] / in_order).sum(axis=1)  # E3
    return added, np.count_nonzero(np.isfinite(in_order), axis=1)


def flip_topic(
    rankings: JudgedRankings,
    topic: int,
    *,
    at: At,
    depth: Depths,
    flips: int,
    scenario: Scenario,
    r_mode: RMode,
) -> TopicFlips:
    """Turn unjudged documents of each run relevant in one topic, an index, one run after the other.

    The arguments are those of `sensitivity`, and are not checked.
    O(n_runs (width + n_runs n_flips)).
    """
    states, relevant, counts = lists_of_topic(rankings, topic, r_mode)
    most = most_flips(rankings, flips)
    depths = np.broadcast_to(depth, rankings.lengths.shape)[:, topic]
    chosen, status = choose_flips(states, at=at, depth=depths, flips=most)
    before = average_precision(relevant, counts)
    flipped = np.flatnonzero(chosen[:, 0] >= 0)
    if flipped.size == 0:
        after = np.empty((0, len(before)))
        return TopicFlips(chosen, status, before, flipped, after)
    documents, columns = rankings.documents[:, topic], chosen[flipped]
    sets = np.where(columns < 0, -1, np.take_along_axis(documents[flipped], columns, axis=1))
    added, retrieved = discovered_sums(documents, relevant, sets.astype(np.int64))
    more = np.count_nonzero(columns >= 0, axis=1)[:, None]
    if scenario == "own":
        added = np.where(flipped[:, None] == np.arange(len(before)), added, 0.0)
    elif r_mode == "own":
        more = retrieved
    after = quotient(precision_sum(relevant) + added, counts + more)
    return TopicFlips(chosen, status, before, flipped, after)


_ROUNDING = 1e-12
"""By so much a sum of precisions may miss a bound that it reaches."""


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Scores before and after unjudged documents of one run turn relevant, run after run.

    Axes are in the order of the tags and topics of the `JudgedRankings`. NaN = undefined, because
    R = 0 (``no-relevant``).
    """

    depth: Depths
    """N, ranks: of all, or of every run and topic."""
    at: At
    """Where documents turned relevant."""
    flips: int
    """The most of a run and topic that did."""
    scenario: Scenario
    r_mode: RMode
    status: NDArray[np.int8]
    """Shape (n_runs, n_topics): `JUDGED`, `UNJUDGED` = something turned relevant, `ENDED` or `NO_RUN`."""
    columns: NDArray[np.int64]
    """Shape (n_runs, n_topics, least of `flips` and the width): rank less 1 of each that turned
    relevant, then -1."""
    ap_before: NDArray[np.float64]
    """Shape (n_runs, n_topics), [0, 1]; NaN where R = 0."""
    ap_after: NDArray[np.float64]
    """Shape (n_runs, n_topics), [0, 1]: AP of the run whose own document turns relevant, counted
    from 0 where R was 0. Equals `ap_before` where the status is not `UNJUDGED`."""
    map_before: NDArray[np.float64]
    """Shape (n_runs,), [0, 1]; NaN when no topic is defined for the run."""
    map_after: NDArray[np.float64]
    """Shape (n_flipped, n_runs), [0, 1]: row f is the MAP of every run after the unjudged
    documents of run f turn relevant, in all topics at once, over the topics of `map_before`."""
    tau_b: NDArray[np.float64]
    """Shape (n_flipped,): Kendall's tau-b of `map_before` and the row of `map_after`, over the
    runs with a MAP; NaN when undefined."""
    tau_ap: NDArray[np.float64]
    """Shape (n_flipped,): tau_AP of the order after, against that of `map_before`; NaN where
    `tau_b` is, or where small steps tie all runs."""
    tau_reason: tuple[str | None, ...]
    """Why `tau_b`, or `tau_ap` alone, is NaN: ``fewer-than-two`` or ``all-tied``; ``None`` where
    both are numbers."""
    n_swapped: NDArray[np.int64]
    """Shape (n_flipped,): pairs of runs put in the opposite order; ties are no swaps."""

    def n_flipped(self) -> NDArray[np.int64]:
        """Count the documents of each run that turned relevant, shape (n_runs,)."""
        return np.asarray(np.count_nonzero(self.columns >= 0, axis=(1, 2)), dtype=np.int64)


def discovery_effect(relevant: NDArray[np.bool_], n_relevant: NDArray[np.int64]) -> NDArray[np.float64]:
    r"""Compute by how much AP changes if the document at a rank turns relevant, at every rank.

    Parameters
    ----------
    relevant : ndarray of bool, shape (..., width)
        Which ranks hold a relevant document.
    n_relevant : ndarray of int64, shape (...) or one that broadcasts to it
        R before the discovery, at least the number of relevant ranks.

    Returns
    -------
    ndarray of float64, shape (..., width)
        Change of AP, in [-1/2, 1]; NaN at the ranks that are relevant already. Where R = 0 before,
        AP is taken to have been 0 and the change is 1/r. A rank below the end of a run has the
        value it would have if a document stood there.

    Notes
    -----
    .. math::

        \Delta_r = \frac{1}{R+1} \Bigl[ \frac{1}{r} \Bigl(1 + \sum_{k<r} x_k\Bigr)
                   + \sum_{t>r} \frac{x_t}{t} \Bigr] - \frac{\nu}{R+1}    (Eq. 19 of [1]_)

    where :math:`\nu` is the AP of this topic before. It is negative where the gain is below AP,
    which is from some rank on downwards. O(size of `relevant`).

    Examples
    --------
    Relevant at ranks 1, 3 and 6 with R = 4: AP 13/24 becomes .5476190 or .5333333:

    >>> relevant = np.isin(np.arange(1, 11), [1, 3, 6])
    >>> effect = discovery_effect(relevant, np.array(4))
    >>> effect[[7 - 1, 8 - 1]].round(7).tolist()
    [0.0059524, -0.0083333]
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    before = np.nan_to_num(average_precision(relevant, n_relevant))
    one_more = np.broadcast_to(np.asarray(n_relevant) + 1, before.shape)
    effect = (gains(relevant) - before[..., None]) / one_more[..., None]  # [1] Eq. 19
    return np.where(relevant, np.nan, effect)


def discovery_effect_below(n_relevant: int, average_precision: float, rank: int) -> float:
    r"""Compute the change of AP in the special case of eq. 20: all relevant documents above.

    Right only if all R relevant documents are retrieved by this run above `rank`. Where some are
    not retrieved, eq. 20 promises too much; `discovery_effect` is exact there.

    Parameters
    ----------
    n_relevant : int
        R before the discovery, at least 0.
    average_precision : float
        AP before, in [0, 1]; 0 where R = 0. That the pair (R, AP) can occur is not checked: with
        all R documents in the first N ranks, AP is at least ``1/R sum_k k / (N - R + k)``.
    rank : int
        Where the document is found; more than `n_relevant`, since so many stand above it.

    Returns
    -------
    float
        Change of AP, in [-1/2, 1].

    Notes
    -----
    .. math:: \Delta = \frac{1}{r} - \frac{\nu}{R+1}    (Eq. 20 of [1]_)

    Examples
    --------
    Two cells of table 3 of [1]_, printed .00081 and -.03555:

    >>> round(discovery_effect_below(10, 0.1, 101), 5)
    0.00081
    >>> round(discovery_effect_below(10, 0.5, 101), 5)
    -0.03555
    """
    return 1 / rank - average_precision / (n_relevant + 1)  # [1] Eq. 20


def discovery_range(n_relevant: int, average_precision: float, rank: int) -> tuple[float, float] | None:
    r"""Compute the least and greatest change of AP at a rank over all that can stand above it.

    Parameters
    ----------
    n_relevant, average_precision
        As in `discovery_effect_below`.
    rank : int
        Where the document is found, at least 1.

    Returns
    -------
    tuple of float or None
        Least and greatest change, in [-1/2, 1]; ``None`` where no ranking has that AP with no
        relevant document at the rank or below it.

    Notes
    -----
    With c of the R relevant documents above the rank, AP times R lies between its value in the
    worst order, :math:`\sum_{j \le c} j / (r - 1 - c + j)`, and c, in the best; it is taken as if
    it could have any value between them, though a list has one of finitely many. For each such c
    eq. 19 gives :math:`((1 + c) / r - \nu) / (R + 1)`; eq. 20 is that of c = R, the greatest, and
    promises too much where c = R cannot occur. Relevant documents below the rank would raise both
    AP and the change. O(R squared).

    Examples
    --------
    Of R = 50 at AP .1, 5 to 29 stand above rank 101; eq. 20 takes 50 and says .0079:

    >>> least, greatest = discovery_range(50, 0.1, 101)
    >>> round(least, 10), round(greatest, 10)
    (-0.0007959619, 0.0038633275)
    """
    total = n_relevant * average_precision
    can_occur = [
        count
        for count in range(min(n_relevant, rank - 1) + 1)
        if _worst_sum(count, rank) - _ROUNDING <= total <= count + _ROUNDING
    ]
    if not can_occur:
        return None
    least, greatest = (
        ((1 + count) / rank - average_precision) / (n_relevant + 1)  # [1] Eq. 19
        for count in (can_occur[0], can_occur[-1])
    )
    return least, greatest


def _worst_sum(count: int, rank: int) -> float:
    """Sum the precisions of some relevant documents that stand just above a rank."""
    places = np.arange(1, count + 1)
    return float((places / (rank - 1 - count + places)).sum())


def sensitivity(
    rankings: JudgedRankings,
    *,
    depth: Depths,
    at: At = "next",
    flips: int = 1,
    scenario: Scenario = "shared",
    r_mode: RMode = "pool",
) -> Sensitivity:
    """Turn unjudged documents of each run relevant, one run after the other.

    For every run f, its documents that `at` names turn relevant in all topics at once, and MAP is
    computed again for all runs. What happens to the others, with F of a topic's documents turned:

    ======== ====== ======================================= ================================
    scenario r_mode a run that retrieved some of them       a run that did not
    ======== ====== ======================================= ================================
    shared   pool   gains by eq. 19, or E3, at its ranks    R becomes R+F: AP R / (R+F)
    shared   own    the same, R grows by those it retrieved keeps its AP
    own      both   R becomes R+F: AP R / (R+F)             R becomes R+F: AP R / (R+F)
    ======== ====== ======================================= ================================

    Scenario ``own`` is the paper's extreme case (section 4.3 of [1]_), which leaves the document
    not relevant in every other run although that run may hold it.

    Parameters
    ----------
    rankings : JudgedRankings
        Rankings and judgements. An unjudged document counts as not relevant before.
    depth : int or ndarray of int64, shape (n_runs, n_topics)
        N, the depth of the pool: at least 1 and below the cutoff of the rankings.
    at : {"next", "first"}, default="next"
        Rank N+1, or the first unjudged rank below N; see `choose_flips`.
    flips : int, default=1
        Documents of a run and topic that turn relevant at once, at least 1.
    scenario : {"shared", "own"}, default="shared"
        Who gains.
    r_mode : {"pool", "own"}, default="pool"
        What R counts: the topic's relevant documents, or those in the run's own list.

    Returns
    -------
    Sensitivity
        Both scores, the order of the runs by both, and what stands at the ranks looked at.

    Notes
    -----
    A run with no document for a topic has AP 0 there (mode ``pool``, R > 0), as in trec_eval -c,
    and is counted apart from one that ends early. A topic where R = 0 has no AP before, so it
    enters neither MAP of the run, also when a discovery makes its AP defined: both means are over
    the same topics. Only `Sensitivity.ap_after` shows its value.

    O(n_runs n_topics (width + n_runs flips)) time, plus O(n_runs**3) to compare the orders; one
    topic in memory at a time.

    Examples
    --------
    Run `a` has relevant documents at ranks 1 and 3, `b` at rank 2; the document at rank 4 of `a`
    is unjudged and stands first in `b`:

    >>> from store.analysis.rankings import UNJUDGED, judged_rankings
    >>> lists = {("a", "t"): np.array([1, 2, 3, 4]), ("b", "t"): np.array([4, 1])}
    >>> grades = {"t": (np.array([1, 2, 3]), np.array([True, False, True]))}
    >>> arrays = judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10)
    >>> moved = sensitivity(arrays, depth=3)
    >>> moved.status.tolist() == [[UNJUDGED], [ENDED]]
    True
    >>> moved.map_before.round(4).tolist()
    [0.8333, 0.25]
    >>> moved.map_after[0].round(4).tolist()  # (1/1 + 2/3 + 3/4) / 3, (1/1 + 2/2) / 3
    [0.8056, 0.6667]
    """
    r_mode, scenario = one_of("r_mode", r_mode, R_MODES), one_of("scenario", scenario, SCENARIOS)
    at = check_at(at, depth, rankings.cutoff)
    n_runs, n_topics = rankings.lengths.shape
    status = np.empty((n_runs, n_topics), dtype=np.int8)
    columns = np.empty((n_runs, n_topics, most_flips(rankings, flips)), dtype=np.int64)
    ap_before = np.empty((n_runs, n_topics))
    ap_after = np.empty((n_runs, n_topics))
    change = np.zeros((n_runs, n_runs))
    for topic in range(n_topics):
        one = flip_topic(rankings, topic, at=at, depth=depth, flips=flips, scenario=scenario, r_mode=r_mode)
        status[:, topic], columns[:, topic] = one.status, one.columns
        ap_before[:, topic] = ap_after[:, topic] = one.before
        ap_after[one.flipped, topic] = one.after[np.arange(one.flipped.size), one.flipped]
        change[one.flipped] += np.where(np.isnan(one.before), 0.0, one.after - one.before)
    map_before, n_defined = mean_average_precision(ap_before)
    # Adding a change of 0 leaves an untouched MAP as it was, to the last bit.
    map_after = map_before + quotient(change, n_defined)
    scored = n_defined > 0
    before_scored, after_scored = map_before[scored], map_after[:, scored]
    taus = [kendall_tau_b(before_scored, row, tolerance=TIED_MAP) for row in after_scored]
    taus_ap = [tau_ap(row, before_scored, tolerance=TIED_MAP) for row in after_scored]
    swaps = [n_swapped_pairs(before_scored, row, tolerance=TIED_MAP) for row in after_scored]
    return Sensitivity(
        depth=depth,
        at=at,
        flips=flips,
        scenario=scenario,
        r_mode=r_mode,
        status=status,
        columns=columns,
        ap_before=ap_before,
        ap_after=ap_after,
        map_before=map_before,
        map_after=map_after,
        tau_b=tau_values(taus),
        tau_ap=tau_values(taus_ap),
        tau_reason=tuple(tau.reason or other.reason for tau, other in zip(taus, taus_ap, strict=True)),
        n_swapped=np.array(swaps, dtype=np.int64),
    )


SAME_GAIN = 1e-12
"""A gain no further from AP than this leaves AP as it is."""


def threshold_ranks(relevant: NDArray[np.bool_], n_relevant: NDArray[np.int64]) -> NDArray[np.int64]:
    r"""Find the first rank at which a document that turns relevant lowers AP, shape (...).

    The arguments are those of `discovery_effect`. The rank is not relevant: a discovery there or anywhere
    below lowers AP, one anywhere above does not. It may be below the last rank: the list is taken to go on
    without relevant documents. 0 = none, since AP is 0 or undefined and can only rise.

    AP changes by :math:`(g_r - \nu) / (R + 1)` (Eq. 19 of [1]_), so it falls exactly where :math:`g_r < \nu`
    (E2). Over the ranks that are not relevant :math:`g_r` falls strictly, to :math:`(1 + c) / r` below the
    last of c relevant documents. O(size of `relevant`).

    Examples
    --------
    Relevant at ranks 1, 3 and 6 with R = 4, AP 13/24 = .542: a gain of 4/7 at rank 7, of 4/8 at 8.

    >>> relevant = np.isin(np.arange(1, 11), [1, 3, 6])
    >>> int(threshold_ranks(relevant, np.array(4)))
    8
    >>> int(threshold_ranks(np.array([False, True]), np.array(1)))  # AP 1/2: 2/4 at 4, 2/5 at 5
    5
    """
    relevant = np.asarray(relevant, dtype=np.bool_)
    before = np.nan_to_num(average_precision(relevant, n_relevant))
    width = relevant.shape[-1]
    lowers = ~relevant & (gains(relevant) < before[..., None] - SAME_GAIN)  # E2
    inside = np.argmax(lowers, axis=-1) + 1 if width else np.zeros(before.shape, dtype=np.int64)
    # Below the list a gain is (1 + c) / r.
    turn = np.zeros(before.shape)
    np.divide(1 + own_n_relevant(relevant), before, out=turn, where=before > 0)
    below = np.maximum(np.floor(turn * (1 + SAME_GAIN)).astype(np.int64) + 1, width + 1)
    found = np.where(lowers.any(axis=-1), inside, below)
    return np.asarray(np.where(before > 0, found, 0), dtype=np.int64)


def run_thresholds(rankings: JudgedRankings, *, r_mode: RMode = "pool") -> NDArray[np.int64]:
    """Find the threshold rank of every run and topic, as `threshold_ranks`, shape (n_runs, n_topics).

    An unjudged document counts as not relevant; `r_mode` says what R counts. 0 = a discovery by the run can
    only raise its AP, or there is none. O(size of the rankings); one topic in memory at a time.
    """
    r_mode = one_of("r_mode", r_mode, R_MODES)
    n_runs, n_topics = rankings.lengths.shape
    result = np.empty((n_runs, n_topics), dtype=np.int64)
    for topic in range(n_topics):
        _, relevant, counts = lists_of_topic(rankings, topic, r_mode)
        result[:, topic] = threshold_ranks(relevant, counts)
    return result


SIGN_WORDS: dict[int, str | None] = {0: "kept", 1: "swapped", 2: "tied", 3: "parted", -1: None}
"""What `sign_moves` returns for a pair; ``None`` = there is no difference to look at."""


@dataclass(frozen=True, slots=True, eq=False)
class PairSensitivity:
    """Every pair before and after; arrays of `RunPairs` have shape (n_pairs,).

    The first run of a pair is the one with the higher mean over the topics where both have an AP.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    before: RunPairs
    after_first: RunPairs
    """After the first run's documents turned relevant."""
    after_second: RunPairs
    """After those of the second, the lower one, as in section 4.3 of the paper."""


def better_first(scores: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair every two runs, the one with the higher mean over the common topics first.

    Rows of both runs, shape (n_pairs,) each, of scores of shape (n_runs, n_topics), NaN = undefined;
    where the means are tied, the lower row is first.
    """
    first, second = np.triu_indices(len(scores), 1)
    differences = scores[first] - scores[second]
    is_lower = np.nansum(differences, axis=1) < -TIED_MAP * max(1, scores.shape[1])
    return np.where(is_lower, second, first), np.where(is_lower, first, second)


def sign_moves(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return what happened to the sign of each difference, as keys of `SIGN_WORDS`, shape (n_pairs,).

    Differences of means, NaN = undefined, are 0 within `TIED_MAP` of it. The sign was kept (0 before and
    after, too), swapped, became 0 (tied), was 0 and is not (parted), or there is no difference.

    >>> sign_moves(np.array([0.1, 0.1, 0.1, 0.0]), np.array([0.2, -0.1, 0.0, 0.1])).tolist()
    [0, 1, 2, 3]
    """
    undefined = np.isnan(before) | np.isnan(after)
    was, now = (np.where(np.abs(values) <= TIED_MAP, 0.0, values) for values in (before, after))
    moves = np.select([was * now < 0, (was != 0) & (now == 0), (was == 0) & (now != 0)], [1, 2, 3])
    return np.where(undefined, -1, moves).astype(np.int8)


def pair_sensitivity(
    rankings: JudgedRankings,
    *,
    depth: Depths,
    at: At = "next",
    flips: int = 1,
    scenario: Scenario = "shared",
    r_mode: RMode = "pool",
    progress: Callable[[int], None] | None = None,
) -> PairSensitivity:
    """Turn the documents of either run of each pair relevant and test the difference again.

    Parameters
    ----------
    rankings, depth, at, flips, scenario, r_mode
        As in `sensitivity`.

    Returns
    -------
    PairSensitivity
        All pairs of two runs. Means are over the topics where both had an AP before.
        O(n_topics n_runs (width + n_runs flips)) time; O(n_pairs n_topics) memory.

    Examples
    --------
    Run A, relevant at ranks 1, 3, 6, and B at 2 and 5, R = 4; rank 7 of A is not in B. With A's
    document AP is .5476190 against .18, from .5416667 against .225:

    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.arange(1, 11), ("b", "t"): np.array([101, 1, 102, 103, 109, 104])}
    >>> grades = {"t": (np.array([1, 3, 6, 109]), np.ones(4, bool))}
    >>> arrays = judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10)
    >>> moved = pair_sensitivity(arrays, depth=6)
    >>> moved.before.difference.round(7).tolist(), moved.after_first.difference.round(7).tolist()
    ([0.3166667], [0.367619])
    """
    r_mode, scenario = one_of("r_mode", r_mode, R_MODES), one_of("scenario", scenario, SCENARIOS)
    at = check_at(at, depth, rankings.cutoff)
    n_runs, n_topics = rankings.lengths.shape
    scores = scores_of_runs(rankings, r_mode)
    first, second = better_first(scores)
    before = scores[first] - scores[second]
    after = {"first": before.copy(), "second": before.copy()}
    row_of = np.empty(n_runs, dtype=np.int64)
    for topic in range(n_topics):
        one = flip_topic(rankings, topic, at=at, depth=depth, flips=flips, scenario=scenario, r_mode=r_mode)
        row_of[:] = -1
        row_of[one.flipped] = np.arange(one.flipped.size)
        for name, whose in (("first", first), ("second", second)):
            pairs = np.flatnonzero((row_of[whose] >= 0) & ~np.isnan(before[:, topic]))
            rows = one.after[row_of[whose[pairs]]]
            at_pair = np.arange(pairs.size)
            after[name][pairs, topic] = rows[at_pair, first[pairs]] - rows[at_pair, second[pairs]]
        if progress is not None:
            progress(1)
    return PairSensitivity(
        first=first,
        second=second,
        before=_tests(before),
        after_first=_tests(after["first"]),
        after_second=_tests(after["second"]),
    )


def _tests(differences: NDArray[np.float64]) -> RunPairs:
    """Test differences by topic, shape (n_pairs, n_topics), each row alone, by t2."""
    n_pairs = len(differences)
    scores = np.vstack([differences, np.zeros(differences.shape[1])])
    rows = np.arange(n_pairs), np.full(n_pairs, n_pairs)
    return compare_pairs(scores, pairs=rows, tests=("t",))


ALPHA = 0.05
"""Level of significance, two-sided, unless another is asked for."""


def required_difference(
    variance: ArrayLike,
    n_topics: ArrayLike,
    *,
    variation_share: ArrayLike = 0.0,
    difference_drop: ArrayLike = 0.0,
    variance_drop: ArrayLike = 0.0,
    alpha: ArrayLike = ALPHA,
    power: ArrayLike = 0.5,
) -> NDArray[np.float64]:
    r"""Compute the difference of two MAPs that a paired t test finds significant.

    Parameters
    ----------
    variance : float or array of float
        :math:`s^2`, variance of the differences of each topic; at least 0.
    n_topics : int or array of int
        L, at least 2.
    variation_share : float or array of float, default=0
        K, share of :math:`s^2` that is there because judges vary, to be left out as an error of
        measurement; in [0, 1). See `variation.collection.Components.share`. The careful take 0.
    difference_drop : float or array of float, default=0
        Q, by what share the difference might fall were all relevant documents known; below 1.
        Negative when it would grow. See `relative_drop`.
    variance_drop : float or array of float, default=0
        H, by what share :math:`s^2` would fall; below 1.
    alpha : float or array of float, default=0.05
        Level of significance, two-sided; above 0 and below 1.
    power : float or array of float, default=0.5
        Wanted probability of a significant result if the true difference is the one returned; at
        least 0.5, below 1. With 0.5 it is the smallest difference that is significant when it is
        what was observed, the paper's.

    Returns
    -------
    ndarray of float64, the shape that all arguments broadcast to
        At least 0, in the unit of the scores. `round_up` before printing.

    Notes
    -----
    .. math:: y = \frac{1}{1 - Q} \sqrt{\frac{s^2 (1 - K)(1 - H)}{L}} \;
              (t_{1 - \alpha/2, L - 1} + t_{power, L - 1})

    Eq. 24 of [1]_, and with Q = H = 0 its eq. 23; the quantile of `power` is 0 there. The power is
    an approximation: with 30 topics or more it is within .007 of that of the noncentral t.

    Examples
    --------
    Two cells of tables 7 and 8 of [1]_, and what finds a true difference four times of five:

    >>> float(round_up(required_difference(0.03, 50)))
    0.0493
    >>> float(round_up(required_difference(0.03, 50, difference_drop=0.15, variance_drop=0.1)))
    0.055
    >>> float(round_up(required_difference(0.03, 50, power=0.8)))
    0.0701
    """
    from scipy.special import stdtrit

    s2, topics, k, q, h, tail, wanted = map(
        np.asarray, (variance, n_topics, variation_share, difference_drop, variance_drop, alpha, power)
    )
    quantiles = stdtrit(topics - 1, 1 - tail / 2)
    quantiles = quantiles + np.where(wanted == 0.5, 0.0, stdtrit(topics - 1, wanted))
    error = np.sqrt(s2 * (1 - k) * (1 - h) / topics)
    return np.asarray(error * quantiles / (1 - q), dtype=np.float64)  # [1] Eq. 24


def round_up(values: ArrayLike, digits: int = 4) -> NDArray[np.float64]:
    """Round what is at least 0 upwards, as what is needed has to be.

    Tables 7 and 8 of [1]_ are printed so, with 4 digits: to the nearest, 61 of their 120 cells would be
    smaller. A value that has so many digits but for a floating-point error stays what it is.

    >>> round_up([0.03734061, 0.1 + 0.2], 4).tolist()
    [0.0374, 0.3]
    """
    scale = 10.0**digits
    scaled = np.asarray(values, dtype=np.float64) * scale
    # A value that is whole but for its last bits must not go one up.
    return np.asarray(np.ceil(scaled - 1e-9 * np.maximum(1.0, scaled)) / scale) + 0.0


def relative_drop(before: ArrayLike, after: ArrayLike) -> NDArray[np.float64]:
    """Compute by what share a value, finite, falls: Q of a difference in MAPs, H of its variance.

    At most 1 as long as the sign stays; above 1 where it changes, below 0 where the value grows. NaN where
    `before` is 0: there is nothing to fall.

    Section 4.3 of [1]_: the difference of two MAPs falls by 17.3%, its variance by 10.9%.

    >>> relative_drop([0.04615, 0.0330], [0.03816, 0.0294]).round(3).tolist()
    [0.173, 0.109]
    """
    first, second = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    drop = np.full(np.broadcast_shapes(first.shape, second.shape), np.nan)
    return np.asarray(np.divide(first - second, first, out=drop, where=first != 0))
