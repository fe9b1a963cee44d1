"""A slow, obvious reader of run files, to hold the fast ones against.

Written from the grammar in the docstring of `pooler.reading.strict` and from the habits of trec_eval, one
line and one rule at a time; it calls none of the project's code. What the grammar leaves open is
settled here so:

- A line ends at a line feed, or where the file begins without any at a carriage return. Blanks are the six
  of C's ``isspace``; other blanks part no fields, and nor do blanks between five tabs, where one has one.
- A byte order mark is dropped, and a line that begins with `#` is a comment.
- Lenient reading takes six fields of more where no others can be those of a run.
- The second field, the stated rank, and what lenient reading passes over may be any bytes.
- A line with the wrong number of fields says nothing else; other faulty lines do, so one line can
  have several faults, and a document of a faulty line is in its topic all the same.
- A bad topic id or tag is told where it first comes, a bad docno on every line.
- Where every line that says anything has the four fields of a qrels line, that is told once and
  nothing else; a second field `Q0` is that of a run line that was cut off. Damaged data is not a
  qrels file.
- Where none is a run line, and each of the first twenty lines that say anything is an id, a tab and a text
  of several words, with two cells more at most, it is told once that the file is one of texts.
- An empty file is told only when nothing else is wrong with it.
- Compressed files may be several members in a row, gzip with zeros after them, xz with zeros by
  fours. Anything else after the last member, or an end within one, is damage.
"""

from __future__ import annotations

import lzma
import re
import struct
import unicodedata
import zlib
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

GZIP, XZ, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
_BLANKS = re.compile(rb"[ \t\n\v\f\r]+")
_NUMBER = re.compile(rb"([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")
_INTEGER = re.compile(rb"([+-]?)([0-9]+)")
_BIDIRECTIONAL = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""The characters with Unicode's property Bidi_Control."""
_ZERO_WIDTH = [0x200B, 0x2060, 0xFEFF]


@dataclass(frozen=True)
class Row:
    """One line of a run file."""

    docno: str
    score: float
    rank: int | None
    """``None`` when the field is no integer of 64 bits."""


@dataclass
class GivenGrade:
    """What there is to say about a run file."""

    faults: list[tuple[int | None, str]] = field(default_factory=list)
    """Line and code, in file order; when `is_damaged`, without the fault that says so."""
    is_damaged: bool = False
    """Whether the compressed data is. The faults are then those of all whole lines that can be got
    out of it, and a reader may have got out fewer."""
    n_lines: int = 0
    """Line feeds, and one more when bytes follow the last."""
    text: bytes = b""
    """Uncompressed."""
    tag: str = ""
    topics: dict[str, list[Row]] = field(default_factory=dict)
    """In file order; means something only where there is no fault."""


def read_obviously(
    data: bytes,
    *,
    lenient: bool,
    known_topics: Container[str] | None = None,
    known_docnos: Container[str] | None = None,
) -> GivenGrade:
    """Read a run file as its bytes stand on the disk."""
    given_grade = GivenGrade()
    given_grade.text, given_grade.is_damaged = uncompressed(data)
    if given_grade.text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        given_grade.faults.append((None, "utf16"))
        return given_grade
    text = given_grade.text
    if b"\n" not in text[: 1 << 18] and b"\r" in text[: 1 << 18].rstrip(b"\r"):
        text = text.replace(b"\r", b"\n")
    lines = text.split(b"\n")
    if given_grade.is_damaged or lines[-1] == b"":
        lines.pop()  # what follows the last line feed: nothing, or less than a line
    given_grade.n_lines = len(lines)

    faults = given_grade.faults
    documents: dict[bytes, set[bytes]] = {}
    tags: list[bytes] = []
    last_topic: bytes | None = None
    for number, whole_line in enumerate(lines, start=1):
        line = whole_line
        if number == 1 and line[:3] == b"\xef\xbb\xbf":
            line = line[3:]
        if line[:1] == b"#":
            continue
        fields = [text for text in _BLANKS.split(line) if text]
        if not fields:
            continue
        is_readable = len(fields) > 6 and only_first_six(fields)
        cells = [cell.strip(b" \t\n\v\f\r") for cell in line.split(b"\t")]
        is_by_tabs = len(cells) == 6 and any(map(_BLANKS.search, cells))
        if is_by_tabs and not (is_readable and _BLANKS.search(cells[5])):
            fields = cells
        if lenient and len(fields) > 6 and is_readable:
            fields = fields[:6]
        if len(fields) != 6:
            faults.append((number, "fields"))
            continue
        if any(len(text) > 1024 for text in fields):
            faults.append((number, "long"))
            continue
        topic, _, docno, rank, score, tag = fields

        if tag not in tags:
            tags.append(tag)
            if not is_id(tag):
                faults.append((number, "id"))
            if is_in_quotes(tag):
                faults.append((number, "quotes"))
            elif lenient and len(tags) > 1 and number_of(tag) is not None:
                faults.append((number, "tag"))
            if not lenient and len(tags) > 1:
                faults.append((number, "tag"))
        if lenient or len(tags) == 1:
            given_grade.tag = tag.decode(errors="replace")

        if topic not in documents:
            documents[topic] = set()
            if not is_id(topic) or topic[:1] == b"#":
                faults.append((number, "id"))
            if known_topics is not None and not is_known(topic, known_topics):
                faults.append((number, "unknown-topic"))
        elif topic != last_topic and not lenient:
            faults.append((number, "split-topic"))
        last_topic = topic

        if not is_id(docno):
            faults.append((number, "id"))
        if known_docnos is not None and not is_known(docno, known_docnos):
            faults.append((number, "unknown-docno"))
        if docno in documents[topic]:
            faults.append((number, "duplicate"))
        documents[topic].add(docno)

        value = number_of(score)
        if value is None:
            faults.append((number, "score"))
        else:
            row = Row(docno.decode(errors="replace"), value, integer_of(rank))
            given_grade.topics.setdefault(topic.decode(errors="replace"), []).append(row)
    if not given_grade.is_damaged and not documents and are_qrels(lines):
        faults[:] = [(None, "qrels")]
    elif not given_grade.is_damaged and not given_grade.topics and faults and are_texts(lines):
        faults[:] = [(None, "other-kind")]
    if not documents and not faults and not given_grade.is_damaged:
        faults.append((None, "empty"))
    return given_grade


def only_first_six(fields: list[bytes]) -> bool:
    """Say whether fields 4 and 5 are the only two numbers with a field after them, and no id is odd."""
    places = [
        place
        for place in range(3, len(fields) - 2)
        if number_of(fields[place]) is not None and number_of(fields[place + 1]) is not None
    ]
    return places == [3] and fields[2] != b"Q0" and not any(map(is_in_quotes, fields))


def is_in_quotes(raw: bytes) -> bool:
    """Say whether a quotation mark is at an end of a field of more bytes."""
    return len(raw) > 1 and b'"' in (raw[:1], raw[-1:])


def are_qrels(lines: list[bytes]) -> bool:
    """Say whether lines, none of which is a run line, are those of a qrels file."""
    if lines and lines[0][:3] == b"\xef\xbb\xbf":
        lines = [lines[0][3:], *lines[1:]]
    said = [line for line in lines if line[:1] != b"#"]
    kept = [fields for fields in ([one for one in _BLANKS.split(line) if one] for line in said) if fields]
    return bool(kept) and all(
        len(fields) == 4 and fields[1] != b"Q0" and re.fullmatch(rb"[+-]?[0-9]{1,18}(\.0*)?", fields[3])
        for fields in kept
    )


def are_texts(lines: list[bytes]) -> bool:
    """Say whether lines look like those of a table of topics or documents, and not like those of a run."""
    said = [line.rstrip(b"\r\n") for line in lines if line.strip()][:20]
    parted = [[one for one in _BLANKS.split(line) if one] for line in said]
    if all(
        len(fields) == 6 and fields[1] in (b"Q0", b"0") and _NUMBER.fullmatch(fields[4]) for fields in parted
    ):
        return False
    return bool(said) and all(map(is_text_line, said))


def is_text_line(line: bytes) -> bool:
    """Say whether a line is an id, a tab and a text of several words, with two cells more at most."""
    name, *cells = line.split(b"\t")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    has_name = name != b"" and not _BLANKS.search(name) and b"{" not in name and b"<" not in name
    has_words = 1 <= len(cells) <= 3 and cells[0][:1] != b" " and re.search(rb"\S \S", cells[0])
    return has_name and bool(has_words) and all(one >= " " or one == "\t" for one in text)


@lru_cache(maxsize=1000)
def is_id(raw: bytes) -> bool:
    """Say whether a field can be a topic id, docno or tag."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    for character in text:
        # Cc: control; Zs, Zl, Zp: blank, line separator, paragraph separator.
        if unicodedata.category(character) in ("Cc", "Zs", "Zl", "Zp"):
            return False
        if ord(character) in _BIDIRECTIONAL or ord(character) in _ZERO_WIDTH:
            return False
    return True


def is_known(raw: bytes, known: Container[str]) -> bool:
    """Say whether an id is among the known ones; one that is no text is not."""
    try:
        return raw.decode("utf-8") in known
    except UnicodeDecodeError:
        return False


def number_of(raw: bytes) -> float | None:
    """Return the float64 nearest to a decimal number; ``None`` for all else and for infinity.

    Integers are divided, which Python rounds correctly for any size.
    """
    match = _NUMBER.fullmatch(raw)
    if match is None:
        return None
    sign, whole, decimals, exponent = match.groups(default=b"")
    digits = (whole + decimals).lstrip(b"0")
    if not whole + decimals:
        return None
    if not digits:
        value = 0.0
    else:
        power = integer(exponent or b"0") - len(decimals)
        # The number is at least 10**(places - 1) and less than 10**places.
        places = len(digits) + power
        if places > 310:
            return None
        if places < -330:
            value = 0.0
        else:
            try:
                above, below = integer(digits) * 10 ** max(power, 0), 10 ** max(-power, 0)
                value = above / below
            except OverflowError:
                return None
    return -value if sign == b"-" else value


def integer_of(raw: bytes) -> int | None:
    """Return an integer of 64 bits, ``None`` for all else."""
    if _INTEGER.fullmatch(raw) is None:
        return None
    value = integer(raw)
    return value if -(2**63) <= value < 2**63 else None


def integer(raw: bytes) -> int:
    """Return the integer that a sign and digits write, however many there are."""
    value = 0
    digits = raw.lstrip(b"+-")
    for start in range(0, len(digits), 1000):
        piece = digits[start : start + 1000]
        value = value * 10 ** len(piece) + int(piece)
    return -value if raw[:1] == b"-" else value


@dataclass(frozen=True)
class First:
    """The first documents of a ranking, and the ties across the cut."""

    docnos: list[str]
    scores: list[float]
    n_tied_in: int
    n_tied_out: int


def first_of(rows: list[Row], depth: int, order: str) -> First | None:
    """Take the first documents of a topic by two stable sorts; ``None`` without the ranks needed.

    Ties at the cut are documents on both sides of it with what orders them equal.
    """

    def key(row: Row) -> float | int:
        if order == "rank":
            return -1 if row.rank is None else -row.rank
        return rounded_to_32_bits(row.score) if order == "trec9" else row.score

    if order == "rank" and any(row.rank is None for row in rows):
        return None
    ranked = list(rows)
    if order in ("trec", "trec9", "docno-asc"):
        ranked.sort(key=lambda row: row.docno.encode(), reverse=order != "docno-asc")
    if order != "file":
        # Sorting with `reverse` keeps equals in place, too.
        ranked.sort(key=key, reverse=True)
    taken, left = ranked[:depth], ranked[depth:]
    n_tied_in = n_tied_out = 0
    if order != "file" and left and key(taken[-1]) == key(left[0]):
        n_tied_in = sum(key(row) == key(left[0]) for row in taken)
        n_tied_out = sum(key(row) == key(left[0]) for row in left)
    return First([row.docno for row in taken], [row.score for row in taken], n_tied_in, n_tied_out)


def rounded_to_32_bits(score: float) -> float:
    """Round a score as trec_eval 9.0.4 does."""
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", score))
    except OverflowError:
        return float("inf") if score > 0 else float("-inf")
    return float(rounded)


def uncompressed(data: bytes) -> tuple[bytes, bool]:
    """Return what data holds, or as much as can be got out of it, and whether it is damaged."""
    if data.startswith(GZIP):
        return _members(data, _gzip_member, padding=1)
    if data.startswith(XZ):
        return _members(data, _xz_stream, padding=1)
    if data.startswith(ZSTD):
        return _members(data, _zstd_frame, padding=0)
    return data, False


class _DamageError(Exception):
    """A member is damaged; `args` holds what could be got out of it."""


def _members(
    data: bytes, read: Callable[[bytes], tuple[bytes, bytes]], *, padding: int
) -> tuple[bytes, bool]:
    """Read members until the data ends; zeros after one may be there by `padding`."""
    text = b""
    while data:
        try:
            part, data = read(data)
        except _DamageError as error:
            return text + error.args[0], True
        text += part
        n_zeros = len(data) - len(data.lstrip(b"\x00"))
        if padding and n_zeros % padding == 0:
            data = data[n_zeros:]
    return text, False


def _gzip_member(data: bytes) -> tuple[bytes, bytes]:
    """Read one gzip member by RFC 1952, and return its text and what follows it."""
    if len(data) < 10 or data[:3] != b"\x1f\x8b\x08" or data[3] & 0b1110_0000:
        raise _DamageError(b"")
    flags, place = data[3], 10
    if flags & 4:
        place += 2 + int.from_bytes(data[place : place + 2], "little")
    for flag in (8, 16):  # name, comment
        if flags & flag:
            end = data.find(b"\x00", place)
            if end < 0:
                raise _DamageError(b"")
            place = end + 1
    if flags & 2:
        if data[place : place + 2] != zlib.crc32(data[:place]).to_bytes(4, "little")[:2]:
            raise _DamageError(b"")
        place += 2
    text, rest = _stream(data[place:], lambda: zlib.decompressobj(-15), zlib.error)
    checksum, size = zlib.crc32(text).to_bytes(4, "little"), len(text).to_bytes(8, "little")[:4]
    if rest[:8] != checksum + size:
        raise _DamageError(text)
    return text, rest[8:]


def _xz_stream(data: bytes) -> tuple[bytes, bytes]:
    """Read one xz stream, and return its text and what follows it."""
    return _stream(data, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), lzma.LZMAError)


def _zstd_frame(data: bytes) -> tuple[bytes, bytes]:
    """Read one zstd frame, and return its text and what follows it."""
    import zstandard

    return _stream(data, lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError)


def _stream(data: bytes, start: Callable[[], Any], error: type[Exception]) -> tuple[bytes, bytes]:
    """Run a decompressor to its end, byte by byte when there is damage, to get the most out."""
    try:
        whole = start()
        text = whole.decompress(data)
    except error:
        pass
    else:
        if whole.eof:
            return text, whole.unused_data
    text, careful = b"", start()
    try:
        for place in range(len(data)):
            text += careful.decompress(data[place : place + 1])
    except error:
        pass
    raise _DamageError(text)
