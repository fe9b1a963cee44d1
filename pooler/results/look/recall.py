"""Bounds on recall: what a random sample says of the relevant documents that are not found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from pooler.results.judge_kinds import warn_about_voters
from pooler.results.result import Result, collect_warnings, fields_of, frozen_settings
from pooler.results.source import Source, opened_collection, source_of
from pooler.results.table import REASON, TOPIC, Column, Table, View, hidden
from store.analysis.pools.stopping import CONFIDENCE, RecallBound, least_sample, most_relevant, recall_bound
from store.errors import ArgumentError, UnknownNameError

if TYPE_CHECKING:
    from store.analysis.arrays import RankedDocuments
    from store.collection import Collection
    from store.grades.candidates import TopicCandidates

NO_SAMPLE = "no-sample"
"""Why there is no bound for a topic that no random sample speaks for."""
WHY = {
    NO_SAMPLE: "nothing was judged at random",
    "sample-unjudged": "nothing of its random sample is judged yet",
    "sample-contradicted": "more was found by other ways than its random sample allows",
    "no-relevant": "nothing relevant is found yet",
}
"""Reasons in words, behind `no bound`."""
_BOUND = (
    TOPIC,
    Column("found", "int", about="relevant documents that are found"),
    Column("recall", "float", "recall at least", "share of the relevant documents that is found"),
    Column("more", "int", "more at most", "relevant documents that are not found"),
    Column("judged", "int", "random", "documents of the random sample that are judged"),
    Column("relevant", "int", about="relevant ones of these"),
    Column("waiting", "int", about="documents of the sample without a grade", show="if_any"),
    Column("n_random", "int", "of", "documents that the sample speaks for"),
    Column(
        "open",
        "int",
        about="documents outside the sample without a grade: each counts as relevant",
        show="if_any",
    ),
)
_OF_SAMPLE = ("judged", "relevant", "waiting", "n_random", "open")
"""Of a topic without a sample undefined."""


def recall_bounds(
    source: Source | Collection,
    *,
    confidence: float = CONFIDENCE,
    target: float | None = None,
    topic: str | None = None,
    cutoff: int = 1000,
) -> RecallBounds:
    """Bound the recall of every topic from below, by the random sample that speaks for it.

    Parameters
    ----------
    source : Source or Collection
        Of a collection. Its level says what is relevant, by default the relaxed one, and its qrels whose
        grades count: a document is relevant where one of these judges says so.
    confidence : float, default=0.95
        Of every bound alone, above 0 and below 1.
    target : float, optional
        Recall for which the documents are counted that are still to be judged, above 0 and below 1; of a
        topic without a sample those of one that is drawn of all unjudged documents of the runs.
    topic : str, optional
        This topic alone.
    cutoff : int, optional
        Ranks of the runs from which that sample would be drawn.

    Returns
    -------
    RecallBounds
        A row a topic that pools in use have documents of; why there is no bound where there is none.

    Raises
    ------
    ArgumentError
        If an argument is out of its range, or the source is of files.
    UnknownNameError
        If there is no such topic.

    Notes
    -----
    Recall is of the documents that the sample's pool lists, drawn or not: what no run retrieved is outside.
    The bound holds however often one looks (`store.analysis.pools.stopping`), if the sample was drawn at
    random and is judged in a random order, or whole. Of several samples of a topic the oldest speaks.

    Examples
    --------
    >>> from pooler.results.look.recall import recall_bounds
    >>> from store.collection import Collection
    >>> with Collection("collection.db") as opened:  # doctest: +SKIP
    ...     recall_bounds(opened, target=0.8).table("recall").to_dict()["needed"]
    [28, 0]
    """
    whole = source_of(source)
    if whole.is_of_files:
        raise ArgumentError("source", "must be a collection: files do not tell a sample from a choice", None)
    for name, value in (("confidence", confidence), ("target", target)):
        if value is not None and not 0 < value < 1:
            raise ArgumentError(name, "must be above 0 and below 1", value)
    with collect_warnings() as collected:
        whose = whole.definition
        with opened_collection(whole.collection) as opened:
            level = whole.level_of_judges(opened.scale)
            found, judges = opened.grades.candidates(level, of=whose.judges, kinds=whose.kinds, topic=topic)
            bounds = [_bound(one, confidence, target) for one in found]
            if target is not None and any(one.candidates is None for one in found):
                ranked = opened.runs.ranked(whole.option("runs"), order=whole.order, docnos=False)
                bounds = [
                    _planned(one, bound, ranked, cutoff=cutoff, confidence=confidence, target=target)
                    for one, bound in zip(found, bounds, strict=True)
                ]
        warn_about_voters(judges)
    return RecallBounds(
        topics=tuple(one.topic for one in found),
        pools=tuple(one.pool for one in found),
        depths=tuple(one.depth for one in found),
        bounds=tuple(bounds),
        settings=frozen_settings(
            **whole.named()
            | {"level": level, "confidence": confidence, "target": target, "topic": topic}
            | judges.to_json()
        ),
        warnings=collected.warnings,
    )


def topic_bound(collection: Collection, topic: str, *, confidence: float) -> RecallBound:
    """Bound the recall of one topic as `recall_bounds` does by default, quickly and without messages."""
    found, _ = collection.grades.candidates(collection.scale.relaxed, topic=topic)
    bounds = [_bound(one, confidence, None) for one in found]
    return bounds[0] if bounds else RecallBound(0, 0, 0, 0, 0, 0, None, None, NO_SAMPLE)


def _bound(one: TopicCandidates, confidence: float, target: float | None) -> RecallBound:
    """Bound the recall of one topic, or say that nothing was drawn at random."""
    if one.candidates is None:
        return RecallBound(one.n_relevant, 0, 0, 0, 0, 0, None, None, NO_SAMPLE)
    return recall_bound(one.candidates, confidence=confidence, target=target)


def _planned(
    one: TopicCandidates,
    bound: RecallBound,
    ranked: RankedDocuments,
    *,
    cutoff: int,
    confidence: float,
    target: float,
) -> RecallBound:
    """Count for a topic without a sample how many documents one of all unjudged ones would need."""
    import numpy as np

    if one.candidates is not None:
        return bound
    lists = [ids[:cutoff] for (_, topic), ids in ranked.rankings.items() if topic == one.topic]
    if not lists:
        return bound
    n_unjudged = np.setdiff1d(np.concatenate(lists), one.graded).size
    limit = partial(most_relevant, confidence=confidence)
    return replace(bound, needed=least_sample(n_unjudged, bound.found, target, limit=limit))


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class RecallBounds(Result):
    """Bounds on the recall of topics; table: `recall`, a row a topic."""

    topics: Sequence[str]
    pools: Sequence[str | None]
    """The sample that speaks for each topic; ``None`` = there is none."""
    depths: Sequence[int | None]
    """Of each run, how many documents that pool listed; ``None`` = not known."""
    bounds: Sequence[RecallBound]

    NAMES: ClassVar[tuple[str, ...]] = ("recall",)

    def words(self, topic: str) -> str:
        """Say of one topic what is known of its recall; `UnknownNameError`: it is none of these."""
        if topic not in self.topics:
            raise UnknownNameError("topic", topic, self.topics)
        return bound_words(self.bounds[[*self.topics].index(topic)], self.settings["confidence"])

    def _table(self, name: str) -> Table:
        target = self.settings["target"]
        columns = [*_BOUND]
        if target is not None:
            about = f"random documents to judge for a recall of {target:g}, if none of them is relevant"
            columns.append(Column("needed", "int", about=about))
        columns += [REASON, hidden("pool", "text")]
        rows = [
            {"topic": topic, "pool": pool} | fields_of(bound)
            for topic, pool, bound in zip(self.topics, self.pools, self.bounds, strict=True)
        ]
        for row in rows:
            if row["pool"] is None:
                row |= dict.fromkeys(_OF_SAMPLE)
        return Table.of_rows(name, columns, rows, notes=self._notes())

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        if len(table):
            return [View(table)]
        return [
            View(table, [replace(one, about="") for one in table.columns], notes=["nothing is pooled yet"])
        ]

    def _notes(self) -> list[str]:
        confidence, notes = self.settings["confidence"], []
        named = {pool: depth for pool, depth in zip(self.pools, self.depths, strict=True) if pool is not None}
        for pool, depth in named.items():
            first = (
                "what its runs retrieved" if depth is None else f"the first {depth:,} documents of its runs"
            )
            notes.append(f"Recall is of the documents that pool {pool} lists, drawn or not: {first}.")
        n_bounds = sum(one.recall is not None for one in self.bounds)
        if n_bounds:
            notes.append(
                f"Each bound holds with confidence {confidence:g}, however often one looks, if the sample is"
                " random: drawn by chance, and judged in a random order or whole."
            )
        if n_bounds > 1:
            together = 1 - (1 - confidence) / n_bounds
            notes.append(
                f"Of {n_bounds:,} bounds, {n_bounds * (1 - confidence):.2g} may be wrong; a confidence of"
                f" {together:.4g} is {confidence:g} for all of them together."
            )
        if None in self.pools:
            notes.append(
                "Where there is no sample, pooler next --until recall=.8 tells how many documents one takes."
                if self.settings["target"] is None
                else "Without a sample, needed is of one yet to be drawn from all unjudged documents of the"
                " runs. One of their first D documents takes fewer: pooler pool --strategy uniform --depth D"
                " --budget N --seed 1 --name tail."
            )
        return notes


def bound_words(bound: RecallBound, confidence: float) -> str:
    """Say what is known of the recall of one topic.

    Examples
    --------
    >>> bound_words(RecallBound(40, 900, 300, 0, 0, 0, 12, 40 / 52, None), 0.95)
    '40 relevant found, 300 of 900 unjudged ones judged at random, none relevant: at least 76.9% found (95%),
    12 more at most'
    >>> bound_words(RecallBound(40, 0, 0, 0, 0, 0, None, None, "no-sample"), 0.95)
    '40 relevant found; no bound: nothing was judged at random'
    """
    found = f"{bound.found:,} relevant found"
    if bound.recall is None:
        more = "" if bound.more is None else f", {bound.more:,} at most ({confidence:.4g})"
        return f"{found}{more}; no bound: {WHY[bound.reason or NO_SAMPLE]}"
    hits = f"{bound.relevant:,} relevant" if bound.relevant else "none relevant"
    share = math.floor(1000 * bound.recall + 1e-9) / 10
    return (
        f"{found}, {bound.judged:,} of {bound.n_random:,} unjudged ones judged at random, {hits}: at least"
        f" {share:g}% found ({100 * confidence:.4g}%), {bound.more:,} more at most"
    )
