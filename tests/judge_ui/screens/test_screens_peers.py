"""Faults of other judging tools that concern the screen: each test would fail if this one had it.

Those about text fields, patterns, conflicts and viewing stand beside the screens they concern:
`test_screens_list`, `test_screens_finding`, `test_screens_saving`, `test_screens_history`.
"""

from __future__ import annotations

import pytest

from judge_ui.screens.inbox import InboxScreen
from judge_ui.screens.judge import JudgeScreen
from judge_ui.screens.reading import SummaryScreen
from store.collection import Collection
from store.records import Pool, PoolEntry
from tests.judge_ui.pilots import judging, press, rows, seen, settle, stored, type_ahead

pytestmark = pytest.mark.slow


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


async def test_one_key_however_often_it_arrives_is_one_judgement(two_topics: Collection) -> None:
    """Quepid: "this create UI can happen very quickly, and somehow we get overlapping creates"."""
    async with judging(two_topics, min_dwell=30.0) as pilot:
        pilot.app._session.min_dwell = 0.0
        type_ahead(pilot, "2")
        await settle(pilot)
        pilot.app._session.min_dwell = 30.0
        type_ahead(pilot, *"2222")
        await settle(pilot)
        assert {docno: one.revision for docno, one in stored(two_topics).items()} == {"e0": 1}


async def test_the_total_never_shrinks_and_every_decision_counts(two_topics: Collection) -> None:
    """Argilla: the progress denominator shrank (#4418), discarded never completed (#5757)."""
    async with judging(two_topics) as pilot:
        for said, key in (("0/4  left 4", "2"), ("1/4  left 3", "s"), ("1/4, 1 skipped  left 2", "c")):
            assert said in rows(pilot)[0]
            await press(pilot, key)
        await press(pilot, "1")
        assert "2/4, 1 skipped  left 1" in rows(pilot)[0]
        await press(pilot, "0")
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert "3/4, 1 skipped  left 0" in rows(pilot)[0]
        await press(pilot, "escape")
        assert "3/6, 1 skipped  left 2" in rows(pilot)[0]
        assert rows(pilot)[2].split()[3:9] == ["4", "2", "1", "1", "1", "skipped"]


async def test_a_finished_topic_is_open_to_its_judge(two_topics: Collection) -> None:
    """INCEpTION: annotators could not reopen their own finished work (#898)."""
    async with judging(two_topics, topic="0013") as pilot:
        await press(pilot, "1", "1", "escape")
        assert isinstance(pilot.app.screen, InboxScreen)
    async with judging(two_topics, topic="0013") as pilot:
        assert isinstance(pilot.app.screen, JudgeScreen)
        await press(pilot, "2", "y")
        assert stored(two_topics)["j0"].grade == 2


async def test_a_topic_takes_as_many_keys_as_it_has_documents(two_topics: Collection) -> None:
    """WebAnno: "the Finish confirmation can take nearly as much time as the annotation" (#696)."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "1", "0", "2")
        assert isinstance(pilot.app.screen, SummaryScreen)
        assert "4/4  left 0" in rows(pilot)[0]
        await press(pilot, "escape")
        assert isinstance(pilot.app.screen, InboxScreen)


@pytest.mark.parametrize("size", [(120, 40), (80, 24), (60, 16), (40, 12)])
async def test_what_the_keys_do_is_in_sight_whatever_happens(
    two_topics: Collection, size: tuple[int, int]
) -> None:
    """Removing the on-screen key hints brought doccano a run of complaints (#635, #1173).

    At every size and in every mode a line at the foot names keys that work, and one that goes back.
    """
    ways_back = {"": "? help", "v": "Esc done", "l": "l back", "y": "y back", "h": "h or Esc back"}
    ways_back |= {"/": "Esc ", "c": "Esc goes back", "ctrl+p": "Esc goes back", "e": "Esc "}
    async with judging(two_topics, size=size, judge="alice") as pilot:
        for key, way in ways_back.items():
            if key:
                await press(pilot, key)
            assert any(way in row for row in rows(pilot)[-2:])
            await press(pilot, *(["escape"] if key else []))
            assert isinstance(pilot.app.screen, JudgeScreen)
        # Whose judgements these are is in sight as well: Quepid stored anonymous ones.
        assert "alice" in rows(pilot)[0]
        assert all(f"[{key}]" in " ".join(rows(pilot)[-5:]) for key in "012")
