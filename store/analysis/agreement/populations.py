"""Over which documents agreement is measured, and what a document without a judgement counts as.

Coefficients speak of a population of documents, and the same judges get another kappa on another
one. Four can be had:

========== =====================================================================================
common     documents that at least two of the judges graded
listed     documents that at least one of them graded
pooled     documents that were chosen for judging, whoever graded them
collection every document for every topic: the collection was judged exhaustively
========== =====================================================================================

Beyond the common documents some cells hold no judgement. Such a cell gets a grade only if the caller declares
one for all of them; a document that a judge skipped, or could not judge, was looked at and gets none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.votes import Votes, collapse_votes, votes_from_rows
from store.errors import ArgumentError
from store.records import State

Population = Literal["common", "listed", "pooled", "collection"]
POPULATIONS: tuple[Population, ...] = get_args(Population)
AnyPopulation = Population | Literal["graded"]
"""Those that agreement is measured on, and the documents that somebody graded, with those grades only."""

UNJUDGED = -1
"""A place of `Cells.places`: reopened, or only a note was written; as if there were no cell."""
SKIPPED = -2
CANNOT = -3
PLACE_OF_STATE = {State.UNJUDGED: UNJUDGED, State.SKIPPED: SKIPPED, State.CANNOT: CANNOT}
"""What stands in place of a grade, for states that have none."""

_HOW_TO_DECLARE = "--unlisted-as GRADE declares it; --population common needs none"


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The current state of every (topic, document, judge) that has one, in any order."""

    topics: tuple[str, ...]
    """Every topic of the population, in natural order; some may have no cell."""
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
class Pairs:
    """The (topic, document) pairs of a population."""

    topic_codes: NDArray[np.int64]
    """Shape (n_pairs,): index into the topics of the cells."""
    documents: NDArray[np.int64]
    """Shape (n_pairs,): numbers of documents as in the cells; each pair once."""


@dataclass(frozen=True, slots=True, eq=False)
class PopulationVotes:
    """Votes on the documents of a population, and what became of cells without a grade."""

    population: AnyPopulation
    default: int | None
    """Index into the scale of what an unjudged cell counts as; ``None`` = none did."""
    votes: Votes
    """Votes on documents that somebody graded, those counted as `default` among them."""
    document_numbers: NDArray[np.int64]
    """Shape (votes.n_documents,): the numbers of the documents in the cells."""
    blanks: NDArray[np.int64]
    """Shape (n_topics,): documents that no judge has touched; every judge's grade is `default`
    there. They are kept as a number, as an exhaustively judged collection is mostly blank."""
    graded: NDArray[np.int64]
    """Shape (n_judges,): documents graded, inside the population or not."""
    skipped: NDArray[np.int64]
    cannot: NDArray[np.int64]
    filled: NDArray[np.int64]
    """Shape (n_judges,): unjudged cells that count as `default`, blank documents among them."""
    outside: NDArray[np.int64]
    """Shape (n_judges,): documents graded outside the population, so left out."""

    @property
    def n_documents(self) -> int:
        """Documents with a grade, a declared one or a judge's."""
        return self.votes.n_documents + int(self.blanks.sum())

    @property
    def n_topics(self) -> int:
        """Topics with such documents."""
        has_votes = np.bincount(self.votes.topic_codes, minlength=len(self.votes.topics)) > 0
        return int(np.count_nonzero(has_votes | (self.blanks > 0)))

    def given(self) -> NDArray[np.int64]:
        """Count the grades of each judge, shape (n_judges, n_grades), blank documents included."""
        n_judges, q = len(self.votes.judges), self.votes.n_grades
        cells = self.votes.judge_codes * q + self.votes.places
        given = np.bincount(cells, minlength=n_judges * q).reshape(n_judges, q)
        if self.default is not None:
            given[:, self.default] += self.blanks.sum()
        return given

    def total(self, sums_of: Callable[[Votes], NDArray[Any]]) -> NDArray[Any]:
        """Add up what documents contribute to every topic, shape (n_topics, ...), blank documents included.

        `sums_of` goes from votes to an array whose first axis is ``votes.topics`` and to which every document
        of a topic adds its part, whatever the other documents are: tables, coincidences.
        """
        sums = sums_of(self.votes)
        if not self.blanks.any():
            return sums
        one = sums_of(self.one_blank_a_topic())
        times = self.blanks.reshape(-1, *[1] * (sums.ndim - 1))
        return np.asarray(sums + times * one)

    def collapsed(self, level_index: int) -> PopulationVotes:
        """Return the same as relevant or not, see `store.analysis.agreement.votes.collapse_votes`."""
        default = None if self.default is None else int(self.default >= level_index)
        return replace(self, default=default, votes=collapse_votes(self.votes, level_index))

    def one_blank_a_topic(self) -> Votes:
        """Return votes of all judges on one blank document of every topic that has some."""
        votes, n_judges = self.votes, len(self.votes.judges)
        (codes,) = np.nonzero(self.blanks)
        n_votes = len(codes) * n_judges
        return Votes(
            topics=votes.topics,
            judges=votes.judges,
            scale_values=votes.scale_values,
            topic_codes=codes,
            documents=np.repeat(np.arange(len(codes)), n_judges),
            judge_codes=np.tile(np.arange(n_judges), len(codes)),
            places=np.full(n_votes, 0 if self.default is None else self.default, np.int64),
        )


def population_votes(
    cells: Cells,
    population: AnyPopulation = "common",
    *,
    unlisted_as: int | None = None,
    pooled: Pairs | None = None,
    n_documents: int = 0,
) -> PopulationVotes:
    """Take the votes on a population of documents.

    Parameters
    ----------
    cells : Cells
        What the judges did.
    population : {"common", "listed", "pooled", "collection", "graded"}, default="common"
        Which documents count; ``graded`` are those of one judge, too, and nothing is filled in.
    unlisted_as : int, optional
        The grade, a value of the scale, that a cell without a judgement counts as.
    pooled : Pairs, optional
        The pooled documents; needed for the population of that name.
    n_documents : int, default=0
        Documents of the collection, each of every topic; needed for the population of that name.

    Returns
    -------
    PopulationVotes
        O(n_cells log n_cells), and with a declared grade O(n_touched * n_judges): a document is touched when
        one of the judges graded or skipped it, or could not judge it. `ArgumentError` if `population` is
        unknown; if `unlisted_as` is missing where cells are, is off the scale, or stands beside ``common``,
        which has nothing to fill; or if a judge without any grade would consist of declared ones.

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
    >>> population_votes(cells).n_documents
    1
    >>> made = population_votes(cells, "collection", unlisted_as=0, n_documents=100)
    >>> made.n_documents, made.blanks.tolist(), made.filled.tolist()
    (100, [97], [98, 97])
    """
    default = _check_choice(cells, population, unlisted_as)
    n_judges, n_topics = len(cells.judges), len(cells.topics)
    width = _width(cells, pooled)
    numbers = cells.topic_codes * width + cells.documents
    # Sorted once, cells of one document stand together, and everything else is counting.
    order = np.lexsort((cells.judge_codes, numbers))
    numbers, judge_codes, places = numbers[order], cells.judge_codes[order], cells.places[order]
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = np.diff(numbers) != 0
    pairs, pair_of = numbers[is_first], np.cumsum(is_first) - 1
    is_graded = places >= 0
    in_population = _is_inside(
        population,
        pairs,
        np.bincount(pair_of[is_graded], minlength=len(pairs)),
        None if pooled is None else pooled.topic_codes * width + pooled.documents,
    )
    inside = in_population[pair_of]
    graded, skipped, cannot, outside = (
        np.bincount(judge_codes[found], minlength=n_judges)
        for found in (is_graded, places == SKIPPED, places == CANNOT, is_graded & ~inside)
    )
    kept = inside & is_graded
    found = pair_of[kept], judge_codes[kept], places[kept]
    blanks = np.zeros(n_topics, dtype=np.int64)
    filled = np.zeros(n_judges, dtype=np.int64)
    if population not in ("common", "graded"):
        touched = inside & (places != UNJUDGED)
        is_touched = np.bincount(pair_of[touched], minlength=len(pairs)) > 0
        row_of, rows = np.cumsum(is_touched) - 1, np.flatnonzero(is_touched)
        if population != "listed":
            blanks = _sizes(cells, population, pooled, n_documents)
            blanks -= np.bincount(pairs[rows] // width, minlength=n_topics)
        present = np.bincount(judge_codes[touched], minlength=n_judges)
        filled = len(rows) + int(blanks.sum()) - present
        if filled.any():
            _check_default(cells, default, graded, int(filled.sum()))
            grid = np.full((len(rows), n_judges), default, dtype=np.int64)
            grid[row_of[pair_of[touched]], judge_codes[touched]] = places[touched]
            row, judge_of = np.nonzero(grid >= 0)
            found = rows[row], judge_of, grid[row, judge_of]
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
        population=population,
        default=default,
        votes=votes,
        document_numbers=pairs[has_vote] % width,
        blanks=blanks,
        graded=graded,
        skipped=skipped,
        cannot=cannot,
        filled=filled,
        outside=outside,
    )


def _check_choice(cells: Cells, population: AnyPopulation, unlisted_as: int | None) -> int | None:
    """Return the index of the declared grade; raise `ArgumentError` for a choice that cannot be."""
    if population not in (*POPULATIONS, "graded"):
        raise ArgumentError("population", f"must be one of {', '.join(POPULATIONS)}", population)
    if unlisted_as is None:
        return None
    if population in ("common", "graded"):
        requirement = "has nothing to fill with --population common"
        hint = "--population listed, pooled or collection"
        raise ArgumentError("unlisted_as", requirement, unlisted_as, hint=hint)
    if unlisted_as not in cells.scale_values:
        values = ", ".join(map(str, cells.scale_values))
        raise ArgumentError("unlisted_as", f"must be a grade of the scale ({values})", unlisted_as)
    return cells.scale_values.index(unlisted_as)


def _check_default(cells: Cells, default: int | None, graded: NDArray[np.int64], n_filled: int) -> None:
    """Raise `ArgumentError` unless unjudged cells have a grade, and every judge has one as well."""
    if default is None:
        requirement = f"must say what {n_filled:,} unjudged cells of this population count as"
        raise ArgumentError("unlisted_as", requirement, None, hint=_HOW_TO_DECLARE)
    if not graded.all():
        requirement = "must not make up all grades of a judge who gave none"
        raise ArgumentError("unlisted_as", requirement, cells.judges[int(np.argmin(graded))])


def _width(cells: Cells, pooled: Pairs | None) -> int:
    """Return a number above every document's: pairs are numbered by it."""
    known = [cells.documents] if pooled is None else [cells.documents, pooled.documents]
    return 1 + max((int(numbers.max()) for numbers in known if len(numbers)), default=0)


def _is_inside(
    population: AnyPopulation,
    pairs: NDArray[np.int64],
    n_graded: NDArray[np.int64],
    pooled: NDArray[np.int64] | None,
) -> NDArray[np.bool_]:
    """Tell which of the pairs that have a cell lie in the population."""
    if population == "collection":
        return np.ones(len(pairs), dtype=np.bool_)
    if population == "pooled":
        if pooled is None:
            raise ArgumentError("pooled", "must be given for the population of that name", None)
        return np.isin(pairs, pooled)
    return np.asarray(n_graded >= (2 if population == "common" else 1))


def _sizes(
    cells: Cells, population: AnyPopulation, pooled: Pairs | None, n_documents: int
) -> NDArray[np.int64]:
    """Count the documents of each topic in the population."""
    n_topics = len(cells.topics)
    if population == "pooled" and pooled is not None:
        return np.bincount(pooled.topic_codes, minlength=n_topics)
    return np.full(n_topics, n_documents, dtype=np.int64)
