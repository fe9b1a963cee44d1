"""Moments as the options `--since` and `--until` give them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from store.errors import ArgumentError

WHEN = "a date or date-time like 2026-03-02, 2026-03-02T09:30, 2026-03-02T09:30+01:00"
_DAY_WITH_ZONE = re.compile(r"^(\d{4}-\d{2}-\d{2})(Z|[+-]\d{2}:?\d{2})$")


def read_when(name: str, value: str | None) -> datetime | None:
    """Read a moment.

    Parameters
    ----------
    name : str
        The option, for errors.
    value : str or None
        ISO 8601: a date, which is its first moment, or a date and a time; with a zone or, without,
        of UTC.

    Returns
    -------
    datetime or None
        In UTC; ``None`` for ``None``.

    Raises
    ------
    ArgumentError
        If it is no such moment.

    Examples
    --------
    >>> read_when("--since", "2026-03-02").isoformat()
    '2026-03-02T00:00:00+00:00'
    >>> read_when("--since", "2026-03-02T09:30+01:00").isoformat()
    '2026-03-02T08:30:00+00:00'
    >>> read_when("--since", "2026-03-02+01:00").isoformat()
    '2026-03-01T23:00:00+00:00'
    >>> read_when("--since", "Monday")
    Traceback (most recent call last):
        ...
    store.errors.ArgumentError: `--since` must be a date or date-time like ... but got 'Monday'
    """
    if value is None:
        return None
    try:
        # Python reads no zone behind a date alone.
        moment = datetime.fromisoformat(_DAY_WITH_ZONE.sub(r"\1T00:00\2", value.strip()))
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ArgumentError(name, f"must be {WHEN}", value) from None


def check_stretch(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    """Read both ends of a stretch of time.

    Raises
    ------
    ArgumentError
        If one is no moment, or the end is not after the beginning.

    Examples
    --------
    >>> check_stretch("2026-03-02", "2026-03-02")
    Traceback (most recent call last):
        ...
    store.errors.ArgumentError: `--until` must be later than --since ..., but got '2026-03-02'
    """
    begin, end = read_when("--since", since), read_when("--until", until)
    if begin is not None and end is not None and end <= begin:
        raise ArgumentError("--until", f"must be later than --since {since}", until)
    return begin, end
