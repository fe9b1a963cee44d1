"""How a document stands with a judge after a decision."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row

from store.errors import StoreError
from store.models import JudgementRow
from store.records import Action, Decision, Passage, State, Task


def state_after(decision: Decision, old: Row[Any] | None) -> tuple[str, int | None, str]:
    """Return state, grade and reason after a decision."""
    if decision.action is Action.JUDGE:
        return State.JUDGED.value, decision.grade, ""
    if decision.action is Action.SKIP:
        return State.SKIPPED.value, None, ""
    if decision.action is Action.CANNOT:
        return State.CANNOT.value, None, decision.reason
    if decision.action is Action.REOPEN:
        return State.UNJUDGED.value, None, ""
    if decision.action in (Action.NOTE, Action.MARK):
        return (old.state, old.grade, old.reason) if old else (State.UNJUDGED.value, None, "")
    message = f"`{decision.action}` is not a decision"
    raise StoreError(message)


def is_same_decision(decision: Decision, event: Row[Any], passages: tuple[Passage, ...]) -> bool:
    """Say whether an event, with its passages, is what a decision would make.

    It must have been written already, then.
    """
    return (
        event.action == decision.action.value
        and decision.passages in (None, passages)
        and (event.state, event.grade, event.reason) == state_after(decision, event)
        and decision.note in (None, event.note)
        and decision.shown_at == event.shown_at
    )


def as_task(
    docno: str, event: Row[Any] | JudgementRow | None, passages: tuple[Passage, ...] = ()
) -> Task:
    """Say how a document stands after an event; its passages as a screen has them."""
    if event is None:
        return Task(docno, State.UNJUDGED, None, "", "", 0)
    return Task(
        docno,
        State(event.state),
        event.grade,
        event.note,
        event.reason,
        event.revision,
        passages,
        event.dwell_ms,
        event.judged_at,
    )
