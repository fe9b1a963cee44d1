"""How documents stand with judges: the current state, without its history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from store.errors import FaultList
from store.formats.judgement_values import READERS, checked_values
from store.records import Judgement, State

STATE_FIELDS = ("topic", "docno", "judge", "state", "grade", "reason", "note", "iteration")
"""Names of the values of a state, in the order in which they are written."""

_READERS = {name: READERS[name] for name in STATE_FIELDS}


def state_values(judgement: Judgement) -> dict[str, Any]:
    """Turn a state into JSON values, by the names of `STATE_FIELDS`.

    Examples
    --------
    >>> state_values(Judgement("51", "d1", "ann", State.CANNOT, None, reason="empty"))["reason"]
    'empty'
    """
    values: dict[str, Any] = {name: getattr(judgement, name) for name in STATE_FIELDS}
    values["state"] = judgement.state.value
    return values


class StateReader:
    """Turns JSON values into states; each document stands once with a judge.

    Parameters
    ----------
    faults : FaultList
        Where faults are told, by code: ``fields`` (a name is missing or unknown), ``value``,
        ``state`` (state and grade do not go together), ``duplicate``.
    """

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._first_at: dict[tuple[str, str, str], int] = {}

    def read(self, values: Mapping[str, Any], line: int) -> Judgement | None:
        """Return the state of a line; ``None`` when it has a fault."""
        known = checked_values(values, _READERS, line, self._faults)
        if known is None:
            return None
        state = Judgement(**known)
        if (state.state is State.JUDGED) != (state.grade is not None):
            got = "none" if state.grade is None else state.grade
            due = "a grade" if state.state is State.JUDGED else "no grade"
            message = f"expected {due} in the state {state.state}, got {got}"
            self._faults.add(line, message, "state")
            return None
        first = self._first_at.setdefault((state.topic, state.docno, state.judge), line)
        if first < line:
            message = (
                f"expected each document once a topic and judge, got topic `{state.topic}` docno"
                f" `{state.docno}` judge `{state.judge}`; line {first} has it"
            )
            self._faults.add(line, message, "duplicate")
            return None
        return state
