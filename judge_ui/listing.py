"""Which documents of a queue a list shows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from store.records import State, Task


class Filter(StrEnum):
    """What a list can be cut down to, besides a grade."""

    ALL = "all"
    UNJUDGED = "no decision"
    JUDGED = "judged"
    SKIPPED = "skipped"
    CANNOT = "can't judge"
    NOTED = "with a note"
    MARKED = "with passages"
    QUICK = "decided quickly"


_STATES = {
    Filter.UNJUDGED: State.UNJUDGED,
    Filter.JUDGED: State.JUDGED,
    Filter.SKIPPED: State.SKIPPED,
    Filter.CANNOT: State.CANNOT,
}


def places(tasks: Sequence[Task], wanted: Filter | int, *, quick_s: float) -> list[int]:
    """Return the places of the documents that a filter lets through.

    Parameters
    ----------
    tasks : sequence of Task
        A queue.
    wanted : Filter or int
        A filter, or a grade value.
    quick_s : float
        A decision after fewer seconds on the screen counts as quick; one whose time is not known
        does not.

    Examples
    --------
    >>> tasks = [
    ...     Task("d1", State.JUDGED, 2, "", "", 1, dwell_ms=400),
    ...     Task("d2", State.UNJUDGED, None, "odd", "", 1),
    ... ]
    >>> [places(tasks, wanted, quick_s=1.0) for wanted in (2, Filter.NOTED, Filter.QUICK)]
    [[0], [1], [0]]
    """
    return [place for place, task in enumerate(tasks) if _is_wanted(task, wanted, quick_s)]


def _is_wanted(task: Task, wanted: Filter | int, quick_s: float) -> bool:
    """Say whether a filter lets a document through."""
    if not isinstance(wanted, Filter):
        return task.state is State.JUDGED and task.grade == wanted
    if wanted in _STATES:
        return task.state is _STATES[wanted]
    if wanted is Filter.NOTED:
        return bool(task.note)
    if wanted is Filter.MARKED:
        return bool(task.passages)
    if wanted is Filter.QUICK:
        is_decided = task.state in (State.JUDGED, State.CANNOT)
        return is_decided and task.dwell_ms is not None and task.dwell_ms < quick_s * 1000
    return True
