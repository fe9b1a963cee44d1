"""Bootstrap intervals over topics, stacks of pairs, and how much judges must share."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.agreement import intervals
from store.analysis.agreement.intervals import topic_bootstrap
from store.analysis.agreement.kappa import macro_overlap
from store.analysis.agreement.many import all_judges_by_topic
from store.analysis.agreement.sharing import plan_overlap
from store.analysis.agreement.tables import (
    all_pair_stacks,
    coefficients,
    pair_intervals,
    pair_tables,
    reasons,
    sharing_pairs,
    stacked,
    stacks_of,
)
from store.analysis.agreement.votes import Cells, PopulationVotes, collapse_table, population_votes
from tests.helpers.graded_votes import relevant_in
from tests.helpers.strategies import examples

Floats = NDArray[np.float64]


def first(sums: Floats) -> Floats:
    """Return the first sum."""
    return sums.reshape(len(sums), -1)[:, 0]


def ratio(sums: Floats) -> Floats:
    """Return the mean of the units that have a value: (sum of values) / (count)."""
    return sums[:, 0] / sums[:, 1]


def kappa(tables: Floats) -> Floats:
    """Return Cohen's kappa of a stack of tables."""
    n = tables.sum(axis=(1, 2))
    observed = np.trace(tables, axis1=1, axis2=2) / n
    expected = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1) / n**2
    result: Floats = (observed - expected) / (1 - expected)
    return result


def plain_quantile(values: list[float], share: float) -> float:
    """Interpolate linearly between the order statistics."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def plain_kappa(table: list[list[int]]) -> float | None:
    """Compute Cohen's kappa of one table by its definition; ``None`` when undefined."""
    grades = range(len(table))
    n = sum(map(sum, table))
    expected = sum(sum(table[k]) * sum(row[k] for row in table) for k in grades)
    if n == 0 or expected == n * n:
        return None
    observed = sum(table[k][k] for k in grades)
    return (n * observed - expected) / (n * n - expected)


@given(
    st.lists(
        st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=2, max_size=2),
        min_size=2,
        max_size=6,
    ),
    st.integers(0, 2**70),
)
def test_equals_a_plain_loop(tables: list[list[list[int]]], seed: int) -> None:
    """Drawing topics one by one, adding their tables up and sorting gives the same interval."""
    units = [table for table in tables if any(map(any, table))]
    with pytest.MonkeyPatch.context() as patch:  # in many parts
        patch.setattr(intervals, "_CHUNK_DRAWS", 50)
        patch.setattr(intervals, "_CHUNK_SUMS", 20)
        result = topic_bootstrap(np.array(tables), kappa, seed=seed, resamples=60)
    if len(units) < 2:
        assert result.reason == ("one-topic" if units else "no-common-docs")
        return
    bits = np.random.PCG64(seed)
    values = []
    for _ in range(60):
        drawn = [units[int(bits.random_raw()) // 2**32 * len(units) // 2**32] for _ in units]
        summed = [[sum(t[i][j] for t in drawn) for j in range(2)] for i in range(2)]
        values.append(plain_kappa(summed))
    defined = [value for value in values if value is not None]
    whole = plain_kappa([[sum(t[i][j] for t in units) for j in range(2)] for i in range(2)])
    if whole is None:
        assert result.reason == "undefined"
    elif len(defined) < 30:
        assert result.reason == "mostly-undefined"
    elif max(defined) - min(defined) < 1e-13:
        assert result.reason == "no-variation"
    else:
        assert result.low == pytest.approx(plain_quantile(defined, 0.025), abs=1e-12)
        assert result.high == pytest.approx(plain_quantile(defined, 0.975), abs=1e-12)


@pytest.mark.parametrize(("apart", "reason"), [(0.9e-12, "no-variation"), (1.1e-12, None)])
def test_values_that_rounding_may_part_are_one(apart: float, reason: str | None) -> None:
    """Means of two topics no more than 1e-12 apart do not vary; further apart they have limits."""
    sums = np.array([[0.0, 1.0], [apart, 1.0]])
    result = topic_bootstrap(sums, ratio, seed=1, resamples=200)
    limits = (None, None) if reason else (0.0, apart)
    assert (result.low, result.high, result.reason) == (*limits, reason)


def test_mean_over_topics_leaves_undefined_ones_out() -> None:
    """A topic without a value is drawn as the others, adds nothing, and may leave no value."""
    sums = np.array([[0.2, 1.0], [0.8, 1.0], [0.0, 0.0]])
    everything = np.ones(3, dtype=np.bool_)
    result = topic_bootstrap(sums, ratio, seed=6, units=everything)
    assert (result.low, result.high) == (pytest.approx(0.2), pytest.approx(0.8))


@pytest.mark.parametrize(("n_topics", "reason"), [(0, "no-common-docs"), (1, "one-topic"), (2, None)])
def test_too_few_topics_have_no_interval(n_topics: int, reason: str | None) -> None:
    """One topic or none has no interval, and nothing is resampled."""
    sums = np.array([[1.0, 1.0], [3.0, 1.0]])[:n_topics]
    result = topic_bootstrap(sums, ratio, seed=1, resamples=100)
    assert result.reason == reason


@pytest.mark.parametrize("table", [[[5, 0], [0, 3]], [[5, 5], [0, 0]]])
def test_value_that_never_varies_has_no_interval(table: list[list[int]]) -> None:
    """Perfect agreement, or one judge with one grade, is no reason for an interval of no width."""
    tables = np.array([table, np.array(table) * 2, np.array(table) * 3])
    assert topic_bootstrap(tables, kappa, seed=1, resamples=50).reason == "no-variation"


SCALE = (0, 1, 3)
JUDGES = ("ann", "bob", "cy")
N_DOCUMENTS = 6
plain_cells = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, N_DOCUMENTS - 1), st.integers(0, 2)),
    st.integers(0, 2),
    max_size=40,
)


def population_of(plain: dict[tuple[int, int, int], int]) -> PopulationVotes:
    """Take plain grades as judgements."""
    plain = {**plain, **{(0, 0, judge): 0 for judge in range(3)}}
    rows = np.array([(*key, place) for key, place in plain.items()], dtype=np.int64)
    return population_votes(Cells(("1", "2", "3", "4"), JUDGES, SCALE, *rows.T))


@given(plain=plain_cells)
def test_stack_of_all_pairs_equals_one_pair_at_a_time(plain: dict[tuple[int, int, int], int]) -> None:
    """Tables and macro overlaps are those of each pair's own tables."""
    population = population_of(plain)
    stacks = all_pair_stacks(population, [1, 2])
    assert [stack.level_index for stack in stacks] == [None, 1, 2]
    for number, (first, second) in enumerate(combinations(JUDGES, 2)):
        tables = pair_tables(population.votes, first, second)
        for stack in stacks:
            level = stack.level_index
            own = tables if level is None else collapse_table(tables, level)
            assert stack.topic_tables(number).tolist() == own.tolist()
            assert stack.tables[number].tolist() == own.sum(axis=0).tolist()
            if stack.overlaps is not None:
                expected = macro_overlap(relevant_in(own))
                total, count = stack.overlaps[number].tolist()
                assert count == expected.n_topics
                assert total == pytest.approx((expected.value or 0) * count)


def test_pairs_that_share_a_document_are_kept_with_their_own_topics() -> None:
    """Of ann, bob, cy and dee the pairs are AB AC AD BC BD CD; AD and BC share documents."""
    judges = ("ann", "bob", "cy", "dee")
    # Topic 1: ann 0 and dee 1 on a document, bob 1 alone; topic 2: bob 2 and cy 2.
    rows = np.array([(0, 0, 0, 0), (0, 0, 3, 1), (0, 1, 1, 1), (1, 2, 1, 2), (1, 2, 2, 2)])
    population = population_votes(Cells(("1", "2"), judges, SCALE, *rows.T))
    stacks, numbers = sharing_pairs(all_pair_stacks(population, [1, 2]))
    assert numbers == [2, 3]
    graded, at_1, at_3 = stacks
    assert [np.argwhere(table).tolist() for table in graded.tables] == [[[0, 1]], [[2, 2]]]
    assert graded.topic_tables(0)[0].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert graded.topic_tables(1)[1].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert at_1.topic_tables(0)[0].tolist() == [[0, 1], [0, 0]]
    assert at_1.overlaps is not None
    # AD: relevant to one of them, overlap 0 in one topic; BC: relevant to both, 1 in one topic.
    assert at_1.overlaps.tolist() == [[0, 1], [1, 1]]
    assert at_3.overlaps is not None
    # Nothing is relevant to A or D at grade 3, so no topic has an overlap.
    assert at_3.overlaps.tolist() == [[0, 0], [1, 1]]


def test_pairs_of_a_crowd_that_share_nothing_are_none() -> None:
    """No stack has a row then, and each of its coefficients is empty."""
    rows = np.array([(0, judge, judge, 1) for judge in range(3)])
    stacks, numbers = sharing_pairs(
        all_pair_stacks(population_votes(Cells(("1",), JUDGES, SCALE, *rows.T)), [1])
    )
    assert numbers == []
    assert [len(stack.tables) for stack in stacks] == [0, 0]
    assert coefficients(stacks[0].tables, binary=False)["kappa"].shape == (0,)
    assert sharing_pairs([]) == ([], [])


def test_reasons_tell_everything_that_is_undefined() -> None:
    """No document, one document, one grade, nothing relevant: each has its code."""
    tables = np.array(
        [
            [[0, 0], [0, 0]],
            [[1, 0], [0, 0]],
            [[0, 0], [0, 1]],
            [[5, 0], [0, 0]],
            [[0, 0], [0, 5]],
            [[2, 1], [0, 3]],
        ]
    )
    assert reasons(tables, coefficients(tables, binary=True)) == [
        "no-common-docs",
        "one-doc, no-relevant",
        "one-doc",
        "single-grade, no-relevant",
        "single-grade",
        None,
    ]


def make_tables(n_topics: int = 30) -> Any:
    """Make the tables of one pair on three grades."""
    rng = np.random.default_rng(5)
    return rng.multinomial(20, [0.3, 0.1, 0.02, 0.1, 0.2, 0.08, 0.0, 0.05, 0.15], n_topics).reshape(
        n_topics, 3, 3
    )


def test_topic_intervals_are_those_of_each_coefficient_alone() -> None:
    """Resampling all coefficients of a pair at once gives what each has by itself."""
    tables = make_tables()
    stacks = stacks_of(tables[np.newaxis], [2])
    graded, binary = pair_intervals(stacks, 0, resamples=500, seed=3)

    def kappa_at_2(sums: Any) -> Any:
        return stacked("kappa", collapse_table(sums.astype(np.int64), 2))

    alone = topic_bootstrap(tables, kappa_at_2, seed=3, resamples=500)
    assert binary["kappa"].low == pytest.approx(alone.low, abs=1e-12)
    assert binary["kappa"].high == pytest.approx(alone.high, abs=1e-12)
    assert set(graded) == {"kappa", "quadratic"}
    assert set(binary) == {"kappa", "macro_overlap"}


def test_topics_of_all_judges_stand_alone() -> None:
    """Each topic's numbers are its own; a topic without shared documents has none."""
    plain = {
        (topic, d, j): (d + j * (topic == 1)) % 3 for topic in (0, 1) for d in range(6) for j in range(3)
    }
    population = population_of({**plain, (2, 0, 0): 1})
    found = all_judges_by_topic(population, None)
    assert list(found) == ["1", "2"]
    assert {one.name: one.value for one in found["1"]}["fleiss"] == 1.0
    [overlap] = [one for one in all_judges_by_topic(population, 1)["1"] if one.name == "macro_overlap"]
    assert (overlap.value, overlap.n_topics) == (1.0, 1)


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


@settings(max_examples=examples(25))
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
@settings(max_examples=examples(25))
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
