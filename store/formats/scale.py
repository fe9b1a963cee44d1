"""Scales of grades as words, ranges and TOML files; and TOML read with its faults.

A TOML file has ``[[grade]]`` tables of ``value``, ``label`` and ``key``, and optional ``relaxed`` and
``rigid``. The key of 0 to 9 is the digit, of -1 to -4 one of ``-xyz``; any other value has `NO_KEY` unless
the file declares one, and cannot be judged before a keymap does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from store.errors import ArgumentError, Fault, FaultList, FormatError
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, is_regular_file, open_bytes
from store.records import Grade, Scale


def read_toml(path: str) -> dict[str, Any]:
    """Read a TOML file; raise `FormatError` if it is none, or has nesting or numbers beyond all bounds."""
    try:
        with open_bytes(path) as file:
            read = tomllib.loads(file.read().removeprefix(BOM).decode())
    except (ValueError, RecursionError, DamagedDataError) as error:
        reason = "nesting that is too deep" if isinstance(error, RecursionError) else error
        raise FormatError(path, [Fault(None, f"expected TOML, got: {reason}")]) from error
    if any(not -(1 << 63) <= number < 1 << 63 for number in _integers(read)):
        message = "expected TOML, got: an integer of more than 64 bits"
        raise FormatError(path, [Fault(None, message)])
    return read


def _integers(value: object) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _integers(one)


_LARGEST = 999_999
"""Of any scale that is known; both engines and every format hold it."""
_RANGE = re.compile(r"(-?[0-9]{1,6})-(-?[0-9]{1,6})")
_LABELS: dict[int, tuple[str, ...]] = {
    2: ("not relevant", "relevant"),
    3: ("not relevant", "partially relevant", "relevant"),
    4: ("not relevant", "marginally relevant", "relevant", "highly relevant"),
}
_NEGATIVE_KEYS = "-xyz"
"""Keys of the grades -1 to -4: never a digit, which would name another grade."""

NO_KEY = ""
"""The key of a grade that no single key names, until a scale file or a keymap gives it one."""

_SCALE_HINT = "`--scale 0-2`, `--scale binary`, `--scale ntcir`, or `--scale FILE.toml`"


def parse_scale(text: str) -> Scale:
    """Read what `pooler init --scale` was given.

    ``LOW-HIGH``, ``binary``, ``ntcir`` (C, B, A, S), or the name of a TOML file. Relaxed is by default the
    least positive value and rigid the next above it: NTCIR's reading, rigid S, A; relaxed S, A, B.
    """
    if text == "binary":
        return _numbered(0, 1)
    if text == "ntcir":
        words = ("not relevant", "partially relevant", "relevant", "highly relevant")
        grades = tuple(
            Grade(value, f"{letter}: {label}", letter.lower())
            for value, (letter, label) in enumerate(zip("CBAS", words, strict=True))
        )
        return make_scale(grades)
    if match := _RANGE.fullmatch(text):
        low, high = int(match[1]), int(match[2])
        if not low < high <= low + 20:
            raise ArgumentError("scale", "must rise by 1 to 20 grades", text, hint=_SCALE_HINT)
        return _numbered(low, high)
    if not is_regular_file(text):
        requirement = "must be LOW-HIGH, binary, ntcir, or a TOML file that exists"
        raise ArgumentError("scale", requirement, text, hint=_SCALE_HINT)
    return _from_toml(text)


def make_scale(grades: tuple[Grade, ...], *, relaxed: int | None = None, rigid: int | None = None) -> Scale:
    """Make a scale of grades in any order; relaxed and rigid are by default the two least positive values.

    `ArgumentError` is raised if there are fewer than two grades, values or keys repeat (a key is one
    character that can be seen, or `NO_KEY`), or none is positive and `relaxed` is not given.
    """
    ordered = tuple(sorted(grades, key=lambda grade: grade.value))
    values = [grade.value for grade in ordered]
    keys = [grade.key for grade in ordered if grade.key != NO_KEY]
    if len(values) < 2 or len(set(values)) < len(values):
        raise ArgumentError("scale", "must have at least two grades, each once", values)
    usable = [key for key in {*keys} if len(key) == 1 and key.isprintable() and not key.isspace()]
    if len(usable) < len(keys):
        raise ArgumentError("scale", "must have a different one-character key a grade", keys)
    if not all(-_LARGEST <= value <= _LARGEST for value in values):
        requirement = f"must have grades from -{_LARGEST:,} to {_LARGEST:,}"
        raise ArgumentError("scale", requirement, None)
    positive = [value for value in values[1:] if value > 0]
    if relaxed is None:
        if not positive:
            raise ArgumentError("scale", "must have a positive grade, or name `relaxed`", values)
        relaxed = positive[0]
    if rigid is None:
        rigid = next((value for value in values if value > relaxed), None)
    for name, level in (("relaxed", relaxed), ("rigid", rigid)):
        if level is not None and level not in values[1:]:
            raise ArgumentError(name, f"must be one of {values[1:]}", level)
    if rigid is not None and rigid < relaxed:
        raise ArgumentError("rigid", f"must be at least relaxed ({relaxed})", rigid)
    return Scale(ordered, relaxed, rigid)


def scale_to_json(scale: Scale) -> dict[str, Any]:
    """Turn a scale into JSON values; `scale_from_json` reads them back."""
    return {
        "grades": [{"value": grade.value, "label": grade.label, "key": grade.key} for grade in scale.grades],
        "relaxed": scale.relaxed,
        "rigid": scale.rigid,
    }


def scale_from_json(data: Mapping[str, Any]) -> Scale:
    """Read what `scale_to_json` made."""
    grades = tuple(Grade(**grade) for grade in data["grades"])
    return Scale(grades, data["relaxed"], data["rigid"])


def _numbered(low: int, high: int) -> Scale:
    values = range(low, high + 1)
    words = _LABELS.get(len(values)) if low == 0 else None
    grades = tuple(
        Grade(value, words[index] if words else f"grade {value}", _key(value))
        for index, value in enumerate(values)
    )
    return make_scale(grades)


def _key(value: int) -> str:
    """Return the key of a small value, its digit or a letter for a negative one, else none."""
    if 0 <= value <= 9:
        return str(value)
    return _NEGATIVE_KEYS[-value - 1] if -len(_NEGATIVE_KEYS) <= value < 0 else NO_KEY


def _from_toml(path: str) -> Scale:
    data = read_toml(path)
    rows = data.get("grade")
    faults = FaultList(path)
    for key in data.keys() - {"grade", "relaxed", "rigid"}:
        faults.add(None, f"unknown key `{key}`; known: grade, relaxed, rigid")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        faults.add(None, "expected [[grade]] tables with `value` and `label`")
        rows = []
    grades = []
    for number, row in enumerate(rows, start=1):
        for key in row.keys() - {"value", "label", "key"}:
            faults.add(None, f"grade {number}: unknown key `{key}`; known: value, label, key")
        value, label = row.get("value"), row.get("label")
        key = row.get("key", _key(value) if isinstance(value, int) else NO_KEY)
        # bool is a kind of int in Python, and none in TOML.
        if not isinstance(value, int) or isinstance(value, bool):
            faults.add(None, f"grade {number}: expected an integer `value`, got {value!r}")
        elif not isinstance(label, str) or not label or not isinstance(key, str):
            faults.add(None, f"grade {number}: expected text for `label` and `key`")
        else:
            grades.append(Grade(value, label, key))
    levels: dict[str, int | None] = {"relaxed": None, "rigid": None}
    for name in levels:
        level = data.get(name)
        if level is not None and (not isinstance(level, int) or isinstance(level, bool)):
            faults.add(None, f"expected an integer for `{name}`, got {level!r}")
        else:
            levels[name] = level
    faults.raise_if_any()
    try:
        return make_scale(tuple(grades), relaxed=levels["relaxed"], rigid=levels["rigid"])
    except ArgumentError as error:
        raise FormatError(path, [Fault(None, error.message)]) from error


MOST_STEPS = 20
"""A scale rises by as many grades at most, as `store.formats.scale.parse_scale` has it."""


def scale_of_grades(grades: Collection[int]) -> Scale:
    """Return the scale of every integer from the lowest to the highest of some grades, none negative.

    A single grade is taken with those down to 0; 0 alone, or no grade at all, with 1. `ArgumentError` is
    raised if the grades lie too far apart to be one scale.
    """
    low, high = min(grades, default=0), max(grades, default=1)
    if low == high:
        low, high = 0, max(high, 1)
    if high - low > MOST_STEPS:
        hint = f"--scale FILE.toml declares the grades there are; --map {high}=N takes one as N"
        requirement = f"must be given: the grades go from {low} to {high}"
        raise ArgumentError("scale", requirement, None, hint=hint)
    return parse_scale(f"{low}-{high}")
