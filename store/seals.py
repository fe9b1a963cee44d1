"""A checksum in the header of a finished SQLite file: whether every byte is as it was written.

SQLite finds a page that makes no sense, and not a grade that became another one. The file format
leaves two fields of its header to applications: the application's id, here a mark that the file is
sealed, and the user's version, here the CRC-32 of the file with that field as zeros. Whoever writes
to the collection takes the seal off in the same transaction (`store.database`).
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

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


def unseal(file: Path) -> None:
    """Take the seal off a SQLite file that nobody has open."""
    with file.open("r+b") as stream:
        for place in (_MARK_AT, _CHECKSUM_AT):
            stream.seek(place)
            stream.write(_FIELD.pack(0))


def is_sealed(file: Path) -> bool:
    """Say whether a file is marked as sealed."""
    return _fields(file)[0] == SEAL


def seal_is_whole(file: Path) -> bool:
    """Say whether a sealed file has the bytes it was sealed with.

    Notes
    -----
    A CRC-32 misses no change of up to 32 neighbouring bits, and of all others one in 2**32. Some
    1 to 3 GB a second.
    """
    return _fields(file)[1] == _checksum(file)


def seal_fault(file: Path) -> str | None:
    """Say what is wrong with a file by its seal; ``None`` = nothing, or it has none."""
    mark, stated = _fields(file)
    if mark != SEAL:
        return "its seal is broken" if stated else None
    # Whoever began to work on it meanwhile took the seal off first.
    if seal_is_whole(file) or not is_sealed(file):
        return None
    return "it is not as it was written, by its checksum"


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
