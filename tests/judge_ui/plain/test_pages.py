"""Pages of the line mode: no more than fits, nothing changed, nothing lost."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_ui.plain.talk import Pages

TEXTS = st.text(st.sampled_from("ab \n\t.。検索\u0301e\u0300ー"), max_size=300)


def all_pages(text: str, n_lines: int, width: int = 80) -> list[str]:
    """Return every page of a text."""
    pages = Pages(text, n_lines, width)
    found = []
    while not pages.is_done:
        found.append(pages.next())
    return found


def terminal_lines(text: str, width: int) -> int:
    """Count the lines that a text takes on a terminal that wraps it, one character after another.

    A wide character that does not fit in the last cell goes to the next line whole.
    """
    lines, column = 1, 0
    for character in text.removesuffix("\n"):
        if character == "\n":
            lines, column = lines + 1, 0
            continue
        is_wide = unicodedata.east_asian_width(character) in "WF"
        cells = 0 if unicodedata.combining(character) else 2 if is_wide else 1
        if column + cells > width:
            lines, column = lines + 1, 0
        column += cells
    return lines


@given(TEXTS, st.integers(0, 5), st.integers(2, 12))
def test_pages_together_are_the_text(text: str, n_lines: int, width: int) -> None:
    """Whatever the page length, every character is printed once and in order."""
    pages = all_pages(text, n_lines, width)
    assert "".join(pages) == text
    assert "" not in pages


@given(TEXTS, st.integers(1, 5), st.sampled_from([4, 6, 20]))
def test_a_page_fits_but_for_wide_characters_at_the_edge(text: str, n_lines: int, width: int) -> None:
    """No page is longer than asked for; each wide character that wraps may cost a cell."""
    for page in all_pages(text, n_lines, width):
        if not any(unicodedata.east_asian_width(character) in "WF" for character in page):
            assert terminal_lines(page, width) <= n_lines


@given(TEXTS)
def test_a_page_length_of_0_is_all_at_once(text: str) -> None:
    """By default nothing is held back."""
    assert all_pages(text, 0) == ([text] if text else [])


def test_short_lines_fill_a_page() -> None:
    """A page ends at the end of a line of the text."""
    assert all_pages("1\n2\n3\n4\n5", 2) == ["1\n2\n", "3\n4\n", "5"]


def test_a_line_that_does_not_fit_any_more_begins_the_next_page() -> None:
    """15 cells are two lines of 10: after one line there is room for one."""
    assert all_pages("1\n" + "x" * 15 + "\n3", 2, 10) == ["1\n", "x" * 15 + "\n", "3"]


def test_a_long_line_is_cut_after_a_blank_or_a_full_stop() -> None:
    """One page of 2 lines of 10 cells holds 20 letters, or 10 kanji."""
    assert all_pages("one two three four five six", 2, 10) == ["one two three four ", "five six"]
    assert all_pages("検索の評価には。要る要る要る", 2, 10) == ["検索の評価には。", "要る要る要る"]
    assert all_pages("x" * 45, 2, 10) == ["x" * 20, "x" * 20, "x" * 5]


def test_a_letter_and_its_accents_stay_together() -> None:
    """No page begins with a combining mark."""
    pages = all_pages("e\u0301" * 50, 1, 10)
    assert {page[0] for page in pages} == {"e"}
    assert [len(page) for page in pages] == [20] * 5


def test_a_megabyte_on_one_line_is_given_out_page_by_page() -> None:
    """The first page comes at once, and the pages end."""
    text = "語と word " * 125_000
    pages = Pages(text, 20)
    assert len(pages.next()) < 20 * 80
    assert pages.percent == 0
    assert not pages.is_done


@pytest.mark.slow
def test_a_megabyte_of_combining_marks_ends() -> None:
    """Characters without a width do not make an endless page."""
    pages = all_pages("\u0301" * 1_000_000, 20)
    assert max(map(len, pages)) <= 20 * 80 * 4


def test_percent_is_what_was_given_out() -> None:
    """It begins with 0 and ends with 100, also of nothing."""
    pages = Pages("1\n2\n3\n4\n", 1)
    shares = [pages.percent]
    while not pages.is_done:
        pages.next()
        shares.append(pages.percent)
    assert shares == [0, 25, 50, 75, 100]
    assert Pages("", 5).percent == 100
