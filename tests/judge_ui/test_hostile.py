"""Hostile text end to end: no byte of it reaches the terminal as anything but a picture."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.db.engine import writing
from store.records import Document, JudgeKind, Passage, Pool, PoolEntry, Topic
from store.text import BIDI_CONTROLS, sanitise
from tests.helpers.run import PROGRAM
from tests.helpers.world import engine_of, parse_scale, renew_digests
from tests.judge_ui.conftest import shown
from tests.judge_ui.pty_terminal import ESCAPE_S, SEQUENCE, PtyTerminal, forms

pytestmark = pytest.mark.slow

SEQUENCES = (
    "\x1b]0;TITLE\x07",
    "\x1b]52;c;Q0xJUA==\x07",
    "\x1b]8;;http://LINK/\x1b\\",
    "\x1b[2J",
    "\x1b[31m",
    "\x1b[24;1H",
    "\x1b[?1049l",
    "\x1b[5i",
    "\x1bc",
    "\x1bP+qDCS\x1b\\",
    "\x9b3J",
    "\x9d0;C1TITLE\x9c",
)
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


class Step(NamedTuple):
    """Keys of the walk."""

    keys: bytes
    shows: tuple[str, ...]
    """What must be written after them, in either collection and size, before the next keys.

    A question and a page take keys from the moment on at which they show their keys.
    """


SCROLLED: tuple[str, ...] = ()
"""Of keys that scroll, where the text may fit the screen and nothing be written."""

WALK = (
    Step(b"", ("Topics", "Enter open")),
    Step(b"?", ("open the topic", "? or Esc back")),
    Step(b"?", ("Enter open",)),
    Step(b"h", ("Guidelines, version", "h or Esc back")),
    Step(b"G", SCROLLED),
    Step(b"h", ("Enter open",)),
    Step(b"y", ("History of this sitting", "y back")),
    Step(b"y", ("Enter open",)),
    Step(b"\x10", ("Enter runs it",)),
    Step(b"\x1b", ("Enter open",)),
    Step(b"\r", ("Before you begin", "Enter begin")),
    Step(b"G", ("100%",)),
    Step(b"\r", ("now: ", "note: *")),
    Step(b"?", ("Grades: saved at once", "? or Esc back")),
    Step(b"G", ("Good to know", "100%")),
    Step(b"?", ("now: ",)),
    Step(b"t", ("Description", "t or Esc back")),
    Step(b"G", SCROLLED),
    Step(b"t", ("now: ",)),
    Step(b"h", ("Guidelines, version", "h or Esc back")),
    Step(b"h", ("now: ",)),
    Step(b"l", ("5 documents", "l back")),
    Step(b"/", ("or Esc: done",)),
    Step(b"[\r", ("l back",)),
    Step(b"l", ("now: ",)),
    Step(b"y", ("History of this sitting", "y back")),
    Step(b"\t", ("History of a", "y back")),
    Step(b"y", ("now: ",)),
    Step(b"/", ("Find in a", "Esc leaves it")),
    Step(b"word3\r", ("next, [ back",)),
    Step(b"]", ("hit 2 of",)),
    Step(b"\x1b", ("now: ",)),
    Step(b"w", ("separated by commas", "Esc leaves it")),
    Step(b"word5,[/]\r", ("highlighted: word5",)),
    Step(b"v", ("Esc done",)),
    Step(b"j\r", ("passage marked",)),
    Step(b"\x1b", ("now: ",)),
    Step(b"e", ("Note on a", "Esc keeps a draft")),
    Step(b"\x1b", ("now: ",)),
    Step(b"c", ("Why can it not", "Esc goes back")),
    Step(b"4", ("In your words", "Enter saves")),
    Step(b"\x1b", ("now: ",)),
    Step(b"G", SCROLLED),
    Step(b"g", SCROLLED),
    Step(b"1", ("marks", "a: 1, u undoes")),
    Step(b"p", ("now: can't",)),
    Step(b"y", ("History of this sitting", "y back")),
    Step(b"\t", ("History of", "y back")),
    Step(b"y", ("now: ",)),
    Step(b"G", ("100%",)),
    Step(b"2", ("marks", "2, u undoes")),
    Step(b"G", ("100%",)),
    Step(b" ", SCROLLED),
    Step(b"0", ("no text is stored", "marks: 0, u undoes")),
    Step(b"1", ("no text to judge", "y yes")),
    Step(b"y", ("missing: 1, u undoes",)),
    Step(b"G", ("100%",)),
    Step(b"2", ("Every document has a decision", "100%")),
    Step(b"d", ("now: 2",)),
    Step(b"s", ("take back grade 2", "y yes")),
    Step(b"n", ("now: 2",)),
    Step(b"u", ("undone",)),
    Step(b"\x12", ("Every document has a decision", "100%")),
    Step(b"q", ("all saved",)),
)
"""Every screen and every document; a new key is a line here."""


SHORT_WALK = (WALK[0], WALK[-1])
"""What has every sequence of ours."""


def walk(file: Path, judge: str, size: tuple[int, int], steps: Sequence[Step]) -> bytes:
    """Walk through a collection and return every byte the terminal got."""
    command = (*PROGRAM, "judge", "--judge", judge, "--min-dwell", "0", "--collection", str(file))
    with PtyTerminal(command, size=size) as terminal:
        for step in steps:
            place = terminal.send(step.keys)
            if step.keys == b"\x1b":
                terminal.until_quiet(ESCAPE_S)
            terminal.wait_for(*step.shows, since=place)
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


@pytest.mark.parametrize("size", [(80, 24), (130, 40)], ids=["usual", "wide"])
@pytest.mark.slow
def test_no_screen_passes_a_hostile_text_on(
    collections: tuple[Path, Path], tmp_path: Path, size: tuple[int, int]
) -> None:
    """Every document and every screen: the sequences are those of a look at harmless text."""
    evil, tame = (shutil.copy(file, tmp_path) for file in collections)
    output, expected = walk(evil, ID, size, WALK), walk(tame, harmless(ID), size, SHORT_WALK)
    assert_harmless(output, forms(expected))
    # The text was there to be seen: the control characters as pictures, the markup as it is.
    seen = "".join(SEQUENCE.sub(b"", output).decode().split())
    for n, sequence in enumerate(SEQUENCES):
        assert f"{sanitise(sequence)}word{n}" in seen
    assert "".join(MARKUP.split()) in seen
    assert "[@click=app.quit]a[/bold]" in seen


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "--by-topic"),
        ("show", "guidelines", "1"),
        ("export", "judgements"),
        ("judge", "--plain", "--judge", ID, "--topic", IN_ONE_LINE),
        ("judge", "--judge", ID, "--keymap", IN_ONE_LINE),
        *(
            pytest.param(arguments, marks=pytest.mark.slow)
            for arguments in (
                ("status", "--by-topic", "--format", "tsv"),
                ("status", "--table", "status", "--format", "json"),
                ("show", "judges"),
                ("status", "outdated", "--judge", IN_ONE_LINE),
                ("status", "effort", IN_ONE_LINE),
                ("agreement", IN_ONE_LINE, ID),
                ("adjudicate", "--topic", IN_ONE_LINE),
                ("assign",),
                ("export", "pool"),
                ("export", "qrels", f"1{ID}"),
                ("judge", "--judge", IN_ONE_LINE),
            )
        ),
    ],
    ids=lambda arguments: " ".join(arguments)[:30],
)
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("status", "outdated"),
        ("status", "effort", "--table", "low_dwell"),
        ("agreement", "--interval", "none"),
        ("adjudicate", "--names"),
        *(
            pytest.param(arguments, marks=pytest.mark.slow)
            for arguments in (
                ("status", "outdated", "--format", "tsv"),
                ("status", "effort", "--format", "tsv", "--table", "effort"),
                ("agreement", "--by-topic", "--format", "tsv", "--table", "pairs"),
                ("adjudicate", "--table", "disagreements", "--names", "--format", "tsv"),
                ("status", "--by-topic"),
                ("show", "judges"),
            )
        ),
    ],
    ids=" ".join,
)
def test_no_listing_passes_on_the_ids_of_a_doctored_file(
    doctored: Path, programs: Path, arguments: tuple[str, ...]
) -> None:
    """Names and docnos are made harmless where they are shown, whoever wrote them."""
    output = _typed((str(programs / "pooler"), *arguments, "--collection", str(doctored)), b"")
    # The intervals of topics are long work on a machine that is busy.
    assert_harmless(output, {b"\x1b[m"} | (BAR if arguments[0] == "agreement" else set()))
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
