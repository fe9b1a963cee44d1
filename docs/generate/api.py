"""The public API: commands by their headings, from their own declarations; then what is no command.

A command's page says what its help says, each parameter with its type, and what is for Python alone.
Functions that are no commands, and what functions return, are written by mkdocstrings.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any

import pooler
from docs.generate.markdown import code, heading, plain, table
from pooler.command import Option, is_command, parameters_of
from pooler.commands import announced
from pooler.result import Result

BESIDE = {
    "Beside the commands": (
        "source", "Qrels", "read_runs", "read_qrels", "open_collection", "list_measures", "list_strategies",
        "attainable", "choose", "swap_of_ranks",
    ),
    "Errors": ("PoolerError", "FormatError", "ArgumentError", "UnknownNameError", "StoreError"),
}  # fmt: skip
"""What is public and no command."""


_SECTION = re.compile(r"^(\S.*)\n-{3,}\n", re.MULTILINE)


def _groups() -> dict[str, list[str]]:
    """Return the public names: commands by heading, then the others."""
    found: dict[str, list[str]] = {}
    for name, one in announced().items():
        if one.is_api:
            found.setdefault(one.heading.capitalize(), []).append(name)
    found |= {title: [*names] for title, names in BESIDE.items()}
    named = [name for names in found.values() for name in names]
    missing = {*pooler.__all__} ^ {*named}
    assert not missing, f"{sorted(missing)}: not in pooler.__all__, or in no group of this file"
    return found


def page() -> str:
    """Return the sections of the page; every public name is in one of them."""
    groups = _groups()
    lines: list[str] = []
    for title, names in groups.items():
        lines += [f"**{title}**: {', '.join(f'[{code(name)}](#pooler.{name})' for name in names)}", ""]
    shown: set[Any] = set()
    for title, names in groups.items():
        lines += heading(2, title, f"group {title}")
        for name in names:
            function = getattr(pooler, name)
            lines += _command(name, function) if is_command(function) else [f"::: pooler.{name}", ""]
            result = _returned(function)
            if result is not None and result not in shown:
                shown.add(result)
                path = f"{result.__module__}.{result.__name__}"
                lines += [f"::: {path}", "    options:", "      heading_level: 4", "      members: true", ""]
    return "\n".join(lines)


def _returned(function: Any) -> Any:
    """Return the class of a function's result, or nothing where it is no result."""
    if inspect.isclass(function):
        return None
    name = str(inspect.signature(function).return_annotation).strip("'\"")
    found = getattr(sys.modules[function.__module__], name, None)
    return found if inspect.isclass(found) and issubclass(found, Result) else None


def _command(name: str, function: Any) -> Iterator[str]:
    """Yield the section of a command: how it is called, what it does, its parameters, what is for Python."""
    about = parameters_of(function)
    docstring = inspect.getdoc(function) or ""
    paragraphs = [one for one in about.help.split("\n\n") if not one.startswith("Example: ")]
    yield f"### {name} {{ #pooler.{name} }}"
    yield ""
    parts = [_parameter(one) for one in about.declared.values()]
    stars = ["*"] if any(one.kind is one.KEYWORD_ONLY for one in about.declared.values()) else []
    if stars and not any(one.kind is one.VAR_POSITIONAL for one in about.declared.values()):
        first = next(i for i, one in enumerate(about.declared.values()) if one.kind is one.KEYWORD_ONLY)
        parts.insert(first, "*")
    returned = inspect.signature(function).return_annotation
    yield from ("```python", f"{name}({', '.join(parts)}) -> {returned}", "```", "")
    for one in paragraphs:
        yield plain(one)
        yield ""
    rows = [[code(one), _WORKED_ON[how.kind][0], _WORKED_ON[how.kind][1]] for one, how in about.given.items()]
    rows += [
        [code(one), plain(_type(about.hints[one], how)), plain(how.words)]
        for one, how in about.options.items()
        if how.words
    ]
    yield from table(["Parameter", "Type", "What it is"], rows)
    pieces = _SECTION.split(inspect.cleandoc(docstring))[1:]
    for title, text in zip(pieces[::2], pieces[1::2], strict=True):
        yield from _section(title, text.strip("\n"))


_WORKED_ON = {
    "source": (
        "Source, Collection or (runs, qrels)",
        "Runs and judgements, as [`source`](#pooler.source) names.",
    ),
    "runs": (
        "Source, Collection, str, Path, mapping or Runs",
        "Runs alone, as [`source`](#pooler.source) takes.",
    ),
    "collection": ("Collection, str or Path", "An open collection, or its place."),
    "other": ("", "What the command's options of the same heading say."),
}


def _type(kind: Any, how: Option) -> str:
    """Write a type and the range of its values."""
    name = re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", inspect.formatannotation(kind))
    if how.above is not None and how.below is not None:
        return f"{name} between {how.above:g} and {how.below:g}"
    if how.least is not None and how.most is not None:
        return f"{name} from {how.least:g} to {how.most:g}"
    return name if how.least is None else f"{name} >= {how.least:g}"


def _parameter(one: inspect.Parameter) -> str:
    star = "*" if one.kind is one.VAR_POSITIONAL else ""
    return f"{star}{one.name}" if one.default is one.empty else f"{one.name}={one.default!r}"


def _section(title: str, text: str) -> Iterator[str]:
    """Yield a section of a docstring: examples as code, errors as a list, anything else as it is."""
    yield f"**{title}**"
    yield ""
    if title == "Examples":
        yield from ("```pycon", text, "```", "")
        return
    if title == "Raises":
        for entry in re.split(r"\n(?=\S)", text):
            name, _, words = entry.partition("\n")
            yield f"- {code(name)}: {plain(words)}"
        yield ""
        return
    for paragraph in text.split("\n\n"):
        yield plain(paragraph)
        yield ""
