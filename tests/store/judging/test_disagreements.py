"""Disagreements as values: what counts, how far apart, which letter, what stands, which cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

from store.judging import disagreements as told
from store.judging.disagreements import (
    Case,
    GivenGrade,
    Ruling,
    Selection,
    Settlement,
    Vote,
    count_cells,
    lettered,
)
from store.judging.events import ruling_of
from store.records import Action, State

AT = datetime(2026, 3, 1, tzinfo=UTC)
given_grades = st.one_of(st.none(), st.integers(-2, 3))


def case_of(*given: GivenGrade, ruling: Ruling | None = None, topic: str = "1", docno: str = "d") -> Case:
    """Make a case of judges 1, 2, ... and their verdicts."""
    votes = tuple(Vote(judge, given_grade) for judge, given_grade in enumerate(given, start=1))
    return Case(topic, docno, 1, 1, votes, ruling)


def test_letters_are_the_same_however_votes_come() -> None:
    """The order of a document's letters does not depend on the order in which votes are read."""
    votes = [Vote(judge, 1) for judge in range(1, 6)]
    assert lettered("1", "d", votes) == lettered("1", "d", votes[::-1])
    assert sorted(lettered("1", "d", votes), key=lambda vote: vote.judge) == votes


def test_no_letter_is_a_judge() -> None:
    """Over many documents each of the six orders of three judges comes about as often.

    Of 3,000 documents 500 each, give or take five standard deviations of 20.4.
    """
    votes = [Vote(judge, judge) for judge in (1, 2, 3)]
    orders = Counter(
        tuple(vote.judge for vote in lettered(f"{number % 50}", f"doc{number}", votes))
        for number in range(3000)
    )
    assert len(orders) == 6
    assert all(abs(count - 500) < 102 for count in orders.values())


def test_status_says_what_has_become_of_it() -> None:
    """Without a ruling it is open; with one it is settled, changed since, or not needed."""
    ruling = Ruling(9, 2, basis="0,2")
    assert case_of(0, 2).status is Settlement.OPEN
    assert case_of(2, 0, ruling=ruling).status is Settlement.SETTLED
    assert case_of(1, 2, ruling=ruling).status is Settlement.CHANGED
    assert case_of(0, 2, 2, ruling=ruling).status is Settlement.CHANGED
    assert case_of(None, 2, ruling=ruling).status is Settlement.CHANGED
    assert case_of(2, 2, ruling=ruling).status is Settlement.UNNEEDED
    assert case_of(ruling=ruling).status is Settlement.UNNEEDED


def test_ruling_on_unknown_grounds_stands() -> None:
    """An imported ruling rests on verdicts that nobody wrote down: it is never out of date."""
    assert case_of(1, 2, ruling=Ruling(9, 2)).status is Settlement.SETTLED


def test_judges_who_exchange_their_grades_disagree_as_before() -> None:
    """0 against 2 is the same disagreement as 2 against 0."""
    assert case_of(2, 0, ruling=Ruling(9, 1, basis="0,2")).status is Settlement.SETTLED


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["judge", "cannot", "skip", "note", "mark", "undo"]), given_grades), max_size=12
)


@given(ACTIONS)
def test_standing_ruling_equals_a_stack_of_states(actions: list[tuple[str, GivenGrade]]) -> None:
    """Over any events, undo included, what stands is the top of a plain stack."""
    history: list[Any] = []
    stack: list[tuple[int, tuple[int, GivenGrade] | None]] = [(0, None)]
    for event, (name, grade) in enumerate(actions, start=1):
        action, undoes = Action(name), None
        document_states = stack[-1][1]
        if action is Action.UNDO:
            if len(stack) == 1:
                continue
            undoes, _ = stack.pop()
        elif action is Action.JUDGE:
            stack.append((event, (event, grade)))
        elif action is Action.CANNOT:
            grade = None
            stack.append((event, (event, None)))
        else:
            stack.append((event, None if action is Action.SKIP else document_states))
        state = {Action.JUDGE: State.JUDGED, Action.CANNOT: State.CANNOT}.get(action, State.SKIPPED)
        order = f"docno opinions:{event}"
        known: dict[str, Any] = {"undoes": undoes, "display_order": order, "judged_at": AT}
        known |= {"action": action, "state": state, "grade": grade}
        history.append(SimpleNamespace(id=event, revision=len(history) + 1, **known))
    ruling = ruling_of(7, history) if history else None
    expected = stack[-1][1]
    if expected is None:
        assert ruling is None
    else:
        event, grade = expected
        assert ruling == Ruling(7, grade, event, basis=str(event), at=AT)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=30))
def test_cells_of_two_judges_are_their_kappa_table(rows: Sequence[tuple[int, int]]) -> None:
    """A cell and its mirror image in scikit-learn's table add up to the cell counted here."""
    counted = {count.cell: count.documents for count in count_cells(case_of(*row) for row in rows)}
    table = confusion_matrix(
        [row[0] for row in rows] or [0], [row[1] for row in rows] or [0], labels=[0, 1, 2]
    )
    for low, high in ((0, 1), (0, 2), (1, 2)):
        assert counted.get((low, high), 0) == table[low, high] + table[high, low]


def test_cells_say_what_was_settled_as_what() -> None:
    """A cell knows its documents and outcomes; a ruling on other grades settles nothing.

    A document with three verdicts is in three cells.
    """
    cases = [
        case_of(0, 2, ruling=Ruling(9, 2, basis="0,2")),
        case_of(2, 0, ruling=Ruling(9, None, basis="0,2")),
        case_of(0, 2, ruling=Ruling(9, 1, basis="0,1")),
        case_of(1, None, 2),
        case_of(1, 1, ruling=Ruling(9, 1, basis="0,1")),
    ]
    counts = count_cells(cases)
    assert [(one.cell, one.documents, one.settled, one.outcomes) for one in counts] == [
        ((0, 2), 3, 2, {2: 1, None: 1}),
        ((1, 2), 1, 0, {}),
        ((1, None), 1, 0, {}),
        ((2, None), 1, 0, {}),
    ]


@given(
    st.lists(given_grades, min_size=1, max_size=4),
    st.one_of(st.none(), st.integers(1, 5)),
    st.one_of(st.none(), st.tuples(given_grades, given_grades).filter(lambda cell: cell[0] != cell[1])),
)
def test_selection_equals_looking_at_every_two_judges(
    given: list[GivenGrade], gap: int | None, cell: tuple[GivenGrade, GivenGrade] | None
) -> None:
    """Gap and cell ask whether some two judges stand so to each other."""
    twos = [(one, other) for one in given for other in given if one != other]
    expected = bool(twos)
    if gap is not None:
        expected &= any(None not in two and two[0] - two[1] >= gap for two in twos)  # type: ignore[operator]
    if cell is not None:
        expected &= cell in twos
    assert Selection(gap=gap, cell=cell).takes(case_of(*given)) == expected


def test_selection_of_a_topic_takes_no_other() -> None:
    """Topics are compared as text."""
    case = replace(case_of(0, 1), topic="01")
    assert Selection("01").takes(case)
    assert not Selection("1").takes(case)


def test_unresolved_is_what_a_rule_leaves_tied() -> None:
    """Three grades are tied by majority, two middle ones by median; `cannot` is no vote."""
    majority, median = (Selection(unresolved=rule) for rule in ("majority", "median"))  # type: ignore[arg-type]
    for verdicts_, expected in (
        ((0, 1, 2), (True, False)),
        ((0, 0, 1, 2), (False, True)),
        ((0, 2), (True, True)),
        ((0, 0, 2), (False, False)),
        ((0, None, 2), (True, True)),
        ((0, None), (False, False)),
        ((1, 1), (False, False)),
    ):
        case = case_of(*verdicts_)
        assert (majority.takes(case), median.takes(case)) == expected


def test_grades_given_differ_with_a_gap_or_without() -> None:
    """A grade against cannot is a disagreement without a gap; cannot twice is none."""
    assert [told.is_disagreement(given) for given in ([2, 2, 0], [2, None], [None, None])] == [
        True,
        True,
        False,
    ]
    assert [told.gap_of(given) for given in ([0, 3, 1], [2, None], [-2, 0, None])] == [3, None, 2]


def test_basis_is_written_and_read() -> None:
    """In the order of grades, then cannot; an order that a desk of a judge wrote has none."""
    assert told.basis_of([2, None, 0]) == "0,2,cannot"
    assert (told.read_basis("0,2,cannot"), told.read_basis("")) == ((0, 2, None), ())
    told_of = told.display_order([1, 0], ("human", "model"))
    assert told_of == "docno opinions of human,model:0,1"
    assert told.seen_opinions(told_of) == ("0,1", ("human", "model"))
    assert told.seen_opinions(told.display_order([2, 0]))[1] == told.seen_opinions(None)[1] == ()
    for foreign in ("docno opinions of martian:0,1", "docno opinions of ,:0", "docno opinions of human:foo"):
        assert told.seen_opinions(foreign) == (None, ())
    seen = [told.seen_opinions(order)[0] for order in (told.display_order([2, None, 0]), "docno", None)]
    assert seen == ["0,2,cannot", None, None]


def test_letters_go_on_after_z() -> None:
    """As the columns of a spreadsheet do."""
    assert [told.letter(place) for place in (0, 25, 26, 27 * 26)] == ["A", "Z", "AA", "AAA"]
