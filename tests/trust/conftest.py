"""The command line, the sample collection, its runs, and what its strict judge says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.oracles import Grades, Scores, read_qrels, runs_of


@pytest.fixture
def qrels(judged: Path) -> Grades:
    """Read the strict judge's qrels."""
    return read_qrels(judged / "judgements" / "strict.qrels")


@pytest.fixture
def runs(judged: Path) -> dict[str, Scores]:
    """Read the runs, by tag."""
    return runs_of(judged)
