"""The full screen, key by key: every story ends in the store or in what the judge can see."""

from __future__ import annotations

from typing import Any

import pytest
from textual import events as textual_events
from textual.pilot import Pilot

from judge_ui.screens.dialogs import CannotDialog, ConfirmDialog
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.lists import HistoryScreen
from judge_ui.screens.reading import ReadingScreen, SummaryScreen
from judge_ui.session.keys import Command, key_table
from judge_ui.widgets.lists import NoteField
from judge_ui.widgets.text_pane import TextPane
from pooler.commands.judge.status_recall import goal_of
from store.collection import Collection
from store.errors import PoolerError
from store.records import Document, Pool, PoolEntry, State, Topic
from tests.screens.conftest import ENGLISH, JAPANESE, Clock, Maker
from tests.screens.sitting import judging, press, rows, seen, settle, sit, stored, type_ahead, typed

pytestmark = pytest.mark.slow


async def test_a_key_decides_saves_and_goes_on(two_topics: Collection) -> None:
    """Moving judges nothing; a digit grades, full width, too; undo goes back, into another topic, too."""
    async with judging(two_topics) as pilot:
        await press(pilot, "p")
        assert "this is the first document" in rows(pilot)[-1]
        await press(pilot, *"nnnn")
        assert "this is the last document" in rows(pilot)[-1]
        assert stored(two_topics) == {}
        await press(pilot, *"ppp", "2")
        assert stored(two_topics)["e0"].grade == 2
        assert "Text of bridge 1." in seen(pilot)
        assert "1/4  left 3" in rows(pilot)[0]
        assert "2 relevant saved " in rows(pilot)[-1]
        await press(pilot, "２")
        assert stored(two_topics)["e1"].grade == 2
        await press(pilot, "u")
        assert "grade 2 undone: unjudged again" in rows(pilot)[-1]
        await press(pilot, "escape", "down", "enter", "enter")
        assert "0013 情報検索の評価" in rows(pilot)[0]
        await press(pilot, "backspace")
        assert "12 bridge maintenance" in rows(pilot)[0]
        assert "A relevant document names a schedule." in rows(pilot)[2]
        assert " e0 " in "\n".join(rows(pilot))
        assert stored(two_topics)["e0"].state is State.UNJUDGED
        await press(pilot, "u")
        assert "nothing to undo in this sitting" in rows(pilot)[-1]


async def test_a_key_that_is_no_grade_is_answered(two_topics: Collection) -> None:
    """A digit off the scale is told the scale; another character, where the keys are."""
    async with judging(two_topics) as pilot:
        assert "7 is no grade: they are 0 1 2; ? lists the keys" in await press(pilot, "7")
        assert "% means nothing here; ? lists the keys" in await press(pilot, "%")
        await press(pilot, "2")
        assert "means nothing" not in seen(pilot)


async def test_a_note_takes_every_key(two_topics: Collection) -> None:
    """Digits grade nothing, ctrl+j begins a line, a paste that could steer the terminal is refused."""
    async with judging(two_topics) as pilot:
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


async def test_a_document_that_cannot_be_judged_asks_why(two_topics: Collection) -> None:
    """One key gives a listed reason; `other` takes words; escape takes nothing."""
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


async def test_taking_a_grade_away_asks(two_topics: Collection) -> None:
    """Skipping needs a y, another grade says what it was; where all is decided it is asked about, too."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "p", "s")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        await press(pilot, "n")
        assert stored(two_topics)["e0"].grade == 2
        await press(pilot, "s", "y")
        assert stored(two_topics)["e0"].state is State.SKIPPED
        await press(pilot, *"p2p0")
        assert "(was 2) saved " in rows(pilot)[-1]
        await press(pilot, "p", "c", "2")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        await press(pilot, "y")
        assert stored(two_topics)["e0"].reason == "wrong language"
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


async def test_the_inbox_lists_topics_and_resumes(two_topics: Collection) -> None:
    """The counts are the judge's own; Enter opens at the first document left; u undoes from here, too."""
    async with judging(two_topics, topic=None) as pilot:
        assert rows(pilot)[2].split() == ["12", "bridge", "maintenance", *"40004", "-"]
        await press(pilot, "u", "1")
        assert "nothing to undo in this sitting" in rows(pilot)[-1]
        await press(pilot, "enter", "enter", "2", "s", "escape")
        assert rows(pilot)[2].split()[3:9] == [*"41102", "today"]
        await press(pilot, "j", "enter", "enter", "1", "escape", "k", "enter")
        assert " e2 " in "\n".join(rows(pilot))
        await press(pilot, "escape", "u")
        assert " j0 " in "\n".join(rows(pilot))
        assert "grade 1 undone: unjudged again" in rows(pilot)[-1]


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


@pytest.mark.parametrize("key", ["q", "ctrl+q", "ctrl+c"])
async def test_quitting_ends_the_app(two_topics: Collection, key: str) -> None:
    """Every way out works at once and loses nothing."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2")
        await pilot.press(key)
        assert pilot.app._exit
    assert pilot.app.return_code == 0
    assert stored(two_topics)["e0"].grade == 2


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


@pytest.mark.parametrize("opens", ["e", "c", "t", "?"])
async def test_a_digit_that_arrives_with_the_key_of_a_dialog_grades_nothing(
    two_topics: Collection, opens: str
) -> None:
    """On a slow line both keys come at once; what was meant for the dialog is not a grade."""
    async with judging(two_topics) as pilot:
        type_ahead(pilot, opens, "2")
        await settle(pilot)
        assert not isinstance(pilot.app.screen, JudgeScreen)
        assert stored(two_topics) == {}


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


async def test_the_total_never_shrinks_and_every_decision_counts(two_topics: Collection) -> None:
    """Argilla: the progress denominator shrank (#4418), discarded never completed (#5757)."""
    async with judging(two_topics) as pilot:
        for said, key in (("0/4  left 4", "2"), ("1/4  left 3", "s"), ("1/4, 1 skipped  left 2", "c")):
            assert said in rows(pilot)[0]
            await press(pilot, key)
        await press(pilot, "1")
        assert "2/4, 1 skipped  left 1" in rows(pilot)[0]
        await press(pilot, "0")
        assert "3/4, 1 skipped  left 0" in rows(pilot)[0]
        await press(pilot, "escape")
        assert "3/6, 1 skipped  left 2" in rows(pilot)[0]
        assert rows(pilot)[2].split()[3:9] == ["4", "2", "1", "1", "1", "skipped"]


@pytest.fixture
def twelve(make_collection: Maker) -> Collection:
    """Make a topic of twelve documents with titles, and guidelines."""
    documents = [Document(f"CF-{n:04}", f"Bridge {n}", f"Text {n}.") for n in range(12)]
    made = make_collection({ENGLISH: documents})
    made.guidelines.add("# How to judge\n\nA schedule counts.")
    return made


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_the_decision_before_has_a_place_of_its_own(twelve: Collection, size: tuple[int, int]) -> None:
    """The last line names what `u` takes back, whatever else is said; hints keep their line."""
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


async def click(pilot: Any, text: str) -> None:
    """Click on a text that is on the screen."""
    line, y = next((row, y) for y, row in enumerate(rows(pilot)) if text in row)
    await pilot.click(offset=(line.index(text) + 1, y))
    await settle(pilot)


async def test_hints_can_be_clicked(twelve: Collection) -> None:
    """A grade, a command, an answer and the way back; beside them nothing happens."""
    async with judging(twelve) as pilot:
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


async def test_undo_follows_as_fast_as_fingers_go(twelve: Collection) -> None:
    """Two presses 80 ms apart take back two decisions; a held key, every 30 ms, one."""
    async with judging(twelve, min_dwell=0.3) as pilot:
        screen = pilot.app.screen
        assert [screen._is_held(Command.UNDO, at) for at in (10.0, 10.08, 10.11)] == [False, False, True]
        assert [screen._is_held(Command.SKIP, at) for at in (20.0, 20.08)] == [False, True]


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


async def test_undo_goes_back_within_a_review_and_other_ways_end_it(ten: Collection, clock: Any) -> None:
    """After an undo the review goes on from there; from the list everything is as usual."""
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


async def test_keys_from_before_the_summary_do_nothing_and_its_time_is_no_documents(
    ten: Collection, clock: Any
) -> None:
    """Undo typed behind the last grade takes nothing back; back at the document a key comes too quick."""
    async with judging(ten, topic="0013", clock=clock, min_dwell=0.3) as pilot:
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


async def test_a_topic_with_documents_skipped_opens_at_them(ten: Collection, clock: Any) -> None:
    """The list of topics says so instead of "done"; opened, it goes over them, then it is done."""
    async with judging(ten, topic="0013", clock=clock) as pilot:
        await decide(pilot, clock, 5, "2s2s")
        await press(pilot, "escape")
        assert "2 skipped" in rows(pilot)[3]
        assert "文書 1" in await press(pilot, "enter")
        assert "1 of 2 skipped" in rows(pilot)[-1]
        await decide(pilot, clock, 5, "10")
        await press(pilot, "escape")
        assert rows(pilot)[3].split()[-3] == "done"


async def test_enter_goes_on_with_the_topic_worked_at_last_or_the_next_unfinished(ten: Collection) -> None:
    """Through its briefing; Escape goes to the topics, and so does Enter where all are finished."""
    async with judging(ten, topic="0013") as pilot:
        await press(pilot, "1")
    async with judging(ten, topic=None) as pilot:
        await press(pilot, "enter")
        assert "0013" in rows(pilot)[0]
        assert "Enter go on with topic 12 " in await press(pilot, *"111")
        assert "Esc back to the topics" in seen(pilot)
        await press(pilot, "enter")
        assert "topic 12" in rows(pilot)[0]
        assert "Enter back to the topics" in await press(pilot, "enter", *"222222")
        await press(pilot, "enter")
        assert isinstance(pilot.app.screen, InboxScreen)


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
