"""Curves of runs as numbers: interpolated precision against recall, ROC with its area."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pooler.results.measures.evaluate import list_scores
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.source import Measurable, source_of
from pooler.results.table import REASON, RUN, TOPIC, TOPICS_HIDDEN, Column, Plot, Table, View
from store.analysis.measures.average_precision import mean_average_precision
from store.analysis.measures.confusion import roc_curve
from store.analysis.measures.ranked import ELEVEN_RECALLS, precision_recall_curve
from store.errors import ArgumentError, UnknownNameError
from store.ranking import compared_scores

CurveKind = Literal["precision-recall", "roc"]
KINDS: tuple[CurveKind, ...] = get_args(CurveKind)
RECALLS = tuple(float(recall) for recall in ELEVEN_RECALLS)
"""Places at which precision, and the mean of ROC curves, are given."""
MOST_DRAWN = 6
"""Runs that one picture shows."""


def curves(
    source: Measurable,
    *,
    kinds: Sequence[CurveKind] = KINDS,
    topics: Sequence[str] | None = None,
    cutoff: int = 1000,
    progress: Progress | None = None,
) -> Curves:
    """Trace precision against recall, and recall against fallout.

    Precision at a recall is the highest at any rank that has at least this recall, as in trec_eval.
    The ROC curve is that of the documents of the list by their scores, equal scores as one step: a
    pair of a relevant and another document of one score counts half in the area. Runs in the order
    of ranks or of the file have a step for every document. What was not retrieved plays no part,
    and unjudged documents count as not relevant.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        What is measured.
    kinds : sequence of {"precision-recall", "roc"}, optional
        Which curves; default both.
    topics : sequence of str, optional
        Topics whose own curves are given beside the mean; default all that are judged.
    cutoff : int, default=1000
        Ranks that are looked at, from 1.

    Returns
    -------
    Curves
        Precision by recall, run and topic; areas; points of every ROC curve; means.

    Raises
    ------
    UnknownNameError
        If a topic is not judged.
    ArgumentError
        If a kind is another word, or none is asked for.

    Notes
    -----
    The mean curve of precision is the mean at each recall; that of ROC curves the mean at each
    fallout, of curves whose upright parts count with their upper end and whose sloping parts, the
    ties, are straight [1]_. Means are over the
    topics where a curve is defined: that of ROC needs a relevant document in the list, and another.
    The relevant documents that a recall asks for are rounded as in trec_eval, see
    `store.analysis.measures.ranked`. O(runs topics cutoff).

    References
    ----------
    .. [1] T. Fawcett, "An introduction to ROC analysis", *Pattern Recognition Letters* 27(8),
       861-874, 2006, doi:10.1016/j.patrec.2005.10.010.

    Examples
    --------
    The slides' ++--+-+-:

    >>> run = {"a": {"1": {str(rank): -float(rank) for rank in range(1, 9)}}}
    >>> found = curves((run, {"1": {"1": 1, "2": 1, "5": 1, "7": 1}}))
    >>> found.precision[:, 0, 0].round(3).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.6, 0.6, 0.571, 0.571, 0.571]
    >>> float(found.areas[0, 0])
    0.6875
    """
    if not kinds:
        raise ArgumentError("kinds", "must name one or more", list(kinds))
    for kind in kinds:
        if kind not in KINDS:
            raise ArgumentError("kinds", f"must be of {', '.join(KINDS)}", kind)
    with collect_warnings(progress) as collected:
        found = source_of(source)
        rankings = found.graded(cutoff)
        for topic in topics or ():
            if topic not in rankings.topics:
                raise UnknownNameError("judged topic", topic, rankings.topics)
        level = found.level
        is_by_score = "roc" in kinds and found.order not in ("rank", "file")
        scores = compared_scores(list_scores(found, rankings, cutoff), found.order) if is_by_score else None
    relevant, n_relevant = rankings.relevant(level), rankings.n_relevant(level)
    areas = np.full(rankings.lengths.shape, np.nan)
    points: dict[tuple[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]] = {}
    rates = np.full((len(RECALLS), *areas.shape), np.nan)
    for run, column in np.ndindex(*areas.shape) if "roc" in kinds else ():
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
        kinds=tuple(kind for kind in KINDS if kind in kinds),
        runs=tuple(rankings.tags),
        topics=tuple(rankings.topics),
        chosen=tuple(rankings.topics if topics is None else dict.fromkeys(topics)),
        precision=precision_recall_curve(relevant, n_relevant),
        areas=areas,
        rates=rates,
        points=points,
        lacks_relevant=n_relevant == 0,
        settings=frozen_settings(
            curves=[*kinds], topics=None if topics is None else [*topics], cutoff=cutoff, **found.settings()
        ),
        warnings=collected.warnings,
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

    Tables: `precision_recall`, a row a run, topic and recall; `roc`, a row a run, topic and corner
    of its curve, the mean at eleven fallouts; `areas`, a row a run and topic. The mean is topic
    `all`.
    """

    kinds: tuple[CurveKind, ...]
    runs: tuple[str, ...]
    """Axis of runs."""
    topics: tuple[str, ...]
    """Axis of topics: the judged ones."""
    chosen: tuple[str, ...]
    """Topics whose own curves the tables have."""
    precision: NDArray[np.float64]
    """Shape (11, n_runs, n_topics): interpolated precision at recalls 0, 0.1, ..., 1; NaN where R = 0."""
    areas: NDArray[np.float64]
    """Shape (n_runs, n_topics): AUC; NaN = undefined, or no ROC was asked for."""
    rates: NDArray[np.float64]
    """Shape (11, n_runs, n_topics): recall among the retrieved at fallouts 0, 0.1, ..., 1."""
    points: dict[tuple[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]]
    """By places of run and topic: fallout and recall at each corner of the ROC curve, from (0, 0)."""
    lacks_relevant: NDArray[np.bool_]
    """Shape (n_topics,)."""

    NAMES: ClassVar[tuple[str, ...]] = ("precision_recall", "roc", "areas")

    def names(self) -> tuple[str, ...]:
        """Return the names of the tables of the kinds asked for."""
        both = ("precision_recall",) if "precision-recall" in self.kinds else ()
        return (*both, *(("roc", "areas") if "roc" in self.kinds else ()))

    def shown(self) -> tuple[str, ...]:
        """Return what `pooler evaluate --curves` shows: areas stand beside the curves."""
        return tuple(name for name in self.names() if name != "areas")

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

    def _lists(self, *, of_area: bool) -> Iterator[tuple[int, int | None, dict[str, Any]]]:
        """Yield places of run and topic, ``None`` = the mean, with the cells that every row of theirs has."""
        values = self.areas if of_area else self.precision[0]
        for run, tag in enumerate(self.runs):
            for column in (*map(self.topics.index, self.chosen), None):
                places = slice(None) if column is None else slice(column, column + 1)
                n_known = int(np.count_nonzero(~np.isnan(values[run, places])))
                why = "no-relevant" if self.lacks_relevant[places].all() else "no-pairs"
                cells: dict[str, Any] = {"run": tag, "reason": None if n_known else why}
                if column is None:
                    yield run, None, cells | {"topic": "all", "topics": n_known}
                else:
                    yield run, column, cells | {"topic": self.topics[column]}

    def _at(self, by_topic: NDArray[np.float64], run: int, column: int | None) -> NDArray[np.float64]:
        """Return the curve of one list, or a run's mean."""
        return by_topic[:, run, column] if column is not None else mean_average_precision(by_topic[:, run])[0]

    def _area(self, run: int, column: int | None) -> float:
        """Return the area of one list, or a run's mean."""
        return float(self.mean_area[run] if column is None else self.areas[run, column])

    def _precision_recall(self) -> Table:
        rows = [
            {**named, "recall": recall, "precision": value}
            for run, column, named in self._lists(of_area=False)
            for recall, value in zip(RECALLS, self._at(self.precision, run, column).tolist(), strict=True)
        ]
        columns = [RUN, TOPIC, Column("recall", "float"), Column("precision", "float"), REASON, TOPICS_HIDDEN]
        return Table.of_rows("precision_recall", columns, rows)

    def _roc(self) -> Table:
        rows: list[dict[str, Any]] = []
        for run, column, named in self._lists(of_area=True):
            if named["reason"] is not None:
                rows.append(named)
                continue
            corners = (
                (np.array(RECALLS), self.mean_rates[:, run]) if column is None else self.points[run, column]
            )
            rows += [
                {**named, "fallout": false, "recall": true}
                for false, true in zip(*(axis.tolist() for axis in corners), strict=True)
            ]
        columns = [RUN, TOPIC, Column("fallout", "float"), Column("recall", "float"), REASON, TOPICS_HIDDEN]
        return Table.of_rows("roc", columns, rows)

    def _areas(self) -> Table:
        lists = self._lists(of_area=True)
        rows = [{**named, "area": self._area(run, column)} for run, column, named in lists]
        return Table.of_rows("areas", [RUN, TOPIC, Column("area", "float"), REASON, TOPICS_HIDDEN], rows)

    def _views(self, name: str) -> Sequence[View]:
        if name == "areas":
            return [View(self._areas())]
        is_roc = name == "roc"
        values = self.rates if is_roc else self.precision
        rows = [
            {
                **named,
                **dict(zip(map(str, RECALLS), map(float, self._at(values, run, column)), strict=True)),
                "area": self._area(run, column),
            }
            for run, column, named in self._lists(of_area=is_roc)
        ]
        title = "Precision by recall: the highest at any rank with at least this recall"
        notes = []
        if is_roc:
            title = "ROC: recall by fallout, both among the documents retrieved; area below the curve"
            notes = [
                "A topic's curve goes up in steps, of which the upper end counts."
                + (
                    " Every rank is a step: runs are not ordered by score."
                    if self.settings["order"] in ("rank", "file")
                    else " Documents of one score are one step, a slope, and their pairs count half in the"
                    " area."
                )
            ]
        columns = [
            RUN,
            *([TOPIC] if self.chosen else []),
            *(Column(f"{recall}", "float", digits=3) for recall in RECALLS),
            *([Column("area", "float")] if is_roc else []),
            REASON,
        ]
        table = Table.of_rows(name, columns, rows, title=title, notes=notes)
        by = "area" if is_roc else "0.0"
        return [View(table, rows=None if self.chosen else table.order(by, descending=True))]

    def plots(self) -> tuple[Plot, ...]:
        """Return the mean curves of at most six runs, the same in both pictures.

        They are the best by mean precision, or by area where that is drawn alone.
        """
        found = []
        has_precision = "precision-recall" in self.kinds
        worth = self.mean_precision.mean(axis=0) if has_precision else self.mean_area
        order = [int(run) for run in np.argsort(-worth, kind="stable") if not np.isnan(worth[run])]
        chosen = order[:MOST_DRAWN]
        by = " by mean precision" if has_precision else ""
        best = f", the {len(chosen):,} best of {len(order):,} runs{by}" if len(chosen) < len(order) else ""
        for name in self.shown():
            is_roc = name == "roc"
            values = self.mean_rates if is_roc else self.mean_precision
            if not chosen or np.isnan(values[:, chosen]).all():
                continue
            across = "fallout" if is_roc else "recall"
            columns = [Column(across, "float"), *(Column(self.runs[run], "float") for run in chosen)]
            data: dict[str, Any] = {self.runs[run]: values[:, run].tolist() for run in chosen}
            data[across] = list(RECALLS)
            found.append(
                Plot(
                    table=Table(name, columns, data),
                    kind="lines",
                    label=across,
                    parts=tuple(self.runs[run] for run in chosen),
                    axis="recall" if is_roc else "precision",
                    title=("Recall by fallout (ROC)" if is_roc else "Precision by recall") + best,
                )
            )
        return tuple(found)
