"""Markdown as text: every word is there, its structure is in blanks and marks, nothing acts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_ui.widgets.laid_out import markdown_text
from store.wrapping import cell_width


def bold(text: str) -> list[str]:
    """Return what is bold."""
    marked_text = markdown_text(text)
    return [marked_text.text[start:end] for start, end in marked_text.strong]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("# A\ntext\nmore\n\n## B", "A\n\ntext more\n\nB"),
        ("para\n- a\n- b\n\nafter", "para\n\n- a\n- b\n\nafter"),
        ("- a\n  - b\n  - c\n- d", "- a\n  - b\n  - c\n- d"),
        ("- a\n\n  more\n\n- b", "- a\n\n  more\n\n- b"),
        ("3. x\n4. y", "3. x\n4. y"),
        ("10) x", "10) x"),
        ("> q\n> r", "> q r"),
        ("> - a\n> - b", "> - a\n> - b"),
        ("```py\na  b\n\n c\n```", "    a  b\n    \n     c"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a | b\n1 | 2"),
        ("a\n\n---\n\nb", "a\n\n- - -\n\nb"),
        ("one  \ntwo", "one\ntwo"),
        ("[words](http://u) <http://v>", "words (http://u) http://v"),
        ("![a cat](cat.png)", "a cat"),
        ("*em* `code` <i>html</i>", "*em* code <i>html</i>"),
        ("適合\n文書 and\n文書", "適合文書 and 文書"),
        ("", ""),
    ],
)
def test_structure_becomes_blanks_and_marks(source: str, text: str) -> None:
    """The expected text is written out by hand from what CommonMark says of the source."""
    assert markdown_text(source).text == text


def test_headings_strong_words_and_table_heads_are_bold() -> None:
    """And nothing else is."""
    assert bold("# A **b** c\n\nd **e** *f*") == ["A ", "b", " c", "e"]
    assert bold("| h | i |\n|---|---|\n| 1 | 2 |") == ["h", "i"]


def test_items_stand_below_each_other() -> None:
    """A long item is broken at the width, its lines behind the indent of its first word."""
    lines = markdown_text("- to be or not\n  1. to be that is", 10).text.split("\n")
    assert lines == ["- to be or", "  not", "  1. to be", "     that", "     is"]


@pytest.mark.parametrize("reference", ["&#27;", "&#x9b;", "&#x202e;", "&#0;", "&#x2028;"])
def test_character_references_cannot_steer_the_terminal(reference: str) -> None:
    """What the source spells out is decoded after the desk has sanitised it, so again here."""
    for source in (f"a{reference}b", f"# {reference}", f"[x](u{reference})", f"`{reference}`"):
        text = markdown_text(source).text
        assert not [one for one in text if unicodedata.category(one) in ("Cc", "Cf") and one != "\n"]
        assert "\u202e" not in text


@given(st.text(alphabet=st.sampled_from("ab 検-*_#>`[]()|\\!&;1.\n\t"), max_size=60))
def test_any_text_is_written_within_the_width(source: str) -> None:
    """Whatever the source, spans are in order and inside the text, and it fits."""
    marked_text = markdown_text(source, 20)
    edges = [edge for span in marked_text.strong for edge in span]
    assert edges == sorted(edges)
    assert not edges or edges[-1] <= len(marked_text.text)
    for line in marked_text.text.split("\n"):
        indent = len(line) - len(line.lstrip(" >-*0123456789.)"))
        assert cell_width(line) <= max(20, indent + 4)
