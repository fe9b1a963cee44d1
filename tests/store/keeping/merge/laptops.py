"""Copies of one judge's work on one document, as plain lists: acted on apart, and merged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from hypothesis import strategies as st

from store.keeping.merge.copies import SettleRule, Take
from store.keeping.merge.graph import Chain, Content, CopyEvent, Placed, placed, united
from store.keeping.merge.settle import Settled, settle
from store.records import Action, State

ACTIONS = (
    Action.JUDGE, Action.JUDGE, Action.SKIP, Action.CANNOT, Action.NOTE, Action.MARK, Action.UNDO,
    Action.REOPEN,
)  # fmt: skip

QUIET = (Action.NOTE, Action.MARK)
TAKES = st.sampled_from(
    [Take(State.JUDGED, 0), Take(State.JUDGED, 2), Take(State.SKIPPED), Take(State.UNJUDGED),
     Take(State.UNJUDGED, rule=SettleRule.HIGHEST)]
)  # fmt: skip
"""By hand."""


def moment(number: int) -> str:
    """Write a moment as the store keeps it."""
    return f"2026-03-01 09:{number // 60 % 60:02}:{number % 60:02}.{number // 3600:06}"


def content(action: str, state: str, at: int, **other: Any) -> Content:
    """Make an event of little: action and state after it, at a number of seconds."""
    shown = {"position": 0, "shown_at": None, "dwell_ms": 5, "active_ms": 4, "dropped_keys": 0}
    values: dict[str, Any] = {
        "grade": None, "reason": b"", "note": b"", "iteration": "0", "display_order": "docno",
        "guideline_version": None, "document_sha256": None, "topic_version": None, "settled": None,
        "other": tuple(other.pop(name, value) for name, value in shown.items()), **other,
    }  # fmt: skip
    return Content(action=action, state=state, judged_at=moment(at), **values)


def judged(grade: int, at: int, **other: Any) -> Content:
    """Make a grade."""
    return content("judge", "judged", at, grade=grade, **other)


def act(chain: Chain, action: Action, at: int, *, grade: int = 0, word: bytes = b"") -> list[CopyEvent]:
    """Append what a desk would write: the whole state after an action."""
    last = chain[-1].content if chain else content("reopen", "unjudged", 0)
    kept = {"note": last.note, "passages": last.passages}
    stands = {"state": last.state, "grade": last.grade, "reason": last.reason}
    if action is Action.UNDO:
        if not chain or chain[-1].content.action == Action.SETTLE.value:
            return list(chain)
        number = chain[-1].follows
        number = len(chain) - 1 if number is None else number
        before = chain[number - 1].content if number else content("reopen", "unjudged", 0)
        restored = before._replace(action="undo", judged_at=moment(at), settled=None,
                                   display_order="docno")  # fmt: skip
        return [*chain, CopyEvent(restored, undoes=len(chain))]
    if action is Action.NOTE:
        kept["note"] = word
    elif action is Action.MARK:
        kept["passages"] = ((0, len(word), word),) if word else ()
    else:
        state = {Action.JUDGE: State.JUDGED, Action.SKIP: State.SKIPPED,
                 Action.CANNOT: State.CANNOT, Action.REOPEN: State.UNJUDGED}[action]  # fmt: skip
        is_graded = action is Action.JUDGE
        stands = {"state": state.value, "grade": grade if is_graded else None,
                  "reason": word if action is Action.CANNOT else b""}  # fmt: skip
    state_now = str(stands.pop("state"))
    return [*chain, CopyEvent(content(action.value, state_now, at, **stands, **kept))]


def chain_of(row: Iterable[Placed]) -> list[CopyEvent]:
    """Return placed events as a copy would have them; their tags are the nodes."""
    return [
        CopyEvent(
            one.node.content._replace(display_order=one.display_order), one.undoes, one.follows, one.node
        )
        for one in row
    ]


def merged(*chains: Chain, rule: SettleRule | None = None, take: Take | None = None) -> Settled:
    """Bring copies together."""
    return settle(united(dict(enumerate(chains))), rule=rule, take=take)


def merge(*chains: Chain, rule: SettleRule | None = None, take: Take | None = None) -> list[CopyEvent]:
    """Bring copies together, and return what each of them has then."""
    found = merged(*chains, rule=rule, take=take)
    assert not found.is_open
    return chain_of(placed(found.row))


def bare(chain: Chain) -> list[tuple[object, ...]]:
    """Return a copy's events without the caller's own."""
    return [tuple(event[:3]) for event in chain]


@st.composite
def worked_apart(draw: st.DrawFn, rule: SettleRule = SettleRule.LATEST) -> list[list[CopyEvent]]:
    """Draw 2 to 4 copies: acted on by clocks that may be wrong, some merged in between.

    On some there are but notes and marks; some conflicts are settled by hand.
    """
    n_copies = draw(st.integers(2, 4))
    is_quiet = draw(st.lists(st.booleans(), min_size=n_copies, max_size=n_copies))
    chains: list[list[CopyEvent]] = [[] for _ in range(n_copies)]
    number = count(1)
    for _ in range(draw(st.integers(1, 12))):
        at = draw(st.integers(0, 20))
        copy = draw(st.integers(0, n_copies - 1))
        kind = draw(st.integers(0, 6))
        if kind == 0:
            other = draw(st.integers(0, n_copies - 1))
            chains[copy] = merge(chains[copy], chains[other], rule=rule)
        elif kind == 1:
            chains[copy] = merge(*chains, rule=rule)
        elif kind == 2:
            other = draw(st.integers(0, n_copies - 1))
            take = draw(TAKES)
            chains[copy] = merge(chains[copy], chains[other], rule=rule, take=take)
        else:
            chains[copy] = act(
                chains[copy],
                draw(st.sampled_from(QUIET if is_quiet[copy] else ACTIONS)),
                at,
                grade=draw(st.integers(0, 2)),
                word=draw(st.sampled_from([b"", b"x", b"y"])) and b"%d" % next(number),
            )
    return chains


def states(chain: Sequence[CopyEvent]) -> tuple[object, ...]:
    """Return how a document stands after a copy's last event."""
    last = chain[-1].content
    return last.state, last.grade, last.reason, last.note, last.passages
