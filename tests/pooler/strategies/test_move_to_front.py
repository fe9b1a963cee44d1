"""`pooler.strategies.adaptive`: stay while it pays."""

from __future__ import annotations

from hypothesis import given

from pooler.strategies.adaptive import MoveToFront
from pooler.strategies.rankings import rankings_of
from tests.pooler.strategies.adaptive import (
    Decisions,
    Log,
    Rows,
    drawn_decisions,
    drawn_rankings,
    play,
    relive,
    rows_of,
)


def test_move_to_front_worked_example() -> None:
    """Three runs by hand: staying, leaving, passing over, and a run that ends."""
    # Priorities of the three runs, the current one in brackets, before each document:
    # [0] 0 0   a relevant, stay.
    # [0] 0 0   b not: the first run falls, the second is the first of the highest.
    # -1 [0] 0  e relevant, stay; b was judged and is passed over.
    # -1 [0] 0  f not: the second run falls (and ends), the third is highest.
    # -1 -1 [0] g not: the third falls; the second has ended, the first remains.
    # [-1] . -1 c relevant, stay.
    # [-1] . -1 d not: falls to -2 (and ends). The third goes on: a was judged, h.
    rankings = [["a", "b", "c", "d"], ["e", "b", "f"], ["g", "a", "h"]]
    outcomes = {"a": True, "e": True, "c": True}
    assert play("mtf", rankings, outcomes) == "a b e f g c d h"


def test_move_to_front_without_judgement_stays() -> None:
    """A document that nobody judged neither rewards nor costs its run."""
    assert play("mtf", [["a", "b", "c"], ["d"]], {"a": None, "b": None}) == "a b c d"


def test_move_to_front_last_run_goes_on_alone() -> None:
    """A run with no other left is stayed with, however little it gives."""
    assert play("mtf", [["a", "b", "c"]], {}) == "a b c"


def test_move_to_front_late_judgement_charges_the_run_at_whose_head_it_stands() -> None:
    """A relevant document out of turn brings its run to the front; another one holds it back."""
    rankings, docnos = rankings_of([["a", "b"], ["c", "d"], ["e", "f"]])
    state = MoveToFront(rankings)
    state.observe(docnos.index("c"), True)
    assert docnos[state.choose()] == "d"
    state = MoveToFront(rankings)
    state.observe(docnos.index("c"), False)
    assert docnos[state.choose()] == "a"
    state.observe(docnos.index("a"), False)
    # The second run has fallen before, so the third one follows the first.
    assert docnos[state.choose()] == "e"


def test_move_to_front_document_at_no_head_is_marked_only() -> None:
    """A document from further down says nothing about its run, but does not come again."""
    rankings, docnos = rankings_of([["a", "b", "c"], ["d", "e"]])
    state = MoveToFront(rankings)
    state.observe(docnos.index("b"), False)
    state.observe(docnos.index("e"), True)
    assert docnos[state.choose()] == "a"
    state.observe(docnos.index("a"), True)
    assert docnos[state.choose()] == "c"


def test_move_to_front_late_failure_of_another_run_leaves_the_current_one() -> None:
    """A run that is paying stays in front, even when others have a higher priority."""
    # a, d, g and k fail: -1 everywhere, and the first run, first by tag, has b.
    rankings, docnos = rankings_of([["a", "b", "c", "x"], ["d", "e"], ["g", "h", "i"], ["k", "l"]])
    state = MoveToFront(rankings)
    for docno in "a", "d", "g", "k":
        state.observe(docnos.index(docno), False)
    assert docnos[state.choose()] == "b"
    state.observe(docnos.index("b"), False)
    # Now -2, -1, -1, -1, and the second run is current; c, relevant, brings the first back.
    assert docnos[state.choose()] == "e"
    state.observe(docnos.index("c"), True)
    assert docnos[state.choose()] == "x"
    # h fails out of turn: the third falls to -2, and the first stays, though two have -1.
    state.observe(docnos.index("h"), False)
    assert docnos[state.choose()] == "x"


def test_move_to_front_document_at_several_heads_is_the_current_run_s() -> None:
    """The current run answers for a document, not another run with the same head."""
    # As above the first run is current with -2, the second has -1, and both have x at the head.
    rankings, docnos = rankings_of([["a", "b", "c", "x", "y"], ["d", "x", "z"]])
    state = MoveToFront(rankings)
    for docno, relevant in ("a", False), ("d", False), ("b", False), ("c", True):
        state.observe(docnos.index(docno), relevant)
    assert docnos[state.choose()] == "x"
    # Relevant: the first run goes on.
    state.observe(docnos.index("x"), True)
    assert docnos[state.choose()] == "y"


def _head(rows: Rows, run: int, seen: list[int]) -> int | None:
    """Return the first unobserved document of a run."""
    return next((document for document in rows[run] if document not in seen), None)


def _best(rows: Rows, seen: list[int], priorities: list[int], but: int | None) -> int | None:
    """Return the run of the highest priority with documents left."""
    runs = [run for run in range(len(rows)) if run != but and _head(rows, run, seen) is not None]
    return min(runs, key=lambda run: (-priorities[run], run), default=None)


def _next(rows: Rows, log: Log) -> int | None:
    """Work out the next document from the whole log: the docstring of `MoveToFront`, slowly."""
    seen: list[int] = []
    priorities = [0] * len(rows)
    current = _best(rows, seen, priorities, None)
    for document, relevant in log:
        at_head = [run for run in range(len(rows)) if _head(rows, run, seen) == document]
        seen.append(document)
        if relevant is not None and at_head:
            taken_from = min(at_head, key=lambda run: (run != current, -priorities[run], run))
            if relevant:
                current = taken_from
            else:
                priorities[taken_from] -= 1
                if taken_from == current:
                    other = _best(rows, seen, priorities, current)
                    current = current if other is None else other
        if current is not None and _head(rows, current, seen) is None:
            current = _best(rows, seen, priorities, None)
    return None if current is None else _head(rows, current, seen)


@given(runs=drawn_rankings, decisions=drawn_decisions)
def test_move_to_front_equals_the_definition(runs: list[list[str]], decisions: Decisions) -> None:
    """Every choice is the one worked out from all that was observed, in whatever order it came."""
    rankings, _ = rankings_of(runs)
    rows = rows_of(rankings)

    def check(chosen: int | None, log: Log) -> None:
        assert chosen == _next(rows, log)

    relive(MoveToFront(rankings), rankings, decisions, check)
