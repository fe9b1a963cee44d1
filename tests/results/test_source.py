"""Sources: runs of files and of memory beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pooler
from store.records import Run


@pytest.fixture
def mixed(tmp_path: Path) -> list[str | Run]:
    """Name a run in memory between two files."""
    for tag in ("z", "a"):
        (tmp_path / f"{tag}.run").write_text(f"1 Q0 x 1 2.0 {tag}\n1 Q0 y 2 1.0 {tag}\n")
    (tmp_path / "m.run").write_text("1 Q0 y 1 2.0 m\n1 Q0 x 2 1.0 m\n")
    return [str(tmp_path / "z.run"), pooler.read_runs(tmp_path / "m.run")["m"], str(tmp_path / "a.run")]


@pytest.fixture(params=["file", "memory"])
def qrels(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Name qrels in a file, and in memory."""
    if request.param == "memory":
        return {"1": {"x": 1}}
    (tmp_path / "some.qrels").write_text("1 0 x 1\n")
    return tmp_path / "some.qrels"


def test_runs_of_files_and_memory_stay_in_the_order_given(mixed: list[str | Run], qrels: Any) -> None:
    """Whatever measures them has one order of runs, that in which they were named; pools go by tags."""
    source = pooler.source(mixed, qrels=qrels)
    assert source.judged.feeding == source.rankings.tags == source.arrays().tags == ("z", "m", "a")
    assert [run.tag for run in source.tops(1).runs] == ["a", "m", "z"]
    assert {tag: Path(file).stem for tag, file in source.judged.files.items()} == {"z": "z", "a": "a"}


def test_what_is_measured_first_changes_nothing(mixed: list[str | Run], qrels: Any) -> None:
    """Measures read less of files than what tells documents apart; each has what it needs, in any order."""
    files = [one for one in mixed if isinstance(one, str)]
    first, second = (pooler.source(files, qrels=qrels) for _ in range(2))
    values = pooler.evaluate(first, ["AP", "P@1"]).mean.tolist()
    docnos = {number: docno for docno, number in first.judged.ranked.ids.items()}
    assert second.judged.ranked.docnos == first.judged.ranked.docnos == docnos
    assert set(docnos.values()) == {"x", "y"}
    assert values == pooler.evaluate(second, ["AP", "P@1"]).mean.tolist() == [[1.0, 1.0]] * 2
    for source in (first, second):
        assert source.arrays().documents.tolist() == [[[0, 1]], [[0, 1]]]
