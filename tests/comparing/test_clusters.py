"""Purity and inverse purity: the slides' example in both forms, and plain loops."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.analysis.clusters import cluster_scores, contingency_table, local_purities

LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30)
SLIDES = np.array([[5, 1, 1], [1, 4, 3], [2, 2, 6]])
"""The margins and the majorities are printed; the other cells are one way to fill them."""


@pytest.mark.vector("slides, purity: local 5/7 4/8 6/10, global .6, inverse .598, F .599")
def test_example_of_the_slides() -> None:
    """All printed values come out with the printed formula; the standard one gives .6 and .6."""
    assert SLIDES.sum(axis=1).tolist() == [7, 8, 10]
    assert SLIDES.sum(axis=0).tolist() == [8, 7, 10]
    assert local_purities(SLIDES).tolist() == [5 / 7, 4 / 8, 6 / 10]
    weighted = cluster_scores(SLIDES, inverse="weighted")
    by_hand = (Fraction(7, 8) * 5 + Fraction(8, 7) * 4 + Fraction(10, 10) * 6) / 25
    assert weighted.purity == 0.6
    assert weighted.inverse_purity == pytest.approx(float(by_hand), rel=1e-15)
    assert weighted.inverse_purity == pytest.approx(0.597857, abs=5e-7)
    assert weighted.f == pytest.approx(0.598927, abs=5e-7)
    standard = cluster_scores(SLIDES)
    assert (standard.purity, standard.inverse_purity, standard.f) == (0.6, 0.6, 0.6)
    assert standard.n_documents == 25


@given(LABELS)
def test_scores_equal_plain_loops(labels: list[tuple[int, int]]) -> None:
    """Every value is its definition, on sets of documents."""
    clusters, classes = [one for one, _ in labels], [one for _, one in labels]
    n = len(labels)

    def largest(groups: list[int], others: list[int]) -> int:
        return sum(
            max(sum(pair == (g, o) for pair in zip(groups, others, strict=True)) for o in others)
            for g in set(groups)
        )

    table = contingency_table(clusters, classes)
    scores = cluster_scores(table)
    assert scores.purity == largest(clusters, classes) / n
    assert scores.inverse_purity == largest(classes, clusters) / n
    total = Fraction(0)
    for cluster in set(clusters):
        counts = {o: labels.count((cluster, o)) for o in set(classes)}
        most = max(counts.values())
        size = max(classes.count(o) for o in counts if counts[o] == most)
        total += Fraction(clusters.count(cluster) * most, size)
    weighted = cluster_scores(table, inverse="weighted")
    assert weighted.inverse_purity == pytest.approx(float(total / n), rel=1e-14)
    for one in (scores, weighted):
        assert 0 < one.inverse_purity <= 1
        harmonic = 2 / (1 / one.purity + 1 / one.inverse_purity)
        assert one.f == pytest.approx(harmonic, rel=1e-14)
