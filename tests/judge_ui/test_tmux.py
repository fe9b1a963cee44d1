"""End to end in a real terminal: the command as it is installed, keys, and what is left after it.

Each story has a tmux server of its own on a private socket, and ends only that one.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pooler.pools.plan import Plan, PoolBuild
from pooler.pools.runs import stored_runs
from store.collection import Collection
from store.records import Document
from tests.helpers.run import PROGRAM
from tests.helpers.world import make_run
from tests.judge_ui.conftest import ENGLISH, JAPANESE, Maker

PATIENCE_S = 30.0
"""How long a screen may take; a busy machine is slow, a broken program never comes."""

DWELL_S = 0.6
"""Twice the least dwell: a document counts as shown a moment after it is painted."""

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """A terminal of 80 x 24 that runs one command."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._servers = 0
        self._environment = {
            **{name: value for name, value in os.environ.items() if name != "TMUX"},
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
        }

    @property
    def _socket(self) -> Path:
        """A socket a server: one that ends still answers on its own for a moment."""
        return self._folder / f"tmux{self._servers}"

    def _tmux(self, *arguments: str) -> str:
        """Give the private server a command."""
        command = ["tmux", "-S", str(self._socket), "-f", "/dev/null", *arguments]
        done = subprocess.run(
            command, env=self._environment, capture_output=True, check=True, timeout=PATIENCE_S
        )
        return done.stdout.decode()

    def start(self, *command: str) -> None:
        """Run a command in a shell that outlives it: tmux may drop what a pane writes last."""
        shell = f"TERM=screen-256color {shlex.join(command)}; code=$?; sleep 1; exit $code"
        stay = ("set-option", "-g", "remain-on-exit", "on")
        session = ("new-session", "-d", "-x", "80", "-y", "24", shell)
        self._servers += 1
        self._tmux("start-server", ";", *stay, ";", *session)

    def press(self, *keys: str) -> None:
        """Press keys by tmux's names."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type text as it is."""
        self._tmux("send-keys", "-l", text)

    def lines(self) -> list[str]:
        """Return what the terminal shows."""
        return self._tmux("capture-pane", "-p").split("\n")[:24]

    def wait_for(self, text: str) -> list[str]:
        """Wait until a text is on the screen."""
        end = time.monotonic() + PATIENCE_S
        while True:
            lines = self.lines()
            if any(text in line for line in lines):
                return lines
            if time.monotonic() > end:
                pytest.fail(f"{text!r} never came up:\n" + "\n".join(lines))
            time.sleep(0.05)

    def kill_command(self) -> None:
        """Kill the command without warning, and its shell."""
        os.killpg(int(self.ask("#{pane_pid}")), signal.SIGKILL)
        end = time.monotonic() + PATIENCE_S
        while self.ask("#{pane_dead}") != "1" and time.monotonic() < end:
            time.sleep(0.05)

    def ask(self, variable: str) -> str:
        """Return what tmux knows of the pane."""
        return self._tmux("display-message", "-p", variable).strip()

    def end(self) -> None:
        """End the private server."""
        subprocess.run(
            ["tmux", "-S", str(self._socket), "kill-server"],
            env=self._environment,
            capture_output=True,
            check=False,
            timeout=PATIENCE_S,
        )


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """Give a terminal."""
    # The name of a socket may have about a hundred characters; pytest's folders have long names.
    with tempfile.TemporaryDirectory(prefix="tmux-") as folder:
        opened = Terminal(Path(folder))
        yield opened
        opened.end()


def judge(file: Path, *options: str) -> tuple[str, ...]:
    """Return the command that sits alice down."""
    arguments = ("judge", "--judge", "alice", "--collection", str(file), *options)
    return (*PROGRAM, *arguments)


def begin(terminal: Terminal) -> None:
    """Open the topic of the cursor for the first time: its briefing, then its documents."""
    terminal.press("Enter")
    terminal.wait_for("Enter begin")
    terminal.press("Enter")


def grades(collection: Collection) -> dict[str, int | None]:
    """Return alice's grades by docno."""
    return {one.docno: one.grade for one in collection.judgements.current(["alice"])}


@pytest.fixture
def ten_documents(make_collection: Maker) -> Collection:
    """Make a topic of ten documents."""
    documents = [Document(f"d{n:02}", f"Title {n}", f"Text {n}.") for n in range(10)]
    return make_collection({ENGLISH: documents})


@pytest.mark.slow
def test_five_judgements_survive_a_kill(
    terminal: Terminal, ten_documents: Collection, collection_file: Path
) -> None:
    """After `kill -9` five grades are stored, and the next sitting opens at the sixth document."""
    terminal.start(*judge(collection_file))
    terminal.wait_for("0/10  left 10")
    begin(terminal)
    for n in range(5):
        terminal.wait_for(f"Text {n}.")
        time.sleep(DWELL_S)
        terminal.press(str(n % 3))
    terminal.wait_for("Text 5.")
    terminal.kill_command()
    assert grades(ten_documents) == {f"d{n:02}": n % 3 for n in range(5)}
    terminal.end()

    terminal.start(*judge(collection_file))
    terminal.wait_for("5/10  left 5")
    terminal.press("Enter")
    lines = terminal.wait_for("Text 5.")
    assert " d05 " in "\n".join(lines)
    terminal.press("q")
    terminal.wait_for("alice: 0 decisions in this sitting, all saved")


@pytest.mark.slow
def test_five_judgements_in_line_mode_survive_a_kill(
    terminal: Terminal, ten_documents: Collection, collection_file: Path
) -> None:
    """The line mode keeps every answer the same way, and resumes at the same place."""
    terminal.start(*judge(collection_file, "--plain"))
    terminal.wait_for("topic? Enter = 12")
    terminal.press("Enter")
    terminal.wait_for("Enter = the first document")
    terminal.press("Enter")
    for n in range(5):
        terminal.wait_for(f"{n}/10 grade 0-2")
        terminal.press(str(n % 3), "Enter")
    terminal.wait_for("5/10 grade 0-2")
    terminal.kill_command()
    assert grades(ten_documents) == {f"d{n:02}": n % 3 for n in range(5)}
    terminal.end()

    terminal.start(*judge(collection_file, "--plain"))
    terminal.wait_for("topic? Enter = 12")
    terminal.press("Enter")
    lines = terminal.wait_for("5/10 grade 0-2")
    assert "Document d05" in lines
    terminal.press("C-d")
    terminal.wait_for("alice: 0 decisions in this sitting, all saved")


@pytest.fixture
def drawn_from_two_runs(make_collection: Maker) -> Collection:
    """Make a Move-To-Front pool of two runs that have nothing in common; it may draw six."""
    collection = make_collection({})
    collection.topics.add([ENGLISH])
    for run in "ab":
        docnos = [f"{run}{n}" for n in range(5)]
        collection.runs.add(make_run(run, {"12": [(docno, -n) for n, docno in enumerate(docnos)]}))
    runs = stored_runs(collection, depth=5, order="trec")
    plan = Plan(name="live", strategy="mtf", budget=6, level=1)
    pool = PoolBuild(runs, plan, version="test").whole()
    collection.pools.add(pool)
    # Texts are kept of what the pool may draw.
    texts = [Document(entry.docno, "", f"Text {entry.docno}.") for entry in pool.entries]
    collection.documents.add(texts)
    return collection


@pytest.mark.slow
def test_adaptive_judging_survives_a_kill(
    terminal: Terminal, drawn_from_two_runs: Collection, collection_file: Path
) -> None:
    """After `kill -9` three grades are stored; the next document is the one they lead to.

    Move-To-Front stays with run a after the hit, goes to run b after the miss, and stays there.
    """
    terminal.start(*judge(collection_file))
    terminal.wait_for("0/6  left 6")
    begin(terminal)
    for n, (docno, value) in enumerate({"a0": 2, "a1": 0, "b0": 1}.items()):
        lines = terminal.wait_for(f"Text {docno}.")
        assert f"{n}/6  left {6 - n}" in lines[0]
        time.sleep(DWELL_S)
        terminal.press(str(value))
    lines = terminal.wait_for("Text b1.")
    assert "3/6  left 3" in lines[0]
    terminal.kill_command()
    assert grades(drawn_from_two_runs) == {"a0": 2, "a1": 0, "b0": 1}
    terminal.end()

    terminal.start(*judge(collection_file))
    terminal.wait_for("3/6  left 3")
    terminal.press("Enter")
    lines = terminal.wait_for("Text b1.")
    assert "3/6  left 3" in lines[0]
    for n, docno in enumerate(("b1", "a2", "a3")):
        terminal.wait_for(f"Text {docno}.")
        time.sleep(DWELL_S)
        terminal.press("0" if n == 0 else "1")
    terminal.wait_for("Every document has a decision.")
    terminal.press("q")
    terminal.wait_for("alice: 3 decisions in this sitting, all saved")


def test_a_held_key_and_a_paste_grade_one_document(
    terminal: Terminal, ten_documents: Collection, collection_file: Path
) -> None:
    """Thirty repeats and a pasted row of digits do not run through the pool."""
    terminal.start(*judge(collection_file, "--min-dwell", "60000"))
    terminal.wait_for("0/10  left 10")
    begin(terminal)
    terminal.wait_for("Text 0.")
    terminal.press("-N", "30", "1")
    terminal.type("22 33 1 0 2")
    lines = terminal.wait_for("too quick: that key was dropped")
    assert "0/10  left 10" in lines[0]
    terminal.press("C-c")
    terminal.wait_for("all saved")
    assert grades(ten_documents) == {}


def test_japanese_is_complete_in_a_terminal(
    terminal: Terminal, make_collection: Maker, collection_file: Path
) -> None:
    """What the terminal shows, line after line, is the source, character by character."""
    title = "評価用テストコレクションの構築と判定者間の一致度に関する研究"
    text = "判定対象の文書は、①新聞記事と（技術）論文の抄録である。ー々「」『』" * 12
    make_collection({JAPANESE: [Document("j", title, text)]})
    terminal.start(*judge(collection_file))
    terminal.wait_for("情報検索の評価")
    begin(terminal)
    lines = terminal.wait_for(title)
    first = next(row for row, line in enumerate(lines) if line.startswith(" j ")) + 1
    last = next(row for row, line in enumerate(lines) if "now: -" in line)
    painted = "".join(line.strip() for line in lines[first:last])
    assert painted == title + text


@pytest.mark.slow
def test_a_hostile_document_changes_nothing_around_it(
    terminal: Terminal, make_collection: Maker, collection_file: Path
) -> None:
    """Escapes, wide and zero-width tricks leave header, narrative, hints and title alone."""
    evil = (
        "\x1b]0;owned\x07\x1b[2J\x1b[31m\x1b[24;1Hfake\x9b1;1Hfake\x1bc \x00 \u202eabc "
        + "x\u200d" * 300
        + "\u00ad" * 300
        + "\u0301" * 300
        + "\ufe0f\u2060\u3164" * 50
        + "検" * 77
        + "[bold]b[/] [@click=app.quit]c[/]"
    )
    documents = [Document("a", "tame", "tame text"), Document("b", evil, f"{evil}\n{evil}")]
    make_collection({ENGLISH: documents})
    terminal.start(*judge(collection_file))
    terminal.wait_for("bridge maintenance")
    begin(terminal)
    before = terminal.wait_for("tame text")
    terminal.press("n")
    after = terminal.wait_for("]0;owned")
    assert before[:3] == after[:3]
    assert before[-3:] == after[-3:]
    assert before[3].split() == ["a", "100%"]
    assert after[3].split()[0] == "b"
    assert "owned" not in terminal.ask("#{pane_title}")
    assert "[bold]b[/] [@click=app.quit]c[/]" in "".join(line.strip() for line in after)
    terminal.press("G", "g")
    assert terminal.wait_for("]0;owned")[-3:] == before[-3:]
