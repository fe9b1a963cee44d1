"""A terminal that goes without a word, as when a container's session breaks off."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.records import State
from tests.judge_ui.conftest import ENGLISH, Document, Maker
from tests.judge_ui.pty_terminal import PtyTerminal, begin, judge


@pytest.mark.slow
def test_program_ends_when_its_terminal_is_gone(make_collection: Maker, collection_file: Path) -> None:
    """It reads nothing from then on, ends by itself, and what was judged is saved."""
    documents = [Document(f"d{n}", f"Title {n}", f"Text {n}.") for n in range(3)]
    collection = make_collection({ENGLISH: documents})
    with PtyTerminal(judge(collection_file, "--topic", "12")) as opened:
        begin(opened)
        opened.wait_for("Text 0.", "now: -")
        opened.until_quiet(0.4)
        opened.send(b"2")
        opened.wait_for("Text 1.")
        opened.vanish()
        assert opened.process.wait(timeout=20) in (0, 1)
    [judged] = collection.judgements.current()
    assert (judged.docno, judged.state, judged.grade) == ("d0", State.JUDGED, 2)
