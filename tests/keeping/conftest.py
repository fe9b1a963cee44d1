"""The command line, the sample collection, and a collection with a bit of everything."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.helpers.full_collection import fill


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a collection with a bit of everything, for tests that work on copies of it."""
    place = tmp_path_factory.mktemp("whole") / "full.db"
    fill(str(place))
    return place


@pytest.fixture
def full(whole: Path, tmp_path: Path) -> Path:
    """Make a copy, alone in a folder."""
    return Path(shutil.copy(whole, tmp_path / "full.db"))
