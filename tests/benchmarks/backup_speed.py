"""Backup, verify, copy and restore while four processes judge, beside SQLite's own ways to copy.

`POOLER_BENCH_MB` is the size of the collection (default 500). Printed: how long each takes, and the
longest that a judge waited for a commit, with nothing else going on and during each. Indented: what
others would do, which copies without checking; `cp` lacks what is in the log.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection as Pipe
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import insert

from store.collection import Collection
from store.content.runs import add_rankings
from store.db.engine import collection_url
from store.db.packing import pack_ranking
from store.db.tables import JUDGEMENT
from store.errors import StoreError
from store.formats.scale import parse_scale
from store.keeping.backup import back_up, restore
from store.keeping.verify import verify
from store.records import Document, JudgeKind, StoredRun
from tests.benchmarks.timing import in_folder
from tests.helpers.world import JudgeAtWork, carry, make_pool

MEGABYTES = int(os.environ.get("POOLER_BENCH_MB", "500"))
TOPICS, POOLED, JUDGES = 50, 2000, 4
RUN_DOCUMENTS = 1000
TEXT = 2000
"""Characters of a document."""
THINK_S = 0.05
PATIENCE_S = 30
processes = multiprocessing.get_context("forkserver")


def make_collection(place: Path) -> None:
    """Make a collection of some size: half texts, half rankings, and 200,000 judgements."""
    n_documents = MEGABYTES * 280_000 // TEXT
    n_runs = max(1, MEGABYTES * 240_000 // (TOPICS * RUN_DOCUMENTS * 8))
    docnos = [f"d{number:07}" for number in range(n_documents)]
    topics = [str(number + 1) for number in range(TOPICS)]
    rng = np.random.default_rng(1)
    with Collection.create(str(place), name="large", scale=parse_scale("0-2"), program="x") as made:
        made.documents.add(
            (Document(docno, docno, rng.bytes(TEXT // 2).hex()) for docno in docnos), all_texts=True
        )
        chosen = {
            topic: [docnos[number] for number in rng.choice(n_documents, POOLED, replace=False)]
            for topic in topics
        }
        made.pools.add(make_pool(chosen))
        for number in range(JUDGES):
            made.judges.add(f"j{number}", JudgeKind.HUMAN)
        with made.being_filled() as (session, topic_keys, document_keys):
            ids = document_keys.ids
            for number in range(n_runs):
                tag = f"run{number}"
                about = StoredRun(tag, "", True, hashlib.sha256(tag.encode()).hexdigest(), tag)
                packed = []
                for topic in topics:
                    best = rng.choice(n_documents, RUN_DOCUMENTS, replace=False)
                    names = [docnos[one] for one in best]
                    numbers = np.array([ids[name] for name in names], np.int32)
                    scores = np.sort(rng.random(RUN_DOCUMENTS))[::-1]
                    packed.append(pack_ranking(topic, names, numbers, scores, None))
                add_rankings(session, topic_keys, about, packed)
            rows: list[dict[str, Any]] = [
                {
                    "topic_id": topic_keys.ids[topic], "document_id": ids[docno],
                    "judge_id": judge_id, "revision": 1, "action": "judge", "state": "judged",
                    "grade": 1, "reason": "", "note": "", "iteration": "0", "dropped_keys": 0,
                    "judged_at": datetime(2025, 1, 1, tzinfo=UTC),
                }
                for judge_id in (1, 2) for topic in topics for docno in chosen[topic]
            ]  # fmt: skip
            session.connection().execute(insert(JUDGEMENT), rows)


def work(name: str, judge_name: str, stop: Event, waits: Pipe) -> None:
    """Grade one document after another; at the end send when each was begun and how long it took.

    Runs in a process of its own.
    """
    with Collection(name) as collection:
        number = int(judge_name[1:])
        sitting = JudgeAtWork(collection.desk(judge_name), str(number + 1))
        docnos = list(sitting.tasks)
        grades, waited = 0, []
        while not stop.is_set():
            time.sleep(THINK_S)
            began = time.monotonic()
            while True:
                with suppress(StoreError):  # told to wait, a judge tries again
                    sitting.grade(docnos[grades % len(docnos)], (grades + 2) % 3)
                    break
            waited.append((began, time.monotonic() - began))
            grades += 1
        sitting.desk.leave()
    # A pipe that nobody reads meanwhile would make the judge wait.
    waits.send(waited)
    waits.close()


def copy_at_once(place: Path, file: Path) -> bool:
    """Do what `.backup` of the sqlite3 shell does: 100 pages a step, with no check of the copy.

    It begins again whenever somebody has written, so that it may never end: half a minute is given.
    Returns whether it did.
    """
    end = time.monotonic() + PATIENCE_S

    def step(_status: int, remaining: int, _total: int) -> None:
        if remaining and time.monotonic() > end:
            raise TimeoutError

    with (
        suppress(TimeoutError),
        closing(sqlite3.connect(place)) as source,
        closing(sqlite3.connect(file)) as target,
    ):
        source.backup(target, pages=100, progress=step)
        return True
    return False


def vacuum_into(place: Path, file: Path) -> None:
    """Let SQLite write all rows anew."""
    with closing(sqlite3.connect(place)) as source:
        source.execute("VACUUM INTO ?", [str(file)])


def backup_speed(folder: Path) -> None:
    """Print how long backup, verify, copy and restore take, and how long judges wait meanwhile."""
    place, file = folder / "large.db", folder / "large.backup"
    make_collection(place)
    url = collection_url(str(place))
    stop = processes.Event()
    pipes = [processes.Pipe(duplex=False) for _ in range(JUDGES)]
    judges = [
        processes.Process(target=work, args=(str(place), f"j{number}", stop, sender))
        for number, (_, sender) in enumerate(pipes)
    ]
    for one in judges:
        one.start()
    for _, sender in pipes:
        sender.close()
    time.sleep(5)
    asked: dict[str, Callable[[], object]] = {
        "nothing else": lambda: time.sleep(5),
        "backup": lambda: back_up(url, file),
        "backup again": lambda: back_up(url, file, replaces=True),
        "  sqlite3 .backup": lambda: copy_at_once(place, folder / "peer.db"),
        "  VACUUM INTO": lambda: vacuum_into(place, folder / "vacuumed.db"),
        "  cp (unsafe)": lambda: subprocess.run(["cp", place, folder / "cp.db"], check=True),
        "verify": lambda: verify(url),
        "copy to a file": lambda: carry(url, str(folder / "c.db")),
        "restore": lambda: restore(file, collection_url(str(folder / "r.db"))),
    }
    spans, unended = {}, set()
    for name, call in asked.items():
        began = time.monotonic()
        unended |= {name} if call() is False else set()
        spans[name] = (began, time.monotonic())
    stop.set()
    commits: list[tuple[float, float]] = []
    for receiver, _ in pipes:
        commits += receiver.recv()
    for one in judges:
        one.join()
    size = place.stat().st_size / 1e6
    print(f"collection of {size:.0f} MB, {JUDGES} processes judging")
    for name, (began, ended) in spans.items():
        waits = [took for start, took in commits if start < ended and start + took > began]
        if not waits:
            print(f"  {name:18} {ended - began:6.2f} s   no commit")
            continue
        print(
            f"  {name:18} {ended - began:6.2f} s   {len(waits):5} commits,"
            f" median {np.median(waits) * 1000:6.1f} ms, longest {max(waits) * 1000:6.1f} ms"
            f"{'   did not end' if name in unended else ''}"
        )


if __name__ == "__main__":
    in_folder(backup_speed)
