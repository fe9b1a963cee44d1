"""Lines of a few columns: topic docno; topic docno p; docno label, as of classes of near-duplicates."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from store.errors import FaultList
from store.fields import id_fault
from store.formats import tables
from store.formats.lines import read_text_lines
from store.formats.tables import Fields, ReadTable, TableFormat


def _pairs_of(path: str, columns: str, faults: FaultList) -> Iterator[tuple[int, str, str]]:
    """Yield number and both fields of every line; blank lines are passed over."""
    for number, text in read_text_lines(path, faults):
        fields = text.split()
        if fields and len(fields) != 2:
            faults.add(number, f"expected 2 fields, {columns}, got {len(fields)}", "fields")
        elif fields and (fault := id_fault(fields[0]) or id_fault(fields[1])):
            faults.add(number, fault, "id")
        elif fields:
            yield number, fields[0], fields[1]


def read_pairs(path: str) -> set[tuple[str, str]]:
    """Read the topic and docno of every line of a pool file, each once; blank lines are passed over."""
    faults, pairs = FaultList(path), dict[tuple[str, str], int]()
    for number, topic, docno in _pairs_of(path, "topic and docno", faults):
        first = pairs.setdefault((topic, docno), number)
        if first != number:
            message = f"document `{docno}` of topic `{topic}` is already there, on line {first}"
            faults.add(number, message, "duplicate")
    faults.raise_if_any()
    return set(pairs)


TopicJudges = str | Path | Mapping[str, str]
"""A file of lines `topic judge`, or the judge of each topic."""


def read_topic_judges(
    given: TopicJudges, topics: Container[str] | None = None, judges: Container[str] | None = None
) -> dict[str, str]:
    """Return who is primary for each topic: lines of topic and judge; blank lines are passed over.

    `topics` and `judges`: those of a collection; any other is a fault, which of a mapping has no line.
    """
    faults = FaultList("topic_judges" if isinstance(given, Mapping) else str(given))
    lines: Iterable[tuple[int | None, str, str]] = _pairs_of(faults.path, "topic and judge", faults)
    if isinstance(given, Mapping):
        lines = [(None, *pair) for pair in given.items()]
    found, unknown = dict[str, str](), dict[str, None]()
    for number, topic, judge in lines:
        if found.setdefault(topic, judge) != judge:
            faults.add(number, f"topic `{topic}` has the judge `{found[topic]}` already", "duplicate")
        if topics is not None and topic not in topics:
            faults.add(number, f"expected a topic of the collection, got `{topic}`", "unknown")
        elif judges is not None and judge not in judges:
            faults.add(number, f"expected a judge of the collection, got `{judge}`", "unknown")
            unknown[judge] = None
    if not found and not faults:
        faults.add(None, "expected lines of topic and judge, got none", "empty")
    faults.raise_if_any(hint=f"pooler judges add {' '.join(map(quote, unknown))}" if unknown else None)
    return found


_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_QRELS_HINT = (
    "`pooler variation --table probabilities --format tsv` writes such a file from a collection of several"
    " judges; with qrels, --value GRADE=P says what a grade is worth"
)


class ProbabilityRow(NamedTuple):
    """One probability as the file states it (a tuple: files may have a million of them)."""

    line: int
    """Line number from 1."""
    topic: str
    docno: str
    p: float
    """In [0, 1]."""


def read_probabilities(path: str, *, lenient: bool = False) -> ReadTable[ProbabilityRow]:
    """Read a file of probabilities, as `pooler variation` writes its table of them; see `read_table`."""
    return tables.read_table(path, _FORMAT, lenient=lenient)


def parse_probability(text: str) -> float | None:
    """Read a decimal number from 0 to 1, as in ``0.25``, ``.25`` or ``2.5e-1``; ``None`` = it is none."""
    if _NUMBER.fullmatch(text) is None:
        return None
    p = float(text) + 0.0  # -0.0 becomes 0.0
    return p if 0 <= p <= 1 else None


def _repeat_fault(row: ProbabilityRow, first: ProbabilityRow) -> str:
    return (
        f"expected each document once a topic, got topic `{row.topic}` docno `{row.docno}` with p"
        f" {row.p:.10g}; line {first.line} has it with p {first.p:.10g}"
    )


def _is_like_qrels(fields: Fields) -> bool:
    if len(fields) != 4 or not fields[3].lstrip(b"+-").isdigit():
        return False
    return parse_probability(tables.shown(fields[2])) is None


def _report_qrels(table: ReadTable[ProbabilityRow], faults: FaultList) -> None:
    if table.looks_like:
        message = (
            "this looks like a qrels file (4 columns: topic, iteration, docno, grade); expected"
            " probabilities (3 columns: topic, docno, p)"
        )
        faults.put_instead(message, "qrels", hint=_QRELS_HINT)
        table.rows.clear()


_FORMAT = TableFormat(
    "topic docno p",
    {
        "topic": tables.read_topic,
        "docno": tables.read_name,
        "p": tables.expecting(
            lambda text: parse_probability(tables.shown(text)), "a probability from 0 to 1", "probability"
        ),
    },
    ProbabilityRow,
    ("topic", "docno"),
    _repeat_fault,
    others={"qrels": _is_like_qrels},
    suspect=_report_qrels,
    has_header=True,
)


class LabelRow(NamedTuple):
    """One document and what it is put into."""

    line: int
    """Line number from 1."""
    docno: str
    label: str


def read_labels(
    path: str, kind: str, *, lenient: bool = False, known: Container[str] | None = None
) -> dict[str, str]:
    """Read a file of lines `docno label`, each document once, of the `known` ones alone if these are given.

    `kind`: what a label is, as in faults.
    """

    def repeat_fault(row: LabelRow, first: LabelRow) -> str:
        return (
            f"expected each document once, got `{row.docno}`, which line {first.line} has with {first.label}"
        )

    readers = {"docno": tables.read_name, kind: tables.read_name}
    form = TableFormat(f"docno {kind}", readers, LabelRow, ("docno",), repeat_fault)
    faults = FaultList(path)
    rows = tables.read_table(path, form, lenient=lenient, faults=faults).rows
    for row in rows:
        if known is not None and row.docno not in known:
            faults.add(row.line, f"expected a document of the collection, got `{row.docno}`", "unknown")
    faults.raise_if_any()
    return {row.docno: row.label for row in rows}


Classes = str | Path | Mapping[str, str]
"""A file of lines `docno class`, or the class of each docno."""


def read_classes(given: Classes, known: Container[str] | None = None) -> Mapping[str, str]:
    """Return the class of every document that a file names, or raise `FormatError` of all its faults at once.

    `known`: docnos of a collection; a line of any other is a fault.
    """
    return given if isinstance(given, Mapping) else read_labels(str(given), "class", known=known)


def classes_facts(classes: Mapping[str, str]) -> dict[str, Any]:
    """Return for a manifest which classes these were: how many, and the hash of their sorted lines."""
    lines = sorted(f"{docno} {label}\n" for docno, label in classes.items())
    digest = hashlib.sha256("".join(lines).encode())
    return {"documents": len(classes), "classes": len({*classes.values()}), "sha256": digest.hexdigest()}
