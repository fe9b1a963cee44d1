"""Notes and reasons that were removed on one copy, and what other copies still have of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from store.keeping.merge.copies import SettleRule
from store.keeping.merge.graph import Chain, CopyEvent, placed, united
from store.keeping.merge.histories import without_forgotten
from store.keeping.merge.settle import settle
from store.records import Action
from tests.store.keeping.merge.laptops import ACTIONS, act, bare, chain_of, content, judged

WORDED = CopyEvent(content("cannot", "cannot", 1, reason=b"torn"))
NOTED = CopyEvent(content("note", "cannot", 2, reason=b"torn", note=b"ask Eve"))


def emptied(chain: Chain) -> list[CopyEvent]:
    """Take notes and reasons away."""
    return [event._replace(content=event.content._replace(note=b"", reason=b""))
            for event in chain]  # fmt: skip


def words(chain: Chain) -> list[tuple[bytes, bytes]]:
    """Return the notes and reasons of a chain."""
    return [(event.content.note, event.content.reason) for event in chain]


def brought_together(*chains: Chain) -> list[CopyEvent]:
    """Merge copies, emptying what one of them has emptied."""
    graph = united(without_forgotten(dict(enumerate(chains))))
    return chain_of(placed(settle(graph, rule=SettleRule.LATEST).row))


def test_words_are_taken_from_events_that_kept_them() -> None:
    """Torn and noted on all; emptied on one; the other graded it later, the old note with it."""
    later = CopyEvent(judged(1, 5, note=b"ask Eve"))
    anew = CopyEvent(content("note", "judged", 6, grade=1, note=b"ask Bob"))
    old = [WORDED, NOTED, later, anew]
    found = without_forgotten({0: old, 1: emptied([WORDED, NOTED])})
    assert words(found[0]) == [(b"", b""), (b"", b""), (b"", b""), (b"ask Bob", b"")]
    assert words(found[1]) == [(b"", b""), (b"", b"")]
    assert words(without_forgotten({0: old, 1: old[:2]})[0]) == words(old)


def test_two_notes_of_one_moment_are_two_events() -> None:
    """Neither was emptied: both stay."""
    chains = {number: [CopyEvent(content("note", "unjudged", 2, note=note))]
              for number, note in enumerate((b"x", b"y"))}  # fmt: skip
    assert without_forgotten(chains) == chains


@st.composite
def gone_on(draw: st.DrawFn) -> list[list[CopyEvent]]:
    """Draw three copies of one beginning, each gone on with; no two events are of one moment."""
    clock = itertools.count(1)

    def go_on(chain: Sequence[CopyEvent], most: int) -> list[CopyEvent]:
        for _ in range(draw(st.integers(0, most))):
            action = draw(st.sampled_from([one for one in ACTIONS if one is not Action.MARK]))
            at = next(clock)
            chain = act(chain, action, at, grade=at % 3, word=b"word %d" % at)
        return list(chain)

    start = go_on([], 4)
    return [go_on(start, 3) for _ in range(3)]


@given(chains=gone_on())
def test_removed_words_stay_removed_in_any_order(chains: list[list[CopyEvent]]) -> None:
    """However three copies are merged of which one is emptied, no event is there twice."""
    chains[1] = emptied(chains[1])
    every = {event.content.judged_at for chain in chains for event in chain}
    found = []
    for order in itertools.permutations(chains):
        first = brought_together(*order[:2])
        found += [brought_together(first, order[2]), brought_together(order[2], first)]
        found.append(brought_together(*order))
    assert all(bare(one) == bare(found[0]) for one in found)
    acted = [event.content.judged_at for event in found[0] if event.content.action != "settle"]
    assert sorted(acted) == sorted(every)
    of_emptied = {event.content.judged_at for event in chains[1]}
    assert {told for told, event in zip(words(found[0]), found[0], strict=True)
            if event.content.judged_at in of_emptied and event.content.action != "settle"} <= {
        (b"", b"")
    }  # fmt: skip
