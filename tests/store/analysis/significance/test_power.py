"""Topic set size design: topics that a test or an interval needs, and what topics can find."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from store.analysis.significance.power import (
    detectable_effect,
    expected_width,
    least_topics,
    power_of,
    score_variance,
    topics_for_power,
    topics_for_width,
)
from store.errors import ArgumentError
from tests.vectors.agreement_tables import assert_prints

METHODS = "methods of the project 4.1, after Sakai 2016"


@pytest.mark.vector(METHODS)
def test_topics_of_the_paired_t_test() -> None:
    """At .05 with a power of .8, and at .01 with .9, for six effects."""
    effects = (0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
    assert [topics_for_power(one) for one in effects] == [787, 199, 90, 52, 34, 10]
    found = [topics_for_power(one, alpha=0.01, power=0.9) for one in effects]
    assert found == [1492, 376, 169, 97, 63, 19]
    for n_topics, effect, power in ((33, 0.5, ".79536584"), (34, 0.5, ".80777750"), (50, 0.4, ".79178719")):
        assert_prints(power, power_of(n_topics, effect))


@pytest.mark.vector(METHODS)
def test_effects_that_topics_find() -> None:
    """The least effect of 8 to 150 topics."""
    for n_topics, effect in (
        (8, "1.15603468"),
        (30, ".52923562"),
        (50, ".40418300"),
        (100, ".28291263"),
        (150, ".23023577"),
    ):
        found = detectable_effect(n_topics)
        assert_prints(effect, found)
        assert power_of(n_topics, found) == pytest.approx(0.8, abs=1e-10)


@pytest.mark.vector(METHODS)
def test_topics_of_the_analysis_of_variance() -> None:
    """Sizes by the number of runs, and the power just below and at them."""
    assert [topics_for_power(0.5, n_runs=m) for m in (2, 3, 10)] == [64, 79, 127]
    for n_topics, m, power in (
        (64, 2, ".80145956"),
        (63, 2, ".79516834"),
        (78, 3, ".79953704"),
        (79, 3, ".80494082"),
    ):
        assert_prints(power, power_of(n_topics, 0.5, n_runs=m))
    effect = 0.1 / math.sqrt(0.05)
    found = [topics_for_power(effect, n_runs=m) for m in (2, 3, 5, 10, 20, 30, 50, 100)]
    assert found == [80, 98, 121, 158, 207, 243, 301, 405]


@pytest.mark.vector(METHODS)
def test_topics_of_an_interval() -> None:
    """A width of .1 for three variances, and the width just below and at one of them."""
    found = [topics_for_width(0.1 / math.sqrt(variance)) for variance in (0.05, 0.0211, 0.1)]
    assert found == [79, 35, 156]
    for n_topics, width in ((79, ".09984985"), (78, ".10050425")):
        assert_prints(width, expected_width(n_topics) * math.sqrt(0.05))


@pytest.mark.parametrize(
    ("n_topics", "effect", "m"), [(2, 3.0, None), (12, 0.7, None), (9, 0.9, 4), (40, 0, 3)]
)
def test_power_is_that_of_scipys_noncentral_f(n_topics: int, effect: float, m: int | None) -> None:
    """The mixture, added up, is SciPy's distribution, at a strict level, too."""
    first, second = (1, n_topics - 1) if m is None else (m - 1, m * (n_topics - 1))
    shift = n_topics * effect**2 / (1 if m is None else 2)
    for alpha in (0.05, 1e-4):
        limit = stats.f.isf(alpha, first, second)
        law = stats.ncf(first, second, shift) if shift else stats.f(first, second)
        assert power_of(n_topics, effect, n_runs=m, alpha=alpha) == pytest.approx(law.sf(limit), rel=1e-8)


def test_extremes_stay_probabilities() -> None:
    """A huge effect is found for sure, a tiny one takes too many topics."""
    assert power_of(2, 1e4) == pytest.approx(1.0, abs=1e-9)
    assert power_of(1_000_000, 1.0) == pytest.approx(1.0, abs=1e-9)
    assert topics_for_power(1e-4) is None
    assert topics_for_width(1e-4) is None
    assert topics_for_power(100.0) == 2
    # 15.7 = 2 (1.96 + .84)^2 over 2: some 784,000 topics, more than the last power of two below a million.
    assert topics_for_power(math.sqrt(7.849 / 784_000)) == pytest.approx(784_000, abs=1000)
    assert least_topics(lambda n: n >= 1_000_000) == 1_000_000


def test_variance_of_a_pilot_is_the_mean_over_runs() -> None:
    """By hand: .02 of .1 and .3, and 0 of a run that never differs."""
    assert score_variance(np.array([[0.1, 0.3], [0.7, 0.7]])) == pytest.approx(0.01)
    assert score_variance(np.full((2, 3), 0.1)) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_of(5, -1.0), "`effect` must be finite and >= 0"),
        (lambda: topics_for_power(0.5, power=0.05), "`power` must be above alpha, 0.05, and below 1"),
        (lambda: topics_for_power(math.inf), "`effect` must be finite"),
        (lambda: topics_for_width(0.0), "`width` must be finite and above 0"),
    ],
)
def test_what_is_outside_its_range_is_refused(call: object, message: str) -> None:
    """Each argument is named with its range."""
    with pytest.raises(ArgumentError, match=message):
        call()  # type: ignore[operator]
