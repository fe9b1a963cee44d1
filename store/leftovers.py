"""Places beside a target where it is made, and what a command that was killed left in them.

A name there tells by whom it was made: the machine since its last start, the number of the process
and when that began, so that neither a process of another machine that shares the folder nor one
that got the number of a dead one is taken for its maker.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from store.turns import TURN

SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file, by the end of its name."""
BESIDE = (*SIDE_FILES, TURN)
"""What may lie beside a collection file: also the file in which writers wait for their turn."""
UNTOLD_S = 86_400.0
"""After so long without a change a thing is left over whose maker cannot be asked after."""

_LONGEST = 180
"""Bytes of the target's name that go into the other; a file system takes 255 in all."""
_NAME = re.compile(
    r"(\.(.+)\.([0-9a-f]{8})-(\d{1,9})-(\d{1,18})-[0-9a-f]{6}\.(part|old))"
    rf"(?:{'|'.join(map(re.escape, BESIDE))})?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Leftover:
    """A thing that no living process of this machine is known to be making."""

    paths: list[Path]
    """A file or a folder, with what SQLite kept beside it."""
    is_over: bool
    """Whether the next command that writes to the folder removes it."""
    told: str
    """What it is, and what becomes of it."""


def place_beside(target: Path, ending: str = "part") -> Path:
    """Name a place beside a target that nothing has; `ending` is part, or old."""
    stem = os.fsencode(target.name)[:_LONGEST].decode(errors="ignore")
    pid = os.getpid()
    mark = f"{_here()}-{pid}-{max(_began(pid), 0)}-{os.urandom(3).hex()}"
    return target.with_name(f".{stem}.{mark}.{ending}")


def remove_leftovers(folder: Path) -> None:
    """Remove what dead processes left in a folder, as far as this account may."""
    for one in leftovers(folder):
        for path in one.paths if one.is_over else ():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()


def leftovers(folder: Path) -> Iterator[Leftover]:
    """Yield what is left in a folder; what a living process is making is not.

    What was to be replaced is not over before something else has its name.
    """
    found: dict[str, tuple[re.Match[str], list[Path]]] = {}
    with suppress(OSError):
        names = sorted(path.name for path in folder.iterdir())
        for match in filter(None, map(_NAME.fullmatch, names)):
            found.setdefault(match[1], (match, []))[1].append(folder / match[0])
    for name, (match, paths) in found.items():
        lives = _lives(match[3], int(match[4]), int(match[5]))
        if lives:
            continue
        if match[6] == "old" and not (folder / match[2]).exists():
            is_over, told = False, f"was `{match[2]}`, being replaced when a command was killed"
        elif lives is None and time.time() - max(map(_changed, paths)) < UNTOLD_S:
            is_over = False
            told = "is being written on another machine, or left of a command that was killed"
        else:
            is_over = True
            told = "is left of a command that was killed; the next that writes there removes it"
        yield Leftover(paths, is_over, f"{name} {told}")


@cache
def _here() -> str:
    """Tell this machine since its start, and its space of process numbers, from all others."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        said = f"{boot} {Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        import platform
        import uuid

        said = f"{platform.node()} {uuid.getnode()}"
    return sha256(said.encode()).hexdigest()[:8]


def _began(pid: int) -> int:
    """Return when a process began, in ticks of this machine; 0 = not to be told, -1 = it ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0
    return -1 if fields[0] in (b"Z", b"X") else int(fields[19])


def _lives(here: str, pid: int, began: int) -> bool | None:
    """Say whether a process lives; ``None`` = that cannot be told."""
    if here != _here() or os.name != "posix":
        return None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is another account's
    now = _began(pid)
    return None if not now or not began else now == began


def _changed(path: Path) -> float:
    """Return when a file, or anything in a folder, changed last; now where that is not to be told.

    In seconds since 1970.
    """
    try:
        return max(one.lstat().st_mtime for one in (path, *path.rglob("*")))
    except OSError:
        return time.time()
