"""What a killed process left beside its target goes; what a living one is making stays."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.db.files import UNTOLD_S, folder_beside, leftovers, made_whole, place_beside, remove_leftovers
from tests.helpers.run import environment

_MAKER = """
import sys, time
from pathlib import Path
from store.db.files import folder_beside
from store.db.files import part_beside
with part_beside(Path("b")) as part, folder_beside(Path("d"), private=True) as folder:
    part.with_name(part.name + "-wal").touch()
    part.with_name(part.name + ".turn").touch()
    (folder / "topics").mkdir()
    (folder / "topics" / "t").touch()
    print("now", flush=True)
    time.sleep(60)
"""
"""Makes a file and a folder, and is not done."""


@pytest.fixture
def maker(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give a process that is making `b` and `d` in `tmp_path`."""
    command = [sys.executable, "-c", _MAKER]
    with subprocess.Popen(command, cwd=tmp_path, env=environment({}), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"now\n"
        yield process
        process.kill()


def names(folder: Path) -> list[str]:
    """Return what is in a folder, hidden or not."""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("is_waited_for", [True, False])
def test_what_a_killed_process_left_goes(
    tmp_path: Path, maker: subprocess.Popen[bytes], is_waited_for: bool
) -> None:
    """The next one that writes to the folder removes it, also while nobody asked how it ended."""
    left = names(tmp_path)
    assert len(left) == 4
    with made_whole(tmp_path / "other") as part:
        part.write_text("x")
    assert names(tmp_path) == [*left, "other"]
    assert list(leftovers(tmp_path)) == []
    maker.kill()
    if is_waited_for:
        maker.wait()
    else:
        os.waitid(os.P_PID, maker.pid, os.WEXITED | os.WNOWAIT)
    assert [len(one.paths) for one in leftovers(tmp_path)] == [3, 1]
    with folder_beside(tmp_path / "new", private=False):
        pass
    assert names(tmp_path) == ["new", "other"]


def another(path: Path, *, machine: str | None = None, began: str | None = None) -> Path:
    """Return a path as a process of another machine, or one begun at another time, names it."""
    found = re.fullmatch(r"(.*\.)([0-9a-f]{8})-(\d+)-(\d+)-(\w+\.part)", path.name)
    assert found is not None
    start, here, pid, now, end = found.groups()
    assert int(pid) == os.getpid()
    return path.with_name(f"{start}{machine or here}-{pid}-{began or now}-{end}")


def test_number_of_a_dead_process_may_be_given_again(tmp_path: Path) -> None:
    """A living process that has the number of the dead one began at another time."""
    own = place_beside(tmp_path / "b")
    own.touch()
    another(place_beside(tmp_path / "b"), began="1").touch()
    remove_leftovers(tmp_path)
    assert names(tmp_path) == [own.name]


@pytest.mark.parametrize(("machine", "began"), [("00000000", None), (None, "0")])
def test_whom_nobody_can_ask_after_has_a_day(tmp_path: Path, machine: str | None, began: str | None) -> None:
    """What another machine makes stays until nothing in it has changed for a day."""
    folder = another(place_beside(tmp_path / "d"), machine=machine, began=began)
    folder.mkdir()
    (folder / "t").touch()
    database = another(place_beside(tmp_path / "b"), machine=machine, began=began)
    log = database.with_name(f"{database.name}-wal")
    for path in (database, log):
        path.touch()
    long_ago = time.time() - UNTOLD_S - 60
    for path in (folder, database):
        os.utime(path, (long_ago, long_ago))
    remove_leftovers(tmp_path)
    assert len(names(tmp_path)) == 3
    assert {one.is_over for one in leftovers(tmp_path)} == {False}
    for path in (folder / "t", folder, log):
        os.utime(path, (long_ago, long_ago))
    remove_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_what_was_being_replaced_stays_until_it_is(tmp_path: Path) -> None:
    """Killed between its two steps, a replacement leaves the earlier folder to be had."""
    old = another(place_beside(tmp_path / "d"), began="1").name.replace(".part", ".old")
    (tmp_path / old).mkdir()
    remove_leftovers(tmp_path)
    (left,) = leftovers(tmp_path)
    assert left.told == f"{old} was `d`, being replaced when a command was killed"
    with folder_beside(tmp_path / "d", private=False):
        assert (tmp_path / old).exists()
    assert names(tmp_path) == ["d"]


def test_other_hidden_files_stay(tmp_path: Path) -> None:
    """Only names of this form are looked at."""
    others = (".b.part", ".b.0123456789ab.part", ".x.1.2.swp", "b.00000000-1-1-000000.part")
    for name in others:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    remove_leftovers(tmp_path)
    assert names(tmp_path) == sorted(others)


@pytest.mark.parametrize("name", ["x" * 255, "資" * 85, "😀" * 63, "é" * 127 + "x"])
def test_longest_names_have_a_place_beside_them(tmp_path: Path, name: str) -> None:
    """Whatever name a file system takes, the other with all that SQLite adds is no longer."""
    with made_whole(tmp_path / name) as part:
        part.with_name(f"{part.name}-journal").touch()
    assert names(tmp_path) == [name]
