r"""Tables in files: tab-separated, a header on top, any text in a cell.

A backslash, a control character, a line separator, a bidirectional control or a lone surrogate of
free text is written as ``\\``, ``\t``, ``\n``, ``\r`` or ``\uXXXX``. What is not known is an empty
cell. Ids are never escaped: none has such a character.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

from store.errors import FaultList, PoolerError
from store.formats.lines import id_fault, read_text_lines
from store.formats.topics import topic_fault
from store.sanitise import BIDI_CONTROLS

_SPECIAL = re.compile(f"[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff{BIDI_CONTROLS}\ud800-\udfff]")
_SHORT = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_LONG = {written: character for character, written in _SHORT.items()}
_ESCAPE = re.compile(r"\\(?:[\\tnr]|u[0-9a-f]{4})?")
_INTEGER = re.compile(r"-?[0-9]{1,19}")
_FLOAT = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")
_MOST = 2**31 - 1


class CellError(ValueError):
    """A cell that cannot be what its column has; the message says what was expected and got."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table in a file."""

    name: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]
    """Raises `CellError`."""


def id_column(name: str) -> Column:
    """Make a column of docnos, tags or names of judges."""
    return Column(name, lambda value: checked_id(name, value), lambda cell: _as_id(cell, id_fault))


def id_or_none_column(name: str) -> Column:
    """Make a column of ids of which some are not known."""
    of_ids = id_column(name)
    return Column(name, *_or_none(of_ids.write, of_ids.read))


def topic_column(name: str = "topic") -> Column:
    """Make a column of topic ids."""
    return Column(name, checked_topic, lambda cell: _as_id(cell, topic_fault))


def text_column(name: str) -> Column:
    """Make a column of free text; empty is a text."""
    return Column(name, escaped, unescaped)


def integer_column(name: str, *, least: int = -_MOST) -> Column:
    """Make a column of whole numbers."""
    return Column(name, str, lambda cell: _as_integer(cell, least))


def integer_or_none_column(name: str) -> Column:
    """Make a column of whole numbers of which some are not known."""
    return Column(name, *_or_none(str, lambda cell: _as_integer(cell, -_MOST)))


def float_or_none_column(name: str) -> Column:
    """Make a column of finite numbers of which some are not known."""
    return Column(name, *_or_none(repr, as_float))


def yes_no_column(name: str) -> Column:
    """Make a column of yes and no."""
    return Column(name, lambda value: "yes" if value else "no", _as_yes_no)


def moment_column(name: str) -> Column:
    """Make a column of moments."""
    return Column(name, moment_text, as_moment)


def moment_or_none_column(name: str) -> Column:
    """Make a column of moments of which some are not known."""
    return Column(name, *_or_none(moment_text, as_moment))


def word_column(name: str, words: Iterable[str]) -> Column:
    """Make a column of one of a few words."""
    known = tuple(words)

    def read(cell: str) -> str:
        if cell not in known:
            message = f"expected one of {', '.join(known)}, got {_shown(cell)}"
            raise CellError(message)
        return cell

    return Column(name, str, read)


def write_table(columns: Sequence[Column], rows: Iterable[Sequence[object]], stream: TextIO) -> int:
    """Write a table and return how many rows it has."""
    stream.write("\t".join(column.name for column in columns) + "\n")
    number = 0
    for row in rows:
        cells = (column.write(value) for column, value in zip(columns, row, strict=True))
        stream.write("\t".join(cells) + "\n")
        number += 1
    return number


def read_table(
    path: str, columns: Sequence[Column], faults: FaultList
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Read what `write_table` wrote.

    Parameters
    ----------
    path : str
        The file.
    columns : sequence of Column
        Those that it has.
    faults : FaultList
        Where faults are told; a line with one is not yielded.

    Yields
    ------
    line : int
        Line number from 1; the first row is on line 2.
    values : tuple
        One a column.
    """
    names = [column.name for column in columns]
    is_first = True
    for number, text in read_text_lines(path, faults):
        cells = text.split("\t")
        if is_first:
            is_first = False
            if cells != names:
                message = f"expected the columns {', '.join(names)}, got {_shown(text)}"
                faults.add(number, message, "header")
                return
            continue
        if len(cells) != len(columns):
            message = f"expected {len(columns)} fields ({', '.join(names)}), got {len(cells)}"
            faults.add(number, message, "fields")
            continue
        values = []
        for column, cell in zip(columns, cells, strict=True):
            try:
                values.append(column.read(cell))
            except CellError as error:
                faults.add(number, f"`{column.name}`: {error}", "value")
        if len(values) == len(columns):
            yield number, tuple(values)


def escaped(text: str) -> str:
    r"""Write free text as a cell.

    Examples
    --------
    >>> print(escaped("a\tb\\ \x00"))
    a\tb\\ \u0000
    """
    return _SPECIAL.sub(lambda found: _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}", text)


def unescaped(cell: str) -> str:
    r"""Read what `escaped` wrote; raise `CellError` at a backslash that stands for nothing.

    Examples
    --------
    >>> unescaped(r"a\tb\\ \u0000")
    'a\tb\\ \x00'
    """
    if "\\" not in cell:
        return cell

    def read(found: re.Match[str]) -> str:
        written = found[0]
        if written == "\\":
            message = f"expected \\\\, \\t, \\n, \\r or \\uXXXX at a backslash, got {_shown(cell)}"
            raise CellError(message)
        return _LONG.get(written) or chr(int(written[2:], 16))

    return _ESCAPE.sub(read, cell)


def checked_id(name: str, value: str) -> str:
    """Return an id, or raise `PoolerError` when no file could hold it."""
    return _checked(name, value, id_fault(value))


def checked_topic(value: str) -> str:
    """Return a topic id, or raise `PoolerError` when no file could hold it."""
    return _checked("topic", value, topic_fault(value))


def _checked(name: str, value: str, fault: str | None) -> str:
    if fault is not None:
        message = f"a {name} cannot be written to a file: {fault}"
        raise PoolerError(message)
    return value


def moment_text(moment: datetime) -> str:
    """Write a moment in UTC, with microseconds where there are any."""
    return moment.astimezone(UTC).isoformat()


def as_moment(cell: str) -> datetime:
    """Read what `moment_text` wrote; raise `CellError`."""
    try:
        moment = datetime.fromisoformat(cell)
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    message = f"expected a moment like 2026-03-01T09:30:00+00:00, got {_shown(cell)}"
    raise CellError(message)


def as_float(cell: str) -> float:
    """Read a finite number; raise `CellError`."""
    if _FLOAT.fullmatch(cell):
        value = float(cell)
        if math.isfinite(value):
            return value
    message = f"expected a finite number, got {_shown(cell)}"
    raise CellError(message)


def _as_integer(cell: str, least: int) -> int:
    """Read a whole number that both databases hold."""
    if _INTEGER.fullmatch(cell) and least <= int(cell) <= _MOST:
        return int(cell)
    message = f"expected an integer from {least} to {_MOST}, got {_shown(cell)}"
    raise CellError(message)


def _as_yes_no(cell: str) -> bool:
    """Read yes or no."""
    if cell not in ("yes", "no"):
        message = f"expected yes or no, got {_shown(cell)}"
        raise CellError(message)
    return cell == "yes"


def _as_id(cell: str, fault_of: Callable[[str], str | None]) -> str:
    """Read an id."""
    if fault := fault_of(cell):
        raise CellError(fault)
    return cell


def _or_none(
    write: Callable[[Any], str], read: Callable[[str], Any]
) -> tuple[Callable[[Any], str], Callable[[str], Any]]:
    """Let an empty cell stand for what is not known."""
    return (
        lambda value: "" if value is None else write(value),
        lambda cell: None if cell == "" else read(cell),
    )


def _shown(cell: str) -> str:
    """Show a cell in a message."""
    return repr(cell if len(cell) <= 80 else f"{cell[:80]}…")
