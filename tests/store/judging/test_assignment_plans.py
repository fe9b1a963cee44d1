"""Plans of places: stored whole or not at all, cleared but for decisions, and counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from store.collection import Collection
from store.errors import ConflictError
from store.records import (
    Action,
    Assignable,
    AssignmentPlan,
    Cleared,
    Existing,
    JudgeKind,
    Place,
    Pool,
    PoolEntry,
    Purpose,
    Scope,
    Workload,
    Workloads,
)
from tests.helpers.world import JudgeAtWork, change_stored, count_rows, make_pool, stored_rows
from tests.store.claiming import assign, assign_open, let_lapse, places
from tests.store.drawing import adaptive_pool

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


def test_planner_is_not_given_what_adaptive_pools_alone_drew(pooled: Collection) -> None:
    """Named or not, an adaptive pool has nothing to assign; what another pool has, that has."""
    before = given_to_the_planner(pooled)
    pooled.pools.add(adaptive_pool({"1": ["a", "x"]}, 2))
    for docno in "ax":
        pooled.pools.draw("live", "1", lambda _, docno=docno: docno)  # type: ignore[misc]
    assert given_to_the_planner(pooled) == before
    assert given_to_the_planner(pooled, Scope(("live",))) == []
    assert pooled.assignments.workloads() == Workloads([], pooled=7, unassigned=6, drawn=1)


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


def test_places_in_the_way_are_refused_within_the_scope(pooled: Collection, collection_name: str) -> None:
    """Nothing is assigned twice unknowingly; another topic or pool is not in the way."""
    assign(pooled, ["ann"], scope=Scope(topics=("10",)))
    with pytest.raises(ConflictError, match="documents are assigned already: 1 assignment") as caught:
        assign(pooled, ["ben"])
    assert caught.value.hint is not None
    assert "--add" in caught.value.hint
    assert "--replace" in caught.value.hint
    with pytest.raises(ConflictError):
        assign(pooled, ["ben"], scope=Scope(pools=("first",)))
    assert count_rows(collection_name)["assignment"] == 1
    assign(pooled, ["ben"], scope=Scope(pools=("second",)))
    assert count_rows(collection_name)["assignment"] == 4


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


def test_dry_run_counts_and_changes_nothing(pooled: Collection, collection_name: str) -> None:
    """What would come of it is told, and every table stays as it was."""
    assign(pooled, ["ann"])
    before = stored_rows(collection_name)
    cleared, after = pooled.assignments.clear(EVERYTHING, dry_run=True)
    assert (cleared, after.lines) == (Cleared(6, 0, 0), [])

    def make(documents: Sequence[Assignable]) -> AssignmentPlan:
        made = [Place(one.topic, one.docno, "ben", Purpose.PRIMARY, 0, "docno") for one in documents]
        return AssignmentPlan(made[:2], {})

    plan, cleared, after = pooled.assignments.make(EVERYTHING, make, existing=Existing.REPLACE, dry_run=True)
    assert (len(plan.places), cleared.removed, after.unassigned) == (2, 6, 4)
    assert [(line.judge, line.documents) for line in after.lines] == [("ben", 2)]
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
    assert [place[:3] for place in places(collection_name)] == [
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
    assert Counter(place[0] for place in places(collection_name)) == {"1": 2, "2": 1, "10": 1}
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


def test_open_places_are_assigned_again_after_clearing(pooled: Collection) -> None:
    """Without any place left, every judge is shown the whole pool again."""
    assign_open(pooled, 2)
    assert pooled.desk("ann").queue("1") == []
    pooled.assignments.clear(EVERYTHING)
    assert [task.docno for task in pooled.desk("ann").queue("1")] == ["c", "a", "b", "d"]
