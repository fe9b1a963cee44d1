"""Keeping a collection: backups, checks, exported folders, and the files that judges' pages saved."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Given a label and the steps in all, shows how many are done."""


def no_progress(_label: str, _total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show nothing."""
    return nullcontext(lambda _steps: None)
