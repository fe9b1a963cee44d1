"""What every pair of runs needs: by hand, and why some pairs have no number."""

from __future__ import annotations

import numpy as np
import pytest

from store.analysis.significance.pairs import RunPairs, compare_pairs
from store.analysis.undiscovered.pairs import PairSensitivity, required_of_pairs
from store.errors import ArgumentError

T_52 = 2.006646805
"""Quantile .975 of t with 52 degrees of freedom, from a printed table."""


def pairs_of(differences: list[float], scale: float = 1.0) -> RunPairs:
    """Make one pair whose differences by topic are given."""
    scores = np.array([differences, [0.0] * len(differences)]) * scale
    return compare_pairs(scores, tests=("t",))


def moved(before: RunPairs, after: RunPairs) -> PairSensitivity:
    """Make what flips of the second run change; those of the first change nothing."""
    first, second = np.array([0]), np.array([1])
    status = np.zeros((2, 1), dtype=np.int8)
    return PairSensitivity(status, first, second, before, before, after)


def test_paper_s_pair_by_hand() -> None:
    """Section 4.3: .04615 and .0330 fall to .03816 and .0294 over 53 topics.

    Eq. 23: 2.006647 sqrt(.0330 / 53) = .0500714; eq. 24: 2.006647 sqrt(.0294 / 53) over
    .03816 / .04615 = .0571571.
    """
    before, after = (
        with_moments(difference, variance) for difference, variance in ((0.04615, 0.0330), (0.03816, 0.0294))
    )
    found = required_of_pairs(moved(before, after))
    assert found.needed.tolist() == pytest.approx([T_52 * (0.0330 / 53) ** 0.5])
    assert found.needed_if_found.tolist() == pytest.approx([0.0571571], abs=5e-8)
    assert found.difference_drop.tolist() == pytest.approx([0.00799 / 0.04615])
    assert found.variance_drop.tolist() == pytest.approx([0.0036 / 0.0330])
    assert found.reasons == (None,)
    narrower = required_of_pairs(moved(before, after), variation_share=0.19)
    assert narrower.needed.tolist() == pytest.approx((0.9 * found.needed).tolist())


def with_moments(difference: float, variance: float) -> RunPairs:
    """Make a pair over 53 topics with a given mean and variance (over 52) of the differences."""
    shape = np.arange(53) - 26.0  # variance 53 * 54 / 12
    values = difference + shape * (variance / 238.5) ** 0.5
    pair = pairs_of(values.tolist())
    assert pair.variance.tolist() == pytest.approx([variance])
    return pair


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ([0.1, -0.1, 0.0], [0.1, 0.2, 0.3], "tied"),
        ([0.1, 0.2, 0.3], [0.1, -0.1, 0.0], "order-turns"),
        ([0.1, 0.2, 0.3], [-0.1, -0.2, -0.4], "order-turns"),
        ([0.1, 0.2, 0.3], [0.1, 0.1, 0.1], "no-variation-left"),
        ([0.1, 0.1], [0.1, 0.2], "no-variation"),
        ([0.1], [0.2], "one-topic"),
    ],
)
def test_reasons(before: list[float], after: list[float], reason: str) -> None:
    """No number where nothing can be divided; `needed` stays where only the rest is gone."""
    found = required_of_pairs(moved(pairs_of(before), pairs_of(after)))
    assert found.reasons == (reason,)
    assert np.isnan(found.needed_if_found).all()
    assert np.isnan(found.needed).all() == (reason in {"no-variation", "one-topic"})


def test_shares_outside_their_range_are_refused() -> None:
    """K is a share."""
    pair = pairs_of([0.1, 0.2, 0.3])
    with pytest.raises(ArgumentError, match="variation_share"):
        required_of_pairs(moved(pair, pair), variation_share=1.0)
