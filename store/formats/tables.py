"""Tables whose columns the user names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from store.errors import ArgumentError, FaultList, UnknownNameError
from store.fields import id_fault, is_plain_id, topic_fault
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, open_bytes
from store.records import Qrel

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?", re.ASCII)


class GradedRow(NamedTuple):
    """One judgement as a file states it."""

    line: int
    """Line number from 1."""
    topic: str
    iteration: str
    docno: str
    judge: str
    """Empty = the file does not say."""
    code: int
    """What it says for a grade; what negatives mean is not decided here."""


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """What a table of judgements holds."""

    rows: list[GradedRow]
    """In file order."""
    n_float_grades: int
    """Rows whose code was written as an integral float, like ``2.0``."""
    n_ignored_lines: int
    """Blank lines and, when lenient, comment lines."""
    n_trailing: int
    """Rows, read leniently, with text after the last field."""
    sha256: str
    """Hash of the uncompressed file, in hexadecimal."""
    float_grade: str = ""
    """The first code that was written so."""


class Fields:
    """The fields of a line, each read by what it is; faults are told with their line."""

    def __init__(self, faults: FaultList) -> None:
        self.faults = faults
        self.n_floats = 0
        self.float_grade = ""
        self._known: set[str] = set()

    def topic(self, line: int, text: str) -> str:
        """Read a topic id; what repeats is checked once."""
        if text not in self._known:
            self._check(line, text, topic_fault(text))
        return text

    def name(self, line: int, text: str) -> str:
        """Read a docno, the name of a judge, or an iteration."""
        if not is_plain_id(text) or " " in text:
            self._check(line, text, id_fault(text))
        return text

    def grade(self, line: int, text: str) -> int:
        """Read an integer, which may be written as an integral float."""
        match = _INTEGER.fullmatch(text)
        if match is None:
            self.faults.add(line, f"expected an integer grade, got `{text}`", "grade")
            return 0
        if match[1] is not None:
            self.n_floats += 1
            self.float_grade = self.float_grade or text
        return int(text.partition(".")[0])

    def _check(self, line: int, text: str, message: str | None) -> None:
        """Tell a fault, or remember that there is none."""
        if message:
            self.faults.add(line, message, "id")
        else:
            self._known.add(text)


RowReader = Callable[[int, Sequence[str], Fields], GradedRow]
"""Turns the fields of a line into a row; a row with a fault is thrown away."""


def read_table(
    path: str,
    columns: str,
    read_row: RowReader,
    *,
    lenient: bool,
    keep_repeats: bool = False,
    faults: FaultList | None = None,
) -> JudgedTable:
    """Read a table of judgements; `columns` names its columns with blanks between, and so says how many.

    Fields are separated by tabs where that gives as many as there are columns, else by any blanks. Blank
    lines and a byte order mark are ignored. When `lenient`, a line that begins with ``#`` is a comment and
    what follows the last field is ignored; otherwise both are faults. With `keep_repeats` topic, docno and
    judge may come again, for `store.formats.codes.settle_repeats`.

    `FormatError` is raised with every fault, by code: ``fields`` (not as many as there are columns),
    ``comment``, ``duplicate`` (topic, docno and judge as on an earlier line), ``utf8``, ``empty``, the kind
    of compression that is damaged, and what `read_row` tells. Where `faults` is given they are told there
    instead, and the rows without one are returned.
    """
    told = FaultList(path) if faults is None else faults
    fields = Fields(told)
    digest = hashlib.sha256()
    rows: list[GradedRow] = []
    first_at: dict[tuple[str, str, str], GradedRow] = {}
    n_columns = len(columns.split())
    n_ignored = n_trailing = 0
    for number, text in _read_lines(path, told, digest):
        is_comment = text.startswith("#")
        parts = _split(text, n_columns)
        if not parts or (lenient and is_comment):
            n_ignored += 1
            continue
        if is_comment or len(parts) < n_columns or (len(parts) > n_columns and not lenient):
            got = "a line that begins with `#`" if is_comment else str(len(parts))
            message = f"expected {n_columns} fields ({columns}), got {got}"
            told.add(number, message, "comment" if is_comment else "fields")
            continue
        before = told.count
        row = read_row(number, parts, fields)
        if told.count > before:
            continue
        first = first_at.setdefault((row.topic, row.docno, row.judge), row)
        if first is not row and not keep_repeats:
            told.add(number, duplicate_words(row, first), "duplicate")
            continue
        n_trailing += len(parts) > n_columns
        rows.append(row)
    if not rows and not told:
        told.add(None, f"expected `{columns}` lines, got none", "empty")
    if faults is None:
        told.raise_if_any()
    sha256 = digest.hexdigest()
    return JudgedTable(rows, fields.n_floats, n_ignored, n_trailing, sha256, fields.float_grade)


def check_rows(rows: Iterable[Qrel], kind: str) -> None:
    """Raise `ArgumentError` for an id that could not be read back from a file of some kind.

    It is empty, has blanks or control characters, or is a topic that begins with ``#``.
    """
    topics: set[str] = set()
    for row in rows:
        if row.topic not in topics:
            _refuse("topic", row.topic, topic_fault(row.topic), kind)
            topics.add(row.topic)
        _refuse("docno", row.docno, id_fault(row.docno), kind)


def _refuse(name: str, text: str, message: str | None, kind: str) -> None:
    """Refuse an id that could not be read back."""
    if message:
        raise ArgumentError(name, f"cannot be written to a {kind} file: {message}", text)


def _split(text: str, n_columns: int) -> list[str]:
    """Split a line into fields."""
    if "\t" in text:
        parts = [part.strip() for part in text.split("\t")]
        if len(parts) == n_columns and any(parts):
            return parts
    return text.split()


def duplicate_words(row: GradedRow, first: GradedRow) -> str:
    """Say that two lines speak of the same."""
    judge = f" judge `{row.judge}`" if row.judge else ""
    return (
        f"expected each document once a topic{' and judge' if judge else ''}, got topic"
        f" `{row.topic}` docno `{row.docno}`{judge} with grade {row.code}; line {first.line} has it"
        f" with grade {first.code}"
    )


def _read_lines(path: str, faults: FaultList, digest: hashlib._Hash) -> Iterator[tuple[int, str]]:
    """Yield numbered lines without their ends; hash them all."""
    number = 0
    with open_bytes(path) as file:
        try:
            for number, raw in enumerate(file, start=1):
                digest.update(raw)
                line = raw.removeprefix(BOM) if number == 1 else raw
                try:
                    yield number, line.decode("utf-8").removesuffix("\n").removesuffix("\r")
                except UnicodeDecodeError as error:
                    got = f"byte 0x{line[error.start]:02x} at column {error.start + 1}"
                    faults.add(number, f"expected UTF-8, got {got}", "utf8")
        except DamagedDataError as error:
            faults.add(number + 1, str(error), error.kind)


IGNORED = "-"
"""A column that means nothing here."""

NAMES = ("topic", "iteration", "docno", "judge", "grade", IGNORED)
"""What a column may be called."""


def parse_columns(text: str) -> tuple[str, ...]:
    """Read ``--columns NAME,NAME,...``: names of `NAMES` in the order of the file's columns.

    `UnknownNameError` is raised for an unknown name, `ArgumentError` if a name but ``-`` is there twice, or
    ``docno`` or ``grade`` is not.

    Examples
    --------
    >>> parse_columns("docno,judge,-,grade")
    ('docno', 'judge', '-', 'grade')
    """
    columns = tuple(name.strip() for name in text.split(","))
    named = [name for name in columns if name != IGNORED]
    for name in filter(None, named):
        if name not in NAMES:
            hint = "`-` skips a column: --input-columns docno,judge,-,grade"
            raise UnknownNameError("column", name, NAMES[:-1], hint=hint)
    is_whole = {"docno", "grade"} <= set(named) <= set(NAMES)
    if not is_whole or len(set(named)) < len(named):
        requirement = "must name each column of the file once: docno and grade, and what there is of"
        hint = "as in --columns docno,judge,grade; `-` is a column that is passed over"
        others = "topic, iteration and judge, with commas"
        raise ArgumentError("columns", f"{requirement} {others}", text, hint=hint)
    return columns


def read_columns(
    path: str,
    columns: Sequence[str],
    *,
    topic: str | None = None,
    judge: str | None = None,
    iteration: str = "0",
    lenient: bool = False,
    keep_repeats: bool = False,
    faults: FaultList | None = None,
) -> JudgedTable:
    r"""Read a table of judgements by the names of its columns; options and faults are those of `read_table`.

    `topic`, `judge` and `iteration` are those of all lines where no column says them; no judge is an empty
    one. Fields have the fault codes ``id`` and ``grade``. `ArgumentError` is raised if `topic` is not given
    and no column says it, if `topic` or `judge` is given and a column says it too, or if one is no id.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("d1 7 3\nd1 9 0\n")
    ...     file.flush()
    ...     read_columns(file.name, ("docno", "judge", "grade"), topic="web").rows[1]
    GradedRow(line=2, topic='web', iteration='0', docno='d1', judge='9', code=0)
    """
    if topic is None and "topic" not in columns:
        hint = "--topic T, or `topic` among --columns"
        raise ArgumentError("topic", "must be given: no column says it", None, hint=hint)
    for name, text, fault in (
        ("topic", topic, topic_fault),
        ("judge", judge, id_fault),
        ("iteration", iteration, id_fault),
    ):
        if text is not None and name != "iteration" and name in columns:
            raise ArgumentError(name, "is said by a column already", text)
        if text is not None and (message := fault(text)):
            raise ArgumentError(name, f"must be one word ({message})", text)
    places = {name: place for place, name in enumerate(columns) if name != IGNORED}
    topic_place, judge_place = places.get("topic"), places.get("judge")
    iteration_place = places.get("iteration")
    docno_place, grade_place = places["docno"], places["grade"]

    def row(line: int, parts: Sequence[str], fields: Fields) -> GradedRow:
        return GradedRow(
            line,
            topic or "" if topic_place is None else fields.topic(line, parts[topic_place]),
            iteration if iteration_place is None else fields.name(line, parts[iteration_place]),
            fields.name(line, parts[docno_place]),
            judge or "" if judge_place is None else fields.name(line, parts[judge_place]),
            fields.grade(line, parts[grade_place]),
        )

    return read_table(path, " ".join(columns), row, lenient=lenient, keep_repeats=keep_repeats, faults=faults)


class IdFields:
    """Fields of a file as text; what repeats is decoded and checked once."""

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._topics: dict[bytes, str] = {}

    def topic(self, line: int, field: bytes) -> str | None:
        """Return the topic id, or tell the fault."""
        if (known := self._topics.get(field)) is not None:
            return known
        text = self._decoded(line, field)
        if text is not None and (message := topic_fault(text)):
            self._faults.add(line, message, "id")
            return None
        if text is not None:
            self._topics[field] = text
        return text

    def docno(self, line: int, field: bytes) -> str | None:
        """Return the docno, or tell the fault."""
        text = self._decoded(line, field)
        if text is None or is_plain_id(text):
            return text
        if message := id_fault(text):
            self._faults.add(line, message, "id")
            return None
        return text

    def _decoded(self, line: int, field: bytes) -> str | None:
        """Decode a field, or tell the fault."""
        try:
            return field.decode("utf-8")
        except UnicodeDecodeError as error:
            got = field.decode("utf-8", "backslashreplace")
            byte = field[error.start]
            self._faults.add(line, f"expected UTF-8, got byte 0x{byte:02x} in `{got}`", "utf8")
            return None
