"""Status, effort, lists, details: results of a collection."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pooler.results.printed import Format
from store.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from store.content.pools import StoredPool
    from store.records import Workloads


def moment(at: datetime, fmt: Format) -> str:
    """Write a moment: for people in local time to the minute, for programs in UTC.

    Examples
    --------
    >>> from datetime import UTC
    >>> moment(datetime(2026, 3, 1, 9, 30, 5, tzinfo=UTC), Format.JSON)
    '2026-03-01T09:30:05+00:00'
    """
    if fmt is Format.TABLE:
        return f"{at.astimezone():%Y-%m-%d %H:%M}"
    return at.isoformat(timespec="seconds")


def day(at: datetime, fmt: Format) -> str:
    """Write a moment as `moment` does, for people without the time of the day.

    Examples
    --------
    >>> from datetime import UTC
    >>> day(datetime(2026, 3, 1, 9, 30, 5, tzinfo=UTC), Format.JSON)
    '2026-03-01T09:30:05+00:00'
    """
    return f"{at.astimezone():%Y-%m-%d}" if fmt is Format.TABLE else moment(at, fmt)


def drawable(pools: Iterable[StoredPool]) -> list[str]:
    """Name the adaptive pools in use that have documents left to draw, were anybody to draw."""
    return [
        pool.name
        for pool in pools
        if not pool.withdrawn and pool.budget is not None and pool.pairs < pool.budget
    ]


def idle_words(names: Sequence[str]) -> str:
    """Say that nobody draws from adaptive pools, of which there are some, and why.

    Examples
    --------
    >>> idle_words(["live"])
    'nobody draws from adaptive pool `live`: while anything is assigned, each judge is shown ...'
    """
    noun = "adaptive pool" if len(names) == 1 else "adaptive pools"
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"nobody draws from {noun} {listed}: while anything is assigned, each judge is shown only"
        " what is assigned to that judge, or open to claim"
    )


def way_out(workloads: Workloads) -> str:
    """Say when judges would draw again.

    Examples
    --------
    >>> from store.records import Workload, Workloads
    >>> ann = Workload("ann", 1, 5, 5, 0, 0, decided=2, claimed=0, lapsed=0, until=None)
    >>> way_out(Workloads([ann], pooled=5))
    '2 places have a decision, which pooler assign --clear leaves: draw in another collection'
    >>> way_out(Workloads())
    'once pooler assign --clear has taken back every place, all judges draw'
    """
    if n_decided := sum(line.decided for line in workloads.lines):
        has = "has" if n_decided == 1 else "have"
        return (
            f"{counted(n_decided, 'place')} {has} a decision, which pooler assign --clear leaves:"
            " draw in another collection"
        )
    return "once pooler assign --clear has taken back every place, all judges draw"
