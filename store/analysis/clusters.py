r"""Purity of a clustering against known classes, and of the classes against the clustering.

Purity alone rewards clusters of one document each, inverse purity one cluster of all; their
harmonic mean F rewards neither. Two formulas go by the name of inverse purity:

============ ==================================================================================
standard     (1/N) sum over classes of the most documents that one cluster holds of it [1]_
weighted     (1/N) sum over clusters i of size_i times the share of class j*(i) that is in it, j*(i)
             being the class most frequent in the cluster
============ ==================================================================================

The slides print the second, with the bounds of its sums interchanged and N where the class size is
meant, and use it in their example (.598); the standard form gives .6 there.

References
----------
.. [1] E. Amigó, J. Gonzalo, J. Artiles and F. Verdejo, "A comparison of extrinsic clustering evaluation
   metrics based on formal constraints", *Information Retrieval* 12(4), 461-486, 2009,
   doi:10.1007/s10791-008-9066-8.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from store.analysis.ratios import quotient

InverseForm = Literal["standard", "weighted"]


@dataclass(frozen=True, slots=True)
class ClusterScores:
    """How well a clustering fits the classes."""

    purity: float
    """In (0, 1]: documents that belong to the class most frequent in their cluster."""
    inverse_purity: float
    """In (0, 1]."""
    f: float
    """In (0, 1]: harmonic mean of the two."""
    n_documents: int


def contingency_table(clusters: Sequence[Hashable], classes: Sequence[Hashable]) -> NDArray[np.int64]:
    """Count the documents of each class in each cluster, shape (n_clusters, n_classes).

    Both name one of each document, and are in the order in which they first occur among the documents.

    >>> contingency_table("aab", "xyy").tolist()
    [[1, 1], [0, 1]]
    """
    rows: dict[Hashable, int] = {}
    columns: dict[Hashable, int] = {}
    places = [
        (rows.setdefault(cluster, len(rows)), columns.setdefault(one, len(columns)))
        for cluster, one in zip(clusters, classes, strict=True)
    ]
    table = np.zeros((len(rows), len(columns)), dtype=np.int64)
    for place in places:
        table[place] += 1
    return table


def local_purities(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the share, in (0, 1], of the most frequent class in each cluster, shape (n_clusters,).

    NaN for a cluster without documents. `table` as for `cluster_scores`.
    """
    return quotient(table.max(axis=1, initial=0), table.sum(axis=1))


def cluster_scores(table: NDArray[np.int64], *, inverse: InverseForm = "standard") -> ClusterScores:
    r"""Compute purity, inverse purity and their harmonic mean; O(size of `table`).

    Parameters
    ----------
    table : ndarray of int64, shape (n_clusters, n_classes)
        Documents of each class in each cluster, one at least.
    inverse : {"standard", "weighted"}, default="standard"
        The formula of inverse purity, see the module.

    Notes
    -----
    .. math::

        \text{purity} = \frac1N \sum_i \max_j n_{ij}, \qquad
        \text{inverse purity} = \frac1N \sum_j \max_i n_{ij}
        \quad\text{or}\quad \frac1N \sum_i \frac{|i|}{|j^*(i)|} n_{i j^*(i)}

    Where several classes are the most frequent of a cluster, the weighted form takes the largest of them,
    which gives the lowest value whatever the order of the columns. Clusters of one document each have purity
    1 and a standard inverse purity of n_classes / N.

    Examples
    --------
    The slides' clusters of 7, 8 and 10 documents, classes of 8, 7 and 10:

    >>> table = np.array([[5, 1, 1], [1, 4, 3], [2, 2, 6]])
    >>> scores = cluster_scores(table, inverse="weighted")
    >>> round(scores.purity, 3), round(scores.inverse_purity, 3), round(scores.f, 3)
    (0.6, 0.598, 0.599)
    >>> cluster_scores(table).inverse_purity, cluster_scores(table).f
    (0.6, 0.6)
    """
    n_documents = int(table.sum())
    pure = int(table.max(axis=1).sum()) / n_documents
    if inverse == "standard":
        inverse_pure = int(table.max(axis=0).sum()) / n_documents
    else:
        inverse_pure = _weighted_sum(table) / n_documents
    f = 2 * pure * inverse_pure / (pure + inverse_pure)
    return ClusterScores(pure, inverse_pure, f, n_documents)


def _weighted_sum(table: NDArray[np.int64]) -> float:
    """Sum size_i n_ij / size_j over clusters, j the class most frequent in the cluster."""
    class_sizes = table.sum(axis=0)
    total = 0.0
    for row in table:
        most = int(row.max())
        if most:
            total += int(row.sum()) * most / int(class_sizes[row == most].max())
    return total
