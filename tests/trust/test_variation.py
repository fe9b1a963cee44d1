"""Exact moments of AP: worked examples, all 2^n outcomes, dynamic programming; quadrature and arrays."""

from __future__ import annotations

import gzip
import importlib.util
import json
import math
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from statistics import variance
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from store.analysis.quadrature import rule_for, window
from store.analysis.variation import moments as module
from store.analysis.variation.collection import (
    Topic,
    collection_variation,
    next_documents,
    order_probabilities,
    pair_components,
    settled_pairs,
)
from store.analysis.variation.moments import (
    SUPPOSED,
    ProbableRankings,
    chance_left,
    chance_of_any,
    check_chances,
    probable_rankings,
    variation,
    variation_gradient,
)
from store.analysis.variation.simulation import simulate_maps
from store.errors import ArgumentError
from tests.helpers import cf_collection
from tests.helpers.oracles import mean, runs_of
from tests.helpers.outcomes import (
    Enumerated,
    OutcomeTable,
    all_maps,
    drawn_topics,
    dynamic,
    enumerated,
    outcome_table,
    topics_of,
)
from tests.helpers.run import GARDEN, Cli
from tests.helpers.shared_data import shared_data
from tests.helpers.strategies import examples
from tests.helpers.worked_examples import EXAMPLES, NEAR


@pytest.mark.vector("formulas of the project, section 6: X1 to X5")
@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_examples(name: str) -> None:
    """Every printed digit of means, variances and gradients."""
    example = EXAMPLES[name]
    p = [float(Fraction(one)) for one in example.p.split()]
    found = variation(p, example.ranks, empty="zero")
    assert found.mean == pytest.approx([float(one) for one in example.mean], abs=3e-15)
    upper = np.triu_indices(len(example.ranks))
    assert found.covariance[upper] == pytest.approx(example.covariance, abs=1e-15)
    if example.gradient:
        gradient = variation_gradient(p, example.ranks, empty="zero")[: len(example.gradient)]
        assert gradient.ravel() == pytest.approx(np.ravel(example.gradient), abs=NEAR)


@settings(max_examples=examples(50))
@given(drawn_topics(most_documents=12))
def test_moments_equal_all_outcomes_of_twelve(topic: Topic) -> None:
    """Up to twelve documents and 4,096 outcomes, in arrays."""
    p, ranks = topic
    table = outcome_table(ranks)
    mean, covariance = table.moments(p)
    found = variation(p, ranks, empty="zero")
    assert np.abs(found.mean - mean).max() < 1e-12
    assert np.abs(found.covariance - covariance).max() < 1e-12
    assert np.abs(variation_gradient(p, ranks, empty="zero") - table.gradient(p)).max() < 1e-12


def drawn(
    rng: np.random.Generator, n_random: int, n_sure: int, *, n_runs: int, depth: int | None = None
) -> Topic:
    """Draw a topic; half of the documents below `depth` are not retrieved."""
    n = n_random + n_sure
    p = np.concatenate([rng.uniform(0.001, 0.999, n_random), np.ones(n_sure)])
    ranks = np.array([rng.permutation(2 * n)[:n] + 1.0 for _ in range(n_runs)])
    ranks[ranks > (1.5 * n if depth is None else depth)] = np.inf
    return p, ranks


CHANCES: dict[str, Callable[[int], NDArray[np.float64]]] = {
    "half": lambda n: np.full(n, 0.5),
    "hardly any": lambda n: np.full(n, 1e-5),
    "falling": lambda n: 1 / np.arange(1.0, n + 1),
    "some sure": lambda n: np.where(np.arange(n) % 3 == 0, 1.0, 0.3),
    "spread": lambda n: np.random.default_rng(1).beta(0.3, 0.7, n),
}


@pytest.mark.parametrize("chances", CHANCES)
@pytest.mark.parametrize(
    ("n", "limit"), [(60, None), (1000, None), pytest.param(5000, None, marks=pytest.mark.long)]
)
def test_many_documents_equal_dynamic_programming(chances: str, n: int, limit: int | None) -> None:
    """Mean and variance of one run, relative error below 1e-10 however small the variance."""
    p = CHANCES[chances](n)
    ranks = np.random.default_rng(n).permutation(n) + 1.0
    ranks[ranks > n * 0.8] = np.inf
    found, expected = variation(p, ranks[None], empty="zero"), dynamic(p, ranks)
    assert found.mean[0] == pytest.approx(expected.mean, rel=1e-11)
    assert found.covariance[0, 0] == pytest.approx(expected.variance, rel=1e-10)
    assert found.error <= 1e-12


@pytest.mark.parametrize("n", [7, 300, 700])
def test_ways_to_sum_pairs_agree(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs at once, all of them, and nodes in blocks give one covariance."""
    p, ranks = drawn(np.random.default_rng(n), n - 3, 3, n_runs=4)
    whole = variation(p, ranks, empty="zero").covariance
    monkeypatch.setattr(module, "_BLOCK", 4 * n * 5)
    assert variation(p, ranks, empty="zero").covariance == pytest.approx(whole, rel=1e-12, abs=1e-18)
    for pair in ([0, 1], [2, 3]):
        two = variation(p, ranks[pair], empty="zero").covariance
        assert two == pytest.approx(whole[np.ix_(pair, pair)], rel=1e-12, abs=1e-18)


@pytest.mark.parametrize("p", [[], [0.0, 0.0]])
def test_no_document_can_be_relevant(p: list[float]) -> None:
    """AP is 0 and surely so; a gradient is what one relevant document would give."""
    ranks: NDArray[np.float64] = np.array([[4.0, np.inf]])[:, : len(p)]
    found = variation(p, ranks, empty="zero")
    assert (found.mean.tolist(), found.covariance.tolist(), found.none_relevant) == ([0], [[0]], 1)
    assert found.error == 0.0  # nothing is integrated
    assert variation_gradient(p, ranks, empty="zero").ravel() == pytest.approx([0.25, 0.0][: len(p)])


@pytest.mark.parametrize(
    ("p", "ranks", "words"),
    [
        ([1.2], [[1]], "from 0 to 1"),
        ([np.nan], [[1]], "from 0 to 1"),
        ([0.5], [[0]], "at least 1"),
        ([0.5, 0.5], [[3, 3]], "must not repeat"),
        ([0.5, 0.5], [[1]], r"shape \(n_runs, 2\)"),
    ],
)
def test_wrong_topics_are_refused(p: list[float], ranks: list[list[float]], words: str) -> None:
    """Each fault in words; two documents that were not retrieved share no rank."""
    with pytest.raises(ArgumentError, match=words):
        variation(p, ranks, empty="zero")
    assert variation([0.5, 0.5], [[np.inf, np.inf]], empty="zero").mean.tolist() == [0.0]


RANKS = ((1.0, 2.0, 3.0, 4.0, 5.0, np.inf), (7.0, 3.0, 2.0, np.inf, 1.0, 5.0))
NEARLY = (0.5, 1 - 1e-3, 1 - 1e-6, 1 - 1e-9, 1 - 2.0**-53)


@pytest.mark.parametrize("p", NEARLY)
def test_covariances_keep_their_digits(p: float) -> None:
    """Relative to the standard deviations: what `ScoreMoments.error` promises."""
    found, expected = variation([p] * 6, RANKS, empty="zero"), enumerated([p] * 6, RANKS).covariance
    spread = np.sqrt(expected.diagonal())
    off = np.abs(found.covariance - expected) / np.outer(spread, spread)
    assert off.max() <= found.error + 3e-13


def test_equal_lists_do_not_vary_from_each_other() -> None:
    """Whatever rounding leaves of their difference: no variance, no open pair."""
    rng = np.random.default_rng(0)
    for _ in range(80):
        n = int(rng.integers(1, 600))
        p, row = rng.random(n), rng.permutation(n) + 1.0
        topics = [(p, np.array([row, row]))]
        varied = collection_variation(topics, empty="zero")
        assert settled_pairs(varied).all()
        assert next_documents(topics, varied).n_unsettled == 0
        assert pair_components(varied).components.judging_variance.tolist() == [0.0]
        assert order_probabilities(varied)[0, 1] == 0.5


def test_lists_with_one_swap_do() -> None:
    """Ranks 249 and 250 swapped: by hand, twice p (1 - p) E[((1 + c) / (249 250 R))^2]."""
    n, p = 250, 0.5
    first = np.arange(1.0, n + 1)
    second = first.copy()
    second[[248, 249]] = 250.0, 249.0
    # All other documents are above both: R = 1 + c, and the difference is 1 / (249 250) or 0.
    expected = 2 * p * (1 - p) / (249 * 250) ** 2
    varied = collection_variation([(np.full(n, p), np.array([first, second]))], empty="zero")
    found = pair_components(varied).components.judging_variance[0]
    assert found == pytest.approx(expected, rel=1e-6)


NOT = np.inf
SOURCE = "methods of the project, section 3"


def topic(p: list[float], *ranks: list[float]) -> Topic:
    """Make a topic of lists."""
    return np.array(p), np.array(ranks, dtype=np.float64)


D1 = topic([0.5, 0.5], [1, NOT], [2, 1])
D3 = topic([0.1, 0.2, 0.05, 0.3], [1, 2, 3, 4], [4, 3, 2, NOT])
D4 = topic([0.4, 0, 0.3], [1, 2, 4], [3, 2, 1])
D5 = topic([0.2, 0.3], [2, NOT], [1, 3])


@pytest.mark.vector(SOURCE)
@pytest.mark.parametrize(
    ("one", "none", "mean", "moments"),
    [
        (D1, 0.25, [1 / 2, 5 / 6], [1 / 6, 1 / 18, -1 / 12]),
        (D3, 0.4788, [0.476256715272, 0.180623507717],
         [0.063535574955, 0.028522720939, 0.023100018797]),
        (D4, 0.42, [0.715517241379, 0.643678160920],
         [0.106569560048, 0.093341260404, -0.092746730083]),
        (D5, 0.56, [0.193181818182, 0.613636363636],
         [0.050748966942, 0.096935261708, 0.068956611570]),
    ],
)  # fmt: skip
def test_topics_given_a_relevant_document(
    one: Topic, none: float, mean: list[float], moments: list[float]
) -> None:
    """D1, D3, D4 and D5: means, variances and covariance to twelve digits."""
    found = variation(*one)
    assert found.none_relevant == pytest.approx(none, rel=1e-12)
    assert found.mean == pytest.approx(mean, abs=0.51e-12)
    covariance = found.covariance
    assert [covariance[0, 0], covariance[1, 1], covariance[0, 1]] == pytest.approx(moments, abs=0.51e-12)


@pytest.mark.vector(SOURCE)
def test_rule_turns_the_order_about() -> None:
    """E0: with an AP of 0 counted B is ahead, given a relevant document A is."""
    two = [topic([1], [2], [1]), topic([0.25], [1], [3])]
    zero = collection_variation(two, empty="zero")
    assert zero.map_mean == pytest.approx([0.375, 0.5416666667], abs=0.51e-10)
    found = collection_variation(two)
    assert found.map_mean == pytest.approx([0.75, 0.6666666667], abs=0.51e-10)
    assert found.none_relevant.tolist() == [0.0, 0.75]


E1 = [
    topic([0.5, 0.3, 1, 0.2], [1, NOT, 4, 2], [3, 2, 1, NOT]),
    topic([0.5, 0.4], [1, 3], [NOT, 2]),
    topic([0.1, 0.2, 0.05], [2, 3, NOT], [4, 1, 3]),
]


@pytest.mark.vector(SOURCE)
@pytest.mark.parametrize(
    ("empty", "expected"),
    [
        ("zero", (0.3756990741, 0.4153148148, 0.1520776594, 0.1494027078, 0.4955636387,
                  -0.1759526039)),
        ("given", (0.5305150777, 0.5999670149, 0.2856306573, 0.1751072713, 0.3800582945,
                   -0.2250829414)),
    ],
)  # fmt: skip
def test_three_topics_by_both_rules(empty: str, expected: tuple[float, ...]) -> None:
    """E1: MAPs, the two variances of the difference, K and t2 to ten digits."""
    varied = collection_variation(E1, empty="given" if empty == "given" else "zero")
    assert varied.none_relevant == pytest.approx([0, 0.3, 0.684])
    pair = pair_components(varied)
    parts = pair.components
    found = [*varied.map_mean, parts.topic_variance[0], parts.judging_variance[0], parts.share[0],
             pair.t2_removed[0]]  # fmt: skip
    assert found == pytest.approx(expected, abs=0.51e-10)


def conditional(table: OutcomeTable, p: np.ndarray) -> np.ndarray:
    """Return the weight of every outcome given that one document is relevant."""
    weights = table.weights(p) * table.relevant.any(axis=1)
    return np.asarray(weights / weights.sum())


@settings(max_examples=examples(40))
@given(drawn_topics(most_documents=9))
def test_moments_equal_all_outcomes_with_a_relevant_document(one: Topic) -> None:
    """Means and covariances below 1e-12."""
    p, ranks = one
    if not p.any():
        assert np.isnan(variation(p, ranks).mean).all()
        assert np.isnan(variation_gradient(p, ranks)).all()
        return
    table = outcome_table(ranks)
    weights = conditional(table, p)
    mean = weights @ table.scores
    apart = table.scores - mean
    found = variation(p, ranks)
    assert np.abs(found.mean - mean).max() < 1e-12
    assert np.abs(found.covariance - (apart * weights[:, None]).T @ apart).max() < 1e-12


def test_simulation_judges_anew_what_left_nothing() -> None:
    """Four standard errors from the moments, however rare a relevant document is."""
    rare = topic([1e-4, 3e-4], [1, 2], [2, 1])
    for one in (D3, D5, rare):
        expected, found = variation(*one), simulate_maps([one], seed=3, repetitions=100_000)
        spread = expected.covariance.diagonal()
        assert (abs(found.mean - expected.mean) <= 4.5 * (spread / found.repetitions) ** 0.5).all()
        assert found.covariance.diagonal() == pytest.approx(spread, rel=0.03)


def test_topics_that_never_count_are_refused() -> None:
    """Every function of all topics names the first; an unknown rule is none."""
    never = topic([0, 0], [1, 2], [2, 1])
    with pytest.raises(ArgumentError, match="document that may be relevant"):
        collection_variation([D1, never])
    collection_variation([D1, never], empty="zero")
    with pytest.raises(ArgumentError, match="document that may be relevant"):
        simulate_maps([never], seed=1)
    with pytest.raises(ArgumentError, match="given or zero"):
        chance_left(D1[0], "third")  # type: ignore[arg-type]  # what is refused
    check_chances([never[0]], "zero")
    assert chance_of_any(np.full(2, 1e-18)) == pytest.approx(2e-18)


def relative_errors(least: int, most: int, tolerance: float) -> list[float]:
    """Return the greatest relative error of each power at every R of the window."""
    rule = rule_for(least, most, tolerance=tolerance)
    counts = range(least, most + 1)
    return [
        max(abs(1 - count**k * math.fsum(rule.weights[k - 1] * rule.t ** (count - 1))) for count in counts)
        for k in (1, 2)
    ]


@settings(max_examples=examples(25))
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


def test_any_window_has_a_rule_of_few_nodes() -> None:
    """From one relevant document to a hundred thousand; none is so wide that memory ends."""
    rule = rule_for(1, 100_000)
    assert rule.t.size <= 512
    assert max(rule.errors) <= 1e-11


Lists = dict[tuple[str, str], list[int]]
Chances = dict[str, dict[int, float]]
Document = tuple[int, float, bool, tuple[float, ...]]
"""Id, probability, whether it is its own, and its rank in every run."""


def as_arrays(rankings: Lists) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Put each ranking in an array."""
    return {key: np.array(documents, dtype=np.int64) for key, documents in rankings.items()}


def as_pairs(chances: Chances) -> dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Put each topic's probabilities in two arrays."""
    return {
        topic: (np.array(list(found), dtype=np.int64), np.array(list(found.values()), dtype=float))
        for topic, found in chances.items()
    }


def documents_of(arrays: ProbableRankings, topic: int) -> list[Document]:
    """Return what the arrays say of every document of a topic."""
    return list(
        zip(
            arrays.ids[topic].tolist(),
            arrays.probabilities[topic].tolist(),
            arrays.judged[topic].tolist(),
            map(tuple, arrays.ranks[topic].T.tolist()),
            strict=True,
        )
    )


def by_looking(
    tags: list[str],
    topic: str,
    rankings: Lists,
    own: dict[int, float],
    cutoff: int,
    unjudged: float,
    *,
    keep_zero: bool,
) -> list[Document]:
    """Look every document up in the lists, one at a time."""
    cut = [rankings.get((tag, topic), [])[:cutoff] for tag in tags]
    found: list[Document] = []
    for doc in sorted({*own}.union(*cut)):
        ranks = tuple(one.index(doc) + 1.0 if doc in one else math.inf for one in cut)
        p = own.get(doc, unjudged)
        if p > 0 or keep_zero:
            found.append((doc, p, doc in own, ranks))
    return found


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[str], list[str], Lists, Chances, int]:
    """Draw topics, tags, rankings, probabilities and a cutoff."""
    topics = [f"t{number}" for number in range(draw(st.integers(0, 3)))]
    tags = [f"r{number}" for number in range(draw(st.integers(0, 4)))]
    documents = st.integers(-3, 12)
    ranking = st.lists(documents, unique=True, max_size=8)
    rankings = {(tag, topic): draw(ranking) for tag in tags for topic in topics if draw(st.booleans())}
    p = st.sampled_from([0.0, 1e-3, 0.5, 1.0])
    chances = {topic: draw(st.dictionaries(documents, p)) for topic in topics}
    return topics, tags, rankings, chances, draw(st.integers(1, 10))


@given(
    collections(),
    st.sampled_from([0.0, 0.25, 1.0]),
    st.booleans(),
    st.integers(0, 2),
    st.sampled_from([1, 10**15]),
)
def test_every_document_is_as_the_lists_have_it(
    collection: tuple[list[str], list[str], Lists, Chances, int],
    unjudged: float,
    keep_zero: bool,
    n_more: int,
    spread: int,
) -> None:
    """Ids, probabilities and ranks are those found by looking, and supposed documents come last."""
    topics, tags, rankings, chances, cutoff = collection
    # Ids far apart are coded by another path than dense ones.
    far = {key: [doc * spread for doc in docs] for key, docs in rankings.items()}
    own = {topic: {doc * spread: p for doc, p in found.items()} for topic, found in chances.items()}
    arrays = probable_rankings(
        topics, tags, as_arrays(far), as_pairs(own), cutoff=cutoff, unjudged=unjudged,
        keep_zero=keep_zero, extra_relevant=n_more,
    )  # fmt: skip
    assert (arrays.topics, arrays.tags, arrays.cutoff) == (tuple(topics), tuple(tags), cutoff)
    more = [(SUPPOSED, 1.0, False, (math.inf,) * len(tags))] * n_more
    for column, topic in enumerate(topics):
        expected = by_looking(
            tags, topic, far, own[topic], cutoff, unjudged, keep_zero=keep_zero
        )  # fmt: skip
        assert documents_of(arrays, column) == expected + more
        assert arrays.ranks[column].dtype == arrays.probabilities[column].dtype == np.float64
        assert arrays.ids[column].dtype == np.int64
        assert arrays.judged[column].dtype == np.bool_


@cache
def outcomes_of(folder: Path) -> list[Enumerated]:
    """Look at every outcome of judging each topic."""
    return [enumerated(*topic) for topic in topics_of(folder).values()]


ORDER = ("--order", "trec9")


def rows_of(cli: Cli, *options: str) -> list[dict[str, Any]]:
    """Return the rows of the first table."""
    found: list[dict[str, Any]] = cli("variation", *options, "--format", "json").fine().json()
    return found


@pytest.mark.slow
def test_runs_have_the_moments_of_all_outcomes(cli: Cli, judged: Path, imported_garden: Path) -> None:
    """Mean, standard deviation and components, from runs and qrels by enumeration."""
    from scipy import stats

    outcomes = outcomes_of(imported_garden)
    rows = rows_of(cli, *ORDER)
    assert [row["run"] for row in rows] == sorted(runs_of(judged))
    for place, row in enumerate(rows):
        means = [float(one.mean[place]) for one in outcomes]
        variances = [float(one.covariance[place, place]) for one in outcomes]
        spread = math.sqrt(sum(variances)) / len(outcomes)
        assert row["mean"] == pytest.approx(mean(means), abs=1e-12)
        assert row["sd"] == pytest.approx(spread, abs=1e-12)
        limits = (mean(means) - 1.959964 * spread, min(mean(means) + 1.959964 * spread, 1))
        assert (row["low"], row["high"]) == pytest.approx(limits, abs=1e-6)
        assert row["law"] == "normal"
        between, within = variance(means), mean(variances)
        assert row["topic_variance"] == pytest.approx(between)
        assert row["judging_variance"] == pytest.approx(within)
        assert row["share"] == pytest.approx(within / (within + between))
        assert row["map_variance"] == pytest.approx((within + between) / len(outcomes))
        assert row["moments_error"] <= 1e-12
        w, p = stats.shapiro(means)
        assert (row["w"], row["p_normality"]) == pytest.approx((w, p))
    cells = {(row["run"], row["topic"]): row for row in rows_of(cli, *ORDER, "--by-topic")}
    assert len(cells) == 9 * 8
    for (place, tag), (topic, one) in product(
        enumerate(sorted(runs_of(judged))), zip(topics_of(judged), outcomes, strict=True)
    ):
        assert cells[tag, topic]["mean"] == pytest.approx(float(one.mean[place]), abs=1e-12)
        spread = float(one.covariance[place, place])
        assert cells[tag, topic]["judging_variance"] == pytest.approx(spread, abs=1e-12)


@pytest.mark.slow
def test_pairs_have_the_moments_of_all_outcomes(cli: Cli, judged: Path, imported_garden: Path) -> None:
    """The run ahead is A; K, t2 both ways and p; and how likely they swap, by all of 2^17 outcomes."""
    from scipy import stats

    outcomes, tags = outcomes_of(imported_garden), sorted(runs_of(judged))
    rows = rows_of(cli, "--by", "pair", *ORDER)
    assert len(rows) == 9 * 8 // 2
    law = stats.t(len(outcomes) - 1)
    for row in rows:
        a, b = tags.index(row["a"]), tags.index(row["b"])
        differences = [float(one.mean[a] - one.mean[b]) for one in outcomes]
        own = mean([float(one.covariance[a, a] + one.covariance[b, b] - 2 * one.covariance[a, b])
                    for one in outcomes])  # fmt: skip
        between = variance(differences)
        assert (row["w"], row["p_normality"]) == pytest.approx(tuple(stats.shapiro(differences)))
        assert row["difference"] == pytest.approx(mean(differences), abs=1e-12)
        assert row["difference"] >= 0
        assert row["k"] == pytest.approx(own / (own + between))
        for name, whole in (("removed", between), ("included", between + own)):
            t = mean(differences) / math.sqrt(whole / len(outcomes))
            assert row[f"t2_{name}"] == pytest.approx(t)
            assert row[f"p_t2_{name}"] == pytest.approx(2 * law.sf(t))
        z = mean(differences) / math.sqrt(own / len(outcomes))
        assert row["reversed"] == pytest.approx(stats.norm.sf(z), abs=1e-12)
    maps, chances = all_maps([*topics_of(judged).values()])
    for row in rows:
        exact = float(chances[maps[:, tags.index(row["b"])] - maps[:, tags.index(row["a"])] > 1e-12].sum())
        error = math.sqrt(exact * (1 - exact) / 20_000)
        assert row["simulated"] == pytest.approx(exact, abs=4 * error + 1e-4)
        assert row["simulated_error"] == pytest.approx(error, abs=1e-4)
        assert row["law"] == "simulated"
        # What is documented of the normal law for so few uncertain documents.
        assert row["reversed"] == pytest.approx(exact, abs=0.04)


@pytest.mark.slow
def test_simulation_stands_beside(cli: Cli, judged: Path) -> None:
    """Within five standard errors of the exact numbers, and the same for a seed."""
    options = (*ORDER, "--monte-carlo", "20000", "--seed", "5", "--format", "json")
    rows = cli("variation", *options).fine().json()
    for row in rows:
        assert row["mc_mean"] == pytest.approx(row["mean"], abs=5 * row["sd"] / 20000**0.5)
        assert row["mc_sd"] == pytest.approx(row["sd"], rel=0.05)
    assert cli("variation", *options).fine().json() == rows
    pairs = cli("variation", "--by", "pair", *options).fine().json()
    assert pairs == rows_of(cli, "--by", "pair", *ORDER, "--seed", "5")
    assert pairs != rows_of(cli, "--by", "pair", *ORDER)


@pytest.mark.slow
def test_files_and_a_collection_agree(cli: Cli, judged: Path) -> None:
    """Probabilities of a file, of qrels by value, and one more relevant document a topic."""
    table = ("--table", "probabilities", "--format", "tsv", "--out", "p.txt")
    cli("variation", "--level", "1", *table).fine()
    runs = [f"runs/{tag}.run" for tag in sorted(runs_of(judged))]
    expected = rows_of(cli)
    assert rows_of(cli, *runs, "--probabilities", "p.txt") == [pytest.approx(row) for row in expected]
    graded = ("--qrels", "judgements/strict.qrels", "--value", "0=0", "--value", "1=1")
    sure = rows_of(cli, *runs, *graded, "--value", "2=1")
    scores = cli(
        "evaluate", *runs, "--qrels", "judgements/strict.qrels", "--table", "measures", "--format", "json"
    ).fine()
    for row, score in zip(sure, scores.json(), strict=True):
        assert row["sd"] == 0
        assert (row["mean"], row["judged"]) == pytest.approx((score["value"], score["value"]))
    more = rows_of(cli, "--extra-relevant", "1")
    assert all(one["mean"] < row["mean"] for one, row in zip(more, expected, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bm25-words", "--by", "pair"), "there is one run, `bm25-words`: a pair needs two"),
        (("--value", "0=0", "--value", "1=0", "--value", "2=0"), "no document can be relevant"),
        (("nobody",), "unknown run `nobody`"),
        (("--unjudged", "nan"), "`--unjudged` must be a number from 0 to 1, but got"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, judged: Path, arguments: tuple[str, ...], words: str) -> None:
    """In one line."""
    refused = cli("variation", *arguments)
    assert (bool(refused.code), words in refused.err) == (True, True)


@pytest.mark.slow
def test_unjudged_documents_are_named_where_they_count(cli: Cli, judged: Path) -> None:
    """The table says so when they may be relevant, and not by default."""
    words = "Unjudged documents may be relevant here"
    for more in ((), ("--by", "pair")):
        assert words in cli("variation", "--unjudged", "0.1", *more).fine().out
        assert words not in cli("variation", *more).fine().out
        assert words not in cli("variation", "--extra-relevant", "1", *more).fine().out


@pytest.mark.slow
def test_probabilities_have_two_digits_and_the_seed_is_said(cli: Cli, judged: Path) -> None:
    """Small ones are below .01; a share has its standard error beside."""
    two = ("variation", "--by", "pair", "bm25-stems-full", "bm25-words")
    (row,) = cli(*two, "--format", "json").fine().json()
    assert 0 < row["reversed"] < 0.01
    shown = cli(*two).fine().out
    cells = shown.splitlines()[2].split()
    assert cells[-3:] == ["<.01", f"{row['simulated']:.4f}", f"{row['simulated_error']:.4f}"]
    assert "simulated: 20,000 random judgings, seed 1." in shown
    assert (
        "simulated: 50 random judgings, seed 7." in cli(*two, "--monte-carlo", "50", "--seed", "7").fine().out
    )


@pytest.mark.slow
def test_people_read_variances_and_normality_of_every_run(cli: Cli, judged: Path) -> None:
    """The numbers of the json, below the table."""
    found = {row["run"]: row for row in rows_of(cli, *ORDER)}
    shown = cli("variation", *ORDER).fine().out.partition("Expected AP over topics\n")[2].splitlines()
    assert shown[0].split() == ["run", "sigma_mu^2", "sigma_d^2", "W", "p", "of", "W"]
    for line in shown[2 : 2 + len(found)]:
        tag, *cells = line.split()
        names = ("topic_variance", "judging_variance", "w", "p_normality")
        assert cells == [f"{found[tag][name]:.4f}" for name in names]


LLMJUDGE = "llmjudge/scores"
JUDGED_BY = ("--monte-carlo", "20000", "--seed", "3", "--format", "json")
RANKERS = ("Olz-gpt4o", "h2oloo-fewself", "RMITIR-llama70B", "willia-umbrela1", "TREMA-nuggets")
"""Model judges whose grades order the passages: the runs. The others say how likely each is."""


def check_agreement(runs: list[dict[str, Any]], pairs: list[dict[str, Any]]) -> None:
    """Compare with the simulation: means and deviations, and how often pairs swap."""
    n_judgings = 20_000
    for row in runs:
        assert row["sd"] > 0
        assert row["moments_error"] <= 1e-12
        assert row["mc_mean"] == pytest.approx(row["mean"], abs=5 * row["sd"] / n_judgings**0.5)
        assert row["mc_sd"] == pytest.approx(row["sd"], rel=5 / math.sqrt(2 * n_judgings))
    for row in pairs:
        error = math.sqrt(max(row["reversed"] * (1 - row["reversed"]), 1e-4) / n_judgings)
        # Beside chance: what the normal law is off by.
        assert row["simulated"] == pytest.approx(row["reversed"], abs=5 * error + 0.02)


NAMES = frozenset({"24", "25", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35"})
"""Topics of CF that are looked at."""


def cystic_fibrosis(cli: Cli, folder: Path, tags: frozenset[str]) -> None:
    """Make a collection of four judges, and of runs by the sample collection's ranking code."""
    documents = [
        {"docno": one.docno, "title": one.title or "", "text": one.text or ""}
        for one in cf_collection.load_documents()
    ]
    topics = [
        {"topic": one.topic, "title": one.title, "description": "", "narrative": ""}
        for one in cf_collection.load_topics()
        if one.topic in NAMES
    ]
    ranking = ranking_code()
    cli("init", "--scale", "0-2").fine()
    for spec in ranking.RUNS:
        if spec.tag in tags:
            path = folder / f"{spec.tag}.run"
            path.write_text(ranking.render_run(spec, documents, topics), encoding="utf-8")
            cli("import", "runs", path).fine()
    for judge, path in cf_collection.write_qrels(folder).items():
        kept = [line for line in path.read_text("utf-8").splitlines() if line.split()[0] in NAMES]
        path.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
        cli("import", "judgements", path, "--judge", judge).fine()


@pytest.mark.slow
def test_four_judges_of_cystic_fibrosis(cli: Cli, tmp_path: Path) -> None:
    """Runs made of the collection's own text by the sample collection's ranking code."""
    cystic_fibrosis(cli, tmp_path, frozenset({"bm25-words", "tfidf-words"}))
    runs = cli("variation", *JUDGED_BY).fine().json()
    assert {row["topics"] for row in runs} == {len(NAMES)}
    check_agreement(runs, cli("variation", "--by", "pair", *JUDGED_BY).fine().json())


def ranking_code() -> ModuleType:
    """Load the program that makes the sample collection's runs."""
    spec = importlib.util.spec_from_file_location("ranking_code", GARDEN / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def grades_of(judge: str) -> list[tuple[str, str, int]]:
    """Return topic, passage and grade of one model judge."""
    with gzip.open(shared_data(f"{LLMJUDGE}/{judge}.txt.gz"), "rt", encoding="utf-8") as lines:
        return [(topic, passage, int(grade))
                for topic, _, passage, grade in map(str.split, lines)]  # fmt: skip


@pytest.mark.slow
def test_model_judges_of_passages(cli: Cli, here: Path) -> None:
    """Runs: passages by one model's grade, ties by docno; p: the other models at 2 or more."""
    others = sorted(
        path.name.removesuffix(".txt.gz")
        for path in shared_data(LLMJUDGE).iterdir()
        if path.name.removesuffix(".txt.gz") not in RANKERS
    )
    votes: Counter[tuple[str, str]] = Counter()
    pairs = {(topic, passage) for topic, passage, _ in grades_of(others[0])}
    for judge in others:
        votes.update((topic, passage) for topic, passage, grade in grades_of(judge) if grade >= 2)
    lines = [f"{topic} {passage} {votes[topic, passage] / len(others)!r}\n"
             for topic, passage in sorted(pairs)]  # fmt: skip
    Path("p.txt").write_text("".join(lines), encoding="utf-8")
    for judge in RANKERS:
        by_topic: dict[str, list[tuple[int, str]]] = {}
        for topic, passage, grade in grades_of(judge):
            by_topic.setdefault(topic, []).append((-grade, passage))
        listed = [
            f"{topic} Q0 {passage} {rank} {5000 - rank} {judge}\n"
            for topic, graded in by_topic.items()
            for rank, (_, passage) in enumerate(sorted(graded), start=1)
        ]
        Path(f"{judge}.run").write_text("".join(listed), encoding="utf-8")
    files = [f"{judge}.run" for judge in RANKERS]
    options = (*files, "--probabilities", "p.txt", *JUDGED_BY)
    runs = cli("variation", *options).fine().json()
    assert len(runs) == len(RANKERS)
    assert {row["topics"] for row in runs} == {25}
    found = cli("variation", "--by", "pair", *options).fine().json()
    check_agreement(runs, found)
    assert any(row["reversed"] > 0.05 for row in found), json.dumps(found)
