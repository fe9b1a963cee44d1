"""Room: the scale is cut last, no row is empty under a cut question, nothing stands twice."""

from __future__ import annotations

import pytest

from store.collection import Collection
from store.records import Document, Topic
from tests.judge_ui.conftest import Maker
from tests.judge_ui.disputes import make_disputed
from tests.judge_ui.pilots import judging, rows, seen
from tests.judge_ui.screens.test_adjudicate import adjudicating

pytestmark = pytest.mark.slow

NARRATIVE = "A relevant document names a schedule of maintenance of at least one bridge over water. " * 5
TOPIC = Topic("12", "bridge maintenance", "Which bridges are maintained?", NARRATIVE.strip() + " The end.")


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (60, 16)])
async def test_the_scale_is_the_last_thing_to_be_cut(make_collection: Maker, size: tuple[int, int]) -> None:
    """Its labels take another row before they lose a word."""
    made = make_collection({TOPIC: [Document("d", "", "Text. " * 500)]}, scale="0-3")
    async with judging(made, size=size) as pilot:
        for name in ("[0] not relevant", "[1] marginally relevant", "[2] relevant", "[3] highly relevant"):
            assert name in seen(pilot)
        assert any("now: -" in row for row in rows(pilot))


async def test_the_narrative_is_not_cut_where_rows_are_empty(make_collection: Maker) -> None:
    """Under a short document there is room for all of it; a long one takes the room."""
    made = make_collection({TOPIC: [Document("d", "", "Short."), Document("e", "", "Text. " * 500)]})
    async with judging(made) as pilot:
        assert "The end." in seen(pilot)
        await pilot.press("n")
        await pilot.pause()
        assert "... (t: all)" in seen(pilot)


@pytest.fixture
def disputed(make_collection: Maker) -> Collection:
    """Make a collection in which three judges disagree."""
    return make_disputed(make_collection)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_an_adjudicator_sees_opinions_and_title_once(
    disputed: Collection, size: tuple[int, int]
) -> None:
    """Above the document or beside it, and the topic's title at the top."""
    async with adjudicating(disputed, size=size) as pilot:
        screen = seen(pilot)
        assert screen.count("bridge maintenance") == 1
        assert screen.count("names a schedule ") == 1
        assert screen.count("d choose which") == 1
        assert screen.count('"bridge 0"') == 1
