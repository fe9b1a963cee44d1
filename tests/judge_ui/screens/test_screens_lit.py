"""What is lit up: groups of words, where you are, and whether it can be read on common terminals."""

from __future__ import annotations

from typing import Any

import pytest
from rich.color import Color, ColorType
from textual.pilot import Pilot

from store.collection import Collection
from store.records import Document, Topic
from tests.judge_ui.conftest import Maker
from tests.judge_ui.pilots import enter, judging, press, rows, strips

pytestmark = pytest.mark.slow

TOPIC = Topic("7", "taste in CF since 1998", "")

PALETTES = {
    "xterm, dark": ("000000", "e5e5e5"),
    "xterm, light": ("ffffff", "000000"),
    "Windows Terminal, dark (Campbell)": ("0c0c0c", "cccccc"),
    "Windows Terminal, light (One Half)": ("fafafa", "383a42"),
    "GNOME, dark": ("1e1e1e", "ffffff"),
    "GNOME, light": ("ffffff", "1e1e1e"),
}
"""Background and text of the default, dark and light schemes that three terminals come with."""


@pytest.fixture
def studies(make_collection: Maker) -> Collection:
    """Make ten documents, all of which have `taste`, and three the year."""
    texts = [
        f"taste of salt in CF{' of 1998' if n < 3 else ''}" if n < 4 else "taste of salt" for n in range(10)
    ]
    return make_collection({TOPIC: [Document(f"d{n}", "", text) for n, text in enumerate(texts)]})


def drawn_so(pilot: Pilot[None], **attributes: bool) -> list[str]:
    """Return the stretches of the document's text that have these attributes."""
    (line,) = [strip for strip in strips(pilot) if "taste of salt" in strip.text]
    return [
        piece.text
        for piece in line
        if piece.style
        and piece.text.strip()
        and all(bool(getattr(piece.style, name)) == value for name, value in attributes.items())
    ]


async def test_each_group_of_words_has_its_style_and_a_key_switches_them(studies: Collection) -> None:
    """The topic's are bold and underlined, those of half of the documents underlined, the judge's italic."""
    async with judging(studies, topic="7") as pilot:
        await press(pilot, "w")
        await enter(pilot, "salt")
        topic, own = {"bold": True, "underline": True}, {"bold": True, "italic": True}
        common = {"bold": False, "underline": True}
        found = []
        for _ in range(5):
            found.append((drawn_so(pilot, **topic), drawn_so(pilot, **common), drawn_so(pilot, **own)))
            await press(pilot, "a")
        every = (["CF", "1998"], ["taste"], ["salt"])
        assert found == [every, (*every[:2], []), ([], [], ["salt"]), ([], [], []), every]
        assert "lit up: words of the topic" in rows(pilot)[-1]
        await press(pilot, "a", "]")
        assert drawn_so(pilot, reverse=True) == ["salt"]


ACCENTS = {*map(Color.parse, ("magenta", "color(5)", "bright_black", "color(8)")), "dim"}
"""Of keys and the current grade, of scrollbars, and of bars."""


async def colours(pilot: Pilot[None]) -> set[Any]:
    """Return every colour that is not the terminal's own for text or background, and dim styles."""
    found: set[Any] = set()
    for strip in strips(pilot):
        for piece in strip:
            if piece.style is not None:
                both = (piece.style.color, piece.style.bgcolor)
                found |= {one for one in both if one is not None and one.type is not ColorType.DEFAULT}
                found |= {"dim"} if piece.style.dim else set()
    return found


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_text_and_signs_have_the_colours_of_the_terminal_alone(
    studies: Collection, size: tuple[int, int]
) -> None:
    """All but the accents, whatever is open: what holds for a palette's two colours holds for the screen."""
    async with judging(studies, topic="7", size=size) as pilot:
        for keys in ("", "1", "v", "c", "e", "/", "l", "?", "ctrl+p", "y"):
            if keys:
                await press(pilot, keys)
            assert (keys, await colours(pilot) - ACCENTS) == (keys, set())
            if keys not in ("", "1"):
                await press(pilot, "escape")


@pytest.mark.parametrize("name", PALETTES)
def test_contrast_is_enough_on_common_terminals(name: str) -> None:
    """WCAG 2: 4.5:1 for text, 3:1 for signs; reversing swaps the two and changes nothing."""

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (0, 2, 4)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted(map(luminance, PALETTES[name]))
    assert (high + 0.05) / (low + 0.05) >= 4.5


async def test_keys_and_the_current_grade_have_one_colour_and_bars_are_dimmed(two_topics: Collection) -> None:
    """What is read is as it is; the docno is no part of it."""
    async with judging(two_topics) as pilot:
        await press(pilot, "2", "p")
        lines = [list(strip) for strip in strips(pilot)]
        pieces = [one for line in lines for one in line if one.style and one.style.color]
        coloured = {one.text: str(one.style.color.name) for one in pieces if one.style}
        coloured = {text: name for text, name in coloured.items() if name not in ("default", "bright_black")}
        assert set(coloured.values()) == {"magenta"}
        assert {"[0]", "[2] relevant", "u", "s", "?"} <= set(coloured)
        [docno] = [one for line in lines for one in line if one.text.strip().startswith("e0  ")]
        assert docno.style is not None
        assert docno.style.dim
