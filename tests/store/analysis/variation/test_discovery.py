"""Documents at rank N+1 found relevant while judgements vary: vectors, and all outcomes."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.analysis.variation.collection import (
    Discovery,
    collection_variation,
    discovered_variation,
    discovery,
)
from store.analysis.variation.moments import ProbableRankings, probable_rankings
from store.errors import ArgumentError
from tests.store.analysis.variation.enumerated_variation import enumerated
from tests.store.analysis.variation.outcome_table import reversed_in
from tests.strategies import examples

pytestmark = pytest.mark.slow

NO = float("inf")


def one_topic(p: list[float], a: list[float], b: list[float], *, judged: list[bool]) -> ProbableRankings:
    """Make arrays of one topic as `probable_rankings` does; the last document may have no judge."""
    ids = np.arange(len(p))
    return ProbableRankings(
        ("t",), ("a", "b"), (np.array(p),), (np.array([a, b]),), (ids,), (np.array(judged),), 1000
    )


X3 = ([0.9, 0.5, 1, 0.8, 0.4, 0.5], [1, 2, 3, 5, 8, NO], [2, 1, NO, 3, 4, 10])
X4 = ([0.1, 0.2, 0.05, 0.3], [1, 2, 3, 4], [4, 3, 2, NO])
CASES = {
    # p, A, B with the document last; rank; own, shared: means, variances, covariance, P(A > B)
    "D1": (([0.5, 0.5], [1, NO], [2, 1]), (NO, 3.0),
           (5 / 24, 11 / 16, 3 / 64, 49 / 768, 0.013020833333, 0.0), None),
    "D2": (X3, (7.0, 6.0),
           (7117577 / 12600000, 467539 / 840000, 0.019516221374, 0.029002489073, 0.019278358541, 0.573),
           (122310523 / 176400000, 467539 / 840000, 0.021583206335, 0.029002489073, 0.019665900813, 0.887)),
    "D3": (X4, (6.0, 5.0),
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


@st.composite
def small(draw: st.DrawFn) -> ProbableRankings:
    """Three runs, three topics, up to five judged documents and two unjudged ones."""
    topics = []
    for _ in range(3):
        n_judged, n_other = draw(st.integers(1, 5)), draw(st.integers(0, 2))
        p = draw(st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=n_judged, max_size=n_judged))
        p[0] = p[0] or 0.5
        n = n_judged + n_other
        ranks = np.full((3, n), np.inf)
        for row in ranks:
            places = draw(st.permutations(range(1, n + 1)))
            row[:] = [place if draw(st.integers(0, 3)) else np.inf for place in places]
        topics.append((np.array([*p, *([0.0] * n_other)]), ranks, np.arange(n) < n_judged))
    p, ranks, judged = zip(*topics, strict=True)
    ids = tuple(np.arange(one.size) for one in p)
    return ProbableRankings(("1", "2", "3"), ("a", "b", "c"), p, ranks, ids, judged, 1000)


@pytest.mark.parametrize("gain", ["own", "shared"])
@pytest.mark.parametrize("flip", ["unjudged", "not-relevant"])
@given(probable=small(), rank=st.integers(1, 4))
@settings(max_examples=examples(40))
def test_moments_are_those_of_all_outcomes(
    flip: Literal["unjudged", "not-relevant"],
    gain: Literal["own", "shared"],
    probable: ProbableRankings,
    rank: int,
) -> None:
    """Topic by topic: what is found, by the words of the rule, and the moments by enumeration."""
    before = collection_variation(
        list(zip(probable.probabilities, probable.ranks, strict=True)), empty="zero"
    )
    found = discovery(probable, 2, rank=rank, flip=flip, gain=gain)
    after = discovered_variation(found, before)
    for place in range(3):
        p, ranks = probable.probabilities[place].copy(), probable.ranks[place].copy()
        judged = probable.judged[place]
        there = [document for document in range(p.size) if ranks[2, document] == rank]
        takes = [one for one in there if (p[one] == 0 if flip == "not-relevant" else not judged[one])]
        assert found.documents[place] == (there[0] if there else -1)
        assert found.flipped[place] == bool(takes)
        for document in takes:
            p[document] = 1.0
            if gain == "own":
                ranks[:2, document] = np.inf
        expected = enumerated(p, ranks)
        assert after.mean[:, place] == pytest.approx(expected.mean, abs=1e-12)
        assert after.covariance[place] == pytest.approx(expected.covariance, abs=1e-12)


def test_kept_are_the_documents_at_one_rank() -> None:
    """Of the documents without a chance those stay that some run has there, and no others."""
    lists = {("a", "t"): np.array([1, 2, 3]), ("b", "t"): np.array([4, 5, 1])}
    chances = {"t": (np.array([1, 2, 9]), np.array([0.5, 0.0, 0.0]))}
    made = probable_rankings(["t"], ["a", "b"], lists, chances, cutoff=1000, keep_rank=2)
    assert made.ids[0].tolist() == [1, 2, 5]
    assert made.judged[0].tolist() == [True, True, False]
    assert made.probabilities[0].tolist() == [0.5, 0.0, 0.0]


def test_refusals() -> None:
    """Of each argument."""
    probable = one_topic([0.5], [1], [1], judged=[True])
    for name, wrong in {"rank": 0, "flip": "all", "gain": "nobody"}.items():
        with pytest.raises(ArgumentError, match=name):
            discovery(probable, 1, **{"rank": 2, name: wrong})
