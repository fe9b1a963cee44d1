"""Looking things up in line mode: lists, finds, terms, histories, guidelines, pages."""

from __future__ import annotations

import re

import pytest

from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.records import Document, Topic
from tests.judge_ui.conftest import ENGLISH, JAPANESE, Clock, Maker, shown
from tests.judge_ui.plain_sitting import after, sit, states

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x00"


@pytest.fixture
def bridges(make_collection: Maker) -> Collection:
    """Make a topic of two documents that have a few lines and sentences."""
    first = "The Dee is wide. Its bridge is old.\nA BRIDGE needs paint.\nNo more."
    second = "橋の検査は毎年行う。橋は古い。\n費用は高い。"
    return make_collection({ENGLISH: [Document("d1", "Dee", first), Document("d2", "橋", second)]})


def test_the_list_has_every_document_and_how_it_stands(two_topics: Collection) -> None:
    """Numbers, states, notes, and where the judge is; nothing is decided by looking."""
    printed = sit(two_topics, "2", "s", "c 1", "note two\twords", "list", topic="12")
    assert re.sub(r"today \d\d:\d\d", "today", after(printed, 4)) == (
        "all: 4 documents\n"
        "1 e0: judged: 2 relevant, today; Bridge 0\n"
        "2 e1: skipped, today; Bridge 1\n"
        "3 e2: cannot be judged: unreadable, today; Bridge 2\n"
        "4 e3: no decision yet, note: two words, you are here; Bridge 3\n"
        "\n2/4, 1 put off grade 0-2, s skip, c can't, e note, u undo, n next, q quit, ? help"
    )
    assert len(states(two_topics)) == 4


@pytest.mark.parametrize(
    ("wanted", "docnos"),
    [
        ("skipped", ["e1"]),
        ("2", ["e0"]),
        ("２", ["e0"]),
        ("0", []),
        ("judged", ["e0"]),
        ("can't", ["e2"]),
        ("left", ["e3"]),
        ("noted", ["e3"]),
        ("marked", []),
    ],
)
def test_the_list_can_be_cut_down(two_topics: Collection, wanted: str, docnos: list[str]) -> None:
    """By state, note, or grade; the count is said, and of how many."""
    printed = after(sit(two_topics, "2", "s", "c 1", "note odd", f"list {wanted}"), 4)
    assert re.findall(r"\n\d+ (\S+):", printed) == docnos
    count = "1 document" if len(docnos) == 1 else f"{len(docnos)} documents"
    assert f": {count} of 4\n" in printed


def test_an_unknown_filter_names_those_there_are(two_topics: Collection) -> None:
    """A slip lists nothing and says what can be asked for."""
    printed = after(sit(two_topics, "list foo\x1b"), 0)
    assert printed.startswith("'foo␛' is none of: all, left, judged, skipped, can't, noted, ")


def test_a_long_list_comes_a_page_at_a_time(make_collection: Maker) -> None:
    """Twenty lines, and Enter goes on; an answer in between is taken as ever."""
    documents = [Document(f"d{n:02}", "", "x") for n in range(45)]
    collection = make_collection({ENGLISH: documents})
    printed = sit(collection, "list", "", "2", "", "list", "", "", "")
    lines = [len(re.findall(r"^\d+ d", after(printed, n), re.MULTILINE)) for n in range(8)]
    assert lines == [20, 20, 0, 0, 20, 20, 5, 0]
    assert "; 44% shown, Enter = more" in after(printed, 0)
    assert "Enter = more" not in after(printed, 6)
    assert list(states(collection)) == ["d00"]


def test_go_takes_a_number_or_a_docno(two_topics: Collection) -> None:
    """The document is printed and can be graded; going decides nothing."""
    printed = sit(two_topics, "go 3", "1", "go e1", "2", "go ４", "go", "e0", "0")
    assert "\nDocument e2\n" in after(printed, 0)
    assert "\nDocument e1\n" in after(printed, 2)
    assert "\nDocument e3\n" in after(printed, 4)
    grades = {docno: one.grade for docno, one in states(two_topics).items()}
    assert grades == {"e0": 0, "e1": 2, "e2": 1}


@pytest.mark.parametrize("where", ["9", "0", "e9", "2-3", "e0 e1", "12345678901234567890"])
def test_going_nowhere_says_so_and_stays(two_topics: Collection, where: str) -> None:
    """What is neither a number of the list nor a docno moves nothing."""
    printed = after(sit(two_topics, f"go {where}"), 0)
    assert f"'{where}' is neither a number from 1 to 4 nor a docno of this topic" in printed
    assert "Document" not in printed


def test_a_docno_that_is_a_number(make_collection: Maker) -> None:
    """A number is a number of the list; with leading zeros, or beyond the list, a docno."""
    documents = [Document(docno, "", "x") for docno in ("003", "3", "00002", "77")]
    collection = make_collection({ENGLISH: documents})
    printed = sit(collection, "go 3", "go 003", "go 77", "go 00002")
    assert "by number; the docno 3 is number 2\n\nDocument 00002\n" in after(printed, 0)
    assert [
        f"\nDocument {docno}\n" in after(printed, n)
        for n, docno in enumerate(["00002", "003", "77", "00002"])
    ] == [True] * 4


def test_find_prints_the_lines_with_the_hit_marked(bridges: Collection) -> None:
    """Without colour: line, sentence, and double brackets, whatever the case."""
    printed = sit(bridges, "find bridge", "/bridge", "/ ｂｒｉｄｇｅ", "find", "old", "/ nowhere")
    lines = (
        "2 sentences with `bridge`\n"
        "line 1, sentence 2: Its [[bridge]] is old.\n"
        "line 2, sentence 3: A [[BRIDGE]] needs paint.\n"
    )
    assert after(printed, 0).startswith(lines)
    assert after(printed, 1).startswith(lines)
    assert "line 2, sentence 3: A [[BRIDGE]] needs paint.\n" in after(printed, 2)
    assert "Its bridge is [[old]].\n" in after(printed, 4)
    assert after(printed, 5).startswith("no `nowhere` in this document\n")


def test_find_in_japanese(bridges: Collection) -> None:
    """Words without blanks between them are found anywhere."""
    printed = after(sit(bridges, "n", "/橋"), 1)
    assert "line 1, sentence 1: [[橋]]の検査は毎年行う。\nline 1, sentence 2: [[橋]]は古" in printed


def test_find_without_words_finds_those_of_the_topic_and_the_judges_own(bridges: Collection) -> None:
    """`bridge` is a word of the topic; `paint` becomes one of the judge's own."""
    printed = sit(bridges, "find", "", "terms paint, Dee", "find", "", "]", "]", "]", "[")
    assert "Its [[bridge]] is old." in after(printed, 1)
    assert "your own: paint, Dee\n" in after(printed, 2)
    assert "A [[BRIDGE]] needs [[paint]].\n" in after(printed, 4)
    assert [re.findall(r"hit (\d) of (\d)", after(printed, n)) for n in range(5, 9)] == [
        [("1", "3")],
        [("2", "3")],
        [("3", "3")],
        [("2", "3")],
    ]


def test_a_find_ends_with_its_document(bridges: Collection) -> None:
    """On the next document the next hit is one of the topic's words again."""
    printed = sit(bridges, "/ wide", "]", "n", "]")
    assert "[[wide]]" in after(printed, 1)
    assert after(printed, 3).startswith("no such words in this document\n")


def test_own_terms_are_kept_and_can_be_taken_away(bridges: Collection) -> None:
    """A later sitting has them; `-` removes them, Enter leaves them."""
    sit(bridges, "w", "truss、iron girder ,, ")
    printed = sit(bridges, "terms", "", "terms -", "w", "")
    assert "your own: truss, iron girder\n" in after(printed, 0)
    assert "your own: none\n" in after(printed, 2)
    assert "your own: none\n" in after(printed, 3)


def test_the_document_can_be_printed_again_with_its_hits(bridges: Collection) -> None:
    """`again` prints it as it is, `again hits` with brackets."""
    printed = sit(bridges, "again", "again hits", "/ dee", "again hits", "again loudly")
    assert after(printed, 0).startswith("\nDocument d1\nTitle: Dee\nThe Dee is wide. Its bridge is")
    assert "Its [[bridge]] is old.\nA [[BRIDGE]] needs paint.\nNo more.\n" in after(printed, 1)
    assert "\nThe [[Dee]] is wide. Its bridge is old.\n" in after(printed, 3)
    assert after(printed, 4).startswith("again prints the document;")


def test_sentences_have_numbers(bridges: Collection) -> None:
    """All of them or some; those of marked passages are said to be marked."""
    printed = sit(bridges, "mark 2", "sentences", "sentences 3-4", "sentences 9", "n", "sentences")
    assert after(printed, 1).startswith(
        "1 The Dee is wide.\n2 (marked) Its bridge is old.\n3 A BRIDGE needs paint.\n4 No more.\n"
    )
    assert after(printed, 2).startswith("3 A BRIDGE needs paint.\n4 No more.\n\n")
    assert after(printed, 3).startswith("sentences 3-9 prints some of them; there are 4\n")
    assert after(printed, 5).startswith("1 橋の検査は毎年行う。\n2 橋は古い。\n3 費用は高い。\n")


def test_history_of_the_sitting_and_of_the_document(two_topics: Collection) -> None:
    """What was done here, the newest first; of a document also what was done elsewhere."""
    sit(two_topics, "1")
    printed = sit(two_topics, "2", "u", "note odd", "history", "p", "history here", "history of")
    events = re.findall(r"^\d\d:\d\d:\d\d 12 (\S+): (.*)$", after(printed, 3), re.MULTILINE)
    assert after(printed, 3).startswith("3 events in this sitting, the newest first\n")
    assert [docno for docno, _ in events] == ["e1"] * 3
    assert events[0][1] == "note: odd"
    assert "2 relevant" in events[2][1]
    assert after(printed, 5).startswith("1 event on this document, the newest first\n")
    assert "1 partially relevant (in another sitting on " in after(printed, 5)
    assert after(printed, 6).startswith("`history` shows this sitting,")


def test_progress_says_how_far(two_topics: Collection) -> None:
    """The place and the counts."""
    printed = sit(two_topics, "2", "s", "progress")
    assert after(printed, 2).startswith(
        "12 bridge maintenance: you are at document 3 of 4; 1 judged, 1 skipped, 0 cannot be judged, 2"
        " left\n\n"
    )


def test_the_pace_says_how_long_the_rest_will_take(make_collection: Maker) -> None:
    """Once there are decisions to go by: six took a minute each, two and three are left."""
    english = [Document(f"e{n}", "", "x") for n in range(8)]
    japanese = [Document(f"j{n}", "", "x") for n in range(3)]
    collection = make_collection({ENGLISH: english, JAPANESE: japanese})
    clock = Clock()
    steps = [step for value in "010101" for step in (lambda: clock.wait(60), value)]
    first = sit(collection, *steps, clock=clock)
    assert "at your pace" not in first
    printed = sit(collection, "progress", "topics", "12", "0", "0")
    assert "\n2 left, about 2 min at your pace\n" in printed.split(" > ")[0]
    assert after(printed, 0).splitlines()[1] == "2 left, about 2 min at your pace"
    assert "\n5 left, about 5 min at your pace\n" in after(printed, 1)
    assert "\nother topics: 3 left, about " in after(printed, 4)


def test_guidelines_are_printed_when_new_and_when_asked_for(two_topics: Collection) -> None:
    """Before the first document of a topic, not again once something was decided under them."""
    assert "there are no guidelines" in after(sit(two_topics, "h"), 0)
    two_topics.guidelines.add("# How to judge\n\nBe *kind*.\n")
    text = "\n# How to judge\n\nBe *kind*.\n"
    first = sit(two_topics, "2")
    assert first.split("\nDocument ")[0].endswith(text)
    assert "\nGuidelines, version 1 of " in first
    later = sit(two_topics, "guidelines")
    assert text not in later.split("\nDocument ")[0]
    assert text in after(later, 0)
    two_topics.guidelines.add("Be strict.")
    assert "\nGuidelines, version 2 of " in sit(two_topics, "2").split("\nDocument ")[0]


def test_a_page_of_a_document_and_the_rest_of_it(make_collection: Maker) -> None:
    """Enter brings the next page, any other answer works at once, and looking up is no end."""
    text = "\n".join(f"line {n}" for n in range(10))
    collection = make_collection({ENGLISH: [Document("d", "", text), Document("e", "", text)]})
    printed = sit(collection, "", "list", "", "", "", "2", page=4)
    assert "line 3\n\n0/2 " in printed.split(" > ")[0]
    assert "line 4" not in printed.split(" > ")[0]
    assert after(printed, 0).startswith("line 4\nline 5\nline 6\nline 7\n\n0/2 ")
    assert "; 81% shown, Enter = more" in after(printed, 0)
    assert after(printed, 1).startswith("all: 2 documents\n1 d: ")
    assert after(printed, 2).startswith("line 8\nline 9\n\n0/2 ")
    assert "Enter = more" not in after(printed, 2)
    assert after(printed, 3).startswith("\n0/2 ")
    assert "\nDocument e\nline 0\n" in after(printed, 5)
    assert list(states(collection)) == ["d"]


def test_a_document_can_be_graded_from_its_first_page(make_collection: Maker) -> None:
    """Nobody has to page to the end of a megabyte."""
    text = "語と word " * 125_000
    collection = make_collection({ENGLISH: [Document("d", "", text), Document("e", "", "short")]})
    printed = sit(collection, "0", page=20)
    assert len(printed) < 5000
    assert states(collection)["d"].grade == 0


def test_nothing_hostile_reaches_the_stream(make_collection: Maker) -> None:
    """Whatever is looked up: escapes come as pictures, of documents and of what was typed."""
    text = f"One x{EVIL} bridge.\r\nTwo bridge.{EVIL}"
    topic = Topic("12", f"bridge {EVIL}", f"d{EVIL}", f"n{EVIL}")
    collection = make_collection({topic: [Document("d", f"t{EVIL}", text)]})
    collection.guidelines.add(f"g{EVIL}")
    printed = sit(
        collection,
        *("h", "t", "list", f"list {EVIL}", f"go {EVIL}", "/ bridge", f"/ {EVIL}", "]"),
        *(f"terms {EVIL}, bridge", "w", "", "again hits", "sentences", "mark 1", f"mark {EVIL}"),
        *(f"note {EVIL}", "e", "", f"c torn {EVIL}", "history", "history here", f"history {EVIL}"),
        *("progress", EVIL, "u", "u", "d", "topics", EVIL),
    )
    assert not set("\x1b\x07\x9b\u202e\x00\r") & set(printed)
    assert "␛]0;owned␇" in printed


def test_another_judge_is_nowhere(two_topics: Collection) -> None:
    """Bob's grade, note, passages and terms are in no list, history or search of Alice's."""
    bob = JudgingSession(two_topics.desk("bob"), min_dwell=0)
    bob.open_topic("12")
    bob.mark_shown()
    shown(bob).note("bobnote")
    bob.set_own_terms("bobterm")
    bob.grade(1)
    printed = sit(two_topics, "list", "history", "history here", "w", "", "progress", "again")
    assert "bob" not in printed
    assert "judged: " not in printed
    assert "partially relevant" not in printed.replace("1 = partially relevant", "")
