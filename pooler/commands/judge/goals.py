"""What an organiser wants before judging stops, and whether it is so: a recall, a settled order of runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pooler.commands.judge.recall import NO_SAMPLE, WHY, topic_bound
from pooler.messages import Listener, current_listener, listening
from store.analysis.pools.stopping import CONFIDENCE
from store.errors import ArgumentError, PoolerError

if TYPE_CHECKING:
    from store.collection import Collection


@dataclass(frozen=True, slots=True)
class Until:
    """When judging may stop: what a judge has to have found, or how sure the order of the runs has to be."""

    recall: float | None
    """``None`` = the order of the runs is to be settled."""
    confidence: float

    @property
    def words(self) -> str:
        """Say it."""
        if self.recall is None:
            return f"the order of the runs is settled at {self.confidence:g}"
        share, sure = 100 * self.recall, 100 * self.confidence
        return f"at least {share:.4g}% of the relevant documents of the runs are found ({sure:.4g}% sure)"


_UNTIL = re.compile(r"(recall|order)=([0-9]*\.?[0-9]+)(?:@([0-9]*\.?[0-9]+))?")
UNTIL_HINT = "recall=.9@.95 = recall of .9 with confidence .95; order=.95 = the order of the runs is settled"


def parse_until(text: str) -> Until:
    """Read when judging may stop.

    Examples
    --------
    >>> parse_until("recall=.9@.95"), parse_until("order=.95")
    (Until(recall=0.9, confidence=0.95), Until(recall=None, confidence=0.95))
    >>> parse_until("recall=.8").confidence
    0.95
    """
    found = _UNTIL.fullmatch(text.strip())
    if found is None or (found[1] == "order" and found[3] is not None):
        requirement = "must be recall=R, recall=R@CONFIDENCE or order=CONFIDENCE"
        raise ArgumentError("until", requirement, text, hint=UNTIL_HINT)
    first = float(found[2])
    if found[1] == "order":
        if not 0.5 < first < 1:
            requirement = "must have a confidence above 0.5 and below 1"
            raise ArgumentError("until", requirement, text, hint=UNTIL_HINT)
        return Until(None, first)
    confidence = CONFIDENCE if found[3] is None else float(found[3])
    if not (0 < first < 1 and 0 < confidence < 1):
        requirement = "must have a recall and a confidence above 0 and below 1"
        raise ArgumentError("until", requirement, text, hint=UNTIL_HINT)
    return Until(first, confidence)


class RecallGoal:
    """A recall that is to be sure in a topic. A judge is told whether it is, and nothing of the bound."""

    def __init__(self, collection: Collection, until: Until) -> None:
        self._collection = collection
        self._until = until

    def is_reached(self, topic: str) -> bool:
        """Return whether the bound of a topic has reached the target."""
        return self._state(topic) == ""

    def words(self, topic: str) -> str:
        """Return whether it has, or why that is unknown."""
        why = self._state(topic)
        if why is None:
            return f"goal not reached yet: {self._until.words}, if the sample is random"
        if why:
            return f"goal not to be told: no bound, since {why}"
        return f"goal reached: {self._until.words}, if the sample is random"

    def _state(self, topic: str) -> str | None:
        """Return an empty text where it is reached, ``None`` where it is not, else why there is no bound."""
        bound = topic_bound(self._collection, topic, confidence=self._until.confidence)
        if bound.reason == NO_SAMPLE:
            return WHY[NO_SAMPLE]
        return "" if bound.recall is not None and bound.recall >= (self._until.recall or 1) else None


class _Quiet(Listener):
    """Passes on how far a work has come, and no words: they tell of runs, and a judge is listening."""

    def __init__(self, heard_by: Listener) -> None:
        self._listener = heard_by

    def progress(self, label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        return self._listener.progress(label, total)


class OrderGoal:
    """A settled order of the runs, looked at once: that takes seconds, and minutes with a hundred runs."""

    def __init__(self, collection: Collection, until: Until) -> None:
        from pooler.sources.probabilities import load_probable, moments
        from pooler.sources.source import Source
        from store.analysis.variation.collection import settled_pairs

        self._until = until
        self._is_settled = False
        with suppress(PoolerError), listening(_Quiet(current_listener())):  # as where nothing is judged yet
            probable = load_probable(Source(collection=collection), unjudged=0.1).rankings
            if len(probable.tags) > 1:
                settled = settled_pairs(moments(probable), until.confidence)
                self._is_settled = bool(settled.all())

    def is_reached(self, topic: str) -> bool:  # noqa: ARG002 - of a goal
        """Return whether it was settled then."""
        return self._is_settled

    def words(self, topic: str) -> str:  # noqa: ARG002 - of a goal
        """Return whether it was, and when that was looked at."""
        state = "reached" if self._is_settled else "not reached"
        return f"goal {state} when this sitting began: {self._until.words}"


def goal_of(collection: Collection, text: str) -> RecallGoal | OrderGoal:
    """Return the goal that a text says, as `parse_until` reads it; an order is looked at."""
    until = parse_until(text)
    return OrderGoal(collection, until) if until.recall is None else RecallGoal(collection, until)
