"""NTCIREVAL qrels: `topic docno L0|L1|...|Ln`, the grade as a level.

The NTCIR WWW tasks have levels that are sums of two judges' grades: L0 to L4 of grades 0 to 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TextIO

from store.errors import ArgumentError, FaultList
from store.formats.judged_tables import Fields, GradedRow, JudgedTable, check_rows, read_table
from store.records import Qrel

COLUMNS = "topic docno level"

_LEVEL = re.compile(r"L(0|[1-9][0-9]{0,8})", re.ASCII)


def read_ntcireval(
    path: str, *, lenient: bool = False, keep_repeats: bool = False, faults: FaultList | None = None
) -> JudgedTable:
    r"""Read an NTCIREVAL qrels file.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input; compression is seen through.
    lenient : bool, default=False
        A line that begins with ``#`` is a comment, and what follows the third field is ignored.
        Otherwise both are faults.
    keep_repeats : bool, default=False
        Whether topic, docno and judge may come again: for `store.repeats.settle_repeats`.
    faults : FaultList, optional
        Where faults are told instead of being raised; rows without one are returned all the same.

    Returns
    -------
    JudgedTable
        In file order, the code of ``Lk`` being k; the iteration is ``0``.

    Raises
    ------
    FormatError
        With every fault of the file; see `store.formats.judged_tables.read_table`. Codes of the
        fields are ``id`` and ``grade`` (not ``L`` and an integer from 0 without leading zeros).
    PoolerError
        If the file cannot be opened.

    Notes
    -----
    `write_ntcireval` gives the bytes of a file back that has single blanks between its fields,
    newlines at its ends, and nothing else.

    References
    ----------
    .. [1] Sakai, "NTCIREVAL", a toolkit for information access evaluation; Luo et al., "Overview of
       the NTCIR-13 We Want Web task", *NTCIR-13*, 2017.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("0001 web-1 L4\n0001 web-2 L0\n")
    ...     file.flush()
    ...     [(row.docno, row.code) for row in read_ntcireval(file.name).rows]
    [('web-1', 4), ('web-2', 0)]
    """

    def row(line: int, parts: Sequence[str], fields: Fields) -> GradedRow:
        topic, docno = fields.topic(line, parts[0]), fields.name(line, parts[1])
        match = _LEVEL.fullmatch(parts[2])
        if match is None:
            fields.faults.add(line, f"expected a level like L2, got `{parts[2]}`", "grade")
        return GradedRow(line, topic, "0", docno, "", int(match[1]) if match else 0)

    return read_table(path, COLUMNS, row, lenient=lenient, keep_repeats=keep_repeats, faults=faults)


def write_ntcireval(rows: Iterable[Qrel], stream: TextIO) -> None:
    r"""Write an NTCIREVAL qrels file, in the order of the rows.

    Parameters
    ----------
    rows : iterable of Qrel
        Grades from 0; their iterations have no place in the file.
    stream : TextIO
        Where to write; UTF-8 and ``newline="\n"`` are the opener's business.

    Raises
    ------
    ArgumentError
        If a grade is negative, or an id could not be read back. Nothing is written then.

    Examples
    --------
    >>> import sys
    >>> write_ntcireval([Qrel("0001", "web-1", 4), Qrel("0001", "web-2", 0)], sys.stdout)
    0001 web-1 L4
    0001 web-2 L0
    """
    listed = list(rows)
    check_rows(listed, "NTCIREVAL")
    if negative := sorted({row.grade for row in listed if row.grade < 0}):
        requirement = "cannot be written as a level L0 to Ln when it is negative"
        raise ArgumentError("grade", requirement, negative)
    stream.writelines(f"{row.topic} {row.docno} L{row.grade}\n" for row in listed)
