"""Processes that are started, seen from outside."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_watchers: list[list[str]] = []
_hooks: list[object] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    """Note every process that Python starts."""
    if event == "subprocess.Popen":
        for started in _watchers:
            started.append(str(arguments[0]))


@contextmanager
def started_processes() -> Iterator[list[str]]:
    """Gather the programs of the processes that this one starts meanwhile."""
    if not _hooks:
        sys.addaudithook(_note)  # for good: there is no way to take it off
        _hooks.append(_note)
    started: list[str] = []
    _watchers.append(started)
    try:
        yield started
    finally:
        _watchers.remove(started)
