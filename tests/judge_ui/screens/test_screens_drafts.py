"""A note that is being written is never lost, and nobody else sees it."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from judge_ui.screens.app import QuitDialog
from judge_ui.screens.dialogs import NoteDialog
from judge_ui.session.drafts import Drafts
from judge_ui.widgets.lists import NoteField
from store.collection import Collection
from tests.judge_ui.pilots import judging, press, rows, seen, stored
from tests.judge_ui.pty_terminal import PtyTerminal, begin, judge

pytestmark = pytest.mark.slow


async def test_escape_keeps_a_draft_and_says_so(two_topics: Collection) -> None:
    """The note key goes on with it, Enter saves it, and then there is none."""
    async with judging(two_topics) as pilot:
        await press(pilot, "e", *"see", "escape")
        assert "draft of a note on e0 kept, not saved: e there goes on with it" in seen(pilot)
        assert "e0" not in stored(two_topics)
        await press(pilot, "e")
        assert "Note on e0: a draft, not saved" in seen(pilot)
        await press(pilot, *" p3", "enter")
        assert stored(two_topics)["e0"].note == "see p3"
        assert not pilot.app._session.drafts


async def test_what_was_typed_is_discarded_by_a_key_of_its_own(two_topics: Collection) -> None:
    """The note stays as it was."""
    async with judging(two_topics) as pilot:
        await press(pilot, "e", *"see", "ctrl+g", "e")
        assert pilot.app.screen.query_one(NoteField).text == ""
        await press(pilot, *"old", "escape", "n", "e", "x", "escape", "q")
        assert "2 drafts of a note NOT SAVED. Quit and lose them?" in seen(pilot)
        await press(pilot, "n", "p", "e", "ctrl+g")
        assert "draft discarded: the note is as it was" in seen(pilot)


async def test_quitting_asks_before_a_draft_is_lost(two_topics: Collection, tmp_path: Path) -> None:
    """Yes removes it from the folder; to quit twice, as by ctrl+c, leaves it for the next sitting."""
    folder = tmp_path / "drafts"
    async with judging(two_topics, drafts=Drafts(folder)) as pilot:
        await press(pilot, "e", *"see", "ctrl+c")
        assert isinstance(pilot.app.screen, NoteDialog)
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
        await press(pilot, "E")
        assert "no document of this topic was decided before" in seen(pilot)
        await press(pilot, "2", "E", *"late", "enter")
        assert rows(pilot)[-1].startswith(" e0: note, u undoes ")
        assert "Text of bridge 1." in seen(pilot)
        await press(pilot, "e", *"own", "enter", "E")
        assert pilot.app.screen.query_one(NoteField).text == "late"
        await press(pilot, "escape", "1")
        notes = {docno: (one.grade, one.note) for docno, one in stored(two_topics).items()}
        assert notes == {"e0": (2, "late"), "e1": (1, "own")}
        await press(pilot, "u", "u", "u")
        assert stored(two_topics)["e0"].note == ""
        assert stored(two_topics)["e0"].grade == 2


def test_a_draft_outlives_the_terminal_for_its_judge_alone(
    two_topics: Collection, collection_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGHUP ends the program in the middle of a note; the next sitting goes on with it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with PtyTerminal(judge(collection_file, "--topic", "12")) as opened:
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
    with PtyTerminal(judge(collection_file, "--topic", "12")) as opened:
        begin(opened)
        opened.wait_for("a draft of a note is kept, not saved, on e0")
        opened.send(b"e")
        opened.wait_for("half a thought")
    other = [word if word != "alice" else "bob" for word in judge(collection_file, "--topic", "12")]
    with PtyTerminal(other) as opened:
        begin(opened)
        opened.wait_for("Text of bridge 0.", "now: -")
        opened.send(b"e")
        opened.wait_for("Note on e0")
        opened.until_quiet(0.4)
        assert "half a thought" not in opened.text()
