"""Twenty judges claim while files are locked and processes killed: each decision is as typed."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from store.collection import Collection
from tests.helpers.world import engine_of
from tests.judge_ui.many_judges import Judge, prepare, work

JUDGES = 20
DOCUMENTS = int(os.environ.get("POOLER_ATTACKED", "400"))


@contextmanager
def locked_now_and_then(place: str, seed: int) -> Iterator[None]:
    """Hold what judges write to for up to 2.6 s, again and again."""
    dice, is_over = random.Random(seed), threading.Event()
    is_sqlite = "://" not in place

    def hold() -> None:
        with engine_of(place) as engine:
            while not is_over.wait(dice.uniform(0.1, 2.0)):
                held_s = dice.choice((0.05, 0.3, 1.0, 2.6))
                writer = engine.execution_options(pooler_writes=is_sqlite)  # it takes no turn
                with suppress(DBAPIError), writer.begin() as connection:
                    lock = "SELECT 1" if is_sqlite else "LOCK TABLE judgement IN EXCLUSIVE MODE"
                    connection.execute(text(lock))
                    time.sleep(held_s)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


@pytest.mark.long
def test_no_decision_is_lost_doubled_or_of_a_document_not_shown(collection_name: str) -> None:
    """Locks of up to 2.6 s, a judge killed every second and sitting down again."""
    names = prepare(collection_name, documents=DOCUMENTS, judges=JUDGES)
    dice = random.Random(7)
    judges = [Judge(collection_name, name, random.Random(name)) for name in names]
    n_killed, next_at = 0, time.monotonic() + 5

    def kill(now: float) -> None:
        nonlocal n_killed, next_at
        alive = [judge for judge in judges if not judge.is_done]
        if now < next_at or not alive:
            return
        judge = dice.choice(alive)
        judge.kill()
        judge.start()
        n_killed, next_at = n_killed + 1, now + dice.uniform(0.5, 1.5)

    with locked_now_and_then(collection_name, 7):
        work(judges, 0.2, kill)
    unsaved = sum(judge.n_unsaved for judge in judges)
    void = sum(judge.n_void for judge in judges)
    print(f"\n{n_killed} killed, {unsaved} NOT SAVED, {void} without a document")  # noqa: T201
    assert n_killed > 10
    with Collection(collection_name) as collection:
        stored = {(one.judge, one.docno): one for one in collection.judgements.current(names)}
    for judge in judges:
        here = {docno: one.grade for (name, docno), one in stored.items() if name == judge.name}
        sure = {docno: grade for docno, grade in judge.saved.items() if docno not in judge.doubtful}
        assert sure.items() <= here.items()
        for docno in here.keys() - sure.keys():
            assert here[docno] in (judge.doubtful.get(docno), judge.saved.get(docno))
    assert {one.revision for one in stored.values()} == {1}
    per_document = Counter(docno for _, docno in stored)
    assert set(per_document.values()) == {2}
    assert len(per_document) == DOCUMENTS
