"""Recapture: counts by brute force, hand calculations, and no bias where theory says so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.pools.growth import catches, recapture
from store.errors import ArgumentError
from tests.store.analysis.plain_lists import arrays_of


@given(data=st.data())
def test_catches_are_those_of_sets(data: st.DataObject) -> None:
    """Relevant documents within the depth, of each group and of both."""
    lists = st.lists(st.integers(0, 9), unique=True, max_size=6)
    rankings = {(tag, "1"): data.draw(lists) for tag in "abc"}
    judged = {"1": data.draw(st.dictionaries(st.integers(0, 11), st.booleans()))}
    is_first = data.draw(st.lists(st.booleans(), min_size=3, max_size=3))
    found = catches(arrays_of(rankings, judged, cutoff=10), np.array(is_first), depth=4)
    groups: dict[bool, set[int]] = {True: set(), False: set()}
    for tag, group in zip("abc", is_first, strict=True):
        groups[group] |= {one for one in rankings[tag, "1"][:4] if judged["1"].get(one)}
    assert found.first.tolist() == [len(groups[True])]
    assert found.second.tolist() == [len(groups[False])]
    assert found.both.tolist() == [len(groups[True] & groups[False])]


def test_estimates_by_hand() -> None:
    """20 * 30 / 15; 21 * 31 / 16 - 1; 21 * 31 * 5 * 15 / (16^2 * 17) under the root."""
    found = recapture([20, 3, 4], [30, 2, 4], [15, 0, 4])
    assert found.lincoln_petersen[[0, 2]].tolist() == [40.0, 4.0]
    assert math.isnan(found.lincoln_petersen[1])
    assert found.chapman == pytest.approx([39.6875, 11, 4])
    error = math.sqrt(21 * 31 * 5 * 15 / (16**2 * 17))
    assert found.chapman_error == pytest.approx([error, math.sqrt(4 * 3 * 3 * 2 / 2), 0])


@pytest.mark.parametrize(("total", "first", "second"), [(10, 6, 5), (7, 4, 3), (12, 12, 5)])
def test_chapman_is_unbiased_where_the_catches_fill_the_whole(total: int, first: int, second: int) -> None:
    """And so is Seber's variance: n_1 + n_2 >= N, all overlaps weighed by their chance."""
    overlaps = range(max(0, first + second - total), min(first, second) + 1)
    chances = np.array(
        [math.comb(first, both) * math.comb(total - first, second - both) for both in overlaps]
    ) / math.comb(total, second)
    found = recapture(first, second, list(overlaps))
    assert chances @ found.chapman == pytest.approx(total, rel=1e-12)
    variance = chances @ (found.chapman - total) ** 2
    assert chances @ found.chapman_error**2 == pytest.approx(variance, rel=1e-9, abs=1e-12)


def test_counts_that_cannot_be_are_refused() -> None:
    """More in common than one of them found, less than none, flags of other runs."""
    for counts in ((1, 5, 2), (5, 1, 2), (1, 1, -1)):
        with pytest.raises(ArgumentError, match="n_both"):
            recapture(*counts)
    arrays = arrays_of({("a", "1"): [1]}, {"1": {1: True}}, cutoff=5)
    with pytest.raises(ArgumentError, match="is_first"):
        catches(arrays, np.array([True, False]), depth=5)
    with pytest.raises(ArgumentError, match=">= 1"):
        catches(arrays, np.array([True]), depth=0)
