"""Words typed by a judge, found in a document: against a slow and obvious search."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_ui.text.finding import Span, find_spans

UNSPACED = "検索の"

texts = st.text(st.sampled_from(f"ab{UNSPACED}.* \n"), max_size=40)


def slow_find(text: str, wanted: str) -> list[Span]:
    """Try every place; a blank is blanks with one line break at most, in kanji also none."""
    words = wanted.split()
    found = []
    start = 0
    while words and start < len(text):
        end = _slow_match(text, start, words)
        if end is None:
            start += 1
        else:
            found.append((start, end))
            start = end
    return found


def _slow_match(text: str, start: int, words: list[str]) -> int | None:
    """Return where the words end that begin at a place."""
    for number, word in enumerate(words):
        if number:
            end = _slow_gap(text, start)
            if end == start:
                return None
            start = end
        for place, character in enumerate(word):
            if place and {word[place - 1], character} & set(UNSPACED):
                end = _slow_gap(text, start)
                start = end if "\n" in text[start:end] else start
            if text[start : start + 1] != character:
                return None
            start += 1
    return start


def _slow_gap(text: str, start: int) -> int:
    """Return where the blanks end that begin at a place, and hold at most one line break."""
    end = start
    n_breaks = 0
    while end < len(text) and text[end] in " \n":
        n_breaks += text[end] == "\n"
        if n_breaks > 1:
            break
        end += 1
    return end


@given(text=texts, wanted=st.text(st.sampled_from("ab検索.* "), max_size=4))
def test_what_is_found_is_what_a_slow_search_finds(text: str, wanted: str) -> None:
    """Every place and no other, the leftmost first."""
    assert find_spans(text, wanted) == slow_find(text, wanted)


@given(text=texts, first=st.integers(0, 40), length=st.integers(1, 8))
def test_a_part_of_the_text_is_found(text: str, first: int, length: int) -> None:
    """What is copied out of a document is in it, typed with line breaks or with blanks for them."""
    part = text[first : first + length].strip()
    if not part or re.search("\n *\n", part):
        return
    for wanted in (part, part.replace("\n", " ")):
        found = ["".join(text[start:end].split()) for start, end in find_spans(text, wanted)]
        assert set(found) == {"".join(part.split())}


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("A BRIDGE over", "bridge", ["BRIDGE"]),
        ("ＧＰＳ gps Gps", "ｇｐｓ", ["ＧＰＳ", "gps", "Gps"]),
        ("river\n   crossing, River crossing", "river crossing", None),
        ("全文検\n索と、検索", "検索", ["検\n索", "検索"]),
        ("ﾃﾞｰﾀ データ", "データ", ["ﾃﾞｰﾀ", "データ"]),
        ("so\u00adft so\u200bft", "soft", ["so\u00adft", "so\u200bft"]),
        ("STRASSE", "straße", ["STRASSE"]),
        ("e\u0301cole", "École", ["e\u0301cole"]),
        ("a.*b axxb [a]", "a.*b", ["a.*b"]),
        ("(a+)+$ aaaa", "(a+)+$", ["(a+)+$"]),
        ("aaaa", "aa", ["aa", "aa"]),
        ("scarf", " car ", ["car"]),
        ("a\n\nb", "a b", []),
        ("検索\n\n評価", "検索評価", []),
        ("nothing", " \n\t", []),
        ("㍿", "株", ["㍿"]),
    ],
)
def test_finding_follows_the_documented_rule(text: str, wanted: str, found: list[str] | None) -> None:
    """Case, width and line breaks aside, plain text, anywhere; what is marked is in the source."""
    expected = ["river\n   crossing", "River crossing"] if found is None else found
    assert [text[start:end] for start, end in find_spans(text, wanted)] == expected


@given(text=st.text(), wanted=st.text(max_size=4))
def test_spans_of_any_text_are_ascending_and_inside_it(text: str, wanted: str) -> None:
    """Lone surrogates, marks, jamo: spans ascend, do not overlap, and fit."""
    edges = [edge for span in find_spans(text, wanted) for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(text) for edge in edges)


@given(text=st.text(min_size=1, max_size=20))
def test_a_whole_text_is_found_in_itself(text: str) -> None:
    """Any characters between two kanji, as long as no two lines are broken in a row."""
    source = f"検{' '.join(text.split())}索"
    assert find_spans(source, source) == [(0, len(source))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("bridge と橋梁 " * 100_000, "橋梁 bridge"),
        ("a" * 1_000_000, "a" * 500 + "b"),
        (" " * 1_000_000, "a b"),
        ("a " * 500_000, "a " * 9 + "b"),
        ("検\n" * 500_000, "検" * 9 + "索"),
        ("検" + " " * 1_000_000, "検索"),
        ("\n" * 1_000_000, "a b"),
        ("\u0301\u200b" * 500_000, "\u0301"),
        ("e\u0301" * 500_000, "éa"),
    ],
    ids=["mixed", "one word", "blanks", "letters", "kanji", "gap", "lines", "marks", "accents"],
)
def test_a_megabyte_is_searched_in_seconds(text: str, wanted: str) -> None:
    """No text and no typed words take quadratic time or an endless match."""
    started = time.perf_counter()
    find_spans(text, wanted)
    # Quadratic time would be hours; the bound leaves room for a busy machine.
    assert time.perf_counter() - started < 60
