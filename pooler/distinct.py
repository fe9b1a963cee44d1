"""Proof that no topic has a document twice.

Documents are compared by `Column.keys`. Equal documents have equal keys; should different ones
have, too, the suspicion costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pooler.run_lines import SuspicionError

_FACTOR = np.uint64(0xD6E8FEB86659FD93)
"""Odd; tells topics apart."""
_KEY_BITS = 64


def check_parts(keys: NDArray[np.uint64], firsts: Sequence[int]) -> None:
    """Raise `SuspicionError` when a part of a block may have a document twice.

    Parameters
    ----------
    keys : ndarray of uint64, shape (n_lines,)
        Of the documents of a block.
    firsts : sequence of int
        The first line of each part, ascending; the first of them 0.

    Notes
    -----
    Every line writes its number to a place of a table that its key says, and looks what stands
    there in the end. Of equal keys one at most finds its own number; so only lines that find
    another one are compared, with the line they find and with each other. No place is read that
    was not written, so the table need not be cleared.
    """
    n_lines = keys.size
    if len(firsts) > 1:
        parts = np.arange(len(firsts), dtype=np.uint64) * _FACTOR
        keys = keys ^ np.repeat(parts, np.diff(firsts, append=n_lines))
    bits = max(int(2 * n_lines - 1).bit_length(), 1)
    lines = np.arange(n_lines, dtype=np.uint32)
    table = np.empty(1 << bits, np.uint32)
    places = keys >> np.uint64(_KEY_BITS - bits)
    table[places] = lines
    found = table[places]
    others = np.flatnonzero(found != lines)
    suspects = keys[others]
    if (suspects == keys[found[others]]).any():
        raise SuspicionError("a document twice in a topic")
    _check_sorted(np.sort(suspects))


def check_across(keys: Sequence[NDArray[np.uint64]]) -> None:
    """Raise `SuspicionError` when parts of one topic may have a document in common.

    Parameters
    ----------
    keys : sequence of ndarray of uint64
        Of the documents of each part; at least one part, each without a document twice.
    """
    if len(keys) > 1:
        _check_sorted(np.sort(np.concatenate(keys)))


def _check_sorted(keys: NDArray[np.uint64]) -> None:
    """Raise `SuspicionError` when two of some sorted keys are equal."""
    if (keys[1:] == keys[:-1]).any():
        raise SuspicionError("a document twice in a topic")
