"""Refusals that a transcript cannot hold; the others are in tests/transcripts/refusals.txt."""

from __future__ import annotations

import socket
from itertools import takewhile
from pathlib import Path

import pytest

from tests.helpers.run import Cli, Outcome, write

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
