"""Places: planned, claimed, held, lapsed, given back; and what lies before whom."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
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
from store.judging.desk import count_queues, count_undrawn, fetch_queue
from store.judging.states import PairState
from store.records import (
    Action,
    Assignable,
    AssignmentPlan,
    Cleared,
    Decision,
    Existing,
    InboxLine,
    JudgeKind,
    Place,
    Pool,
    PoolEntry,
    Purpose,
    Scope,
    State,
    Topic,
    Workload,
    Workloads,
)
from tests.helpers.claiming import PEOPLE, assign, assign_open, decisions, shown, sit, take
from tests.helpers.claiming import places as leased_places
from tests.helpers.drawing import adaptive_pool, ends
from tests.helpers.filled_collection import fill as fill_collection
from tests.helpers.places import held_place, let_lapse, places
from tests.helpers.world import JudgeAtWork, change_stored, count_rows, engine_of, make_pool, stored_rows

ANN, BEN = 1, 2
"""Row ids."""


@pytest.fixture
def six(collection: Collection) -> Collection:
    """Make a pool of topic 1 with documents a to f, topic 2 with a and b, and four judges."""
    collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a", "b"]}))
    for name in PEOPLE:
        collection.judges.add(name, JudgeKind.HUMAN)
    return collection


def may_claim(collection: Collection, judge: str) -> dict[int, int]:
    """Count what a judge could claim."""
    with reading(collection._db.engine) as session:
        return claimable(session, PEOPLE.index(judge) + 1)


def test_without_assignments_everybody_may_judge_everything(six: Collection) -> None:
    """A collection without a place has nothing to claim, hold or give back."""
    with writing(six._db.engine) as session:
        assert not has_assignments(session)
        hold(session, ANN, 1, 1, decided=True)
        assert claim(session, ANN, 1, n=3) == []
        assert (claimable(session, ANN), release(session, ANN)) == ({}, 0)
        assert assigned_pairs(session, ANN) == set()
    sit(six, "ann").grade("c", 1)


def test_by_name_each_judge_sees_and_judges_what_is_assigned(six: Collection, collection_name: str) -> None:
    """Other judges see nothing of it, cannot decide on it, and cannot claim it."""
    early = sit(six, "ben")
    assign(six, ["ann"])
    assert shown(six, "ann") == list("abcdef")
    assert shown(six, "ben") == []
    assert may_claim(six, "ben") == {}
    assert take(six, "ben", 3) == []
    before = stored_rows(collection_name)["judgement"]
    with pytest.raises(ConflictError, match="not assigned to you") as caught:
        early.grade("a", 1)
    assert caught.value.hint == "nothing was written; go on with the next one"
    assert stored_rows(collection_name)["judgement"] == before
    ann = sit(six, "ann")
    ann.grade("a", 1)
    ann.act("b", Action.SKIP)
    ann.act("c", Action.NOTE, note="?")
    ann.undo()
    ann.desk.leave()
    assert {lease for *_, lease in leased_places(collection_name)} == {False}
    assert {judge for _, _, judge, _ in leased_places(collection_name)} == {"ann"}


def test_claims_follow_the_plans_order_one_place_a_document(six: Collection, collection_name: str) -> None:
    """With two places a document, two judges get all of it and the third gets nothing."""
    assign_open(six, 2)
    assert may_claim(six, "ann") == {1: 6, 2: 2}
    assert take(six, "ann", 4) == [1, 2, 3, 4]
    assert take(six, "ann", 4) == [5, 6]
    assert take(six, "ann", 1) == []
    assert take(six, "ben", 10) == [1, 2, 3, 4, 5, 6]
    assert take(six, "cat", 1) == []
    assert (may_claim(six, "ann"), may_claim(six, "cat")) == ({2: 2}, {2: 2})
    assert shown(six, "ben") == list("abcdef")
    assert shown(six, "cat") == []
    of_topic = [place[2:] for place in leased_places(collection_name) if place[0] == "1"]
    assert of_topic == [("ann", True), ("ben", True)] * 6


def test_lease_is_as_long_as_the_plan_says(six: Collection) -> None:
    """A claim lasts the plan's seconds from now on; one that is decided on lasts."""
    assign_open(six, 1, lease_s=100)
    start = datetime.now(UTC)
    take(six, "ann", 2)
    sit(six, "ann").grade("b", 1)
    with reading(six._db.engine) as session:
        held_places = assigned_documents(session, ANN, 1)
        assert assigned_pairs(session, ANN) == {(1, 1), (1, 2)}
    assert [(one.position, one.display_order) for one in held_places.values()] == [(0, "docno"), (1, "docno")]
    until = held_places[1].lease_until
    assert until is not None
    # The database's clock may differ from this process's by a little.
    assert timedelta(seconds=95) < until - start < timedelta(seconds=125)
    assert held_places[2].lease_until is None


@pytest.mark.parametrize("what", ["withdrawn", "unsampled", "gone"])
def test_only_pooled_documents_are_claimed(six: Collection, collection_name: str, what: str) -> None:
    """A place at a document that is in no pool any more is offered to nobody."""
    assign_open(six, 1)
    if what == "withdrawn":
        six.pools.withdraw("pool")
        left = []
    else:
        where = "topic_id = 1 AND document_id <> 4"
        statement = {
            "unsampled": f"UPDATE pool_entry SET sampled = FALSE WHERE {where}",
            "gone": f"DELETE FROM pool_entry WHERE {where}",
        }[what]
        change_stored(collection_name, statement)
        left = [4]
    assert may_claim(six, "ann").get(1, 0) == len(left)
    assert take(six, "ann", 6) == left


def test_judge_who_decided_is_offered_no_place_there(six: Collection, collection_name: str) -> None:
    """Whoever judged a document before it was assigned does not judge it twice."""
    ann = sit(six, "ann")
    ann.grade("a", 1)
    ann.act("b", Action.CANNOT, reason="x")
    ann.act("c", Action.SKIP)
    ann.grade("d", 1)
    ann.undo()
    assign_open(six, 1)
    assert may_claim(six, "ann") == {1: 4, 2: 2}
    assert take(six, "ann", 6) == [3, 4, 5, 6]
    assert take(six, "ben", 6) == [1, 2]


def test_lapsed_place_stays_its_holders_until_it_is_claimed(six: Collection, collection_name: str) -> None:
    """Who comes back late and finds the place free still decides; the place is settled then."""
    assign_open(six, 1)
    take(six, "ann", 6)
    late = sit(six, "ann")
    let_lapse(collection_name)
    assert may_claim(six, "ben") == {1: 6, 2: 2}
    assert may_claim(six, "ann") == {2: 2}
    assert shown(six, "ann") == list("abcdef")
    assert take(six, "ann", 6) == []
    late.grade("a", 1)
    assert take(six, "ben", 6) == [2, 3, 4, 5, 6]
    assert shown(six, "ann") == ["a"]


def test_late_judge_whose_place_was_taken_takes_another_or_none(
    six: Collection, collection_name: str
) -> None:
    """Of a document with two places: the other one if it is open, else nothing is written."""
    assign_open(six, 2)
    take(six, "ann", 6)
    late = sit(six, "ann")
    let_lapse(collection_name)
    # Only the lapsed places: the open ones are put away meanwhile.
    change_stored(collection_name, "UPDATE assignment SET topic_id = 2 WHERE judge_id IS NULL")
    assert take(six, "ben", 6) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ConflictError):
        late.grade("a", 1)
    change_stored(collection_name, "UPDATE assignment SET topic_id = 1 WHERE id <= 12")
    late.grade("a", 1)
    assert [place for place in leased_places(collection_name) if place[:2] == ("1", "a")] == [
        ("1", "a", "ann", False),
        ("1", "a", "ben", True),
    ]
    take(six, "cat", 6)
    with pytest.raises(ConflictError):
        late.grade("b", 1)
    assert decisions(collection_name) == {"a": {"ann"}}


def test_late_judge_takes_a_place_that_lapsed_in_turn(six: Collection, collection_name: str) -> None:
    """A place that was claimed by another, who let it lapse as well, may be had back."""
    assign_open(six, 1)
    take(six, "ann", 1)
    late = sit(six, "ann")
    let_lapse(collection_name)
    take(six, "ben", 1)
    let_lapse(collection_name)
    late.grade("a", 2)
    assert ("1", "a", "ann", False) in leased_places(collection_name)
    with pytest.raises(ConflictError), writing(six._db.engine) as session:
        hold(session, BEN, 1, 1, decided=True)


def lease_of(name: str, docno: str) -> object:
    """Return until when a document of topic 1 is leased."""
    with engine_of(name) as engine, reading(engine) as session:
        number = "abcdef".index(docno) + 1
        place = session.execute(select(ASSIGNMENT).where(ASSIGNMENT.c.id == number)).one()
        assert place.document_id == number
        return place.lease_until


def test_skip_and_undo_renew_a_lease_and_decisions_settle_it(six: Collection, collection_name: str) -> None:
    """Judged and impossible to judge end a lease; skipped, noted or undone, it begins anew."""
    assign_open(six, 1)
    take(six, "ann", 6)
    let_lapse(collection_name)
    ann = sit(six, "ann")
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


def test_leaving_gives_back_what_was_left_alone(six: Collection, collection_name: str) -> None:
    """Undecided documents are open at once, skipped ones when the lease runs out; nothing else."""
    assign_open(six, 1)
    take(six, "ann", 5)
    ann = sit(six, "ann")
    ann.grade("a", 1)
    ann.act("b", Action.SKIP)
    ann.act("c", Action.NOTE, note="x")
    ann.grade("d", 1)
    ann.undo()
    ann.desk.leave()
    assert [place for place in leased_places(collection_name) if place[0] == "1"] == [
        ("1", "a", "ann", False),
        ("1", "b", "ann", True),
        ("1", "c", None, False),
        ("1", "d", None, False),
        ("1", "e", None, False),
        ("1", "f", None, False),
    ]
    # Nobody else's places were given back.
    take(six, "ben", 1, topic=2)
    with writing(six._db.engine) as session:
        assert release(session, ANN) == 0
        assert len(assigned_pairs(session, BEN)) == 1
    # What was undone or only noted is no decision: it may be claimed again, by ann as well.
    assert take(six, "ann", 1) == [3]
    let_lapse(collection_name)
    assert take(six, "ben", 9) == [2, 3, 4, 5, 6]


def test_several_plans_keep_their_own_leases(six: Collection, collection_name: str) -> None:
    """A topic may hold places of two plans: each lapses by its own, and a named one never."""
    assign_open(six, 1, lease_s=10)
    six.pools.add(make_pool({"1": ["g", "h"]}, name="late", manifest={"out_order": "docno"}))
    change_stored(collection_name, "DELETE FROM assignment WHERE document_id > 6 OR topic_id = 2")
    with writing(six._db.engine) as session:
        rows = [
            {"topic_id": 1, "document_id": document, "judge_id": judge, "position": 9, "plan_id": plan}
            for document, judge, plan in ((7, None, 2), (8, ANN, None))
        ]
        execute_plan = "INSERT INTO assignment_plan (id, manifest, lease_s, created_at)"
        execute_plan += " SELECT 2, '{}', 1000, created_at FROM assignment_plan"
        session.connection().exec_driver_sql(execute_plan)
        session.execute(insert(ASSIGNMENT), rows)
    start = datetime.now(UTC)
    assert take(six, "ann", 9) == [1, 2, 3, 4, 5, 6, 7]
    with reading(six._db.engine) as session:
        held_places = assigned_documents(session, ANN, 1)
    lengths = [
        None if one.lease_until is None else round((one.lease_until - start).total_seconds(), -1)
        for one in held_places.values()
    ]
    assert lengths == [10] * 6 + [1000, None]
    sit(six, "ann").act("h", Action.SKIP)
    assert ("1", "h", "ann", False) in leased_places(collection_name)


EVERYTHING = Scope()


@pytest.fixture
def pooled(collection: Collection) -> Collection:
    """Make pools `first` (1: a b c, 10: a) and `second` (1: c d, 2: a), and judges of all kinds."""
    first = make_pool({"1": ["c", "a", "b"], "10": ["a"]}, name="first")
    collection.pools.add(first)
    entries = [PoolEntry("1", "c", 0, 0.5), PoolEntry("1", "d", 1, 0.25), PoolEntry("2", "a", 0)]
    unsampled = PoolEntry("2", "z", 1, sampled=False)
    collection.pools.add(Pool([*entries, unsampled], {"out_order": "docno"}, name="second"))
    for name in ("ann", "ben", "cat"):
        collection.judges.add(name, JudgeKind.HUMAN)
    collection.judges.add("gpt", JudgeKind.MODEL)
    collection.judges.add("old", JudgeKind.IMPORTED)
    collection.judges.add("arbiter", JudgeKind.ADJUDICATOR)
    return collection


def given_to_the_planner(
    collection: Collection, scope: Scope = EVERYTHING, existing: Existing = Existing.ADD
) -> list[Assignable]:
    """Return what the planner is given, and assign nothing."""
    seen: list[Assignable] = []

    def make(documents: Sequence[Assignable]) -> AssignmentPlan:
        seen.extend(documents)
        return AssignmentPlan([], {})

    collection.assignments.make(scope, make, existing=existing, dry_run=True)
    return seen


def test_planner_is_given_pooled_documents_in_natural_order(pooled: Collection) -> None:
    """Topics in natural order, docnos bytewise, each once, with the oldest pool's priority."""
    assert [(one.topic, one.docno, one.pool, one.priority) for one in given_to_the_planner(pooled)] == [
        ("1", "a", 1, None),
        ("1", "b", 1, None),
        ("1", "c", 1, None),
        ("1", "d", 2, 0.25),
        ("2", "a", 2, None),
        ("10", "a", 1, None),
    ]
    only = given_to_the_planner(pooled, Scope(pools=("second",)))
    assert [(one.topic, one.docno, one.priority) for one in only] == [
        ("1", "c", 0.5),
        ("1", "d", 0.25),
        ("2", "a", None),
    ]
    only = given_to_the_planner(pooled, Scope(topics=("10", "2")))
    assert [(one.topic, one.docno) for one in only] == [("2", "a"), ("10", "a")]
    both = given_to_the_planner(pooled, Scope(pools=("first",), topics=("10", "2")))
    assert [(one.topic, one.docno) for one in both] == [("10", "a")]
    pooled.pools.withdraw("first")
    assert len(given_to_the_planner(pooled)) == 3


def test_planner_is_told_of_decisions_that_stand(pooled: Collection) -> None:
    """Judged and impossible to judge count, of people only, the disabled ones among them."""
    for name in ("gpt", "old", "arbiter"):
        JudgeAtWork(pooled.desk(name), "1").grade("a", 1)
    ann, ben = (JudgeAtWork(pooled.desk(name), "1") for name in ("ann", "ben"))
    ann.grade("a", 1)
    ann.act("b", Action.CANNOT, reason="x")
    ann.act("c", Action.SKIP)
    ann.grade("d", 1)
    ann.undo()
    ben.grade("b", 0)
    ben.act("b", Action.NOTE, note="hm")
    pooled.judges.set_disabled(["ben"], disabled=True)
    found = {one.docno: one.decided for one in given_to_the_planner(pooled, Scope(topics=("1",)))}
    assert found == {"a": {"ann"}, "b": {"ann", "ben"}, "c": set(), "d": set()}


def test_planner_is_told_of_places_that_stay(pooled: Collection) -> None:
    """When all stay, open ones are counted; when the undecided go, holders are who decided."""
    assign(pooled, [None, None, "ann", "ben"], lease_s=60)
    JudgeAtWork(pooled.desk("ann"), "1").grade("a", 1)
    first = given_to_the_planner(pooled)[0]
    assert (first.holders, first.n_open, first.decided) == ({"ann", "ben"}, 2, {"ann"})
    first, second, *_ = given_to_the_planner(pooled, existing=Existing.REPLACE)
    assert (first.holders, first.n_open, first.decided) == ({"ann"}, 0, {"ann"})
    assert not second.has_place


def test_plan_is_stored_with_its_manifest(pooled: Collection, collection_name: str) -> None:
    """Every place has what the planner said, its plan, and no lease; the manifest comes back."""

    def make(_documents: Sequence[Assignable]) -> AssignmentPlan:
        made = [
            Place("1", "c", "ben", Purpose.CALIBRATION, 3, "random", 7),
            Place("10", "a", None, Purpose.OVERLAP, 0, "priority"),
        ]
        return AssignmentPlan(made, {"seed": 7, "judges": ["ben", "赤松"]}, 90)

    before = datetime.now(UTC)
    pooled.assignments.make(EVERYTHING, make, existing=Existing.REFUSE)
    stored = stored_rows(collection_name)
    ((number, manifest, lease_s, made_at),) = stored["assignment_plan"]
    assert json.loads(manifest) == {"seed": 7, "judges": ["ben", "赤松"]}
    assert (number, lease_s) == (1, 90)
    assert abs((datetime.fromisoformat(str(made_at)).replace(tzinfo=UTC) - before).seconds) < 60
    facts = [row[3:-1] for row in stored["assignment"]]
    assert facts == [
        (2, 3, "calibration", None, 1, "random", 7),
        (None, 0, "overlap", None, 1, "priority", None),
    ]


def test_failing_planner_leaves_everything_as_it_was(pooled: Collection, collection_name: str) -> None:
    """Neither are old places gone, nor is a part of the new ones there."""
    assign(pooled, ["ann"])
    before = stored_rows(collection_name)

    def fail(_documents: Sequence[Assignable]) -> AssignmentPlan:
        message = "no"
        raise ConflictError(message)

    def unknown(_documents: Sequence[Assignable]) -> AssignmentPlan:
        made = [Place("1", docno, "ben", Purpose.PRIMARY, 0, "docno") for docno in ("a", "nowhere")]
        return AssignmentPlan(made, {})

    for make, error in ((fail, ConflictError), (unknown, KeyError)):
        with pytest.raises(error):
            pooled.assignments.make(EVERYTHING, make, existing=Existing.REPLACE)
        assert stored_rows(collection_name) == before


def test_clearing_keeps_places_with_a_decision(pooled: Collection, collection_name: str) -> None:
    """Open, claimed, lapsed and undecided places go; settled ones and all events stay."""
    assign(pooled, ["ann"], scope=Scope(topics=("1",)))
    named = JudgeAtWork(pooled.desk("ann"), "1")
    named.grade("a", 1)
    named.act("b", Action.CANNOT, reason="x")
    named.act("c", Action.SKIP)
    assign(pooled, [None, None], lease_s=60, scope=Scope(topics=("2", "10")))
    for judge in ("ben", "cat"):
        desk = pooled.desk(judge)
        assert desk.claim("2")
    JudgeAtWork(desk, "2").grade("a", 2)
    let_lapse(collection_name)
    assert pooled.desk("ben").claim("10")
    events = count_rows(collection_name)["judgement"]
    cleared, after = pooled.assignments.clear(EVERYTHING)
    # 1 c and d by name, 2 a of ben (lapsed), 10 a of ben (claimed) and open.
    assert cleared == Cleared(removed=5, claimed=1, kept=3)
    assert [place[:3] for place in leased_places(collection_name)] == [
        ("1", "a", "ann"),
        ("1", "b", "ann"),
        ("2", "a", "cat"),
    ]
    assert (after.pooled, after.unassigned) == (6, 3)
    assert count_rows(collection_name)["judgement"] == events
    assert pooled.assignments.clear(EVERYTHING)[0] == Cleared(0, 0, 3)


def test_clearing_a_scope_leaves_the_rest(pooled: Collection, collection_name: str) -> None:
    """Only places of the pools and topics named go; without a name those in no pool go too."""
    assign(pooled, ["ann"])
    assert pooled.assignments.clear(Scope(topics=("1",), pools=("second",)))[0].removed == 2
    assert Counter(place[0] for place in leased_places(collection_name)) == {"1": 2, "2": 1, "10": 1}
    change_stored(collection_name, "DELETE FROM pool_entry WHERE pool_id = 1")
    assert pooled.assignments.workloads().outside == 3
    assert pooled.assignments.clear(EVERYTHING)[0].removed == 4


def test_new_places_stand_behind_those_that_stay(pooled: Collection, collection_name: str) -> None:
    """What a judge has seen does not move: positions go on after the topic's last."""
    assign(pooled, ["ann"])
    ann = JudgeAtWork(pooled.desk("ann"), "1")
    ann.grade("c", 1)
    assign(pooled, ["ben"], existing=Existing.REPLACE)
    stored = stored_rows(collection_name)["assignment"]
    positions = {(row[2], row[3]): row[4] for row in stored if row[1] == 1}
    # By docno a, b, c, d: c lay at 2, and ben's four come after it.
    (kept,) = (position for (_, judge), position in positions.items() if judge == 1)
    assert kept == 2
    assert sorted(p for (_, judge), p in positions.items() if judge == 2) == [3, 4, 5, 6]


def test_workload_counts_every_kind_of_place(pooled: Collection, collection_name: str) -> None:
    """By judge: topics, documents, purposes, decided, claimed, lapsed, and until when."""

    def make(_documents: Sequence[Assignable]) -> AssignmentPlan:
        kinds = [
            ("1", "a", Purpose.CALIBRATION), ("1", "b", Purpose.OVERLAP),
            ("1", "c", Purpose.PRIMARY), ("10", "a", Purpose.PRIMARY),
        ]  # fmt: skip
        made = [Place(*kind[:2], None, kind[2], n // 2, "docno") for n, kind in enumerate(kinds * 2)]
        return AssignmentPlan(made, {}, 600)

    assert pooled.assignments.workloads() == Workloads([], pooled=6, unassigned=6, outside=0)
    pooled.assignments.make(EVERYTHING, make, existing=Existing.REFUSE)
    everything_open = Workload(None, 2, 4, 4, 2, 2, 0, 0, 0, None)
    assert pooled.assignments.workloads() == Workloads([everything_open], pooled=6, unassigned=2)
    assert pooled.desk("ben").claim("10")
    let_lapse(collection_name)
    start = datetime.now(UTC)
    ann = pooled.desk("ann")
    ann.claim("1")
    sitting = JudgeAtWork(ann, "1")
    sitting.grade("a", 1)
    sitting.act("b", Action.SKIP)
    found = pooled.assignments.workloads()
    assert [line.judge for line in found.lines] == ["ann", "ben", None]
    of_ann, of_ben, of_nobody = found.lines
    assert of_ann.until is not None
    assert 500 < (of_ann.until - start).total_seconds() < 700
    assert of_ann == Workload("ann", 1, 3, 1, 1, 1, 1, 2, 0, of_ann.until)
    assert of_ben == Workload("ben", 1, 1, 1, 0, 0, 0, 0, 1, None)
    assert of_nobody == Workload(None, 2, 4, 2, 1, 1, 0, 0, 0, None)
    assert (of_ann.places, of_ann.left, of_nobody.left) == (3, 2, 4)
    pooled.pools.withdraw("first")
    # Of the places, those at 1 c (in `second` too) alone are at a pooled document.
    found = pooled.assignments.workloads()
    assert [(line.judge, line.places) for line in found.lines] == [("ann", 1), (None, 1)]
    assert (found.pooled, found.unassigned, found.outside) == (3, 2, 6)


LEASE_S = 600


@pytest.fixture
def ready(collection: Collection) -> Collection:
    """Make two topics pooled in an order of their own, and three judges."""
    for judge in ("ann", "bob", "cy"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    manifest = {"strategy": "depth", "out_order": "priority"}
    collection.pools.add(make_pool({"1": "dbac", "2": "ea"}, manifest=manifest, round="3"))
    return collection


def laid(collection: Collection, judge: str, topic: str = "1") -> str:
    """Return the docnos before a judge, in order."""
    return "".join(task.docno for task in collection.desk(judge).queue(topic))


def inbox(collection: Collection, judge: str) -> list[tuple[str, int, int]]:
    """Return topic, documents and documents left of each line of an inbox."""
    return [(line.topic, line.documents, line.left) for line in collection.desk(judge).inbox()]


def test_one_assignment_ends_that_for_everybody(ready: Collection, collection_name: str) -> None:
    """From the first place on, a judge has what has a place, in the place's order, or nothing."""
    held_place(collection_name, "1", "ad", "ann", display_order="random", order_seed=3)
    held_place(collection_name, "2", "a", "bob")
    assert (laid(ready, "ann"), laid(ready, "bob"), laid(ready, "cy")) == ("ad", "", "")
    assert (laid(ready, "ann", "2"), laid(ready, "bob", "2")) == ("", "a")
    assert (inbox(ready, "ann"), inbox(ready, "bob"), inbox(ready, "cy")) == (
        [("1", 2, 2)],
        [("2", 1, 1)],
        [],
    )


def test_event_says_the_order_of_the_place_and_the_round_of_the_pool(
    ready: Collection, collection_name: str
) -> None:
    """Where something is assigned the judge's own order is the one that was seen."""
    held_place(collection_name, "1", "ca", "ann", display_order="random", order_seed=99)
    JudgeAtWork(ready.desk("ann"), "1").act("c", Action.JUDGE, grade=1, position=0)
    with reading(ready._db.engine) as session:
        queue = fetch_queue(session, 1, 1)
    assert [(one.docno, one.display_order, one.order_seed, one.round) for one in queue] == [
        ("c", "random", 99, "3"),
        ("a", "random", 99, "3"),
    ]


def test_assigned_but_no_longer_pooled_is_not_shown(ready: Collection, collection_name: str) -> None:
    """A place at a document of withdrawn pools is none; it comes back with another pool."""
    held_place(collection_name, "1", "bd", "ann", first=7)
    held_place(collection_name, "1", "ac", "ann", first=3)
    assert laid(ready, "ann") == "acbd"  # by position, with gaps, whichever plan was first
    assert ready.pools.withdraw("pool")
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("", [])
    ready.pools.add(make_pool({"1": "xa"}, name="second", round="4"))
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("a", [("1", 1, 1)])


def test_documents_not_sampled_are_not_shown(ready: Collection, collection_name: str) -> None:
    """Listed in a stratum alone, a document is nobody's to judge."""
    change_stored(
        collection_name,
        "UPDATE pool_entry SET sampled = FALSE WHERE document_id IN"
        " (SELECT id FROM document WHERE docno = 'b')",
    )
    assert laid(ready, "ann") == "dac"
    held_place(collection_name, "1", "ab", "ann")
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("a", [("1", 1, 1)])


def test_inbox_and_queue_count_the_same(ready: Collection, collection_name: str) -> None:
    """However documents are laid, the inbox has as many as the queue."""
    ready.pools.add(make_pool({"1": "az", "2": "z"}, name="second"))
    held_place(collection_name, "1", "abz", "ann")
    held_place(collection_name, "2", "ez", "bob")
    held_place(collection_name, "1", "b", "bob")
    for number, judge in enumerate(("ann", "bob", "cy"), 1):
        with reading(ready._db.engine) as session:
            queues = count_queues(session, number)
        shown = {topic: len(laid(ready, judge, topic)) for topic in ("1", "2") if laid(ready, judge, topic)}
        assert {str(topic): count for topic, count in queues.items()} == shown
        assert {line.topic: line.documents for line in ready.desk(judge).inbox()} == shown


def test_open_places_are_counted_and_claimed(ready: Collection, collection_name: str) -> None:
    """What may be claimed is counted as left; claiming brings it into the queue, in plan order."""
    held_place(collection_name, "1", "cabd", None, lease_s=LEASE_S)
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("", [("1", 4, 4)])
    ann = ready.desk("ann")
    assert ann.claimable("1") == 4
    assert ann.claim("1")
    assert laid(ready, "ann") == "cab"
    assert inbox(ready, "ann") == [("1", 4, 4)]
    assert (inbox(ready, "bob"), ready.desk("bob").claimable("1")) == ([("1", 1, 1)], 1)
    bob = ready.desk("bob")
    assert bob.claim("1")
    assert not bob.claim("1")
    assert laid(ready, "bob") == "d"
    assert (inbox(ready, "ann"), inbox(ready, "cy")) == ([("1", 3, 3)], [])


@pytest.mark.parametrize("end", ["undo", "keep"])
def test_nothing_is_left_of_a_decision_whose_place_was_lost(
    ready: Collection, collection_name: str, end: str
) -> None:
    """Undo and keep write nothing either once the place is another judge's."""
    held_place(collection_name, "1", "a", None, lease_s=LEASE_S)
    ann, bob = ready.desk("ann"), ready.desk("bob")
    ann.claim("1")
    sitting = JudgeAtWork(ann, "1")
    sitting.act("a", Action.SKIP)
    let_lapse(collection_name, "ann")
    bob.claim("1")
    before = places(collection_name)
    with pytest.raises(ConflictError, match="not assigned to you"):
        ann.undo() if end == "undo" else ann.record_and_undo(Decision("1", "a", Action.JUDGE, 1))
    assert places(collection_name) == before
    assert [one.revision for one in ann.events_of("1", "a")] == [1]


def test_drawn_documents_count_until_something_is_assigned(ready: Collection, collection_name: str) -> None:
    """What adaptive pools may draw is left to do only where documents are not assigned."""
    ready.pools.add(adaptive_pool({"1": "xyz"}, 2))
    with reading(ready._db.engine) as session:
        assert count_undrawn(session) == {1: 2}
        assert claimable(session, 1) == {}
    assert inbox(ready, "ann") == [("1", 6, 6), ("2", 2, 2)]
    ready.pools.draw("live", "1", ends("xyz"))
    assert inbox(ready, "ann") == [("1", 6, 6), ("2", 2, 2)]
    held_place(collection_name, "1", "ax", "ann")
    with reading(ready._db.engine) as session:
        assert count_undrawn(session) == {}
    assert (laid(ready, "ann"), inbox(ready, "ann")) == ("ax", [("1", 2, 2)])


def test_counts_of_what_others_did_are_not_in_an_inbox(ready: Collection, collection_name: str) -> None:
    """With two places at every document, what one judge did leaves the other's inbox as it was."""
    for _ in range(2):
        held_place(collection_name, "1", "abcd", None, lease_s=LEASE_S)
    ann, bob = ready.desk("ann"), ready.desk("bob")
    bob.claim("1")
    before = inbox(ready, "bob"), laid(ready, "bob"), bob.claimable("1")
    while ann.claim("1"):
        pass
    sitting = JudgeAtWork(ann, "1")
    for docno, grade in zip("abcd", (0, 1, 2, 0), strict=True):
        sitting.grade(docno, grade)
    assert (inbox(ready, "bob"), laid(ready, "bob"), bob.claimable("1")) == before
    assert isinstance(ready.desk("bob").inbox()[0], InboxLine)


def test_standings_of_every_state(collection: Collection) -> None:
    """By hand: see `tests.helpers.filled_collection.fill` for who did what."""
    fill_collection(collection)
    both, main, late = (frozenset(names) for names in (("main", "late"), ("main",), ("late",)))
    assert collection.pool_changes.pair_states() == {
        ("1", "a"): PairState(both, State.JUDGED, 0),
        ("1", "b"): PairState(main, State.JUDGED, 2),  # bob cannot judge it: ann's grade stands
        ("1", "c"): PairState(main, State.JUDGED, 1),  # ann skipped it
        ("1", "d"): PairState(main, State.CANNOT),
        ("1", "e"): PairState(main, State.UNJUDGED),  # a note is no judgement
        ("1", "f"): PairState(main, State.UNJUDGED),
        ("1", "g"): PairState(late, State.UNJUDGED),
        ("1", "h"): PairState(frozenset(), State.JUDGED, 1),  # its pool is withdrawn
        ("2", "a"): PairState(main, State.UNJUDGED),
        ("3", "z"): PairState(frozenset(), State.JUDGED, 2),
    }


def test_what_an_adaptive_pool_may_draw_is_not_pooled(collection: Collection) -> None:
    """Only what was drawn is to be judged."""
    collection.pools.add(adaptive_pool({"1": list("abc")}, budget=2, name="live"))
    assert collection.pool_changes.pair_states() == {}
    collection.pools.draw("live", "1", lambda _draws: "b")
    assert collection.pool_changes.pair_states() == {
        ("1", "b"): PairState(frozenset({"live"}), State.UNJUDGED)
    }


def test_prospects_name_decisions_judges_and_no_plan(collection: Collection) -> None:
    """People alone count; h was graded by ann before its pool was withdrawn; q nobody knows."""
    fill_collection(collection)
    collection.judges.add("gpt", JudgeKind.MODEL)
    collection.judges.add("eve", JudgeKind.HUMAN)
    collection.judges.set_disabled(["eve"], disabled=True)
    found = collection.pool_changes.if_pooled([("1", "h"), ("3", "z"), ("9", "q"), ("1", "c")])
    assert (found.judges, found.plan) == (("ann", "bob"), None)
    assert found.documents == (
        Assignable("1", "h", decided=frozenset({"ann"})),
        Assignable("3", "z"),
        Assignable("9", "q"),
        Assignable("1", "c", decided=frozenset({"bob"})),  # ann skipped it
    )


def test_prospects_know_places_and_the_newest_plan(collection: Collection) -> None:
    """Places at documents whose pool is withdrawn are there still."""
    fill_collection(collection)

    def make(number: int, docno: str, judge: str | None) -> None:
        def plan(_documents: Sequence[Assignable]) -> AssignmentPlan:
            place = Place("1", docno, judge, Purpose.PRIMARY, 0, "docno")
            return AssignmentPlan([place], {"seed": number}, None if judge else 60)

        collection.assignments.make(Scope(), plan, existing=Existing.ADD)

    make(1, "g", "bob")
    make(2, "f", None)
    collection.pools.withdraw("late")
    found = collection.pool_changes.if_pooled([("1", "g"), ("1", "f")])
    assert found.plan == {"seed": 2}
    assert found.documents == (
        Assignable("1", "g", holders=frozenset({"bob"})),
        Assignable("1", "f", n_open=1),
    )
