"""Colours that can be read."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from pooler.pages.charts import COLOURS, N_SERIES, N_SHADES, stylesheet

LIGHT, DARK = ({name: pair[scheme] for name, pair in COLOURS.items()} for scheme in (0, 1))


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2, from 1 to 21."""
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_of_known_colours_is_that_of_the_standard():
    """Black on white is 21; #767676 on white is the well-known least grey for text, 4.54."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
class TestContrast:
    """Contrast of what meets, in each scheme."""

    @pytest.mark.parametrize("text", ["text", "soft", "link"])
    @pytest.mark.parametrize("behind", ["page", "panel", "band"])
    def test_text_can_be_read_on_everything_it_stands_on(self, colours, text, behind):
        """Text needs 4.5."""
        assert contrast(colours[text], colours[behind]) >= 4.5

    @pytest.mark.parametrize("series", range(1, N_SERIES + 1))
    @pytest.mark.parametrize("behind", ["page", "band"])
    def test_marks_stand_out(self, colours, series, behind):
        """Marks need 3."""
        assert contrast(colours[f"series-{series}"], colours[behind]) >= 3

    @pytest.mark.parametrize("behind", ["page", "band"])
    def test_axes_and_frames_stand_out(self, colours, behind):
        """So do axes, and the frame of a gap."""
        assert contrast(colours["axis"], colours[behind]) >= 3

    @pytest.mark.parametrize("shade", range(1, N_SHADES + 1))
    def test_cells_can_be_read_at_every_shade(self, colours, shade):
        """The text of a cell needs 4.5 with its own shade."""
        assert contrast(colours[f"on-shade-{shade}"], colours[f"shade-{shade}"]) >= 4.5

    def test_shades_go_one_way(self, colours):
        """More is ever further from the page, so that shades have an order without colour."""
        away = [contrast(colours[f"shade-{n}"], colours["page"]) for n in range(1, N_SHADES + 1)]
        assert away == sorted(away)
        assert all(after > before + 0.1 for before, after in pairwise(away))

    def test_colours_differ(self, colours):
        """No two series share a colour."""
        series = [colours[f"series-{number}"] for number in range(1, N_SERIES + 1)]
        assert all(one != other for one, other in combinations(series, 2))


def test_stylesheet_defines_every_colour_in_both_schemes():
    """A property of one scheme alone would be invisible in the other."""
    light, dark = stylesheet().split("prefers-color-scheme:dark")
    assert all(f"--{name}:{colour};" in light for name, colour in LIGHT.items())
    assert all(f"--{name}:{colour};" in dark for name, colour in DARK.items())


def test_dark_colours_are_not_printed():
    """Paper is white."""
    assert "@media screen and (prefers-color-scheme:dark)" in stylesheet()
