"""Words found in texts, and texts cut into sentences: against slow and obvious searches."""

from __future__ import annotations

import re
import time
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judge_ui.text.finding import (
    Folding,
    Span,
    common_terms,
    find_spans,
    fold,
    is_acronym,
    query_terms,
    term_spans,
)
from judge_ui.text.marking import LONGEST, Marking, merged, sentence_spans
from store.records import Passage, Topic
from store.text import INVISIBLE

PIECES = {one: one for one in "a\n検"} | {
    "Ａ": "a", "ß": "ss", "ﬁ": "fi", "e\u0301": "é", "E\u200d\u0301": "é", "ｶﾞ": "ガ", "㍿": "株式会社",
    "\u1112\u1161\u11ab": "한", "İ": "i\u0307", "\u00ad": "", "\u3000": " ",
}  # fmt: skip
"""What folds to what, by the Unicode tables; each alone and in any company."""

pieces_of_texts = st.lists(st.sampled_from(sorted(PIECES)), max_size=30)


@given(pieces=pieces_of_texts)
def test_folding_is_folding_by_hand(pieces: list[str]) -> None:
    """No cluster is torn, and nothing is lost."""
    assert fold("".join(pieces)) == "".join(PIECES[piece] for piece in pieces)


@given(pieces=pieces_of_texts)
def test_every_folded_character_knows_its_source(pieces: list[str]) -> None:
    """It came out of the unit of the text that it stands for, and of what does not show there."""
    text = "".join(pieces)
    folding = Folding(text)
    start = at = 0
    for piece in pieces:
        end = start + len(piece)
        for _ in PIECES[piece]:
            first, last = folding.source(at)
            assert start <= first < last
            assert last <= end or set(text[end:last]) <= INVISIBLE
            at += 1
        start = end


@given(text=st.text(max_size=25))
def test_folding_is_unicodes_own(text: str) -> None:
    """NFKC, full case folding, NFKC of what shows."""
    shown = "".join(character for character in text if character not in INVISIBLE)
    twice = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", shown).casefold())
    assert fold(text) == twice


texts = st.text(st.sampled_from("ab検索の.* \n"), max_size=40)


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


FOLDED = {one: one for one in "abs7é -.*\n検索のガス\U0001f600"} | {
    "A": "a", "Ａ": "a", "ß": "ss", "ﬁ": "fi", "e\u0301": "é", "７": "7", "ｶﾞ": "ガ", "カ\u3099": "ガ",
    "ｽ": "ス", "㍿": "株式会社",
}  # fmt: skip
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


def slow_find(text: str, wanted: str) -> list[Span]:
    """Try every place."""
    term, found, start = " ".join(wanted.split()), [], 0
    while term and start < len(text):
        end = slow_match(text, start, term)
        if end is not None:
            found.append((start, end))
        start = start + 1 if end is None else end
    return found


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


@pytest.mark.parametrize(
    ("topic", "terms"),
    [
        (
            Topic(
                "401",
                "foreign minorities, Germany",
                "What language and cultural differences impede the integration of foreign minorities in"
                " Germany? Is it the bus, GPS or H1N1 of 1995?",
                "narrative words are not taken: xylophone",
            ),
            "foreign minoritie germany language cultural difference impede integration bus gps h1n1 1995",
        ),
        (
            Topic("0013", "ﾃﾞｰﾀの検索", "橋のメンテナンス計画、検索エンジンに関する文書を探したい"),
            "データ 検索 メンテナンス 計画 エンジン",
        ),
        (
            Topic("1", "Bees without swarming off the hive", "How do keepers keep bees within one hive?"),
            "bees swarming hive keeper",
        ),
        (Topic("1"), ""),
    ],
)
def test_query_terms_are_what_a_topic_is_about(topic: Topic, terms: str) -> None:
    """Words of three letters or more but for function words, without a plural's s; kanji, katakana."""
    assert query_terms(topic) == tuple(terms.split())


def test_what_terms_share_is_marked_once() -> None:
    """A word that a term reaches into is left out whole; two terms in one character make one span."""
    assert term_spans(f"検{'a' * 500} aaaa", ["検a", "aaaa"]) == [(0, 2), (502, 506)]
    assert term_spans("aaaaaa検", ["aaaa", "a検"]) == [(5, 7)]
    assert term_spans("a㍿b", ["株式", "会社"]) == [(1, 2)]
    assert term_spans("any text", ["", " ", "\n\u3000"]) == []


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


few_texts = st.text(st.sampled_from(f"aB1 .!?,\n\t。！、」「検索のx…．\u3000\u0301{INVISIBLE}"), max_size=80)
long_texts = st.builds(lambda text, times: text * times, st.text(max_size=20), st.integers(1, 100))


def sentences(text: str) -> list[str]:
    """Return the sentences themselves."""
    return [text[start:end] for start, end in sentence_spans(text)]


@given(text=st.one_of(few_texts, long_texts, st.text()))
def test_every_character_that_shows_is_in_one_sentence(text: str) -> None:
    """Spans ascend without overlap; what lies between them is blank or does not show."""
    spans = sentence_spans(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    covered = {place for start, end in spans for place in range(start, end)}
    between = [text[place] for place in range(len(text)) if place not in covered]
    assert all(one.isspace() or one in INVISIBLE for one in between)


@given(text=st.one_of(few_texts, long_texts))
def test_a_sentence_is_on_one_line_and_not_longer_than_a_judge_can_take_in(text: str) -> None:
    """No line break inside, no blank at either end, 400 characters at most."""
    for sentence in sentences(text):
        assert "\n" not in sentence
        assert sentence == sentence.strip()
        assert 0 < len(sentence) <= LONGEST == 400


@given(
    english=st.lists(st.sampled_from(["It rained.", "Why?", "Go!", "Then 3.5 fell."]), max_size=9),
    japanese=st.lists(
        st.sampled_from(["雨だ。", "なぜ？", "行け！", "３．５だ。", "「はい。」"]), max_size=9
    ),
)
def test_sentences_come_back_as_they_were_put_together(english: list[str], japanese: list[str]) -> None:
    """Splitting undoes joining with a blank, or with nothing."""
    assert sentences(" ".join(english)) == english
    assert sentences("".join(japanese)) == japanese


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
    # Marks stay with their letter.
    assert [len(one) for one in sentences("x" + "e\u0301" * 300)] == [399, 202]


TEXT = "One is. Two is.\nThree is; 四である。五である。 Six is. Seven is. Eight."
SENTENCES = [TEXT[start:end] for start, end in sentence_spans(TEXT)]


def part(start: int, end: int, text: str = TEXT) -> Passage:
    """Make a passage of a text."""
    return Passage(start, end - start, text[start:end])


passages = st.lists(
    st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 20)).map(
        lambda pair: part(pair[0], min(pair[0] + pair[1], len(TEXT)))
    ),
    max_size=6,
)


@given(given_passages=passages)
def test_merging_keeps_every_marked_character_and_no_other(given_passages: list[Passage]) -> None:
    """In order, without overlap, each the exact part of the text; touching ones stay apart."""
    result = merged(TEXT, given_passages)
    marked = {place for one in given_passages for place in range(one.start, one.end)}
    assert [place for one in result for place in range(one.start, one.end)] == sorted(marked)
    assert all(one == part(one.start, one.end) for one in result)
    assert {one.start for one in result} <= {one.start for one in given_passages}
    assert merged(TEXT, result) == result
    # One becomes of two only when they share a character.
    assert merged(TEXT, [part(3, 5), part(0, 3)]) == (part(0, 3), part(3, 5))


@given(given_passages=passages, moves=st.lists(st.tuples(st.integers(-3, 3), st.booleans())))
def test_marking_adds_the_selection_and_unmarking_takes_whole_passages(
    given_passages: list[Passage], moves: list[tuple[int, bool]]
) -> None:
    """The selection is whole sentences; what shares nothing with it is left as it is."""
    marking = Marking(TEXT)
    for step, extend in moves:
        marking.move(step, extend=extend)
    start, end = marking.selection
    before = merged(TEXT, given_passages)
    selected = set(range(start, end))
    marked = {place for one in before for place in range(one.start, one.end)}
    after = marking.marked(before)
    assert {place for one in after for place in range(one.start, one.end)} == marked | selected
    kept = [one for one in before if not selected & set(range(one.start, one.end))]
    assert marking.unmarked(before) == tuple(kept)
    assert not set(marking.unmarked(after)) & set(after) - set(kept)


def test_the_selection_moves_and_grows_by_sentences() -> None:
    """Moving takes the selection along, extending leaves one end of it where it is."""
    marking = Marking(TEXT)
    seen = []
    for step, extend in [(0, False), (1, False), (1, True), (1, True), (-3, True), (9, False)]:
        marking.move(step, extend=extend)
        seen.append(TEXT[slice(*marking.selection)])
    assert SENTENCES[:5] == ["One is.", "Two is.", "Three is; 四である。", "五である。", "Six is."]
    three, four = "Two is.\nThree is; 四である。", "Two is.\nThree is; 四である。五である。"
    assert seen == ["One is.", "Two is.", three, four, "One is. Two is.", "Eight."]


def test_every_move_extends_while_that_is_switched_on() -> None:
    """As in an editor: one key begins a selection, and dropping it leaves the moving sentence."""
    marking = Marking(TEXT)
    marking.is_extending = True
    marking.move(1)
    marking.go_to(TEXT.index("Six"))
    assert TEXT[slice(*marking.selection)] == TEXT[: TEXT.index(" Seven")]
    marking.drop()
    assert TEXT[slice(*marking.selection)] == "Six is."
    marking.move(1)
    assert TEXT[slice(*marking.selection)] == "Seven is."


@pytest.mark.parametrize(
    ("place", "sentence"),
    [(-5, "One is."), (0, "One is."), (7, "Two is."), (8, "Two is."), (9, "Two is."), (999, "Eight.")],
)
def test_a_place_leads_to_its_sentence(place: int, sentence: str) -> None:
    """Between two sentences to the next one, past the end to the last one."""
    marking = Marking(TEXT)
    marking.go_to(place)
    assert TEXT[slice(*marking.selection)] == sentence
    for start, end in ((2, 30), (9, 12)):  # the first that begins on a screen, or else the one that fills it
        marking.go_into(start, end)
        assert TEXT[slice(*marking.cursor)] == "Two is."


def test_words_are_marked_as_a_range() -> None:
    """From the sentence that was selected its first word; back, the sentence the words are in."""
    marking = Marking("One two. Three four, five.")
    marking.move(1)
    marking.switch()
    assert marking.is_of_words
    marking.move(1)
    marking.move(1, extend=True)
    (passage,) = marking.marked(())
    assert (passage.start, passage.text) == (15, "four, five")
    marking.switch()
    assert [one.text for one in marking.marked(())] == ["Three four, five."]
    signs = Marking("***")  # a sentence without a word
    signs.switch()
    assert not signs.is_of_words
    assert Marking(" \n\u200b").is_empty


@given(text=st.text(), terms=st.lists(st.text(max_size=4), min_size=1, max_size=5))
def test_spans_of_any_text_are_ascending_and_inside_it(text: str, terms: list[str]) -> None:
    """Lone surrogates, marks, jamo: spans ascend, do not overlap, and fit."""
    for spans in (find_spans(text, terms[0]), term_spans(text, terms), sentence_spans(text)):
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(edges)
        assert all(0 <= start < end <= len(text) for start, end in spans)


@given(text=st.text(min_size=1, max_size=20))
def test_a_whole_text_between_kanji_is_found_in_itself(text: str) -> None:
    """From its first to its last character, as long as no two lines are broken in a row."""
    source = f"検{text}索"
    assert term_spans(source, [source]) == [(0, len(source))]
    source = f"検{' '.join(text.split())}索"
    assert find_spans(source, source) == [(0, len(source))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "bridge と橋梁 " * 10_000, "a" * 100_000, " " * 100_000, "a " * 50_000, "検\n" * 50_000,
        "検" + " " * 100_000, "\n" * 100_000, "\u0301\u200b" * 50_000, "e\u0301" * 50_000,
        "\u1161" * 50_000, "\u0301\u0323" * 50_000, "ﬁ" * 50_000, "ｶﾞ" * 50_000, "(" * 100_000,
        "This is it. 検索の評価。" * 7000,
        ". " * 50_000, ".a" * 50_000, "Dr. " * 25_000, "。" * 100_000,
    ],
    ids=lambda text: ascii(text[:8]),
)  # fmt: skip
def test_a_long_text_is_folded_searched_and_divided_in_seconds(text: str) -> None:
    """No text and no typed words take quadratic time or an endless match."""
    started = time.process_time()
    folding = Folding(text)
    folding.source_spans([(n, n + 1) for n in range(0, len(folding.text), 10)])
    for wanted in ("橋梁 bridge", "a" * 500 + "b", "a b", "a " * 9 + "b", "検" * 9 + "索", "\u0301", "éa"):
        find_spans(text, wanted)
    term_spans(text, [f"{head}{n}" for n in range(50) for head in ("word", "検索", "(", "aaaa")])
    sentence_spans(text)
    # Quadratic time would be minutes.
    assert time.process_time() - started < 12
