"""The full screen at a judge's own login: everything it asks of a desk, the login may."""

from __future__ import annotations

import pytest

from store.collection import Collection
from tests.judge_ui.pilots import enter, judging, press
from tests.roles.served import Served

pytestmark = pytest.mark.slow


async def test_a_judge_works_at_the_full_screen(served: Served) -> None:
    """Grades, an undo, a skip, a note, evidence, lists, history, guidelines: all is saved."""
    with Collection(served.url("bob")) as collection:
        async with judging(collection, topic="G06", judge="bob") as pilot:
            await press(pilot, "2", "1", "u", "s", "1", "e")
            await enter(pilot, "why not")
            await press(pilot, "l", "escape", "y", "escape", "t", "escape", "h", "escape")
            await press(pilot, "v", "space", "enter", "q")
    query = (
        "SELECT string_agg(action, ' ' ORDER BY event.id) FROM judgement event"
        " JOIN topic ON topic.id = topic_id JOIN judge ON judge.id = judge_id"
        " WHERE number = 'G06' AND judge.name = 'bob'"
    )
    done = str(served.value(query)).split()
    assert done[:5] == ["judge", "judge", "undo", "skip", "judge"]
    assert "note" in done
