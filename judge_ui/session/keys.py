"""Which key does what: grade keys of the declared scale, commands, and the judge's own keymap.

A keymap is a TOML file, or one of those that come with the program

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

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from store.errors import ArgumentError, FaultList, nearest
from store.formats.lines import is_regular_file
from store.formats.scale import read_toml
from store.records import Scale
from store.text import sanitise_line

REASONS = (("1", "unreadable"), ("2", "wrong language"), ("3", "text missing"), ("4", "other"))
"""One-key reasons why a document cannot be judged; the last one asks for words."""

OTHER_REASON = REASONS[-1][0]


class Command(StrEnum):
    """What a key can do besides giving a grade: its name, what it does, and its keys, the best first.

    No two commands share a key. A grade key of a scale is one character, so the last is free whatever the
    scale. The second letter belongs to no other command: x crosses out, i is impossible, m a memo, z undoes
    as in an editor, f and r go forward and return, o opens the topic.
    """

    explanation: str
    keys: tuple[str, ...]

    def __new__(cls, name: str, explanation: str, *keys: str) -> Self:
        """Make a command that is known by its name."""
        command = str.__new__(cls, name)
        command._value_ = name
        command.explanation, command.keys = explanation, keys
        return command

    UNDO = ("undo", "take back the latest event and go to its document", "u", "z", "f2")
    SKIP = ("skip", "leave for later", "s", "x", "f5")
    CANNOT = ("can't", "cannot be judged; asks why", "c", "i", "f6")
    NOTE = ("note", "write or change a note", "e", "m", "f4")
    NOTE_BEFORE = ("note before", "a note on the document just decided", "E", "M", "ctrl+d")
    NEXT = ("next", "next document, nothing decided", "n", "f", "f8")
    PREVIOUS = ("previous", "previous document", "p", "r", "f7")
    TOPIC = ("topic", "the whole topic", "t", "o", "f9")
    LIST = ("list", "the documents of the topic, to go to one", "l", "ctrl+l")
    GUIDELINES = ("guidelines", "the guidelines for judging", "h", "f1")
    FIND = ("find", "find words in the document", "/", "ctrl+f")
    NEXT_HIT = ("next hit", "to the next word found or highlighted", "]", "ctrl+n")
    PREVIOUS_HIT = ("previous hit", "to the one before", "[", "ctrl+b")
    TERMS = ("terms", "words of your own to highlight in this topic", "w", "ctrl+t")
    LIT = ("lit", "which words are lit up: all, the topic's, your own, none", "a", "ctrl+g")
    MARK = ("mark", "mark passages as evidence", "v", "ctrl+e")
    RAW = ("raw", "a document with markup as it came, or as it is read", "<", "ctrl+u")
    REDO = ("redo", "do again what was undone", "ctrl+r", "f12")
    HISTORY = ("history", "what was decided in this sitting", "y", "ctrl+y")
    HELP = ("help", "this page", "?", "f3")
    PALETTE = ("palette", "every command by its name", "ctrl+p")
    INBOX = ("topics", "back to the topics", "escape")
    QUIT = ("quit", "quit; everything is saved already", "q", "f10")
    LINE_DOWN = ("line down", "scroll down a line", "j", "down")
    LINE_UP = ("line up", "scroll up a line", "k", "up")
    PAGE_DOWN = ("page down", "scroll down a page", " ", "pagedown")
    PAGE_UP = ("page up", "scroll up a page", "b", "pageup")
    TOP = ("top", "start of the document", "g", "home")
    BOTTOM = ("bottom", "end of the document", "G", "end")


SCROLLING = (
    *(Command.LINE_DOWN, Command.LINE_UP, Command.PAGE_DOWN, Command.PAGE_UP),
    *(Command.TOP, Command.BOTTOM),
)
"""Commands that move the text and nothing else."""


def steps(command: Command, page: int, whole: int = 0) -> int:
    """Return by how many lines, or rows, a command moves down that scrolls; `whole`: to either end."""
    down = {Command.LINE_DOWN: 1, Command.PAGE_DOWN: page, Command.BOTTOM: whole}
    up = {Command.LINE_UP: -1, Command.PAGE_UP: -page, Command.TOP: -whole}
    return (down | up)[command]


_SPARE = (
    *("f11", "insert", "delete", "left", "right"),
    *(f"f{number}" for number in range(13, 25)),
    *(f"ctrl+{letter}" for letter in "agkosuvwxz"),
)
"""Keys of no command, for one whose own keys a keymap gives to others."""

FIXED: Mapping[str, Command] = {
    "escape": Command.INBOX,
    "ctrl+q": Command.QUIT,
    "ctrl+c": Command.QUIT,
    "ctrl+p": Command.PALETTE,
}
"""Keys that no scale and no keymap can take: there is always a way out and a way to the rest."""

_ALSO: Mapping[str, Command] = {
    "backspace": Command.UNDO,
    "f1": Command.GUIDELINES,
    "down": Command.LINE_DOWN,
    "up": Command.LINE_UP,
    "pagedown": Command.PAGE_DOWN,
    "pageup": Command.PAGE_UP,
    "home": Command.TOP,
    "end": Command.BOTTOM,
}
"""Keys with a meaning of their own beside the best one, unless a keymap gives them another."""

_NAMES = {" ": "space", "pagedown": "PgDn", "pageup": "PgUp", "escape": "Esc"}


@dataclass(frozen=True, slots=True)
class Keymap:
    """Keys that a judge has chosen; read and checked by `judge_ui.session.keys.read_keymap`."""

    grades: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Keys by grade value, the best first; a value without an entry has the key of the scale."""
    commands: Mapping[Command, tuple[str, ...]] = field(default_factory=dict)
    """Keys by command, the best first; a command without an entry has its usual keys."""


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of one scale; made by `key_table`."""

    grades: Mapping[str, int]
    """Grade value by character, or by name for a key that types none; a letter grades in either
    case."""
    commands: Mapping[str, Command]
    """Command by character, or by name for a key that types none."""
    best: Mapping[Command, str]
    """The key of each command that is shown to the judge."""
    of_grade: Mapping[int, tuple[str, ...]]
    """The keys of each grade value as they were declared; the first is shown to the judge."""

    def meaning(self, key: str, character: str | None = None) -> int | Command | None:
        """Return what a key means: a grade value, a command, or nothing; `character`: what it types, if any.

        A full-width character, as a Japanese input method sends it, means what the ASCII one does. No other
        look-alike is accepted: ``²`` is a key of its own on French keyboards. With Alt no key means anything:
        a terminal sends Escape and the character, as does a slow line that tears a sequence apart.
        """
        if key.startswith("alt+"):
            return None
        for name in (character or key, half_width(character or key), key):
            if name in self.grades:
                return self.grades[name]
            if name in self.commands:
                return self.commands[name]
        return None

    def name(self, command: Command) -> str:
        """Name the key of a command for people."""
        return key_name(self.best[command])

    def names(self, command: Command) -> list[str]:
        """Name every key of a command for people, the best first."""
        keys = [key for key, meant in self.commands.items() if meant is command]
        best = self.best[command]
        return [key_name(key) for key in sorted(keys, key=lambda key: (key != best, len(key)))]

    def grade_name(self, value: int) -> str:
        """Name the key of a grade for people."""
        return key_name(self.of_grade[value][0])


def key_table(scale: Scale, keymap: Keymap | None = None) -> KeyTable:
    """Lay out the keys of a scale.

    `ArgumentError`: a grade has no key, or the keymap leaves none for a command.

    A grade key wins over a command key, and a key of the keymap over both: the command moves to another
    letter, or from there to a function key. A letter is a grade in either case, unless both are declared, so
    that Caps Lock makes no command of a grade.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> table = key_table(parse_scale("ntcir"))
    >>> table.meaning("s"), table.meaning("S"), table.name(Command.SKIP)
    (3, 3, 'x')
    >>> key_table(parse_scale("0-3")).meaning("２")
    2
    >>> table = key_table(parse_scale("0-3"), Keymap({3: ("d", "f9")}, {Command.UNDO: ("n",)}))
    >>> table.meaning("f9"), table.meaning("3"), table.name(Command.NEXT)
    (3, None, 'f')
    """
    chosen = keymap or Keymap()
    grade_keys = keys_of_grades(scale, chosen)
    if keyless := [value for value, keys in grade_keys.items() if not keys]:
        raise ArgumentError("scale", keyless_grades(keyless), None, hint=_KEYLESS_HINT)
    declared = {key: value for value, keys in grade_keys.items() for key in keys}
    grades = {key.swapcase(): value for key, value in declared.items() if has_two_cases(key)}
    grades |= declared
    commands = {key: command for command, keys in chosen.commands.items() for key in keys}
    best = {command: keys[0] for command, keys in chosen.commands.items()}
    taken = grades.keys() | commands.keys()
    for command in [command for command in Command if command not in best]:
        key = next((key for key in command.keys if key not in taken), None)
        if key is not None:
            best[command] = key
            commands[key] = command
    always = {key: command for key, command in _ALSO.items() if key not in taken}
    commands = always | commands | dict(FIXED)
    for command in [command for command in Command if command not in best]:
        spare = (*_SPARE, *(key for one in Command for key in one.keys))
        key = next((key for key in spare if key not in grades and key not in commands), None)
        if key is None:
            raise ArgumentError("keymap", f"must leave a key for {command}, or give it one", None)
        best[command] = key
        commands[key] = command
    return KeyTable(grades, commands, best, grade_keys)


def keys_of_grades(scale: Scale, keymap: Keymap) -> dict[int, tuple[str, ...]]:
    """Return the keys of every grade, the best first: of the keymap, else of the scale."""
    own = {grade.value: (grade.key,) if grade.key else () for grade in scale.grades}
    return {value: keymap.grades.get(value, keys) for value, keys in own.items()}


_KEYLESS_HINT = '`--keymap FILE.toml` with a line such as 10 = "a" under [grades]'


def keyless_grades(values: Collection[int]) -> str:
    """Return the message that grades need keys."""
    listed = ", ".join(map(str, values))
    which = f"grade {listed} has" if len(values) == 1 else f"grades {listed} have"
    return f"needs a key declared for each grade that has no digit; {which} none"


def has_two_cases(key: str) -> bool:
    """Return whether a key is a letter with one other case, which leads back to it."""
    other = key.swapcase()
    return len(key) == len(other) == 1 and other != key and other.swapcase() == key


def key_name(key: str) -> str:
    """Name a key for people."""
    if key in _NAMES:
        return _NAMES[key]
    return key if len(key) == 1 or "+" in key else key.capitalize()


def key_of(name: str) -> str:
    """Return the key of a hint, the first of several; empty = it is none.

    Examples
    --------
    >>> key_of("n/p"), key_of("/"), key_of("Esc"), key_of("[2] relevant"), key_of("h or Esc"), key_of("saved")
    ('n', '/', 'escape', '2', 'h', '')
    """
    first = (
        name[1:].partition("]")[0] if name.startswith("[") and "]" in name[2:] else name.partition(" or ")[0]
    )
    if len(first) > 2 and first[1] == "/":
        first = first[0]
    if len(first) == 1:
        return first
    named = {value: key for key, value in _NAMES.items()}
    known = re.fullmatch(r"F\d+|Enter|Tab|Backspace|[a-z]+\+.+", first)
    return named.get(first) or (first.lower() if known else "")


def half_width(character: str) -> str:
    """Return the ASCII character of a full-width one, else the character itself."""
    code = ord(character) if len(character) == 1 else 0
    if 0xFF01 <= code <= 0xFF5E:
        return chr(code - 0xFEE0)
    return " " if code == 0x3000 else character


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
    """
    faults = FaultList(sanitise_line(name))
    if name in PRESETS:
        keymap = PRESETS[name](scale)
    elif is_regular_file(name):
        keymap = _read(read_toml(name), scale, faults)
    else:
        requirement = f"must be one of {', '.join(PRESETS)}, or a TOML file that can be read"
        raise ArgumentError("keymap", requirement, sanitise_line(name))
    _check(keymap, scale, faults)
    faults.raise_if_any()
    return keymap


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
    """Return the name of a command in a keymap."""
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
