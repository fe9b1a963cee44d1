"""What new documents cost: by hand, and against the places that `pooler assign` would make."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.assigning import AssignmentOptions, plan_assignment
from pooler.pools.change import (
    NO_JUDGES,
    NO_PLAN,
    NO_TIMES,
    NOT_ASSIGNED,
    OTHERS_TIMES,
    judging_cost,
    total_seconds,
)
from store.judging.states import IfPooled
from store.records import Assignable

NEW = tuple(Assignable("1", docno) for docno in "abcd")


def plan_of(judges: list[str], **options: Any) -> dict[str, Any]:
    """Return the manifest of an assignment that was made."""
    made = plan_assignment(NEW, judges, AssignmentOptions(seed=1, **options))
    return dict(made.manifest)


def test_without_assignments_every_judge_judges_everything() -> None:
    """Four documents for two judges are eight judgements, less the one that ann has made."""
    new = (Assignable("1", "a", decided=frozenset({"ann"})), *NEW[1:])
    # Five decisions of 30 s on average: 3 x 30 s = 90 s; ben has his own pace, 60 s.
    times = {"ann": [10_000, 50_000, 30_000, 30_000, 30_000], "ben": [60_000] * 5, "gpt": [1] * 9}
    shares = judging_cost(IfPooled(new, ("ann", "ben"), None), times)
    assert [(one.judge, one.judgements, one.seconds, one.reason) for one in shares] == [
        ("ann", 3, 90.0, None),
        ("ben", 4, 240.0, None),
    ]
    assert total_seconds(shares) == 330


def test_a_judge_without_a_pace_is_counted_at_that_of_all() -> None:
    """Four decisions are too few of one's own; with nobody's there is a reason and no time."""
    if_pooled = IfPooled(NEW, ("ann", "ben"), None)
    shares = judging_cost(if_pooled, {"ann": [20_000] * 6, "ben": [60_000] * 4})
    # (6 x 20 + 4 x 60) / 10 = 36 s a decision of all.
    assert shares[1].seconds == pytest.approx(4 * 36)
    assert [one.reason for one in shares] == [None, OTHERS_TIMES]
    nobody = judging_cost(if_pooled, {"ben": [60_000] * 4})
    assert [(one.judgements, one.seconds, one.reason) for one in nobody] == [
        (4, None, NO_TIMES),
        (4, None, NO_TIMES),
    ]
    assert total_seconds(nobody) is None


def test_an_assignment_says_how_many_judges_a_document_gets() -> None:
    """Two of three judges a document, and one calibration document for all: 3 x 2 + 3 = 9."""
    plan = plan_of(["ann", "ben", "cat"], per_document=2, calibration=1)
    shares = judging_cost(IfPooled(NEW, ("ann", "ben", "cat", "dan"), plan), {})
    assert sum(one.judgements or 0 for one in shares) == 9
    assert {one.judge for one in shares} == {"ann", "ben", "cat"}


def test_places_to_claim_are_whoever_comes() -> None:
    """Where nobody is named, the judgements are nobody's yet, at the pace of all."""
    plan = plan_of([], per_document=2, lease_s=60)
    new = (Assignable("1", "a", decided=frozenset({"ann"})), *NEW[1:])
    shares = judging_cost(IfPooled(new, ("ann",), plan), {"ann": [1000] * 5})
    assert [(one.judge, one.judgements, one.seconds) for one in shares] == [(None, 7, 7.0)]


def test_places_that_wait_already_are_counted_as_they_are() -> None:
    """A document that left a pool with its places comes back with them."""
    new = (
        Assignable("1", "a", holders=frozenset({"ann", "ben"}), decided=frozenset({"ben"})),
        Assignable("1", "b", n_open=2),
    )
    plan = plan_of(["ann", "ben"], per_document=1)
    shares = judging_cost(IfPooled(new, ("ann", "ben"), plan), {})
    assert [(one.judge, one.judgements) for one in shares] == [("ann", 1), (None, 2)]


def test_a_plan_that_has_lost_its_seed_costs_as_much() -> None:
    """Erasing a judge of the plan takes its seed: two judgements a document stay two."""
    plan = plan_of(["ann", "ben"], per_document=2)
    del plan["seed"]
    shares = judging_cost(IfPooled(NEW, ("ann", "ben"), plan), {})
    assert [(one.judge, one.judgements) for one in shares] == [("ann", 4), ("ben", 4)]


def test_what_cannot_be_told_has_a_reason() -> None:
    """No judges; too few for the plan; an adaptive pool where documents are assigned."""
    plan = plan_of(["ann", "ben"], per_document=2)
    for if_pooled, drawable, reason in (
        (IfPooled(NEW, (), None), 0, NO_JUDGES),
        (IfPooled(NEW, ("ann",), plan), 0, NO_PLAN),
        (IfPooled((), ("ann", "ben"), plan), 3, NOT_ASSIGNED),
    ):
        (share,) = judging_cost(if_pooled, {}, drawable=drawable)
        assert (share.judgements, share.seconds, share.reason) == (None, None, reason)
    assert judging_cost(IfPooled((), (), None), {}) == []


def test_an_adaptive_pool_costs_at_most_its_budget() -> None:
    """Twelve documents that may be drawn are at most twelve judgements of every judge."""
    shares = judging_cost(IfPooled((), ("ann", "ben"), None), {}, drawable=12)
    assert [(one.judgements, one.is_at_most) for one in shares] == [(12, True), (12, True)]


@given(
    n_documents=st.integers(1, 12),
    n_judges=st.integers(2, 4),
    per_document=st.integers(1, 2),
    overlap=st.sampled_from([0.0, 0.25, 0.5]),
    decided=st.lists(st.sets(st.sampled_from("abcd")), min_size=12, max_size=12),
)
def test_the_count_is_of_the_places_that_would_be_made(
    n_documents: int, n_judges: int, per_document: int, overlap: float, decided: list[set[str]]
) -> None:
    """Every place of the plan continued is a judgement, but where its judge has decided."""
    judges = list("abcd"[:n_judges])
    overlap = overlap if per_document < n_judges else 0.0
    made = plan_assignment(NEW, judges, AssignmentOptions(seed=3, per_document=per_document, overlap=overlap))
    new = tuple(
        Assignable("7", f"d{number}", decided=frozenset(some & set(judges)))
        for number, some in enumerate(decided[:n_documents])
    )
    options = AssignmentOptions(seed=3, per_document=per_document, overlap=overlap)
    expected: Counter[str | None] = Counter()
    for place in plan_assignment(new, judges, options).places:
        one = next(one for one in new if one.docno == place.docno)
        expected[place.judge] += place.judge not in one.decided
    shares = judging_cost(IfPooled(new, tuple(judges), made.manifest), {})
    assert {one.judge: one.judgements for one in shares} == {judge: n for judge, n in expected.items() if n}
