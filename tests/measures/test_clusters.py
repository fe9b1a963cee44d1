"""Clusters against classes: the slides' example, and what is no pair of files."""

from __future__ import annotations

from pathlib import Path

import pytest

import pooler as p
from store.errors import FormatError, PoolerError

SLIDES = ((5, 1, 1), (1, 4, 3), (2, 2, 6))
"""Documents of each class in each cluster."""


def files(folder: Path) -> tuple[Path, Path]:
    """Write the slides' 25 documents."""
    pairs = [(i, j) for i, row in enumerate(SLIDES) for j, n in enumerate(row) for _ in range(n)]
    found, truth = folder / "clusters", folder / "classes"
    found.write_text("".join(f"d{number} c{i}\n" for number, (i, _) in enumerate(pairs)))
    backwards = list(enumerate(pairs))[::-1]  # the order of lines does not matter
    truth.write_text("".join(f"d{number} k{j}\n" for number, (_, j) in backwards))
    return found, truth


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


def test_clusters_of_one_document_each() -> None:
    """Purity 1, inverse purity K/N."""
    found = p.evaluate_clusters({d: d for d in "wxyz"}, {"w": "a", "x": "a", "y": "b", "z": "b"})
    assert (found.standard.purity, found.standard.inverse_purity) == (1.0, 0.5)


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
