"""The reference of all outcomes against the worked examples, to their printed digits."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from tests.store.analysis.enumerated_variation import Topic, drawn_topics, enumerated

NOT = math.inf


@dataclass(frozen=True)
class Example:
    """What is printed of one worked example, in pool mode and own mode."""

    p: str
    ranks: list[list[float]]
    mean: list[Fraction]
    covariance: list[float] | None = None
    """Variance of A, covariance, variance of B; of one run its variance."""
    third: float | None = None
    above: float | None = None
    tied: float | None = None
    gradient: list[list[float]] = field(default_factory=list)
    own_mean: list[float] | None = None
    own_covariance: list[float] | None = None


EXAMPLES = {
    "X1": Example(".5 .5", [[1, 2]], [Fraction(5, 8)], [11 / 64], gradient=[[0.75, 0.25]]),
    "X2": Example(
        ".5 .5", [[1, NOT], [2, 1]], [Fraction(3, 8), Fraction(5, 8)],
        [11 / 64, 1 / 64, 11 / 64], third=0.0, above=0.25, tied=0.25,
        gradient=[[0.75, -0.25]], own_mean=[0.5, 0.625], own_covariance=[0.25, 0.0625, 0.171875],
    ),
    "X3": Example(
        ".9 .5 1 .8 .4 .5", [[1, 2, 3, 5, 8, NOT], [2, 1, NOT, 3, 4, 10]],
        [Fraction(255131, 360000), Fraction(240061, 450000)],
        [0.028587965964506, 0.022972868419753, 0.035413445667901],
        third=0.001643333999236, above=0.887,
        gradient=[[0.340555555556, 0.191973333333, 0.089294722222,
                   0.000090277778, -0.046368055556, -0.176752222222]],
        own_mean=[0.797073333333, 0.710475],
        own_covariance=[0.023307451906173, 0.024746945413580, 0.048321126998457],
    ),
    "X4": Example(
        ".1 .2 .05 .3", [[1, 2, 3, 4], [4, 3, 2, NOT]],
        [Fraction(9929, 40000), Fraction("0.094140972222222")],
        [0.089717914189815, 0.033506857170139, 0.023007592125289],
        third=0.013289332266895, above=0.4897, tied=0.4851,
        own_mean=[0.248225, 0.109805555555556],
        own_covariance=[0.089717914189815, 0.038426154861111, 0.028462030092593],
    ),
    "X5": Example(
        "0 1 .4 .9 0 .8 .5 1", [[1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1]],
        [Fraction(700267, 1260000), Fraction(2485439, 3150000)],
        [0.006143822726757, 0.002888442312169, 0.010806692696296], third=0.000084336672667,
        gradient=[[0.295348922902, 0.178041269841, 0.139081349206, 0.097642857143,
                   0.076998367347, 0.046757936508, 0.033379365079, 0.002077777778]],
    ),
}  # fmt: skip

NEAR = 0.51e-12
"""Half a unit of the last printed digit of twelve, the fewest there are."""


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


@settings(max_examples=15, deadline=None)
@given(drawn_topics(most_documents=6))
def test_floats_equal_fractions(topic: Topic) -> None:
    """Sums of floats are those of fractions to rounding, whatever is drawn."""
    probabilities, ranks = topic
    fast = enumerated(probabilities, ranks)
    exact = enumerated([Fraction(float(p)) for p in probabilities], ranks)
    for name in ("mean", "covariance", "third", "gradient", "above", "tied"):
        assert getattr(fast, name) == pytest.approx(getattr(exact, name), abs=1e-14)
