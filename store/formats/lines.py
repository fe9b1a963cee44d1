"""Bytes and lines of the files a user names: plain, compressed, or standard input."""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from store.errors import Fault, FaultList, FormatError, PoolerError
from store.formats.compression import DamagedDataError, uncompressed
from store.sanitise import BIDI_CONTROLS

STDIN = "-"
BOM = b"\xef\xbb\xbf"
LONGEST_ID = 1024
"""Bytes of an id in UTF-8; an index of PostgreSQL takes no more than some 2,700."""
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
"""Its byte order marks; UTF-8 has no such bytes."""
_BUFFER = 1 << 18
_SHOWN = 200
"""Characters of an id that a message shows."""
_INVISIBLE = "\u200b\u2060\ufeff"
"""Zero-width blanks: two ids that look the same would differ."""


def open_bytes(path: str) -> BinaryIO:
    """Open a file for reading bytes, seeing through compression.

    Parameters
    ----------
    path : str
        A file; ``-`` is standard input. Gzip, xz and zstd are recognised by their first bytes, not
        by a name.

    Returns
    -------
    BinaryIO
        The uncompressed bytes. Reading damaged data raises `DamagedDataError` later.

    Raises
    ------
    FormatError
        If the file is UTF-16, or neither text nor compressed as its name says.
    PoolerError
        If the file cannot be opened: it is missing, a folder, or may not be read; or if its kind of
        compression needs a package that is not installed.
    """
    if path == STDIN and sys.stdin.closed:
        message = "-: standard input can be read once only"
        raise PoolerError(message)
    raw = None
    try:
        raw = sys.stdin.buffer if path == STDIN else Path(path).open("rb")  # noqa: SIM115 - returned
        buffered = io.BufferedReader(cast(Any, raw), _BUFFER)
        content = uncompressed(buffered, path)
        with suppress(DamagedDataError):  # whoever reads meets it again
            if content.peek(2).startswith(_UTF16):
                content.close()
                fault = Fault(None, "expected UTF-8, got UTF-16", "utf16")
                hint = f"iconv -f UTF-16 -t UTF-8 {shlex.quote(path)} writes it as UTF-8"
                raise FormatError(path, [fault], hint=hint)
        return cast(BinaryIO, content)
    except OSError as error:
        if raw is not None and path != STDIN:
            raw.close()
        reason = error.strerror or "cannot be read"
        message = f"{path}: {reason[:1].lower()}{reason[1:]}"
        raise PoolerError(message, hint=_open_hint(path, error)) from error
    except ValueError as error:
        message = f"{path!r}: expected a file name, got one with a NUL character"
        raise PoolerError(message) from error


def _open_hint(path: str, error: OSError) -> str | None:
    """Say what to type instead of a folder, or of a pattern that the shell left as it was."""
    if isinstance(error, IsADirectoryError):
        return f"name the files in it: {path.rstrip('/')}/*"
    if isinstance(error, FileNotFoundError) and is_pattern(path):
        return "no file has a name of that pattern, so the shell left it as it was"
    return None


def is_pattern(path: str) -> bool:
    """Say whether a shell would put the names of files in the place of `path`."""
    return not set("*?[").isdisjoint(path)


def is_regular_file(path: str) -> bool:
    """Say whether `path` is a file that can be read twice: no standard input, pipe or folder."""
    try:
        return path != STDIN and Path(path).is_file()
    except (OSError, ValueError):
        return False  # a name no file can have


def read_text_lines(path: str, faults: FaultList) -> Iterator[tuple[int, str]]:
    r"""Read a UTF-8 file line by line.

    Parameters
    ----------
    path : str
        A file; ``-`` is standard input; compression is seen through.
    faults : FaultList
        Where invalid UTF-8 (the line is not yielded) and damaged compressed data are told.

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
        except DamagedDataError as error:
            faults.add(None, str(error), error.kind)


def id_fault(text: str) -> str | None:
    r"""Say why `text` cannot be a topic id, docno, run tag or judge name.

    Parameters
    ----------
    text : str
        The id.

    Returns
    -------
    str or None
        What is wrong (empty, more than `LONGEST_ID` bytes, blanks, control or bidirectional
        characters, lone surrogates); ``None`` when nothing is.

    Examples
    --------
    >>> id_fault("doc\x07") is None
    False
    >>> id_fault("5/1438042988718.8#2") is None
    True
    """
    if is_plain_id(text) and " " not in text:
        return None
    if not text:
        return "expected an id, got nothing"
    if (n_bytes := len(text.encode("utf-8", "surrogatepass"))) > LONGEST_ID:
        return f"expected an id of at most {LONGEST_ID:,} bytes, got {n_bytes:,}"
    for character in text:
        if character.isspace():
            return f"expected an id without blanks, got {_short(text)}"
        code = ord(character)
        if code < 0x20 or 0x7F <= code < 0xA0 or character in BIDI_CONTROLS + _INVISIBLE:
            return f"expected an id without control characters, got {_short(text)}"
        if 0xD800 <= code < 0xE000:
            return f"expected valid Unicode in an id, got {_short(text)}"
    return None


def is_plain_id(text: str) -> bool:
    """Say whether text without blanks is plainly an id: printable ASCII, and not too long."""
    return text.isascii() and text.isprintable() and 0 < len(text) <= LONGEST_ID


def _short(text: str) -> str:
    """Quote an id for a message, cut where it is long."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
