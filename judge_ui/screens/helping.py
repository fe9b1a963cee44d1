"""The page of every key that works where it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from judge_ui.keys import EXPLANATIONS, SCROLLING, Command, KeyTable
from judge_ui.messages import grade_keys
from judge_ui.screens.reading import ReadingScreen
from judge_ui.widgets.leaf import Leaf, strong
from judge_ui.widgets.wrapping import cell_width, pad, wrap
from store.records import Scale

_COLUMN = 14
"""Width of the keys, in cells; longer ones have a line of their own."""

_ABOUT = (
    "Every decision is written before the next document appears.",
    "A grade key that comes too soon after a document appears is dropped.",
    "Not judged, skipped, impossible to judge, and the lowest grade: four things.",
    "Words of the topic are reversed in the document: a help for the eye, no more.",
)

Entry = tuple[str, str]
"""Keys, and what they do."""


def help_screen(keys: KeyTable, scale: Scale) -> ReadingScreen:
    """Make the page of the keys of the judging screen."""
    return _screen(partial(help_leaf, keys, scale), keys)


def inbox_help(keys: KeyTable, commands: Sequence[Command]) -> ReadingScreen:
    """Make the page of the keys of the list of topics."""
    entries = [("Enter", "open the topic"), *_commands(keys, commands)]

    def leaf(width: int) -> Leaf:
        moving = _section("Moving", _commands(keys, _scrolling()), width)
        return _section("Topics", entries, width) + moving

    return _screen(leaf, keys)


def list_help(keys: KeyTable, scale: Scale) -> ReadingScreen:
    """Make the page of the keys of the list of documents."""
    hits = f"{keys.name(Command.NEXT_HIT)}  {keys.name(Command.PREVIOUS_HIT)}"
    entries = [
        ("Enter", "go to the document"),
        ("Tab", "only those without a decision, with a grade, skipped, ..."),
        ("Shift+Tab", "the same backwards"),
        *((key, f"only those graded {name}") for key, name in grade_keys(keys, scale)),
        (keys.name(Command.SKIP), "only those skipped"),
        (keys.name(Command.CANNOT), "only those that cannot be judged"),
        (keys.name(Command.NOTE), "only those with a note"),
        (keys.name(Command.MARK), "only those with marked passages"),
        (keys.name(Command.FIND), "find a docno by a part of it"),
        (hits, "to the next such docno, to the one before"),
        (f"{keys.name(Command.LIST)}  Esc", "back to the document"),
        (keys.name(Command.HELP), EXPLANATIONS[Command.HELP]),
    ]
    about = 'A row has > for the document before you, * for a note, " for marked passages.'

    def leaf(width: int) -> Leaf:
        listing = _section("List of documents: nothing is decided here", entries, width)
        moving = _section("Moving", _commands(keys, _scrolling()), width)
        return listing + moving + Leaf(about)

    return _screen(leaf, keys)


def help_leaf(keys: KeyTable, scale: Scale, width: int = 80) -> Leaf:
    """Write every key of the judging screen and what it does, for a width in cells."""
    commands = [command for command in EXPLANATIONS if command not in SCROLLING]
    grades = grade_keys(keys, scale)
    leaf = _section("Grades: saved at once, then the next document", grades, width)
    leaf += _section("Commands", _commands(keys, commands), width)
    leaf += _section("Scrolling", _commands(keys, _scrolling()), width)
    leaf += strong("Good to know")
    return leaf + Leaf("".join(f"\n  {_hanging(line, '  ', width)}" for line in _ABOUT))


def _screen(leaf: Callable[[int], Leaf], keys: KeyTable) -> ReadingScreen:
    """Make a page of keys."""
    return ReadingScreen("Keys", leaf, keys, [Command.HELP])


def _scrolling() -> list[Command]:
    """Return the commands that scroll, in order."""
    return [command for command in EXPLANATIONS if command in SCROLLING]


def _commands(keys: KeyTable, commands: Sequence[Command]) -> list[Entry]:
    """Write commands with all their keys."""
    return [("  ".join(keys.names(command)), EXPLANATIONS[command]) for command in commands]


def _section(heading: str, entries: Sequence[Entry], width: int) -> Leaf:
    """Write a heading and its entries, and a blank line after them."""
    leaf = strong(heading) + Leaf("\n")
    indent = " " * (_COLUMN + 2)
    for key, meaning in entries:
        apart = f"\n{indent}" if cell_width(key) > _COLUMN - 2 else ""
        name = strong(key if apart else pad(key, _COLUMN))
        leaf += Leaf("  ") + name + Leaf(f"{apart}{_hanging(meaning, indent, width)}\n")
    return leaf + Leaf("\n")


def _hanging(text: str, indent: str, width: int) -> str:
    """Break a text into lines, each but the first behind an indent."""
    spans = wrap(text, width - len(indent))
    return f"\n{indent}".join(text[start:end] for start, end in spans)
