"""Every unjudged rank flipped alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.average_precision import R_MODES, RMode
from store.analysis.single_flips import single_flips
from store.errors import ArgumentError
from tests.store.analysis.drawn_collections import Drawn, drawn_collections
from tests.store.analysis.plain_lists import arrays_of


@given(drawn_collections(), st.sampled_from(R_MODES), st.integers(0, 5))
def test_single_flips_equal_recomputation(case: Drawn, r_mode: RMode, above: int) -> None:
    """Each number is AP with this document relevant less AP before; judged ranks have none."""
    arrays = case.arrays()
    found = single_flips(arrays, above=above, r_mode=r_mode)
    width = arrays.documents.shape[2]
    assert found.shape == (len(case.tags), len(case.grades), max(0, width - above))
    for row, tag in enumerate(arrays.tags):
        for column, topic in enumerate(arrays.topics):
            listed, unjudged = case.listed(tag, topic), case.unjudged(tag, topic)
            before = case.ap(tag, topic, r_mode) or 0
            for place in range(above, width):
                got = float(found[row, column, place - above])
                if place >= len(listed) or listed[place] not in unjudged:
                    assert math.isnan(got)
                    continue
                after = case.ap(tag, topic, r_mode, [listed[place]])
                assert after is not None
                assert got == pytest.approx(float(after - before), abs=1e-14)


def test_negative_depth_is_refused() -> None:
    """Ranks are left out from the top."""
    arrays = arrays_of({("a", "t"): [1]}, {"t": {1: True}}, 5)
    with pytest.raises(ArgumentError, match="`above` must be an integer >= 0, but got -1"):
        single_flips(arrays, above=-1)
    assert np.isnan(single_flips(arrays)).all()
