"""What the screen answers: to a key that is no grade, to a grade over a grade, to what is not saved."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_ui.screens.dialogs import ConfirmDialog
from store.collection import Collection
from tests.judge_ui.pilots import judging, locked, press, rows, seen, stored

pytestmark = pytest.mark.slow


async def test_a_key_that_is_no_grade_is_answered(two_topics: Collection) -> None:
    """A digit off the scale is told the scale; another character, where the keys are."""
    async with judging(two_topics) as pilot:
        await press(pilot, "7")
        assert "7 is no grade: they are 0 1 2; ? lists the keys" in seen(pilot)
        await press(pilot, "%")
        assert "% means nothing here; ? lists the keys" in seen(pilot)
        await press(pilot, "2")
        assert "means nothing" not in seen(pilot)
    assert {docno: one.grade for docno, one in stored(two_topics).items()} == {"e0": 2}


@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
async def test_a_grade_over_a_grade_says_what_it_replaced(
    two_topics: Collection, size: tuple[int, int]
) -> None:
    """Both grades stand in the line of what was saved."""
    async with judging(two_topics, size=size) as pilot:
        await press(pilot, "0", "p", "2")
        assert "(was 0) saved " in rows(pilot)[-1]
        assert stored(two_topics)["e0"].grade == 2


async def test_in_a_finished_topic_a_grade_is_asked_about_before_it_is_replaced(
    two_topics: Collection,
) -> None:
    """Its documents are all decided: a stray digit changes none of them."""
    async with judging(two_topics, topic="0013") as pilot:
        await press(pilot, "0", "1", "d", "2")
        assert isinstance(pilot.app.screen, ConfirmDialog)
        assert "every document has a decision; replace grade 1 by 2 relevant?" in seen(pilot)
        await press(pilot, "n")
        assert stored(two_topics)["j1"].grade == 1
        await press(pilot, "2", "y")
        assert stored(two_topics)["j1"].grade == 2


async def test_what_is_not_saved_says_that_it_is_tried_again(
    two_topics: Collection, collection_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that the window has to stay open until it is."""
    monkeypatch.setattr("store.db.engine.BUSY_TIMEOUT_MS", 20)
    async with judging(two_topics) as pilot:
        two_topics._db.engine.dispose()
        with locked(collection_file):
            await press(pilot, "2")
            assert "Leave this window open, it is tried again. NOT SAVED (2 relevant): " in seen(pilot)
