"""`pooler agreement` of two bare qrels files: its parts and the whole, beside scikit-learn.

`POOLER_BENCH_JUDGEMENTS` is the number of lines of both files (default 1,000,000), 50 topics, 0-3.
scikit-learn is timed on its kappa alone, from lists of grades in the same order: it reads nothing.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from pooler.sources.judgement_files import FileReading, fill, read_files
from store.analysis.agreement.kappa import stacked_chance_corrected
from store.analysis.agreement.tables import pair_tables
from store.formats.qrels import read_qrels
from store.formats.scale import parse_scale
from store.grades.file_votes import FileVotes
from tests.benchmarks.agreement_command_speed import JUDGEMENTS, TOPICS, make_grades
from tests.benchmarks.timing import PROGRAM, in_folder, is_here, repeated, seconds

JUDGES = ("ann", "bob")


def write_files(folder: Path, grades: np.ndarray) -> list[str]:
    """Write one qrels file a judge, and return their paths."""
    paths = []
    for judge, own in zip(JUDGES, grades, strict=False):
        path = folder / f"{judge}.qrels"
        rows = enumerate(own.tolist())
        path.write_text("".join(f"{n % TOPICS} 0 FR94-{n:07d} {grade}\n" for n, grade in rows), "ascii")
        paths.append(str(path))
    return paths


def filled(paths: list[str]) -> FileVotes:
    """Read files into votes."""
    votes, reading = FileVotes(), FileReading()
    fill(votes, read_files(paths, reading), parse_scale("0-3"), reading)
    return votes


def file_agreement_speed(folder: Path) -> None:
    """Print the parts and the whole, beside scikit-learn's kappa."""
    grades = make_grades(JUDGEMENTS // len(JUDGES))
    paths = write_files(folder, grades)
    votes = filled(paths)
    population = votes.votes()
    table = pair_tables(population.votes, *JUDGES).sum(axis=0)
    rows = {
        "reading": lambda: [read_qrels(path) for path in paths],
        "reading, as votes": partial(filled, paths),
        "votes of what was read": votes.votes,
        "table of the pair": partial(pair_tables, population.votes, *JUDGES),
        "kappa of the table": partial(stacked_chance_corrected, "cohen", table, weights="quadratic"),
    }
    print(f"agreement of 2 files, {JUDGEMENTS:,} lines, {TOPICS} topics")
    for name, call in rows.items():
        print(f"  {name:32} {1000 * seconds(call):9.1f} ms")
    if is_here("sklearn"):
        from sklearn.metrics import cohen_kappa_score

        call = partial(cohen_kappa_score, grades[0], grades[1], weights="quadratic")
        print(f"  {'scikit-learn, one kappa':32} {1000 * seconds(call):9.1f} ms")
    else:
        print("  scikit-learn: peer absent")
    named = [word for path in paths for word in ("--qrels", path)]
    for name, options in (("pooler agreement", ()), ("the same, no intervals", ("--interval", "none"))):
        print(f"  {name:32} {repeated(*PROGRAM, 'agreement', *named, *options)}")


if __name__ == "__main__":
    in_folder(file_agreement_speed)
