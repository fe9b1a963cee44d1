"""Turns at a SQLite file: who has waited longest is next, and nobody waits for the dead."""

from __future__ import annotations

import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from store.db.turns import TURN, Turn


def other(file: Path, seconds: float, *, bulk: bool = False) -> subprocess.Popen[str]:
    """Let another process have the turn for some time; it has it when this returns."""
    code = (
        f"import time; from store.db.turns import Turn\n"
        f"turn = Turn({str(file)!r}, is_bulk={bulk}); turn.take(10)\n"
        f"print('had', flush=True); time.sleep({seconds}); turn.give_back()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "had\n"
    return process


def wait(process: subprocess.Popen[str]) -> None:
    """Wait for the end of a process."""
    process.communicate()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Make a file of a collection's name."""
    made = tmp_path / "c.db"
    made.write_bytes(b"")
    made.chmod(0o640)
    return made


def seconds_to_take(file: Path, patience_s: float) -> tuple[float, bool]:
    """Take the turn; say how long that took, and whether it was had."""
    began, turn = time.monotonic(), Turn(str(file))
    turn.take(patience_s)
    took, is_had = time.monotonic() - began, turn._descriptor is not None
    turn.give_back()
    return took, is_had


def test_a_turn_is_had_at_once_and_has_the_rights_of_the_file(file: Path) -> None:
    """Its file is made beside the collection, for whoever may write that."""
    took, is_had = seconds_to_take(file, 5)
    assert is_had
    assert took < 1
    beside = file.with_name(file.name + TURN)
    assert stat.S_IMODE(beside.stat().st_mode) == 0o640
    assert beside.stat().st_gid == file.stat().st_gid


def test_who_waits_has_it_when_the_other_gives_it_back(file: Path) -> None:
    """Neither at once nor after the patience."""
    process = other(file, 0.5)
    took, is_had = seconds_to_take(file, 20)
    assert is_had
    assert 0.2 < took < 10
    wait(process)


def test_patience_ends(file: Path) -> None:
    """Then it goes on without; and the lock that comes later is given back by itself."""
    process = other(file, 1.5)
    took, is_had = seconds_to_take(file, 0.2)
    assert not is_had
    assert 0.2 <= took < 1.2
    wait(process)
    assert seconds_to_take(file, 5)[1]


def test_everybody_waits_for_an_import(file: Path) -> None:
    """Its turn is longer than a judge's patience."""
    process = other(file, 1.5, bulk=True)
    took, is_had = seconds_to_take(file, 0.2)
    assert is_had
    assert took > 0.5
    wait(process)
    assert file.with_name(file.name + TURN).stat().st_size == 0


def test_who_is_killed_gives_it_back(file: Path) -> None:
    """And what it said about an import is forgotten."""
    process = other(file, 60, bulk=True)
    process.kill()
    wait(process)
    assert seconds_to_take(file, 5)[1]
    process = other(file, 1.5)
    assert not seconds_to_take(file, 0.2)[1]
    wait(process)


def test_without_the_right_to_make_it_there_is_no_queue(file: Path) -> None:
    """The collection can be written, its folder cannot."""
    beside = file.with_name(file.name + TURN)
    beside.mkdir()
    took, is_had = seconds_to_take(file, 5)
    assert not is_had
    assert took < 1


def test_threads_take_turns_in_the_order_they_came(file: Path) -> None:
    """First come, first served."""
    order: list[int] = []
    first = Turn(str(file))
    first.take(5)

    def take(number: int) -> None:
        turn = Turn(str(file))
        turn.take(30)
        order.append(number)
        turn.give_back()

    threads = [threading.Thread(target=take, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    first.give_back()
    for thread in threads:
        thread.join()
    assert order == list(range(8))
