"""The document before the judge: finding and marking by keys, and no grade by accident."""

from __future__ import annotations

from textual import events

from judge_ui.session.keys import Command
from judge_ui.widgets.document_pane import DocumentPane
from judge_ui.widgets.laid_out import MarkedText, document_text
from store.records import Passage, ShownDocument
from tests.judge_ui.widgets.hosting import Shown, showing

FILLER = "\n".join(f"row {n}" for n in range(30))
HITS = f"Bridge one.\n{FILLER}\nbridge two and bridge three.\n{FILLER}\n橋梁の検\n査 bridge four."
SENTENCES = "One is. Two is. 三である。四である。\nFive is. Six is."


def hits() -> MarkedText:
    """Make a document with four bridges far apart."""
    return document_text(ShownDocument("d", "", HITS), ["row"])


def sentences(title: str = "A title") -> MarkedText:
    """Make a document of six sentences."""
    return document_text(ShownDocument("d", title, SENTENCES), ["four"])


def marked(shown: Shown) -> list[list[str]]:
    """Return the passages of every message about them."""
    messages = [one for one in shown.said if isinstance(one, DocumentPane.Marked)]
    assert all(SENTENCES[one.start : one.end] == one.text for message in messages for one in message.passages)
    return [[one.text for one in message.passages] for message in messages]


def pressed(shown: Shown) -> list[int | Command]:
    """Return the meanings of the keys that were handed on."""
    return [one.meaning for one in shown.said if isinstance(one, DocumentPane.Pressed)]


async def test_finding_goes_from_hit_to_hit_and_round_again() -> None:
    """Each is scrolled into sight, is the only one with a sign, and is counted."""
    async with showing(hits()) as shown:
        pane = shown.pane
        assert pane.find("BRIDGE") == 4
        assert pane.scroll_offset.y == 0
        seen = []
        for _ in range(5):
            assert shown.signs().count(">") == 1
            line = shown.lines()[shown.signs().index(">")]
            (current,) = shown.drawn(bold=True, reverse=True)
            assert current.casefold() == "bridge"
            seen.append((line, pane.find_next(1)))
        assert seen == [
            ("Bridge one.", (2, 4)),
            ("bridge two and bridge three.", (3, 4)),
            ("bridge two and bridge three.", (4, 4)),
            ("査 bridge four.", (1, 4)),
            ("Bridge one.", (2, 4)),
        ]
        assert [pane.find_next(-1) for _ in range(3)] == [(1, 4), (4, 4), (3, 4)]


async def test_hits_can_be_told_from_terms_and_from_the_one_gone_to() -> None:
    """While something is found the topic's words stand back: underlined, but not bold."""
    async with showing(hits(), (40, 20)) as shown:
        assert "row" in shown.drawn(bold=True, underline=True, reverse=False)
        shown.pane.find("bridge t")
        assert shown.drawn(reverse=True) == ["bridge t"]
        assert shown.drawn(reverse=False, bold=True, underline=True) == ["bridge t"]
        assert "row" in shown.drawn(bold=False, underline=True)
        shown.pane.clear_find()
        assert not shown.drawn(reverse=True)
        assert "row" in shown.drawn(bold=True, underline=True)
        assert shown.signs().strip(".") == ""


async def test_finding_begins_where_the_judge_reads() -> None:
    """At the first hit from the top of the screen on, and after scrolling away from there again."""
    async with showing(hits()) as shown:
        await shown.press("space", "space")
        assert shown.pane.find("bridge") == 4
        assert "bridge two" in "\n".join(shown.lines())
        assert shown.pane.find_next(1) == (3, 4)
        await shown.press("g")
        assert shown.pane.find_next(1) == (1, 4)
        await shown.press("G")
        assert shown.pane.find_next(-1) == (3, 4)


async def test_a_hit_across_a_line_break_is_drawn_on_both_lines() -> None:
    """Kanji at the end of one line and the beginning of the next are one hit."""
    async with showing(hits()) as shown:
        assert shown.pane.find("検査") == 1
        assert shown.drawn(reverse=True) == ["検", "査"]
        assert shown.signs().strip(".") == ">>"


async def test_a_document_that_has_just_been_shown_can_be_searched() -> None:
    """Before it has been painted, and although the one before needed no scrollbar."""
    async with showing(MarkedText("short")) as shown:
        shown.pane.show(hits())
        assert shown.pane.find("bridge four") == 1
        await shown.pilot.pause()
        assert "査 bridge four." in shown.lines()


async def test_what_is_not_there_moves_nothing() -> None:
    """No hit, no scrolling, no sign; the topic's words are as they were."""
    async with showing(hits()) as shown:
        await shown.press("space")
        top = shown.pane.scroll_offset.y
        assert shown.pane.find("xylophone") == 0
        assert shown.pane.is_finding
        assert shown.pane.find_next(1) is None
        assert (shown.pane.scroll_offset.y, shown.signs().strip(".")) == (top, "")
        assert "row" in shown.drawn(underline=True)
        assert shown.pane.find(" ") == 0


async def test_with_nothing_sought_the_topics_words_are_gone_through() -> None:
    """Every term of the whole document, and none where there are none."""
    async with showing(hits()) as shown:
        assert shown.pane.find_next(1) == (1, 60)
        assert shown.pane.find_next(-1) == (60, 60)
        shown.pane.show(MarkedText("no terms at all"))
        assert shown.pane.find_next(1) is None


async def test_another_document_has_neither_hits_nor_a_selection() -> None:
    """What was sought and selected belongs to the document before."""
    async with showing(hits()) as shown:
        shown.pane.find("bridge")
        shown.pane.start_marking()
        shown.pane.show(sentences())
        await shown.pilot.pause()
        assert not shown.pane.is_finding
        assert not shown.pane.is_marking
        assert not shown.drawn(underline=True)
        assert shown.pane.scroll_offset.y == 0


async def test_sentences_are_marked_by_keys() -> None:
    """Move, mark, extend, mark, unmark, leave: each change says all passages of the document."""
    async with showing(sentences(), (60, 10)) as shown:
        assert shown.pane.start_marking()
        assert "".join(shown.drawn(reverse=True)) == "One is."
        await shown.press("enter")
        await shown.press("j", "down")
        assert shown.drawn(reverse=True) == ["三である。"]
        await shown.press("J", "shift+down")
        assert shown.drawn(reverse=True) == ["三である。四である。", "Five is."]
        await shown.press("K", "enter")
        assert shown.drawn(reverse=True) == ["四である。"]
        await shown.press("j", "k", "up", "x", "escape")
        assert marked(shown) == [["One is."], ["One is.", "三である。四である。"], ["One is."]]
        assert shown.drawn(italic=True) == ["One is."]
        assert shown.signs().startswith("..|.")
        assert not shown.drawn(reverse=True)
        changes = [one for one in shown.said if isinstance(one, DocumentPane.MarkingChanged)]
        assert [one.is_marking for one in changes] == [True, False]
        assert pressed(shown) == []


async def test_a_selection_grows_while_that_is_switched_on() -> None:
    """With v every move extends, until it is marked or switched off."""
    async with showing(sentences(), (60, 10)) as shown:
        await shown.press("v", "v", "j", "j", "enter", "j", "v", "j", "v", "j", "enter")
        assert marked(shown) == [["One is. Two is. 三である。"], ["One is. Two is. 三である。", "Six is."]]


async def test_what_overlaps_becomes_one_passage_and_what_touches_stays_two() -> None:
    """Japanese sentences have no blank between them, and are passages of their own."""
    async with showing(sentences(), (60, 10)) as shown:
        await shown.press("v", "j", "j", "enter", "j", "enter", "k", "K", "enter", "enter")
        assert marked(shown) == [
            ["三である。"],
            ["三である。", "四である。"],
            ["Two is. 三である。", "四である。"],
        ]


async def test_no_key_grades_or_commands_while_passages_are_marked() -> None:
    """Digits, letters of commands, Japanese digits: nothing is handed on until Escape."""
    async with showing(sentences()) as shown:
        await shown.press("2", "v")
        await shown.press(*"0123", "２", "u", "s", "c", "n", "p", "q", "?", "backspace", "tab", "f5")
        assert pressed(shown) == [2]
        assert shown.pane.is_marking
        await shown.press("escape", "3", "escape")
        assert pressed(shown) == [2, 3, Command.INBOX]


async def test_a_digit_that_arrives_with_the_key_for_marking_grades_nothing() -> None:
    """On a slow line both keys come at once."""
    async with showing(sentences()) as shown:
        for key in ("v", "2"):
            shown.pilot.app.post_message(events.Key(key, key))
        await shown.pilot.pause()
        assert shown.pane.is_marking
        assert pressed(shown) == []


async def test_letters_of_a_scale_do_not_take_the_keys_of_marking() -> None:
    """Where j or x is a grade, it still moves or unmarks while marking."""
    scale = "ntcir"
    async with showing(sentences(), (60, 10), scale) as shown:
        await shown.press("ｖ", "ｊ", "enter", "s", "a", "ｘ", "delete")
        assert marked(shown) == [["Two is."], []]
        assert pressed(shown) == []


async def test_scrolling_keys_take_the_selection_along() -> None:
    """A page, the start, the end: the sentence that moves is always in sight."""
    text = "\n".join(f"Row {n} is." for n in range(100)) + "\n" + "long " * 400
    async with showing(document_text(ShownDocument("d", "t", text), [])) as shown:
        shown.pane.start_marking()
        seen = []
        for key in ("space", "pagedown", "b", "G", "k", "home", "pageup", "end", "pageup", "g"):
            await shown.press(key)
            seen.append(" ".join(shown.drawn(reverse=True))[:9].strip())
        assert seen == [
            "Row 9 is.",
            "Row 18 is",
            "Row 9 is.",
            "long long",
            "long long",
            "Row 0 is.",
            "Row 0 is.",
            "long long",
            "long long",
            "Row 0 is.",
        ]


async def test_marking_begins_on_the_screen() -> None:
    """At the first sentence that begins in sight, or where a hit was gone to."""
    text = "\n".join(f"Row {n} is." for n in range(100))
    async with showing(document_text(ShownDocument("d", "t", text), [])) as shown:
        await shown.press("space", "v")
        assert shown.drawn(reverse=True) == ["Row 7 is."]
        assert shown.lines()[0] == "Row 7 is."
        await shown.press("escape")
        shown.pane.find("row 50")
        await shown.press("v")
        assert "".join(shown.drawn(reverse=True)) == "Row 50 is."
        assert shown.drawn(bold=True, underline=True) == ["Row 50"]


async def test_the_selection_stays_in_sight_when_the_terminal_changes() -> None:
    """Narrower, wider, lower: the sentence that moves is on the screen, whole if it fits."""
    text = " ".join(f"Sentence {n} is here." for n in range(60))
    async with showing(document_text(ShownDocument("d", "t", text), []), (120, 40)) as shown:
        await shown.press("v", *("j" * 50))
        for size in ((40, 12), (80, 24), (40, 12), (120, 10)):
            await shown.resize(*size)
            selected = " ".join(" ".join(shown.drawn(reverse=True)).split())
            assert selected == "Sentence 50 is here."
        await shown.press("enter")
        assert shown.pane.passages == (Passage(text.index("Sentence 50"), 20, selected),)


async def test_stored_passages_are_drawn_until_others_are() -> None:
    """What the screen says is stored replaces what was drawn; the heading is no part of it."""
    page = ShownDocument("d", "A title", SENTENCES)
    marked_text = document_text(page, ["two"], [Passage(8, 7, "Two is.")])
    async with showing(marked_text, (60, 10)) as shown:
        assert shown.drawn(italic=True) == ["Two", " is."]
        assert shown.drawn(italic=True, underline=True) == ["Two"]
        shown.pane.show_passages([Passage(0, 7, "One is."), Passage(4, 9, "is. Two i")])
        assert shown.pane.passages == (Passage(0, 13, "One is. Two i"),)
        assert "".join(shown.drawn(italic=True)) == "One is. Two i"
        shown.pane.show_passages(())
        assert not shown.drawn(italic=True)
        assert [one for one in shown.said if isinstance(one, DocumentPane.Marked)] == []


async def test_other_words_are_marked_in_the_same_place() -> None:
    """The judge's own words change nothing but what is marked; another text starts anew."""
    async with showing(hits()) as shown:
        shown.pane.find("bridge")
        shown.pane.find_next(1)
        top = shown.pane.scroll_offset.y
        shown.pane.show_again(document_text(ShownDocument("d", "", HITS), ["three", "two and"]))
        assert shown.pane.scroll_offset.y == top > 0
        assert shown.pane.find_next(1) == (3, 4)
        shown.pane.clear_find()
        assert shown.drawn(underline=True) == ["two and", "three"]
        shown.pane.show_again(MarkedText("another text"))
        assert shown.lines()[0] == "another text"


async def test_a_selection_shows_what_is_in_it() -> None:
    """All of it is reversed; a word in it stays bold and underlined, a passage italic."""
    page = ShownDocument("d", "", "A bridge is. Two.")
    marked_text = document_text(page, ["bridge"], [Passage(0, 12, "A bridge is.")])
    async with showing(marked_text) as shown:
        await shown.press("v")
        assert shown.drawn(reverse=True, italic=True) == ["A ", "bridge", " is."]
        assert shown.drawn(reverse=True, underline=True, bold=True) == ["bridge"]


async def test_a_document_without_text_is_not_marked() -> None:
    """The key is handed on, so that the screen can say why nothing happens."""
    for text in (None, "", " \n\u200b"):
        async with showing(document_text(ShownDocument("d", "title", text), [])) as shown:
            await shown.press("v", "1")
            assert not shown.pane.is_marking
            assert pressed(shown) == [Command.MARK, 1]
            if not text:
                shown.pane.show_passages([Passage(0, 1, "x")])
                assert shown.pane.passages == ()


async def test_a_hostile_document_is_marked_like_any_other() -> None:
    """Marks without end, markup, a megabyte without a blank: bounded, and offsets are exact."""
    text = "[@click=app.quit]x[/] " + "\u0301" * 3000 + "\n" + "検" * 300_000 + "。end"
    async with showing(document_text(ShownDocument("d", "[b]", text), ["click"])) as shown:
        await shown.press("v", "enter", "j", "enter", "J", "J", "enter", "G", "enter")
        messages = [one for one in shown.said if isinstance(one, DocumentPane.Marked)]
        assert len(messages) == 4
        for one in messages[-1].passages:
            assert text[one.start : one.start + one.length] == one.text
            assert 0 < one.length <= 1300
        assert messages[-1].passages[-1].text == "end"
        await shown.until(lambda: shown.drawn(reverse=True) == ["end"])
        strips = [shown.pane.render_line(y) for y in range(9)]
        assert {strip.cell_length for strip in strips} == {39}
