"""What works on bare files works where there is no collection and none of its programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.run import GARDEN, qrels_of
from tests.test_imports import DATABASE, command, loaded_by

pytestmark = pytest.mark.slow

FIRST, SECOND, THIRD = (
    str(GARDEN / "judgements" / f"{judge}.qrels") for judge in ("lenient", "middle", "strict")
)
RUNS = tuple(str(GARDEN / "runs" / f"{tag}.run") for tag in ("bm25-words", "tfidf-words"))

COMMANDS = {
    "agreement": (
        (*qrels_of(FIRST, SECOND), "--by-topic"),
        (*qrels_of(FIRST, SECOND, THIRD), "--against", THIRD[-12:-6], "--aggregate", "median", "--ties",
         "low", "--interval", "asymptotic"),
        ("orders", *qrels_of(FIRST, SECOND), "--mixtures", "10", "--run", RUNS[0], "--run", RUNS[1]),
    ),
    "export qrels": (
        (FIRST, "--level", "1"),
        (FIRST, SECOND, THIRD, "--level", "1", "--aggregate", "dawid-skene", "--out", "q.txt"),
    ),
    "evaluate": (("--qrels", FIRST, *RUNS), ("--qrels", FIRST, *RUNS, "--scale", "0-2",
                                             "--level", "rigid")),
    "sensitivity": (("--qrels", FIRST, *RUNS, "--depth", "5", "--by-topic"),),
    "qrels diff": ((FIRST, SECOND, *RUNS, "--by-topic"),),
    "pool": ((*RUNS, "--depth", "5", "--out", "pool.txt"),),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_on_files_load_no_database_screen_or_scipy(name: str, tmp_path: Path) -> None:
    """A fresh interpreter that worked on files has loaded neither SQL nor a screen nor SciPy."""
    code = "\n".join(command(*name.split(), *arguments) for arguments in COMMANDS[name])
    assert loaded_by(code, tmp_path) & (DATABASE | {"textual", "scipy"}) == set()
    assert not (tmp_path / "collection.db").exists()
