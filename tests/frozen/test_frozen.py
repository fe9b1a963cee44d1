"""What every command prints, byte for byte, so that code can be moved and nothing else moves.

Each `*.txt` here is a transcript (see `transcript.py`). They prove nothing about what is right:
they tell what changed. `pytest tests/frozen --freeze` writes the answers anew; a new case is a
line `$ pooler ...` in a transcript before that.
"""

from __future__ import annotations

import difflib
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.cli.bad_files import make_bad_files
from tests.frozen.transcript import play, read_transcript
from tests.golden.kept import unpack_upgraded
from tests.helpers.run import SETTINGS, copy_garden
from tests.test_readme import COMMANDS

HERE = Path(__file__).resolve().parent
TRANSCRIPTS = sorted(HERE.glob("*.txt"))
LARGE = {"agreement", "built_numbers", "collecting", "diagnose", "look", "measure", "measure_files"}
"""Transcripts of several seconds each, which are among the slow tests."""


def garden(folder: Path, _imported: Path) -> None:
    """Start with a copy of the sample collection, not imported."""
    copy_garden(folder)


def imported(folder: Path, made: Path) -> None:
    """Start with the sample collection imported, its three judges and their grades in it."""
    shutil.copytree(made, folder, dirs_exist_ok=True)


def bad_files(folder: Path, made: Path) -> None:
    """Start with the imported sample collection, and files with something wrong."""
    imported(folder, made)
    make_bad_files(folder)


def built(folder: Path, made: Path) -> None:
    """Start with a collection of several judges, with rulings, undo, merges and all pools."""
    garden(folder, made)
    unpack_upgraded("written/built.db", folder / "collection.db")


def assigned(folder: Path, made: Path) -> None:
    """Start with a collection of scale ntcir whose documents are assigned and claimed."""
    garden(folder, made)
    unpack_upgraded("written/assigned.db", folder / "collection.db")


def copies(folder: Path, made: Path) -> None:
    """Start with a collection, a part of it and a copy of it, both judged elsewhere."""
    garden(folder, made)
    unpack_upgraded("written/before.db", folder / "collection.db")
    for name in ("part.db", "copy.db"):
        unpack_upgraded(f"written/{name}", folder / name)


START: Mapping[str, Callable[[Path, Path], None]] = {
    start.__name__: start for start in (garden, imported, bad_files, built, assigned, copies)
}


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder, on a terminal of a newcomer in Greenwich."""
    made = tmp_path_factory.mktemp("frozen")
    monkeypatch.chdir(made)
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TZ": "UTC", "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    time.tzset()
    monkeypatch.setattr(sys, "argv", ["pooler"])
    yield made
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in LARGE else [])
        for path in TRANSCRIPTS
    ],
)
def test_every_command_prints_what_it_printed(
    path: Path, folder: Path, imported_garden: Path, pytestconfig: pytest.Config
) -> None:
    """Help, tables, json, tsv, files and refusals are the frozen ones, to the byte."""
    frozen = read_transcript(path)
    START[frozen.start](folder, imported_garden)
    now = play(frozen, folder)
    if pytestconfig.getoption("--freeze"):
        path.write_bytes(now.encode())
    elif now != frozen.text:
        lines = difflib.unified_diff(
            frozen.text.split("\n"), now.split("\n"), "frozen", "now", n=2, lineterm=""
        )
        pytest.fail(f"{path.name} differs:\n" + "\n".join([*lines][:80]), pytrace=False)


def test_every_command_is_frozen() -> None:
    """Each command has its help, and each that does something else too, in a transcript."""
    asked = [command for path in TRANSCRIPTS for command in read_transcript(path).commands]
    for words in COMMANDS:
        uses = [one for one in asked if f"pooler {words} " in f"{one} "]
        assert any(one.endswith("--help") for one in uses), words
        assert any(not one.endswith("--help") for one in uses), words
