"""Qrels, as rows or as columns."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, NamedTuple, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError, FaultList
from store.fields import LONGEST_ID, id_fault, topic_fault
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, QRELS, RUN, is_regular_file, open_bytes, tell_kind, told_kind
from store.formats.tables import IdFields
from store.records import Qrel
from store.text import NaturalKey, natural_key

_GRADE = re.compile(rb"([+-]?[0-9]{1,18})(\.0*)?")
_JUDGE_COLUMN = 2
_ITERATIONS = ("0", "Q0")
_FEWEST_NAMED = 3
_FEWEST_EXCHANGED = 20
"""Lines with one word in column 3 from which columns are taken to be exchanged; the other number
holds where that word is one that files have for the iteration."""


class QrelRow(NamedTuple):
    """One judgement as the file states it (a tuple: files have a million of them)."""

    line: int
    """Line number from 1."""
    topic: str
    iteration: str
    """The second column, kept as it is: a round, a judge, a letter, mostly ``0``."""
    docno: str
    code: int
    """The fourth column; whether a negative code is a grade is not decided here."""


@dataclass(frozen=True, slots=True)
class QrelsFile:
    """What a qrels file holds."""

    rows: list[QrelRow]
    """In file order."""
    n_float_grades: int
    """Rows whose code was written as an integral float, like ``2.0``."""
    n_ignored_lines: int
    """Blank lines and, when lenient, comment lines."""
    n_trailing: int
    """Rows, read leniently, with text after the fourth field."""
    sha256: str
    """Hash of the uncompressed file, in hexadecimal."""
    float_grade: str = ""
    """The first code that was written so."""
    n_alike: int = 0
    """Lines that are in no row, as an earlier one of the same document has the same code."""
    first_alike: int = 0
    """The first of them, by its number; 0 = there is none."""


def read_qrels(
    path: str,
    *,
    lenient: bool = False,
    judge_column: int | None = None,
    keep_repeats: bool = False,
    faults: FaultList | None = None,
) -> QrelsFile:
    """Read a qrels file, rows in file order; ``-`` is standard input, and compression is seen through.

    Fields are separated by ASCII blanks, as in trec_eval; topics and docnos are text, byte for byte. Blank
    lines and a byte order mark are ignored. When `lenient`, a line that begins with ``#`` is a comment, as
    in trec_eval 10, and what follows the fourth field is ignored, which trec_eval refuses; otherwise both
    are faults. The five-column files of sampled pools must not be read leniently: the fourth column of one
    kind is a stratum. `judge_column` is ``None`` or 2, the only column that may name the judge; a document
    may then have one code a topic and judge, else one a topic. A line that repeats an earlier one's code
    is counted and passed over, whatever its iteration is; trec_eval refuses it. With `keep_repeats` every
    line is a row, for `store.formats.codes.settle_repeats`.

    `FormatError` is raised with every fault, by code: ``fields`` (not four fields), ``comment``, ``id``,
    ``grade`` (``abc``, and ``1.7`` even when lenient, which trec_eval would read as 1), ``duplicate`` (with
    another code), ``exchanged`` (columns 2 and 3, by the looks of it), ``utf8``, ``gzip``, ``empty``, or
    the code that `store.formats.lines` gives a file of another kind. Where `faults` is given they are told
    there instead, and the rows without one are returned. Source: trec_eval 10.0, `get_qrels.c` and
    `get_qrels_jg.c`.
    """
    if judge_column not in (None, _JUDGE_COLUMN):
        requirement = "must be 2, the only column of a qrels line that can name a judge"
        raise ArgumentError("judge_column", requirement, judge_column)
    told = FaultList(path) if faults is None else faults
    digest = hashlib.sha256()
    columns = _QrelsColumns(told)
    rows: list[QrelRow] = []
    repeated: list[QrelRow] = []
    first_at: dict[tuple[str, ...], int] = {}
    n_ignored = n_floats = n_trailing = n_like_run = n_alike = first_alike = number = 0
    float_grade = ""
    for number, raw in _read_lines(path, told, digest):
        fields = raw.split()
        if len(fields) != 4 or raw.startswith(b"#"):
            if not fields or (lenient and raw.startswith(b"#")):
                n_ignored += 1
                continue
            n_like_run += _is_like_run(fields)
            if message := _shape_fault(raw, len(fields), lenient=lenient):
                told.add(number, message, "comment" if raw.startswith(b"#") else "fields")
                continue
        topic = columns.topic(number, fields[0])
        iteration = columns.iteration(number, fields[1])
        docno = columns.docno(number, fields[2])
        grade = columns.grade(number, fields[3])
        if topic is None or iteration is None or docno is None or grade is None:
            continue
        code, is_float = grade
        key = (topic, docno) if judge_column is None else (topic, docno, iteration)
        first = first_at.setdefault(key, len(rows))
        if first < len(rows):
            repeated.append(QrelRow(number, topic, iteration, docno, code))
        if first < len(rows) and not keep_repeats:
            earlier = rows[first]
            if earlier.code == code:
                n_alike += 1
                first_alike = first_alike or number
                continue
            told.add(
                number,
                f"expected each document once a topic{'' if judge_column is None else ' and judge'}"
                f", got topic `{topic}` docno `{docno}` with grade {code};"
                f" line {earlier.line} has it with grade {earlier.code}",
                "duplicate",
            )
            continue
        n_floats += is_float
        if is_float and not float_grade:
            float_grade = fields[3].decode()
        n_trailing += len(fields) > 4
        rows.append(QrelRow(number, topic, iteration, docno, code))
    if judge_column is None and repeated and _is_exchanged(rows, () if keep_repeats else repeated):
        _tell_exchanged(told, len(rows) + (0 if keep_repeats else len(repeated)), rows[0].docno)
        rows.clear()
    elif 0 < n_like_run == number - n_ignored:
        tell_kind(told, RUN, QRELS)
        rows.clear()
    elif told and told_kind(told, QRELS):
        rows.clear()
    if not rows and not told:
        told.add(None, "expected `topic iteration docno grade` lines, got none", "empty")
    if faults is None:
        told.raise_if_any()
    return QrelsFile(
        rows, n_floats, n_ignored, n_trailing, digest.hexdigest(), float_grade, n_alike, first_alike
    )


def _read_lines(path: str, faults: FaultList, digest: hashlib._Hash) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines as bytes, without a byte order mark; hash them all."""
    number = 0
    with open_bytes(path) as file:
        try:
            for number, raw in enumerate(file, start=1):
                digest.update(raw)
                yield number, raw.removeprefix(BOM) if number == 1 else raw
        except DamagedDataError as error:
            faults.add(number + 1, str(error), error.kind)


def _is_exchanged(rows: Sequence[QrelRow], repeated: Sequence[QrelRow]) -> bool:
    """Say whether column 3 is one word all along and column 2 what differs within a topic."""
    docno = rows[0].docno
    seen: set[tuple[str, str]] = set()
    for row in chain(rows, repeated):
        pair = (row.topic, row.iteration)
        if row.docno != docno or pair in seen:
            return False
        seen.add(pair)
    return len(seen) >= (_FEWEST_NAMED if docno in _ITERATIONS else _FEWEST_EXCHANGED)


def _tell_exchanged(faults: FaultList, n_lines: int, docno: str) -> None:
    """Say that two columns stand in each other's place."""
    message = (
        f"expected `topic iteration docno grade`, got `{docno}` in column 3 of all"
        f" {n_lines:,} lines: columns 2 and 3 look exchanged"
    )
    hint = (
        f"awk '{{print $1, $3, $2, $4}}' {shlex.quote(faults.path)} puts them right; `import"
        " judgements` takes --columns topic,docno,iteration,grade, too"
    )
    faults.put_instead(message, "exchanged", hint=hint)


def _is_like_run(fields: list[bytes]) -> bool:
    """Say whether a line has the shape `topic Q0 docno rank score tag`."""
    if len(fields) != 6 or fields[1].upper() != b"Q0":
        return False
    try:
        float(fields[4])
    except ValueError:
        return False
    return True


def _shape_fault(raw: bytes, n_fields: int, *, lenient: bool) -> str | None:
    """Say why a line that is not blank has not the shape of a judgement."""
    expected = "expected 4 fields (topic iteration docno grade)"
    if raw.startswith(b"#"):
        return f"{expected}, got a line that begins with `#`"
    if n_fields < 4 or not lenient:
        return f"{expected}, got {n_fields}"
    return None


class _QrelsColumns(IdFields):
    """Fields of a file as text and numbers; what repeats is decoded and checked once."""

    def __init__(self, faults: FaultList) -> None:
        super().__init__(faults)
        self._iterations: dict[bytes, str] = {}
        self._grades: dict[bytes, tuple[int, bool]] = {}

    def iteration(self, line: int, field: bytes) -> str | None:
        """Return the second column, or tell the fault."""
        if (known := self._iterations.get(field)) is not None:
            return known
        text = self.docno(line, field)
        if text is not None:
            self._iterations[field] = text
        return text

    def grade(self, line: int, field: bytes) -> tuple[int, bool] | None:
        """Return the code and whether it was written as a float, or tell the fault."""
        if (known := self._grades.get(field)) is not None:
            return known
        match = _GRADE.fullmatch(field)
        if match is None:
            got = field.decode("utf-8", "backslashreplace")
            self._faults.add(line, f"expected an integer grade, got `{got}`", "grade")
            return None
        self._grades[field] = int(match[1]), match[2] is not None
        return self._grades[field]


def write_qrels(rows: Iterable[Qrel], stream: TextIO) -> None:
    r"""Write a qrels file: four columns with single blanks, so that equal judgements are equal bytes.

    Topics are in natural order, docnos bytewise. `ArgumentError` is raised, and nothing written, if an id
    could not be read back: empty, with blanks, or a topic that begins with ``#``. The stream must be UTF-8
    with ``newline="\n"``.

    Examples
    --------
    >>> import sys
    >>> write_qrels([Qrel("10", "b", 1), Qrel("9", "b", 0), Qrel("9", "a", 2, "0.5")], sys.stdout)
    9 0.5 a 2
    9 0 b 0
    10 0 b 1
    """
    ordered = list(rows)
    place: dict[str, NaturalKey] = {}
    for row in ordered:
        if row.topic not in place:
            _check("topic", row.topic, topic_fault(row.topic))
            place[row.topic] = natural_key(row.topic)
        _check("docno", row.docno, id_fault(row.docno))
        _check("iteration", row.iteration, id_fault(row.iteration))
    ordered.sort(key=lambda row: (place[row.topic], row.docno, row.iteration, row.grade))
    stream.writelines(f"{row.topic} {row.iteration} {row.docno} {row.grade}\n" for row in ordered)


def _check(name: str, text: str, message: str | None) -> None:
    """Refuse an id that could not be read back."""
    if message:
        raise ArgumentError(name, f"cannot be written to a qrels file: {message}", text)


_BLANK, _BREAK, _HASH = 0x20, 0x0A, 0x23
_N_FIELDS = 4
_CODE = re.compile(rb"[+-]?[0-9]{1,18}")

Key = TypeVar("Key", str, bytes)


class Numbering(dict[Key, int], Generic[Key]):
    """Numbers from 0 for texts, in the order in which they are first asked for.

    Examples
    --------
    >>> numbering = Numbering[str]()
    >>> [numbering[text] for text in ("b", "a", "b")]
    [0, 1, 0]
    """

    def __missing__(self, key: Key) -> int:
        number = self[key] = len(self)
        return number

    def codes(self, texts: Iterable[Key], count: int = -1) -> NDArray[np.int64]:
        """Return the number of each text, shape (n_texts,); `count` texts, or as many as come."""
        return np.fromiter(map(self.__getitem__, texts), np.int64, count)


@dataclass(frozen=True, slots=True, eq=False)
class QrelsColumns:
    """What a qrels file says, in file order; all arrays have shape (n_lines,)."""

    topics: NDArray[np.int64]
    """Numbers of topics, by the numbering that was passed."""
    docnos: NDArray[np.int64]
    """Numbers of docnos, by the numbering that was passed."""
    codes: NDArray[np.int64]
    """The fourth column; whether a negative code is a grade is not decided here."""


def read_qrels_columns(path: str, topics: Numbering[str], docnos: Numbering[str]) -> QrelsColumns | None:
    """Read a qrels file that needs no remark, in a quarter of the time that a tuple a line costs.

    ``None`` = `read_qrels` has to look at it: it has, or may have, characters other than printable ASCII,
    lines without four fields, comments, codes that are no plain integers or a document twice, or it can be
    read only once. New texts are added to the numberings; after ``None`` these are as before.
    """
    if not is_regular_file(path):
        return None
    try:
        with open_bytes(path) as file:
            data = file.read().removeprefix(BOM)
    except DamagedDataError:
        return None
    if not _is_plain(data):
        return None
    fields = data.split()
    codes = set(fields[3::_N_FIELDS])
    if not fields or not all(map(_CODE.fullmatch, codes)):
        return None
    known = len(topics), len(docnos)
    n_lines = len(fields) // _N_FIELDS
    values = {field: int(field) for field in codes}
    columns = QrelsColumns(
        _codes(topics, fields[0::_N_FIELDS]),
        _codes(docnos, fields[2::_N_FIELDS]),
        np.fromiter(map(values.__getitem__, fields[3::_N_FIELDS]), np.int64, n_lines),
    )
    pairs = np.sort(columns.topics * len(docnos) + columns.docnos)
    if (pairs[1:] == pairs[:-1]).any():
        for numbering, size in zip((topics, docnos), known, strict=True):
            for text in list(numbering)[size:]:
                del numbering[text]
        return None
    return columns


def _codes(numbering: Numbering[str], fields: list[bytes]) -> NDArray[np.int64]:
    """Return the numbers of fields, decoding each text once."""
    own = Numbering[bytes]()
    codes = own.codes(fields, len(fields))
    of_own = numbering.codes((field.decode("ascii") for field in own), len(own))
    return of_own[codes]


def _is_plain(data: bytes) -> bool:
    """Say whether every line is four fields of printable ASCII, or blank, and none a comment."""
    if not data.isascii():
        return False
    codes = np.frombuffer(data, dtype=np.uint8)
    is_blank = codes <= _BLANK
    odd = codes[is_blank | (codes == 0x7F)]
    if not np.isin(odd, (_BLANK, _BREAK, 0x09, 0x0D)).all():
        return False
    starts = np.flatnonzero(~is_blank & np.concatenate(([True], is_blank[:-1])))
    if len(starts) % _N_FIELDS or (np.diff(starts, append=len(codes)) > LONGEST_ID).any():
        return False
    # Of four fields in a row the first must begin a line, and only the first.
    line_of = np.searchsorted(np.flatnonzero(codes == _BREAK), starts).reshape(-1, _N_FIELDS)
    is_whole = (line_of == line_of[:, :1]).all() and (np.diff(line_of[:, 0]) > 0).all()
    return bool(is_whole and not (codes[starts[0::_N_FIELDS]] == _HASH).any())
