"""`pooler agreement` on a large collection, process start to end, and the votes alone.

`POOLER_BENCH_JUDGEMENTS` is the number of judgements (default 1,000,000) of three judges on 50
topics, 0-3. scikit-learn and trectools are timed on kappa alone, from arrays and from qrels files
that are on disk already: they have no store to read. SQLite.
"""

from __future__ import annotations

import importlib.util
import os
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from store.collection import Collection
from store.formats.scale import parse_scale
from tests.benchmarks.test_pool_speed import REPEATS, median, timed

JUDGEMENTS = int(os.environ.get("POOLER_BENCH_JUDGEMENTS", "1000000"))
JUDGES, TOPICS = ("ann", "bob", "cy"), 50
PROGRAM = (sys.executable, "-m", "pooler.cli.main", "agreement")
SKLEARN = """
import sys, numpy as np
from sklearn.metrics import cohen_kappa_score
grades = np.load(sys.argv[1])
for a in range(3):
    for b in range(a + 1, 3):
        for weights in (None, "quadratic"):
            cohen_kappa_score(grades[a], grades[b], weights=weights)
"""
TRECTOOLS = """
import sys
from trectools import TrecQrel
qrels = [TrecQrel(path) for path in sys.argv[1:]]
for a in range(3):
    for b in range(a + 1, 3):
        qrels[a].check_kappa(qrels[b])
"""
"""Of relevant or not alone; on more grades its formula is wrong."""


def make_grades(n_documents: int) -> np.ndarray:
    """Make three judges' grades of the same documents, shape (3, n_documents)."""
    rng = np.random.default_rng(1)
    true = rng.choice(4, n_documents, p=[0.6, 0.2, 0.15, 0.05])
    noise = rng.choice([-1, 0, 1], (3, n_documents), p=[0.1, 0.8, 0.1])
    return np.clip(true + noise, 0, 3)


def make_collection(file: Path, grades: np.ndarray) -> None:
    """Fill a collection with bulk inserts, past the importers."""
    Collection.create(str(file), name="b", scale=parse_scale("0-3"), program="benchmark").close()
    n_documents = grades.shape[1]
    per_topic = -(-n_documents // TOPICS)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executemany(
            "INSERT INTO topic (id, number, listed, title, description, narrative)"
            " VALUES (?, ?, 0, X'', X'', X'')",
            [(topic + 1, str(topic + 1)) for topic in range(TOPICS)],
        )
        connection.executemany(
            "INSERT INTO document (id, docno, listed) VALUES (?, ?, 0)",
            ((number + 1, f"FR94-{number:07d}") for number in range(n_documents)),
        )
        connection.executemany(
            "INSERT INTO judge (id, name, kind, disabled, created_at, uid)"
            " VALUES (?, ?, 'human', 0, '2026-01-01 00:00:00', ?)",
            [(code + 1, judge, judge) for code, judge in enumerate(JUDGES)],
        )
        connection.executemany(
            "INSERT INTO judgement (topic_id, document_id, judge_id, revision, action, state,"
            " grade, reason, note, iteration, judged_at, dropped_keys) VALUES"
            " (?, ?, ?, 1, 'judge', 'judged', ?, X'', X'', '0', '2026-01-01 00:00:00', 0)",
            (
                (number // per_topic + 1, number + 1, code + 1, grade)
                for code in range(len(JUDGES))
                for number, grade in enumerate(grades[code].tolist())
            ),
        )
    connection.close()


def seconds(call: Callable[[], object]) -> float:
    """Give the median time of a call."""
    walls = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        walls.append(time.perf_counter() - began)
    return statistics.median(walls)


@pytest.mark.benchmark
def test_agreement_command_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print the time of the whole command beside that of the peers' kappas."""
    grades = make_grades(JUDGEMENTS // len(JUDGES))
    file = tmp_path / "collection.db"
    make_collection(file, grades)
    lines = [f"agreement of {len(JUDGES)} judges, {grades.size:,} judgements, {TOPICS} topics"]
    for name, options in (
        ("pooler agreement", ()),
        ("pooler agreement, json", ("--format", "json")),
        ("pooler agreement, no intervals", ("--interval", "none")),
    ):
        one = median([timed(*PROGRAM, "--collection", str(file), *options)
                      for _ in range(REPEATS)])  # fmt: skip
        lines.append(f"  {name:32} wall {one.wall:6.2f} s  processor {one.processor:6.2f} s"
                     f"  memory {one.memory:4.0f} MiB")  # fmt: skip
    with Collection(str(file)) as opened:
        lines.append(f"  {'grades.votes()':32} wall {seconds(opened.grades.votes):6.2f} s")
        lines.append(f"  {'judgements.current()':32} wall {_once(opened.judgements.current):6.2f} s"
                     "  (an object each)")  # fmt: skip
    arrays = tmp_path / "grades.npy"
    np.save(arrays, grades)
    lines += _peer("sklearn", "scikit-learn, 6 kappas", SKLEARN, str(arrays))
    paths = []
    for code, judge in enumerate(JUDGES):
        paths.append(tmp_path / f"{judge}.qrels")
        rows = enumerate((grades[code] > 0).astype(int).tolist())
        paths[-1].write_text("".join(f"{n % TOPICS} 0 FR94-{n:07d} {g}\n" for n, g in rows))
    n_pairs = len(list(combinations(JUDGES, 2)))
    lines += _peer("trectools", f"trectools, {n_pairs} binary kappas", TRECTOOLS, *map(str, paths))
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")


def _once(call: Callable[[], object]) -> float:
    """Time a call once."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _peer(module: str, name: str, program: str, *arguments: str) -> list[str]:
    """Time a peer's process, or say that it is absent."""
    if importlib.util.find_spec(module) is None:
        return [f"  {name:32} peer absent"]
    one = median([timed(sys.executable, "-c", program, *arguments) for _ in range(REPEATS)])
    return [f"  {name:32} wall {one.wall:6.2f} s  processor {one.processor:6.2f} s"
            f"  memory {one.memory:4.0f} MiB"]  # fmt: skip
