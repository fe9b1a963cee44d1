"""Every exception of the project.

::

    PoolerError                 something a user can put right; shown as one line, never a traceback
      FormatError               a file is malformed: its faults, each with a line number
      ArgumentError             an argument or option has a value that cannot be used
        ContradictionError      two options say opposite things of one thing
      UnknownNameError          a name that is not there; lists the known ones, nearest first
      StoreError                the collection cannot do what was asked
        SchemaError             the database is older or newer than the program, or no collection
        ConflictError           somebody else changed the same thing first
"""

from __future__ import annotations

import difflib
import math
from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

SHOWN_FAULTS = 25
"""Faults of one file that are kept and shown; the rest are counted."""

_CLOSE = 0.6
"""Likeness from which a name may be another one mistyped; difflib's own."""


class PoolerError(Exception):
    """Base of every error a user can cause.

    The message is one sentence: where, what was expected, what was got. The hint is what to type next, on a
    second line, which a traceback in a notebook shows as well.
    """

    HINT: ClassVar[str] = ""
    """Shown where there is no other."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint is not None:
            self.add_note(f"hint: {hint}")

    def lines(self) -> list[str]:
        """Return the lines that the command line shows."""
        hint = self.hint or self.HINT
        return [f"error: {self.message}", *([f"hint: {hint}"] if hint else [])]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with every attribute, so that a worker process can raise it."""
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[PoolerError], args: tuple[Any, ...], attributes: dict[str, Any]) -> PoolerError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with a file."""

    line: int | None
    """Line number from 1; ``None`` when the fault is of the whole file."""
    message: str
    """What was expected and what was got."""
    code: str = "format"
    """Short name of the kind of fault, for programs."""


class FormatError(PoolerError):
    """A file is malformed: its first faults, in file order, and the count of all.

    The path is as the user named it; ``-`` is standard input.
    """

    HINT = "nothing in this file was used: correct it, then run the command again"

    def __init__(
        self, path: str, faults: Sequence[Fault], *, n_faults: int | None = None, hint: str | None = None
    ) -> None:
        self.path = path
        self.faults = tuple(faults)
        self.n_faults = len(faults) if n_faults is None else n_faults
        # A name with line ends must not look like a message, or like a hint what to type.
        place = " ".join(path.splitlines())
        lines = [
            f"{place}: {fault.message}" if fault.line is None else f"{place}:{fault.line}: {fault.message}"
            for fault in self.faults[:SHOWN_FAULTS]
        ]
        if self.n_faults > len(lines):
            lines.append(f"{place}: and {self.n_faults - len(lines)} more faults")
        super().__init__("\n".join(lines), hint=hint)

    @property
    def line(self) -> int | None:
        """Line of the first fault."""
        return self.faults[0].line if self.faults else None


class ArgumentError(PoolerError):
    """An argument has a value that cannot be used; `got` is ``None`` where nothing was given.

    It is named as the caller wrote it (``depth``, ``--level``); the requirement reads as in "must be an
    integer >= 1".
    """

    def __init__(self, name: str, requirement: str, got: object, *, hint: str | None = None) -> None:
        self.name = name
        self.requirement = requirement
        self.got = got
        but = "" if got is None else f", but got {got!r}"
        super().__init__(f"`{name}` {requirement}{but}", hint=hint)

    def named(self, name: str) -> Self:
        """Return the same about an argument of another name: an option of a command."""
        return type(self)(name, self.requirement, self.got, hint=self.hint)


class ParameterError(ArgumentError):
    """An argument that is a parameter of a strategy."""


class ContradictionError(ArgumentError):
    """Two options say opposite things of one thing, so that the command line means nothing."""


class UnknownNameError(PoolerError):
    """A name that nothing has; the known ones that are close are listed first, see `nearest`.

    The kind is what was looked for: ``judge``, ``run``, ``topic``.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str | None = None) -> None:
        self.kind = kind
        self.name = name
        self.known = nearest(name, known)
        listed = ", ".join(f"`{item}`" for item in self.known[:10])
        if len(self.known) > 10:
            listed += f" and {len(self.known) - 10} more"
        there = f"known: {listed}" if listed else f"there is no {kind} yet"
        super().__init__(f"unknown {kind} `{name}`; {there}", hint=hint)


class StoreError(PoolerError):
    """The collection cannot do what was asked."""


class SchemaError(StoreError):
    """The database is not one this program can work on."""


class ConflictError(StoreError):
    """Somebody else changed the same thing first."""


class FaultList:
    """Faults of one file, gathered while reading it and while checking what was read.

    Keeps the first `SHOWN_FAULTS` by line and counts the rest, so that a file of a million bad
    lines costs no memory. Those of one line stay as they were added; faults of the whole file come
    last.

    >>> faults = FaultList("bm25.run")
    >>> faults.add(17, "expected 6 fields, got 5")
    >>> faults.raise_if_any()
    Traceback (most recent call last):
        ...
    store.errors.FormatError: bm25.run:17: expected 6 fields, got 5
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.kept: list[Fault] = []
        self.count = 0
        self.hint: str | None = None
        """What to type next, where a reader knows it."""

    def __len__(self) -> int:
        return self.count

    def add(self, line: int | None, message: str, code: str = "format") -> None:
        """Add one fault."""
        self.count += 1
        is_full = len(self.kept) == SHOWN_FAULTS
        if is_full and _place(line) >= _place(self.kept[-1].line):
            return
        insort(self.kept, Fault(line, message, code), key=lambda fault: _place(fault.line))
        del self.kept[SHOWN_FAULTS:]

    def put_instead(self, message: str, code: str, *, hint: str) -> None:
        """Replace the faults so far by one of the whole file."""
        self.count = 0
        self.kept.clear()
        self.hint = hint
        self.add(None, message, code)

    def raise_if_any(self, *, hint: str | None = None) -> None:
        """Raise `FormatError` when there is at least one fault; its hint is `hint`, or our own."""
        if self.count:
            raise FormatError(self.path, self.kept, n_faults=self.count, hint=hint or self.hint)


def _place(line: int | None) -> float:
    return math.inf if line is None else line


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """List all of `known`, those that `name` may be mistyped from first, the most alike before the others.

    Names are in natural order (`store.text.natural_key`) where nothing else decides.

    >>> nearest("alcie", ["carol", "bob", "alice"])
    ['alice', 'bob', 'carol']
    >>> nearest("T99", {"T10", "T9", "T1", "T2"})
    ['T9', 'T1', 'T2', 'T10']
    """
    from store.text import natural_key  # which imports this module

    def likeness(item: str) -> float:
        return difflib.SequenceMatcher(None, name.lower(), item.lower()).ratio()

    ordered = {item: likeness(item) for item in sorted(known, key=natural_key)}
    close = [item for item, ratio in ordered.items() if ratio >= _CLOSE]
    close.sort(key=ordered.__getitem__, reverse=True)
    return close + [item for item, ratio in ordered.items() if ratio < _CLOSE]
