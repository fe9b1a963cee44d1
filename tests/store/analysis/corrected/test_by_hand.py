"""`store.analysis.corrected`: small populations, of which every sample is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import stdtrit

from store.analysis.corrected import (
    NO_GRADE,
    Drawn,
    MeasureSpec,
    Population,
    calibrated_shares,
    corrected_ideal,
    corrected_measures,
    corrected_precision,
    covariances,
    difference_scores,
    drawn,
    grade_counts,
)
from store.analysis.measures.average_precision import topic_interval

MODEL = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
HUMAN = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
WEIGHTS = np.where(np.isin(np.arange(1, 9), [1, 5, 2, 6, 3]), 0.2, 0.0)
"""Of eight documents in P@5 of the run d1 d5 d2 d6 d3."""
TWO_STRATA = np.repeat([0, 1], 4)
ONE_STRATUM = np.zeros(8, np.int64)


def sample_of(strata: NDArray[np.int64], rows: tuple[int, ...]) -> Drawn:
    """Return the sample in which these rows are judged, of one topic."""
    return drawn(np.zeros(strata.size, np.int64), strata, np.isin(np.arange(strata.size), rows))


def two_strata() -> Iterator[Drawn]:
    """Draw every sample of two documents from each of two strata."""
    for first, second in product(combinations(range(4), 2), combinations(range(4, 8), 2)):
        yield sample_of(TWO_STRATA, (*first, *second))


def one_stratum() -> Iterator[Drawn]:
    """Draw every sample of four documents of eight."""
    for rows in combinations(range(8), 4):
        yield sample_of(ONE_STRATUM, rows)


def estimated(sample: Drawn, share: float) -> tuple[float, float]:
    """Return the score with a share of the model's gains as the prediction, and its variance."""
    rows = sample.judged
    residuals = HUMAN[rows] - share * MODEL[rows]
    expected = np.array([[share * WEIGHTS @ MODEL]])
    score = difference_scores(expected, WEIGHTS[rows][None], residuals, sample)
    return float(score[0, 0]), float(covariances((WEIGHTS[rows] * residuals)[None], sample)[0, 0])


@pytest.mark.parametrize(
    ("share", "variance"), [(0, Fraction(7, 75)), (0.5, Fraction(23, 300)), (1, Fraction(2, 25))]
)
def test_two_strata_are_unbiased_with_unbiased_variances(share: float, variance: Fraction) -> None:
    """36 samples: the mean is P@5 = 3/5, the variance is that of the reference and the mean of V."""
    scores, variances = np.array([estimated(sample, share) for sample in two_strata()]).T
    assert scores.size == 36
    assert scores.mean() == pytest.approx(3 / 5)
    assert scores.var() == pytest.approx(float(variance))
    assert variances.mean() == pytest.approx(float(variance))


@pytest.mark.parametrize(
    ("share", "variance"),
    [(0, Fraction(3, 35)), (1 / 3, Fraction(12, 175)), (0.5, Fraction(47, 700)), (1, Fraction(16, 175))],
)
def test_one_stratum_is_unbiased_with_unbiased_variances(share: float, variance: Fraction) -> None:
    """70 samples of 4: with all of the model's gains the variance is larger than with people alone."""
    scores, variances = np.array([estimated(sample, share) for sample in one_stratum()]).T
    assert scores.size == 70
    assert scores.mean() == pytest.approx(3 / 5)
    assert scores.var() == pytest.approx(float(variance))
    assert variances.mean() == pytest.approx(float(variance))


def test_sample_of_the_reference() -> None:
    """d1 d2 d5 d7: estimates 4/5, 7/10, 3/5; V = 4/25 for all three."""
    sample = sample_of(TWO_STRATA, (0, 1, 4, 6))
    scores, variances = zip(*(estimated(sample, share) for share in (0, 0.5, 1)), strict=True)
    assert scores == pytest.approx((4 / 5, 7 / 10, 3 / 5))
    assert variances == pytest.approx((4 / 25,) * 3)


ORDER = np.arange(4, dtype=np.int32).reshape(1, 1, 4)
GRADES = np.array([1.0, 0.0, 1.0, 1.0])
OF_MODEL = np.array([1.0, 1.0, 0.0, 1.0])


def sums_of(*, joint: bool = True) -> tuple[list[float], list[float]]:
    """Return Q-hat and R-hat of every sample of two of four documents, ab ac ad bc bd cd.

    With a prediction whose sum is that of people, R-hat = sum x is known, so both are read off AP-hat.
    """
    q, r = [], []
    for rows in combinations(range(4), 2):
        sample = sample_of(np.zeros(4, np.int64), rows)
        if not joint:  # as if all pairs were drawn independently
            sample = Drawn(sample.topics, np.arange(4), sample.judged, np.full(4, 2), np.ones(4, np.int64))
        total = OF_MODEL.sum() + np.sum((GRADES - OF_MODEL)[list(rows)] * 2)
        found = corrected_precision(ORDER, OF_MODEL, GRADES[list(rows)], sample, is_cut=False)
        q.append(float(found[0, 0] * total))
        r.append(float(total))
    return q, r


def test_average_precision_of_every_sample() -> None:
    """Q-hat 1/4 21/4 11/4 3/4 1/4 21/4, mean 29/12 = Q; R-hat 1 5 3 3 1 5, mean 3."""
    q, r = sums_of()
    assert q == pytest.approx([1 / 4, 21 / 4, 11 / 4, 3 / 4, 1 / 4, 21 / 4])
    assert r == [1, 5, 3, 3, 1, 5]
    assert np.mean(q) == pytest.approx(29 / 12)


def test_average_precision_needs_the_joint_probabilities() -> None:
    """Without c - 1 the mean of Q-hat is 91/36."""
    q, _ = sums_of(joint=False)
    assert np.mean(q) == pytest.approx(91 / 36)


def test_average_precision_of_a_pool_judged_whole() -> None:
    """Whatever is expected: AP of 1 0 1 1 is (1 + 2/3 + 3/4) / 3; without R it is not defined."""
    sample = sample_of(np.zeros(4, np.int64), (0, 1, 2, 3))
    for expected in (OF_MODEL, np.full(4, 0.3), np.zeros(4), np.full(4, 9.0)):
        found = corrected_precision(ORDER, expected, GRADES, sample)
        assert found.ravel().tolist() == pytest.approx([29 / 36])
    assert np.isnan(corrected_precision(ORDER, np.zeros(4), np.zeros(4), sample)).all()


def test_average_precision_is_cut() -> None:
    """R-hat = 3/2 - 3/2 = 0 is below sum x / 4 = 1/2: AP-hat is Q-hat over the latter, within [0, 1]."""
    sample = sample_of(np.zeros(4, np.int64), (1,))
    # z = 1/2, 1/2 - 2, 1/2, 1/2: Q = 1/2 - 3/2 x 3/2 / 2 + 0 + 1/2 x 1/2 / 4, which is negative.
    assert corrected_precision(ORDER, np.full(4, 0.5), np.zeros(1), sample).tolist() == [[0.0]]


def test_lost_documents_count_as_not_sampled() -> None:
    """Of three sampled in five one is judged by nobody: each of the other two stands for 5/2."""
    sample = sample_of(np.zeros(5, np.int64), (0, 3))
    assert sample.inclusion.tolist() == [0.4, 0.4]
    assert sample.joint.tolist() == [pytest.approx(2 * 4 / (5 * 1))]
    assert sample.uncovered.tolist() == []


def test_strata_judged_by_one_or_none() -> None:
    """One judged of several: no variance. A stratum of one that is judged adds nothing. None: uncovered."""
    strata = np.array([0, 0, 0, 1])
    values = np.ones((1, 2))
    assert np.isnan(covariances(values, sample_of(strata, (0, 3)))).all()
    assert covariances(np.ones((1, 3)), sample_of(strata, (0, 1, 3))).tolist() == [[0.0]]
    assert sample_of(strata, (0, 1)).uncovered.tolist() == [1]


def test_covariances_give_the_variance_of_a_difference() -> None:
    """V of w_a - w_b by the same formula is V_a + V_b - 2 C."""
    generator = np.random.default_rng(3)
    sample = sample_of(TWO_STRATA, (0, 1, 3, 4, 6))
    values = generator.random((2, 5))
    both = covariances(values, sample)
    of_difference = covariances((values[0] - values[1])[None], sample)[0, 0]
    assert both[0, 0] + both[1, 1] - 2 * both[0, 1] == pytest.approx(of_difference)


def test_calibrated_shares_weigh_by_inclusion() -> None:
    """Grade 1: relevant w 4/2, not w 3/1 of n = 2: (2 x 2/5 + 1/2) / 3; four grades get 1/4 each."""
    strata = np.array([0, 0, 0, 0, 1, 1, 1])
    sample = sample_of(strata, (0, 1, 4))
    model = np.array([1, 0, 0, 0, 1, NO_GRADE, 0])
    shares = calibrated_shares(model, np.array([1, 0, 0]), 2, sample)
    assert shares[0, 1] == pytest.approx((2 * (2 / 5) + 1 / 2) / 3)
    assert shares[1, 1] == pytest.approx((1 * 0 + 1 / 2) / 2)
    assert shares[5].tolist() == [0, 0]
    of_four = calibrated_shares(model, np.array([3, 0, 0]), 4, sample)
    assert of_four[0].tolist() == pytest.approx(
        [(2 * 3 / 5 + 1 / 4) / 3, 1 / 12, 1 / 12, (2 * 2 / 5 + 1 / 4) / 3]
    )
    assert grade_counts(model, sample).tolist() == [1, 2]


def test_ideal_lies_between_whole_numbers() -> None:
    """2.5 of level 1, of them 1.25 of level 2; a count above the lower level's or below 0 is cut."""
    d = [1.0, 1 / np.log2(3), 0.5]
    once = d[0] + d[1] + d[2] / 2
    assert corrected_ideal(np.array([[2.5, 1.25]]), np.ones(2), 3)[0] == pytest.approx(once + d[0] + d[1] / 4)
    assert corrected_ideal(np.array([[2.5, 7.0]]), np.ones(2), 3)[0] == pytest.approx(2 * once)
    assert corrected_ideal(np.array([[-1.0, 2.0]]), np.ones(2), 3)[0] == 0
    assert corrected_ideal(np.array([[9.0]]), np.ones(1), 3)[0] == pytest.approx(sum(d))


def test_interval_of_topics_leaves_undefined_ones_out() -> None:
    """Of 1, 2, 3 the t interval is 2 -+ 4.302653 / sqrt 3; of one topic there is none."""
    low, high = topic_interval(np.array([[1.0, np.nan, 2.0, 3.0], [np.nan, np.nan, np.nan, 1.0]]))
    assert [low[0], high[0]] == pytest.approx([2 - 4.302653 / sqrt(3), 2 + 4.302653 / sqrt(3)], abs=1e-6)
    assert np.isnan([low[1], high[1]]).all()


def test_interval_of_any_number_of_topics_has_the_t_of_scipy() -> None:
    """Of 0s and a 1, the standard error of whose mean is that mean, the half width is t times the mean."""
    for n in (*range(2, 200), 249, 250, 5_000, 10_001):
        scores = np.zeros(n)
        scores[0] = 1.0
        low, high = topic_interval(scores)
        assert float(high - low) * n / 2 == pytest.approx(float(stdtrit(n - 1, 0.975)), rel=1e-12)


def population_of(sample: Drawn) -> Population:
    """Return the eight documents as a population with one run, which has no ninth."""
    return Population(
        sample=sample,
        places=np.array([[[0, 4, 1, 5, 2]]], np.int32),
        people=HUMAN[sample.judged].astype(np.int64),
        model=MODEL.astype(np.int64),
        levels=np.array([0, 1]),
        level=1,
        model_level=1,
    )


P5 = MeasureSpec("P@5", "linear", np.full(5, 0.2))


def test_measures_of_a_population() -> None:
    """The sample d1 d2 d5 d7; two judged documents of a grade are fewer than 30, so nothing is learnt."""
    (found,) = corrected_measures(population_of(sample_of(TWO_STRATA, (0, 1, 4, 6))), [P5])
    assert found.scores.tolist() == pytest.approx([4 / 5])
    assert found.by_model.tolist() == pytest.approx([3 / 5])
    assert found.way == "people"
    assert found.covariance is not None
    assert found.covariance.tolist() == [[pytest.approx(4 / 25)]]
    assert found.helped is None


def test_bounds_of_lost_documents() -> None:
    """Nobody could judge d2: 2/5 each for d1 and d5, 0 or 2/5 for d2; without it d1 stands for four."""
    lost = sample_of(TWO_STRATA, (0, 4, 6))
    whole = sample_of(TWO_STRATA, (0, 1, 4, 6))
    (found,) = corrected_measures(population_of(lost), [P5], whole=whole)
    assert found.bounds is not None
    assert found.bounds.ravel().tolist() == pytest.approx([4 / 5, 6 / 5])
    assert found.scores.tolist() == pytest.approx([0.2 * 4 + 0.2 * 2])


def test_a_topic_where_people_find_nothing() -> None:
    """Judged whole, AP and nDCG are not defined, whatever the model said; P is 0."""
    nothing = replace(population_of(sample_of(ONE_STRATUM, tuple(range(8)))), people=np.zeros(8, np.int64))
    gain = MeasureSpec("nDCG@5", "nDCG", 1 / np.log2(np.arange(2, 7)), np.array([0.0, 1.0]))
    average = MeasureSpec("AP", "AP", np.ones(5))
    precision, *others = corrected_measures(nothing, [P5, average, gain])
    assert precision.scores.tolist() == [pytest.approx(0)]
    assert all(np.isnan(one.scores).all() for one in others)
    assert all(np.isfinite(one.by_model).all() for one in others)
