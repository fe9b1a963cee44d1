"""Kinds of values (text, prose, id, moment, ...): read, written, checked; what an id may be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

from store.errors import ArgumentError, FaultList
from store.records import Passage
from store.text import BIDI_CONTROLS

LONGEST_ID = 1024
"""Bytes of an id in UTF-8; an index of PostgreSQL takes no more than some 2,700."""
LONGEST_CODE = 16
"""Characters of a short text of the program: the name of an action, of a state, of a rule."""

_SHOWN = 200
"""Characters of an id that a message shows."""


_INVISIBLE = "\u200b\u2060\ufeff"
"""Zero-width blanks: two ids that look the same would differ."""


def id_fault(text: str) -> str | None:
    r"""Return why `text` cannot be a topic id, docno, run tag or judge name; ``None`` = it can.

    It is empty, more than `LONGEST_ID` bytes, or has blanks, control or bidirectional characters or lone
    surrogates.

    >>> id_fault("doc\x07") is None
    False
    >>> id_fault("5/1438042988718.8#2") is None
    True
    """
    if text.isascii() and text.isprintable() and 0 < len(text) <= LONGEST_ID and " " not in text:
        return None
    if not text:
        return "expected an id, got nothing"
    if (n_bytes := len(text.encode("utf-8", "surrogatepass"))) > LONGEST_ID:
        return f"expected an id of at most {LONGEST_ID:,} bytes, got {n_bytes:,}"
    for character in text:
        if character.isspace():
            return f"expected an id without blanks, got {_short(text)}"
        code = ord(character)
        if code < 0x20 or 0x7F <= code < 0xA0 or character in BIDI_CONTROLS + _INVISIBLE:
            return f"expected an id without control characters, got {_short(text)}"
        if 0xD800 <= code < 0xE000:
            return f"expected valid Unicode in an id, got {_short(text)}"
    return None


def are_plain_ids(texts: Collection[str]) -> bool:
    """Return whether all texts are plainly ids."""
    together = "".join(texts)
    is_plain = together.isascii() and together.isprintable() and " " not in together
    return is_plain and all(0 < size <= LONGEST_ID for size in {*map(len, texts)})


def _short(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def topic_fault(text: str) -> str | None:
    """Return why `text` cannot be a topic id; ``None`` when it can.

    >>> topic_fault("#1")
    "expected a topic that does not begin with `#`, a comment to trec_eval, got '#1'"
    """
    if text.startswith("#"):
        return f"expected a topic that does not begin with `#`, a comment to trec_eval, got {_short(text)}"
    if text.startswith("\ufeff"):
        return f"expected a topic that does not begin with a byte order mark, got {_short(text)}"
    return id_fault(text)


Reader = Callable[[Any], Any]
"""Turns a JSON value into what a record has, or raises `UnfitValueError`."""

_MOST, LARGEST_SEED = 2**31 - 1, 2**63 - 1
"""What columns of either engine hold."""


class UnfitValueError(ValueError):
    """A value that a field cannot have; the message says what was expected and what was got."""


def checked_values(
    values: Mapping[str, Any], readers: Mapping[str, Reader], line: int, faults: FaultList
) -> dict[str, Any] | None:
    """Read every value by the reader of its name, or report every fault of the line.

    A name without a reader, and a reader without a value, are faults of code ``fields``; what a
    reader refuses by `UnfitValueError` is one of code ``value``.
    """
    before = faults.count
    known: dict[str, Any] = {}
    for name, reader in readers.items():
        if name not in values:
            faults.add(line, f"expected the key `{name}`, got none", "fields")
            continue
        try:
            known[name] = reader(values[name])
        except UnfitValueError as error:
            faults.add(line, f"`{name}`: {error}", "value")
    if len(values) > len(known):
        for name in sorted(values.keys() - readers.keys()):
            faults.add(line, f"unknown key `{name}`; known: {', '.join(readers)}", "fields")
    return known if faults.count == before else None


def _unfit(expected: str, value: Any) -> UnfitValueError:
    shown = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return UnfitValueError(f"expected {expected}, got {shown if len(shown) <= 80 else f'{shown[:80]}…'}")


def _read_text(value: Any) -> str:
    if not isinstance(value, str):
        raise _unfit("text", value)
    return value


def _reader_of_ids(fault: Callable[[str], str | None]) -> Reader:
    def read(value: Any) -> str:
        text = _read_text(value)
        if message := fault(text):
            raise UnfitValueError(message)
        return sys.intern(text)

    return read


def _read_word(value: Any) -> str:
    if text := _read_text(value):
        return sys.intern(text)
    raise UnfitValueError("expected text or null, got an empty text")


def _read_code(value: Any) -> str:
    text = _read_word(value)
    if len(text) <= LONGEST_CODE:
        return text
    raise _unfit(f"text of at most {LONGEST_CODE} characters", value)


_MOMENTS = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""The first and the last that a collection holds."""


def _read_moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(_read_text(value))
        if moment.tzinfo is not None and _MOMENTS[0] <= moment <= _MOMENTS[1]:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise _unfit("a moment like 2026-03-01T09:30:00+00:00", value)


def _read_passages(value: Any) -> tuple[Passage, ...]:
    if not isinstance(value, list):
        raise _unfit("a list of passages", value)
    return tuple(map(_read_passage, value)) if value else ()


def _read_passage(value: Any) -> Passage:
    match value:
        case [int(start), int(length), str(text)] if (
            not isinstance(start, bool)
            and not isinstance(length, bool)
            and 0 <= start <= _MOST
            and 1 <= length <= _MOST
            and len(text) in (0, length)
        ):
            return Passage(start, length, text)
    raise _unfit("passages as [start, length, text of that length or empty]", value)


def _moment_text(moment: datetime) -> str:
    if moment.tzinfo is None:
        raise ArgumentError("moment", "must have a time zone", moment)
    return moment.astimezone(UTC).isoformat()


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What a value is: how it is read from JSON and written as such; what it is stored as."""

    name: str
    """``topic``, ``id``, ``int``, ``seed``, ``enum``, ``text`` (not empty), ``prose`` (any text), ``code`` (a
    short text of the program), ``hash``, ``moment`` or ``passages``."""
    read: Reader
    write: Callable[[Any], Any] | None = None
    """``None`` = it is a JSON value already."""
    load: Callable[[Any], Any] | None = None
    """What makes a value of what a column gave; ``None`` = it is one."""


TOPIC = ValueKind("topic", _reader_of_ids(topic_fault))
ID = ValueKind("id", _reader_of_ids(id_fault))
WORD = ValueKind("text", _read_word, load=lambda text: text or None)
PROSE = ValueKind("prose", _read_text)
CODE = ValueKind("code", _read_code)
HASH = ValueKind("hash", _read_word)
MOMENT = ValueKind("moment", _read_moment, _moment_text)
PASSAGES = ValueKind(
    "passages", _read_passages, lambda passages: [[one.start, one.length, one.text] for one in passages]
)


def _read_seed(value: Any) -> int:
    if type(value) is int and 0 <= value <= LARGEST_SEED:
        return value
    raise _unfit(f"an integer from 0 to {LARGEST_SEED}", value)


SEED = ValueKind("seed", _read_seed)


def whole(least: int | None = None) -> ValueKind:
    """Make the kind of a whole number of 32 bits that is not less than another."""

    def read(value: Any) -> int:
        if type(value) is not int:
            raise _unfit("an integer", value)
        if not -_MOST <= value <= _MOST:
            raise _unfit(f"an integer from -{_MOST} to {_MOST}", value)
        if least is not None and value < least:
            raise _unfit(f"an integer of at least {least}", value)
        return value

    return ValueKind("int", read)


def choice(values: type[StrEnum]) -> ValueKind:
    """Make the kind of a member of an enumeration."""

    def read(value: Any) -> StrEnum:
        try:
            return values(value)
        except ValueError:
            raise _unfit(f"one of {', '.join(values)}", value) from None

    return ValueKind("enum", read, attrgetter("value"), load=values)


def or_none(reader: Reader) -> Reader:
    """Make the reader of what may be nothing."""
    return lambda value: None if value is None else reader(value)
