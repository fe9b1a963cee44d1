"""ROC curve and the area below: the slides' lists, all pairs, scikit-learn, ir_measures."""

from __future__ import annotations

from fractions import Fraction

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.metrics import roc_curve as their_curve

from store.analysis.measures.confusion import area_of_rankings, roc_curve

SCORED = st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=15)


def signs(text: str) -> NDArray[np.bool_]:
    """Read a string of + and -, the first rank first."""
    return np.array([letter == "+" for letter in text])


def by_pairs(scored: list[tuple[int, bool]]) -> Fraction | None:
    """Compare every relevant document with every other one."""
    wins = [
        Fraction(1) if score > other else Fraction(1, 2) if score == other else Fraction(0)
        for score, relevant in scored
        if relevant
        for other, is_other in scored
        if not is_other
    ]
    return sum(wins, Fraction(0)) / len(wins) if wins else None


@pytest.mark.vector("slides, figure 1.5: the two lists; areas by counting pairs")
def test_lists_of_the_slides() -> None:
    """++--+-+- has 11 of 16 pairs in order (4 + 4 + 2 + 1); the ideal list all 16."""
    scores = np.arange(8, 0, -1.0)
    assert roc_curve(scores, signs("++--+-+-")).area == 11 / 16
    ideal = roc_curve(scores, signs("++++----"))
    assert ideal.area == 1.0
    # The ideal curve goes up the left side before it goes right.
    assert ideal.true_positive_rate[4] == 1.0
    assert ideal.false_positive_rate[4] == 0.0
    both = np.array([signs("++--+-+-"), signs("++++----")])
    assert area_of_rankings(both, [8, 8]).tolist() == [11 / 16, 1.0]


@given(SCORED)
def test_area_equals_all_pairs_and_scikit_learn(scored: list[tuple[int, bool]]) -> None:
    """Ties included, points and area are scikit-learn's, and the share of pairs won."""
    scores = np.array([float(score) for score, _ in scored])
    relevant = np.array([flag for _, flag in scored])
    curve, expected = roc_curve(scores, relevant), by_pairs(scored)
    if expected is None:
        assert curve.area is None
        assert curve.reason == ("no-not-relevant" if relevant.all() else "no-relevant")
        rates = curve.false_positive_rate if relevant.all() else curve.true_positive_rate
        assert np.isnan(rates).all()
        return
    assert curve.area == float(expected)
    assert curve.area == pytest.approx(roc_auc_score(relevant, scores), rel=1e-14, abs=1e-300)
    false, true, thresholds = their_curve(relevant, scores, drop_intermediate=False)
    np.testing.assert_allclose(curve.false_positive_rate, false, rtol=1e-15)
    np.testing.assert_allclose(curve.true_positive_rate, true, rtol=1e-15)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    trapezia = np.trapezoid(curve.true_positive_rate, curve.false_positive_rate)
    assert curve.area == pytest.approx(trapezia, rel=1e-14, abs=1e-300)


@given(SCORED)
def test_only_the_order_of_scores_matters(scored: list[tuple[int, bool]]) -> None:
    """An increasing function of the scores leaves the area, negated scores give 1 less it."""
    scores = np.array([float(score) for score, _ in scored])
    relevant = np.array([flag for _, flag in scored])
    area = roc_curve(scores, relevant).area
    assert roc_curve(np.exp(scores), relevant).area == area
    mirrored = roc_curve(-scores, relevant).area
    assert mirrored is None if area is None else mirrored == pytest.approx(1 - area, abs=1e-15)


@given(st.lists(st.booleans(), min_size=1, max_size=15), st.integers(0, 3))
def test_area_of_a_ranking_is_that_of_its_ranks(flags: list[bool], n_unfilled: int) -> None:
    """Ranks for scores give the same area, and ranks that are not filled change nothing."""
    padded = np.array(flags + [False] * n_unfilled)
    value = float(area_of_rankings(padded, len(flags)))
    expected = roc_curve(-np.arange(len(flags), dtype=float), np.array(flags)).area
    assert np.isnan(value) if expected is None else value == expected


@given(st.lists(st.booleans(), min_size=2, max_size=15))
def test_area_of_a_ranking_is_ir_measures_accuracy(flags: list[bool]) -> None:
    """It is what ir_measures calls Accuracy, wherever that gives a value."""
    if all(flags) or not any(flags):
        return
    qrels = {"t": {f"d{rank}": int(flag) for rank, flag in enumerate(flags)}}
    run = {"t": {f"d{rank}": -float(rank) for rank in range(len(flags))}}
    (theirs,) = ir_measures.Accuracy.iter_calc(qrels, run)
    ours = float(area_of_rankings(np.array(flags), len(flags)))
    assert ours == pytest.approx(theirs.value, rel=1e-14, abs=1e-15)
