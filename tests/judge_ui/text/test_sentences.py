"""Sentences of English and Japanese: nothing left out, nothing twice, nothing too long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_ui.text.marking import LONGEST, sentence_spans

INVISIBLE = "\u200b\u200d\u00ad\ufeff"

texts = st.text(st.sampled_from(f"aB1 .!?,\n\t。！、」「検索のx…．\u3000\u0301{INVISIBLE}"), max_size=80)
long_texts = st.builds(lambda text, times: text * times, st.text(max_size=20), st.integers(1, 100))


def sentences(text: str) -> list[str]:
    """Return the sentences themselves."""
    return [text[start:end] for start, end in sentence_spans(text)]


@given(text=st.one_of(texts, long_texts, st.text()))
def test_every_character_that_shows_is_in_one_sentence(text: str) -> None:
    """Spans ascend without overlap; what lies between them is blank or does not show."""
    spans = sentence_spans(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    covered = {place for start, end in spans for place in range(start, end)}
    between = [text[place] for place in range(len(text)) if place not in covered]
    assert all(one.isspace() or one in INVISIBLE or _is_ignorable(one) for one in between)


def _is_ignorable(character: str) -> bool:
    """Say whether a character shows nothing, for those that `st.text` comes up with."""
    code = ord(character)
    ranges = ((0x34F, 0x34F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F))
    others = ((0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0))
    rare = ((0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF))
    zero = ((0x200B, 0x200D),)
    return any(first <= code <= last for first, last in ranges + others + rare + zero)


@given(text=st.one_of(texts, long_texts))
def test_a_sentence_is_on_one_line_and_not_longer_than_a_judge_can_take_in(text: str) -> None:
    """No line break inside, no blank at either end, 400 characters at most."""
    for sentence in sentences(text):
        assert "\n" not in sentence
        assert sentence == sentence.strip()
        assert 0 < len(sentence) <= LONGEST == 400


@given(parts=st.lists(st.sampled_from(["It rained.", "Why?", "Go!", "Then 3.5 fell."]), max_size=9))
def test_english_sentences_come_back_as_they_were_put_together(parts: list[str]) -> None:
    """Splitting undoes joining with a blank."""
    assert sentences(" ".join(parts)) == parts


@given(
    parts=st.lists(st.sampled_from(["雨だ。", "なぜ？", "行け！", "３．５だ。", "「はい。」"]), max_size=9)
)
def test_japanese_sentences_come_back_as_they_were_put_together(parts: list[str]) -> None:
    """Splitting undoes joining with nothing."""
    assert sentences("".join(parts)) == parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Ono met J. R. Smith. They spoke.", ["Dr. Ono met J. R. Smith.", "They spoke."]),
        ("Smith et al. Found it vs. That.", ["Smith et al. Found it vs. That."]),
        ("See Fig. 3 and No. 7. End.", ["See Fig. 3 and No. 7.", "End."]),
        ("He said no. Then he left.", ["He said no.", "Then he left."]),
        ("Pi is 3.14. It is at www.example.org", ["Pi is 3.14.", "It is at www.example.org"]),
        ("The U.S. Army, e.g. Bob, came.", ["The U.S. Army, e.g. Bob, came."]),
        ('"Stop!" he said. "Why?" She left.', ['"Stop!" he said.', '"Why?"', "She left."]),
        ("(It ended.) Next.", ["(It ended.)", "Next."]),
        ("1. Introduction\n2.3 Method", ["1. Introduction", "2.3 Method"]),
        ("In 1995. Next.", ["In 1995.", "Next."]),
        ("Wait... What?! Yes.", ["Wait...", "What?!", "Yes."]),
        ("one\n\n  two \n", ["one", "two"]),
        ("彼は「行く。」と言った。次へ", ["彼は「行く。」と言った。", "次へ"]),
        ("「はい。」なぜ？彼も「行く。」", ["「はい。」", "なぜ？", "彼も「行く。」"]),
        ("すごい！と言う。すごい！これだ。", ["すごい！と言う。", "すごい！", "これだ。"]),
        ("結果である．次の．", ["結果である．", "次の．"]),
        ("結果である.次の.", ["結果である.", "次の."]),
        ("１．はじめに", ["１．はじめに"]),
        ("円周率は３．１４だ。", ["円周率は３．１４だ。"]),
        ("Yahoo!ニュースを見た。", ["Yahoo!ニュースを見た。"]),
        ("えっと…次だ。", ["えっと…次だ。"]),
        ("ああ。。。そう。", ["ああ。。。", "そう。"]),
        ("GPSを使う。It works. はい", ["GPSを使う。", "It works.", "はい"]),
        ("", []),
        (" \n\t\u3000\n", []),
        ("\u200b\ufeff\n\u00ad", []),
        ("\u200bHidden.\u200b", ["Hidden."]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    """Abbreviations, initials, quotations, numbers, headings; both languages, also mixed."""
    assert sentences(text) == expected


def test_a_long_sentence_is_cut_at_its_last_clause_mark() -> None:
    """Within 400 characters; at a blank where there is no mark, and anywhere without one."""
    clause = f"{'x' * 149}, "
    assert [len(one) for one in sentences(clause * 4)] == [301, 301]
    assert [len(one) for one in sentences("検" * 150 + "、" + "索" * 300)] == [151, 300]
    assert [len(one) for one in sentences(f"{'x' * 299} {'y' * 299}")] == [299, 299]
    assert [len(one) for one in sentences("x" * 1000)] == [400, 400, 200]


def test_a_cut_leaves_marks_with_their_letter() -> None:
    """No unit begins with a combining mark when there is a letter to carry it."""
    assert [len(one) for one in sentences("e\u0301" * 300)] == [400, 200]
    assert [len(one) for one in sentences("x" + "e\u0301" * 300)] == [399, 202]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "This is it. 検索の評価。" * 70_000,
        ". " * 500_000,
        ".a" * 500_000,
        "Dr. " * 250_000,
        "。" * 1_000_000,
        "\u0301" * 1_000_000,
        "\u200b" * 1_000_000,
        "\n" * 1_000_000,
        "a" + " " * 1_000_000,
        "x" * 1_000_000,
    ],
    ids=["mixed", "points", "dots", "titles", "stops", "marks", "hidden", "lines", "gap", "word"],
)
def test_a_megabyte_is_divided_in_seconds(text: str) -> None:
    """Linear, whatever the text is made of."""
    started = time.perf_counter()
    sentence_spans(text)
    # Quadratic time would be hours; the bound leaves room for a busy machine.
    assert time.perf_counter() - started < 60
