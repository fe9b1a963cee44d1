"""The dynamic programme against all outcomes, and by hand where there are too many."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from tests.store.analysis.variation.dynamic_variation import dynamic
from tests.store.analysis.variation.enumerated_variation import Topic, drawn_topics, enumerated


@given(drawn_topics(most_documents=8, most_runs=1))
def test_dynamic_equals_all_outcomes(topic: Topic) -> None:
    """Mean and variance are those of the enumeration, and P(R) adds up to 1."""
    probabilities, ranks = topic
    found, expected = dynamic(probabilities, ranks[0]), enumerated(probabilities, ranks)
    assert found.mean == pytest.approx(expected.mean[0], abs=1e-15)
    assert found.variance == pytest.approx(expected.covariance[0, 0], abs=1e-15)
    assert found.n_relevant.sum() == pytest.approx(1, abs=1e-15)


def test_dynamic_of_a_thousand_documents() -> None:
    """One document retrieved first, n - 1 alike that are not: AP = x / R, by the binomial law.

    With B ~ Binomial(n - 1, p), E[1 / (1 + B)] = (1 - (1 - p)^n) / (n p), so E[AP] is
    (1 - (1 - p)^n) / n.
    """
    n, p = 1000, 0.01
    ranks = np.full(n, np.inf)
    ranks[0] = 1
    found = dynamic(np.full(n, p), ranks)
    assert found.mean == pytest.approx((1 - (1 - p) ** n) / n, rel=1e-13)
    law = [math.comb(n - 1, k) * p**k * (1 - p) ** (n - 1 - k) for k in range(100)]
    square = p * math.fsum(chance / (1 + k) ** 2 for k, chance in enumerate(law))
    assert found.variance == pytest.approx(square - found.mean**2, rel=1e-11)


def test_sure_judgements_do_not_vary() -> None:
    """Variance 0 where nothing is random; X1's 11/64 where two are."""
    ranks = np.array([1.0, 3.0, 4.0, np.inf])
    sure = dynamic(np.array([1.0, 0.0, 1.0, 1.0]), ranks)
    assert (sure.mean, sure.variance) == pytest.approx(((1 + 2 / 4) / 3, 0), abs=1e-18)
    assert dynamic(np.array([0.5, 0.5]), np.array([1.0, 2.0])).variance == 11 / 64
