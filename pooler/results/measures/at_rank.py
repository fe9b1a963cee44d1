"""Recall and precision at one rank: values they can take, and what their means tell together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pooler.messages import say
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.source import Measurable, source_of
from pooler.results.table import REASON, RUN_B, TOPIC, TOPICS_HIDDEN, Column, Table
from store.analysis.measures.ranked import Attainable, attainable_precision, attainable_recall
from store.analysis.significance.folds import MeanChanges, mean_changes
from store.errors import PoolerError, UnknownNameError
from store.text import counted


def attainable(source: Measurable, rank: int = 10, *, progress: Progress | None = None) -> AttainableValues:
    """Report which values precision and recall at a rank can take, topic by topic.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        Its judgements tell R of every topic; what runs found plays no part.
    rank : int, default=10
        N, at least 1.

    Returns
    -------
    AttainableValues
        The greatest value of P@N and R@N by topic, and the step between values; the least is 0.

    Raises
    ------
    ArgumentError
        If `rank` is below 1.

    Notes
    -----
    P@N goes from 0 to min(1, R/N) in steps of 1/N, R@N from 0 to min(1, N/R) in steps of 1/R.

    Examples
    --------
    Five relevant documents, N = 10: no run has a P@10 above a half.

    >>> qrels = {"1": {str(number): 1 for number in range(5)}}
    >>> found = attainable(({"a": {"1": {"0": 1.0}}}, qrels), 10)
    >>> found.precision.highest.tolist(), found.recall.step.tolist()
    ([0.5], [0.2])
    """
    with collect_warnings(progress) as collected:
        found = source_of(source)
        rankings = found.graded(rank)
        n_relevant = rankings.n_relevant(found.level)
    return AttainableValues(
        topics=tuple(rankings.topics),
        n_relevant=n_relevant,
        precision=attainable_precision(n_relevant, rank),
        recall=attainable_recall(n_relevant, rank),
        settings=frozen_settings(rank=rank, **found.settings()),
        warnings=collected.warnings,
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AttainableValues(Result):
    """Values of P@N and R@N that can occur; table: `attainable`, a row a topic and measure."""

    topics: tuple[str, ...]
    """Axis of topics: the judged ones."""
    n_relevant: NDArray[np.int64]
    """Shape (n_topics,): R."""
    precision: Attainable
    recall: Attainable

    NAMES: ClassVar[tuple[str, ...]] = ("attainable",)

    def _attainable(self) -> Table:
        both, rank = (self.precision, self.recall), self.settings["rank"]
        # Of each topic P, and then R.
        highest = np.stack([one.highest for one in both], axis=1).ravel()
        step = np.stack([one.step for one in both], axis=1).ravel()
        is_missing = np.isnan(highest)
        columns = {
            TOPIC: np.repeat(self.topics, 2).tolist(),
            Column("relevant", "int", "R", "relevant documents of the topic"): np.repeat(self.n_relevant, 2),
            Column("measure"): [f"P@{rank}", f"R@{rank}"] * len(self.topics),
            Column("least", "float"): np.where(is_missing, np.nan, 0.0),
            Column("greatest", "float"): highest,
            Column("step", "float", about="what one more relevant document adds"): step,
            REASON: ["no-relevant" if missing else None for missing in is_missing],
        }
        return Table.of_columns("attainable", columns)


def mean_signs(
    source: Measurable,
    rank: int = 10,
    *,
    against: str | None = None,
    runs: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> MeanSigns:
    """Report what the signs of changed mean recall and mean precision at a rank say.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        What is measured.
    rank : int, default=10
        N, at least 1.
    against : str, optional
        Compare the others with this run alone.
    runs : sequence of str, optional
        Tags of runs, default all.

    Returns
    -------
    MeanSigns
        Of every two runs, both changes from B to A, their signs, and what follows.

    Raises
    ------
    UnknownNameError
        If a run is not known.
    PoolerError
        If there is one run only, or no topic with a relevant document.

    Notes
    -----
    Both means are over the topics that have a relevant document. Recall up and precision down
    implies that gains lean to topics with few relevant documents, the opposite to those with many;
    nothing follows where both go the same way. See `store.analysis.significance.folds`.

    Examples
    --------
    Run a finds the one document of topic 2, b one of the two of topic 1:

    >>> runs = {"a": {"1": {"z": 1.0}, "2": {"v": 1.0}}, "b": {"1": {"x": 1.0}, "2": {"z": 1.0}}}
    >>> found = mean_signs((runs, {"1": {"x": 1, "y": 1}, "2": {"v": 1}}), 1)
    >>> found.changes[0].recall, found.changes[0].precision, found.changes[0].implied
    (0.25, 0.0, 'few')
    """
    with collect_warnings(progress) as collected:
        found = source_of(source)
        rankings = found.graded(rank)
        level = found.level
        tags = list(dict.fromkeys(runs or rankings.tags))
        for tag in (*tags, *([against] if against is not None else [])):
            if tag not in rankings.tags:
                raise UnknownNameError("run", tag, rankings.tags)
        if len({*tags, *([against] if against else [])}) < 2:
            message = "there is one run: a comparison needs two"
            raise PoolerError(message, hint="name another run")
        n_relevant = rankings.n_relevant(level)
        usable = n_relevant > 0
        if not usable.any():
            message = "no topic has a relevant document, so there is no recall"
            raise PoolerError(message, hint="--level N counts grades from N on as relevant")
        if n_without := int((~usable).sum()):
            say(f"{counted(n_without, 'topic')} without a relevant document left out")
    hits = rankings.relevant(level)[..., :rank].sum(axis=-1)[:, usable]
    pairs = (
        list(combinations(tags, 2)) if against is None else [(tag, against) for tag in tags if tag != against]
    )
    rows = {tag: row for row, tag in enumerate(rankings.tags)}
    changes = [
        mean_changes(n_relevant[usable].tolist(), (hits[rows[one]] - hits[rows[other]]).tolist(), cutoff=rank)
        for one, other in pairs
    ]
    return MeanSigns(
        pairs=tuple(pairs),
        changes=tuple(changes),
        n_topics=int(usable.sum()),
        settings=frozen_settings(
            rank=rank, against=against, runs=None if runs is None else [*runs], **found.settings()
        ),
        warnings=collected.warnings,
    )


_SIGNS = {-1: "down", 0: "same", 1: "up"}


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MeanSigns(Result):
    """Signs of two means of every two runs; table: `signs`, a row a pair."""

    pairs: tuple[tuple[str, str], ...]
    """A and B."""
    changes: tuple[MeanChanges, ...]
    """From B to A."""
    n_topics: int
    """Topics of the means."""

    NAMES: ClassVar[tuple[str, ...]] = ("signs",)

    def _signs(self) -> Table:
        rank, found = self.settings["rank"], self.changes
        implied = "topics, by relevant documents, that the gains of A lean to, as the two signs imply"
        columns: dict[Column, Any] = {
            Column("a", heading="A"): [a for a, _ in self.pairs],
            RUN_B: [b for _, b in self.pairs],
            Column("recall", "float", f"R@{rank}", "mean of A less that of B; so of P"): [
                one.recall for one in found
            ],
            Column("precision", "float", f"P@{rank}"): [one.precision for one in found],
            Column("recall_sign", heading="R"): [_SIGNS[one.recall_sign] for one in found],
            Column("precision_sign", heading="P"): [_SIGNS[one.precision_sign] for one in found],
            Column("implied", about=f"{implied}; -: nothing follows"): [one.implied for one in found],
            Column("leaning", about="those that they do lean to"): [one.leaning for one in found],
            TOPICS_HIDDEN: [self.n_topics] * len(found),
        }
        return Table.of_columns("signs", columns)
