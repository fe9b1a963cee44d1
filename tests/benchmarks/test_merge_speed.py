"""Five copies with 100,000 judgements each, merged: what the copies did apart, and what they share.

`POOLER_BENCH_EVENTS` is the number of judgements on each copy (default 100,000). Printed: how long
it takes to merge copies of five judges (nothing in common), copies on which one judge in five went
on everywhere (conflicts, settled by rule), and all of it once more (nothing new).
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from store.collection import Collection
from store.db.engine import writing
from store.db.raw import insert_raw
from store.db.tables import JUDGE, JUDGEMENT, SITTING
from store.formats.scale import parse_scale
from store.keeping.merge.copies import SettleRule
from store.keeping.merge.histories import HowToSettle
from store.records import JudgeKind
from tests.helpers.world import engine_of, make_pool

EVENTS = int(os.environ.get("POOLER_BENCH_EVENTS", "100000"))
TOPICS, COPIES = 50, 5
SHARE = 5
"""Of one in so many documents, the first judge decides on every copy."""
START = datetime(2026, 3, 1, tzinfo=UTC)


def base(place: Path) -> None:
    """Make a collection with a pool of so many documents, and five judges."""
    with Collection.create(str(place), name="large", scale=parse_scale("0-2"), program="x") as made:
        docnos = [f"d{number:06}" for number in range(EVENTS // TOPICS)]
        made.pools.add(make_pool({str(topic + 1): docnos for topic in range(TOPICS)}))
        for number in range(COPIES):
            made.judges.add(f"j{number}", JudgeKind.HUMAN)


def judge(place: Path, copy: int, name: str, *, every: int = 1) -> int:
    """Let a judge grade documents of a copy, as a desk would; return how many."""
    names = [column.name for column in JUDGEMENT.columns]
    with engine_of(str(place)) as engine, writing(engine) as session:
        judge_id = session.scalar(select(JUDGE.c.id).where(JUDGE.c.name == name))
        sitting: dict[str, Any] = {
            "judge_id": judge_id, "started_at": START, "seen_at": START, "host": f"laptop{copy}",
            "process": copy, "program": "x",
        }  # fmt: skip
        made = session.connection().execute(SITTING.insert().values(sitting))
        sitting_id = made.inserted_primary_key[0]
        pairs = session.connection().exec_driver_sql(
            "SELECT topic_id, document_id FROM pool_entry ORDER BY topic_id, document_id"
        ).all()[::every]  # fmt: skip
        first = session.connection().exec_driver_sql("SELECT max(id) FROM judgement").scalar() or 0

        def rows() -> Iterator[list[Any]]:
            for number, (topic, document) in enumerate(pairs):
                at = START + timedelta(seconds=4 * number + copy)
                moment = f"{at:%Y-%m-%d %H:%M:%S.%f}"
                values = {
                    "id": first + number + 1, "topic_id": topic, "document_id": document,
                    "judge_id": judge_id, "revision": 1, "action": "judge", "state": "judged",
                    "grade": (number + copy) % 3, "reason": b"", "note": b"", "iteration": "0",
                    "display_order": "docno", "position": number, "shown_at": moment,
                    "judged_at": moment, "dwell_ms": 3000, "active_ms": 3000, "dropped_keys": 0,
                    "sitting_id": sitting_id,
                }  # fmt: skip
                yield [values.get(name) for name in names]

        insert_raw(session, JUDGEMENT, rows())
    return len(pairs)


def timed(place: Path, others: list[Path], told: list[str], what: str) -> None:
    """Merge, and note how long it took."""
    began = time.perf_counter()
    with Collection(str(place)) as opened:
        done = opened.merge([str(other) for other in others], HowToSettle(SettleRule.LATEST))
    assert done.is_done
    new = sum(one.new for one in done.judges)
    seconds = time.perf_counter() - began
    told.append(f"{what}: {seconds:6.1f} s ({new:,} new events, {len(done.conflicts):,} conflicts)")


@pytest.mark.benchmark
def test_merge_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print how long it takes to merge five copies."""
    told: list[str] = []
    start = tmp_path / "base.db"
    base(start)
    for what, every in (("five judges, one a copy", 0), ("one judge in five on all", SHARE)):
        copies = [tmp_path / f"{every}-{number}.db" for number in range(COPIES)]
        for number, place in enumerate(copies):
            shutil.copy(start, place)
            judge(place, number, f"j{number}")
            if every and number:
                judge(place, number, "j0", every=every)
        whole = tmp_path / f"{every}.db"
        shutil.copy(start, whole)
        timed(whole, copies, told, what)
        timed(whole, copies, told, "  once more")
    shutil.copy(start, tmp_path / "cp.db")
    began = time.perf_counter()
    for place in tmp_path.glob("0-*.db"):
        shutil.copy(place, tmp_path / "cp.db")
    told.append(f"cp of the same five files: {time.perf_counter() - began:6.1f} s")
    with capsys.disabled():
        print(f"\nmerge of {COPIES} copies, {EVENTS:,} judgements each", *told, sep="\n  ")  # noqa: T201 - a benchmark prints
