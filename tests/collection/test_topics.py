"""Topics and guidelines: text as it came, in versions, and what was judged by which."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.content.topics import newest_guideline
from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.judging.rejudging import Why
from store.records import Action, Document, ImportReport, JudgeKind, Passage, Qrel, State, Topic
from tests.helpers.world import JudgeAtWork, engine_of, make_pool, reading, stored_rows

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


WINE = Topic("1", "wine", "Which wines go with fish?", "A wine list alone is not relevant.")
BEER = Topic("2", "beer", "How is beer brewed?", "")


def test_other_text_is_refused_or_taken(collection: Collection, collection_name: str) -> None:
    """A topic that differs in any field is refused with all the rest, or taken by `replace`."""
    collection.topics.add([WINE])
    others = [
        Topic("1", "wines", WINE.description, WINE.narrative),
        Topic("1", "wines", "", WINE.narrative),
        Topic("1", "wines", "", ""),
    ]
    for n_topics, other in enumerate(others, start=1):
        new = Topic(f"new-{n_topics}")
        before = stored_rows(collection_name)
        with pytest.raises(ConflictError, match="topic `1` exists with another text") as caught:
            collection.topics.add([new, other])
        assert caught.value.hint == f"--replace takes the new text, as version {n_topics + 1} of it"
        assert stored_rows(collection_name) == before
        report = collection.topics.add([new, other], replace=True)
        assert report == ImportReport(added=1, replaced=1)
        assert collection.topics.all()[0] == other
        assert len(stored_rows(collection_name)["topic"]) == n_topics + 1


def test_topic_known_from_elsewhere_gets_its_text(collection: Collection) -> None:
    """A topic that a pool or a qrels file named first is not listed until a topics file comes."""
    collection.pools.add(make_pool({"1": ["a"]}))
    collection.judgements.add({"ann": [Qrel("3", "a", 1)]}, JudgeKind.HUMAN)
    assert collection.topics.listed() == set()
    assert collection.topics.all() == [Topic("1"), Topic("3")]
    assert collection.topics.add([WINE, BEER]) == ImportReport(added=2)
    assert collection.topics.listed() == {"1", "2"}
    assert collection.topics.all() == [WINE, BEER, Topic("3")]


def test_topic_without_text_is_listed(collection: Collection) -> None:
    """A topics file may name a topic without a word about it."""
    assert collection.topics.add([Topic("1")]) == ImportReport(added=1)
    assert collection.topics.listed() == {"1"}
    assert collection.topics.add([Topic("1")]) == ImportReport(unchanged=1)


def test_text_is_kept_raw(collection: Collection) -> None:
    """NUL, escapes, lone surrogates and line ends of any kind come back as they went in."""
    raw = Topic("1", "a\0b\x1b[2J", "\ud800 and \udfff", "line\r\nline\rline\u2028酒 \U0001f377")
    collection.topics.add([raw])
    assert collection.topics.all() == [raw]


def test_ids_are_text_in_natural_order(collection: Collection) -> None:
    """Ids that look alike stay apart; digits in them sort by value, all else bytewise."""
    ids = ["10", "9", "009", "1", "001", "T2", "t2", "T10", "NA", '"x', "ワイン", "1.0"]
    collection.topics.add([Topic(number) for number in ids])
    found = [topic.topic for topic in collection.topics.all()]
    # The first part is compared first: empty before any letter, then the number.
    assert found == ["001", "1", "1.0", "009", "9", "10", '"x', "NA", "T2", "T10", "t2", "ワイン"]
    assert collection.topics.add([Topic(number) for number in ids]) == ImportReport(unchanged=12)


def test_versions_count_from_one(collection: Collection) -> None:
    """Each new text is the next version, made now, and the newest is the default."""
    first, is_new = collection.guidelines.add("# One\n")
    assert (first.version, first.text, is_new) == (1, "# One\n", True)
    assert abs(datetime.now(UTC) - first.created_at) < timedelta(minutes=1)
    second, _ = collection.guidelines.add("# Two\n")
    assert second.version == 2
    assert collection.guidelines.get() == second
    assert collection.guidelines.get(1) == first
    assert collection.guidelines.all() == [first, second]


def test_same_text_again_adds_nothing(collection: Collection, collection_name: str) -> None:
    """The newest text once more gives the version there is; an older text is a new version."""
    collection.guidelines.add("a")
    kept = collection.guidelines.add("b")[0]
    before = stored_rows(collection_name)
    assert collection.guidelines.add("b") == (kept, False)
    assert stored_rows(collection_name) == before
    assert collection.guidelines.add("b ")[1]
    again, is_new = collection.guidelines.add("a")
    assert (again.version, is_new) == (4, True)


@pytest.mark.parametrize("text", ["a\r\nb\r\n", "\x00\x1b[31m [red]\u202e", "判定基準\n\n- 関連", " x"])
def test_text_stays_as_it_is(collection: Collection, text: str) -> None:
    """Control characters, line ends and markup are kept byte for byte."""
    collection.guidelines.add(text)
    assert collection.guidelines.get().text == text


def test_no_guidelines(collection: Collection, collection_name: str) -> None:
    """Without any there is none, and asking for one says what to do."""
    assert collection.guidelines.all() == []
    with engine_of(collection_name) as engine, reading(engine) as session:
        assert newest_guideline(session) is None
    with pytest.raises(UnknownNameError, match="unknown guideline version `newest`; there is no"):
        collection.guidelines.get()
    collection.guidelines.add("a")
    with pytest.raises(UnknownNameError, match="unknown guideline version `7`; known: `1`"):
        collection.guidelines.get(7)


@pytest.mark.parametrize("text", ["", " \r\n\t\n"])
def test_blank_guidelines_are_refused(collection: Collection, text: str) -> None:
    """A text of blanks is no guideline."""
    with pytest.raises(ArgumentError, match="`guidelines` must hold a text"):
        collection.guidelines.add(text)
    assert collection.guidelines.all() == []
