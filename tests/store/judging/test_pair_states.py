"""How every document stands, against plain loops over judgements and pools."""

from __future__ import annotations

from store.collection import Collection
from store.judging.states import PairState
from store.records import State
from tests.helpers.filled_collection import fill
from tests.store.drawing import adaptive_pool


def test_standings_of_every_state(collection: Collection) -> None:
    """By hand: see `tests.helpers.filled_collection.fill` for who did what."""
    fill(collection)
    both, main, late = (frozenset(names) for names in (("main", "late"), ("main",), ("late",)))
    assert collection.pool_changes.pair_states() == {
        ("1", "a"): PairState(both, State.JUDGED, 0),
        ("1", "b"): PairState(main, State.JUDGED, 2),  # bob cannot judge it: ann's grade stands
        ("1", "c"): PairState(main, State.JUDGED, 1),  # ann skipped it
        ("1", "d"): PairState(main, State.CANNOT),
        ("1", "e"): PairState(main, State.UNJUDGED),  # a note is no judgement
        ("1", "f"): PairState(main, State.UNJUDGED),
        ("1", "g"): PairState(late, State.UNJUDGED),
        ("1", "h"): PairState(frozenset(), State.JUDGED, 1),  # its pool is withdrawn
        ("2", "a"): PairState(main, State.UNJUDGED),
        ("3", "z"): PairState(frozenset(), State.JUDGED, 2),
    }


def test_what_an_adaptive_pool_may_draw_is_not_pooled(collection: Collection) -> None:
    """Only what was drawn is to be judged."""
    collection.pools.add(adaptive_pool({"1": list("abc")}, budget=2, name="live"))
    assert collection.pool_changes.pair_states() == {}
    collection.pools.draw("live", "1", lambda _draws: "b")
    assert collection.pool_changes.pair_states() == {
        ("1", "b"): PairState(frozenset({"live"}), State.UNJUDGED)
    }
