"""`pooler judge`: who sits down, what was seen, that what is typed is stored; and what `serve` refuses."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import signal
import socket
import sqlite3
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pooler.commands.judge.judge import memory_of
from store.collection import Collection
from store.errors import StoreError, UnknownNameError
from store.records import Action, Decision, Document, JudgeKind, Passage, Pool, PoolEntry, Qrel, State, Topic
from tests.helpers.faults import When, failing_database
from tests.helpers.fixtures import made_once
from tests.helpers.pages import serving
from tests.helpers.places import held_place, places
from tests.helpers.run import Cli, controls, environment, program, run_process, write
from tests.helpers.terminals import PtyTerminal
from tests.helpers.world import JudgeAtWork, change_stored, make_pool, named_rows, new_collection, stored_rows

PLAIN = "pooler judge --plain works without a full screen"


@pytest.fixture
@made_once
def seated(cli: Cli, judged: Path) -> Path:
    """Work beside the sample collection with a judge who has judged nothing."""
    cli("judges", "add", "anna").fine()
    return judged


def stored(cli: Cli) -> dict[str, tuple[str, int | None, str, str]]:
    """Return state, grade, reason and note of every document anna has touched, by docno."""
    lines = cli("export", "judgements", "anna").fine().out.splitlines()
    rows = map(json.loads, lines)
    return {row["docno"]: (row["state"], row["grade"], row["reason"], row["note"]) for row in rows}


def test_typed_grades_are_stored_in_the_order_of_the_pool(cli: Cli, seated: Path) -> None:
    """2, 0, 1 grade the first three documents of the topic; quitting leaves the rest unjudged."""
    answer = cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=b"2\n0\n1\nq\n")
    assert answer.fine().out.endswith("anna: 3 decisions in this sitting, all saved\n")
    pool = [line.split() for line in cli("export", "pool").fine().out.splitlines()]
    first = [docno for topic, docno in pool if topic == "G01"][:3]
    assert stored(cli) == {
        docno: ("judged", grade, "", "") for docno, grade in zip(first, (2, 0, 1), strict=True)
    }


def test_judge_sees_no_run_and_no_other_judge(cli: Cli, seated: Path) -> None:
    """What is printed has the document, and no run tag, group, score, pool or other judge."""
    typed = b"s\n" * 10 + b"q\n"
    shown = cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=typed).fine()
    for word in ("bm25", "lm-", "rm3", "tfidf", "bigrams", "strict", "lenient", "middle", "pool"):
        assert word not in shown.out.lower().replace("in no pool", "")
    assert {state for state, *_ in stored(cli).values()} == {"skipped"}


def test_ctrl_c_says_on_a_line_of_its_own_what_is_saved(cli: Cli, seated: Path) -> None:
    """Exit code 130 after a question; the two decisions before it are told, and stored."""
    arguments = [*program(), "judge", "--judge", "anna", "--topic", "G01", "--plain"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        arguments, cwd=seated, env=environment({}), stdin=pipe, stdout=pipe, stderr=pipe
    ) as sitting:
        assert sitting.stdin is not None
        assert sitting.stdout is not None
        sitting.stdin.write(b"1\n2\n")
        sitting.stdin.flush()
        shown = b""
        while not (re.search(rb"^2/\d+ grade", shown, re.MULTILINE) and shown.endswith(b" > ")):
            assert select.select([sitting.stdout], [], [], 60)[0], shown
            part = os.read(sitting.stdout.fileno(), 65_536)
            assert part, shown
            shown += part
        sitting.send_signal(signal.SIGINT)
        last, said = sitting.communicate(timeout=60)
    assert sitting.returncode == 130
    assert last == b"\nanna: 2 decisions in this sitting, all saved\n"
    assert said == b"interrupted: what was saved stays; nothing was in progress\n"
    assert [grade for _, grade, _, _ in stored(cli).values()] == [1, 2]


def test_hostile_texts_reach_the_judge_as_pictures(cli: Cli, seated: Path) -> None:
    """Escape sequences in topics and documents are shown, never sent to the terminal."""
    title = '"title": "slugs\\u001b]0;owned\\u0007\\u202e"'
    write(seated / "t.jsonl", '{"topic": "G01", ' + title + ', "narrative": "a\\u009b31m"}')
    cli("import", "topics", "t.jsonl", "--replace").fine()
    docno = cli("export", "pool").out.split()[1]
    write(seated / "d.jsonl", json.dumps({"docno": docno, "title": "\x1bc", "text": "b\x1b[2J"}))
    cli("import", "docs", "d.jsonl", "--replace").fine()
    shown = cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=b"q\n").fine()
    assert not controls(shown.out + shown.err)
    assert "\u202e" not in shown.out
    assert "slugs␛]0;owned␇�" in shown.out
    assert "b␛[2J" in shown.out


def test_input_that_is_no_utf8_is_put_up_with(cli: Cli, seated: Path) -> None:
    """A byte that is no UTF-8 in a note becomes U+FFFD; the sitting goes on."""
    arguments = ("judge", "--judge", "anna", "--topic", "G01", "--plain")
    typed = "e\nmañana ".encode() + b"\xff\n2\nq\n"
    ran = run_process(*arguments, folder=seated, stdin=typed, settings={"PYTHONIOENCODING": "ascii"})
    assert (ran.returncode, b"Traceback" in ran.stderr) == (0, False)
    assert list(stored(cli).values()) == [("judged", 2, "", "mañana \ufffd")]


def test_collection_without_a_pool_has_nothing_to_judge(cli: Cli, here: Path) -> None:
    """Without a pool the judge is told what makes one."""
    cli("init").fine()
    cli("judges", "add", "anna").fine()
    refused = cli("judge", "--judge", "anna", "--plain").failed(1)
    assert "there is nothing to judge" in refused.err
    assert "hint: pooler pool --depth 10" in refused.err


def refused_at_a_terminal(folder: Path, **settings: str) -> tuple[int, str]:
    """Run the full screen at a pseudo-terminal that it refuses; return exit code and stderr."""
    ours, theirs = pty.openpty()
    ran = subprocess.Popen(
        [*program(), "judge", "--judge", "anna"],
        cwd=folder,
        env=environment({"TERM": "xterm-256color"} | settings),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    # Linux ends a pseudo-terminal that nobody writes to any more with an error.
    with contextlib.suppress(OSError):
        while more := os.read(ours, 65_536):
            shown += more
    os.close(ours)
    return ran.wait(60), shown.decode("utf-8", "replace").replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("settings", "why", "hint"),
    [
        ({"TERM": "dumb"}, "needs a terminal that can move its cursor (TERM is dumb)", PLAIN),
        pytest.param(
            {"TERM": ""},
            "needs a terminal that can move its cursor (TERM is dumb)",
            PLAIN,
            marks=pytest.mark.slow,
        ),
        (
            {"PYTHONIOENCODING": "latin-1"},
            "the terminal's encoding is iso8859-1, not UTF-8",
            "set LANG=C.UTF-8, or use --plain",
        ),
    ],
)
def test_terminals_the_full_screen_cannot_use_are_refused(
    seated: Path, settings: dict[str, str], why: str, hint: str
) -> None:
    """Exit code 1, one sentence, and `--plain` as the way out; nothing is drawn."""
    code, shown = refused_at_a_terminal(seated, **settings)
    assert code == 1
    assert why in " ".join(shown.split())
    assert shown.splitlines()[-1] == f"hint: {hint}"
    assert not controls(shown)


def test_without_a_terminal_the_full_screen_is_refused(cli: Cli, seated: Path) -> None:
    """In a pipe nothing is drawn, no sitting begins, and `--plain` is named."""
    refused = cli("judge", "--judge", "anna", "--topic", "G01").failed(1)
    assert "needs a terminal on stdin and stderr" in refused.err
    assert "hint: pooler judge --plain" in refused.err
    assert refused.out == ""
    with contextlib.closing(sqlite3.connect(seated / "collection.db")) as connection:
        assert connection.execute("SELECT count(*) FROM sitting").fetchone() == (0,)


@pytest.mark.parametrize("plain", [["--plain"], []])
def test_unknown_and_disabled_judges_are_refused(cli: Cli, seated: Path, plain: list[str]) -> None:
    """A slip names those there are; a disabled judge is a matter of the collection."""
    refused = cli("judge", "--judge", "ana", *plain).failed(1)
    assert "unknown judge `ana`; known: `anna`" in refused.err
    assert "hint: pooler show judges" in refused.err
    cli("judges", "disable", "anna").fine()
    assert "judge `anna` is disabled" in cli("judge", "--judge", "anna", *plain).failed(3).err


def test_judge_to_whom_nothing_is_assigned_is_told(cli: Cli, seated: Path) -> None:
    """Once documents are assigned, a judge without any sees none, and reads why."""
    cli("judges", "add", "ben").fine()
    cli("assign", "ben").fine()
    refused = cli("judge", "--judge", "anna", "--plain").failed(1)
    assert "nothing is assigned to `anna`" in refused.err
    assert "hint: pooler assign --table places" in refused.err
    assert "Topics of ben" in cli("judge", "--judge", "ben", "--plain").fine().out


def test_unknown_topic_is_refused(cli: Cli, seated: Path) -> None:
    """Nothing is opened and the known topics are named."""
    refused = cli("judge", "--judge", "anna", "--plain", "--topic", "G99", stdin=b"2\n").failed(1)
    assert "unknown topic `G99`; known: `G0" in refused.err
    assert stored(cli) == {}


@pytest.mark.slow
def test_a_grade_that_cannot_be_written_ends_with_exit_code_3(
    cli: Cli, seated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script whose collection is locked gets no further, and its shell is told."""
    # The default of seconds would make this a slow test of SQLite.
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    with contextlib.closing(sqlite3.connect(seated / "collection.db")) as connection:
        connection.execute("BEGIN IMMEDIATE")
        typed = b"2\n1\nq\n"
        answer = cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=typed)
    assert answer.code == 3
    assert "1 answer was ignored" in answer.out
    assert answer.out.endswith("anna: 0 decisions in this sitting, 1 NOT SAVED\n")
    assert stored(cli) == {}


def test_answers_after_the_end_of_a_topic_are_counted_in_a_warning(cli: Cli, seated: Path) -> None:
    """Three too many are told on stderr as well; an empty line and the next topic's name go on."""
    inbox = cli("judge", "--plain", "--judge", "anna", stdin=b"").fine().out
    (n,) = (int(found) for found in re.findall(r"G06 .*: (\d+) documents", inbox))
    told = cli("judge", "--judge", "anna", "--topic", "G06", "--plain", stdin=b"1\n" * (n + 3)).fine()
    assert "3 answers were ignored\n" in told.out
    assert "warning: 3 answers ignored: " in told.err
    assert len(stored(cli)) == n
    told = cli("judge", "--judge", "anna", "--topic", "G06", "--plain", stdin=b"\nG07\n2\n").fine()
    assert "ignored" not in told.out + told.err
    assert len(stored(cli)) == n + 1


def jump(folder: Path, days: int) -> None:
    """Let all that was done, and every sitting, be so many days away from now."""
    with contextlib.closing(sqlite3.connect(folder / "collection.db")) as connection, connection:
        for table, column in (("judgement", "judged_at"), ("sitting", "seen_at")):
            moment = f"strftime('%Y-%m-%d %H:%M:%f000', 'now', '{days} days')"
            connection.execute(f"UPDATE {table} SET {column} = {moment}")


def test_a_clock_that_jumped_is_told_wherever_something_is_judged(cli: Cli, seated: Path) -> None:
    """400 days ahead of what was done last, or behind it: to judges, to an adjudicator, and for a page.

    A clock set right is told once: a sitting 400 days ahead stays in the history, and nobody is warned again.
    """
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    sit = ("judge", "--judge", "anna", "--topic", "G01", "--plain")
    cli(*sit, stdin=b"2\n").fine()
    write(seated / "page.jsonl", "{}")
    assert "clock" not in cli("judge", "--judge", "anna", "--plain", stdin=b"").fine().err
    for days, word in ((-400, "before"), (400, "after")):
        for command in (sit, ("adjudicate", "--judge", "zoe", "--plain"), ("import", "work", "page.jsonl")):
            jump(seated, days)
            told = cli(*command, stdin=b"").err
            assert re.search(f"warning: the clock says .*, (399|400) days {word} that", told), command
    jump(seated, 400)
    with serving(seated / "collection.db") as served:
        assert "warning: the clock says" in served.said
    assert "warning: the clock says" in cli(*sit, stdin=b"2\n").fine().err
    assert "clock" not in cli(*sit, stdin=b"2\n").fine().err


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--plain",)])
def test_without_a_terminal_nobody_is_asked(at_home: Path, options: tuple[str, ...]) -> None:
    """It ends at once and says `--judge`, even where somebody is remembered: a script names its judge."""
    memory(at_home).parent.mkdir(parents=True)
    memory(at_home).write_text('{"judge": "bob"}')
    found = run_process("judge", *options, "--collection", "c.db", folder=at_home, stdin=b"1\n1\n")
    assert (found.returncode, found.stdout) == (2, b"")
    assert b"`--judge` must be given" in found.stderr
    assert b"pooler judge --judge NAME" in found.stderr


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_cannot_be_remembered_is_said_and_keeps_nobody_from_judging(at_home: Path) -> None:
    """A file stands where the folder should be."""
    (at_home / "state").write_text("")
    with judging() as terminal:
        terminal.wait_for("your number or name > ")
        terminal.send(b"alice\n")
        written = terminal.wait_for("Topics of alice")
        assert "your name could not be remembered" in written
        leave(terminal)


@pytest.fixture
def alone(cli: Cli) -> Cli:
    """Work beside a collection that has a judge, alice, and nothing else."""
    cli("init", "--scale", "0-2").fine()
    cli("judges", "add", "alice").fine()
    return cli


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "judge.example"])
@pytest.mark.parametrize("origin", [(), ("--origin", "http://127.0.0.1:8000")])
def test_others_reach_it_by_https_alone(alone: Cli, host: str, origin: tuple[str, ...]) -> None:
    """An address that others can reach needs an origin that is encrypted."""
    said = alone("serve", "--port", "0", "--host", host, *origin).failed(1).err
    assert "must be this machine's own (127.0.0.1) unless --origin names an https address" in said
    assert "leave --host out, and let a reverse proxy on this machine serve the URL of --origin" in said


def test_origin_is_https_or_here(alone: Cli) -> None:
    """Behind a proxy without encryption nobody is to judge."""
    said = alone("serve", "--origin", "http://judge.example").failed(1).err
    assert "`--origin` must begin with https:// unless it is this machine's own" in said
    assert "`--origin` must be an address" in alone("serve", "--origin", "judge.example").failed(1).err


def test_port_that_is_taken(alone: Cli) -> None:
    """It is said which, and what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = alone("serve", "--port", str(port)).failed(1).err
    assert f"cannot listen at 127.0.0.1, port {port}: Address already in use" in said
    assert "hint: --port names another port; 0 = any that is free" in said


def test_code_is_all_of_stdout(alone: Cli) -> None:
    """What is said of it is on stderr, so that it can be put where it belongs."""
    made = alone("judges", "code", "alice").fine()
    assert len(made.out.strip()) == 29
    assert made.out.strip() not in made.err
    assert "not shown again" in made.err
    assert "is no longer valid" in alone("judges", "code", "alice", "--revoke").fine().err
    assert "has no code" in alone("judges", "code", "alice", "--revoke").fine().err
    assert "unknown judge `ana`; known: `alice`" in alone("judges", "code", "ana").failed(1).err


@pytest.fixture
def two(collection: Collection) -> Collection:
    """Make two topics and two judges."""
    for judge in ("ann", "bob"):
        collection.judges.add(judge, JudgeKind.HUMAN)
    collection.topics.add([Topic("1", "one"), Topic("2", "two")])
    collection.pools.add(make_pool({"1": "ab", "2": "c"}))
    collection.documents.add([Document("a", "", "first text")])
    return collection


def disable(name: str) -> None:
    """Disable ann behind her back."""
    change_stored(name, "UPDATE judge SET disabled = TRUE WHERE name = 'ann'")


def column(name: str, of: str) -> list[Any]:
    """Return a column of every event, the oldest first."""
    return [row[of] for row in named_rows(name, "judgement")]


def test_judge_disabled_while_at_work_writes_no_more(two: Collection, collection_name: str) -> None:
    """Nothing that decides goes through; what was saved before stays."""
    held_place(collection_name, "1", "ab", None, lease_s=600)
    desk = two.desk("ann")
    desk.claim("1")
    sitting = JudgeAtWork(desk, "1")
    sitting.grade("a", 1)
    disable(collection_name)
    before = stored_rows(collection_name)
    decision = Decision("1", "b", Action.JUDGE, 1)
    for act in (
        lambda: sitting.grade("b", 1),
        lambda: sitting.act("a", Action.NOTE, note="n"),
        lambda: desk.record_and_undo(decision),
        desk.undo,
        lambda: desk.claim("1"),
    ):
        with pytest.raises(StoreError, match="judge `ann` is disabled"):
            act()
    assert stored_rows(collection_name) == before
    desk.leave()
    assert [row[2] for row in places(collection_name)] == ["ann", None]


def test_kept_conflict_has_both_in_the_history_and_theirs_stands(two: Collection) -> None:
    """The decision that met another is noted and taken back at once, whatever stood there."""
    here, elsewhere = JudgeAtWork(two.desk("ann"), "1"), JudgeAtWork(two.desk("ann"), "1")
    elsewhere.act("a", Action.MARK, passages=(Passage(0, 5, "first"),))
    elsewhere.act("a", Action.NOTE, note="theirs")
    elsewhere.grade("a", 2)
    mine = Decision("1", "a", Action.JUDGE, 0, note="mine", passages=(Passage(6, 4, "text"),))
    kept = here.desk.record_and_undo(mine)
    assert (kept.state, kept.grade, kept.note, kept.revision) == (State.JUDGED, 2, "theirs", 5)
    assert kept.passages == (Passage(0, 5, "first"),)
    events = here.desk.events_of("1", "a")
    assert [(one.action, one.grade, one.note, one.is_undone) for one in events] == [
        (Action.UNDO, 2, "theirs", False),
        (Action.JUDGE, 0, "mine", True),
        (Action.JUDGE, 2, "theirs", False),
        (Action.NOTE, None, "theirs", False),
        (Action.MARK, None, "", False),
    ]
    assert here.look()[0].passages == (Passage(0, 5, "first"),)
    assert here.desk.undo() is None, "it is taken back already"
    # The answer was lost, and it is sent again.
    assert here.desk.record_and_undo(replace(mine, seen_revision=3)) == kept
    assert len(here.desk.events_of("1", "a")) == 5
    with pytest.raises(UnknownNameError, match="unknown grade `9`"):
        here.desk.record_and_undo(Decision("1", "a", Action.JUDGE, 9))
    assert len(here.desk.events_of("1", "a")) == 5
    elsewhere.look()
    assert [(one.judge, one.grade) for one in two.judgements.current()] == [("ann", 2)]


def test_keep_over_nothing_and_over_an_undone_decision(two: Collection) -> None:
    """Kept over a document that stands undecided, it stands undecided still."""
    here, elsewhere = JudgeAtWork(two.desk("ann"), "1"), JudgeAtWork(two.desk("ann"), "1")
    assert here.desk.record_and_undo(Decision("1", "b", Action.JUDGE, 1)).state is State.UNJUDGED
    elsewhere.grade("a", 2)
    elsewhere.undo()
    kept = here.desk.record_and_undo(Decision("1", "a", Action.CANNOT, reason="x"))
    assert (kept.state, kept.reason, kept.revision) == (State.UNJUDGED, "", 4)
    two.judgements.add({"ann": [Qrel("2", "c", 1)]}, JudgeKind.HUMAN)
    other = JudgeAtWork(here.desk, "2")
    assert other.tasks["c"].grade == 1
    kept = here.desk.record_and_undo(Decision("2", "c", Action.SKIP))
    assert (kept.state, kept.grade, kept.revision) == (State.JUDGED, 1, 3)


def test_keep_settles_the_place_as_their_decision_does(two: Collection, collection_name: str) -> None:
    """Kept is theirs: decided, the place stays settled; undecided, its lease runs."""
    held_place(collection_name, "1", "ab", None, lease_s=600)
    here = two.desk("ann")
    here.claim("1")
    sitting, elsewhere = JudgeAtWork(here, "1"), JudgeAtWork(two.desk("ann"), "1")
    elsewhere.grade("a", 2)
    elsewhere.act("b", Action.SKIP)
    for docno in sitting.tasks:
        here.record_and_undo(Decision("1", docno, Action.JUDGE, 0))
    leases = {docno: lease is not None for _, docno, _, lease in places(collection_name)}
    assert leases == {"a": False, "b": True}


def test_guidelines_are_the_newest_and_cannot_steer_a_terminal(two: Collection) -> None:
    """Without any there are none; a later version takes the place of the one before."""
    desk = two.desk("ann")
    assert desk.guidelines() is None
    two.guidelines.add("# One\x1b[2J")
    first = desk.guidelines()
    two.guidelines.add("# Two")
    second = desk.guidelines()
    assert first is not None
    assert second is not None
    assert [(one.version, one.text) for one in (first, second)] == [(1, "# One␛[2J"), (2, "# Two")]


def test_briefed_is_who_judged_here_under_the_newest_guidelines(two: Collection) -> None:
    """Another topic, another judge, an import, or an older version brief nobody."""
    two.judgements.add({"ann": [Qrel("1", "a", 1)]}, JudgeKind.HUMAN)
    desk = two.desk("ann")
    assert not desk.has_seen_guidelines("1")
    JudgeAtWork(desk, "1").grade("b", 1)
    assert desk.has_seen_guidelines("1")
    assert not desk.has_seen_guidelines("2")
    assert not two.desk("bob").has_seen_guidelines("1")
    two.guidelines.add("# One")
    assert not desk.has_seen_guidelines("1")
    assert desk.guidelines() is not None
    JudgeAtWork(desk, "1").act("b", Action.NOTE, note="n")
    assert desk.has_seen_guidelines("1")
    with pytest.raises(UnknownNameError, match="unknown topic `9`"):
        desk.has_seen_guidelines("9")


def test_event_names_the_guidelines_the_judge_had(two: Collection, collection_name: str) -> None:
    """A version that came while the judge sat, be it the first, counts once the judge was given it."""
    desk, early = two.desk("ann"), two.desk("bob")
    assert not early.has_seen_guidelines("1")
    assert early.guidelines() is None
    late = JudgeAtWork(early, "1")
    two.guidelines.add("# One")
    late.grade("a", 1)
    assert column(collection_name, "guideline_version") == [None]
    assert not two.desk("bob").has_seen_guidelines("1")
    desk.guidelines()
    sitting = JudgeAtWork(desk, "1")
    sitting.grade("a", 1)
    two.guidelines.add("# Two")
    sitting.grade("a", 2)
    assert not two.desk("ann").has_seen_guidelines("1")
    desk.guidelines()
    sitting.grade("a", 0)
    assert column(collection_name, "guideline_version") == [None, 1, 1, 2]
    assert two.desk("ann").has_seen_guidelines("1")


def test_event_names_the_text_the_judge_had(two: Collection, collection_name: str) -> None:
    """A document replaced while it was read was judged as it was before; where there was no text, none is."""
    desk = two.desk("ann")
    sitting = JudgeAtWork(desk, "1")
    page, empty = desk.page("a"), desk.page("b")
    assert (page.text, empty.text, empty.sha256) == ("first text", None, None)
    two.documents.add([Document("a", "", "second text"), Document("b", "", "a text")], replace=True)
    sitting.act("a", Action.JUDGE, grade=1, document_sha256=page.sha256)
    sitting.act("b", Action.CANNOT, reason="no text", document_sha256=empty.sha256)
    after = desk.page("a").sha256
    sitting.grade("a", 2)
    assert page.sha256 != after
    assert column(collection_name, "document_sha256") == [page.sha256, None, after]


def seen(name: str, sitting: int, ago: timedelta) -> None:
    """Let the last sign of life of a sitting lie so long ago."""
    statement = "UPDATE sitting SET seen_at = :at WHERE id = :id"
    at: Any = datetime.now(UTC) - ago
    if "://" not in name:
        at = at.replace(tzinfo=None).isoformat(" ")
    change_stored(name, statement, at=at, id=sitting)


def test_looking_is_no_sitting(two: Collection, collection_name: str) -> None:
    """Who only looks leaves no trace; the first sign of life or decision begins the sitting."""
    desk = two.desk("ann", program="test 1")
    desk.inbox()
    desk.queue("1")
    desk.page("a")
    desk.events()
    desk.live_elsewhere()
    desk.undo()
    desk.leave()
    assert named_rows(collection_name, "sitting") == []
    desk.beat("1")
    (row,) = named_rows(collection_name, "sitting")
    assert (row["host"], row["process"], row["program"]) == (socket.gethostname(), os.getpid(), "test 1")
    assert row["ended_at"] is None
    desk.record(Decision("1", "a", Action.JUDGE, 1))
    assert len(named_rows(collection_name, "sitting")) == 1


def test_other_sittings_of_the_judge_are_alive(two: Collection) -> None:
    """One's own is left out, and so is every other judge's."""
    first, second, third = two.desk("ann"), two.desk("ann"), two.desk("ann")
    bob = two.desk("bob")
    bob.beat("1")
    assert first.live_elsewhere() == []
    first.beat("1")
    assert first.live_elsewhere() == []
    (one,) = second.live_elsewhere()  # has not sat down itself yet
    assert (one.host, one.topic) == (socket.gethostname(), "1")
    second.beat("2")
    assert [one.topic for one in first.live_elsewhere()] == ["2"]
    assert [one.topic for one in second.live_elsewhere()] == ["1"]
    first.beat("2")
    assert [one.topic for one in third.live_elsewhere()] == ["2", "2"]
    assert one.seen_at.tzinfo is not None
    first.leave()
    assert [one.topic for one in third.live_elsewhere()] == ["2"]
    second.leave()
    assert third.live_elsewhere() == []
    assert [one.topic for one in two.desk("bob").live_elsewhere()] == ["1"]


def test_silent_for_two_minutes_is_dead(two: Collection, collection_name: str) -> None:
    """A sitting without a sign of life is not warned of; a sign, which moves no other, revives it.

    Where several are alive the liveliest is named first.
    """
    desk, other = two.desk("ann"), two.desk("ann")
    desk.beat("1")
    seen(collection_name, 1, timedelta(seconds=115))
    assert len(other.live_elsewhere()) == 1
    seen(collection_name, 1, timedelta(seconds=125))
    assert other.live_elsewhere() == []
    before = named_rows(collection_name, "sitting")[0]
    other.beat("2")
    assert named_rows(collection_name, "sitting")[0] == before
    desk.beat("1")
    assert named_rows(collection_name, "sitting")[0]["seen_at"] > before["seen_at"]
    for first, second in ((2, 1), (1, 2)):
        seen(collection_name, first, timedelta(seconds=60))
        seen(collection_name, second, timedelta(seconds=30))
        assert [one.topic for one in two.desk("ann").live_elsewhere()] == [str(second), str(first)]


def test_leaving_ends_the_sitting_and_the_next_is_another(two: Collection, collection_name: str) -> None:
    """Its end is said once; what is done afterwards is of a new sitting, which undo reaches."""
    desk = two.desk("ann")
    desk.queue("1")
    desk.record(Decision("1", "a", Action.JUDGE, 1))
    desk.leave()
    desk.leave()
    (row,) = named_rows(collection_name, "sitting")
    assert row["ended_at"] is not None
    assert desk.undo() is None
    desk.record(Decision("1", "b", Action.JUDGE, 1))
    assert len(named_rows(collection_name, "sitting")) == 2
    assert desk.undo() is not None
    assert desk.undo() is None
    assert column(collection_name, "sitting_id") == [1, 2, 2]


@pytest.mark.parametrize("when", [When.BEFORE, When.AFTER])
def test_sitting_that_could_not_begin_begins_with_the_next_key(
    two: Collection, collection_name: str, when: When
) -> None:
    """What is decided is of a sitting that is there, however often sitting down failed before."""
    desk = two.desk("ann")
    desk.queue("1")
    with failing_database() as faults:
        for act in (
            lambda: desk.beat("1"),
            lambda: desk.claim("1"),
            lambda: desk.record(Decision("1", "a", Action.JUDGE, 1)),
        ):
            faults.armed = when
            with pytest.raises(StoreError):
                act()
    assert desk.record(Decision("1", "a", Action.JUDGE, 1)).revision == 1
    ids = {row["id"] for row in named_rows(collection_name, "sitting")}
    assert [sitting in ids for sitting in column(collection_name, "sitting_id")] == [True]
    assert desk.undo() is not None
