"""What is not written yet: failing writes, two sittings of one judge, drafts, keys that come too late."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from pathlib import Path

import pytest
from textual.pilot import Pilot

from judge_ui.screens.app import QuitDialog
from judge_ui.screens.dialogs import ChoiceDialog, ConfirmDialog, NoteDialog
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.session.drafts import Drafts
from judge_ui.session.messages import goodbye
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.lists import NoteField
from store.collection import Collection
from store.errors import StoreError
from store.records import Action, Document, ShownDocument
from tests.helpers.drawing import adaptive_pool, ends
from tests.helpers.terminals import PtyTerminal, begin, judge
from tests.screens.sitting import (
    elsewhere,
    judging,
    locked,
    press,
    rows,
    seen,
    settle,
    stored,
    type_ahead,
    typed,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("hurried")]


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for other writers, and between attempts, as long as a test can, not as a judge can."""
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    monkeypatch.setattr("judge_ui.screens.judge.RETRY_S", 0.2)


async def until(pilot: Pilot[None], text: str) -> None:
    """Wait until something is on the screen."""
    for _ in range(200):
        if text in seen(pilot):
            return
        await asyncio.sleep(0.05)
        await pilot.pause()
    pytest.fail(f"{text!r} never came up:\n" + "\n".join(rows(pilot)))


async def test_what_could_not_be_written_is_tried_again_and_then_said(two_topics: Collection) -> None:
    """The grade stays in sight with its document; once the file is free it is saved by itself."""
    async with judging(two_topics) as pilot:
        with locked(two_topics):
            assert "now: - NOT SAVED: 2" in await press(pilot, "2")
            assert "Leave this window open; trying again. NOT SAVED (2 relevant): " in seen(pilot)
            # The hints stay, above what went wrong.
            assert any(row.startswith(" u undo  s skip") for row in rows(pilot)[-5:])
            for key in ("n", "p", "escape"):
                assert "NOT SAVED" in await press(pilot, key)
                assert " e0 " in "\n".join(rows(pilot))
            assert isinstance(pilot.app.screen, JudgeScreen)
        await until(pilot, "2 relevant saved ")
        assert "NOT SAVED" not in seen(pilot)
        assert "Text of bridge 1." in seen(pilot)
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 2}


async def test_keys_typed_while_a_write_waits_are_dropped(
    two_topics: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An impatient row of keys is not tried one by one after the failure."""
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 200)
    async with judging(two_topics) as pilot:
        with locked(two_topics):
            type_ahead(pilot, *"012")
            await asyncio.wait_for(settle(pilot), 10)
            assert "NOT SAVED (0 not relevant)" in seen(pilot)
        await settle(pilot)
        assert stored(two_topics) == {}


async def test_a_document_that_could_not_be_read_is_tried_again_and_takes_no_grade(
    two_topics: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes by itself once the file is there, and what was saved before it is still said."""
    # What was read ahead could be shown.
    monkeypatch.setattr("judge_ui.screens.document.READ_AHEAD_S", 600.0)
    read, gone = JudgingSession.page, [True]

    def page(session: JudgingSession) -> ShownDocument:
        if gone and session.index > 0:
            raise StoreError("the file is away")
        return read(session)

    monkeypatch.setattr(JudgingSession, "page", page)
    async with judging(two_topics) as pilot:
        assert "this document could not be read: the file is away" in await press(pilot, "2")
        assert "It will be tried again." in seen(pilot)
        gone.clear()
        await until(pilot, "Text of bridge 1.")
        assert "2 relevant saved " in seen(pilot)
        gone.append(True)
        assert "not graded: the document could not be read" in await press(pilot, "n", "1")
        gone.clear()
        await until(pilot, "Text of bridge 2.")
        await press(pilot, "1")
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 2, "e2": 1}


async def test_behind_a_dialog_the_document_does_not_change(two_topics: Collection) -> None:
    """An attempt that succeeded while a question is open would put the answer on the next one."""
    async with judging(two_topics) as pilot:
        with locked(two_topics):
            await press(pilot, "2", "e")
            assert isinstance(pilot.app.screen, JudgeScreen)  # no note is typed to be lost
            assert "NOT SAVED" in seen(pilot)
            await press(pilot, "c")
        await asyncio.sleep(0.5)
        assert stored(two_topics) == {}
        await press(pilot, "escape")
        await until(pilot, "2 relevant saved ")
    assert list(stored(two_topics)) == ["e0"]


@pytest.mark.parametrize("leave", ["y", "ctrl+c"])
async def test_quitting_with_something_unsaved_asks_first(two_topics: Collection, leave: str) -> None:
    """Any key but y stays; quitting all the same, the judge reads what was lost."""
    async with judging(two_topics) as pilot:
        with locked(two_topics):
            assert "NOT SAVED: 2 for e0. Quit and lose it?" in await press(pilot, "2", "q")
            await press(pilot, "2", "n")
            assert isinstance(pilot.app.screen, JudgeScreen)
            await press(pilot, "ctrl+c")
            assert isinstance(pilot.app.screen, QuitDialog)
            await pilot.press(leave)
            assert pilot.app._exit
        session = pilot.app._session
    assert stored(two_topics) == {}
    assert goodbye(session) == "alice: 0 decisions in this sitting, 1 NOT SAVED"


async def test_what_waits_is_written_on_quitting_if_it_can_be_by_then(two_topics: Collection) -> None:
    """Y tries once more: nothing is lost where the file has become free behind the question."""
    async with judging(two_topics) as pilot:
        with locked(two_topics):
            await press(pilot, "2", "q")
        await asyncio.sleep(0.3)
        assert stored(two_topics) == {}
        await press(pilot, "y")
        session = pilot.app._session
    assert stored(two_topics)["e0"].grade == 2
    assert goodbye(session) == "alice: 1 decision in this sitting, all saved"


async def test_two_sittings_of_a_judge_are_asked_about(two_topics: Collection) -> None:
    """Overlapping creates gave Quepid two ratings of one pair: here one of two stands, chosen."""
    async with judging(two_topics) as pilot:
        elsewhere(two_topics, 1)
        await press(pilot, "2")
        assert isinstance(pilot.app.screen, ChoiceDialog)
        assert ": grade 1 at " in seen(pilot)
        assert "your 2 is NOT SAVED k keep that r replace it by your 2" in seen(pilot)
        assert stored(two_topics)["e0"].grade == 1
        await press(pilot, "2", "r")
        assert stored(two_topics)["e0"].grade == 2
        assert "2 relevant saved " in rows(pilot)[-1]
        other = elsewhere(two_topics, 0)
        await press(pilot, "p", "1", "k")
        assert stored(two_topics)["e0"].grade == 0
        assert "grade 0 kept" in rows(pilot)[-1]
        assert "undone: 1 partially relevant" in await press(pilot, "p", "y", "tab")
    async with judging(two_topics) as pilot:
        assert "another sitting of yours on " in seen(pilot)
        assert ", at this very topic, was active at " in seen(pilot)
        other = elsewhere(two_topics, 1)
        await press(pilot, "p", "e", "x", "enter")  # of a note alone
        assert "your note is NOT SAVED k keep that r save your note" in seen(pilot)
        await press(pilot, "r")
        assert (stored(two_topics)["e0"].grade, stored(two_topics)["e0"].note) == (1, "x")
        other.desk.leave()


async def test_a_conflict_postponed_writes_nothing_and_asks_again(two_topics: Collection) -> None:
    """Escape lets the judge read on; until it is answered every other key asks again."""
    async with judging(two_topics) as pilot:
        other = elsewhere(two_topics, 1)
        await press(pilot, "2", "escape", "j", "g")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert "NOT SAVED: press any key but the scroll keys to decide" in seen(pilot)
        for key in ("n", "0", "u", "escape", "e"):
            await press(pilot, key)
            assert isinstance(pilot.app.screen, ChoiceDialog)
            await press(pilot, "escape")
        assert stored(two_topics)["e0"].grade == 1
        await press(pilot, "q")
        assert isinstance(pilot.app.screen, QuitDialog)
        assert goodbye(pilot.app._session).endswith("1 NOT SAVED")
        await press(pilot, "n", "s", "r")
        assert stored(two_topics)["e0"].grade == 2
        other.desk.leave()


async def test_a_key_from_before_the_question_is_no_answer(two_topics: Collection) -> None:
    """K, typed to scroll up in the same packet as the grade, does not keep anything."""
    async with judging(two_topics) as pilot:
        elsewhere(two_topics, 1)
        type_ahead(pilot, "2", "k", "r")
        late = [typed(key) for key in ("k", "r", "escape")]
        await settle(pilot)
        for key in late:
            pilot.app.post_message(key)
        await settle(pilot)
        assert isinstance(pilot.app.screen, ChoiceDialog)
        assert stored(two_topics)["e0"].revision == 1
        await press(pilot, "k", "p")
        type_ahead(pilot, "s", "y")
        late = [typed("y")]
        await settle(pilot)
        pilot.app.post_message(late[0])
        await settle(pilot)
        assert isinstance(pilot.app.screen, ConfirmDialog)
        assert stored(two_topics)["e0"].grade == 1


async def test_a_sign_of_life_is_given_again_and_again(
    two_topics: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long after it was opened a sitting is still seen by another one."""
    monkeypatch.setattr("judge_ui.screens.app.BEAT_S", 0.05)
    async with judging(two_topics) as pilot:
        desk = two_topics.desk("alice")
        (before,) = desk.live_elsewhere()
        await asyncio.sleep(0.3)
        await settle(pilot)
        (after,) = desk.live_elsewhere()
        assert after.seen_at > before.seen_at


async def test_what_waits_on_the_way_to_the_topics_is_not_left_behind(two_topics: Collection) -> None:
    """Undoing from the topics while the file is locked says so and leaves everything as it was."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "escape")
        with locked(two_topics):
            await press(pilot, "u")
            assert isinstance(pilot.app.screen, InboxScreen)
            assert "another process is writing" in seen(pilot)
        await press(pilot, "u")
        assert isinstance(pilot.app.screen, JudgeScreen)
    assert two_topics.desk("alice").events_of("12", "e0")[0].action is Action.UNDO


@pytest.mark.parametrize(("key", "note"), [("y", "xy"), ("backspace", "")])
async def test_a_note_not_written_is_tried_again_or_another_takes_its_place(
    two_topics: Collection, key: str, note: str
) -> None:
    """The field holds what waits; what Enter was pressed on last is what is written, on its document."""
    async with judging(two_topics) as pilot:
        with locked(two_topics):
            assert "now: - NOT SAVED: note" in await press(pilot, "e", "x", "enter")
            await press(pilot, "e")
            assert pilot.app.screen.query_one(NoteField).text == "x"
            assert "NOT SAVED: note" in await press(pilot, key, "enter")
        await until(pilot, "note saved " if note else "note removed ")
        assert "saved saved" not in seen(pilot)
        assert " e0 " in "\n".join(rows(pilot))
    assert [one.note for one in two_topics.desk("alice").events_of("12", "e0")] == [note]


class Waiting:
    """A source of documents that fails until it is let go."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self.trouble = "another process is writing"

    def draw(self, topic: str) -> bool:
        if self.trouble:
            raise StoreError(self.trouble)
        return self._collection.pools.draw("live", topic, ends("a")) is not None


async def test_a_document_that_could_not_be_brought_comes_by_itself(two_topics: Collection) -> None:
    """Until then no key is a grade; what is typed is told, and lost; the one before can be gone back to."""
    two_topics.pools.add(adaptive_pool({"0013": "a"}, 1))
    two_topics.documents.add([Document("a", "drawn", "the text that was drawn")])
    drawing = Waiting(two_topics)
    async with judging(two_topics, topic="0013", drawing=drawing) as pilot:
        await press(pilot, "2", "1")
        assert "the next document could not be drawn: another process is writing" in seen(pilot)
        assert "2/3  left 1" in rows(pilot)[0]
        await press(pilot, "0", "s", "e", "c", "1", "p", "n", "0")
        assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"j0": 2, "j1": 1}
        drawing.trouble = ""
        await until(pilot, "the text that was drawn")
        await asyncio.sleep(0.4)
        await press(pilot, "0")
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"j0": 2, "j1": 1, "a": 0}


async def test_escape_keeps_a_draft_and_says_so(two_topics: Collection) -> None:
    """The note key goes on with it, Enter saves it, a key of its own discards it, quitting asks."""
    async with judging(two_topics) as pilot:
        await press(pilot, "e", *"see", "escape")
        assert "draft of a note on e0 kept, not saved: e there goes on with it" in seen(pilot)
        assert "e0" not in stored(two_topics)
        assert "Note on e0: a draft, not saved" in await press(pilot, "e")
        await press(pilot, *" p3", "enter")
        assert stored(two_topics)["e0"].note == "see p3"
        assert not pilot.app._session.drafts
        await press(pilot, "e", *"!!", "escape", "n", "e", "x", "escape", "q")
        assert "2 drafts of a note NOT SAVED. Quit and lose them?" in seen(pilot)
        assert "draft discarded: the note is as it was" in await press(pilot, "n", "p", "e", "ctrl+g")
        await press(pilot, "e")
        assert pilot.app.screen.query_one(NoteField).text == "see p3"


async def test_quitting_asks_before_a_draft_is_lost(two_topics: Collection, tmp_path: Path) -> None:
    """Yes removes it from the folder; to quit twice, as by ctrl+c, leaves it for the next sitting."""
    folder = tmp_path / "drafts"
    async with judging(two_topics, drafts=Drafts(folder)) as pilot:
        await press(pilot, "e", *"see", "ctrl+c", "ctrl+q")
        assert isinstance(pilot.app.screen, NoteDialog)
        assert "Not saved yet: Enter or Esc first, then quit" in seen(pilot)
        await press(pilot, "escape", "ctrl+c")
        assert isinstance(pilot.app.screen, QuitDialog)
        await press(pilot, "ctrl+c")
    async with judging(two_topics, drafts=Drafts(folder)) as pilot:
        assert "a draft of a note is kept, not saved, on e0" in seen(pilot)
        await press(pilot, "q", "n", "e")
        assert pilot.app.screen.query_one(NoteField).text == "see"
        await press(pilot, "escape", "q", "y")
    assert not folder.exists()


async def test_a_note_is_written_on_the_document_just_decided(two_topics: Collection) -> None:
    """The next document stays on the screen, and its own note is another one."""
    async with judging(two_topics) as pilot:
        assert "no document of this topic was decided before" in await press(pilot, "E")
        await press(pilot, "2", "E", *"late", "enter")
        assert rows(pilot)[-1].startswith(" e0: note, u undoes ")
        assert "Text of bridge 1." in seen(pilot)
        await press(pilot, "e", *"own", "enter", "E")
        assert pilot.app.screen.query_one(NoteField).text == "late"
        await press(pilot, "escape", "1")
        notes = {docno: (one.grade, one.note) for docno, one in stored(two_topics).items()}
        assert notes == {"e0": (2, "late"), "e1": (1, "own")}
        await press(pilot, "u", "u", "u")
        assert (stored(two_topics)["e0"].note, stored(two_topics)["e0"].grade) == ("", 2)


def test_a_draft_outlives_the_terminal_for_its_judge_alone(
    two_topics: Collection, collection_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGHUP ends the program in the middle of a note; the next sitting goes on with it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    command = judge(collection_file, "--topic", "12")
    with PtyTerminal(command) as opened:
        begin(opened)
        opened.wait_for("Text of bridge 0.", "now: -")
        opened.send(b"e")
        opened.wait_for("Note on e0")
        opened.send(b"half a thought")
        opened.wait_for("half a thought")
        opened.until_quiet(0.4)
        os.kill(opened.process.pid, signal.SIGHUP)
        opened.process.wait(timeout=20)
    [folder] = (tmp_path / "state/pooler").glob("drafts-*")
    [file] = folder.iterdir()
    assert [stat.S_IMODE(one.stat().st_mode) for one in (folder, file)] == [0o700, 0o600]
    with PtyTerminal(command) as opened:
        begin(opened)
        opened.wait_for("a draft of a note is kept, not saved, on e0")
        opened.send(b"e")
        opened.wait_for("half a thought")
    with PtyTerminal([word if word != "alice" else "bob" for word in command]) as opened:
        begin(opened)
        opened.wait_for("Text of bridge 0.", "now: -")
        opened.send(b"e")
        opened.wait_for("Note on e0")
        opened.until_quiet(0.4)
        assert "half a thought" not in opened.text()


@pytest.mark.parametrize(
    ("opened_by", "leave", "asks_help"),
    [
        *(("t", "t", False), ("h", "escape", False), ("?", "?", False), ("y", "enter", False)),
        *(("e", "enter", False), ("c", "1", False)),
        *(("h", "h", True), ("t", "escape", True), ("y", "escape", True)),
    ],
)
async def test_a_screen_that_is_left_twice_takes_no_other_one_away(
    two_topics: Collection, opened_by: str, leave: str, asks_help: bool
) -> None:
    """Two keys come before the first has had its effect: only what they were typed at goes."""
    async with judging(two_topics) as pilot:
        await press(pilot, "s", "u", opened_by)
        opened, beneath = pilot.app.screen_stack[:0:-1][:2]
        for key in ("?" if asks_help else leave, leave):
            (opened.focused or opened).post_message(typed(key))
        await settle(pilot)
        if asks_help:
            assert pilot.app.screen_stack[-2] is opened
            await press(pilot, "escape")
            assert pilot.app.screen is opened
            await press(pilot, "escape")
        assert pilot.app.screen is beneath
