"""The line mode of an adjudicator: what is printed, and what becomes of the answers."""

from __future__ import annotations

import io
from typing import Any

import pytest

from judge_ui.plain import run_plain
from store.collection import Collection
from tests.judge_ui.conftest import Maker
from tests.judge_ui.disputes import JUDGES, begin, change, make_disputed, rulings


@pytest.fixture
def disputed(make_collection: Maker) -> Collection:
    """Make a collection in which three judges disagree on e0, e1, e3, and two of them on j0."""
    return make_disputed(make_collection)


def plain(collection: Collection, *answers: str, **wanted: Any) -> str:
    """Let the adjudicator give answers and return everything that was printed."""
    session = begin(collection, **wanted)
    write = io.StringIO()
    lines = io.StringIO("".join(f"{answer}\n" for answer in answers))
    run_plain(session, lines, write)
    session.desk.leave()
    return write.getvalue()


def test_line_mode_prints_the_judges_before_the_document(disputed: Collection) -> None:
    """Letters, grades, reasons, notes and passages come before the text; no name comes at all."""
    printed = plain(disputed, "2", "q")
    first, second = printed.split("\nDisagreement on ")[1:]
    assert first.startswith("e0, gap 2\n")
    lines = first.splitlines()
    heads = [line for line in lines if line[:3] in ("A  ", "B  ", "C  ")]
    assert [line[0] for line in heads] == ["A", "B", "C"]
    assert sorted(line[3:] for line in heads) == ["0 not relevant", "2 relevant", "2 relevant"]
    assert '  note: names a schedule\n  passage: "bridge 0"\n' in first
    assert first.index("passage:") < first.index("Document e0") < first.index("Text of bridge 0.")
    assert second.startswith("e1, gap 1\n")
    assert "  can't be judged: unreadable\n" in second
    assert not any(name in printed for name in JUDGES)
    assert rulings(disputed)["e0"].grade == 2


def test_line_mode_says_what_changed(disputed: Collection) -> None:
    """A disagreement that is another one now comes with the old outcome and what it rested on."""
    plain(disputed, "2", "q")
    change(disputed, "alice", "e0", 1)
    printed = plain(disputed, "s", "q")
    assert "changed since 0, 2, 2 was settled as 2\n" in printed
    assert "left for later; 2 stands till then" in printed
    assert "\nDisagreement on e1" in printed
