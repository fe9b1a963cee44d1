"""Progress and effort: five states counted apart, for every topic and judge, and which times count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.collection import Collection
from store.judging.events import Effort, recent_active_ms
from store.judging.progress import Unclaimed
from store.records import Action, Document, Grade, JudgeKind, Qrel, Scale, State, Task
from tests.helpers.drawing import adaptive_pool
from tests.helpers.state_counts import Counts, by_topic, state_counts
from tests.helpers.strategies import examples
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, new_collection, reading
from tests.keeping.any_collection import fill, named_contents

HUMAN = JudgeKind.HUMAN


@pytest.fixture
def judged(collection: Collection) -> Collection:
    """Make a pool of six documents for topic 1, one of each state, and one of topic 2."""
    collection.judges.add("ann", HUMAN)
    collection.judges.add("bob", HUMAN)
    collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a"]}))
    sitting = JudgeAtWork(collection.desk("ann"), "1")
    sitting.grade("a", 0)
    sitting.grade("b", 2)
    sitting.act("c", Action.SKIP)
    sitting.act("d", Action.CANNOT, reason="no text")
    sitting.grade("e", 1)
    sitting.undo()
    return collection


def test_states_by_hand(judged: Collection) -> None:
    """A grade of 0 is a judgement; undone is unjudged; another judge's work counts for nobody."""
    progress = by_topic(judged)
    assert progress["1", "ann"] == Counts(
        pooled=6, judged=2, skipped=1, cannot=1, outside=0, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert progress["1", "ann"].unjudged == 2
    nothing = {0: 0, 1: 0, 2: 0}
    assert progress["1", "bob"] == Counts(pooled=6, by_grade=nothing)
    assert progress["2", "ann"] == progress["2", "bob"] == Counts(pooled=1, by_grade=nothing)
    assert set(progress) == {(topic, judge) for topic in "12" for judge in ("ann", "bob")}


@pytest.mark.parametrize("revisions", [0, 2048])
@pytest.mark.parametrize("high", [1, 2**48])
def test_grades_and_revisions_of_any_size(high: int, revisions: int, collection_name: str) -> None:
    """An event is read as one number where it has the bits, and as three where it has not."""
    low, high = -3, high if "://" not in collection_name else min(high, 2**31 - 1)  # a server's integers
    scale = Scale((Grade(low, "spam", "s"), Grade(0, "no", "0"), Grade(high, "yes", "1")), high, None)
    with Collection.create(collection_name, name="test", scale=scale, program="test") as collection:
        collection.pools.add(make_pool({"1": list("abc")}))
        grades = [Qrel("1", "a", low), Qrel("1", "b", high), Qrel("2", "a", low)]
        collection.judgements.add({"ann": grades}, HUMAN)
        change_stored(collection_name, f"UPDATE judgement SET revision = revision + {revisions}")
        progress = by_topic(collection)
    assert progress["1", "ann"] == Counts(pooled=3, judged=2, by_grade={low: 1, 0: 0, high: 1})
    assert progress["2", "ann"] == Counts(outside=1, by_grade={low: 1, 0: 0, high: 0})


def test_withdrawn_pool_does_not_count(judged: Collection, collection_name: str) -> None:
    """What only a withdrawn pool held is not pooled: judgements count outside, skips nowhere."""
    judged.pools.add(make_pool({"1": ["a", "c"]}, name="second"))
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'pool'")
    progress = by_topic(judged)
    assert progress["1", "ann"] == Counts(
        pooled=2, judged=1, skipped=1, cannot=0, outside=1, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert ("2", "ann") not in progress


def test_drawn_documents_without_a_place_are_apart(judged: Collection, collection_name: str) -> None:
    """Once anything is assigned nobody draws, and what adaptive pools alone drew has no place."""
    judged.pools.add(adaptive_pool({"1": ["a", "x"], "2": list("yz")}, budget=2))
    for docno in "ax":
        judged.pools.draw("live", "1", lambda _, docno=docno: docno)  # type: ignore[misc]
    place(collection_name, "b", "ann")
    # Of six documents of 1 and one of 2 that the other pool has, b has a place; a is one of them.
    assert judged.progress.unclaimed() == Unclaimed(
        {}, is_assigned=True, unassigned={"1": 5, "2": 1}, drawn={"1": 1}
    )
    place(collection_name, "x", "ann")
    assert judged.progress.unclaimed().drawn == {}


def test_assigned_documents_are_a_persons_pool(judged: Collection, collection_name: str) -> None:
    """Once anything is assigned, that is what a person has; the rest judged counts as outside."""
    judged.judges.add("eve", JudgeKind.ADJUDICATOR)
    judged.judgements.add({"gpt": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    judged.pools.add(make_pool({"1": ["y", "z"]}, name="withdrawn", manifest={}))
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'withdrawn'")
    for judge, docno in (("ann", "a"), ("ann", "c"), ("ann", "f"), ("ann", "z"), ("bob", "b")):
        place(collection_name, docno, judge)
    progress = by_topic(judged)
    assert progress["1", "ann"] == Counts(
        pooled=3, judged=1, skipped=1, cannot=0, outside=1, by_grade={0: 1, 1: 0, 2: 1}
    )
    assert progress["1", "ann"].unjudged == 1
    assert progress["2", "ann"].pooled == progress["2", "bob"].pooled == 0
    assert progress["1", "bob"].pooled == 1
    assert (progress["1", "gpt"].pooled, progress["1", "gpt"].judged) == (6, 1)
    assert progress["1", "eve"].pooled == 6


def test_what_lies_before_nobody(judged: Collection, collection_name: str) -> None:
    """Open places, lapsed claims, and documents without a place are counted where they are."""
    judged.pools.add(make_pool({"1": ["z"]}, name="withdrawn", manifest={}))
    change_stored(collection_name, "UPDATE pool SET withdrawn = TRUE WHERE name = 'withdrawn'")
    place(collection_name, "a", "ann")
    place(collection_name, "b", None)
    place(collection_name, "b", None)
    place(collection_name, "c", "ann", until="2001-01-01")
    place(collection_name, "d", "ann", until="2901-01-01")
    place(collection_name, "d", "bob", until="2901-01-01")
    place(collection_name, "z", None)
    assert judged.progress.unclaimed() == Unclaimed(
        {}, is_assigned=True, open_places={"1": 2}, lapsed={"1": 1}, unassigned={"1": 2, "2": 1}
    )


def place(name: str, docno: str, judge: str | None, *, until: str | None = None) -> None:
    """Make a place at a document of topic 1."""
    change_stored(
        name,
        "INSERT INTO assignment (topic_id, document_id, judge_id, position, purpose)"
        " SELECT t.id, d.id, (SELECT id FROM judge WHERE name = :judge), 0, 'primary'"
        " FROM topic t, document d WHERE t.number = '1' AND d.docno = :docno",
        judge=judge,
        docno=docno,
    )
    if until is not None:
        change_stored(
            name,
            "UPDATE assignment SET lease_until = :until WHERE lease_until IS NULL"
            " AND document_id = (SELECT id FROM document WHERE docno = :docno)",
            docno=docno,
            until=f"{until} 00:00:00.000000",
        )


Rows = list[dict[str, Any]]


@contextmanager
def drawn(data: st.DataObject) -> Iterator[tuple[Collection, str]]:
    """Make a random collection that has an adjudicator, too."""
    with TemporaryDirectory() as folder:
        where = str(Path(folder) / "any.db")
        with new_collection(where) as collection:
            fill(collection, where, data)
            ruled = data.draw(st.lists(st.sampled_from("abz"), max_size=3, unique=True))
            collection.judgements.add(
                {"eve": [Qrel("1", docno, 2) for docno in ruled]}, JudgeKind.ADJUDICATOR
            )
            for judge in collection.judges.all():
                if data.draw(st.integers(0, 3)) == 0:
                    collection.judges.set_disabled([judge.name], disabled=True)
            yield collection, where


def looked_up(where: str) -> tuple[dict[str, Rows], set[tuple[str, str]]]:
    """Return the rows of every table by names, and what is to be judged in pools not withdrawn."""
    rows = named_contents(where)
    in_use = {row["name"] for row in rows["pool"] if not row["withdrawn"]}
    entries = [row for row in rows["pool_entry"] if row["pool_id"] in in_use and row["sampled"]]
    return rows, {(row["topic_id"], row["document_id"]) for row in entries}


def to_draw(rows: Mapping[str, Rows]) -> Counter[str]:
    """Count what adaptive pools may still draw by topic, one pool after the other."""
    if rows["assignment"]:
        return Counter()
    left: Counter[str] = Counter()
    in_use = {row["name"] for row in rows["pool"] if not row["withdrawn"]}
    for one in rows["pool_topic"]:
        if one["pool_id"] in in_use:
            key = (one["pool_id"], one["topic_id"])
            left[one["topic_id"]] += one["budget"] - sum(
                row["sampled"] for row in rows["pool_entry"] if (row["pool_id"], row["topic_id"]) == key
            )
    return +left


def counted(where: str) -> dict[tuple[str, str], Counts]:
    """Look at every document of every topic and judge, one by one."""
    rows, pooled = looked_up(where)
    now: dict[tuple[str, str, str], dict[str, Any]] = {}
    for event in sorted(rows["judgement"], key=lambda row: row["revision"]):
        now[event["topic_id"], event["document_id"], event["judge_id"]] = event
    held = {(row["topic_id"], row["document_id"], row["judge_id"]) for row in rows["assignment"]}
    topics = {topic for topic, _ in pooled} | {topic for topic, _, _ in now} | set(to_draw(rows))
    found: dict[tuple[str, str], Counts] = {}
    for judge in rows["judge"]:
        name = judge["name"]
        for topic in topics:
            events = {docno: one for (t, docno, j), one in now.items() if (t, j) == (topic, name)}
            if judge["disabled"] and not events:
                continue
            own = {docno for one, docno in pooled if one == topic}
            if rows["assignment"] and judge["kind"] == "human":
                own = {docno for docno in own if (topic, docno, name) in held}
            states = Counter((one["state"], docno in own) for docno, one in events.items())
            grades = Counter(one["grade"] for one in events.values())
            found[topic, name] = Counts(
                pooled=len(own),
                judged=states["judged", True],
                skipped=states["skipped", True],
                cannot=states["cannot", True],
                outside=states["judged", False],
                by_grade={grade: grades[grade] for grade in range(3)},
            )
    return found | {("", judge): summed(found, judge) for _, judge in found}


def summed(found: Mapping[tuple[str, str], Counts], judge: str) -> Counts:
    """Add up the topics of a judge."""
    own = [counts for (_, name), counts in found.items() if name == judge]
    return Counts(
        pooled=sum(one.pooled for one in own),
        judged=sum(one.judged for one in own),
        skipped=sum(one.skipped for one in own),
        cannot=sum(one.cannot for one in own),
        outside=sum(one.outside for one in own),
        by_grade={grade: sum(one.by_grade[grade] for one in own) for grade in range(3)},
    )


def lying(where: str) -> Unclaimed:
    """Look at every pooled document and every place, one by one."""
    rows, pooled = looked_up(where)
    if not rows["assignment"]:
        return Unclaimed(dict(to_draw(rows)))
    adaptive = {row["pool_id"] for row in rows["pool_topic"]}
    in_use = {row["name"] for row in rows["pool"] if not row["withdrawn"]}
    assignable = {
        (row["topic_id"], row["document_id"])
        for row in rows["pool_entry"]
        if row["sampled"] and row["pool_id"] in in_use - adaptive
    }
    places = [(row["topic_id"], row["document_id"]) for row in rows["assignment"]]
    inside = [row for row in rows["assignment"] if (row["topic_id"], row["document_id"]) in pooled]
    without = pooled - set(places)
    return Unclaimed(
        is_assigned=True,
        open_places=Counter(row["topic_id"] for row in inside if row["judge_id"] is None),
        # Whatever `fill` claims has lapsed long ago.
        lapsed=Counter(row["topic_id"] for row in inside if row["judge_id"] and row["lease_until"]),
        unassigned=Counter(topic for topic, _ in without & assignable),
        drawn=Counter(topic for topic, _ in without - assignable),
    )


@pytest.mark.slow
@given(st.data())
@settings(max_examples=examples(10), deadline=None)
def test_counts_equal_a_look_at_every_document(data: st.DataObject) -> None:
    """By topic and judge, and by judge; and what lies before nobody."""
    with drawn(data) as (collection, where):
        assert state_counts(collection) == counted(where)
        assert collection.progress.unclaimed() == lying(where)


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection with two judges and a pool of two topics."""
    collection.judges.add("ann", HUMAN)
    collection.judges.add("bob", HUMAN)
    manifest = {"strategy": "depth", "out_order": "priority"}
    collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a"]}, manifest=manifest))
    return collection


class Clocked(JudgeAtWork):
    """A judge whose every event has times; a showing begins with `show`."""

    shown_at = datetime(2026, 1, 1, tzinfo=UTC)

    def show(self) -> None:
        """Show a document."""
        self.shown_at += timedelta(minutes=1)

    def do(self, docno: str, action: Action, seconds: float, **fields: Any) -> Task:
        """Act so many active seconds after the document was shown; it was on twice as long."""
        times = {"active_ms": round(seconds * 1000), "dwell_ms": round(seconds * 2000)}
        return self.act(docno, action, shown_at=self.shown_at, **times, **fields)

    def decide(self, docno: str, seconds: float, grade: int = 1, **fields: Any) -> Task:
        """Show a document and grade it."""
        self.show()
        return self.do(docno, Action.JUDGE, seconds, grade=grade, **fields)


def sit(collection: Collection, judge: str = "ann", topic: str = "1") -> Clocked:
    """Sit down."""
    return Clocked(collection.desk(judge), topic)


def effort_of(collection: Collection, judge: str = "ann") -> Effort:
    """Return one judge's effort."""
    [found] = [one for one in collection.progress.effort() if one.judge == judge]
    return found


def recent(name: str, judge: int = 1, limit: int = 100) -> list[int]:
    """Return a judge's latest times."""
    with engine_of(name) as engine, reading(engine) as session:
        return recent_active_ms(session, judge=judge, limit=limit)


@pytest.mark.slow
def test_every_decision_has_its_times(ready: Collection, collection_name: str) -> None:
    """Documents come in the order of the first decision, with dwell and active time."""
    ann = sit(ready)
    ann.decide("b", 4, grade=2)
    ann.decide("a", 10.5, dropped_keys=3)
    ann.show()
    ann.do("c", Action.CANNOT, 1, reason="no text", dropped_keys=1)
    ann.desk.leave()
    sit(ready, topic="2").decide("a", 2)
    found = effort_of(ready)
    assert [
        (one.topic, one.docno, one.state, one.grade, one.dwell_ms, one.active_ms) for one in found.documents
    ] == [
        ("1", "b", State.JUDGED, 2, 8000, 4000),
        ("1", "a", State.JUDGED, 1, 21_000, 10_500),
        ("1", "c", State.CANNOT, None, 2000, 1000),
        ("2", "a", State.JUDGED, 1, 4000, 2000),
    ]
    assert (found.sittings, found.active_ms, found.dropped_keys) == (2, 17_500, 4)
    assert (found.undone, found.elsewhere, found.kind) == (0, 0, HUMAN)
    assert recent(collection_name) == [4000, 10_500, 1000, 2000]
    assert recent(collection_name, limit=2) == [1000, 2000]
    assert [one.judge for one in ready.progress.effort()] == ["ann"]


def test_note_and_grade_of_one_showing_count_once(ready: Collection, collection_name: str) -> None:
    """Times run from the beginning of the showing: the last one has those before in it."""
    ann = sit(ready)
    ann.show()
    ann.do("a", Action.NOTE, 5, note="odd")
    ann.do("a", Action.JUDGE, 8, grade=0)
    ann.do("a", Action.NOTE, 11, note="very odd")
    [document] = effort_of(ready).documents
    assert (document.active_ms, document.dwell_ms) == (11_000, 16_000)
    assert effort_of(ready).active_ms == 11_000
    assert recent(collection_name) == [11_000]


def test_undone_decision_costs_its_time_but_has_no_dwell(ready: Collection, collection_name: str) -> None:
    """What was taken back was spent; the dwell is that of the decision that stands."""
    ann = sit(ready)
    ann.decide("a", 6)
    ann.undo()
    ann.decide("b", 1)
    ann.undo()
    ann.decide("a", 2)
    found = effort_of(ready)
    [document] = found.documents
    assert (document.docno, document.active_ms, document.dwell_ms) == ("a", 8000, 4000)
    assert (found.active_ms, found.undone) == (9000, 2)
    assert recent(collection_name) == [8000]


def test_undone_correction_brings_back_the_dwell_of_the_first(ready: Collection) -> None:
    """A second grade that is taken back leaves the first one's dwell, and its time spent."""
    ann = sit(ready)
    ann.decide("a", 6, grade=2)
    ann.decide("a", 1, grade=0)
    ann.undo()
    [document] = effort_of(ready).documents
    assert (document.grade, document.dwell_ms, document.active_ms) == (2, 12_000, 7000)


def test_skipped_documents_are_decided_later(ready: Collection, collection_name: str) -> None:
    """A skip is no decision; its time counts once the document is judged."""
    ann = sit(ready)
    ann.show()
    ann.do("a", Action.SKIP, 3)
    assert effort_of(ready).documents == ()
    assert effort_of(ready).active_ms == 3000
    assert recent(collection_name) == []
    ann.decide("b", 5)
    ann.decide("a", 4)
    assert [one.docno for one in effort_of(ready).documents] == ["b", "a"]
    assert recent(collection_name) == [5000, 7000]


def test_correction_keeps_the_first_place(ready: Collection, collection_name: str) -> None:
    """A grade changed later stays at the place of the first; as a decision it is the newest."""
    ann = sit(ready)
    ann.decide("a", 1, grade=0)
    ann.decide("b", 2)
    ann.decide("a", 3, grade=2)
    found = effort_of(ready).documents
    assert [(one.docno, one.grade, one.dwell_ms) for one in found] == [("a", 2, 6000), ("b", 1, 4000)]
    assert recent(collection_name) == [2000, 4000]


def test_imported_grades_have_no_times(ready: Collection, collection_name: str) -> None:
    """Of imports only the count is known, also where the judge sits down as well."""
    ready.judgements.add({"ann": [Qrel("1", "a", 1), Qrel("1", "b", 1), Qrel("1", "c", 2)]}, HUMAN)
    ready.judgements.add({"gpt": [Qrel("1", "a", 1)]}, JudgeKind.MODEL)
    gpt = effort_of(ready, "gpt")
    assert gpt == Effort("gpt", JudgeKind.MODEL, 0, None, 0, 0, 1, ())
    ann = sit(ready)
    ann.decide("a", 2)
    ann.show()
    ann.do("b", Action.NOTE, 9, note="imported, and noted")
    found = effort_of(ready)
    assert [one.docno for one in found.documents] == ["a"]
    assert (found.elsewhere, found.sittings, found.active_ms) == (2, 1, 11_000)
    assert recent(collection_name) == [2000]
    assert recent(collection_name, judge=3) == []


def test_untimed_decisions_have_no_time(ready: Collection, collection_name: str) -> None:
    """A decision without times is one, and its time is not 0."""
    sit(ready).grade("a", 1)
    found = effort_of(ready)
    [document] = found.documents
    assert (document.dwell_ms, document.active_ms, found.active_ms) == (None, None, None)
    assert recent(collection_name) == []


def test_judging_again_begins_anew(ready: Collection, collection_name: str) -> None:
    """A document judged again after it was reopened is another decision."""
    ready.documents.add([Document("a", text="one")])
    ann = sit(ready)
    ann.decide("a", 5, grade=2)
    ann.decide("b", 3)
    ready.documents.add([Document("a", text="two")], replace=True)
    assert len(ready.rejudging.reopen()) == 1
    assert [one.docno for one in effort_of(ready).documents] == ["b"]
    assert recent(collection_name) == [5000, 3000]
    ann.look()
    ann.decide("a", 2, grade=0)
    found = effort_of(ready)
    assert [(one.docno, one.active_ms) for one in found.documents] == [("b", 3000), ("a", 2000)]
    assert found.active_ms == 10_000
    assert recent(collection_name) == [5000, 3000, 2000]


def test_judges_are_told_apart(ready: Collection, collection_name: str) -> None:
    """Nobody's time counts for another."""
    sit(ready).decide("a", 5)
    sit(ready, "bob").decide("a", 7)
    assert [(one.judge, one.active_ms) for one in ready.progress.effort()] == [("ann", 5000), ("bob", 7000)]
    assert recent(collection_name, judge=2) == [7000]
    assert ready.progress.recent_times(limit=9) == {"ann": [5000], "bob": [7000]}


def test_old_events_need_not_be_read(ready: Collection, collection_name: str) -> None:
    """Reading a part of a long history, what was undone further back is no decision."""
    ann = sit(ready)
    ann.decide("a", 5, grade=0)
    ann.decide("a", 6, grade=1)
    ann.undo()
    change_stored(collection_name, "DELETE FROM judgement WHERE revision = 1")
    assert recent(collection_name) == []
