"""Dossiers: everything known of one thing, and nothing of another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from store.collection import Collection
from store.errors import UnknownNameError
from store.judging.states import StateCounts
from store.records import State
from tests.helpers.filled_collection import fill


def test_run_tells_what_of_it_is_pooled_and_judged(collection: Collection) -> None:
    """Of eight documents for topic 1 seven are pooled, three judged and two of them relevant."""
    fill(collection)
    found = collection.details.run("bm25")
    assert (found.line.group, found.pools) == ("words", ("main",))
    told = [(one.topic, one.documents, one.pooled, one.judged, one.relevant)
            for one in found.topics]  # fmt: skip
    assert told == [("1", 8, 7, 3, 2), ("2", 2, 1, 0, 0)]


def test_topic_tells_its_pools_judges_and_runs(collection: Collection) -> None:
    """Counts are of the topic alone: main has six documents for it, one more for another."""
    fill(collection)
    found = collection.details.topic("1")
    assert (found.topic.title, found.topic.narrative) == ("wine", "red")
    assert [(one.name, one.counts.pooled) for one in found.pools] == [("main", 6), ("late", 2), ("old", 1)]
    assert [(one.name, one.judged) for one in found.judges] == [("ann", 3), ("bob", 1)]
    assert [(one.tag, one.documents) for one in found.runs] == [("bm25", 8), ("other", 8)]


def test_document_tells_pools_runs_and_judgements(collection: Collection) -> None:
    """Every pool and ranking that has it, and every judge's state; never another document's."""
    fill(collection)
    found = collection.details.document("a")
    assert found.document.text == "text\x1b]0;owned\x07 of a"
    assert [(one.topic, one.pool, one.position, one.sampled) for one in found.poolings] == [
        ("1", "main", 0, True),
        ("1", "late", 0, True),
        ("2", "main", 0, True),
    ]
    # other has topic 1 in file order z to a, with bm25's scores: the best are the same.
    told = [(one.topic, one.run, one.rank, one.of, one.score) for one in found.retrievals]
    assert told == [("1", "bm25", 1, 8, 9.0), ("1", "other", 1, 8, 9.0), ("2", "bm25", 1, 2, 9.0)]
    [judge_state] = found.judge_states
    assert (judge_state.topic, judge_state.judge, judge_state.grade) == ("1", "ann", 0)
    noted = collection.details.document("e").judge_states
    assert [(one.state, one.grade, one.note) for one in noted] == [(State.UNJUDGED, None, "odd")]
    assert collection.details.document("z").document.text is None


def test_pool_tells_its_topics_and_judges(collection: Collection) -> None:
    """Judges of other documents are not told, nor topics without a document of the pool."""
    fill(collection)
    found = collection.details.pool("late")
    # ann graded a 0, and nobody g; what is relevant to the topic is outside of this pool.
    counts = StateCounts(2, judged=1, outside=3)
    assert [(one.topic, one.counts) for one in found.topics] == [("1", counts)]
    assert [(one.name, one.judged) for one in found.judges] == [("ann", 1)]
    assert (found.runs, found.display_order) == ((), "docno")
    assert collection.details.pool("main").runs == ("bm25",)


def test_judge_tells_topics_and_sittings(collection: Collection) -> None:
    """One's own counts alone; a file never sat down, and nothing is assigned to anybody."""
    fill(collection)
    found = collection.details.judge("ann")
    [topic] = found.topics
    assert topic.counts == StateCounts(7, judged=2, cannot=1, skipped=1, outside=1, relevant=2)
    [sitting] = found.sittings
    assert (sitting.number, sitting.events, found.assigned) == (1, 6, None)
    assert sitting.ended_at is not None
    imported = collection.details.judge("file")
    assert ([one.topic for one in imported.topics], imported.sittings) == (["3"], ())


@pytest.mark.parametrize("what", ["run", "topic", "document", "pool", "judge"])
def test_unknown_thing_is_refused(collection: Collection, what: str) -> None:
    """What is not there is said, with what is."""
    fill(collection)
    dossier: Callable[[str], object] = getattr(collection.details, what)
    with pytest.raises(UnknownNameError, match=f"unknown {what} `nope`; known: "):
        dossier("nope")
