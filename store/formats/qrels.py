"""Qrels, as rows or as columns; NTCIR-2 and NTCIREVAL qrels.

In qrels, fields are separated by ASCII blanks, as in trec_eval; topics and docnos are text, byte for byte.
A header may name other columns, and files of topic, docno and grade, or with other separators, are recognised
by their first lines: see `store.formats.tables.sniff`. A line that begins with ``#`` is a comment, as in
trec_eval 10. Text after the last field, which trec_eval refuses, is ignored in a lenient reading; the
five-column files of sampled pools must not be read so, since the fourth column of one kind is a stratum. A
line that repeats the code of an earlier one, whatever its iteration, is counted and ignored; trec_eval
refuses it. ``1.7`` is not a grade, though trec_eval would read 1.

A collection has two NTCIR-2 files, which differ in the last column only: in the rigid one S and A are
relevant, in the relaxed one S, A and B. NTCIR-2 itself has no S. The NTCIR WWW tasks have levels that are
sums of two judges' grades: L0 to L4 of grades 0 to 2. Neither format has iterations: they are read as ``0``.
The readers read what the writers write, and writing it again gives the same bytes.

Sources: trec_eval 10.0, `get_qrels.c` and `get_qrels_jg.c`; NTCIR Workshop 2, "Relevance judgments", data of
the Japanese and English IR tasks, 2001; Sakai, "NTCIREVAL", a toolkit for information access evaluation; Luo
et al., "Overview of the NTCIR-13 We Want Web task", *NTCIR-13*, 2017.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, groupby, islice, pairwise
from string import ascii_uppercase
from typing import Any, TextIO

from store.errors import ArgumentError, FaultList
from store.fields import LONGEST_ID
from store.formats import prels, tables
from store.formats.compression import DamagedDataError
from store.formats.lines import (
    LOOKED_AT,
    QRELS,
    RUN,
    is_regular_file,
    open_bytes,
    report_as_kind,
    report_kind,
)
from store.formats.tables import Fields, GradedRow, JudgedTable, Remembered, TableFormat, UnfitFieldError
from store.records import Qrel, QrelColumns, Scale

DUPLICATE = "duplicate"
"""The iteration of a grade that was copied from a near-duplicate."""
_COLUMNS = "topic iteration docno grade"
_CHOICES = (_COLUMNS, "topic docno grade")
_JUDGE_COLUMN = 2
_JUDGES_NAMED = 5
_ITERATIONS = ("0", "Q0")
_FEWEST_NAMED = 3
_FEWEST_EXCHANGED = 20
"""Fewest lines with the same word in column 3 for columns 2 and 3 to count as exchanged; `_FEWEST_NAMED`
where that word is one of `_ITERATIONS`."""


def read_qrels(
    path: str,
    *,
    lenient: bool = False,
    judge_column: int | None = None,
    keep_repeats: bool = False,
    faults: FaultList | None = None,
) -> JudgedTable:
    """Read a qrels file, rows in file order; see `read_table`.

    `judge_column` is ``None``, or 2 where column 2 names the judge instead of the round: a document then has
    one code for each topic and judge. With `keep_repeats` every line is a row, for `codes.settle_repeats`.
    """
    if judge_column not in (None, _JUDGE_COLUMN):
        requirement = "must be 2, the only column of a qrels line that can name a judge"
        raise ArgumentError("judge_column", requirement, judge_column)

    def row(line: int, topic: str, iteration: str, docno: str, code: int) -> GradedRow:
        if judge_column is None:
            return GradedRow(line, topic, iteration, docno, "", code)
        return GradedRow(line, topic, "0", docno, iteration, code)

    def repeat_fault(row: GradedRow, first: GradedRow) -> str | None:
        return None if row.code == first.code else tables.duplicate_words(row, first)

    def suspect(table: JudgedTable, reported: FaultList) -> None:
        rows = table.rows if keep_repeats else [*table.rows, *table.repeats]
        if judge_column is None and table.repeats and not table.layout.has_header and _is_exchanged(rows):
            _report_exchanged(reported, len(rows), rows[0].docno, table.layout)
        elif "run" in table.looks_like:
            report_as_kind(reported, RUN, QRELS)
        elif table.looks_like:
            columns = {kind: words for kind, words in prels.COLUMNS.items() if kind in table.looks_like}
            named = " or ".join(f"{kind} ({words})" for kind, words in columns.items())
            options = " or ".join(f"--as {kind}" for kind in columns)
            message = f"this looks like a prels file, {named}; expected `{_COLUMNS}`"
            hint = f"pooler import judgements {shlex.quote(reported.path)} --judge NAME {options} takes it"
            reported.put_instead(message, "prels", hint=hint)
        elif judge_column is None and table.repeats and (judges := _judges_of(rows)):
            _report_judges(reported, judges, is_kept=keep_repeats)
            return
        elif not reported or not report_kind(reported, QRELS):
            return
        table.rows.clear()

    form = TableFormat(
        _COLUMNS,
        {name: tables.READERS[name] for name in _COLUMNS.split()},
        row,
        tables.JUDGED,
        None if keep_repeats else repeat_fault,
        others={"run": _is_like_run, **prels.likes()},
        suspect=suspect,
        choices=_CHOICES if judge_column is None else (_COLUMNS,),
        has_comments=True,
    )
    return tables.read_table(path, form, lenient=lenient, faults=faults)


_MOST_PLAIN = 1 << 26
"""Bytes that a file read at once may have."""
_VISIBLE = bytes(range(0x21, 0x7F))
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")


def read_plain_qrels(path: str) -> QrelColumns | None:
    """Read a file by columns, much faster than `read_qrels`; ``None`` = there may be something to report.

    Each line has four fields of ASCII with one blank or tab between them, a topic's lines stand together, and
    no document comes twice.
    """
    if not is_regular_file(path):  # it could not be read again
        return None
    try:
        with open_bytes(path) as file:
            content = file.read(_MOST_PLAIN)
    except DamagedDataError:
        return None
    lines = (content if content.endswith(b"\n") else content + b"\n").replace(b"\t", b" ")
    n_lines = lines.count(b"\n")
    cells = lines.decode("latin-1").split()
    is_plain = lines.translate(None, _VISIBLE) == b"   \n" * n_lines and len(cells) == 4 * n_lines
    head = content.split(b"\n", LOOKED_AT)[:LOOKED_AT]
    if not is_plain or len(content) == _MOST_PLAIN:
        return None
    if tables.sniff([*filter(None, head)], _CHOICES, by_header=True) != tables.Layout(_COLUMNS):
        return None
    topics, iterations, docnos, texts = (cells[place::4] for place in range(4))
    ends = [0, *accumulate(len([*lines]) for _, lines in groupby(topics))]
    n_documents = sum(len({*docnos[start:end]}) for start, end in pairwise(ends))
    names = {*topics}
    longest = max(map(len, chain(names, {*iterations}, docnos)), default=0)
    if n_documents < n_lines or len(names) < len(ends) - 1 or longest > LONGEST_ID:
        return None
    if any(name.startswith("#") for name in names) or not all(map(_WHOLE.fullmatch, {*texts})):
        return None
    return QrelColumns(topics, docnos, [*map(Remembered[str](int).__getitem__, texts)], iterations)


def _is_exchanged(rows: Sequence[GradedRow]) -> bool:
    """Return whether column 3 is the same word in every line, and column 2 differs within each topic."""
    docno = rows[0].docno
    seen: set[tuple[str, str]] = set()
    for row in rows:
        pair = (row.topic, row.iteration)
        if row.docno != docno or pair in seen:
            return False
        seen.add(pair)
    return len(seen) >= (_FEWEST_NAMED if docno in _ITERATIONS else _FEWEST_EXCHANGED)


def _judges_of(rows: Sequence[GradedRow]) -> list[str]:
    """Return the names in column 2, if under each of them a document has one grade; else none."""
    graded: dict[tuple[str, str], int] = {}
    is_graded_twice = any(graded.setdefault((row.topic, row.docno), row.code) != row.code for row in rows)
    if not is_graded_twice or len({row[1:4] for row in rows}) < len(rows):
        return []
    return sorted({row.iteration for row in rows})


def _report_judges(faults: FaultList, judges: Sequence[str], *, is_kept: bool) -> None:
    """Report that column 2 names several judges; where repeats are kept it is not yet known to be a fault."""
    listed = ", ".join(judges[:_JUDGES_NAMED]) + (", ..." if len(judges) > _JUDGES_NAMED else "")
    file = shlex.quote(faults.path)
    hint = f"pooler import judgements {file} --judge-column 2 reads column 2 as the judges ({listed})"
    if is_kept or any(fault.code != "duplicate" for fault in faults.kept):
        faults.hint = faults.hint or hint
        return
    message = f"expected the grades of one judge, got those of {len(judges)} in column 2: {listed}"
    faults.put_instead(message, "judges", hint=hint)


def _report_exchanged(faults: FaultList, n_lines: int, docno: str, layout: tables.Layout) -> None:
    message = (
        f"expected `topic iteration docno grade`, got `{docno}` in column 3 of all"
        f" {n_lines:,} lines: columns 2 and 3 look exchanged"
    )
    exchange = layout.awk(faults.path, "{print $1, $3, $2, $4}")
    option = "--columns topic,docno,iteration,grade"
    hint = f"{exchange} puts them right; `import judgements` takes {option}, too"
    faults.put_instead(message, "exchanged", hint=hint)


def _is_like_run(fields: Fields) -> bool:
    """Return whether a line has the shape `topic Q0 docno rank score tag`."""
    if len(fields) != 6 or fields[1].upper() != b"Q0":
        return False
    try:
        float(fields[4])
    except ValueError:
        return False
    return True


_BLOCK = 10_000
"""Lines made at a time."""
QrelCells = tuple[str, str, str, int]
"""Topic, iteration, docno and grade."""


def qrels_blocks(rows: Iterable[QrelCells]) -> Iterator[str]:
    """Yield lines of four columns with single blanks, so that equal judgements are equal bytes.

    Rows come in order: topics natural, docnos bytewise. Each text yielded has many lines.
    """
    rows = iter(rows)
    while block := list(islice(rows, _BLOCK)):
        for name, texts in zip(("topic", "iteration", "docno"), zip(*block, strict=True), strict=False):
            tables.check_names(name, dict.fromkeys(texts), "qrels")
        yield "\n".join([f"{topic} {iteration} {docno} {grade}" for topic, iteration, docno, grade in block])


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
) -> JudgedTable:
    """Read an NTCIR-2 qrels file, letters as grades in file order; see `read_table`.

    Fault codes of its own: ``relevant`` (not 0 or 1), and ``cut`` (one line calls a grade relevant, another
    calls the same grade or a higher one not relevant).
    """
    grades = {letter.encode(): value for value, letter in letters_of(scale).items()}
    letters = b", ".join(grades).decode()

    def row(line: int, topic: str, docno: str, grade: int, _is_relevant: int) -> GradedRow:
        return GradedRow(line, topic, "0", docno, "", grade)

    readers = {
        "topic": tables.read_topic,
        "docno": tables.read_name,
        "letter": tables.expecting(grades.get, f"a letter of the scale ({letters})", "grade"),
        "relevant": tables.expecting({b"0": 0, b"1": 1}.get, "0 or 1 in field 4", "relevant"),
    }
    form = tables.judged_format("topic letter docno relevant", readers, row, _Cut().check)
    return tables.read_table(path, form, lenient=lenient, faults=faults)


def write_ntcir2(
    rows: Iterable[Qrel], scale: Scale, level: int | None, stream: TextIO, *, letters: str | None = None
) -> None:
    """Write an NTCIR-2 qrels file, in the order of the rows, from `level` up relevant (``None`` = none is).

    Iterations have no place in the file.
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
    """Where the scale is cut into 0 and 1, as far as the lines read show it."""

    def __init__(self) -> None:
        self._least_relevant: tuple[int, str, int] | None = None
        self._most_irrelevant: tuple[int, str, int] | None = None

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


_NTCIREVAL = tables.judged_format(
    "topic docno level",
    {
        "topic": tables.read_topic,
        "docno": tables.read_name,
        "level": tables.expecting(
            lambda text: int(text[1:]) if _LEVEL.fullmatch(text) else None, "a level like L2", "grade"
        ),
    },
    lambda line, topic, docno, level: GradedRow(line, topic, "0", docno, "", level),
)


def read_ntcireval(path: str, *, lenient: bool = False, faults: FaultList | None = None) -> JudgedTable:
    """Read an NTCIREVAL qrels file in file order; see `read_table`."""
    return tables.read_table(path, _NTCIREVAL, lenient=lenient, faults=faults)


def write_ntcireval(rows: Iterable[Qrel], stream: TextIO) -> None:
    """Write an NTCIREVAL qrels file, in the order of the rows; iterations have no place in it."""
    listed = list(rows)
    tables.check_rows(listed, "NTCIREVAL")
    if negative := sorted({row.grade for row in listed if row.grade < 0}):
        raise ArgumentError("grade", "cannot be written as a level L0 to Ln when it is negative", negative)
    stream.writelines(f"{row.topic} {row.docno} L{row.grade}\n" for row in listed)
