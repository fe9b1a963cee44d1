"""Discounted gain: the slides' example beside what it prints, exact sums, scikit-learn."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import dcg_score, ndcg_score

from store.analysis.measures.gain import (
    Discount,
    Gain,
    discounted_gain,
    discounts,
    ideal_gain,
    normalised_gain,
)
from store.analysis.measures.names import evaluate, parse_measure
from tests.store.analysis.measures.incomplete import one_list

SLIDES = [4, 1, 4, 2, 1]
GRADES = st.lists(st.integers(-2, 6), max_size=15)


def slow_gain(grades: list[int], gain: Gain, discount: Discount) -> float:
    """Add up rank by rank, rounding once."""
    terms = []
    for rank, grade in enumerate(grades, start=1):
        worth = Fraction(max(0, grade)) if gain == "grade" else Fraction(2 ** max(0, grade) - 1)
        if discount == "none":
            terms.append(float(worth))
        elif discount == "log2":
            terms.append(float(worth) / math.log2(rank + 1))
        else:
            terms.append(float(worth) / (math.log2(rank) if rank > 1 else 1))
    return math.fsum(terms)


@pytest.mark.vector("slides, nDCG: printed DCG 8.96, IDCG 10.70, nDCG .83 and .65")
def test_example_of_the_slides() -> None:
    """DCG is as printed; IDCG is 10.19, not 10.70, so nDCG is .8785 and .6853, not .83 and .65."""
    by_hand = 4 + 1 + 4 / math.log2(3) + 2 / 2 + 1 / math.log2(5)
    assert by_hand == pytest.approx(8.954395572359, abs=5e-13)
    ideal_by_hand = 4 + 4 + 2 / math.log2(3) + 1 / 2 + 1 / math.log2(5)
    assert ideal_by_hand == pytest.approx(10.192536065216, abs=5e-13)
    # With the logarithms rounded as on the slide, its own numbers are 8.96 and 10.20.
    assert round(4 + 1 + 4 / 1.58 + 2 / 2 + 1 / 2.32, 2) == 8.96
    assert round(4 + 4 + 2 / 1.58 + 1 / 2 + 1 / 2.32, 2) == 10.20
    grades = np.array([[SLIDES], [sorted(SLIDES)]])
    total = discounted_gain(grades, discount="jarvelin")
    assert float(total[0, 0]) == pytest.approx(by_hand, rel=1e-15)
    assert float(total[1, 0]) == pytest.approx(6.984565739436, abs=5e-13)
    values = normalised_gain(grades, [np.array(SLIDES)], discount="jarvelin")
    np.testing.assert_allclose(values[:, 0], [0.878524786674, 0.685262793749], atol=5e-13)


@pytest.mark.vector("Järvelin and Kekäläinen 2002, section 2: CG' and nCG', two decimals")
def test_cumulated_gain_of_the_article() -> None:
    """Their list of ten, three judged documents of grade 1 below it; .7647 is printed as .76."""
    rankings = one_list("3230012230", "111")
    printed = {
        "CG": [3, 5, 8, 8, 8, 9, 11, 13, 16, 16],
        "nCG": [1, 0.83, 0.89, 0.73, 0.62, 0.6, 0.69, 0.76, 0.89, 0.84],
    }
    for name, values in printed.items():
        found = evaluate(rankings, [parse_measure(f"{name}@{rank}") for rank in range(1, 11)])
        np.testing.assert_allclose([one.values.item() for one in found], values, atol=0.005)
    (nothing,) = evaluate(one_list("00"), [parse_measure("nCG@2")])
    assert nothing.reason(0, 0) == "no-relevant"


@pytest.mark.vector("slides' grades in ir_measures, pytrec_eval, ranx and scikit-learn")
def test_example_of_the_slides_in_the_common_variant() -> None:
    """With 1 / log2(i + 1) the slides' list has the value that four programs give it."""
    grades = np.array([SLIDES])
    assert float(discounted_gain(grades)[0]) == pytest.approx(7.879135676953, abs=5e-13)
    assert float(ideal_gain([np.array(SLIDES)])[0]) == pytest.approx(8.341248379594, abs=5e-13)
    plain = normalised_gain(grades, [np.array(SLIDES)])
    exponential = normalised_gain(grades, [np.array(SLIDES)], gain="exponential")
    assert float(plain[0]) == pytest.approx(0.944599095769, abs=5e-13)
    assert float(exponential[0]) == pytest.approx(0.926379581983, abs=5e-13)


@given(GRADES, st.sampled_from(get_args(Gain)), st.sampled_from(get_args(Discount)), st.integers(1, 18))
def test_gain_equals_a_plain_loop(grades: list[int], gain: Gain, discount: Discount, cutoff: int) -> None:
    """DCG and the best there can be are their sums, rank by rank, for every variant and cutoff."""
    array = np.array(grades, dtype=np.int32)
    value = float(discounted_gain(array, cutoff=cutoff, gain=gain, discount=discount))
    assert value == pytest.approx(slow_gain(grades[:cutoff], gain, discount), rel=1e-14)
    best = float(ideal_gain([array], cutoff=cutoff, gain=gain, discount=discount)[0])
    in_order = sorted(grades, reverse=True)[:cutoff]
    assert best == pytest.approx(slow_gain(in_order, gain, discount), rel=1e-14)


@given(
    st.lists(st.integers(0, 4), min_size=2, max_size=15).filter(any),
    st.sampled_from(get_args(Gain)),
    st.integers(1, 18),
)
def test_gain_equals_scikit_learn(grades: list[int], gain: Gain, cutoff: int) -> None:
    """With log2(i + 1), DCG and nDCG of a whole ranking without ties are scikit-learn's."""
    array = np.array([grades])
    worth = array if gain == "grade" else 2**array - 1
    scores = -np.arange(len(grades))[None, :]
    dcg = discounted_gain(array, cutoff=cutoff, gain=gain)
    ndcg = normalised_gain(array, [array[0]], cutoff=cutoff, gain=gain)
    assert float(dcg[0]) == pytest.approx(dcg_score(worth, scores, k=cutoff), rel=1e-13)
    assert float(ndcg[0]) == pytest.approx(ndcg_score(worth, scores, k=cutoff), rel=1e-13)


@given(
    st.lists(st.integers(-2, 9), min_size=1, max_size=40),
    st.integers(0, 9),
    st.sampled_from(get_args(Gain)),
    st.sampled_from(get_args(Discount)),
)
def test_ideal_list_has_exactly_one(
    judged: list[int], n_unfilled: int, gain: Gain, discount: Discount
) -> None:
    """A list in the best order has 1, not 1 less a rounding error, whatever follows it."""
    best = sorted(judged, reverse=True)
    kept = [grade for grade in best if grade > 0]
    grades = np.array([[kept + [0] * n_unfilled]], dtype=np.int32)
    value = normalised_gain(grades, [np.array(judged)], gain=gain, discount=discount)
    assert np.isnan(value[0, 0]) if not kept else value[0, 0] == 1.0


@given(st.lists(st.integers(0, 3), min_size=1, max_size=10), st.data())
def test_no_order_beats_the_ideal(judged: list[int], data: st.DataObject) -> None:
    """Every order of the judged documents has a value in [0, 1]."""
    shuffled = data.draw(st.permutations(judged))
    value = normalised_gain(np.array([[shuffled]]), [np.array(judged)])[0, 0]
    assert np.isnan(value) if not any(judged) else 0 <= value <= 1


def test_runs_and_topics_at_once() -> None:
    """A (runs, topics, ranks) array gives to the last bit what each list alone gives."""
    rng = np.random.default_rng(7)
    grades = rng.integers(-1, 4, size=(4, 3, 50)).astype(np.int32)
    judged = [rng.integers(0, 4, size=80) for _ in range(3)]
    whole = normalised_gain(grades, judged, cutoff=20)
    for run, topic in np.ndindex(4, 3):
        alone = normalised_gain(grades[run, [topic]], [judged[topic]], cutoff=20)
        assert whole[run, topic] == alone[0]


def test_topic_without_gain_has_no_number() -> None:
    """Without a grade above 0 nDCG is undefined; an empty list of another topic has 0."""
    values = normalised_gain(np.zeros((1, 2, 0), dtype=np.int32), [np.array([0, -2]), [1]])
    assert np.isnan(values[0, 0])
    assert values[0, 1] == 0.0


def test_original_discount_leaves_two_ranks_whole() -> None:
    """Järvelin's base 2 weighs ranks 1 and 2 alike; the common discount does not."""
    np.testing.assert_array_equal(discounts(4, "jarvelin")[[0, 1, 3]], [1.0, 1.0, 0.5])
    np.testing.assert_array_equal(discounts(3, "log2")[[0, 2]], [1.0, 0.5])
