"""Measures of a retrieved set: the slides' tables, the errata of the sources, scikit-learn."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import fbeta_score

from store.analysis.measures.confusion import (
    accuracy,
    borko,
    confusion,
    confusion_at,
    e_measure,
    f_measure,
    fallout,
    fallout_from,
    generality,
    precision,
    precision_plus_recall,
    recall,
    specificity,
)

CELLS = st.tuples(*[st.integers(0, 50)] * 4)


def signs(text: str) -> NDArray[np.bool_]:
    """Read a string of + and -, the first rank first."""
    return np.array([letter == "+" for letter in text])


@pytest.mark.vector("slides, tables 1.2 and 1.3")
@pytest.mark.parametrize(
    ("labels", "cutoff", "cells", "printed"),
    [
        ("++++----", 1, (1, 0, 3, 4), (1 / 1, 1 / 4, 5 / 8)),
        ("++++----", 4, (4, 0, 0, 4), (4 / 4, 4 / 4, 8 / 8)),
        ("++++----", 7, (4, 3, 0, 1), (4 / 7, 4 / 4, 5 / 8)),
        ("++--+-+-", 1, (1, 0, 3, 4), (1 / 1, 1 / 4, 5 / 8)),
        ("++--+-+-", 4, (2, 2, 2, 2), (2 / 4, 2 / 4, 4 / 8)),
        ("++--+-+-", 7, (4, 3, 0, 1), (4 / 7, 4 / 4, 5 / 8)),
    ],
)
def test_tables_of_the_slides(
    labels: str, cutoff: int, cells: tuple[int, ...], printed: tuple[float, float, float]
) -> None:
    """Cutting the two lists at a, b and c gives the printed cells and ratios."""
    table = confusion_at(signs(labels)[:cutoff], 4, cutoff, n_documents=8)
    found = (table.true_positive, table.false_positive, table.false_negative, table.true_negative)
    assert tuple(int(cell) for cell in found) == cells
    computed = float(precision(table)), float(recall(table)), float(accuracy(table))
    assert computed == pytest.approx(printed, rel=1e-15)


def test_ratios_that_the_slides_print_wrong() -> None:
    """Fallout and generality are the right ratios, and differ from the printed ones."""
    table = confusion(3, 1, 2, 14)
    assert float(fallout(table)) == 1 / 15  # printed TN / (TN + FP) = 14/15
    assert float(specificity(table)) == 14 / 15
    assert float(generality(table)) == 5 / 20  # printed TP / all = 3/20


def test_e_of_a_perfect_set_is_zero() -> None:
    """E is 1 - F: 0 at P = R = 1, where the form printed without its 2 gives 1/2."""
    assert float(e_measure(1.0, 1.0)) == 0.0
    assert float(f_measure(1.0, 1.0)) == 1.0
    assert float(borko(1.0, 1.0)) == 1.0
    assert float(borko(0.0, 0.0)) == -1.0
    assert float(precision_plus_recall(1.0, 1.0)) == 2.0


def test_beta_weighs_recall() -> None:
    """With beta above 1 the list with more recall wins, with beta below 1 the one with less."""
    assert f_measure(0.2, 0.8, beta=2.0) > f_measure(0.8, 0.2, beta=2.0)
    assert f_measure(0.2, 0.8, beta=0.5) < f_measure(0.8, 0.2, beta=0.5)


@given(st.lists(st.booleans(), min_size=1), st.lists(st.booleans(), min_size=1), st.data())
def test_f_equals_scikit_learn(relevant: list[bool], found: list[bool], data: st.DataObject) -> None:
    """F over documents is scikit-learn's for every beta, 0 where it divides by 0 included."""
    size = min(len(relevant), len(found))
    truth, answer = np.array(relevant[:size]), np.array(found[:size])
    beta = data.draw(st.floats(0.05, 20))
    table = confusion(np.sum(truth & answer), np.sum(~truth & answer), np.sum(truth & ~answer), 0)
    both = np.nan_to_num(precision(table)), np.nan_to_num(recall(table))
    value = f_measure(*both, beta=beta)
    theirs = fbeta_score(truth, answer, beta=beta, zero_division=0.0)
    assert float(value) == pytest.approx(theirs, rel=1e-12, abs=1e-15)
    same = f_measure(*both, alpha=1 / (1 + beta * beta))
    assert float(same) == float(value)


@given(CELLS)
def test_ratios_equal_exact_fractions(cells: tuple[int, int, int, int]) -> None:
    """Every ratio is the exact one; 0/0 is NaN."""
    tp, fp, fn, tn = cells
    table = confusion(tp, fp, fn, tn)
    expected = {
        precision: (tp, tp + fp),
        recall: (tp, tp + fn),
        fallout: (fp, fp + tn),
        specificity: (tn, fp + tn),
        generality: (tp + fn, sum(cells)),
        accuracy: (tp + tn, sum(cells)),
    }
    for measure, (part, whole) in expected.items():
        if whole:
            assert float(measure(table)) == part / whole
        else:
            assert math.isnan(float(measure(table)))


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50), st.integers(1, 50))
def test_fallout_follows_from_the_others(tp: int, fp: int, fn: int, tn: int) -> None:
    """The identity of precision, recall, generality and fallout holds exactly, and in floats."""
    p, r = Fraction(tp, tp + fp), Fraction(tp, tp + fn)
    g = Fraction(tp + fn, tp + fp + fn + tn)
    assert r * g * (1 - p) / (p * (1 - g)) == Fraction(fp, fp + tn)
    computed = float(fallout_from(float(p), float(r), float(g)))
    assert computed == pytest.approx(fp / (fp + tn), rel=1e-12, abs=1e-15)


@given(st.integers(1, 60), st.integers(1, 60), st.integers(60, 90))
def test_means_and_the_beta_of_equal_slopes(a: int, b: int, whole: int) -> None:
    """F1 <= geometric <= arithmetic mean; with beta = R/P, F is (P² + R²) / (P + R)."""
    p, r = a / whole, b / whole
    harmonic = float(f_measure(p, r))
    assert harmonic <= math.sqrt(p * r) * (1 + 1e-15)
    assert math.sqrt(p * r) <= (p + r) / 2 * (1 + 1e-15)
    equal_slopes = float(f_measure(p, r, beta=r / p))
    assert equal_slopes == pytest.approx((p * p + r * r) / (p + r), rel=1e-13)


def test_extreme_weights_are_precision_and_recall() -> None:
    """Alpha 1 or beta 0 is precision, alpha 0 or an infinite beta recall."""
    assert float(f_measure(0.25, 0.75, beta=0.0)) == 0.25
    assert float(f_measure(0.25, 0.75, beta=math.inf)) == 0.75
    assert float(f_measure(0.25, 0.75, alpha=0.0)) == 0.75


def test_undefined_stays_undefined() -> None:
    """F and fallout of an undefined recall are NaN, not 0."""
    assert math.isnan(float(f_measure(0.0, math.nan)))
    assert math.isnan(float(fallout_from(0.0, 0.5, 0.5)))
    assert f_measure([0.5, math.nan], 0.5).tolist()[0] == 0.5
