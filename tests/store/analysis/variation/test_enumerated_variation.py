"""The reference of all outcomes against the worked examples, to their printed digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from tests.store.analysis.variation.enumerated_variation import Topic, drawn_topics, enumerated
from tests.store.analysis.variation.outcome_table import outcome_table
from tests.vectors.variation_examples import EXAMPLES, NEAR


@pytest.mark.vector("formulas of the project, section 6: X1 to X5")
@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_example_is_enumerated(name: str) -> None:
    """Fractions give every printed digit: moments, gradients, probabilities, both modes."""
    example = EXAMPLES[name]
    chances = [Fraction(p) for p in example.p.split()]
    found = enumerated(chances, example.ranks)
    assert found.mean == pytest.approx([float(mean) for mean in example.mean], abs=1e-15)
    upper = np.triu_indices(len(example.ranks))
    assert found.covariance[upper] == pytest.approx(example.covariance, abs=1e-15)
    assert found.gradient[: len(example.gradient)] == pytest.approx(
        np.array(example.gradient).reshape(-1, len(chances)), abs=NEAR
    )
    for name_of, expected in (("third", example.third), ("tied", example.tied),
                              ("above", example.above)):  # fmt: skip
        if expected is not None:
            assert getattr(found, name_of)[0, 1] == pytest.approx(expected, abs=1e-15)
    if example.own_mean is not None:
        own = enumerated(chances, example.ranks, "own")
        assert own.mean == pytest.approx(example.own_mean, abs=NEAR)
        assert own.covariance[upper] == pytest.approx(example.own_covariance, abs=1e-15)


def test_difference_of_the_third_example() -> None:
    """Var(u) = Var A + Var B - 2 Cov of X3, and one of three relations holds always."""
    example = EXAMPLES["X3"]
    found = enumerated([Fraction(p) for p in example.p.split()], example.ranks)
    variance = found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1]
    assert variance == pytest.approx(0.018055674792901, abs=1e-15)
    assert found.above + found.above.T + found.tied == pytest.approx(np.ones((2, 2)))


@given(drawn_topics(most_documents=6))
def test_floats_equal_fractions(topic: Topic) -> None:
    """Sums of floats are those of fractions to rounding, whatever is drawn."""
    probabilities, ranks = topic
    fast = enumerated(probabilities, ranks)
    exact = enumerated([Fraction(float(p)) for p in probabilities], ranks)
    for name in ("mean", "covariance", "third", "gradient", "above", "tied"):
        assert getattr(fast, name) == pytest.approx(getattr(exact, name), abs=1e-14)


@given(drawn_topics(most_documents=6))
def test_table_of_outcomes_has_the_same_moments(topic: Topic) -> None:
    """The reference in arrays, which is quick, and the one by outcome, which is plain."""
    probabilities, ranks = topic
    for own, mode in ((False, "pool"), (True, "own")):
        plain, table = enumerated(probabilities, ranks, mode), outcome_table(ranks, own=own)
        mean, covariance, third = table.moments(probabilities)
        assert mean == pytest.approx(plain.mean, abs=1e-14)
        assert covariance == pytest.approx(plain.covariance, abs=1e-14)
        assert third == pytest.approx(plain.third, abs=1e-14)
        assert table.gradient(probabilities) == pytest.approx(plain.gradient, abs=1e-13)
