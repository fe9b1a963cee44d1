"""The command as a whole: words, help, completion, streams, exit codes."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.cells import cell_len

from pooler import commands
from pooler.cli.commands import WORKFLOW, app
from tests.helpers.gallery import COMMANDS
from tests.helpers.run import PAGE, START, Cli, environment, program, run

GROUP: Any = typer.main.get_command(app)


def test_every_word_of_the_order_of_help_is_a_command() -> None:
    """And the commands stand in that order; a word that is in none stands last under its heading."""
    assert tuple(GROUP.commands) == WORKFLOW
    for heading, words in commands.HEADINGS.items():
        assert commands.by_heading()[heading] == tuple(words.split())


@pytest.mark.parametrize("group", ["", "import", "show", "judges", "export"])
def test_help_lists_commands_in_whole_sentences(cli: Cli, group: str) -> None:
    """No summary of a command is cut, and none is wider than a terminal of 80 columns."""
    told = cli(*group.split(), "--help").fine().out
    assert "..." not in told.partition("Commands:")[2]
    assert max(map(len, told.splitlines())) <= 80
    inner = GROUP.commands[group].commands if group else GROUP.commands
    for command in inner.values():
        summary = command.help.splitlines()[0].partition(". ")[0].rstrip(".")
        assert summary in " ".join(told.split())


@pytest.mark.parametrize("words", sorted(COMMANDS))
def test_a_help_page_fits_70_lines(cli: Cli, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")
    assert len(cli(*words.split(), "--help").fine().out.splitlines()) <= 70


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("pooler s", {"serve", "status", "show", "sensitivity"}),
        ("pooler show r", {"runs"}),
        ("pooler status --by", {"--by-topic"}),
        ("pooler show runs --form", {"--format"}),
    ],
)
def test_completion_offers_commands_and_their_options(words: str, expected: set[str], tmp_path: Path) -> None:
    """A shell that completes is offered names on both levels, and the options of a command."""
    settings = {"_POOLER_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ran = subprocess.run(program(), cwd=tmp_path, env=environment(settings), capture_output=True, check=False)
    assert set(ran.stdout.decode().split()) == expected


def test_help_is_a_command_too(cli: Cli) -> None:
    """`help` is `--help`, and with the name of a command that one's help."""
    assert cli("help").fine() == cli("--help").fine()
    for words in (("pool",), ("pool", "diff"), ("import",), ("import", "runs")):
        assert cli("help", *words).fine() == cli(*words, "--help").fine()
    told = cli("help", "polo").failed(2).err
    assert told.startswith("error: unknown command `polo`; known: `pool`, ")


def test_depth_is_n(cli: Cli, judged: Path) -> None:
    """Where a command takes `--depth`, it takes `-N`."""
    for command in (
        ("pool", "runs/bm25-words.run"),
        ("sensitivity", "--qrels", "strict"),
        ("diagnose", "--qrels", "strict"),
        ("replay", "--qrels", "strict"),
        ("check", "runs/bm25-words.run"),
    ):
        assert cli(*command, "-N", "3").fine() == cli(*command, "--depth", "3").fine()


def test_an_unknown_command_names_the_nearest(cli: Cli) -> None:
    """On both levels; where none is near, none is named."""
    for words, near in ((("evalate",), "pooler evaluate"), (("import", "topcs"), "pooler import topics")):
        assert f"hint: did you mean `{near}`? " in cli(*words).failed(2).err
    assert "did you mean" not in cli("frobnicate").failed(2).err


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(programs: Path) -> Offered:
    """Give a function that returns what bash is offered for the last word of a line typed in a folder."""
    return partial(_offered, programs / "pooler")


def _offered(program: Path, folder: Path, line: str, **settings: str) -> list[str]:
    words = line.split(" ")
    asked = {"_POOLER_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    environ = environment({**asked, **settings})
    ran = subprocess.run([program], cwd=folder, env=environ, capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout.decode().split()


@pytest.mark.parametrize(
    "command",
    [
        "sensitivity --depth 5 --qrels strict --scenario own --by pair",
        *(f"show {kind}" for kind in ("runs", "topics", "docs", "pools", "judges")),
        "show runs bm25-words",
        "show topics G01",
        "show docs KG-E-002",
        "show pools pool",
        "show judges strict",
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
