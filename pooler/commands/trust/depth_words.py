"""Depths of pools in words."""

from __future__ import annotations

from store.analysis.rankings import Depths


def depth_in_words(depth: Depths) -> int | str:
    """Return a depth as it is told: a number, or ``7-10`` where runs and topics have several."""
    return depth if isinstance(depth, int) else f"{depth.min():,}-{depth.max():,}"


def ranks_below(depth: int | str, number: int = 1) -> str:
    """Name the first ranks below a pool.

    >>> ranks_below(7), ranks_below(7, 3), ranks_below("7-10")
    ('rank 8', 'ranks 8 to 10', 'rank N+1 (N 7-10)')
    """
    first, last = (f"{depth + more:,}" if isinstance(depth, int) else f"N+{more}" for more in (1, number))
    words = f"rank {first}" if number == 1 else f"ranks {first} to {last}"
    return words if isinstance(depth, int) else f"{words} (N {depth})"
