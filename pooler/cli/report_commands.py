"""The commands that print what a report shows, written as one would type them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any

from pooler.cli.given import Given

ELLIPSIS = "RUN..."
"""Stands for files that have no short name together."""
_MOST_RUNS = 8
"""Runs that are named one by one."""
_OF_GIVEN = frozenset(one.name for one in fields(Given)) - {"ctx", "runs", "fmt", "collection"}


@dataclass(frozen=True, slots=True)
class Commands:
    """Writes commands about the runs and judgements that a report is of."""

    given: Given
    where: str | None
    """The collection, without a password; ``None`` = the runs are files."""
    files: Mapping[str, str]
    """File of each run by its tag, where runs are files."""
    extra: Sequence[str] = ()
    """Options of the report itself that every command about probabilities takes."""

    @property
    def abbreviates(self) -> bool:
        """Whether the runs were too many to be named."""
        return self._runs() == [ELLIPSIS]

    def of_collection(self, name: str, *own: str) -> str:
        """Write a command about the collection."""
        return _line([name, *own, *self._collection()])

    def of_runs(self, name: str, *own: str, runs: Sequence[str] | None = None) -> str:
        """Write a command about the runs that were given, or about some, by their tags."""
        named = self._runs() if runs is None else [self.files.get(tag, tag) for tag in runs]
        # Named runs are read from their files; the list would bring all of its own.
        leaves = {"listed"} if runs is not None else set()
        return _line([name, *own, *self._options(leaves), *self._collection(), *named])

    def _collection(self) -> list[str]:
        """Name the collection, where it is not the default one."""
        is_said = self.where is not None and self.given.names("collection")
        return ["--collection", str(self.where)] if is_said else []

    def _options(self, leaves: set[str]) -> list[str]:
        """Repeat the options that were given."""
        words: list[str] = []
        for parameter in self.given.ctx.command.params:
            name = parameter.name or ""
            if name not in _OF_GIVEN - leaves or not self.given.names(name):
                continue
            value = self.given.ctx.params[name]
            option = max(parameter.opts, key=len)
            if isinstance(value, bool):
                words += [option] * value
                continue
            values = value if isinstance(value, list | tuple) else [value]
            words += [word for one in values for word in (option, _text(one))]
        return words

    def _runs(self) -> list[str]:
        """Name the runs: one by one, by a pattern, or not at all."""
        runs = list(self.given.runs or [])
        if len(runs) <= _MOST_RUNS or self.given.qrels is None:
            return runs
        pattern = _pattern(runs)
        return [pattern or ELLIPSIS]


def _pattern(files: Sequence[str]) -> str | None:
    """Find `folder/*.end`, or `folder/*`, that names these files and no others."""
    folders = {str(Path(file).parent) for file in files}
    if len(folders) > 1:
        return None
    [folder] = folders
    ends = {Path(file).suffix for file in files}
    for end in [*(ends if len(ends) == 1 else ()), ""]:
        there = {str(file) for file in Path(folder).glob(f"*{end}")}
        if there == {str(Path(file)) for file in files}:
            return f"{shlex.quote(folder)}/*{end}" if folder != "." else f"*{end}"
    return None


def _text(value: Any) -> str:
    """Write the value of an option."""
    return str(value.value if isinstance(value, Enum) else value)


def _line(words: Sequence[str]) -> str:
    """Write a command line; patterns stay what the shell fills in."""
    quoted = [word if "*" in word or word == ELLIPSIS else shlex.quote(word) for word in words]
    return " ".join(["pooler", *quoted])
