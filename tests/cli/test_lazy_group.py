"""Commands that are imported when they are called: help, completion and suggestions as before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from pooler import commands
from pooler.cli.commands import WORKFLOW, app
from tests.helpers.gallery import COMMANDS
from tests.helpers.run import RUN, Cli, environment, program

GROUP: Any = typer.main.get_command(app)


def test_every_word_of_the_order_of_help_is_a_command() -> None:
    """And the commands stand in that order; a word that is in none stands last under its heading."""
    assert tuple(GROUP.commands) == WORKFLOW
    for heading, words in commands.HEADINGS.items():
        assert commands.by_heading()[heading] == tuple(words.split())


@pytest.mark.parametrize("name", WORKFLOW)
def test_announced_first_line_is_that_of_the_command(name: str) -> None:
    """The help of `pooler` says of a command what the command's own help begins with."""
    command = GROUP.commands[name]
    assert command.name == name
    assert commands.words()[name] == command.help.splitlines()[0]


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


def modules_after(code: str, folder: Path) -> set[str]:
    """Return the modules of the command line that a fresh interpreter has imported."""
    report = "import json, sys; sys.stderr.write(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        cwd=folder,
        env=environment({}),
        capture_output=True,
        check=True,
    )
    return {name for name in json.loads(ran.stderr) if name.startswith(("pooler.cli.", "pooler.commands."))}


def test_help_imports_no_command_and_a_command_only_its_own(tmp_path: Path) -> None:
    """`--help` and a wrong name import no command's module; `check --help` only that of `check`."""
    start = f"{RUN}\nimport sys, io\n"
    names = ("commands", "console", "main")
    own = {f"pooler.cli.{name}" for name in names}
    assert modules_after(start + "assert run(['--help']) == 0", tmp_path) == own
    wrong = "sys.stderr = io.StringIO(); assert run(['chekc']) == 2; sys.stderr = sys.__stderr__"
    assert modules_after(start + wrong, tmp_path) == own
    loaded = modules_after(start + "assert run(['check', '--help']) == 0", tmp_path)
    places = {announced.module for announced in commands.announced().values()}
    assert loaded & places == {"pooler.commands.start.check"}


def test_misspelt_commands_are_answered_with_the_nearest(cli: Cli) -> None:
    """An unknown name is exit code 2 and names what it may have meant, on both levels."""
    answer = cli("stats")
    assert (answer.code, "known: `status`" in answer.err) == (2, True)
    answer = cli("show", "rums")
    assert (answer.code, "known: `runs`" in answer.err) == (2, True)


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
