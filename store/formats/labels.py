"""Docno and the cluster, or the class, that it belongs to."""

from __future__ import annotations

from typing import NamedTuple

from store.formats import tables
from store.formats.tables import TableFormat


class LabelRow(NamedTuple):
    """One document and what it is put into."""

    line: int
    """Line number from 1."""
    docno: str
    label: str


def read_labels(path: str, kind: str, *, lenient: bool = False) -> dict[str, str]:
    """Read a file of lines `docno label`, each document once; `kind`: what a label is, as in faults."""

    def repeat_fault(row: LabelRow, first: LabelRow) -> str:
        return (
            f"expected each document once, got `{row.docno}`, which line {first.line} has with {first.label}"
        )

    readers = {"docno": tables.read_name, kind: tables.read_name}
    form = TableFormat(f"docno {kind}", readers, LabelRow, ("docno",), repeat_fault)
    return {row.docno: row.label for row in tables.read_table(path, form, lenient=lenient).rows}
