"""The reference of all outcomes against the worked examples, to their printed digits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from tests.store.analysis.variation.enumerated_variation import Topic, drawn_topics, enumerated, outcomes
from tests.store.analysis.variation.outcome_table import all_maps, outcome_table, reversed_in
from tests.vectors.variation_examples import EXAMPLES, NEAR


@pytest.mark.vector("formulas of the project, section 6: X1 to X5")
@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_example_is_enumerated(name: str) -> None:
    """Fractions give every printed digit: moments, gradients, probabilities."""
    example = EXAMPLES[name]
    chances = [Fraction(p) for p in example.p.split()]
    found = enumerated(chances, example.ranks)
    assert found.mean == pytest.approx([float(mean) for mean in example.mean], abs=1e-15)
    upper = np.triu_indices(len(example.ranks))
    assert found.covariance[upper] == pytest.approx(example.covariance, abs=1e-15)
    assert found.gradient[: len(example.gradient)] == pytest.approx(
        np.array(example.gradient).reshape(-1, len(chances)), abs=NEAR
    )
    if example.above is not None:
        assert found.above[0, 1] == pytest.approx(example.above, abs=1e-15)


def test_difference_of_the_third_example() -> None:
    """Var(u) = Var A + Var B - 2 Cov of X3."""
    example = EXAMPLES["X3"]
    found = enumerated([Fraction(p) for p in example.p.split()], example.ranks)
    variance = found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1]
    assert variance == pytest.approx(0.018055674792901, abs=1e-15)


@given(drawn_topics(most_documents=6))
def test_floats_equal_fractions(topic: Topic) -> None:
    """Sums of floats are those of fractions to rounding, whatever is drawn."""
    probabilities, ranks = topic
    fast = enumerated(probabilities, ranks)
    exact = enumerated([Fraction(float(p)) for p in probabilities], ranks)
    for name in ("mean", "covariance", "gradient", "above"):
        assert getattr(fast, name) == pytest.approx(getattr(exact, name), abs=1e-14)


@given(drawn_topics(most_documents=6))
def test_table_of_outcomes_has_the_same_moments(topic: Topic) -> None:
    """The reference in arrays, which is quick, and the one by outcome, which is plain."""
    probabilities, ranks = topic
    plain, table = enumerated(probabilities, ranks), outcome_table(ranks)
    mean, covariance = table.moments(probabilities)
    assert mean == pytest.approx(plain.mean, abs=1e-14)
    assert covariance == pytest.approx(plain.covariance, abs=1e-14)
    assert table.gradient(probabilities) == pytest.approx(plain.gradient, abs=1e-13)


@given(
    drawn_topics(most_documents=4, fewest_runs=2, most_runs=2),
    drawn_topics(most_documents=3, fewest_runs=2, most_runs=2),
)
def test_outcomes_of_two_topics_are_all_pairs_of_outcomes(one: Topic, two: Topic) -> None:
    """MAPs and probabilities of every pair, one after the other."""
    maps, chances = all_maps([one, two], empty="zero")
    assert chances.sum() == pytest.approx(1)
    means = [enumerated(*topic).mean for topic in (one, two)]
    assert chances @ maps == pytest.approx((means[0] + means[1]) / 2, abs=1e-14)
    listed = [[*outcomes(p.tolist(), ranks.tolist())] for p, ranks in (one, two)]
    turned = math.fsum(
        a.weight * b.weight
        for a, b in itertools.product(*listed)
        if a.scores[0] + b.scores[0] < a.scores[1] + b.scores[1]
    )
    assert reversed_in([one, two], 0, 1, empty="zero") == pytest.approx(turned, abs=1e-14)
