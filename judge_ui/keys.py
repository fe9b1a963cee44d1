"""Which key does what: the grade keys of the declared scale, and the commands around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from store.records import Scale

REASONS = (
    ("1", "unreadable"),
    ("2", "wrong language"),
    ("3", "text missing"),
    ("4", "other"),
)
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
    INBOX = "inbox"
    QUIT = "quit"
    LINE_DOWN = "line down"
    LINE_UP = "line up"
    PAGE_DOWN = "page down"
    PAGE_UP = "page up"
    TOP = "top"
    BOTTOM = "bottom"


SCROLLING = frozenset(
    {
        Command.LINE_DOWN,
        Command.LINE_UP,
        Command.PAGE_DOWN,
        Command.PAGE_UP,
        Command.TOP,
        Command.BOTTOM,
    }
)
"""Commands that move the text and nothing else."""

EXPLANATIONS: Mapping[Command, str] = {
    Command.UNDO: "take back the latest event and go to its document",
    Command.SKIP: "leave for later",
    Command.CANNOT: "cannot be judged; asks why",
    Command.NOTE: "write or change a note",
    Command.NEXT: "next document, nothing decided",
    Command.PREVIOUS: "previous document",
    Command.TOPIC: "the whole topic",
    Command.HELP: "this page",
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
"""Keys of a command, the best first; a grade key is one character, so the last is always free.

The second letter belongs to no other command: x crosses out, i is impossible, m a memo, z undoes
as in an editor, f and r go forward and return, o opens the topic.
"""

_ALWAYS: Mapping[str, Command] = {
    "backspace": Command.UNDO,
    "ctrl+q": Command.QUIT,
    "ctrl+c": Command.QUIT,
    "down": Command.LINE_DOWN,
    "up": Command.LINE_UP,
    "pagedown": Command.PAGE_DOWN,
    "pageup": Command.PAGE_UP,
    "home": Command.TOP,
    "end": Command.BOTTOM,
}

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

    def meaning(self, key: str, character: str | None = None) -> int | Command | None:
        """Say what a key means: a grade value, a command, or nothing.

        Parameters
        ----------
        key : str
            Name of the key; a character, or a word such as ``pagedown``.
        character : str, optional
            What the key types, if anything.

        Notes
        -----
        A full-width character, as a Japanese input method sends it, means what the ASCII one does.
        No other look-alike is accepted: ``²`` is a key of its own on French keyboards.
        """
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


def key_table(scale: Scale) -> KeyTable:
    """Lay out the keys of a scale.

    A grade key wins over a command key: the command moves to another letter, or from there to a
    function key. A letter is a grade in either case, unless the scale declares both, so that Caps
    Lock makes no command of a grade.

    Examples
    --------
    >>> from store.scale import parse_scale
    >>> table = key_table(parse_scale("ntcir"))
    >>> table.meaning("s"), table.meaning("S"), table.name(Command.SKIP)
    (3, 3, 'x')
    >>> key_table(parse_scale("0-3")).meaning("２")
    2
    """
    declared = {grade.key: grade.value for grade in scale.grades}
    grades = {key.swapcase(): value for key, value in declared.items() if _has_two_cases(key)}
    grades |= declared
    commands: dict[str, Command] = {}
    best: dict[Command, str] = {}
    for command, candidates in _CANDIDATES.items():
        key = next(key for key in candidates if key not in grades)
        best[command] = key
        commands[key] = command
    return KeyTable(grades, commands | dict(_ALWAYS), best)


def _has_two_cases(key: str) -> bool:
    """Say whether a key is a letter with one other case, which leads back to it."""
    other = key.swapcase()
    return len(other) == 1 and other != key and other.swapcase() == key


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
