"""Moments as tables show them."""

from __future__ import annotations

from datetime import datetime

from pooler.cli.console import Format


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
