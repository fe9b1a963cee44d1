"""Which unjudged documents of a run to suppose relevant: below the pool, or where it counts most.

The gain of AP falls with the rank (`store.analysis.average_precision.gains`), and a set of
discoveries gains less when any of its ranks is lower. So the first unjudged documents of a list
are those that raise AP most, or lower it least, and the last ones the opposite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.judged_rankings import NOT_RETRIEVED, UNJUDGED
from store.errors import ArgumentError

At = Literal["next", "first", "best", "worst"]
"""Where documents are supposed relevant; see `choose_flips`."""
AT: tuple[At, ...] = get_args(At)

JUDGED = 0
"""Every document that was looked at is judged, relevant or not. `UNJUDGED` is the other case."""
ENDED = -2
"""The run has documents for the topic, but ends at rank N or above."""
NO_RUN = -3
"""The run has no document for the topic."""


@dataclass(frozen=True, slots=True, eq=False)
class FlipChoice:
    """The ranks of one topic whose documents are supposed relevant."""

    columns: NDArray[np.int64]
    """Shape (n_runs, n_flips): rank less 1, ascending, then -1 where there are fewer."""
    status: NDArray[np.int8]
    """Shape (n_runs,): `UNJUDGED`, `JUDGED`, `ENDED` or `NO_RUN`."""

    def count(self) -> NDArray[np.int64]:
        """Count the documents of each run, shape (n_runs,)."""
        return np.asarray(np.count_nonzero(self.columns >= 0, axis=1), dtype=np.int64)


def check_at(at: str, depth: int | None, flips: int, cutoff: int) -> At:
    """Return `at` when it is one of `AT` and goes with the others, else raise `ArgumentError`.

    `depth` is needed by ``next`` and ``first``, and is then below the cutoff.
    """
    if flips < 1:
        raise ArgumentError("flips", "must be an integer >= 1", flips)
    for known in AT:
        if at == known:
            below = known in ("next", "first")
            if below and (depth is None or not 1 <= depth < cutoff):
                requirement = f"must be an integer >= 1 and below the cutoff ({cutoff})"
                raise ArgumentError("depth", requirement, depth)
            return known
    raise ArgumentError("at", f"must be one of {', '.join(AT)}", at)


def choose_flips(
    standing: NDArray[np.int8], *, at: At, depth: int | None = None, flips: int = 1
) -> FlipChoice:
    """Choose unjudged ranks of every run in one topic.

    Parameters
    ----------
    standing : ndarray of int8, shape (n_runs, width)
        From `JudgedRankings.standing_by_rank`.
    at : {"next", "first", "best", "worst"}
        ``next``: those of the ranks N+1 to N+flips that are unjudged. ``first``: the first unjudged
        ranks below N. ``best``, ``worst``: the first and the last unjudged ranks of the whole
        list, which leave the run the highest and the lowest AP.
    depth : int, optional
        N, at least 1; not looked at by ``best`` and ``worst``.
    flips : int, default=1
        Documents of a run, at least 1.

    Returns
    -------
    FlipChoice
        A run may have fewer than `flips`.

    Notes
    -----
    O(size of `standing`). Arguments are checked by `check_at`.

    Examples
    --------
    Unjudged at ranks 2, 4 and 5 of one run; the other ends at rank 2:

    >>> standing = np.array([[1, -1, 0, -1, -1], [0, -1, -2, -2, -2]], dtype=np.int8)
    >>> choose_flips(standing, at="first", depth=2, flips=2).columns.tolist()
    [[3, 4], [-1, -1]]
    >>> choose_flips(standing, at="worst").columns.tolist()
    [[4], [1]]
    """
    start = depth if at in ("next", "first") and depth is not None else 0
    stop = start + flips if at == "next" else standing.shape[1]
    searched = standing[:, start:stop]
    unjudged = searched == UNJUDGED
    if at == "worst":
        from_end = np.cumsum(unjudged[:, ::-1], axis=1)[:, ::-1]
        chosen = unjudged & (from_end <= flips)
    else:
        chosen = unjudged & (np.cumsum(unjudged, axis=1) <= flips)
    runs, columns = np.nonzero(chosen)
    places = (np.cumsum(chosen, axis=1) - 1)[runs, columns]
    result = np.full((len(standing), flips), -1, dtype=np.int64)
    result[runs, places] = columns + start
    filled = standing != NOT_RETRIEVED
    status = np.full(len(standing), NO_RUN, dtype=np.int8)
    status[filled.any(axis=1)] = ENDED
    status[filled[:, start:stop].any(axis=1)] = JUDGED
    status[chosen.any(axis=1)] = UNJUDGED
    return FlipChoice(result, status)
