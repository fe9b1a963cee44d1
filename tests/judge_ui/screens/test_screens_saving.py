"""What is not written yet: failing writes, two sittings of one judge, quitting in between."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.pilot import Pilot

from judge_ui.screens.app import QuitDialog
from judge_ui.screens.dialogs import ChoiceDialog, ConfirmDialog, NoteDialog
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.session.messages import goodbye
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.lists import NoteField
from store.collection import Collection
from store.errors import StoreError
from store.records import Action, Document, ShownDocument
from tests.helpers.drawing import adaptive_pool, ends
from tests.helpers.places import held_place, let_lapse
from tests.helpers.world import change_stored
from tests.judge_ui.conftest import ENGLISH, Maker
from tests.judge_ui.pilots import judging, locked, press, rows, seen, settle, stored, type_ahead, typed

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


def elsewhere(collection: Collection, value: int, *, docno: str = "e0") -> JudgingSession:
    """Let the same judge decide at another terminal; the sitting goes on."""
    other = JudgingSession(collection.desk("alice"), min_dwell=0)
    other.open_topic("12")
    other.go_to([task.docno for task in other.tasks].index(docno))
    other.mark_shown()
    other.grade(value)
    return other


async def test_what_could_not_be_written_is_tried_again_and_then_said(
    two_topics: Collection, collection_file: Path
) -> None:
    """The grade stays in sight with its document; once the file is free it is saved by itself."""
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "2")
            assert "now: - NOT SAVED: 2" in seen(pilot)
            assert "NOT SAVED (2 relevant): " in seen(pilot)
            # The hints stay, above what went wrong.
            assert any(row.startswith(" u undo  s skip") for row in rows(pilot)[-5:])
            for key in ("n", "p", "escape"):
                await press(pilot, key)
                assert "NOT SAVED: 2 relevant" in seen(pilot)
                assert " e0 " in "\n".join(rows(pilot))
            assert isinstance(pilot.app.screen, JudgeScreen)
        await until(pilot, "2 relevant saved ")
        assert "NOT SAVED" not in seen(pilot)
        assert "Text of bridge 1." in seen(pilot)
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 2}


async def test_a_document_that_could_not_be_read_is_tried_again(
    two_topics: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes by itself once the file is there, and what was saved before it is still said."""
    # What was read ahead could be shown.
    monkeypatch.setattr("judge_ui.screens.document.READ_AHEAD_S", 600.0)
    read = JudgingSession.page
    async with judging(two_topics) as pilot:
        gone = [True]

        def page(session: JudgingSession) -> ShownDocument:
            if gone and session.index == 1:
                raise StoreError("the file is away")
            return read(session)

        monkeypatch.setattr(JudgingSession, "page", page)
        await press(pilot, "2")
        assert "this document could not be read: the file is away" in seen(pilot)
        assert "It will be tried again." in seen(pilot)
        gone.clear()
        await until(pilot, "Text of bridge 1.")
        assert "2 relevant saved " in seen(pilot)
        await press(pilot, "1")
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 2, "e1": 1}


async def test_another_grade_takes_the_place_of_one_not_written_and_undo_gives_it_up(
    two_topics: Collection, collection_file: Path
) -> None:
    """Neither needs the database; nothing of what was given up is stored."""
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "2", "1")
            assert "NOT SAVED: 1" in seen(pilot)
            await press(pilot, "u")
            assert "grade 1 given up: unjudged" in seen(pilot)
            assert "NOT SAVED" not in seen(pilot)
            await press(pilot, "n")
            assert "Text of bridge 1." in seen(pilot)
        await press(pilot, "0")
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e1": 0}


async def test_behind_a_dialog_the_document_does_not_change(
    two_topics: Collection, collection_file: Path
) -> None:
    """An attempt that succeeded while a question is open would put the answer on the next one."""
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "2", "e")
            assert isinstance(pilot.app.screen, JudgeScreen)  # no note is typed to be lost
            assert "NOT SAVED yet: 2 relevant" in seen(pilot)
            await press(pilot, "c")
        await asyncio.sleep(0.5)
        assert stored(two_topics) == {}
        await press(pilot, "escape")
        await until(pilot, "2 relevant saved ")
    assert list(stored(two_topics)) == ["e0"]


async def test_quitting_with_something_unsaved_asks_first(
    two_topics: Collection, collection_file: Path
) -> None:
    """Any key but y stays; ctrl+c a second time quits, and what was lost is said at the end."""
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "2", "q")
            assert isinstance(pilot.app.screen, QuitDialog)
            assert "NOT SAVED: 2 for e0. Quit and lose it?" in seen(pilot)
            await press(pilot, "2", "n")
            assert isinstance(pilot.app.screen, JudgeScreen)
            await pilot.press("ctrl+c")
            await settle(pilot)
            assert isinstance(pilot.app.screen, QuitDialog)
            await pilot.press("ctrl+c")
            assert pilot.app._exit
        session = pilot.app._session
    assert goodbye(session) == "alice: 0 decisions in this sitting, 1 NOT SAVED"


async def test_what_waits_is_written_on_quitting_if_it_can_be_by_then(
    two_topics: Collection, collection_file: Path
) -> None:
    """Y tries once more: nothing is lost where the file has become free behind the question."""
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "2", "q")
        await asyncio.sleep(0.3)
        assert isinstance(pilot.app.screen, QuitDialog)
        assert stored(two_topics) == {}
        await press(pilot, "y")
        assert pilot.app._exit
        session = pilot.app._session
    assert stored(two_topics)["e0"].grade == 2
    assert goodbye(session) == "alice: 1 decision in this sitting, all saved"


async def test_what_waits_and_still_cannot_be_written_is_said_on_quitting(
    two_topics: Collection, collection_file: Path
) -> None:
    """Y quits all the same, and the judge reads what was lost."""
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "2", "q", "y")
            assert pilot.app._exit
        session = pilot.app._session
    assert stored(two_topics) == {}
    assert goodbye(session) == "alice: 0 decisions in this sitting, 1 NOT SAVED"


@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+q"])
async def test_quitting_a_note_that_was_changed_asks_first(two_topics: Collection, key: str) -> None:
    """However often it is pressed: what was typed is saved or left on purpose, then it quits."""
    async with judging(two_topics) as pilot:
        await press(pilot, "e", "x", key, key)
        assert isinstance(pilot.app.screen, NoteDialog)
        assert "Not saved yet: Enter or Esc first, then quit" in seen(pilot)
        await press(pilot, "y", "enter")
        assert stored(two_topics)["e0"].note == "xy"
        await press(pilot, "e", "z", key, "escape")
        assert isinstance(pilot.app.screen, JudgeScreen)
        await press(pilot, "e")
        assert not pilot.app._exit
        await press(pilot, "ctrl+g", key)  # the draft that Escape kept is discarded
        assert pilot.app._exit
    assert stored(two_topics)["e0"].note == "xy"


async def test_a_place_that_went_to_another_judge_is_said_and_passed_by(
    make_collection: Maker, collection_file: Path
) -> None:
    """Nothing is written on what is no longer one's own; the next undecided document comes."""
    documents = [Document(one, "", f"Text of {one}.") for one in "abcd"]
    collection = make_collection({ENGLISH: documents})
    held_place(str(collection_file), "12", "abcd", None, lease_s=600)
    async with judging(collection) as pilot:
        await press(pilot, "1", "n")
        assert "Text of c." in seen(pilot)
        let_lapse(str(collection_file), "alice", "c")
        assert collection.desk("bob").claim("12")
        await press(pilot, "2")
        text = "NOT SAVED (2 relevant): the document is no longer in your queue"
        assert text in seen(pilot)
        assert "Text of b." in seen(pilot)
        assert pilot.app._session.pending is None
        await press(pilot, "0")
        assert "Every document has a decision" in seen(pilot)
    assert {docno: one.grade for docno, one in stored(collection).items()} == {"a": 1, "b": 0}


async def test_after_a_place_that_was_taken_away_the_first_undecided_comes(
    make_collection: Maker, collection_file: Path
) -> None:
    """The judge went to `c`; an organiser takes it away: the next document is `a`, from the top."""
    documents = [Document(one, "", f"Text of {one}.") for one in "abcd"]
    collection = make_collection({ENGLISH: documents})
    held_place(str(collection_file), "12", "abcd", "alice")
    async with judging(collection) as pilot:
        await press(pilot, "n", "n")
        assert "Text of c." in seen(pilot)
        of_c = "SELECT id FROM document WHERE docno = 'c'"
        change_stored(str(collection_file), f"DELETE FROM assignment WHERE document_id = ({of_c})")
        await press(pilot, "2")
        assert "the document is no longer in your queue" in seen(pilot)
        assert "Text of a." in seen(pilot)
    assert stored(collection) == {}


async def test_two_sittings_of_a_judge_are_asked_about(two_topics: Collection) -> None:
    """Overlapping creates gave Quepid two ratings of one pair: here one of two stands, chosen."""
    async with judging(two_topics) as pilot:
        elsewhere(two_topics, 1)
        await press(pilot, "2")
        assert isinstance(pilot.app.screen, ChoiceDialog)
        text = seen(pilot)
        assert ": grade 1 at " in text
        assert "your 2 is NOT SAVED k keep that r replace it by your 2" in text
        assert stored(two_topics)["e0"].grade == 1
        await press(pilot, "2", "r")
        assert stored(two_topics)["e0"].grade == 2
        assert "2 relevant saved " in rows(pilot)[-1]
        assert " e1 " in "\n".join(rows(pilot))


async def test_what_was_decided_elsewhere_can_be_kept(two_topics: Collection) -> None:
    """What was meant here stays in the history, taken back."""
    async with judging(two_topics) as pilot:
        elsewhere(two_topics, 1)
        await press(pilot, "2", "k")
        assert stored(two_topics)["e0"].grade == 1
        assert "grade 1 kept" in rows(pilot)[-1]
        await press(pilot, "p", "y", "tab")
        assert "undone: 2 relevant" in seen(pilot)


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


@pytest.mark.slow
async def test_a_note_that_meets_another_sitting_keeps_its_grade(two_topics: Collection) -> None:
    """The question is about the note alone; the grade of the other sitting stands."""
    async with judging(two_topics) as pilot:
        elsewhere(two_topics, 1)
        await press(pilot, "e", "x", "enter")
        assert "your note is NOT SAVED k keep that r save your note" in seen(pilot)
        await press(pilot, "r")
        assert (stored(two_topics)["e0"].grade, stored(two_topics)["e0"].note) == (1, "x")


@pytest.mark.slow
async def test_another_live_sitting_is_warned_of(two_topics: Collection) -> None:
    """On opening a topic the judge reads where the other one is, and can go on."""
    other = elsewhere(two_topics, 1)
    async with judging(two_topics) as pilot:
        assert "another sitting of yours on " in seen(pilot)
        assert ", at this very topic, was alive at " in seen(pilot)
        await press(pilot, "2")
        assert stored(two_topics)["e1"].grade == 2
    other.desk.leave()
    async with judging(two_topics) as pilot:
        assert "another sitting" not in seen(pilot)


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


@pytest.mark.slow
async def test_what_waits_on_the_way_to_the_topics_is_not_left_behind(
    two_topics: Collection, collection_file: Path
) -> None:
    """Undoing from the topics while the file is locked says so and leaves everything as it was."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "escape")
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "u")
            assert isinstance(pilot.app.screen, InboxScreen)
            assert "another process is writing" in seen(pilot)
        await press(pilot, "u")
        assert isinstance(pilot.app.screen, JudgeScreen)
    assert two_topics.desk("alice").events_of("12", "e0")[0].action is Action.UNDO


async def test_a_note_that_could_not_be_written_is_tried_again_too(
    two_topics: Collection, collection_file: Path
) -> None:
    """It stays in sight as not saved, and is said once when it is, on the same document."""
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "e", "x", "enter")
            assert "now: - NOT SAVED: note" in seen(pilot)
        await until(pilot, " note saved ")
        assert "saved saved" not in seen(pilot)
        assert " e0 " in "\n".join(rows(pilot))
    assert stored(two_topics)["e0"].note == "x"


@pytest.mark.parametrize(("key", "note"), [("y", "xy"), ("backspace", "")])
async def test_another_note_takes_the_place_of_one_not_written(
    two_topics: Collection, collection_file: Path, key: str, note: str
) -> None:
    """The field holds what waits; what Enter was pressed on last is what is written."""
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "e", "x", "enter", "e")
            assert pilot.app.screen.query_one(NoteField).text == "x"
            await press(pilot, key, "enter")
            assert "NOT SAVED: note" in seen(pilot)
        await until(pilot, "note saved " if note else "note removed ")
    assert [one.note for one in two_topics.desk("alice").events_of("12", "e0")] == [note]


class Waiting:
    """A source of documents that fails until it is let go."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self.trouble = "another process is writing"

    def draw(self, topic: str) -> bool:
        """Draw the one document there is."""
        if self.trouble:
            raise StoreError(self.trouble)
        return self._collection.pools.draw("live", topic, ends("a")) is not None


@pytest.mark.slow
async def test_a_document_that_could_not_be_brought_comes_by_itself(two_topics: Collection) -> None:
    """Until then no key is a grade; what is typed is told, and lost."""
    two_topics.pools.add(adaptive_pool({"0013": "a"}, 1))
    two_topics.documents.add([Document("a", "drawn", "the text that was drawn")])
    drawing = Waiting(two_topics)
    async with judging(two_topics, topic="0013", drawing=drawing) as pilot:
        await press(pilot, "2", "1")
        assert "the next document could not be drawn: another process is writing" in seen(pilot)
        await press(pilot, "0", "0")
        drawing.trouble = ""
        await until(pilot, "the text that was drawn")
        await asyncio.sleep(0.4)
        await press(pilot, "0")
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {
        "j0": 2, "j1": 1, "a": 0,
    }  # fmt: skip
