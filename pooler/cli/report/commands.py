"""The commands that print what a report shows, written as one would type them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path
from typing import Any

from pooler.cli.source_options import GivenPrinted as Given
from store.text import sanitise_line

_STDIN = "-"
_MOST_RUNS = 8
"""Runs that are named one by one."""
_PLAIN_END = re.compile(r"\.[A-Za-z0-9_.-]+\Z")
"""What a file may end with to be named by a pattern."""
_SECRETS = frozenset({"password", "sslpassword"})
_ESCAPED = re.compile(rb"[^ -~]|['\\\\]")
_OF_GIVEN = frozenset(one.name for one in fields(Given)) - {"ctx", "runs", "fmt", "collection"}


@dataclass(frozen=True, slots=True)
class Commands:
    """Writes commands about the runs and judgements that a report is of."""

    given: Given
    files: Mapping[str, str]
    """File of each run by its tag, where runs are files."""
    extra: Sequence[str] = ()
    """Options of the report itself that every command about probabilities takes."""
    out: str = ""
    """The page, which is no run where a pattern would find it."""

    @property
    def reads_stdin(self) -> bool:
        """Whether something was read from standard input, which commands cannot read again."""
        return self.given.qrels is not None and (
            _STDIN in (self.given.qrels, self.given.listed, *self.files.values())
        )

    @property
    def leaves_password(self) -> bool:
        """Whether the collection was named with a password, which no command shows."""
        return self.given.qrels is None and _without_password(self.given.collection)[1]

    def can_name(self, tags: Sequence[str]) -> bool:
        """Whether some runs are told apart by files alone: the list may have named them."""
        if self.given.listed is None:
            return True
        from pooler.reading.whole import read_whole

        files = [self.files[tag] for tag in tags]
        return len({read_whole(file, lenient=self.given.lenient).tag for file in files}) == len(tags)

    def of_collection(self, name: str, *own: str) -> str:
        """Write a command about the collection."""
        return _line([name, *own, *self._collection()])

    def of_runs(self, name: str, *own: str, runs: Sequence[str] | None = None) -> str:
        """Write a command about the runs that were given, or about some, by their tags."""
        named = self._runs() if runs is None else [self._run(tag) for tag in runs]
        # Named runs are read from their files; the list would bring all of its own.
        leaves = {"listed"} if runs is not None else set()
        words = [name, *own, *self._options(leaves), *self._collection()]
        is_option = any(run.startswith("-") and run != _STDIN for run in named)
        return _line([*words, *(["--"] if is_option else []), *named])

    def _collection(self) -> list[str]:
        """Name the collection, where it is not the default one."""
        if self.given.qrels is not None or not self.given.names("collection"):
            return []
        return ["--collection", _without_password(self.given.collection)[0]]

    def _run(self, tag: str) -> str:
        """Name one run: by its file, where runs are files."""
        return _file(self.files[tag]) if tag in self.files else tag

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
        """Name the runs one by one, or by a pattern for all of a folder."""
        runs = list(self.given.runs or [])
        if self.given.qrels is None:
            return runs
        if len(runs) <= _MOST_RUNS:
            return [_file(run) for run in runs]
        folders: dict[str, list[str]] = {}
        for run in runs:
            folders.setdefault(str(Path(run).parent), []).append(run)
        words: list[str] = []
        for folder, files in folders.items():
            pattern = _pattern(folder, files, self.out)
            words += map(_file, files) if pattern is None else [pattern]
        return words


class _Pattern(str):
    """A word that the shell fills in; everything else is quoted."""

    __slots__ = ()


def _pattern(folder: str, files: Sequence[str], out: str) -> _Pattern | None:
    """Find `folder/*.end`, or `folder/*`, that names these files in a shell, and no others."""
    named = sorted(Path(file).name for file in files)
    ends = {Path(file).suffix for file in files}
    [end] = ends if len(ends) == 1 else [""]
    # The page would be found as soon as it is there.
    page = Path(out).name if Path(out).resolve().parent == Path(folder).resolve() else None
    for last in dict.fromkeys([end, ""]):
        if (last and not _PLAIN_END.match(last)) or (page is not None and page.endswith(last)):
            continue
        found = [one.name for one in Path(folder).iterdir() if one.name.endswith(last)]
        if sorted(name for name in found if not name.startswith(".")) == named:
            is_option = any(name.startswith("-") for name in named)
            start = f"{_quoted(_file(folder))}/" if folder != "." else "./" * is_option
            return _Pattern(f"{start}*{last}")
    return None


def _file(name: str) -> str:
    """Name a file so that it is no option."""
    return f"./{name}" if name.startswith("-") and name != _STDIN else name


def _without_password(collection: str) -> tuple[str, bool]:
    """Return how a collection is named without a password, and whether there was one."""
    if "://" not in collection:
        return collection, False
    from store.db.engine import collection_url

    url = collection_url(collection)
    secrets = _SECRETS.intersection(url.query)
    if url.password is None and not secrets:
        return collection, False
    bare = url.difference_update_query(secrets)
    bare = bare._replace(drivername=collection.partition("://")[0], password=None)
    return bare.render_as_string(hide_password=True), True


def _text(value: Any) -> str:
    """Write the value of an option."""
    return str(value.value if isinstance(value, Enum) else value)


def _line(words: Sequence[str]) -> str:
    """Write a command line; patterns stay what the shell fills in."""
    quoted = [word if isinstance(word, _Pattern) else _quoted(word) for word in words]
    return " ".join(["pooler", *quoted])


def _quoted(word: str) -> str:
    r"""Quote a word for a shell; what a page cannot show is written as bytes.

    Examples
    --------
    >>> _quoted("a b"), _quoted("a\nb")
    ("'a b'", "$'a\\x0ab'")
    """
    if sanitise_line(word) == word:
        return shlex.quote(word)
    in_bytes = _ESCAPED.sub(lambda found: b"\\x%02x" % found[0][0], os.fsencode(word))
    return f"$'{in_bytes.decode('ascii')}'"
