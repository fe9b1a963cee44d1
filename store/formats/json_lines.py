"""One JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from store.errors import FaultList
from store.formats.lines import read_text_lines
from store.text import escape_json


class NoObjectError(ValueError):
    """A text is not one JSON object; the message says what it is."""


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of the pairs of an object; raise `NoObjectError` when a key is there twice."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NoObjectError(f"expected each key once, got `{twice}` twice")
    return data


def _no_constant(name: str) -> Any:
    """Refuse what Python reads and JSON has not."""
    raise NoObjectError(f"expected a JSON object, got {name} in it")


_STRICT = json.JSONDecoder(object_pairs_hook=once, parse_constant=_no_constant)
_TEXTS = json.JSONDecoder(object_pairs_hook=once)
"""Of topics and documents, in which NaN is put up with."""


def json_line(data: Mapping[str, Any]) -> str:
    r"""Write an object of JSON values on one line, without line end; keys stay in order, numbers are finite.

    Lone surrogates, and what could steer a terminal or split the line, are ``\uXXXX``, and read back the
    same.
    """
    return escape_json(json.dumps(data, ensure_ascii=False, allow_nan=False))


def read_json_object(text: str, decoder: json.JSONDecoder = _STRICT) -> dict[str, Any]:
    """Read one JSON object by the letter of the standard.

    `NoObjectError` is raised if `text` is no JSON (NaN and Infinity are none), no object, or an object with a
    key twice.
    """
    try:
        data = decoder.decode(text)
    except NoObjectError:
        raise
    except json.JSONDecodeError as error:
        where = f"column {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}"
        raise NoObjectError(f"expected a JSON object, got invalid JSON at {where}") from error
    except (ValueError, RecursionError) as error:
        raise NoObjectError("expected a JSON object, got too large a number or too deep a nesting") from error
    if not isinstance(data, dict):
        raise NoObjectError(f"expected a JSON object, got {json_kind(data)}")
    return data


def read_json_lines(path: str, faults: FaultList) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number (from 1) and object of a file of one JSON object a line; blank lines are passed over.

    Lines that are no object (code ``json``) or no UTF-8, and damaged compressed data, are added to `faults`.
    """
    for number, text in read_text_lines(path, faults):
        if text.strip() and (data := json_object(number, text, faults, _STRICT)) is not None:
            yield number, data


class IdRegister:
    """Ids of one file: each well formed, each once, or reported as a fault.

    `kind` is what they are of, for messages: ``docno``, ``topic``.
    """

    def __init__(self, kind: str, faults: FaultList) -> None:
        self._kind = kind
        self._faults = faults
        self._line_of: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._line_of)

    def __iter__(self) -> Iterator[str]:
        return iter(self._line_of)

    def add(self, line: int, text: str, message: str | None) -> None:
        """Register an id; `message` says what is wrong with it as such, if anything is."""
        if message:
            self._faults.add(line, message, "id")
        elif (first := self._line_of.get(text)) is not None:
            self._faults.add(
                line, f"expected each {self._kind} once, got `{text}`, which line {first} has", "duplicate"
            )
        else:
            self._line_of[text] = line


def read_texts(
    lines: Iterable[tuple[int, str]],
    id_keys: Sequence[str],
    fields: Mapping[str, Sequence[str]],
    faults: FaultList,
) -> Iterator[tuple[int, str, dict[str, str | None], dict[str, Any], int]]:
    """Yield line number, id, texts by field, what else there is, and the number of faults before it.

    Of objects with an id. An id, and the text of each field, is the first value that there is under one of
    its keys, in the object itself before its object ``metadata``.
    """
    columns = {"": id_keys, **fields}
    for number, line in lines:
        n_faults = len(faults)
        record = json_object(number, line, faults) if line.strip() else None
        if record is None:
            continue
        more = record.pop("metadata") if isinstance(record.get("metadata"), dict) else {}
        texts: dict[str, str | None] = {}
        for name, keys in columns.items():
            value = None
            for place, key in product((record, more), keys):
                if (value := place.get(key)) is not None:
                    break
            if value is not None:
                del place[key]
            if value is None or isinstance(value, str):
                texts[name] = value
            elif not name and isinstance(value, int) and not isinstance(value, bool):
                texts[name] = str(value)
            else:
                wanted = "text" if name else "text or an integer"
                faults.add(number, f"expected {wanted} in `{key}`, got {json_kind(value)}", "type")
                texts[name] = None
            if not name and value is None:
                faults.add(number, f"expected an id in `{'`, `'.join(keys)}`, got none", "missing")
        text_id = texts.pop("")
        if text_id is not None:
            yield number, text_id, texts, {**more, **record}, n_faults


def json_object(
    line: int, text: str, faults: FaultList, decoder: json.JSONDecoder = _TEXTS
) -> dict[str, Any] | None:
    """Read a line that must be a JSON object; on a fault, report it and return ``None``."""
    try:
        return read_json_object(text, decoder)
    except NoObjectError as error:
        faults.add(line, str(error), "json")
        return None


def json_kind(value: object) -> str:
    """Return what a JSON value is, for messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an array" if isinstance(value, list) else "an object"
