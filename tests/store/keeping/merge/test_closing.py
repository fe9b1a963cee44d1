"""The event that closes a history with several ends."""

from __future__ import annotations

from store.keeping.merge.graph import OTHER, CopyEvent, ancestors_of, in_order, united
from store.keeping.merge.settle import closing
from store.records import State
from tests.store.keeping.merge.laptops import judged, moment


def test_settlement_has_nothing_that_a_screen_measured() -> None:
    """No judge sat before a settlement: no key was dropped, nothing was shown or timed.

    Its moment is that of its latest end, the grade given at 5 seconds.
    """
    graph = united(
        {
            0: [CopyEvent(judged(1, 5, dropped_keys=3, shown_at=moment(4)))],
            1: [CopyEvent(judged(2, 3, dropped_keys=2, shown_at=moment(1)))],
        }
    )
    row = in_order(graph)
    first = row[0]
    made = closing(graph, ancestors_of(row), row, first, first, "highest", State.JUDGED, 2).content
    shown = {"position": None, "shown_at": None, "dwell_ms": None, "active_ms": None, "dropped_keys": 0}
    assert dict(zip(OTHER, made.other, strict=True)) == shown
    assert made.judged_at == moment(5)
