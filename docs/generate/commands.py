"""Every command with its arguments, options and examples, as `--help` tells them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import typer

from docs.generate.markdown import anchor, code, heading, plain, table
from pooler.cli.commands import app, help_record
from pooler.commands import by_heading

_EXAMPLE = re.compile(r"^ *Example: ")
_FACTS = re.compile(r"^(.*?)  \[(.*)\]$", re.DOTALL)
_MANY = 3
"""Commands from which an option is told once for all of them, unless it is of the command's own list."""


class Option:
    """An option or argument: how it is typed, what it does, what it is without it."""

    def __init__(self, parameter: Any, context: Any) -> None:
        self.is_argument = parameter.param_type_name == "argument"
        self.typed, words = help_record(parameter, context) or ("", "")
        found = _FACTS.match(words)
        self.name = max(parameter.opts, key=len)
        self.about, self.facts = (found[1], found[2]) if found else (words, "")
        self.panel = getattr(parameter, "rich_help_panel", None) or ""

    def key(self) -> tuple[str, ...]:
        """Return what two commands share where they have the same option."""
        return self.panel, self.typed, self.about, self.facts

    def row(self) -> list[str]:
        """Return its line of a table."""
        facts = self.facts.replace("default: ", "")
        return [code(self.typed), plain(self.about), plain(facts)]


def leaves(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Yield the commands that do something, by their words after `pooler`, in the order of help."""
    inner = getattr(command, "commands", None)
    if inner is None or hasattr(command, "alone"):
        yield words, getattr(command, "alone", command)
    if inner is not None:
        for name in list(inner):
            yield from leaves(f"{words} {name}".strip(), inner[name])


def options_of(words: str, command: Any) -> list[Option]:
    """Return arguments and options of a command, but for `--help`."""
    context = command.context_class(command, info_name=f"pooler {words}")
    records = [one for one in command.params if one.get_help_record(context) is not None]
    return [Option(one, context) for one in records]


def page() -> str:
    """Return the page: contents, commands, and the options that many of them have."""
    root: Any = typer.main.get_command(app)
    found: dict[str, list[tuple[str, Any]]] = {
        title.capitalize(): [leaf for name in names for leaf in leaves(name, root.commands[name])]
        for title, names in by_heading().items()
    }
    options = {words: options_of(words, command) for group in found.values() for words, command in group}
    every = [one for known in options.values() for one in known if not one.is_argument]
    places = {one.key(): _place(one) for one in every}
    told: dict[str, tuple[str, ...]] = {}
    for key, count in Counter(one.key() for one in every).most_common():
        if count >= _MANY and (key[0] or count > 2 * _MANY):
            told.setdefault(places[key], key)  # of two of one name the one that more commands have
    shared = set(told.values())
    lines: list[str] = []
    for title, group in found.items():
        lines += [f"**{title}**", ""]
        lines += [
            f"- [{code(words)}](#{anchor(words)}) {plain(_first_line(command))}" for words, command in group
        ]
        lines.append("")
    for title, group in found.items():
        lines += heading(2, title, f"group {title}")
        for words, command in group:
            lines += _section(words, command, options[words], shared)
    return "\n".join([*lines, *_shared(options, shared)])


def _first_line(command: Any) -> str:
    first: str = command.help.splitlines()[0]
    return first.split(". ")[0].rstrip(".")


def _section(words: str, command: Any, options: list[Option], shared: set[tuple[str, ...]]) -> list[str]:
    context = command.context_class(command, info_name=f"pooler {words}")
    lines = heading(3, f"pooler {words}", words)
    paragraphs = command.help.split("\n\n")
    lines += [line for one in paragraphs if not _EXAMPLE.match(one) for line in (plain(one), "")]
    pieces = " ".join(command.collect_usage_pieces(context))
    lines += ["```text", f"pooler {words} {pieces}".rstrip(), "```", ""]
    examples = [" ".join(_EXAMPLE.sub("", one).split()) for one in paragraphs if _EXAMPLE.match(one)]
    lines += ["For example:", "", "```text", *examples, "```", ""]
    own = [one for one in options if one.key() not in shared]
    if own:
        ordered = sorted(own, key=lambda one: not one.is_argument)
        lines += table(["Argument or option", "What it is", "Default, range"], [one.row() for one in ordered])
    named = [f"[{code(one.name)}](#{_place(one)})" for one in options if one.key() in shared]
    if named:
        lines += [f"And [as in other commands](#options-of-many-commands): {', '.join(named)}.", ""]
    return lines


def _place(option: Option) -> str:
    return anchor(f"option {option.panel} {option.name}")


def _shared(options: dict[str, list[Option]], shared: set[tuple[str, ...]]) -> list[str]:
    """Return the options that are told once, by what they are about."""
    words = {one.key(): one for known in options.values() for one in known if one.key() in shared}
    lines = heading(2, "Options of many commands", "options of many commands")
    for panel in dict.fromkeys(one.panel for one in words.values()):
        lines += heading(3, panel or "Everywhere", f"options {panel or 'everywhere'}")
        rows = [
            [
                f'<span id="{_place(one)}"></span>{cell}' if place == 0 else cell
                for place, cell in enumerate(one.row())
            ]
            for one in words.values()
            if one.panel == panel
        ]
        lines += table(["Option", "What it is", "Default, range"], rows)
    return lines
