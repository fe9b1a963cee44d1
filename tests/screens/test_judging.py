"""The full screen, key by key: every story ends in the store or in what the judge can see.

So do those of what is not written yet: failing writes, two sittings of a judge, drafts, keys too late.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import time
from pathlib import Path
from typing import Any

import pytest
from textual import events as textual_events
from textual.pilot import Pilot

from judge_ui.screens.app import QuitDialog
from judge_ui.screens.dialogs import CannotDialog, ChoiceDialog, ConfirmDialog, NoteDialog
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.lists import HistoryScreen
from judge_ui.screens.reading import ReadingScreen, SummaryScreen
from judge_ui.session.drafts import Drafts
from judge_ui.session.keys import Command, key_table
from judge_ui.session.messages import goodbye
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.lists import NoteField
from judge_ui.widgets.text_pane import TextPane
from pooler.commands.judge.status_recall import goal_of
from store.collection import Collection
from store.errors import PoolerError, StoreError
from store.records import Action, Document, Pool, PoolEntry, ShownDocument, State, Topic
from tests.helpers.drawing import adaptive_pool, ends
from tests.helpers.terminals import PtyTerminal, begin, judge
from tests.screens.conftest import ENGLISH, JAPANESE, Clock, Maker
from tests.screens.sitting import (
    elsewhere,
    judging,
    locked,
    press,
    rows,
    seen,
    settle,
    sit,
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


async def test_a_key_decides_saves_and_goes_on(two_topics: Collection) -> None:
    """Moving judges nothing; a digit grades, full width, too; undo goes back, into another topic, too.

    What means nothing is answered; redo does again what was undone, also from the topics; ctrl+c ends it all.
    """
    async with judging(two_topics) as pilot:
        assert "7 is no grade: they are 0 1 2; ? lists the keys" in await press(pilot, "p", "7")
        assert "% means nothing here; ? lists the keys" in await press(pilot, "%")
        assert "nothing to redo" in await press(pilot, "ctrl+r")
        assert "this is the first document" in await press(pilot, "p")
        assert "this is the last document" in await press(pilot, *"nnnn")
        assert stored(two_topics) == {}
        await press(pilot, *"ppp", "2")
        assert stored(two_topics)["e0"].grade == 2
        assert "Text of bridge 1." in seen(pilot)
        assert "1/4  left 3" in rows(pilot)[0]
        assert "2 relevant saved " in rows(pilot)[-1]
        assert "means nothing" not in seen(pilot)
        await press(pilot, "２")
        assert stored(two_topics)["e1"].grade == 2
        assert "grade 2 undone: unjudged again" in await press(pilot, "u")
        assert "done again: 2 relevant saved " in await press(pilot, "ctrl+r")
        assert stored(two_topics)["e1"].grade == 2
        assert "2/4  left 2" in rows(pilot)[0]
        await press(pilot, "u", "escape", "f12")
        assert isinstance(pilot.app.screen, InboxScreen)
        await press(pilot, "ctrl+r")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert stored(two_topics)["e1"].grade == 2
        await press(pilot, "u", "escape", "down", "enter", "enter")
        assert "0013 情報検索の評価" in rows(pilot)[0]
        await press(pilot, "backspace")
        assert "12 bridge maintenance" in rows(pilot)[0]
        assert "A relevant document names a schedule." in rows(pilot)[2]
        assert " e0 " in "\n".join(rows(pilot))
        assert stored(two_topics)["e0"].state is State.UNJUDGED
        assert "nothing to undo in this sitting" in await press(pilot, "u")
        await press(pilot, "1")
        await pilot.press("ctrl+c")
        assert pilot.app._exit
    assert pilot.app.return_code == 0
    assert stored(two_topics)["e0"].grade == 1


async def test_a_note_takes_every_key(two_topics: Collection) -> None:
    """Digits grade nothing, ctrl+j begins a line, a paste that could steer the terminal is refused.

    A key of its own notes the document just decided, while the next one stays on the screen.
    """
    async with judging(two_topics) as pilot:
        assert "no document of this topic was decided before" in await press(pilot, "E")
        await press(pilot, "e", *"2 of", "ctrl+j", *"10", "enter")
        assert (stored(two_topics)["e0"].note, stored(two_topics)["e0"].grade) == ("2 of\n10", None)
        assert "note: *" in rows(pilot)[-3]
        assert "note saved " in rows(pilot)[-1]
        await press(pilot, "e")
        for pasted in ("a\x1b[31m", "\u202e", "!"):
            pilot.app.post_message(textual_events.Paste(pasted))
            await settle(pilot)
        assert pilot.app.screen.query_one(NoteField).text == "2 of\n10!"
        await press(pilot, "1", "ctrl+g")
        assert (stored(two_topics)["e0"].note, stored(two_topics)["e0"].revision) == ("2 of\n10", 1)
        await press(pilot, "u")
        assert "note undone" in rows(pilot)[-1]
        assert "unjudged" not in rows(pilot)[-1]
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


async def test_what_cannot_be_judged_or_is_taken_away_asks(two_topics: Collection) -> None:
    """A key gives a listed reason, `other` takes words, escape nothing; taking a grade away needs a y.

    Another grade says what it was; where all is decided it is asked about, too.
    """
    async with judging(two_topics) as pilot:
        await press(pilot, "c")
        assert isinstance(pilot.app.screen, CannotDialog)
        await press(pilot, "escape")
        assert stored(two_topics) == {}
        await press(pilot, "c", "9", "1")
        assert stored(two_topics)["e0"].reason == "unreadable"
        await press(pilot, "c", "4")
        assert rows(pilot)[-2].startswith(" In your words: ___")
        assert rows(pilot)[-1].rstrip() == " Enter saves   Esc goes back"
        await press(pilot, *"2 pages", "enter")
        assert stored(two_topics)["e1"].reason == "2 pages"
        await press(pilot, "p")
        assert "can't: 2 pages" in "\n".join(rows(pilot))
        assert "now: can't" in rows(pilot)[-3]
        await press(pilot, "n", "2", "p", "s")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        await press(pilot, "n")
        assert stored(two_topics)["e2"].grade == 2
        await press(pilot, "s", "y")
        assert stored(two_topics)["e2"].state is State.SKIPPED
        await press(pilot, *"p2p0")
        assert "(was 2) saved " in rows(pilot)[-1]
        await press(pilot, "p", "c", "2")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        await press(pilot, "y")
        assert stored(two_topics)["e2"].reason == "wrong language"
    async with judging(two_topics, topic="0013") as pilot:
        await press(pilot, "0", "1", "d", "2")
        assert "every document has a decision; replace grade 1 by 2 relevant?" in seen(pilot)
        await press(pilot, "n")
        assert stored(two_topics)["j1"].grade == 1
    async with judging(two_topics, topic="0013") as pilot:  # a finished topic is open to its judge
        await press(pilot, "2", "y")
        assert stored(two_topics)["j0"].grade == 2


async def test_the_end_of_a_topic_is_summed_up(two_topics: Collection) -> None:
    """Counts by grade, then back over the skipped, then back to the topics; the last can be undone."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "s", "0", "s")
        assert isinstance(pilot.app.screen, SummaryScreen)
        for counted in ("2 relevant 1", "1 partially relevant 0", "0 not relevant 1", "skipped 2"):
            assert counted in seen(pilot)
        assert "Enter go to the 2 skipped" in seen(pilot)
        await press(pilot, "enter")
        assert " e1 " in "\n".join(rows(pilot))
        await press(pilot, "1")
        assert " e3 " in "\n".join(rows(pilot))
        await press(pilot, "0")
        assert isinstance(pilot.app.screen, SummaryScreen)
        await press(pilot, "u")
        assert stored(two_topics)["e3"].state is State.SKIPPED
        await press(pilot, "0", "escape")
        assert isinstance(pilot.app.screen, InboxScreen)
        assert "done" in rows(pilot)[2]
    assert [stored(two_topics)[f"e{n}"].grade for n in range(4)] == [2, 1, 0, 0]


async def test_the_inbox_counts_resumes_and_never_shrinks(two_topics: Collection) -> None:
    """The counts are the judge's own; Enter opens at the first document left; u undoes from here, too.

    Argilla: the progress denominator shrank (#4418), discarded never completed (#5757).
    """
    async with judging(two_topics, topic=None) as pilot:
        assert rows(pilot)[2].split() == ["12", "bridge", "maintenance", *"40004", "-"]
        await press(pilot, "u", "1")
        assert "nothing to undo in this sitting" in rows(pilot)[-1]
        await press(pilot, "enter", "enter")
        for said, key in (("0/4  left 4", "2"), ("1/4  left 3", "s"), ("1/4, 1 skipped  left 2", "c")):
            assert said in rows(pilot)[0]
            await press(pilot, key)
        await press(pilot, "1")
        assert "2/4, 1 skipped  left 1" in rows(pilot)[0]
        await press(pilot, "escape")
        assert rows(pilot)[2].split()[3:9] == [*"41111", "today"]
        await press(pilot, "j", "enter", "enter", "1", "escape", "k", "enter")
        assert " e3 " in "\n".join(rows(pilot))
        await press(pilot, "escape", "u")
        assert " j0 " in "\n".join(rows(pilot))
        assert "grade 1 undone: unjudged again" in rows(pilot)[-1]
        await press(pilot, "escape", "k", "enter", "0")
        assert "3/4, 1 skipped  left 0" in rows(pilot)[0]
        await press(pilot, "escape")
        assert "3/6, 1 skipped  left 2" in rows(pilot)[0]
        assert rows(pilot)[2].split()[3:9] == ["4", "2", "1", "1", "1", "skipped"]


@pytest.mark.parametrize(
    ("keys", "opened"), [("j down k j", "t2"), ("G", "t39"), ("end up home down", "t1"), ("up down", "t1")]
)
async def test_enter_opens_the_row_moved_to_however_fast_the_keys_come(
    make_collection: Maker, keys: str, opened: str
) -> None:
    """A burst opens what the same keys one by one would; help and another size move the cursor nowhere."""
    collection = make_collection({Topic(f"t{n}"): [Document(f"d{n}", "", "x")] for n in range(40)})
    async with judging(collection, topic=None) as pilot:
        type_ahead(pilot, *keys.split(), "enter")
        await settle(pilot)
        assert rows(pilot)[0].startswith(f" {opened} ")
    async with judging(collection, topic=None) as pilot:
        await press(pilot, *keys.split(), "?", "?")
        await pilot.resize_terminal(60, 20)
        await settle(pilot)
        await press(pilot, "enter")
        assert rows(pilot)[0].startswith(f" {opened} ")


async def test_letters_of_a_scale_push_commands_aside(make_collection: Maker) -> None:
    """Help shows every key as it is; `S` is the grade of `s`, so that Caps Lock skips nothing."""
    collection = make_collection({Topic("12"): [Document(one, "", "x") for one in "ab"]}, scale="ntcir")
    async with judging(collection, size=(80, 50)) as pilot:
        assert "x skip  i can't" in rows(pilot)[-2]
        await press(pilot, "?")
        text = pilot.app.screen.query_one("#page", TextPane)._marked_text.text
        keys = key_table(collection.scale)
        for command in Command:
            assert keys.name(command) in text
            assert command.explanation in " ".join(text.split())
        assert "s             3 S: highly relevant" in text
        await press(pilot, "?", "S")
        assert "S: highly relevant saved " in rows(pilot)[-1]
        await press(pilot, "p")
        assert rows(pilot)[-3].endswith(" now: S ")
        await press(pilot, "x")
        assert "take back grade S and skip?" in "\n".join(rows(pilot))
        await press(pilot, "y", "C", "s", "S")
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert "C: not relevant " in "\n".join(rows(pilot))
        await press(pilot, "x", "B")
    assert {docno: one.grade for docno, one in stored(collection).items()} == {"a": 1, "b": 0}


async def test_staying_on_the_document_after_a_grade(two_topics: Collection, clock: Any) -> None:
    """With `--stay` the judge moves on by hand, in a review of what was decided quickly, too."""
    async with judging(two_topics, topic="0013", clock=clock, advance=False) as pilot:
        clock.wait(0.5)
        await press(pilot, "1")
        assert "now: 1" in rows(pilot)[-3]
        await press(pilot, "n")
        clock.wait(0.5)
        await press(pilot, "1")
        assert isinstance(pilot.app.screen, SummaryScreen)
        await press(pilot, "r")
        clock.wait(5)
        await press(pilot, "2")
        assert " j0 " in "\n".join(rows(pilot))
        assert "now: 2" in rows(pilot)[-3]
        await press(pilot, "n")
        assert " j1 " in "\n".join(rows(pilot))


async def test_a_grade_belongs_to_the_document_painted_not_to_its_place(two_topics: Collection) -> None:
    """NTCIR's label bug (Sakai et al. 2022): labels were keyed by the rank in the pool file.

    The pool grows at its front while the judge reads: the grade is for what was read.
    """
    async with judging(two_topics) as pilot:
        assert "Text of bridge 0." in seen(pilot)
        entries = [PoolEntry("12", docno, place) for place, docno in enumerate(["j1", "e3", "e0"])]
        two_topics.pools.add(Pool(entries, {}, name="second"))
        await press(pilot, "2")
        assert stored(two_topics)["e0"].grade == 2
        await press(pilot, "escape", "enter")
        painted = rows(pilot)[3].split()[0]
        await press(pilot, "1", "p", "u")
        assert set(stored(two_topics)) == {"e0", painted}
        assert painted in rows(pilot)[3]
        assert stored(two_topics)["e0"].grade == 2


@pytest.fixture
def twelve(make_collection: Maker) -> Collection:
    """Make a topic of twelve documents with titles, and guidelines."""
    documents = [Document(f"CF-{n:04}", f"Bridge {n}", f"Text {n}.") for n in range(12)]
    made = make_collection({ENGLISH: documents})
    made.guidelines.add("# How to judge\n\nA schedule counts.")
    return made


async def click(pilot: Any, text: str) -> None:
    """Click on a text that is on the screen."""
    line, y = next((row, y) for y, row in enumerate(rows(pilot)) if text in row)
    await pilot.click(offset=(line.index(text) + 1, y))
    await settle(pilot)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_decision_before_has_a_place_and_hints_can_be_clicked(
    twelve: Collection, size: tuple[int, int]
) -> None:
    """The last line names what `u` takes back, whatever else is said; hints keep their line.

    Clicks do what the keys do, and beside the hints nothing. Two presses of u 80 ms apart take back two
    decisions; a held key, every 30 ms, one.
    """
    async with judging(twelve, size=size) as pilot:
        assert rows(pilot)[-1].strip() == ""
        hints = rows(pilot)[-2]
        for key, said in (("1", "CF-0000: 1, u undoes"), ("s", "CF-0001: skip, u undoes")):
            await press(pilot, key)
            assert rows(pilot)[-1].startswith(f" {said} ")
            assert rows(pilot)[-2] == hints
        await press(pilot, "n", "p", "]")
        assert rows(pilot)[-1].startswith(" CF-0001: skip, u undoes ")
        await press(pilot, "u")
        assert rows(pilot)[-1].startswith(" CF-0000: 1, u undoes ")
        assert rows(pilot)[-1].rstrip().endswith("skip undone: unjudged again")
        await press(pilot, "u")
        assert "undoes" not in rows(pilot)[-1]
        await click(pilot, "[2] relevant")
        assert stored(twelve)["CF-0000"].grade == 2
        await click(pilot, "s skip")
        assert stored(twelve)["CF-0001"].state is State.SKIPPED
        await click(pilot, "u undo ")
        assert stored(twelve)["CF-0001"].state is State.UNJUDGED
        await click(pilot, "CF-0000: 2")
        await click(pilot, "now: -")
        assert len(stored(twelve)) == 2
        await click(pilot, "? help")
        assert isinstance(pilot.app.screen, ReadingScreen)
        await click(pilot, "? or Esc back")
        await click(pilot, "c can't")
        await click(pilot, "[2] wrong")
        assert stored(twelve)["CF-0001"].reason == "wrong language"
        screen = pilot.app.screen
        screen._session.min_dwell, later = 0.3, time.perf_counter() + 100
        held = [screen._is_held(Command.UNDO, later + ms / 1000) for ms in (0, 80, 110)]
        assert held == [False, False, True]
        assert [screen._is_held(Command.SKIP, later + ms / 1000) for ms in (500, 580)] == [False, True]
        screen._session.min_dwell = 0.0
        await press(pilot, "escape")
        await click(pilot, "Enter open")
        assert isinstance(pilot.app.screen, JudgeScreen)


async def test_every_screen_explains_its_keys(twelve: Collection) -> None:
    """The question mark works in lists, on pages and at the end of a topic; it comes back."""
    async with judging(twelve, briefed=False) as pilot:
        assert "Before you begin" in rows(pilot)[0]
        assert "Enter begin" in await press(pilot, "?")
        assert rows(pilot)[0].startswith(" Keys")
        await press(pilot, "?", "enter", *"11", "y")
        assert isinstance(pilot.app.screen, HistoryScreen)
        for screen in ("y", "t", "h"):
            await press(pilot, *([] if screen == "y" else [screen]), "?")
            assert rows(pilot)[0].startswith(" Keys")
            await press(pilot, "?", "escape")
            assert isinstance(pilot.app.screen, JudgeScreen)
        assert "undo the latest decision" in await press(pilot, *"1" * 10, "?")
        await press(pilot, "?")
        assert isinstance(pilot.app.screen, SummaryScreen)


async def test_the_pace_is_in_sight_while_judging_and_gives_way_on_a_small_screen(
    twelve: Collection, clock: Any
) -> None:
    """Five of 20 s, then seven more at that pace: 140 s; before five decisions only what is left."""
    async with judging(twelve, clock=clock) as pilot:
        for _ in range(4):
            clock.wait(20)
            await press(pilot, "1")
        assert rows(pilot)[0].endswith(" alice   4/12  left 8 ")
        clock.wait(20)
        await press(pilot, "1")
        assert rows(pilot)[0].endswith(" alice   5/12, about 2 min ")
    async with judging(twelve, clock=clock, size=(40, 12)) as pilot:
        await press(pilot, "s")
        assert rows(pilot)[0].split() == ["12", "bridge", "alice", "5/12", "left", "6"]
        assert rows(pilot)[1].startswith(" maintenance")
        await press(pilot, "1", "y")  # a row of the history ends with what was done, or with dots
        assert rows(pilot)[1].rstrip().endswith("...")
        assert rows(pilot)[2].rstrip().endswith(" skipped")
        await press(pilot, "escape", "v")  # the two keys that matter are in sight
        assert rows(pilot)[-1].rstrip() == " Enter mark  j/k sentence  Esc done"
        await press(pilot, "enter")
        assert rows(pilot)[-1].startswith(" Enter mark  Esc done ")
        await press(pilot, "escape", "escape")
        assert rows(pilot)[0].split() == ["Topics", "alice", "6/12", "left", "5"]


@pytest.fixture
def ten(make_collection: Maker) -> Collection:
    """Make a topic of six documents and one of four."""
    english = [Document(f"e{n}", "", f"Text {n}.") for n in range(6)]
    return make_collection(
        {ENGLISH: english, JAPANESE: [Document(f"j{n}", "", f"文書 {n}。") for n in range(4)]}
    )


async def decide(pilot: Pilot[None], clock: Clock, seconds: float, keys: str) -> None:
    """Press keys, each after some seconds."""
    for key in keys:
        clock.wait(seconds)
        await press(pilot, key)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_the_summary_says_how_long_it_took_and_how_long_the_rest_will(
    ten: Collection, clock: Any, size: tuple[int, int]
) -> None:
    """Six documents of 20 s each, by hand; of two there is no pace; what does not fit scrolls."""
    async with judging(ten, clock=clock, size=size) as pilot:
        await decide(pilot, clock, 20, "21")
        await press(pilot, "escape")
        assert "at your pace" not in seen(pilot)
        await press(pilot, "enter")
        await decide(pilot, clock, 20, "0222")
        text = pilot.app.screen.query_one("#page", TextPane)._marked_text.text
        assert "Time on the screen: about 2 min, the median document 20 s." in text
        assert "Your pace: 20 s a document." in text
        assert "Other topics: 4 left, about 1 min at your pace." in text
        assert "decided in under" not in text
        assert "Every document has a decision." in seen(pilot)
        await press(pilot, "r", "s", "G")
        assert "100%" in rows(pilot)[-1]
        assert "q quit" in seen(pilot)
        assert "4 left, about 1 min at your pace" in await press(pilot, "escape")


async def test_what_was_decided_quickly_is_gone_over(ten: Collection, clock: Any) -> None:
    """R walks through them: a key confirms or changes, n leaves, and none is offered twice."""
    async with judging(ten, clock=clock) as pilot:
        for seconds, key in zip((0.5, 20, 0.5, 20, 0.5, 20), "210211", strict=True):
            await decide(pilot, clock, seconds, key)
        assert "r go over the 3 decided in under 1 s" in seen(pilot)
        await press(pilot, "r")
        assert "1 of 3 decided in under 1 s" in rows(pilot)[-1]
        assert "Text 0." in seen(pilot)
        await decide(pilot, clock, 5, "2")  # as it was
        assert "Text 2." in seen(pilot)
        assert "2 of 3 decided in under 1 s" in rows(pilot)[-1]
        assert "Text 0." in await press(pilot, "n", "p", "p", "p")
        assert "Text 4." in await press(pilot, "n", "n")
        await decide(pilot, clock, 5, "0")  # changed
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert "decided in under" not in seen(pilot)
        assert [stored(ten)[f"e{n}"].grade for n in range(6)] == [2, 1, 0, 2, 0, 1]
        assert [stored(ten)[f"e{n}"].revision for n in range(6)] == [1, 1, 1, 1, 2, 1]


async def test_the_skipped_are_gone_over_and_enter_goes_on(ten: Collection, clock: Any) -> None:
    """After an undo a review goes on from there; from the list everything is as usual.

    The list of topics says "skipped" instead of "done", and Enter opens at them; then it goes on with the
    next unfinished topic, through its briefing, and at last back to the topics.
    """
    async with judging(ten, clock=clock) as pilot:
        await decide(pilot, clock, 5, "ss021s")
        await press(pilot, "s")
        await decide(pilot, clock, 5, "2")
        assert "2 of 3 skipped" in rows(pilot)[-1]
        assert "Text 0." in await press(pilot, "u")
        assert "grade 2 undone: skipped again" in rows(pilot)[-1]
        await decide(pilot, clock, 5, "11")
        assert "3 of 3 skipped" in rows(pilot)[-1]
        assert "Text 1." in await press(pilot, "l", "g", "enter", "n")
        assert "skipped" not in rows(pilot)[-1]
        assert stored(ten)["e5"].state is State.SKIPPED
        await press(pilot, "escape")
        assert "1 skipped" in rows(pilot)[2]
        assert "Text 5." in await press(pilot, "enter")
        assert "1 of 1 skipped" in rows(pilot)[-1]
    async with judging(ten, clock=clock, topic=None) as pilot:  # Enter goes on with the topic worked at last
        assert "Text 5." in await press(pilot, "enter")
        clock.wait(5)
        assert "Enter go on with topic 0013 " in await press(pilot, "0")
        assert "Esc back to the topics" in seen(pilot)
        assert "topic 0013" in await press(pilot, "enter")
        await press(pilot, "enter")
        await decide(pilot, clock, 5, "2222")
        assert "Enter back to the topics" in seen(pilot)
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, InboxScreen)
        assert [row.split()[-3] for row in rows(pilot)[2:4]] == ["done", "done"]


async def test_keys_from_before_a_screen_was_there_do_nothing(ten: Collection, clock: Any) -> None:
    """A digit that comes with the key of a dialog grades nothing, u behind the last grade undoes nothing.

    The time of the summary is no document's: back at the document a key comes too quick.
    """
    async with judging(ten, topic="0013", clock=clock, min_dwell=0.3) as pilot:
        for opens in "ect?":
            clock.wait(5)
            type_ahead(pilot, opens, "2")
            await settle(pilot)
            assert not isinstance(pilot.app.screen, JudgeScreen)
            assert stored(ten) == {}
            await press(pilot, "escape")
        await decide(pilot, clock, 5, "111")
        clock.wait(5)
        type_ahead(pilot, "1", "enter", "q", "u")
        late = [typed(key) for key in ("enter", "q", "u")]
        await settle(pilot)
        for key in late:
            pilot.app.post_message(key)
        await settle(pilot)
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert stored(ten)["j3"].grade == 1
        clock.wait(60)
        await press(pilot, "d", "2")
        assert "too quick" in rows(pilot)[-1]
        assert stored(ten)["j3"].grade == 1


SOUGHT = "at least 50% of the relevant documents of the runs are found (95% sure), if the sample is random"
STAYS = "the rest may stay unjudged"


@pytest.fixture
def sampled(make_collection: Maker) -> Collection:
    """Make a topic of eight documents, all drawn, and one of two that nobody drew.

    Of eight, three relevant and two not: three more at most, so that half is found for certain.
    """
    documents = [Document(f"e{n}", "", f"Text {n}.") for n in range(8)]
    collection = make_collection({JAPANESE: [Document("j0", "", "文書。"), Document("j1", "", "文書。")]})
    collection.topics.add([ENGLISH])
    collection.documents.add(documents)
    entries = [
        PoolEntry(ENGLISH.topic, one.docno, place, stratum=1, inclusion_probability=1.0)
        for place, one in enumerate(documents)
    ]
    collection.pools.add(Pool(entries, {"strategy": "uniform"}, "tail"))
    collection.documents.add(documents)
    return collection


async def test_a_goal_that_is_reached_offers_to_stop_once(sampled: Collection) -> None:
    """After the fifth decision; who goes on is asked no more, and the end of the topic says it again."""
    async with judging(sampled, goal=goal_of(sampled, "recall=.5")) as pilot:
        await press(pilot, "2", "2", "2", "0")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert "3 documents unjudged." in await press(pilot, "0")
        assert f"Goal reached: {SOUGHT}; {STAYS}." in seen(pilot)
        assert "Enter stop here: back to the topics" in seen(pilot)
        await press(pilot, "d", "0", "0")  # go on judging
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert f"Goal reached: {SOUGHT}." in await press(pilot, "0")
        assert "stop here" not in seen(pilot)
    async with judging(sampled, topic="0013", goal=goal_of(sampled, "recall=.5")) as pilot:
        await press(pilot, "2", "0")
        assert "Unknown whether the goal is reached: nothing was judged at random." in seen(pilot)


async def test_who_stops_at_the_goal_leaves_the_rest_unjudged(sampled: Collection) -> None:
    """Enter goes to the topics, and there to another one; what is skipped does not hold back."""
    async with judging(sampled, goal=goal_of(sampled, "recall=.5")) as pilot:
        assert "s go to the 1 skipped" in await press(pilot, *"s22200")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, InboxScreen)
        assert "情報検索の評価" in await press(pilot, "enter")
    states = [task.state for task in sampled.desk("alice").queue("12")]
    assert [states.count(one) for one in (State.UNJUDGED, State.SKIPPED)] == [2, 1]


def test_line_mode_offers_to_stop_and_a_script_goes_on(sampled: Collection) -> None:
    """A script's next answer is meant for the next document: it is told, and asked nothing."""
    goal = goal_of(sampled, "recall=.5")
    printed = sit(sampled, "", "2", "2", "2", "0", "0", "", "q", typed=True, goal=goal)
    assert f"goal reached: {SOUGHT}; {STAYS}\n" in printed
    assert "Enter = stop here, topics" in printed
    assert "topic? Enter = 0013" in printed
    assert sorted(stored(sampled)) == ["e0", "e1", "e2", "e3", "e4"]
    printed = sit(sampled, *"22200000", judge="bob", goal=goal)
    assert printed.count(f"goal reached: {SOUGHT}; {STAYS}\n") == 1
    assert len(stored(sampled, "bob")) == 8
    # Whatever another judge found, what is said has the target's numbers and no other.
    assert goal.words("12") == f"goal reached: {SOUGHT}"


def test_a_goal_that_cannot_be_looked_up_holds_nobody_up(sampled: Collection) -> None:
    """The topic is gone from the collection that the goal looks at: no offer, no name, no traceback."""

    class Lost:
        def is_reached(self, topic: str) -> bool:
            raise PoolerError(f"run `secret` of {topic}")

        def words(self, topic: str) -> str:
            raise PoolerError(f"run `secret` of {topic}")

    printed = sit(sampled, *"22200000", goal=Lost())
    assert "secret" not in printed
    assert "unknown whether the goal is reached: the collection cannot be read" in printed


def test_without_a_goal_nothing_is_said(sampled: Collection) -> None:
    """The same decisions, and no word of recall, nor at the end."""
    printed = sit(sampled, *"22200000")
    assert "oal" not in printed
    assert "recall" not in printed


async def until(pilot: Pilot[None], text: str) -> None:
    """Wait until something is on the screen."""
    for _ in range(200):
        if text in seen(pilot):
            return
        await asyncio.sleep(0.05)
        await pilot.pause()
    pytest.fail(f"{text!r} never came up:\n" + "\n".join(rows(pilot)))


async def test_what_could_not_be_written_is_tried_again_and_then_said(
    two_topics: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The grade stays in sight with its document; once the file is free it is saved by itself.

    An impatient row of keys is not tried one by one after the failure.
    """
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 200)
    async with judging(two_topics) as pilot:
        with locked(two_topics):
            type_ahead(pilot, *"201")
            await asyncio.wait_for(settle(pilot), 10)
            assert "now: - NOT SAVED: 2" in seen(pilot)
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


async def test_behind_topics_and_questions_nothing_changes(two_topics: Collection) -> None:
    """Undoing from the topics while the file is locked says so and leaves everything as it was.

    An attempt that succeeded while a question is open would put the answer on the next document; y to the
    question whether to quit tries once more.
    """
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "escape")
        with locked(two_topics):
            await press(pilot, "u")
            assert isinstance(pilot.app.screen, InboxScreen)
            assert "another process is writing" in seen(pilot)
        await press(pilot, "u")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert two_topics.desk("alice").events_of("12", "e0")[0].action is Action.UNDO
        with locked(two_topics):
            await press(pilot, "2", "e")
            assert isinstance(pilot.app.screen, JudgeScreen)  # no note is typed to be lost
            assert "NOT SAVED" in seen(pilot)
            await press(pilot, "c")
        await asyncio.sleep(0.5)
        assert stored(two_topics)["e0"].state is State.UNJUDGED
        await press(pilot, "escape")
        await until(pilot, "2 relevant saved ")
        with locked(two_topics):
            await press(pilot, "1", "q")
        await asyncio.sleep(0.3)
        assert list(stored(two_topics)) == ["e0"]
        await press(pilot, "y")
        session = pilot.app._session
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 2, "e1": 1}
    assert goodbye(session) == "alice: 2 decisions in this sitting, all saved"


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


async def test_two_sittings_of_a_judge_are_asked_about(
    two_topics: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Overlapping creates gave Quepid two ratings of one pair: here one of two stands, chosen.

    A key from before the question answers nothing; postponed by Escape, every key but those that scroll asks
    again. Long after it was opened a sitting is still seen by another one.
    """
    monkeypatch.setattr("judge_ui.screens.app.BEAT_S", 0.05)
    async with judging(two_topics) as pilot:
        (before,) = two_topics.desk("alice").live_elsewhere()
        await asyncio.sleep(0.3)
        await settle(pilot)
        (after,) = two_topics.desk("alice").live_elsewhere()
        assert after.seen_at > before.seen_at
        elsewhere(two_topics, 1)
        type_ahead(pilot, "2", "k", "r")
        late = [typed(key) for key in ("k", "r", "escape")]
        await settle(pilot)
        for key in late:
            pilot.app.post_message(key)
        await settle(pilot)
        assert isinstance(pilot.app.screen, ChoiceDialog)
        assert ": grade 1 at " in seen(pilot)
        assert "your 2 is NOT SAVED k keep that r replace it by your 2" in seen(pilot)
        assert (stored(two_topics)["e0"].grade, stored(two_topics)["e0"].revision) == (1, 1)
        await press(pilot, "escape", "j", "g")
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
        await press(pilot, "n", "s", "2", "r")
        assert stored(two_topics)["e0"].grade == 2
        assert "2 relevant saved " in rows(pilot)[-1]
        other = elsewhere(two_topics, 0)
        await press(pilot, "p", "1", "k")
        assert stored(two_topics)["e0"].grade == 0
        assert "grade 0 kept" in rows(pilot)[-1]
        assert "undone: 1 partially relevant" in await press(pilot, "p", "y", "tab")
        await press(pilot, "escape")
        type_ahead(pilot, "s", "y")
        late = [typed("y")]
        await settle(pilot)
        pilot.app.post_message(late[0])
        await settle(pilot)
        assert isinstance(pilot.app.screen, ConfirmDialog)
        assert stored(two_topics)["e0"].grade == 0
        await press(pilot, "n")
    async with judging(two_topics) as pilot:
        assert "another sitting of yours on " in seen(pilot)
        assert ", at this very topic, was active at " in seen(pilot)
        other = elsewhere(two_topics, 1)
        await press(pilot, "p", "e", "x", "enter")  # of a note alone
        assert "your note is NOT SAVED k keep that r save your note" in seen(pilot)
        await press(pilot, "r")
        assert (stored(two_topics)["e0"].grade, stored(two_topics)["e0"].note) == (1, "x")
        other.desk.leave()


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


async def test_a_draft_is_kept_and_said_until_it_is_saved_or_discarded(
    two_topics: Collection, tmp_path: Path
) -> None:
    """Escape keeps it, the note key goes on with it, Enter saves it, a key of its own discards it.

    Quitting asks: yes removes it from the folder; quitting twice, as by ctrl+c, leaves it for next time.
    """
    folder = tmp_path / "drafts"
    async with judging(two_topics, drafts=Drafts(folder)) as pilot:
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
        await press(pilot, "escape", "n", "e", "ctrl+c", "ctrl+q")
        assert isinstance(pilot.app.screen, NoteDialog)
        assert "Not saved yet: Enter or Esc first, then quit" in seen(pilot)
        await press(pilot, "escape", "ctrl+c")
        assert isinstance(pilot.app.screen, QuitDialog)
        await press(pilot, "ctrl+c")
    async with judging(two_topics, drafts=Drafts(folder)) as pilot:
        assert "a draft of a note is kept, not saved, on e1" in seen(pilot)
        await press(pilot, "n", "q", "n", "e")
        assert pilot.app.screen.query_one(NoteField).text == "x"
        await press(pilot, "escape", "q", "y")
    assert not folder.exists()


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
