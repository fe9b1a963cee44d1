"""Near-duplicates counted once: the worked example of the reference, and what is always so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.arrays import RankedDocuments
from store.analysis.duplicates.clusters import pair_consistency
from store.analysis.duplicates.counted_once import ClusterGrade, Treatment, counted_once
from store.analysis.measures.names import parse_measure
from store.analysis.measures.table import evaluate
from store.analysis.rankings import GradedRankings, graded_rankings
from store.errors import ArgumentError

RANKED = RankedDocuments(
    ("X", "Y"), {("X", "1"): np.array([0, 1, 2, 3, 4, 5]), ("Y", "1"): np.array([0, 2, 3, 5, 6, 1])}, {}, {}
)
GRADES = {"1": (np.arange(7), np.array([1, 1, 0, 1, 0, 1, 0]))}
CLUSTERS = {0: 0, 1: 0, 3: 3, 4: 3}
"""Clusters {a, b} and {d, e}; of a to g relevant are a, b, d and f."""


def ap(arrays: GradedRankings) -> list[Fraction]:
    """Return the average precision of X and Y, as a fraction."""
    (found,) = evaluate(arrays, [parse_measure("AP")])
    return [Fraction(float(value)).limit_denominator(1000) for value in found.values[:, 0]]


def once(treatment: Treatment, grade: ClusterGrade = "max") -> list[Fraction]:
    """Measure with near-duplicates counted once."""
    return ap(counted_once(RANKED, GRADES, CLUSTERS, treatment, grade=grade))


def test_reference_vector() -> None:
    """The values printed in the reference: the order turns with the novelty principle."""
    kept = graded_rankings(["1"], RANKED.tags, RANKED.rankings, GRADES, cutoff=1000)
    assert ap(kept) == [Fraction(41, 48), Fraction(37, 48)]
    assert once("novelty") == [Fraction(2, 3), Fraction(29, 36)]
    assert once("drop") == [Fraction(29, 36), Fraction(29, 36)]
    assert once("novelty", "min") == [Fraction(2, 3), Fraction(3, 4)]
    assert once("drop", "min") == [Fraction(3, 4), Fraction(3, 4)]
    propagated = {"1": (np.arange(7), np.array([1, 1, 0, 1, 1, 1, 0]))}
    with_e = graded_rankings(["1"], RANKED.tags, RANKED.rankings, propagated, cutoff=1000)
    assert ap(with_e) == [Fraction(263, 300), Fraction(37, 60)]


def test_reference_vector_of_consistency() -> None:
    """Of {a, b} both are 1, of {d, e} one is: one of two pairs."""
    found = pair_consistency([(1, 1), (1, 0)], [0, 1])
    assert (found.pairs, found.same, found.share) == (2, 1, 0.5)


def test_consistency_has_no_order_within_a_pair() -> None:
    """Turning pairs round changes nothing; without a pair there is no share, nor an alpha."""
    pairs = [(0, 2), (1, 1), (2, 2), (0, 1), (0, 0)]
    assert pair_consistency(pairs, [0, 1, 2]) == pair_consistency([(b, a) for a, b in pairs], [0, 1, 2])
    nothing = pair_consistency([], [0, 1])
    assert (nothing.share, nothing.alpha, nothing.reason) == (None, None, "no-common-docs")
    with pytest.raises(ArgumentError, match="must be of grades"):
        pair_consistency([(0, 3)], [0, 1])


@given(
    ranking=st.permutations(range(8)),
    grades=st.lists(st.integers(0, 2), min_size=8, max_size=8),
    cluster=st.lists(st.integers(0, 7), min_size=8, max_size=8),
    cutoff=st.integers(1, 9),
    treatment=st.sampled_from(["novelty", "drop"]),
)
def test_ranks_and_r_follow_from_clusters(
    ranking: list[int], grades: list[int], cluster: list[int], cutoff: int, treatment: Treatment
) -> None:
    """R is the number of clusters; each scores once; novelty keeps ranks, and dropping closes them up."""
    ranked = RankedDocuments(("x",), {("x", "1"): np.array(ranking)}, {}, {})
    first = {label: cluster.index(label) for label in cluster}
    found = counted_once(
        ranked,
        {"1": (np.arange(8), np.array(grades))},
        {document: first[label] for document, label in enumerate(cluster)},
        treatment,
        cutoff=cutoff,
    )
    best = {
        label: max(g for g, one in zip(grades, cluster, strict=True) if one == label) for label in cluster
    }
    assert sorted(found.judged_grades[0].tolist()) == sorted(best.values())
    seen: list[int] = []
    expected = []
    for document in ranking:
        label = cluster[document]
        if label not in seen:
            expected.append(best[label])
        elif treatment == "novelty":
            expected.append(0)
        seen.append(label)
    length = int(found.lengths[0, 0])
    assert found.grades[0, 0, :length].tolist() == expected[:cutoff]
    assert found.judged[0, 0, :length].all()


def test_unjudged_clusters_stay_unjudged() -> None:
    """A cluster without a grade gets none; one with a grade gives it to the member that was not judged."""
    ranked = RankedDocuments(("x",), {("x", "1"): np.array([1, 2, 3])}, {}, {})
    found = counted_once(ranked, {"1": (np.array([9]), np.array([2]))}, {1: 9, 9: 9, 2: 3, 3: 3}, "novelty")
    assert (found.grades.tolist(), found.judged.tolist()) == ([[[2, 0, 0]]], [[[True, False, False]]])


def test_runs_without_a_topic_have_length_0() -> None:
    """As elsewhere: the run scores 0 there."""
    ranked = RankedDocuments(("x", "y"), {("x", "1"): np.array([1])}, {}, {})
    found = counted_once(ranked, GRADES, {}, "drop")
    assert found.lengths.tolist() == [[1], [0]]


def test_other_words_are_refused() -> None:
    """There are two treatments and two grades of a cluster."""
    for more in ({"treatment": "keep"}, {"treatment": "drop", "grade": "mean"}):
        with pytest.raises(ArgumentError, match="must be"):
            counted_once(RANKED, GRADES, CLUSTERS, **more)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ArgumentError, match="cutoff"):
        counted_once(RANKED, GRADES, CLUSTERS, "drop", cutoff=0)
