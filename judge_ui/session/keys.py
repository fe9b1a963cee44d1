"""Which key does what: the grade keys of the declared scale, and the commands around them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from store.errors import ArgumentError
from store.records import Scale

REASONS = (("1", "unreadable"), ("2", "wrong language"), ("3", "text missing"), ("4", "other"))
"""One-key reasons why a document cannot be judged; the last one asks for words."""

OTHER_REASON = REASONS[-1][0]


class Command(StrEnum):
    """What a key can do besides giving a grade."""

    UNDO = "undo"
    SKIP = "skip"
    CANNOT = "can't"
    NOTE = "note"
    NEXT = "next"
    PREVIOUS = "previous"
    TOPIC = "topic"
    HELP = "help"
    LIST = "list"
    GUIDELINES = "guidelines"
    FIND = "find"
    NEXT_HIT = "next hit"
    PREVIOUS_HIT = "previous hit"
    TERMS = "terms"
    MARK = "mark"
    REDO = "redo"
    HISTORY = "history"
    PALETTE = "palette"
    INBOX = "inbox"
    QUIT = "quit"
    LINE_DOWN = "line down"
    LINE_UP = "line up"
    PAGE_DOWN = "page down"
    PAGE_UP = "page up"
    TOP = "top"
    BOTTOM = "bottom"


SCROLLING = frozenset(
    {Command.LINE_DOWN, Command.LINE_UP, Command.PAGE_DOWN, Command.PAGE_UP, Command.TOP, Command.BOTTOM}
)
"""Commands that move the text and nothing else."""


def steps(command: Command, page: int, whole: int = 0) -> int:
    """Say by how many lines, or rows, a command moves down that scrolls; `whole`: to either end."""
    down = {Command.LINE_DOWN: 1, Command.PAGE_DOWN: page, Command.BOTTOM: whole}
    up = {Command.LINE_UP: -1, Command.PAGE_UP: -page, Command.TOP: -whole}
    return (down | up)[command]


EXPLANATIONS: Mapping[Command, str] = {
    Command.UNDO: "take back the latest event and go to its document",
    Command.SKIP: "leave for later",
    Command.CANNOT: "cannot be judged; asks why",
    Command.NOTE: "write or change a note",
    Command.NEXT: "next document, nothing decided",
    Command.PREVIOUS: "previous document",
    Command.TOPIC: "the whole topic",
    Command.LIST: "the documents of the topic, to go to one",
    Command.GUIDELINES: "the guidelines for judging",
    Command.FIND: "find words in the document",
    Command.NEXT_HIT: "to the next word found or highlighted",
    Command.PREVIOUS_HIT: "to the one before",
    Command.TERMS: "words of your own to highlight in this topic",
    Command.MARK: "mark passages as evidence",
    Command.REDO: "do again what was undone",
    Command.HISTORY: "what was decided in this sitting",
    Command.HELP: "this page",
    Command.PALETTE: "every command by its name",
    Command.INBOX: "back to the topics",
    Command.QUIT: "quit; everything is saved already",
    Command.LINE_DOWN: "scroll down a line",
    Command.LINE_UP: "scroll up a line",
    Command.PAGE_DOWN: "scroll down a page",
    Command.PAGE_UP: "scroll up a page",
    Command.TOP: "start of the document",
    Command.BOTTOM: "end of the document",
}

_CANDIDATES: Mapping[Command, tuple[str, ...]] = {
    Command.UNDO: ("u", "z", "f2"),
    Command.SKIP: ("s", "x", "f5"),
    Command.CANNOT: ("c", "i", "f6"),
    Command.NOTE: ("e", "m", "f4"),
    Command.NEXT: ("n", "f", "f8"),
    Command.PREVIOUS: ("p", "r", "f7"),
    Command.TOPIC: ("t", "o", "f9"),
    Command.LIST: ("l", "ctrl+l"),
    Command.GUIDELINES: ("h", "f1"),
    Command.FIND: ("/", "ctrl+f"),
    Command.NEXT_HIT: ("]", "ctrl+n"),
    Command.PREVIOUS_HIT: ("[", "ctrl+b"),
    Command.TERMS: ("w", "ctrl+t"),
    Command.MARK: ("v", "ctrl+e"),
    Command.REDO: ("ctrl+r", "f12"),
    Command.HISTORY: ("y", "ctrl+y"),
    Command.PALETTE: ("ctrl+p",),
    Command.HELP: ("?", "f3"),
    Command.INBOX: ("escape",),
    Command.QUIT: ("q", "f10"),
    Command.LINE_DOWN: ("j", "down"),
    Command.LINE_UP: ("k", "up"),
    Command.PAGE_DOWN: (" ", "pagedown"),
    Command.PAGE_UP: ("b", "pageup"),
    Command.TOP: ("g", "home"),
    Command.BOTTOM: ("G", "end"),
}
"""Keys of a command, the best first; no two commands share one.

A grade key of a scale is one character, so the last is free whatever the scale. The second letter
belongs to no other command: x crosses out, i is impossible, m a memo, z undoes as in an editor,
f and r go forward and return, o opens the topic.
"""

_SPARE = (
    *("f11", "insert", "delete", "left", "right"),
    *(f"f{number}" for number in range(13, 25)),
    *(f"ctrl+{letter}" for letter in "adgkosuvwxz"),
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
    """Keys that a judge has chosen; read and checked by `judge_ui.session.keymap.read_keymap`."""

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
        """Say what a key means: a grade value, a command, or nothing.

        `character` is what the key types, if anything.

        Notes
        -----
        A full-width character, as a Japanese input method sends it, means what the ASCII one does.
        No other look-alike is accepted: ``²`` is a key of its own on French keyboards. With Alt no
        key means anything: a terminal sends Escape and the character, and the rest of a sequence
        that a slow line tore apart looks the same.
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

    def grade_names(self, value: int) -> list[str]:
        """Name every key of a grade for people, the best first; a letter as it was declared."""
        return [key_name(key) for key in self.of_grade[value]]


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
    for command in [command for command in _CANDIDATES if command not in best]:
        key = next((key for key in _CANDIDATES[command] if key not in taken), None)
        if key is not None:
            best[command] = key
            commands[key] = command
    always = {key: command for key, command in _ALSO.items() if key not in taken}
    commands = always | commands | dict(FIXED)
    for command in [command for command in _CANDIDATES if command not in best]:
        best[command] = _spare_key(command, grades.keys() | commands.keys())
        commands[best[command]] = command
    return KeyTable(grades, commands, best, grade_keys)


def keys_of_grades(scale: Scale, keymap: Keymap) -> dict[int, tuple[str, ...]]:
    """Return the keys of every grade, the best first: of the keymap, else of the scale."""
    own = {grade.value: (grade.key,) if grade.key else () for grade in scale.grades}
    return {value: keymap.grades.get(value, keys) for value, keys in own.items()}


_KEYLESS_HINT = '`--keymap FILE.toml` with a line such as 10 = "a" under [grades]'


def keyless_grades(values: Collection[int]) -> str:
    """Say of grades that they need keys.

    Examples
    --------
    >>> keyless_grades([10, 11])
    'needs a key declared for each grade that has no digit; grades 10, 11 have none'
    """
    listed = ", ".join(map(str, values))
    which = f"grade {listed} has" if len(values) == 1 else f"grades {listed} have"
    return f"needs a key declared for each grade that has no digit; {which} none"


def _spare_key(command: Command, taken: Collection[str]) -> str:
    """Return a key that nothing has yet."""
    spare = (*_SPARE, *(key for keys in _CANDIDATES.values() for key in keys))
    key = next((key for key in spare if key not in taken), None)
    if key is None:
        raise ArgumentError("keymap", f"must leave a key for {command}, or give it one", None)
    return key


def has_two_cases(key: str) -> bool:
    """Say whether a key is a letter with one other case, which leads back to it."""
    other = key.swapcase()
    return len(key) == len(other) == 1 and other != key and other.swapcase() == key


def key_name(key: str) -> str:
    """Name a key for people.

    Examples
    --------
    >>> key_name(" "), key_name("pagedown"), key_name("f2"), key_name("u")
    ('space', 'PgDn', 'F2', 'u')
    """
    if key in _NAMES:
        return _NAMES[key]
    return key if len(key) == 1 or "+" in key else key.capitalize()


def half_width(character: str) -> str:
    """Return the ASCII character of a full-width one, else the character itself."""
    code = ord(character) if len(character) == 1 else 0
    if 0xFF01 <= code <= 0xFF5E:
        return chr(code - 0xFEE0)
    return " " if code == 0x3000 else character
