"""Hits of the line mode: every hit once, in brackets, with its line and sentence."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from judge_ui.plain import Hit, hits, marked_text
from judge_ui.text.finding import find_spans
from judge_ui.text.marking import sentence_spans


def found(text: str, wanted: str) -> list[Hit]:
    """Find words in a text and gather the hits."""
    return hits(text, sentence_spans(text), find_spans(text, wanted))


@given(st.text("ab. \n", max_size=60), st.sampled_from(["a", "ab", "aba", "."]))
def test_every_hit_is_printed_once_with_its_line_and_sentence(text: str, wanted: str) -> None:
    """The brackets of all hits are those of the text, and stand where they are said to."""
    spans: list[tuple[int, int]] = []
    for place in range(len(text)):
        if text.startswith(wanted, place) and (not spans or place >= spans[-1][1]):
            spans.append((place, place + len(wanted)))
    sentences = sentence_spans(text)
    gathered = hits(text, sentences, spans)
    assert sum(hit.text.count(f"[[{wanted}]]") for hit in gathered) == len(spans)
    for hit in gathered:
        bare = hit.text.replace("[[", "").replace("]]", "")
        assert bare == text[slice(*sentences[hit.sentence - 1])]
        assert bare in text.split("\n")[hit.line - 1]


def test_hits_of_one_sentence_are_printed_together() -> None:
    """Sentences without a hit are left out."""
    text = "A bridge is a bridge. Nothing here.\nThe Bridge! Ends."
    assert found(text, "bridge") == [Hit(1, 1, "A [[bridge]] is a [[bridge]]."), Hit(2, 3, "The [[Bridge]]!")]


def test_a_hit_across_lines_is_printed_with_both() -> None:
    """Words that a line break parts are found, and printed without it."""
    assert found("One. The Bridge\n  Street is old. Two.", "bridge street") == [
        Hit(1, 2, "The [[Bridge   Street]] is old.")
    ]


def test_japanese_hits() -> None:
    """Sentences end without a blank; the hit is whole."""
    text = "橋は古い。検索の評価。費用。"
    assert found(text, "検索") == [Hit(1, 2, "[[検索]]の評価。")]


def test_a_hit_that_is_in_no_sentence_is_printed_all_the_same() -> None:
    """Whatever a sentence is, nothing that was found is lost."""
    assert hits("x y", [], [(0, 1)]) == [Hit(1, 0, "[[x]]")]
    assert hits("x y", [(2, 3)], [(0, 3)]) == [Hit(1, 0, "[[x y]]")]


def test_a_megabyte_of_hits_takes_seconds() -> None:
    """A hundred thousand hits on one line are gathered in seconds, not in minutes."""
    text = "bridge abc " * 100_000
    spans, sentences = find_spans(text, "bridge"), sentence_spans(text)
    before = time.process_time()
    gathered = hits(text, sentences, spans)
    assert time.process_time() - before < 10
    assert sum(hit.text.count("[[") for hit in gathered) == 100_000


def test_a_part_of_a_text_holds_only_its_hits() -> None:
    """Hits before and after it are left out."""
    assert marked_text("ab ab ab", [(0, 2), (3, 5), (6, 8)], 2, 6) == " [[ab]] "
