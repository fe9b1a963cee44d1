"""Compressed files read as what is in them, recognised by their first bytes."""

from __future__ import annotations

import io
import os
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from store.errors import ArgumentError, Fault, FormatError, PoolerError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MAGIC_BYTES = 6
"""Bytes of a file by which its compression is recognised."""
_MOST_BYTES = 1 << 18
"""Most uncompressed bytes that a library gives at once, where it can be asked."""
_MOST_TIMES = 100
"""As many bytes as this may come of one: of text some 10 do."""
_MOST_MB = "POOLER_MOST_MB"
LIFTED = f"{_MOST_MB}=1000 before the command lets a line, a document and what is unpacked have 1,000 MB"
_TRUNCATED = "ends too early: the file is truncated"


def most_bytes() -> int:
    """Return the bytes that a line, a document, and what packed data suspiciously gives, may have at most."""
    text = os.environ.get(_MOST_MB, "32")
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ArgumentError(_MOST_MB, "must be an integer >= 1", text)
    return int(text) * 1_000_000


class ByteBlocks(io.RawIOBase):
    """Blocks of bytes, one after another, as a file; `close` closes what they are made of.

    An error of theirs is raised as often as it is read on.
    """

    def __init__(self, blocks: Iterator[bytes], close: Callable[[], object] | None = None) -> None:
        self._blocks, self._close = blocks, close
        self._given = memoryview(b"")
        self._error: Exception | None = None

    def readable(self) -> bool:  # noqa: D102 - as every stream has it
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:  # noqa: D102 - likewise
        if self._error is not None:
            raise self._error
        try:
            while not self._given and (block := next(self._blocks, None)) is not None:
                self._given = memoryview(block)
        except Exception as error:
            self._error = error
            raise
        view = memoryview(buffer).cast("B")
        n_bytes = min(len(view), len(self._given))
        view[:n_bytes] = self._given[:n_bytes]
        self._given = self._given[n_bytes:]
        return n_bytes

    def close(self) -> None:  # noqa: D102 - likewise
        if not self.closed and self._close is not None:
            self._close()
        super().close()


class DamagedDataError(Exception):
    """Compressed data is truncated or damaged; the message says which."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"{kind} data {reason}")
        self.kind = kind
        """`gzip`, `xz`, `bz2` or `zstd`."""


def uncompressed(source: io.BufferedReader, path: str) -> io.BufferedReader:
    """Return the uncompressed content of a file; `source` itself when it is not compressed.

    Over a pipe it waits for the first bytes. The new reader closes `source`, and raises `DamagedDataError`.
    """
    first = source.peek(MAGIC_BYTES)
    kind = _kind_of(first)
    if kind is not None:
        packed = _Packed(source)
        try:
            blocks = kind.content(packed)
        except ImportError as error:
            source.close()
            message = f"{path}: {kind.name} files need the Python package `{error.name}`"
            raise PoolerError(message, hint=kind.hint) from error
        content = ByteBlocks(_limited(kind, packed, blocks, path), source.close)
        return io.BufferedReader(content, _MOST_BYTES)
    fault, hint = None, None
    if other := next((name for magic, name in _UNREAD.items() if first.startswith(magic)), None):
        fault, hint = Fault(None, f"expected text, got {other}", "binary"), _UNREAD_HINT
    elif (named_form := misnamed_as(path, first)) and not _is_text(first):
        fault = Fault(None, f"expected {named_form} data, as the name says, or text, got neither", named_form)
    if fault is not None:
        source.close()
        raise FormatError(path, [fault], hint=hint)
    return source


class _Packed:
    def __init__(self, source: io.BufferedReader) -> None:
        self._source, self.n_bytes = source, 0

    def read(self, n_bytes: int = -1) -> bytes:
        return self._counted(self._source.read(n_bytes))

    def read1(self, n_bytes: int = -1) -> bytes:
        return self._counted(self._source.read1(n_bytes))

    def _counted(self, data: bytes) -> bytes:
        self.n_bytes += len(data)
        return data


def _limited(kind: _Kind, packed: _Packed, blocks: Iterator[bytes], path: str) -> Iterator[bytes]:
    """Yield unpacked blocks until they are more than text gives."""
    most, n_bytes = most_bytes(), 0
    for block in blocks:
        n_bytes += len(block)
        if n_bytes > max(most, _MOST_TIMES * packed.n_bytes):
            message = (
                f"expected {kind.name} data of at most {most:,} bytes, or {_MOST_TIMES} times what is"
                " packed, got more"
            )
            raise FormatError(path, [Fault(None, message, "large")], hint=LIFTED)
        yield block


def misnamed_as(path: str, first: bytes) -> str | None:
    """Return what a file is called that its first bytes do not begin; ``None`` = it is not."""
    return (
        None if _kind_of(first) else next((kind.name for kind in _KINDS if path.endswith(kind.suffix)), None)
    )


def packing(first: bytes) -> str | None:
    """Return the program that unpacks, with `-cd`, a file that begins so; ``None`` = it is not packed."""
    kind = _kind_of(first)
    return None if kind is None else kind.name.replace("bz2", "bzip2")


def _kind_of(first: bytes) -> _Kind | None:
    return next((kind for kind in _KINDS if first.startswith(kind.magic)), None)


def _is_text(beginning: bytes) -> bool:
    """Return whether the first bytes of a file, to the middle of a character, may be UTF-8."""
    try:
        return "\0" not in getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return False


def _gzip(source: _Packed) -> Iterator[bytes]:
    import gzip  # as below: brings much that plain files need nothing of

    file = gzip.GzipFile(fileobj=cast(BinaryIO, source))
    try:
        yield from iter(partial(file.read1, _MOST_BYTES), b"")
    except EOFError as error:
        raise DamagedDataError("gzip", _TRUNCATED) from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise DamagedDataError("gzip", f"is damaged: {error}") from error


def _xz(source: _Packed) -> Iterator[bytes]:
    import lzma

    start = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ)
    return _members(source, "xz", start, lzma.LZMAError, most_bytes=(_MOST_BYTES,), padding=b"\0")


def _bz2(source: _Packed) -> Iterator[bytes]:
    import bz2

    return _members(source, "bz2", bz2.BZ2Decompressor, OSError, most_bytes=(_MOST_BYTES,))


def _zstd(source: _Packed) -> Iterator[bytes]:
    import zstandard  # an extra

    start = zstandard.ZstdDecompressor().decompressobj
    # It gives at once all the content of what it is fed: 4 bytes can hold 128 KiB.
    return _members(source, "zstd", start, zstandard.ZstdError, read_bytes=1 << 12)


def _members(
    source: _Packed,
    kind: str,
    start: Callable[[], Any],
    damage: type[Exception],
    *,
    most_bytes: tuple[int, ...] = (),
    read_bytes: int = 1 << 16,
    padding: bytes = b"",
) -> Iterator[bytes]:
    """Yield the content of one stream or frame after another, between which `padding` may stand.

    The files of these libraries take what is no stream behind the first one, be it damaged, for the end.
    """
    inside = start()
    while True:
        data = b""
        if inside.eof:
            data = inside.unused_data.lstrip(padding)
            while not data and (more := source.read1(read_bytes)):
                data = more.lstrip(padding)
            if not data:
                return
            inside = start()
        elif getattr(inside, "needs_input", True):
            data = source.read1(read_bytes)
            if not data:
                raise DamagedDataError(kind, _TRUNCATED)
        try:
            content = inside.decompress(data, *most_bytes)
        except damage as error:
            raise DamagedDataError(kind, f"is damaged: {error}") from error
        yield content


@dataclass(frozen=True, slots=True)
class _Kind:
    name: str
    suffix: str
    """How the name of such a file ends."""
    magic: tuple[bytes, ...]
    content: Callable[[_Packed], Iterator[bytes]]
    hint: str = "this Python was built without it; uncompress the file first"
    """What to do when a package is missing."""


_ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes([skipped]) + b"\x2a\x4d\x18" for skipped in range(0x50, 0x60)))
"""A file may begin with a frame to be skipped, of one of 16 kinds."""
_BZ2 = tuple(b"BZh%d%b" % (size, block) for size in range(1, 10) for block in (b"1A", b"\x17r"))
"""The block of an empty file is another one."""
_KINDS = (
    _Kind("gzip", ".gz", (b"\x1f\x8b",), _gzip),
    _Kind("xz", ".xz", (b"\xfd7zXZ\0",), _xz),
    _Kind("bz2", ".bz2", _BZ2, _bz2),
    _Kind("zstd", ".zst", _ZSTD, _zstd, hint="pip install zstandard"),
)
_UNREAD = {b"PK\3\4": "a zip archive", b"7z\xbc\xaf\x27\x1c": "a 7z archive", b"PAR1": "a Parquet file"}
_UNREAD_HINT = "unpack it, or write it as text, first"
