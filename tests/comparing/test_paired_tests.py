"""Student's t from scores and from the paper's moments, all pairs at once, Tukey, Holm, normality."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.diagnostic import kstest_fit
from statsmodels.stats.libqsturng import psturng
from statsmodels.stats.multitest import multipletests

from store.analysis.significance.pairs import (
    compare_pairs,
    holm,
    neighbours,
    randomised_tukey_test,
    studentised_range_p,
    tukey_test,
)
from store.analysis.significance.randomisation import randomisation_test, sign_test, wilcoxon_test
from store.analysis.significance.t_tests import (
    normality_picture,
    paired_t,
    paired_t_of_moments,
    unpaired_t,
    unpaired_t_of_moments,
)
from store.analysis.undiscovered import relative_drop
from tests.helpers.agreement_tables import assert_prints
from tests.helpers.kishida_tables import MISPRINTED, N_TOPICS_OF_TABLE_6, TABLE_6
from tests.helpers.worked_examples import SCORES, X, Y, Z

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


score_rows = st.tuples(st.integers(1, 4), st.integers(0, 7)).flatmap(
    lambda shape: st.lists(
        st.lists(
            st.one_of(st.sampled_from([0.0, 0.1, 0.3, float("nan")]), st.floats(0, 1)),
            min_size=shape[1],
            max_size=shape[1],
        ),
        min_size=shape[0],
        max_size=shape[0],
    )
)


@given(score_rows)
def test_every_pair_has_what_it_has_alone(rows: list[list[float]]) -> None:
    """Each number equals the test of the pair over the topics where both have a score."""
    scores = np.array(rows).reshape(len(rows), -1)
    compared = compare_pairs(scores, level=0.9, resolution=0.01)
    pairs = zip(compared.first.tolist(), compared.second.tolist(), strict=True)
    for place, (first, second) in enumerate(pairs):
        differences = scores[first] - scores[second]
        differences = differences[~np.isnan(differences)]
        t = paired_t(differences, level=0.9)
        randomised = randomisation_test(differences, resolution=0.01)
        ranked = wilcoxon_test(differences, resolution=0.01)
        assert compared.t_reasons[place] == t.reason
        assert compared.n_topics[place] == t.n_topics
        for column, expected in (
            (compared.difference, t.difference),
            (compared.variance, t.variance),
            (compared.low, t.low),
            (compared.high, t.high),
            (compared.t, t.t),
            (compared.p_t, t.p),
            (compared.effect_size, t.effect_size),
            (compared.p_randomisation, randomised.p),
            (compared.p_wilcoxon, ranked.p),
        ):
            wanted = np.nan if expected is None else expected
            assert column[place] == pytest.approx(wanted, rel=1e-9, abs=1e-9, nan_ok=True)


@given(st.permutations(range(7)), st.integers(2, 7))
def test_neighbours_are_next_to_each_other(order: list[int], n_runs: int) -> None:
    """However the pairs are listed, those that remain are the steps of the order."""
    order = [run for run in order if run < n_runs]
    place = {run: number for number, run in enumerate(order)}
    pairs = [(low, high) for low in range(n_runs) for high in range(low + 1, n_runs)]
    first, second = np.array([sorted(pair, key=place.__getitem__) for pair in pairs]).T
    kept = neighbours(first, second).tolist()
    assert [(int(first[k]), int(second[k])) for k in kept] == list(pairwise(order))


def test_differences_of_rounding_alone_are_no_variation_beside_a_pair_that_varies() -> None:
    """The first run is the second one and .1 for every topic; .7 + .1 - .7 and the like are not all .1."""
    second = np.array([0.1, 0.2, 0.3, 0.7])
    compared = compare_pairs(np.array([second + 0.1, second, [0.9, 0.1, 0.5, 0.2]]))
    assert np.ptp(second + 0.1 - second) > 0
    assert (compared.variance == 0).tolist() == [True, False, False]
    assert compared.t_reasons == ("no-variation", None, None)
    assert np.isnan(compared.t).tolist() == [True, False, False]


@given(st.lists(st.integers(-100, 100), min_size=4, max_size=40, unique=True))
def test_distance_equals_statsmodels(whole: list[int]) -> None:
    """The largest distance is Lilliefors' statistic; the curve is scipy's normal."""
    differences = np.array(whole) / 100
    picture = normality_picture(differences)
    assert picture.reason is None
    statistic, _ = kstest_fit(differences, dist="norm", pvalmethod="approx")
    assert picture.largest_distance == pytest.approx(float(statistic), abs=1e-12)
    expected = stats.norm(differences.mean(), differences.std(ddof=1)).cdf(np.sort(differences))
    np.testing.assert_allclose(picture.normal, expected, atol=1e-12)
    np.testing.assert_allclose(picture.curve(picture.differences), picture.normal, atol=1e-15)
    assert picture.standardised.mean() == pytest.approx(0, abs=1e-12)
    assert picture.standardised.std(ddof=1) == pytest.approx(1)


PAIRS = ((0, 1), (0, 2), (1, 2))


@pytest.mark.vector("T11: Tukey F 2.47495, p .097635; p .2567 .0957 .8550")
def test_three_systems_of_sakai() -> None:
    """F and all three p-values come out; the one-way test has others."""
    test = tukey_test(SCORES)
    assert_prints("2.47495", test.f)
    assert_prints("0.097635", test.p_of_f)
    for pair, p in zip(PAIRS, ("0.2567", "0.0957", "0.8550"), strict=True):
        assert_prints(p, float(test.p[pair]))
    assert stats.tukey_hsd(*SCORES).pvalue[0, 1] == pytest.approx(0.394, abs=5e-4)
    np.testing.assert_array_equal(test.p, test.p.T)


@pytest.mark.vector("T11: randomised Tukey .307 .107 .889 (20,000 permutations)")
def test_three_systems_randomised() -> None:
    """Within what 20,000 permutations leave open, three standard errors of both numbers."""
    found = randomised_tukey_test(SCORES, seed=3, permutations=20_000)
    for pair, p in zip(PAIRS, (0.307, 0.107, 0.889), strict=True):
        assert found[pair] == pytest.approx(p, abs=3 * math.sqrt(2 * p * (1 - p) / 20_000))
    assert found[0, 0] == 1.0
    again = randomised_tukey_test(SCORES, seed=3, permutations=20_000)
    np.testing.assert_array_equal(found, again)


@pytest.mark.vector("methods of the project 4.4: 132/216, 36/216, 144/216")
def test_few_permutations_are_all_looked_at() -> None:
    """Three runs in three topics: exact."""
    scores = np.array([[0.5, 0.3, 0.2], [0.6, 0.6, 0.1], [0.9, 0.4, 0.5]]).T
    found = randomised_tukey_test(scores, seed=1)
    for pair, p in zip(PAIRS, (132, 36, 144), strict=True):
        assert float(found[pair]) == pytest.approx(p / 216, abs=1e-12)
    drawn = randomised_tukey_test(scores, seed=1, permutations=30)
    assert drawn[0, 1] == pytest.approx(132 / 216, abs=0.3)


def test_degenerate_scores_have_a_reason() -> None:
    """One run, one topic and runs that differ by a constant have no p."""
    assert tukey_test(X[None]).reason == "fewer-than-two-runs"
    assert tukey_test(SCORES[:, :1]).reason == "fewer-than-two-topics"
    shifted = tukey_test(np.array([X, X + 0.1]))
    assert shifted.reason == "no-variation"
    assert np.isnan(shifted.p).all()


@pytest.mark.parametrize(("n_groups", "freedom"), [(2, 1), (3, 38), (5, 4), (10, 12), (30, 200), (120, 5831)])
def test_studentised_range_equals_scipy(n_groups: int, freedom: int) -> None:
    """For few and many means, small and large q, p is scipy's to nine digits."""
    q = np.array([0.3, 2.5, 4.5, 7.0])
    expected = stats.studentized_range.sf(q, n_groups, freedom)
    np.testing.assert_allclose(studentised_range_p(q, n_groups, freedom), expected, atol=2e-9)


def test_studentised_range_at_its_ends() -> None:
    """P is 1 at 0 and 0 far out; NaN stays; two means with 1 degree of freedom are Student's t."""
    p = studentised_range_p([0.0, 1e6, math.nan], 5, 40)
    assert p[0] == pytest.approx(1.0, abs=1e-12)
    assert p[1] == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(p[2])
    far = 50.0
    expected = 2 * stats.t.sf(far / math.sqrt(2), 1)
    assert float(studentised_range_p(far, 2, 1)) == pytest.approx(expected, abs=1e-8)
    # statsmodels interpolates published tables.
    assert float(studentised_range_p(3.5, 4, 20)) == pytest.approx(psturng(3.5, 4, 20), abs=5e-4)


@pytest.mark.vector("T11: Holm .1434 .2463 .5218 [statsmodels]")
def test_holm_of_the_three_systems() -> None:
    """The three paired t tests of T11, adjusted."""
    p = [paired_t(difference).p for difference in (X - Y, X - Z, Y - Z)]
    for digits, value in zip(
        ("0.1434", "0.2463", "0.5218"), holm(np.array(p, dtype=float)).tolist(), strict=True
    ):
        assert_prints(digits, value)


@pytest.mark.slow
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.integers(0, 3))
def test_holm_equals_statsmodels(p_values: list[float], n_undefined: int) -> None:
    """Adjusted p-values are those of statsmodels; undefined tests neither count nor change."""
    ours = holm(p_values + [math.nan] * n_undefined)
    theirs = multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(ours[: len(p_values)], theirs, rtol=1e-12)
    assert np.isnan(ours[len(p_values) :]).all()
