"""Annals: what happened in a collection, by time, read with conditions, and naming nobody gone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.collection import Collection
from store.errors import UnknownNameError
from store.history import CollectionEvents, HistoryFilter
from store.records import Action, Decision, Document, JudgeKind, Qrel, Topic
from tests.helpers.world import (
    JudgeAtWork,
    change_stored,
    engine_of,
    make_pool,
    make_run,
    parse_scale,
    statements,
)
from tests.strategies import examples


def fill(collection: Collection, *judges: str) -> list[JudgeAtWork]:
    """Make two topics, a run of topic 1, a pool of both, and seat people before topic 1."""
    collection.topics.add([Topic("1", "wine"), Topic("2", "beer")])
    collection.runs.add(make_run("bm25", {"1": [("a", 2.0), ("b", 1.0)]}))
    collection.pools.add(make_pool({"1": ["a", "b"], "2": ["a"]}, name="main", round="3"))
    collection.pools.add(make_pool({"2": ["b"]}, name="late"))
    collection.documents.add([Document("a", "A", "text"), Document("b", "B", "text")])
    for judge in judges:
        collection.judges.add(judge, JudgeKind.HUMAN)
    return [JudgeAtWork(collection.desk(judge), "1") for judge in judges]


def told(found: CollectionEvents) -> list[tuple[Any, ...]]:
    """Return judge, docno, action, and the grades or states before and after, of the events."""
    return [
        (one.judge, one.docno, one.action,
         one.state_before if one.grade_before is None else one.grade_before,
         one.state if one.grade is None else one.grade)
        for one in found.entries
        if one.docno is not None
    ]  # fmt: skip


def things(found: CollectionEvents) -> list[tuple[Any, ...]]:
    """Return what happened beside the events, sorted, with names and versions."""
    return sorted(
        (one.what, one.action, one.name or one.judge or one.topic or "",
         one.guideline_version or one.topic_version or 0)
        for one in found.entries
        if one.docno is None
    )  # fmt: skip


def set_times(name: str, *moments: datetime) -> None:
    """Give the events of a collection, in the order in which they were written, other times."""
    with engine_of(name) as engine:
        zone = "" if engine.dialect.name == "sqlite" else "+00"
    for number, moment in enumerate(moments, 1):
        words = f"{moment:%Y-%m-%d %H:%M:%S.%f}{zone}"
        change_stored(name, f"UPDATE judgement SET judged_at = '{words}' WHERE id = {number}")


def test_events_tell_how_it_stood_before_and_after(collection: Collection) -> None:
    """First grade, change, note, undo, skip: each with the grade before it and after it."""
    ann, bob = fill(collection, "ann", "bob")
    ann.grade("a", 1)
    bob.grade("a", 0)
    ann.grade("a", 2)
    ann.act("a", Action.NOTE, note="odd")
    ann.undo()
    ann.undo()
    bob.act("b", Action.CANNOT, reason="torn")
    found = collection.history.everything()
    assert told(found) == [
        ("ann", "a", "judge", None, 1),
        ("bob", "a", "judge", None, 0),
        ("ann", "a", "judge", 1, 2),
        ("ann", "a", "note", 2, 2),
        ("ann", "a", "undo", 2, 2),
        ("ann", "a", "undo", 2, 1),
        ("bob", "b", "cannot", None, "cannot"),
    ]
    events = [one for one in found.entries if one.docno is not None]
    assert [one.undid for one in events] == [None, None, None, None, 3, 2, None]
    assert [one.has_new_note for one in events] == [False, False, False, True, True, False, False]
    assert (events[-1].reason, events[-1].topic, events[-1].at_desk) == ("torn", "1", True)
    assert found.total == len(found.entries)
    assert [one.at for one in found.entries] == sorted(one.at for one in found.entries)


def test_what_has_a_date_is_told(collection: Collection) -> None:
    """Runs, pools, texts, guidelines, judges, assignments: each once, with what names it."""
    [ann] = fill(collection, "ann")
    collection.guidelines.add("One.")
    collection.guidelines.add("Two.")
    ann.grade("a", 1)
    collection.topics.add([Topic("1", "red wine")], replace=True)
    collection.pools.withdraw("late")
    found = collection.history.everything()
    assert things(found) == [
        ("collection", "made", "test", 0),
        ("guidelines", "set", "", 1),
        ("guidelines", "set", "", 2),
        ("judge", "added", "ann", 0),
        ("pool", "made", "late", 0),
        ("pool", "made", "main", 0),
        ("run", "imported", "bm25", 0),
        ("topic", "changed", "1", 2),
    ]
    assert {one.name: one.withdrawn for one in found.entries if one.what == "pool"} == {
        "main": False,
        "late": True,
    }
    assert [one.title for one in found.entries if one.what == "topic"] == ["red wine"]
    collection.topics.add([Topic("1", "white wine")], replace=True)
    versions = [one for one in collection.history.everything().entries if one.what == "topic"]
    assert [(one.topic_version, one.title) for one in versions][:1] == [(2, "red wine")]


def test_of_a_topic_only_what_is_of_it_is_told(collection: Collection) -> None:
    """A run that has the topic, pools with documents of it, its events and texts; no more."""
    [ann] = fill(collection, "ann")
    collection.guidelines.add("One.")
    ann.grade("a", 1)
    collection.judgements.add({"old": [Qrel("2", "a", 2)]}, JudgeKind.IMPORTED)
    one, two = (collection.history.everything(HistoryFilter(topic=topic)) for topic in "12")
    assert things(one) == [("pool", "made", "main", 0), ("run", "imported", "bm25", 0)]
    assert things(two) == [("pool", "made", "late", 0), ("pool", "made", "main", 0)]
    assert told(one) == [("ann", "a", "judge", None, 1)]
    assert told(two) == [("old", "a", "judge", None, 2)]
    assert two.entries[-1].at_desk is False


def test_of_judges_only_what_they_did_and_became_is_told(collection: Collection) -> None:
    """Several judges are taken together; nothing that no judge did is told."""
    for sitting, grade in zip(fill(collection, "ann", "bob", "cy"), (0, 1, 2), strict=True):
        sitting.grade("a", grade)
        sitting.desk.leave()
    collection.judges.rename("cy", "di")
    found = collection.history.everything(HistoryFilter(judges=("bob", "di")))
    assert told(found) == [("bob", "a", "judge", None, 1), ("di", "a", "judge", None, 2)]
    assert things(found) == [("judge", "added", "bob", 0), ("judge", "added", "di", 0),
                             ("judge", "renamed", "di", 0)]  # fmt: skip


def test_stretch_begins_with_its_first_moment_and_ends_before_its_last(
    collection: Collection, collection_name: str
) -> None:
    """What happens at --since is told, what happens at --until is not, to the microsecond."""
    [ann] = fill(collection, "ann")
    for grade in (0, 1, 2):
        ann.grade("a", grade)
    noon = datetime(2020, 3, 2, 12, tzinfo=UTC)
    tick = timedelta(microseconds=1)
    set_times(collection_name, noon - tick, noon, noon + tick)
    for since, until, grades in (
        (noon, None, [1, 2]),
        (None, noon, [0]),
        (noon, noon + tick, [1]),
        (noon - tick, noon + tick, [0, 1]),
        (noon + 2 * tick, None, []),
    ):
        found = collection.history.everything(HistoryFilter(judges=("ann",), since=since, until=until))
        assert [one.grade for one in found.entries if one.docno] == grades, (since, until)
    later = collection.history.everything(HistoryFilter(since=datetime(2021, 1, 1, tzinfo=UTC)))
    assert told(later) == []
    assert ("judge", "added", "ann", 0) in things(later)


def test_ruling_is_told_from_an_event(collection: Collection) -> None:
    """What an adjudicator decides is a ruling; the judges' grades are events."""
    ann, bob = fill(collection, "ann", "bob")
    ann.grade("a", 0)
    bob.grade("a", 2)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    desk = collection.adjudication_desk("zoe")
    [task] = [one for one in desk.queue("1") if one.docno == "a"]
    desk.record(Decision("1", "a", Action.JUDGE, grade=1, seen_revision=task.revision))
    found = collection.history.everything()
    assert [one.what for one in found.entries if one.docno] == ["event", "event", "ruling"]


def test_nobody_who_is_gone_is_named(collection: Collection) -> None:
    """Erased: a count without a name. Renamed: the new name alone, for what was done before."""
    for sitting in fill(collection, "anna-secret", "bob-secret"):
        sitting.grade("a", 1)
        sitting.desk.leave()
    collection.erasures.erase("anna-secret")
    collection.judges.rename("bob-secret", "judge-1")
    found = collection.history.everything()
    assert "secret" not in repr(found)
    assert told(found) == [("judge-1", "a", "judge", None, 1)]
    [gone] = [one for one in found.entries if one.action == "erased"]
    assert (gone.judge, gone.kind, gone.judgements, gone.events) == (None, JudgeKind.HUMAN, 1, 1)
    with pytest.raises(UnknownNameError) as refused:
        collection.history.everything(HistoryFilter(judges=("anna-secret",)))
    assert refused.value.known == ["judge-1"]


def test_unknown_topic_and_judge_are_refused(collection: Collection) -> None:
    """Neither is guessed, and what there is is named."""
    fill(collection, "ann")
    with pytest.raises(UnknownNameError, match="unknown topic `01`; known: `1`"):
        collection.history.everything(HistoryFilter(topic="01"))
    with pytest.raises(UnknownNameError, match="unknown judge `an`; known: `ann`"):
        collection.history.everything(HistoryFilter(judges=("ann", "an")))


def test_limit_is_part_of_the_query(collection: Collection) -> None:
    """Of many events no more are fetched than are told."""
    [ann] = fill(collection, "ann")
    for number in range(20):
        ann.grade("a", number % 3)
    with statements() as sent:
        found = collection.history.everything(HistoryFilter(limit=2))
    assert [one.revision for one in found.entries] == [19, 20]
    assert found.total == 20 + len(things(collection.history.everything()))
    fetching = [statement for statement, _ in sent if "judgement.note" in statement]
    assert all("LIMIT" in statement for statement in fetching)
    assert len(fetching) == 1


@settings(max_examples=examples(10))
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["ann", "bob"]), st.sampled_from("ab"), st.integers(0, 2),
                  st.integers(0, 5)),
        max_size=12,
    ),
    judges=st.sets(st.sampled_from(["ann", "bob"])),
    since=st.none() | st.integers(0, 6),
    until=st.none() | st.integers(0, 6),
    limit=st.none() | st.integers(1, 5),
)  # fmt: skip
def test_conditions_choose_as_a_plain_loop_does(
    steps: list[tuple[str, str, int, int]], judges: set[str], since: int | None,
    until: int | None, limit: int | None, tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    """Whatever is asked for, it is what a loop over everything would leave, the newest of it."""
    file = str(tmp_path_factory.mktemp("events") / "c.db")
    first = datetime(2031, 1, 1, tzinfo=UTC)

    def day(number: int | None) -> datetime | None:
        return None if number is None else first + timedelta(days=number)

    with Collection.create(file, name="x", scale=parse_scale("0-2"), program="x") as made:
        ann, bob = fill(made, "ann", "bob")
        for judge, docno, grade, _ in steps:
            {"ann": ann, "bob": bob}[judge].grade(docno, grade)
        set_times(file, *(first + timedelta(days=number) for *_, number in steps))
        asked = HistoryFilter(None, tuple(sorted(judges)), day(since), day(until), limit)
        found = made.history.everything(asked)
        everything = made.history.everything().entries
    counts_at = [  # never before an earlier event of the same judge on the same document
        max(day for *pair, _, day in steps[: number + 1] if pair == list(steps[number][:2]))
        for number in range(len(steps))
    ]
    order = sorted(range(len(steps)), key=lambda number: (counts_at[number], number))
    assert [one.docno for one in everything if one.docno] == [steps[n][1] for n in order]
    plain = [
        one
        for one in everything
        if (not judges or one.judge in judges)
        and (since is None or one.at >= first + timedelta(days=since))
        and (until is None or one.at < first + timedelta(days=until))
    ]
    assert found.total == len(plain)
    assert list(found.entries) == (plain if limit is None else plain[-limit:])
    assert replace(asked, limit=None).holds(first) == (
        (since is None or since <= 0) and (until is None or until > 0)
    )


def test_stretch_ends_before_its_last_moment() -> None:
    """The first moment is in it."""
    day = HistoryFilter(since=datetime(2026, 3, 2, tzinfo=UTC), until=datetime(2026, 3, 3, tzinfo=UTC))
    assert [day.holds(datetime(2026, 3, number, tzinfo=UTC)) for number in (1, 2, 3)] == [False, True, False]
