"""`pooler judge` and what `serve` refuses: who sits down, and that what is typed is what is stored."""

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
from pathlib import Path

import pytest

from pooler.commands.judge.judge import memory_of
from store.collection import Collection
from store.records import Document, JudgeKind, Pool, PoolEntry, Topic
from tests.helpers.pages import serving
from tests.helpers.run import Cli, controls, environment, program, run_process, write
from tests.helpers.terminals import PtyTerminal
from tests.helpers.world import new_collection

PLAIN = "pooler judge --plain works without a full screen"


@pytest.fixture
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


def test_end_of_input_quits_and_keeps_what_was_graded(cli: Cli, seated: Path) -> None:
    """Input that just ends is no error; the grade before it is stored."""
    cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=b"1\n").fine()
    assert [grade for _, grade, _, _ in stored(cli).values()] == [1]
    cli("judge", "--judge", "anna", "--plain", stdin=b"").fine()


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
        ({"TERM": ""}, "needs a terminal that can move its cursor (TERM is dumb)", PLAIN),
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


def test_a_clock_that_jumped_is_told_wherever_something_is_judged(cli: Cli, seated: Path) -> None:
    """400 days ahead of what was done last, or behind it: to judges, to an adjudicator, and for a page."""
    cli("judges", "add", "zoe", "--kind", "adjudicator").fine()
    cli("judge", "--judge", "anna", "--topic", "G01", "--plain", stdin=b"2\n").fine()
    write(seated / "page.jsonl", "{}")
    assert "clock" not in cli("judge", "--judge", "anna", "--plain", stdin=b"").fine().err

    def jump(days: int) -> None:
        with contextlib.closing(sqlite3.connect(seated / "collection.db")) as connection, connection:
            for table, column in (("judgement", "judged_at"), ("sitting", "seen_at")):
                moment = f"strftime('%Y-%m-%d %H:%M:%f000', 'now', '{days} days')"
                connection.execute(f"UPDATE {table} SET {column} = {moment}")

    for days, word in ((-400, "before"), (400, "after")):
        for command in (
            ("judge", "--judge", "anna", "--topic", "G01", "--plain"),
            ("adjudicate", "--judge", "zoe", "--plain"),
            ("import", "work", "page.jsonl"),
        ):
            jump(days)
            told = cli(*command, stdin=b"").err
            assert re.search(f"warning: the clock says .*, (399|400) days {word} that", told), command
    jump(400)
    with serving(seated / "collection.db") as served:
        assert "warning: the clock says" in served.said


def test_a_clock_set_right_is_told_once(cli: Cli, seated: Path) -> None:
    """A sitting 400 days ahead stays in the history, and later ones are not warned of it for 400 days."""
    sit = ("judge", "--judge", "anna", "--topic", "G01", "--plain")
    cli(*sit, stdin=b"2\n").fine()
    with contextlib.closing(sqlite3.connect(seated / "collection.db")) as connection, connection:
        for table, column in (("judgement", "judged_at"), ("sitting", "seen_at")):
            moment = "strftime('%Y-%m-%d %H:%M:%f000', 'now', '400 days')"
            connection.execute(f"UPDATE {table} SET {column} = {moment}")
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
