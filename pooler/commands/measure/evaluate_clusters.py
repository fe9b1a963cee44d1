"""How well clusters of documents fit their classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pooler.command import Lenient, Option, command
from pooler.result import Result, facts_view, frozen_settings
from pooler.tables import Column, Table
from store.analysis.clusters import ClusterScores, cluster_scores, contingency_table, local_purities
from store.errors import PoolerError
from store.formats.pairs import read_labels
from store.text import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Labels = str | Path | Mapping[str, str]
"""A file of lines `docno label`, or the label of each docno."""


@command
def evaluate_clusters(
    clusters: Annotated[Labels, Option("CLUSTERS", read=lambda _name, file: file)],
    classes: Annotated[Labels, Option("CLASSES", read=lambda _name, file: file)],
    *,
    lenient: Lenient = False,
) -> Clusters:
    """Measure how well clusters of documents fit their classes.

    Purity: the share of documents that belong to the most frequent class of their cluster. Inverse
    purity: the share that lies in the cluster with most documents of their class. F: their harmonic
    mean. Needs no collection; both files name the same documents.

    Example: pooler evaluate clusters clusters.txt classes.txt

    clusters : A file of lines `docno cluster`.
    classes : A file of lines `docno class`.

    Raises
    ------
    PoolerError
        If a document has a cluster and no class, or a class and no cluster; or there is none.
    FormatError
        If a file has lines of another form, or a document twice.

    Notes
    -----
    Both forms of inverse purity are in `store.analysis.clusters`: the standard one, and
    the weighted one of the slides. F is the harmonic mean of purity and one of them.

    Examples
    --------
    >>> from pooler import evaluate_clusters
    >>> found = evaluate_clusters({"x": "1", "y": "1", "z": "2"}, {"x": "wine", "y": "beer", "z": "beer"})
    >>> round(found.standard.purity, 4), round(found.standard.inverse_purity, 4)
    (0.6667, 0.6667)
    """
    found, truth = (
        given if isinstance(given, Mapping) else read_labels(str(given), kind, lenient=lenient)
        for given, kind in ((clusters, "cluster"), (classes, "class"))
    )
    for one, other, has, lacks in ((found, truth, "cluster", "class"), (truth, found, "class", "cluster")):
        if alone := [docno for docno in one if docno not in other]:
            n_alone = counted(len(alone), "document")
            message = f"{n_alone} with a {has} and no {lacks}, the first `{alone[0]}`"
            raise PoolerError(message, hint="both have to name the same documents")
    if not found:
        message = "there is no document"
        raise PoolerError(message, hint="a line is `docno cluster`, and `docno class`")
    labels = [truth[docno] for docno in found]
    files = [None if isinstance(given, Mapping) else str(given) for given in (clusters, classes)]
    counts = contingency_table([*found.values()], labels)
    return Clusters(
        clusters=tuple(dict.fromkeys(found.values())),
        classes=tuple(dict.fromkeys(labels)),
        counts=counts,
        standard=cluster_scores(counts),
        weighted=cluster_scores(counts, inverse="weighted"),
        settings=frozen_settings(clusters=files[0], classes=files[1]),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Clusters(Result):
    """Clusters against classes.

    Tables: `scores`, one row; `clusters`, a row a cluster; `counts`, a row a cluster and class.
    """

    clusters: tuple[str, ...]
    """Axis of clusters."""
    classes: tuple[str, ...]
    """Axis of classes."""
    counts: NDArray[np.int64]
    """Shape (n_clusters, n_classes): documents."""
    standard: ClusterScores
    """With the standard inverse purity."""
    weighted: ClusterScores
    """With the inverse purity of the slides."""

    SHOWN = 2

    def _tables(self) -> Iterator[Table]:
        row = {
            "purity": self.standard.purity,
            "inverse_purity": self.standard.inverse_purity,
            "f": self.standard.f,
            "weighted_inverse_purity": self.weighted.inverse_purity,
            "weighted_f": self.weighted.f,
            "documents": self.standard.n_documents,
            "clusters": len(self.clusters),
            "classes": len(self.classes),
        }
        columns = [
            Column(name, "int" if name in ("documents", "clusters", "classes") else "float") for name in row
        ]
        note = "weighted: inverse purity with clusters weighted by their size, another form of it"
        yield Table.of_rows("scores", columns, [row]).seen_as(facts_view(row, [note]))
        most = self.counts.argmax(axis=1)
        yield Table.of_columns(
            "clusters",
            {
                Column("cluster"): list(self.clusters),
                Column("documents", "int"): self.counts.sum(axis=1),
                Column("class", about="the most frequent in the cluster; of equals the one named first"): [
                    self.classes[place] for place in most
                ],
                Column("of_class", "int", "of it", "documents of that class"): self.counts.max(axis=1),
                Column("purity", "float"): local_purities(self.counts),
            },
        )
        rows = [
            {"cluster": cluster, "class": one, "documents": int(self.counts[place, column])}
            for place, cluster in enumerate(self.clusters)
            for column, one in enumerate(self.classes)
        ]
        columns = [Column("cluster"), Column("class"), Column("documents", "int")]
        yield Table.of_rows("counts", columns, rows)
