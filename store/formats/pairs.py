"""Topic docno and topic docno p."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from store.errors import FaultList
from store.fields import id_fault
from store.formats.compression import DamagedDataError
from store.formats.lines import BOM, open_bytes, read_text_lines
from store.formats.tables import IdFields


def read_pairs(path: str) -> set[tuple[str, str]]:
    r"""Read the topic and docno of every line of a pool file; blank lines are passed over.

    `FormatError` is raised if a line has not two fields, names an id that cannot be one, or says what another
    line has said.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("51 d1\n51 d2\n")
    ...     file.flush()
    ...     sorted(read_pairs(file.name))
    [('51', 'd1'), ('51', 'd2')]
    """
    faults = FaultList(path)
    pairs: dict[tuple[str, str], int] = {}
    for number, text in read_text_lines(path, faults):
        fields = text.split()
        if not fields:
            continue
        if len(fields) != 2:
            faults.add(number, f"expected 2 fields, topic and docno, got {len(fields)}", "fields")
            continue
        topic, docno = fields
        fault = id_fault(topic) or id_fault(docno)
        if fault is not None:
            faults.add(number, fault, "id")
            continue
        first = pairs.setdefault((topic, docno), number)
        if first != number:
            message = f"document `{docno}` of topic `{topic}` is already there, on line {first}"
            faults.add(number, message, "duplicate")
    faults.raise_if_any()
    return set(pairs)


_N_FIELDS = 3
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_QRELS_HINT = (
    "`pooler export probabilities` writes such a file from a collection of several judges; with"
    " qrels, --value GRADE=P says what a grade is worth"
)


class ProbabilityRow(NamedTuple):
    """One probability as the file states it (a tuple: files may have a million of them)."""

    line: int
    """Line number from 1."""
    topic: str
    docno: str
    p: float
    """In [0, 1]."""


@dataclass(frozen=True, slots=True)
class ProbabilitiesFile:
    """What a file of probabilities holds."""

    rows: list[ProbabilityRow]
    """In file order."""
    n_ignored_lines: int
    """Blank lines and, when lenient, comment lines."""
    n_trailing: int
    """Rows, read leniently, with text after the third field."""


def read_probabilities(
    path: str, *, lenient: bool = False, faults: FaultList | None = None
) -> ProbabilitiesFile:
    r"""Read a file of probabilities, as `pooler export probabilities` writes it, rows in file order.

    Fields are separated by ASCII blanks; topics and docnos are text, byte for byte. Blank lines and a byte
    order mark are ignored. A number is the float64 nearest to what is written. When `lenient`, a line that
    begins with ``#`` is a comment and what follows the third field is ignored; otherwise both are faults.

    `FormatError` is raised with every fault, by code: ``fields`` (not three fields), ``comment``, ``id``,
    ``probability`` (no decimal number, or not from 0 to 1), ``duplicate`` (the topic and docno of an earlier
    line), ``utf8``, ``empty``, or the kind of compression that is damaged; or with one of code ``qrels``,
    where all lines are those of qrels. Where `faults` is given they are told there instead, and the rows
    without one are returned.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("51 d1 0.9\n51 d2 0\n")
    ...     file.flush()
    ...     read_probabilities(file.name).rows[0]
    ProbabilityRow(line=1, topic='51', docno='d1', p=0.9)
    """
    told = FaultList(path) if faults is None else faults
    fields_of = _PairFields(told)
    rows: list[ProbabilityRow] = []
    first_at: dict[tuple[str, str], int] = {}
    n_ignored = n_trailing = n_like_qrels = number = 0
    for number, raw in _read_lines(path, told):
        fields = raw.split()
        if len(fields) != _N_FIELDS or raw.startswith(b"#"):
            if not fields or (lenient and raw.startswith(b"#")):
                n_ignored += 1
                continue
            n_like_qrels += _is_like_qrels(fields)
            if raw.startswith(b"#") or len(fields) < _N_FIELDS or not lenient:
                is_comment = raw.startswith(b"#")
                got = "a line that begins with `#`" if is_comment else str(len(fields))
                message = f"expected 3 fields (topic docno p), got {got}"
                told.add(number, message, "comment" if is_comment else "fields")
                continue
        topic = fields_of.topic(number, fields[0])
        docno = fields_of.docno(number, fields[1])
        p = fields_of.probability(number, fields[2])
        if topic is None or docno is None or p is None:
            continue
        first = first_at.setdefault((topic, docno), len(rows))
        if first < len(rows):
            earlier = rows[first]
            told.add(
                number,
                f"expected each document once a topic, got topic `{topic}` docno `{docno}` with p"
                f" {p:.10g}; line {earlier.line} has it with p {earlier.p:.10g}",
                "duplicate",
            )
            continue
        n_trailing += len(fields) > _N_FIELDS
        rows.append(ProbabilityRow(number, topic, docno, p))
    if 0 < n_like_qrels == number - n_ignored:
        message = (
            "this looks like a qrels file (4 columns: topic, iteration, docno, grade); expected"
            " probabilities (3 columns: topic, docno, p)"
        )
        told.put_instead(message, "qrels", hint=_QRELS_HINT)
        rows.clear()
    if not rows and not told:
        told.add(None, "expected `topic docno p` lines, got none", "empty")
    if faults is None:
        told.raise_if_any()
    return ProbabilitiesFile(rows, n_ignored, n_trailing)


def parse_probability(text: str) -> float | None:
    """Read a decimal number from 0 to 1, as in ``0.25``, ``.25`` or ``2.5e-1``; ``None`` = it is none.

    Examples
    --------
    >>> [parse_probability(text) for text in (".5", "1e-3", "-0", "1.01", "nan", "1_0", "")]
    [0.5, 0.001, 0.0, None, None, None, None]
    """
    if _NUMBER.fullmatch(text) is None:
        return None
    p = float(text) + 0.0  # -0.0 becomes 0.0
    return p if 0 <= p <= 1 else None


def _read_lines(path: str, faults: FaultList) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines as bytes, without a byte order mark."""
    number = 0
    with open_bytes(path) as file:
        try:
            for number, raw in enumerate(file, start=1):
                yield number, raw.removeprefix(BOM) if number == 1 else raw
        except DamagedDataError as error:
            faults.add(number + 1, str(error), error.kind)


def _is_like_qrels(fields: list[bytes]) -> bool:
    """Say whether a line has the shape `topic iteration docno grade`."""
    if len(fields) != _N_FIELDS + 1 or not fields[3].lstrip(b"+-").isdigit():
        return False
    return parse_probability(fields[2].decode("utf-8", "backslashreplace")) is None


class _PairFields(IdFields):
    """Fields of a file as text and numbers; what repeats is read once."""

    def __init__(self, faults: FaultList) -> None:
        super().__init__(faults)
        self._numbers: dict[bytes, float] = {}

    def probability(self, line: int, field: bytes) -> float | None:
        """Return the probability, or tell the fault."""
        if (known := self._numbers.get(field)) is not None:
            return known
        text = field.decode("utf-8", "backslashreplace")
        p = parse_probability(text)
        if p is None:
            message = f"expected a probability from 0 to 1, got `{text}`"
            self._faults.add(line, message, "probability")
            return None
        self._numbers[field] = p
        return p
