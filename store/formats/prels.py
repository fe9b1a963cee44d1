"""Prels files: the judgements of a sample, five columns in one of two orders.

========== ========================================================================
xinfap     `topic iteration docno stratum rel`: every pooled document of every
           stratum; rel -1 = not sampled. Read by NIST's `sample_eval.pl`.
statap     `topic docno rel method iprob`: the judged documents, what chose each,
           and with which probability. Read by the tools of statAP.
========== ========================================================================

A line of the one can pass for a line of the other, so the user says which it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TextIO, TypeVar

from store.errors import ArgumentError, FaultList
from store.fields import id_fault, topic_fault
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, open_bytes
from store.text import natural_key

PrelsFormat = Literal["xinfap", "statap"]

NOT_SAMPLED = -1
"""The rel of a document that is in its stratum and was not sampled (xinfap)."""

COLUMNS: dict[PrelsFormat, str] = {
    "xinfap": "topic iteration docno stratum rel",
    "statap": "topic docno rel method iprob",
}

_N_FIELDS = 5
_INTEGER = re.compile(rb"[+-]?[0-9]{1,18}")
_COUNT = re.compile(rb"[0-9]{1,9}")
_NUMBER = re.compile(rb"\+?(?:[0-9]{1,30}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})(?:[eE][+-]?[0-9]{1,4})?")


class XinfapRow(NamedTuple):
    """One line of an xinfap file."""

    topic: str
    iteration: str
    docno: str
    stratum: int
    """Not negative."""
    code: int
    """The rel: a grade, or `NOT_SAMPLED`; what other negatives mean is not decided here."""
    line: int = 0
    """Line number from 1; 0 = not from a file."""


class StatapRow(NamedTuple):
    """One line of a statap file."""

    topic: str
    docno: str
    code: int
    """The rel; what negatives mean is not decided here."""
    method: int
    """Which selector chose the document, not negative; 0 = it was certain to be chosen."""
    probability: float
    """Of being sampled, in (0, 1]; 1 with method 0."""
    line: int = 0
    """Line number from 1; 0 = not from a file."""


PrelsRow = TypeVar("PrelsRow", XinfapRow, StatapRow)
_Reader = Callable[["_PrelsFields", int, list[bytes]], PrelsRow | None]


@dataclass(frozen=True, slots=True)
class PrelsFile(Generic[PrelsRow]):
    """What a prels file holds."""

    rows: list[PrelsRow]
    """In file order."""
    n_ignored_lines: int
    """Blank lines and, when lenient, comment lines."""
    n_trailing: int
    """Rows, read leniently, with text after the fifth field."""
    sha256: str
    """Hash of the uncompressed file, in hexadecimal."""


def read_xinfap(path: str, *, lenient: bool = False, faults: FaultList | None = None) -> PrelsFile[XinfapRow]:
    """Read a prels file of the kind `topic iteration docno stratum rel`, rows in file order.

    Fields are separated by ASCII blanks; ids are text, byte for byte. Blank lines and a byte order mark are
    ignored. When `lenient`, a line that begins with ``#`` is a comment and what follows the fifth field is
    ignored; otherwise both are faults. ``1.0`` is no rel: a statap file has it in this column.

    `FormatError` is raised with every fault, by code: ``fields`` (not five fields), ``comment``, ``id``,
    ``grade``, ``stratum`` (not an integer from 0 to 999999999), ``duplicate`` (a document twice in a topic),
    ``utf8``, ``empty``, or the kind of compression that is damaged. Where `faults` is given they are told
    there instead, and the rows without one are returned. When all lines could be of the other kind, the
    hint says so. Source: Yilmaz, Kanoulas and Aslam, "A simple and efficient sampling method for estimating
    AP and NDCG", *SIGIR* 2008, doi:10.1145/1390334.1390437; `sample_eval.pl`.
    """

    def row(fields: _PrelsFields, line: int, parts: list[bytes]) -> XinfapRow | None:
        topic = fields.topic(line, parts[0])
        iteration = fields.name(line, parts[1])
        docno = fields.name(line, parts[2])
        stratum = fields.count(line, parts[3], "a stratum")
        code = fields.integer(line, parts[4])
        if topic is None or iteration is None or docno is None or stratum is None or code is None:
            return None
        return XinfapRow(topic, iteration, docno, stratum, code, line)

    return _read(path, "xinfap", row, lenient=lenient, faults=faults)


def read_statap(path: str, *, lenient: bool = False, faults: FaultList | None = None) -> PrelsFile[StatapRow]:
    """Read a prels file of the kind `topic docno rel method iprob`; the rest is as of `read_xinfap`.

    The codes ``method`` (not an integer from 0 to 999999999) and ``probability`` (not a number above 0 and
    at most 1, or not 1 with method 0) take the place of ``stratum``. Source: Allan et al., "Million Query
    Track 2007 overview", *TREC* 2007; the same five columns are `TrecPrel` in ir_datasets.
    """

    def row(fields: _PrelsFields, line: int, parts: list[bytes]) -> StatapRow | None:
        topic = fields.topic(line, parts[0])
        docno = fields.name(line, parts[1])
        code = fields.integer(line, parts[2])
        method = fields.count(line, parts[3], "a method")
        probability = fields.probability(line, parts[4])
        if topic is None or docno is None or code is None or method is None or probability is None:
            return None
        if method == 0 and probability != 1:
            fields.refuse(line, "iprob 1 with method 0", parts[4], "probability")
            return None
        return StatapRow(topic, docno, code, method, probability, line)

    return _read(path, "statap", row, lenient=lenient, faults=faults)


def _read(
    path: str, kind: PrelsFormat, row: _Reader[PrelsRow], *, lenient: bool, faults: FaultList | None
) -> PrelsFile[PrelsRow]:
    """Read a prels file, its lines turned into rows by `row`."""
    told = FaultList(path) if faults is None else faults
    fields = _PrelsFields(told)
    digest = hashlib.sha256()
    rows: list[PrelsRow] = []
    first_at: dict[tuple[str, str], int] = {}
    n_ignored = n_trailing = number = 0
    n_lines = n_of_other = n_of_four = 0
    other: PrelsFormat = "statap" if kind == "xinfap" else "xinfap"
    with open_bytes(path) as file:
        try:
            for number, raw in enumerate(file, start=1):
                digest.update(raw)
                line = raw.removeprefix(BOM) if number == 1 else raw
                parts = line.split()
                is_comment = line.startswith(b"#")
                if not parts or (lenient and is_comment):
                    n_ignored += 1
                    continue
                n_lines += 1
                n_of_four += len(parts) == _N_FIELDS - 1
                if is_comment or len(parts) < _N_FIELDS or (len(parts) > _N_FIELDS and not lenient):
                    got = "a line that begins with `#`" if is_comment else str(len(parts))
                    message = f"expected {_N_FIELDS} fields ({COLUMNS[kind]}), got {got}"
                    told.add(number, message, "comment" if is_comment else "fields")
                    continue
                n_of_other += _fits(other, parts)
                if (one := row(fields, number, parts)) is None:
                    continue
                first = first_at.setdefault((one.topic, one.docno), number)
                if first < number:
                    message = f"expected each document once a topic, got topic `{one.topic}` docno"
                    told.add(number, f"{message} `{one.docno}`; line {first} has it", "duplicate")
                    continue
                n_trailing += len(parts) > _N_FIELDS
                rows.append(one)
        except DamagedDataError as error:
            told.add(number + 1, str(error), error.kind)
    if not rows and not told:
        told.add(None, f"expected `{COLUMNS[kind]}` lines, got none", "empty")
    if told and 0 < n_lines == n_of_other:
        told.hint = f"all its lines could be {other} lines ({COLUMNS[other]}); is it that kind?"
    elif told and 0 < n_lines == n_of_four:
        told.hint = "all its lines have 4 fields, as those of a qrels file"
    if faults is None:
        told.raise_if_any()
    return PrelsFile(rows, n_ignored, n_trailing, digest.hexdigest())


def _fits(kind: PrelsFormat, parts: list[bytes]) -> bool:
    """Say whether the numbers of a line could be those of this kind of file."""
    if not _COUNT.fullmatch(parts[3]):
        return False
    if kind == "xinfap":
        return _INTEGER.fullmatch(parts[4]) is not None
    return _INTEGER.fullmatch(parts[2]) is not None and _is_probability(parts[4])


def _is_probability(field: bytes) -> bool:
    """Say whether a field is a number above 0 and at most 1."""
    return _NUMBER.fullmatch(field) is not None and 0 < float(field) <= 1


class _PrelsFields:
    """Fields of a file as text and numbers, or their faults told."""

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._topics: dict[bytes, str] = {}

    def topic(self, line: int, field: bytes) -> str | None:
        """Return the topic id; what repeats is checked once."""
        text = self._topics.get(field) or self._text(line, field, topic_fault)
        if text is not None:
            self._topics[field] = text
        return text

    def name(self, line: int, field: bytes) -> str | None:
        """Return a docno or an iteration."""
        return self._text(line, field, id_fault)

    def integer(self, line: int, field: bytes) -> int | None:
        """Return the rel."""
        if _INTEGER.fullmatch(field):
            return int(field)
        self.refuse(line, "an integer rel", field, "grade")
        return None

    def count(self, line: int, field: bytes, noun: str) -> int | None:
        """Return a stratum or a method."""
        if _COUNT.fullmatch(field):
            return int(field)
        self.refuse(line, f"{noun}, an integer from 0 to 999999999", field, noun.split()[-1])
        return None

    def probability(self, line: int, field: bytes) -> float | None:
        """Return the probability of being sampled."""
        if _is_probability(field):
            return float(field)
        self.refuse(line, "iprob, a number above 0 and at most 1", field, "probability")
        return None

    def refuse(self, line: int, expected: str, field: bytes, code: str) -> None:
        """Tell a fault."""
        got = field.decode("utf-8", "backslashreplace")
        self._faults.add(line, f"expected {expected}, got `{got}`", code)

    def _text(self, line: int, field: bytes, fault_of: Callable[[str], str | None]) -> str | None:
        """Return a field as text."""
        try:
            text = field.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = field[error.start]
            self.refuse(line, f"UTF-8, which has no byte 0x{byte:02x} there", field, "utf8")
            return None
        if fault := fault_of(text):
            self._faults.add(line, fault, "id")
        return None if fault else text


def write_xinfap(rows: Iterable[XinfapRow], stream: TextIO) -> None:
    r"""Write a prels file of the kind `topic iteration docno stratum rel`.

    It lists every pooled document of every stratum, with single blanks; topics in natural order, docnos
    bytewise. The format has no code for a document that was sampled and has no grade: what to write for it is
    the caller's business. `ArgumentError` is raised, and nothing written, if an id is none, a stratum not
    from 0 to 999999999, or a document twice in a topic.

    Examples
    --------
    >>> import sys
    >>> rows = [XinfapRow("51", "0", "b", 2, NOT_SAMPLED), XinfapRow("51", "0", "a", 1, 2)]
    >>> write_xinfap(rows, sys.stdout)
    51 0 a 1 2
    51 0 b 2 -1
    """
    ordered = _sorted(rows)
    for row in ordered:
        _check("iteration", row.iteration, id_fault(row.iteration))
        if not 0 <= row.stratum < 10**9:
            raise ArgumentError("stratum", "must be from 0 to 999999999", row.stratum)
    stream.writelines(
        f"{row.topic} {row.iteration} {row.docno} {row.stratum} {row.code}\n" for row in ordered
    )


def write_statap(rows: Iterable[StatapRow], stream: TextIO) -> None:
    r"""Write the judged documents of a sample as `topic docno rel method iprob`.

    The order is that of `write_xinfap`. A probability has as many digits as it takes to read the same number
    back; 1 is ``1``. `ArgumentError` is raised, and nothing written, if an id is none, a method not from 0 to
    999999999, a probability not in (0, 1] or not 1 with method 0, or a document twice in a topic.

    Examples
    --------
    >>> import sys
    >>> rows = [StatapRow("51", "b", 0, 1, 0.25), StatapRow("51", "a", 2, 0, 1.0)]
    >>> write_statap(rows, sys.stdout)
    51 a 2 0 1
    51 b 0 1 0.25
    """
    ordered = _sorted(rows)
    for row in ordered:
        if not 0 <= row.method < 10**9:
            raise ArgumentError("method", "must be from 0 to 999999999", row.method)
        if not 0 < row.probability <= 1 or (row.method == 0 and row.probability != 1):
            requirement = "must be above 0 and at most 1, and 1 with method 0"
            raise ArgumentError("iprob", requirement, row.probability)
    for row in ordered:
        probability = 1 if row.probability == 1 else float(row.probability)
        stream.write(f"{row.topic} {row.docno} {row.code} {row.method} {probability!r}\n")


def _sorted(rows: Iterable[PrelsRow]) -> list[PrelsRow]:
    """Sort rows for a file; refuse ids that could not be read back."""
    ordered = list(rows)
    places = {topic: natural_key(topic) for topic in {row.topic for row in ordered}}
    for topic in places:
        _check("topic", topic, topic_fault(topic))
    seen: set[tuple[str, str]] = set()
    for row in ordered:
        _check("docno", row.docno, id_fault(row.docno))
        if (row.topic, row.docno) in seen:
            raise ArgumentError("docno", f"must be once in topic `{row.topic}`", row.docno)
        seen.add((row.topic, row.docno))
    ordered.sort(key=lambda row: (places[row.topic], row.docno))
    return ordered


def _check(name: str, text: str, message: str | None) -> None:
    """Refuse an id that could not be read back."""
    if message:
        raise ArgumentError(name, f"cannot be written to a prels file: {message}", text)
