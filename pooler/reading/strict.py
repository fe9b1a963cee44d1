"""Reading run files, and the one definition of what is wrong with one.

A line of a run file is `topic Q0 docno rank score tag`: exactly six fields between any blanks.
Blank lines, lines that begin with `#`, a byte order mark, any line ends, a missing last one and compression
are all in order. Where a line has five tabs, other blanks do not separate fields.

============== ==================================================================================
code           fault
============== ==================================================================================
fields         the line has not six fields, or lenient reading cannot tell which six of more are a run's
quotes         the run tag has quotation marks around it, and so have the other fields
score          the score is no number, or has an underscore, or is infinite or NaN
duplicate      the document is in the topic already
split-topic    the topic goes on after another one; reported once for each time it does
tag            the file has a second run tag; reported once a tag
unknown-topic  the collection has no such topic; reported once a topic
unknown-docno  the collection has no such document
id             a topic id, docno or tag has control, bidirectional or zero-width characters, or
               blanks beyond ASCII, or no valid UTF-8; or a topic id begins with `#`
long           a field has more than 1,024 bytes, or a line more than any line can have
empty          the file has no run line, nor another fault
qrels          all lines are those of a qrels file; reported once, in place of every other fault
other-kind     the file looks like one of topics or documents, or like a list of runs; likewise
utf16          the file is UTF-16
binary         the file is an archive or a table of another program
gzip, xz,      the compressed data is truncated or damaged, or is none and no text, whatever its
bz2, zstd      name says
============== ==================================================================================

Lenient reading follows trec_eval: text after the sixth field is passed over, where it cannot be part of the
others, a topic may go on after another one, and the last line's tag is the run's. All else stays a fault:
trec_eval reads the score `abc` as 0 in silence.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from math import isfinite
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from pooler.messages import warn
from pooler.reading.results import as_run_lines, layout_of, tag_of
from store.errors import FaultList, FormatError
from store.fields import LONGEST_ID, id_fault, topic_fault
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, QRELS, RUN, lines_of, open_bytes, piped, report_as_kind, report_kind
from store.formats.tables import IGNORED, Layout
from store.records import Ranking, Run

LOOKED_AT = 200
LENIENT_HINT = "`--lenient` reads the first six fields, as trec_eval does"
BLANKS_HINT = "a run line is topic, Q0, docno, rank, score and run tag, none of them with a blank"
_NO_BREAK = b"\xc2\xa0"
_NO_INDEX = "without its first column"


def number_of(field: bytes) -> float | None:
    """Return the finite number that a field says; ``None`` = it says none."""
    try:
        number = float(field)
    except ValueError:
        return None
    return number if isfinite(number) and b"_" not in field else None


def fields_of(line: bytes) -> list[bytes]:
    """Split a line at its tabs, where it has five and other blanks in a field; else at all blanks."""
    fields, cells = line.split(), [cell.strip() for cell in line.split(b"\t")]
    if len(cells) != 6 or cells == fields or not any(len(cell.split()) > 1 for cell in cells):
        return fields
    return fields if len(cells[-1].split()) > 1 and can_be_cut(fields) else cells


def can_be_cut(fields: Sequence[bytes]) -> bool:
    """Return whether the first six of more fields are those of a run, whatever the others are.

    Rank and score, two numbers with a field behind them, can then stand nowhere else: a docno of several
    words or a column before the topic moves them on.
    """
    is_number = [number_of(field) is not None for field in fields[3:]]
    places = [place for place in range(len(is_number) - 2) if is_number[place] and is_number[place + 1]]
    is_odd = fields[2] == b"Q0" or any(map(is_quoted, fields))
    return places == [0] and not is_odd


def is_quoted(field: bytes) -> bool:
    """Return whether a field, or words that it is one of, stand between quotation marks."""
    return len(field) > 1 and (field.startswith(b'"') or field.endswith(b'"'))


def exchanged(lines: Iterable[bytes]) -> str | None:
    """Return a message if ranks and scores look exchanged in the first lines; ``None`` = they do not.

    The scores count up in every topic, and the ranks fall, otherwise than by one.
    """
    last: dict[bytes, tuple[float, float]] = {}
    steps: list[tuple[float, float]] = []
    for fields in (line.split() for line in lines if line.strip() and not line.startswith(b"#")):
        rank, score = map(number_of, fields[3:5]) if len(fields) > 5 else (None, None)
        if rank is None or score is None:
            return None
        if before := last.get(fields[0]):
            steps.append((rank - before[0], score - before[1]))
            if steps[-1][0] > 0 or steps[-1][1] != 1:
                return None  # so nearly every run, at its second line
        last[fields[0]] = rank, score
    if len(steps) < 2 or {*steps} <= {(-1, 1), (0, 1)}:
        return None
    return "ranks and scores look exchanged: ranks fall from line to line, and scores count 1, 2, 3"


_Change = Callable[[bytes], bytes]


def advice(path: str, lines: Sequence[bytes]) -> str | None:
    """Return what to type so that lines of a file are a run; ``None`` = they are one, or nothing is known."""
    bare = (line.removeprefix(BOM) for line in lines)
    content = [line for line in bare if line.strip() and not line.startswith(b"#")]
    if not content or _are_run(map(fields_of, content)):
        return None
    rows = [line.split() for line in content]
    name = tag_of(path)
    is_cut = any(len(row) > 6 for row in rows)
    is_cut &= all(len(row) == 6 or (len(row) > 6 and can_be_cut(row)) for row in rows)
    has_words = is_cut and len(rows) > 1 and len({(*row[5:],) for row in rows}) == 1
    if is_cut and not has_words and _are_run((row[:6] for row in rows), has_one_tag=False):
        return LENIENT_HINT
    # Numbers of lines differ from line to line; topics do not, and stand before Q0.
    is_indexed = len({row[0] for row in rows}) == len(rows) and all(row[1:2] != [b"Q0"] for row in rows)
    for program, change, how in _commands(name, 0 if has_words else 5):
        if how == _NO_INDEX and not is_indexed:
            continue
        if _are_run(fields_of(change(line)) for line in content):
            return f"{piped(path, program)} writes it {how}"
    return BLANKS_HINT if any(len(row) != 6 for row in rows) else None


def _commands(name: str, n_untagged: int) -> list[tuple[str, _Change, str]]:
    """List programs, what they make of a line, and how they write it; `n_untagged` fields: 0 = any."""
    tag = name.encode()
    return [
        (
            f"awk '{{print $1, $2, $3, $4, $5, \"{name}\"}}'",
            _of_fields(n_untagged, lambda row: [*row[:5], tag]),
            f"with the run tag `{name}`",
        ),
        (
            f'awk \'{{print $1, "Q0", $2, $3, -$3, "{name}"}}\'',
            _of_fields(3, lambda row: [row[0], b"Q0", *row[1:], b"-" + row[2], tag]),
            f"as a run with the tag `{name}`, scored by its ranks",
        ),
        ("awk '{print $2, $3, $4, $5, $6, $7}'", _of_fields(7, lambda row: row[1:]), _NO_INDEX),
        (
            'awk \'{gsub(",", ".", $5); print}\'',
            _of_fields(6, lambda row: [*row[:4], row[4].replace(b",", b"."), row[5]]),
            "with decimal points",
        ),
        ('awk \'{gsub("\\"", ""); print}\'', _replacing(b'"', b""), "without quotation marks"),
        ('awk \'{gsub(",", " "); print}\'', _replacing(b",", b" "), "with blanks for commas"),
        (
            'LC_ALL=C awk \'{gsub("\\302\\240", " "); print}\'',
            _replacing(_NO_BREAK, b" "),
            "with plain blanks",
        ),
        (
            "iconv -f ISO-8859-1 -t UTF-8",
            lambda line: line.decode("latin-1").encode(),
            "as UTF-8, if it is in Latin-1",
        ),
        ('awk \'{gsub(" ", "_"); print}\'', _replacing(b" ", b"_"), "with `_` for the blanks in its ids"),
    ]


def _replacing(old: bytes, new: bytes) -> _Change:
    return lambda line: line.replace(old, new)


def _of_fields(n_fields: int, make: Callable[[list[bytes]], list[bytes]]) -> _Change:
    """Change a line of so many fields, 0 = any, and make nothing of another."""

    def change(line: bytes) -> bytes:
        row = line.split()
        return b" ".join(make(row)) if n_fields in (0, len(row)) else b""

    return change


def _are_run(rows: Iterable[list[bytes]], *, has_one_tag: bool = True) -> bool:
    tags = set()
    for row in rows:
        if len(row) != 6 or row[2] == b"Q0" or any(map(is_quoted, row)):
            return False
        if number_of(row[3]) is None or number_of(row[4]) is None:
            return False
        try:
            if any(topic_fault(row[place].decode()) for place in (0, 2, 5)):
                return False
        except UnicodeDecodeError:
            return False
        tags.add(row[5])
    return len(tags) == 1 or not has_one_tag


SPLIT_HINT = "`--lenient` joins the parts of a topic, as trec_eval does"
_FIELDS = ("a topic id", "a second field", "a docno", "a rank", "a score", "a run tag")
_SHOWN_CHARACTERS = 60
_GRADE = re.compile(rb"[+-]?[0-9]{1,18}(\.0*)?")
"""As `store.formats.qrels` reads it."""


@dataclass(slots=True)
class ParsedTopic:
    """The lines of one topic, in file order."""

    topic: str
    line: int
    lines: dict[str, int] = field(default_factory=dict)
    """Line number of every docno, those with another fault too."""
    docnos: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    ranks: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class ParsedRun:
    """All that the lines of a run file say."""

    tag: str = ""
    sha256: str = ""
    n_lines: int = 0
    topics: list[ParsedTopic] = field(default_factory=list)
    n_odd_q0: int = 0
    odd_q0: tuple[int, str] | None = None
    hint: str | None = None
    notes: dict[str, str] = field(default_factory=dict)


def read_run(path: str, *, lenient: bool = False, titles: Mapping[str, str] | None = None) -> Run:
    """Read a run file whole, plain or compressed; ``-`` is standard input.

    One `Ranking` a topic, topics and documents in file order; `Ranking.ranks` is ``None`` where a stated rank
    is not an integer. `FormatError` holds the first 25 faults and counts the rest. `lenient`: see the module.
    """
    faults = FaultList(path)
    parsed = parse_run(path, faults, lenient=lenient, titles=titles)
    faults.raise_if_any(hint=parsed.hint)
    for note in parsed.notes.values():
        warn(f"{path}: {note}")
    rankings = [
        Ranking(topic.topic, topic.docnos, np.array(topic.scores), whole_ranks(topic.ranks))
        for topic in parsed.topics
    ]
    return Run(parsed.tag, rankings, parsed.sha256, file=PurePath(path).name)


def whole_ranks(ranks: list[bytes]) -> NDArray[np.int64] | None:
    """Turn stated ranks into integers; ``None``: none is stated, or one is none, or has more than 64 bits."""
    if not ranks or b"_" in b"".join(ranks):
        return None
    try:
        return np.fromiter(map(int, ranks), np.int64, len(ranks))
    except (ValueError, OverflowError):
        return None


def parse_run(
    path: str,
    faults: FaultList,
    *,
    lenient: bool = False,
    known_topics: Set[str] | None = None,
    known_docnos: Container[str] | None = None,
    titles: Mapping[str, str] | None = None,
) -> ParsedRun:
    """Read every line of a run file and note every fault; return what the lines without faults say."""
    parsed = ParsedRun()
    digest = hashlib.sha256()
    scan = _Scan(parsed, faults, lenient=lenient, known_topics=known_topics)
    number = n_faults = 0
    line = b""
    looked: list[bytes] = []
    current: bytes | None = None
    tag: bytes | None = None
    layout: Layout | None = None
    try:
        opened = open_bytes(path)
    except FormatError as error:
        for fault in error.faults:
            faults.add(fault.line, fault.message, fault.code)
        parsed.hint = error.hint
        return parsed
    with opened as file:
        try:
            lines = lines_of(file, faults, digest)
            if (head := next(lines, None)) is not None:
                layout = layout_of(head[1].removeprefix(BOM))
                lines = as_run_lines(lines, layout, faults, titles) if layout else chain([head], lines)
            for number, raw in lines:
                if number > LOOKED_AT and faults.count > n_faults:
                    looked.append(line)
                    n_faults = faults.count
                line = raw
                if number <= LOOKED_AT:
                    looked.append(line)
                if number == 1:
                    line = raw.removeprefix(BOM)
                if line.startswith(b"#"):
                    continue
                fields = fields_of(line) if b"\t" in line else line.split()
                if len(fields) != 6 and (not fields or not scan.repair_fields(number, fields)):
                    continue
                if len(line) > LONGEST_ID and scan.has_long_field(number, fields):
                    continue
                topic_bytes, q0, docno_bytes, rank, score_bytes, tag_bytes = fields
                if tag_bytes != tag:
                    tag = tag_bytes
                    scan.see_tag(number, tag)
                if topic_bytes != current:
                    current = topic_bytes
                    here = scan.see_topic(number, current)
                if q0 != b"Q0" and q0 != b"0":
                    parsed.n_odd_q0 += 1
                    parsed.odd_q0 = parsed.odd_q0 or (number, _quoted_bytes(q0))
                docno = docno_bytes.decode("utf-8", "surrogateescape")
                is_good = True
                if b" " in docno_bytes or not (docno_bytes.isascii() and docno.isprintable()):
                    is_good = scan.check_id(number, docno_bytes, "docno")
                if known_docnos is not None and docno not in known_docnos:
                    message = f"expected a known docno, got {_quoted_bytes(docno_bytes)}"
                    faults.add(number, message, "unknown-docno")
                first = here.lines.setdefault(docno, number)
                if first != number:
                    document = f"document {_quoted_bytes(docno_bytes)}"
                    message = f"{document} is in topic {quoted(here.topic)} already"
                    faults.add(number, f"{message}, on line {first}", "duplicate")
                    is_good = False
                if (score := number_of(score_bytes)) is None:
                    got = _quoted_bytes(score_bytes)
                    faults.add(number, f"expected a finite number as score, got {got}", "score")
                elif is_good:
                    here.docnos.append(docno)
                    here.scores.append(score)
                    here.ranks.append(rank)
        except DamagedDataError as error:
            faults.add(number + 1, str(error), error.kind)
            scan.is_damaged = True
    if tag is None and 0 < scan.n_like_qrels == scan.n_misshapen and not scan.is_damaged:
        report_as_kind(faults, QRELS, RUN)
        parsed.hint = faults.hint
    elif faults and not scan.is_damaged and not any(topic.docnos for topic in parsed.topics):
        report_kind(faults, RUN)
        parsed.hint = faults.hint or parsed.hint
    elif tag is None and not faults:
        faults.add(None, "expected run lines, got none", "empty")
    if faults and not scan.is_damaged:
        said = None if layout else advice(path, looked + [line] * (number > LOOKED_AT))
        parsed.hint = faults.hint or said or parsed.hint
    if lenient and len(scan.tags) > 1:
        named = ", ".join(map(_quoted_bytes, [*scan.tags][:3]))
        mixed = f"{len(scan.tags):,} run tags ({named}) read as one run, {quoted(parsed.tag)}"
        scan.cut = "; ".join(filter(None, (scan.cut, mixed)))
    if parsed.hint == SPLIT_HINT and scan.n_split < len(faults):
        parsed.hint = None  # lenient reading refuses the others
    if scan.cut:
        parsed.notes["lenient"] = scan.cut
    if warning := exchanged(looked):
        parsed.notes["exchanged"] = warning
    if layout is not None and "rank" not in layout.columns.split():
        for one in parsed.topics:
            one.ranks.clear()
    if layout is not None and IGNORED in layout.columns.split():
        parsed.notes["columns"] = layout.taken
    parsed.n_lines = number
    parsed.sha256 = digest.hexdigest()
    return parsed


class _Scan:
    """What the parser does when a line is not like the line before it."""

    def __init__(
        self, parsed: ParsedRun, faults: FaultList, *, lenient: bool, known_topics: Set[str] | None
    ) -> None:
        self.parsed = parsed
        self.faults = faults
        self.lenient = lenient
        self.known_topics = known_topics
        self.tags: dict[bytes, int] = {}
        self.topics: dict[bytes, ParsedTopic] = {}
        self.last_topic = ""
        self.is_damaged = False
        self.n_misshapen = self.n_split = 0
        self.n_like_qrels = 0
        self.cut = ""
        """What was taken for what of the first line that was cut to six fields."""

    def repair_fields(self, number: int, fields: list[bytes]) -> bool:
        """Cut a line to six fields where lenient reading may, else report the fault."""
        is_cut = self.lenient and len(fields) > 6
        if is_cut and can_be_cut(fields):
            if not self.cut:
                self.cut = (
                    f"line {number} has {len(fields)} fields: read field 3 as docno, 5 as score, 6"
                    f" ({_quoted_bytes(fields[5])}) as run tag, and dropped the rest, as on all such lines"
                )
            del fields[6:]
            return True
        self.n_misshapen += 1
        # A line that was cut off after its rank has these four fields, but for the second.
        self.n_like_qrels += (
            len(fields) == 4 and fields[1] != b"Q0" and _GRADE.fullmatch(fields[3]) is not None
        )
        what = "the first 6 fields to be those of a run" if is_cut else "6 fields"
        self.faults.add(number, f"expected {what}, got {len(fields)}", "fields")
        return False

    def has_long_field(self, number: int, fields: list[bytes]) -> bool:
        longest = max(fields, key=len)
        if len(longest) <= LONGEST_ID:
            return False
        self.n_misshapen += 1
        message = f"expected {_FIELDS[fields.index(longest)]} of at most {LONGEST_ID:,} bytes"
        self.faults.add(number, f"{message}, got {len(longest):,}", "long")
        return True

    def see_tag(self, number: int, tag: bytes) -> None:
        is_new = tag not in self.tags
        if is_new:
            self.tags[tag] = number
            self.check_id(number, tag, "run tag")
            if is_quoted(tag):
                self.faults.add(number, "expected fields without quotation marks around them", "quotes")
            elif self.lenient and len(self.tags) > 1 and number_of(tag) is not None:
                message = f"expected a run tag, got also the number {_quoted_bytes(tag)}"
                self.faults.add(number, message, "tag")
        text = tag.decode("utf-8", "backslashreplace")
        if self.lenient or len(self.tags) == 1:
            self.parsed.tag = text
        elif is_new:
            message = f"expected one run tag, {quoted(self.parsed.tag)}, got also {quoted(text)}"
            self.faults.add(number, message, "tag")

    def see_topic(self, number: int, topic: bytes) -> ParsedTopic:
        here = self.topics.get(topic)
        if here is None:
            here = ParsedTopic(topic.decode("utf-8", "backslashreplace"), number)
            self.topics[topic] = here
            self.parsed.topics.append(here)
            if self.check_id(number, topic, "topic id") and topic.startswith(b"#"):
                message = f"expected no `#`, a comment to trec_eval, got {quoted(here.topic)}"
                self.faults.add(number, f"topic id: {message}", "id")
            known = self.known_topics
            if known is not None and topic.decode("utf-8", "surrogateescape") not in known:
                message = f"expected a known topic, got {quoted(here.topic)}"
                self.faults.add(number, message, "unknown-topic")
        elif not self.lenient:
            message = f"topic {quoted(here.topic)} began on line {here.line} and goes on"
            after = f"after topic {quoted(self.last_topic)}"
            self.faults.add(number, f"{message} {after}", "split-topic")
            self.parsed.hint = self.parsed.hint or SPLIT_HINT
            self.n_split += 1
        self.last_topic = here.topic
        return here

    def check_id(self, number: int, raw: bytes, what: str) -> bool:
        try:
            message = id_fault(raw.decode("utf-8"))
        except UnicodeDecodeError:
            message = f"expected an id in UTF-8, got {raw[:_SHOWN_CHARACTERS]!r}"
        if message is None:
            return True
        self.faults.add(number, f"{what}: {message}", "id")
        return False


def quoted(text: str) -> str:
    """Quote text of a file for a message: cut where it is long, escaped where it is no print."""
    if len(text) > _SHOWN_CHARACTERS:
        text = f"{text[:_SHOWN_CHARACTERS]}…"
    return f"`{text}`" if text.isprintable() else repr(text)


def _quoted_bytes(raw: bytes) -> str:
    return quoted(raw.decode("utf-8", "backslashreplace"))
