"""Files and folders written whole or not at all; the seal (CRC) over a finished SQLite file.

What is being made lies beside its target under a name of its own until it is whole. The seal stands in two
fields that the format leaves to applications, since SQLite finds a page that makes no sense, and not a grade
that became another one: the application's id, a mark, and the user's version, the CRC-32 of the file with
that field as zeros. Writing takes it off (`store.db.engine`).
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from store.errors import StoreError

SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file, by the end of its name."""
LEFT_OVER_S = 86_400.0
"""After so long without a change, what is being made was left by a command that was killed."""

_LONGEST = 180
"""Bytes of the target's name that go into the other; a file system takes 255 in all."""


def place_beside(target: Path) -> Path:
    """Return an unused place beside a target; what commands killed a day ago or more left there goes."""
    start = f".{os.fsencode(target.name)[:_LONGEST].decode(errors='ignore')}."
    pattern = re.compile(rf"{re.escape(start)}[0-9a-f]{{12}}\.part({'|'.join(SIDE_FILES)})?")
    with suppress(OSError):
        for path in target.absolute().parent.iterdir():
            is_left = pattern.fullmatch(path.name) and time.time() - path.lstat().st_mtime >= LEFT_OVER_S
            if not is_left:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()
    return target.with_name(f"{start}{os.urandom(6).hex()}.part")


def check_folder(target: Path) -> None:
    """Refuse a place where no file can be made, before any work."""
    reason = None
    folder = target.absolute().parent
    if str(target) == "-":
        reason = "it stands for standard output, and this is a place on the disk"
    elif target.is_dir():
        reason = "it is a folder"
    elif not folder.is_dir():
        reason = f"there is no folder {folder}"
    elif not os.access(folder, os.W_OK):
        reason = "permission denied"
    if reason is not None:
        raise StoreError(f"{target}: cannot be written: {reason}", hint="name another file")


@contextmanager
def made_whole(target: Path, *, replaces: bool = False, private: bool = True) -> Iterator[Path]:
    """Yield a place beside `target`; what is there at the end of the block becomes `target`, on the disk.

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
    """Make a folder beside `target`, empty or not there yet, that takes its place at the end of the block.

    Nothing is left of it on an error. `private`: what is new is for its owner alone; else the umask says for
    whom. A folder that was there leaves its mode, group and owner.
    """
    target = real_place(target)
    folder = place_beside(target)
    try:
        folder.mkdir(0o700 if private else 0o777)
        yield folder
        for path in folder.rglob("*") if private else ():
            path.chmod(0o700 if path.is_dir() else 0o600)
        if target.exists():
            give_rights(folder, target.stat())
            target.rmdir()
        folder.rename(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def part_beside(target: Path, *, private: bool = True) -> Iterator[Path]:
    """Yield an empty file beside another; nothing is left of it after the block, nor of killed commands."""
    part = place_beside(real_place(target))
    try:
        try:
            part.touch(0o600 if private else 0o666, exist_ok=False)
        except OSError as error:
            error.filename = str(target)  # the name that was asked for
            raise
        yield part
    finally:
        for name in ("", *SIDE_FILES):
            part.with_name(part.name + name).unlink(missing_ok=True)


def real_place(path: Path) -> Path:
    """Follow links to where a file is, or would be; `StoreError`: they lead in a circle, or it cannot be."""
    try:
        place = path.resolve()
        is_circle = place.is_symlink()  # from Python 3.13 on a circle is no error
    except RuntimeError:
        is_circle = True
    except OSError as error:
        is_circle = error.errno == errno.ELOOP
        if not is_circle:
            reason = error.strerror or "cannot be a file"
            raise StoreError(f"{path}: {reason.lower()}", hint="name another file") from error
    if is_circle:
        raise StoreError(f"{path}: a link that leads back to itself", hint="name another file")
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
    """Return whether a SQLite file ends in the middle of a page, which SQLite would read as zeros.

    Where a log lies beside it, what is missing may be in the log, and SQLite sees to it.
    """
    with file.open("rb") as stream:
        header = stream.read(100)
        size = os.fstat(stream.fileno()).st_size
    page = int.from_bytes(header[16:18], "big")
    if len(header) < 100 or not header.startswith(b"SQLite format 3\0") or page == 0:
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
    """Seal a SQLite file that no process has open."""
    with file.open("r+b") as stream:
        stream.seek(_MARK_AT)
        stream.write(_FIELD.pack(SEAL))
        stream.flush()
        checksum = _checksum(file)
        stream.seek(_CHECKSUM_AT)
        stream.write(_FIELD.pack(checksum))


def seal_fault(file: Path) -> str | None:
    """Return what is wrong with a file by its seal; ``None`` = nothing, or it has none.

    A CRC-32 misses no change of up to 32 neighbouring bits, and of all others one in 2**32.
    """
    mark, stated = _fields(file)
    if mark != SEAL:
        return "its seal is broken" if stated else None
    # A program that began to write meanwhile took the seal off first.
    is_whole = stated == _checksum(file) or _fields(file)[0] != SEAL
    return None if is_whole else "its checksum does not match its content"


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
