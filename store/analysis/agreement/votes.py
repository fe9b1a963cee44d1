"""Grades in long form and as a matrix.

Rows of the matrix are (topic, docno) pairs, columns are judges. A cell keeps its state apart from its grade,
so that "not judged", "skipped" and "cannot be judged" never turn into a grade. Grades are kept as places on
the declared scale, from 0. As the matrix is mostly empty when many judges share a topic, votes hold what was
graded and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError, UnknownNameError
from store.records import Judgement, State
from store.text import natural_key

UNJUDGED = 0
"""The judge was never asked, has not come to the document, or reopened it."""
SKIPPED = 1
CANNOT = 2
JUDGED = 3

NO_GRADE = -1
"""What `GradeMatrix.grades` holds where nothing was graded."""

_STATE_CODES = {State.UNJUDGED: UNJUDGED, State.SKIPPED: SKIPPED, State.CANNOT: CANNOT, State.JUDGED: JUDGED}


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
        In any order. Of several revisions of one cell the highest is the current state; the others are
        ignored.
    scale_values : sequence of int
        The declared scale: at least two grades, ascending.

    Returns
    -------
    GradeMatrix
        A row for every (topic, docno) and a column for every judge in `judgements`, whatever the state; cells
        without a judgement are `UNJUDGED`. A grade is read only where the state is judged.

    Raises
    ------
    ArgumentError
        If the scale does not ascend, a judged cell has no grade or one off the scale, or one revision of one
        cell comes twice.

    Notes
    -----
    O(n log n) time; 800,000 judgements (200,000 documents, 4 judges) take about a second, shuffled ones two.

    Examples
    --------
    >>> rows = [
    ...     Judgement("10", "d1", "bob", State.JUDGED, 2),
    ...     Judgement("9", "d2", "bob", State.SKIPPED, None),
    ...     Judgement("10", "d1", "alice", State.JUDGED, 0),
    ... ]
    >>> matrix = grade_matrix(rows, (0, 1, 2))
    >>> matrix.topics, matrix.judges, matrix.pairs
    (('9', '10'), ('alice', 'bob'), (('9', 'd2'), ('10', 'd1')))
    >>> matrix.grades.tolist(), matrix.states.tolist()
    ([[-1, -1], [0, 2]], [[0, 1], [3, 3]])
    """
    values = _checked_scale(scale_values)
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
    if cells.size and int(np.bincount(cells).max()) > 1:
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


def _latest(rows: list[Judgement], cells: NDArray[np.int64]) -> tuple[list[Judgement], NDArray[np.int64]]:
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


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Who gave which document which grade; `votes_of` and `votes_from_rows` build it."""

    topics: tuple[str, ...]
    judges: tuple[str, ...]
    scale_values: tuple[int, ...]
    """The declared grades, ascending, used or not."""
    topic_codes: NDArray[np.int64]
    """Shape (n_documents,), ascending: index into `topics` of every document anybody graded."""
    documents: NDArray[np.int64]
    """Shape (n_votes,), ascending: index into `topic_codes`."""
    judge_codes: NDArray[np.int64]
    """Shape (n_votes,): index into `judges`, ascending within a document, each judge once."""
    places: NDArray[np.int64]
    """Shape (n_votes,): index into `scale_values`."""

    @property
    def n_documents(self) -> int:
        """Documents with a grade of anybody."""
        return len(self.topic_codes)

    @property
    def n_grades(self) -> int:
        """Grades of the declared scale."""
        return len(self.scale_values)

    def judge_index(self, judge: str) -> int:
        """Return the code of a judge; raise `UnknownNameError` when there is none."""
        try:
            return self.judges.index(judge)
        except ValueError:
            raise UnknownNameError("judge", judge, self.judges) from None


def votes_of(matrix: GradeMatrix) -> Votes:
    """Take the grades out of a matrix of states and grades; O(number of cells).

    Parameters
    ----------
    matrix : GradeMatrix

    Returns
    -------
    Votes
        Topics and judges as in `matrix`; documents in its order, those without a grade left out.

    Examples
    --------
    >>> from store.analysis.agreement.votes import grade_matrix
    >>> from store.records import Judgement, State
    >>> rows = [
    ...     Judgement("1", "a", "ann", State.JUDGED, 3),
    ...     Judgement("1", "b", "ann", State.SKIPPED, None),
    ...     Judgement("2", "c", "bob", State.JUDGED, 0),
    ... ]
    >>> votes = votes_of(grade_matrix(rows, (0, 1, 3)))
    >>> votes.topic_codes.tolist(), votes.documents.tolist()
    ([0, 1], [0, 1])
    >>> votes.judge_codes.tolist(), votes.places.tolist()
    ([0, 1], [2, 0])
    """
    judged = matrix.states == JUDGED
    graded = judged.any(axis=1)
    rows, judge_codes = np.nonzero(judged)
    return Votes(
        topics=matrix.topics,
        judges=matrix.judges,
        scale_values=matrix.scale_values,
        topic_codes=matrix.topic_codes[graded],
        documents=(np.cumsum(graded) - 1)[rows],
        judge_codes=judge_codes,
        places=matrix.grades[judged],
    )


def votes_from_rows(
    topic_codes: NDArray[np.int64],
    documents: NDArray[np.int64],
    judge_codes: NDArray[np.int64],
    places: NDArray[np.int64],
    *,
    topics: Sequence[str],
    judges: Sequence[str],
    scale_values: Sequence[int],
) -> Votes:
    """Arrange votes that come in any order, as a query gives them.

    Parameters
    ----------
    topic_codes : ndarray of int64, shape (n_votes,)
        Index into `topics` of every vote.
    documents : ndarray of int64, shape (n_votes,)
        Any number that tells the documents of one topic apart; they are ordered by it.
    judge_codes, places : ndarray of int64, shape (n_votes,)
        Index into `judges`, and into `scale_values`.
    topics, judges : sequence of str
        Names; some may have no vote.
    scale_values : sequence of int
        The declared scale: at least two grades, ascending.

    Returns
    -------
    Votes
        O(n log n); faster where the rows come in order already.

    Raises
    ------
    ArgumentError
        If the scale does not ascend, the arrays differ in length, a code is out of its range, or a judge has
        two votes on one document.

    Examples
    --------
    >>> documents, judges, grades = np.array([[70, 70, 70], [1, 0, 0], [2, 0, 1]])
    >>> names = {"topics": ["9", "10"], "judges": ["ann", "bob"], "scale_values": (0, 1, 2)}
    >>> votes = votes_from_rows(np.array([1, 0, 1]), documents, judges, grades, **names)
    >>> votes.topic_codes.tolist(), votes.documents.tolist()
    ([0, 1], [0, 1, 1])
    >>> votes.judge_codes.tolist(), votes.places.tolist()
    ([0, 0, 1], [0, 1, 2])
    """
    values = _checked_scale(scale_values)
    sizes = {
        "topic_codes": (topic_codes, len(topics)),
        "judge_codes": (judge_codes, len(judges)),
        "places": (places, len(values)),
    }
    for name, (codes, size) in sizes.items():
        if len(codes) != len(documents):
            raise ArgumentError(name, f"must be {len(documents)} codes", len(codes))
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < size:
            wrong = codes[(codes < 0) | (codes >= size)]
            raise ArgumentError(name, f"must be from 0 to {size - 1}", int(wrong[0]))
    columns = [np.asarray(one, np.int64) for one in (topic_codes, documents, judge_codes, places)]
    if not _in_order(*columns[:3]):
        order = np.lexsort((columns[2], columns[1], columns[0]))
        columns = [column[order] for column in columns]
    of_topic, document, judge, place = columns
    new = np.ones(len(document), dtype=np.bool_)
    new[1:] = (np.diff(of_topic) != 0) | (np.diff(document) != 0)
    twice = np.flatnonzero(~new[1:] & (np.diff(judge) == 0))
    if twice.size:
        row = int(twice[0])
        where = f"judge `{judges[judge[row]]}` twice on a document of `{topics[of_topic[row]]}`"
        raise ArgumentError("judge_codes", "must be each judge once a document", where)
    return Votes(
        topics=tuple(topics),
        judges=tuple(judges),
        scale_values=values,
        topic_codes=of_topic[new],
        documents=np.cumsum(new) - 1,
        judge_codes=judge,
        places=place,
    )


def votes_of_judges(votes: Votes, judges: Sequence[str]) -> Votes:
    """Keep the votes of some judges, and the documents that one of them graded; topics and scale stay.

    Parameters
    ----------
    votes : Votes
    judges : sequence of str
        Names, each once; their order becomes the order of judges. `UnknownNameError` for a judge that is not
        there, `ArgumentError` for one that comes twice.

    Returns
    -------
    Votes
    """
    codes = [votes.judge_index(judge) for judge in judges]
    if len(set(codes)) < len(codes):
        raise ArgumentError("judges", "must be judges, each once", list(judges))
    code_of = np.full(len(votes.judges), -1, dtype=np.int64)
    code_of[codes] = np.arange(len(codes))
    kept = code_of[votes.judge_codes] >= 0
    graded = np.zeros(votes.n_documents, dtype=np.bool_)
    graded[votes.documents[kept]] = True
    documents = (np.cumsum(graded) - 1)[votes.documents[kept]]
    judge_codes, places = code_of[votes.judge_codes[kept]], votes.places[kept]
    if codes != sorted(codes):
        order = np.lexsort((judge_codes, documents))
        judge_codes, places = judge_codes[order], places[order]
    return replace(
        votes,
        judges=tuple(judges),
        topic_codes=votes.topic_codes[graded],
        documents=documents,
        judge_codes=judge_codes,
        places=places,
    )


def collapse_votes(votes: Votes, level_index: int) -> Votes:
    """Turn graded votes into votes on relevant or not, on the scale 0, 1.

    Parameters
    ----------
    votes : Votes
    level_index : int
        Index into the scale of the least relevant grade, from 1 to ``n_grades - 1``; else `ArgumentError`.

    Returns
    -------
    Votes
        The same documents and judges; place 0 is not relevant, 1 relevant.
    """
    if not 1 <= level_index < votes.n_grades:
        requirement = f"must be an integer from 1 to {votes.n_grades - 1}"
        raise ArgumentError("level_index", requirement, level_index)
    relevant = (votes.places >= level_index).astype(np.int64)
    return replace(votes, scale_values=(0, 1), places=relevant)


def n_judges_of(votes: Votes) -> int:
    """Count the judges with a vote."""
    return int(np.count_nonzero(np.bincount(votes.judge_codes)))


def grade_counts(votes: Votes) -> NDArray[np.int64]:
    """Count how often each document was given each grade, shape (n_documents, n_grades)."""
    cells = votes.documents * votes.n_grades + votes.places
    counts = np.bincount(cells, minlength=votes.n_documents * votes.n_grades)
    return counts.reshape(votes.n_documents, votes.n_grades)


def _in_order(*columns: NDArray[np.int64]) -> bool:
    """Tell whether rows ascend by the first column, then the second, ..."""
    undecided = np.ones(max(len(columns[0]) - 1, 0), dtype=np.bool_)
    for column in columns:
        step = np.diff(column)
        if bool((undecided & (step < 0)).any()):
            return False
        undecided &= step == 0
    return True


def _checked_scale(scale_values: Sequence[int]) -> tuple[int, ...]:
    """Return the grades of a scale; raise `ArgumentError` unless they are two at least, ascending."""
    values = tuple(scale_values)
    if len(values) < 2 or any(low >= high for low, high in pairwise(values)):
        raise ArgumentError("scale_values", "must be at least two grades, ascending", list(values))
    return values
