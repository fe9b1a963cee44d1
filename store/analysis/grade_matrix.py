"""Who graded which document how: one array for agreement and aggregation.

Rows are (topic, docno) pairs, columns are judges. A cell keeps its state apart from its grade, so
that "not judged", "skipped" and "cannot be judged" never turn into a grade. Grades are kept as
places on the declared scale, from 0; ``scale_values`` holds the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError
from store.natural_order import natural_key
from store.records import Judgement, State

UNJUDGED = 0
"""The judge was never asked, has not come to the document, or reopened it."""
NO_EVENT = UNJUDGED
SKIPPED = 1
CANNOT = 2
JUDGED = 3

NO_GRADE = -1
"""What `GradeMatrix.grades` holds where nothing was graded."""

_STATE_CODES = {
    State.UNJUDGED: UNJUDGED,
    State.SKIPPED: SKIPPED,
    State.CANNOT: CANNOT,
    State.JUDGED: JUDGED,
}


@dataclass(frozen=True, slots=True, eq=False)
class GradeMatrix:
    """The current judgements of several judges; `grade_matrix` builds it."""

    topics: tuple[str, ...]
    """Topic ids in natural order (9 before 10)."""
    judges: tuple[str, ...]
    """Judge names, ascending bytewise."""
    pairs: tuple[tuple[str, str], ...]
    """(topic, docno), topics as in `topics`, then docnos ascending bytewise."""
    topic_codes: NDArray[np.int64]
    """Shape (n_pairs,): index into `topics`."""
    states: NDArray[np.int8]
    """Shape (n_pairs, n_judges): `UNJUDGED`, `SKIPPED`, `CANNOT` or `JUDGED`."""
    grades: NDArray[np.int64]
    """Shape (n_pairs, n_judges): index into `scale_values` where judged, else `NO_GRADE`."""
    scale_values: tuple[int, ...]
    """The declared grades, ascending, used or not."""


def grade_matrix(judgements: Iterable[Judgement], scale_values: Sequence[int]) -> GradeMatrix:
    """Arrange judgements by document and judge.

    Parameters
    ----------
    judgements : iterable of Judgement
        Current states, in any order. Of several revisions of one cell the highest is the current
        state; the others are ignored.
    scale_values : sequence of int
        The declared scale: at least two grades, ascending.

    Returns
    -------
    GradeMatrix
        A row for every (topic, docno) and a column for every judge in `judgements`, whatever the
        state; cells without a judgement are `UNJUDGED`. A grade is read only where the state is
        judged. No judgements give a matrix without rows and columns.

    Raises
    ------
    ArgumentError
        If the scale does not ascend, a judged cell has no grade or one off the scale, or one
        revision of one cell comes twice.

    Notes
    -----
    The order of `judgements` changes nothing. O(n log n) time; 800,000 judgements (200,000
    documents, 4 judges) take about a second, shuffled ones two.

    Examples
    --------
    >>> matrix = grade_matrix(
    ...     [
    ...         Judgement("10", "d1", "bob", State.JUDGED, 2),
    ...         Judgement("9", "d2", "bob", State.SKIPPED, None),
    ...         Judgement("10", "d1", "alice", State.JUDGED, 0),
    ...     ],
    ...     (0, 1, 2),
    ... )
    >>> matrix.topics, matrix.judges, matrix.pairs
    (('9', '10'), ('alice', 'bob'), (('9', 'd2'), ('10', 'd1')))
    >>> matrix.grades.tolist(), matrix.states.tolist()
    ([[-1, -1], [0, 2]], [[0, 1], [3, 3]])
    """
    values = tuple(scale_values)
    if len(values) < 2 or any(low >= high for low, high in pairwise(values)):
        raise ArgumentError("scale_values", "must be at least two grades, ascending", list(values))
    rows = list(judgements)
    judges = tuple(sorted({row.judge for row in rows}))
    docnos_of: dict[str, set[str]] = {}
    for row in rows:
        docnos_of.setdefault(row.topic, set()).add(row.docno)
    topics = tuple(sorted(docnos_of, key=natural_key))
    pairs: list[tuple[str, str]] = []
    row_of: dict[str, dict[str, int]] = {}
    for topic in topics:
        docnos = sorted(docnos_of[topic])
        row_of[topic] = {docno: index for index, docno in enumerate(docnos, start=len(pairs))}
        pairs.extend((topic, docno) for docno in docnos)

    column_of = {judge: column for column, judge in enumerate(judges)}
    matrix = GradeMatrix(
        topics=topics,
        judges=judges,
        pairs=tuple(pairs),
        topic_codes=np.repeat(
            np.arange(len(topics), dtype=np.int64), [len(row_of[topic]) for topic in topics]
        ),
        states=np.full((len(pairs), len(judges)), UNJUDGED, dtype=np.int8),
        grades=np.full((len(pairs), len(judges)), NO_GRADE, dtype=np.int64),
        scale_values=values,
    )
    cells = np.fromiter(
        (row_of[row.topic][row.docno] * len(judges) + column_of[row.judge] for row in rows),
        np.int64,
        len(rows),
    )
    if _repeats(cells):
        rows, cells = _latest(rows, cells)
    place_of: dict[int | None, int] = {value: place for place, value in enumerate(values)}
    states = np.fromiter((_STATE_CODES[row.state] for row in rows), np.int8, len(rows))
    grades = np.fromiter((place_of.get(row.grade, NO_GRADE) for row in rows), np.int64, len(rows))
    grades[states != JUDGED] = NO_GRADE
    faulty = np.flatnonzero((states == JUDGED) & (grades == NO_GRADE))
    if faulty.size:
        row = rows[int(faulty[0])]
        where = f"(topic `{row.topic}`, document `{row.docno}`, judge `{row.judge}`)"
        raise ArgumentError("grade", f"must be one of {list(values)} {where}", row.grade)
    matrix.states.reshape(-1)[cells] = states
    matrix.grades.reshape(-1)[cells] = grades
    return matrix


def _repeats(cells: NDArray[np.int64]) -> bool:
    """Tell whether some cell comes more than once."""
    return cells.size > 0 and int(np.bincount(cells).max()) > 1


def _latest(
    rows: list[Judgement], cells: NDArray[np.int64]
) -> tuple[list[Judgement], NDArray[np.int64]]:
    """Keep the highest revision of every cell."""
    revisions = np.fromiter((row.revision for row in rows), np.int64, len(rows))
    order = np.lexsort((revisions, cells))
    same_cell = np.diff(cells[order]) == 0
    twice = np.flatnonzero(same_cell & (np.diff(revisions[order]) == 0))
    if twice.size:
        row = rows[int(order[twice[0]])]
        where = f"topic `{row.topic}`, document `{row.docno}`, judge `{row.judge}`"
        requirement = "must hold every revision of a judgement once"
        raise ArgumentError("judgements", requirement, f"revision {row.revision} twice: {where}")
    last = order[np.append(~same_cell, True)]
    return [rows[index] for index in last.tolist()], cells[last]
