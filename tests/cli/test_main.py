"""The command as a whole: streams, exit codes, interrupts, terminals."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.helpers.run import PAGE, START, Cli, environment, program, run

TABLES = [
    ["check", "--runs", "runs.tsv", "--depth", "5"],
    ["show", "judges"],
    ["status"],
    ["status", "--by-topic"],
    ["agreement"],
    ["agreement", "--by-topic", "--level", "2"],
    ["evaluate", "--qrels", "strict"],
    ["evaluate", "--qrels", "strict", "--by-topic"],
    ["sensitivity", "--depth", "5", "--qrels", "strict"],
    ["sensitivity", "--depth", "5", "--qrels", "strict", "--by-topic"],
    ["sensitivity", "--depth", "44", "--qrels", "strict", "--by-topic"],
]


@pytest.mark.parametrize("command", TABLES, ids=" ".join)
def test_data_on_stdout_can_be_read_by_programs(cli: Cli, judged: Path, command: list[str]) -> None:
    """JSON parses, TSV has as many cells in every row, and both say the same."""
    whole = cli(*command, "--format", "json").fine().whole()
    tables = {name: rows for name, rows in whole.items() if name not in ("settings", "facts", "warnings")}
    for table, data in tables.items():
        rows = cli(*command, "--format", "tsv", "--table", table).fine().tsv()
        assert len(data) == len(rows)
        for row, cells in zip(data, rows, strict=True):
            assert list(row) == list(cells)
            for name, text in cells.items():
                value = row[name]
                if value is None:
                    assert text == ""
                elif isinstance(value, bool):
                    assert text == str(value).lower()
                elif isinstance(value, list):
                    assert text == " ".join(map(str, value))
                else:
                    assert text == (repr(value) if isinstance(value, float) else str(value))
    assert any(tables.values())


@pytest.mark.parametrize(
    "command",
    [
        "sensitivity --depth 5 --qrels strict",
        "sensitivity --depth 5 --qrels strict --flips 3",
        "sensitivity --depth 5 --qrels strict --scenario own --by pair",
        "sensitivity --qrels strict --by pair --at worst",
        "compare --qrels strict",
        *(f"show {kind}" for kind in ("runs", "topics", "docs", "pools", "judges")),
        "show runs bm25-words",
        "show topics G01",
        "show docs KG-E-002",
        "show pools pool",
        "show judges strict",
        "agreement",
        "status --by-topic",
    ],
)
def test_tables_and_words_fit_a_terminal(
    cli: Cli, judged: Path, on_terminal: Callable[[Callable[[], object]], list[str]], command: str
) -> None:
    """Nothing is wider than 80 columns, and no name of a run is broken within a word."""
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    lines = on_terminal(lambda: run(command.split()))
    # What a progress bar has drawn is taken away again.
    lines = [line for line in lines if "\x1b" not in line]
    assert lines
    assert max(map(cell_len, lines)) <= PAGE
    words = {word for line in lines for word in line.split()}
    assert not words & {"bigra", "bigram", "fu", "ful", "ll", "titl", "tle", "ms", "rams", "ull"}


def test_closed_pipe_ends_quietly(judged: Path) -> None:
    """A reader that goes away, as `head` does, is no error."""
    with subprocess.Popen(
        [*program(), "export", "judgements"],
        cwd=judged,
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_disk_under_stdout_is_an_error(judged: Path) -> None:
    """Output that cannot be written is exit code 1 and a line, not a silent success."""
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [*program(), "export", "qrels", "strict"],
            cwd=judged,
            env=environment({}),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert ran.returncode == 1
    assert b"error: No space left on device" in ran.stderr
    assert b"Traceback" not in ran.stderr


def interrupt(process: subprocess.Popen[bytes]) -> bytes:
    """Press Ctrl-C until the process has ended; return what it said.

    One press is not enough when it comes just before the process waits for standard input: Python
    sees it when the read returns.
    """
    for _ in range(100):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
            break
    assert process.stderr is not None
    return process.stderr.read()


def test_interrupted_import_leaves_nothing(judged: Path) -> None:
    """Ctrl-C in the middle of an import is exit code 130, and the collection is as before."""

    def rows() -> list[str]:
        connection = sqlite3.connect(judged / "collection.db")
        dumped = list(connection.iterdump())
        connection.close()
        return dumped

    before = rows()
    lines = b"".join(
        json.dumps({"docno": f"new-{number}", "text": "x" * 100}).encode() + b"\n" for number in range(5000)
    )
    with subprocess.Popen(
        [*program(), "import", "docs", "-", "--all"],
        cwd=judged,
        env=environment({}),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(lines)  # more than a pipe holds: most of it has been read
        process.stdin.flush()
        wal = judged / "collection.db-wal"
        patience = time.monotonic() + 30
        while not wal.exists() and time.monotonic() < patience:
            time.sleep(0.01)
        said = interrupt(process)
    assert process.returncode == 130
    assert b"interrupted" in said
    assert b"Traceback" not in said
    assert rows() == before


def test_interrupted_pool_writes_no_file(here: Path) -> None:
    """Ctrl-C while a run is read is exit code 130, and no file, whole or half, is there."""
    with subprocess.Popen(
        [*program(), "pool", "-", "--out", "pool.txt"],
        cwd=here,
        env=environment({}),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        lines = (f"1 Q0 document-{number} {number} {-number} t\n" for number in range(20_000))
        process.stdin.write("".join(lines).encode())
        process.stdin.flush()
        said = interrupt(process)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(("given", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_arrays_take_one_thread_unless_the_user_says_otherwise(given: dict[str, str], threads: str) -> None:
    """Threads that wait for each other made matrix products ten times slower on a busy machine."""
    code = "\n".join(
        (
            "import atexit, os, sys",
            START.partition(";")[0],
            "atexit.register(lambda: sys.stderr.write(os.environ['OPENBLAS_NUM_THREADS']))",
            "main()",
        )
    )
    settings = environment({})
    settings.pop("OPENBLAS_NUM_THREADS", None)
    ran = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        env={**settings, **given},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.stderr.decode() == threads


def test_option_of_one_value_is_given_once(cli: Cli) -> None:
    """Which of two values counted would be a guess; options that gather values, and flags, may come again."""
    for words in (("pool", "--depth", "3", "--depth", "4"), ("show", "docs", "--limit", "3", "--limit", "3")):
        assert f"`{words[-2]}`: expected once, got 2 times" in cli(*words).failed(2).err
    twice = ("-m", "AP", "-m", "P@5", "--by-topic", "--by-topic")
    assert "expected once" not in cli("evaluate", *twice, "--qrels", "nobody").err
