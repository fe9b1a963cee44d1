"""Tables of judgements, one a line, whatever their columns are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from store.errors import ArgumentError, FaultList
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, id_fault, is_plain_id, open_bytes
from store.formats.topics import topic_fault
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
    """Read a table of judgements.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input; compression is seen through.
    columns : str
        The names of the columns between blanks, for messages; they say how many there are.
    read_row : callable
        Reads the fields of a line; tells faults to `Fields.faults`.
    lenient : bool
        A line that begins with ``#`` is a comment, and what follows the last field is ignored.
        Otherwise both are faults.
    keep_repeats : bool, default=False
        Whether topic, docno and judge may come again: for `store.repeats.settle_repeats`.
    faults : FaultList, optional
        Where faults are told instead of being raised; rows without one are returned all the same.

    Raises
    ------
    FormatError
        With every fault of the file, by code: ``fields`` (not as many as there are columns),
        ``comment``, ``duplicate`` (topic, docno and judge as on an earlier line), ``utf8``,
        ``empty``, the kind of compression that is damaged, and what `read_row` tells.
    PoolerError
        If the file cannot be opened.

    Notes
    -----
    Fields are separated by tabs where that gives as many as there are columns, else by any blanks.
    Blank lines and a byte order mark are ignored. O(n) in time and memory.
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
    """Refuse ids that could not be read back from a file of some kind.

    Raises
    ------
    ArgumentError
        If a topic or docno is empty, has blanks or control characters, or a topic begins with
        ``#``.
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
