"""Real terminals: the command as it is installed, keys as they are sent, hostile text, and what is left."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.db.engine import writing
from store.records import Document, JudgeKind, Passage, Pool, PoolEntry, State, Topic
from store.text import BIDI_CONTROLS, sanitise
from tests.helpers.run import PROGRAM
from tests.helpers.terminals import ESCAPE_S, PATIENCE_S, SEQUENCE, PtyTerminal, begin, forms, judge
from tests.helpers.world import engine_of, parse_scale, renew_digests
from tests.screens.conftest import ENGLISH, Maker, shown

pytestmark = pytest.mark.slow


class Tmux:
    """A terminal of 80 x 24 that runs one command, with a server of its own on a private socket."""

    def __init__(self, folder: str) -> None:
        self._command = ["tmux", "-S", f"{folder}/socket", "-f", "/dev/null"]
        others = {name: value for name, value in os.environ.items() if name != "TMUX"}
        self._environment = {**others, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}

    def ask(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            [*self._command, *arguments],
            env=self._environment,
            capture_output=True,
            check=check,
            timeout=PATIENCE_S,
        )
        return done.stdout.decode()

    def start(self, *command: str) -> None:
        shell = f"TERM=screen-256color {shlex.join(command)}"
        self.ask("start-server", ";", "new-session", "-d", "-x", "80", "-y", "24", shell)

    def wait_for(self, text: str) -> list[str]:
        """Wait until a text is on the screen; return what the terminal shows."""
        end = time.monotonic() + PATIENCE_S
        while True:
            lines = self.ask("capture-pane", "-p").split("\n")[:24]
            if any(text in line for line in lines):
                return lines
            assert time.monotonic() < end, f"{text!r} never came up:\n" + "\n".join(lines)
            time.sleep(0.05)

    def begin(self) -> None:
        """Open the topic of the cursor for the first time: its briefing, then its documents."""
        self.ask("send-keys", "Enter")
        self.wait_for("Enter begin")
        self.ask("send-keys", "Enter")


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    """Give a terminal of tmux."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    # The name of a socket may have about a hundred characters; pytest's folders have long names.
    with tempfile.TemporaryDirectory(prefix="tmux-") as folder:
        opened = Tmux(folder)
        yield opened
        opened.ask("kill-server", check=False)


def grades(collection: Collection) -> dict[str, int | None]:
    """Return alice's grades by docno."""
    return {one.docno: one.grade for one in collection.judgements.current(["alice"]) if one.grade is not None}


def test_a_hostile_document_changes_nothing_around_it(
    tmux: Tmux, make_collection: Maker, collection_file: Path
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
    tmux.start(*judge(collection_file))
    tmux.wait_for("bridge maintenance")
    tmux.begin()
    before = tmux.wait_for("tame text")
    tmux.ask("send-keys", "n")
    after = tmux.wait_for("]0;owned")
    assert (before[:3], before[-3:]) == (after[:3], after[-3:])
    assert before[3].split() == ["a", "100%"]
    assert after[3].split()[0] == "b"
    assert "owned" not in tmux.ask("display-message", "-p", "#{pane_title}")
    assert "[bold]b[/] [@click=app.quit]c[/]" in "".join(line.strip() for line in after)
    tmux.ask("send-keys", "G", "g")
    assert tmux.wait_for("]0;owned")[-3:] == before[-3:]


REPEAT_S = 1 / 30
"""Between two repeats of a held key, as terminals send them."""


@pytest.fixture
def collection(make_collection: Maker) -> Collection:
    """Make a topic of forty documents."""
    documents = [Document(f"d{n:02}", f"Title {n}", f"Text {n}.") for n in range(40)]
    return make_collection({ENGLISH: documents})


@pytest.fixture
def terminal(collection: Collection, collection_file: Path) -> Iterator[PtyTerminal]:
    """Give a terminal with the first document on its screen, for longer than the least dwell."""
    with PtyTerminal(judge(collection_file, "--topic", "12")) as opened:
        begin(opened)
        opened.wait_for("Text 0.", "now: -")
        opened.until_quiet(0.4)
        yield opened


def leave(terminal: PtyTerminal) -> None:
    """Quit once everything that was typed has been taken."""
    terminal.until_quiet(0.3)
    terminal.send(b"\x11")
    terminal.wait_for("all saved")
    assert terminal.wait() == 0


def test_a_held_key_acts_once(terminal: PtyTerminal, collection: Collection) -> None:
    """One document is graded, one skipped, one decision undone, however long the key is held.

    Repeats of the latter two come at once, as a slow line has them: a busy machine's pauses let go of none.
    """
    for _ in range(30):
        terminal.send(b"1")
        time.sleep(REPEAT_S)
        terminal.read(0)
    terminal.wait_for("too quick")
    for key, after in ((b"s", {"d01": State.SKIPPED}), (b"\x7f", {"d01": State.UNJUDGED})):
        terminal.until_quiet(0.4)
        place = terminal.send(key * 40)
        terminal.wait_for("too quick", since=place)
        terminal.until_quiet(0.2)
        assert states(collection) == {"d00": State.JUDGED} | after
    leave(terminal)
    assert grades(collection) == {"d00": 1}


def test_a_burst_of_keys_grades_one_document_and_a_lost_terminal_loses_none(
    terminal: PtyTerminal, collection: Collection
) -> None:
    """What a slow line delivers at once, or a raw paste, is one grade and no more.

    When the terminal is gone, as when a container's session breaks off, the program ends by itself.
    """
    for n_graded, burst in enumerate((b"2222", b"1" * 40, b"1020" * 10, b"1\r" * 20, b"2"), start=1):
        place = terminal.send(burst)
        terminal.wait_for(f"Text {n_graded}.", since=place)
        terminal.until_quiet(0.5)
        assert len(grades(collection)) == n_graded
    terminal.vanish()
    assert terminal.process.wait(timeout=20) in (0, 1)
    assert grades(collection) == {"d00": 2, "d01": 1, "d02": 1, "d03": 1, "d04": 2}


def states(collection: Collection) -> dict[str, State]:
    """Return where documents stand with alice."""
    return {one.docno: one.state for one in collection.judgements.current(["alice"])}


PASTE = b"\x1b[200~2 0 1 1\x1b[201~"

NOTE, REASON, WORDS = "Note on d10", "Why can it not", "In your words"

HARMLESS: dict[str, tuple[tuple[bytes, str], ...]] = {
    "a bracketed paste": ((PASTE, ""),),
    "a note, pasted and typed": (
        (b"e", NOTE),
        (b"2", "2"),
        (b"1", "1"),
        (b"00", "00"),
        (PASTE, "2 0 1 1"),
        (b"\x1b", "now: -"),
    ),
    "a note typed ahead": ((b"e2 1 0", NOTE), (b"\x1b", "now: -")),
    "a reason in words": (
        (b"c", REASON),
        (b"4", WORDS),
        (b"1", "1"),
        (b"22", "22"),
        (PASTE, "2 0 1 1"),
        (b"\x1b", "now: -"),
    ),
    "the page of the topic": ((b"t", "t or Esc back"), (b"2", ""), (b"1", ""), (PASTE, ""), (b"t", "now: -")),
    "the page of the keys": ((b"?", "? or Esc back"), (b"2", ""), (b"1", ""), (PASTE, ""), (b"?", "now: -")),
    "the wheel": ((b"\x1b[<64;10;10M\x1b[<65;10;10M", ""),),
    "a click": ((b"\x1b[<0;10;10M\x1b[<0;10;10m", ""),),
    "the window lost and got back": ((b"\x1b[O\x1b[I", ""),),
    "keys with modifiers": ((b"\x1b[1;2A\x1b[1;5B\x1b[2~\x1b[3~\x1b[21;2~", ""),),
    "a report of the cursor": ((b"\x1b[24;80R", ""),),
    "answers to what Textual asks": ((b"\x1b[?2026;2$y\x1b[?2048;0$y", ""),),
    "Alt and a digit": ((b"\x1b2", ""), (b"\x1b1", "")),
}
"""What a terminal may send that holds digits and is no grade, and what comes on the screen then.

A pause after each; where nothing comes, empty.
"""


def test_digits_that_are_no_keys_of_the_document_grade_nothing(
    terminal: PtyTerminal, collection: Collection
) -> None:
    """Text for a field or a page, and the digits in what a terminal says, are no grades.

    Who scrolls through documents and rests a finger on a grade key grades none of them either.
    """
    for _ in range(10):
        terminal.send(b"n1")
        terminal.read(REPEAT_S)
    terminal.wait_for("too quick", "Text 10.")
    terminal.until_quiet(0.4)
    for name, sent in HARMLESS.items():
        for data, shows in sent:
            place = terminal.send(data)
            terminal.wait_for(shows, since=place)
            terminal.until_quiet(ESCAPE_S)
        assert (name, grades(collection)) == (name, {})
    terminal.until_quiet(0.3)
    terminal.send(b"\x11")
    terminal.wait_for("lose it?")  # a draft of what was pasted into a note
    assert "now: -" in terminal.text()
    terminal.until_quiet(ESCAPE_S)
    terminal.send(b"y")
    terminal.wait_for("all saved")
    assert terminal.wait() == 0
    assert grades(collection) == {}


SEQUENCES = (
    "\x1b]0;TITLE\x07", "\x1b]52;c;Q0xJUA==\x07", "\x1b]8;;http://LINK/\x1b\\", "\x1b[2J",
    "\x1b[31m", "\x1b[24;1H", "\x1b[?1049l", "\x1b[5i", "\x1bc", "\x1bP+qDCS\x1b\\", "\x9b3J",
    "\x9d0;C1TITLE\x9c",
)  # fmt: skip
"""What a document may try: each is followed by a word, so that it is known when it was drawn."""

CONTROLS = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0)))) + BIDI_CONTROLS + "\u2028\u2029"
SURROGATES = "\ud800\udfff\udc9b"
STEERING = frozenset(CONTROLS + SURROGATES + "[]") - frozenset("\n\t")
MARKUP = "[bold]b[/bold] [/] [/bold] [@click=app.quit]click[/] {0} %s $x"
EVIL = (
    "".join(f"{sequence}word{n} " for n, sequence in enumerate(SEQUENCES))
    + CONTROLS
    + SURROGATES
    + MARKUP
    + " x\u200dx\ufe0f\u0301"
)
MARKS = "\u0301\u0323" * 16_384
"""64 KiB of combining marks: several screens of nothing else."""

IN_ONE_LINE = EVIL.translate(dict.fromkeys([0, *range(0xD800, 0xE000)]))
"""What an argument of a program can hold."""

BAR = {b"\x1b[?25l", b"\x1b[?25h", b"\x1b[2K", b"\x1b[1A"}
"""What a progress bar sends to a terminal besides colours."""
ID = "[@click=app.quit]a[/bold]検\u0301"
"""An id that a collection accepts."""


def harmless(text: str) -> str:
    """Return text of the same length without anything that could steer a terminal."""
    return "".join("x" if one in STEERING else one for one in text)


def make(file: Path, shape: Callable[[str], str]) -> Collection:
    """Make a collection whose every text, as far as the store accepts it, is hostile or tame."""
    collection = Collection.create(
        str(file), name=shape(IN_ONE_LINE), scale=parse_scale("0-2"), program=shape(IN_ONE_LINE)
    )
    evil, name = shape(EVIL), shape(ID)
    collection.topics.add([Topic(name, evil, f"{evil}\n{evil}", f"{evil}\n{evil}")])
    documents = [
        Document("a", evil, f"{evil}\n\t{evil}"),
        Document(name, evil, shape(EVIL * 100)),
        Document("marks", shape("\u0301" * 500), shape(MARKS)),
        Document("missing", evil),
        Document("z", "", shape("".join(map(chr, range(0x3000))))),
    ]
    collection.pools.add(Pool([PoolEntry(name, one.docno, place) for place, one in enumerate(documents)], {}))
    collection.documents.add(documents)
    collection.judges.add(name, JudgeKind.HUMAN)
    session = JudgingSession(collection.desk(name, program=shape(IN_ONE_LINE)), min_dwell=0)
    session.open_topic(name)
    shown(session).note(evil)
    session.go_next()
    shown(session).cannot(evil)
    session.desk.leave()
    make_disputes(collection, shape)
    # New guidelines are shown before the first document, whatever was decided under the old ones.
    collection.guidelines.add(shape(f"# {EVIL}\n\n* {EVIL}\n\n```\n{EVIL}\n```\n[{EVIL}](http://x)\n"))
    return collection


def make_disputes(collection: Collection, shape: Callable[[str], str]) -> None:
    """Let two judges of hostile names disagree, with hostile notes, passages and reasons."""
    evil, topic = shape(EVIL), shape(ID)
    for number in range(2):
        name = shape(f"{number}{ID}")
        collection.judges.add(name, JudgeKind.HUMAN)
        session = JudgingSession(collection.desk(name), min_dwell=0)
        session.open_topic(topic)
        shown(session).note(evil)
        shown(session).mark([Passage(0, 40, (session.page().text or "")[:40])])
        session.mark_shown()
        session.grade(2 * number)
        session.mark_shown()
        session.grade(number) if number else shown(session).cannot(evil)
        session.desk.leave()


Step = tuple[bytes, tuple[str, ...]]
"""Keys, and what must be written after them, in either collection and size, before the next keys.

A question and a page take keys from the moment on at which they show their keys.
"""
SCROLLED: tuple[str, ...] = ()
"""Of keys that scroll, where the text may fit the screen and nothing be written."""

WALK = (
    (b"", ("Topics", "Enter open")), (b"?", ("open the topic", "? or Esc back")),
    (b"?", ("Enter open",)), (b"h", ("Guidelines, version", "h or Esc back")), (b"G", SCROLLED),
    (b"h", ("Enter open",)), (b"y", ("History of this sitting", "y back")), (b"y", ("Enter open",)),
    (b"\x10", ("Enter runs it",)), (b"\x1b", ("Enter open",)),
    (b"\r", ("Before you begin", "Enter begin")), (b"G", ("100%",)), (b"\r", ("now: ", "note: *")),
    (b"?", ("Grades: saved at once", "? or Esc back")), (b"G", ("Good to know", "100%")),
    (b"?", ("now: ",)), (b"t", ("Description", "t or Esc back")), (b"G", SCROLLED),
    (b"t", ("now: ",)), (b"h", ("Guidelines, version", "h or Esc back")), (b"h", ("now: ",)),
    (b"l", ("5 documents", "l back")), (b"/", ("or Esc: done",)), (b"[\r", ("l back",)),
    (b"l", ("now: ",)), (b"y", ("History of this sitting", "y back")),
    (b"\t", ("History of a", "y back")), (b"y", ("now: ",)), (b"/", ("Find in a", "Esc leaves it")),
    (b"word3\r", ("next, [ back",)), (b"]", ("hit 2 of",)), (b"\x1b", ("now: ",)),
    (b"w", ("separated by commas", "Esc leaves it")), (b"word5,[/]\r", ("highlighted: word5",)),
    (b"v", ("Esc done",)), (b"j\r", ("passage marked",)), (b"\x1b", ("now: ",)),
    (b"e", ("Note on a", "Esc keeps a draft")), (b"\x1b", ("now: ",)),
    (b"c", ("Why can it not", "Esc goes back")), (b"4", ("In your words", "Enter saves")),
    (b"\x1b", ("now: ",)), (b"G", SCROLLED), (b"g", SCROLLED), (b"1", ("marks", "a: 1, u undoes")),
    (b"p", ("now: can't",)), (b"y", ("History of this sitting", "y back")),
    (b"\t", ("History of", "y back")), (b"y", ("now: ",)), (b"G", ("100%",)),
    (b"2", ("marks", "2, u undoes")), (b"G", ("100%",)), (b" ", SCROLLED),
    (b"0", ("no text is stored", "marks: 0, u undoes")), (b"1", ("no text to judge", "y yes")),
    (b"y", ("missing: 1, u undoes",)), (b"G", ("100%",)),
    (b"2", ("Every document has a decision", "100%")), (b"d", ("now: 2",)),
    (b"s", ("take back grade 2", "y yes")), (b"n", ("now: 2",)), (b"u", ("undone",)),
    (b"\x12", ("Every document has a decision", "100%")), (b"q", ("all saved",)),
)  # fmt: skip
"""Every screen and every document; a new key is a line here."""


SHORT_WALK = (WALK[0], WALK[-1])
"""What has every sequence of ours."""

BESIDE = (
    (b"", ("Topics", "Enter open")), (b"\r", ("Before you begin", "Enter begin")),
    (b"\r", ("now: ", "note: *")), (b"G", SCROLLED), (b"\x11", ("all saved",)),
)  # fmt: skip
"""Where a document has topic and guidelines beside it."""


def walk(file: Path, judge: str, size: tuple[int, int], steps: Sequence[Step]) -> bytes:
    """Walk through a collection and return every byte the terminal got."""
    command = (*PROGRAM, "judge", "--judge", judge, "--min-dwell", "0", "--collection", str(file))
    with PtyTerminal(command, size=size) as terminal:
        for keys, shows in steps:
            place = terminal.send(keys)
            if keys == b"\x1b":
                terminal.until_quiet(ESCAPE_S)
            terminal.wait_for(*shows, since=place)
            terminal.until_quiet(0.05)
        assert terminal.wait() == 0
        return bytes(terminal.output)


def assert_harmless(output: bytes, ours: set[bytes]) -> None:
    """Assert that an output holds no sequences but some, and nothing else that could steer."""
    assert forms(output) <= ours
    for n, sequence in enumerate(SEQUENCES):
        assert f"{sequence}word{n}".encode() not in output
    text = SEQUENCE.sub(b"", output).decode("utf-8")  # a surrogate would not decode
    assert not set(text) & set(CONTROLS) - set("\r\n\t")


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make the hostile collection and its tame twin."""
    folder = tmp_path_factory.mktemp("hostile")
    files = folder / "evil.db", folder / "tame.db"
    for file, shape in zip(files, (str, harmless), strict=True):
        make(file, shape).close()
    return files


@pytest.mark.parametrize(("size", "steps"), [((80, 24), WALK), ((130, 40), BESIDE)], ids=["usual", "wide"])
def test_no_screen_passes_a_hostile_text_on(
    collections: tuple[Path, Path], tmp_path: Path, size: tuple[int, int], steps: Sequence[Step]
) -> None:
    """Every document and every screen: the sequences are those of a look at harmless text."""
    evil, tame = (shutil.copy(file, tmp_path) for file in collections)
    output, expected = walk(evil, ID, size, steps), walk(tame, harmless(ID), size, SHORT_WALK)
    assert_harmless(output, forms(expected))
    # The text was there to be seen: the control characters as pictures, the markup as it is.
    seen = "".join(SEQUENCE.sub(b"", output).decode().split())
    for n, sequence in enumerate(SEQUENCES):
        assert f"{sanitise(sequence)}word{n}" in seen
    assert "".join(MARKUP.split()) in seen
    assert "[@click=app.quit]a[/bold]" in seen


@pytest.mark.parametrize("on_pty", [False, True], ids=["pipe", "terminal"])
def test_the_line_mode_passes_none_on(collections: tuple[Path, Path], on_pty: bool) -> None:
    """No sequence at all, neither through a pipe nor to a terminal."""
    answers = b"\n\n?\n/\nword\ne\n\nc\n\n1\n2\n0\n1\n2\nd\ns\nn\nu\nq\n"
    options = ("judge", "--plain", "--judge", ID, "--collection", str(collections[0]))
    run = _typed if on_pty else _piped
    output = run((*PROGRAM, *options), answers)
    assert_harmless(output, set())
    for n, sequence in enumerate(SEQUENCES):
        assert f"{sanitise(sequence)}word{n}".encode() in output


COMMANDS = (
    ("status", "--by-topic"),
    ("show", "guidelines", "1"),
    ("show", "judges"),
    ("export", "judgements"),
    ("export", "pool"),
    ("export", "qrels", f"1{ID}"),
    ("judge", "--plain", "--judge", ID, "--topic", IN_ONE_LINE),
    ("judge", "--judge", IN_ONE_LINE),
    ("status", "--by-topic", "--format", "tsv"),
    ("status", "--table", "status", "--format", "json"),
    ("status", "outdated", "--judge", IN_ONE_LINE),
    ("status", "effort", IN_ONE_LINE),
    ("agreement", IN_ONE_LINE, ID),
    ("adjudicate", "--topic", IN_ONE_LINE),
    ("assign",),
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments)[:30])
def test_no_command_passes_it_on(
    collections: tuple[Path, Path], programs: Path, arguments: tuple[str, ...]
) -> None:
    """What a terminal is sent holds colours and, where there is a bar, no moves but the bar's."""
    output = _typed((str(programs / "pooler"), *arguments, "--collection", str(collections[0])), b"")
    assert_harmless(output, {b"\x1b[m"} | (BAR if arguments[:2] == ("export", "judgements") else set()))


@pytest.fixture(scope="module")
def doctored(collections: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the hostile collection and give it ids that no collection would have accepted."""
    file = tmp_path_factory.mktemp("doctored") / "evil.db"
    shutil.copy(collections[0], file)
    with closing(sqlite3.connect(file)) as connection:
        for table, column in (("judge", "name"), ("document", "docno"), ("topic", "number")):
            ids = f"UPDATE {table} SET {column} = ? || {column}"
            connection.execute(ids, ("\x1b[2J\u202e",))
        connection.commit()
    with engine_of(str(file)) as engine, writing(engine) as session:
        renew_digests(session)
    return file


LISTINGS = (
    "status outdated",
    "agreement --resamples 0",
    "adjudicate --names",
    "status outdated --format tsv",
    "status effort --format tsv --table effort",
    "agreement --by-topic --format tsv --table pairs",
    "adjudicate --table disagreements --names --format tsv",
    "status --by-topic",
    "show judges",
)


@pytest.mark.parametrize("listing", LISTINGS)
def test_no_listing_passes_on_the_ids_of_a_doctored_file(
    doctored: Path, programs: Path, listing: str
) -> None:
    """Names and docnos are made harmless where they are shown, whoever wrote them."""
    output = _typed((str(programs / "pooler"), *listing.split(), "--collection", str(doctored)), b"")
    # The intervals of topics are long work on a machine that is busy.
    assert_harmless(output, {b"\x1b[m"} | (BAR if listing.startswith("agreement") else set()))
    assert "␛[2J�" in output.decode()


def _typed(command: tuple[str, ...], answers: bytes) -> bytes:
    """Run a command in a terminal, an answer at a time, and return what it wrote."""
    with PtyTerminal(command) as terminal:
        place = 0
        for answer in answers.splitlines(keepends=True):
            terminal.wait_for("> ", since=place)
            terminal.until_quiet(0.05)
            place = terminal.send(answer)
        terminal.wait()
        return bytes(terminal.output)


def _piped(command: tuple[str, ...], answers: bytes) -> bytes:
    """Run a command in a pipe and return what it wrote, errors after the rest."""
    done = subprocess.run(command, input=answers, capture_output=True, check=False, timeout=60)
    return done.stdout + done.stderr
