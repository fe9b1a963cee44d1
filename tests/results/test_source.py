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
