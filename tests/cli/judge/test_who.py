"""`pooler judge` alone: who it is asked, remembered, and where it opens."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pooler.commands.judge.judge import memory_of
from store.collection import Collection
from store.records import Document, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.run import run_process
from tests.helpers.world import new_collection
from tests.screens.terminals import PtyTerminal

pytestmark = pytest.mark.slow

TOPICS = [Topic("1", "bridges"), Topic("2", "tunnels")]


@pytest.fixture
def at_home(tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make two topics of three documents, for alice, bob and a model, in a folder with a home of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("POOLER_JUDGE", raising=False)
    monkeypatch.chdir(tmp_path)
    with new_collection(str(tmp_path / "c.db"), "0-2") as collection:
        collection.topics.add(TOPICS)
        entries = [PoolEntry(topic.topic, f"d{n}", n) for topic in TOPICS for n in range(3)]
        collection.pools.add(Pool(entries, {}))
        collection.documents.add([Document(f"d{n}", "", f"Text {n}.") for n in range(3)])
        for judge, kind in (("alice", "human"), ("bob", "human"), ("gpt", "model"), ("zoe", "adjudicator")):
            collection.judges.add(judge, JudgeKind(kind))
    return tmp_path


def judging(**environment: str) -> PtyTerminal:
    """Run the line mode in a terminal, with nobody named."""
    command = ["pooler", "judge", "--plain", "--collection", "c.db"]
    return PtyTerminal(command, environment=environment)


def leave(terminal: PtyTerminal) -> str:
    """Quit, and return everything that was written."""
    terminal.send(b"q\n")
    assert terminal.wait() == 0, terminal.text()
    return terminal.text()


def memory(folder: Path) -> Path:
    """Return where the judge of the collection is remembered."""
    return memory_of(str(folder / "c.db"))


def test_the_judge_is_asked_once_and_opens_where_they_stopped(at_home: Path) -> None:
    """The list has people and what is left for each; the next sitting begins in the topic of the last."""
    with judging() as terminal:
        asked = terminal.wait_for("your number or name > ")
        assert "  1  alice  6 documents left\r\n  2  bob    6 documents left\r\n" in asked
        assert "gpt" not in asked
        assert "zoe" not in asked
        terminal.send(b"gpt\n")
        terminal.wait_for("gpt is none of them")
        terminal.send("２\n".encode())
        terminal.wait_for("Topics of bob", "topic? Enter = 1, q quits > ")
        terminal.send(b"2\n")
        terminal.wait_for("Enter = the first document > ")
        terminal.send(b"\n")
        terminal.wait_for("0/3 grade 0-2")
        terminal.send(b"1\n")
        terminal.wait_for("1/3 grade 0-2")
        leave(terminal)
    assert json.loads(memory(at_home).read_text()) == {"collection": str(at_home / "c.db"), "judge": "bob"}
    assert memory(at_home).stat().st_mode & 0o077 == 0
    assert [file.name for file in memory(at_home).parent.iterdir()] == [memory(at_home).name]
    with judging() as terminal:
        shown = terminal.wait_for("1/3 grade 0-2")
        assert "bob, as last time; pooler judge --judge NAME for somebody else" in shown
        assert "Topic 2 tunnels" in shown
        assert "Document d1\r\n" in shown
        assert "Topics of" not in shown
        leave(terminal)


def test_a_name_that_is_given_wins_and_is_not_remembered(at_home: Path) -> None:
    """Both `--judge` and POOLER_JUDGE do, the option first."""
    with judging(POOLER_JUDGE="alice") as terminal:
        terminal.wait_for("Topics of alice")
        leave(terminal)
    assert not memory(at_home).exists()
    found = run_process(
        *("judge", "--judge", "bob", "--plain", "--collection", "c.db"),
        folder=at_home,
        stdin=b"q\n",
        settings={"POOLER_JUDGE": "alice"},
    )
    assert b"Topics of bob" in found.stdout


@pytest.mark.parametrize("options", [(), ("--plain",)])
def test_without_a_terminal_nobody_is_asked(at_home: Path, options: tuple[str, ...]) -> None:
    """It ends at once and says `--judge`, even where somebody is remembered: a script names its judge."""
    memory(at_home).parent.mkdir(parents=True)
    memory(at_home).write_text('{"judge": "bob"}')
    found = run_process("judge", *options, "--collection", "c.db", folder=at_home, stdin=b"1\n1\n")
    assert (found.returncode, found.stdout) == (2, b"")
    assert b"`--judge` must be given" in found.stderr
    assert b"pooler judge --judge NAME" in found.stderr


def test_a_model_is_refused_however_it_is_named(at_home: Path) -> None:
    """POOLER_JUDGE names whom `--judge` does."""
    found = run_process(
        *("judge", "--plain", "--collection", "c.db"), folder=at_home, settings={"POOLER_JUDGE": "gpt"}
    )
    assert found.returncode == 1
    assert b"judge `gpt` is of kind model, but only people judge here" in found.stderr


@pytest.mark.parametrize("kept", ['{"judge": "bob"}', '{"judge": "gpt"}', "{", "[]", '{"judge": 1}'])
def test_whoever_cannot_judge_any_more_is_asked_again(at_home: Path, kept: str) -> None:
    """Disabled, a model, or a file that says nothing: the list comes up; the end of input is no answer."""
    with Collection(str(at_home / "c.db")) as collection:
        collection.judges.set_disabled(["bob"], disabled=True)
    memory(at_home).parent.mkdir(parents=True)
    memory(at_home).write_text(kept)
    with judging() as terminal:
        asked = terminal.wait_for("your number or name > ")
        assert "bob" not in asked
        terminal.send(b"\x04")
        assert terminal.wait() == 1
        assert "no judge was named" in terminal.text()
        assert "pooler judge --judge NAME names the judge, and so does POOLER_JUDGE" in terminal.text()
    assert memory(at_home).read_text() == kept


def test_where_nobody_can_judge_nobody_is_asked(at_home: Path) -> None:
    """Models and adjudicators are no people; the hint names the command that adds one, and it does."""
    with Collection(str(at_home / "c.db")) as collection:
        collection.judges.set_disabled(["alice", "bob"], disabled=True)
    with judging() as terminal:
        assert terminal.wait() == 1
        assert "no person can judge here yet" in terminal.text()
        assert "hint: pooler judges add NAME adds one" in terminal.text()
    run_process("judges", "add", "carol", "--collection", "c.db", folder=at_home).check_returncode()
    with judging() as terminal:
        assert "  1  carol  6 documents left" in terminal.wait_for("your number or name > ")
        terminal.send(b"\x04")
        assert terminal.wait() == 1


def test_what_cannot_be_remembered_is_said_and_keeps_nobody_from_judging(at_home: Path) -> None:
    """A file stands where the folder should be."""
    (at_home / "state").write_text("")
    with judging() as terminal:
        terminal.wait_for("your number or name > ")
        terminal.send(b"alice\n")
        written = terminal.wait_for("Topics of alice")
        assert "your name could not be remembered" in written
        leave(terminal)
