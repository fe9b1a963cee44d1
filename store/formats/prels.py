"""Prels files: the judgements of a sample, five columns in one of two orders.

========== ========================================================================
xinfap     `topic iteration docno stratum rel`: every pooled document of every
           stratum; rel -1 = not sampled. Read by NIST's `sample_eval.pl`.
statap     `topic docno rel method iprob`: the judged documents, what chose each,
           and with which probability. Read by the tools of statAP.
========== ========================================================================

A line of the one can pass for a line of the other, so the user says which it is.

Sources: Yilmaz, Kanoulas and Aslam, "A simple and efficient sampling method for estimating AP and NDCG",
*SIGIR* 2008, doi:10.1145/1390334.1390437, and `sample_eval.pl`; Allan et al., "Million Query Track 2007
overview", *TREC* 2007, whose five columns are `TrecPrel` in ir_datasets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, TextIO, TypeVar

from store.errors import ArgumentError, FaultList
from store.fields import id_fault, topic_fault
from store.formats import tables
from store.formats.tables import FieldReader, Fields, ReadTable, TableFormat, UnfitFieldError
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


def read_xinfap(path: str, *, lenient: bool = False, faults: FaultList | None = None) -> ReadTable[XinfapRow]:
    """Read a prels file of the kind `topic iteration docno stratum rel`; see `read_table`."""
    return tables.read_table(path, _XINFAP, lenient=lenient, faults=faults)


def read_statap(path: str, *, lenient: bool = False, faults: FaultList | None = None) -> ReadTable[StatapRow]:
    """Read a prels file of the kind `topic docno rel method iprob`; see `read_table`."""
    return tables.read_table(path, _STATAP, lenient=lenient, faults=faults)


def _integer(text: bytes) -> int | None:
    """Read a rel; ``1.0`` is none: a statap file has it in the column of the other kind's rel."""
    return int(text) if _INTEGER.fullmatch(text) else None


def _count(text: bytes) -> int | None:
    return int(text) if _COUNT.fullmatch(text) else None


def _probability(text: bytes) -> float | None:
    return p if _NUMBER.fullmatch(text) and 0 < (p := float(text)) <= 1 else None


def _like_xinfap(fields: Fields) -> bool:
    return len(fields) == _N_FIELDS and _count(fields[3]) is not None and _integer(fields[4]) is not None


def _like_statap(fields: Fields) -> bool:
    parsed = zip((_integer, _count, _probability), fields[2:], strict=False)
    return len(fields) == _N_FIELDS and all(parse(text) is not None for parse, text in parsed)


def _check_certain(_line: int, fields: Fields, values: Sequence[Any]) -> None:
    """Refuse a document that was certain to be chosen, and has another probability."""
    if None not in values and values[3] == 0 and values[4] != 1:
        message = f"expected iprob 1 with method 0, got `{tables.shown(fields[4])}`"
        raise UnfitFieldError(message, "probability")


def _report_other(table: ReadTable[PrelsRow], faults: FaultList) -> None:
    if faults and "qrels" in table.looks_like:
        faults.hint = "all its lines have 4 fields, as those of a qrels file"
    for kind, columns in COLUMNS.items():
        if faults and kind in table.looks_like:
            faults.hint = f"all its lines could be {kind} lines ({columns}); is it that kind?"


_NOT_UTF8 = "expected UTF-8, which has no byte 0x{byte:02x} there, got `{got}`"
_READERS: dict[str, FieldReader] = {
    "topic": tables.id_reader(topic_fault, _NOT_UTF8),
    "iteration": tables.id_reader(id_fault, _NOT_UTF8),
    "docno": tables.id_reader(id_fault, _NOT_UTF8),
    "rel": tables.expecting(_integer, "an integer rel", "grade"),
    "stratum": tables.expecting(_count, "a stratum, an integer from 0 to 999999999", "stratum"),
    "method": tables.expecting(_count, "a method, an integer from 0 to 999999999", "method"),
    "iprob": tables.expecting(_probability, "iprob, a number above 0 and at most 1", "probability"),
}


def _format(
    kind: PrelsFormat,
    row: Callable[..., PrelsRow],
    others: dict[str, Callable[[Fields], bool]],
    check: Callable[[int, Fields, Sequence[Any]], None] | None = None,
) -> TableFormat[PrelsRow]:
    """Make one of the two formats; its rows have their line last."""
    return TableFormat(
        COLUMNS[kind],
        {name: _READERS[name] for name in COLUMNS[kind].split()},
        lambda line, *values: row(*values, line),
        ("topic", "docno"),
        lambda row, first: (
            f"expected each document once a topic, got topic `{row.topic}` docno `{row.docno}`;"
            f" line {first.line} has it"
        ),
        check=check,
        others=others | {"qrels": lambda fields: len(fields) == _N_FIELDS - 1},
        suspect=_report_other,
    )


def likes() -> dict[str, Callable[[Fields], bool]]:
    """Make what says of lines in order whether they are those of each kind, by numbers and documents."""

    def once(fits: Callable[[Fields], bool], place: int) -> Callable[[Fields], bool]:
        seen: set[tuple[bytes, bytes]] = set()

        def is_like(fields: Fields) -> bool:
            if not fits(fields) or (pair := (fields[0], fields[place])) in seen:
                return False
            seen.add(pair)
            return True

        return is_like

    return {"xinfap": once(_like_xinfap, 2), "statap": once(_like_statap, 1)}


_XINFAP = _format("xinfap", XinfapRow, {"statap": _like_statap})
_STATAP = _format("statap", StatapRow, {"xinfap": _like_xinfap}, _check_certain)


def write_xinfap(rows: Iterable[XinfapRow], stream: TextIO) -> None:
    """Write every pooled document of every stratum; topics in natural order, docnos bytewise.

    The format has no code for a document that was sampled and has no grade: that is the caller's business.
    """
    ordered = _sorted(rows, "iteration")
    for row in ordered:
        if not 0 <= row.stratum < 10**9:
            raise ArgumentError("stratum", "must be from 0 to 999999999", row.stratum)
    stream.writelines(
        f"{row.topic} {row.iteration} {row.docno} {row.stratum} {row.code}\n" for row in ordered
    )


def write_statap(rows: Iterable[StatapRow], stream: TextIO) -> None:
    """Write the judged documents of a sample, with the digits that give each probability back; 1 is ``1``."""
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


def _sorted(rows: Iterable[PrelsRow], *ids: str) -> list[PrelsRow]:
    """Sort rows for a file; refuse ids that could not be read back, and a document twice."""
    ordered = list(rows)
    tables.check_rows(ordered, "prels", ("topic", "docno", *ids))
    seen: set[tuple[str, str]] = set()
    for row in ordered:
        if (row.topic, row.docno) in seen:
            raise ArgumentError("docno", f"must be once in topic `{row.topic}`", row.docno)
        seen.add((row.topic, row.docno))
    place = cache(natural_key)
    return sorted(ordered, key=lambda row: (place(row.topic), row.docno))
