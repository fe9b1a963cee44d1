"""Exponential sums: sizes and errors as derived, and windows that hold what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from store.analysis import quadrature as module
from store.analysis.quadrature import rule_for, window
from tests.strategies import examples


def relative_errors(least: int, most: int, tolerance: float) -> list[float]:
    """Return the greatest relative error of each power at every R of the window."""
    rule = rule_for(least, most, tolerance=tolerance)
    counts = range(least, most + 1)
    return [
        max(abs(1 - count**k * math.fsum(rule.weights[k - 1] * rule.t ** (count - 1))) for count in counts)
        for k in (1, 2)
    ]


@settings(max_examples=examples(60))
@given(st.integers(1, 400), st.integers(0, 400))
def test_errors_are_within_the_tolerance(least: int, width: int) -> None:
    """At every R of the window, for both powers; and the weights are positive."""
    assert max(relative_errors(least, least + width, 1e-12)) <= 1.05e-12
    rule = rule_for(least, least + width)
    assert rule.least <= least
    assert rule.most >= least + width
    assert (rule.weights > 0).all()
    assert rule.t + rule.u == pytest.approx(np.ones(rule.t.size), abs=1e-15)


@pytest.mark.vector("formulas of the project, section 5.3: nodes by window, tolerance 1e-10")
@pytest.mark.parametrize(
    ("least", "most", "n_nodes"),
    [(1, 20, 20), (1, 50, 40), (1, 100, 48), (1, 200, 80), (50, 150, 32), (350, 650, 24), (2200, 2800, 20)],
)
def test_rules_are_as_short_as_derived(least: int, most: int, n_nodes: int) -> None:
    """One size more at most: windows are rounded outwards."""
    sizes = (20, 24, 32, 40, 48, 64, 80, 96)
    found = rule_for(least, most, tolerance=1e-10).t.size
    assert found in {n_nodes, sizes[sizes.index(n_nodes) + 1]}


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=60), st.integers(0, 30))
def test_window_holds_all_but_next_to_nothing(chances: list[float], n_sure: int) -> None:
    """The exact law of R, by convolution, has less than 2e-15 outside."""
    probabilities = np.array([*chances, *[1.0] * n_sure])
    law = np.ones(1)
    for p in probabilities:
        law = np.convolve(law, [1 - p, p])
    least, most = window(probabilities)
    assert 1 <= least <= most <= probabilities.size
    assert law[1:least].sum() + law[most + 1 :].sum() < 2e-15


def test_window_of_thousands() -> None:
    """Five thousand of one half: the binomial law has less than 2e-15 outside."""
    least, most = window(np.full(5000, 0.5))
    law = stats.binom(5000, 0.5)
    assert law.cdf(least - 1) + law.sf(most) < 2e-15
    assert most - least < 1000


def test_any_window_has_a_rule_of_few_nodes() -> None:
    """From one relevant document to a hundred thousand; none is so wide that memory ends."""
    rule = rule_for(1, 100_000)
    assert rule.t.size <= 512
    assert max(rule.errors) <= 1e-11


def test_rule_that_cannot_keep_the_tolerance_is_the_best_of_all_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of two sizes, the one of the smaller error."""
    search = module._rule.__wrapped__  # what a search among few sizes finds is not kept
    errors = {}
    for sizes in ((192,), (256,), (192, 256)):
        monkeypatch.setattr(module, "_SIZES", sizes)
        errors[sizes] = max(search(3, 5000, 1e-14).errors)
    assert errors[192, 256] == min(errors[192,], errors[256,]) > 1e-14
