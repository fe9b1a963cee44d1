"""Clusters against classes: the slides' example in both forms, plain loops, and what is no pair of files."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pooler as p
from store.analysis.clusters import cluster_scores, contingency_table
from store.errors import FormatError, PoolerError

SLIDES = np.array([[5, 1, 1], [1, 4, 3], [2, 2, 6]])
"""Documents of each class in each cluster: margins and majorities are printed; the rest fills them."""


def files(folder: Path) -> tuple[Path, Path]:
    """Write the slides' 25 documents."""
    pairs = [(i, j) for i, row in enumerate(SLIDES) for j, n in enumerate(row) for _ in range(n)]
    found, truth = folder / "clusters", folder / "classes"
    found.write_text("".join(f"d{number} c{i}\n" for number, (i, _) in enumerate(pairs)))
    backwards = list(enumerate(pairs))[::-1]  # the order of lines does not matter
    truth.write_text("".join(f"d{number} k{j}\n" for number, (_, j) in backwards))
    return found, truth


@pytest.mark.vector("slides, purity: local 5/7 4/8 6/10, global .6, inverse .598, F .599")
def test_clusters_of_the_slides(tmp_path: Path) -> None:
    """Purity 15/25; inverse .6 and F .6; weighted (7 5/8 + 8 4/7 + 10 6/10)/25 = .597857, F .598927."""
    found = p.evaluate_clusters(*files(tmp_path))
    (row,) = found.table("scores").to_records()
    inverse = (7 * 5 / 8 + 8 * 4 / 7 + 10 * 6 / 10) / 25
    assert inverse == pytest.approx(0.597857, abs=5e-7)
    assert row == {
        "purity": 0.6,
        "inverse_purity": 0.6,
        "f": pytest.approx(0.6),
        "weighted_inverse_purity": pytest.approx(inverse),
        "weighted_f": pytest.approx(0.598927, abs=5e-7),
        "documents": 25,
        "clusters": 3,
        "classes": 3,
    }
    rows = found.table("clusters").to_records()
    assert [row["purity"] for row in rows] == [5 / 7, 4 / 8, 6 / 10]
    assert [row["class"] for row in rows] == ["k0", "k1", "k2"]


def test_documents_of_one_file_alone_are_named(tmp_path: Path) -> None:
    """In both directions; and nothing at all is a fault."""
    with pytest.raises(PoolerError, match="1 document with a cluster and no class, the first `y`"):
        p.evaluate_clusters({"x": "1", "y": "1"}, {"x": "a"})
    with pytest.raises(PoolerError, match="1 document with a class and no cluster, the first `y`"):
        p.evaluate_clusters({"x": "1"}, {"x": "a", "y": "b"})
    with pytest.raises(PoolerError, match="no document"):
        p.evaluate_clusters({}, {})
    file = tmp_path / "file"
    file.write_text("x 1\nx 2\n")
    with pytest.raises(FormatError, match="expected each document once, got `x`, which line 1 has with 1"):
        p.evaluate_clusters(file, {"x": "a"})
    file.write_text("x\n")
    with pytest.raises(FormatError, match=r"expected 2 fields \(docno cluster\), got 1"):
        p.evaluate_clusters(file, {"x": "a"})


LABELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30)


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
