"""What is wrong with `--engine spark` before Spark is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import pooler as p
from tests.helpers.run import Cli, write, write_run


@pytest.fixture
def run_file(here: Path) -> str:
    """Write a run."""
    return write_run(here, "a", {"1": "xyz"})


def test_without_pyspark_the_extra_is_named(cli: Cli, run_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line, and what brings it; for both commands."""
    monkeypatch.setitem(sys.modules, "pyspark", None)
    told = (
        "error: pooling and measuring on Spark need the package pyspark\nhint: pip install 'pooler[spark]'\n"
    )
    assert cli("pool", run_file, "--engine", "spark").failed(1).err == told
    write(Path("qrels"), "1 0 x 1")
    assert cli("evaluate", run_file, "--qrels", "qrels", "--engine", "spark").failed(1).err == told


@pytest.mark.parametrize("home", [None, "/nowhere"])
def test_without_java_it_is_said_what_to_install(
    cli: Cli, run_file: str, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    """No `java` on the PATH, or none where JAVA_HOME says."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home:
        monkeypatch.setenv("JAVA_HOME", home)
    said = cli("pool", run_file, "--engine", "spark", "--master", "local[3]").failed(1).err
    where = "in JAVA_HOME, /nowhere" if home else "on the PATH"
    assert said == (
        f"error: Spark needs Java, and there is none {where}\n"
        "hint: install a Java runtime, version 17 or later (headless is enough)\n"
    )


@pytest.mark.parametrize(
    "master", ["", "local[0]", "localhost", "spark://host", "mesos://host:5050", "local[2"]
)
def test_wrong_master_is_refused(cli: Cli, run_file: str, master: str) -> None:
    """Nothing is started for a master that cannot be one."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    said = cli("pool", run_file, "--engine", "spark", "--master", master).failed(1).err
    wanted = "must be local, local[N], local[*], spark://HOST:PORT, yarn or k8s://..."
    assert said == f"error: `--master` {wanted}, but got {master!r}\n"


@pytest.mark.java
def test_master_that_does_not_answer_is_told_at_once(cli: Cli, run_file: str) -> None:
    """Spark would try for a minute."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    said = cli("pool", run_file, "--engine", "spark", "--master", "spark://127.0.0.1:1").failed(1).err
    assert said.startswith("error: spark://127.0.0.1:1: no Spark master answers there (connection refused)\n")


def test_options_that_do_not_go_together_are_refused(cli: Cli, run_file: str) -> None:
    """A master without Spark, Spark for a collection, for what is no scoring, and an engine that is none."""
    write(Path("qrels"), "1 0 x 1")
    assert "`--master` is for the engine spark" in cli("pool", run_file, "--master", "local").failed(1).err
    cli("init").fine()
    assert "`--engine` spark is for run files" in cli("pool", "--engine", "spark").failed(1).err
    assert (
        "`--engine` must not be spark for a collection" in cli("evaluate", "--engine", "spark").failed(1).err
    )
    said = cli("evaluate", run_file, "--qrels", "qrels", "--engine", "spark", "--curves").failed(2).err
    assert "`--engine` spark has no meaning with --curves" in said
    with pytest.raises(p.ArgumentError, match="`engine` must be one of python, spark, but got 'ray'"):
        p.pool(run_file, engine="ray")  # type: ignore[arg-type]


def test_uri_without_spark_names_the_engine(cli: Cli, run_file: str) -> None:
    """One machine reads no URI."""
    write(Path("qrels"), "1 0 x 1")
    for arguments in (("pool",), ("evaluate", "--qrels", "qrels")):
        said = cli(*arguments, "hdfs://host/a.run").failed(1).err
        assert said == (
            "error: hdfs://host/a.run: no such file or directory\n"
            "hint: `pool` and `evaluate` read files by URI with --engine spark\n"
        )
