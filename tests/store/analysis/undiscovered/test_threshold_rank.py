"""The rank below which a discovery lowers AP."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.average_precision import R_MODES, RMode
from store.analysis.undiscovered import run_thresholds, threshold_ranks
from tests.store.analysis.drawn_collections import Drawn, drawn_collections
from tests.store.analysis.plain_lists import plain_ap


def first_that_lowers(flags: list[bool], n_relevant: int) -> int:
    """Try rank after rank, of a list that goes on without relevant documents."""
    before = plain_ap(flags, n_relevant)
    if not before:
        return 0
    for rank in range(1, 10_000):
        longer = flags + [False] * (rank - len(flags))
        if longer[rank - 1]:
            continue
        longer[rank - 1] = True
        after = plain_ap(longer, n_relevant + 1)
        assert after is not None
        if after < before:
            return rank
    raise AssertionError


def test_run_a_by_hand() -> None:
    """Run A, relevant at 1, 3, 6 with R = 4, AP 13/24: gain 4/7 at rank 7, 4/8 at rank 8."""
    relevant = np.isin(np.arange(1, 11), [1, 3, 6])
    assert int(threshold_ranks(relevant, np.array(4))) == 8


def test_gain_that_equals_ap_does_not_lower_it() -> None:
    """R = 1 at rank 1 has AP 1; a second at rank 2 keeps it, at rank 3 it is (1 + 2/3)/2."""
    assert int(threshold_ranks(np.array([True]), np.array(1))) == 3


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 4))
def test_threshold_equals_trying_every_rank(flags: list[bool], unretrieved: int) -> None:
    """A discovery lowers AP from the threshold down, also below the list; equal is not lower."""
    n_relevant = sum(flags) + unretrieved
    found = threshold_ranks(np.array(flags, dtype=bool), np.array(n_relevant))
    assert int(found) == first_that_lowers(flags, n_relevant)


@given(drawn_collections(), st.sampled_from(R_MODES))
def test_threshold_of_every_run_and_topic(case: Drawn, r_mode: RMode) -> None:
    """R is of the pool or of the run; without a relevant document there is no threshold."""
    arrays = case.arrays()
    found = run_thresholds(arrays, r_mode=r_mode)
    width = arrays.documents.shape[2]
    for column, topic in enumerate(arrays.topics):
        relevant = case.relevant(topic)
        for row, tag in enumerate(arrays.tags):
            flags = [one in relevant for one in case.listed(tag, topic)]
            flags += [False] * (width - len(flags))
            n_relevant = len(relevant) if r_mode == "pool" else sum(flags)
            assert int(found[row, column]) == first_that_lowers(flags, n_relevant)
            if plain_ap(flags, n_relevant) == Fraction(0):
                assert found[row, column] == 0
