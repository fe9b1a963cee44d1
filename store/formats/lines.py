"""Bytes and lines of a named file."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shlex
import sys
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from glob import iglob
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from store.errors import Fault, FaultList, FormatError, PoolerError
from store.formats import irds
from store.formats.compression import (
    LIFTED,
    MAGIC_BYTES,
    ByteBlocks,
    DamagedDataError,
    misnamed_as,
    most_bytes,
    packing,
    uncompressed,
)

STDIN = "-"
BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of UTF-16; UTF-8 never has these bytes."""
_BUFFER = 1 << 18


def open_bytes(path: str) -> BinaryIO:
    """Open a file, ``-`` for standard input, for reading uncompressed bytes.

    Compression is recognised by the first bytes, not by a name; damaged data raises `DamagedDataError` later.
    A name that begins ``irds:`` is a dataset's, see `store.formats.irds`.
    """
    if path.startswith(irds.PREFIX):
        return irds.open_dataset(path)
    if path == STDIN and sys.stdin.closed:
        raise PoolerError("-: standard input can be read once only")
    raw = None
    try:
        raw = sys.stdin.buffer if path == STDIN else Path(path).open("rb")  # noqa: SIM115 - returned
        buffered = io.BufferedReader(cast(Any, raw), _BUFFER)
        content = uncompressed(buffered, path)
        with suppress(DamagedDataError):  # the reader meets it again
            if content.peek(2).startswith(_UTF16):
                content.close()
                fault = Fault(None, "expected UTF-8, got UTF-16", "utf16")
                hint = f"{piped(path, 'iconv -f UTF-16 -t UTF-8')} writes it as UTF-8"
                raise FormatError(path, [fault], hint=hint)
        return cast(BinaryIO, content)
    except OSError as error:
        if raw is not None and path != STDIN:
            raw.close()
        reason = error.strerror or "cannot be read"
        message = f"{path}: {reason[:1].lower()}{reason[1:]}"
        raise PoolerError(message, hint=_open_hint(path, error)) from error
    except ValueError as error:
        raise PoolerError(f"{path!r}: expected a file name, got one with a NUL character") from error


def _open_hint(path: str, error: OSError) -> str | None:
    """Return what to type instead of a folder, or of a pattern that the shell did not expand."""
    if isinstance(error, IsADirectoryError):
        return f"name the files in it: {path.rstrip('/')}/*"
    if isinstance(error, FileNotFoundError) and "://" in path:
        return "`pool` reads files by URI with --engine spark"
    if isinstance(error, FileNotFoundError) and is_pattern(path):
        if any(iglob(path)):  # noqa: PTH207 - a path may be absolute
            return "files match that pattern; without quotation marks the shell expands it"
        return "no file matches that pattern, so the shell left it as it is"
    return None


def piped(path: str, program: str) -> str:
    """Return the shell command by which a program reads a file, decompressed if need be."""
    if path == STDIN:
        return program
    unpack = None
    if is_regular_file(path):
        with Path(path).open("rb") as file:
            unpack = packing(file.read(MAGIC_BYTES))
    return f"{unpack} -cd {shlex.quote(path)} | {program}" if unpack else f"{program} {shlex.quote(path)}"


def is_pattern(path: str) -> bool:
    """Return whether a shell would expand `path` to the names of files."""
    return not set("*?[").isdisjoint(path)


def is_regular_file(path: str) -> bool:
    """Return whether `path` is a file that can be read twice: no standard input, pipe or folder."""
    try:
        return path != STDIN and Path(path).is_file()
    except (OSError, ValueError):
        return False  # a name no file can have


def read_lines(
    path: str, faults: FaultList, digest: hashlib._Hash | None = None, *, is_damage_placed: bool = True
) -> Iterator[tuple[int, bytes]]:
    """Yield the number (from 1) and the bytes of each line; a byte order mark is left out, but hashed.

    Damaged compressed data is added to `faults`: at the line after the last one read, or at no line where
    `is_damage_placed` is false.
    """
    number = 0
    with open_bytes(path) as file:
        try:
            for number, line in lines_of(file, faults, digest or hashlib.sha256()):
                yield number, line.removeprefix(BOM) if number == 1 else line
        except DamagedDataError as error:
            faults.add(number + 1 if is_damage_placed else None, str(error), error.kind)


def lines_of(file: BinaryIO, faults: FaultList, digest: hashlib._Hash) -> Iterator[tuple[int, bytes]]:
    """Yield line number, from 1, and bytes of each line, and hash them all.

    Where a file begins with many bytes and no line feed, carriage returns end its lines. A line that is too
    long to be one ends the reading, and is added to `faults`.
    """
    source = cast(io.BufferedReader, file)
    first = source.peek()
    blocks = _hashed(source, digest)
    if b"\n" not in first and b"\r" in first.rstrip(b"\r"):
        blocks = (block.replace(b"\r", b"\n") for block in blocks)
    lines, longest = io.BufferedReader(ByteBlocks(blocks), _BUFFER), most_bytes()
    for number, line in enumerate(iter(partial(lines.readline, longest + 1), b""), start=1):
        if len(line) > longest:
            faults.add(number, f"expected a line of at most {longest:,} bytes, got more", "long")
            faults.hint = LIFTED
            return
        yield number, line


def _hashed(file: io.BufferedReader, digest: hashlib._Hash) -> Iterator[bytes]:
    while block := file.read1(_BUFFER):
        digest.update(block)
        yield block


def read_text_lines(path: str, faults: FaultList) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each line of a UTF-8 file, blank ones too, without line ends.

    Lines with invalid UTF-8, and damaged compressed data, are added to `faults`.
    """
    for number, line in read_lines(path, faults, is_damage_placed=False):
        try:
            yield number, line.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            faults.add(number, not_utf8(line, error), "utf8")
            faults.hint = faults.hint or remedy(path, line)


def not_utf8(line: bytes, error: UnicodeDecodeError) -> str:
    """Say where a line is not UTF-8."""
    return f"expected UTF-8, got byte 0x{line[error.start]:02x} at column {error.start + 1}"


PACKED = {".gz", ".xz", ".bz2", ".zst"}


def remedy(path: str, line: bytes) -> str | None:
    """Return what to type where a line is in another encoding, or has no-break spaces."""
    try:
        line.decode()
    except UnicodeDecodeError:
        if not line.decode("iso-8859-1").strip().replace("\t", " ").isprintable():
            return None
        return f"if it is Latin-1: {piped(path, 'iconv -f ISO-8859-1 -t UTF-8')} writes it as UTF-8"
    if b"\xc2\xa0" not in line:
        return None
    command = piped(path, r"LC_ALL=C sed 's/\xC2\xA0/ /g'")
    return f"no-break spaces do not separate fields: {command} replaces them with blanks"


LOOKED_AT = 20
"""Lines, blank ones not counted, by which the kind of a file is recognised."""
_LONGEST_LINE = 1 << 20
"""Most bytes of such a line that are read."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file, recognised by its first lines."""

    name: str
    hint: str
    """Which command or option takes such a file."""
    wanted: str = ""
    """What a message calls it that expected one."""
    code: str = "other-kind"
    """Code of the fault that such a file was given in place of another."""


_RUN_COLUMNS = "(6 columns: topic, Q0, docno, rank, score, tag)"
_QRELS_COLUMNS = "(4 columns: topic, iteration, docno, grade)"
RUN = FileKind(
    f"a run file {_RUN_COLUMNS}",
    hint="`pooler import runs FILE` brings runs into a collection; other commands take run files as"
    " arguments, without `--qrels`",
    wanted=f"a run {_RUN_COLUMNS}",
    code="run",
)
QRELS = FileKind(
    f"a qrels file {_QRELS_COLUMNS}",
    hint="`--qrels FILE` is how a command takes judgements, and `pooler import judgements FILE` brings them"
    " into a collection",
    wanted=f"qrels {_QRELS_COLUMNS}",
    code="qrels",
)
TOPICS = FileKind("a topics file", hint="`pooler import topics FILE` takes topics", wanted="topics")
DOCUMENTS = FileKind("a documents file", hint="`pooler import docs FILE` takes documents", wanted="documents")
RUN_LIST = FileKind("a list of runs", hint="`--runs FILE` takes such a list", wanted="a list of runs")
_JUDGEMENTS = FileKind(
    "a file of every judge's judgements", hint="`pooler import judgements FILE --as jsonl` takes it"
)
_ANSWERS = FileKind(
    "a file of a model's answers",
    hint="`pooler import judgements FILE --judge NAME` takes it with --as umbrela or answers",
)
_TEXTS = FileKind(
    "a file of topics or documents",
    hint="`pooler import topics FILE` takes topics, and `pooler import docs FILE` documents",
)
_TOPIC_KEYS = frozenset({"topic", "number", "qid", "query_id"})
_TEXT_KEYS = frozenset({"title", "text", "query", "question", "description", "contents", "body"})
_DOCNO_KEYS = frozenset({"docno", "docid", "doc_id"})
_JUDGEMENT_KEYS = frozenset({"judge", "state", "grade"})
_ANSWER_KEYS = frozenset({"grade", "judgment", "judgement", "rating", "relevance"})
_TOPIC_TAG = re.compile(rb"<top[\s>]|<topic[s\s>]|<quer(?:y|ies)[\s>]", re.IGNORECASE)
_DOCUMENT_TAGS = (re.compile(rb"<doc[\s>]", re.IGNORECASE), re.compile(rb"<docno[\s>]", re.IGNORECASE))
_NUMBER = rb"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?"
_SHAPES = (
    (RUN, re.compile(rb"\s*\S+\s+(?:Q0|0)\s+\S+\s+\S+\s+" + _NUMBER + rb"\s+\S+\s*", re.ASCII)),
    (QRELS, re.compile(rb"\s*\S+\s+(?!Q0\s)\S+\s+\S+\s+[+-]?[0-9]+(?:\.0*)?\s*", re.ASCII)),
    (_TEXTS, re.compile(rb"[^\s{<]+\t(?! )[^\t]*\S \S[^\t]*(?:\t[^\t]*){0,2}")),
)
"""What every line looks like in a file of each kind that is neither markup nor JSON."""


def report_kind(faults: FaultList, expected: FileKind) -> bool:
    """Where a file looks like another kind, put one fault that says so in place of its faults.

    Return whether that was done; the hint is then `FaultList.hint`. A file that can be read only once is not
    examined.
    """
    kind = _kind_of(faults.path)
    if kind is None and is_regular_file(faults.path):
        with Path(faults.path).open("rb") as file:
            if named_form := misnamed_as(faults.path, file.read(MAGIC_BYTES)):
                faults.hint = faults.hint or f"its name says {named_form}, but the file is not compressed"
    is_text = kind is _TEXTS and expected in (TOPICS, DOCUMENTS)
    # Whether all lines of a run file are those of qrels is known to its reader, which has seen them all.
    is_known = kind is QRELS and expected is RUN
    if kind is None or kind is expected or is_text or is_known:
        return False
    report_as_kind(faults, kind, expected)
    return True


def report_as_kind(faults: FaultList, kind: FileKind, expected: FileKind) -> None:
    """Put one fault in place of those of a file: it looks like another kind."""
    message = f"this looks like {kind.name}; expected {expected.wanted}"
    faults.put_instead(message, kind.code, hint=kind.hint)


def _kind_of(path: str) -> FileKind | None:
    """Return what a file looks like; ``None`` = no kind that is known, or it cannot be read again."""
    lines: list[bytes] = []
    if is_regular_file(path):
        with suppress(PoolerError, DamagedDataError, OSError), open_bytes(path) as file:
            pieces = iter(lambda: file.readline(_LONGEST_LINE), b"")
            lines = [*islice((piece for piece in pieces if piece.strip()), LOOKED_AT)]
    return _kind_of_lines(lines) if lines else None


def _kind_of_lines(lines: Sequence[bytes]) -> FileKind | None:
    first = lines[0].removeprefix(BOM).strip()
    if first.startswith(b"{"):
        return _kind_of_object(first)
    if first.startswith(b"<"):
        text = b"".join(lines)
        if _TOPIC_TAG.search(text):
            return TOPICS
        return DOCUMENTS if all(tag.search(text) for tag in _DOCUMENT_TAGS) else None
    if b"\t" in first and b"file" in first.split(b"\t"):
        return RUN_LIST
    bare = [line.rstrip(b"\r\n") for line in lines]
    kind = next((kind for kind, shape in _SHAPES if all(map(shape.fullmatch, bare))), None)
    return None if kind is _TEXTS and not all(map(_is_text, bare)) else kind


def _is_text(line: bytes) -> bool:
    """Return whether a line, whose end may be cut off, is UTF-8 without control characters except tabs."""
    try:
        text = getincrementaldecoder("utf-8")().decode(line)
    except UnicodeDecodeError:
        return False
    return not any(letter < " " and letter != "\t" for letter in text)


def _kind_of_object(line: bytes) -> FileKind | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    keys = data.keys() if isinstance(data, dict) else set()
    if keys >= _JUDGEMENT_KEYS:
        return _JUDGEMENTS
    if _ANSWER_KEYS & keys and not {"title", "text", "contents", "body"} & keys:
        return _ANSWERS
    if "grade" in keys or not keys:
        return None
    if _DOCNO_KEYS & keys:
        return DOCUMENTS
    return TOPICS if _TOPIC_KEYS & keys else _TEXTS if _TEXT_KEYS & keys else None
