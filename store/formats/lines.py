"""Bytes and lines of the files a user names: plain, gzip, or standard input."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from store.errors import FaultList, PoolerError
from store.sanitise import BIDI_CONTROLS

STDIN = "-"
BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER = 1 << 18
_INVISIBLE = "\u200b\u2060\ufeff"
"""Zero-width blanks: two ids that look the same would differ."""


def open_bytes(path: str) -> BinaryIO:
    """Open a file for reading bytes, seeing through gzip.

    Parameters
    ----------
    path : str
        A file; ``-`` is standard input. Gzip is recognised by its first two bytes, not its name.

    Returns
    -------
    BinaryIO
        The uncompressed bytes. Reading a damaged gzip file raises one of `GZIP_ERRORS` later.

    Raises
    ------
    PoolerError
        If the file cannot be opened: it is missing, a folder, or may not be read.
    """
    if path == STDIN and sys.stdin.closed:
        message = "-: standard input can be read once only"
        raise PoolerError(message)
    try:
        raw = sys.stdin.buffer if path == STDIN else Path(path).open("rb")  # noqa: SIM115 - returned
        buffered = io.BufferedReader(cast(io.RawIOBase, raw), _BUFFER)
        compressed = buffered.peek(2)[:2] == _GZIP_MAGIC
    except OSError as error:
        reason = error.strerror or "cannot be read"
        message = f"{path}: {reason[:1].lower()}{reason[1:]}"
        raise PoolerError(message) from error
    except ValueError as error:
        message = f"{path!r}: expected a file name, got one with a NUL character"
        raise PoolerError(message) from error
    if compressed:
        unzipped = gzip.GzipFile(fileobj=buffered)
        unzipped.myfileobj = buffered  # type: ignore[assignment]  # so that closing reaches the file
        # GzipFile reads line by line in Python; the buffer around it halves the time.
        return cast(BinaryIO, io.BufferedReader(unzipped, _BUFFER))
    return cast(BinaryIO, buffered)


GZIP_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)
"""What reading a truncated or damaged gzip file raises."""


def gzip_fault(error: BaseException) -> str:
    """Word a damaged gzip file.

    Examples
    --------
    >>> gzip_fault(EOFError())
    'gzip data ends too early: the file is truncated'
    """
    if isinstance(error, EOFError):
        return "gzip data ends too early: the file is truncated"
    return f"gzip data is damaged: {error}"


def read_text_lines(path: str, faults: FaultList) -> Iterator[tuple[int, str]]:
    r"""Read a UTF-8 file line by line.

    Parameters
    ----------
    path : str
        A file; ``-`` is standard input; gzip is seen through.
    faults : FaultList
        Where invalid UTF-8 (the line is not yielded) and damaged gzip data are told.

    Yields
    ------
    line : int
        Line number from 1.
    text : str
        The line without its end (``\n`` or ``\r\n``) and, on line 1, without a byte order mark.
        Blank lines are yielded too.

    Raises
    ------
    PoolerError
        If the file cannot be opened.
    """
    number = 0
    with open_bytes(path) as file:
        try:
            for number, raw in enumerate(file, start=1):
                line = raw
                if number == 1:
                    line = line.removeprefix(BOM)
                try:
                    yield number, line.decode("utf-8").removesuffix("\n").removesuffix("\r")
                except UnicodeDecodeError as error:
                    faults.add(
                        number,
                        f"expected UTF-8, got byte 0x{line[error.start]:02x} at column"
                        f" {error.start + 1}",
                        "utf8",
                    )
        except GZIP_ERRORS as error:
            faults.add(None, gzip_fault(error), "gzip")


def id_fault(text: str) -> str | None:
    r"""Say why `text` cannot be a topic id, docno, run tag or judge name.

    Parameters
    ----------
    text : str
        The id.

    Returns
    -------
    str or None
        What is wrong (empty, blanks, control or bidirectional characters, lone surrogates);
        ``None`` when nothing is.

    Examples
    --------
    >>> id_fault("doc\x07") is None
    False
    >>> id_fault("5/1438042988718.8#2") is None
    True
    """
    if text.isascii() and text.isprintable() and text and " " not in text:
        return None
    if not text:
        return "expected an id, got nothing"
    for character in text:
        if character.isspace():
            return f"expected an id without blanks, got {text!r}"
        code = ord(character)
        if code < 0x20 or 0x7F <= code < 0xA0 or character in BIDI_CONTROLS + _INVISIBLE:
            return f"expected an id without control characters, got {text!r}"
        if 0xD800 <= code < 0xE000:
            return f"expected valid Unicode in an id, got {text!r}"
    return None
