"""Several programs claim at once, or are killed: every document gets exactly its judges."""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import threading
import time
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess

import pytest

from store.collection import Collection
from store.db.engine import writing
from store.errors import ConflictError
from store.judging.assignments import claim, hold
from store.judging.desk import Desk
from store.records import Existing, JudgeKind, State
from tests.helpers.world import make_pool, parse_scale
from tests.store.claiming import (
    PEOPLE,
    assign,
    assign_open,
    claim_and_judge,
    decisions,
    let_lapse,
    places,
    shown,
    sit,
    take,
)

ANN, CAT = 1, 3
"""Row ids."""
processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["tests.store.claiming", "tests.helpers.world"])


def waits(act: threading.Thread, seconds: float = 0.3) -> bool:
    """Start a thread and say whether it is still at it after a while."""
    act.start()
    act.join(seconds)
    return act.is_alive()


def test_claims_pass_over_what_others_are_claiming(postgres_url: str) -> None:
    """On PostgreSQL a claim waits for no other judge's: it takes the next documents at once."""
    with made_pool(postgres_url) as pooled:
        assign_open(pooled, 1)
        with writing(pooled._db.engine) as session:
            assert claim(session, ANN, 1, n=2) == [1, 2]
            assert take(pooled, "ben", 2) == [3, 4]
            assert take(pooled, "cat", 9) == [5, 6]
        assert take(pooled, "cat", 1) == []


def test_one_judge_twice_waits_for_itself(postgres_url: str) -> None:
    """On PostgreSQL two programs of one judge never get two places of one document."""
    with made_pool(postgres_url) as pooled:
        assign_open(pooled, 2)
        got: list[list[int]] = []
        thread = threading.Thread(target=lambda: got.append(take(pooled, "ann", 2)))
        with writing(pooled._db.engine) as session:
            assert claim(session, ANN, 1, n=2) == [1, 2]
            assert waits(thread)
        thread.join()
        assert got == [[3, 4]]


def test_late_judge_and_a_new_one_never_both_decide(postgres_url: str) -> None:
    """On PostgreSQL a late decision and another judge's claim of the place exclude each other."""
    with made_pool(postgres_url) as pooled:
        assign_open(pooled, 1)
        take(pooled, "ann", 6)
        let_lapse(postgres_url)
        with writing(pooled._db.engine) as session:
            hold(session, ANN, 1, 1, decided=True)
            assert take(pooled, "ben", 1) == [2]
        late = sit(pooled, "ann")
        errors: list[ConflictError] = []

        def decide() -> None:
            try:
                late.grade("c", 1)
            except ConflictError as error:
                errors.append(error)

        thread = threading.Thread(target=decide)
        with writing(pooled._db.engine) as session:
            assert claim(session, CAT, 1, n=1) == [3]
            assert waits(thread)
        thread.join()
        assert len(errors) == 1
        assert decisions(postgres_url) == {}


def test_assigning_waits_for_decisions_that_are_being_written(postgres_url: str) -> None:
    """On PostgreSQL a decision that was under way counts: it is not given to another judge."""
    with made_pool(postgres_url) as pooled:
        late = sit(pooled, "ann")
        late.desk._sit()
        thread = threading.Thread(target=lambda: assign(pooled, ["ben"], existing=Existing.REPLACE))
        with writing(pooled._db.engine) as session:
            hold(session, ANN, 1, 1, decided=True)
            assert waits(thread)
        thread.join()
        assert shown(pooled, "ben") == list("abcdef")


@contextlib.contextmanager
def made_pool(name: str) -> Iterator[Collection]:
    """Make a collection with the pool and the judges of `pooled`."""
    made = Collection.create(name, name="x", scale=parse_scale("0-2"), program="x")
    with made as collection:
        collection.pools.add(make_pool({"1": list("abcdef"), "2": ["a", "b"]}))
        for judge in PEOPLE:
            collection.judges.add(judge, JudgeKind.HUMAN)
        yield collection


def start_claiming(
    name: str, n_processes: int, n_documents: int, *, whim: float, patience_s: float
) -> list[ForkServerProcess]:
    """Start processes that claim the documents of one pool, k=2; three are one and the same judge.

    Nobody waits for the judges who go for good: others take what they had claimed.
    """
    docnos = [f"d{number:03d}" for number in range(n_documents)]
    made = Collection.create(name, name="x", scale=parse_scale("0-2"), program="x")
    with made as collection:
        collection.pools.add(make_pool({"1": docnos}))
        for number in range(n_processes):
            collection.judges.add(f"j{number}", JudgeKind.HUMAN)
        assign_open(collection, 2, lease_s=1)
    start = time.monotonic() + 1
    started = []
    for number in range(n_processes):
        judge = f"j{number}" if number > 2 else "j0"
        # The first ones stay to the end, whatever happens.
        steady = number < n_processes // 3
        arguments = (name, judge, number, patience_s, 0.0 if steady else whim, start)
        process = processes.Process(target=claim_and_judge, args=arguments)
        process.start()
        started.append(process)
    return started


def check_exactly_two(name: str, n_documents: int) -> None:
    """Check that every document has two judges with decisions, and no place is left over."""
    decided = decisions(name)
    assert len(decided) == n_documents
    assert {len(judges) for judges in decided.values()} == {2}
    rows = places(name)
    assert len(rows) == 2 * n_documents
    assert {(docno, judge) for _, docno, judge, _ in rows} == {
        (docno, judge) for docno, judges in decided.items() for judge in judges
    }
    assert not any(lease for *_, lease in rows)
    with Collection(name) as collection:
        for judge in collection.judges.all():
            desk: Desk = collection.desk(judge.name)
            assert desk.claim("1") is False
            assert desk.claimable("1") == 0
            for task in desk.queue("1"):
                assert task.state is State.JUDGED


def kill_some(started: list[ForkServerProcess], n: int, seconds: float) -> None:
    """Kill some of the unsteady processes at random moments, and wait for all to end."""
    dice = random.Random(4)
    time.sleep(1)
    n_steady = len(started) // 3
    for process in dice.sample(started[n_steady:], n):
        time.sleep(dice.random() * seconds / n)
        process.kill()
    for process in started:
        process.join(120)
    # 0 = saw it through, 7 = went without a word, -9 = killed.
    assert [process.exitcode for process in started[:n_steady]] == [0] * n_steady
    assert {process.exitcode for process in started} <= {0, 7, -9}


@pytest.mark.slow
def test_twenty_processes_claim_every_document_exactly_twice(collection_name: str) -> None:
    """Twenty processes, some killed, some gone without a word: two judges each, none abandoned."""
    started = start_claiming(collection_name, 20, 24, whim=0.1, patience_s=60)
    kill_some(started, 4, 0.5)
    check_exactly_two(collection_name, 24)
