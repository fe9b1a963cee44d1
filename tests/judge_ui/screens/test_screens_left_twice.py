"""Keys that reach a screen when it is no longer the one that is seen."""

from __future__ import annotations

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.screen import Screen

from store.collection import Collection
from tests.judge_ui.pilots import judging, press, settle, typed

pytestmark = pytest.mark.slow


async def type_at_once(pilot: Pilot[None], opened_by: str, *keys: str) -> tuple[Screen[Any], Screen[Any]]:
    """Open a screen and type at it, whatever each key does to it; return it and what is beneath."""
    await press(pilot, "s", "u", opened_by)
    opened, beneath = pilot.app.screen_stack[:0:-1][:2]
    for key in keys:
        (opened.focused or opened).post_message(typed(key))
    await settle(pilot)
    return opened, beneath


@pytest.mark.parametrize(
    ("opened_by", "leave"),
    [("t", "t"), ("h", "escape"), ("?", "?"), ("y", "enter"), ("e", "enter"), ("c", "1")],
)
async def test_a_screen_that_is_left_twice_takes_no_other_one_away(
    two_topics: Collection, opened_by: str, leave: str
) -> None:
    """Two keys come before the first has had its effect: only what they were typed at goes."""
    async with judging(two_topics) as pilot:
        _, beneath = await type_at_once(pilot, opened_by, leave, leave)
        assert pilot.app.screen is beneath


@pytest.mark.parametrize(("opened_by", "leave"), [("h", "h"), ("t", "escape"), ("y", "escape")])
async def test_a_key_for_the_screen_beneath_takes_none_away(
    two_topics: Collection, opened_by: str, leave: str
) -> None:
    """Help is asked for and the page left in one go: help is there, and both can be left after it."""
    async with judging(two_topics) as pilot:
        page, beneath = await type_at_once(pilot, opened_by, "?", leave)
        assert pilot.app.screen_stack[-2] is page
        await press(pilot, "escape")
        assert pilot.app.screen is page
        await press(pilot, "escape")
        assert pilot.app.screen is beneath
