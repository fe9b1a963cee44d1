"""Compressed files, and Parquet, seen through: told apart by their first bytes."""

from __future__ import annotations

import io
import zlib
from codecs import getincrementaldecoder
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from store.errors import Fault, FormatError, PoolerError
from store.formats.syntax import parquet
from store.formats.syntax.content import ByteBlocks

MAGIC_BYTES = 6
"""Bytes of a file that tell how it is compressed."""
_MOST_BYTES = 1 << 18
"""Most uncompressed bytes that gzip and xz give at once."""


class DamagedDataError(Exception):
    """Compressed data is truncated or damaged; the message says which."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(f"{kind} data {reason}")
        self.kind = kind
        """`gzip`, `xz`, `zstd` or `parquet`."""


def uncompressed(source: io.BufferedReader, path: str) -> io.BufferedReader:
    """See through the compression of a file, if it has any; `source` itself is returned when it has none.

    `source` is returned when there is none; over a pipe it has to wait for its first bytes, as a buffered
    reader over a buffered reader does. The new reader closes `source`, and raises `DamagedDataError`.
    """
    first = source.peek(MAGIC_BYTES)
    kind = next((kind for kind in _KINDS if first.startswith(kind.magic)), None)
    if kind is None and first.startswith(parquet.MAGIC):
        try:
            rows = parquet.text_of(source, path, lambda reason: DamagedDataError("parquet", reason))
            return io.BufferedReader(rows, _MOST_BYTES)
        except ImportError as error:
            message = f"{path}: Parquet files need the Python package `pyarrow`"
            source.close()
            raise PoolerError(message, hint=parquet.HINT) from error
    if kind is None:
        if (said := misnamed_as(path, first)) and not _is_text(first):
            source.close()
            message = f"expected {said} data, as the name says, or text, got neither"
            raise FormatError(path, [Fault(None, message, said)])
        return source
    try:
        members = _Members(source, kind)
        return io.BufferedReader(ByteBlocks(iter(members.next_content, b""), source.close), _MOST_BYTES)
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


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of compression, whose files are made of members: streams of xz, frames of zstd."""

    name: str
    suffix: str
    """How the name of such a file ends."""
    magic: tuple[bytes, ...]
    start: Callable[[], tuple[Any, type[Exception]]]
    """Makes what decompresses one member, and names the error it raises."""
    feed: Callable[[Any, bytes], bytes]
    """Takes compressed bytes and gives some of their content."""
    wants_data: Callable[[Any], bool]
    """Whether all the content of what was fed may have been given."""
    padding: int
    """NULs may follow a member, in multiples of this; 0 = none may."""
    hint: str = ""
    """What to do when a package is missing."""
    read_bytes: int = 1 << 16
    """Compressed bytes taken at a time."""


def _start_gzip() -> tuple[Any, type[Exception]]:
    # 16 more than the window's bits: with header and checksum.
    return zlib.decompressobj(zlib.MAX_WBITS + 16), zlib.error


def _start_xz() -> tuple[Any, type[Exception]]:
    import lzma  # seldom needed

    return lzma.LZMADecompressor(lzma.FORMAT_XZ), lzma.LZMAError


def _start_zstd() -> tuple[Any, type[Exception]]:
    import zstandard  # an extra

    return zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError


_KINDS = (
    _Kind(
        "gzip",
        ".gz",
        (b"\x1f\x8b",),
        _start_gzip,
        feed=lambda inside, data: inside.decompress(inside.unconsumed_tail + data, _MOST_BYTES),
        wants_data=lambda inside: not inside.unconsumed_tail,
        padding=1,
    ),
    _Kind(
        "xz",
        ".xz",
        (b"\xfd7zXZ\0",),
        _start_xz,
        feed=lambda inside, data: inside.decompress(data, _MOST_BYTES),
        wants_data=lambda inside: inside.needs_input,
        padding=4,
        hint="this Python was built without it; uncompress the file first",
    ),
    _Kind(
        "zstd",
        ".zst",
        # A file may begin with a frame to be skipped, of one of 16 kinds.
        (b"\x28\xb5\x2f\xfd", *(bytes([kind]) + b"\x2a\x4d\x18" for kind in range(0x50, 0x60))),
        _start_zstd,
        feed=lambda inside, data: inside.decompress(data),
        wants_data=lambda _inside: True,
        padding=0,
        hint="pip install zstandard",
        # It gives at once all their content: 4 bytes of it can hold 128 KiB.
        read_bytes=1 << 12,
    ),
)


class _Members:
    """What a compressed file holds: the contents of its members, one after another."""

    def __init__(self, source: io.BufferedReader, kind: _Kind) -> None:
        self._source = source
        self._kind = kind
        self._inside, self._error = kind.start()
        self._damage: DamagedDataError | None = None
        self._has_begun = False

    def next_content(self) -> bytes:
        """Return the next bytes; at first two, where there are as many: a mark is told by them."""
        if self._damage is not None:
            raise self._damage
        content = b""
        try:
            content = self._more()
            if len(content) == 1 and not self._has_begun:
                content += self._more()
        except DamagedDataError as error:
            self._damage = error
            if not content:
                raise
        self._has_begun = True
        return content

    def _more(self) -> bytes:
        """Return the next bytes of the content; none at its end."""
        while True:
            data, is_last = b"", False
            if self._inside.eof:
                data = self._next_beginning(self._inside.unused_data)
                if not data:
                    return b""
                self._inside, self._error = self._kind.start()
            elif self._kind.wants_data(self._inside):
                data = self._source.read1(self._kind.read_bytes)
                is_last = not data
            try:
                content = self._kind.feed(self._inside, data)
            except self._error as error:
                raise DamagedDataError(self._kind.name, f"is damaged: {error}") from error
            if content:
                return content
            if is_last and not self._inside.eof:
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
