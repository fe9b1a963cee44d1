"""Interpolated precision and its mean over eleven recalls, against plain loops and trec_eval."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.measures.ranked import eleven_point, interpolated_precision
from store.errors import ArgumentError

TENTHS = [Fraction(tenth, 10) for tenth in range(11)]


def signs(text: str) -> NDArray[np.bool_]:
    """Read a string of + and -, the first rank first."""
    return np.array([letter == "+" for letter in text])


def trec_eval_needs(recall: Fraction, n_relevant: int) -> int:
    """Return the documents that trec_eval asks for: floating point, less a tenth of one."""
    return int(float(recall) * n_relevant + 0.9)


def slow(flags: list[bool], n_relevant: int, recall: Fraction) -> Fraction:
    """Look at every rank that has as many relevant documents as trec_eval asks for."""
    found = [sum(flags[:rank]) for rank in range(1, len(flags) + 1)]
    needed = trec_eval_needs(recall, n_relevant)
    enough = [Fraction(count, rank) for rank, count in enumerate(found, start=1) if count >= needed]
    return max(enough, default=Fraction(0))


@pytest.mark.vector("slides, figure 1.3; the value by hand: the slides print none")
def test_lists_of_the_slides() -> None:
    """++--+-+- has 1 up to recall .5, 3/5 up to .75 and 4/7 to 1; the perfect list has 1."""
    expected = (6 * 1 + 2 * Fraction(4, 7) + 3 * Fraction(4, 7)) / 11
    # Precision 3/5 at the third relevant document is above the 4/7 at the fourth.
    expected += 2 * (Fraction(3, 5) - Fraction(4, 7)) / 11
    assert float(expected) == pytest.approx(0.810389610390, abs=5e-13)
    assert float(eleven_point(signs("++--+-+-"), 4)) == pytest.approx(float(expected), rel=1e-15)
    assert float(eleven_point(signs("++++----"), 4)) == 1.0


@given(
    st.lists(st.booleans(), max_size=12),
    st.integers(0, 12),
    st.sampled_from([*TENTHS, Fraction(1, 3), Fraction(1, 100)]),
)
def test_every_recall_equals_a_plain_loop(flags: list[bool], missed: int, recall: Fraction) -> None:
    """The value at a recall, and the mean over eleven, are those of the definition."""
    relevant, n_relevant = np.array(flags, dtype=bool), sum(flags) + missed
    value = float(interpolated_precision(relevant, n_relevant, recall))
    mean = float(eleven_point(relevant, n_relevant))
    if n_relevant == 0:
        assert np.isnan(value)
        assert np.isnan(mean)
        return
    assert value == float(slow(flags, n_relevant, recall))
    expected = sum((slow(flags, n_relevant, point) for point in TENTHS), Fraction(0)) / 11
    assert mean == pytest.approx(float(expected), rel=1e-14, abs=1e-300)


def theirs(flags: list[bool], missed: int) -> dict[str, float]:
    """Measure one list with pytrec_eval, `missed` relevant documents being outside it."""
    grades = {f"d{rank}": int(flag) for rank, flag in enumerate(flags)}
    grades |= {f"missed{number}": 1 for number in range(missed)}
    run = {f"d{rank}": -float(rank) for rank in range(len(flags))}
    evaluator = pytrec_eval.RelevanceEvaluator({"t": grades}, {"11pt_avg", "iprec_at_recall"})
    return dict(evaluator.evaluate({"t": run})["t"])


def check_against_trec_eval(flags: list[bool], missed: int) -> None:
    """Compare all eleven points and their mean."""
    n_relevant, expected = sum(flags) + missed, theirs(flags, missed)
    for point in TENTHS:
        ours = float(interpolated_precision(np.array(flags), n_relevant, point))
        assert ours == pytest.approx(expected[f"iprec_at_recall_{float(point):.2f}"], rel=1e-14)
    ours = float(eleven_point(np.array(flags), n_relevant))
    assert ours == pytest.approx(expected["11pt_avg"], rel=1e-14)


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(0, 30))
def test_eleven_points_equal_trec_eval(flags: list[bool], missed: int) -> None:
    """It is trec_eval's 11pt_avg and iprec_at_recall, every one of them."""
    if sum(flags) + missed:
        check_against_trec_eval(flags, missed)


@pytest.mark.parametrize("n_relevant", [3, 10, 13, 20, 23, 30, 43, 60])
def test_recalls_are_rounded_as_in_trec_eval(n_relevant: int) -> None:
    """Precision falls with every relevant document, so that one document too many shows."""
    check_against_trec_eval([flag for gap in range(n_relevant) for flag in (True, *[False] * gap)], 0)


def test_recall_seven_tenths_of_three_takes_two() -> None:
    """.7 * 3 + .9 is 2.9999999999999996 in floating point: 2/2, where 3 documents would give 3/4."""
    assert float(interpolated_precision(signs("++-+"), 3, Fraction(7, 10))) == 1.0
    assert theirs([True, True, False, True], 0)["iprec_at_recall_0.70"] == 1.0


def test_runs_and_topics_at_once() -> None:
    """A (runs, topics, ranks) array gives what each list alone gives, empty lists included."""
    rng = np.random.default_rng(5)
    relevant = rng.random((3, 4, 9)) < [[[0.3], [0.0], [0.9], [0.1]]]
    n_relevant = relevant.sum(axis=-1).max(axis=0) + np.array([0, 0, 2, 1])
    whole = eleven_point(relevant, n_relevant)
    for run, topic in np.ndindex(3, 4):
        alone = eleven_point(relevant[run, topic], n_relevant[topic])
        np.testing.assert_array_equal(whole[run, topic], alone)
    assert eleven_point(np.zeros((2, 0), dtype=bool), [3, 0])[0] == 0.0


def test_recall_outside_its_range_is_refused() -> None:
    """A recall above 1 or below 0 is an error."""
    for recall in (Fraction(11, 10), Fraction(-1, 10)):
        with pytest.raises(ArgumentError, match="`recall` must be between 0 and 1, but got"):
            interpolated_precision(signs("+"), 1, recall)
