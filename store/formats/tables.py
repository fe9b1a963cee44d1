"""Tables: lines of fields, whose columns a format declares, or the user names."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from store.errors import ArgumentError, FaultList, UnknownNameError
from store.fields import are_plain_ids, id_fault, topic_fault
from store.formats.lines import LOOKED_AT, not_utf8, piped, read_lines, remedy

Row = TypeVar("Row")
Value = TypeVar("Value")
Cell = TypeVar("Cell", str, bytes)

Fields = list[bytes]
"""Of one line."""
FieldReader = Callable[[bytes], Any]
"""Turns a field into a value that is not ``None``, or raises `UnfitFieldError`."""
_DIFFERING = frozenset({"docno", "iprob"})
"""Columns with hardly a field twice; of others, each text is read once."""


class UnfitFieldError(ValueError):
    """A line has a field that cannot be what its column says."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


SEPARATORS = {b"\t": "tabs", b",": "commas", b";": "semicolons", b"|": "bars"}
HEADERS = {
    "topic": ("topic", "topic_id", "topicid", "qid", "query_id", "queryid", "query", "query_text"),
    "iteration": ("iteration", "iter", "q0", "0"),
    "docno": ("docno", "docid", "doc_id", "document_id", "corpus_id", "pid", "passage_id", "document", "doc"),
    "grade": ("grade", "relevance", "rel", "rating", "score", "label", "judgment", "judgement"),
}
"""What a header calls a column, in lower case with ``_`` for blanks and hyphens; the first that is there."""
_BEIR = frozenset({"query-id", "corpus-id", "score"})
_NUMBER = re.compile(rb"[+-]?[0-9]+(\.[0-9]*)?")


@dataclass(frozen=True, slots=True)
class Layout:
    """How lines are cut, and what the columns are."""

    columns: str
    """Their names, with blanks between."""
    separator: bytes = b""
    """Empty = ASCII blanks."""
    has_header: bool = False
    taken: str = ""
    """What the columns were taken for, where the format leaves it open."""

    def split(self, line: bytes, _n_columns: int = 0) -> Fields:
        """Cut a line into fields; a blank line has none."""
        if not self.separator:
            return line.split()
        try:
            cells = next(csv.reader([line.decode().strip("\r\n")], **self.dialect()), [])
        except UnicodeDecodeError as error:
            raise UnfitFieldError(not_utf8(line, error), "utf8") from error
        except csv.Error as error:
            message = f"expected fields with {SEPARATORS[self.separator]} between: {error}"
            raise UnfitFieldError(message, "fields") from error
        fields = [cell.strip(" \t").encode() for cell in cells]
        return fields if any(fields) else []

    def dialect(self) -> dict[str, Any]:
        """Return how the `csv` module cuts lines."""
        # In a file with tabs a docno may begin with a quotation mark.
        quoting = csv.QUOTE_NONE if self.separator == b"\t" else csv.QUOTE_MINIMAL
        return {"delimiter": self.separator.decode(), "skipinitialspace": True, "quoting": quoting}

    def fit(self, line: bytes) -> int:
        """Return how well a line fits: 0 = not at all, 1 = but for blanks in ids, 2."""
        names = self.columns.split()
        try:
            fields = self.split(line)
        except UnfitFieldError:
            return 0
        if len(fields) != len(names) or not _NUMBER.fullmatch(fields[names.index("grade")]):
            return 0
        ends = {one[-1:] for one in fields[:-1]}
        # `red shoes<TAB>d1<TAB>3` and `1, 0, d1, 3` have four fields between blanks, too.
        has_other = len(ends) == 1 and ends <= SEPARATORS.keys()
        has_other |= len(fields) == 4 and len(line.split(b"\t")) == 3 and fields[1] not in (b"0", b"Q0")
        if has_other and not self.separator:
            return 0
        return 1 if any(b" " in one for one in fields) else 2

    def awk(self, path: str, program: str) -> str:
        """Write the line that changes columns; awk leaves fields in quotation marks as they are."""
        mark = self.separator.decode().replace("\t", r"\t")
        between = f"-F'{mark}' -v OFS='{mark}' " if mark else ""
        return piped(path, f"awk {between}'{program}'")


def sniff(lines: Sequence[bytes], choices: Sequence[str], *, by_header: bool) -> Layout:
    """Return what most of the first lines fit, or the header among them says: plain is the first choice.

    A header has a name for each column of the last choice.
    """
    layouts = [Layout(choices[0])]
    layouts += [Layout(columns, separator) for separator in SEPARATORS for columns in choices]
    layouts += [Layout(columns) for columns in choices[1:]]
    if by_header and lines:
        for layout in [*layouts[1:], layouts[0]]:
            if named := header_layout(layout, lines[0], set(choices[-1].split())):
                return named
    best = max(layouts, key=lambda layout: sum(map(layout.fit, lines)))
    between = SEPARATORS.get(best.separator, "blanks")
    taken = (
        f"columns between {between}, without a header, taken for {best.columns.replace(' ', ', ')};"
        " `import judgements --columns` takes other columns"
    )
    return best if best is layouts[0] or not by_header else replace(best, taken=taken)


def header_layout(
    layout: Layout, line: bytes, needed: set[str], headers: Mapping[str, Sequence[str]] = HEADERS
) -> Layout | None:
    """Return the layout that a line of names says; ``None`` = it is none."""
    try:
        cells = [shown(cell) for cell in layout.split(line)]
    except UnfitFieldError:
        return None
    names = [cell.lower().replace(" ", "_").replace("-", "_") for cell in cells]
    columns = [IGNORED] * len(cells)
    for column, known in headers.items():
        if (name := next((one for one in known if one in names), None)) is not None:
            columns[names.index(name)] = column
    if not needed <= set(columns):
        return None
    parts = [
        f"`{cell}` {'is passed over' if column == IGNORED else f'= {column}'}"
        for cell, column in zip(cells, columns, strict=True)
    ]
    is_beir = layout.separator == b"\t" and set(cells) - {"0"} == _BEIR
    taken = "" if is_beir else f"columns taken by their names: {', '.join(parts)}"
    return replace(layout, columns=" ".join(columns), has_header=True, taken=taken)


@dataclass(slots=True)
class ReadTable(Generic[Row]):
    """What a file of lines of fields holds."""

    rows: list[Row] = field(default_factory=list)
    """In file order."""
    n_trailing: int = 0
    """Rows, read leniently, with text after the last field."""
    sha256: str = ""
    """Hash of the uncompressed file, in hexadecimal."""
    n_float_grades: int = 0
    """Rows whose code was written as an integral float, like ``2.0``."""
    float_grade: str = ""
    """The first code that was written so."""
    n_same: int = 0
    """Lines that are in no row, as they repeat an earlier one."""
    first_same: int = 0
    """The first of them, by its number; 0 = there is none."""
    repeats: list[Row] = field(default_factory=list)
    """Rows of what an earlier row is of, among `rows` or not."""
    looks_like: tuple[str, ...] = ()
    """The `TableFormat.others` that all lines could be of."""
    layout: Layout = Layout("")


@dataclass(frozen=True, slots=True)
class TableFormat(Generic[Row]):
    """What the lines of a table are."""

    columns: str
    """Their names, with blanks between."""
    readers: Mapping[str, FieldReader]
    """By column, in the order in which faults of a line are reported; the others mean nothing."""
    row: Callable[..., Row]
    """Makes a row of the line number and the values of `readers`."""
    key: tuple[str, ...]
    """Attributes of a row that no other row has in common ..."""
    repeat_fault: Callable[[Row, Row], str | None] | None
    """... and what is said of a second row, and the first; ``None`` = it is passed over, as it says the same.
    Without one, all are rows, for `store.formats.scale.settle_repeats`."""
    split: Callable[[bytes, int], Fields] | None = None
    """Turns a line into fields, for so many columns; ``None`` = at ASCII blanks."""
    check: Callable[[int, Fields, Sequence[Any]], None] | None = None
    """Raises `UnfitFieldError` where values do not go together; ``None`` stands for those with a fault."""
    others: Mapping[str, Callable[[Fields], bool]] = field(default_factory=dict)
    """Whether a line could be of another format; reported if the line has as many fields as it should."""
    suspect: Callable[[ReadTable[Row], FaultList], None] | None = None
    """Reports that the whole file is something else."""
    choices: tuple[str, ...] = ()
    """Columns that its first lines may show it to have, with other separators, too; see `sniff`."""
    has_comments: bool = False
    """Whether lines that begin with ``#`` are passed over by strict reading, too."""
    has_header: bool = False
    """Whether a first line that names the columns is passed over; where it names more, these are, too."""


def read_table(
    path: str, form: TableFormat[Row], *, lenient: bool = False, faults: FaultList | None = None
) -> ReadTable[Row]:
    """Read a table, or raise `FormatError`; with `faults` they go there, and rows without one are returned.

    When `lenient`, a line that begins with ``#`` is a comment, and fields after the last column are ignored.
    """
    found = FaultList(path) if faults is None else faults
    digest = hashlib.sha256()
    lines = read_lines(path, found, digest)
    head = [*islice(lines, LOOKED_AT)]
    if len(head) == 1 and b"\r" in head[0][1].strip():  # a carriage return ends each line
        head = [*enumerate(head[0][1].splitlines(), start=1)]
    may_trail = lenient
    if form.has_header and head:
        columns, cells = form.columns.encode().split(), head[0][1].split()
        if cells[: len(columns)] == columns:
            head = head[1:]
            may_trail |= len(cells) > len(columns)
    layout = Layout(form.columns)
    if form.choices:
        filled = [one for one in head if one[1].strip() and not one[1].startswith(b"#")][:LOOKED_AT]
        layout = sniff([line for _, line in filled], form.choices, by_header=form.split is None)
        if layout.has_header:
            head.remove(filled[0])
        form = _laid_out(form, layout)
    names = form.columns.split()
    n_columns, split, check = len(names), form.split, form.check
    readers = [
        (
            read if name in _DIFFERING else Remembered[bytes](read).__getitem__,
            names.index(name) if name in names else 0,
        )
        for name, read in form.readers.items()
    ]
    grade_place = names.index("grade") if "grade" in names else None
    key = attrgetter(*form.key)
    table = ReadTable[Row](layout=layout)
    passes_comments = lenient or form.has_comments
    rows = table.rows
    first_of: dict[object, Row] = {}
    others, is_empty = form.others, True
    for number, line in chain(head, lines):
        is_comment = line.startswith(b"#")
        if is_comment and passes_comments:
            continue
        try:
            fields = line.split() if split is None else split(line, n_columns)
        except UnfitFieldError as error:
            found.add(number, str(error), error.code)
            found.hint = found.hint or remedy(path, line)
            continue
        n_more = len(fields) - n_columns
        if n_more or is_comment or others:
            if not fields:
                continue
            is_whole = not is_comment and (not n_more or (may_trail and n_more > 0))
            others = {name: fits for name, fits in others.items() if fits(fields)}
            is_empty = False
            if not is_whole:
                got = "a line that begins with `#`" if is_comment else str(len(fields))
                message = f"expected {n_columns} fields ({form.columns}), got {got}"
                found.add(number, message, "comment" if is_comment else "fields")
                found.hint = found.hint or remedy(path, line)
                continue
        values: list[Any] = []
        n_faults = found.count
        for read, place in readers:
            try:
                values.append(read(fields[place]))
            except UnfitFieldError as error:
                values.append(None)
                found.add(number, str(error), error.code)
        if check is not None:
            try:
                check(number, fields, values)
            except UnfitFieldError as error:
                found.add(number, str(error), error.code)
        if found.count > n_faults:
            found.hint = found.hint or _hint(path, line, fields, grade_place, layout)
            continue
        row = form.row(number, *values)
        first = first_of.setdefault(key(row), row)
        if first is not row:
            table.repeats.append(row)
            if form.repeat_fault is not None:
                if fault := form.repeat_fault(row, first):
                    found.add(number, fault, "duplicate")
                else:
                    table.n_same += 1
                    table.first_same = table.first_same or number
                continue
        if n_more:
            table.n_trailing += 1
        if grade_place is not None and b"." in fields[grade_place]:
            table.n_float_grades += 1
            table.float_grade = table.float_grade or fields[grade_place].decode()
        rows.append(row)
    table.sha256 = digest.hexdigest()
    table.looks_like = () if is_empty else tuple(others)
    if form.suspect is not None:
        form.suspect(table, found)
    if not rows and not found:
        found.add(None, f"expected `{form.columns}` lines, got none", "empty")
    if faults is None:
        found.raise_if_any()
    return table


def _laid_out(form: TableFormat[Row], layout: Layout) -> TableFormat[Row]:
    """Make the format of a file: a column that it has not is ``0`` all along."""
    columns = layout.columns.split()
    absent = {name: _always("0") for name in form.columns.split() if name not in columns}
    is_cut = layout.separator and not (form.split and layout.separator == b"\t")
    split = layout.split if is_cut else form.split
    return replace(form, columns=layout.columns, readers={**form.readers, **absent}, split=split)


def _hint(path: str, line: bytes, fields: Fields, grade_place: int | None, layout: Layout) -> str | None:
    """Return what to type where a line of as many fields as it should have has a fault."""
    if hint := remedy(path, line):
        return hint
    # Neither sed nor awk passes over blanks beside another separator.
    is_plain = all(cell == cell.strip() for cell in line.strip().split(layout.separator or None))
    if grade_place is not None and _MEAN.fullmatch(fields[grade_place]):
        place = f"${grade_place + 1}"
        rounds = layout.awk(path, f"{place} ~ /^[0-9]+[.]/ {{{place} = int({place} + 0.5)}} {{print}}")
        hint = "a mean of judges is no grade: import each judge's own file (--aggregate mean combines them)"
        return f"{hint}, or round: {rounds} rounds halves up" if is_plain and b'"' not in line else hint
    if layout.separator and is_plain and any(b" " in one for one in fields):
        command = piped(path, "sed 's/ /_/g'")
        return f"ids have no blanks, as runs are split at them: {command} writes _ for each, as runs must"
    return None


class Remembered(dict[Cell, Any], Generic[Cell]):
    """The values of fields, each read once."""

    def __init__(self, read: Callable[[Cell], Any]) -> None:
        self._read: Callable[[Cell], Any] = read

    def __missing__(self, text: Cell) -> Any:
        value = self[text] = self._read(text)
        return value


class Numbering(dict[str, int]):
    """Numbers from 0 for texts, in the order in which they are first asked for."""

    def __missing__(self, text: str) -> int:
        number = self[text] = len(self)
        return number


_MOST_SHOWN = 200
"""Characters of a field that a fault shows."""


def shown(text: bytes) -> str:
    """Return a field as messages show it."""
    return text.decode("utf-8", "backslashreplace")


def _brief(text: bytes) -> str:
    words = shown(text)
    return words if len(words) <= _MOST_SHOWN else f"{words[:_MOST_SHOWN]}…"


def expecting(parse: Callable[[bytes], Value | None], expected: str, code: str) -> Callable[[bytes], Value]:
    """Make the reader of a column from what returns ``None`` for a field that is not as `expected`."""

    def read(text: bytes) -> Value:
        value = parse(text)
        if value is None:
            raise UnfitFieldError(f"expected {expected}, got `{_brief(text)}`", code)
        return value

    return read


def id_reader(
    fault_of: Callable[[str], str | None], not_utf8: str = "expected UTF-8, got byte 0x{byte:02x} in `{got}`"
) -> Callable[[bytes], str]:
    """Make the reader of a column of ids."""

    def read(text: bytes) -> str:
        try:
            name = text.decode()
        except UnicodeDecodeError as error:
            message = not_utf8.format(byte=text[error.start], got=_brief(text))
            raise UnfitFieldError(message, "utf8") from error
        if fault := fault_of(name):
            raise UnfitFieldError(fault, "id")
        return name

    return read


read_topic = id_reader(topic_fault)
read_name = id_reader(id_fault)
"""Of docnos, iterations and names of judges."""

_GRADE = re.compile(rb"([+-]?[0-9]{1,18})(\.0*)?")
_MEAN = re.compile(rb"[0-9]+\.[0-9]+")


def _grade(text: bytes) -> int | None:
    match = _GRADE.fullmatch(text)
    return int(match[1]) if match else None


READERS: dict[str, FieldReader] = {
    "topic": read_topic,
    "iteration": read_name,
    "docno": read_name,
    "judge": read_name,
    "grade": expecting(_grade, "an integer grade", "grade"),
}


def check_rows(rows: Iterable[Any], kind: str, names: Sequence[str] = ("topic", "docno")) -> None:
    """Raise `ArgumentError` for an id that could not be read back from a file of some kind."""
    rows = list(rows)
    for name in names:
        check_names(name, dict.fromkeys(getattr(row, name) for row in rows), kind)


def check_names(name: str, texts: Collection[str], kind: str) -> None:
    """Raise `ArgumentError` for the first of some ids, such as topics, that could not be read back."""
    if name != "topic" and are_plain_ids(texts):
        return
    for text in texts:
        if fault := topic_fault(text) if name == "topic" else id_fault(text):
            raise ArgumentError(name, f"cannot be written to a {kind} file: {fault}", text)


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


JudgedTable = ReadTable[GradedRow]
JUDGED = ("topic", "docno", "judge")
"""What a judgement is of."""


def duplicate_words(row: GradedRow, first: GradedRow) -> str:
    """Return the message that two lines are about the same."""
    judge = f" judge `{row.judge}`" if row.judge else ""
    return (
        f"expected each document once a topic{' and judge' if judge else ''}, got topic"
        f" `{row.topic}` docno `{row.docno}`{judge} with grade {row.code}; line {first.line} has it"
        f" with grade {first.code}"
    )


def _split_text(line: bytes, n_columns: int) -> Fields:
    """Split a line at tabs where that gives as many fields as there are columns, else at any blanks."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise UnfitFieldError(not_utf8(line, error), "utf8") from error
    parts = [part.strip() for part in text.split("\t")] if "\t" in text else []
    if len(parts) != n_columns or not any(parts):
        parts = text.split()
    return [part.encode() for part in parts]


def judged_format(
    columns: str,
    readers: Mapping[str, FieldReader],
    row: Callable[..., GradedRow] = GradedRow,
    check: Callable[[int, Fields, Sequence[Any]], None] | None = None,
) -> TableFormat[GradedRow]:
    """Make a format of judgements whose columns stand between tabs or blanks."""
    return TableFormat(columns, readers, row, JUDGED, None, _split_text, check)


IGNORED = "-"
"""A column that means nothing here."""

NAMES = ("topic", "iteration", "docno", "judge", "grade", IGNORED)
"""What a column may be called."""


def parse_columns(text: str) -> tuple[str, ...]:
    """Read ``--columns NAME,NAME,...``: names of `NAMES` in the order of the file's columns."""
    columns = tuple(name.strip() for name in text.split(","))
    named = [name for name in columns if name != IGNORED]
    for name in filter(None, named):
        if name not in NAMES:
            hint = "`-` skips a column: --columns docno,judge,-,grade"
            raise UnknownNameError("column", name, NAMES[:-1], hint=hint)
    is_whole = {"docno", "grade"} <= set(named) <= set(NAMES)
    if not is_whole or len(set(named)) < len(named):
        requirement = "must name each column of the file once: docno and grade, and where it has them"
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
    faults: FaultList | None = None,
) -> JudgedTable:
    """Read a table of judgements by the names of its columns; see `read_table`.

    `topic`, `judge` and `iteration` are those of all lines where no column says them.
    """
    if topic is None and "topic" not in columns:
        hint = "--topic T, or `topic` among --columns"
        raise ArgumentError("topic", "must be given: no column holds it", None, hint=hint)
    for name, text, fault_of in (
        ("topic", topic, topic_fault),
        ("judge", judge, id_fault),
        ("iteration", iteration, id_fault),
    ):
        if text is not None and name != "iteration" and name in columns:
            raise ArgumentError(name, "is already given by a column", text)
        if text is not None and (message := fault_of(text)):
            raise ArgumentError(name, f"must be one word: {message}", None)
    readers = dict(READERS)
    fixed = {"topic": topic or "", "iteration": iteration, "judge": judge or ""}
    readers |= {name: _always(text) for name, text in fixed.items() if name not in columns}
    form = replace(judged_format(" ".join(columns), readers), choices=(" ".join(columns),))
    return read_table(path, form, lenient=lenient, faults=faults)


def _always(value: str) -> FieldReader:
    return lambda _field: value
