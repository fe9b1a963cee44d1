"""What a judge waits for where the server guards every row, beside a collection without roles.

`POOLER_BENCH_SAVES` is how many saves of each are timed (default 200), in turns, on one server.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator

import pytest

from store.collection import Collection
from store.db.login import Role
from store.formats.scale import parse_scale
from store.records import Action, Decision, Document, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.run import run_inside
from tests.roles.served import Served, empty_database

pytestmark = pytest.mark.benchmark

SAVES = int(os.environ.get("POOLER_BENCH_SAVES", "200"))
DOCUMENTS = 50
"""Of a topic."""


def make(served: Served, *, with_roles: bool) -> str:
    """Make a collection of places to be claimed, two at every document; return alice's address."""
    topics = [str(number) for number in range(SAVES // DOCUMENTS + 1)]
    Collection.create(served.owner, name="bench", scale=parse_scale("0-3"), program="bench").close()
    with Collection(served.owner) as collection:
        collection.topics.add([Topic(topic, "title") for topic in topics])
        pairs = [(topic, f"d{topic}-{place}", place) for topic in topics for place in range(DOCUMENTS)]
        collection.pools.add(Pool([PoolEntry(*pair) for pair in pairs], {"strategy": "depth"}))
        collection.documents.add([Document(docno, "", "text " * 200) for _, docno, _ in pairs])
        for name in ("alice", "bob"):
            collection.judges.add(name, JudgeKind.HUMAN)
        if with_roles:
            collection.roles.grant(served.login("alice"), Role.JUDGE, judge="alice")
    claim = ("assign", "--claim", "--per-document", "2", "--seed", "1")
    run_inside(*claim, "--collection", served.owner).fine()
    return served.url("alice") if with_roles else served.owner


def timed(place: str, saves: list[float], claims: list[float]) -> Iterator[None]:
    """Claim and judge as a screen does, one document at a time; a step a save."""
    with Collection(place) as collection:
        desk = collection.desk("alice", program="bench")
        for line in desk.inbox():
            desk.topic(line.topic)
            while True:
                began = time.perf_counter()
                is_claimed = desk.claim(line.topic)
                queue = [task for task in desk.queue(line.topic) if not task.revision]
                claims.append(time.perf_counter() - began)
                if not is_claimed:
                    break
                for task in queue:
                    page = desk.page(task.docno)
                    decision = Decision(
                        line.topic, task.docno, Action.JUDGE, 1, position=0, document_sha256=page.sha256
                    )
                    began = time.perf_counter()
                    desk.record(decision)
                    saves.append(time.perf_counter() - began)
                    yield
        desk.leave()


def quantiles(seconds: list[float]) -> str:
    """Write the middle one of some times, and that which 19 of 20 stay below."""
    rising = sorted(1000 * one for one in seconds)
    return f"p50 {rising[len(rising) // 2]:6.2f}  p95 {rising[int(0.95 * len(rising))]:6.2f} ms"


def test_save_speed_with_roles(postgres_server: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Print the time of a save and of a claim, without roles and as a judge's own login."""
    times: dict[str, tuple[list[float], list[float]]] = {}
    going = {}
    for name, with_roles in (("without roles", False), ("with roles", True)):
        place = make(empty_database(postgres_server), with_roles=with_roles)
        times[name] = ([], [])
        going[name] = timed(place, *times[name])
    for _ in range(SAVES):
        for one in going.values():
            next(one, None)
    p95 = [sorted(saves)[int(0.95 * len(saves))] for saves, _ in times.values()]
    with capsys.disabled():
        sys.stdout.write(f"\n\na save, and a claim with its queue, {SAVES} saves each, in turns\n")
        for name, (saves, claims) in times.items():
            sys.stdout.write(f"  {name:14} save {quantiles(saves)}   claim and queue {quantiles(claims)}\n")
        sys.stdout.write(f"  p95 of a save with roles / without: {p95[1] / p95[0]:.2f} (aim: at most 1.3)\n")
