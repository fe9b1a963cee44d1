"""People: another name for a judge, and none that tells who it is."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from store.collection import Collection
from store.errors import ArgumentError, ConflictError, UnknownNameError
from store.judging.judges import Disguise, are_disguised
from store.records import Action, AssignmentPlan, Existing, Judge, JudgeKind, Place, Purpose, Qrel, Scope
from tests.helpers.world import JudgeAtWork, change_stored, engine_of, make_pool, stored_rows

HUMAN = JudgeKind.HUMAN


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make a collection whose judges bob, bob-2 and eve judged, and stand in plans and rounds.

    bob holds an order of his own, and wrote a note and a reason; ed's round is called bob.
    """
    for name in ("bob", "bob-2", "eve"):
        collection.judges.add(name, HUMAN)
    collection.pools.add(make_pool({"1": list("abc")}, name="main"))
    collection.pools.add(make_pool({"2": ["a"]}, name="unjudged-bob", round="bob",
                                  manifest={"strategy": "imported", "file": "bob.qrels",
                                            "name": "unjudged-bob", "round": "bob"}))  # fmt: skip
    places = [
        Place("1", docno, judge, Purpose.PRIMARY, position, order)
        for judge, order in (("bob", "random:77"), ("eve", "docno"), ("bob-2", "random:78"))
        for position, docno in enumerate("abc")
    ]
    manifest = {"judges": ["eve", "bob", "bob-2"], "seed": 7, "pools": ["main", "unjudged-bob"]}
    collection.assignments.make(Scope(), lambda _open: AssignmentPlan(places, manifest),
                      existing=Existing.REFUSE)  # fmt: skip
    bob = JudgeAtWork(collection.desk("bob", program="pooler 9"), "1")
    bob.act("a", Action.JUDGE, grade=2, note="as bob said")
    bob.act("b", Action.CANNOT, reason="my reader broke")
    bob.grade("a", 1)
    bob.desk.leave()
    collection.judgements.add({"ed": [Qrel("1", "a", 1, "bob")]}, JudgeKind.IMPORTED)
    return collection


def manifests(name: str, table: str) -> list[dict[str, object]]:
    """Return the manifests of a table, the oldest first."""
    with engine_of(name) as engine, engine.connect() as connection:
        rows = connection.execute(text(f"SELECT manifest FROM {table} ORDER BY id"))
        return [json.loads(row.manifest) for row in rows]


def column(name: str, query: str) -> list[object]:
    """Return what a query of one column finds."""
    with engine_of(name) as engine, engine.connect() as connection:
        return list(connection.execute(text(query)).scalars())


def test_renamed_judge_is_the_same_judge(ready: Collection, collection_name: str) -> None:
    """The name changes in the list of judges and in plans that list them, and nothing else does."""
    before = stored_rows(collection_name)
    done = ready.judges.rename("bob", "robert")
    after = stored_rows(collection_name)
    assert done.plans == 1
    assert ready.judges.all() == [
        Judge(name, kind) for name, kind in
        (("bob-2", HUMAN), ("ed", JudgeKind.IMPORTED), ("eve", HUMAN), ("robert", HUMAN))
    ]  # fmt: skip
    changed = {table for table, rows in after.items() if rows != before[table]}
    assert changed == {"judge", "assignment_plan"}
    assert manifests(collection_name, "assignment_plan")[0] == {
        "judges": ["bob-2", "eve", "robert"], "seed": 7, "pools": ["main", "unjudged-bob"],
    }  # fmt: skip
    uids = {row[1]: row[5] for row in before["judge"]}
    assert {row[1]: row[5] for row in after["judge"]} == {
        ("robert" if name == "bob" else name): uid for name, uid in uids.items()
    }
    assert [row[6] is not None for row in sorted(after["judge"])] == [True, False, False, False]


def test_rename_says_where_the_old_name_stays(ready: Collection) -> None:
    """Pools and rounds somebody named after the judge stay, and are told."""
    left = ready.judges.rename("bob", "robert").left
    assert (left.pools, left.events) == (("unjudged-bob",), 1)
    assert ready.judges.rename("robert", "bob-3").left.pools == ()


def test_rename_refuses_what_is_no_new_name(ready: Collection, collection_name: str) -> None:
    """A taken name, no name, the old name, and a judge who is not there change nothing."""
    before = stored_rows(collection_name)
    with pytest.raises(ConflictError, match="there is a judge `eve` already") as caught:
        ready.judges.rename("bob", "eve")
    assert caught.value.hint == "two judges stay two: choose another name"
    for bad in ("", "two words", "a\x1b[2J", "\u202ebob"):
        with pytest.raises(ArgumentError, match="`NEW` must be one word"):
            ready.judges.rename("bob", bad)
    with pytest.raises(ArgumentError, match="`NEW` must be another name than now"):
        ready.judges.rename("bob", "bob")
    with pytest.raises(UnknownNameError, match="unknown judge `bbo`; known: `bob`"):
        ready.judges.rename("bbo", "x")
    assert stored_rows(collection_name) == before


def test_judge_at_work_goes_on_under_the_new_name(ready: Collection) -> None:
    """A desk that was open before saves as the renamed judge, and is told of."""
    eve = JudgeAtWork(ready.desk("eve"), "1")
    eve.grade("a", 0)
    (live,) = ready.judges.rename("eve", "eva").live
    assert live.host
    eve.grade("b", 2)
    grades = {one.docno: one.grade for one in ready.judgements.current(["eva"])}
    assert grades == {"a": 0, "b": 2}


def test_anonymous_judge_is_told_by_nothing(ready: Collection, collection_name: str) -> None:
    """No cell of the database has the name or the machine; grades, times and notes are there."""
    # Another judge's name that holds it stands for somebody else.
    ready.judges.rename("bob-2", "cat")
    before = {(one.topic, one.docno): one.grade for one in ready.judgements.current(["bob"])}
    done = ready.judges.anonymise(["bob"])
    assert done.names == ("judge-1",)
    assert (done.sittings, done.notes) == (1, 2)
    assert done.orders == 3 + 3  # three events and three places
    assert (done.named.plans, done.named.pools, done.named.events) == (2, ("unjudged-bob",), 1)
    words = [str(cell) for rows in stored_rows(collection_name).values() for row in rows
             for cell in row]  # fmt: skip
    named = [one for one in words if "bob" in one]
    assert named == [str(b"as bob said")] * 2  # the note, and the event that kept it
    now = {(one.topic, one.docno): one.grade for one in ready.judgements.current(["judge-1"])}
    assert now == before == {("1", "a"): 1, ("1", "b"): None}
    (sitting,) = stored_rows(collection_name)["sitting"]
    assert sitting[5:8] == ("", 0, "")
    made = column(collection_name, "SELECT created_at FROM collection")
    assert column(collection_name, "SELECT created_at FROM judge WHERE name = 'judge-1'") == made


def test_anonymising_reaches_plans_pools_and_rounds(ready: Collection, collection_name: str) -> None:
    """Manifests, pools' names and rounds, and the rounds of events name nobody; ties hold."""
    ready.judges.anonymise(["bob"])
    assert [pool.name for pool in ready.pools.all()] == ["main", "unjudged-judge-1"]
    assert manifests(collection_name, "pool")[1] == {
        "strategy": "imported", "file": "judge-1.qrels", "name": "unjudged-judge-1",
        "round": "judge-1",
    }  # fmt: skip
    assert manifests(collection_name, "assignment_plan")[0] == {
        "judges": ["bob-2", "eve", "judge-1"], "pools": ["main", "unjudged-judge-1"],
    }  # fmt: skip
    rounds = column(collection_name, "SELECT iteration FROM judgement ORDER BY id")
    assert rounds[-1] == "judge-1"
    assert column(collection_name, "SELECT round FROM pool ORDER BY id") == ["0", "judge-1"]
    orders = "SELECT DISTINCT display_order FROM assignment ORDER BY display_order"
    assert column(collection_name, orders) == ["docno", "random", "random:78"]


def test_new_names_are_the_first_free_ones_by_chance(collection: Collection) -> None:
    """Names in use stay others'; who gets which is not the order of anything."""
    people = [f"p{number}" for number in range(6)]
    for name in ("judge-2", *people):
        collection.judges.add(name, HUMAN)
        collection.judgements.add({name: [Qrel("1", name, 1)]}, HUMAN)
    orders = set()
    for _ in range(3):
        now = [one.name for one in collection.judges.all() if one.name != "judge-2"]
        done = collection.judges.anonymise(now)
        assert done.names == tuple(f"judge-{number}" for number in (1, 3, 4, 5, 6, 7))
        by_docno = {one.docno: one.judge for one in collection.judgements.current()}
        assert by_docno["judge-2"] == "judge-2"
        orders.add(tuple(by_docno[name] for name in people))
    assert len(orders) > 1  # all three alike: once in half a million


def test_notes_go_when_they_are_to(ready: Collection, collection_name: str) -> None:
    """Notes and reasons of the judge alone, the program's own reasons never."""
    ready.judgements.add({"eve": [Qrel("9", "z", 1)]}, HUMAN)
    change_stored(collection_name, "UPDATE judgement SET note = :note WHERE iteration = 'bob'",
            note=b"other")  # fmt: skip
    done = ready.judges.anonymise(["bob"], without_notes=True)
    assert done.notes == 2
    assert {(one.judge, one.note, one.reason) for one in ready.judgements.current()} == {
        ("judge-1", "", ""), ("ed", "other", ""), ("eve", "", ""),
    }  # fmt: skip
    assert ready.judges.anonymise(["judge-1"], dry_run=True).notes == 0


def test_dry_run_counts_and_changes_nothing(ready: Collection, collection_name: str) -> None:
    """What would change is counted as what then does."""
    before = stored_rows(collection_name)
    would = ready.judges.anonymise(["bob", "eve"], dry_run=True)
    assert stored_rows(collection_name) == before
    done = ready.judges.anonymise(["bob", "eve"])
    assert would.names == ()
    for part in ("sittings", "orders", "notes", "named"):
        assert getattr(would, part) == getattr(done, part), part


def test_judge_at_work_is_not_anonymised(ready: Collection, collection_name: str) -> None:
    """While a sitting is alive nothing is changed for anybody; a dead one is in nobody's way."""
    eve = JudgeAtWork(ready.desk("eve"), "1")
    eve.grade("a", 0)
    before = stored_rows(collection_name)
    with pytest.raises(ConflictError, match=r"judge `eve` is at work on .*: nothing is changed"):
        ready.judges.anonymise(["bob", "eve"])
    assert stored_rows(collection_name) == before
    change_stored(collection_name, "UPDATE sitting SET seen_at = '2001-01-01 00:00:00.000000'")
    assert len(ready.judges.anonymise(["bob", "eve"]).names) == 2


def test_unknown_judge_among_several_changes_nobody(ready: Collection, collection_name: str) -> None:
    """One wrong name changes nothing."""
    before = stored_rows(collection_name)
    with pytest.raises(UnknownNameError, match="unknown judge `bbo`"):
        ready.judges.anonymise(["bob", "bbo"])
    assert stored_rows(collection_name) == before


def test_names_are_replaced_as_words_of_their_own() -> None:
    """A name within another word stays."""
    disguise = Disguise({"ann": "judge-2", "bob": "judge-1"})
    assert disguise.name("ann") == "judge-2"
    assert disguise.within("unjudged-ann") == "unjudged-judge-2"
    assert disguise.within("annotated") == "annotated"
    assert are_disguised(["judge-2", "judge-1"])
    assert not are_disguised(["judge-1", "ann"])
