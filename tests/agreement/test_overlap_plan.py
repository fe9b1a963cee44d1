"""Planning how many documents judges must share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.agreement.sharing import plan_overlap
from tests.helpers.strategies import examples

Z = 1.959963984540054
IR_BOOK = np.array([[300, 20], [10, 70]])
COHEN_1960 = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
stacks = st.integers(2, 3).flatmap(
    lambda q: st.lists(
        st.lists(st.lists(st.integers(0, 6), min_size=q, max_size=q), min_size=q, max_size=q),
        min_size=2,
        max_size=5,
    )
)


def kappa_of(table: NDArray[np.float64], power: int) -> float:
    """Compute weighted kappa of any table of weights of cells by its definition."""
    p = table / table.sum()
    q = len(p)
    costs = np.array([[abs(i - j) ** power if i != j else 0 for j in range(q)] for i in range(q)])
    expected = np.outer(p.sum(axis=1), p.sum(axis=0))
    return 1 - float((costs * p).sum() / (costs * expected).sum())


@pytest.mark.vector("IR book (2008), table 8.2; Cohen 1960, p. 45: errors by statsmodels")
@pytest.mark.parametrize(
    ("table", "weights", "error"),
    [
        (IR_BOOK, "none", 0.038888),
        (COHEN_1960, "none", 0.051002),
        (COHEN_1960, "linear", 0.054432),
        (COHEN_1960, "quadratic", 0.066454),
    ],
)
def test_equal_topics_have_the_asymptotic_error(table: NDArray[np.int64], weights: str, error: float) -> None:
    """Topics with equal tables add nothing between: the variance is the published one.

    It is within topics alone, and so has N - T degrees of freedom instead of N.
    """
    tables = np.stack([table] * 5)
    plan = plan_overlap(tables, 0.1, weights=weights)  # type: ignore[arg-type]
    n = int(table.sum()) * 5
    asymptotic = error / math.sqrt(5)
    assert plan.between == 0
    assert plan.present_width == pytest.approx(2 * Z * asymptotic * math.sqrt(n / (n - 5)), rel=3e-5)
    assert plan.documents is not None
    assert plan.documents_per_topic == math.ceil(plan.within / 5 / (0.05 / Z) ** 2)


@settings(max_examples=examples(60))
@given(stacks, st.sampled_from(["none", "linear", "quadratic"]), st.floats(0.05, 1.0))
def test_equals_documents_one_by_one(plain: list[list[list[int]]], weights: str, width: float) -> None:
    """Influences by differences of kappa itself, and the textbook analysis of variance."""
    tables = np.array([table for table in plain if any(map(any, table))])
    assume(len(tables) >= 2)
    whole = tables.sum(axis=0).astype(float)
    n = whole.sum()
    assume(n > len(tables))
    assume(np.count_nonzero(whole.sum(axis=0) + whole.sum(axis=1)) > 1)
    power = {"none": 0, "linear": 1, "quadratic": 2}[weights]
    influence = np.zeros(whole.shape)
    for cell in np.ndindex(*whole.shape):
        step = np.zeros(whole.shape)
        step[cell] = n * 1e-6
        ends = [kappa_of(whole + sign * step, power) for sign in (1, -1)]
        influence[cell] = (ends[0] - ends[1]) / 2e-6
    plan = plan_overlap(np.array(plain), width, weights=weights)  # type: ignore[arg-type]
    assert plan.kappa == pytest.approx(kappa_of(whole, power))
    values = [
        [influence[cell] for cell in np.ndindex(*whole.shape) for _ in range(table[cell])] for table in tables
    ]
    if plan.reason == "no-variation":
        assert max(abs(one) for topic in values for one in topic) < 1e-5
        return
    means = [sum(topic) / len(topic) for topic in values]
    grand = sum(map(sum, values)) / n
    error_squares = sum((x - m) ** 2 for topic, m in zip(values, means, strict=True) for x in topic)
    topic_squares = sum(len(t) * (m - grand) ** 2 for t, m in zip(values, means, strict=True))
    within = error_squares / (n - len(values))
    size = (n - sum(len(t) ** 2 for t in values) / n) / (len(values) - 1)
    between = (topic_squares / (len(values) - 1) - within) / size
    assert plan.within == pytest.approx(within, rel=1e-4, abs=1e-5)
    assert plan.between == pytest.approx(max(between, 0), rel=1e-4, abs=1e-5)


@given(st.integers(0, 500), st.floats(0.05, 0.9))
@settings(max_examples=examples(60))
def test_plan_is_the_least_that_does(seed: int, width: float) -> None:
    """The planned numbers give the width by the formula, and one less does not."""
    rng = np.random.default_rng(seed)
    tables = rng.multinomial(12, rng.dirichlet([2, 1, 1, 2], size=8)).reshape(8, 2, 2)
    plan = plan_overlap(tables, width)

    def planned_width(topics: int, documents: float) -> float:
        return 2 * Z * math.sqrt(plan.between / topics + plan.within / (topics * documents))

    assert plan.topics is not None
    assert planned_width(plan.topics, 12) <= width * (1 + 1e-9)
    assert plan.topics == 2 or planned_width(plan.topics - 1, 12) > width
    if plan.documents_per_topic is None:
        assert plan.reason == "too-few-topics"
        assert planned_width(8, 1e12) >= width * (1 - 1e-6)
        assert plan.topics > 8
    else:
        assert plan.reason is None
        assert planned_width(8, plan.documents_per_topic) <= width * (1 + 1e-9)
        fewer = plan.documents_per_topic - 1
        assert fewer == 0 or planned_width(8, fewer) > width
    assert plan.present_width == pytest.approx(planned_width(8, 12))


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        (np.zeros((0, 2, 2), np.int64), "no-common-docs"),
        ([[[0, 0], [0, 0]]], "no-common-docs"),
        ([[[0, 1], [0, 0]], [[0, 0], [0, 0]]], "one-doc"),
        ([[[4, 0], [0, 0]], [[5, 0], [0, 0]]], "single-grade"),
        ([[[4, 0], [0, 1]], [[5, 0], [0, 2]]], "no-variation"),  # perfect agreement
        ([[[4, 3], [0, 0]], [[5, 1], [0, 0]]], "no-variation"),  # the first used one grade
        ([[[4, 1], [2, 5]], [[0, 0], [0, 0]]], "one-topic"),
        ([[[1, 0], [0, 0]], [[0, 1], [0, 0]], [[0, 0], [0, 1]]], "one-doc-a-topic"),
    ],
)
def test_nothing_to_plan_from(tables: list[list[list[int]]], reason: str) -> None:
    """Data that say nothing about the variance give a reason and no number."""
    plan = plan_overlap(np.array(tables, dtype=np.int64), 0.2)
    assert plan.reason == reason
    assert (plan.documents_per_topic, plan.documents, plan.topics) == (None, None, None)
    assert (plan.between, plan.within, plan.present_width) == (None, None, None)
