"""Places: claimed, held, lapsed, given back; never one judge more than a document should have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select

from store.collection import Collection
from store.db.engine import reading, writing
from store.db.tables import ASSIGNMENT
from store.errors import ConflictError
from store.judging.assignments import (
    assigned_documents,
    assigned_pairs,
    claim,
    claimable,
    has_assignments,
    hold,
    release,
)
from store.records import Action, JudgeKind
from tests.helpers.world import change_stored, engine_of, make_pool, stored_rows
from tests.store.claiming import PEOPLE, assign, assign_open, decisions, let_lapse, places, shown, sit, take

ANN, BEN = 1, 2
"""Row ids."""


@pytest.fixture
def pooled(collection: Collection) -> Collection:
    """Make a pool of topic 1 with documents a to f, topic 2 with a and b, and four judges."""
    collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a", "b"]}))
    for name in PEOPLE:
        collection.judges.add(name, JudgeKind.HUMAN)
    return collection


def may_claim(collection: Collection, judge: str) -> dict[int, int]:
    """Count what a judge could claim."""
    with reading(collection._db.engine) as session:
        return claimable(session, PEOPLE.index(judge) + 1)


def test_without_assignments_everybody_may_judge_everything(pooled: Collection, collection_name: str) -> None:
    """A collection without a place has nothing to claim, hold or give back."""
    with writing(pooled._db.engine) as session:
        assert not has_assignments(session)
        hold(session, ANN, 1, 1, decided=True)
        assert claim(session, ANN, 1, n=3) == []
        assert (claimable(session, ANN), release(session, ANN)) == ({}, 0)
        assert assigned_pairs(session, ANN) == set()
    assert shown(pooled, "ann") == list("abcdef")
    sit(pooled, "ann").grade("c", 1)


def test_by_name_each_judge_sees_and_judges_what_is_assigned(
    pooled: Collection, collection_name: str
) -> None:
    """Other judges see nothing of it, cannot decide on it, and cannot claim it."""
    early = sit(pooled, "ben")
    assign(pooled, ["ann"])
    assert shown(pooled, "ann") == list("abcdef")
    assert shown(pooled, "ben") == []
    assert may_claim(pooled, "ben") == {}
    assert take(pooled, "ben", 3) == []
    before = stored_rows(collection_name)["judgement"]
    with pytest.raises(ConflictError, match="not assigned to you") as caught:
        early.grade("a", 1)
    assert caught.value.hint == "nothing was written; go on with the next one"
    assert stored_rows(collection_name)["judgement"] == before
    ann = sit(pooled, "ann")
    ann.grade("a", 1)
    ann.act("b", Action.SKIP)
    ann.act("c", Action.NOTE, note="?")
    ann.undo()
    ann.desk.leave()
    assert {lease for *_, lease in places(collection_name)} == {False}
    assert {judge for _, _, judge, _ in places(collection_name)} == {"ann"}


def test_claims_follow_the_plans_order_one_place_a_document(pooled: Collection, collection_name: str) -> None:
    """With two places a document, two judges get all of it and the third gets nothing."""
    assign_open(pooled, 2)
    assert may_claim(pooled, "ann") == {1: 6, 2: 2}
    assert take(pooled, "ann", 4) == [1, 2, 3, 4]
    assert take(pooled, "ann", 4) == [5, 6]
    assert take(pooled, "ann", 1) == []
    assert take(pooled, "ben", 10) == [1, 2, 3, 4, 5, 6]
    assert take(pooled, "cat", 1) == []
    assert (may_claim(pooled, "ann"), may_claim(pooled, "cat")) == ({2: 2}, {2: 2})
    assert shown(pooled, "ben") == list("abcdef")
    assert shown(pooled, "cat") == []
    of_topic = [place[2:] for place in places(collection_name) if place[0] == "1"]
    assert of_topic == [("ann", True), ("ben", True)] * 6


def test_lease_is_as_long_as_the_plan_says(pooled: Collection) -> None:
    """A claim lasts the plan's seconds from now on; one that is decided on lasts."""
    assign_open(pooled, 1, lease_s=100)
    start = datetime.now(UTC)
    take(pooled, "ann", 2)
    sit(pooled, "ann").grade("b", 1)
    with reading(pooled._db.engine) as session:
        held_places = assigned_documents(session, ANN, 1)
        assert assigned_pairs(session, ANN) == {(1, 1), (1, 2)}
    assert [(one.position, one.display_order) for one in held_places.values()] == [(0, "docno"), (1, "docno")]
    until = held_places[1].lease_until
    assert until is not None
    # The database's clock may differ from this process's by a little.
    assert timedelta(seconds=95) < until - start < timedelta(seconds=125)
    assert held_places[2].lease_until is None


@pytest.mark.parametrize("what", ["withdrawn", "unsampled", "gone"])
def test_only_pooled_documents_are_claimed(pooled: Collection, collection_name: str, what: str) -> None:
    """A place at a document that is in no pool any more is offered to nobody."""
    assign_open(pooled, 1)
    if what == "withdrawn":
        pooled.pools.withdraw("pool")
        left = []
    else:
        where = "topic_id = 1 AND document_id <> 4"
        statement = {
            "unsampled": f"UPDATE pool_entry SET sampled = FALSE WHERE {where}",
            "gone": f"DELETE FROM pool_entry WHERE {where}",
        }[what]
        change_stored(collection_name, statement)
        left = [4]
    assert may_claim(pooled, "ann").get(1, 0) == len(left)
    assert take(pooled, "ann", 6) == left


def test_judge_who_decided_is_offered_no_place_there(pooled: Collection, collection_name: str) -> None:
    """Whoever judged a document before it was assigned does not judge it twice."""
    ann = sit(pooled, "ann")
    ann.grade("a", 1)
    ann.act("b", Action.CANNOT, reason="x")
    ann.act("c", Action.SKIP)
    ann.grade("d", 1)
    ann.undo()
    assign_open(pooled, 1)
    assert may_claim(pooled, "ann") == {1: 4, 2: 2}
    assert take(pooled, "ann", 6) == [3, 4, 5, 6]
    assert take(pooled, "ben", 6) == [1, 2]


def test_lapsed_place_stays_its_holders_until_it_is_claimed(pooled: Collection, collection_name: str) -> None:
    """Who comes back late and finds the place free still decides; the place is settled then."""
    assign_open(pooled, 1)
    take(pooled, "ann", 6)
    late = sit(pooled, "ann")
    let_lapse(collection_name)
    assert may_claim(pooled, "ben") == {1: 6, 2: 2}
    assert may_claim(pooled, "ann") == {2: 2}
    assert shown(pooled, "ann") == list("abcdef")
    assert take(pooled, "ann", 6) == []
    late.grade("a", 1)
    assert take(pooled, "ben", 6) == [2, 3, 4, 5, 6]
    assert shown(pooled, "ann") == ["a"]


def test_late_judge_whose_place_was_taken_takes_another_or_none(
    pooled: Collection, collection_name: str
) -> None:
    """Of a document with two places: the other one if it is open, else nothing is written."""
    assign_open(pooled, 2)
    take(pooled, "ann", 6)
    late = sit(pooled, "ann")
    let_lapse(collection_name)
    # Only the lapsed places: the open ones are put away meanwhile.
    change_stored(collection_name, "UPDATE assignment SET topic_id = 2 WHERE judge_id IS NULL")
    assert take(pooled, "ben", 6) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ConflictError):
        late.grade("a", 1)
    change_stored(collection_name, "UPDATE assignment SET topic_id = 1 WHERE id <= 12")
    late.grade("a", 1)
    assert [place for place in places(collection_name) if place[:2] == ("1", "a")] == [
        ("1", "a", "ann", False),
        ("1", "a", "ben", True),
    ]
    take(pooled, "cat", 6)
    with pytest.raises(ConflictError):
        late.grade("b", 1)
    assert decisions(collection_name) == {"a": {"ann"}}


def test_late_judge_takes_a_place_that_lapsed_in_turn(pooled: Collection, collection_name: str) -> None:
    """A place that was claimed by another, who let it lapse as well, may be had back."""
    assign_open(pooled, 1)
    take(pooled, "ann", 1)
    late = sit(pooled, "ann")
    let_lapse(collection_name)
    take(pooled, "ben", 1)
    let_lapse(collection_name)
    late.grade("a", 2)
    assert ("1", "a", "ann", False) in places(collection_name)
    with pytest.raises(ConflictError), writing(pooled._db.engine) as session:
        hold(session, BEN, 1, 1, decided=True)


def lease_of(name: str, docno: str) -> object:
    """Return until when a document of topic 1 is leased."""
    with engine_of(name) as engine, reading(engine) as session:
        number = "abcdef".index(docno) + 1
        place = session.execute(select(ASSIGNMENT).where(ASSIGNMENT.c.id == number)).one()
        assert place.document_id == number
        return place.lease_until


def test_skip_and_undo_renew_a_lease_and_decisions_settle_it(
    pooled: Collection, collection_name: str
) -> None:
    """Judged and impossible to judge end a lease; skipped, noted or undone, it begins anew."""
    assign_open(pooled, 1)
    take(pooled, "ann", 6)
    let_lapse(collection_name)
    ann = sit(pooled, "ann")
    now = datetime.now(UTC)
    ann.act("a", Action.SKIP)
    ann.act("b", Action.NOTE, note="x")
    ann.act("c", Action.CANNOT, reason="x")
    ann.grade("d", 1)
    ann.act("d", Action.NOTE, note="sure")
    assert lease_of(collection_name, "a") > now
    assert lease_of(collection_name, "b") > now
    assert lease_of(collection_name, "c") is None
    assert lease_of(collection_name, "d") is None
    ann.undo()
    assert lease_of(collection_name, "d") is None  # the note was undone, the grade stands
    ann.undo()
    assert lease_of(collection_name, "d") > now
    ann.undo()
    assert lease_of(collection_name, "c") > now


def test_leaving_gives_back_what_was_left_alone(pooled: Collection, collection_name: str) -> None:
    """Undecided documents are open at once, skipped ones when the lease runs out; nothing else."""
    assign_open(pooled, 1)
    take(pooled, "ann", 5)
    ann = sit(pooled, "ann")
    ann.grade("a", 1)
    ann.act("b", Action.SKIP)
    ann.act("c", Action.NOTE, note="x")
    ann.grade("d", 1)
    ann.undo()
    ann.desk.leave()
    assert [place for place in places(collection_name) if place[0] == "1"] == [
        ("1", "a", "ann", False),
        ("1", "b", "ann", True),
        ("1", "c", None, False),
        ("1", "d", None, False),
        ("1", "e", None, False),
        ("1", "f", None, False),
    ]
    # What was undone or only noted is no decision: it may be claimed again, by ann as well.
    assert take(pooled, "ann", 1) == [3]
    let_lapse(collection_name)
    assert take(pooled, "ben", 9) == [2, 3, 4, 5, 6]


def test_places_of_one_judge_are_not_given_back_by_another(pooled: Collection) -> None:
    """Leaving touches one's own places only."""
    assign_open(pooled, 2)
    take(pooled, "ann", 2)
    take(pooled, "ben", 3)
    with writing(pooled._db.engine) as session:
        assert release(session, ANN) == 2
        assert release(session, ANN) == 0
        assert len(assigned_pairs(session, BEN)) == 3


def test_several_plans_keep_their_own_leases(pooled: Collection, collection_name: str) -> None:
    """A topic may hold places of two plans: each lapses by its own, and a named one never."""
    assign_open(pooled, 1, lease_s=10)
    pooled.pools.add(make_pool({"1": ["g", "h"]}, name="late", manifest={"out_order": "docno"}))
    change_stored(collection_name, "DELETE FROM assignment WHERE document_id > 6 OR topic_id = 2")
    with writing(pooled._db.engine) as session:
        rows = [
            {"topic_id": 1, "document_id": document, "judge_id": judge, "position": 9, "plan_id": plan}
            for document, judge, plan in ((7, None, 2), (8, ANN, None))
        ]
        execute_plan = "INSERT INTO assignment_plan (id, manifest, lease_s, created_at)"
        execute_plan += " SELECT 2, '{}', 1000, created_at FROM assignment_plan"
        session.connection().exec_driver_sql(execute_plan)
        session.execute(insert(ASSIGNMENT), rows)
    start = datetime.now(UTC)
    assert take(pooled, "ann", 9) == [1, 2, 3, 4, 5, 6, 7]
    with reading(pooled._db.engine) as session:
        held_places = assigned_documents(session, ANN, 1)
    lengths = [
        None if one.lease_until is None else round((one.lease_until - start).total_seconds(), -1)
        for one in held_places.values()
    ]
    assert lengths == [10] * 6 + [1000, None]
    sit(pooled, "ann").act("h", Action.SKIP)
    assert ("1", "h", "ann", False) in places(collection_name)


def test_place_kept_from_before_an_assignment_counts(pooled: Collection, collection_name: str) -> None:
    """A judge who has a settled place from a decision can take it back and give it up."""
    assign(pooled, ["ann"], lease_s=60)
    ann = sit(pooled, "ann")
    ann.grade("a", 1)
    assert {lease for *_, lease in places(collection_name)} == {False}
    ann.undo()
    assert ("1", "a", "ann", True) in places(collection_name)
    assert len([1 for *_, lease in places(collection_name) if lease]) == 1
