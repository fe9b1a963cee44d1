"""A collection in a folder that may not be written to."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.run import PROGRAM

pytestmark = pytest.mark.slow

# Modes do not bind an administrator who has all rights.
BOUND = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


@pytest.fixture
def closed(judged: Path) -> Iterator[Path]:
    """Give a collection in a folder that is closed, beside one that is open."""
    if BOUND and not shutil.which("setpriv"):
        pytest.skip("an administrator cannot give up rights here")
    folder = judged / "closed"
    folder.mkdir()
    shutil.copy("collection.db", folder / "c.db")
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


def told(folder: Path, words: str) -> list[str]:
    """Run a command in the folder, and return what it says on stderr."""
    line = [*BOUND, *map(str, PROGRAM), *words.split()]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.stderr.splitlines()


def test_the_folder_is_named_and_what_reads_goes_on(closed: Path) -> None:
    """SQLite would say that the file cannot be written, or not be opened."""
    (following,) = told(closed, "status --collection c.db")
    assert following.startswith("next: pooler ")
    assert told(closed, "judges add x --collection c.db") == [
        "error: c.db: its folder may be read but not written",
        f"hint: what only reads goes on; to write, chmod u+w {closed}, or pooler backup FILE and restore it"
        " elsewhere",
    ]
    refused = ["error: n.db: cannot be written: permission denied", "hint: name another file"]
    assert told(closed, "init --collection n.db") == refused
    assert told(closed, "restore ../collection.db --collection n.db") == refused
    assert told(closed, "restore c.db --collection n.db") == refused
    # The hint, typed.
    assert "checked and sealed" in told(closed, "backup ../c.backup --collection c.db")[0]


def test_a_folder_that_takes_no_files_is_not_blamed_on_a_name_nobody_gave(judged: Path) -> None:
    """The error is of the file that was named."""
    assert told(judged, "backup /proc/b --collection collection.db")[0].startswith("error: /proc/b: ")
