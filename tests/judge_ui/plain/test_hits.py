"""Hits of the line mode: every hit once, in brackets, with its line and sentence."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from judge_ui.plain import hit_lines
from judge_ui.text.finding import find_spans
from judge_ui.text.marking import sentence_spans


def found(text: str, wanted: str) -> list[str]:
    """Find words in a text and write the hits."""
    return hit_lines(text, find_spans(text, wanted))


@given(st.text("ab. \n", max_size=60), st.sampled_from(["a", "ab", "aba", "."]))
def test_every_hit_is_printed_once_with_its_line_and_sentence(text: str, wanted: str) -> None:
    """The brackets of all hits are those of the text, and stand where they are said to."""
    spans: list[tuple[int, int]] = []
    for place in range(len(text)):
        if text.startswith(wanted, place) and (not spans or place >= spans[-1][1]):
            spans.append((place, place + len(wanted)))
    lines = hit_lines(text, spans)
    assert sum(line.count(f"[[{wanted}]]") for line in lines) == len(spans)
    for line in lines:
        said = re.fullmatch(r"line (\d+), sentence (\d+): (.*)", line)
        assert said is not None
        bare = said[3].replace("[[", "").replace("]]", "")
        assert bare == text[slice(*sentence_spans(text)[int(said[2]) - 1])]
        assert bare in text.split("\n")[int(said[1]) - 1]


def test_hits_of_one_sentence_are_printed_together() -> None:
    """Sentences without a hit are left out."""
    text = "A bridge is a bridge. Nothing here.\nThe Bridge! Ends."
    assert found(text, "bridge") == [
        "line 1, sentence 1: A [[bridge]] is a [[bridge]].",
        "line 2, sentence 3: The [[Bridge]]!",
    ]


def test_a_hit_across_lines_is_printed_with_both() -> None:
    """Words that a line break parts are found, and printed without it."""
    text = "One. The Bridge\n  Street is old. Two."
    assert found(text, "bridge street") == ["line 1, sentence 2: The [[Bridge   Street]] is old."]


def test_japanese_hits() -> None:
    """Sentences end without a blank; the hit is whole."""
    text = "橋は古い。検索の評価。費用。"
    assert found(text, "検索") == ["line 1, sentence 2: [[検索]]の評価。"]


def test_a_hit_between_two_sentences_is_printed_all_the_same() -> None:
    """Nothing that was found is lost, and none is looked for again and again."""
    assert hit_lines("x.  \u0301y", [(3, 5)]) == ["line 1, sentence 1: x. [[ \u0301]]y"]


def test_a_megabyte_of_hits_takes_seconds() -> None:
    """A hundred thousand hits on one line are gathered in seconds, not in minutes."""
    text = "bridge abc " * 100_000
    spans = find_spans(text, "bridge")
    before = time.process_time()
    lines = hit_lines(text, spans)
    assert time.process_time() - before < 10
    assert sum(line.count("[[") for line in lines) == 100_000
