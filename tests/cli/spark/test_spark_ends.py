"""Spark as a process: killed in between, interrupted, and never started; what is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.benchmarks.generate import generate
from tests.cli.spark.processes import below, executors, is_running, workers
from tests.helpers.run import Cli, environment, program, run_process

pytestmark = [pytest.mark.java, pytest.mark.xdist_group("spark")]
PATIENCE_S = 300.0


@pytest.fixture
def runs(here: Path) -> list[str]:
    """Write some runs, as many lines as take Spark a moment."""
    return [
        f"runs/{file.name}" for file in generate(here / "runs", runs=30, topics=20, documents=600, seed=5)
    ]


@pytest.fixture
def started(here: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start `pooler pool` on Spark; its temporary files are in `tmp`."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    (here / "tmp").mkdir()
    begun: list[subprocess.Popen[bytes]] = []

    def start(*arguments: str, master: str = "local[2]") -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*program(), "pool", *arguments, "--depth", "50", "--out", "spark.txt", "--engine", "spark"],
            cwd=here,
            env=environment({"TMPDIR": str(here / "tmp"), "SPARK_MASTER": master}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        begun.append(process)
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def first(find: Callable[[], list[int]], process: subprocess.Popen[bytes]) -> int:
    """Wait until there is such a process."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until and process.poll() is None:
        if found := find():
            return found[0]
        time.sleep(0.01)
    pytest.fail(f"there is none: {process.communicate()[1].decode()}")


def is_gone(pids: set[int]) -> bool:
    """Wait until some processes have ended."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if not any(map(is_running, pids)):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.long
def test_worker_killed_in_between_changes_nothing(
    cli: Cli, here: Path, runs: list[str], started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """A worker of Python dies over its file: the file is read again, and the pool is that of one machine."""
    process = started(*runs, master="local[2,4]")
    victim = first(lambda: workers(process.pid), process)
    os.kill(victim, signal.SIGKILL)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said.decode()
    assert cli("pool", *runs, "--depth", "50", "--out", "here.txt").fine().err == said.decode()
    for end in ("", ".manifest.json"):
        assert (here / f"spark.txt{end}").read_bytes() == (here / f"here.txt{end}").read_bytes()
    assert not [*(here / "tmp").iterdir()]


@pytest.mark.long
def test_executor_killed_in_between_changes_nothing(
    cli: Cli, here: Path, runs: list[str], started: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """One of two executors, with what it had read, dies: another takes its place."""
    process = started(*runs, master="local-cluster[2,1,1024]")
    worker = first(lambda: workers(process.pid), process)
    victim = next(pid for pid in executors(process.pid) if worker in below(pid))
    os.kill(victim, signal.SIGKILL)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said.decode()
    assert cli("pool", *runs, "--depth", "50", "--out", "here.txt").fine().err == said.decode()
    assert (here / "spark.txt").read_bytes() == (here / "here.txt").read_bytes()


@pytest.mark.long
@pytest.mark.parametrize(
    ("sign", "code"), [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)]
)
def test_interrupt_ends_all_of_it(
    here: Path,
    runs: list[str],
    started: Callable[..., subprocess.Popen[bytes]],
    sign: signal.Signals,
    code: int,
) -> None:
    """Ctrl-C on a terminal, and `kill`: one line, nothing written, no process and no file left."""
    process = started(*runs)
    first(lambda: workers(process.pid), process)
    family = set(below(process.pid))
    if sign == signal.SIGINT:
        os.killpg(process.pid, sign)
    else:
        process.send_signal(sign)
    out, said = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, out) == (code, b""), said.decode()
    assert said.decode() == "interrupted: what was finished stays; what was in progress is undone\n"
    assert is_gone(family)
    assert not [*(here / "tmp").iterdir()]
    assert not [*here.glob("spark.txt*")]


@pytest.mark.slow
def test_java_that_cannot_run_spark_is_told_in_a_line(here: Path, runs: list[str]) -> None:
    """A Java that is too old, no such master: Spark's own words, the log is named."""
    pytest.importorskip("pyspark", reason="not run here for want of pyspark")
    (here / "bin").mkdir()
    java = here / "bin" / "java"
    words = "has been compiled by a more recent version of the Java Runtime"
    java.write_text(f"#!/bin/sh\necho 'java.lang.UnsupportedClassVersionError: Main {words}' >&2\nexit 1\n")
    java.chmod(0o755)
    command = ("pool", runs[0], "--engine", "spark")
    said = run_process(*command, folder=here, settings={"JAVA_HOME": str(here), "SPARK_MASTER": "local[2]"})
    first_line, hint = said.stderr.decode().splitlines()
    assert (said.returncode, said.stdout) == (1, b"")
    assert first_line.startswith("error: Spark could not start: ")
    assert hint.startswith("hint: all that Spark said: ")
    log = Path(hint.rpartition(" ")[2])
    assert words in log.read_text("utf-8")
    log.unlink()
    said = run_process(*command, folder=here, settings={"TMPDIR": str(here), "SPARK_MASTER": "local[2"})
    first_line, hint = said.stderr.decode().splitlines()
    assert (said.returncode, said.stdout) == (1, b"")
    assert first_line.startswith("error: Spark could not start: ")
    reason = "Could not parse Master URL"
    assert reason in first_line + Path(hint.rpartition(" ")[2]).read_text("utf-8")
