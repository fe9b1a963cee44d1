"""How well clusters of documents fit their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pooler.results.result import Result, facts_view, frozen_settings
from pooler.results.table import Column, Table, View
from store.analysis.clusters import ClusterScores, cluster_scores, contingency_table, local_purities
from store.errors import PoolerError
from store.formats.pairs import read_labels
from store.text import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Labels = str | Path | Mapping[str, str]
"""A file of lines `docno label`, or the label of each docno."""


def clusters(clusters: Labels, classes: Labels, *, lenient: bool = False) -> Clusters:
    """Measure how well clusters of documents fit their classes.

    Parameters
    ----------
    clusters : str, Path or mapping of docno to cluster
        Which cluster each document was put into: a file of lines ``docno cluster``, or in memory.
    classes : str, Path or mapping of docno to class
        Which class it truly belongs to.
    lenient : bool, default=False
        In files, lines that begin with ``#`` are comments, fields after the second ignored.

    Returns
    -------
    Clusters
        Purity, inverse purity in both of its forms, F; and the purity of every cluster.

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
    >>> found = clusters({"x": "1", "y": "1", "z": "2"}, {"x": "wine", "y": "beer", "z": "beer"})
    >>> round(found.standard.purity, 4), round(found.standard.inverse_purity, 4)
    (0.6667, 0.6667)
    """
    found, truth = _labels(clusters, "cluster", lenient), _labels(classes, "class", lenient)
    for one, other, has, lacks in ((found, truth, "cluster", "class"), (truth, found, "class", "cluster")):
        if alone := [docno for docno in one if docno not in other]:
            n_alone = counted(len(alone), "document")
            message = f"{n_alone} with a {has} and no {lacks}, the first `{alone[0]}`"
            raise PoolerError(message, hint="both have to name the same documents")
    if not found:
        message = "there is no document"
        raise PoolerError(message, hint="a line is `docno cluster`, and `docno class`")
    labels = [truth[docno] for docno in found]
    counts = contingency_table([*found.values()], labels)
    return Clusters(
        clusters=tuple(dict.fromkeys(found.values())),
        classes=tuple(dict.fromkeys(labels)),
        counts=counts,
        standard=cluster_scores(counts),
        weighted=cluster_scores(counts, inverse="weighted"),
        settings=frozen_settings(clusters=_named(clusters), classes=_named(classes)),
    )


def _labels(given: Labels, kind: str, lenient: bool) -> Mapping[str, str]:  # noqa: FBT001 - handed on
    return given if isinstance(given, Mapping) else read_labels(str(given), kind, lenient=lenient)


def _named(given: Labels) -> str | None:
    return None if isinstance(given, Mapping) else str(given)


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

    NAMES: ClassVar[tuple[str, ...]] = ("scores", "clusters", "counts")

    def shown(self) -> tuple[str, ...]:
        """Return what `pooler clusters` shows."""
        return ("scores", "clusters")

    def _row(self) -> dict[str, Any]:
        return {
            "purity": self.standard.purity,
            "inverse_purity": self.standard.inverse_purity,
            "f": self.standard.f,
            "weighted_inverse_purity": self.weighted.inverse_purity,
            "weighted_f": self.weighted.f,
            "documents": self.standard.n_documents,
            "clusters": len(self.clusters),
            "classes": len(self.classes),
        }

    def _scores(self) -> Table:
        row = self._row()
        kinds = {name: "int" if isinstance(value, int) else "float" for name, value in row.items()}
        return Table.of_rows("scores", [Column(name, kind) for name, kind in kinds.items()], [row])  # type: ignore[arg-type]  # a kind

    def _clusters(self) -> Table:
        most = self.counts.argmax(axis=1)
        columns = {
            Column("cluster"): list(self.clusters),
            Column("documents", "int"): self.counts.sum(axis=1),
            Column("class", about="the most frequent in the cluster; of equals the one named first"): [
                self.classes[place] for place in most
            ],
            Column("of_class", "int", "of it", "documents of that class"): self.counts.max(axis=1),
            Column("purity", "float"): local_purities(self.counts),
        }
        return Table.of_columns("clusters", columns)

    def _counts(self) -> Table:
        rows = [
            {"cluster": cluster, "class": one, "documents": int(self.counts[row, column])}
            for row, cluster in enumerate(self.clusters)
            for column, one in enumerate(self.classes)
        ]
        columns = [Column("cluster"), Column("class"), Column("documents", "int")]
        return Table.of_rows("counts", columns, rows)

    def _views(self, name: str) -> Sequence[View]:
        if name != "scores":
            return [View(self._table(name))]
        note = "weighted: inverse purity with clusters weighted by their size, another form of it"
        return [facts_view(self._row(), [note])]
