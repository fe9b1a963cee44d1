"""How likely the order of two runs is: worked examples, simulation, and when which law is taken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import norm

from store.analysis.variation import order as module
from store.analysis.variation.collection import Topic, collection_variation
from store.analysis.variation.order import Method, expected_tau, order_probabilities, order_probability
from store.analysis.variation.outcomes import enumerate_order, halves
from store.errors import ArgumentError
from tests.store.analysis.variation.enumerated_variation import drawn_topics, enumerated
from tests.store.analysis.variation.kitchen_garden import two_runs
from tests.store.analysis.variation.outcome_table import outcome_table
from tests.store.analysis.variation.test_collection_variation import three_topics
from tests.vectors.variation_examples import EXAMPLES, X6_ABOVE


@pytest.mark.vector("formulas of the project, section 6: X6")
def test_three_topics_by_every_method() -> None:
    """Exactly .7450588 with .00023328 tied; the normal law and the correction to 12 digits."""
    topics = three_topics()
    exact = order_probability(topics, empty="zero")
    assert exact.method == "enumeration"
    assert exact.above == pytest.approx(X6_ABOVE["exact"], abs=1e-13)
    assert exact.tied == pytest.approx(X6_ABOVE["tied"], abs=1e-13)
    assert exact.below == pytest.approx(1 - X6_ABOVE["exact"] - X6_ABOVE["tied"], abs=1e-13)
    for method in ("normal", "skewness"):
        found = order_probability(topics, method=method, empty="zero")
        assert found.above == pytest.approx(X6_ABOVE[method], abs=0.51e-12)
        assert found.tied is None
    mixed = order_probability(topics, method="mixture", empty="zero")
    assert mixed.above == pytest.approx(X6_ABOVE["exact"], abs=0.006)
    table = order_probabilities(collection_variation(topics, empty="zero"))
    assert table[0, 1] == pytest.approx(X6_ABOVE["normal"], abs=0.51e-12)
    assert table + table.T == pytest.approx(np.ones((2, 2)))


@pytest.mark.parametrize("name", [name for name in EXAMPLES if EXAMPLES[name].above is not None])
def test_single_topics(name: str) -> None:
    """P(u > 0) and P(u = 0) as printed."""
    example = EXAMPLES[name]
    topic = (np.array([float(p) for p in example.p.split()]), np.array(example.ranks))
    found = order_probability([topic], empty="zero")
    assert found.above == pytest.approx(example.above, abs=1e-14)
    if example.tied is not None:
        assert found.tied == pytest.approx(example.tied, abs=1e-14)


@given(drawn_topics(most_documents=7, fewest_runs=2))
def test_enumeration_equals_the_obvious_one(topic: Topic) -> None:
    """Above and tied, with sure and impossible documents and ties of AP."""
    expected = enumerated(*topic)
    above, _, tied, _ = enumerate_order([(topic[0], topic[1][:2])], empty="zero")
    assert above == pytest.approx(expected.above[0, 1], abs=1e-12)
    assert tied == pytest.approx(expected.tied[0, 1], abs=1e-12)


def simulated(topics: list[Topic], repetitions: int, seed: int) -> tuple[float, float]:
    """Draw judgements of every topic and count; the standard error is there beside the share."""
    rng = np.random.default_rng(seed)
    total = np.zeros(repetitions)
    for p, ranks in topics:
        flags = (rng.random((repetitions, p.size)) < p).astype(float)
        for row, sign in zip(ranks, (1, -1), strict=True):
            order = np.argsort(row)[: np.isfinite(row).sum()]
            own = flags[:, order]
            total += sign * (own * own.cumsum(1)) @ (1 / row[order]) / np.maximum(flags.sum(1), 1)
    share = float((total > 1e-12).mean())
    return share, (share * (1 - share) / repetitions) ** 0.5


def drawn(seed: int, n_topics: int, n_random: int, n_sure: int, most: float = 1.0) -> list[Topic]:
    """Draw topics of two runs; the first ranks what is likely relevant a little higher."""
    rng = np.random.default_rng(seed)
    topics = []
    for _ in range(n_topics):
        p = np.concatenate([rng.uniform(0, most, n_random), np.ones(n_sure)])
        ranks = np.array([np.argsort(np.argsort(rng.random(p.size) - lean * p)) + 1.0
                          for lean in (0.15, 0.1)])  # fmt: skip
        topics.append((p, ranks * 3))
    return topics


@pytest.mark.parametrize(
    ("topics", "method"),
    [
        (drawn(1, 20, 20, 10), "skewness"),
        (drawn(2, 5, 10, 3), "skewness"),
        (drawn(3, 4, 20, 1, most=0.2), "mixture"),
    ],
)
def test_laws_agree_with_simulation(topics: list[Topic], method: Method) -> None:
    """Within four standard errors of 30,000 judgings, and what the law leaves out."""
    found = order_probability(topics, method=method, empty="zero")
    share, error = simulated(topics, 30_000, seed=7)
    assert found.above == pytest.approx(share, abs=4 * error + 0.004)


def test_method_is_chosen_by_the_numbers() -> None:
    """Few documents, little skewness, much of it."""
    assert order_probability(drawn(1, 2, 9, 2), empty="zero").method == "enumeration"
    few_skewed = order_probability(drawn(1, 20, 20, 10), empty="zero", most_listed=0)
    assert few_skewed.method == "skewness"
    assert few_skewed.skewness is not None
    assert abs(few_skewed.skewness) < 0.3
    skewed = [
        (np.concatenate([np.full(25, 0.01), [1.0]]),
         np.array([[*np.arange(1.0, 26), 30], [*np.full(25, np.inf), 1]])),
    ]  # fmt: skip
    assert order_probability(skewed, empty="zero").method == "likely"
    found = order_probability(skewed, empty="zero", most_listed=0)
    assert found.method == "mixture"
    assert found.skewness is not None
    assert found.skewness > 0.3
    with pytest.raises(ArgumentError, match="enumeration"):
        order_probability(skewed, method="enumeration", empty="zero")


def test_many_documents_take_the_normal_law_unless_few_of_them_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The skewness of too many would take minutes; that of single ones says which law it is."""

    def refused(*_: object, **__: object) -> float:
        raise AssertionError("too many documents")

    monkeypatch.setattr(module, "third_moment", refused)
    rng = np.random.default_rng(2)
    ranks = np.array([rng.permutation(450) + 1.0 for _ in range(2)])
    found = order_probability([(rng.random(450), ranks)] * 2, empty="zero")
    assert (found.method, found.tied, found.skewness) == ("normal", None, None)
    monkeypatch.setattr(module, "MOST_CORRECTED", 40**2)
    # One document of .01 at rank 1 of the first run alone outweighs all others.
    p = np.concatenate([[0.01], np.full(40, 1e-6), [1.0]])
    second = np.concatenate([[np.inf], np.arange(2.0, 43)])
    first = second.copy()
    first[0] = 1.0
    skewed = order_probability([(p, np.array([first, second]))], empty="zero", most_listed=0)
    assert skewed.method == "mixture"
    assert skewed.above == pytest.approx(0.01, abs=0.0002)


def test_documents_of_neither_run_do_not_make_them_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty documents that the runs have, and thirty more: 400 is the square that counts, not 2500."""
    monkeypatch.setattr(module, "MOST_CORRECTED", 20**2)
    ranks = np.full((2, 50), np.inf)
    ranks[0, :20], ranks[1, :20] = np.arange(1, 21), np.arange(20, 0, -1)
    topic = np.full(50, 0.5), ranks
    assert order_probability([topic], most_listed=0).method == "skewness"
    ranks[0, 20] = 21
    assert order_probability([topic], most_listed=0).method == "normal"


def test_mixture_leaves_a_topic_of_small_differences_to_the_normal_law() -> None:
    """Ten documents of two topics are taken one by one, and the third topic keeps its variance.

    The first run alone has the ten, five in each topic, all relevant with probability .1: its AP is
    at least .2 where one of them is, and both are 0 with probability .9^10. The second run alone
    has a document of .5 at rank 1000 of the third topic: less .001 or nothing, a mean of -.0005 and
    a standard deviation of .0005. So the first run is above, but where none of the ten is relevant:
    there with Phi(-1).
    """
    five = (np.full(5, 0.1), np.array([np.arange(1.0, 6), np.full(5, np.inf)]))
    one = (np.array([0.5]), np.array([[np.inf], [1000.0]]))
    none = 0.9**10
    expected = 1 - none + none * float(norm.cdf(-1))
    for topics in ([five, five, one], [one, five, five]):
        found = order_probability(topics, method="mixture", empty="zero")
        assert found.above == pytest.approx(expected, abs=1e-12)


def test_nothing_varies() -> None:
    """The order is what it is: above, below or tied."""
    sure = (np.ones(2), np.array([[1.0, 2.0], [1.0, 3.0]]))
    found = order_probability([sure], empty="zero")
    assert (found.above, found.tied, found.below) == (1.0, 0.0, 0.0)
    assert order_probability([sure], 1, 0, empty="zero").below == 1.0
    assert order_probability([sure], 0, 0, empty="zero").tied == 1.0
    for method in ("normal", "skewness", "mixture"):
        found = order_probability([sure], method=method, empty="zero")
        assert (found.above, found.tied, found.below) == (1.0, 0.0, 0.0)
        found = order_probability([sure], 1, 0, method=method, empty="zero")
        assert (found.above, found.tied, found.below) == (0.0, 0.0, 1.0)
    table = order_probabilities(collection_variation([sure], empty="zero"))
    assert table.tolist() == [[0.5, 1.0], [0.0, 0.5]]


def test_expected_tau_by_hand() -> None:
    """Three runs: pairs stay with .9, .6 and .7; one pair is tied in this judging."""
    above = np.array([[0.5, 0.9, 0.6], [0.1, 0.5, 0.7], [0.4, 0.3, 0.5]])
    assert expected_tau(above, np.array([3.0, 2.0, 1.0])) == pytest.approx((0.8 + 0.2 + 0.4) / 3)
    assert expected_tau(above, np.array([3.0, 2.0, 2.0])) == pytest.approx((0.8 + 0.2) / 3)
    assert np.isnan(expected_tau(np.array([[0.5]]), np.array([1.0])))


@pytest.mark.vector("formulas of the project, section 2: P(order reversed), the paper's own case")
def test_paper_s_own_pair_would_not_turn_about() -> None:
    """MAP difference .04615, sd by judging sqrt(.00487/53) = .009586: z = 4.81, P = 7.4e-7."""
    from store.analysis.variation.collection import CollectionVariation

    mean = np.array([[0.04615] * 53, [0.0] * 53])
    covariance = np.broadcast_to([[0.00487, 0.0], [0.0, 0.0]], (53, 2, 2))
    table = order_probabilities(CollectionVariation(mean, np.array(covariance), 0.0))
    assert table[1, 0] == pytest.approx(7.4e-7, abs=0.05e-7)


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
    ],
)
def test_28_documents_of_the_sample_collection_are_exact(
    topics: list[Topic], exact: float, normal: float
) -> None:
    """P(B above A) to ten digits, by all 2^28 outcomes; the two sides and ties add up to 1."""
    found = order_probability(topics)
    assert (found.method, found.tied) == ("enumeration", 0)
    assert found.below == pytest.approx(exact, abs=0.51e-10)
    assert found.above + found.below == pytest.approx(1, abs=1e-12)
    assert found.error is not None
    assert found.error < 1e-10
    by_normal = order_probability(topics, method="normal")
    assert by_normal.below == pytest.approx(normal, abs=0.51e-10)
    assert by_normal.error is None


@pytest.mark.vector(KG)
def test_small_probabilities_have_their_digits() -> None:
    """8.4026e-6 where the normal law has 2.724e-6; .0005894610 was 0 by the corrected law."""
    found = order_probability(two_runs("not-relevant", of=0))
    assert found.below == pytest.approx(8.4026e-6, abs=0.51e-10)
    turned = two_runs("not-relevant", of=1)
    assert order_probability(turned).above == pytest.approx(0.0005894610, abs=0.51e-10)
    normal = order_probability(turned, method="normal").above
    assert normal == pytest.approx(0.0019134539, abs=0.51e-10)
    with pytest.raises(ArgumentError, match=r"skewness with \|z\| of 2 or more"):
        order_probability(turned, method="skewness")


@pytest.mark.vector(KG)
def test_laws_of_many_documents_have_errors_of_their_own() -> None:
    """Where outcomes are too many: which law it is, and an error no smaller than it has."""
    topics = two_runs()
    mixture = order_probability(topics, method="mixture")
    assert mixture.below == pytest.approx(0.0809044715, abs=0.51e-10)
    assert mixture.skewness == pytest.approx(-0.417991, abs=0.51e-6)
    shared = two_runs("not-relevant", of=1, scenario="shared")
    corrected = order_probability(shared, method="skewness")
    assert corrected.below == pytest.approx(0.1669083881, abs=0.51e-10)
    for some, method in (
        (topics, "mixture"),
        (two_runs("not-relevant", of=1), "mixture"),
        (two_runs("not-relevant", of=0), "mixture"),
        (two_runs("unjudged", of=1), "mixture"),
        (shared, "skewness"),
    ):
        exact = enumerate_order(some, parts=halves(some))[1]
        for name, most_listed in ((method, 0), ("likely", 1 << 19)):
            found = order_probability(some, most_of_half=0, most_listed=most_listed)
            assert found.method == name
            assert 0 < found.below < 1
            assert found.error is not None
            assert abs(found.below - exact) <= found.error < 0.03


@given(drawn_topics(most_documents=4, fewest_runs=2, most_runs=2),
       drawn_topics(most_documents=4, fewest_runs=2, most_runs=2),
       drawn_topics(most_documents=3, fewest_runs=2, most_runs=2))  # fmt: skip
def test_halves_meet_in_every_outcome(one: Topic, two: Topic, three: Topic) -> None:
    """Above, below and tied of three topics, with sums of all outcomes listed one by one."""
    topics = [one, two, three]
    totals, chances = np.zeros(1), np.ones(1)
    for p, ranks in topics:
        table = outcome_table(ranks)
        totals = np.add.outer(totals, table.scores[:, 0] - table.scores[:, 1]).ravel()
        chances = np.multiply.outer(chances, table.weights(p)).ravel()
    found = order_probability(topics, empty="zero")
    assert found.above == pytest.approx(chances[totals > 1e-9].sum(), abs=1e-12)
    assert found.below == pytest.approx(chances[totals < -1e-9].sum(), abs=1e-12)
    assert found.tied == pytest.approx(chances[abs(totals) <= 1e-9].sum(), abs=1e-12)
