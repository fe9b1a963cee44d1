"""Loads made as even as they can be, when some seats are taken for good."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray


def even_out(seats: NDArray[np.bool_], is_movable: NDArray[np.bool_]) -> None:
    """Move documents between judges until no move makes loads more even.

    Parameters
    ----------
    seats : ndarray of bool, shape (n_documents, n_judges)
        Who gets what; changed in place. Rows keep their sums.
    is_movable : ndarray of bool, shape (n_documents, n_judges)
        The seats that may be moved to another judge of the same document; changed with `seats`.

    Notes
    -----
    A judge with two documents more than another hands one on, over judges in between where none
    can go straight. When no such chain is left, the sum of squared loads is the least there is
    [1]_, so that loads differ by at most one wherever that is possible.

    O(n_documents n_judges**2) for every chain, of which there are none where nothing is immovable.

    References
    ----------
    .. [1] Harvey, Ladner, Lovasz, Tamir, "Semi-matchings for bipartite graphs and load balancing",
       *Journal of Algorithms* 59(1), 53-78, 2006, Theorem 3.1.

    Examples
    --------
    >>> seats = np.array([[True, False], [True, False], [True, False]])
    >>> even_out(seats, np.array([[False, False], [True, False], [True, False]]))
    >>> seats.sum(axis=0).tolist()
    [2, 1]
    """
    while (chain := _find_chain(seats, is_movable)) is not None:
        for giver, taker in itertools.pairwise(chain):
            document = int(np.argmax(is_movable[:, giver] & ~seats[:, taker]))
            for array in (seats, is_movable):
                array[document, giver], array[document, taker] = False, True


def _find_chain(seats: NDArray[np.bool_], is_movable: NDArray[np.bool_]) -> list[int] | None:
    """Return judges of whom each can hand a document to the next, the last with two fewer."""
    loads = seats.sum(axis=0)
    if loads.size == 0 or loads.max() - loads.min() < 2:
        return None
    can_hand = is_movable.T.astype(np.float32) @ (~seats).astype(np.float32) > 0
    for first in np.argsort(-loads, kind="stable").tolist():
        came_from = {first: first}
        queue = [first]
        for judge in queue:
            if loads[judge] <= loads[first] - 2:
                chain = [judge]
                while chain[-1] != first:
                    chain.append(came_from[chain[-1]])
                return chain[::-1]
            for other in np.flatnonzero(can_hand[judge]).tolist():
                if other not in came_from:
                    came_from[other] = judge
                    queue.append(other)
    return None
