"""Tables of judgements whose columns the user names: `docno,judge,grade` and the like."""

from __future__ import annotations

from collections.abc import Sequence

from store.errors import ArgumentError, FaultList, UnknownNameError
from store.formats.judged_tables import Fields, GradedRow, JudgedTable, read_table
from store.formats.lines import id_fault
from store.formats.topics import topic_fault

IGNORED = "-"
"""A column that means nothing here."""

NAMES = ("topic", "iteration", "docno", "judge", "grade", IGNORED)
"""What a column may be called."""


def parse_columns(text: str) -> tuple[str, ...]:
    """Read ``--columns NAME,NAME,...``.

    Parameters
    ----------
    text : str
        Names of `NAMES` in the order of the file's columns, with commas.

    Returns
    -------
    tuple of str
        The names.

    Raises
    ------
    UnknownNameError
        If a name is unknown.
    ArgumentError
        If a name but ``-`` is there twice, or ``docno`` or ``grade`` is not.

    Examples
    --------
    >>> parse_columns("docno,judge,-,grade")
    ('docno', 'judge', '-', 'grade')
    """
    columns = tuple(name.strip() for name in text.split(","))
    named = [name for name in columns if name != IGNORED]
    for name in filter(None, named):
        if name not in NAMES:
            hint = "`-` skips a column: --columns docno,judge,-,grade"
            raise UnknownNameError("column", name, NAMES[:-1], hint=hint)
    is_whole = {"docno", "grade"} <= set(named) <= set(NAMES)
    if not is_whole or len(set(named)) < len(named):
        requirement = (
            "must name each column of the file once: docno and grade, and what there is of"
        )
        hint = "as in --columns docno,judge,grade; `-` is a column that is passed over"
        others = "topic, iteration and judge, with commas"
        raise ArgumentError("--columns", f"{requirement} {others}", text, hint=hint)
    return columns


def read_columns(
    path: str,
    columns: Sequence[str],
    *,
    topic: str | None = None,
    judge: str | None = None,
    iteration: str = "0",
    lenient: bool = False,
    keep_repeats: bool = False,
    faults: FaultList | None = None,
) -> JudgedTable:
    r"""Read a table of judgements by the names of its columns.

    Parameters
    ----------
    path : str
        The file; ``-`` is standard input; compression is seen through.
    columns : sequence of str
        As of `parse_columns`.
    topic : str, optional
        The topic of all lines, when no column says it.
    judge : str, optional
        Whose judgements all are, when no column says it; default unknown, which is empty.
    iteration : str, default="0"
        The round of all lines, when no column says it.
    lenient : bool, default=False
        A line that begins with ``#`` is a comment, and what follows the last field is ignored.
        Otherwise both are faults.
    keep_repeats : bool, default=False
        Whether topic, docno and judge may come again: for `store.repeats.settle_repeats`.
    faults : FaultList, optional
        Where faults are told instead of being raised; rows without one are returned all the same.

    Returns
    -------
    JudgedTable
        The rows in file order.

    Raises
    ------
    ArgumentError
        If `topic` is not given and no column says it; if `topic` or `judge` is given and a column
        says it too; if one is no id.
    FormatError
        With every fault of the file; see `store.formats.judged_tables.read_table`. Codes of the
        fields are ``id`` and ``grade``. A document may stand once a topic and judge.
    PoolerError
        If the file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("d1 7 3\nd1 9 0\n")
    ...     file.flush()
    ...     read_columns(file.name, ("docno", "judge", "grade"), topic="web").rows[1]
    GradedRow(line=2, topic='web', iteration='0', docno='d1', judge='9', code=0)
    """
    if topic is None and "topic" not in columns:
        hint = "--topic T, or `topic` among --columns"
        raise ArgumentError("--topic", "must be given: no column says it", None, hint=hint)
    for name, text, fault in (
        ("topic", topic, topic_fault),
        ("judge", judge, id_fault),
        ("iteration", iteration, id_fault),
    ):
        if text is not None and name != "iteration" and name in columns:
            raise ArgumentError(f"--{name}", "is said by a column already", text)
        if text is not None and (message := fault(text)):
            raise ArgumentError(f"--{name}", f"must be one word ({message})", text)
    places = {name: place for place, name in enumerate(columns) if name != IGNORED}
    topic_place, judge_place = places.get("topic"), places.get("judge")
    iteration_place = places.get("iteration")
    docno_place, grade_place = places["docno"], places["grade"]

    def row(line: int, parts: Sequence[str], fields: Fields) -> GradedRow:
        return GradedRow(
            line,
            topic or "" if topic_place is None else fields.topic(line, parts[topic_place]),
            iteration if iteration_place is None else fields.name(line, parts[iteration_place]),
            fields.name(line, parts[docno_place]),
            judge or "" if judge_place is None else fields.name(line, parts[judge_place]),
            fields.grade(line, parts[grade_place]),
        )

    return read_table(
        path, " ".join(columns), row, lenient=lenient, keep_repeats=keep_repeats, faults=faults
    )
