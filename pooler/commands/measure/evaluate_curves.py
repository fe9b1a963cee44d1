"""How well clusters of documents fit their classes; curves of runs as numbers, and their areas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Lenient, Measured, Option, command
from pooler.commands.measure.measured import list_scores
from pooler.result import Result, facts_view, frozen_settings
from pooler.tables import REASON, RUN, TOPIC, TOPICS_HIDDEN, Column, Plot, Table, View
from store.analysis.clusters import ClusterScores, cluster_scores, contingency_table, local_purities
from store.analysis.measures.average_precision import mean_average_precision
from store.analysis.measures.confusion import roc_curve
from store.analysis.measures.ranked import ELEVEN_RECALLS, precision_recall_curve
from store.errors import PoolerError
from store.formats.pairs import read_labels
from store.ranking import compared_scores
from store.text import counted

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
        raise PoolerError("there is no document", hint="a line is `docno cluster`, and `docno class`")
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


RECALLS = tuple(float(recall) for recall in ELEVEN_RECALLS)
"""Places at which precision, and the mean of ROC curves, are given."""
MOST_DRAWN = 6
"""Runs that one picture shows."""


@command
def evaluate_curves(source: Measured, *, cutoff: Cutoff = None) -> Curves:
    """Trace precision by recall, and recall by fallout (ROC) with its area.

    Precision at a recall is the highest at any rank that has at least this recall, as in trec_eval. The ROC
    curve is that of the documents of the list by their scores, equal scores as one step: a pair of a
    relevant and another document of one score counts half in the area. Runs in the order of ranks or of the
    file have a step for every document. What was not retrieved plays no part, and unjudged documents count
    as not relevant.

    Example: pooler evaluate curves bm25-words tfidf-words --qrels alice --plot curves.svg

    Notes
    -----
    The mean curve of precision is the mean at each recall; that of ROC curves the mean at each
    fallout, of curves whose upright parts count with their upper end and whose sloping parts, the
    ties, are straight [1]_. Means are over the topics where a curve is defined: that of ROC needs a relevant
    document in the list, and another. The relevant documents that a recall asks for are rounded as in
    trec_eval, see `store.analysis.measures.ranked`. O(runs topics cutoff).

    References
    ----------
    .. [1] T. Fawcett, "An introduction to ROC analysis", *Pattern Recognition Letters* 27(8),
       861-874, 2006, doi:10.1016/j.patrec.2005.10.010.

    Examples
    --------
    The slides' ++--+-+-:

    >>> from pooler import evaluate_curves
    >>> run = {"a": {"1": {str(rank): -float(rank) for rank in range(1, 9)}}}
    >>> found = evaluate_curves((run, {"1": {"1": 1, "2": 1, "5": 1, "7": 1}}))
    >>> found.precision[:, 0, 0].round(3).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.6, 0.6, 0.571, 0.571, 0.571]
    >>> float(found.areas[0, 0])
    0.6875
    """
    look = 1000 if cutoff is None else cutoff
    rankings, level = source.graded(look), source.level
    scores = None
    if source.order not in ("rank", "file"):
        scores = compared_scores(list_scores(source, rankings, look), source.order)
    relevant, n_relevant = rankings.relevant(level), rankings.n_relevant(level)
    areas = np.full(rankings.lengths.shape, np.nan)
    points: dict[tuple[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    rates = np.full((len(RECALLS), *areas.shape), np.nan)
    for run, column in np.ndindex(*areas.shape):
        length = int(rankings.lengths[run, column])
        by = -np.arange(1.0, length + 1) if scores is None else scores[run, column, :length]
        curve = roc_curve(by, relevant[run, column, :length])
        if curve.area is None:
            continue
        areas[run, column] = curve.area
        false, true = _corners(curve.false_positive_rate, curve.true_positive_rate)
        points[run, column] = false, true
        rates[:, run, column] = _upper(false, true)
    return Curves(
        runs=tuple(rankings.tags),
        topics=tuple(rankings.topics),
        precision=precision_recall_curve(relevant, n_relevant),
        areas=areas,
        rates=rates,
        points=points,
        lacks_relevant=n_relevant == 0,
        settings=frozen_settings(cutoff=look, **source.settings()),
    )


def _corners(
    false: NDArray[np.float64], true: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Leave out points between two others of one upright or level line."""
    is_upright, is_level = np.diff(false) == 0, np.diff(true) == 0
    is_between = (is_upright[1:] & is_upright[:-1]) | (is_level[1:] & is_level[:-1])
    kept = np.concatenate([[True], ~is_between, [True]])
    return false[kept], true[kept]


def _upper(false: NDArray[np.float64], true: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the highest recall of a curve at each of the fallouts 0, 0.1, ..., 1."""
    at = np.array(RECALLS)
    # A fallout that is a tenth but for rounding is that tenth.
    last = np.searchsorted(false, at + 1e-12, side="right") - 1
    following = np.minimum(last + 1, false.size - 1)
    rise, run = true[following] - true[last], false[following] - false[last]
    part = np.divide(np.maximum(at - false[last], 0), run, out=np.zeros(at.size), where=run > 0)
    return np.asarray(true[last] + part * rise)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Curves(Result):
    """Curves of runs.

    Tables: `precision_recall`, a row a run and recall, the mean; `roc`, a row a run and one of eleven
    fallouts, the mean; `areas`, a row a run; `topics`, a row a run and topic: precision at each recall, and
    the area; `corners`, a row a run, topic and corner of its ROC curve.
    """

    runs: tuple[str, ...]
    """Axis of runs."""
    topics: tuple[str, ...]
    """Axis of topics: the judged ones."""
    precision: NDArray[np.float64]
    """Shape (11, n_runs, n_topics): interpolated precision at recalls 0, 0.1, ..., 1; NaN where R = 0."""
    areas: NDArray[np.float64]
    """Shape (n_runs, n_topics): AUC; NaN = undefined."""
    rates: NDArray[np.float64]
    """Shape (11, n_runs, n_topics): recall among the retrieved at fallouts 0, 0.1, ..., 1."""
    points: dict[tuple[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]]
    """By places of run and topic: fallout and recall at each corner of the ROC curve, from (0, 0)."""
    lacks_relevant: NDArray[np.bool_]
    """Shape (n_topics,)."""

    SHOWN = 2
    HAS_TOPICS = True

    @property
    def mean_precision(self) -> NDArray[np.float64]:
        """Shape (11, n_runs): over the topics that have a relevant document."""
        return mean_average_precision(self.precision)[0]

    @property
    def mean_rates(self) -> NDArray[np.float64]:
        """Shape (11, n_runs): over the topics where the area is defined."""
        return mean_average_precision(self.rates)[0]

    @property
    def mean_area(self) -> NDArray[np.float64]:
        """Shape (n_runs,): over the topics where it is defined."""
        return mean_average_precision(self.areas)[0]

    def _tables(self) -> Iterator[Table]:
        yield self._of_means("precision_recall", "recall", "precision", self.mean_precision)
        yield self._of_means("roc", "fallout", "recall", self.mean_rates)
        yield Table.of_rows(
            "areas",
            [RUN, Column("area", "float"), REASON, TOPICS_HIDDEN],
            [
                {**cells, "area": area}
                for cells, area in zip(self._runs(self.areas), self.mean_area.tolist(), strict=True)
            ],
        )
        yield self._of_topics()
        rows = [
            {"run": self.runs[run], "topic": self.topics[topic], "fallout": false, "recall": true}
            for (run, topic), axes in self.points.items()
            for false, true in zip(*(axis.tolist() for axis in axes), strict=True)
        ]
        yield Table.of_rows(
            "corners", [RUN, TOPIC, Column("fallout", "float"), Column("recall", "float")], rows
        )

    def _runs(self, values: NDArray[np.float64]) -> list[dict[str, Any]]:
        """Return each run with the number of topics of its mean, or why there is none."""
        n_known = np.count_nonzero(~np.isnan(values), axis=1).tolist()
        why = "no-relevant" if self.lacks_relevant.all() else "no-pairs"
        return [
            {"run": run, "reason": None if n else why, "topics": n}
            for run, n in zip(self.runs, n_known, strict=True)
        ]

    def _of_means(self, name: str, across: str, up: str, means: NDArray[np.float64]) -> Table:
        """Make a row a run and place of the mean curve; people see a row a run."""
        is_roc = name == "roc"
        of_runs = self._runs(self.areas if is_roc else self.precision[0])
        rows: list[dict[str, Any]] = []
        for cells, values in zip(of_runs, means.T.tolist(), strict=True):
            lacks = is_roc and cells["reason"] is not None
            points = [(None, None)] if lacks else zip(RECALLS, values, strict=True)
            rows += [{**cells, across: place, up: value} for place, value in points]
        columns = [RUN, Column(across, "float"), Column(up, "float"), REASON, TOPICS_HIDDEN]
        title = "Precision by recall: the highest at any rank with at least this recall"
        notes = []
        if is_roc:
            title = "ROC: recall by fallout, both among the documents retrieved; area below the curve"
            steps = " Documents of one score are one step, a slope, and their pairs count half in the area."
            if self.settings["order"] in ("rank", "file"):
                steps = " Every rank is a step: runs are not ordered by score."
            notes = ["A topic's curve goes up in steps, of which the upper end counts." + steps]
        area = Column("area", "float")
        wide = {
            RUN: self.runs,
            **{
                Column(f"{place}", "float", digits=3, can_go=int(is_roc) * (at % 2)): means[at]
                for at, place in enumerate(RECALLS)
            },
            **({area: self.mean_area} if is_roc else {}),
            REASON: [cells["reason"] for cells in of_runs],
        }
        shown = Table.of_columns(name, wide, title=title, notes=notes)
        best_first = shown.order("area" if is_roc else "0.0", descending=True)
        return Table.of_rows(name, columns, rows).seen_as(View(shown, rows=best_first))

    def _of_topics(self) -> Table:
        n_runs, n_topics = self.areas.shape
        reasons = np.where(self.lacks_relevant, "no-relevant", "no-pairs").tolist() * n_runs
        areas = self.areas.ravel()
        columns = {
            RUN: np.repeat(self.runs, n_topics).tolist(),
            TOPIC: [*self.topics] * n_runs,
            **{
                Column(f"precision_{place}", "float", f"{place}", digits=3): self.precision[at].ravel()
                for at, place in enumerate(RECALLS)
            },
            Column("area", "float"): areas,
            REASON: [why if np.isnan(area) else None for why, area in zip(reasons, areas, strict=True)],
        }
        title = "Precision by recall, and the area below the ROC curve"
        return Table.of_columns("topics", columns, title=title)

    def plots(self) -> tuple[Plot, ...]:
        """Return the mean curves of at most six runs, those of the best mean precision."""
        worth = self.mean_precision.mean(axis=0)
        order = [int(run) for run in np.argsort(-worth, kind="stable") if not np.isnan(worth[run])]
        chosen = order[:MOST_DRAWN]
        best = ""
        if len(chosen) < len(order):
            best = f", the {len(chosen):,} best of {len(order):,} runs by mean precision"
        found = []
        for name, across, up, title, values in (
            ("precision_recall", "recall", "precision", "Precision by recall", self.mean_precision),
            ("roc", "fallout", "recall", "Recall by fallout (ROC)", self.mean_rates),
        ):
            if not chosen or np.isnan(values[:, chosen]).all():
                continue
            columns = [Column(across, "float"), *(Column(self.runs[run], "float") for run in chosen)]
            data: dict[str, Any] = {self.runs[run]: values[:, run].tolist() for run in chosen}
            data[across] = list(RECALLS)
            found.append(
                Plot(
                    table=Table(name, columns, data),
                    kind="lines",
                    label=across,
                    parts=tuple(self.runs[run] for run in chosen),
                    axis=up,
                    title=title + best,
                )
            )
        return tuple(found)
