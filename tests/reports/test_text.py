"""Text that fits and does no harm."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.pages.charts import SIZE, escaped, text_width, wrapped_label
from tests.reports.boxes import advance, squeezed

ANY = st.text(max_size=60) | st.text(alphabet="<>&\"'ab漬 -_.]\x00\x1b\ud800\uffff", max_size=60)


@given(ANY)
def test_any_text_can_stand_in_an_element_and_an_attribute(text):
    """It comes back as it is shown."""
    parsed = ET.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert squeezed(parsed.text or "") == squeezed(text) == squeezed(parsed.attrib["b"])


@given(ANY, st.floats(5, 300))
def test_lines_fit_and_lose_nothing_but_blanks(text, room):
    """A single character is the least that a line can hold."""
    lines = wrapped_label(text, room)
    assert squeezed("".join(lines)) == squeezed(text)
    assert all(text_width(line) <= room or len(line) == 1 for line in lines)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.sampled_from("漬物あア")))
def test_width_is_never_less_than_in_a_wide_font(text):
    """The widths of DejaVu Sans, and 1 for characters that are as wide as they are high."""
    assert text_width(text) >= SIZE * advance(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.4200 [0.3927, 0.4473]", ["0.4200 [0.3927,", "0.4473]"]),
        ("12,733 of 22,669", ["12,733 of", "22,669"]),
        ("bm25-title-only-run", ["bm25-title-", "only-run"]),
        ("a -0.0488 change", ["a -0.0488", "change"]),
    ],
)
def test_numbers_stay_whole(text, expected):
    """A line ends at a blank or a joint, not in a number."""
    assert wrapped_label(text, 122) == expected
