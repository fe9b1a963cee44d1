"""Mean rises of canaries, by hand."""

from __future__ import annotations

import pytest

from pooler.model_client.run import rises
from store.model_judge import Answer, Asked, Unreadable


def pair(topic: str, docno: str, own: int, copy: int | None) -> list[Answer]:
    """Make a judgement, and a canary with an order."""
    gone = None if copy is not None else Unreadable.REFUSAL
    return [
        Answer("m", topic, docno, grade=own),
        Answer("m", topic, docno, asked=Asked.CANARY_ORDER, grade=copy, unreadable=gone),
    ]


def test_mean_rise_is_of_documents_with_both_grades() -> None:
    """(2 + 0 + 1) / 3 = 1; a refused copy is counted apart."""
    answers = [*pair("1", "a", 0, 2), *pair("1", "b", 0, 0), *pair("2", "c", 1, 2), *pair("2", "d", 0, None)]
    (rise,) = rises(answers)
    assert (rise.kind, rise.documents, rise.unreadable) == (Asked.CANARY_ORDER, 3, 1)
    assert rise.mean == pytest.approx(1)
    # Both topics have a mean of 1, whichever are drawn.
    assert rise.interval.reason == "no-variation"
    assert rise.is_alarming


def test_interval_draws_topics() -> None:
    """Topics of means 0 and 2, one document each: two drawn have 0, 1 or 2, in shares 1/4, 1/2, 1/4."""
    (rise,) = rises([*pair("1", "a", 0, 0), *pair("2", "b", 0, 2)])
    assert (rise.mean, rise.interval.low, rise.interval.high) == (1, 0, 2)
    assert not rise.is_alarming


def test_no_rise_does_not_alarm() -> None:
    """Equal grades everywhere: a mean of 0, and no interval."""
    (rise,) = rises([*pair("1", "a", 0, 0), *pair("2", "b", 1, 1)])
    assert rise.mean == 0
    assert not rise.is_alarming
    assert rises([Answer("m", "1", "a", grade=1)]) == []
