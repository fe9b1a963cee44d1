"""Every command: a folder a heading of `pooler --help`, a file a command.

A function under `@command` (`pooler.command`) is one of the API by its name, and of the command line by its
words: `paper_difference` is `pooler paper difference` where `paper` is a command's word. Nothing else
lists it. Names and first lines are read here from the text of the files, which are not imported for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HEADINGS = {
    "start": "demo init import check",
    "pool": "pool replay duplicates",
    "judge": "judges assign judge ask serve adjudicate status",
    "qrels": "qrels export agreement",
    "measure": "evaluate compare design",
    "trust": "diagnose sensitivity variation audit paper report",
    "look": "show history",
    "keep": "backup restore verify upgrade",
}
"""The words of each folder in the order of help; words that are not named come last."""
_FUNCTION = re.compile(r'(command|screen)\ndef (\w+)\(.*?\) -> [^\n]*:\n    r?"""(.+?)(?:"""|\n)', re.DOTALL)
_DOCSTRING = re.compile(r'"""(.+?)(?:"""|\n)')


@dataclass(frozen=True, slots=True)
class Announced:
    """A function that is a command, before its module is imported."""

    name: str
    """In Python."""
    module: str
    heading: str
    word: str
    """Of the command line, before that of a form."""
    form: str
    """Empty = the command itself."""
    first_line: str
    """Of its docstring."""
    is_api: bool
    """Whether it is a function for Python, too, and no screen."""


@cache
def announced() -> dict[str, Announced]:
    """Return every command and form by its name in Python, in the order of help.

    Forms come after their command, in the order of their files and lines.
    """
    return {one.name: one for heading in HEADINGS for one in sorted(_of_folder(heading), key=_place)}


@cache
def words() -> dict[str, str]:
    """Return the first line of each word's help, by word, in the order of help.

    Of a word that is no command itself but has forms, it is the first line of its file.
    """
    found: dict[str, str] = {}
    for one in announced().values():
        if not one.form:
            found[one.word] = one.first_line
        elif one.word not in found:
            found[one.word] = _first_line(one)
    return found


@cache
def by_heading() -> dict[str, tuple[str, ...]]:
    """Return the words of each folder, in the order of help."""
    return {
        heading: tuple(dict.fromkeys(one.word for one in announced().values() if one.heading == heading))
        for heading in HEADINGS
    }


def _of_folder(heading: str) -> Iterator[Announced]:
    for path in sorted((Path(__file__).parent / heading).glob("*.py")):
        decorated = map(_FUNCTION.match, path.read_text("utf-8").split("\n@"))
        for kind, name, first_line in (one.groups() for one in decorated if one is not None):
            plain = name.removesuffix("_")
            known = [one for one in HEADINGS[heading].split() if f"{plain}_".startswith(f"{one}_")]
            word = max(known, key=len, default=path.stem.removesuffix("_"))
            form = plain.removeprefix(word).removeprefix("_").replace("_", "-")
            module = f"{__name__}.{heading}.{path.stem}"
            yield Announced(name, module, heading, word, form, first_line, is_api=kind == "command")


def _place(one: Announced) -> tuple[int, str, bool]:
    order = HEADINGS[one.heading].split()
    return order.index(one.word) if one.word in order else len(order), one.word, bool(one.form)


def _first_line(one: Announced) -> str:
    folder = Path(__file__).parent / one.heading
    for path in (folder / f"{one.word}_.py", folder / f"{one.word}.py"):
        if path.exists() and (found := _DOCSTRING.search(path.read_text("utf-8"))):
            return found[1]
    return ""
