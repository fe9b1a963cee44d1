"""`pooler agreement` of two bare qrels files: reading, votes, kappa, and the whole command.

`POOLER_BENCH_JUDGEMENTS` is the number of lines of both files (default 1,000,000), 50 topics, 0-3.
scikit-learn is timed on its kappa alone, from lists of grades in the same order: it reads nothing.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from store.analysis.agreement.kappa import chance_corrected
from store.analysis.agreement.tables import pair_tables
from store.formats.qrels import read_qrels, read_qrels_columns
from store.formats.scale import parse_scale
from store.grades.file_votes import FileVotes
from tests.benchmarks.test_agreement_command_speed import JUDGEMENTS, PROGRAM, TOPICS, make_grades, seconds
from tests.benchmarks.test_pool_speed import REPEATS, median, timed

JUDGES = ("ann", "bob")
CROWD, CROWD_TOPICS = 1500, 400


def write_files(folder: Path, grades: np.ndarray) -> list[str]:
    """Write one qrels file a judge, and return their paths."""
    paths = []
    for judge, own in zip(JUDGES, grades, strict=False):
        path = folder / f"{judge}.qrels"
        lines = [f"{number % TOPICS} 0 FR94-{number:07d} {grade}\n"
                 for number, grade in enumerate(own.tolist())]  # fmt: skip
        path.write_text("".join(lines), "ascii")
        paths.append(str(path))
    return paths


def filled(paths: list[str]) -> FileVotes:
    """Read files into votes."""
    votes = FileVotes()
    votes.scale = parse_scale("0-3")
    for judge, path in zip(JUDGES, paths, strict=True):
        columns = read_qrels_columns(path, votes.topics, votes.docnos)
        assert columns is not None
        votes.add_columns(judge, columns)
    return votes


@pytest.mark.benchmark
def test_file_agreement_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Print the parts and the whole, beside scikit-learn's kappa."""
    grades = make_grades(JUDGEMENTS // len(JUDGES))
    paths = write_files(tmp_path, grades)
    votes = filled(paths)
    population = votes.votes()
    table = pair_tables(population.votes, *JUDGES).sum(axis=0)
    rows = {
        "reading, as columns": partial(filled, paths),
        "reading, a tuple a line": lambda: [read_qrels(path) for path in paths],
        "votes of what was read": votes.votes,
        "table of the pair": partial(pair_tables, population.votes, *JUDGES),
        "kappa of the table": partial(chance_corrected, "cohen", table, weights="quadratic"),
    }
    lines = [f"agreement of 2 files, {JUDGEMENTS:,} lines, {TOPICS} topics"]
    lines += [f"  {name:32} {1000 * seconds(call):9.1f} ms" for name, call in rows.items()]
    if importlib.util.find_spec("sklearn") is None:
        lines.append("  scikit-learn's kappa             peer absent")
    else:
        from sklearn.metrics import cohen_kappa_score

        call = partial(cohen_kappa_score, grades[0], grades[1], weights="quadratic")
        lines.append(f"  {'scikit-learn, one kappa':32} {1000 * seconds(call):9.1f} ms")
    for name, options in (("pooler agreement", ()), ("the same, no intervals",
                                                     ("--interval", "none"))):  # fmt: skip
        one = median([timed(*PROGRAM, *paths, *options) for _ in range(REPEATS)])
        lines.append(f"  {name:32} {1000 * one.wall:9.1f} ms  memory {one.memory:4.0f} MiB")
    with capsys.disabled():
        sys.stdout.write("\n\n" + "\n".join(lines) + "\n")


@pytest.mark.benchmark
@pytest.mark.parametrize("n_together", [1, 3])
def test_crowd_agreement_speed(tmp_path: Path, capsys: pytest.CaptureFixture[str], n_together: int) -> None:
    """Print the time of 1,500 judges who share nothing, or documents with two others each."""
    rng = np.random.default_rng(1)
    lines = [
        f"t{topic} d{topic}_{document} j{judge} {rng.integers(3)}\n"
        for topic in range(CROWD_TOPICS)
        for document in range(12)
        for judge in ([(topic * 12 + document) % CROWD] if n_together == 1
                      else rng.choice(CROWD, n_together, replace=False))
    ]  # fmt: skip
    path = tmp_path / "crowd.txt"
    path.write_text("".join(lines), "ascii")
    reading = ("--columns", "topic,docno,judge,grade")
    one = median([timed(*PROGRAM, str(path), *reading) for _ in range(REPEATS)])
    with capsys.disabled():
        sys.stdout.write(f"\n\nagreement of {CROWD:,} judges, {len(lines):,} lines,"
                         f" {n_together} a document: wall {one.wall:6.2f} s"
                         f"  memory {one.memory:4.0f} MiB\n")  # fmt: skip
