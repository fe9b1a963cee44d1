"""Kinds of values (text, prose, id, moment, ...): read, written, checked; what an id may be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from store.errors import FaultList
from store.records import Action, Passage, State
from store.text import BIDI_CONTROLS

LONGEST_ID = 1024
"""Bytes of an id in UTF-8; an index of PostgreSQL takes no more than some 2,700."""


_SHOWN = 200
"""Characters of an id that a message shows."""


_INVISIBLE = "\u200b\u2060\ufeff"
"""Zero-width blanks: two ids that look the same would differ."""


def id_fault(text: str) -> str | None:
    r"""Say why `text` cannot be a topic id, docno, run tag or judge name.

    Parameters
    ----------
    text : str
        The id.

    Returns
    -------
    str or None
        What is wrong (empty, more than `LONGEST_ID` bytes, blanks, control or bidirectional
        characters, lone surrogates); ``None`` when nothing is.

    Examples
    --------
    >>> id_fault("doc\x07") is None
    False
    >>> id_fault("5/1438042988718.8#2") is None
    True
    """
    if is_plain_id(text) and " " not in text:
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


def is_plain_id(text: str) -> bool:
    """Say whether text without blanks is plainly an id: printable ASCII, and not too long."""
    return text.isascii() and text.isprintable() and 0 < len(text) <= LONGEST_ID


def _short(text: str) -> str:
    """Quote an id for a message, cut where it is long."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def topic_fault(text: str) -> str | None:
    """Say why `text` cannot be a topic id; ``None`` when it can.

    Examples
    --------
    >>> topic_fault("#1")
    "expected a topic that does not begin with `#`, a comment to trec_eval, got '#1'"
    """
    if text.startswith("#"):
        return f"expected a topic that does not begin with `#`, a comment to trec_eval, got {text!r}"
    if text.startswith("\ufeff"):
        return f"expected a topic that does not begin with a byte order mark, got {text!r}"
    return id_fault(text)


Reader = Callable[[Any], Any]
"""Turns a JSON value into what a record has, or raises `UnfitValueError`."""

_MOST = 2**31 - 1
"""Whole numbers that both databases hold."""


class UnfitValueError(ValueError):
    """A value that a field cannot have; the message says what was expected and what was got."""


def checked_values(
    values: Mapping[str, Any], readers: Mapping[str, Reader], line: int, faults: FaultList
) -> dict[str, Any] | None:
    """Read every value by the reader of its name, or tell every fault of the line.

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
            listed = ", ".join(readers)
            faults.add(line, f"unknown key `{name}`; known: {listed}", "fields")
    return known if faults.count == before else None


def _shown(value: Any) -> str:
    """Show a value in a message."""
    if value is None:
        return "null"
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _read_topic(value: Any) -> str:
    """Read a topic id."""
    text = _read_text(value)
    if message := topic_fault(text):
        raise UnfitValueError(message)
    return sys.intern(text)


def _read_id(value: Any) -> str:
    """Read a docno, the name of a judge, or a round."""
    text = _read_text(value)
    if message := id_fault(text):
        raise UnfitValueError(message)
    return sys.intern(text)


def _read_text(value: Any) -> str:
    """Read text."""
    if not isinstance(value, str):
        message = f"expected text, got {_shown(value)}"
        raise UnfitValueError(message)
    return value


def _read_text_or_none(value: Any) -> str | None:
    """Read text that is not empty, or nothing."""
    if value is None:
        return None
    if text := _read_text(value):
        return sys.intern(text)
    message = "expected text or null, got an empty text"
    raise UnfitValueError(message)


def _read_integer(value: Any) -> int:
    """Read a whole number of 32 bits."""
    if type(value) is int and -_MOST <= value <= _MOST:
        return value
    bounds = f" from -{_MOST} to {_MOST}" if type(value) is int else ""
    message = f"expected an integer{bounds}, got {_shown(value)}"
    raise UnfitValueError(message)


def _read_integer_or_none(value: Any) -> int | None:
    """Read a whole number, or nothing."""
    return None if value is None else _read_integer(value)


def _read_from(least: int) -> Callable[[Any], int]:
    """Make the reader of a whole number that is not less than another."""

    def read(value: Any) -> int:
        number = _read_integer(value)
        if number < least:
            message = f"expected an integer of at least {least}, got {number}"
            raise UnfitValueError(message)
        return number

    return read


def _or_none(reader: Reader) -> Reader:
    """Make the reader of what may be nothing."""
    return lambda value: None if value is None else reader(value)


def _read_action(value: Any) -> Action:
    """Read an action."""
    try:
        return Action(value)
    except ValueError:
        message = f"expected one of {', '.join(Action)}, got {_shown(value)}"
        raise UnfitValueError(message) from None


def _read_state(value: Any) -> State:
    """Read a state."""
    try:
        return State(value)
    except ValueError:
        message = f"expected one of {', '.join(State)}, got {_shown(value)}"
        raise UnfitValueError(message) from None


def _read_moment(value: Any) -> datetime:
    """Read a moment and turn it into UTC."""
    try:
        moment = datetime.fromisoformat(_read_text(value))
        if moment.tzinfo is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    message = f"expected a moment like 2026-03-01T09:30:00+00:00, got {_shown(value)}"
    raise UnfitValueError(message)


def _read_passages(value: Any) -> tuple[Passage, ...]:
    """Read marked passages."""
    if not isinstance(value, list):
        message = f"expected a list of passages, got {_shown(value)}"
        raise UnfitValueError(message)
    return tuple(map(_read_passage, value)) if value else ()


def _read_passage(value: Any) -> Passage:
    """Read one marked passage."""
    match value:
        case [int(start), int(length), str(text)] if (
            not isinstance(start, bool)
            and not isinstance(length, bool)
            and 0 <= start <= _MOST
            and 1 <= length <= _MOST
            and len(text) in (0, length)
        ):
            return Passage(start, length, text)
    expected = "passages as [start, length, text of that length or empty]"
    message = f"expected {expected}, got {_shown(value)}"
    raise UnfitValueError(message)


READERS: dict[str, Reader] = {
    "topic": _read_topic,
    "docno": _read_id,
    "judge": _read_id,
    "revision": _read_from(1),
    "action": _read_action,
    "undoes": _or_none(_read_from(1)),
    "state": _read_state,
    "grade": _read_integer_or_none,
    "reason": _read_text,
    "note": _read_text,
    "iteration": _read_id,
    "passages": _read_passages,
    "display_order": _read_text_or_none,
    "position": _or_none(_read_from(0)),
    "shown_at": _or_none(_read_moment),
    "judged_at": _read_moment,
    "dwell_ms": _read_integer_or_none,
    "active_ms": _read_integer_or_none,
    "dropped_keys": _read_from(0),
    "guideline_version": _or_none(_read_from(1)),
    "document_sha256": _read_text_or_none,
    "sitting": _or_none(_read_from(1)),
    "topic_version": _or_none(_read_from(1)),
    "follows": _or_none(_read_from(0)),
    "settled": _read_text_or_none,
}
"""How each value of `store.event.FIELDS` is read."""
