"""Exact moments of AP: worked examples, all 2^n outcomes, dynamic programming; quadrature and arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

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
    judgement_weights,
    probable_rankings,
    variation,
    variation_gradient,
)
from store.analysis.variation.simulation import simulate_maps
from store.errors import ArgumentError
from tests.helpers.strategies import examples
from tests.trust.outcomes import OutcomeTable, drawn_topics, dynamic, enumerated, outcome_table
from tests.vectors.variation_examples import EXAMPLES, NEAR


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


@settings(max_examples=examples(300))
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


@settings(max_examples=examples(100))
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


@given(drawn_topics(most_documents=7, fewest_runs=2, most_runs=2))
def test_gain_is_what_a_judgement_takes_away_of_what_is_left(one: Topic) -> None:
    """Variance less its mean once a document is known, over the outcomes that count."""
    p, ranks = one
    if not p.any():
        return
    table = outcome_table(ranks)
    weights = conditional(table, p)
    difference = table.scores[:, 0] - table.scores[:, 1]

    def spread(kept: np.ndarray) -> float:
        """Return the part of the variance within some outcomes."""
        share = weights[kept].sum()
        if not share:
            return 0.0
        mean = weights[kept] @ difference[kept] / share
        return float(weights[kept] @ (difference[kept] - mean) ** 2)

    everything = np.ones(len(weights), dtype=np.bool_)
    expected = [spread(everything) - spread(column) - spread(~column) for column in table.relevant.T]
    gradient = variation_gradient(p, ranks)
    gains = judgement_weights(p) * (gradient[0] - gradient[1]) ** 2
    assert gains == pytest.approx(expected, abs=1e-12)


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


@given(drawn_topics(most_documents=6))
def test_table_of_outcomes_has_the_same_moments(topic: Topic) -> None:
    """The reference in arrays, which is quick, and the one by outcome, which is plain."""
    probabilities, ranks = topic
    plain, table = enumerated(probabilities, ranks), outcome_table(ranks)
    mean, covariance = table.moments(probabilities)
    assert mean == pytest.approx(plain.mean, abs=1e-14)
    assert covariance == pytest.approx(plain.covariance, abs=1e-14)
    assert table.gradient(probabilities) == pytest.approx(plain.gradient, abs=1e-13)


@given(drawn_topics(most_documents=8, most_runs=1))
def test_dynamic_equals_all_outcomes(topic: Topic) -> None:
    """Mean and variance are those of the enumeration, and P(R) adds up to 1."""
    probabilities, ranks = topic
    found, expected = dynamic(probabilities, ranks[0]), enumerated(probabilities, ranks)
    assert found.mean == pytest.approx(expected.mean[0], abs=1e-15)
    assert found.variance == pytest.approx(expected.covariance[0, 0], abs=1e-15)
    assert found.n_relevant.sum() == pytest.approx(1, abs=1e-15)
