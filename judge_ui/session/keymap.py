"""Keymaps: the judge's own keys, from a TOML file or one of those that come with the program.

::

    preset = "azerty"            # optional: what the lines below change

    [grades]                     # grade value = a key, or several; the first is shown
    "0" = "a"
    "10" = ["0", "f9"]

    [commands]
    undo = ["z", "f2"]
    next-hit = ";"
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from judge_ui.session.keys import (
    FIXED,
    Command,
    Keymap,
    half_width,
    has_two_cases,
    key_name,
    keyless_grades,
    keys_of_grades,
)
from store.errors import ArgumentError, Fault, FaultList, FormatError, nearest
from store.records import Scale
from store.text import sanitise_line

_SECTIONS = ("preset", "grades", "commands")

_PLAIN_KEYS = ("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "delete")
NAMED_KEYS = frozenset(
    {
        "backspace",
        "insert",
        *_PLAIN_KEYS,
        *(f"shift+{key}" for key in _PLAIN_KEYS),
        *(f"ctrl+{key}" for key in _PLAIN_KEYS),
        *(f"ctrl+shift+{key}" for key in _PLAIN_KEYS),
        *(f"f{number}" for number in range(1, 25)),
        *(f"ctrl+f{number}" for number in range(1, 13)),
        *(f"ctrl+{letter}" for letter in "abdefgjklnorstuvwxyz"),
    }
)
"""Keys that type no character and reach a program in every terminal that has them."""

_OTHER_NAMES = {
    "bksp": "backspace",
    "del": "delete",
    "esc": "escape",
    "ins": "insert",
    "page down": "pagedown",
    "page up": "pageup",
    "pgdn": "pagedown",
    "pgup": "pageup",
    "return": "enter",
    "space": " ",
}
_SAME_BYTE = {"ctrl+[": "Escape", "ctrl+h": "Backspace", "ctrl+i": "Tab", "ctrl+m": "Enter"}
_TAKEN = {
    "enter": "Enter answers questions and opens topics",
    "tab": "Tab moves between fields",
    "shift+tab": "Tab moves between fields",
}
_FIXED_WORDS = {Command.INBOX: "goes back", Command.QUIT: "quits", Command.PALETTE: "opens the palette"}

_AZERTY = ("à0", "&1", "é2", '"3', "'4", "(5", "-§6", "è7", "_!8", "ç9")
"""What the keys of the digits type without Shift, in France and in Belgium, and the digits."""


def read_keymap(name: str, scale: Scale) -> Keymap:
    """Read a keymap, one of `PRESETS` or a TOML file, and check it against the grades that need keys.

    `ArgumentError`: no such file, or a preset that does not suit the scale. `FormatError`: a key with two
    meanings, an unknown grade or command, a key that never reaches a program, a grade left without a key; all
    faults at once.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> keymap = read_keymap("home-row", parse_scale("0-3"))
    >>> keymap.grades[1]
    ('s', '1')
    """
    faults = FaultList(sanitise_line(name))
    keymap = PRESETS[name](scale) if name in PRESETS else _read(_toml(name), scale, faults)
    _check(keymap, scale, faults)
    faults.raise_if_any()
    return keymap


def _toml(path: str) -> dict[str, Any]:
    file = sanitise_line(path)
    try:
        return tomllib.loads(Path(path).read_text("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(file, [Fault(None, f"expected TOML, got: {error}")]) from error
    except (OSError, ValueError) as error:
        requirement = f"must be one of {', '.join(PRESETS)}, or a TOML file that can be read"
        raise ArgumentError("keymap", requirement, file) from error


def _read(data: Mapping[str, Any], scale: Scale, faults: FaultList) -> Keymap:
    for section in data.keys() - set(_SECTIONS):
        listed = ", ".join(_SECTIONS)
        faults.add(None, f"unknown section `{sanitise_line(section)}`; known: {listed}")
    base = _base(data.get("preset"), scale, faults)
    grades, commands = dict(base.grades), dict(base.commands)
    values = {str(value): value for value in scale.values}
    for name, keys in _section(data, "grades", faults):
        if name not in values:
            faults.add(None, _unknown("grade", name, values))
        elif read := _keys(f"grade {name}", keys, None, faults):
            grades[values[name]] = read
    seen: set[Command] = set()
    for name, keys in _section(data, "commands", faults):
        plain = name.lower().replace("_", "-").replace(" ", "-").replace("can't", "cannot")
        command = _COMMANDS.get(plain)
        if command is None:
            faults.add(None, _unknown("command", name, _COMMANDS))
        elif command in seen:
            faults.add(None, f"`{command_name(command)}` is there twice")
        elif read := _keys(f"`{command_name(command)}`", keys, command, faults):
            commands[command] = read
            seen.add(command)
    return Keymap(grades, commands)


def _base(name: object, scale: Scale, faults: FaultList) -> Keymap:
    if name is None:
        return Keymap()
    if isinstance(name, str) and name in PRESETS:
        try:
            return PRESETS[name](scale)
        except ArgumentError as error:
            faults.add(None, error.message)
    else:
        faults.add(None, f"`preset` must be one of {', '.join(PRESETS)}, but got {name!r}")
    return Keymap()


def _section(data: Mapping[str, Any], name: str, faults: FaultList) -> list[tuple[str, object]]:
    section = data.get(name, {})
    if isinstance(section, dict):
        return list(section.items())
    faults.add(None, f"expected [{name}] to be a table of keys, got {section!r}")
    return []


def _unknown(kind: str, name: str, known: Mapping[str, object]) -> str:
    listed = ", ".join(f"`{item}`" for item in nearest(name, known))
    return f"unknown {kind} `{sanitise_line(name)}`; known: {listed}"


def _keys(what: str, given: object, command: Command | None, faults: FaultList) -> tuple[str, ...]:
    """Read a key or several; empty when one is at fault."""
    listed: list[Any] = given if isinstance(given, list) else [given]
    if not listed or not all(isinstance(one, str) and one for one in listed):
        faults.add(None, f"{what}: expected a key or a list of keys, got {given!r}")
        return ()
    keys: dict[str, None] = {}
    before = len(faults)
    for text in listed:
        key, trouble = _parse(text)
        fixed = FIXED.get(key)
        if not trouble and fixed is not None and fixed is not command:
            trouble = f"always {_FIXED_WORDS[fixed]}"
        if trouble:
            faults.add(None, f"{what}: key `{sanitise_line(text)}` {trouble}")
        keys[key] = None
    return tuple(keys) if len(faults) == before else ()


def _parse(text: str) -> tuple[str, str]:
    """Return the name that a key has to the program, and why it can be no key, if so.

    A full-width character is the ASCII one: `KeyTable.meaning` finds either.
    """
    if len(text) == 1:
        key = half_width(text)
        if key == " " or (key.isprintable() and not unicodedata.combining(key)):
            return key, ""
        return key, "cannot be typed or cannot be seen: expected a character or the name of a key"
    name = text.lower().strip().replace("control", "ctrl")
    *modifiers, last = name.split("+") if not name.endswith("+") else [*name[:-2].split("+"), "+"]
    last = _OTHER_NAMES.get(last, last)
    ordered = sorted(set(filter(None, modifiers)))
    key = "+".join([*ordered, last])
    if key in NAMED_KEYS or key in FIXED or key == " ":
        return key, ""
    return key, _why_not(key, ordered, last)


def _why_not(key: str, modifiers: list[str], last: str) -> str:
    if key in _SAME_BYTE:
        return f"is {_SAME_BYTE[key]} to a terminal: expected another"
    if key in _TAKEN:
        return f"is taken: {_TAKEN[key]}"
    if "alt" in modifiers or "meta" in modifiers:
        return "is Escape and a key to a terminal: expected one without Alt"
    if modifiers == ["shift"] and len(last) == 1:
        return f"never arrives: expected the character that it types, such as `{last.upper()}`"
    if modifiers == ["ctrl", "shift"] and len(last) == 1:
        return f"is `ctrl+{last}` to a terminal: expected another"
    if modifiers:
        return "never arrives: most terminals send nothing of its own for it"
    names = nearest(key, NAMED_KEYS | {"space"})
    return f"is unknown: expected a character, or a name such as `{'`, `'.join(names[:3])}`"


def _check(keymap: Keymap, scale: Scale, faults: FaultList) -> None:
    owners: dict[str, dict[str, None]] = {}
    grade_keys = keys_of_grades(scale, keymap)
    for value, keys in grade_keys.items():
        own = "" if value in keymap.grades else " (its key on the scale)"
        for key in keys:
            owners.setdefault(half_width(key), {})[f"grade {value}{own}"] = None
    graded = set(owners)
    for command, keys in keymap.commands.items():
        for key in keys:
            owners.setdefault(key, {})[f"`{command_name(command)}`"] = None
            other = key.swapcase()
            if has_two_cases(key) and key not in graded and other in graded:
                (grade,) = list(owners[other])[:1]
                faults.add(
                    None,
                    f"`{command_name(command)}`: key `{key}` differs from `{other}`, {grade}, only"
                    " by Caps Lock: expected another key",
                )
    for key, meanings in owners.items():
        if len(meanings) > 1:
            both = " and ".join(meanings)
            faults.add(None, f"key `{key_name(key)}` means {both}: expected one meaning per key")
    if keyless := [value for value, keys in grade_keys.items() if not keys]:
        faults.add(None, f"this scale {keyless_grades(keyless)}")


def command_name(command: Command) -> str:
    """Return the name of a command in a keymap.

    Examples
    --------
    >>> command_name(Command.NEXT_HIT), command_name(Command.CANNOT)
    ('next-hit', 'cannot')
    """
    return "cannot" if command is Command.CANNOT else command.value.replace(" ", "-")


_COMMANDS = {command_name(command): command for command in Command}


def _digit_grades(scale: Scale) -> dict[int, str]:
    return {grade.value: grade.key for grade in scale.grades if grade.key == str(grade.value)}


def _azerty(scale: Scale) -> Keymap:
    """Lay out the digit row without Shift, and the keys near Enter for the search."""
    digits = _digit_grades(scale)
    others = {grade.key for grade in scale.grades if grade.value not in digits}
    grades = {value: tuple(key for key in _AZERTY[value] if key not in others) for value in digits}
    commands = {Command.FIND: (":", "/"), Command.NEXT_HIT: (";", "]"), Command.PREVIOUS_HIT: (",", "[")}
    taken = others | {key for keys in grades.values() for key in keys}
    free = {command: tuple(key for key in keys if key not in taken) for command, keys in commands.items()}
    return Keymap(grades, {command: keys for command, keys in free.items() if keys})


def _home_row(scale: Scale, letters: str = "asdf") -> Keymap:
    """Lay out the lowest four grades on four letters: those under the left hand."""
    digits = _digit_grades(scale)
    return Keymap(
        {value: (key, *digits.get(value, "")) for value, key in zip(scale.values, letters, strict=False)}
    )


def _letters(scale: Scale) -> Keymap:
    """Lay out the letters of NTCIR, C for the lowest grade."""
    if len(scale.values) not in (3, 4):
        requirement = "`letters` needs a scale of three grades (C, B, A) or four (C, B, A, S)"
        raise ArgumentError("keymap", requirement, len(scale.values))
    return _home_row(scale, "cbas")


PRESETS: Mapping[str, Callable[[Scale], Keymap]] = {
    "azerty": _azerty,
    "home-row": _home_row,
    "letters": _letters,
}
"""Keymaps that come with the program."""
