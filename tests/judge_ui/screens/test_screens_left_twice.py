"""Keys that reach a screen when it is no longer the one that is seen."""

from __future__ import annotations

import pytest
from textual.screen import Screen

from store.collection import Collection
from tests.judge_ui.pilots import judging, press, settle, typed


def type_at(screen: Screen[object], *keys: str) -> None:
    """Type at a screen, whatever each key does to it."""
    for key in keys:
        (screen.focused or screen).post_message(typed(key))


@pytest.mark.parametrize(
    ("opened_by", "leave"),
    [("t", "t"), ("h", "escape"), ("?", "?"), ("y", "enter"), ("e", "enter"), ("c", "1")],
)
async def test_a_screen_that_is_left_twice_takes_no_other_one_away(
    two_topics: Collection, opened_by: str, leave: str
) -> None:
    """Two keys come before the first has had its effect: only what they were typed at goes."""
    async with judging(two_topics) as pilot:
        await press(pilot, "s", "u", opened_by)
        left, beneath = pilot.app.screen_stack[:0:-1][:2]
        type_at(left, leave, leave)
        await settle(pilot)
        assert pilot.app.screen is beneath


@pytest.mark.parametrize(("opened_by", "leave"), [("h", "h"), ("t", "escape"), ("y", "escape")])
async def test_a_key_for_the_screen_beneath_takes_none_away(
    two_topics: Collection, opened_by: str, leave: str
) -> None:
    """Help is asked for and the page left in one go: help is there, and both can be left after it."""
    async with judging(two_topics) as pilot:
        await press(pilot, "s", "u", opened_by)
        page, beneath = pilot.app.screen_stack[:0:-1][:2]
        type_at(page, "?", leave)
        await settle(pilot)
        assert pilot.app.screen_stack[-2] is page
        await press(pilot, "escape")
        assert pilot.app.screen is page
        await press(pilot, "escape")
        assert pilot.app.screen is beneath
