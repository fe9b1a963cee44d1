r"""Which documents turn, from rank N+1 on, and what several do at once: eq. 19 for more than one.

The gain of AP falls with the rank (`store.analysis.measures.average_precision.gains`), and a set of
discoveries gains less when any of its ranks is lower. So the first unjudged documents of a list
are those that raise AP most, or lower it least, and the last ones the opposite.

S is a quadratic form of the relevant ranks, so a set F of discoveries adds the gains of each one
and, for every two of them, one over the lower of their ranks:

.. math::

    S' = S + \sum_{f \in F} g_f + \sum_{f < f'} \frac{1}{\max(r_f, r_{f'})}, \qquad
    \nu' = \frac{S'}{R + |F|}    (E3)

Documents that a run did not retrieve only raise R. With one document it is eq. 19 of [1]_.

References
----------
.. [1] K. Kishida, "Property of Average Precision as Performance Measure for Retrieval Experiment",
   2001 (in Japanese), section 3.3; E3 is derived from its eq. 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.arguments import check_integer, one_of
from store.analysis.measures.average_precision import (
    RMode,
    average_precision,
    gains,
    own_n_relevant,
    precision_sum,
    quotient,
)
from store.analysis.rankings import NOT_RETRIEVED, RELEVANT, UNJUDGED, Depths, JudgedRankings
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


def check_at(at: str, depth: Depths, flips: int, cutoff: int) -> At:
    """Return `at` when it is one of `AT`, and `depth` is below the cutoff, else raise `ArgumentError`."""
    check_integer("flips", flips, 1)
    known = one_of("at", at, AT)
    for one in (np.min(depth), np.max(depth)):
        if not 1 <= one < cutoff:
            requirement = f"must be an integer >= 1 and below the cutoff ({cutoff})"
            raise ArgumentError("depth", requirement, int(one))
    return known


def choose_flips(
    states: NDArray[np.int8], *, at: At, depth: Depths, flips: int = 1
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Choose unjudged ranks of every run in one topic.

    Parameters
    ----------
    states : ndarray of int8, shape (n_runs, width)
        From `JudgedRankings.states_by_rank`.
    at : {"next", "first"}
        ``next``: those of the ranks N+1 to N+flips that are unjudged. ``first``: the first unjudged
        ranks below N.
    depth : int or ndarray of int64, shape (n_runs,)
        N, at least 1.
    flips : int, default=1
        Documents of a run, at least 1.

    Returns
    -------
    columns : ndarray of int64, shape (n_runs, flips)
        Rank less 1 of the documents that are supposed relevant, ascending, then -1 where a run has fewer.
    status : ndarray of int8, shape (n_runs,)
        `UNJUDGED`, `JUDGED`, `ENDED` or `NO_RUN`. O(size of `states`). Arguments are checked by
        `check_at`.

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


def check_scenario(scenario: str) -> Scenario:
    """Return `scenario` when it is one of `SCENARIOS`, else raise `ArgumentError`."""
    return one_of("scenario", scenario, SCENARIOS)


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

    The arguments are those of `store.analysis.undiscovered.sensitivity.sensitivity`, and are not checked.
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
