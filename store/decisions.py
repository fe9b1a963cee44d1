"""How a document stands with a judge after a decision."""

from __future__ import annotations

from sqlalchemy import Row

from store.errors import StoreError
from store.models import JudgementRow
from store.records import Action, Decision, State, Task


def state_after(
    decision: Decision, old: Row[tuple[object, ...]] | None
) -> tuple[str, int | None, str]:
    """Return state, grade and reason after a decision."""
    if decision.action is Action.JUDGE:
        return State.JUDGED.value, decision.grade, ""
    if decision.action is Action.SKIP:
        return State.SKIPPED.value, None, ""
    if decision.action is Action.CANNOT:
        return State.CANNOT.value, None, decision.reason
    if decision.action is Action.REOPEN:
        return State.UNJUDGED.value, None, ""
    if decision.action is Action.NOTE:
        return (old.state, old.grade, old.reason) if old else (State.UNJUDGED.value, None, "")
    message = f"`{decision.action}` is not a decision"
    raise StoreError(message)


def as_task(docno: str, event: Row[tuple[object, ...]] | JudgementRow | None) -> Task:
    """Say how a document stands after an event."""
    if event is None:
        return Task(docno, State.UNJUDGED, None, "", "", 0)
    return Task(docno, State(event.state), event.grade, event.note, event.reason, event.revision)
