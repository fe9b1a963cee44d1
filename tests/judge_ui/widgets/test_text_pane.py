"""The pane of a long text: all of it is drawn, at every size, however it is got to."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge_ui.widgets.laid_out import Look, MarkedText, document_text, lay_out
from judge_ui.widgets.text_pane import look_style
from store.records import ShownDocument
from store.wrapping import wrap
from tests.judge_ui.widgets.hosting import showing
from tests.strategies import examples

SIZES = [(120, 40), (80, 24), (60, 16), (40, 12)]
JAPANESE = "判定対象の文書は、①テストコレクション（test collection）から採る。ﾊﾟｲﾌﾟ「」ー々"
HIDDEN = "\u200b\u200d\u00ad\ufe0f"


def cells(text: str) -> int:
    """Count cells by Unicode's own tables: East Asian width, and marks that have none."""
    marks = ("Mn", "Me")
    return sum(
        0 if unicodedata.category(one) in marks else 1 + (unicodedata.east_asian_width(one) in "WF")
        for one in text
    )


@settings(max_examples=examples(10))
@given(
    pieces=st.lists(st.sampled_from([JAPANESE, "word ", "\n", "e\u0301", "\t", HIDDEN, "検"])),
    times=st.integers(1, 30),
    size=st.sampled_from(SIZES),
)
async def test_everything_is_drawn_and_no_line_is_too_wide(
    pieces: list[str], times: int, size: tuple[int, int]
) -> None:
    """What is painted, put together again, is the text but for blanks and what shows nothing."""
    text = "".join(pieces) * times
    async with showing(MarkedText(text), size) as shown:
        pane = shown.pane
        painted: list[str] = []
        n_lines = pane.virtual_size.height
        assert n_lines == len(wrap(text, pane.text_width))
        while len(painted) < n_lines:
            assert all(cells(line) <= pane.text_width for line in shown.lines())
            strips = [pane.render_line(y) for y in range(pane.size.height)]
            assert {strip.cell_length for strip in strips} == {pane.size.width - 1}
            painted += shown.lines()[len(painted) - pane.scroll_offset.y :]
            await shown.press("space")
    expected = "".join(one for one in text if one not in HIDDEN)
    assert "".join("".join(painted).split()) == "".join(expected.split())


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_a_long_text_is_drawn_from_its_first_to_its_last_character(size: tuple[int, int]) -> None:
    """Page by page."""
    text = "".join(f"{n} bridge と橋梁 " for n in range(1_500))
    async with showing(MarkedText(text), size) as shown:
        painted: list[str] = []
        while "1499 bridge" not in "".join(painted[-3:]):
            painted += shown.lines()[len(painted) - shown.pane.scroll_offset.y :]
            await shown.press("space")
        assert "".join("".join(painted).split()) == "".join(text.split())


@pytest.mark.parametrize("is_other_width", [False, True])
async def test_a_text_laid_out_ahead_is_painted_as_any_other(*, is_other_width: bool) -> None:
    """With what stands out in it; not one line of it is left from when the pane was narrower."""
    page = ShownDocument("d", "A title", f"The red bridge. {JAPANESE}\n" * 9)
    async with showing(MarkedText("before"), (120, 40)) as shown:
        pane = shown.pane
        laid = lay_out(document_text(page, ["red bridge"]), pane.text_width)
        if is_other_width:
            pane.styles.width = 110
            await shown.pilot.pause()
        drawn = []
        for ready in (laid, None):
            pane.show(laid.marked_text, ready)
            await shown.pilot.pause()
            drawn.append([pane.render_line(y) for y in range(pane.size.height)])
        assert drawn[0] == drawn[1]
        assert {strip.cell_length for strip in drawn[0]} == {pane.size.width - 1}


async def test_the_end_of_a_long_text_is_a_key_away() -> None:
    """Also at once, before anything below the first screen has been laid out."""
    text = "bridge と橋梁 " * 90_000 + "THE-END"
    assert len(text.encode()) > 1_000_000
    async with showing(MarkedText(text)) as shown:
        assert shown.pane.percent == 1
        await shown.press("G")
        assert shown.lines()[-1].endswith("THE-END")
        assert shown.pane.percent == 100
        assert shown.pane.virtual_size.height == len(wrap(text, shown.pane.text_width))
        await shown.press("g")
        assert shown.pane.percent == 1


@pytest.mark.parametrize("key", ["G", "end"])
@pytest.mark.parametrize(
    "text",
    ["a\n" * 10_000 + "b" * 100_000 + "\nTHE-END", "b" * 100_000 + "\na" * 10_000 + "\nTHE-END"],
    ids=["fewer", "more"],
)
async def test_the_end_is_the_end_whatever_the_beginning_promised(text: str, key: str) -> None:
    """Where the first lines let expect more lines than there are, or fewer."""
    async with showing(MarkedText(text)) as shown:
        await shown.press(key)
        assert shown.lines()[-1] == "THE-END"
        assert shown.lines()[-1] == "THE-END"


async def test_scrolling_past_an_estimate_ends_at_the_end() -> None:
    """A beginning of short lines promises more lines than there are."""
    text = "a\n" * 10_000 + "b" * 100_000 + "\nTHE-END"
    async with showing(MarkedText(text)) as shown:
        pane = shown.pane
        pane.scroll_to(y=pane.max_scroll_y, animate=False, force=True)
        last = len(wrap(text, pane.text_width)) - pane.size.height
        await shown.until(lambda: pane.max_scroll_y == last >= pane.scroll_offset.y)
        assert shown.lines()[-1] == "THE-END"


async def test_what_the_scrollbar_is_dragged_to_is_there_at_once() -> None:
    """Also where nothing has been laid out yet."""
    text = "\n".join(f"row {n}" for n in range(200_000))
    async with showing(MarkedText("short")) as shown:
        # Nothing is laid out behind the first screens as long as nothing is waited for.
        shown.pane.show(MarkedText(text))
        shown.pane.scroll_to(y=150_000, animate=False, force=True)
        assert shown.lines() == [f"row {150_000 + n}" for n in range(10)]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["G", "space"])
async def test_resizing_keeps_the_place(key: str) -> None:
    """What was on the first line is on it after the lines were broken anew."""
    text = "\n".join(f"line {n} {'検索' * 30}" for n in range(400))
    async with showing(MarkedText(text), (80, 24)) as shown:
        await shown.press(key, *("k" * 20))
        first = shown.lines()[0]
        for size in ((40, 12), (120, 40), (60, 16)):
            await shown.resize(*size)
            assert shown.lines()[0].startswith(first[:5]) or first[:20] in shown.lines()[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "\u0301\u0323" * 500_000,
        "a" + "\n" * 1_000_000,
        "a" + " " * 1_000_000,
        "a" * 1_000_000,
        "é" * 1_000_000,
    ],
    ids=["marks", "lines", "blanks", "word", "letters"],
)
async def test_a_megabyte_of_anything_is_shown_at_once(text: str) -> None:
    """No text takes quadratic time."""
    async with showing(MarkedText("first")) as shown:
        marked_text = document_text(ShownDocument("d", "", text), ["bridge", "検索", "a b"])
        shown.pane.show(marked_text)
        shown.lines()
        await shown.press("G", "k", "g")
        assert {strip.cell_length for strip in map(shown.pane.render_line, range(9))} == {39}


def test_every_look_can_be_told_from_the_others_without_colour() -> None:
    """No two ways in which a stretch can be drawn are the same; none has a colour."""
    passage = (Look.PLAIN, Look.PASSAGE)
    looks = [base | more for base in (Look.PLAIN, Look.FOUND, Look.CURRENT) for more in passage]
    styles = [look_style(look) for look in [*looks, Look.STRONG, Look.SELECTED, Look.OWN, Look.COMMON]]
    attributes = [(one.bold, one.italic, one.underline, one.reverse) for one in styles]
    assert len(set(attributes)) == len(attributes)
    # What is found takes the style of the topic's words, which stand back for it.
    assert look_style(Look.HIT) == look_style(Look.FOUND)
    # Reversed is where the judge is, and nothing else.
    where = (Look.CURRENT, Look.SELECTED, Look.HERE)
    assert [look for look in Look if look_style(look).reverse] == [look for look in Look if look in where]
    assert all(one.color is None and one.bgcolor is None for one in styles)
