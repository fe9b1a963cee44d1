"""One browser for all tests of pages, and somebody else for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.browser import Browser, Person


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
