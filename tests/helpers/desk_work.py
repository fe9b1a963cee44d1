"""Judging at a desk with times that are known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from store.collection import Collection
from store.records import Action, Decision

DOCNOS = [f"d{number}" for number in range(8)]
START = datetime(2026, 1, 1, tzinfo=UTC)


def judge_topic(name: str, topic: str, grades: list[int], seconds: list[float]) -> None:
    """Grade the documents of a topic in turn; the second one first otherwise, taken back."""
    with Collection("collection.db") as opened:
        desk = opened.desk(name)
        desk.queue(topic)
        for number, (grade, active) in enumerate(zip(grades, seconds, strict=True)):
            seen = 0
            if number == 1:
                decide(topic, 1, 0, 3.0, desk, 0)
                desk.undo()
                seen = 2
            decide(topic, number, grade, active, desk, seen)
        desk.leave()


def decide(topic: str, number: int, grade: int, active: float, desk: object, seen: int) -> None:
    """Record one grade."""
    decision = Decision(
        topic,
        DOCNOS[number],
        Action.JUDGE,
        grade=grade,
        seen_revision=seen,
        shown_at=START + timedelta(minutes=number, seconds=seen),
        active_ms=round(active * 1000),
        dwell_ms=round(active * 1000) + 250,
        dropped_keys=int(number == 3),
    )
    desk.record(decision)  # type: ignore[attr-defined]  # a desk
