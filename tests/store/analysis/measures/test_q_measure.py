"""Q-measure: fractions by its definition, AP where gains weigh nothing, and what bounds it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.measures.gain import q_measure
from store.analysis.measures.names import evaluate, parse_measure
from store.analysis.measures.ranked import condensed
from tests.store.analysis.measures.incomplete import one_list

LISTS = st.text("0123?", max_size=7)
MISSED = st.text("0123", max_size=4)


def plain_q(labels: str, missed: str, beta: Fraction, cutoff: int | None) -> Fraction | None:
    """Compute Q of one list, `?` unjudged; ``None`` where no document is relevant."""
    gains = [0 if label == "?" else int(label) for label in labels]
    ideal = sorted([*gains, *(int(label) for label in missed)], reverse=True)
    n_relevant = sum(gain > 0 for gain in ideal)
    total = Fraction(0)
    for rank in range(1, min(len(gains), cutoff or len(gains)) + 1):
        if gains[rank - 1]:
            found = sum(gain > 0 for gain in gains[:rank])
            total += (found + beta * sum(gains[:rank])) / (rank + beta * sum(ideal[:rank]))
    divisor = n_relevant if cutoff is None else min(n_relevant, cutoff)
    return total / divisor if divisor else None


@given(
    LISTS, MISSED, st.sampled_from(["0", "0.5", "1", "10"]), st.none() | st.integers(1, 9),
    st.booleans(),
)  # fmt: skip
def test_definition(labels: str, missed: str, beta: str, cutoff: int | None, is_condensed: bool) -> None:
    """Every list has the sum of its blended ratios, condensed or not."""
    rankings = one_list(labels, missed)
    if is_condensed:
        rankings, labels = condensed(rankings), labels.replace("?", "")
    at = "" if cutoff is None else f"@{cutoff}"
    (scores,) = evaluate(rankings, [parse_measure(f"Q(beta={beta}){at}")])
    expected = plain_q(labels, missed, Fraction(beta), cutoff)
    if expected is None:
        assert np.isnan(scores.values).all()
        assert scores.reason(0, 0) == "no-relevant"
    else:
        assert scores.values.item() == pytest.approx(float(expected), abs=1e-14)


@given(LISTS, MISSED)
def test_is_average_precision_without_gains(labels: str, missed: str) -> None:
    """With beta 0 it is AP."""
    names = [parse_measure(text) for text in ("Q(beta=0)", "AP")]
    flat, ap = evaluate(one_list(labels, missed), names)
    np.testing.assert_allclose(flat.values, ap.values, rtol=1e-14)


@given(st.text("0123").map("2".__add__), st.integers(1, 5))
def test_ideal_list_has_one(labels: str, cutoff: int) -> None:
    """The best order, cut or not, reaches 1, and the worst one does not."""
    best = "".join(sorted(labels, reverse=True))
    rankings = one_list(best)
    for at in (None, cutoff):
        (value,) = q_measure(rankings.grades[0], rankings.judged_grades, cutoff=at)
        assert value == pytest.approx(1.0, abs=1e-15)
    (value,) = q_measure(rankings.grades[0, :, ::-1], rankings.judged_grades)
    assert (value < 1) == (len(set(labels)) > 1)


def test_by_hand() -> None:
    """Grades 1, 0, 3 of 3 and 1: (2/4 + 6/7) / 2; with a large beta the gains alone count."""
    rankings = one_list("103")
    (value,) = q_measure(rankings.grades[0], rankings.judged_grades)
    assert float(value) == pytest.approx((2 / 4 + 6 / 7) / 2, abs=1e-15)
    (value,) = q_measure(rankings.grades[0], rankings.judged_grades, beta=1e9)
    assert float(value) == pytest.approx((1 / 3 + 4 / 4) / 2, abs=1e-8)


def test_several_lists() -> None:
    """Runs and topics stand apart; grades below 0 gain nothing, and no list is a list."""
    grades = np.array([[[3, -2, 1], [0, 1, 0]], [[0, 0, 0], [1, 0, 0]]])
    judged = [np.array([3, 1, -2]), np.array([1, 0])]
    expected = [[(1 + (2 + 4) / (3 + 4)) / 2, (1 + 1) / (2 + 1)], [0.0, 1.0]]
    np.testing.assert_allclose(q_measure(grades, judged), expected, rtol=1e-15)
    assert q_measure(grades[:0], judged).shape == (0, 2)
    assert q_measure(grades[:, :, :0], judged).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert q_measure(np.zeros((1, 0, 3), dtype=np.int64), []).shape == (1, 0)


def test_several_runs_of_one_topic() -> None:
    """Each run of a single topic has its own Q: first is ideal, second (1 + 1) / (2 + 1)."""
    grades = np.array([[[1, 0]], [[0, 1]], [[0, 0]]])
    values = q_measure(grades, [np.array([1])])
    np.testing.assert_allclose(values, [[1.0], [2 / 3], [0.0]], rtol=1e-15)
