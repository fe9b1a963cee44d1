"""Published files that lie beside the project; a test that asks for one is skipped where it is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def shared_data(name: str) -> Path:
    """Return the path of a file or folder, or skip the test."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"shared data is absent: {name}")
    return path
