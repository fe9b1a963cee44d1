"""One browser for all tests of pages, and somebody else for each; servers that start at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.browser import Browser, Person
from tests.helpers.run import program


@pytest.fixture(scope="package", autouse=True)
def _servers_start_at_once(programs: Path) -> Iterator[None]:
    """Let `serving` start forks; what is killed or looked at from outside asks for `started_by_users`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.helpers.pages.program", lambda: [str(programs / "pooler")])
        yield


@pytest.fixture
def started_by_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `serving` start servers as users do."""
    monkeypatch.setattr("tests.helpers.pages.program", program)


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Start a browser."""
    with Browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture
def person(browser: Browser, tmp_path: Path) -> Iterator[Person]:
    """Give somebody who sits down at it."""
    with browser.person(tmp_path) as somebody:
        yield somebody
