"""What commands answer, byte for byte, so that code can be moved and nothing else moves.

Each `*.txt` here is a transcript (see `transcript.py`). They prove nothing about what is right: they tell
what changed. `pytest tests/transcripts --freeze` writes the answers anew whose words alone changed,
`--freeze-numbers` those with other numbers, too. A new case is a line `$ pooler ...` before that.
"""

from __future__ import annotations

import difflib
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from store.collection import Collection
from store.records import JudgeKind
from tests.helpers.bad_files import make_bad_files
from tests.helpers.kept_files import unpack_today
from tests.helpers.run import SETTINGS, copy_garden
from tests.transcripts.transcript import Transcript, changed_numbers, play, read_transcript

HERE = Path(__file__).resolve().parent
TRANSCRIPTS = sorted(HERE.glob("*.txt"))


def garden(folder: Path, _imported: Path) -> None:
    """Start with a copy of the sample collection, not imported."""
    copy_garden(folder)


def imported(folder: Path, made: Path) -> None:
    """Start with the sample collection imported, its three judges and their grades in it."""
    shutil.copytree(made, folder, dirs_exist_ok=True)


def bad_files(folder: Path, made: Path) -> None:
    """Start with the imported sample collection, and files with something wrong: nothing changes there."""
    imported(folder, made)
    make_bad_files(folder)
    with Collection(str(folder / "collection.db")) as opened:
        opened.judges.add("pat", JudgeKind.HUMAN)


def built(folder: Path, made: Path) -> None:
    """Start with a collection of several judges, with rulings, undo and all pools."""
    garden(folder, made)
    unpack_today("written/built.db", folder / "collection.db")


def assigned(folder: Path, made: Path) -> None:
    """Start with a collection of scale ntcir whose documents are assigned and claimed."""
    garden(folder, made)
    unpack_today("written/assigned.db", folder / "collection.db")


START: Mapping[str, Callable[[Path, Path], None]] = {
    start.__name__: start for start in (garden, imported, bad_files, built, assigned)
}


def snapshot(folder: Path) -> dict[str, object]:
    """Read all of a folder: bytes of files, rows of its collection."""
    files: dict[str, object] = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("collection.db")
    }
    with closing(sqlite3.connect(folder / "collection.db")) as connection:
        files["collection.db"] = list(connection.iterdump())
    return files


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in an empty folder, on a terminal of a newcomer in Greenwich."""
    made = tmp_path_factory.mktemp("transcript")
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


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_every_command_answers_what_it_answered(
    path: Path, folder: Path, imported_garden: Path, pytestconfig: pytest.Config
) -> None:
    """Tables, json, tsv, files and refusals are those of the transcript, to the byte."""
    frozen = read_transcript(path)
    START[frozen.start](folder, imported_garden)
    before = snapshot(folder) if frozen.start == bad_files.__name__ else {}
    now = play(frozen, folder)
    assert not before or snapshot(folder) == before, "a command that was refused changed something"
    if any(map(pytestconfig.getoption, ("--freeze", "--freeze-numbers"))):
        freeze(path, frozen, now, takes_numbers=pytestconfig.getoption("--freeze-numbers"))
        return
    told = []
    for command, old, new in zip(frozen.commands, frozen.answers, now.answers, strict=True):
        if old != new:
            numbers = changed_numbers(old, new)
            lines = difflib.unified_diff(old.split("\n"), new.split("\n"), "before", "now", n=1, lineterm="")
            told += [f"$ {command}", *(f"number: {one}" for one in numbers[:10]), *lines, ""]
    if told:
        pytest.fail(f"{path.name} differs:\n" + "\n".join(told[:120]), pytrace=False)


def freeze(path: Path, frozen: Transcript, now: Transcript, *, takes_numbers: bool) -> None:
    """Write the answers anew; those whose numbers changed stay, and are named, unless numbers are taken."""
    answers, refused = [], []
    for command, old, new in zip(frozen.commands, frozen.answers, now.answers, strict=True):
        numbers = changed_numbers(old, new) if old and not takes_numbers else []
        answers.append(old if numbers else new)
        if numbers:
            refused += [f"$ {command}", *(f"number: {one}" for one in numbers)]
    path.write_bytes(replace(now, answers=tuple(answers)).text().encode())
    if refused:
        why = f"{path.name}: numbers changed; --freeze-numbers takes them, in a commit of their own"
        pytest.fail("\n".join([why, *refused]), pytrace=False)


def test_numbers_that_changed_are_named_and_not_frozen_among_words(tmp_path: Path) -> None:
    """`--freeze` takes other words; another digit, order or exit code only `--freeze-numbers` takes."""
    path = tmp_path / "one.txt"
    old = Transcript("garden", False, ("a", "b", "c"), ("| MAP 0.6134 of 9 runs\n", "| 1 2\n", "! no\n= 2\n"))
    path.write_text(old.text(), "utf-8")
    assert read_transcript(path) == old
    freeze(
        path,
        old,
        words := replace(old, answers=("| AP 0.6134, 9 runs\n", *old.answers[1:])),
        takes_numbers=False,
    )
    assert read_transcript(path) == words
    now = replace(old, answers=("| AP 0.6135, 9 runs\n", "| 2 1\n", "! never\n= 1\n"))
    with pytest.raises(
        pytest.fail.Exception, match=r"0\.6134 -> 0\.6135[^$]*\$ b\n(.*\n)*\$ c\nnumber: 2 -> 1"
    ):
        freeze(path, words, now, takes_numbers=False)
    assert read_transcript(path) == words
    freeze(path, words, now, takes_numbers=True)
    assert read_transcript(path) == now
