"""Files of grades as `pooler import judgements` reads them, one shape for all formats."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pooler.cli.import_prels import PrelsName, SampleFile, read_sample
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from store.formats.judged_tables import GradedRow, JudgedTable
    from store.records import Scale


class FileFormat(StrEnum):
    """What `pooler import judgements` reads."""

    QRELS = "qrels"
    NTCIR2 = "ntcir2"
    NTCIREVAL = "ntcireval"
    COLUMNS = "columns"
    JSONL = "jsonl"
    TSV = "tsv"


EVERY_JUDGE = (FileFormat.JSONL, FileFormat.TSV)
"""Formats that name every judge, and say more than grades."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options say of a file."""

    form: FileFormat
    sample: PrelsName | None
    judge: str | None
    judge_column: int | None
    columns: tuple[str, ...]
    """Empty = none are named."""
    topic: str | None
    lenient: bool


@dataclass(frozen=True, slots=True)
class Source:
    """What a file of grades holds."""

    rows: list[GradedRow]
    sha256: str
    n_float_grades: int
    n_trailing: int
    n_fields: int
    noun: str
    """What kind of file it was read as."""
    sample: SampleFile | None = None


def wanted_of(
    form: FileFormat | None,
    *,
    sample: PrelsName | None,
    judge: str | None,
    judge_column: int | None,
    columns: str | None,
    topic: str | None,
    lenient: bool,
) -> Wanted:
    """Check that the options go together.

    Raises
    ------
    ArgumentError
        If an option is for another format.
    PoolerError
        If nothing says whose judgements they are.
    """
    from store.formats.columns import parse_columns

    implied = FileFormat.QRELS if columns is None else FileFormat.COLUMNS
    chosen = form or implied
    if chosen is FileFormat.COLUMNS and columns is None:
        hint = "as in --columns docno,judge,grade"
        raise ArgumentError("--columns", "must name the columns of the file", None, hint=hint)
    given: list[tuple[str, object, tuple[FileFormat, ...]]] = [
        ("--columns", columns, (FileFormat.COLUMNS,)),
        ("--topic", topic, (FileFormat.COLUMNS,)),
        ("--as", sample, (FileFormat.QRELS,)),
        ("--judge-column", judge_column, (FileFormat.QRELS,)),
    ]
    for name, value, formats in given:
        if value is not None and chosen not in formats:
            requirement = f"is for files of format {formats[0]}, and this is one of {chosen}"
            raise ArgumentError(name, requirement, value)
    names = () if columns is None else parse_columns(columns)
    said = [judge is not None, judge_column is not None, "judge" in names]
    if chosen not in EVERY_JUDGE and sum(said) != 1:
        other = {
            FileFormat.QRELS: ", or --judge-column 2; one of the two",
            FileFormat.COLUMNS: ", or `judge` among --columns; one of the two",
        }
        message = "whose judgements are these?"
        raise PoolerError(message, hint="--judge NAME" + other.get(chosen, " says it"))
    return Wanted(chosen, sample, judge, judge_column, names, topic, lenient)


def read_source(file: str, wanted: Wanted, scale: Scale) -> Source:
    """Read a file of grades.

    Raises
    ------
    FormatError
        With every fault of the file.
    ArgumentError
        If an option cannot be used.
    """
    from store.codes import graded_rows

    judge, column = wanted.judge, wanted.judge_column
    if wanted.sample is not None:
        sample = read_sample(file, wanted.sample, judge_column=column, lenient=wanted.lenient)
        rows = list(graded_rows(sample.rows, judge=judge))
        return Source(rows, sample.sha256, 0, sample.n_trailing, 5, "prels", sample)
    if wanted.form is FileFormat.QRELS:
        from store.formats.qrels import read_qrels

        qrels = read_qrels(file, lenient=wanted.lenient, judge_column=column)
        rows = list(graded_rows(qrels.rows, judge=judge, judge_column=column))
        return Source(rows, qrels.sha256, qrels.n_float_grades, qrels.n_trailing, 4, "qrels")
    if wanted.form is FileFormat.NTCIR2:
        from store.formats.ntcir2 import read_ntcir2

        table = read_ntcir2(file, scale, lenient=wanted.lenient).table
        return _of_table(table, judge, 4, "NTCIR-2")
    if wanted.form is FileFormat.NTCIREVAL:
        from store.formats.ntcireval import read_ntcireval

        return _of_table(read_ntcireval(file, lenient=wanted.lenient), judge, 3, "NTCIREVAL")
    from store.formats.columns import read_columns

    names = wanted.columns
    table = read_columns(file, names, topic=wanted.topic, judge=judge, lenient=wanted.lenient)
    return _of_table(table, judge, len(names), f"`{','.join(names)}`")


def _of_table(table: JudgedTable, judge: str | None, n_fields: int, noun: str) -> Source:
    """Turn a table into a source; its rows say whose they are, or `judge` does."""
    rows = table.rows if judge is None else [row._replace(judge=judge) for row in table.rows]
    return Source(rows, table.sha256, table.n_float_grades, table.n_trailing, n_fields, noun)
