"""Precision at a cutoff and its kin: the sources' examples, and plain loops."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.measures.ranked import (
    attainable_precision,
    attainable_recall,
    break_even,
    judged_share,
    precision_at,
    r_precision,
    recall_at,
    reciprocal_rank,
    success_at,
)


def signs(text: str) -> NDArray[np.bool_]:
    """Read a string of + and -, the first rank first."""
    return np.array([letter == "+" for letter in text])


@pytest.mark.vector("article 002, examples 1 and 2: N = 10")
@pytest.mark.parametrize(
    ("n_relevant", "recall", "precision"), [(100, (0.1, 0.01), (1.0, 0.1)), (5, (1.0, 0.2), (0.5, 0.1))]
)
def test_ranges_and_steps_of_the_article(
    n_relevant: int, recall: tuple[float, float], precision: tuple[float, float]
) -> None:
    """Highest value and step of recall and precision at 10 are the printed ones."""
    of_recall = attainable_recall(n_relevant, 10)
    of_precision = attainable_precision(n_relevant, 10)
    assert (float(of_recall.highest), float(of_recall.step)) == recall
    assert (float(of_precision.highest), float(of_precision.step)) == precision


@pytest.mark.parametrize("n_relevant", range(7))
@pytest.mark.parametrize("cutoff", range(1, 6))
def test_attained_values_are_the_attainable_ones(n_relevant: int, cutoff: int) -> None:
    """Over every list of 6 ranks, the values that occur are 0, step, ... up to the highest."""
    lists = [flags for flags in itertools.product([False, True], repeat=6) if sum(flags) <= n_relevant]
    relevant = np.array(lists)
    pairs = [(precision_at(relevant, cutoff), attainable_precision(n_relevant, cutoff))]
    if n_relevant:
        of_recall = recall_at(relevant, n_relevant, cutoff)
        pairs.append((of_recall, attainable_recall(n_relevant, cutoff)))
    else:
        assert np.isnan(recall_at(relevant, 0, cutoff)).all()
        assert np.isnan(attainable_recall(0, cutoff).highest)
        assert np.isnan(attainable_recall(0, cutoff).step)
    for values, attainable in pairs:
        n_steps = round(float(attainable.highest / attainable.step))
        expected = [step * float(attainable.step) for step in range(n_steps + 1)]
        np.testing.assert_allclose(np.unique(values), expected, rtol=1e-14)


@given(st.lists(st.booleans(), max_size=12), st.integers(0, 4), st.integers(1, 15))
def test_measures_equal_plain_loops(flags: list[bool], missed: int, cutoff: int) -> None:
    """Each measure is its definition, counted by hand on exact fractions."""
    relevant, n_relevant = np.array(flags, dtype=bool), sum(flags) + missed
    found = sum(flags[:cutoff])
    assert float(precision_at(relevant, cutoff)) == float(Fraction(found, cutoff))
    assert float(success_at(relevant, cutoff)) == (1.0 if found else 0.0)
    first = flags.index(True) + 1 if any(flags) else None
    assert float(reciprocal_rank(relevant)) == (1 / first if first else 0.0)
    if n_relevant:
        assert float(recall_at(relevant, n_relevant, cutoff)) == found / n_relevant
        at_r = sum(flags[:n_relevant]) / n_relevant
        assert float(r_precision(relevant, n_relevant)) == at_r
        value = float(break_even(relevant, n_relevant, len(flags)))
        assert np.isnan(value) if len(flags) < n_relevant else value == at_r
    else:
        assert np.isnan(recall_at(relevant, n_relevant, cutoff))
        assert np.isnan(r_precision(relevant, n_relevant))
        assert np.isnan(break_even(relevant, n_relevant, len(flags)))
    if flags:
        assert float(judged_share(relevant, len(flags), cutoff)) == found / min(cutoff, len(flags))
    else:
        assert np.isnan(judged_share(relevant, 0, cutoff))


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.integers(0, 3))
def test_break_even_is_where_the_curves_meet(flags: list[bool], missed: int) -> None:
    """Once something is found, precision equals recall at rank R and at no other rank."""
    n_relevant = sum(flags) + missed
    value = float(break_even(np.array(flags), n_relevant, len(flags))) if n_relevant else np.nan
    meeting = {
        rank
        for rank in range(1, len(flags) + 1)
        if (found := sum(flags[:rank])) and Fraction(found, rank) == Fraction(found, n_relevant)
    }
    assert meeting <= {n_relevant}
    if meeting:
        assert value == sum(flags[:n_relevant]) / n_relevant
    else:
        assert np.isnan(value) or value == 0.0


@pytest.mark.vector("slides, examples of MRR and of break-even")
def test_examples_of_the_slides() -> None:
    """MRR of first ranks 1 and 4 is .625; break-even of the two lists is .5 and 1."""
    first_ranks = np.array([signs("+-+-"), signs("---+")])
    assert float(reciprocal_rank(first_ranks).mean()) == 0.625
    lists = np.array([signs("++--+-+-"), signs("++++----")])
    assert break_even(lists, [4, 4], [8, 8]).tolist() == [0.5, 1.0]


def test_short_list_divides_by_the_cutoff() -> None:
    """Three relevant documents and no more have P@10 = .3, but Judged@10 = 1."""
    assert float(precision_at(signs("+++"), 10)) == 0.3
    assert float(judged_share(signs("+++"), 3, 10)) == 1.0


def test_runs_and_topics_at_once() -> None:
    """A (runs, topics, ranks) array gives what each list alone gives."""
    rng = np.random.default_rng(5)
    relevant = rng.random((3, 4, 9)) < 0.3
    n_relevant = relevant.sum(axis=-1).max(axis=0) + np.array([0, 1, 2, 0])
    whole = r_precision(relevant, n_relevant)
    for run, topic in np.ndindex(3, 4):
        alone = r_precision(relevant[run, topic], n_relevant[topic])
        np.testing.assert_array_equal(whole[run, topic], alone)
