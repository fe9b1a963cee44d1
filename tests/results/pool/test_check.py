"""`check_runs`: what a notebook gets of run files, and what people and programs are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from pooler.results.pool.check import check_runs
from store.errors import PoolerError


def test_faults_and_warnings_are_sentences_with_their_place(tmp_path: Path) -> None:
    """A sound file is a row of kind ok; a fault has a line, and the result says whether all is well."""
    sound, broken = tmp_path / "a.run", tmp_path / "b.run"
    sound.write_text("".join(f"1 Q0 d{rank} {rank} {20 - rank} a\n" for rank in range(1, 12)))
    broken.write_text("1 Q0 d 1 nan b\n")
    found = check_runs(sound, broken, depth=10)
    assert not found.ok
    assert check_runs(sound).ok
    assert len(found.faults) == found.n_faults == 1
    assert found.faults[0].startswith(f"{broken}:1: ")
    assert found.warnings == ()
    kinds = {row["kind"]: row for row in found.table("check").to_records()}
    assert kinds["ok"]["count"] == 11
    assert kinds["fault"] == {**kinds["fault"], "line": 1, "code": "score", "file": str(broken)}
    assert found.settings["runs"] == (str(sound), str(broken))


def test_a_check_needs_a_file() -> None:
    """Nothing named is no success."""
    with pytest.raises(PoolerError, match="no run file is named"):
        check_runs()
