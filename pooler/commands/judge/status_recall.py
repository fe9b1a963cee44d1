"""Bounds on recall from a random sample, topic by topic; goals of judging.

A goal is what an organiser wants before judging stops: a recall, or a settled order of runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from pooler.command import Cutoff, Level, Option, QrelsName, Stored, command
from pooler.judge_kinds import warn_about_voters
from pooler.messages import Listener, current_listener, listening
from pooler.result import Result, fields_of, frozen_settings
from pooler.tables import REASON, TOPIC, Column, Table, hidden
from store.analysis.pools.stopping import CONFIDENCE, RecallBound, least_sample, most_relevant, recall_bound
from store.errors import ArgumentError, PoolerError
from store.grades.definition import QrelsDefinition

if TYPE_CHECKING:
    from store.analysis.arrays import RankedDocuments
    from store.collection import Collection
    from store.grades.sampled import TopicCandidates


NO_SAMPLE = "no-sample"
NOTHING_RANDOM = "nothing was judged at random"


def bound_of(one: TopicCandidates, confidence: float, target: float | None) -> RecallBound:
    """Bound the recall of one topic; without a bound if nothing was drawn at random."""
    if one.candidates is None:
        return RecallBound(one.n_relevant, 0, 0, 0, 0, 0, None, None, NO_SAMPLE)
    return recall_bound(one.candidates, confidence=confidence, target=target)


_BOUND = (
    TOPIC,
    Column("found", "int", about="relevant documents that are found"),
    Column("recall", "float", "recall at least", "share of the relevant documents that is found"),
    Column("more", "int", "more at most", "relevant documents that are not found"),
    Column("judged", "int", "random", "documents of the random sample that are judged"),
    Column("relevant", "int", about="relevant ones of these"),
    Column("waiting", "int", about="documents of the sample without a grade", show="if_any"),
    Column("n_random", "int", "of", "documents that the sample stands for"),
    Column(
        "open",
        "int",
        about="documents outside the sample without a grade: each counts as relevant",
        show="if_any",
    ),
)
_OF_SAMPLE = ("judged", "relevant", "waiting", "n_random", "open")


@command
def status_recall(
    collection: Stored,
    *,
    confidence: Annotated[float, Option(above=0, below=1)] = CONFIDENCE,
    target: Annotated[float | None, Option("--target R", above=0, below=1)] = None,
    topic: Annotated[str | None, Option("--topic T", default="all")] = None,
    level: Level = None,
    qrels: QrelsName = None,
    cutoff: Cutoff = None,
) -> RecallBounds:
    """Show a lower bound on the recall of each topic, from a random sample.

    A document is relevant if any of the judges says so. The bound holds however often one looks, if the
    sample was drawn at random and is judged in a random order, or whole; where a topic has several samples,
    the oldest is used. Recall is measured among the documents that the sample's pool lists, drawn or not;
    what no run retrieved does not count.

    Example: pooler status recall

    Example: pooler status recall --target .9 --confidence .95

    confidence : Of each bound by itself: .95 = right in 95 of 100 cases.
    target : Also count the random documents to judge before this recall is certain; for a topic without a
        sample, those of a sample drawn from all unjudged documents of the runs.
    topic : This topic alone.
    cutoff : Ranks of the runs from which that sample would be drawn.

    Raises
    ------
    UnknownNameError
        If there is no such topic.

    Notes
    -----
    See `store.analysis.pools.stopping`.
    """
    whose = collection.qrels.named(qrels).definition
    cut = QrelsDefinition().level_on(collection.scale, level)
    found, judges = collection.grades.candidates(cut, of=whose.judges, kinds=whose.kinds, topic=topic)
    bounds = [bound_of(one, confidence, target) for one in found]
    if target is not None and any(one.candidates is None for one in found):
        ranked = collection.runs.ranked(docnos=False)
        bounds = [
            _planned(one, bound, ranked, cutoff=cutoff or 1000, confidence=confidence, target=target)
            for one, bound in zip(found, bounds, strict=True)
        ]
    warn_about_voters(judges, is_headed=True)
    return RecallBounds(
        topics=tuple(one.topic for one in found),
        pools=tuple(one.pool for one in found),
        depths=tuple(one.depth for one in found),
        bounds=tuple(bounds),
        settings=frozen_settings(level=cut, **judges.to_json()),
    )


def _planned(
    one: TopicCandidates,
    bound: RecallBound,
    ranked: RankedDocuments,
    *,
    cutoff: int,
    confidence: float,
    target: float,
) -> RecallBound:
    """Count the documents to judge of a sample of all unjudged ones, for a topic that has no sample."""
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
    """The sample that is used for each topic; ``None`` = there is none."""
    depths: Sequence[int | None]
    """How many documents of each run that pool lists; ``None`` = not known."""
    bounds: Sequence[RecallBound]

    def _tables(self) -> Iterator[Table]:
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
        table = Table.of_rows("recall", columns, rows, notes=self._notes())
        if not rows:
            bare = [replace(one, about="") for one in table.columns]
            table = table.seen_as(columns=bare, notes=["nothing is pooled yet"])
        yield table

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
                "Where there is no sample, pooler status recall --target .8 shows how many documents one"
                " needs."
                if self.settings["target"] is None
                else "Without a sample, needed is for one yet to be drawn from all unjudged documents of the"
                " runs. One of their first D documents needs fewer: pooler pool --strategy uniform --depth D"
                " --budget N --seed 1 --name tail."
            )
        return notes


@dataclass(frozen=True, slots=True)
class Target:
    """When judging may stop: the recall to be reached, or how certain the order of the runs has to be."""

    recall: float | None
    confidence: float

    @property
    def words(self) -> str:
        """The target as a statement."""
        if self.recall is None:
            return f"the order of the runs is settled at {self.confidence:g}"
        share, sure = 100 * self.recall, 100 * self.confidence
        return f"at least {share:.4g}% of the relevant documents of the runs are found ({sure:.4g}% sure)"


_GOAL = re.compile(r"(recall|order)=([0-9]*\.?[0-9]+)(?:@([0-9]*\.?[0-9]+))?")
GOAL_HINT = "recall=.9@.95 = recall of .9 with confidence .95; order=.95 = the order of the runs is settled"


def parse_goal(text: str) -> Target:
    """Read when judging may stop.

    >>> parse_goal("recall=.9@.95"), parse_goal("order=.95")
    (Target(recall=0.9, confidence=0.95), Target(recall=None, confidence=0.95))
    >>> parse_goal("recall=.8").confidence
    0.95
    """
    found = _GOAL.fullmatch(text.strip())
    requirement = "must be recall=R, recall=R@CONFIDENCE or order=CONFIDENCE"
    if found is not None and found[1] == "recall":
        recall, confidence = float(found[2]), float(found[3] or CONFIDENCE)
        if 0 < recall < 1 and 0 < confidence < 1:
            return Target(recall, confidence)
        requirement = "must have a recall and a confidence above 0 and below 1"
    elif found is not None and found[3] is None:
        if 0.5 < float(found[2]) < 1:
            return Target(None, float(found[2]))
        requirement = "must have a confidence above 0.5 and below 1"
    raise ArgumentError("goal", requirement, text, hint=GOAL_HINT)


class RecallGoal:
    """A recall to be certain of in a topic. Judges see whether it is reached, and not the bound."""

    def __init__(self, collection: Collection, target: Target) -> None:
        self._collection = collection
        self._target = target

    def is_reached(self, topic: str) -> bool:
        """Return whether the bound of a topic has reached the target."""
        return self._state(topic) == ""

    def words(self, topic: str) -> str:
        """Return whether it has, or why that is unknown."""
        why = self._state(topic)
        if why is None:
            return f"goal not reached yet: {self._target.words}, if the sample is random"
        if why:
            return f"unknown whether the goal is reached: {why}"
        return f"goal reached: {self._target.words}, if the sample is random"

    def _state(self, topic: str) -> str | None:
        """Return an empty text where it is reached, ``None`` where it is not, else why there is no bound."""
        found, _ = self._collection.grades.candidates(self._collection.scale.relaxed, topic=topic)
        bound = bound_of(found[0], self._target.confidence, None) if found else None
        if bound is None or bound.reason == NO_SAMPLE:
            return NOTHING_RANDOM
        return "" if bound.recall is not None and bound.recall >= (self._target.recall or 1) else None


class _Quiet(Listener):
    """Passes progress on, but no messages: they may name runs, which judges must not see."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def progress(self, label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        return self._listener.progress(label, total)


class OrderGoal:
    """A settled order of the runs, computed once: that takes seconds, and minutes with a hundred runs."""

    def __init__(self, collection: Collection, target: Target) -> None:
        from pooler.sources.probabilities import load_probable, moments
        from pooler.sources.source import Source
        from store.analysis.variation.collection import settled_pairs

        self._target = target
        self._is_settled = False
        with suppress(PoolerError), listening(_Quiet(current_listener())):  # as where nothing is judged yet
            probable = load_probable(Source(collection=collection), unjudged=0.1).rankings
            if len(probable.tags) > 1:
                settled = settled_pairs(moments(probable), target.confidence)
                self._is_settled = bool(settled.all())

    def is_reached(self, topic: str) -> bool:  # noqa: ARG002 - of a goal
        """Return whether it was settled then."""
        return self._is_settled

    def words(self, topic: str) -> str:  # noqa: ARG002 - of a goal
        """Return whether it was, and when that was computed."""
        state = "reached" if self._is_settled else "not reached"
        return f"goal {state} when this sitting began: {self._target.words}"


def goal_of(collection: Collection, text: str) -> RecallGoal | OrderGoal:
    """Return the goal that a text names, as `parse_goal` reads it; the order of the runs is computed here."""
    target = parse_goal(text)
    return OrderGoal(collection, target) if target.recall is None else RecallGoal(collection, target)
