"""Screens as text: a change of layout is a diff that can be read.

Below each line of a snapshot stands, where anything stands out in it, which cells are bold (b),
reversed (r), both (B), underlined (u), bold and underlined (U). Run with POOLER_SNAPSHOTS=write
to write them anew; read every line of the diff.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual.pilot import Pilot
from textual.strip import Strip

from judge_ui.session.session import JudgingSession
from store.collection import Collection
from store.records import Document, Topic
from tests.judge_ui.conftest import Maker
from tests.judge_ui.pilots import judging, press, strips

SNAPSHOTS = Path(__file__).with_name("snapshots")

BRIDGES = Topic(
    "12",
    "bridge maintenance schedules",
    "Which bridges are maintained on a schedule, and who pays for it?",
    "A relevant document names a schedule of maintenance of at least one bridge, such as yearly"
    " inspections, and says who carries it out. Documents about the construction of bridges are"
    " not relevant, nor are those that mention one in passing.",
)
SEARCH = Topic(
    "0013",
    "情報検索の評価",
    "テストコレクションの構築法に関する文書",
    "適合文書は、判定の一致度または構築の費用を述べていること。",
)
TEXT = (
    "The old bridge over the river was inspected in 1998. The county pays for it every third"
    " year, on a schedule that the ministry approves.\n\n"
) * 6
JAPANESE_TEXT = "判定対象の文書は、①新聞記事と（技術）論文の抄録である。ー々「」『』検索の評価。" * 9
GUIDELINES = """# How to judge

Judge a document **relevant** if any part of it is.

- 2: one of its subjects, or a section of its own that somebody who looks for the topic would read
- 0: anything else
"""


@pytest.fixture
def collection(make_collection: Maker, monkeypatch: pytest.MonkeyPatch) -> Collection:
    """Make a topic in English and one in Japanese, with guidelines, on a machine of one name."""
    monkeypatch.setattr("socket.gethostname", lambda: "desktop")
    monkeypatch.delenv("NO_COLOR", raising=False)
    english = [Document(f"FT911-{3000 + n}", f"Bridge {n} is kept", TEXT) for n in range(12)]
    japanese = [Document(f"ja-{n:06}", f"評価用文書 {n}", JAPANESE_TEXT) for n in range(3)]
    made = make_collection({BRIDGES: english, SEARCH: japanese}, scale="0-3")
    made.guidelines.add(GUIDELINES)
    return made


def check(pilot: Pilot[None], name: str) -> None:
    """Compare the screen with its snapshot, or write that."""
    shown = drawn(strips(pilot))
    file = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("POOLER_SNAPSHOTS") == "write":
        SNAPSHOTS.mkdir(exist_ok=True)
        file.write_text(shown, "utf-8")
    assert shown == file.read_text("utf-8")


def drawn(lines: Sequence[Strip]) -> str:
    """Write a screen as text, times of day and dates as if they stood still."""
    text = []
    for line in lines:
        plain = re.sub(r"\b\d\d:\d\d(:\d\d)?\b", lambda time: "12:34:56"[: len(time[0])], line.text)
        plain = re.sub(r"\b20\d\d-\d\d-\d\d\b", "2025-11-21", plain)
        # The scrollbar is in the last column; how it is drawn is Textual's business.
        text.append(f"|{plain.rstrip(' ▁▂▃▄▅▆▇█')}")
        marks = "".join(mark(piece.style) * cell_len(piece.text) for piece in line)[:-1]
        if marks.strip():
            text.append(f":{marks.rstrip()}")
    return "\n".join(text) + "\n"


def mark(style: Style | None) -> str:
    """Return the letter of what stands out."""
    if style is None:
        return " "
    looks = (bool(style.bold), bool(style.reverse), bool(style.underline))
    letters = {
        (False, False, False): " ",
        (True, False, False): "b",
        (False, True, False): "r",
        (True, True, False): "B",
        (False, False, True): "u",
        (True, False, True): "U",
    }
    return letters.get(looks, "?")


@pytest.mark.parametrize(
    "size",
    [
        (80, 24),
        pytest.param((120, 40), marks=pytest.mark.slow),
        pytest.param((40, 12), marks=pytest.mark.slow),
    ],
)
async def test_judging_looks_as_it_did(collection: Collection, size: tuple[int, int]) -> None:
    """The header, the narrative, the document, the grades and the hints, at three sizes."""
    async with judging(collection, size=size) as pilot:
        await press(pilot, "2", "e", *"see p. 3", "enter")
        check(pilot, f"judge-{size[0]}x{size[1]}")


@pytest.mark.parametrize("no_color", ["", "1"])
async def test_without_colours_nothing_looks_otherwise(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, no_color: str
) -> None:
    """NO_COLOR, set to anything or empty, takes nothing away that means something."""
    monkeypatch.setenv("NO_COLOR", no_color)
    async with judging(collection) as pilot:
        await press(pilot, "2", "e", *"see p. 3", "enter")
        check(pilot, "judge-80x24")


async def test_japanese_looks_as_it_did(collection: Collection) -> None:
    """Every character is at its place, two cells wide."""
    async with judging(collection, topic="0013") as pilot:
        await press(pilot, "1")
        check(pilot, "judge-japanese-80x24")


async def test_the_ways_in_and_out_look_as_they_did(collection: Collection, clock: Any) -> None:
    """The topics, the briefing, and the end of a topic."""
    async with judging(collection, topic=None, clock=clock) as pilot:
        check(pilot, "topics-80x24")
        await press(pilot, "enter")
        check(pilot, "briefing-80x24")
        await press(pilot, "enter")
        for n, key in enumerate("2013s2012231"):
            clock.wait(0.5 if n % 4 == 0 else 12)
            await press(pilot, key)
        check(pilot, "summary-80x24")
        await press(pilot, "escape")
        check(pilot, "topics-forecast-80x24")


async def test_lists_and_questions_look_as_they_did(collection: Collection) -> None:
    """The list of documents, the history, the palette, a question, and one about two sittings."""
    async with judging(collection) as pilot:
        await press(pilot, "2", "s", "u", "c", "1", "l")
        check(pilot, "list-80x24")
        await press(pilot, "l", "y")
        check(pilot, "history-80x24")
        await press(pilot, "y", "ctrl+p")
        check(pilot, "palette-80x24")
        await press(pilot, "escape", "c")
        check(pilot, "reason-80x24")
        await press(pilot, "escape")
        other = JudgingSession(collection.desk("alice"), min_dwell=0)
        other.open_topic("12")
        other.mark_shown()
        other.grade(1)
        await press(pilot, "2")
        check(pilot, "conflict-80x24")
        other.desk.leave()
