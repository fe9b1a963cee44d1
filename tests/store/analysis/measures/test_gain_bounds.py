"""Bounds of nDCG: every filling of small lists, with both gains and both discounts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.bounds import score_bounds
from store.analysis.measures.gain import Discount, Gain
from store.analysis.measures.names import MeasureName
from store.errors import ArgumentError
from tests.store.analysis.measures.incomplete import in_arrays, one_list
from tests.store.analysis.measures.plain_gain import plain_gain

DISCOUNTS: tuple[Discount, ...] = ("log2", "jarvelin")
NAMES = {
    (gain, discount): ("exp-" if gain == "exponential" else "") + discount
    for gain in get_args(Gain)
    for discount in DISCOUNTS
}


def plain_ndcg(name: MeasureName, grades: list[int], missed: Sequence[int]) -> float | None:
    """Compute nDCG by its definition; ``None`` where nothing has a gain."""
    ideal = plain_gain(name, sorted([*grades, *missed], reverse=True))
    return plain_gain(name, grades) / ideal if ideal else None


def check(
    labels: str, missed: Sequence[int], free: Sequence[bool], scale: Sequence[int], *,
    gain: Gain, discount: Discount, cutoff: int | None,
) -> None:  # fmt: skip
    """Compare both bounds with the extremes over all grades of the free ranks."""
    qrels = {f"d{place}": int(label) for place, label in enumerate(labels) if not free[place]}
    qrels |= {f"m{place}": grade for place, grade in enumerate(missed)}
    run = {f"d{place}": -float(place) for place in range(len(labels))}
    rankings = in_arrays({"t": qrels}, {"a": {"t": run}})
    name = MeasureName("nDCG", cutoff=cutoff, dcg=NAMES[gain, discount])  # type: ignore[arg-type]
    (bounds,) = score_bounds(rankings, [name], scale=scale)
    values = []
    for filling in itertools.product(scale, repeat=sum(free)):
        left = iter(filling)
        grades = [next(left) if free[i] else int(label) for i, label in enumerate(labels)]
        values.append(plain_ndcg(name, grades, missed))
    defined = [value for value in values if value is not None] or [np.nan]
    found, expected = [bounds.lower.item(), bounds.upper.item()], [min(defined), max(defined)]
    told = f"{labels} {missed} {free} {scale} {name}"
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15, err_msg=told)


@given(
    st.text("0123", min_size=1, max_size=6), st.lists(st.integers(-1, 4), max_size=3),
    st.lists(st.booleans(), min_size=6, max_size=6).filter(lambda free: sum(free) < 6),
    st.sampled_from([(0, 1), (0, 1, 3), (2, -1), (0, 4), (1, 2), (3,), (-1,)]),
    st.sampled_from(get_args(Gain)), st.sampled_from(DISCOUNTS), st.none() | st.integers(1, 5),
)  # fmt: skip
def test_bounds_are_attained_and_no_filling_is_outside(
    labels: str, missed: list[int], free: list[bool], scale: tuple[int, ...], gain: Gain,
    discount: Discount, cutoff: int | None,
) -> None:  # fmt: skip
    """Whatever is judged, missed, cut off, and of whatever scale."""
    flags = free[: len(labels)]
    check(labels, missed, flags, scale, gain=gain, discount=discount, cutoff=cutoff)


@pytest.mark.parametrize("cutoff", [None, 1, 2])
@pytest.mark.parametrize("gain", get_args(Gain))
@pytest.mark.parametrize("discount", DISCOUNTS)
def test_every_list_of_three_ranks(gain: Gain, discount: Discount, cutoff: int | None) -> None:
    """Of grades 0 to 2 and free documents, with a document of grade 1 missed, or one of 3."""
    for free in itertools.product([False, True], repeat=3):
        known = ["0" if one else "012" for one in free]
        for labels in itertools.product(*known):
            for missed in ([], [1], [3]):
                check("".join(labels), missed, free, (0, 1, 2),
                      gain=gain, discount=discount, cutoff=cutoff)  # fmt: skip


def test_best_grade_may_be_in_between() -> None:
    """Of 1, ?, 1 the best is 1, and of 1, ?, 1 with a 2 missed it is 2."""
    for missed, best in (("", [1, 1, 1]), ("2", [1, 2, 1])):
        rankings = one_list("1?1", missed)
        (bounds,) = score_bounds(rankings, [MeasureName("nDCG")], scale=(0, 1, 2))
        expected = plain_ndcg(MeasureName("nDCG"), best, [int(grade) for grade in missed])
        assert bounds.upper.item() == pytest.approx(expected, rel=1e-15)


def test_scale_without_grades_is_refused() -> None:
    """There must be something to fill in."""
    rankings = one_list("1?")
    with pytest.raises(ArgumentError, match="`scale` must hold at least one grade"):
        score_bounds(rankings, [MeasureName("nDCG")], scale=())
