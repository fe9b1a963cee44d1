"""The 2x2 table of every list at a cut, and the ratios of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pooler.results.reasons import joined
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.source import Measurable, Source, source_of
from pooler.results.table import REASON, RUN, TOPIC, Column, Table, cells_where
from store.analysis.measures import confusion as sets
from store.analysis.measures.confusion import Confusion
from store.analysis.rankings import GradedRankings
from store.errors import ArgumentError


def cut(
    source: Measurable,
    rank: int | None = None,
    *,
    threshold: float | None = None,
    size: int | None = None,
    beta: float = 1.0,
    cutoff: int = 1000,
    progress: Progress | None = None,
) -> Cuts:
    """Cut every list at a rank or a score, and count what is relevant on both sides.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        What is measured.
    rank : int, optional
        Ranks that make the retrieved set, from 1; default all.
    threshold : float, optional
        Instead: documents whose score is at least this are retrieved.
    size : int, optional
        Documents of the whole collection. Without it TN is not known, and what needs it undefined.
    beta : float, default=1.0
        How much more recall counts than precision in F.
    cutoff : int, default=1000
        Ranks that are looked at, from 1.

    Returns
    -------
    Cuts
        TP, FP, FN and TN by run and topic.

    Raises
    ------
    ArgumentError
        If both a rank and a threshold are given, the threshold is NaN, runs are not ordered by
        their scores, or the collection is smaller than what is retrieved or relevant.

    Notes
    -----
    The ratios are those of `store.analysis.measures.confusion`; 0/0 has a reason, no number.
    Unjudged documents count as not relevant.

    Examples
    --------
    The slides' ++--+-+- cut at rank 4, all 8 documents being the collection:

    >>> run = {"a": {"1": {str(rank): -float(rank) for rank in range(1, 9)}}}
    >>> found = cut((run, {"1": {"1": 1, "2": 1, "5": 1, "7": 1}}), 4, size=8)
    >>> found.table("cut").select(["tp", "fp", "fn", "tn", "precision", "accuracy"]).to_records()
    [{'tp': 2, 'fp': 2, 'fn': 2, 'tn': 2, 'precision': 0.5, 'accuracy': 0.5}]
    """
    if rank is not None and threshold is not None:
        raise ArgumentError("threshold", "cannot be given together with a rank", threshold)
    if rank is not None and rank < 1:
        raise ArgumentError("rank", "must be an integer >= 1", rank)
    if threshold is not None and np.isnan(threshold):
        raise ArgumentError("threshold", "must be a number", threshold)
    with collect_warnings(progress) as collected:
        found = source_of(source)
        if threshold is not None and found.order in ("rank", "file"):
            requirement = "needs runs in the order of their scores, not --order"
            raise ArgumentError("threshold", requirement, found.order)
        look = max(cutoff, rank or 1)
        rankings = found.graded(look)
        retrieved = rankings.lengths if rank is None else np.minimum(rankings.lengths, rank)
        if threshold is not None:
            above = list_scores(found, rankings, look) >= threshold  # NaN is not
            retrieved = np.minimum(retrieved, np.count_nonzero(above, axis=-1))
        level = found.level
    within = np.arange(rankings.grades.shape[-1]) < retrieved[..., None]
    relevant, n_relevant = rankings.relevant(level) & within, rankings.n_relevant(level)
    seen = int((retrieved + n_relevant - np.count_nonzero(relevant, axis=-1)).max(initial=0))
    if size is not None and size < seen:
        requirement = f"must be at least the {seen} documents retrieved or relevant for a topic"
        raise ArgumentError("size", requirement, size)
    return Cuts(
        runs=tuple(rankings.tags),
        topics=tuple(rankings.topics),
        counts=sets.confusion_at(relevant, n_relevant, retrieved, n_documents=size),
        settings=frozen_settings(
            rank=rank, threshold=threshold, size=size, beta=beta, cutoff=look, **found.settings()
        ),
        warnings=collected.warnings,
    )


def list_scores(source: Source, rankings: GradedRankings, cutoff: int) -> NDArray[np.float64]:
    """Return scores by rank, as grades in shape (n_runs, n_topics, width); NaN below the end of a list."""
    runs = source.tops(cutoff, scores=True, tags=rankings.tags)
    rows = {run.tag: row for row, run in enumerate(runs.feeding)}
    places = {row: rankings.tags.index(tag) for tag, row in rows.items()}
    found = np.full(rankings.grades.shape, np.nan)
    for column, topic in enumerate(rankings.topics):
        if topic not in runs.topics:
            continue
        of_topic = runs.of_topic(topic, scores=True)
        scores = of_topic.rankings.scores
        assert scores is not None  # they were asked for
        for row, place in enumerate(of_topic.runs):
            length = int(rankings.lengths[places[place], column])
            found[places[place], column, :length] = scores[row, :length]
    return found


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Cuts(Result):
    """2x2 tables of runs and topics at a cut; table: `cut`, a row a run and topic."""

    runs: tuple[str, ...]
    """Axis of runs."""
    topics: tuple[str, ...]
    """Axis of topics: the judged ones."""
    counts: Confusion
    """Cells of shape (n_runs, n_topics); TN is 0 throughout where the size is not known."""

    NAMES: ClassVar[tuple[str, ...]] = ("cut",)

    @property
    def has_size(self) -> bool:
        """Whether the number of documents of the collection is known."""
        return self.settings["size"] is not None

    def ratios(self) -> dict[str, NDArray[np.float64]]:
        """Return every ratio by its name, shape (n_runs, n_topics); NaN = undefined."""
        p, r = sets.precision(self.counts), sets.recall(self.counts)
        f = sets.f_measure(p, r, beta=self.settings["beta"])
        found = {"precision": p, "recall": r, "f": f, "e": 1 - f}
        unknown = np.full(p.shape, np.nan)
        for ratio in (sets.fallout, sets.specificity, sets.generality, sets.accuracy):
            found[ratio.__name__] = ratio(self.counts) if self.has_size else unknown
        return found

    def _reasons(self) -> list[str | None]:
        """Say what keeps ratios of each list from having a number."""
        counts = self.counts
        empty = {
            "nothing-retrieved": counts.true_positive + counts.false_positive == 0,
            "no-relevant": counts.true_positive + counts.false_negative == 0,
            "no-size": np.full(counts.true_positive.shape, not self.has_size),
            "no-not-relevant": (counts.false_positive + counts.true_negative == 0) & self.has_size,
        }
        lists = np.ndindex(counts.true_positive.shape)
        return [joined(name for name, is_so in empty.items() if is_so[at]) for at in lists]

    def _cut(self) -> Table:
        lists = list(product(self.runs, self.topics))
        counts, known = self.counts, np.full(len(lists), self.has_size)
        of_f = f"recall counts {self.settings['beta']:g} times as much as precision; E = 1 - F"
        columns: dict[Column, Any] = {
            RUN: [run for run, _ in lists],
            TOPIC: [topic for _, topic in lists],
            Column("tp", "int", "TP", "retrieved and relevant"): counts.true_positive.ravel(),
            Column("fp", "int", "FP", "retrieved, not relevant"): counts.false_positive.ravel(),
            Column("fn", "int", "FN", "relevant, not retrieved"): counts.false_negative.ravel(),
            Column("tn", "int", "TN", "neither"): cells_where(known, counts.true_negative.ravel()),
        }
        heads = {"precision": "P", "recall": "R", "f": "F", "e": "E"}
        for name, values in self.ratios().items():
            column = Column(
                name,
                "float",
                heads.get(name, ""),
                of_f if name == "f" else "",
                show="never" if name == "specificity" or not (self.has_size or name in heads) else "always",
            )
            columns[column] = values.ravel()
        columns[REASON] = self._reasons()
        return Table.of_columns("cut", columns)
