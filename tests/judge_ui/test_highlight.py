"""Terms of a topic and where they stand, against a slow and obvious search."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_ui.highlight import Span, fold, query_terms, term_spans
from store.records import Topic

FOLDED = {
    "a": "a",
    "A": "a",
    "Ａ": "a",
    "b": "b",
    "s": "s",
    "ß": "ss",
    "ﬁ": "fi",
    "é": "é",
    "e\u0301": "é",
    "7": "7",
    "７": "7",
    " ": " ",
    "-": "-",
    ".": ".",
    "*": "*",
    "\n": "\n",
    "検": "検",
    "索": "索",
    "の": "の",
    "ガ": "ガ",
    "ｶﾞ": "ガ",
    "カ\u3099": "ガ",
    "ス": "ス",
    "ｽ": "ス",
    "㍿": "株式会社",
    "\U0001f600": "\U0001f600",
}
"""What folds to what, by the Unicode tables of compatibility and case."""

LETTERS = frozenset("abfisé7")
"""The folded characters of FOLDED that make words between blanks."""

units = st.lists(st.sampled_from(sorted(FOLDED)), max_size=30)
terms_of_units = st.lists(
    st.lists(st.sampled_from(sorted(FOLDED)), min_size=1, max_size=5).map("".join), max_size=5
)


def slow_spans(pieces: list[str], terms: list[str]) -> list[Span]:
    """Search the folded text place by place, term by term, and go back to the source."""
    folded: list[str] = []
    sources: list[Span] = []
    place = 0
    for piece in pieces:
        for character in FOLDED[piece]:
            folded.append(character)
            sources.append((place, place + len(piece)))
        place += len(piece)
    text = "".join(folded)
    wanted = sorted({"".join(folds(term)) for term in terms}, key=len, reverse=True)
    literals = [term for term in wanted if not set(term) <= LETTERS]
    words = [term for term in wanted if set(term) <= LETTERS]
    found: list[Span] = []
    taken = [False] * len(text)
    start = 0
    while start < len(text):
        match = next((term for term in literals if text.startswith(term, start)), None)
        if match is None:
            start += 1
            continue
        found.append((start, start + len(match)))
        for place in range(start, start + len(match)):
            taken[place] = True
        start += len(match)
    start = 0
    while start < len(text):
        end = start
        while end < len(text) and text[end] in LETTERS:
            end += 1
        word = text[start:end]
        hit = any(word == term or (len(term) >= 4 and word.startswith(term)) for term in words)
        if word and hit and not any(taken[start:end]):
            found.append((start, end))
        start = max(end, start + 1)
    spans: list[Span] = []
    for first, last in sorted(found):
        source = (sources[first][0], sources[last - 1][1])
        if spans:
            source = (max(source[0], spans[-1][1]), source[1])
        if source[0] < source[1]:
            spans.append(source)
    return spans


def folds(term: str) -> list[str]:
    """Fold a term unit by unit, the longest unit first."""
    folded = []
    while term:
        unit = next(u for u in sorted(FOLDED, key=len, reverse=True) if term.startswith(u))
        folded.append(FOLDED[unit])
        term = term[len(unit) :]
    return folded


@given(pieces=units, terms=terms_of_units)
def test_spans_are_those_of_the_slow_search(pieces: list[str], terms: list[str]) -> None:
    """On text whose folding is known by hand the spans are exactly the slow search's."""
    assert term_spans("".join(pieces), terms) == slow_spans(pieces, terms)


@given(text=st.text(), terms=st.lists(st.text(max_size=4), max_size=5))
def test_spans_of_any_text_are_ascending_and_inside_it(text: str, terms: list[str]) -> None:
    """Whatever the text - lone surrogates, marks, jamo - spans ascend, do not overlap, and fit."""
    spans = term_spans(text, terms)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in spans)


@given(text=st.text(min_size=1, max_size=20))
def test_a_text_that_is_one_unspaced_term_is_found_whole(text: str) -> None:
    """Japanese around nothing else is found from its first to its last character."""
    source = f"検{text}索"
    assert term_spans(source, [source]) == [(0, len(source))]


@pytest.mark.parametrize(
    ("text", "term", "marked"),
    [
        ("A bridge, two Bridges, abridged", "bridge", ["bridge", "Bridges"]),
        ("car cars cartel CAR", "car", ["car", "CAR"]),
        ("ＧＰＳを使うgps", "GPS", ["ＧＰＳ", "gps"]),
        ("STRASSE und Straße", "straße", ["STRASSE", "Straße"]),
        ("全文検索と検索評価", "検索", ["検索", "検索"]),
        ("ﾃﾞｰﾀとデータ", "データ", ["ﾃﾞｰﾀ", "データ"]),
        ("a.b axb", "a.b", ["a.b"]),
        ("(a+)+$ aaaa", "(a+)+$", ["(a+)+$"]),
    ],
)
def test_matching_follows_the_documented_rule(text: str, term: str, marked: list[str]) -> None:
    """Words at word starts, Japanese anywhere, width and case aside; nothing read as a pattern."""
    assert [text[start:end] for start, end in term_spans(text, [term])] == marked


def test_terms_of_one_character_mark_all_of_it_once() -> None:
    """U+337F is four kanji in one character: two terms in it make one span."""
    assert term_spans("a㍿b", ["株式", "会社"]) == [(1, 2)]


def test_query_terms_of_an_english_topic() -> None:
    """Words of three letters or more but for function words; plurals lose their s."""
    topic = Topic(
        "401",
        "foreign minorities, Germany",
        "What language and cultural differences impede the integration of foreign minorities in "
        "Germany? Is it the bus, GPS or H1N1 of 1995?",
        "narrative words are not taken: xylophone",
    )
    expected = "foreign minoritie germany language cultural difference impede integration"
    assert query_terms(topic) == (*expected.split(), "bus", "gps", "h1n1")


def test_query_terms_of_a_japanese_topic() -> None:
    """Runs of two kanji or katakana or more; single kanji and hiragana are left out."""
    topic = Topic("0013", "ﾃﾞｰﾀの検索", "橋のメンテナンス計画、検索エンジンに関する文書を探したい")
    assert query_terms(topic) == ("データ", "検索", "メンテナンス", "計画", "エンジン")


def test_a_topic_without_words_has_no_terms() -> None:
    """No title and no description give nothing to mark."""
    assert query_terms(Topic("1")) == ()
    assert term_spans("any text", ()) == []
    assert term_spans("any text", ["", " "]) == [(3, 4)]


@pytest.mark.parametrize(
    "text",
    [
        "word " * 200_000,
        "検索の評価ｶﾞ" * 140_000,
        "\u0301\u0323" * 500_000,
        "a" * 1_000_000,
        "(" * 1_000_000,
    ],
    ids=["words", "japanese", "marks", "one word", "brackets"],
)
def test_a_megabyte_is_searched_in_seconds(text: str) -> None:
    """No text of a million characters, however hostile, takes quadratic time."""
    terms = [f"{head}{n}" for n in range(50) for head in ("word", "検索", "(", "aaaa")]
    started = time.perf_counter()
    term_spans(text, terms)
    # Quadratic time would be hours; the bound leaves room for a busy machine.
    assert time.perf_counter() - started < 60


@given(text=st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    """A folded term is found like the term itself."""
    assert term_spans(fold(text), [text]) == term_spans(fold(text), [fold(text)])
