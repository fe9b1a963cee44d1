"""The documents that agreement is measured over: those that two judges graded, or one.

A document that a judge skipped, or could not judge, was looked at and has no grade of that judge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.votes import Votes, collapse_votes, votes_from_rows
from store.records import State

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
    """Take the votes on the documents that `least` judges graded or more, of all that the judges did.

    O(n_cells log n_cells).

    Examples
    --------
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
