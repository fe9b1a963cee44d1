"""Tests of the difference of runs: t, randomisation, signed ranks, bootstrap, Tukey, Holm, folds."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from store.analysis.significance import randomisation
from store.analysis.significance.folds import mean_changes, topic_folds
from store.analysis.significance.pairs import (
    compare_pairs,
    holm,
    neighbours,
    randomised_tukey_test,
    studentised_range_p,
    tukey_test,
)
from store.analysis.significance.randomisation import (
    ExactTest,
    doubled_signed_ranks,
    randomisation_test,
    rounded_differences,
    sign_flip_p,
    sign_test,
    studentised_bootstrap,
    wilcoxon_test,
)
from store.analysis.significance.t_tests import (
    normality_picture,
    paired_t,
    paired_t_of_moments,
    unpaired_t,
    unpaired_t_of_moments,
)
from store.analysis.undiscovered import relative_drop
from store.errors import ArgumentError
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
    from scipy import stats

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
    from scipy import stats

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
    from scipy import stats

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
    from scipy import stats
    from statsmodels.stats.diagnostic import kstest_fit

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
    from scipy import stats

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
    from scipy import stats

    q = np.array([0.3, 2.5, 4.5, 7.0])
    expected = stats.studentized_range.sf(q, n_groups, freedom)
    np.testing.assert_allclose(studentised_range_p(q, n_groups, freedom), expected, atol=2e-9)


def test_studentised_range_at_its_ends() -> None:
    """P is 1 at 0 and 0 far out; NaN stays; two means with 1 degree of freedom are Student's t."""
    from scipy import stats
    from statsmodels.stats.libqsturng import psturng

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
    from statsmodels.stats.multitest import multipletests

    ours = holm(p_values + [math.nan] * n_undefined)
    theirs = multipletests(p_values, method="holm")[1]
    np.testing.assert_allclose(ours[: len(p_values)], theirs, rtol=1e-12)
    assert np.isnan(ours[len(p_values) :]).all()


def brute_force(whole: list[int]) -> float:
    """Set the signs in every way."""
    seen = abs(sum(whole))
    ways = itertools.product((-1, 1), repeat=len(whole))
    return sum(
        abs(sum(s * w for s, w in zip(signs, whole, strict=True))) >= seen for signs in ways
    ) / 2 ** len(whole)


@given(st.lists(st.one_of(st.integers(-4, 4), st.integers(-10_000, 10_000)), max_size=11))
def test_equals_brute_force(whole: list[int]) -> None:
    """Every way to set the signs, ties and zeros among them, is counted."""
    assert sign_flip_p(np.array(whole, dtype=np.int64)) == brute_force(whole)


@pytest.mark.vector("T11: exact randomisation .065918 (elinor 2**20 ways)")
def test_randomisation_of_two_systems_of_sakai() -> None:
    """The exact p of X and Y is .065918, at any resolution that holds their digits."""
    for resolution in (0.1, 0.01, 1e-4):
        test = randomisation_test(X - Y, resolution=resolution)
        assert test.p == pytest.approx(0.065918, abs=5e-7)


@given(st.integers(1, 1400), st.data())
def test_many_alike_topics_are_binomial(n_topics: int, data: st.DataObject) -> None:
    """Differences of one size make it the sign test, however many and however far in the tail."""
    from scipy import stats

    n_ahead = data.draw(st.integers(0, n_topics))
    whole = np.where(np.arange(n_topics) < n_ahead, 7, -7)
    expected = float(stats.binomtest(n_ahead, n_topics).pvalue)
    assert sign_flip_p(whole) == pytest.approx(expected, rel=1e-9)


def test_thousands_of_topics_overflow_nothing() -> None:
    """Of 5,000 topics the number of ways is no float, but p is right, near 1 and far out."""
    from scipy import stats

    for n_ahead in (2450, 3000):
        whole = np.where(np.arange(5000) < n_ahead, 1, -1)
        expected = float(stats.binomtest(n_ahead, 5000).pvalue)
        assert sign_flip_p(whole) == pytest.approx(expected, rel=1e-9)


def test_no_topic_is_no_number() -> None:
    """Without topics there is a reason; with equal runs p is 1."""
    assert randomisation_test(np.array([])) == ExactTest(None, "no-topics")
    assert randomisation_test(np.zeros(3)).p == 1.0


@pytest.mark.parametrize(
    ("differences", "resolution", "message"),
    [
        ([0.1], 0.0, "`resolution` must be above 0, but got 0.0"),
        ([0.1], float("nan"), "`resolution` must be above 0"),
        ([0.1], 1e-17, "`resolution` must not be so fine against the differences"),
        ([float("nan")], 1e-4, "`differences` must be finite"),
    ],
)
def test_what_cannot_be_tested_is_refused(differences: list[float], resolution: float, message: str) -> None:
    """The argument and what it must be are named."""
    with pytest.raises(ArgumentError, match=message):
        randomisation_test(np.array(differences), resolution=resolution)


def test_test_that_would_take_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolution too fine for so many topics is refused before anything is computed."""
    monkeypatch.setattr(randomisation, "MOST_STEPS", 1000)
    with pytest.raises(ArgumentError, match="is too fine for 3 topics that differ by 6001 multi"):
        randomisation_test(np.array([0.2, 0.2, 0.2001]))
    # 3 topics of 6001 multiples are 4500 additions; all signs are alike in 2 of 8 cases.
    monkeypatch.setattr(randomisation, "MOST_STEPS", 4500)
    assert randomisation_test(np.array([0.2, 0.2, 0.2001])).p == 0.25
    monkeypatch.setattr(randomisation, "MOST_STEPS", 4499)
    with pytest.raises(ArgumentError, match="is too fine"):
        randomisation_test(np.array([0.2, 0.2, 0.2001]))


@given(st.integers(-10_000, 10_000), st.integers(-10_000, 10_000), st.integers(0, 6))
def test_scores_with_so_many_digits_are_exact(one: int, other: int, digits: int) -> None:
    """The difference of two scores of d digits is their difference in units of the last one."""
    first, second = (float(f"{number}e-{digits}") for number in (one, other))
    whole = rounded_differences(np.array([first - second]), float(f"1e-{digits}"))
    assert whole.tolist() == [one - other]


differences = st.lists(st.integers(-9, 9), min_size=1, max_size=11)


@pytest.mark.vector("T11: .0372 on differences rounded to two digits [scipy]")
def test_ranks_of_two_systems_of_sakai() -> None:
    """On rounded differences the approximation is .0372; floating-point noise would make it .04."""
    for resolution in (0.1, 0.01, 1e-4):
        test = wilcoxon_test(X - Y, resolution=resolution)
        assert test.p_normal == pytest.approx(0.0372, abs=5e-5)
    assert len(set((X - Y).tolist())) > len(set(np.round(X - Y, 2).tolist()))


@given(differences)
def test_approximation_equals_scipy(whole: list[int]) -> None:
    """Ties and zeros among them, the normal approximation is that of scipy."""
    from scipy import stats

    assume(any(whole))
    values = np.array(whole, dtype=float)
    ours = wilcoxon_test(values, resolution=1.0)
    theirs = stats.wilcoxon(values, method="asymptotic", correction=False)
    assert ours.p_normal == pytest.approx(float(theirs.pvalue), rel=1e-9)
    n = np.count_nonzero(values)
    assert min(ours.ahead, n * (n + 1) / 2 - ours.ahead) == float(theirs.statistic)


@given(differences)
def test_exact_equals_brute_force_with_ties(whole: list[int]) -> None:
    """With ties, p is the share of all ways to sign the ranks that are as extreme."""
    from scipy import stats

    assume(any(whole))
    sizes = [abs(value) for value in whole if value]
    ranks = stats.rankdata(sizes)
    seen = abs(sum(np.sign([value for value in whole if value]) * ranks))
    ways = itertools.product((-1, 1), repeat=len(sizes))
    expected = sum(abs(np.dot(signs, ranks)) >= seen for signs in ways) / 2 ** len(sizes)
    test = wilcoxon_test(np.array(whole, dtype=float), resolution=1.0)
    assert test.p == pytest.approx(expected, rel=1e-12)
    doubled = doubled_signed_ranks(np.array(whole))
    assert doubled[doubled != 0].tolist() == pytest.approx(
        2 * np.sign([value for value in whole if value]) * ranks
    )


def test_many_topics_are_approximated() -> None:
    """Beyond a thousand differing topics p is the approximation, which is then as good."""
    values = np.random.default_rng(4).normal(0.01, 0.2, 1000)
    exact = wilcoxon_test(values)
    assert exact.p != exact.p_normal
    assert exact.p == pytest.approx(exact.p_normal, abs=1e-4)
    many = wilcoxon_test(np.append(values, [0.5, 0.6]))
    assert many.p == many.p_normal


def test_undefined_has_a_reason() -> None:
    """No topics, and no difference that does not round to 0, are two reasons."""
    empty = ExactTest(None, "no-topics")
    assert wilcoxon_test(np.array([])) == empty
    assert wilcoxon_test(np.array([1e-5, 0.0])).reason == "no-difference"


@pytest.mark.vector("T11: studentised bootstrap .050")
def test_bootstrap_of_two_systems() -> None:
    """The bootstrap's p is .050, to what 20,000 resamples leave open."""
    p = studentised_bootstrap(X - Y, seed=2, resamples=20_000)
    assert float(p) == pytest.approx(0.050, abs=0.0005 + 3 * math.sqrt(0.0475 / 20_000))


def test_bootstrap_equals_a_plain_loop() -> None:
    """The p-value is the share of the resamples, drawn alike, whose t is as large."""
    differences = np.array([0.1, 0.2, 0.1, 0.4, -0.1])
    bits = np.random.PCG64(7).random_raw(200 * 5) >> np.uint64(32)
    drawn = ((bits * np.uint64(5)) >> np.uint64(32)).astype(int).reshape(200, 5)
    shifted = differences - differences.mean()
    seen = abs(differences.mean() / differences.std(ddof=1))
    n_as_large = 0
    for places in drawn:
        sample = shifted[places]
        # Without variation t is infinite, unless the mean is 0, as it never is here.
        constant = np.ptp(sample) == 0
        n_as_large += constant or abs(sample.mean()) / sample.std(ddof=1) >= seen
    p = float(studentised_bootstrap(differences, seed=7, resamples=200))
    assert p == (n_as_large + 1) / 201


def test_bootstrap_of_many_pairs_is_that_of_each() -> None:
    """Every row has the p that it has alone; rows without variation and single topics have none."""
    rows = np.random.default_rng(1).normal(0.05, 0.2, (4, 12))
    rows[2] = 0.1
    together = studentised_bootstrap(rows, seed=5, resamples=500)
    for row, p in zip(rows, together, strict=True):
        alone = studentised_bootstrap(row, seed=5, resamples=500)
        np.testing.assert_array_equal(alone, p)
    assert np.isnan(together).tolist() == [False, False, True, False]
    assert np.isnan(studentised_bootstrap(np.zeros((2, 1)), seed=1)).all()


@given(st.integers(2, 30), st.integers(2, 30), st.one_of(st.none(), st.integers(0, 2**70)))
def test_folds_part_the_topics(n_topics: int, n_folds: int, seed: int | None) -> None:
    """Each topic is in one test fold, and trained on in every other; sizes differ by 1 at most."""
    if n_folds > n_topics:
        return
    splits = topic_folds(n_topics, n_folds, seed=seed)
    assert len(splits) == n_folds
    tested = np.concatenate([split.test for split in splits])
    assert sorted(tested.tolist()) == list(range(n_topics))
    for split in splits:
        together = np.concatenate([split.train, split.test])
        assert sorted(together.tolist()) == list(range(n_topics))
        assert np.all(np.diff(split.train) > 0)
        assert np.all(np.diff(split.test) > 0)
    sizes = [split.test.size for split in splits]
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(2, 30), st.integers(2, 30))
def test_folds_without_seed_are_scikit_learns(n_topics: int, n_folds: int) -> None:
    """In the order of the topics the folds are those of KFold."""
    from sklearn.model_selection import KFold

    if n_folds > n_topics:
        return
    theirs = KFold(n_folds).split(np.zeros(n_topics))
    for split, (train, test) in zip(topic_folds(n_topics, n_folds), theirs, strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


def test_implication_holds_in_every_small_case() -> None:
    """Whatever the signs imply is so for all R up to 4 and all changes of three topics."""
    seen = set()
    for counts in itertools.combinations_with_replacement([1, 2, 4], 3):
        ranges = [range(-min(count, 3), min(count, 3) + 1) for count in counts]
        for moved in itertools.product(*ranges):
            changes = mean_changes(counts, moved, cutoff=3)
            inverse = [Fraction(1, count) for count in counts]
            mean = sum(inverse) / 3
            surplus = sum(d * (i - mean) for d, i in zip(moved, inverse, strict=True))
            leaning = "few" if surplus > 0 else "many" if surplus < 0 else "neither"
            if changes.implied is not None:
                assert changes.implied == leaning
            seen.add((np.sign(changes.recall), np.sign(changes.precision), leaning))
    # Equal signs imply nothing: either leaning occurs with both means up, and with both down.
    assert {(1, 1, "few"), (1, 1, "many"), (-1, -1, "few"), (-1, -1, "many")} <= seen
    assert {(r, p) for r, p, _ in seen} == set(itertools.product([-1, 0, 1], repeat=2))


def test_signs_are_exact() -> None:
    """Changes that cancel exactly have sign 0, where a sum of floats has not."""
    assert 1 / 10 + 2 / 10 - 3 / 10 != 0
    changes = mean_changes([10, 10, 10], [1, 2, -3], cutoff=10)
    assert (changes.recall, changes.precision, changes.implied) == (0, 0, "neither")
