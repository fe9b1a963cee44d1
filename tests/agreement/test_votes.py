"""Votes: grades and nothing else, in an order that the input cannot change; documents that are measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement.votes import (
    CANNOT,
    SKIPPED,
    UNJUDGED,
    Cells,
    Votes,
    population_votes,
    votes_from_rows,
    votes_of_judges,
)
from tests.agreement.graded import MISSING, drawn_votes, texts_of

ARRAYS = ("topic_codes", "documents", "judge_codes", "places")
NAMES = ("topics", "judges", "scale_values")


def same(one: Votes, other: Votes) -> bool:
    """Tell whether two sets of votes hold the same."""
    return all(getattr(one, name) == getattr(other, name) for name in NAMES) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ARRAYS
    )


def rows_of(votes: Votes) -> list[tuple[int, int, int, int]]:
    """List topic, document, judge, place of every vote."""
    columns = (votes.topic_codes[votes.documents], votes.documents, votes.judge_codes, votes.places)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(drawn_votes(), st.randoms())
def test_votes_from_rows_in_any_order_are_the_same(votes: Votes, random: object) -> None:
    """The order of rows changes nothing, and document numbers may have gaps."""
    rows = [(topic, 10 * document, *rest) for topic, document, *rest in rows_of(votes)]
    random.shuffle(rows)  # type: ignore[attr-defined]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    again = votes_from_rows(
        *columns, topics=votes.topics, judges=votes.judges, scale_values=votes.scale_values
    )
    assert same(again, votes)
    assert {getattr(again, name).dtype for name in ARRAYS} == {np.dtype(np.int64)}


@given(drawn_votes(), st.data())
def test_votes_of_judges_keep_their_documents(votes: Votes, data: st.DataObject) -> None:
    """Of some judges, in any order, their own columns stay, and documents one of them graded."""
    judges = data.draw(st.lists(st.sampled_from(votes.judges), unique=True))
    codes = [votes.judge_index(judge) for judge in judges]
    some = votes_of_judges(votes, judges)
    texts = ["".join(text[code] for code in codes) for text in texts_of(votes)]
    kept = [number for number, text in enumerate(texts) if text.strip(MISSING)]
    assert some.judges == tuple(judges)
    assert texts_of(some) == [texts[number] for number in kept]
    assert some.topic_codes.tolist() == votes.topic_codes[kept].tolist()
    assert rows_of(some) == sorted(rows_of(some))


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


def cells_of(plain: Mapping[Key, int]) -> Cells:
    """Put plain cells into arrays."""
    rows = np.array([(*key, place) for key, place in plain.items()], dtype=np.int64).reshape(-1, 4)
    return Cells(("1", "2", "3"), JUDGES, SCALE, *rows.T)


def grades_of(votes: Votes) -> list[tuple[int, dict[int, int]]]:
    """Give topic and grades by judge of every document, in order."""
    found: list[tuple[int, dict[int, int]]] = [(int(t), {}) for t in votes.topic_codes]
    for document, judge, place in zip(
        votes.documents.tolist(), votes.judge_codes.tolist(), votes.places.tolist(), strict=True
    ):
        found[document][1][judge] = place
    return found


@given(plain=plain_cells, least=st.integers(1, 2))
def test_votes_are_of_documents_that_enough_judges_graded(plain: dict[Key, int], least: int) -> None:
    """Each such document is there once with its grades; what is left out, skipped, impossible is counted."""
    made = population_votes(cells_of(plain), least=least)
    by_document: dict[tuple[int, int], dict[int, int]] = {}
    for (topic, document, judge), place in sorted(plain.items()):
        if place >= 0:
            by_document.setdefault((topic, document), {})[judge] = place
    kept = {pair: grades for pair, grades in sorted(by_document.items()) if len(grades) >= least}
    assert grades_of(made.votes) == [(topic, grades) for (topic, _), grades in kept.items()]
    assert made.document_numbers.tolist() == [document for _, document in kept]
    assert (made.n_documents, made.n_topics) == (len(kept), len({topic for topic, _ in kept}))
    for judge in range(3):
        of_judge = [place for (_, _, who), place in plain.items() if who == judge]
        graded = sum(place >= 0 for place in of_judge)
        measured = sum(judge in grades for grades in kept.values())
        assert (made.graded[judge], made.skipped[judge], made.cannot[judge], made.outside[judge]) == (
            graded,
            of_judge.count(SKIPPED),
            of_judge.count(CANNOT),
            graded - measured,
        )
        given_by = [grades[judge] for grades in kept.values() if judge in grades]
        assert made.given()[judge].tolist() == [given_by.count(place) for place in range(len(SCALE))]
