"""What several functions ask of an argument, in the same words."""

from __future__ import annotations

from typing import TypeVar

from store.errors import ArgumentError

Name = TypeVar("Name", bound=str)


def check_integer(name: str, value: int, least: int) -> None:
    """Raise `ArgumentError` unless an integer is at least so much."""
    if value < least:
        raise ArgumentError(name, f"must be an integer >= {least}", value)


def one_of(name: str, value: str, known: tuple[Name, ...]) -> Name:
    """Return a value that is one of those known, else raise `ArgumentError`."""
    for one in known:
        if value == one:
            return one
    raise ArgumentError(name, f"must be one of {', '.join(known)}", value)


def check_cutoff(cutoff: int | None) -> None:
    """Raise `ArgumentError` unless `cutoff` is at least 1 or not given."""
    if cutoff is not None:
        check_integer("cutoff", cutoff, 1)
