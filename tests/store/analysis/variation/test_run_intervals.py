"""Intervals of MAP: all outcomes, the inverted law and the normal one, each where it can be had."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from store.analysis.variation import law as module
from store.analysis.variation.collection import Topic, collection_variation, pair_components, run_components
from store.analysis.variation.law import difference_interval, map_skewness, run_intervals
from tests.store.analysis.variation.enumerated_variation import drawn_topics
from tests.store.analysis.variation.kitchen_garden import two_runs
from tests.store.analysis.variation.outcome_table import outcome_table

KG = "methods of the project, section 1.6"
EXACT = ([0.609371, 0.591296], [0.732731, 0.692510])
NORMAL = ([0.615267, 0.589225], [0.738639, 0.692005])


@pytest.mark.vector(KG)
def test_intervals_of_the_sample_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """To six digits by all outcomes and by the normal law, within its resolution by inversion."""
    topics = two_runs()
    varied = collection_variation(topics)
    found = run_intervals(topics, varied)
    assert found.law == "enumeration"
    assert found.low == pytest.approx(EXACT[0], abs=0.51e-6)
    assert found.high == pytest.approx(EXACT[1], abs=0.51e-6)
    assert not found.error.any()
    monkeypatch.setattr(module, "MOST_OF_HALF", 3)
    inverted = run_intervals(topics, varied)
    assert inverted.law == "inversion"
    assert np.all(np.abs(inverted.low - EXACT[0]) <= inverted.error)
    assert np.all(np.abs(inverted.high - EXACT[1]) <= inverted.error)
    for most in (0.0, 100.0):
        monkeypatch.setattr(module, "MOST_INVERTED", most)
        normal = run_intervals(topics, varied)
        assert normal.law == "normal"
        assert normal.low == pytest.approx(NORMAL[0], abs=0.51e-6)
        assert normal.high == pytest.approx(NORMAL[1], abs=0.51e-6)
        assert np.isnan(normal.error).all()


@pytest.mark.vector(KG)
def test_difference_of_the_sample_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its limits by all outcomes and by the normal law, its deviation and its skewness."""
    topics = two_runs()
    varied = collection_variation(topics)
    low, high, law = difference_interval(topics, varied)
    assert (low, high, law) == (pytest.approx(-0.020624, abs=0.51e-6), pytest.approx(0.081854, abs=0.51e-6),
                                "enumeration")  # fmt: skip
    turned = difference_interval(topics, varied, 1, 0)
    assert turned[:2] == pytest.approx((-high, -low), abs=1e-9)
    monkeypatch.setattr(module, "MOST_OF_HALF", 3)
    assert difference_interval(topics, varied) == (
        pytest.approx(-0.013250, abs=0.51e-6), pytest.approx(0.085927, abs=0.51e-6), "normal",
    )  # fmt: skip


@pytest.mark.vector(KG)
def test_deviation_and_skewness_of_both_runs_and_of_their_difference() -> None:
    """The moments beside the limits."""
    topics = two_runs()
    varied = collection_variation(topics)
    parts = run_components(varied)
    assert parts.by_judging == pytest.approx((0.0314731968, 0.0262198362), abs=0.51e-10)
    of_both = pair_components(varied, (np.array([0]), np.array([1]))).components
    assert of_both.by_judging == pytest.approx(0.0253007302, abs=0.51e-10)
    found = [map_skewness(topics, varied, *which) for which in ((0,), (1,), (0, 1), (1, 0))]
    assert found == pytest.approx((-0.355940, 0.081550, -0.417991, 0.417991), abs=0.51e-6)


@given(drawn_topics(most_documents=5, most_runs=1), drawn_topics(most_documents=4, most_runs=1))
def test_ends_are_quantiles_of_all_outcomes(one: Topic, two: Topic) -> None:
    """The least MAP with a cumulative probability of .025 and .975, 0 being counted."""
    topics = [one, two]
    totals, chances = np.zeros(1), np.ones(1)
    for p, ranks in topics:
        table = outcome_table(ranks)
        totals = np.add.outer(totals, table.scores[:, 0]).ravel()
        chances = np.multiply.outer(chances, table.weights(p)).ravel()
    order = np.argsort(totals, kind="stable")
    so_far = np.cumsum(chances[order])
    varied = collection_variation(topics, empty="zero")
    found = run_intervals(topics, varied)
    for end, level in ((found.low[0], 0.025), (found.high[0], 0.975)):
        nearly = 1e-12
        below = chances[totals / 2 < end - nearly].sum()
        up_to = chances[totals / 2 <= end + nearly].sum()
        assert below <= level + nearly
        assert up_to >= level - nearly
    assert so_far[-1] == pytest.approx(1)


def test_many_equal_outcomes_have_a_quantile() -> None:
    """Thirty topics of one document at rank 1: a binomial share, 10 to 20 of 30 at 95%.

    P(X <= 9) = .0214 and P(X <= 10) = .0494, so the 2.5% quantile is 10; and by symmetry
    P(X <= 19) = 1 - .0494 = .9506 and P(X <= 20) = .9786, so the 97.5% quantile is 20.
    """
    topics = [(np.array([0.5]), np.array([[1.0]]))] * 30
    varied = collection_variation(topics, empty="zero")
    found = run_intervals(topics, varied)
    assert found.law == "enumeration"
    assert (found.low[0] * 30, found.high[0] * 30) == pytest.approx((10, 20))


def test_nothing_varies() -> None:
    """The constant twice, and progress for every run."""
    topics = [(np.ones(2), np.array([[1.0, 2.0], [2.0, 3.0]]))]
    done: list[int] = []
    found = run_intervals(topics, collection_variation(topics), progress=done.append)
    assert found.low == pytest.approx([1, 7 / 12])
    assert found.high == pytest.approx([1, 7 / 12])
    assert done == [1, 1]


def test_an_end_is_not_lost_to_rounding() -> None:
    """AP is 0 where neither of .9 and .75 is relevant: .1 x .25 = 2.5%, which rounds below it."""
    topics = [(np.array([0.9, 0.75]), np.array([[1.0, 2.0]]))]
    found = run_intervals(topics, collection_variation(topics, empty="zero"))
    assert found.low.tolist() == [0.0]
