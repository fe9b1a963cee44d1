"""Orders of runs under varying judgements: the paper's shares, the normal law beside draws and outcomes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from store.analysis.variation import simulation as variation_monte_carlo
from store.analysis.variation.collection import (
    CollectionVariation,
    Discovery,
    Reversals,
    Topic,
    collection_variation,
    discovered_variation,
    discovery,
    next_documents,
    order_probabilities,
    pair_components,
    reversals,
    run_components,
    settled_pairs,
    simulated_reversals,
)
from store.analysis.variation.moments import Empty, ProbableRankings
from store.analysis.variation.simulation import SimulatedMaps, simulate_maps
from tests.helpers import worked_examples as x6
from tests.helpers.outcomes import (
    drawn_topics,
    dynamic,
    enumerated,
    outcome_table,
    plain_ap,
    reversed_in,
    two_runs,
)
from tests.helpers.strategies import examples
from tests.helpers.worked_examples import X6_ABOVE


def three_topics() -> list[Topic]:
    """Make the topics of X6."""
    return [
        (np.array([float(Fraction(one)) for one in p.split()]), np.array(ranks, dtype=np.float64))
        for p, ranks in x6.X6
    ]


@pytest.mark.vector("formulas of the project, section 6: X6")
def test_three_topics() -> None:
    """Means, variances and covariances by topic; MAP, components, K and the four tests."""
    varied = collection_variation(three_topics(), empty="zero")
    own = np.diagonal(varied.covariance, axis1=1, axis2=2).T
    assert varied.mean.ravel() == pytest.approx(np.ravel(x6.X6_MEANS), abs=1e-14)
    assert own.ravel() == pytest.approx(np.ravel(x6.X6_VARIANCES), abs=x6.NEAR)
    assert varied.covariance[:, 0, 1] == pytest.approx(x6.X6_COVARIANCES, abs=1e-14)
    assert varied.map_mean == pytest.approx(x6.X6_MAP, abs=1e-14)
    runs = run_components(varied)
    assert runs.topic_variance == pytest.approx(x6.X6_TOPIC_VARIANCE, abs=1e-14)
    assert runs.judging_variance == pytest.approx(x6.X6_JUDGING_VARIANCE, abs=1e-14)
    assert runs.of_mean == pytest.approx(x6.X6_OF_MEAN, abs=1e-14)
    assert runs.by_judging**2 == pytest.approx(np.diagonal(varied.map_covariance), rel=1e-13)
    pairs = pair_components(varied)
    for name, expected in x6.X6_DIFFERENCE.items():
        assert getattr(pairs.components, name).tolist() == pytest.approx([expected], abs=x6.NEAR)
    for name, expected in x6.X6_TESTS.items():
        assert getattr(pairs, name).tolist() == pytest.approx([expected], abs=x6.NEAR)


def test_p_values_are_of_t() -> None:
    """Two-sided, with 2 L - 2 and L - 1 degrees of freedom."""
    from scipy import stats

    found = pair_components(collection_variation(three_topics(), empty="zero")).p_values()
    for name, t in x6.X6_TESTS.items():
        law = stats.t(4 if name.startswith("t1") else 2)
        assert found[name].tolist() == pytest.approx([2 * law.sf(t)])


def paper_s_runs() -> CollectionVariation:
    """Make runs and their difference with the paper's moments over 53 topics.

    .0018 of sigma_d^2 in run A and .0036 in run B are chosen so that the difference, of independent
    judgements, has the .00487 less the covariance that the paper leaves unprinted.
    """
    shape = (np.arange(53) - 26.0) / 238.5**0.5  # of variance 1
    mean = np.stack([0.35774 + 0.0330**0.5 * shape, np.full(53, 0.27974)])
    covariance = np.broadcast_to([[0.00487, 0.0], [0.0, 0.0]], (53, 2, 2))
    return CollectionVariation(mean, np.array(covariance), 0.0)


def test_paper_s_own_pair() -> None:
    """Section 4.2: .0330 over topics, .00487 by judging: K is .129, and nothing would turn about.

    sqrt(.00487 / 53) = .009586.
    """
    (share,) = pair_components(paper_s_runs()).components.share
    assert share == pytest.approx(0.00487 / (0.00487 + 0.0330))
    (spread,) = pair_components(paper_s_runs()).components.by_judging
    assert round(float(spread), 6) == 0.009586


def test_undefined_is_nan_and_no_error() -> None:
    """One topic has no variance over topics; runs that are the same have no t."""
    (topic, *_) = three_topics()
    alone = pair_components(collection_variation([topic], empty="zero"))
    assert np.isnan(alone.components.topic_variance).all()
    assert np.isnan(alone.t2_included).all()
    p, ranks = topic
    same = pair_components(collection_variation([(p, ranks[[0, 0]])] * 2, empty="zero"))
    assert np.isnan(same.t2_removed).all()
    assert np.isnan(same.components.share).all()
    assert same.components.judging_variance.tolist() == [0.0]


DRAWS = 20_000
NORMAL_IS_OFF = 0.1
"""What `docs/reference/mathematics.md` allows the normal law in four topics of eight documents, and more."""


def simulated(topics: list[Topic], *, empty: Empty = "given", seed: int = 1) -> Reversals:
    """Draw for the nearest pairs."""
    turned = reversals(collection_variation(topics, empty=empty))
    return simulated_reversals(topics, turned, seed=seed, empty=empty)


def noise(p: float) -> float:
    """Return four standard errors of a share of the draws."""
    return 4 * (max(p * (1 - p), 1 / DRAWS) / DRAWS) ** 0.5


@pytest.mark.vector("formulas of the project, section 6: X6")
def test_order_of_three_topics() -> None:
    """Exactly .7450588, level .00023328: the normal law to its twelve digits, draws within their error."""
    topics, n = three_topics(), 200_000
    table = order_probabilities(collection_variation(topics, empty="zero"))
    assert table[0, 1] == pytest.approx(X6_ABOVE["normal"], abs=0.51e-12)
    assert table + table.T == pytest.approx(np.ones((2, 2)))
    found = simulate_maps(topics, seed=2, repetitions=n, empty="zero")
    tied = 1 - found.above[0, 1] - found.above[1, 0]
    for share, exact in ((found.above[0, 1], X6_ABOVE["exact"]), (tied, X6_ABOVE["tied"])):
        assert share == pytest.approx(exact, abs=4.5 * (exact * (1 - exact) / n) ** 0.5)
    assert found.above.diagonal().tolist() == [0, 0]
    outcomes = [enumerated(*topic) for topic in topics]
    mean = np.mean([one.mean for one in outcomes], axis=0)
    assert_near(found, mean, np.sum([one.covariance for one in outcomes], axis=0) / 9)


KG = "methods of the project, sections 1.5, 1.6 and 2.4"


@pytest.mark.vector(KG)
@pytest.mark.parametrize(
    ("topics", "exact", "normal"),
    [
        (two_runs(), 0.0811933471, 0.0754655876),
        (two_runs("not-relevant", of=1), 0.9994105390, 0.9980865461),
        (two_runs("unjudged", of=1), 0.5388261903, 0.5694456289),
        (two_runs("not-relevant", of=1, scenario="shared"), 0.1653152846, 0.1677005618),
        (two_runs("unjudged", of=1, scenario="shared"), 0.3344895460, 0.3718504666),
        (two_runs("not-relevant", of=0), 8.4026e-6, 2.724e-6),
    ],
)
def test_28_documents_of_the_sample_collection(topics: list[Topic], exact: float, normal: float) -> None:
    """P(B above A) by all 2^28 outcomes: the normal law as printed, .04 off at most; draws by their error."""
    varied = collection_variation(topics)
    assert order_probabilities(varied)[1, 0] == pytest.approx(normal, abs=0.51e-9)
    assert normal == pytest.approx(exact, abs=0.04)
    assert simulate_maps(topics, seed=1).above[1, 0] == pytest.approx(exact, abs=noise(exact))


@pytest.mark.parametrize("empty", ["given", "zero"])
@settings(max_examples=examples(25), deadline=None)
@given(
    one=drawn_topics(most_documents=5, fewest_runs=3, most_runs=3),
    two=drawn_topics(most_documents=4, fewest_runs=3, most_runs=3),
)
def test_draws_agree_with_the_sum_of_all_outcomes(empty: Empty, one: Topic, two: Topic) -> None:
    """Every pair of three runs, ties apart, within five standard errors: there are many examples."""
    topics = [one, two]
    if empty == "given" and not all(p.any() for p, _ in topics):
        return
    found = simulated(topics, empty=empty)
    for a, b, share in zip(found.first.tolist(), found.second.tolist(), found.simulated, strict=True):
        exact = reversed_in(topics, a, b, empty=empty)
        assert share == pytest.approx(exact, abs=1.25 * noise(exact))


@pytest.mark.parametrize("seed", range(6))
def test_normal_law_is_as_far_off_as_documented(seed: int) -> None:
    """Four topics of four uncertain documents and a sure one, whose outcomes can be listed."""
    rng = np.random.default_rng(seed)
    topics = []
    for _ in range(4):
        p = np.concatenate([rng.beta(0.3, 1, 4), [1.0]])
        topics.append((p, np.array([rng.permutation(5) + 1.0 for _ in "ab"])))
    turned = reversals(collection_variation(topics))
    exact = reversed_in(topics, int(turned.first[0]), int(turned.second[0]))
    assert turned.reversed[0] == pytest.approx(exact, abs=NORMAL_IS_OFF)


def test_one_document_may_turn_runs_that_the_normal_law_sees_far_apart() -> None:
    """Run 1 has an unlikely document at rank 1 and the sure one at 3: 5/6 of 1 with it, or 1/3.

    Run 0 has the sure one alone: 1/2 with the other relevant, else 1. So they turn about with .1, of which
    the law of mean and deviation knows nothing; the draws do.
    """
    topics = [(np.array([1.0, 0.1]), np.array([[1.0, np.inf], [3.0, 1.0]]))]
    found = simulated(topics)
    assert found.reversed[0] < 0.03
    assert found.simulated[0] == pytest.approx(0.1, abs=noise(0.1))


def many_runs(n_runs: int) -> list[Topic]:
    """Make a topic of twenty documents and runs in orders of their own."""
    rng = np.random.default_rng(5)
    return [(rng.uniform(0, 1, 20), np.array([rng.permutation(20) + 1.0 for _ in range(n_runs)]))]


def test_the_nearest_pairs_are_drawn_together() -> None:
    """Ten runs have all 45 pairs drawn; of twelve those 45 with the highest probability are."""
    assert not np.isnan(simulated(many_runs(10)).simulated).any()
    found = simulated(many_runs(12))
    drawn = ~np.isnan(found.simulated)
    assert (drawn.sum(), found.simulated.size) == (45, 66)
    assert found.reversed[drawn].min() >= found.reversed[~drawn].max()
    assert (np.isnan(found.error) == ~drawn).all()
    share = found.simulated[drawn]
    assert found.error[drawn] == pytest.approx((share * (1 - share) / DRAWS) ** 0.5)


def test_a_seed_decides_and_the_order_of_documents_does_not() -> None:
    """The same shares for a seed, from draws that are there already, too, and for documents in any order."""
    topics = many_runs(6)
    whole = simulated(topics)
    assert whole.simulated.tolist() == simulated(topics).simulated.tolist()
    assert whole.simulated.tolist() != simulated(topics, seed=2).simulated.tolist()
    turned = [(p[::-1], ranks[:, ::-1]) for p, ranks in topics]
    assert whole.simulated.tolist() == simulated(turned).simulated.tolist()
    pairs = reversals(collection_variation(topics))
    maps = simulate_maps(topics, seed=1)
    of_all = simulated_reversals(topics, pairs, seed=1, simulated=maps)
    assert of_all.simulated.tolist() == whole.simulated.tolist()


@pytest.mark.parametrize("empty", ["given", "zero"])
@given(topic=drawn_topics(most_documents=6, fewest_runs=3, most_runs=3))
def test_gain_is_what_a_judgement_takes_away_of_every_open_pair(empty: Empty, topic: Topic) -> None:
    """Variance over the outcomes that count, less its mean once the document is known, added up."""
    p, ranks = topic
    if empty == "given" and not p.any():
        return
    topics = [topic]
    varied = collection_variation(topics, empty=empty)
    found = next_documents(topics, varied, confidence=0.9)
    open_pairs = [(a, b) for a, b in ((0, 1), (0, 2), (1, 2)) if found.unsettled[a, b]]
    assert found.n_unsettled == len(open_pairs)
    table = outcome_table(ranks)
    weights = table.weights(p) * (1 if empty == "zero" else table.relevant.any(axis=1))
    weights /= weights.sum()

    def left(kept: NDArray[np.bool_]) -> float:
        """Return what varies of the differences of the open pairs within some outcomes."""
        own = weights * kept
        differences = np.array([table.scores[:, a] - table.scores[:, b] for a, b in open_pairs])
        if not open_pairs or not own.sum():
            return 0.0
        return float(((differences - (differences @ own / own.sum())[:, None]) ** 2 @ own).sum())

    before = left(np.ones(len(weights), np.bool_))
    assert found.variance == pytest.approx(before, abs=1e-14)
    gains = dict(zip(found.document.tolist(), found.gain.tolist(), strict=True))
    for document, relevant in enumerate(table.relevant.T):
        gained = before - left(relevant) - left(~relevant)
        assert gains.get(document, 0.0) == pytest.approx(gained, abs=1e-12)


def test_settled_pairs_are_those_that_the_normal_law_is_sure_of() -> None:
    """At the confidence asked for, by mean and variance of all outcomes; equal lists are settled."""
    from scipy.stats import norm

    rng = np.random.default_rng(1)
    p = rng.uniform(0.1, 0.9, 8)
    ranks = np.array([rng.permutation(8) + 1.0 for _ in range(5)])
    ranks = np.vstack([ranks, ranks[:1]])
    varied = collection_variation([(p, ranks)], empty="zero")
    exact, table = enumerated(p, ranks), outcome_table(ranks)
    n_settled = []
    for confidence in (0.6, 0.7, 0.8):
        settled = settled_pairs(varied, confidence)
        for a, b in itertools.combinations(range(6), 2):
            deviation = table.spread(p, a, b) ** 0.5
            z = abs(exact.mean[a] - exact.mean[b]) / deviation if (a, b) != (0, 5) else np.inf
            assert settled[a, b] == settled[b, a] == (norm.cdf(z) >= confidence)
        assert settled.diagonal().all()
        n_settled.append(int(settled.sum()))
    assert len(set(n_settled)) > 1


def test_at_a_confidence_of_1_nothing_that_varies_is_settled() -> None:
    """Not even an order that judging again keeps for certain."""
    varied = collection_variation([(np.array([1.0, 0.5]), np.array([[1.0, np.inf], [2.0, 1.0]]))])
    assert settled_pairs(varied, 1.0).tolist() == [[True, False], [False, True]]


KG_INTERVALS = "methods of the project, section 1.6"
NORMAL = ([0.615267, 0.589225], [0.738639, 0.692005])
OUTSIDE = (0.0359, 0.0152)
"""Probability by all outcomes that A is below and above its limits by the normal law; .025 were meant."""


@pytest.mark.vector(KG_INTERVALS)
def test_intervals_of_the_sample_collection() -> None:
    """To six digits; and how much is outside, by draws within four standard errors."""
    topics = two_runs()
    low, high = run_components(collection_variation(topics)).interval()
    assert low == pytest.approx(NORMAL[0], abs=0.51e-6)
    assert high == pytest.approx(NORMAL[1], abs=0.51e-6)
    maps, n = np.zeros(40_000), 40_000
    rng = np.random.default_rng(1)
    for p, ranks in topics:
        assert (p == 1).any()
        order = np.argsort(ranks[0])
        order = order[np.isfinite(ranks[0, order])]
        flags = rng.random((n, p.size)) < p
        own = flags[:, order]
        maps += (own * own.cumsum(axis=1)) @ (1 / ranks[0, order]) / flags.sum(axis=1) / len(topics)
    for share, expected in zip(((maps < low[0]).mean(), (maps > high[0]).mean()), OUTSIDE, strict=True):
        assert share == pytest.approx(expected, abs=4 * (expected * (1 - expected) / n) ** 0.5)


@pytest.mark.vector(KG_INTERVALS)
def test_difference_of_the_sample_collection() -> None:
    """Its limits and its deviation, and those of both runs."""
    varied = collection_variation(two_runs())
    parts = run_components(varied)
    assert parts.by_judging == pytest.approx((0.0314731968, 0.0262198362), abs=0.51e-10)
    of_both = pair_components(varied, (np.array([0]), np.array([1]))).components
    assert of_both.by_judging == pytest.approx(0.0253007302, abs=0.51e-10)
    assert np.ravel(of_both.interval()) == pytest.approx((-0.013250, 0.085927), abs=0.51e-6)


NO = float("inf")


def one_topic(p: list[float], a: list[float], b: list[float], *, judged: list[bool]) -> ProbableRankings:
    """Make arrays of one topic as `probable_rankings` does; the last document may have no judge."""
    ids = np.arange(len(p))
    return ProbableRankings(
        ("t",), ("a", "b"), (np.array(p),), (np.array([a, b]),), (ids,), (np.array(judged),), 1000
    )


LISTS_OF_X3 = ([0.9, 0.5, 1, 0.8, 0.4, 0.5], [1, 2, 3, 5, 8, NO], [2, 1, NO, 3, 4, 10])
LISTS_OF_X4 = ([0.1, 0.2, 0.05, 0.3], [1, 2, 3, 4], [4, 3, 2, NO])
CASES = {
    # p, A, B with the document last; rank; own, shared: means, variances, covariance, P(A > B)
    "D1": (([0.5, 0.5], [1, NO], [2, 1]), (NO, 3.0),
           (5 / 24, 11 / 16, 3 / 64, 49 / 768, 0.013020833333, 0.0), None),
    "D2": (LISTS_OF_X3, (7.0, 6.0),
           (7117577 / 12600000, 467539 / 840000, 0.019516221374, 0.029002489073, 0.019278358541, 0.573),
           (122310523 / 176400000, 467539 / 840000, 0.021583206335, 0.029002489073, 0.019665900813, 0.887)),
    "D3": (LISTS_OF_X4, (6.0, 5.0),
           (0.137449722222, 0.225431194444, 0.030094326947, 0.010186961625, 0.009898336147, 449 / 1250),
           (0.304116388889, 0.225431194444, 0.030094326947, 0.010186961625, 0.009898336147, 0.4897)),
    "D4": (([0.4, 0.3], [1, 4], [3, 1]), (2.0, 2.0),
           (89 / 400, 101 / 150, 0.05330625, 0.0469, 0.01435, 0.0),
           (69 / 100, 101 / 150, 0.054733333333, 0.0469, 0.003733333333, 7 / 25)),
    "D5": (([0.2, 0.3], [2, NO], [1, 3]), (1.0, 2.0),
           (9 / 200, 31 / 50, 0.008391666667, 0.037266666667, 0.0171, 0.0),
           (43 / 50, 31 / 50, 0.047066666667, 0.037266666667, -0.0032, 14 / 25)),
}  # fmt: skip
"""Of the project's reference of methods, section 2.3, computed there in fractions."""


def found_in(case: str, gain: Literal["own", "shared"]) -> tuple[Discovery, ProbableRankings]:
    """Find the document of one case."""
    (p, a, b), (in_a, in_b), *_ = CASES[case]
    probable = one_topic([*p, 0.0], [*a, in_a], [*b, in_b], judged=[*(True for _ in p), case == "D4"])
    flip: Literal["not-relevant", "unjudged"] = "not-relevant" if case == "D4" else "unjudged"
    return discovery(probable, 1, rank=int(in_b), flip=flip, gain=gain), probable


@pytest.mark.slow
@pytest.mark.vector("methods of the project, section 2.3")
@pytest.mark.parametrize("gain", ["own", "shared"])
@pytest.mark.parametrize("case", CASES)
def test_fractions_of_the_reference(case: str, gain: Literal["own", "shared"]) -> None:
    """Means, variances and covariance to the printed digits; the order by all outcomes."""
    *_, own, shared = CASES[case]
    mean_a, mean_b, variance_a, variance_b, covariance, above = (shared or own) if gain == "shared" else own
    found, probable = found_in(case, gain)
    before = collection_variation(list(zip(probable.probabilities, probable.ranks, strict=True)))
    after = discovered_variation(found, before)
    near = {"rel": 0, "abs": 0.51e-12}
    assert after.map_mean == pytest.approx([mean_a, mean_b], **near)
    assert np.diagonal(after.covariance[0]) == pytest.approx([variance_a, variance_b], **near)
    assert after.covariance[0, 0, 1] == pytest.approx(covariance, **near)
    assert reversed_in([*found.topics], 1, 0) == pytest.approx(above, abs=1e-12)


def assert_near(
    found: SimulatedMaps, mean: NDArray[np.float64], covariance: NDArray[np.float64], within: float = 4.5
) -> None:
    """Moments are so near by their standard errors; of a covariance, as of normal variables."""
    variance = covariance.diagonal()
    assert (np.abs(found.mean - mean) <= within * (variance / found.repetitions) ** 0.5).all()
    of_covariance = np.sqrt((np.outer(variance, variance) + covariance**2) / found.repetitions)
    assert (np.abs(found.covariance - covariance) <= 6 * of_covariance).all()


def test_simulation_equals_a_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """X3 with the same bits, judged one by one and scored by definition over three blocks, agrees."""
    monkeypatch.setattr(variation_monte_carlo, "_AT_ONCE", 18)
    example = x6.EXAMPLES["X3"]
    # By probability, then by rank: documents are drawn in this order.
    order = [4, 1, 5, 3, 0, 2]
    probabilities = np.array([float(p) for p in example.p.split()])[order]
    ranks = np.array(example.ranks)[:, order]
    bits = np.random.PCG64(11)
    scores: list[list[Fraction]] = []
    for n in (18, 18, 14):
        flags = np.ones((n, len(probabilities)), dtype=int)
        for document, p in enumerate(probabilities):
            if p < 1:
                flags[:, document] = [int(word) < p * 2**64 for word in bits.random_raw(n)]
        scores += [[plain_ap(row, run) for run in ranks] for row in flags.tolist()]
    expected = np.array(scores, dtype=np.float64)
    found = simulate_maps([(probabilities, ranks)], seed=11, repetitions=50, empty="zero")
    assert found.mean == pytest.approx(expected.mean(axis=0), abs=1e-14)
    assert found.covariance == pytest.approx(np.cov(expected.T), abs=1e-14)
    first, second = expected.T
    assert found.above.tolist() == [[0, np.mean(first > second)], [np.mean(second > first), 0]]


def test_hundreds_of_documents_are_counted() -> None:
    """R above 255, and runs that retrieve sure and unsure documents alike: as by dynamic sums."""
    rng = np.random.default_rng(3)
    probabilities = np.concatenate([rng.uniform(0, 1, 300), np.ones(200)])
    ranks = rng.permutation(np.arange(1.0, 701.0))[:500]
    ranks[rng.random(500) < 0.2] = np.inf
    expected = dynamic(probabilities, ranks)
    found = simulate_maps([(probabilities, ranks)], seed=7, repetitions=20_000, empty="zero")
    assert_near(found, np.array([expected.mean]), np.array([[expected.variance]]))


def test_sure_judgements_do_not_vary() -> None:
    """With p of 0 and 1 only, AP is what it is and its covariance exactly 0."""
    ranks = np.array([[1, 3, 4, NO], [NO, NO, NO, NO], [9, 1, 2, 3]])
    found = simulate_maps([([1, 0, 1, 1], ranks)], seed=1, repetitions=20_000, empty="zero")
    assert found.mean == pytest.approx([(1 + 2 / 4) / 3, 0, (1 / 2 + 2 / 3 + 3 / 9) / 3])
    assert not found.covariance.any()
    nothing = simulate_maps([([0, 0], [[1, 2]])], seed=1, repetitions=100, empty="zero")
    assert (nothing.mean.tolist(), nothing.covariance.tolist()) == ([0.0], [[0.0]])
