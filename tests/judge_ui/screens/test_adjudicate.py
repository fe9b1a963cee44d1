"""The adjudicator's screen, key by key."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot

from judge_ui.screens.adjudicate import AdjudicateScreen, CellDialog
from judge_ui.screens.app import JudgeApp
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.reading import ReadingScreen
from judge_ui.session.session import AdjudicatingSession
from store.collection import Collection
from store.errors import StoreError
from store.judging.disagreements import Settlement
from store.records import Action, State
from tests.helpers.world import JudgeAtWork
from tests.judge_ui.conftest import Maker
from tests.judge_ui.disputes import JUDGES, begin, change, make_disputed, rulings
from tests.judge_ui.pilots import enter, judging, press, rows, seen, settle, strips

pytestmark = pytest.mark.slow


@pytest.fixture
def disputed(make_collection: Maker) -> Collection:
    """Make a collection in which three judges disagree on e0, e1, e3, and two of them on j0."""
    return make_disputed(make_collection)


@asynccontextmanager
async def adjudicating(
    collection: Collection, *, size: tuple[int, int] = (80, 24), **wanted: Any
) -> AsyncIterator[Pilot[None]]:
    """Run the app on the adjudicator's desk."""
    session = begin(collection, **wanted)
    app = JudgeApp(session)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot
    session.desk.leave()


async def test_screen_shows_the_judges_above_the_document(disputed: Collection) -> None:
    """Each judge has a line: letter, grade, note and passage; the text comes below."""
    async with adjudicating(disputed) as pilot:
        screen = rows(pilot)
        assert screen[0].startswith(" Adjudicate 12 bridge maintenance ")
        assert screen[0].endswith(" zoe   0/3  left 3 ")
        assert screen[3].split() == ["e0", "100%"]
        said = screen[4:7]
        assert [line[:4] for line in said] == [" A  ", " B  ", " C  "]
        given = sorted(line[4:].split("  ")[0].rstrip() for line in said)
        assert given == ["0 not relevant", "2 relevant", "2 relevant"]
        assert any(' 2 relevant  names a schedule "bridge 0"' in line for line in said)
        assert said[2].endswith(" t in full  d choose which ")
        assert screen[7].strip() == "Bridge 0"
        assert "now: -" in screen[-3]


async def test_a_key_settles_and_shows_the_next_disagreement(disputed: Collection) -> None:
    """One key is one row of the adjudicator's in the store, and the next document."""
    async with adjudicating(disputed) as pilot:
        await press(pilot, "2")
        assert rulings(disputed)["e0"].grade == 2
        assert "Text of bridge 1." in seen(pilot)
        assert "can't be judged: unreadable" in seen(pilot)
        assert "1/3 left 2" in seen(pilot)
        await press(pilot, "u")
        assert rulings(disputed)["e0"].state is State.UNJUDGED
        assert "names a schedule" in seen(pilot)
        await press(pilot, "c", "1", "e")
        await enter(pilot, "ask the library")
        judgements = rulings(disputed)
        assert (judgements["e0"].state, judgements["e0"].reason) == (State.CANNOT, "unreadable")
        assert judgements["e1"].note == "ask the library"


async def test_a_settled_disagreement_says_so(disputed: Collection) -> None:
    """Going back, the adjudicator sees that it is settled, and as what."""
    async with adjudicating(disputed) as pilot:
        await press(pilot, "2", "p")
        assert "settled as 2 " in seen(pilot)
        assert "now: 2" in seen(pilot)


async def test_a_changed_disagreement_says_what_it_was(disputed: Collection) -> None:
    """It comes without a grade, with the old outcome and the grades it rested on."""
    async with adjudicating(disputed) as pilot:
        await press(pilot, "2")
    change(disputed, "alice", "e0", 1)
    async with adjudicating(disputed) as pilot:
        assert "changed since 0, 2, 2 was settled as 2 " in seen(pilot)
        assert "now: -" in seen(pilot)
        await press(pilot, "s")
        assert "left for later; 2 stands till then" in seen(pilot)
        await press(pilot, "p", "2")
        assert [case.status for case in disputed.disagreements.all() if case.docno == "e0"] == [
            Settlement.SETTLED
        ]


async def test_topic_key_shows_everything_that_was_said(disputed: Collection) -> None:
    """The page has every note and passage in full, and the topic below them."""
    async with adjudicating(disputed) as pilot:
        await press(pilot, "t")
        assert isinstance(pilot.app.screen, ReadingScreen)
        page = seen(pilot)
        assert '2 relevant names a schedule passage: "bridge 0"' in page
        assert "A relevant document names a schedule." in page
        await press(pilot, "t")
        assert isinstance(pilot.app.screen, AdjudicateScreen)


async def test_cells_are_chosen_from_a_list(disputed: Collection) -> None:
    """The list says how many documents a cell has; Enter shows those, and all again."""
    async with adjudicating(disputed) as pilot:
        await press(pilot, "2", "d")
        assert isinstance(pilot.app.screen, CellDialog)
        screen = seen(pilot)
        assert "0 / 2 2 documents, 1 settled (as 2: 1)" in screen
        assert "1 / can't 1 document, 0 settled" in screen
        await press(pilot, "j", "j", "enter")
        assert " Adjudicate 0 / 2: 12 bridge" in rows(pilot)[0]
        assert "Text of bridge 3." in seen(pilot)
        assert "1/2 left 1" in seen(pilot)
        await press(pilot, "d", "g", "enter")
        assert rows(pilot)[0].startswith(" Adjudicate 12 bridge")
        assert "1/3 left 2" in seen(pilot)
        await press(pilot, "d", "j", "escape")
        assert "1/3 left 2" in seen(pilot)


async def test_a_cell_that_the_topic_does_not_have_leads_to_the_topics(disputed: Collection) -> None:
    """The topics that have one are listed."""
    async with adjudicating(disputed, topic="0013") as pilot:
        await press(pilot, "d", "j", "j", "enter")
        assert isinstance(pilot.app.screen, InboxScreen)
        assert "12 bridge maintenance 2 " in seen(pilot)
        assert "0013" not in seen(pilot)


async def test_digits_in_the_list_of_cells_decide_nothing(disputed: Collection) -> None:
    """A grade key settles nothing while a question is open."""
    async with adjudicating(disputed) as pilot:
        await press(pilot, "d", "1", "2", "escape")
        assert rulings(disputed) == {}


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 16), (40, 12)])
async def test_grades_of_the_judges_are_in_sight_on_every_screen(
    disputed: Collection, size: tuple[int, int]
) -> None:
    """However small the screen, who gave what is on it, beside document and grade keys."""
    async with adjudicating(disputed, size=size) as pilot:
        text = seen(pilot)
        assert "A 2" in text or "A 0" in text
        assert "C 2" in text or "C 0" in text
        assert "Text of bridge 0." in text
        assert "now: -" in text
        assert {strip.cell_length for strip in strips(pilot)} == {size[0]}
        await press(pilot, "1")
        assert rulings(disputed)["e0"].grade == 1


async def test_wide_screen_has_all_opinions_beside_the_document(disputed: Collection) -> None:
    """From 120 columns on, notes and passages are written out at the left, above the topic."""
    async with adjudicating(disputed, size=(120, 40)) as pilot:
        left = " ".join(" ".join(line[:42] for line in rows(pilot)).split())
        assert '2 relevant names a schedule passage: "bridge 0"' in left
        assert "bridge maintenance" in left


@pytest.mark.slow
async def test_no_judge_is_named_on_any_screen(disputed: Collection) -> None:
    """Through every screen the adjudicator can open, no judge's name is to be read."""
    async with adjudicating(disputed, size=(120, 40)) as pilot:
        screens = [seen(pilot)]
        for keys in (["1"], ["u"], ["t"], ["t", "?"], ["?", "d"], ["escape", "y"], ["y", "escape"]):
            await press(pilot, *keys)
            screens.append(seen(pilot))
        assert isinstance(pilot.app.screen, InboxScreen)
    for screen in screens:
        assert "zoe" in screen or "Keys" in screen or "said" in screen or "History" in screen
        assert not any(name in screen for name in JUDGES)


async def test_hostile_notes_stay_text(disputed: Collection) -> None:
    """What a judge wrote is drawn as text: no markup, no escape sequence, no other width."""
    evil = "\x1b]0;owned\x07[bold]x[/] [@click=app.quit]y[/]\u202e\n" + "e\u0301" * 300
    sitting = JudgeAtWork(disputed.desk("bob"), "12")
    sitting.act("e0", Action.NOTE, note=evil)
    sitting.desk.leave()
    async with adjudicating(disputed) as pilot:
        text = "\n".join(rows(pilot))
        assert "␛]0;owned␇[bold]x[/] [@click=app.quit]y[/]\ufffd" in text
        assert {strip.cell_length for strip in strips(pilot)} == {80}
        await press(pilot, "t")
        assert {strip.cell_length for strip in strips(pilot)} == {80}


async def test_nothing_is_decided_without_what_the_judges_said(
    disputed: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It belongs to the document; a key tries to read it again, and is no grade."""
    trouble = ["the disk could not be read"]
    read = AdjudicatingSession.disagreement

    def disagreement(session: AdjudicatingSession) -> Any:
        if trouble:
            raise StoreError(trouble[0])
        return read(session)

    monkeypatch.setattr(AdjudicatingSession, "disagreement", disagreement)
    async with adjudicating(disputed) as pilot:
        assert "what the judges said could not be read: the disk could not be read" in seen(pilot)
        await press(pilot, "1", "1", "s", "e")
        assert rulings(disputed) == {}
        await press(pilot, "escape")
        trouble.clear()
        await press(pilot, "1")
        assert rulings(disputed) == {}
        assert "names a schedule" in seen(pilot)
        await press(pilot, "1")
    assert {docno: one.grade for docno, one in rulings(disputed).items()} == {"e0": 1}


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
async def test_list_shows_grades_and_gap_once(disputed: Collection, size: tuple[int, int]) -> None:
    """A row has what A, B and C gave and how far they are apart, then title and time where there is room."""
    async with adjudicating(disputed, size=size) as pilot:
        await press(pilot, "2", "l")
        listed = [
            line[:56] if size[0] > 80 else line for line in rows(pilot) if re.search(r"\be1\b.*gap", line)
        ]
        assert len(listed) == 1
        assert ("Bridge 1" in listed[0]) == (size[0] != 120)
        assert listed[0].count("gap 1") == 1
        given = list(re.findall(r"([ABC]) (\S+)", listed[0]))
        assert sorted(grade for _, grade in given) == ["0", "1", "can't"]
        assert [letter for letter, _ in given] == ["A", "B", "C"]
        done = next(line for line in rows(pilot) if re.search(r"\be0\b.*gap 2", line))
        assert ("today" in done) == (size[0] == 80)
        assert seen(pilot).count("gap 1") == 1
        await pilot.click(offset=(4, next(y for y, line in enumerate(rows(pilot)) if "gap 1" in line)))
        await settle(pilot)
        assert "Text of bridge 1." in seen(pilot)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (40, 12)])
async def test_grades_and_gaps_stand_under_each_other(disputed: Collection, size: tuple[int, int]) -> None:
    """Where one judge could not judge a document, too."""
    mark = "(0|1|2|can't) +"
    row = re.compile(rf"\be[013]  A {mark}B {mark}C {mark}gap ([12])")
    async with adjudicating(disputed, size=size) as pilot:
        await press(pilot, "l")
        listed = [found for line in rows(pilot) if (found := row.search(line))]
        assert sorted("".join(sorted(one.groups()[:3])) for one in listed) == ["002", "01can't", "022"]
        assert len({tuple(map(one.start, range(1, 5))) for one in listed}) == 1, rows(pilot)


async def test_list_without_disagreements_has_no_column_for_them(two_topics: Collection) -> None:
    """A judge's own list says nothing of others."""
    async with judging(two_topics) as pilot:
        await press(pilot, "l")
        assert "gap" not in seen(pilot)
        assert "Bridge 1" in seen(pilot)
