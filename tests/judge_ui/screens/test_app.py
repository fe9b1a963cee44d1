"""The full screen, key by key: every story ends in the store or in what the judge can see."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from textual import events as textual_events

from judge_ui.screens.dialogs import CannotDialog, ConfirmDialog, NoteDialog
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.reading import ReadingScreen, SummaryScreen
from judge_ui.session.keys import Command, key_table
from judge_ui.session.session import JudgingSession
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.lists import NoteField
from judge_ui.widgets.text_pane import TextPane
from store.collection import Collection
from store.records import Document, JudgeKind, Qrel, State, Topic
from tests.helpers.drawing import adaptive_pool
from tests.judge_ui.conftest import ENGLISH, JAPANESE, Maker, NothingToDraw, shown
from tests.judge_ui.pilots import judging, press, read_pane, rows, seen, settle, stored, strips

pytestmark = pytest.mark.slow

EVIL = (
    "\x1b]0;owned\x07\x1b[31m\x1b[2J\x1b]52;c;aGk=\x07\x9b1m [bold]b[/bold] [/] "
    "[@click=app.quit]click[/] \x00 \u202e \ud800 x\u200dx\u200d \u00ad"
)


async def test_a_digit_grades_saves_and_shows_the_next_document(two_topics: Collection) -> None:
    """One key is one row in the store, and the next document."""
    async with judging(two_topics) as pilot:
        assert rows(pilot)[3].split() == ["e0", "100%"]
        await press(pilot, "2")
        assert stored(two_topics)["e0"].grade == 2
        screen = "\n".join(rows(pilot))
        assert " e1 " in screen
        assert "Text of bridge 1." in screen
        assert "1/4  left 3" in rows(pilot)[0]
        assert "2 relevant saved " in rows(pilot)[-1]


async def test_the_screen_shows_what_the_layout_promises(two_topics: Collection) -> None:
    """Header, narrative, document and both hint lines are where a judge looks for them."""
    async with judging(two_topics) as pilot:
        screen = rows(pilot)
        assert screen[0].startswith(" 12 bridge maintenance ")
        assert screen[0].endswith(" alice   0/4  left 4 ")
        assert screen[1].rstrip() == " Which bridges are maintained on a schedule?"
        assert screen[2].rstrip() == " A relevant document names a schedule."
        assert screen[3].split() == ["e0", "100%"]
        assert screen[-3].startswith(" [0] not relevant  [1] partially relevant  [2] relevant ")
        assert screen[-3].endswith(" now: - ")
        assert screen[-2].startswith(" u undo  s skip  c can't  e note  / find  ? help  n/p move")


async def test_forty_queued_keys_grade_one_document(two_topics: Collection) -> None:
    """A held key or a raw paste stops at the dwell guard; the dropped keys are said and counted."""
    async with judging(two_topics, min_dwell=30.0) as pilot:
        pilot.app.screen._session.min_dwell = 0.0
        await press(pilot, "1")
        pilot.app.screen._session.min_dwell = 30.0
        for _ in range(40):
            pilot.app.post_message(textual_events.Key("1", "1"))
        await settle(pilot)
        assert list(stored(two_topics)) == ["e0"]
        assert "too quick: that key was dropped" in rows(pilot)[-1]


async def test_a_full_width_digit_grades(two_topics: Collection) -> None:
    """What a Japanese input method sends is a grade as well."""
    async with judging(two_topics) as pilot:
        pilot.app.post_message(textual_events.Key("２", "２"))
        await settle(pilot)
        assert stored(two_topics)["e0"].grade == 2


async def test_digits_in_a_note_do_not_grade(two_topics: Collection) -> None:
    """The note takes every key; the document is neither graded nor left."""
    async with judging(two_topics) as pilot:
        await press(pilot, "e", *"2 of 10", "enter")
        assert stored(two_topics)["e0"].note == "2 of 10"
        assert stored(two_topics)["e0"].state is State.UNJUDGED
        assert "note: *" in rows(pilot)[-3]
        assert "note saved " in rows(pilot)[-1]
        await press(pilot, "e")
        assert pilot.app.screen.query_one(NoteField).text == "2 of 10"
        await press(pilot, "1", "escape")
        assert stored(two_topics)["e0"].note == "2 of 10"
        assert isinstance(pilot.app.screen, JudgeScreen)


async def test_control_characters_cannot_be_pasted_into_a_note(two_topics: Collection) -> None:
    """A paste that holds an escape sequence is refused, so none is ever drawn or stored."""
    async with judging(two_topics) as pilot:
        await press(pilot, "e")
        for pasted in ("a\x1b[31m", "\u202e", "fine"):
            pilot.app.post_message(textual_events.Paste(pasted))
            await settle(pilot)
        assert pilot.app.screen.query_one(NoteField).text == "fine"


@pytest.mark.parametrize("key", ["u", "backspace"])
async def test_undo_goes_back(two_topics: Collection, key: str) -> None:
    """Undo restores the state before and shows the document again."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", key)
        assert stored(two_topics)["e0"].state is State.UNJUDGED
        assert " e0 " in "\n".join(rows(pilot))
        assert "grade 2 undone: unjudged again" in rows(pilot)[-1]
        await press(pilot, key)
        assert "nothing to undo in this sitting" in rows(pilot)[-1]


async def test_undo_crosses_topics_and_redraws_everything(two_topics: Collection) -> None:
    """The header, the topic and the document are those of the event taken back."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "escape", "down", "enter", "enter")
        assert "0013 情報検索の評価" in rows(pilot)[0]
        await press(pilot, "u")
        screen = rows(pilot)
        assert "12 bridge maintenance" in screen[0]
        assert "A relevant document names a schedule." in screen[2]
        assert " e0 " in "\n".join(screen)


async def test_moving_judges_nothing(two_topics: Collection) -> None:
    """N and p only look; the ends are said."""
    async with judging(two_topics) as pilot:
        await press(pilot, "p")
        assert "this is the first document" in rows(pilot)[-1]
        await press(pilot, "n", "n", "n", "n")
        assert " e3 " in "\n".join(rows(pilot))
        assert "this is the last document" in rows(pilot)[-1]
        assert stored(two_topics) == {}


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
        assert "unreadable" not in "\n".join(rows(pilot))
        await press(pilot, *"2 pages", "enter")
        assert stored(two_topics)["e1"].reason == "2 pages"
        await press(pilot, "p")
        assert "can't: 2 pages" in "\n".join(rows(pilot))
        assert "now: can't" in rows(pilot)[-3]


async def test_taking_a_grade_away_asks(two_topics: Collection) -> None:
    """Skipping a graded document needs a y."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "p", "s")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        await press(pilot, "n")
        assert stored(two_topics)["e0"].grade == 2
        await press(pilot, "s", "y")
        assert stored(two_topics)["e0"].state is State.SKIPPED
        await press(pilot, "p", "2", "p", "c", "2")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        await press(pilot, "y")
        assert stored(two_topics)["e0"].reason == "wrong language"


async def test_the_end_of_a_topic_is_summed_up(two_topics: Collection) -> None:
    """Counts by grade, then back over the skipped, then back to the topics."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "s", "0", "s")
        assert isinstance(pilot.app.screen, SummaryScreen)
        counts = [row.split() for row in rows(pilot)]
        assert ["2", "relevant", "1"] in counts
        assert ["1", "partially", "relevant", "0"] in counts
        assert ["0", "not", "relevant", "1"] in counts
        assert ["skipped", "2"] in counts
        assert ["Enter", "go", "to", "the", "2", "skipped"] in counts
        assert "2 skipped." in seen(pilot)
        await press(pilot, "enter")
        assert " e1 " in "\n".join(rows(pilot))
        await press(pilot, "1")
        assert " e3 " in "\n".join(rows(pilot))
        await press(pilot, "0")
        assert isinstance(pilot.app.screen, SummaryScreen)
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, InboxScreen)
        assert "done" in rows(pilot)[2]
    assert [stored(two_topics)[f"e{n}"].grade for n in range(4)] == [2, 1, 0, 0]


async def test_undo_from_the_summary_goes_back_to_the_document(two_topics: Collection) -> None:
    """The last decision of a topic can be taken back like any other."""
    async with judging(two_topics, topic="0013") as pilot:
        await press(pilot, "2", "2", "u")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert " j1 " in "\n".join(rows(pilot))
        assert stored(two_topics)["j1"].state is State.UNJUDGED


async def test_the_inbox_lists_topics_and_resumes(two_topics: Collection) -> None:
    """The counts are the judge's own; Enter opens at the first document left."""
    async with judging(two_topics, topic=None) as pilot:
        screen = rows(pilot)
        assert screen[0].endswith("alice   0/6  left 6 ")
        assert screen[1].split() == [
            *("topic", "title", "docs", "judged", "skipped", "can't", "left", "last", "judged")
        ]
        assert screen[2].split() == ["12", "bridge", "maintenance", *"40004", "-"]
        await press(pilot, "enter", "enter", "2", "s", "escape")
        assert rows(pilot)[2].split()[3:9] == [*"41102", "today"]
        await press(pilot, "enter")
        assert " e2 " in "\n".join(rows(pilot))


@pytest.mark.parametrize("key", ["q", "ctrl+q", "ctrl+c"])
async def test_quitting_ends_the_app(two_topics: Collection, key: str) -> None:
    """Every way out works at once and loses nothing."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2")
        await pilot.press(key)
        assert pilot.app._exit
    assert pilot.app.return_code == 0
    assert stored(two_topics)["e0"].grade == 2


async def test_help_lists_every_key_that_works(make_collection: Maker) -> None:
    """With grade letters in the way the page shows the keys as they are, and closes again."""
    collection = make_collection({Topic("12"): [Document("d", "", "x")]}, scale="ntcir")
    async with judging(collection, size=(80, 50)) as pilot:
        assert "x skip  i can't" in rows(pilot)[-2]
        await press(pilot, "?")
        assert isinstance(pilot.app.screen, ReadingScreen)
        text = pilot.app.screen.query_one("#page", TextPane)._marked_text.text
        keys = key_table(collection.scale)
        for command in Command:
            assert keys.name(command) in text
            assert command.explanation in " ".join(text.split())
        for line in (
            "s             3 S: highly relevant",
            "x             leave for later",
            "i             cannot be judged",
        ):
            assert line in text
        await press(pilot, "?")
        await press(pilot, "s")
    assert stored(collection)["d"].grade == 3


async def test_caps_lock_grades_and_skips_nothing(make_collection: Maker) -> None:
    """On a scale of letters `S` is the grade of `s`; screen and summary name it by its letter."""
    documents = [Document("a", "", "x"), Document("b", "", "x")]
    collection = make_collection({Topic("12"): documents}, scale="ntcir")
    async with judging(collection) as pilot:
        await press(pilot, "S")
        assert "S: highly relevant saved " in rows(pilot)[-1]
        await press(pilot, "p")
        assert rows(pilot)[-3].endswith(" now: S ")
        await press(pilot, "x")
        assert "take back grade S and skip?" in "\n".join(rows(pilot))
        await press(pilot, "y", "C")
        assert isinstance(pilot.app.screen, SummaryScreen)
        text = "\n".join(rows(pilot))
        for line in ("C: not relevant ", "Enter   go to the 1 skipped"):
            assert line in text
        await press(pilot, "s", "S")
        assert isinstance(pilot.app.screen, SummaryScreen)
        await press(pilot, "x", "B")
    assert {docno: one.grade for docno, one in stored(collection).items()} == {"a": 1, "b": 0}


async def test_undoing_a_note_takes_back_no_judgement(two_topics: Collection) -> None:
    """What is said of an undone note has no word of grades or states."""
    async with judging(two_topics) as pilot:
        await press(pilot, "e", "x", "enter", "u")
        assert "note undone" in rows(pilot)[-1]
        assert "unjudged" not in rows(pilot)[-1]


async def test_the_whole_topic_is_a_key_away(two_topics: Collection) -> None:
    """`t` shows title, description and narrative, and `t` goes back."""
    async with judging(two_topics) as pilot:
        await press(pilot, "t")
        text = "\n".join(rows(pilot))
        for part in (ENGLISH.title, ENGLISH.description, ENGLISH.narrative):
            assert part in text
        await press(pilot, "2", "t")
        assert isinstance(pilot.app.screen, JudgeScreen)
        assert stored(two_topics) == {}


async def test_grade_keys_work_on_the_document_only(two_topics: Collection) -> None:
    """On the topics, in help and in a summary a digit is nothing."""
    async with judging(two_topics, topic=None) as pilot:
        await press(pilot, "1", "?", "1", "escape", "enter", "t", "1", "escape")
        assert stored(two_topics) == {}


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 16), (59, 15), (40, 12), (40, 10)])
async def test_every_size_shows_document_and_grades(two_topics: Collection, size: tuple[int, int]) -> None:
    """From 40 x 10 on a judge sees the text, the keys, and how far it has come."""
    async with judging(two_topics, size=size) as pilot:
        screen = rows(pilot)
        assert len(screen) == size[1]
        assert "0/4  left 4" in screen[0]
        assert any("Text of bridge 0." in row for row in screen)
        below = 1 if size[1] >= 24 else 0  # the status has a line of its own
        grades = " ".join(screen[-4 - below :])  # on a narrow screen two rows
        assert all(f"[{key}]" in grades for key in "012")
        assert "? help" in screen[-1 - below]
        full = any("names a schedule" in row or "Narrative" in row for row in screen)
        # Of a short document the question has the rows that are empty.
        assert full is (size[1] >= 12)
        await press(pilot, "1")
        assert stored(two_topics)["e0"].grade == 1


@pytest.mark.parametrize("size", [(30, 8), (39, 24), (80, 9)])
async def test_too_small_a_terminal_says_so_and_grades_nothing(
    two_topics: Collection, size: tuple[int, int]
) -> None:
    """Nobody grades a document that is not to be seen; enlarging brings it back."""
    async with judging(two_topics, size=size) as pilot:
        assert "terminal too small" in "\n".join(rows(pilot))
        await press(pilot, "1", "2", "s")
        assert stored(two_topics) == {}
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        await press(pilot, "2")
        assert stored(two_topics)["e0"].grade == 2


async def test_a_hostile_document_stays_text(make_collection: Maker) -> None:
    """No control character reaches the strips, no markup acts, and the lines around stay put."""
    tame = Document("a", "title", "tame text")
    evil = Document("b", f"title {EVIL}", f"{EVIL}\n{'́' * 3000}\n{EVIL * 20}")
    collection = make_collection({ENGLISH: [tame, evil]})
    async with judging(collection) as pilot:
        before = rows(pilot)
        await press(pilot, "n")
        after = rows(pilot)
        assert before[:2] == after[:2]
        assert before[-2:] == after[-2:]
        text = "\n".join(after)
        assert not [character for character in text if ord(character) < 32 and character != "\n"]
        assert not set("\x7f\x9b\u202e\ud800\u200d\u00ad") & set(text)
        assert "[bold]b[/bold] [/] [@click=app.quit]click[/]" in text
        for y in range(5, 20):
            await pilot.click(offset=(10, y))
        assert not pilot.app._exit
        assert {strip.cell_length for strip in strips(pilot)} == {80}


async def test_hostile_names_and_notes_stay_text(make_collection: Maker) -> None:
    """Topic fields, labels of the scale and notes from elsewhere cannot steer the terminal."""
    topic = Topic("12", f"t{EVIL}", f"d{EVIL}", f"n{EVIL}")
    collection = make_collection({topic: [Document("[bold]a[/]", "x", "x")]})
    desk = collection.desk("alice")
    session = JudgingSession(desk)
    session.open_topic("12")
    shown(session).note(f"note {EVIL}")
    async with judging(collection, topic=None) as pilot:
        screens = ["\n".join(rows(pilot))]
        # The note is an event of the topic, so there is no briefing.
        keys = ("enter", "t", "t", "y", "tab", "y", "l", "l", "w")
        for key in (*keys, *"[bold]", "enter", "/", "[", "/", "enter", "?", "?", "e"):
            await press(pilot, key)
            screens.append("\n".join(rows(pilot)))
        text = "\n".join(screens)
        assert not [character for character in text if ord(character) < 32 and character != "\n"]
        assert "[bold]a[/]" in screens[1]
        assert isinstance(pilot.app.screen, NoteDialog)


async def test_only_combining_marks_stay_in_the_pane(make_collection: Maker) -> None:
    """A text of marks has no width at all, and still ends and stays where it is."""
    collection = make_collection({ENGLISH: [Document("a", "", "\u0301\u0323" * 5000)]})
    async with judging(collection) as pilot:
        assert {strip.cell_length for strip in strips(pilot)} == {80}
        await press(pilot, "G", "1")
        assert stored(collection)["a"].grade == 1


@pytest.mark.slow
async def test_a_megabyte_in_one_line_is_usable(make_collection: Maker) -> None:
    """The end of a huge line is a key away, and grading it is like any other."""
    text = "bridge と橋梁のメンテナンス " * 40_000 + "THE END"
    assert len(text.encode()) > 1_000_000
    collection = make_collection({ENGLISH: [Document("a", "", text), Document("b", "", "next")]})
    async with judging(collection) as pilot:
        await press(pilot, "G")
        assert "THE END" in "\n".join(rows(pilot))
        await press(pilot, "space", "b", "g", "1")
        assert stored(collection)["a"].grade == 1
        assert "next" in "\n".join(rows(pilot))


async def test_japanese_is_complete_at_eighty_columns(make_collection: Maker) -> None:
    """Every character of the source is painted, in order, none lost at the edge."""
    text = "判定対象の文書は、①テストコレクション（test collection）から採る。ﾊﾟｲﾌﾟ「」ー々" * 30
    title = "情報検索システム評価用テストコレクションの構築と、その判定の一致度に関する研究" * 2
    collection = make_collection({JAPANESE: [Document("j", title, text)]})
    async with judging(collection, topic="0013") as pilot:
        painted = "".join(line.strip() for line in await read_pane(pilot))
        assert painted.replace(" ", "") == f"{title}{text}".replace(" ", "")


async def test_a_missing_text_says_what_brings_it(make_collection: Maker) -> None:
    """A document without text is not an empty document."""
    collection = make_collection({ENGLISH: [Document("none"), Document("empty", "", "")]})
    async with judging(collection) as pilot:
        assert "no text is stored for this document" in "\n".join(rows(pilot))
        await press(pilot, "n")
        assert "the text of this document is empty" in "\n".join(rows(pilot))


async def test_a_document_that_cannot_be_read_cannot_be_graded(
    two_topics: Collection, collection_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its text on the screen a document takes no grade; once it is back it does."""
    # What was read ahead could be shown.
    monkeypatch.setattr("judge_ui.screens.document.READ_AHEAD_S", 600.0)
    away = collection_file.with_suffix(".away")
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        collection_file.rename(away)
        await press(pilot, "n", "2")
        text = "\n".join(rows(pilot))
        assert "this document could not be read: " in text
        assert "not graded: the document could not be read" in text
        two_topics._db.engine.dispose()
        away.rename(collection_file)
        await press(pilot, "2")
        assert "Text of bridge 1." in "\n".join(rows(pilot))
        assert stored(two_topics) == {}
        await press(pilot, "2")
        assert stored(two_topics)["e1"].grade == 2


async def test_the_inbox_moves_by_letters_and_undoes(two_topics: Collection) -> None:
    """Letters move the cursor once a key, and u goes back to the latest decision from here too."""
    async with judging(two_topics, topic=None) as pilot:
        await press(pilot, "u")
        assert "nothing to undo in this sitting" in rows(pilot)[-1]
        await press(pilot, "j", "enter", "enter", "2", "escape", "k", "enter", "enter")
        assert " e0 " in "\n".join(rows(pilot))
        await press(pilot, "escape", "u")
        assert " j0 " in "\n".join(rows(pilot))
        assert "grade 2 undone: unjudged again" in rows(pilot)[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "opened"),
    [
        (["j", "down", "k", "j"], "t2"),
        (["G"], "t39"),
        (["end", "up", "home", "down"], "t1"),
        (["up", "down"], "t1"),
    ],
)
async def test_enter_opens_the_row_moved_to_however_fast_the_keys_come(
    make_collection: Maker, keys: list[str], opened: str
) -> None:
    """A burst of keys, as a slow line delivers it, opens what the same keys one by one would."""
    topics = {Topic(f"t{n}"): [Document(f"d{n}", "", "x")] for n in range(40)}
    collection = make_collection(topics)
    for one_by_one in (False, True):
        async with judging(collection, topic=None) as pilot:
            for key in [*keys, "enter"]:
                character = key if len(key) == 1 else None
                pilot.app.post_message(textual_events.Key(key, character))
                if one_by_one:
                    await settle(pilot)
            await settle(pilot)
            assert rows(pilot)[0].startswith(f" {opened} ")


async def test_the_cursor_stays_where_it_was_moved(make_collection: Maker) -> None:
    """Neither the help page nor another size of the terminal moves it back."""
    collection = make_collection({Topic(f"t{n}"): [Document(f"d{n}")] for n in range(4)})
    async with judging(collection, topic=None) as pilot:
        await press(pilot, "j", "j", "?", "?")
        await pilot.resize_terminal(60, 20)
        await settle(pilot)
        await press(pilot, "enter")
        assert rows(pilot)[0].startswith(" t2 ")


@pytest.mark.parametrize(("title", "n_whole"), [("bridges " * 9, 30), ("bridges and tunnels", 19)])
async def test_titles_come_before_the_date_at_eighty_columns(
    make_collection: Maker, title: str, n_whole: int
) -> None:
    """A long title has 30 cells at least; the date and then the total go, and no more than must."""
    topics = {Topic(name, title): [Document(f"d{name}")] for name in ("1", "fourteen-cells")}
    async with judging(make_collection(topics), topic=None) as pilot:
        screen = rows(pilot)
        assert title[: n_whole - 3] in screen[2]
        if n_whole < 30:
            assert title in screen[2]
        for column in ("judged", "skipped", "can't", "left"):
            assert column in screen[1]
        assert ("docs" in screen[1], "last judged" in screen[1]) == (n_whole < 30, False)


async def test_staying_on_the_document_after_a_grade(two_topics: Collection) -> None:
    """With `--stay` the grade is marked on its document and the judge moves on by hand."""
    async with judging(two_topics, advance=False) as pilot:
        await press(pilot, "2")
        assert " e0 " in "\n".join(rows(pilot))
        assert "now: 2" in rows(pilot)[-3]
        await press(pilot, "1", "n")
        assert stored(two_topics)["e0"].grade == 1
        assert " e1 " in "\n".join(rows(pilot))


async def test_terms_are_underlined_and_bold(two_topics: Collection) -> None:
    """A word of the topic stands out without any colour."""
    async with judging(two_topics) as pilot:
        (text,) = [strip for strip in strips(pilot) if "Text of bridge" in strip.text]
        (hit,) = [segment for segment in text if segment.text == "bridge"]
        assert hit.style.bold
        assert hit.style.underline
        assert not hit.style.reverse


@pytest.mark.parametrize("no_color", [None, "", "1"])
async def test_no_colour_but_the_terminals_own(
    two_topics: Collection, monkeypatch: pytest.MonkeyPatch, no_color: str | None
) -> None:
    """Text is drawn in the terminal's own colours, whatever they are, and NO_COLOR is no danger."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    async with judging(two_topics) as pilot:
        assert any("Text of bridge 0." in strip.text for strip in strips(pilot))
        for strip in strips(pilot):
            for segment in strip:
                if segment.style is not None and segment.text.strip():
                    colour = segment.style.color
                    accents = () if no_color is not None else ("magenta", "bright_black")
                    assert colour is None or colour.is_default or colour.name in accents
                    assert segment.style.bgcolor is None or segment.style.bgcolor.is_default


async def test_a_refused_write_keeps_the_document_and_says_so(
    two_topics: Collection, collection_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the file is locked the document stays with its grade in sight; then it saves."""
    async with judging(two_topics) as pilot:
        await press(pilot, "1")
        two_topics._db.engine.dispose()
        # The default of ten seconds would make this a slow test of SQLite.
        monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
        with closing(sqlite3.connect(collection_file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await press(pilot, "2")
            text = "\n".join(rows(pilot))
            assert " e1 " in text
            assert "NOT SAVED (2 relevant): " in text
            assert "now: -  NOT SAVED: 2" in text
            other.execute("ROLLBACK")
        await press(pilot, "2")
        assert stored(two_topics)["e1"].grade == 2
        assert "NOT SAVED" not in "\n".join(rows(pilot))


async def test_keys_typed_while_a_write_waits_are_dropped(
    two_topics: Collection, collection_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An impatient row of keys is not tried one by one after the failure."""
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 200)
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with closing(sqlite3.connect(collection_file, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for key in "012":
                pilot.app.post_message(textual_events.Key(key, key))
            await asyncio.wait_for(settle(pilot), 10)
            text = "\n".join(rows(pilot))
            other.execute("ROLLBACK")
        assert "NOT SAVED (0 not relevant)" in text
        await settle(pilot)
        assert stored(two_topics) == {}


@pytest.mark.parametrize("opens", ["e", "c", "t", "?"])
async def test_a_digit_that_arrives_with_the_key_of_a_dialog_grades_nothing(
    two_topics: Collection, opens: str
) -> None:
    """On a slow line both keys come at once; what was meant for the dialog is not a grade."""
    async with judging(two_topics) as pilot:
        for key in (opens, "2"):
            pilot.app.post_message(textual_events.Key(key, key))
        await settle(pilot)
        assert not isinstance(pilot.app.screen, JudgeScreen)
        assert stored(two_topics) == {}


async def test_the_judge_is_blind(two_topics: Collection) -> None:
    """No screen holds another judge's grade, note or name, nor a pool's name."""
    two_topics.judgements.add({"nist": [Qrel("12", "e0", 2)]}, JudgeKind.IMPORTED)
    bob = JudgingSession(two_topics.desk("bob"), min_dwell=0)
    bob.open_topic("12")
    bob.mark_shown()
    bob.note("bob's secret note")
    bob.grade(2)
    async with judging(two_topics, topic=None) as pilot:
        shown = rows(pilot)
        keys = ("enter", "enter", "t", "t", "?", "?", "e", "escape", "0", "p", "h", "h", "l", "?")
        keys += ("?", "l", "y", "tab", "y", "ctrl+p", "escape", "]", "1", "2", "s", "0", "enter")
        for key in keys:
            await press(pilot, key)
            shown += rows(pilot)
        text = "\n".join(shown)
        for secret in ("bob", "secret", "nist", "pool entry", "score", "rank", "run ", "priority"):
            assert secret not in text
        assert "now: 2" not in text
        # Nor does a list number its documents: a place would tell what the pool thinks of them.
        assert not [row for row in shown if row.strip().startswith(("1 e", "2 e", "0 e"))]


async def test_resizing_behind_a_dialog_lays_the_document_out_anew(two_topics: Collection) -> None:
    """After a dialog the screen fits the terminal as it is now."""
    async with judging(two_topics) as pilot:
        await press(pilot, "?")
        await pilot.resize_terminal(120, 40)
        await settle(pilot)
        await press(pilot, "escape")
        assert any("Narrative" in row for row in rows(pilot))
        assert {strip.cell_length for strip in strips(pilot)} == {120}


async def test_scrolling_keys_and_the_share_read(make_collection: Maker) -> None:
    """Every scrolling key works, and the bar says how much has been on the screen."""
    text = "\n".join(f"line {n}." for n in range(200))
    collection = make_collection({ENGLISH: [Document("a", "", text)]})
    async with judging(collection) as pilot:
        pane = pilot.app.screen.query_one(DocumentPane)
        page = pane.size.height - 1
        last = 200 - pane.size.height
        steps = {"j": 1, "down": 1, "k": -1, "up": -1}
        pages = {"space": page, "pagedown": page, "b": -page, "pageup": -page}
        ends = {"G": last, "g": 0, "end": last, "home": 0}
        y = 0
        for key in [*steps, *pages, *ends]:
            await press(pilot, key)
            y = ends[key] if key in ends else y + (steps | pages)[key]
            assert (key, pane.scroll_offset.y) == (key, y)
            read = 100 * min(y + pane.size.height, 200) // 200
            assert f" {read}%" in "\n".join(rows(pilot)[:6])
        assert stored(collection) == {}


@pytest.mark.slow
async def test_a_draw_that_fails_is_told_and_the_grade_is_kept(two_topics: Collection) -> None:
    """The judge reads why there is no next document, after the grade and when asking for it."""
    two_topics.pools.add(adaptive_pool({"0013": "a"}, 1))
    async with judging(two_topics, topic="0013", drawing=NothingToDraw()) as pilot:
        await press(pilot, "2", "1")
        assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"j0": 2, "j1": 1}
        assert "1 partially relevant; the next document could not be drawn: the runs" in seen(pilot)
        assert "2/3  left 1" in rows(pilot)[0]
        assert "Text" not in seen(pilot)
        await press(pilot, "0", "s", "e", "c", "1")
        assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"j0": 2, "j1": 1}
        assert " j1 " not in "\n".join(rows(pilot))
        await press(pilot, "p", "n", "n")
        assert "the runs of pool `live` have changed since it was made" in seen(pilot)
        await press(pilot, "p", "0")
        assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"j0": 2, "j1": 0}
        await press(pilot, "q")
