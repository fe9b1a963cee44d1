"""Files of grades as `pooler import judgements` reads them, one shape for all formats."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from pooler.cli.import_prels import PrelsName, SampleFile, read_sample
from store.errors import ArgumentError, FaultList, PoolerError

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

COLUMNS_HINT = "a table of other columns: --columns docno,judge,grade --topic T"
"""What to type for what is in no format."""

UNKNOWN_HINT = "--allow-unknown keeps unknown topics and docnos"

_TO_UNCOMPRESS = {".gz": "gzip -dc", ".xz": "xz -dc", ".zst": "zstd -dc"}


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
    float_grade: str = ""
    """The first grade that was written as a float."""


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
            FileFormat.QRELS: ", or --judge-column 2; one of the two. what `pooler export"
            f" judgements` wrote: --format jsonl or tsv; {COLUMNS_HINT}",
            FileFormat.COLUMNS: ", or `judge` among --columns; one of the two",
        }
        message = "whose judgements are these?"
        raise PoolerError(message, hint="--judge NAME" + other.get(chosen, " says it"))
    return Wanted(chosen, sample, judge, judge_column, names, topic, lenient)


def read_source(file: str, wanted: Wanted, scale: Scale, faults: FaultList) -> Source:
    """Read a file of grades; its faults are told, and what has none is returned.

    What comes twice is returned twice, but for a prels file, where it is a fault.

    Raises
    ------
    ArgumentError
        If an option cannot be used.
    """
    from store.codes import graded_rows

    judge, column = wanted.judge, wanted.judge_column
    if wanted.sample is not None:
        sample = read_sample(
            file, wanted.sample, faults, judge_column=column, lenient=wanted.lenient
        )
        rows = list(graded_rows(sample.rows, judge=judge))
        return Source(rows, sample.sha256, 0, sample.n_trailing, 5, "prels", sample)
    if wanted.form is FileFormat.QRELS:
        from store.formats.qrels import read_qrels

        qrels = read_qrels(
            file, lenient=wanted.lenient, judge_column=column, keep_repeats=True, faults=faults
        )
        if not qrels.rows and faults.kept[0].code == "fields":
            faults.hint = faults.hint or COLUMNS_HINT
        rows = list(graded_rows(qrels.rows, judge=judge, judge_column=column))
        return Source(rows, qrels.sha256, qrels.n_float_grades, qrels.n_trailing, 4, "qrels",
                      float_grade=qrels.float_grade)  # fmt: skip
    if wanted.form is FileFormat.NTCIR2:
        from store.formats.ntcir2 import read_ntcir2

        table = read_ntcir2(
            file, scale, lenient=wanted.lenient, keep_repeats=True, faults=faults
        ).table
        return _of_table(table, judge, 4, "NTCIR-2")
    if wanted.form is FileFormat.NTCIREVAL:
        from store.formats.ntcireval import read_ntcireval

        table = read_ntcireval(file, lenient=wanted.lenient, keep_repeats=True, faults=faults)
        return _of_table(table, judge, 3, "NTCIREVAL")
    from store.formats.columns import read_columns

    names = wanted.columns
    table = read_columns(
        file, names, topic=wanted.topic, judge=judge, lenient=wanted.lenient, keep_repeats=True,
        faults=faults,
    )  # fmt: skip
    faults.hint = _header_hint(file, wanted, table, faults)
    return _of_table(table, judge, len(names), f"`{','.join(names)}`")


def _of_table(table: JudgedTable, judge: str | None, n_fields: int, noun: str) -> Source:
    """Turn a table into a source; its rows say whose they are, or `judge` does."""
    rows = table.rows if judge is None else [row._replace(judge=judge) for row in table.rows]
    return Source(rows, table.sha256, table.n_float_grades, table.n_trailing, n_fields, noun,
                  float_grade=table.float_grade)  # fmt: skip


def _header_hint(file: str, wanted: Wanted, table: JudgedTable, faults: FaultList) -> str | None:
    """Say how to pass over a first line that names the columns; ``None`` where there is none."""
    first = faults.kept[0] if faults else None
    if first is None or first.line is None or first.code != "grade":
        return None
    if table.rows and table.rows[0].line < first.line:
        return None
    skip = f"tail -n +{first.line + 1}"
    read = _TO_UNCOMPRESS.get(Path(file).suffix)
    if read is not None:
        skip = f"{read} {shlex.quote(file)} | {skip}"
    elif file != "-":
        skip = f"{skip} {shlex.quote(file)}"
    words = ["pooler", "import", "judgements", "-", "--columns", ",".join(wanted.columns)]
    words += [] if wanted.topic is None else ["--topic", wanted.topic]
    words += [] if wanted.judge is None else ["--judge", wanted.judge]
    return f"without a header line: {skip} | {shlex.join(words)}"
