"""Commands about the runs and judgements of a source, as they are typed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pooler.sources.source import DEFAULT_COLLECTION, Source
from store.text import sanitise_line

_STDIN = "-"
_MOST_RUNS = 8
"""Runs that are named one by one."""
_PLAIN_END = re.compile(r"\.[A-Za-z0-9_.-]+\Z")
"""What a file may end with to be named by a pattern."""
_SECRETS = frozenset({"password", "sslpassword"})
_ESCAPED = re.compile(rb"[^ -~]|['\\\\]")


@dataclass(frozen=True, slots=True)
class CommandLines:
    """Writes commands about the runs and judgements of a source; empty of what no command can name."""

    source: Source
    files: Mapping[str, str]
    """File of each run by its tag, where runs are files."""
    cutoff: int | None = None
    """As it was given."""
    values: Sequence[str] = ()
    """What grades are worth, for commands about probabilities."""
    out: str = ""
    """The page, which is no run where a pattern would find it."""

    @property
    def reads_stdin(self) -> bool:
        """Whether something was read from standard input, which commands cannot read again."""
        option = self.source.option
        return self.source.is_of_files and _STDIN in (option("qrels"), option("listed"), *self.files.values())

    @property
    def is_in_memory(self) -> bool:
        """Whether some run or the qrels are objects, which no command line can name."""
        objects = (*self.source.option("runs"), self.source.option("qrels"))
        return not all(one is None or isinstance(one, str) for one in objects)

    @property
    def leaves_password(self) -> bool:
        """Whether the collection was named with a password, which no command shows."""
        return not self.source.is_of_files and _without_password(self._where())[1]

    def can_name(self, tags: Sequence[str]) -> bool:
        """Whether some runs are told apart by files alone: the list may have named them."""
        if self.source.option("listed") is None:
            return True
        from pooler.reading.whole import read_whole

        files = [self.files[tag] for tag in tags]
        return len({read_whole(file, lenient=self.source.lenient).tag for file in files}) == len(tags)

    def of_collection(self, name: str, *own: str, judges: Sequence[str] = ()) -> str:
        """Write a command about the collection, or about some judges of it."""
        is_option = any(judge.startswith("-") for judge in judges)
        return _line([name, *own, *self._collection(), *(["--"] if is_option else []), *judges])

    def of_runs(self, name: str, *own: str, runs: Sequence[str] | None = None) -> str:
        """Write a command about the runs that were given, or about some, by their tags."""
        if self.is_in_memory or not self.can_name(runs or ()):
            return ""
        named = self._runs()
        if runs is not None:
            named = [_file(self.files[tag]) if tag in self.files else tag for tag in runs]
        # Named runs are read from their files; the list would bring all of its own.
        words = [name, *own, *self._options(with_list=runs is None), *self._collection()]
        is_option = any(run.startswith("-") and run != _STDIN for run in named)
        return _line([*words, *(["--"] if is_option else []), *named])

    def of_files(self, name: str, *own: str) -> str:
        """Write a command that measures the same of a run file and qrels that whoever types it has."""
        options = self._options(with_list=False, instead={"--qrels": "QRELS-FILE"})
        return _line([name, "RUN-FILE", *own, *options])

    def of_probabilities(self, name: str, *own: str) -> str:
        """Write a command about the runs, and how likely their documents are relevant."""
        return self.of_runs(name, *own, *(word for value in self.values for word in ("--value", value)))

    def _where(self) -> str:
        where = self.source.collection
        return where if isinstance(where, str) else where.where

    def _collection(self) -> list[str]:
        source = self.source
        is_of_files = source.is_of_files and source.runs_are_files
        if is_of_files or self._where() == DEFAULT_COLLECTION:
            return []
        return ["--collection", _without_password(self._where())[0]]

    def _options(self, *, with_list: bool, instead: Mapping[str, Any] | None = None) -> list[str]:
        option = self.source.option
        values: dict[str, Any] = {
            "--qrels": option("qrels"),
            "--runs": option("listed") if with_list else None,
            "--level": option("level"),
            "--cutoff": self.cutoff,
            "--order": None if self.source.order == "trec" else self.source.order,
            "--scale": option("scale"),
            "--code": option("codes"),
            "--lenient": self.source.lenient,
            **(instead or {}),
        }
        words: list[str] = []
        for name, value in values.items():
            if isinstance(value, bool):
                words += [name] * value
            elif value is not None:
                several = value if isinstance(value, tuple) else (value,)
                words += [word for one in several for word in (name, str(one))]
        return words

    def _runs(self) -> list[str]:
        runs = list(self.source.option("runs"))
        if not self.source.runs_are_files:
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
    return f"./{name}" if name.startswith("-") and name != _STDIN else name


def _without_password(collection: str) -> tuple[str, bool]:
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


def _line(words: Sequence[str]) -> str:
    quoted = [word if isinstance(word, _Pattern) else _quoted(word) for word in words]
    return " ".join(["pooler", *quoted])


def _quoted(word: str) -> str:
    """Quote a word for a shell; what a page cannot show is written as bytes."""
    if sanitise_line(word) == word:
        return shlex.quote(word)
    in_bytes = _ESCAPED.sub(lambda found: b"\\x%02x" % found[0][0], os.fsencode(word))
    return f"$'{in_bytes.decode('ascii')}'"
