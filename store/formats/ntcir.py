"""NTCIR-2 and NTCIREVAL qrels.

A collection has two NTCIR-2 files, which differ in the last column alone: in the rigid one S and A are
relevant, in the relaxed one S, A and B. NTCIR-2 itself has no S. The NTCIR WWW tasks have levels that are
sums of two judges' grades: L0 to L4 of grades 0 to 2. Neither format has iterations: they are ``0``. What the
writers write is read back, and what they could have written comes back byte for byte.

Sources: NTCIR Workshop 2, "Relevance judgments", data of the Japanese and English IR tasks, 2001; Sakai,
"NTCIREVAL", a toolkit for information access evaluation; Luo et al., "Overview of the NTCIR-13 We Want Web
task", *NTCIR-13*, 2017.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, TextIO

from store.errors import ArgumentError, FaultList
from store.formats import tables
from store.formats.tables import Fields, GradedRow, JudgedTable, UnfitFieldError
from store.records import Qrel, Scale


@dataclass(frozen=True, slots=True)
class Ntcir2File:
    """What an NTCIR-2 file holds."""

    table: JudgedTable
    """Its codes are grades of the scale."""
    level: int | None
    """The least grade that it has for relevant; ``None`` = it has none."""


def letters_of(scale: Scale, named: str | None = None) -> dict[int, str]:
    """Return the letter of every grade, in upper case: its key, or from `named`, the lowest grade's first.

    `ArgumentError` is raised if a grade has no ASCII letter, or two have the same but for its case.
    """
    if named is not None:
        return _named_letters(scale.values, named)
    letters = {grade.value: grade.key.upper() for grade in scale.grades}
    texts = list(letters.values())
    are_letters = all(text.isascii() and text.isalpha() for text in texts)
    if not are_letters or len(set(texts)) < len(texts):
        requirement = "must have a letter for every grade, for NTCIR-2 files"
        keys = ", ".join(repr(grade.key) for grade in scale.grades)
        hint = "`pooler init --scale ntcir` makes a collection whose keys are letters"
        if len(letters) <= len(ascii_uppercase):
            example = ascii_uppercase[len(letters) - 1 :: -1]
            hint = (
                f"{hint}; `pooler export qrels --as ntcir2 --letters {example}` names one a grade,"
                " lowest first"
            )
        raise ArgumentError("the scale", f"{requirement}, but has the keys {keys}", None, hint=hint)
    return letters


def _named_letters(values: Sequence[int], named: str) -> dict[int, str]:
    letters = named.upper()
    is_each = named.isascii() and named.isalpha() and len(letters) == len(values)
    if not is_each or len(set(letters)) < len(letters):
        numbers = ", ".join(map(str, values))
        requirement = f"must be {len(values)} different letters, one for each of {numbers}"
        raise ArgumentError("letters", requirement, named)
    return dict(zip(values, letters, strict=True))


def read_ntcir2(
    path: str, scale: Scale, *, lenient: bool = False, faults: FaultList | None = None
) -> Ntcir2File:
    """Read an NTCIR-2 qrels file, letters as grades in file order; see `read_table`.

    Fault codes of its own: ``relevant`` (not 0 or 1), and ``cut`` (a grade is relevant, and one as high is
    not).
    """
    grades = {letter.encode(): value for value, letter in letters_of(scale).items()}
    letters = b", ".join(grades).decode()
    cut = _Cut()

    def row(line: int, topic: str, docno: str, grade: int, _is_relevant: int) -> GradedRow:
        return GradedRow(line, topic, "0", docno, "", grade)

    readers = {
        "topic": tables.read_topic,
        "docno": tables.read_name,
        "letter": tables.expecting(grades.get, f"a letter of the scale ({letters})", "grade"),
        "relevant": tables.expecting({b"0": 0, b"1": 1}.get, "0 or 1 in field 4", "relevant"),
    }
    form = tables.judged_format("topic letter docno relevant", readers, row, cut.check)
    table = tables.read_table(path, form, lenient=lenient, faults=faults)
    return Ntcir2File(table, cut.level)


def write_ntcir2(
    rows: Iterable[Qrel], scale: Scale, level: int | None, stream: TextIO, *, letters: str | None = None
) -> None:
    """Write an NTCIR-2 qrels file, in the order of the rows, from `level` up relevant (``None`` = none is).

    Iterations have no place in the file. `ArgumentError` is raised, and nothing written, if there are no
    letters (see `letters_of`), a grade is off the scale, or an id could not be read back.
    """
    letter_of = letters_of(scale, letters)
    listed = list(rows)
    tables.check_rows(listed, "NTCIR-2")
    if off := sorted({row.grade for row in listed} - letter_of.keys()):
        raise ArgumentError("grade", f"must be one of {scale.values}", off)
    stream.writelines(
        f"{row.topic}\t{letter_of[row.grade]}\t{row.docno}\t{int(level is not None and row.grade >= level)}\n"
        for row in listed
    )


class _Cut:
    """Where 0 and 1 part the scale, as far as the lines have said."""

    def __init__(self) -> None:
        self._least_relevant: tuple[int, str, int] | None = None
        self._most_irrelevant: tuple[int, str, int] | None = None

    @property
    def level(self) -> int | None:
        """The least relevant grade; ``None`` = none is."""
        return None if self._least_relevant is None else self._least_relevant[0]

    def check(self, line: int, fields: Fields, values: Sequence[Any]) -> None:
        _topic, _docno, grade, is_relevant = values
        if grade is None or is_relevant is None:
            return
        letter = tables.shown(fields[1])
        above, below = self._least_relevant, self._most_irrelevant
        other = below if is_relevant else above
        if other is not None and (grade <= other[0] if is_relevant else grade >= other[0]):
            complement = 1 - is_relevant
            message = (
                f"expected {complement} for {letter}, as line {other[2]} has {complement} for {other[1]}"
            )
            raise UnfitFieldError(f"{message}, got {is_relevant}", "cut")
        if is_relevant and (above is None or grade < above[0]):
            self._least_relevant = grade, letter, line
        elif not is_relevant and (below is None or grade > below[0]):
            self._most_irrelevant = grade, letter, line


_LEVEL = re.compile(rb"L(0|[1-9][0-9]{0,8})")


def _level(text: bytes) -> int | None:
    match = _LEVEL.fullmatch(text)
    return int(match[1]) if match else None


_NTCIREVAL = tables.judged_format(
    "topic docno level",
    {
        "topic": tables.read_topic,
        "docno": tables.read_name,
        "level": tables.expecting(_level, "a level like L2", "grade"),
    },
    lambda line, topic, docno, level: GradedRow(line, topic, "0", docno, "", level),
)


def read_ntcireval(path: str, *, lenient: bool = False, faults: FaultList | None = None) -> JudgedTable:
    """Read an NTCIREVAL qrels file in file order; see `read_table`."""
    return tables.read_table(path, _NTCIREVAL, lenient=lenient, faults=faults)


def write_ntcireval(rows: Iterable[Qrel], stream: TextIO) -> None:
    """Write an NTCIREVAL qrels file, in the order of the rows; iterations have no place in it.

    `ArgumentError` is raised, and nothing written, if a grade is negative or an id could not be read back.
    """
    listed = list(rows)
    tables.check_rows(listed, "NTCIREVAL")
    if negative := sorted({row.grade for row in listed if row.grade < 0}):
        requirement = "cannot be written as a level L0 to Ln when it is negative"
        raise ArgumentError("grade", requirement, negative)
    stream.writelines(f"{row.topic} {row.docno} L{row.grade}\n" for row in listed)
