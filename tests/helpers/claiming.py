"""Places in a collection, made without the planner, and processes that claim them."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import select

from store.collection import Collection
from store.db.engine import reading, writing
from store.db.tables import DOCUMENT, JUDGE, JUDGEMENT
from store.errors import StoreError
from store.judging.assignments import claim
from store.records import Assignable, AssignmentPlan, Existing, Place, Purpose, Scope, State
from tests.helpers.places import places as laid_places
from tests.helpers.world import JudgeAtWork, engine_of

PEOPLE = ("ann", "ben", "cat", "dan")
"""Judges whose row ids are 1 to 4."""


def assign(
    collection: Collection,
    judges: Sequence[str | None],
    *,
    lease_s: int | None = None,
    existing: Existing = Existing.REFUSE,
    scope: Scope | None = None,
) -> None:
    """Give every pooled document a place for each of some judges; ``None`` = open."""

    def make(documents: Sequence[Assignable]) -> AssignmentPlan:
        places = []
        positions: dict[str, int] = {}
        for one in documents:
            position = positions[one.topic] = positions.get(one.topic, -1) + 1
            for judge in judges:
                facts = (judge, Purpose.PRIMARY, position, "docno")
                places.append(Place(one.topic, one.docno, *facts))
        return AssignmentPlan(places, {"made by": "a test"}, lease_s)

    collection.assignments.make(scope or Scope(), make, existing=existing)


def assign_open(collection: Collection, k: int, *, lease_s: int = 600) -> None:
    """Give every pooled document so many open places."""
    assign(collection, [None] * k, lease_s=lease_s)


def sit(collection: Collection, judge: str, topic: str = "1") -> JudgeAtWork:
    """Sit a judge down at a topic."""
    return JudgeAtWork(collection.desk(judge), topic)


def take(collection: Collection, judge: str, n: int, topic: int = 1) -> list[int]:
    """Claim documents in a transaction."""
    with writing(collection._db.engine) as session:
        return claim(session, judge=PEOPLE.index(judge) + 1, topic=topic, n=n)


def shown(collection: Collection, judge: str, topic: str = "1") -> list[str]:
    """List what a judge is shown of a topic."""
    return list(sit(collection, judge, topic).tasks)


def places(name: str) -> list[tuple[str, str, str | None, bool]]:
    """List topic, docno, judge and whether there is a lease of every place, sorted."""
    return [(*place, until is not None) for *place, until in laid_places(name)]


def held(name: str, judge: str) -> list[str]:
    """List the documents that a judge has places at, sorted."""
    return sorted(docno for _, docno, holder, _ in places(name) if holder == judge)


def decisions(name: str) -> dict[str, set[str]]:
    """Return who judged each document of a collection of one topic, or found it impossible."""
    query = (
        select(DOCUMENT.c.docno, JUDGE.c.name, JUDGEMENT.c.state)
        .select_from(JUDGEMENT)
        .join(DOCUMENT)
        .join(JUDGE)
        .order_by(JUDGEMENT.c.revision)
    )
    with engine_of(name) as engine, reading(engine) as session:
        last = {(docno, judge): state for docno, judge, state in session.execute(query)}
    decided: dict[str, set[str]] = {}
    for (docno, judge), state in last.items():
        if state in (State.JUDGED.value, State.CANNOT.value):
            decided.setdefault(docno, set()).add(judge)
    return decided


def claim_and_judge(name: str, judge: str, seed: int, patience_s: float, whim: float, start: float) -> None:
    """Claim documents of topic 1 and judge them until none has a place without a decision.

    Runs in a process of its own, from a moment of `time.monotonic` on: a barrier would not survive
    that a process is killed in it. Before each document, with probability `whim` each, the judge
    leaves and comes back, looks away until the lease is over, or goes without a word and for good.
    What could not be written, because others were writing, is tried again.
    """
    dice = random.Random(seed)
    with Collection(name) as collection:
        desk = collection.desk(judge)
        time.sleep(max(0, start - time.monotonic()))
        while any(line.left for line in collection.assignments.workloads().lines):
            assert time.monotonic() < start + patience_s, "documents were abandoned"
            with suppress(StoreError):
                desk.claim("1")
            sitting = JudgeAtWork(desk, "1")
            waiting = [one for one in sitting.tasks.values() if one.state is State.UNJUDGED]
            for task in waiting:
                mood = dice.random()
                if mood < whim:
                    with suppress(StoreError):
                        desk.leave()
                    break
                if mood < 2 * whim:
                    time.sleep(1.1)
                elif mood < 3 * whim:
                    os._exit(7)
                with suppress(StoreError):
                    sitting.grade(task.docno, dice.randrange(3))
            if not waiting:
                time.sleep(0.1 + 0.2 * dice.random())
