"""Every unjudged document supposed relevant, one at a time, in every run that retrieved it.

How far would one missed document move the order of the runs? Each one is tried. Most move nothing:
only where two runs that are next to each other by MAP change places, or a tie is made or broken,
are the pairs counted one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from store.analysis.measures.average_precision import RMode, check_r_mode, gains, mean_average_precision
from store.analysis.rankings import UNJUDGED, JudgedRankings
from store.analysis.run_order import TIED_MAP
from store.analysis.undiscovered.flips import lists_of_topic, scores_of_runs

_DOCUMENTS_AT_ONCE = 4096
_PAIR_CELLS = 1 << 21
"""Cells of the table of documents by pairs of runs that are looked at together."""


@dataclass(frozen=True, slots=True, eq=False)
class EachDiscovery:
    """What each document does. Arrays have shape (n_documents,) unless told otherwise.

    Documents are by topic and then by code. Changes and orders are over the runs with a MAP.
    """

    topic: NDArray[np.int32]
    """Index of the topic."""
    code: NDArray[np.int32]
    """Code of the document within its topic."""
    n_runs_with: NDArray[np.int32]
    """Runs that retrieved it."""
    best_run: NDArray[np.int32]
    """The run that has it highest; of several, the first."""
    best_rank: NDArray[np.int32]
    """Its rank there."""
    up: NDArray[np.float64]
    """Largest rise of a run's MAP; 0 where none rises."""
    down: NDArray[np.float64]
    """Largest fall, at most 0."""
    n_swapped: NDArray[np.int64]
    """Pairs of runs put in the opposite order; ties are no swaps."""
    tau_b: NDArray[np.float64]
    """Kendall's tau-b of the MAPs before and after; NaN with fewer than two runs or all tied."""
    map_before: NDArray[np.float64]
    """Shape (n_runs,): NaN without a topic that has an AP."""
    n_undefined: int
    """Unjudged documents of topics where no run has an AP before: they change no MAP and are not
    among the documents."""

    def order(self) -> NDArray[np.int64]:
        """Sort: most swaps first, then the largest change, up or down, then as they are."""
        change = np.maximum(self.up, -self.down)
        return np.asarray(np.lexsort((-change, -self.n_swapped)), dtype=np.int64)


def each_discovery(
    rankings: JudgedRankings, *, r_mode: RMode = "pool", progress: Callable[[int], None] | None = None
) -> EachDiscovery:
    """Turn every unjudged document relevant by itself and order the runs again.

    Parameters
    ----------
    rankings : JudgedRankings
        Rankings and judgements. An unjudged document counts as not relevant before.
    r_mode : {"pool", "own"}, default="pool"
        What R counts; in mode ``own`` a run that lacks the document keeps its AP.

    Returns
    -------
    EachDiscovery
        One entry for each document that a run retrieved and nobody judged.

    Notes
    -----
    Scenario ``shared`` of `store.analysis.undiscovered.sensitivity.sensitivity`, a document at a time.
    O(n_documents n_runs) time beside the documents that change the order, for which only the pairs
    of runs are looked at that are near enough to change places; one topic in memory at a time.

    Examples
    --------
    R = 1: `a` has the relevant document at rank 1, `b` at rank 2 below an unjudged one:

    >>> from store.analysis.rankings import judged_rankings
    >>> lists = {("a", "t"): np.array([1, 2]), ("b", "t"): np.array([3, 1])}
    >>> grades = {"t": (np.array([1, 2]), np.array([True, False]))}
    >>> arrays = judged_rankings(["t"], ["a", "b"], lists, grades, cutoff=10)
    >>> found = each_discovery(arrays)
    >>> found.up.tolist(), found.down.tolist(), found.n_swapped.tolist()
    ([0.5], [-0.5], [1])
    """
    r_mode = check_r_mode(r_mode)
    n_runs, n_topics = rankings.lengths.shape
    scores = scores_of_runs(rankings, r_mode)
    map_before, n_defined = mean_average_precision(scores)
    order = _RunOrder(map_before)
    parts: list[dict[str, NDArray[Any]]] = []
    n_undefined = 0
    for topic in range(n_topics):
        document_states, relevant, counts = lists_of_topic(rankings, topic, r_mode)
        runs, columns = np.nonzero(document_states == UNJUDGED)
        codes = rankings.documents[runs, topic, columns]
        if not (counts > 0).any():
            n_undefined += np.unique(codes).size
        elif codes.size:
            share = np.where(counts > 0, 1 / ((counts + 1) * np.maximum(n_defined, 1)), 0.0)
            before = np.where(counts > 0, scores[:, topic], 0.0)
            lacking = -before * share if r_mode == "pool" else np.zeros(n_runs)
            having = (gains(relevant)[runs, columns] - before[runs]) * share[runs]
            parts.append(_one_topic(topic, runs, columns, codes, having, lacking, order))
        if progress is not None:
            progress(1)
    joined = {
        name: np.concatenate([np.zeros(0), *(part[name] for part in parts)]).astype(dtype)
        for name, dtype in _DTYPES.items()
    }
    return EachDiscovery(map_before=map_before, n_undefined=n_undefined, **joined)


_DTYPES = {
    "topic": np.int32,
    "code": np.int32,
    "n_runs_with": np.int32,
    "best_run": np.int32,
    "best_rank": np.int32,
    "up": np.float64,
    "down": np.float64,
    "n_swapped": np.int64,
    "tau_b": np.float64,
}


def _one_topic(
    topic: int,
    runs: NDArray[np.int64],
    columns: NDArray[np.int64],
    codes: NDArray[np.int32],
    having: NDArray[np.float64],
    lacking: NDArray[np.float64],
    order: _RunOrder,
) -> dict[str, NDArray[Any]]:
    """Try the documents of one topic; one entry of `runs` to `having` for each place of one.

    The arrays are those of `EachDiscovery`, by name. `having` and `lacking` are changes of MAP,
    the latter by run.
    """
    # By document; within one the highest rank first, and of equal ranks the first run.
    by_document = np.lexsort((runs, columns, codes))
    runs, columns, codes = runs[by_document], columns[by_document], codes[by_document]
    having = having[by_document]
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    n_runs_with = np.diff(np.append(starts, codes.size))
    rows = np.repeat(np.arange(starts.size), n_runs_with)
    up, down = np.empty(starts.size), np.empty(starts.size)
    n_swapped, tau_b = np.empty(starts.size, np.int64), np.empty(starts.size)
    places = order.place_of[runs]
    base = lacking[order.runs]
    for start in range(0, starts.size, _DOCUMENTS_AT_ONCE):
        stop = min(start + _DOCUMENTS_AT_ONCE, starts.size)
        entries = slice(starts[start], starts[stop] if stop < starts.size else codes.size)
        change = np.empty((stop - start, base.size))
        change[:] = base
        scored = places[entries] >= 0
        at = rows[entries][scored] - start, places[entries][scored]
        change[at] = having[entries][scored]
        part = slice(start, stop)
        up[part] = np.maximum(change.max(axis=1, initial=0.0), 0.0)
        down[part] = np.minimum(change.min(axis=1, initial=0.0), 0.0)
        n_swapped[part], tau_b[part] = order.compare(change)
    return {
        "topic": np.full(starts.size, topic),
        "code": codes[starts],
        "n_runs_with": n_runs_with,
        "best_run": runs[starts],
        "best_rank": columns[starts] + 1,
        "up": up,
        "down": down,
        "n_swapped": n_swapped,
        "tau_b": tau_b,
    }


class _RunOrder:
    """The order of the runs by MAP, and how changes of all MAPs alter it."""

    def __init__(self, map_before: NDArray[np.float64]) -> None:
        scored = np.flatnonzero(~np.isnan(map_before))
        self.runs = scored[np.argsort(-map_before[scored], kind="stable")]
        """Rows of the runs with a MAP, the best first."""
        self.place_of = np.full(map_before.size, -1, dtype=np.int64)
        """Place of each run in `runs`; -1 = it has no MAP."""
        self.place_of[self.runs] = np.arange(self.runs.size)
        self._scores = map_before[self.runs]
        self._steps = self._scores[:-1] - self._scores[1:]
        self._upper, self._lower = np.triu_indices(self.runs.size, 1)
        gaps = self._scores[self._upper] - self._scores[self._lower]
        by_gap = np.argsort(gaps, kind="stable")
        self._upper, self._lower = self._upper[by_gap], self._lower[by_gap]
        self._gaps = gaps[by_gap]
        self._n_untied = int(np.count_nonzero(self._gaps > TIED_MAP))

    def compare(self, change: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Count the swaps and compute tau-b for each row of changes, in the order of `runs`."""
        n_rows = len(change)
        swaps = np.zeros(n_rows, dtype=np.int64)
        tau = np.full(n_rows, np.nan if self._n_untied == 0 else 1.0)
        if self._gaps.size == 0:
            return swaps, tau
        steps = change[:, :-1] - change[:, 1:]
        steps += self._steps
        # A run that comes to be above one next to it, a tie that is made, or one that is broken.
        was_tied = self._steps <= TIED_MAP
        moved = (
            (steps <= TIED_MAP).any(axis=1)
            if not was_tied.any()
            else (((steps <= TIED_MAP) & ~was_tied) | ((np.abs(steps) > TIED_MAP) & was_tied)).any(axis=1)
        )
        rows = np.flatnonzero(moved)
        if rows.size == 0:
            return swaps, tau
        reach = change[rows].max(axis=1) - change[rows].min(axis=1)
        rows = rows[np.argsort(reach, kind="stable")]
        reach = np.sort(reach, kind="stable")
        start = 0
        while start < rows.size:
            # Rows ascend by reach, so the pairs near enough for the first ones are few.
            n_near = max(1, int(np.searchsorted(self._gaps, reach[start] + 2 * TIED_MAP, "right")))
            stop = min(rows.size, start + max(1, _PAIR_CELLS // n_near))
            n_near = int(np.searchsorted(self._gaps, reach[stop - 1] + 2 * TIED_MAP, "right"))
            part = rows[start:stop]
            swaps[part], tau[part] = self._count(change[part], n_near)
            start = stop
        return swaps, tau

    def _count(
        self, change: NDArray[np.float64], n_near: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Count over the pairs with the least gaps; all others keep their order."""
        upper, lower = self._upper[:n_near], self._lower[:n_near]
        was = self._gaps[:n_near] > TIED_MAP
        # Runs by rows: a pair's cells lie together in memory.
        by_run = np.ascontiguousarray((change + self._scores).T)
        now = by_run[upper] - by_run[lower]
        below, above = now < -TIED_MAP, now > TIED_MAP
        swapped = np.count_nonzero(below[was], axis=0)
        kept = np.count_nonzero(above[was], axis=0)
        n_untied_now = np.count_nonzero(below | above, axis=0) + self._gaps.size - n_near
        surplus = kept - swapped + self._n_untied - int(np.count_nonzero(was))
        tau = np.full(len(change), np.nan)
        product = np.sqrt(float(self._n_untied) * n_untied_now)
        np.divide(surplus, product, out=tau, where=product > 0)
        return swapped.astype(np.int64), np.clip(tau, -1.0, 1.0)
