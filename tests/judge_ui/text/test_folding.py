"""Folded text and the way back, against tables made by hand."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_ui.text.finding import Folding, fold
from store.text import INVISIBLE

FOLDED = {
    "a": "a",
    "Ａ": "a",
    "ß": "ss",
    "ﬁ": "fi",
    "e\u0301": "é",
    "E\u200d\u0301": "é",
    "ｶﾞ": "ガ",
    "㍿": "株式会社",
    "\u1112\u1161\u11ab": "한",
    "İ": "i\u0307",
    "\u00ad": "",
    "\u3000": " ",
    "\n": "\n",
    "検": "検",
}
"""What folds to what, by the Unicode tables; each alone and in any company."""

units = st.lists(st.sampled_from(sorted(FOLDED)), max_size=30)


@given(pieces=units)
def test_folding_is_folding_by_hand(pieces: list[str]) -> None:
    """No cluster is torn, and nothing is lost."""
    assert fold("".join(pieces)) == "".join(FOLDED[piece] for piece in pieces)


@given(pieces=units)
def test_every_folded_character_knows_its_source(pieces: list[str]) -> None:
    """It came out of the unit of the text that it stands for, and of what does not show there."""
    text = "".join(pieces)
    folding = Folding(text)
    start = at = 0
    for piece in pieces:
        end = start + len(piece)
        for _ in FOLDED[piece]:
            first, last = folding.source(at)
            assert start <= first < last
            assert last <= end or set(text[end:last]) <= INVISIBLE
            at += 1
        start = end


@given(text=st.text(max_size=25))
def test_a_folded_text_is_normal_and_folds_to_itself(text: str) -> None:
    """Compatible, folded, without anything that does not show."""
    folded = fold(text)
    assert fold(folded) == folded
    assert unicodedata.is_normalized("NFKC", folded)
    assert not INVISIBLE & set(folded)


@given(text=st.text(max_size=25))
def test_folding_is_unicodes_own(text: str) -> None:
    """NFKC, full case folding, NFKC of what shows."""
    shown = "".join(character for character in text if character not in INVISIBLE)
    twice = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", shown).casefold())
    assert fold(text) == twice


@pytest.mark.slow
@pytest.mark.parametrize("text", ["\u0301\u0323", "e\u0301", "ﬁ", "\u200b", "ｶﾞ", "\u1161"])
def test_a_megabyte_is_folded_in_seconds(text: str) -> None:
    """Marks without end, ligatures, nothing that shows: linear, and the way back is short."""
    started = time.perf_counter()
    folding = Folding(text * 500_000)
    folding.source_spans([(n, n + 1) for n in range(0, len(folding.text), 10)])
    # Quadratic time would be hours; the bound leaves room for a busy machine.
    assert time.perf_counter() - started < 60
