"""Why documents wait: what adaptive pools may still draw, what is assigned, what has no text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from store.records import Workloads
from store.text import counted

if TYPE_CHECKING:
    from store.content.documents import TextCounts
    from store.content.pools import StoredPool


def drawable(pools: Iterable[StoredPool]) -> list[str]:
    """Name the adaptive pools in use that have documents left to draw, were anybody to draw."""
    return [
        pool.name
        for pool in pools
        if not pool.withdrawn and pool.budget is not None and pool.pairs < pool.budget
    ]


def idle_words(names: Sequence[str]) -> str:
    """Say that no draws from adaptive pools, of which there are some, and why.

    Examples
    --------
    >>> idle_words(["live"])
    'no draws from adaptive pool `live`: while anything is assigned, each judge sees ...'
    """
    noun = "adaptive pool" if len(names) == 1 else "adaptive pools"
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"no draws from {noun} {listed}: while anything is assigned, each judge sees only what is"
        " assigned to them or open to claim"
    )


def way_out(workloads: Workloads) -> str:
    """Say when judges would draw again.

    Examples
    --------
    >>> from store.records import Workload, Workloads
    >>> ann = Workload("ann", 1, 5, 5, 0, 0, decided=2, claimed=0, lapsed=0, until=None)
    >>> way_out(Workloads([ann], pooled=5))
    '2 assignments have a decision, which pooler assign --clear keeps: draw in another collection'
    >>> way_out(Workloads())
    'once pooler assign --clear has taken back every assignment, all judges draw'
    """
    if n_decided := sum(line.decided for line in workloads.lines):
        has = "has" if n_decided == 1 else "have"
        return (
            f"{counted(n_decided, 'assignment')} {has} a decision, which pooler assign --clear keeps: draw"
            " in another collection"
        )
    return "once pooler assign --clear has taken back every assignment, all judges draw"


def missing_words(counts: TextCounts) -> str | None:
    """Word how many documents that judges are or may be shown have no text; ``None`` = none.

    Examples
    --------
    >>> from store.content.documents import TextCounts
    >>> missing_words(TextCounts(missing=2, pooled=11))
    '2 of 11 pooled documents have no text'
    >>> missing_words(TextCounts(11, 11, 13, 13))
    '11 of 11 pooled documents have no text, nor have 13 of 13 others that adaptive pools may draw'
    >>> missing_words(TextCounts(0, 11, 3, 13))
    '3 of 13 documents that adaptive pools may draw have no text'
    """
    pooled = f"{counts.missing:,} of {counted(counts.pooled, 'pooled document')} have no text"
    drawable = f"{counts.missing_undrawn:,} of {counts.undrawn:,}"
    if counts.missing and counts.missing_undrawn:
        return f"{pooled}, nor have {drawable} others that adaptive pools may draw"
    if counts.missing:
        return pooled
    if counts.missing_undrawn:
        return f"{drawable} documents that adaptive pools may draw have no text"
    return None
