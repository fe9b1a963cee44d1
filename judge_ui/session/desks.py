"""What a judging session is given to work with: a desk, and perhaps a source of documents."""

from __future__ import annotations

from typing import Protocol

from store.records import (
    Decision,
    Guideline,
    InboxLine,
    LiveSitting,
    Scale,
    SeenEvent,
    ShownDocument,
    Task,
    Topic,
    Undone,
)


class DeskLike(Protocol):
    """What a session needs of a desk; see `store.judging.desk.Desk`."""

    scale: Scale

    @property
    def judge_name(self) -> str:
        """Return the judge's name, fit for a terminal."""

    def inbox(self) -> list[InboxLine]:
        """Return the judge's topics."""

    def topic(self, topic: str) -> Topic:
        """Return a topic."""

    def queue(self, topic: str) -> list[Task]:
        """Return the judge's documents of a topic in display order."""

    def undrawn(self, topic: str) -> int:
        """Count the documents that may still be drawn for a topic."""

    def claimable(self, topic: str) -> int:
        """Count the documents of a topic that the judge may still claim."""

    def claim(self, topic: str) -> bool:
        """Claim a few more documents of a topic; False = there are none left."""

    def page(self, docno: str) -> ShownDocument:
        """Return a document."""

    def record(self, decision: Decision) -> Task:
        """Append a decision durably."""

    def keep(self, decision: Decision) -> Task:
        """Note a decision and take it back at once: what was decided elsewhere stands."""

    def undo(self) -> Undone | None:
        """Take back the sitting's latest event."""

    def events(self) -> list[SeenEvent]:
        """Return what was done in this sitting, the newest first."""

    def events_of(self, topic: str, docno: str) -> list[SeenEvent]:
        """Return everything the judge ever did to a document, the newest first."""

    def recent_active_ms(self) -> list[int]:
        """Return the active times of the judge's latest decisions, the newest last."""

    def guidelines(self) -> Guideline | None:
        """Return the newest guidelines."""

    def has_seen_guidelines(self, topic: str) -> bool:
        """Say whether the judge decided anything in a topic under the newest guidelines."""

    def terms(self, topic: str) -> tuple[str, ...]:
        """Return the judge's own terms for a topic."""

    def set_terms(self, topic: str, terms: tuple[str, ...]) -> None:
        """Replace the judge's own terms for a topic."""

    def beat(self, topic: str) -> None:
        """Give a sign of life: the judge is at work on a topic."""

    def live_elsewhere(self) -> list[LiveSitting]:
        """Return other sittings of the same judge that are alive."""

    def leave(self) -> None:
        """End the sitting."""


class Drawing(Protocol):
    """Where the documents of adaptive pools come from, one at a time."""

    def draw(self, topic: str) -> bool:
        """Draw one more document into the queue of a topic; False = there is none left."""
