"""Bounds on the recall of a topic: what a random sample says of the relevant documents not found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from store.analysis.pools.stopping import RecallBound, recall_bound

if TYPE_CHECKING:
    from store.collection import Collection
    from store.grades.sampled import TopicCandidates

NO_SAMPLE = "no-sample"
"""Why there is no bound for a topic that no random sample speaks for."""
WHY = {
    NO_SAMPLE: "nothing was judged at random",
    "sample-unjudged": "nothing of its random sample is judged yet",
    "sample-contradicted": "more was found by other ways than its random sample allows",
    "no-relevant": "nothing relevant is found yet",
}
"""Reasons in words, behind `no bound`."""


def topic_bound(collection: Collection, topic: str, *, confidence: float) -> RecallBound:
    """Bound the recall of one topic as `status_recall` does by default, quickly and without messages."""
    found, _ = collection.grades.candidates(collection.scale.relaxed, topic=topic)
    bounds = [bound_of(one, confidence, None) for one in found]
    return bounds[0] if bounds else RecallBound(0, 0, 0, 0, 0, 0, None, None, NO_SAMPLE)


def bound_of(one: TopicCandidates, confidence: float, target: float | None) -> RecallBound:
    """Bound the recall of one topic, or say that nothing was drawn at random."""
    if one.candidates is None:
        return RecallBound(one.n_relevant, 0, 0, 0, 0, 0, None, None, NO_SAMPLE)
    return recall_bound(one.candidates, confidence=confidence, target=target)
