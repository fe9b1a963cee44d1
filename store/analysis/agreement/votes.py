"""Who gave which document which grade, in long form; the documents that agreement is measured over.

Judges of many share few documents: votes hold what was graded and nothing else, so that "not judged",
"skipped" and "cannot be judged" never turn into a grade. Grades are places on the declared scale, from 0.

A level is a grade value: a document is relevant when its grade is at least the level. Arrays that hold places
on the scale are cut at `level_index`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from store.errors import UnknownNameError
from store.records import Scale, State

NO_GRADE = -1
"""Stands in tables of grades where nothing was graded."""


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Who gave which document which grade; `votes_from_rows` builds it."""

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
    """Arrange votes that come in any order, as a query gives them; O(n log n).

    Each of `n_votes` has the code of its topic, any number that tells the documents of one topic apart and
    orders them, the code of its judge, who has one a document, and the place of its grade on the declared
    scale. Topics and judges may have no vote.

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
    order = np.lexsort((judge_codes, documents, topic_codes))
    rows = (topic_codes, documents, judge_codes, places)
    of_topic, document, judge, place = (np.asarray(one, np.int64)[order] for one in rows)
    new = np.ones(len(document), dtype=np.bool_)
    new[1:] = (np.diff(of_topic) != 0) | (np.diff(document) != 0)
    return Votes(
        topics=tuple(topics),
        judges=tuple(judges),
        scale_values=tuple(scale_values),
        topic_codes=of_topic[new],
        documents=np.cumsum(new) - 1,
        judge_codes=judge,
        places=place,
    )


def votes_of_judges(votes: Votes, judges: Sequence[str]) -> Votes:
    """Keep the votes of some judges, and the documents that one of them graded; topics and scale stay.

    The order of `judges`, each once, becomes that of the result. `UnknownNameError` for one that is none.
    """
    codes = [votes.judge_index(judge) for judge in judges]
    code_of = np.full(len(votes.judges), -1, dtype=np.int64)
    code_of[codes] = np.arange(len(codes))
    kept = code_of[votes.judge_codes] >= 0
    graded = np.zeros(votes.n_documents, dtype=np.bool_)
    graded[votes.documents[kept]] = True
    documents = (np.cumsum(graded) - 1)[votes.documents[kept]]
    judge_codes, places = code_of[votes.judge_codes[kept]], votes.places[kept]
    order = np.lexsort((judge_codes, documents))
    return replace(
        votes,
        judges=tuple(judges),
        topic_codes=votes.topic_codes[graded],
        documents=documents,
        judge_codes=judge_codes[order],
        places=places[order],
    )


def collapse_votes(votes: Votes, level_index: int) -> Votes:
    """Turn graded votes into votes on relevant or not, on the scale 0, 1; documents and judges stay.

    `level_index` is the place of the least relevant grade, from 1 to ``n_grades - 1``.
    """
    relevant = (votes.places >= level_index).astype(np.int64)
    return replace(votes, scale_values=(0, 1), places=relevant)


def collapse_table(tables: NDArray[np.int64], level_index: int) -> NDArray[np.int64]:
    """Collapse graded tables, shape (..., n_grades, n_grades), to not relevant and relevant, (..., 2, 2).

    `level_index` is the place of the least relevant grade, from 1 to ``n_grades - 1``.

    Examples
    --------
    >>> collapse_table(np.array([[5, 1, 0], [2, 3, 1], [0, 1, 4]]), 1).tolist()
    [[5, 1], [2, 9]]
    """
    rows = np.add.reduceat(tables, [0, level_index], axis=-2)
    return np.add.reduceat(rows, [0, level_index], axis=-1).astype(np.int64)


def level_index(scale: Scale, level: int) -> int:
    """Return the place on the scale of the least grade that is at least a level, from 1.

    `ArgumentError` if the level, which need not be a value of the scale, does not cut it in two.

    >>> from store.formats.scale import parse_scale
    >>> level_index(parse_scale("0-3"), 2), level_index(parse_scale("-2-2"), 1)
    (2, 3)
    """
    scale.check_level(level)
    return next(index for index, value in enumerate(scale.values) if value >= level)


def n_judges_of(votes: Votes) -> int:
    """Count the judges with a vote."""
    return int(np.count_nonzero(np.bincount(votes.judge_codes)))


def grade_counts(votes: Votes) -> NDArray[np.int64]:
    """Count how often each document was given each grade, shape (n_documents, n_grades)."""
    cells = votes.documents * votes.n_grades + votes.places
    counts = np.bincount(cells, minlength=votes.n_documents * votes.n_grades)
    return counts.reshape(votes.n_documents, votes.n_grades)


UNJUDGED = -1
"""A place of `Cells.places`: reopened, or only a note was written; as if there were no cell."""
SKIPPED = -2
CANNOT = -3
PLACE_OF_STATE = {State.UNJUDGED: UNJUDGED, State.SKIPPED: SKIPPED, State.CANNOT: CANNOT}
"""What stands in place of a grade, for states that have none."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The current state of every (topic, document, judge) that has one, in any order."""

    topics: tuple[str, ...]
    """In natural order; some may have no cell."""
    judges: tuple[str, ...]
    scale_values: tuple[int, ...]
    """The declared grades, ascending, used or not."""
    topic_codes: NDArray[np.int64]
    """Shape (n_cells,): index into `topics`."""
    documents: NDArray[np.int64]
    """Shape (n_cells,): a number of the document, 0 or more, the same in every topic."""
    judge_codes: NDArray[np.int64]
    """Shape (n_cells,): index into `judges`; each judge once a (topic, document)."""
    places: NDArray[np.int64]
    """Shape (n_cells,): index into `scale_values`, or `UNJUDGED`, `SKIPPED`, `CANNOT`."""


@dataclass(frozen=True, slots=True, eq=False)
class PopulationVotes:
    """Votes on the documents that are measured, and what happened to cells without a grade."""

    votes: Votes
    document_numbers: NDArray[np.int64]
    """Shape (votes.n_documents,): the numbers of the documents in the cells."""
    graded: NDArray[np.int64]
    """Shape (n_judges,): documents graded, measured or not."""
    skipped: NDArray[np.int64]
    cannot: NDArray[np.int64]
    outside: NDArray[np.int64]
    """Shape (n_judges,): documents graded that too few judges graded, so left out."""

    @property
    def n_documents(self) -> int:
        """Documents that are measured."""
        return self.votes.n_documents

    @property
    def n_topics(self) -> int:
        """Topics with such documents."""
        return np.unique(self.votes.topic_codes).size

    def given(self) -> NDArray[np.int64]:
        """Count the grades of each judge, shape (n_judges, n_grades)."""
        n_judges, q = len(self.votes.judges), self.votes.n_grades
        cells = self.votes.judge_codes * q + self.votes.places
        return np.bincount(cells, minlength=n_judges * q).reshape(n_judges, q)

    def collapsed(self, level_index: int) -> PopulationVotes:
        """Return the same as relevant or not, see `store.analysis.agreement.votes.collapse_votes`."""
        return replace(self, votes=collapse_votes(self.votes, level_index))


def population_votes(cells: Cells, *, least: int = 2) -> PopulationVotes:
    """Select the votes on the documents that `least` judges graded or more, of all that the judges did.

    O(n_cells log n_cells).

    Ann graded documents 7 and 8, Bob skipped 7 and graded 8 and 9:

    >>> cells = Cells(
    ...     topics=("1",),
    ...     judges=("ann", "bob"),
    ...     scale_values=(0, 1, 2),
    ...     topic_codes=np.zeros(5, np.int64),
    ...     documents=np.array([7, 8, 7, 8, 9]),
    ...     judge_codes=np.array([0, 0, 1, 1, 1]),
    ...     places=np.array([2, 1, SKIPPED, 2, 1]),
    ... )
    >>> population_votes(cells).n_documents, population_votes(cells, least=1).n_documents
    (1, 3)
    """
    n_judges, width = len(cells.judges), 1 + int(cells.documents.max(initial=0))
    numbers = cells.topic_codes * width + cells.documents
    # Sorted once, cells of one document stand together, and everything else is counting.
    order = np.lexsort((cells.judge_codes, numbers))
    numbers, judge_codes, places = numbers[order], cells.judge_codes[order], cells.places[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = np.diff(numbers) != 0
    pairs, pair_of = numbers[is_first], np.cumsum(is_first) - 1
    is_graded = places >= 0
    in_population = np.bincount(pair_of[is_graded], minlength=len(pairs)) >= least
    inside = in_population[pair_of]
    graded, skipped, cannot, outside = (
        np.bincount(judge_codes[found], minlength=n_judges)
        for found in (is_graded, places == SKIPPED, places == CANNOT, is_graded & ~inside)
    )
    kept = inside & is_graded
    found = pair_of[kept], judge_codes[kept], places[kept]
    has_vote = np.bincount(found[0], minlength=len(pairs)) > 0
    votes = votes_from_rows(
        pairs[found[0]] // width,
        found[0],
        *found[1:],
        topics=cells.topics,
        judges=cells.judges,
        scale_values=cells.scale_values,
    )
    return PopulationVotes(
        votes=votes,
        document_numbers=pairs[has_vote] % width,
        graded=graded,
        skipped=skipped,
        cannot=cannot,
        outside=outside,
    )
