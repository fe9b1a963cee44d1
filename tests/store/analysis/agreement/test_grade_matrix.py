"""The grade matrix: states and grades kept apart, in an order that the input cannot change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.agreement.votes import (
    CANNOT,
    JUDGED,
    NO_GRADE,
    SKIPPED,
    UNJUDGED,
    GradeMatrix,
    grade_matrix,
)
from store.errors import ArgumentError
from store.records import Judgement, State
from store.text import natural_key

SCALE = (-2, 0, 1, 3)
CODES = {State.UNJUDGED: UNJUDGED, State.SKIPPED: SKIPPED, State.CANNOT: CANNOT, State.JUDGED: JUDGED}


@st.composite
def current_judgements(draw: st.DrawFn) -> list[Judgement]:
    """Draw current states of up to 3 judges, one a cell, in any order."""
    cells = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["1", "2", "10", "T3"]),
                st.sampled_from(["d1", "d2", "d10", "é"]),
                st.sampled_from(["ann", "bob", "cy"]),
            ),
            unique=True,
            max_size=30,
        )
    )
    rows = []
    for topic, docno, judge in cells:
        state = draw(st.sampled_from(State))
        grade = draw(st.sampled_from(SCALE)) if state is State.JUDGED else None
        rows.append(Judgement(topic, docno, judge, state, grade))
    return rows


def same(one: GradeMatrix, other: GradeMatrix) -> bool:
    """Tell whether two matrices hold the same."""
    return (
        (one.topics, one.judges, one.pairs, one.scale_values)
        == (other.topics, other.judges, other.pairs, other.scale_values)
        and np.array_equal(one.topic_codes, other.topic_codes)
        and np.array_equal(one.states, other.states)
        and np.array_equal(one.grades, other.grades)
    )


def test_matrix_states_stay_apart_from_grades() -> None:
    """Every state has its code, and only a judged document has a grade: its place on the scale."""
    rows = [
        Judgement("1", "a", "ann", State.JUDGED, -2),
        Judgement("1", "b", "ann", State.SKIPPED, None),
        Judgement("1", "c", "ann", State.CANNOT, None, reason="no text"),
        Judgement("1", "d", "ann", State.UNJUDGED, None, revision=3),
        Judgement("1", "e", "bob", State.JUDGED, 3),
    ]
    matrix = grade_matrix(rows, SCALE)
    assert matrix.states[:, 0].tolist() == [JUDGED, SKIPPED, CANNOT, UNJUDGED, UNJUDGED]
    assert matrix.grades[:, 0].tolist() == [0, NO_GRADE, NO_GRADE, NO_GRADE, NO_GRADE]
    assert matrix.states[4].tolist() == [UNJUDGED, JUDGED]
    assert matrix.grades[4].tolist() == [NO_GRADE, 3]
    assert matrix.states.dtype == np.int8
    assert matrix.grades.dtype == np.int64
    assert matrix.topic_codes.dtype == np.int64


def test_matrix_topics_in_natural_order_docnos_bytewise() -> None:
    """Topic 9 comes before 10, docno d10 before d9, and judges by name."""
    given_cells = [("10", "d9", "zoe"), ("9", "d9", "ann"), ("9", "d10", "zoe"), ("10", "D", "ann")]
    rows = [Judgement(*cell, State.JUDGED, 0) for cell in given_cells]
    matrix = grade_matrix(rows, SCALE)
    assert matrix.topics == ("9", "10")
    assert matrix.judges == ("ann", "zoe")
    assert matrix.pairs == (("9", "d10"), ("9", "d9"), ("10", "D"), ("10", "d9"))
    assert matrix.topic_codes.tolist() == [0, 0, 1, 1]


@given(current_judgements(), st.randoms())
def test_matrix_input_order_changes_nothing(rows: list[Judgement], random: object) -> None:
    """The same judgements in another order give the same matrix."""
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert same(grade_matrix(shuffled, SCALE), grade_matrix(rows, SCALE))


@given(current_judgements())
def test_matrix_holds_every_judgement_in_its_cell(rows: list[Judgement]) -> None:
    """Looking a judgement up by topic, docno and judge gives its state and grade back."""
    matrix = grade_matrix(rows, SCALE)
    assert list(matrix.pairs) == sorted(
        {(row.topic, row.docno) for row in rows}, key=lambda pair: (natural_key(pair[0]), pair[1])
    )
    assert [matrix.topics[code] for code in matrix.topic_codes] == [pair[0] for pair in matrix.pairs]
    by_cell = {(row.topic, row.docno, row.judge): row for row in rows}
    for index, pair in enumerate(matrix.pairs):
        for column, judge in enumerate(matrix.judges):
            row = by_cell.get((*pair, judge))
            if row is None:
                assert matrix.states[index, column] == UNJUDGED
            else:
                assert matrix.states[index, column] == CODES[row.state]
            grade = matrix.grades[index, column]
            value = None if row is None else row.grade
            assert (None if grade == NO_GRADE else SCALE[grade]) == value


def test_matrix_highest_revision_is_the_current_state() -> None:
    """Of several revisions the highest counts, wherever it stands, even over an odd old grade."""
    first = Judgement("1", "a", "ann", State.JUDGED, 9)
    rows = [
        replace(first, revision=3, grade=1),
        first,
        replace(first, revision=2, state=State.SKIPPED, grade=None),
        replace(first, docno="b", grade=3),
    ]
    matrix = grade_matrix(rows, SCALE)
    assert matrix.states[:, 0].tolist() == [JUDGED, JUDGED]
    assert matrix.grades[:, 0].tolist() == [2, 3]


def test_matrix_revision_twice_is_refused() -> None:
    """Two rows that claim to be the same revision contradict one another."""
    row = Judgement("7", "a", "ann", State.JUDGED, 0, revision=2)
    with pytest.raises(ArgumentError, match="revision 2 twice: topic `7`, document `a`, judge `a"):
        grade_matrix([row, replace(row, grade=1)], SCALE)


@pytest.mark.parametrize("grade", [2, None])
def test_matrix_grade_off_the_scale_is_refused(grade: int | None) -> None:
    """A judged document without a grade of the scale is an error that says where."""
    rows = [Judgement("1", "a", "ann", State.JUDGED, 0), Judgement("1", "b", "ann", State.JUDGED, grade)]
    with pytest.raises(ArgumentError) as caught:
        grade_matrix(rows, SCALE)
    assert str(caught.value) == (
        "`grade` must be one of [-2, 0, 1, 3] (topic `1`, document `b`, judge `ann`)"
        + ("" if grade is None else f", but got {grade}")
    )


def test_matrix_grade_without_judged_state_is_not_read() -> None:
    """A grade beside another state than judged is no judgement."""
    matrix = grade_matrix([Judgement("1", "a", "ann", State.SKIPPED, 3)], SCALE)
    assert matrix.grades.tolist() == [[NO_GRADE]]


@pytest.mark.parametrize("values", [(), (1,), (0, 0), (1, 0)])
def test_matrix_scale_that_does_not_ascend_is_refused(values: tuple[int, ...]) -> None:
    """The scale is at least two grades, ascending."""
    with pytest.raises(ArgumentError, match="must be at least two grades, ascending"):
        grade_matrix([], values)


def test_matrix_without_judgements_is_empty() -> None:
    """No judgements give no rows and no columns."""
    matrix = grade_matrix([], SCALE)
    assert (matrix.topics, matrix.judges, matrix.pairs) == ((), (), ())
    assert matrix.states.shape == matrix.grades.shape == (0, 0)
    assert matrix.topic_codes.shape == (0,)
