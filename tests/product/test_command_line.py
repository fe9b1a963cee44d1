"""The command as a whole: words, help, completion, streams, exit codes, refusals, a system without Unix."""

from __future__ import annotations

import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.cells import cell_len

from pooler import commands
from pooler.cli.commands import WORKFLOW, app
from tests.helpers.gallery import COMMANDS
from tests.helpers.run import GARDEN, PAGE, ROOT, START, Cli, Outcome, environment, program, run, write

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


DATA, USAGE, STORE = 1, 2, 3
"""Exit codes."""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("judge --model m", "ask NAME"),
        ("effort", "status effort"),
        ("rejudge --list", "status outdated"),
        ("guidelines show", "show guidelines"),
        ("guidelines set g.md", "import guidelines FILE"),
        ("evaluate --list", "show measures"),
        ("evaluate --curves", "evaluate curves"),
        ("estimate --pool drawn", "evaluate"),
        ("clusters a b", "evaluate clusters CLUSTERS"),
        ("agreement --plan .2", "design overlap"),
        ("design --variance .03", "design topics"),
        ("paper --of-kishida", "paper sources"),
        ("required-difference --all", "paper difference"),
        ("ap-properties --rank 101", "paper least"),
        ("pool --list", "show strategies"),
        ("list runs", "show runs"),
        ("judges list", "show judges"),
        ("show run bm25", "show runs NAME"),
        ("show rounds", "show pools"),
        ("sensitivity --pairs", "sensitivity --by pair"),
        ("sensitivity --by topic", "sensitivity --by-topic"),
        ("variation --discover", "paper A B"),
        ("audit m --with-model", "audit MODEL --table corrected"),
        ("report --for bm25", "report runs DIR --for RUN"),
        ("report --for-all pages", "report runs DIR"),
        ("compare --all", "compare"),
        ("compare --signs", "compare A B"),
        ("design --reliability", "design topics --table reliability"),
        ("evaluate --cut 5", "evaluate -m TP@5"),
        ("assign --show", "assign"),
        ("diagnose --scores", "diagnose --table scores"),
        ("judge --until recall=.9", "judge --goal GOAL"),
        ("judge --keymap azerty", "init --scale"),
        ("agreement --interval none", "agreement --resamples N"),
        ("agreement --all-pairs", "agreement --limit N"),
        ("draw", "judge"),
        ("grant anna", "serve"),
        ("merge a.db", "import work FILE"),
        ("copy b.db", "restore FILE --collection PATH|URL"),
        ("judges scrub anna", "judges erase NAME"),
        ("judges anonymise", "export collection DIR --anonymised"),
        ("import judgements f --input-columns docno", "import judgements FILE --columns NAME,..."),
    ],
)
def test_old_line_answers_with_one_there_is(cli: Cli, here: Path, old: str, new: str) -> None:
    """The hint names a command that has a help page of its own."""
    hint = cli(*old.split()).failed(USAGE).err.rpartition("hint: ")[2].strip()
    assert f"pooler {new}" in hint.split("; ") or f"pooler {new} " in hint, hint
    words = [*takewhile(str.islower, new.partition(" -")[0].split())]
    assert cli(*words, "--help").fine().out.startswith(f"Usage: pooler {' '.join(words)} ")


def test_unreachable_server_is_refused_without_its_password(cli: Cli) -> None:
    """A PostgreSQL server that does not answer is exit code 3, and no password is shown."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        answer = cli("status", "--collection", f"postgresql://me:secret@127.0.0.1:{port}/wine")
    answer.failed(STORE)
    assert f"127.0.0.1:{port}" in answer.err
    assert "secret" not in answer.err


def test_unknown_topics_of_a_pipe_are_told(cli: Cli, judged: Path) -> None:
    """A run from standard input is checked like a file, though it cannot be read twice."""
    content = (judged / "runs" / "bm25-words.run").read_bytes().replace(b"G08 Q0", b"G99 Q0")
    told: Outcome = cli("import", "runs", "-", "--replace", stdin=content).fine()
    assert "warning: 1 of 8 topics of - not in the collection: `G99`; 1 of 8 topics" in told.err


def test_faults_are_counted_beyond_those_shown(cli: Cli, here: Path) -> None:
    """Of a file of a thousand bad lines, 25 faults are shown and the rest counted."""
    write(here / "long.run", *["G01 Q0 d 1 1.0"] * 1000)
    refused = cli("pool", "long.run").failed(DATA)
    assert refused.err.count("expected 6 fields") == 25
    assert "long.run: and 975 more faults" in refused.err


def test_qrels_given_as_a_run_and_the_other_way_are_one_sentence(cli: Cli, judged: Path) -> None:
    """Whatever reads the file, it is told what it looks like and what takes it."""
    qrels, run = "judgements/strict.qrels", "runs/bm25-words.run"
    for command in (("pool", qrels), ("import", "runs", qrels), ("evaluate", "--qrels", qrels, qrels)):
        answer = cli(*command).failed(1)
        first, hint = answer.err.splitlines()
        assert first.startswith(f"error: {qrels}: this looks like a qrels file (4 columns")
        assert "`--qrels FILE`" in hint
        assert "`pooler import judgements FILE`" in hint
    checked = cli("check", qrels)
    assert (checked.code, len(checked.out.splitlines())) == (1, 2)
    for command in (
        ("import", "judgements", run, "--judge", "zoe"),
        ("evaluate", "--qrels", run, run),
        ("export", "qrels", run, "--level", "1"),
        ("import", "judgements", run, "--judge", "zoe", "--lenient"),
    ):
        answer = cli(*command).failed(1)
        first, hint = answer.err.splitlines()
        assert first.startswith(f"error: {run}: this looks like a run file (6 columns")
        assert "`pooler import runs FILE`" in hint


# What Windows lacks is taken away before the program is imported; libraries keep it. Commands run one after
# another in one process, each with its own arguments, pipe of standard input, and file of what it prints.
AS_ON_WINDOWS = """
import json, os, select, signal, sys
import asyncio, numpy, subprocess, sqlalchemy, tempfile  # which look themselves at the system they are on

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
for name in (
    "fork O_CLOEXEC O_NOFOLLOW O_DIRECTORY O_NONBLOCK fchmod fchown chown getuid geteuid getgid getegid"
    " sched_getaffinity setsid killpg statvfs mkfifo posix_fadvise pread register_at_fork"
).split():
    if hasattr(os, name):
        delattr(os, name)
for name in ("pthread_sigmask", "SIGHUP", "SIGKILL", "SIGALRM", "SIGWINCH", "alarm", "setitimer"):
    if hasattr(signal, name):
        delattr(signal, name)

def of_sockets(*waited):
    if sys._getframe(1).f_globals["__name__"].startswith("judge_ui"):
        raise OSError(10038, "An operation was attempted on something that is not a socket")
    return waits(*waited)

waits, select.select = select.select, of_sockets
from pooler.cli.main import main

def answer(words, given):
    sys.stdin, typing = map(os.fdopen, os.pipe(), "rw")
    print(given, end="", file=typing)
    typing.close()
    sys.argv, sys.stdout = ["pooler", *words.split()], open("printed", "w+", encoding="utf-8")
    try:
        main()
    except SystemExit as end:
        sys.stdout.seek(0)
        return words, end.code, sys.stdout.read()

print(json.dumps([answer(*one) for one in json.loads(sys.argv[1])]), file=sys.__stdout__)
"""


@pytest.mark.slow
def test_an_organiser_and_a_judge_come_through(tmp_path: Path) -> None:
    """From run files to qrels, scores, a backup and a report; a judge decides line by line."""
    (tmp_path / "garden").symlink_to(GARDEN)
    runs = " ".join(f"garden/runs/{path.name}" for path in sorted((GARDEN / "runs").glob("*.run")))
    lines = [
        f"pool {runs} --depth 5",
        "init --scale 0-2",
        "import topics garden/topics.jsonl",
        "import docs garden/documents.jsonl",
        f"import runs {runs}",
        "pool --depth 5",
        "judges add alice",
        "assign",
        "judge --judge alice --plain",
        "export judgements",
        "export qrels",
        "evaluate -m AP",
        "verify",
        "backup copy.db",
        "export collection folder",
    ]
    given = {"judge --judge alice --plain": "\n2\n0\nquit\n"}
    steps = json.dumps([(line, given.get(line, "")) for line in lines])
    done = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS, steps],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "POOLER_COLLECTION": "new.db"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert [(line, code) for line, code, _ in answers if code] == [], done.stderr
    printed = {line: out for line, _, out in answers}
    assert len(printed[lines[0]].splitlines()) == 84
    assert "2 decisions" in printed["judge --judge alice --plain"]
    assert len(printed["export judgements"].splitlines()) >= 2
    assert printed["export qrels"].startswith("G01 0 ")
    assert "AP" in printed["evaluate -m AP"]
