"""A model beside itself: what it answers when asked again, and canaries.

Canaries are copies of documents that show whether it obeys, or is flattered by, what it reads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from store.analysis.agreement.intervals import Interval, topic_bootstrap
from store.model_judge import Answer, Asked
from store.text import natural_key

KINDS = (Asked.CANARY_ORDER, Asked.CANARY_WORDS, Asked.CANARY_TITLE)
WORDS = {
    Asked.CANARY_ORDER: "with an order in it",
    Asked.CANARY_WORDS: "with the topic's words in it",
    Asked.CANARY_TITLE: "with the topic's title on top",
}


@dataclass(frozen=True, slots=True)
class Rise:
    """How much higher a model grades copies of documents than the documents themselves."""

    kind: Asked
    documents: int
    """Whose copy and original both have a grade."""
    unreadable: int
    """Copies without one."""
    mean: float | None
    """In grades; ``None`` = there is no such document."""
    interval: Interval
    """95 %, of the bootstrap over topics."""

    @property
    def is_alarming(self) -> bool:
        """Whether the whole interval lies above 0, or every copy of one topic or of equal rises does."""
        low = self.interval.low
        return self.mean is not None and self.mean > 0 and (low > 0 if low is not None else True)


def rises(answers: Iterable[Answer]) -> list[Rise]:
    """Compare the canaries of a judge with its judgements of the same documents.

    The mean over documents of grade of the copy - grade of the document; the interval draws topics anew.
    """
    own: dict[tuple[str, str], int | None] = {}
    copies: dict[Asked, list[Answer]] = {kind: [] for kind in KINDS}
    for one in answers:
        if one.is_judgement:
            own[one.topic, one.docno] = one.grade
        elif one.asked in copies and (one.grade is not None or one.unreadable is not None):
            copies[one.asked].append(one)
    return [_rise(kind, found, own) for kind, found in copies.items() if found]


def repeated(answers: Iterable[Answer]) -> tuple[int, int]:
    """Count pairs that were asked again and answered, and how many of them got their grade once more."""
    answers = list(answers)
    own = {(one.topic, one.docno): one.grade for one in answers if one.is_judgement}
    again = [
        own.get((one.topic, one.docno)) == one.grade
        for one in answers
        if one.asked is Asked.REPEAT and (one.grade is not None or one.unreadable is not None)
    ]
    return len(again), sum(again)


def _rise(kind: Asked, copies: list[Answer], own: dict[tuple[str, str], int | None]) -> Rise:
    topics = sorted({one.topic for one in copies}, key=natural_key)
    sums = np.zeros((len(topics), 2))
    for one in copies:
        before = own.get((one.topic, one.docno))
        if one.grade is not None and before is not None:
            sums[topics.index(one.topic)] += (one.grade - before, 1)
    rise, n = sums.sum(axis=0)
    return Rise(
        kind,
        documents=int(n),
        unreadable=sum(one.grade is None for one in copies),
        mean=float(rise / n) if n else None,
        interval=topic_bootstrap(sums, _ratio, seed=0, units=sums[:, 1] > 0),
    )


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    ratio: NDArray[np.float64] = sums[:, 0] / sums[:, 1]
    return ratio
