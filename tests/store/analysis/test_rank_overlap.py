"""Overlap of rankings of different documents, and the rank correlations of vector T12."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.rank_overlap import average_overlap, rank_biased_overlap
from store.analysis.run_order import kendall_tau_b, tau_ap
from store.errors import ArgumentError
from tests.vectors.agreement_tables import assert_prints

rankings = st.lists(st.sampled_from("abcdefghij"), unique=True, min_size=1, max_size=10)


@pytest.mark.vector("T12: Webber, Moffat, Zobel 2010, figure 5; package rbo")
def test_rankings_of_the_paper() -> None:
    """Average overlap at 7 is .312245, extrapolated RBO with p = .9 is .288217."""
    assert_prints("0.312245", average_overlap("abcdefg", "zcavwxy"))
    assert_prints("0.288217", rank_biased_overlap("abcdefg", "zcavwxy", persistence=0.9))


def scores_of(order: str) -> np.ndarray:
    """Give the runs A to H scores that put them in an order."""
    return np.array([-order.index(run) for run in "ABCDEFGH"], dtype=np.float64)


@pytest.mark.vector("T12: tau and tau_ap of three orders of ABCDEFGH: four decimals")
@pytest.mark.parametrize(
    ("order", "tau", "ap", "swapped"),
    [
        ("BACDEFGH", "0.9286", "0.7143", None),
        ("ABCDEFHG", "0.9286", "0.9592", None),
        ("CEDGFABH", "0.1429", "0.2619", "0.0524"),
    ],
)
def test_rank_correlations(order: str, tau: str, ap: str, swapped: str | None) -> None:
    """Tau and tau_ap are the published ones; tau_ap depends on which order is the truth."""
    truth, estimate = scores_of("ABCDEFGH"), scores_of(order)
    assert_prints(tau, kendall_tau_b(estimate, truth).tau)
    assert_prints(ap, tau_ap(estimate, truth).tau)
    if swapped is not None:
        assert_prints(swapped, tau_ap(truth, estimate).tau)


def plain_rbo(first: list[str], second: list[str], p: float) -> float:
    """Sum agreement to a great depth, the overlap extrapolated as in section 5 of the article."""
    short, long = sorted((first, second), key=len)
    s, length = len(short), len(long)
    total, agreement = 0.0, 0.0
    for depth in range(1, 3000):
        if depth <= length:
            common = float(len(set(short[:depth]) & set(long[:depth])))
            if depth > s:
                # The ranks that the short list lacks are supposed to go on as its last did.
                common += len(set(short) & set(long[:s])) * (depth - s) / s
            agreement = common / depth
        total += (1 - p) * p ** (depth - 1) * agreement
    return total


@given(rankings, rankings, st.sampled_from([0.5, 0.9, 0.98]))
def test_overlap_equals_a_plain_sum(first: list[str], second: list[str], p: float) -> None:
    """For rankings of any lengths, RBO is the sum to great depth; which is first is the same."""
    rbo = rank_biased_overlap(first, second, persistence=p)
    assert rbo == pytest.approx(plain_rbo(first, second, p), abs=1e-9)
    assert rank_biased_overlap(second, first, persistence=p) == pytest.approx(rbo, abs=1e-15)
    overlap = average_overlap(first, second)
    shares = [
        len(set(first[:depth]) & set(second[:depth])) / depth
        for depth in range(1, min(len(first), len(second)) + 1)
    ]
    assert overlap == pytest.approx(sum(shares) / len(shares))
    assert rank_biased_overlap(first, first, persistence=p) == pytest.approx(1.0)


def test_empty_rankings_have_no_overlap() -> None:
    """Nothing is compared with an empty ranking, unless a depth says how far."""
    assert average_overlap("", "ab") is None
    assert rank_biased_overlap("", "ab") is None
    assert average_overlap("", "ab", depth=2) == 0.0
    assert average_overlap("ab", "a", depth=2) == 0.75


def test_rankings_that_are_none_are_refused() -> None:
    """A document twice, a depth of 0 and a persistence of 1 are named."""
    with pytest.raises(ArgumentError, match="`second` must hold no document twice"):
        rank_biased_overlap("ab", "aa")
    with pytest.raises(ArgumentError, match="`depth` must be an integer >= 1, but got 0"):
        average_overlap("ab", "ab", depth=0)
    with pytest.raises(ArgumentError, match="`persistence` must be above 0 and below 1"):
        rank_biased_overlap("ab", "ab", persistence=1.0)
