"""What an answer of the line mode means: a key or a word, and what follows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from judge_ui.session.keys import REASONS, Command, KeyTable, half_width
from store.records import Scale
from store.text import sanitise_line


class AnswerLine(StrEnum):
    """What only the line mode has."""

    RETRY = "retry"


Act = Command | AnswerLine


class Use(NamedTuple):
    """How a command of the line mode is used."""

    word: str
    explanation: str
    example: str = ""
    """Of what may follow the word; empty = nothing may."""


_REASONS = ", ".join(f"{key} {reason}" for key, reason in REASONS)

USES: Mapping[Act, Use] = {
    Command.SKIP: Use("skip", Command.SKIP.explanation),
    Command.CANNOT: Use(
        "can't", f"cannot be judged; asks why, unless one of these follows: {_REASONS}", "c 2"
    ),
    Command.NOTE: Use("note", "write or change the note; - removes it", "note ask Ann"),
    Command.UNDO: Use("undo", Command.UNDO.explanation),
    Command.NEXT: Use("next", Command.NEXT.explanation),
    Command.FIND: Use(
        "find", "sentences with these words; by default, with the topic's words", "find bridge"
    ),
    AnswerLine.RETRY: Use("retry", "try again to save what could not be saved"),
    Command.HELP: Use("help", "these lines"),
    Command.QUIT: Use("quit", Command.QUIT.explanation),
}
"""Every command of the line mode in the order of the help."""

_FOLLOWED = frozenset(act for act, use in USES.items() if use.example)

_ALSO: Mapping[str, Act] = {"cannot": Command.CANNOT, "exit": Command.QUIT}


@dataclass(frozen=True, slots=True)
class TypedAnswer:
    """What was answered."""

    text: str
    """As it was typed."""
    meaning: int | Act | None
    """A grade value, a command, or nothing."""
    rest: str = ""
    """What follows the command, as it was typed."""


class Answers:
    """Reads answers as the keys and words of one scale.

    Examples
    --------
    >>> from judge_ui.session.keys import key_table
    >>> from store.formats.scale import parse_scale
    >>> scale = parse_scale("0-3")
    >>> answers = Answers(key_table(scale), scale)
    >>> answers.read("２").meaning, answers.read("SKIP").meaning
    (2, <Command.SKIP: 'skip'>)
    >>> answers.read("/ bridge").rest, answers.read("2 2").meaning
    ('bridge', None)
    """

    def __init__(self, keys: KeyTable, scale: Scale) -> None:
        self._keys = keys
        self._scale = scale
        self._words: dict[str, Act] = dict(_ALSO) | {use.word: act for act, use in USES.items()}

    def read(self, text: str) -> TypedAnswer:
        """Say what an answer means: a command by the whole of it, or by its first word where more may follow.

        Case does not matter, and letters may be full width. A grade is meant by its key or, where the value
        is no single character, by its value; never by a part of an answer.
        """
        text = text.strip()
        whole = self._meaning(text)
        if whole is not None:
            return TypedAnswer(text, whole)
        first, rest = (*text.split(maxsplit=1), "", "")[:2]
        meaning = self._meaning(first)
        if rest and meaning in _FOLLOWED:
            return TypedAnswer(text, meaning, rest)
        slash = self._keys.name(Command.FIND)
        if half_width(text[:1]) == slash and not slash.isalnum():
            return TypedAnswer(text, Command.FIND, text[1:].strip())
        return TypedAnswer(text, None)

    def name(self, act: Act) -> str:
        """Name what to type for a command: a character where one is free, else its word."""
        name = "" if isinstance(act, AnswerLine) else self._keys.name(act)
        return name if len(name) == 1 else USES[act].word

    @property
    def grades(self) -> list[tuple[str, str]]:
        """What to type for every grade, and its name: the value only where it is not typed."""
        entries = []
        for grade in self._scale.grades:
            keys = self._keys.of_grade[grade.value]
            key = sanitise_line(next((one for one in keys if len(one) == 1), keys[0]))
            label = sanitise_line(grade.label)
            entries.append((key, label if key == str(grade.value) else f"{grade.value} {label}"))
        return entries

    @property
    def grade_keys(self) -> str:
        """What to type for a grade, in short, as in ``grade 0-3``."""
        keys = [key for key, _ in self.grades]
        consecutive = "".join(keys) in "0123456789"
        return f"grade {keys[0]}-{keys[-1]}" if consecutive else f"grade {'/'.join(keys)}"

    def names(self, act: Act) -> str:
        """Name everything that means a command, as in ``s or skip``."""
        name, word = self.name(act), USES[act].word
        return word if name == word else f"{name} or {word}"

    def _meaning(self, text: str) -> int | Act | None:
        plain = _plain(text)
        if plain.lower() in self._words:
            return self._words[plain.lower()]
        meaning = self._keys.meaning(plain) if plain else None
        if meaning is None and len(plain) > 1:
            meaning = self._value(plain)
        return meaning

    def _value(self, text: str) -> int | None:
        values = {str(value): value for value in self._scale.values}
        return values.get(text)


def _plain(text: str) -> str:
    """Write full-width characters as those of ASCII, and every apostrophe alike."""
    return " ".join("".join(map(half_width, text)).replace("\u2019", "'").split())
