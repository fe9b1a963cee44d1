"""A file or folder whole or not at all; one seal (CRC) over a finished SQLite file.

A name tells by whom a file is made: machine, process and when that began, so that nobody else is taken for
its maker. The seal stands in two fields that the format leaves to applications, since SQLite finds a page
that makes no sense, and not a grade that became another one: the application's id, a mark, and the user's
version, the CRC-32 of the file with that field as zeros. Whoever writes takes it off (`store.db.engine`).
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from store.db.turns import TURN
from store.errors import StoreError

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
            told = "is being written on another machine, or was left by a command that was killed"
        else:
            is_over = True
            told = "was left by a command that was killed; the next one that writes there removes it"
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
    """Return when a file, or anything in a folder, changed last; now where that is not to be told."""
    try:
        return max(one.lstat().st_mtime for one in (path, *path.rglob("*")))
    except OSError:
        return time.time()


_SQLITE = b"SQLite format 3\0"


def check_folder(target: Path) -> None:
    """Refuse a place where no file can be made, before any work."""
    reason = None
    folder = target.absolute().parent
    if target.is_dir():
        reason = "it is a folder"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}"
    elif not os.access(folder, os.W_OK):
        reason = "permission denied"
    if reason is not None:
        message = f"{target}: cannot be written: {reason}"
        raise StoreError(message, hint="name another file")


@contextmanager
def made_whole(target: Path, *, replaces: bool = False, private: bool = True) -> Iterator[Path]:
    """Give a place beside `target`; what is there at the end of the block becomes `target`, on the disk.

    `replaces`: a file that is there gives way, and leaves its mode, group and owner to the new one; else a
    `StoreError`, also for one that came meanwhile. `private`: a new file is for its owner alone.
    """
    target = real_place(target)
    rights = target.stat() if replaces and target.exists() else None
    with part_beside(target, private=private) as part:
        yield part
        for name in SIDE_FILES:
            part.with_name(part.name + name).unlink(missing_ok=True)
        synchronise(part)
        if rights is not None:
            give_rights(part, rights)
        if replaces:
            part.replace(target)
        else:
            put(part, target)
        synchronise(target.parent)


@contextmanager
def folder_beside(target: Path, *, private: bool) -> Iterator[Path]:
    """Make a folder beside `target` that takes its place at the end of the block.

    Nothing is left of it on an error.

    `private`: what is new is for its owner alone; else the umask says for whom. What is replaced leaves its
    mode, group and owner to what takes its place.
    """
    target = real_place(target)
    remove_leftovers(target.parent)
    folder, old = place_beside(target), place_beside(target, "old")
    try:
        folder.mkdir(0o700 if private else 0o777)
        yield folder
        for path in (*folder.rglob("*"), folder):
            replaced = target / path.relative_to(folder)
            if replaced.exists():
                give_rights(path, replaced.stat())
            elif private:
                path.chmod(0o700 if path.is_dir() else 0o600)
        if target.exists():
            target.rename(old)
        folder.rename(target)
        remove_leftovers(target.parent)  # also what was replaced by a command that was killed
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def part_beside(target: Path, *, private: bool = True) -> Iterator[Path]:
    """Give an empty file beside another; nothing is left of it after the block, nor of killed commands."""
    target = real_place(target)
    remove_leftovers(target.parent)
    part = place_beside(target)
    try:
        part.touch(0o600 if private else 0o666, exist_ok=False)
        yield part
    finally:
        for name in ("", *BESIDE):
            part.with_name(part.name + name).unlink(missing_ok=True)


def real_place(path: Path) -> Path:
    """Follow links to where a file is, or would be; `StoreError`: they lead in a circle."""
    try:
        place = path.resolve()
        is_circle = place.is_symlink()  # from Python 3.13 on a circle is no error
    except (OSError, RuntimeError):
        is_circle = True
    if is_circle:
        message = f"{path}: a link that leads back to itself"
        raise StoreError(message, hint="name another file")
    return place


def give_rights(path: Path, rights: os.stat_result) -> None:
    """Give a file or folder the owner and group of another, as far as may be, and its mode."""
    for owner in (rights.st_uid, -1):
        with suppress(OSError, AttributeError):  # Windows has no owners
            os.chown(path, owner, rights.st_gid)
            break
    path.chmod(stat.S_IMODE(rights.st_mode))


def put(part: Path, target: Path) -> None:
    """Give a file a second name that nothing has, or its only one where there are no links."""
    try:
        target.hardlink_to(part)
    except OSError as error:
        if isinstance(error, FileExistsError) or target.exists():
            message = f"{target} was made by somebody else meanwhile"
            raise StoreError(message, hint="nothing was changed; name another file") from error
        part.rename(target)


def synchronise(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    try:
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
    except OSError:
        # Some folders may not be read, and some file systems cannot do it for folders.
        if not path.is_dir():
            raise


def side_files(file: Path) -> list[Path]:
    """Return the files that SQLite keeps beside one and that are there."""
    beside = (file.with_name(file.name + name) for name in SIDE_FILES)
    return [path for path in beside if path.exists()]


def is_cut(file: Path) -> bool:
    """Say whether a SQLite file ends in the middle of a page, which SQLite would read as zeros.

    Where a log lies beside it, what is missing may be in the log, and SQLite sees to it.
    """
    with file.open("rb") as stream:
        header = stream.read(100)
        size = os.fstat(stream.fileno()).st_size
    page = int.from_bytes(header[16:18], "big")
    if len(header) < 100 or not header.startswith(_SQLITE) or page == 0:
        return False  # SQLite says what it is
    log = file.with_name(file.name + "-wal")
    # 1 stands for 65,536, which two bytes cannot hold.
    return bool(size % (65536 if page == 1 else page)) and not (log.exists() and log.stat().st_size)


SEAL = 0x706F6F6C
"""The application's id of a sealed file ("pool")."""

_CHECKSUM_AT = 60
_MARK_AT = 68
_HEADER = 100
_FIELD = struct.Struct(">I")
_BLOCK = 1 << 20


def seal(file: Path) -> None:
    """Seal a SQLite file that nobody has open."""
    with file.open("r+b") as stream:
        stream.seek(_MARK_AT)
        stream.write(_FIELD.pack(SEAL))
        stream.flush()
        checksum = _checksum(file)
        stream.seek(_CHECKSUM_AT)
        stream.write(_FIELD.pack(checksum))


def seal_fault(file: Path) -> str | None:
    """Say what is wrong with a file by its seal; ``None`` = nothing, or it has none.

    A CRC-32 misses no change of up to 32 neighbouring bits, and of all others one in 2**32.
    """
    mark, stated = _fields(file)
    if mark != SEAL:
        return "its seal is broken" if stated else None
    # Whoever began to work on it meanwhile took the seal off first.
    if stated == _checksum(file) or _fields(file)[0] != SEAL:
        return None
    return "its checksum does not match its content"


def _fields(file: Path) -> tuple[int, int]:
    """Return the mark and the checksum of a file; 0 where it has none."""
    with file.open("rb") as stream:
        header = stream.read(_HEADER)
    if len(header) < _HEADER:
        return 0, 0
    return _FIELD.unpack_from(header, _MARK_AT)[0], _FIELD.unpack_from(header, _CHECKSUM_AT)[0]


def _checksum(file: Path) -> int:
    """Return the CRC-32 of a file, the field of the checksum taken for zeros."""
    with file.open("rb") as stream:
        first = bytearray(stream.read(_BLOCK))
        first[_CHECKSUM_AT : _CHECKSUM_AT + _FIELD.size] = bytes(_FIELD.size)
        checksum = zlib.crc32(first)
        while block := stream.read(_BLOCK):
            checksum = zlib.crc32(block, checksum)
    return checksum
