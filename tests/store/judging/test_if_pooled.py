"""Who would judge documents that are not pooled yet."""

from __future__ import annotations

from collections.abc import Sequence

from store.collection import Collection
from store.records import Assignable, AssignmentPlan, Existing, JudgeKind, Place, Purpose, Scope
from tests.helpers.filled_collection import fill


def test_prospects_name_decisions_judges_and_no_plan(collection: Collection) -> None:
    """People alone count; h was graded by ann before its pool was withdrawn; q nobody knows."""
    fill(collection)
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
    fill(collection)

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
