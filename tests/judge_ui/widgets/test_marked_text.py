"""Texts ready for a pane: what stands out is where it should be, and nothing of a text is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge_ui.text.finding import Span
from judge_ui.widgets.laid_out import Look, MarkedText, document_text, lay_out, topic_text
from store.records import Passage, ShownDocument, Topic
from store.wrapping import drawn, wrap

texts = st.text(st.sampled_from("ab cé検索。「」\u0301\u200d\n\t"), max_size=60)


@st.composite
def spans_of(draw: st.DrawFn, length: int) -> tuple[Span, ...]:
    """Make ascending spans that do not overlap, of a text of a length."""
    edges = sorted(draw(st.lists(st.integers(0, length), max_size=12)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    return tuple((start, end) for start, end in pairs if start < end)


@st.composite
def layered(draw: st.DrawFn) -> tuple[MarkedText, list[tuple[tuple[Span, ...], Look]]]:
    """Make a leaf, and layers over it."""
    text = draw(texts)
    marked_text = MarkedText(text, draw(spans_of(len(text))), draw(spans_of(len(text))))
    looks = (Look.FOUND, Look.CURRENT, Look.PASSAGE, Look.SELECTED)
    return marked_text, [(draw(spans_of(len(text))), look) for look in looks]


@given(made=layered(), width=st.integers(2, 20))
def test_every_character_is_drawn_with_all_that_it_is(
    made: tuple[MarkedText, list[tuple[tuple[Span, ...], Look]]], width: int
) -> None:
    """The pieces of a line are its text, each with every look of the stretches it lies in."""
    marked_text, layers = made
    laid = lay_out(marked_text, width)
    for line, (start, end) in enumerate(laid.lines):
        expected = []
        for place in range(start, end):
            looks = Look.PLAIN
            for spans, look in ((marked_text.strong, Look.STRONG), (marked_text.hits, Look.HERE), *layers):
                if any(first <= place < last for first, last in spans):
                    looks |= look
            expected += [(character, looks) for character in drawn(marked_text.text[place])]
        pieces = laid.pieces(line, layers)
        assert [(character, look) for text, look in pieces for character in text] == expected


@given(text=texts, times=st.integers(1, 1500), width=st.integers(2, 30), share=st.floats(0, 1))
def test_a_place_is_on_the_line_that_holds_it(text: str, times: int, width: int, share: float) -> None:
    """The last line that begins at it or before it, as a search of all lines finds."""
    text = text * times
    place = round(share * len(text))
    lines = wrap(text, width)
    expected = max(line for line, (start, _) in enumerate(lines) if start <= place)
    assert lay_out(MarkedText(text), width).line_of(place) == expected


def test_a_document_shows_its_title_its_words_and_its_passages() -> None:
    """Passages are in characters of the text, and are drawn behind the heading; terms in both."""
    page = ShownDocument("d", "On bridges", "A river crossing. Not a bridge.")
    passage = Passage(2, 5, "river")
    marked_text = document_text(page, ["bridge", "River  Crossing"], [passage])
    laid = lay_out(marked_text, 40)
    pieces = [list(laid.pieces(line)) for line in range(3)]
    assert pieces == [
        [("On ", Look.STRONG), ("bridges", Look.HIT)],
        [],
        [
            ("A ", Look.PLAIN),
            ("river", Look.HIT | Look.PASSAGE),
            (" crossing", Look.HIT),
            (". Not a ", Look.PLAIN),
            ("bridge", Look.HIT),
            (".", Look.PLAIN),
        ],
    ]


def test_passages_that_overlap_are_drawn_as_one() -> None:
    """Whatever is in the store, a screen has passages one after the other."""
    page = ShownDocument("d", "", "abcdef")
    marked_text = document_text(page, (), [Passage(2, 3, "cde"), Passage(0, 4, "abcd")])
    assert marked_text.passages == (Passage(0, 5, "abcde"),)
    assert list(lay_out(marked_text, 9).pieces(0)) == [("abcde", Look.PASSAGE), ("f", Look.PLAIN)]


def test_a_document_without_text_says_so() -> None:
    """Missing and empty are two things, and neither has anything to mark or to search."""
    missing, empty = (
        document_text(ShownDocument("d", "t", None), ["text"]),
        document_text(ShownDocument("d", "", ""), []),
    )
    assert missing.text.startswith("t\n\nno text is stored for this document")
    assert empty.text == "the text of this document is empty"
    assert not missing.is_document
    assert not empty.is_document


def test_leaves_are_put_together_with_what_stands_out_in_them() -> None:
    """Spans of the second are moved behind the first."""
    marked_text = MarkedText("ab", ((0, 1),), ((1, 2),)) + MarkedText("cd", ((0, 2),))
    assert marked_text == MarkedText("abcd", ((0, 1), (2, 4)), ((1, 2),))


def test_a_topic_is_shown_whole() -> None:
    """Title, description, narrative; and something for a topic without a title."""
    assert topic_text(Topic("1", "t", "d", "n")).text == "t\n\nDescription\nd\n\nNarrative\nn"
    assert topic_text(Topic("1")).text == "this topic has no title"


def test_a_title_that_the_text_begins_with_is_written_once() -> None:
    """Whatever its line ends; any other title stands above."""
    said = ShownDocument("d", "Iron bridges", "Iron\nbridges\n\nThey rust.")
    assert document_text(said, []).text == "Iron\nbridges\n\nThey rust."
    other = ShownDocument("d", "Iron", "Iron bridges\n\nThey rust.")
    assert document_text(other, []).text == "Iron\n\nIron bridges\n\nThey rust."
