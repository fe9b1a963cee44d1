"""The command line as tests call it, and what it answers."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from pooler.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
GARDEN = ROOT / "sample_collections" / "kitchen_garden"
JUDGES = ("lenient", "middle", "strict")
"""Judges of the sample collection."""
SETTINGS = (
    "POOLER_COLLECTION",
    "POOLER_JUDGE",
    "POOLER_GOAL",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "PYTHONIOENCODING",
)
"""Environment variables that change what the command line says."""
RUN = "from pooler.cli.main import run"
"""Code after which `run(words)` runs `pooler` in a process of its own."""
START = "from pooler.cli.main import main; main()"
"""Code that starts `pooler` as a process of its own."""
PROGRAM = (sys.executable, "-m", "pooler.cli.main")
"""Words that do, for programs that add their own."""
PAGE = 80
"""Columns of the terminal that a newcomer has."""


def copy_garden(folder: Path) -> None:
    """Copy the sample collection into a folder."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(GARDEN, folder, dirs_exist_ok=True, ignore=ignored)


class Terminal(io.StringIO):
    """Takes what is written to a terminal."""

    def isatty(self) -> bool:
        """Return True, so that a command speaks as to a person."""
        return True


_ESCAPES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Tables(dict[str, list[dict[str, Any]]]):
    """Tables by name, and what was said beside them."""

    settings: dict[str, Any]
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command answered."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Return the tables on stdout; a single one is its list of rows."""
        data = self.whole()
        if not isinstance(data, dict) or "layout" not in data.get("settings", {}):
            return data
        kept = {name: rows for name, rows in data.items() if name not in ("settings", "facts", "warnings")}
        if len(kept) == 1:
            return next(iter(kept.values()))
        tables = Tables(kept)
        tables.settings, tables.facts = data["settings"], data.get("facts", {})
        return tables

    def dossier(self) -> Any:
        """Return the facts on stdout, and the tables by their names, in one."""
        data = self.whole()
        return data["facts"] | {
            name: rows for name, rows in data.items() if name not in ("settings", "facts")
        }

    def whole(self) -> Any:
        """Return stdout, read as JSON by the letter of the standard: no NaN, no Infinity."""

        def refuse(constant: str) -> None:
            message = f"{constant} is no JSON"
            raise ValueError(message)

        return json.loads(self.out, parse_constant=refuse)

    def known(self) -> dict[str, Any]:
        """Return facts and tables on stdout, by name."""
        data = self.whole()
        tables = {name: rows for name, rows in data.items() if name not in ("settings", "warnings", "facts")}
        return {**data["facts"], **tables}

    def tsv(self) -> list[dict[str, str]]:
        """Return stdout, read as tab separated values without quoting."""
        lines = self.out.removesuffix("\n").split("\n")
        cells = [line.split("\t") for line in lines]
        assert {len(row) for row in cells} == {len(cells[0])}
        return [dict(zip(cells[0], row, strict=True)) for row in cells[1:]]

    def fine(self) -> Outcome:
        """Assert that the command succeeded."""
        assert self.code == 0, self.err
        return self

    def failed(self, code: int) -> Outcome:
        """Assert that the command failed as a user's mistake does: in words, without a trace."""
        assert (self.code, "Traceback" in self.err + self.out) == (code, False), self.err
        assert any(line.startswith("error: ") for line in self.err.splitlines()), self.err
        return self


class Cli(Protocol):
    """Runs the command line in this process; what the fixture `cli` gives."""

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Outcome:
        """Run `pooler` with these arguments and this standard input, and return how it ended."""
        ...


def run_inside(*arguments: str | Path) -> Outcome:
    """Run `pooler` in this process, where no fixture can: for fixtures of a whole module."""
    return run_to(io.StringIO(), *arguments)


def run_to(out: io.StringIO, *arguments: str | Path) -> Outcome:
    """Run `pooler` in this process; its stdout is a stream, a `Terminal` say."""
    err = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return Outcome(int(code), out.getvalue(), err.getvalue())


def run_process(
    *arguments: str | bytes | Path,
    folder: Path,
    stdin: bytes = b"",
    settings: Mapping[str, str] | None = None,
    timeout_s: float = 120,
) -> subprocess.CompletedProcess[bytes]:
    """Run `pooler` as a process of its own; stdout and stderr stay bytes."""
    return subprocess.run(
        [*program(), *arguments],
        cwd=folder,
        input=stdin,
        env=environment(settings or {}),
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )


def program() -> list[str]:
    """Return the words that start `pooler` in this interpreter."""
    return [sys.executable, "-c", START]


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment, but for what the command line listens to."""
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return {**kept, "PYTHONPATH": str(ROOT), **settings}


def run_shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with bash, with the tested environment's programs first on the path."""
    programs = Path(sys.executable).parent
    if not (programs / "pooler").exists():
        pytest.skip("pooler is not installed in the tested environment")
    settings = {key: value for key, value in os.environ.items() if key != "POOLER_COLLECTION"}
    settings["PATH"] = f"{programs}{os.pathsep}{settings.get('PATH', '')}"
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{script}"],
        cwd=folder,
        env=settings,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )


def controls(text: str) -> list[str]:
    """Return the control characters of a text but newlines and tabs."""
    return _ESCAPES.findall(text)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a UTF-8 file."""
    return path.read_text("utf-8").splitlines()


def write(path: Path, *lines: str) -> Path:
    """Write lines to a UTF-8 file."""
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")
    return path


def write_run(folder: Path, tag: str, topics: Mapping[str, str]) -> str:
    """Write a run whose docnos are single letters, in rank order; return its name."""
    rows = [
        f"{topic} Q0 {docno} {rank} {100 - rank} {tag}"
        for topic, docnos in topics.items()
        for rank, docno in enumerate(docnos, start=1)
    ]
    write(folder / f"{tag}.run", *rows)
    return f"{tag}.run"


def read_run_list(path: Path) -> list[dict[str, str]]:
    """Return the rows of a list of runs."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def read_trec(path: Path, columns: Sequence[int]) -> list[tuple[str, ...]]:
    """Return some columns, counted from 0, of a run or qrels file."""
    return [tuple(line.split()[column] for column in columns) for line in read_lines(path)]


def qrels_of(*files: Path | str) -> tuple[Path | str, ...]:
    """Return the words that name files of judgements, one of each judge."""
    return tuple(word for file in files for word in ("--qrels", file))


_OF_RULES = {
    **dict.fromkeys(("--aggregate", "--ties", "--votes", "--judge", "--kinds", "--primary"), 1),
    **dict.fromkeys(("--binary-first", "--without-rulings"), 0),
}
"""Options of a definition of qrels, and how many values each has."""


def by_rule(cli: Cli, *words: str | Path, **how: Any) -> Outcome:
    """Run a command on qrels that some of its words define: they are defined first, under the name `ruled`.

    A folder has the qrels of every definition: there it is `official`. What refuses the definition is the
    answer.
    """
    rule: list[str | Path] = []
    if words[:2] == ("qrels", "define"):
        return cli(*words, **how)
    rest = [*words]
    for word in [one for one in words if one in _OF_RULES]:
        place = rest.index(word)
        rule += rest[place : place + 1 + _OF_RULES[str(word)]]
        del rest[place : place + 1 + _OF_RULES[str(word)]]
    if not rule:
        return cli(*rest, **how)
    place = rest.index("--collection") if "--collection" in rest else len(rest)
    name = "official" if "collection" in rest[:2] else "ruled"
    defined = cli("qrels", "define", name, *rule, *rest[place : place + 2])
    if defined.code:
        return defined
    if rest[:2] == ["export", "qrels"]:
        rest.insert(2, name)
    elif name == "ruled":
        rest += ["--qrels", name]
    return cli(*rest, **how)


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file of a folder, by its path in it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


_watchers: list[list[str]] = []
_hooks: list[object] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    """Note every process that Python starts."""
    if event == "subprocess.Popen":
        for started in _watchers:
            started.append(str(arguments[0]))


@contextmanager
def started_processes() -> Iterator[list[str]]:
    """Gather the programs of the processes that this one starts meanwhile."""
    if not _hooks:
        sys.addaudithook(_note)  # for good: there is no way to take it off
        _hooks.append(_note)
    started: list[str] = []
    _watchers.append(started)
    try:
        yield started
    finally:
        _watchers.remove(started)
