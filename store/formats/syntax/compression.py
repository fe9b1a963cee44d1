"""Compressed files seen through: told apart by their first bytes."""

from __future__ import annotations

import io
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from store.errors import Fault, FormatError, PoolerError
from store.formats.syntax.content import ByteBlocks

MAGIC_BYTES = 6
"""Bytes of a file that tell how it is compressed."""
_MOST_BYTES = 1 << 18
"""Most uncompressed bytes that a library gives at once, where it can be asked."""
_TRUNCATED = "ends too early: the file is truncated"


class DamagedDataError(Exception):
    """Compressed data is truncated or damaged; the message says which."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"{kind} data {reason}")
        self.kind = kind
        """`gzip`, `xz`, `bz2` or `zstd`."""


def uncompressed(source: io.BufferedReader, path: str) -> io.BufferedReader:
    """See through the compression of a file, if it has any; `source` itself is returned when it has none.

    `source` is returned when there is none; over a pipe it has to wait for its first bytes, as a buffered
    reader over a buffered reader does. The new reader closes `source`, and raises `DamagedDataError`.
    """
    first = source.peek(MAGIC_BYTES)
    kind = next((kind for kind in _KINDS if first.startswith(kind.magic)), None)
    if kind is not None:
        try:
            return io.BufferedReader(ByteBlocks(kind.content(source), source.close), _MOST_BYTES)
        except ImportError as error:
            source.close()
            message = f"{path}: {kind.name} files need the Python package `{error.name}`"
            raise PoolerError(message, hint=kind.hint) from error
    fault, hint = None, None
    if other := next((name for magic, name in _UNREAD.items() if first.startswith(magic)), None):
        fault, hint = Fault(None, f"expected text, got {other}", "binary"), _UNREAD_HINT
    elif (named_form := misnamed_as(path, first)) and not _is_text(first):
        fault = Fault(None, f"expected {named_form} data, as the name says, or text, got neither", named_form)
    if fault is not None:
        source.close()
        raise FormatError(path, [fault], hint=hint)
    return source


def misnamed_as(path: str, first: bytes) -> str | None:
    """Say what a file is called that its first bytes do not begin; ``None`` = it is not."""
    if any(first.startswith(kind.magic) for kind in _KINDS):
        return None
    return next((kind.name for kind in _KINDS if path.endswith(kind.suffix)), None)


def _is_text(beginning: bytes) -> bool:
    """Return whether the first bytes of a file, to the middle of a character, may be UTF-8."""
    try:
        return "\0" not in getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return False


def _gzip(source: io.BufferedReader) -> Iterator[bytes]:
    import gzip  # as below: brings much that plain files need nothing of

    file = gzip.GzipFile(fileobj=source)

    def blocks() -> Iterator[bytes]:
        try:
            yield from iter(partial(file.read1, _MOST_BYTES), b"")
        except EOFError as error:
            raise DamagedDataError("gzip", _TRUNCATED) from error
        except (gzip.BadGzipFile, zlib.error) as error:
            raise DamagedDataError("gzip", f"is damaged: {error}") from error

    return blocks()


def _xz(source: io.BufferedReader) -> Iterator[bytes]:
    import lzma

    start = partial(lzma.LZMADecompressor, lzma.FORMAT_XZ)
    return _members(source, "xz", start, lzma.LZMAError, most_bytes=(_MOST_BYTES,), padding=b"\0")


def _bz2(source: io.BufferedReader) -> Iterator[bytes]:
    import bz2

    return _members(source, "bz2", bz2.BZ2Decompressor, OSError, most_bytes=(_MOST_BYTES,))


def _zstd(source: io.BufferedReader) -> Iterator[bytes]:
    import zstandard  # an extra

    start = zstandard.ZstdDecompressor().decompressobj
    # It gives at once all the content of what it is fed: 4 bytes can hold 128 KiB.
    return _members(source, "zstd", start, zstandard.ZstdError, read_bytes=1 << 12)


def _members(
    source: io.BufferedReader,
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
    """A kind of compression."""

    name: str
    suffix: str
    """How the name of such a file ends."""
    magic: tuple[bytes, ...]
    content: Callable[[io.BufferedReader], Iterator[bytes]]
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
