"""What a judging session is given to work with: a desk, and perhaps a source of documents."""

from __future__ import annotations

from typing import Protocol

from store.records import Decision, InboxLine, Page, Scale, Task, Topic


class DeskLike(Protocol):
    """What a session needs of a desk; see `store.desk.Desk`."""

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

    def page(self, docno: str) -> Page:
        """Return a document."""

    def record(self, decision: Decision) -> Task:
        """Append a decision durably."""

    def undo(self) -> tuple[str, Task] | None:
        """Take back the sitting's latest event."""

    def leave(self) -> None:
        """End the sitting."""


class Drawing(Protocol):
    """Where the documents of adaptive pools come from, one at a time."""

    def draw(self, topic: str) -> bool:
        """Draw one more document into the queue of a topic; False = there is none left."""
