"""A screen that was resized looks as one that was begun at that size."""

from __future__ import annotations

import re

import pytest
from textual.pilot import Pilot

from store.records import Document, Topic
from tests.judge_ui.conftest import Maker
from tests.judge_ui.pilots import judging, press, rows, settle

pytestmark = pytest.mark.slow

SIZES = ((80, 24), (120, 40), (60, 20), (200, 50), (44, 14), (80, 60))
LONG = Topic(
    "12",
    "what the county pays for the maintenance of bridges over the river, and who inspects them every year",
    "Which bridges are maintained on a schedule, and who pays for it?",
    "A relevant document names a schedule of maintenance of at least one bridge, such as yearly inspections. "
    * 4,
)


def looks(pilot: Pilot[None]) -> list[str]:
    """Return the rows without the scrollbar and the time of day."""
    return [re.sub(r"\d\d:\d\d:\d\d", "", row.rstrip(" ▁▂▃▄▅▆▇█")) for row in rows(pilot)]


@pytest.mark.parametrize("size", SIZES)
async def test_resizing_folds_as_starting_at_that_size(make_collection: Maker, size: tuple[int, int]) -> None:
    """Title, question, text, guidelines, grades and hints, from every size to this one."""
    text = "The old bridge over the river was inspected in 1998, and the county paid. " * 20
    collection = make_collection({LONG: [Document(f"d{n}", f"Bridge {n}", text) for n in range(3)]})
    collection.guidelines.add("Judge a document **relevant** if any part of it is on the topic. " * 5)
    async with judging(collection, size=size) as pilot:
        begun = looks(pilot)
    for start in SIZES:
        async with judging(collection, size=start) as pilot:
            await pilot.resize_terminal(*size)
            await settle(pilot)
            await press(pilot, "j", "k")
            assert looks(pilot) == begun, start
