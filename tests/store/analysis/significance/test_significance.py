"""Student's t, paired and unpaired, from scores and from the paper's moments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from store.analysis.significance.randomisation import sign_test
from store.analysis.significance.t_tests import (
    paired_t,
    paired_t_of_moments,
    unpaired_t,
    unpaired_t_of_moments,
)
from store.analysis.undiscovered import relative_drop
from tests.vectors.agreement_tables import assert_prints
from tests.vectors.kishida_tables import MISPRINTED, N_TOPICS_OF_TABLE_6, TABLE_6
from tests.vectors.three_systems import X, Y

HALF_A_DIGIT = 5.0001e-6
"""What table 5 may be off by: it prints five digits."""
scores = st.lists(st.integers(0, 1000).map(lambda n: n / 1000), min_size=2, max_size=30)


def moments(name: str) -> tuple[float, float, float, float]:
    """Return the difference, both runs' variances and that of the differences, as printed."""
    column = TABLE_6[name]
    return (
        float(column.map_a) - float(column.map_b),
        sum(map(float, column.variance_a)),
        sum(map(float, column.variance_b)),
        float(column.variance),
    )


def between(printed: str, one: float, other: float) -> bool:
    """Tell whether a printed number is within two bounds, but for half of its last digit."""
    half = 0.5001 * 10.0 ** -len(printed.partition(".")[2])
    return min(one, other) - half <= float(printed) <= max(one, other) + half


@pytest.mark.vector("Kishida 2001, tables 5 and 6: four decimals")
@pytest.mark.parametrize("name", TABLE_6)
def test_table_6_follows_from_table_5(name: str) -> None:
    """Each number is within what the rounding of table 5 allows; the known misprint is not."""
    column, n = TABLE_6[name], N_TOPICS_OF_TABLE_6
    difference, a, b, u = moments(name)
    assert_prints(column.difference, round(difference, 5) + 1e-12)
    # The farthest from 0, and the nearest, that printed numbers allow.
    far = unpaired_t_of_moments(difference + 2 * HALF_A_DIGIT, a - 2 * HALF_A_DIGIT, b - 2 * HALF_A_DIGIT, n)
    near = unpaired_t_of_moments(difference - 2 * HALF_A_DIGIT, a + 2 * HALF_A_DIGIT, b + 2 * HALF_A_DIGIT, n)
    assert far.degrees_of_freedom == 104
    fits = [
        between(column.t1, far.t or 0, near.t or 0),
        between(column.p1, far.p or 0, near.p or 0),
        between(column.p1_normal, far.p_normal or 0, near.p_normal or 0),
    ]
    assert fits == [name != MISPRINTED] * 3
    far = paired_t_of_moments(difference + 2 * HALF_A_DIGIT, u - 5e-5, n)
    near = paired_t_of_moments(difference - 2 * HALF_A_DIGIT, u + 5e-5, n)
    assert far.degrees_of_freedom == 52
    assert between(column.t2, far.t or 0, near.t or 0)
    assert between(column.p2, far.p or 0, near.p or 0)
    assert between(column.p2_normal, far.p_normal or 0, near.p_normal or 0)


@pytest.mark.vector("recomputed from tables 5 and 6 with scipy: five decimals")
@pytest.mark.parametrize(
    ("name", "t1", "p1", "t2", "p2"),
    [
        ("judge 1, relevant or partially", "1.28642", "0.20115", "2.07637", "0.04282"),
        ("judge 1, relevant", "1.30247", "0.19563", "2.32907", "0.02378"),
        ("judge 2, relevant or partially", "1.09426", "0.27637", "1.65329", "0.10430"),
        ("judge 2, relevant", "0.76702", "0.44481", "1.40095", "0.16717"),
        ("model, variation removed", "1.07715", "0.28391", "1.84949", "0.07007"),
        ("model, variation included", "1.05116", "0.29562", "1.72808", "0.08991"),
    ],
)
def test_recomputed_table_6(name: str, t1: str, p1: str, t2: str, p2: str) -> None:
    """The printed moments give these statistics, whatever the paper rounded."""
    difference, a, b, u = moments(name)
    unpaired = unpaired_t_of_moments(difference, a, b, N_TOPICS_OF_TABLE_6)
    paired = paired_t_of_moments(difference, u, N_TOPICS_OF_TABLE_6)
    for digits, value in ((t1, unpaired.t), (p1, unpaired.p), (t2, paired.t), (p2, paired.p)):
        assert_prints(digits, value)


def test_known_misprint_explained() -> None:
    """With the variance .05988 for .05288, t1 and both p-values of the misprinted column come."""
    difference, a, _, _ = moments(MISPRINTED)
    test = unpaired_t_of_moments(difference, a, 0.05988, N_TOPICS_OF_TABLE_6)
    assert test.t == pytest.approx(1.0583, abs=2.5e-4)
    assert test.p == pytest.approx(0.2924, abs=1.5e-4)


@pytest.mark.vector("Kishida 2001, sections 4.2.2 and 4.3")
def test_numbers_of_the_running_text() -> None:
    """A difference of 7.8% has a p of "about 7%"; undiscovered documents leave t2 1.62, p .11."""
    _, a, b, _ = moments("model, variation removed")
    test = unpaired_t_of_moments(0.078, a, b, N_TOPICS_OF_TABLE_6)
    assert_prints("1.82053", test.t)
    assert_prints("0.07155", test.p)
    assert_prints("0.06868", test.p_normal)
    after = paired_t_of_moments(0.30619 - 0.26803, 0.0294, N_TOPICS_OF_TABLE_6)
    assert_prints("1.62021", after.t)
    assert_prints("0.11124", after.p)
    # Printed 1.6209 and .0700 before, 1.8503: from unrounded moments.
    assert_prints("0.124", float(relative_drop(1.8503, 1.6209)))
    # Judgement varies by .00487 a topic: how sure is the order of the two runs?
    variation = paired_t_of_moments(0.04615, 0.00487, N_TOPICS_OF_TABLE_6)
    assert_prints("0.009586", (variation.difference or 0) / (variation.t or 1))
    assert_prints("4.81", variation.t)
    assert (variation.p_normal or 0) / 2 == pytest.approx(7.4e-7, abs=5e-9)


@pytest.mark.vector("T11: t 2.116, p .048, ES .473, interval .0742 to either side")
def test_two_systems_of_sakai() -> None:
    """The published t, p, effect size and interval come out."""
    test = paired_t(X - Y)
    assert_prints("2.11576", test.t)
    assert_prints("0.047797", test.p)
    assert_prints("0.473", test.effect_size)
    assert_prints("0.0742", ((test.high or 0) - (test.low or 0)) / 2)
    assert_prints("0.0750", test.difference)


@given(scores, st.data())
def test_t_equals_scipy(first: list[float], data: st.DataObject) -> None:
    """T, p and interval are those of scipy's paired and unpaired tests."""
    a = np.array(first)
    b = np.array(data.draw(st.lists(st.floats(0, 1), min_size=a.size, max_size=a.size)))
    if np.ptp(a - b) > 1e-6:
        ours, theirs = paired_t(a - b, level=0.9), stats.ttest_rel(a, b)
        interval = theirs.confidence_interval(0.9)
        assert ours.t == pytest.approx(float(theirs.statistic), rel=1e-6)
        assert ours.p == pytest.approx(float(theirs.pvalue), rel=1e-6)
        assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), abs=1e-9)
    if np.ptp(a) > 1e-6 and np.ptp(b) > 1e-6:
        ours, theirs = unpaired_t(a, b), stats.ttest_ind(a, b)
        interval = theirs.confidence_interval(0.95)
        assert ours.t == pytest.approx(float(theirs.statistic), rel=1e-6, abs=1e-9)
        assert ours.p == pytest.approx(float(theirs.pvalue), rel=1e-6)
        assert (ours.low, ours.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_undefined_t_has_a_reason() -> None:
    """No topic, one topic, and differences that do not vary are three things, none a number."""
    none, one = paired_t(np.array([])), paired_t(np.array([0.25]))
    assert (none.t, none.reason, none.difference) == (None, "no-topics", None)
    assert (one.t, one.reason, one.difference, one.low) == (None, "one-topic", 0.25, None)
    # Constant but for the last bit: scipy has p about 0 here.
    constant = paired_t(np.array([0.3 - 0.2, 0.2 - 0.1, 0.1]))
    assert (constant.t, constant.p, constant.reason) == (None, None, "no-variation")
    assert constant.low == constant.high == pytest.approx(0.1)
    assert unpaired_t(np.array([0.1, 0.1]), np.array([0.2, 0.2])).reason == "no-variation"
    assert unpaired_t(np.array([0.1]), np.array([0.2])).reason == "one-topic"


def test_unpaired_effect_size_is_cohens_d() -> None:
    """Scores 1 2 3 and 0 1 2 are one pooled standard deviation apart."""
    assert unpaired_t(np.arange(1.0, 4), np.arange(3.0)).effect_size == pytest.approx(1.0)


def test_p_by_the_normal_law_does_not_end_at_0() -> None:
    """At t = 20 and 12 scipy.stats.norm.sf has all digits in the tail, where 1 - cdf has none."""
    for t in (3.0, 12.0, 20.0):
        found = unpaired_t_of_moments(t / 10, 0.5, 0.5, 100).p_normal
        assert found == pytest.approx(2 * stats.norm.sf(t), rel=1e-12)
    assert unpaired_t_of_moments(2.0, 0.5, 0.5, 100).p_normal == pytest.approx(5.507248e-89, rel=1e-6)


@pytest.mark.parametrize(("positive", "negative"), [(4, 3), (3, 4), (1, 2), (6, 5), (10, 9), (52, 51)])
def test_signs_as_even_as_can_be_have_p_1(positive: int, negative: int) -> None:
    """Twice the smaller tail is all outcomes, exactly; floating point is off by a last digit."""
    assert sign_test(np.array([0.1] * positive + [-0.1] * negative)).p == 1.0


@pytest.mark.parametrize(("positive", "negative"), [(1, 4), (0, 8), (2, 9), (30, 60), (300, 700), (0, 1000)])
def test_signs_are_those_of_scipy(positive: int, negative: int) -> None:
    """scipy.stats.binomtest, far into the tail."""
    found = sign_test(np.array([0.1] * positive + [-0.1] * negative)).p
    assert found == pytest.approx(stats.binomtest(positive, positive + negative).pvalue, rel=1e-10)
