"""Growth of pools: counts by brute force, the fit against scipy, intervals that cover."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.pools.growth import (
    FirstRetrievals,
    GrowthFit,
    first_retrievals,
    fit_growth,
    missed_relevant,
)
from tests.store.analysis.plain_lists import arrays_of

lists = st.lists(st.integers(0, 12), unique=True, max_size=8)
grades = st.dictionaries(st.integers(0, 15), st.booleans())


def first_of(relevant: list[int] | np.ndarray[Any, Any]) -> FirstRetrievals:
    """Make counts of one topic, everything judged and relevant."""
    counts = np.array([relevant], dtype=np.int64)
    return FirstRetrievals(("t",), counts, counts, counts)


@given(data=st.data())
def test_counts_are_those_of_looking_at_every_list(data: st.DataObject) -> None:
    """Best rank over the runs of each document of each topic."""
    rankings = {(tag, topic): data.draw(lists) for tag in "abc" for topic in "12"}
    judged = {topic: data.draw(grades) for topic in "12"}
    arrays = arrays_of(rankings, judged, cutoff=6)
    first = first_retrievals(arrays)
    width = first.documents.shape[1]
    for row, topic in enumerate("12"):
        best: dict[int, int] = {}
        for tag in "abc":
            for rank, document in enumerate(rankings[tag, topic][:6], start=1):
                best[document] = min(best.get(document, rank), rank)
        for depth in range(1, width + 1):
            entering = [document for document, rank in best.items() if rank == depth]
            found = [judged[topic][document] for document in entering if document in judged[topic]]
            assert first.documents[row, depth - 1] == len(entering)
            assert first.judged[row, depth - 1] == len(found)
            assert first.relevant[row, depth - 1] == sum(found)


@given(
    counts=st.lists(st.integers(0, 500), min_size=3, max_size=100).filter(lambda counts: len(set(counts)) > 1)
)
def test_fit_is_the_regression_of_scipy(counts: list[int]) -> None:
    """Both coefficients, both standard errors, and the residual, on logarithms.

    Of a constant scipy says no standard error; `test_constant_counts_are_a_level_line` has them.
    """
    fit = fit_growth(counts).fit
    assert fit is not None
    x, y = np.log(np.arange(1, len(counts) + 1)), np.log(np.array(counts) + 1)
    expected = stats.linregress(x, y)
    rest = y - expected.intercept - expected.slope * x
    residual = math.sqrt(rest @ rest / (len(counts) - 2))
    design = np.column_stack([np.ones(len(counts)), x])
    covariance = residual**2 * np.linalg.inv(design.T @ design)
    pairs = [
        (fit.exponent, expected.slope),
        (fit.log_scale, expected.intercept),
        (fit.exponent_error, expected.stderr),
        (fit.log_scale_error, expected.intercept_stderr),
        (fit.residual, residual),
        (fit.covariance, covariance[0, 1]),
    ]
    for ours, theirs in pairs:
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-7)


def test_constant_counts_are_a_level_line() -> None:
    """A count of 7 is ln 8 at every depth: slope 0, nothing left over."""
    fit = fit_growth([7, 7, 7, 7]).fit
    assert fit is not None
    values = (fit.log_scale, fit.exponent, fit.exponent_error, fit.log_scale_error, fit.residual)
    assert values == pytest.approx((math.log(8), 0, 0, 0, 0), abs=1e-12)


@pytest.mark.parametrize(("scale", "exponent"), [(80.0, -0.6), (500.0, -1.2)])
def test_power_law_is_found_again(scale: float, exponent: float) -> None:
    """Without chance the curve, its errors and both ends of the interval are exact."""
    counts = scale * np.arange(1, 21) ** exponent - 1
    fit = fit_growth(counts).fit
    assert fit is not None
    assert math.exp(fit.log_scale) == pytest.approx(scale, rel=1e-9)
    assert fit.exponent == pytest.approx(exponent, rel=1e-9)
    assert fit.exponent_error == pytest.approx(0, abs=1e-9)
    below = np.maximum(scale * np.arange(21, 1001) ** exponent - 1, 0).sum()
    assert fit.expected(21, 1000) == pytest.approx(below, rel=1e-9)
    assert fit.expected(5, 4) == 0


def test_curve_is_cut_off_at_nothing() -> None:
    """4/i - 1 is above 0 down to depth 3: 3 + 1 + 1/3."""
    fit = GrowthFit(math.log(4), -1, 0, 0, 0, 0, 3)
    assert fit.expected(1, 100) == pytest.approx(3 + 1 + 1 / 3, rel=1e-12)


@pytest.mark.parametrize(
    ("counts", "reason"),
    [([], "fewer-than-three-depths"), ([5, 3], "fewer-than-three-depths"), ([0, 0, 0, 0], "no-relevant")],
)
def test_what_cannot_be_fitted_has_a_reason(counts: list[int], reason: str) -> None:
    """And no numbers."""
    growth = fit_growth(counts)
    assert (growth.fit, growth.reason) == (None, reason)
    if counts:
        missed = missed_relevant(first_of(counts), depth=len(counts), to_depth=50)
        assert (missed.expected, missed.low, missed.high) == (None,) * 3
        assert missed.reason == reason


def test_growth_that_does_not_fall_is_not_extrapolated() -> None:
    """There is no sum."""
    missed = missed_relevant(first_of([1, 2, 3, 4]), depth=4, to_depth=50)
    assert missed.reason == "not-falling"
    assert missed.expected is None
    assert missed_relevant(first_of([2, 2, 2]), depth=3, to_depth=9).reason == "not-falling"


def test_counts_of_topics_are_added_and_those_below_the_pool_are_known() -> None:
    """Two topics; the fit looks at the first 3 depths, 5 relevant lie at depths 4 and 5."""
    relevant = np.array([[9, 3, 2, 1, 0, 7], [6, 4, 1, 2, 2, 0]])
    documents, judged = relevant + 4, relevant + 1
    first = FirstRetrievals(("1", "2"), documents, judged, relevant)
    missed = missed_relevant(first, depth=3, to_depth=5)
    assert missed.n_known == 5
    assert missed.n_unjudged == 2 * 2 * 3
    fit = fit_growth([15, 7, 3]).fit
    assert fit is not None
    assert missed.expected == fit.expected(4, 5)


def test_interval_covers_as_often_as_it_says() -> None:
    """Counts scattered about a power law as the fit supposes: 95 of 100 intervals hold the sum."""
    rng = np.random.default_rng(19980824)
    depth, to_depth, n_trials = 12, 40, 300
    logs = np.log(np.arange(1, to_depth + 1))
    n_held = 0
    for trial in range(n_trials):
        counts = np.exp(np.log(3e6) - 0.8 * logs + 0.3 * rng.standard_normal(to_depth)).round()
        first = first_of(counts)
        missed = missed_relevant(first, depth=depth, to_depth=to_depth, n_draws=400, seed=trial)
        assert missed.low is not None
        assert missed.high is not None
        n_held += missed.low <= counts[depth:].sum() <= missed.high
    # Four standard errors of a share of 0.95 in 300 trials, and a little for 400 draws.
    assert 0.89 < n_held / n_trials < 0.99


@pytest.mark.parametrize("coverage", [0.5, 0.95])
def test_interval_of_one_depth_is_that_of_the_regression(coverage: float) -> None:
    """The textbook's prediction interval of one more point, on logarithms, with Student's t."""
    counts = np.array([300, 140, 119, 70, 66, 50, 41, 44, 30, 34])
    missed = missed_relevant(first_of(counts), depth=10, to_depth=11, coverage=coverage, n_draws=40_000)
    x, y = np.log(np.arange(1, 11)), np.log(counts + 1)
    line = stats.linregress(x, y)
    rest = y - line.intercept - line.slope * x
    at = math.log(11)
    leverage = 1 / 10 + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    spread = math.sqrt(rest @ rest / 8 * (1 + leverage))
    half = stats.t(8).ppf((1 + coverage) / 2) * spread
    middle = line.intercept + line.slope * at
    assert missed.expected == pytest.approx(math.exp(middle) - 1, rel=1e-9)
    assert missed.low == pytest.approx(math.exp(middle - half) - 1, rel=0.02)
    assert missed.high == pytest.approx(math.exp(middle + half) - 1, rel=0.02)


def test_interval_widens_with_coverage_and_repeats_with_the_seed() -> None:
    """It is never below 0, and of a curve without scatter it is a point."""
    first = first_of([30, 14, 11, 7, 6, 5, 4, 4, 3, 4])
    narrow = missed_relevant(first, depth=10, to_depth=200, coverage=0.5)
    wide = missed_relevant(first, depth=10, to_depth=200)
    assert wide == missed_relevant(first, depth=10, to_depth=200)
    assert wide != missed_relevant(first, depth=10, to_depth=200, seed=1)
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.high is not None
    assert narrow.high is not None
    assert 0 <= wide.low < narrow.low < narrow.high < wide.high
    exact = missed_relevant(first_of([1023, 511, 255]), depth=3, to_depth=3 + 1, coverage=0.9)
    assert exact.expected is not None
    assert exact.low is not None
    assert exact.low > 0


def test_three_depths_give_an_interval_that_may_be_endless() -> None:
    """One degree of freedom, and no warning when draws overflow."""
    missed = missed_relevant(first_of([900, 2, 700]), depth=3, to_depth=1000)
    assert missed.expected is not None
    assert missed.high is not None
    assert missed.high > missed.expected
