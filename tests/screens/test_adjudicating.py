"""The adjudicator: which document comes, what is seen of the judges, what is written."""

from __future__ import annotations

import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from textual.pilot import Pilot

from judge_ui.plain import run_plain
from judge_ui.screens.adjudicate import AdjudicateScreen, CellDialog
from judge_ui.screens.app import JudgeApp
from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.reading import ReadingScreen
from judge_ui.session.session import AdjudicatingSession
from judge_ui.session.words import KeyOutcome
from store.collection import Collection
from store.errors import StoreError
from store.judging.disagreements import Selection, Settlement
from store.records import Action, Document, JudgeKind, Judgement, Passage, State
from tests.helpers.world import JudgeAtWork
from tests.screens.conftest import ENGLISH, JAPANESE, Clock, Maker, shown
from tests.screens.sitting import Typist, enter, press, rows, seen, settle, strips

JUDGES = ("alice", "bob", "carolina")
GRADES: dict[str, tuple[int | None, ...]] = {
    "alice": (0, 1, 1, 2),
    "bob": (2, 0, 1, 0),
    "carolina": (2, None, 1, 0),
}
"""Of e0 to e3: gap 2; 0, 1 and cannot; agreed; gap 2."""


@pytest.fixture
def disputed(make_collection: Maker) -> Collection:
    """Make a collection in which three judges disagree on e0, e1, e3, and two of them on j0."""
    english = [Document(f"e{n}", f"Bridge {n}", f"Text of bridge {n}.") for n in range(4)]
    japanese = [Document("j0", "研究", "検索の評価。")]
    collection = make_collection({ENGLISH: english, JAPANESE: japanese})
    collection.judges.add("carolina", JudgeKind.HUMAN)
    collection.judges.add("zoe", JudgeKind.ADJUDICATOR)
    for name in JUDGES:
        sitting = JudgeAtWork(collection.desk(name), "12")
        for docno, grade in zip(sitting.tasks, GRADES[name], strict=True):
            if grade is None:
                sitting.act(docno, Action.CANNOT, reason="unreadable")
            else:
                sitting.grade(docno, grade)
        if name == "bob":
            sitting.act("e0", Action.NOTE, note="names a schedule")
            sitting.act("e0", Action.MARK, passages=(Passage(8, 8, "bridge 0"),))
        sitting.desk.leave()
    for name, grade in (("alice", 0), ("bob", 1)):
        sitting = JudgeAtWork(collection.desk(name), "0013")
        sitting.grade("j0", grade)
        sitting.desk.leave()
    return collection


def change(collection: Collection, judge: str, docno: str, grade: int) -> None:
    """Let a judge decide otherwise."""
    sitting = JudgeAtWork(collection.desk(judge), "12")
    sitting.grade(docno, grade)
    sitting.desk.leave()


def begin(
    collection: Collection, *, topic: str | None = "12", clock: Clock | None = None, **wanted: Any
) -> AdjudicatingSession:
    """Sit down as the adjudicator, a topic open or not, its briefing read."""
    desk = collection.adjudication_desk("zoe", selection=Selection(**wanted))
    timing = {} if clock is None else {"clock": clock}
    session = AdjudicatingSession(desk, min_dwell=0.0, **timing)
    if topic is not None:
        session.open_topic(topic)
        session.needs_briefing = False
    return session


def docno(session: AdjudicatingSession) -> str | None:
    """Name the document before the adjudicator."""
    return None if session.task is None else session.task.docno


def rulings(collection: Collection) -> dict[str, Judgement]:
    """Return the adjudicator's judgements by docno."""
    return {judgement.docno: judgement for judgement in collection.judgements.current(["zoe"])}


def test_session_goes_from_disagreement_to_disagreement(disputed: Collection, clock: Clock) -> None:
    """Documents on which judges agree are never shown; every decision is the adjudicator's own, timed."""
    session = begin(disputed, clock=clock)
    found = session.disagreement()
    assert found is not None
    assert sorted(one.grade or 0 for one in found.opinions) == [0, 2, 2]
    assert [one.note for one in found.opinions if one.passages] == ["names a schedule"]
    assert not any(name in repr(found) for name in JUDGES)
    for expected in ("e0", "e1", "e3"):
        assert docno(session) == expected
        session.mark_shown()
        clock.wait(7)
        assert session.grade(1).outcome is KeyOutcome.SAVED
    assert session.is_complete
    assert session.desk.recent_active_ms() == [7000] * 3
    assert {one: ruling.grade for one, ruling in rulings(disputed).items()} == dict.fromkeys(
        ("e0", "e1", "e3"), 1
    )
    assert [one.grade for one in disputed.judgements.current(["alice"]) if one.docno == "e0"] == [0]


def test_a_changed_disagreement_stays_settled_until_it_is_settled_anew(disputed: Collection) -> None:
    """Skipped, nothing is written; the same grade again is a ruling on what the judges say now."""
    first = begin(disputed)
    shown(first).grade(2)
    first.go_previous()
    assert shown(first).skip().outcome is KeyOutcome.CONFIRM  # what is settled is not taken away by one key
    first.desk.leave()
    change(disputed, "alice", "e0", 1)
    session = begin(disputed)
    assert docno(session) == "e0"
    result = shown(session).skip()
    assert (result.outcome, result.message) == (KeyOutcome.UNCHANGED, "left for later; 2 stands till then")
    assert docno(session) == "e1"
    assert (rulings(disputed)["e0"].grade, session.undoing.n_decided) == (2, 0)
    assert shown(session).skip().outcome is KeyOutcome.SAVED
    assert rulings(disputed)["e1"].state is State.SKIPPED
    session.go_to(0)
    assert shown(session).grade(2).outcome is KeyOutcome.SAVED
    (case,) = [case for case in disputed.disagreements.all() if case.docno == "e0"]
    assert (case.status, rulings(disputed)["e0"].revision) == (Settlement.SETTLED, 2)


def test_undo_crosses_topics_and_shows_the_judges_again(disputed: Collection) -> None:
    """Undo goes back to a document of another topic and to what its judges said."""
    session = begin(disputed)
    shown(session).grade(2)
    session.open_topic("0013")
    assert docno(session) == "j0"
    assert session.undo().message == "grade 2 undone: unjudged again"
    assert docno(session) == "e0"
    found = session.disagreement()
    assert found is not None
    assert (len(found.opinions), found.status) == (3, Settlement.OPEN)


def test_another_cell_is_another_queue(disputed: Collection) -> None:
    """The open topic is read anew; without a document of that cell it is empty."""
    session = begin(disputed)
    assert [one.cell for one in session.desk.cells()] == [(0, 1), (0, 2), (0, None), (1, None)]
    assert session.select_cell((0, 2))
    assert [task.docno for task in session.tasks] == ["e0", "e3"]
    assert session.select_cell((1, None))
    assert [task.docno for task in session.tasks] == ["e1"]
    session.open_topic("0013")
    assert (session.task, session.disagreement()) == (None, None)
    assert session.select_cell(None)
    assert docno(session) == "j0"


def plain(collection: Collection, *answers: str) -> str:
    """Let the adjudicator give answers and return everything that was printed."""
    session, write = begin(collection), io.StringIO()
    run_plain(session, io.StringIO("".join(f"{answer}\n" for answer in answers)), write)
    session.desk.leave()
    return write.getvalue()


def test_line_mode_prints_the_judges_before_the_document(disputed: Collection) -> None:
    """Letters, grades, reasons, notes and passages come before the text; then what changed since."""
    printed = plain(disputed, "2", "q")
    first, second = printed.split("\nDisagreement on ")[1:]
    assert first.startswith("e0, gap 2\n")
    heads = [line for line in first.splitlines() if line[:3] in ("A  ", "B  ", "C  ")]
    assert [line[0] for line in heads] == ["A", "B", "C"]
    assert sorted(line[3:] for line in heads) == ["0 not relevant", "2 relevant", "2 relevant"]
    assert '  note: names a schedule\n  passage: "bridge 0"\n' in first
    assert first.index("passage:") < first.index("Document e0") < first.index("Text of bridge 0.")
    assert second.startswith("e1, gap 1\n")
    assert "  can't be judged: unreadable\n" in second
    assert not any(name in printed for name in JUDGES)
    assert rulings(disputed)["e0"].grade == 2
    change(disputed, "alice", "e0", 1)
    printed = plain(disputed, "s", "q")
    assert "changed since 0, 2, 2 was settled as 2\n" in printed
    assert "left for later; 2 stands till then" in printed
    assert "\nDisagreement on e1" in printed


@asynccontextmanager
async def adjudicating(
    collection: Collection, *, size: tuple[int, int] = (80, 24), **wanted: Any
) -> AsyncIterator[Pilot[None]]:
    """Run the app on the adjudicator's desk."""
    session = begin(collection, **wanted)
    async with JudgeApp(session).run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot
    session.desk.leave()


@pytest.mark.slow
async def test_screen_shows_the_judges_above_the_document_and_a_key_settles(disputed: Collection) -> None:
    """Each judge has a line: letter, grade, note and passage; what is settled, or changed, says so."""
    async with adjudicating(disputed) as pilot:
        screen = rows(pilot)
        assert screen[0].startswith(" Adjudicate 12 bridge maintenance ")
        assert screen[0].endswith(" zoe   0/3  left 3 ")
        said = screen[4:7]
        assert [line[:4] for line in said] == [" A  ", " B  ", " C  "]
        given = sorted(line[4:].split("  ")[0].rstrip() for line in said)
        assert given == ["0 not relevant", "2 relevant", "2 relevant"]
        assert any(' 2 relevant  names a schedule "bridge 0"' in line for line in said)
        assert said[2].endswith(" t in full  d choose which ")
        assert screen[7].strip() == "Bridge 0"
        await press(pilot, "2")
        assert rulings(disputed)["e0"].grade == 2
        assert "Text of bridge 1." in seen(pilot)
        assert "can't be judged: unreadable" in seen(pilot)
        assert "1/3 left 2" in seen(pilot)
        assert "settled as 2 " in await press(pilot, "p")
        await press(pilot, "u")
        assert rulings(disputed)["e0"].state is State.UNJUDGED
        assert "names a schedule" in seen(pilot)
        await press(pilot, "c", "1", "e")
        await enter(pilot, "ask the library")
        assert (rulings(disputed)["e0"].reason, rulings(disputed)["e1"].note) == (
            "unreadable",
            "ask the library",
        )
    change(disputed, "alice", "e0", 1)
    async with adjudicating(disputed) as pilot:
        assert "changed since 0, 2, 2 was settled as can't " in seen(pilot)
        assert "now: -" in seen(pilot)


@pytest.mark.slow
async def test_cells_are_chosen_from_a_list(disputed: Collection) -> None:
    """It says how many documents a cell has; Enter shows those, or the topics that have one.

    What a judge wrote is drawn as text meanwhile: no markup, no escape sequence, no other width.
    """
    evil = "\x1b]0;owned\x07[bold]x[/] [@click=app.quit]y[/]\u202e\n" + "e\u0301" * 300
    sitting = JudgeAtWork(disputed.desk("bob"), "12")
    sitting.act("e0", Action.NOTE, note=evil)
    sitting.desk.leave()
    async with adjudicating(disputed) as pilot:
        assert "␛]0;owned␇[bold]x[/] [@click=app.quit]y[/]\ufffd" in "\n".join(rows(pilot))
        for _ in range(2):
            assert {strip.cell_length for strip in strips(pilot)} == {80}
            await press(pilot, "t")
        await press(pilot, "2", "d", "1", "2")
        assert isinstance(pilot.app.screen, CellDialog)
        assert list(rulings(disputed)) == ["e0"]
        screen = seen(pilot)
        assert "0 / 2 2 documents, 1 settled (as 2: 1)" in screen
        assert "1 / can't 1 document, 0 settled" in screen
        await press(pilot, "j", "j", "enter")
        assert " Adjudicate 0 / 2: 12 bridge" in rows(pilot)[0]
        assert "Text of bridge 3." in seen(pilot)
        assert "1/2 left 1" in seen(pilot)
        await press(pilot, "d", "g", "enter")
        assert rows(pilot)[0].startswith(" Adjudicate 12 bridge")
        assert "1/3 left 2" in await press(pilot, "d", "j", "escape")
    async with adjudicating(disputed, topic="0013") as pilot:
        await press(pilot, "d", "j", "j", "enter")
        assert isinstance(pilot.app.screen, InboxScreen)
        assert "12 bridge maintenance 2 " in seen(pilot)
        assert "0013" not in seen(pilot)


MARK = "(0|1|2|can't) +"
ROW = re.compile(rf"\be[013]  A {MARK}B {MARK}C {MARK}gap ([12])")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(200, 50), (120, 40), (80, 24), (60, 16), (40, 12)])
async def test_grades_of_the_judges_are_in_sight_on_every_screen(
    disputed: Collection, size: tuple[int, int]
) -> None:
    """However small the screen, who gave what is on it, once; on a wide one beside the document, in full.

    A row of the list has what A, B and C gave and how far they are apart, under each other, then title
    and time where there is room.
    """
    async with adjudicating(disputed, size=size) as pilot:
        text = seen(pilot)
        assert "A 2" in text or "A 0" in text
        assert "C 2" in text or "C 0" in text
        assert "Text of bridge 0." in text
        assert "now: -" in text
        if size[0] >= 80:
            for said in ("bridge maintenance", "names a schedule ", "d choose which", '"bridge 0"'):
                assert text.count(said) == 1
        if size[0] >= 120:
            left = " ".join(" ".join(line[:42] for line in rows(pilot)).split())
            assert '2 relevant names a schedule passage: "bridge 0"' in left
        assert {strip.cell_length for strip in strips(pilot)} == {size[0]}
        await press(pilot, "2", "l")
        assert rulings(disputed)["e0"].grade == 2
        screen = [line[:56] if size[0] > 80 else line for line in rows(pilot)]
        listed = {found[0][:2]: (line, found) for line in screen if (found := ROW.search(line))}
        given = {name: sorted(found.groups()[:3]) for name, (_, found) in listed.items()}
        assert given == {"e0": ["0", "2", "2"], "e1": ["0", "1", "can't"], "e3": ["0", "0", "2"]}
        assert len({tuple(map(found.start, range(1, 5))) for _, found in listed.values()}) == 1, screen
        assert seen(pilot).count("gap 1") == 1
        assert ("Bridge 1" in listed["e1"][0]) == (size[0] in (60, 80, 200))
        assert ("today" in listed["e0"][0]) == (size[0] == 80)
        await pilot.click(offset=(4, next(y for y, line in enumerate(rows(pilot)) if "gap 1" in line)))
        await settle(pilot)
        assert "Text of bridge 1." in seen(pilot)


@pytest.mark.slow
async def test_no_judge_is_named_on_any_screen(disputed: Collection) -> None:
    """Through every screen the adjudicator can open, no judge's name is to be read."""
    async with adjudicating(disputed, size=(120, 40)) as pilot:
        screens = [seen(pilot)]
        for keys in ("1", "u", "t", "t?", "?d", ("escape", "y"), ("y", "escape")):
            await press(pilot, *keys)
            screens.append(seen(pilot))
            if keys == "t":
                assert isinstance(pilot.app.screen, ReadingScreen)
                assert '2 relevant names a schedule passage: "bridge 0"' in seen(pilot)
                assert "A relevant document names a schedule." in seen(pilot)
            if keys == "?d":
                assert isinstance(pilot.app.screen, CellDialog)
        assert isinstance(pilot.app.screen, InboxScreen)
    for screen in screens:
        assert "zoe" in screen or "Keys" in screen or "said" in screen or "History" in screen
        assert not any(name in screen for name in JUDGES)


@pytest.mark.slow
async def test_nothing_is_decided_without_what_the_judges_said(
    disputed: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It belongs to the document; a key tries to read it again, and is no grade; a script's are ignored."""
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
        assert isinstance(pilot.app.screen, AdjudicateScreen)
    trouble.append("the disk could not be read")
    write = io.StringIO()
    typist = Typist(("2", "s", trouble.clear, "0", "retry", "1"), is_terminal=False)
    run_plain(begin(disputed), typist, write)
    assert "this document could not be read: the disk could not be read" in write.getvalue()
    assert "3 answers were ignored\n" in write.getvalue()
    assert {docno: one.grade for docno, one in rulings(disputed).items()} == {"e0": 1, "e1": 1}
