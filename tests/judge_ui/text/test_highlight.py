"""Terms of a topic and where they stand, against a slow and obvious search."""

from __future__ import annotations

import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judge_ui.text.finding import Span, common_terms, fold, is_acronym, query_terms, term_spans
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

UNSPACED = frozenset("検索のガス株式会社")
"""The folded characters of FOLDED that a line may be broken beside without a blank."""

units = st.lists(st.sampled_from(sorted(FOLDED)), max_size=30)
terms_of_units = st.lists(
    st.lists(st.sampled_from(sorted(FOLDED)), min_size=1, max_size=5).map("".join), max_size=5
)


@st.composite
def documents(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Make a document of few different units, and terms of which some are parts of it."""
    few = draw(st.lists(st.sampled_from(sorted(FOLDED)), min_size=1, max_size=6))
    pieces = draw(st.lists(st.sampled_from(few), max_size=30))
    terms = draw(terms_of_units)
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, 30))
        terms.append("".join(pieces[start : start + draw(st.integers(1, 6))]))
    return pieces * draw(st.integers(1, 20)), terms


def slow_blanks(text: str, start: int) -> int:
    """Return where blanks end that hold one line break at most."""
    end = start
    while end < len(text) and text[end] in " \n" and text[start:end].count("\n") < 2:
        end += 1
    return end - (text[start:end].count("\n") > 1)


def slow_match(text: str, start: int, term: str) -> int | None:
    """Return where a term that is at a place ends, read character by character."""
    before = ""
    for character in term:
        beside = before in UNSPACED or character in UNSPACED
        blanks = slow_blanks(text, start)
        if character == " ":
            if blanks == start:
                return None
            start = blanks
        elif before not in ("", " ") and beside and "\n" in text[start:blanks]:
            start = blanks
        if character != " ":
            if text[start : start + 1] != character:
                return None
            start += 1
        before = character
    return start


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
    wanted = {" ".join("".join(folds(term)).split()) for term in terms} - {""}
    literals = sorted(wanted, key=lambda term: (-len(term), term))
    literals = [term for term in literals if not set(term) <= LETTERS]
    words = [term for term in wanted if set(term) <= LETTERS]
    found: list[Span] = []
    taken = [False] * len(text)
    start = 0
    while start < len(text):
        ends = [slow_match(text, start, term) for term in literals]
        end = next((end for end in ends if end is not None), None)
        if end is None:
            start += 1
            continue
        found.append((start, end))
        for place in range(start, end):
            taken[place] = True
        start = end
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


@given(document=documents())
def test_spans_are_those_of_the_slow_search(document: tuple[list[str], list[str]]) -> None:
    """On text whose folding is known by hand the spans are exactly the slow search's."""
    pieces, terms = document
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


def test_a_word_that_a_term_reaches_into_is_left_out_whole() -> None:
    """At its end, and at its beginning."""
    text = f"検{'a' * 500} aaaa"
    assert term_spans(text, ["検a", "aaaa"]) == [(0, 2), (502, 506)]
    assert term_spans("aaaaaa検", ["aaaa", "a検"]) == [(5, 7)]


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
    assert query_terms(topic) == (*expected.split(), "bus", "gps", "h1n1", "1995")


def test_query_terms_of_a_japanese_topic() -> None:
    """Runs of two kanji or katakana or more; single kanji and hiragana are left out."""
    topic = Topic("0013", "ﾃﾞｰﾀの検索", "橋のメンテナンス計画、検索エンジンに関する文書を探したい")
    assert query_terms(topic) == ("データ", "検索", "メンテナンス", "計画", "エンジン")


def test_a_topic_without_words_has_no_terms() -> None:
    """No title and no description give nothing to mark."""
    assert query_terms(Topic("1")) == ()
    assert term_spans("any text", ()) == []
    assert term_spans("any text", ["", " ", "\n\u3000"]) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["word " * 200_000, "検索の評価ｶﾞ" * 140_000, "\u0301\u0323" * 500_000, "a" * 1_000_000, "(" * 1_000_000],
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
    """A folded term is found like the term itself, but for acronyms, of which the capitals matter."""
    assume(not is_acronym(text))
    assert term_spans(fold(text), [text]) == term_spans(fold(text), [fold(text)])


def test_of_an_acronym_the_capitals_matter() -> None:
    """CF is no cf., TB no tb, AI no ai of French, WHO no who; longer ones are found in any case."""
    text = "CF, cf. 12; TB or tb; l'ai AI; who asks the WHO? ＣＦ; GPS gps"
    found = term_spans(text, ["CF", "TB", "AI", "WHO", "gps"])
    assert [text[start:end] for start, end in found] == ["CF", "TB", "AI", "WHO", "ＣＦ", "GPS", "gps"]
    shouting = Topic("1", "TREATMENT OF CF IN US AND UK")
    assert query_terms(shouting) == ("treatment",)


def test_words_of_half_of_the_texts_are_common() -> None:
    """Four of eight are half, three are not; of fewer than eight texts nothing is said."""
    texts = ["a bridge of iron", "bridges", "the bridge", "Bridge, CF", "iron", "iron cf", "fords", ""]
    assert common_terms(texts, ["bridge", "iron", "CF"]) == ("bridge",)
    assert common_terms(texts[:7], ["bridge"]) == ()


def test_function_words_are_not_lit() -> None:
    """What only holds the sentence of a topic together is no term of it, whichever word it is."""
    topic = Topic("1", "Bees without swarming off the hive", "How do keepers keep bees within one hive?")
    assert query_terms(topic) == ("bees", "swarming", "hive", "keeper")
