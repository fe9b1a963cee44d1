"""Qrels files: `topic iteration docno grade`, one judgement a line."""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TextIO

from store.errors import ArgumentError, FaultList
from store.formats.compression import DamagedDataError
from store.formats.id_fields import IdFields
from store.formats.kinds import QRELS, RUN, tell_kind, told_kind
from store.formats.lines import BOM, id_fault, open_bytes
from store.formats.topics import topic_fault
from store.natural_order import NaturalKey, natural_key
from store.records import Qrel

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


def read_qrels(
    path: str,
    *,
    lenient: bool = False,
    judge_column: int | None = None,
    keep_repeats: bool = False,
    faults: FaultList | None = None,
) -> QrelsFile:
    """Read a qrels file.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input; gzip is seen through.
    lenient : bool, default=False
        A line that begins with ``#`` is a comment, as in trec_eval 10, and what follows the fourth
        field is ignored, which trec_eval refuses. Otherwise both are faults.
    judge_column : int, optional
        Column (from 1) that names the judge: 2, the only one that may hold a name. A document may
        then stand once a topic and judge, else once a topic.
    keep_repeats : bool, default=False
        Whether a document may stand there more often: for `store.repeats.settle_repeats`.
    faults : FaultList, optional
        Where faults are told instead of being raised; rows without one are returned all the same.

    Returns
    -------
    QrelsFile
        The rows in file order, and what was put up with.

    Raises
    ------
    FormatError
        With every fault of the file, by code: ``fields`` (not four fields), ``comment``, ``id``,
        ``grade`` (``1.7``, ``abc``), ``duplicate`` (same or other grade), ``exchanged`` (column 2
        is the docno and column 3 the iteration, by the looks of it), ``utf8``, ``gzip``,
        ``empty``; or with one of the code that `store.formats.kinds` gives a file of another kind.
        Nothing is returned of a file with faults, unless `faults` takes them.
    ArgumentError
        If `judge_column` is not 2.
    PoolerError
        If the file cannot be opened.

    Notes
    -----
    Fields are separated by ASCII blanks, as in trec_eval; topics and docnos are text, byte for
    byte. Blank lines and a byte order mark are ignored in either mode. The code ``1.7`` is a fault
    even when lenient: trec_eval would read it as 1. The five-column files of sampled pools must not
    be read leniently: the fourth column of one kind is a stratum. O(n) in time and memory.

    References
    ----------
    .. [1] trec_eval 10.0, `get_qrels.c` and `get_qrels_jg.c`.
    """
    if judge_column not in (None, _JUDGE_COLUMN):
        requirement = "must be 2, the only column of a qrels line that can name a judge"
        raise ArgumentError("judge_column", requirement, judge_column)
    told = FaultList(path) if faults is None else faults
    digest = hashlib.sha256()
    columns = _Columns(told)
    rows: list[QrelRow] = []
    repeated: list[QrelRow] = []
    first_at: dict[tuple[str, ...], int] = {}
    n_ignored = n_floats = n_trailing = n_like_run = number = 0
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
    return QrelsFile(rows, n_floats, n_ignored, n_trailing, digest.hexdigest(), float_grade)


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


class _Columns(IdFields):
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
    r"""Write a qrels file.

    Parameters
    ----------
    rows : iterable of Qrel
        The judgements, in any order.
    stream : TextIO
        Where to write; UTF-8 and ``newline="\n"`` are the opener's business.

    Raises
    ------
    ArgumentError
        If a topic, docno or iteration could not be read back: empty, with blanks, or a topic that
        begins with ``#``. Nothing is written then.

    Notes
    -----
    Four columns with single blanks; topics in natural order (`store.ranking.natural_key`), docnos
    bytewise, so that equal judgements are equal bytes. O(n log n).

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
