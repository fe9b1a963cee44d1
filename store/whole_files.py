"""A file that appears whole or not at all: written beside its place, then put there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from store.errors import StoreError
from store.leftovers import BESIDE, SIDE_FILES, place_beside, remove_leftovers

_SQLITE = b"SQLite format 3\0"


def check_folder(target: Path) -> None:
    """Refuse a place where no file can be made, before any work.

    Raises
    ------
    StoreError
        If it is a folder, or no folder holds it, or nothing may be written there.
    """
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
    """Give a place beside `target`; what is there at the end of the block becomes `target`.

    Parameters
    ----------
    target : Path
        The file to be made.
    replaces : bool, default=False
        Whether a file that is there gives way. Otherwise one that came meanwhile stays.
    private : bool, default=True
        Whether a new file is for its owner alone; else the umask says for whom. One that gives way
        leaves its mode, group and owner to the new one.

    Yields
    ------
    Path
        An empty file; nothing is left there after the block.

    Raises
    ------
    StoreError
        If there is a file by now, and `replaces` is false.

    Notes
    -----
    The bytes are on the disk before the name is, and the name before this returns.
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
def part_beside(target: Path, *, private: bool = True) -> Iterator[Path]:
    """Give an empty file beside another; nothing is left of it after the block.

    What killed commands left in the folder is removed first, see `store.leftovers`.
    """
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
    """Follow links to where a file is, or would be.

    Raises
    ------
    StoreError
        If they lead in a circle.
    """
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        message = f"{path}: a link that leads back to itself"
        raise StoreError(message, hint="name another file") from error


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
    except FileExistsError as error:
        message = f"{target} came into being meanwhile"
        raise StoreError(message, hint="nothing was changed; name another file") from error
    except OSError:
        if target.exists():
            message = f"{target} came into being meanwhile"
            raise StoreError(message, hint="nothing was changed; name another file") from None
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
