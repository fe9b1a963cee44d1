"""Which key does what: grade keys of the declared scale, and commands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from string import ascii_lowercase
from typing import Self

from store.errors import ArgumentError
from store.records import Scale

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


FIXED: Mapping[str, Command] = {
    "escape": Command.INBOX,
    "ctrl+q": Command.QUIT,
    "ctrl+c": Command.QUIT,
    "ctrl+p": Command.PALETTE,
}
"""Keys that no scale can take: there is always a way out and a way to the rest."""

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
"""Keys with a meaning of their own beside the best one."""

_NAMES = {" ": "space", "pagedown": "PgDn", "pageup": "PgUp", "escape": "Esc"}


@dataclass(frozen=True, slots=True)
class KeyTable:
    """The keys of one scale; made by `key_table`."""

    grades: Mapping[str, int]
    """Grade value by character; a letter grades in either case."""
    commands: Mapping[str, Command]
    """Command by character, or by name for a key that types none."""
    best: Mapping[Command, str]
    """The key of each command that is shown to the judge."""
    of_grade: Mapping[int, str]
    """The key of each grade value."""

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
        return key_name(self.of_grade[value])


def key_table(scale: Scale) -> KeyTable:
    """Lay out the keys of a scale.

    A grade without a key of its own, as 10 is, has the first letter that is free. A grade key wins over a
    command key: the command moves to another letter, or from there to a function key. A letter is a grade in
    either case, unless both are declared, so that Caps Lock makes no command of a grade.

    Examples
    --------
    >>> from store.formats.scale import parse_scale
    >>> table = key_table(parse_scale("ntcir"))
    >>> table.meaning("s"), table.meaning("S"), table.name(Command.SKIP)
    (3, 3, 'x')
    >>> table = key_table(parse_scale("0-10"))
    >>> table.meaning("２"), table.meaning("a")
    (2, 10)
    """
    taken = {grade.key.lower() for grade in scale.grades}
    spare = iter([letter for letter in ascii_lowercase if letter not in taken])
    of_grade = {grade.value: grade.key or next(spare, "") for grade in scale.grades}
    if "" in of_grade.values():
        requirement = "must declare a key for each grade: there are more grades than digits and letters"
        raise ArgumentError("scale", requirement, None)
    declared = {key: value for value, key in of_grade.items()}
    grades = {key.swapcase(): value for key, value in declared.items() if has_two_cases(key)} | declared
    # The last key of a command is no character, so no scale takes it.
    best = {command: next(key for key in command.keys if key not in grades) for command in Command}
    commands = {key: command for key, command in _ALSO.items() if key not in grades}
    commands |= {key: command for command, key in best.items()} | dict(FIXED)
    return KeyTable(grades, commands, best, of_grade)


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
