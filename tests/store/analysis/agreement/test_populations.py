"""Populations: which documents count, and what an unjudged cell counts as, against plain dicts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement.populations import (
    CANNOT,
    POPULATIONS,
    SKIPPED,
    UNJUDGED,
    Cells,
    Pairs,
    PopulationVotes,
    population_votes,
)
from store.analysis.agreement.tables import pair_tables
from store.analysis.agreement.votes import Votes, grade_counts
from store.errors import ArgumentError

JUDGES = ("ann", "bob", "cy")
SCALE = (-2, 0, 1)
N_DOCUMENTS = 5
Key = tuple[int, int, int]
"""Topic, document, judge."""

plain_cells = st.dictionaries(
    st.tuples(st.integers(0, 2), st.integers(0, N_DOCUMENTS - 1), st.integers(0, 2)),
    st.sampled_from([0, 1, 2, UNJUDGED, SKIPPED, CANNOT]),
    max_size=30,
)
plain_pools = st.sets(st.tuples(st.integers(0, 2), st.integers(0, N_DOCUMENTS - 1)))


def cells_of(plain: Mapping[Key, int]) -> Cells:
    """Put plain cells into arrays."""
    rows = np.array([(*key, place) for key, place in plain.items()], dtype=np.int64).reshape(-1, 4)
    return Cells(("1", "2", "3"), JUDGES, SCALE, *rows.T)


def pairs_of(plain: set[tuple[int, int]]) -> Pairs:
    """Put plain pairs into arrays."""
    rows = np.array(sorted(plain), dtype=np.int64).reshape(-1, 2)
    return Pairs(*rows.T)


def grades_of(votes: Votes) -> list[tuple[int, dict[int, int]]]:
    """Give topic and grades by judge of every document, in order."""
    found: list[tuple[int, dict[int, int]]] = [(int(t), {}) for t in votes.topic_codes]
    for document, judge, place in zip(
        votes.documents.tolist(), votes.judge_codes.tolist(), votes.places.tolist(), strict=True
    ):
        found[document][1][judge] = place
    return found


def slowly(
    plain: Mapping[Key, int], population: str, pool: set[tuple[int, int]], default: int | None
) -> list[tuple[int, dict[int, int]]]:
    """Go through every (topic, document) there is, as the definitions of populations say."""
    found = []
    for topic in range(3):
        for document in range(N_DOCUMENTS):
            states = {j: plain.get((topic, document, j), UNJUDGED) for j in range(3)}
            n_graded = sum(place >= 0 for place in states.values())
            inside = {
                "common": n_graded >= 2,
                "listed": n_graded >= 1,
                "pooled": (topic, document) in pool,
                "collection": True,
            }[population]
            if not inside:
                continue
            if default is not None:
                states = {j: default if p == UNJUDGED else p for j, p in states.items()}
            grades = {judge: place for judge, place in states.items() if place >= 0}
            if grades:
                found.append((topic, grades))
    return found


def expanded(made: PopulationVotes) -> list[tuple[int, dict[int, int]]]:
    """List the documents, blank ones too; of one topic in any order."""
    blank = dict.fromkeys(range(3), made.default)
    found: list[Any] = grades_of(made.votes)
    for topic, count in enumerate(made.blanks.tolist()):
        found += [(topic, blank)] * count
    return found


def ordered(documents: list[Any]) -> list[str]:
    """Sort documents so that lists can be compared."""
    return sorted(repr((topic, sorted(grades.items()))) for topic, grades in documents)


@given(plain=plain_cells, pool=plain_pools, population=st.sampled_from(POPULATIONS))
def test_population_with_declared_grade_equals_the_definition(
    plain: dict[Key, int], pool: set[tuple[int, int]], population: Any
) -> None:
    """Every document of the population is there once, unjudged cells filled and no others."""
    everyone = {(0, 0, judge): 0 for judge in range(3)}  # nobody is made up whole
    plain = {**plain, **everyone}
    default = None if population == "common" else 1
    made = population_votes(
        cells_of(plain),
        population,
        unlisted_as=None if default is None else SCALE[default],
        pooled=pairs_of(pool),
        n_documents=N_DOCUMENTS,
    )
    expected = slowly(plain, population, pool, default)
    assert ordered(expanded(made)) == ordered(expected)
    assert made.n_documents == len(expected)
    assert made.n_topics == len({topic for topic, _ in expected})
    for judge in range(3):
        of_judge = [place for (_, _, who), place in plain.items() if who == judge]
        graded = sum(place >= 0 for place in of_judge)
        measured = sum(judge in grades for _, grades in expected)
        assert (made.graded[judge], made.skipped[judge], made.cannot[judge]) == (
            graded,
            of_judge.count(SKIPPED),
            of_judge.count(CANNOT),
        )
        assert graded - made.outside[judge] + made.filled[judge] == measured


@given(plain=plain_cells, pool=plain_pools, population=st.sampled_from(POPULATIONS))
def test_population_without_declared_grade_is_whole_or_refused(
    plain: dict[Key, int], pool: set[tuple[int, int]], population: Any
) -> None:
    """Without a declared grade no grade appears that nobody gave, and a gap is an error."""

    def make() -> PopulationVotes:
        return population_votes(cells_of(plain), population, pooled=pairs_of(pool), n_documents=N_DOCUMENTS)

    is_whole = all(
        plain.get((topic, document, judge), UNJUDGED) != UNJUDGED
        for topic in range(3)
        for document in range(N_DOCUMENTS)
        for judge in range(3)
        if population == "collection"
        or (population == "pooled" and (topic, document) in pool)
        or (population == "listed" and any(plain.get((topic, document, j), UNJUDGED) >= 0 for j in range(3)))
    )
    if not is_whole:
        with pytest.raises(ArgumentError, match=r"must say what [0-9,]+ unjudged cells"):
            make()
        return
    made = make()
    assert ordered(expanded(made)) == ordered(slowly(plain, population, pool, None))
    assert not made.filled.any()


@given(plain=plain_cells)
def test_document_numbers_name_the_documents_of_the_votes(plain: dict[Key, int]) -> None:
    """Each document of the votes keeps its number, by which rankings know it."""
    made = population_votes(cells_of(plain))
    found = zip(made.document_numbers.tolist(), grades_of(made.votes), strict=True)
    for number, (topic, grades) in found:
        assert all(plain[topic, number, judge] == place for judge, place in grades.items())


@given(plain=plain_cells)
def test_total_counts_blank_documents_as_if_they_were_listed(plain: dict[Key, int]) -> None:
    """Sums over a population are those over a list of all its documents."""
    plain = {**plain, **{(0, 0, judge): 0 for judge in range(3)}}
    made = population_votes(cells_of(plain), "collection", unlisted_as=SCALE[1], n_documents=N_DOCUMENTS)
    tables = np.zeros((3, 3, 3), dtype=np.int64)
    counts = np.zeros((3, 3), dtype=np.int64)
    for topic, grades in slowly(plain, "collection", set(), 1):
        for place in grades.values():
            counts[topic, place] += 1
        if 0 in grades and 2 in grades:
            tables[topic, grades[0], grades[2]] += 1
    got = made.total(partial(pair_tables, first="ann", second="cy"))
    assert got.tolist() == tables.tolist()

    def counted(votes: Votes) -> Any:
        found = np.zeros((3, 3), dtype=np.int64)
        np.add.at(found, votes.topic_codes, grade_counts(votes))
        return found

    assert made.total(counted).tolist() == counts.tolist()
    listed = [grades for _, grades in slowly(plain, "collection", set(), 1)]
    of_judges = [[sum(one.get(judge) == place for one in listed) for place in range(3)] for judge in range(3)]
    assert made.given().tolist() == of_judges
    relevant = np.stack([counts[:, :2].sum(axis=1), counts[:, 2]], axis=1)
    assert made.collapsed(2).total(_binary_counts).tolist() == relevant.tolist()


def _binary_counts(votes: Votes) -> Any:
    """Count not relevant and relevant by topic."""
    found = np.zeros((3, 2), dtype=np.int64)
    np.add.at(found, votes.topic_codes, grade_counts(votes))
    return found


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"population": "pool"}, "`population` must be one of common, listed, pooled"),
        ({"population": "common", "unlisted_as": 0}, "has nothing to fill with --population"),
        ({"population": "listed", "unlisted_as": 7}, r"must be a grade of the scale \(-2, 0, 1\)"),
        ({"population": "listed"}, "must say what 2 unjudged cells of this population count as"),
        ({"population": "listed", "unlisted_as": 0}, "must not make up all grades of a judge"),
        ({"population": "pooled", "unlisted_as": 0}, "`pooled` must be given"),
    ],
)
def test_choice_that_cannot_be_is_refused(choice: dict[str, Any], message: str) -> None:
    """A population is never filled by guessing; the message says what is missing."""
    cells = cells_of({(0, 1, 0): 2})
    with pytest.raises(ArgumentError, match=message):
        population_votes(cells, **choice)
