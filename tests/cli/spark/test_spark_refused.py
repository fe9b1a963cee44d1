"""What is wrong with `--engine spark` before Spark is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import pooler as p
from tests.helpers.run import Cli, run_process, write_run


@pytest.fixture
def run_file(here: Path) -> str:
    """Write a run."""
    return write_run(here, "a", {"1": "xyz"})


def test_without_pyspark_the_extra_is_named(cli: Cli, run_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, and what brings it."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    told = "error: pooling on Spark needs the package pyspark\nhint: pip install 'pooler[spark]'\n"
    assert cli("pool", run_file, "--engine", "spark").failed(1).err == told


@pytest.mark.parametrize("home", [None, "/nowhere"])
def test_without_java_it_is_said_what_to_install(
    here: Path, run_file: str, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    """No `java` on the PATH, or none where JAVA_HOME says."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    settings = {"PATH": "/nowhere"} | ({"JAVA_HOME": home} if home else {})
    told = run_process("pool", run_file, "--engine", "spark", folder=here, settings=settings)
    where = "in JAVA_HOME, /nowhere" if home else "on the PATH"
    assert told.stderr.decode() == (
        f"error: Spark needs Java, and there is none {where}\n"
        "hint: install a Java runtime, version 17 or later (headless is enough)\n"
    )


def test_what_does_not_go_together_is_refused(cli: Cli, run_file: str) -> None:
    """Spark for a collection, and an engine that is none."""
    cli("init").fine()
    assert "`--engine` spark is for run files" in cli("pool", "--engine", "spark").failed(1).err
    with pytest.raises(p.ArgumentError, match="`engine` must be python or spark, but got 'ray'"):
        p.pool(run_file, engine="ray")  # type: ignore[arg-type]


def test_uri_without_spark_names_the_engine(cli: Cli, run_file: str) -> None:
    """One machine reads no URI."""
    said = cli("pool", "hdfs://host/a.run").failed(1).err
    assert said == (
        "error: hdfs://host/a.run: no such file or directory\n"
        "hint: `pool` reads files by URI with --engine spark\n"
    )
