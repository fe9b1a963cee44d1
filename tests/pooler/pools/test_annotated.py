"""`pooler.pools.contents`: which run put a document into the pool."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pooler.pools.contents import annotated_lines, graded_lines
from pooler.pools.plan import Plan, PoolBuild
from pooler.pools.runs import FileRuns
from pooler.reading.run_list import RunEntry
from pooler.reading.tops import read_tops
from store.records import Pool, PoolEntry

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"


def test_annotated_lines_one_for_each_run_that_returned_it(tmp_path: Path) -> None:
    """Every document has a line for each of its runs: place by our order, score in full."""
    (tmp_path / "b").write_text(
        "10 Q0 d1 7 0.30000000000000004 b\n10 Q0 d2 8 1e3 b\n10 Q0 d3 9 0.1 b\n9 Q0 z 1 -2 b\n"
    )
    (tmp_path / "a").write_text("10 Q0 d1 0 5 a\n")
    (tmp_path / "c").write_text("10 Q0 d1 0 5 c\n10 Q0 d9 0 4 c\n")
    entries = [
        RunEntry(str(tmp_path / "c"), contributes=False),
        RunEntry(str(tmp_path / "b"), group="acme"),
        RunEntry(str(tmp_path / "a")),
    ]
    runs = FileRuns(read_tops(entries, 2))
    pool = PoolBuild(runs, Plan(), version="1").whole()
    assert list(annotated_lines(runs, pool)) == [
        "9 z b acme 1 -2.0",
        "10 d1 a - 1 5.0",
        "10 d1 b acme 2 0.30000000000000004",
        "10 d2 b acme 1 1000.0",
    ]


@pytest.mark.vector("PoolBiasEstimators src/test/resources/TEST/TOY, commit ce84a2d")
def test_annotated_lines_toy_runs_unique_relevant_documents() -> None:
    """At depth 3 in topic 1 the runs A to E bring 1, 2, 1, 3, 2 relevant documents alone."""
    folder = DATA / "toy-pool"
    if not folder.exists():
        pytest.skip("toy-pool is absent")
    files = [str(path) for path in sorted((folder / "runs").iterdir())]
    runs = FileRuns(read_tops(files, 3))
    pool = PoolBuild(runs, Plan(), version="1").whole()
    rows = [line.split() for line in annotated_lines(runs, pool) if line.startswith("1 ")]
    counts = Counter(row[1] for row in rows)
    qrels = [line.split() for line in (folder / "qrels").read_text("ascii").splitlines()]
    relevant = {row[2] for row in qrels if row[0] == "1" and int(row[3]) > 0}
    found = Counter(row[2] for row in rows if counts[row[1]] == 1 and row[1] in relevant)
    assert found == {"A": 1, "B": 2, "C": 1, "D": 3, "E": 2}


def test_graded_lines_have_every_document_to_judge(tmp_path: Path) -> None:
    """Each line has its grade; a document that no run has is there once, with dashes."""
    (tmp_path / "b").write_text("10 Q0 d1 7 0.3 b\n10 Q0 d2 8 1e3 b\n8 Q0 d1 1 1 b\n")
    (tmp_path / "a").write_text("10 Q0 d1 0 5 a\n")
    entries = [RunEntry(str(tmp_path / "b"), group="acme"), RunEntry(str(tmp_path / "a"))]
    runs = FileRuns(read_tops(entries, 9))
    pool = Pool(
        [
            PoolEntry("10", "d3", 0),
            PoolEntry("10", "d1", 1),
            PoolEntry("10", "d2", 2, sampled=False),
            PoolEntry("9", "d1", 0),
        ],
        {},
    )
    grades = {("10", "d1"): "-2", ("10", "d3"): "tied", ("8", "d1"): "1"}
    assert list(graded_lines(runs, pool, grades)) == [
        "9 d1 - - - - unjudged",
        "10 d1 a - 1 5.0 -2",
        "10 d1 b acme 2 0.3 -2",
        "10 d3 - - - - tied",
    ]
    assert list(graded_lines(None, pool, grades)) == [
        "9 d1 - - - - unjudged",
        "10 d1 - - - - -2",
        "10 d3 - - - - tied",
    ]
