"""What was written in a sitting, to be named when it is undone, and to be done again."""

from __future__ import annotations

from dataclasses import replace

from judge_ui.outcomes import Attempt


class Undoing:
    """The decisions of a sitting that are not taken back, and those that were.

    A decision is known by its document and the revision it was written as: after a broken
    connection the store may hold more, or fewer, than were seen to be written.
    """

    def __init__(self) -> None:
        self._done: list[tuple[Attempt, int]] = []
        self._undone: list[Attempt] = []

    def __len__(self) -> int:
        return len(self._done)

    @property
    def n_decided(self) -> int:
        """Documents about which something was decided that is not taken back."""
        decisions = (one.decision for one, _ in self._done if not one.stays)
        return len({(one.topic, one.docno) for one in decisions})

    @property
    def last_undone(self) -> Attempt | None:
        """What redo would do again."""
        return self._undone[-1] if self._undone else None

    def wrote(self, attempt: Attempt, revision: int) -> None:
        """Remember a decision; what was undone before it can be done again no more."""
        if attempt.is_redo:
            self._undone.pop()
        else:
            self._undone.clear()
        self._done.append((attempt, revision))

    def undid(self, topic: str, docno: str, revision: int) -> Attempt | None:
        """Return the decision that was undone; ``None`` when it was never seen to be written."""
        for place, (attempt, written) in reversed(list(enumerate(self._done))):
            decision = attempt.decision
            if (decision.topic, decision.docno, written) == (topic, docno, revision):
                del self._done[place:]
                self._undone.append(replace(attempt, is_redo=False))
                return attempt
        return None

    def forget_redo(self) -> None:
        """Give up doing the latest undone decision again."""
        self._undone.pop()
