"""Evening out loads: as even as the brute force over every allowed choice finds."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pooler.assigning import even_out


@st.composite
def assignments(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw who has what of up to 5 documents and 4 judges, and which of it may be moved."""
    shape = draw(st.integers(0, 5)), draw(st.integers(1, 4))
    cells = st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    assigned = np.array(draw(cells), np.bool_).reshape(shape)
    is_movable = np.array(draw(cells), np.bool_).reshape(shape)
    return assigned, assigned & is_movable


def least_sum_of_squares(assigned: np.ndarray, is_movable: np.ndarray) -> int:
    """Try every way to give the movable documents to judges who have none of it."""
    n_judges = assigned.shape[1]
    choices = []
    for row, movable in zip(assigned, is_movable, strict=True):
        fixed = row & ~movable
        free = [judge for judge in range(n_judges) if not fixed[judge]]
        choices.append([(fixed, some) for some in combinations(free, int(movable.sum()))])
    best = []
    for choice in product(*choices):
        loads = [0] * n_judges
        for fixed, some in choice:
            for judge in range(n_judges):
                loads[judge] += int(fixed[judge]) + (judge in some)
        best.append(sum(load**2 for load in loads))
    return min(best)


@given(assignments())
def test_no_choice_is_more_even(drawn: tuple[np.ndarray, np.ndarray]) -> None:
    """The sum of squared loads is the least there is; immovable places and row sums stay."""
    assigned, is_movable = drawn
    expected = least_sum_of_squares(assigned, is_movable)
    fixed, sums = assigned & ~is_movable, assigned.sum(axis=1)
    even_out(assigned, is_movable)
    assert int((assigned.sum(axis=0) ** 2).sum()) == expected
    assert (assigned | ~fixed).all()
    assert (assigned.sum(axis=1) == sums).all()
    assert not (is_movable & ~assigned).any()


def test_goes_over_a_judge_in_between() -> None:
    """A judge who can hand nothing on to the one with least hands it to another, who does."""
    # Judge 0 keeps two documents and shares the third with judge 2, who has nothing else.
    assigned = np.array([[1, 0, 0], [1, 0, 0], [1, 0, 1], [0, 1, 0], [0, 1, 0]], np.bool_)
    is_movable = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]], np.bool_)
    even_out(assigned, is_movable)
    assert assigned.sum(axis=0).tolist() == [2, 2, 2]
    assert assigned[2].tolist() == [False, True, True]
