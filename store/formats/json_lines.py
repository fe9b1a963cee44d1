"""JSON objects on one line each: text as it is, escaped only where it must be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from store.errors import FaultList
from store.formats.lines import read_text_lines
from store.sanitise import escape_json


class NoObjectError(ValueError):
    """A text is not one JSON object; the message says what it is."""


def json_line(data: Mapping[str, Any]) -> str:
    r"""Write an object of JSON values on one line, without line end.

    Parameters
    ----------
    data : mapping of str to JSON value
        Numbers are finite.

    Returns
    -------
    str
        Keys in the order given. Text stands as it is, but for what JSON escapes anyway, for
        characters that could steer a terminal or split the line, and for lone surrogates, which
        UTF-8 has no bytes for: these are ``\uXXXX``, and read back the same. A high surrogate with
        a low one behind it is the one character that they stand for in JSON.

    Examples
    --------
    >>> print(json_line({"note": "é \u202e\ud800", "grade": None}))
    {"note": "é \u202e\ud800", "grade": null}
    """
    return escape_json(json.dumps(data, ensure_ascii=False, allow_nan=False))


def read_json_object(text: str) -> dict[str, Any]:
    """Read one JSON object by the letter of the standard.

    Parameters
    ----------
    text : str
        A line.

    Returns
    -------
    dict of str to JSON value

    Raises
    ------
    NoObjectError
        If `text` is no JSON (NaN and Infinity are none), no object, or an object with a key twice.

    Examples
    --------
    >>> read_json_object('{"grade": 2}')
    {'grade': 2}
    >>> read_json_object('{"grade": 2, "grade": 3}')
    Traceback (most recent call last):
        ...
    store.formats.json_lines.NoObjectError: expected each key once, got `grade` twice
    """
    try:
        data = _DECODER.decode(text)
    except NoObjectError:
        raise
    except json.JSONDecodeError as error:
        message = f"expected a JSON object, got: {error.msg} at column {error.colno}"
        raise NoObjectError(message) from error
    except (ValueError, RecursionError) as error:
        message = "expected a JSON object, got a number or a nesting beyond all bounds"
        raise NoObjectError(message) from error
    if not isinstance(data, dict):
        message = f"expected a JSON object, got {_kind_of(data)}"
        raise NoObjectError(message)
    return data


def read_json_lines(path: str, faults: FaultList) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read a file of one JSON object a line; blank lines are passed over.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input; compression is seen through.
    faults : FaultList
        Where lines that are no object (code ``json``) or no UTF-8, and damaged compressed data are
        told.

    Yields
    ------
    line : int
        Line number from 1.
    data : dict of str to JSON value

    Raises
    ------
    PoolerError
        If the file cannot be opened.
    """
    for number, text in read_text_lines(path, faults):
        if not text or text.isspace():
            continue
        try:
            yield number, read_json_object(text)
        except NoObjectError as error:
            faults.add(number, str(error), "json")


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dict of the pairs of an object; raise `NoObjectError` when a key is there twice."""
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"expected each key once, got `{twice}` twice"
        raise NoObjectError(message)
    return data


def _no_constant(name: str) -> Any:
    """Refuse what Python reads and JSON has not."""
    message = f"expected a JSON object, got {name} in it"
    raise NoObjectError(message)


_DECODER = json.JSONDecoder(object_pairs_hook=once, parse_constant=_no_constant)


def _kind_of(data: Any) -> str:
    """Name a JSON value that is no object."""
    if isinstance(data, list):
        return "a list"
    return "text" if isinstance(data, str) else json.dumps(data)
