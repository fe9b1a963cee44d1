"""Bootstrap intervals over topics and over documents."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from store.analysis.agreement.intervals import (
    NORMAL_QUANTILE,
    Interval,
    asymptotic_interval,
    item_bootstrap,
    topic_bootstrap,
    topic_bootstraps,
)
from store.analysis.agreement.kappa import macro_overlap
from store.analysis.agreement.many import all_judges, all_judges_by_topic, many_coefficient
from store.analysis.agreement.tables import (
    all_pair_stacks,
    binary_stack,
    coefficients,
    pair_intervals,
    pair_tables,
    reasons,
    sharing_pairs,
    stacks_of,
)
from store.analysis.agreement.votes import (
    Cells,
    PopulationVotes,
    collapse_table,
    grade_counts,
    population_votes,
)
from tests.agreement.graded import cohen_kappa, pair_coefficient, relevant_in

Floats = NDArray[np.float64]
CELLS = np.eye(4).reshape(4, 2, 2)
"""What one document adds to the table of two judges, for every cell."""


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


class Recorder:
    """A statistic that keeps every stack it is given; the value is the first sum."""

    def __init__(self) -> None:
        self.stacks: list[Floats] = []

    def __call__(self, sums: Floats) -> Floats:
        """Keep a stack."""
        self.stacks.append(sums.copy())
        return first(sums)

    def resampled(self) -> Floats:
        """Return all resamples, one after the other; the first stack is the data as they are."""
        return np.concatenate(self.stacks[1:])


def weights_of(n_topics: int, *, seed: int, resamples: int) -> Floats:
    """Return how often each topic was drawn, shape (resamples, n_topics)."""
    recorder = Recorder()
    topic_bootstrap(np.eye(n_topics), recorder, seed=seed, resamples=resamples)
    return recorder.resampled()


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


def test_two_topics_have_three_outcomes() -> None:
    """Of two topics, each resample holds the first twice, both, or the second twice: 1:2:1."""
    outcomes = Counter(map(tuple, weights_of(2, seed=5, resamples=40_000).tolist()))
    assert set(outcomes) == {(2.0, 0.0), (1.0, 1.0), (0.0, 2.0)}
    # Standard deviations of the counts are 87 and 100.
    assert outcomes[2.0, 0.0] == pytest.approx(10_000, abs=350)
    assert outcomes[1.0, 1.0] == pytest.approx(20_000, abs=400)


def test_three_topics_are_multinomial() -> None:
    """Every way to draw three topics out of three comes as often as it should."""
    observed = Counter(map(tuple, weights_of(3, seed=8, resamples=27_000).astype(int).tolist()))
    expected = Counter(
        tuple(draw.count(topic) for topic in range(3)) for draw in itertools.product(range(3), repeat=3)
    )
    assert set(observed) == set(expected)
    outcomes = sorted(expected)
    test = stats.chisquare([observed[one] for one in outcomes], [1000 * expected[one] for one in outcomes])
    assert test.pvalue > 0.001


def test_limits_by_hand() -> None:
    """Means of two topics with 0 and 1 are 0, .5, 1 with odds 1:2:1, so 95 % reaches both ends."""
    sums = np.array([[0.0, 1.0], [1.0, 1.0]])
    wide = topic_bootstrap(sums, ratio, seed=1)
    assert (wide.low, wide.high) == (0.0, 1.0)


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


def test_equals_scipy_but_for_chance() -> None:
    """The limits are those of scipy's percentile bootstrap over topics."""
    rng = np.random.default_rng(3)
    tables = rng.integers(0, 9, size=(30, 2, 2))

    def of_topics(places: NDArray[np.int64], axis: int) -> Floats:
        return kappa(tables[np.moveaxis(places, axis, -1)].sum(axis=-3).reshape(-1, 2, 2))

    peer = stats.bootstrap(
        (np.arange(30),), of_topics, n_resamples=20_000, method="percentile", batch=2000, rng=rng
    ).confidence_interval
    result = topic_bootstrap(tables, kappa, seed=4, resamples=20_000)
    assert result.low == pytest.approx(float(peer.low), abs=0.008)
    assert result.high == pytest.approx(float(peer.high), abs=0.008)


def test_same_seed_same_weights() -> None:
    """Coefficients of sums of any size have the same resamples, another seed has others."""
    n_topics, resamples = 40, 3000
    weights = weights_of(n_topics, seed=9, resamples=resamples)
    big = Recorder()  # so big that its resamples are computed in many parts
    padded = np.concatenate([np.eye(n_topics), np.ones((n_topics, 5000))], axis=1)
    topic_bootstrap(padded.reshape(n_topics, 10, -1), big, seed=9, resamples=resamples)
    assert len(big.stacks) > 3
    flat = big.resampled().reshape(resamples, -1)
    np.testing.assert_array_equal(flat[:, :n_topics], weights)
    assert not np.array_equal(weights_of(n_topics, seed=10, resamples=resamples), weights)
    assert np.all(weights.sum(axis=1) == n_topics)


def test_more_resamples_begin_alike() -> None:
    """Asking for more resamples adds to them, also where they come in several chunks."""
    n_topics = 2000  # 262 resamples a chunk
    many = weights_of(n_topics, seed=2, resamples=700)
    np.testing.assert_array_equal(many[:300], weights_of(n_topics, seed=2, resamples=300))
    assert len(np.unique(many, axis=0)) == 700


@pytest.mark.vector("PCG64 of numpy, whose raw bits are promised to stay (NEP 19)")
def test_draws_are_those_of_raw_bits() -> None:
    """The draws are the upper halves of PCG64's numbers times the topics, so they never change."""
    raw = [int(one) for one in np.random.PCG64(11).random_raw(4)]
    expected = np.zeros((2, 2))
    for place, number in enumerate(raw):
        expected[place // 2, number >> 63] += 1  # of two topics, the highest bit
    np.testing.assert_array_equal(weights_of(2, seed=11, resamples=2), expected)


@pytest.mark.parametrize(("apart", "reason"), [(0.9e-12, "no-variation"), (1.1e-12, None)])
def test_values_that_rounding_may_part_are_one(apart: float, reason: str | None) -> None:
    """Means of two topics no more than 1e-12 apart do not vary; further apart they have limits."""
    sums = np.array([[0.0, 1.0], [apart, 1.0]])
    result = topic_bootstrap(sums, ratio, seed=1, resamples=200)
    limits = (None, None) if reason else (0.0, apart)
    assert (result.low, result.high, result.reason) == (*limits, reason)


def test_several_statistics_are_each_alone() -> None:
    """Statistics computed together have the intervals they have alone."""
    tables = np.random.default_rng(1).integers(0, 6, size=(12, 2, 2))
    both = topic_bootstraps(tables, {"kappa": kappa, "first": first}, seed=3, resamples=500)
    assert list(both) == ["kappa", "first"]
    assert both["kappa"] == topic_bootstrap(tables, kappa, seed=3, resamples=500)
    assert both["first"] == topic_bootstrap(tables, first, seed=3, resamples=500)


def test_mean_over_topics_leaves_undefined_ones_out() -> None:
    """A topic without a value is drawn as the others, adds nothing, and may leave no value."""
    sums = np.array([[0.2, 1.0], [0.8, 1.0], [0.0, 0.0]])
    everything = np.ones(3, dtype=np.bool_)
    result = topic_bootstrap(sums, ratio, seed=6, units=everything)
    assert (result.low, result.high) == (pytest.approx(0.2), pytest.approx(0.8))


def test_topics_without_documents_are_no_units() -> None:
    """Empty tables change nothing."""
    tables = np.random.default_rng(2).integers(1, 6, size=(8, 2, 2))
    with_empty = np.concatenate([np.zeros((1, 2, 2), np.int64), tables, np.zeros((2, 2, 2))])
    assert topic_bootstrap(with_empty, kappa, seed=3) == topic_bootstrap(tables, kappa, seed=3)


@pytest.mark.parametrize(("n_topics", "reason"), [(0, "no-common-docs"), (1, "one-topic"), (2, None)])
def test_too_few_topics_have_no_interval(n_topics: int, reason: str | None) -> None:
    """One topic or none has no interval, and nothing is resampled."""
    sums = np.array([[1.0, 1.0], [3.0, 1.0]])[:n_topics]
    result = topic_bootstrap(sums, ratio, seed=1, resamples=100)
    assert result.reason == reason


def test_mostly_undefined() -> None:
    """A statistic that few resamples have gets a reason."""

    def if_all_drawn(sums: Floats) -> Floats:
        return np.where((sums > 0).all(axis=1), sums[:, 0], np.nan)

    result = topic_bootstrap(np.eye(5), if_all_drawn, seed=1)
    assert (result.low, result.high, result.reason) == (None, None, "mostly-undefined")


def test_undefined_coefficient_has_no_interval() -> None:
    """Where the coefficient itself has no value its resamples are not used."""
    tables = np.array([[[5, 0], [0, 0]], [[7, 0], [0, 0]]])
    assert topic_bootstrap(tables, kappa, seed=1, resamples=10).reason == "undefined"


@pytest.mark.parametrize("table", [[[5, 0], [0, 3]], [[5, 5], [0, 0]]])
def test_value_that_never_varies_has_no_interval(table: list[list[int]]) -> None:
    """Perfect agreement, or one judge with one grade, is no reason for an interval of no width."""
    tables = np.array([table, np.array(table) * 2, np.array(table) * 3])
    assert topic_bootstrap(tables, kappa, seed=1, resamples=50).reason == "no-variation"


@given(st.integers(2, 50), st.integers(0, 99))
def test_multiplying_all_counts_changes_nothing(factor: int, seed: int) -> None:
    """Kappa does not see the number of documents, and neither does its interval."""
    tables = np.random.default_rng(seed).integers(0, 5, size=(7, 3, 3))
    one = topic_bootstrap(tables, kappa, seed=seed, resamples=200)
    many = topic_bootstrap(tables * factor, kappa, seed=seed, resamples=200)
    assert one.low == pytest.approx(many.low, abs=1e-12)
    assert one.high == pytest.approx(many.high, abs=1e-12)


def test_width_of_a_mean() -> None:
    """The interval of a mean of 200 topics is that of the central limit theorem."""
    values = np.random.default_rng(7).normal(size=200)
    result = topic_bootstrap(np.column_stack([values, np.ones(200)]), ratio, seed=7)
    half = 1.96 * float(np.std(values)) / math.sqrt(200)
    assert result.low == pytest.approx(float(values.mean()) - half, abs=0.01)
    assert result.high == pytest.approx(float(values.mean()) + half, abs=0.01)


def test_items_by_hand() -> None:
    """Two documents in two cells come as both in the one, one in each, both in the other: 1:2:1."""
    recorder = Recorder()
    table = np.array([[1, 0], [0, 1]])
    item_bootstrap(CELLS, table.ravel(), recorder, seed=1, resamples=40_000)
    outcomes = Counter(tuple(one.ravel().tolist()) for one in recorder.resampled())
    assert set(outcomes) == {(2.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 2.0)}
    assert outcomes[1.0, 0.0, 0.0, 1.0] == pytest.approx(20_000, abs=400)
    np.testing.assert_array_equal(recorder.stacks[0], [table])


@pytest.mark.vector("IR book, table 8.2: kappa .776119, limits .6999 and .8523 (statsmodels)")
def test_items_agree_with_the_asymptotic_interval() -> None:
    """With 400 documents both intervals that ignore topics are the same but for .01."""
    table = np.array([[300, 20], [10, 70]])
    result = item_bootstrap(CELLS, table.ravel(), kappa, seed=2)
    assert result.low == pytest.approx(0.6999, abs=0.01)
    assert result.high == pytest.approx(0.8523, abs=0.01)


def test_items_of_many_judges() -> None:
    """Counting equal documents once gives what resampling one document after the other gives."""
    rng = np.random.default_rng(4)
    rows = rng.multinomial(3, [0.5, 0.3, 0.2], size=60)
    patterns, counts = np.unique(rows, axis=0, return_counts=True)
    np.testing.assert_array_equal(np.unique(np.repeat(patterns, counts, axis=0)), np.unique(rows))

    def same_grade(sums: Floats) -> Floats:
        return sums[:, 0] / sums[:, 1]

    def agreeing(of: NDArray[np.int64]) -> Floats:
        return np.column_stack([(of * (of - 1)).sum(axis=1) / 6, np.ones(len(of))])

    result = item_bootstrap(agreeing(patterns), counts, same_grade, seed=1)
    plain = [agreeing(rows[rng.integers(0, 60, 60)]).mean(axis=0)[0] for _ in range(10_000)]
    assert result.low == pytest.approx(float(np.quantile(plain, 0.025)), abs=0.012)
    assert result.high == pytest.approx(float(np.quantile(plain, 0.975)), abs=0.012)


def test_items_that_do_not_occur_change_nothing() -> None:
    """Cells without documents are never drawn, wherever they stand."""
    recorder = Recorder()
    contributions = np.eye(4)
    item_bootstrap(contributions, np.array([0, 3, 4, 0]), recorder, seed=1, resamples=900)
    drawn = recorder.resampled()
    assert np.all(drawn[:, [0, 3]] == 0)
    assert np.all(drawn.sum(axis=1) == 7)


@pytest.mark.parametrize(("n", "reason"), [(0, "no-common-docs"), (1, "one-doc")])
def test_too_few_items(n: int, reason: str) -> None:
    """One document or none has no interval."""
    assert item_bootstrap(CELLS, np.array([n, 0, 0, 0]), kappa, seed=1).reason == reason


def test_items_repeat_with_the_seed() -> None:
    """The same seed gives the same limits."""
    cells, counts = CELLS, np.array([20, 3, 5, 9])
    one = item_bootstrap(cells, counts, kappa, seed=5, resamples=99)
    assert one == item_bootstrap(cells, counts, kappa, seed=5, resamples=99)
    assert one != item_bootstrap(cells, counts, kappa, seed=6, resamples=99)


@pytest.mark.vector("SAS/STAT FREQ: kappa .4842, error .1380, limits .2137 and .7547")
def test_limits_of_sas() -> None:
    """The limits of a published kappa follow from its error, to the digits printed."""
    interval = asymptotic_interval(0.4842, 0.1380)
    assert interval.low == pytest.approx(0.2137, abs=1e-4)
    assert interval.high == pytest.approx(0.7547, abs=1e-4)
    assert interval.reason is None


@pytest.mark.vector("tables of the normal distribution")
def test_normal_quantile() -> None:
    """The level stands for both sides together."""
    assert pytest.approx(1.9600, abs=5e-5) == NORMAL_QUANTILE


def test_limits_are_not_cut() -> None:
    """A limit above 1 stays what the formula says."""
    interval = asymptotic_interval(0.95, 0.1)
    assert interval.high == pytest.approx(0.95 + 0.196, abs=1e-4)


def test_undefined_is_a_reason() -> None:
    """Without a value or an error there is no interval."""
    no_value = asymptotic_interval(None, None)
    assert no_value == Interval(None, None, "undefined")
    assert asymptotic_interval(1.0, None).reason == "no-standard-error"
    assert asymptotic_interval(1.0, 0.0).reason == "no-standard-error"
    assert no_value.width is None


def test_width() -> None:
    """The width is the distance of the limits."""
    assert Interval(0.25, 0.75).width == 0.5


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
    """Tables, macro overlaps and every coefficient are those of each pair's own tables."""
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
            columns = coefficients(stack.tables, binary=level is not None)
            for name in ("kappa", "pi", "s", "ac1", "alpha_nominal"):
                exact = pair_coefficient(name, own.sum(axis=0))  # type: ignore[arg-type]  # a name
                got = columns[name][number]
                assert np.isnan(got) if exact.value is None else got == pytest.approx(exact.value)
                if name == "kappa":
                    reason = reasons(stack.tables, columns)[number]
                    assert (exact.reason or "") in (reason or "")
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
    graded, binary = pair_intervals(stacks, 0, "topic", resamples=500, seed=3)

    def kappa_at_2(sums: Any) -> Any:
        return [cohen_kappa(collapse_table(one.astype(np.int64), 2)).value for one in sums]

    alone = topic_bootstrap(tables, kappa_at_2, seed=3, resamples=500)
    assert binary["kappa"].low == pytest.approx(alone.low, abs=1e-12)
    assert binary["kappa"].high == pytest.approx(alone.high, abs=1e-12)
    assert set(graded) == {"kappa", "quadratic"}
    assert set(binary) == {"kappa", "macro_overlap"}


def test_asymptotic_interval_is_two_standard_errors_wide() -> None:
    """The interval from the standard error is kappa -+ 1.96 errors, as the error is defined."""
    tables = make_tables()
    [graded] = pair_intervals(stacks_of(tables[np.newaxis], []), 0, "asymptotic", resamples=1, seed=0)
    exact = cohen_kappa(tables.sum(axis=0), "quadratic")
    assert exact.value is not None
    assert exact.standard_error is not None
    width = 2 * 1.959964 * exact.standard_error
    assert graded["quadratic"].width == pytest.approx(width, rel=1e-6)
    [item] = pair_intervals(stacks_of(tables[np.newaxis], []), 0, "item", resamples=4000, seed=0)
    assert item["quadratic"].width == pytest.approx(width, rel=0.1)


def test_binary_tables_stand_at_their_level() -> None:
    """Tables that are binary already keep the level they were made at."""
    stack = binary_stack(np.array([[[[3, 1], [0, 2]]]]), 2)
    assert (stack.level_index, stack.tables.tolist()) == (2, [[[3, 1], [0, 2]]])
    assert stack.overlaps is not None
    assert stack.overlaps.tolist() == [[2 / 3, 1.0]]


@given(plain=plain_cells, level=st.sampled_from([None, 1, 2]))
def test_all_judges_equal_the_exact_coefficients(
    plain: dict[tuple[int, int, int], int], level: int | None
) -> None:
    """A missing number has the same reason."""
    population = population_of(plain)
    full = (population if level is None else population.collapsed(level)).votes
    for one in all_judges(population, level, "none", resamples=1, seed=0):
        if one.name in ("raw", "macro_overlap"):
            continue
        if one.name == "positive":
            found = [(yes, yes + no) for no, yes in grade_counts(full).tolist() if yes + no > 1]
            pairs = sum(yes * (of - 1) for yes, of in found)
            same = sum(yes * (yes - 1) for yes, of in found)
            assert one.value == (pytest.approx(same / pairs, abs=1e-12) if pairs else None)
            assert (one.reason == "no-relevant") == (bool(found) and not pairs)
            continue
        values = SCALE if one.name == "alpha_interval" and level is None else None
        exact = many_coefficient(one.name, full, values=values)  # type: ignore[arg-type]  # a name
        assert (one.reason, one.n_documents) == (exact.reason, exact.n_documents)
        if exact.value is not None:
            assert one.value == pytest.approx(exact.value, abs=1e-12)


def test_item_bootstrap_of_all_judges_agrees_with_the_standard_error() -> None:
    """Documents resampled by pattern give an interval as wide as the asymptotic one."""
    rng = np.random.default_rng(2)
    plain = {
        (0, document, judge): int(np.clip(document % 3 + rng.choice([-1, 0, 1]), 0, 2))
        for document in range(400)
        for judge in range(3)
    }
    rows = np.array([(*key, place) for key, place in plain.items()], dtype=np.int64)
    population = population_votes(Cells(("1",), JUDGES, SCALE, *rows.T))
    item = {one.name: one.interval for one in all_judges(population, None, "item", resamples=2000, seed=1)}
    error = {
        one.name: one.interval for one in all_judges(population, None, "asymptotic", resamples=1, seed=1)
    }
    for name in ("fleiss", "quadratic", "ac1"):
        by_item, by_error = item[name], error[name]
        assert by_item is not None
        assert by_error is not None
        assert by_item.width == pytest.approx(by_error.width, rel=0.15)


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
