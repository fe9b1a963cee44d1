"""Fixtures of the whole suite: databases of both engines, tiny runs, a seeded generator."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement
from sqlalchemy.util import LRUCache

from store.collection import Collection
from tests.helpers.fixtures import cli, collection_of, garden, here, judged, on_terminal, worked
from tests.helpers.forked_pooler import forked_pooler
from tests.helpers.postgres import empty_schema, postgres_server
from tests.helpers.run import JUDGES, SETTINGS, copy_garden, run
from tests.helpers.strategies import EXAMPLES
from tests.helpers.world import new_collection

__all__ = ["cli", "collection_of", "garden", "here", "judged", "on_terminal", "worked"]

# Hundreds of processes are started: none of them shall have to compile everything anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Spark's Java compiles for a long life, with many threads: it is asked for a few seconds here.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

# The same examples in every run, so that a wrong formula fails always or never;
# `POOLER_SEED=random` draws others. How long a test takes depends on the machine, and a fixture
# lasts for all examples of a test.
settings.register_profile(
    "suite",
    max_examples=EXAMPLES,
    derandomize=os.environ.get("POOLER_SEED") != "random",
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("suite")

# Tests make some 10,000 small databases and wait for the disk at every commit: in memory they do
# not. What a kill leaves behind is the same there.
MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 8 * 2**30
if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ENOUGH_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

TOOLS = {"chromium": "chromium", "java": "java", "cc": "cc"}
"""Markers of tests that need a tool, and the program that says whether it is here."""
SERVER = {"postgres_server", "postgres_url"}
"""Fixtures of a PostgreSQL server: what asks for one is slow, but for one story of both engines."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the answers of tests/transcripts be written anew."""
    parser.addoption("--freeze", action="store_true", help="take answers whose words alone changed")
    parser.addoption("--freeze-numbers", action="store_true", help="take answers with other numbers, too")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test by the beginning of a long text: hostile ones made names of a third of a megabyte."""
    return f"{val[:40]!a}..." if isinstance(val, str | bytes) and len(val) > 200 else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what needs a tool that is absent; what needs a server is slow."""
    # What one worker runs together takes longest: last, the other workers would wait for it.
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)
    for item in items:
        if SERVER & {*getattr(item, "fixturenames", ())} and item.path.name != "test_engines_agree.py":
            item.add_marker(pytest.mark.slow)
        for marker, program in TOOLS.items():
            if item.get_closest_marker(marker) and shutil.which(program) is None:
                item.add_marker(pytest.mark.skip(reason=f"not run here for want of {program}"))


def pytest_collection_finish() -> None:
    """Set aside what is loaded by now: looking through it for garbage took a tenth of the time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that was skipped for want of a tool, where `.ci/run` has installed them all."""
    report = yield
    if report.skipped and os.environ.get("POOLER_NO_SKIP") and "not installed" in str(report.longrepr):
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and POOLER_NO_SKIP is set: {report.longrepr}"
    return report


@pytest.fixture(scope="session", autouse=True)
def _statements_compiled_once() -> Iterator[None]:
    """Let all SQLite engines of this process share their compiled SQL statements.

    Each keeps its own otherwise, and every test opens an engine or two: a quarter of the time of
    tests of the store went into the same statements again.
    """
    compiled = LRUCache(2000)
    made: dict[tuple[object, ...], Any] = {}

    def make_once(ddl: Any, dialect: Any, **options: Any) -> Any:
        if not isinstance(ddl, CreateTable | CreateIndex):  # a step of a migration
            return compile_ddl(ddl, dialect, **options)
        key = (type(ddl), ddl.element, ddl.if_not_exists, type(dialect))
        if key not in made:
            made[key] = compile_ddl(ddl, dialect, **options)
        return made[key]

    compile_ddl = ExecutableDDLElement._compiler

    def share(engine: Engine, *arguments: Any, **options: Any) -> None:
        make(engine, *arguments, **options)
        if type(engine.dialect) is SQLiteDialect_pysqlite:
            engine._compiled_cache = compiled

    make = Engine.__init__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "__init__", share)
        patch.setattr(ExecutableDDLElement, "_compiler", make_once)
        patch.setattr(SQLiteDialect_pysqlite, "__eq__", lambda one, other: type(one) is type(other))
        patch.setattr(SQLiteDialect_pysqlite, "__hash__", lambda one: hash(type(one)))
        yield


@pytest.fixture(scope="session", name="postgres_server")
def _postgres_server() -> Iterator[str]:
    """Run a real PostgreSQL server and give its URL."""
    with postgres_server() as url:
        yield url


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """Make an empty PostgreSQL schema for one test and give its URL."""
    return empty_schema(postgres_server)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def collection_name(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name an empty place for a collection, on each engine in turn.

    The turn of PostgreSQL is among the slow tests, as are all that ask for a server but
    `test_engines_agree`.
    """
    if request.param == "sqlite":
        return str(tmp_path / "collection.db")
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def collection(collection_name: str) -> Iterator[Collection]:
    """Make an empty collection of scale 0-2, on each engine in turn."""
    with new_collection(collection_name) as made:
        yield made


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make the folder of a `pooler` that starts at once."""
    folder = tmp_path_factory.mktemp("bin")
    with forked_pooler(folder):
        yield folder


@pytest.fixture(scope="session")
def imported_garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import the sample collection once: runs, the pool of depth 5, documents, three judges."""
    folder = tmp_path_factory.mktemp("garden")
    copy_garden(folder)
    file = str(folder / "collection.db")
    commands = [
        ["init", "--scale", "0-2"],
        ["import", "topics", str(folder / "topics.jsonl")],
        ["import", "runs", "--runs", str(folder / "runs.tsv")],
        ["pool", "--depth", "5"],
        ["import", "docs", str(folder / "documents.jsonl")],
    ]
    for judge in JUDGES:
        qrels = str(folder / "judgements" / f"{judge}.qrels")
        commands.append(["import", "judgements", qrels, "--judge", judge, "--kind", "model"])
    for command in commands:
        assert run([*command, "--collection", file]) == 0
    return folder


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the garden in which examples and hints run, once for all workers: for tests that copy it."""
    base = tmp_path_factory.getbasetemp()
    place = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "planted"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "done").exists():
            from tests.helpers.gallery import plant  # it imports every command

            for name in SETTINGS:
                patch.delenv(name, raising=False)
            plant(place / "garden")
            (place / "done").touch()
    return place / "garden"


@pytest.fixture
def rng() -> np.random.Generator:
    """Give a seeded generator."""
    return np.random.default_rng(20010101)
