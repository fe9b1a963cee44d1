"""Compressed files, seen through: gzip, xz and zstd, told apart by their first bytes."""

from __future__ import annotations

import io
import zlib
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, ClassVar, Protocol

from store.errors import Fault, FormatError, PoolerError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAGIC_BYTES = 6
"""Bytes of a file that tell how it is compressed."""
_READ_BYTES = 1 << 16
"""Compressed bytes taken at a time ..."""
_ZSTD_READ_BYTES = 1 << 12
"""... and by zstd, which gives at once all their content: 4 bytes of it can hold 128 KiB."""
_MOST_BYTES = 1 << 18
"""Most uncompressed bytes that the others give at once."""


class DamagedDataError(Exception):
    """Compressed data is truncated or damaged; the message says which."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"{kind} data {reason}")
        self.kind = kind
        """`gzip`, `xz` or `zstd`."""


def uncompressed(source: io.BufferedReader, path: str) -> io.BufferedReader:
    """See through the compression of a file, if it has any; `source` itself is returned when it has none.

    `source` is returned when there is none; over a pipe it has to wait for its first bytes, as a buffered
    reader over a buffered reader does. The new reader closes `source`, and raises `DamagedDataError`.
    """
    first = source.peek(MAGIC_BYTES)
    kind = next((kind for kind in _KINDS if first.startswith(kind.magic)), None)
    if kind is None:
        if (said := misnamed_as(path, first)) and not _is_text(first):
            source.close()
            message = f"expected {said} data, as the name says, or text, got neither"
            raise FormatError(path, [Fault(None, message, said)])
        return source
    try:
        return io.BufferedReader(_Contents(source, kind), _MOST_BYTES)
    except ImportError as error:
        message = f"{path}: {kind.name} files need the Python package `{error.name}`"
        source.close()
        raise PoolerError(message, hint=kind.hint) from error


def misnamed_as(path: str, first: bytes) -> str | None:
    """Say what a file is called that its first bytes do not begin; ``None`` = it is not."""
    if any(first.startswith(kind.magic) for kind in _KINDS):
        return None
    return next((kind.name for kind in _KINDS if path.endswith(kind.suffix)), None)


def _is_text(beginning: bytes) -> bool:
    """Say whether the first bytes of a file, to the middle of a character, may be UTF-8."""
    try:
        return "\0" not in getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return False


class _Member(Protocol):
    """One member of a gzip file, stream of an xz file, or frame of a zstd file."""

    name: ClassVar[str]
    suffix: ClassVar[str]
    """How the name of such a file ends."""
    magic: ClassVar[tuple[bytes, ...]]
    hint: ClassVar[str]
    """What to do when a package is missing."""
    read_bytes: ClassVar[int]
    """Compressed bytes to feed at a time."""
    padding: ClassVar[int]
    """NULs may follow a member, in multiples of this; 0 = none may."""

    def __init__(self) -> None: ...

    def feed(self, data: bytes) -> bytes:
        """Take compressed bytes and give some of their content; `DamagedDataError` if damaged."""

    def wants_data(self) -> bool:
        """Say whether all the content of what was fed may have been given."""

    def rest(self) -> bytes | None:
        """Return what came after the end; ``None`` before that has been seen."""


class _Gzip:
    name: ClassVar[str] = "gzip"
    suffix: ClassVar[str] = ".gz"
    magic: ClassVar[tuple[bytes, ...]] = (b"\x1f\x8b",)
    hint: ClassVar[str] = ""
    read_bytes: ClassVar[int] = _READ_BYTES
    padding: ClassVar[int] = 1

    def __init__(self) -> None:
        # 16 more than the window's bits: with header and checksum.
        self._inside = zlib.decompressobj(zlib.MAX_WBITS + 16)

    def feed(self, data: bytes) -> bytes:
        try:
            return self._inside.decompress(self._inside.unconsumed_tail + data, _MOST_BYTES)
        except zlib.error as error:
            raise DamagedDataError(self.name, f"is damaged: {error}") from error

    def wants_data(self) -> bool:
        return not self._inside.unconsumed_tail

    def rest(self) -> bytes | None:
        return self._inside.unused_data if self._inside.eof else None


class _Xz:
    name: ClassVar[str] = "xz"
    suffix: ClassVar[str] = ".xz"
    magic: ClassVar[tuple[bytes, ...]] = (b"\xfd7zXZ\0",)
    hint: ClassVar[str] = "this Python was built without it; uncompress the file first"
    read_bytes: ClassVar[int] = _READ_BYTES
    padding: ClassVar[int] = 4

    def __init__(self) -> None:
        import lzma  # seldom needed

        self._inside = lzma.LZMADecompressor(lzma.FORMAT_XZ)
        self._error = lzma.LZMAError

    def feed(self, data: bytes) -> bytes:
        try:
            return self._inside.decompress(data, _MOST_BYTES)
        except self._error as error:
            raise DamagedDataError(self.name, f"is damaged: {error}") from error

    def wants_data(self) -> bool:
        return self._inside.needs_input

    def rest(self) -> bytes | None:
        return self._inside.unused_data if self._inside.eof else None


class _Zstd:
    name: ClassVar[str] = "zstd"
    suffix: ClassVar[str] = ".zst"
    # A file may begin with a frame to be skipped, of one of 16 kinds.
    magic: ClassVar[tuple[bytes, ...]] = (
        b"\x28\xb5\x2f\xfd",
        *(bytes([kind]) + b"\x2a\x4d\x18" for kind in range(0x50, 0x60)),
    )
    hint: ClassVar[str] = "pip install pooler[zst]"
    read_bytes: ClassVar[int] = _ZSTD_READ_BYTES
    padding: ClassVar[int] = 0

    def __init__(self) -> None:
        import zstandard  # an extra

        self._inside = zstandard.ZstdDecompressor().decompressobj()
        self._error = zstandard.ZstdError

    def feed(self, data: bytes) -> bytes:
        try:
            content: bytes = self._inside.decompress(data)
        except self._error as error:
            raise DamagedDataError(self.name, f"is damaged: {error}") from error
        return content

    def wants_data(self) -> bool:
        return True

    def rest(self) -> bytes | None:
        return self._inside.unused_data if self._inside.eof else None


_KINDS: tuple[type[_Member], ...] = (_Gzip, _Xz, _Zstd)


class _Contents(io.RawIOBase):
    """What a compressed file holds: the contents of its members, one after another."""

    def __init__(self, source: io.BufferedReader, kind: type[_Member]) -> None:
        self._source = source
        self._kind = kind
        self._member = kind()
        self._given = memoryview(b"")
        self._damage: DamagedDataError | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        if self._damage is not None:
            raise self._damage
        if not self._given:
            try:
                self._given = memoryview(self._more())
            except DamagedDataError as error:
                self._damage = error
                raise
        view = memoryview(buffer).cast("B")
        n_bytes = min(len(view), len(self._given))
        view[:n_bytes] = self._given[:n_bytes]
        self._given = self._given[n_bytes:]
        return n_bytes

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()

    def _more(self) -> bytes:
        """Return the next bytes of the content; none at its end."""
        while True:
            data, is_last = b"", False
            rest = self._member.rest()
            if rest is not None:
                data = self._next_beginning(rest)
                if not data:
                    return b""
                self._member = self._kind()
            elif self._member.wants_data():
                data = self._source.read1(self._kind.read_bytes)
                is_last = not data
            content = self._member.feed(data)
            if content:
                return content
            if is_last and self._member.rest() is None:
                raise DamagedDataError(self._kind.name, "ends too early: the file is truncated")

    def _next_beginning(self, rest: bytes) -> bytes:
        """Return what follows a member, without the NULs that may stand between members."""
        n_padding, multiple = 0, self._kind.padding
        while True:
            if multiple:
                n_padding -= len(rest)
                rest = rest.lstrip(b"\0")
                n_padding += len(rest)
            if rest:
                break
            rest = self._source.read1(self._kind.read_bytes)
            if not rest:
                break
        if multiple and n_padding % multiple:
            reason = f"is damaged: {-n_padding} NUL bytes, no multiple of {multiple}, follow a stream"
            raise DamagedDataError(self._kind.name, reason)
        return rest
