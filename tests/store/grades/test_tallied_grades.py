"""Judges' grades by document: the counts of the ballots, without a docno."""

from __future__ import annotations

import numpy as np
import pytest

from store.collection import Collection
from store.db.engine import reading
from store.db.keys import topic_keys
from store.errors import ArgumentError, UnknownNameError
from store.grades.definition import QrelsDefinition
from store.grades.votes import TalliedGrades, fetch_tallied_grades
from store.records import JudgeKind, Qrel
from store.text import natural_key
from tests.helpers.world import engine_of
from tests.store.full_collection import fill


def counts_of(collection: str, of: tuple[str, ...]) -> dict[str, dict[int, list[int]]]:
    """Return what the ballots say: counts by grade, by topic and document id."""
    with Collection(collection) as opened:
        ids = opened.runs.ranked().ids
        all_votes = opened.grades.all_votes(QrelsDefinition(without_rulings=True, judges=of))
    found: dict[str, dict[int, list[int]]] = {}
    for row, counts in zip(all_votes.rows.tolist(), all_votes.counts.tolist(), strict=True):
        topic, docno = all_votes.pairs[row]
        found.setdefault(topic, {})[ids[docno]] = counts
    return found


def told(tallied: TalliedGrades) -> dict[str, dict[int, list[int]]]:
    """Return the same of tallied grades."""
    return {
        topic: dict(zip(ids.tolist(), counts.tolist(), strict=True))
        for topic, (ids, counts) in tallied.by_topic.items()
    }


@pytest.mark.parametrize("seed", range(2))
def test_counts_are_those_of_the_ballots(collection_name: str, seed: int) -> None:
    """Undone, skipped and changed events and adjudicators included, of all judges and of some."""
    fill(collection_name, seed=seed)
    with Collection(collection_name) as opened:
        everybody = opened.grades.tallied()
        ids = opened.documents.numbers()
        assert len(everybody.judges) >= 2
        for of in ((), everybody.judges[:1], everybody.judges[1:], everybody.judges):
            tallied = opened.grades.tallied(of)
            assert told(tallied) == counts_of(collection_name, of)
            assert tallied.judges == (of or everybody.judges)
            assert list(tallied.by_topic) == sorted(tallied.by_topic, key=natural_key)
            votes = [sum(row) for of_topic in told(tallied).values() for row in of_topic.values()]
            assert tallied.n_documents == len(votes)
            assert tallied.judges_a_document() == (min(votes), max(votes))
            for rows, counts in tallied.by_topic.values():
                assert rows.tolist() == sorted(rows.tolist())
                assert rows.dtype == counts.dtype == np.int64
                assert set(rows.tolist()) <= set(ids.values())


def test_nothing_graded_is_no_topic(collection_name: str, collection: Collection) -> None:
    """An empty collection, and a judge who graded nothing, give no documents; nobody is made up."""
    with Collection(collection_name) as opened:
        assert (opened.grades.tallied().judges, opened.grades.tallied().n_documents) == ((), 0)
        collection.judgements.add({"ann": [Qrel("1", "a", 1)]}, kind=JudgeKind.HUMAN)
        collection.judges.add("idle", JudgeKind.HUMAN)
        collection.judges.add("boss", JudgeKind.ADJUDICATOR)
        assert opened.grades.tallied().judges == ("ann",)
        idle = opened.grades.tallied(["idle"])
        assert (idle.judges, dict(idle.by_topic), idle.judges_a_document()) == ((), {}, (0, 0))
        collection.judgements.add({"head": [Qrel("1", "b", 2)]}, kind=JudgeKind.ADJUDICATOR)
        assert (opened.grades.tallied().judges, opened.grades.tallied().n_documents) == (("ann",), 1)
        with pytest.raises(UnknownNameError, match="unknown judge `nobody`"):
            opened.grades.tallied(["nobody"])
        with pytest.raises(ArgumentError, match="`judges` must be judges, not adjudicators"):
            opened.grades.tallied(["ann", "boss"])


@pytest.mark.parametrize(("scale", "grade"), [((0, 1), 2), ((1, 2), 0), ((0, 2), 1)])
def test_grade_off_the_scale_is_refused(
    collection_name: str, collection: Collection, scale: tuple[int, ...], grade: int
) -> None:
    """A grade above, below or between those declared is named, and counts as none of them."""
    collection.judgements.add({"ann": [Qrel("1", "a", grade)]}, kind=JudgeKind.HUMAN)
    topics = topic_keys()
    with engine_of(collection_name) as engine, reading(engine) as session:
        topics.refresh(session)
        message = f"must be one of \\[{scale[0]}, {scale[1]}\\], but got {grade}"
        with pytest.raises(ArgumentError, match=message):
            fetch_tallied_grades(session, topics, scale)
