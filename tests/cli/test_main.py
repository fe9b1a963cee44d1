"""The command as a whole: streams, exit codes, interrupts, terminals."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.cells import cell_len

from pooler.cli.commands import WORKFLOW
from pooler.cli.main import run
from tests.cli.command_line import PAGE, controls, environment, program, run_process, write
from tests.cli.conftest import Cli

TABLES = [
    ["check", "--runs", "runs.tsv", "--depth", "5"],
    ["judges", "list"],
    ["status"],
    ["status", "--by-topic"],
    ["agreement"],
    ["agreement", "--by-topic", "--level", "2"],
    ["agreement", "--tables"],
    ["evaluate", "--judge", "strict"],
    ["evaluate", "--judge", "strict", "--by-topic"],
    ["sensitivity", "--depth", "5", "--judge", "strict"],
    ["sensitivity", "--depth", "5", "--judge", "strict", "--by-topic"],
    ["sensitivity", "--depth", "44", "--judge", "strict", "--by-topic"],
]


@pytest.mark.parametrize("command", TABLES, ids=" ".join)
def test_data_on_stdout_can_be_read_by_programs(cli: Cli, judged: Path, command: list[str]) -> None:
    """JSON parses, TSV has as many cells in every row, and both say the same."""
    data = cli(*command, "--format", "json").fine().json()
    rows = cli(*command, "--format", "tsv").fine().tsv()
    if isinstance(data, dict):  # the table that TSV has too
        first = next(iter(data))
        data = [row for name in data for row in data[name]] if "table" in rows[0] else data[first]
    assert len(data) == len(rows) > 0
    for row, cells in zip(data, rows, strict=True):
        cells.pop("table", None)
        for name, text in cells.items():
            value = row.get(name)
            if value is None:
                assert text == ""
            elif isinstance(value, bool):
                assert text == str(value).lower()
            elif isinstance(value, float):
                assert float(text) == value
            else:
                assert text == str(value)
    table = cli(*command).fine()
    assert not controls(table.out + table.err)
    assert "nan" not in re.findall(r"\w+", table.out.lower())


def test_commands_that_change_a_collection_say_so_on_stderr_only(cli: Cli, garden: Path) -> None:
    """Nothing is on stdout of init, import, pool into a collection, judges add, upgrade."""
    for command in (
        "init --scale 0-2",
        "import topics topics.jsonl",
        "import runs --runs runs.tsv",
        "pool --depth 5",
        "pool --depth 4 --name four --out four.txt",
        "import docs documents.jsonl",
        "judges add anna",
        "import judgements judgements/strict.qrels --judge strict",
        "export qrels --out qrels.txt",
        "upgrade",
    ):
        answer = cli(*command.split()).fine()
        assert (answer.out, answer.err != "") == ("", True), command


def test_version_and_help(cli: Cli) -> None:
    """`--version` names the installed version; `--help` lists the commands in the order of work."""
    assert cli("--version").fine().out == f"pooler {version('pooler')}\n"
    told = cli("--help").fine().out
    listed = re.findall(r"^  ([\w-]+)  ", told.partition("Commands:")[2], re.MULTILINE)
    assert tuple(listed) == WORKFLOW
    assert cli("-h").fine().out == told


def test_collection_is_named_by_the_environment(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """POOLER_COLLECTION names the collection; the option wins."""
    monkeypatch.setenv("POOLER_COLLECTION", "wine.db")
    cli("init").fine()
    assert (here / "wine.db").is_file()
    assert "wine (wine.db)" in cli("status").fine().out
    assert "there is no collection at beer.db" in cli("status", "--collection", "beer.db").err


def test_hostile_texts_are_pictures_in_tables(cli: Cli, here: Path) -> None:
    """Escape sequences and bidirectional controls in a name reach no terminal."""
    cli("init", "--name", "wine\x1b]0;owned\x07\u202e").fine()
    write(here / "a\x1b[31m.run", "1 Q0 d 1 1 t")
    answers = [
        cli("status"),
        cli("check", "a\x1b[31m.run"),
        cli("check", "none\x1b[31m.run"),
        cli("import", "runs", "a\x1b[31m.run"),
        cli("pool", "--depth", "1", "--name", "p\x9b31m"),
        cli("status"),
    ]
    for answer in answers:
        assert not controls(answer.out + answer.err)
        assert "\u202e" not in answer.out
    assert "wine␛]0;owned␇�" in answers[0].out
    assert "p�31m (1 pair)" in answers[-1].out
    cells = cli("check", "a\x1b[31m.run", "--format", "tsv").fine()
    assert not controls(cells.out)
    assert cli("check", "a\x1b[31m.run", "--format", "json").fine().json()[0]["file"] == ("a\x1b[31m.run")


def test_hostile_topic_of_a_faulty_run_is_a_picture(cli: Cli, here: Path) -> None:
    """A topic id with an escape sequence is a fault, and shown without its escape."""
    lines = [f"1\x1b[31m Q0 d{number} 1 1.0 t" for number in range(3)]
    write(here / "t.run", *lines)
    answer = cli("check", "t.run", "--depth", "1")
    assert answer.code == 1
    assert "t.run:1: topic id: expected an id without control characters" in answer.out
    assert "in topic 1␛[31m" in answer.out
    assert not controls(answer.out + answer.err)


def shown_on_terminal(folder: Path, **settings: str) -> str:
    """Return what `pooler status` draws on a terminal of 100 columns."""
    ours, theirs = pty.openpty()
    extra = {"TERM": "xterm-256color", "COLUMNS": "100", **settings}
    with subprocess.Popen(
        [*program(), "status"], cwd=folder, env=environment(extra), stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # Linux: the other end is closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert process.returncode == 0
    return shown.decode()


@pytest.mark.slow
def test_no_color_on_a_terminal_gives_no_escapes(judged: Path) -> None:
    """A terminal gets bold headings, and with NO_COLOR plain text."""
    assert "\x1b[1m" in shown_on_terminal(judged)
    plain = shown_on_terminal(judged, NO_COLOR="1")
    assert "\x1b" not in plain
    assert "lenient" in plain


def test_pipe_gets_no_escapes_and_whole_lines(judged: Path) -> None:
    """In a pipe nothing is coloured, cut or wrapped, whatever the width."""
    ran = run_process("agreement", folder=judged, settings={"TERM": "xterm", "COLUMNS": "20"})
    assert ran.returncode == 0
    assert b"\x1b" not in ran.stdout + ran.stderr
    assert b"lenient" in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) > 60


@pytest.mark.parametrize(
    "command",
    [
        "sensitivity --depth 5 --judge strict",
        "sensitivity --depth 5 --judge strict --flips 3",
        "sensitivity --depth 5 --judge strict --scenario own --pairs",
        "sensitivity --judge strict --pairs --at worst",
        "sensitivity --judge strict --each",
        "required-difference --all --depth 5 --judge strict",
        "compare --all --judge strict",
        *(f"list {kind}" for kind in ("runs", "topics", "docs", "pools", "judges", "rounds")),
        "show run bm25-words",
        "show topic G01",
        "show doc KG-E-002",
        "show pool pool",
        "show judge strict",
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
            [*program(), "export", "qrels", "--judge", "strict"],
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
