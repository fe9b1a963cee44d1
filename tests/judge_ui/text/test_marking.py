"""Passages of a document: marked, merged and taken away again, against sets of characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_ui.text.marking import Marking, merged, sentence_spans
from store.records import Passage

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


def test_passages_that_touch_are_two() -> None:
    """One becomes of two only when they share a character."""
    assert merged(TEXT, [part(3, 5), part(0, 3)]) == (part(0, 3), part(3, 5))
    assert merged(TEXT, [part(3, 5), part(0, 4)]) == (part(0, 5),)


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
    assert seen == [
        "One is.",
        "Two is.",
        "Two is.\nThree is; 四である。",
        "Two is.\nThree is; 四である。五である。",
        "One is. Two is.",
        "Eight.",
    ]


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


def test_a_screen_leads_to_the_first_sentence_that_begins_on_it() -> None:
    """Or else to the one that fills it."""
    marking = Marking(TEXT)
    marking.go_into(2, 30)
    assert TEXT[slice(*marking.cursor)] == "Two is."
    marking.go_into(9, 12)
    assert TEXT[slice(*marking.cursor)] == "Two is."


def test_a_text_of_blanks_has_nothing_to_mark() -> None:
    """Nor has an empty one."""
    assert Marking("").is_empty
    assert Marking(" \n\u200b").is_empty
    assert not Marking("x").is_empty


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


def test_what_has_no_words_is_marked_by_sentences_alone() -> None:
    """A line of signs is a sentence and has no word."""
    marking = Marking("***")
    marking.switch()
    assert not marking.is_of_words
    assert [one.text for one in marking.marked(())] == ["***"]
