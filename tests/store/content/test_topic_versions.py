"""Versions of topics: a text that is corrected after judging began, and what was judged by it."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.errors import ConflictError
from store.judging.rejudging import Why
from store.records import Action, Document, ImportReport, JudgeKind, Passage, Qrel, State, Topic
from tests.helpers.world import JudgeAtWork, engine_of, make_pool, stored_rows

OLD = Topic("1", "wine", "Which wines?", "A list is not relevant.")
NEW = Topic("1", "wine", "Which wines go with fish?", "A list is not relevant.")


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection of two topics, two judges, and texts."""
    collection.topics.add([OLD, Topic("2", "beer")])
    collection.pools.add(make_pool({"1": list("abcd"), "2": ["a"]}))
    collection.documents.add([Document(docno, text="abc abc") for docno in "abcd"])
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    return collection


def sit(collection: Collection, judge: str = "ann", topic: str = "1") -> JudgeAtWork:
    """Sit down and open a topic, as a screen does."""
    desk = collection.desk(judge)
    desk.topic(topic)
    return JudgeAtWork(desk, topic)


def versions(collection: Collection, topic: str = "1") -> list[tuple[int, str, int]]:
    """Return version, description and judgements of every text."""
    found = collection.details.topic(topic).versions
    return [(one.version, one.topic.description, one.judgements) for one in found]


def lines(collection: Collection) -> dict[str, tuple[int, int]]:
    """Return version and judgements by an older text, by topic."""
    return {line.topic: (line.version, line.older) for line in collection.lists.topics()}


def under(name: str) -> list[tuple[str, int | None]]:
    """Return action and topic version of every event, the oldest first."""
    with engine_of(name) as engine, engine.connect() as connection:
        rows = connection.execute(text("SELECT action, topic_version FROM judgement ORDER BY id"))
        return [(row.action, row.topic_version) for row in rows]


def outdated(collection: Collection) -> list[tuple[str, str]]:
    """Return judge and docno of what was judged by another text of the topic."""
    return [(one.judge, one.docno) for one in collection.rejudging.outdated(why=[Why.TOPIC]).rows]


def test_other_text_is_a_version_and_the_old_one_stays(ready: Collection) -> None:
    """The topic has the new text, the old one can be had, and each says since when."""
    assert ready.topics.add([NEW], replace=True) == ImportReport(replaced=1)
    assert ready.topics.all()[0] == NEW
    assert versions(ready) == [(1, OLD.description, 0), (2, NEW.description, 0)]
    first, second = ready.details.topic("1").versions
    assert first.topic == OLD
    assert first.changed_at is None
    assert second.changed_at is not None
    assert lines(ready) == {"1": (2, 0), "2": (1, 0)}


def test_refusal_names_the_version_that_would_be_made(ready: Collection, collection_name: str) -> None:
    """Without `replace` nothing changes, and the hint says what --replace would do."""
    before = stored_rows(collection_name)
    with pytest.raises(ConflictError, match="topic `1` exists with another text") as caught:
        ready.topics.add([NEW])
    assert caught.value.hint == "--replace takes the new text, as version 2 of it"
    assert stored_rows(collection_name) == before
    ready.topics.add([NEW], replace=True)
    with pytest.raises(ConflictError) as caught:
        ready.topics.add([OLD])
    assert caught.value.hint == "--replace takes the new text, as version 3 of it"


def test_same_text_again_is_no_version(ready: Collection, collection_name: str) -> None:
    """The text of now changes nothing, byte for byte; another blank is another text."""
    before = stored_rows(collection_name)
    assert ready.topics.add([OLD], replace=True) == ImportReport(unchanged=1)
    assert stored_rows(collection_name) == before
    blank = Topic("1", "wine ", OLD.description, OLD.narrative)
    assert ready.topics.add([blank], replace=True) == ImportReport(replaced=1)
    assert lines(ready)["1"] == (2, 0)


def test_judgements_are_of_the_text_on_the_screen(ready: Collection, collection_name: str) -> None:
    """Who opened the topic before it changed judges by the old text until it is opened again."""
    ann = sit(ready)
    ann.grade("a", 1)
    ready.topics.add([NEW], replace=True)
    ann.grade("b", 1)
    ann.desk.topic("1")
    ann.grade("c", 1)
    assert under(collection_name) == [("judge", 1), ("judge", 1), ("judge", 2)]
    assert versions(ready) == [(1, OLD.description, 2), (2, NEW.description, 1)]
    assert outdated(ready) == [("ann", "a"), ("ann", "b")]
    assert lines(ready) == {"1": (2, 2), "2": (1, 0)}
    assert {one.topic_version for one in ready.rejudging.outdated(why=[Why.TOPIC]).rows} == {1}


def test_undo_and_notes_carry_what_was_shown_and_the_decider_counts(
    ready: Collection, collection_name: str
) -> None:
    """A note under the new text refreshes no grade; an undo brings back the old one as it was."""
    ann = sit(ready)
    ann.grade("a", 1)
    ann.grade("b", 1)
    ready.topics.add([NEW], replace=True)
    ann.desk.topic("1")
    ann.act("a", Action.NOTE, note="still so")
    ann.grade("b", 2)
    assert outdated(ready) == [("ann", "a")]
    ann.undo()
    assert outdated(ready) == [("ann", "a"), ("ann", "b")]
    assert under(collection_name)[2:] == [("note", 2), ("judge", 2), ("undo", 2)]


def test_older_text_that_comes_back_is_not_older(ready: Collection) -> None:
    """Version 1 with the text of version 3 is up to date; version 2 is not."""
    sit(ready).grade("a", 1)
    ready.topics.add([NEW], replace=True)
    sit(ready, "bob").grade("a", 1)
    ready.topics.add([OLD], replace=True)
    assert outdated(ready) == [("bob", "a")]
    assert lines(ready)["1"] == (3, 1)
    assert [version for version, *_ in versions(ready)] == [1, 2, 3]


def test_topic_without_a_text_that_was_judged_gets_its_first(collection: Collection) -> None:
    """Whoever judged by the bare id of a topic did not see the text that came later."""
    collection.pools.add(make_pool({"1": ["a"], "2": ["a"]}))
    collection.judges.add("ann", JudgeKind.HUMAN)
    collection.judgements.add({"old": [Qrel("2", "a", 1)]}, JudgeKind.IMPORTED)
    sit(collection).grade("a", 1)
    report = collection.topics.add([OLD, Topic("2", "beer")])
    assert report == ImportReport(added=2)
    assert lines(collection) == {"1": (2, 1), "2": (1, 0)}
    assert outdated(collection) == [("ann", "a")]


def test_event_from_before_versions_rests_on_the_first_text(ready: Collection, collection_name: str) -> None:
    """An event that does not say was made by the only text there was."""
    sit(ready).grade("a", 1)
    with engine_of(collection_name) as engine, engine.begin() as connection:
        connection.execute(text("UPDATE judgement SET topic_version = NULL"))
    assert outdated(ready) == []
    ready.topics.add([NEW], replace=True)
    assert outdated(ready) == [("ann", "a")]
    assert ready.rejudging.outdated(why=[Why.TOPIC]).rows[0].topic_version is None
    assert versions(ready)[0] == (1, OLD.description, 1)


def test_imported_grades_are_never_flagged(ready: Collection) -> None:
    """Nobody knows by which text an imported grade was given."""
    ready.judgements.add({"old": [Qrel("1", "a", 1)]}, JudgeKind.IMPORTED)
    ready.topics.add([NEW], replace=True)
    assert outdated(ready) == []
    assert lines(ready)["1"] == (2, 0)
    assert ready.rejudging.outdated(why=[Why.TOPIC]).n_imported == 1


def test_requeue_puts_it_back_with_its_passages(ready: Collection, collection_name: str) -> None:
    """Reopened, unjudged, the reason named; what was marked in the document stays marked."""
    ann = sit(ready)
    ann.act("a", Action.MARK, passages=(Passage(0, 3, "abc"),))
    ann.grade("a", 2)
    sit(ready, "bob", "2").grade("a", 1)
    ready.topics.add([NEW], replace=True)
    reopened = ready.rejudging.reopen(why=[Why.TOPIC])
    assert [(one.judge, one.topic, one.docno) for one in reopened] == [("ann", "1", "a")]
    task = sit(ready).tasks["a"]
    assert (task.state, task.passages) == (State.UNJUDGED, (Passage(0, 3, "abc"),))
    assert under(collection_name)[-1] == ("reopen", None)
    history = ready.history.of_document("1", "a")
    assert history.topic_version == 2
    assert [(one.action, one.topic_version, one.reason) for one in history.events] == [
        (Action.MARK, 1, ""), (Action.JUDGE, 1, ""), (Action.REOPEN, None, "topic"),
    ]  # fmt: skip
    sit(ready).grade("a", 0)
    assert outdated(ready) == []


def test_two_corrections_at_once_are_two_versions(ready: Collection, collection_name: str) -> None:
    """Two organisers who replace a text at the same moment make two versions, none lost."""
    others = [Topic("1", "wine", f"text {number}") for number in range(4)]

    def correct(topic: Topic) -> None:
        with Collection(collection_name) as opened:
            opened.topics.add([topic], replace=True)

    threads = [threading.Thread(target=correct, args=(one,)) for one in others]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found: list[Any] = versions(ready)
    assert [version for version, *_ in found] == [1, 2, 3, 4, 5]
    assert {words for _, words, _ in found} == {OLD.description, *(one.description for one in others)}
