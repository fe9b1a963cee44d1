"""Axes: their ticks are the round numbers one would choose by hand."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pooler.pages.charts import Axis, make_scale, tick_labels, ticks

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        ("0", "1", 6, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ("0", "1", 5, ["0.0", "0.5", "1.0"]),
        ("0", "143", 6, ["0", "50", "100"]),
        ("0", "143", 8, ["0", "20", "40", "60", "80", "100", "120", "140"]),
        ("-0.06", "0.01", 8, ["-0.06", "-0.05", "-0.04", "-0.03", "-0.02", "-0.01", "0.00", "0.01"]),
        ("-3", "3", 5, ["-2", "0", "2"]),
        ("0", "22669", 6, ["0", "5,000", "10,000", "15,000", "20,000"]),
        ("0", "1e-9", 6, ["0", "2e-10", "4e-10", "6e-10", "8e-10", "1e-9"]),
        ("0", "2.5e8", 6, ["0", "5e7", "1e8", "1.5e8", "2e8", "2.5e8"]),
        ("0.279", "0.326", 6, ["0.28", "0.29", "0.30", "0.31", "0.32"]),
    ],
)
def test_ticks_are_those_of_a_hand(low, high, most, expected):
    """Multiples of 1, 2 or 5 times a power of ten, as many as allowed, all written alike."""
    assert tick_labels(ticks(Decimal(low), Decimal(high), most=most)) == expected


@given(FINITE, FINITE, st.integers(3, 10))
def test_ticks_lie_in_the_range_evenly_and_are_not_too_many(one, other, most):
    """Checked in exact fractions of the range, whatever it is."""
    low, high = Decimal(min(one, other)), Decimal(max(one, other))
    assume(high - low > max(abs(low), abs(high)) * Decimal("1e-9"))
    found = ticks(low, high, most=most)
    assert 1 <= len(found) <= most
    assert all(low <= mark <= high for mark in found)
    steps = {after - before for before, after in pairwise(found)}
    assert len(steps) <= 1
    for step in steps:
        assert step.normalize().as_tuple().digits in {(1,), (2,), (5,)}


@given(st.lists(st.floats(), max_size=8), st.booleans(), st.floats(0, 500), st.floats(501, 900))
def test_everything_finite_has_a_place_between_the_ends(values, with_zero, start, stop):
    """From none to the largest float, with NaN and infinity among them."""
    scale = make_scale(values, Axis("x", with_zero=with_zero), start, stop)
    marks = scale.marks
    assert scale.low < scale.high
    assert marks
    for value in filter(math.isfinite, values):
        assert start - 1e-6 <= scale.place(value) <= stop + 1e-6
    assert len(set(tick_labels(marks))) == len(marks)


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_places_are_in_the_order_of_the_values(one, other):
    """Upwards the place falls."""
    scale = make_scale([one, other], Axis("x"), 200, 0)
    low, high = sorted([one, other])
    assert scale.place(low) >= scale.place(high)


def test_ends_that_are_given_stay():
    """A probability goes from 0 to 1, whatever was found."""
    scale = make_scale([0.42, 0.44], Axis("p", 0, 1), 0, 100)
    assert (scale.low, scale.high) == (0, 1)
    assert scale.place(0.42) == pytest.approx(42)


def test_an_end_gives_way_to_data_beyond_it():
    """No value is drawn where it is not."""
    scale = make_scale([-0.3, 1.7], Axis("p", 0, 1), 0, 100)
    assert scale.low <= Decimal("-0.3")
    assert scale.high >= Decimal("1.7")


@pytest.mark.parametrize("value", [0.0, 7.0, -7.0, 1e-9, 1e300])
def test_one_value_has_room_around_it(value):
    """An axis of no length would divide by it."""
    scale = make_scale([value, value], Axis("x", with_zero=False), 0, 100)
    marks = scale.marks
    assert 0 <= scale.place(value) <= 100
    assert len(marks) >= 2
