"""`pooler agreement` on a large collection, and the votes alone, beside kappas of scikit-learn and trectools.

`POOLER_BENCH_JUDGEMENTS` is the number of judgements (default 1,000,000) of three judges on 50
topics, 0-3. The peers are timed on kappa alone, from arrays and from qrels files
that are on disk already: they have no store to read. SQLite.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import closing
from itertools import combinations
from pathlib import Path

import numpy as np

from store.collection import Collection
from store.formats.scale import parse_scale
from tests.benchmarks.timing import PROGRAM, in_folder, is_here, once, repeated, seconds

JUDGEMENTS = int(os.environ.get("POOLER_BENCH_JUDGEMENTS", "1000000"))
JUDGES, TOPICS = ("ann", "bob", "cy"), 50
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


def agreement_command_speed(folder: Path) -> None:
    """Print the time of the whole command beside that of the peers' kappas."""
    grades = make_grades(JUDGEMENTS // len(JUDGES))
    file = folder / "collection.db"
    make_collection(file, grades)
    print(f"agreement of {len(JUDGES)} judges, {grades.size:,} judgements, {TOPICS} topics")
    for name, options in (
        ("pooler agreement", ()),
        ("pooler agreement, json", ("--format", "json")),
        ("pooler agreement, no intervals", ("--interval", "none")),
    ):
        print(f"  {name:32} {repeated(*PROGRAM, 'agreement', '--collection', str(file), *options)}")
    with Collection(str(file)) as opened:
        print(f"  {'grades.votes()':32} wall {seconds(opened.grades.votes):7.3f} s")
        print(
            f"  {'judgements.current()':32} wall {once(opened.judgements.current):7.3f} s  (an object each)"
        )
    arrays = folder / "grades.npy"
    np.save(arrays, grades)
    _peer("sklearn", "scikit-learn, 6 kappas", SKLEARN, str(arrays))
    paths = []
    for code, judge in enumerate(JUDGES):
        paths.append(folder / f"{judge}.qrels")
        rows = enumerate((grades[code] > 0).astype(int).tolist())
        paths[-1].write_text("".join(f"{n % TOPICS} 0 FR94-{n:07d} {g}\n" for n, g in rows))
    n_pairs = len(list(combinations(JUDGES, 2)))
    _peer("trectools", f"trectools, {n_pairs} binary kappas", TRECTOOLS, *map(str, paths))


def _peer(module: str, name: str, program: str, *arguments: str) -> None:
    """Time a peer's process, or say that it is absent."""
    taken = repeated(sys.executable, "-c", program, *arguments) if is_here(module) else "peer absent"
    print(f"  {name:32} {taken}")


if __name__ == "__main__":
    in_folder(agreement_command_speed)
