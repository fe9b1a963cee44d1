"""`check`: what a notebook gets of run files, and what people and programs are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from pooler import check
from store.errors import PoolerError


def test_faults_and_warnings_are_sentences_with_their_place(tmp_path: Path) -> None:
    """A sound file is a row of kind ok; a fault has a line, and the result says whether all is well."""
    sound, broken = tmp_path / "a.run", tmp_path / "b.run"
    sound.write_text("".join(f"1 Q0 d{rank} {rank} {20 - rank} a\n" for rank in range(1, 12)))
    broken.write_text("1 Q0 d 1 nan b\n")
    found = check(sound, broken, depth=10)
    assert not found.ok
    assert check(sound).ok
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
        check()


def test_two_processes_check_as_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads a file, reports come in the order named, docnos that look alike in two files too."""
    lines = {
        "a": "1 Q0 caf\u00e9 1 2 a\n1 Q0 d 2 2 a\n",
        "b": "1 Q0 cafe\u0301 0 1 b\n",
        "c": "1 Q0 d 1 nan c\n",
        "d": "1 Q9 d x 1 a\n",
    }
    files = [str(tmp_path / name) for name in (*lines, "missing")]
    for file, text in zip(files, lines.values(), strict=False):
        Path(file).write_text(text, encoding="utf-8")
    alone = check(*files, depth=1)
    monkeypatch.setattr("pooler.reading.parallel.PARALLEL_BYTES", 0)
    monkeypatch.setattr("pooler.reading.parallel.n_processors", lambda: 2)
    together = check(*files, depth=1)
    assert together.reports == alone.reports
    assert [{one.code for one in report.warnings} for report in alone.reports] == [
        {"ties", "ties-at-cut", "rank-order"},
        {"rank-zero", "look-alike"},
        set(),
        {"rank-number", "q0"},
        set(),
    ]
    assert [set(report.fault_counts) for report in alone.reports] == [
        set(),
        set(),
        {"score"},
        {"tag"},
        {"open"},
    ]
