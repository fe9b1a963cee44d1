"""Looking things up in line mode: finds, guidelines."""

from __future__ import annotations

import re

import pytest

from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.records import Document, Topic
from tests.judge_ui.conftest import ENGLISH, Maker, shown
from tests.judge_ui.plain_sitting import after, sit

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\x00"


@pytest.fixture
def bridges(make_collection: Maker) -> Collection:
    """Make a topic of two documents that have a few lines and sentences."""
    first = "The Dee is wide. Its bridge is old.\nA BRIDGE needs paint.\nNo more."
    second = "橋の検査は毎年行う。橋は古い。\n費用は高い。"
    return make_collection({ENGLISH: [Document("d1", "Dee", first), Document("d2", "橋", second)]})


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


def test_find_without_words_finds_those_of_the_topic(bridges: Collection) -> None:
    """`bridge` is a word of the topic, `paint` is none."""
    printed = sit(bridges, "find", "")
    assert "Its [[bridge]] is old." in after(printed, 1)
    assert "A [[BRIDGE]] needs paint.\n" in after(printed, 1)


def test_all_hits_and_the_whole_text_are_printed(make_collection: Maker) -> None:
    """Nothing is held back: the terminal scrolls."""
    text = "A bridge.\n" * 45
    collection = make_collection({ENGLISH: [Document("d", "", text)]})
    printed = sit(collection, "/bridge")
    assert f"\nDocument d\n{text}\n0/1 " in printed
    assert after(printed, 0).count("[[bridge]]") == 45


def test_guidelines_are_printed_when_new(two_topics: Collection) -> None:
    """Before the first document of a topic, not again once something was decided under them."""
    assert "uidelines" not in sit(two_topics, "?")
    two_topics.guidelines.add("# How to judge\n\nBe *kind*.\n")
    text = "\n# How to judge\n\nBe *kind*.\n"
    first = sit(two_topics, "2")
    assert first.split("\nDocument ")[0].endswith(text)
    assert "\nGuidelines, version 1 of " in first
    assert text not in sit(two_topics, "?")
    two_topics.guidelines.add("Be strict.")
    assert "\nGuidelines, version 2 of " in sit(two_topics, "2").split("\nDocument ")[0]


def test_nothing_hostile_reaches_the_stream(make_collection: Maker) -> None:
    """Whatever is looked up: escapes come as pictures, of documents and of what was typed."""
    text = f"One x{EVIL} bridge.\r\nTwo bridge.{EVIL}"
    topic = Topic("12", f"bridge {EVIL}", f"d{EVIL}", f"n{EVIL}")
    collection = make_collection({topic: [Document("d", f"t{EVIL}", text)]})
    collection.guidelines.add(f"g{EVIL}")
    printed = sit(
        collection,
        *("?", "/ bridge", f"/ {EVIL}", f"note {EVIL}", "e", "", f"c torn {EVIL}", "d", EVIL),
        *("u", "u", "2", EVIL, "", EVIL),
    )
    assert "Topics of alice" in printed
    assert not set("\x1b\x07\x9b\u202e\x00\r") & set(printed)
    assert "␛]0;owned␇" in printed


def test_another_judge_is_nowhere(two_topics: Collection) -> None:
    """Bob's grade, note and terms are in nothing that Alice is shown."""
    bob = JudgingSession(two_topics.desk("bob"), min_dwell=0)
    bob.open_topic("12")
    bob.mark_shown()
    shown(bob).note("bobnote")
    bob.grade(1)
    printed = sit(two_topics, "12", "find", "", "?", "0", topic=None)
    assert "bob" not in printed
    assert not re.findall("(?<!1 = )(?<!1: )partially relevant", printed)
