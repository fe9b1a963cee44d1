"""How documents stand with judges, as files state it: a column a value, a number a cell."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from store.errors import FaultList
from store.event import READERS
from store.fields import checked_values
from store.formats.qrels import Numbering
from store.records import Judgement, State

STATE_FIELDS = ("topic", "docno", "judge", "state", "grade", "reason", "note", "iteration")
"""Names of the values of a state, in the order in which they are written."""
KEY_FIELDS = STATE_FIELDS[:3]
"""What no two states of a file have alike."""

_READERS = {name: READERS[name] for name in STATE_FIELDS}


def state_values(judgement: Judgement) -> dict[str, Any]:
    """Turn a state into JSON values, by the names of `STATE_FIELDS`."""
    values: dict[str, Any] = {name: getattr(judgement, name) for name in STATE_FIELDS}
    values["state"] = judgement.state.value
    return values


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """States, each document once a topic and judge: files have millions, and few different values."""

    lines: NDArray[np.int64]
    """Line numbers from 1, ascending, shape (n_states,)."""
    values: dict[str, list[Any]]
    """By the names of `STATE_FIELDS`: what there is in a column, each once, as it first came."""
    codes: dict[str, NDArray[np.int32]]
    """Likewise: for each state the place of its value in that list, shape (n_states,)."""

    @classmethod
    def of(cls, judgements: Iterable[Judgement]) -> Self:
        """Lay out records, each of another topic, docno or judge."""
        numbers = {name: Numbering[Any]() for name in STATE_FIELDS}
        listed = list(judgements)
        codes = {
            name: own.codes((getattr(one, name) for one in listed), len(listed)).astype(np.int32)
            for name, own in numbers.items()
        }
        return cls(np.arange(1, len(listed) + 1), {name: list(own) for name, own in numbers.items()}, codes)

    def __len__(self) -> int:
        return len(self.lines)

    def column(self, name: str) -> Iterator[Any]:
        """Yield the value of every state."""
        return map(self.values[name].__getitem__, self.codes[name].tolist())

    def records(self) -> Iterator[Judgement]:
        """Yield every state as a record."""
        for topic, docno, judge, state, grade, reason, note, iteration in zip(
            *map(self.column, STATE_FIELDS), strict=True
        ):
            yield Judgement(topic, docno, judge, state, grade, reason=reason, note=note, iteration=iteration)

    def keys(self) -> NDArray[np.int64]:
        """Return a number for the topic, docno and judge of every state, shape (n_states,)."""
        sizes = [max(len(self.values[name]), 1) for name in KEY_FIELDS]
        return np.ravel_multi_index([self.codes[name] for name in KEY_FIELDS], sizes)


class StateReader:
    """Reads states line by line; each document stands once with a judge.

    Faults are told by code: ``fields`` (a name is missing or unknown), ``value``, and at the end ``state``
    (state and grade do not go together) and ``duplicate``.
    """

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._lines = array("q")
        self._codes = array("i")
        self._odd: set[int] = set()
        self.numbers = {name: Numbering[Any]() for name in STATE_FIELDS}
        """Of the values of each column, which whoever adds codes fills."""

    def read(self, values: Mapping[str, Any], line: int, *, is_odd: bool = False) -> None:
        """Take the JSON values of a line, or tell what is wrong with them; see `add`."""
        known = checked_values(values, _READERS, line, self._faults)
        if known is not None:
            self.add((self.numbers[name][known[name]] for name in STATE_FIELDS), line, is_odd=is_odd)

    def add(self, codes: Iterable[int], line: int, *, is_odd: bool = False) -> None:
        """Take the codes of a line, in the order of `STATE_FIELDS`.

        One that is odd has a fault that was told: it is no state, but a second one is a duplicate of it.
        """
        self._codes.extend(codes)
        self._lines.append(line)
        if is_odd:
            self._odd.add(line)

    def finish(self) -> States:
        """Return what has no fault, and tell what states and grades contradict each other, and duplicates."""
        codes = np.array(self._codes, np.int32).reshape(-1, len(STATE_FIELDS))
        values = {name: list(own) for name, own in self.numbers.items()}
        columns = {name: codes[:, place] for place, name in enumerate(STATE_FIELDS)}
        found = States(np.array(self._lines, np.int64), values, columns)
        found = _chosen(found, self._without_contradictions(found))
        is_first = self._without_duplicates(found)
        if self._odd:
            is_first &= ~np.isin(found.lines, list(self._odd))
        return _chosen(found, is_first)

    def _without_contradictions(self, found: States) -> NDArray[np.bool_]:
        """Say of which lines state and grade go together; tell of the others."""
        is_judged = np.array([one is State.JUDGED for one in found.values["state"]], bool)
        has_grade = np.array([one is not None for one in found.values["grade"]], bool)
        fits: NDArray[np.bool_] = is_judged[found.codes["state"]] == has_grade[found.codes["grade"]]
        for place in np.flatnonzero(~fits).tolist():
            state, grade = (found.values[name][found.codes[name][place]] for name in ("state", "grade"))
            got = "none" if grade is None else grade
            due = "a grade" if state is State.JUDGED else "no grade"
            message = f"expected {due} in the state {state}, got {got}"
            self._faults.add(int(found.lines[place]), message, "state")
        return fits

    def _without_duplicates(self, found: States) -> NDArray[np.bool_]:
        """Say which lines are the first of their topic, docno and judge; tell of the others."""
        keys = found.keys()
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        begins = np.ones(len(keys), bool)
        begins[1:] = ordered[1:] != ordered[:-1]
        first_of = order[np.maximum.accumulate(np.where(begins, np.arange(len(keys)), 0))]
        is_first = np.empty(len(keys), bool)
        is_first[order] = begins
        for place, first in zip(order[~begins].tolist(), first_of[~begins].tolist(), strict=True):
            topic, docno, judge = (found.values[name][found.codes[name][place]] for name in KEY_FIELDS)
            message = (
                f"expected each document once a topic and judge, got topic `{topic}` docno `{docno}` judge"
                f" `{judge}`; line {found.lines[first]} has it"
            )
            self._faults.add(int(found.lines[place]), message, "duplicate")
        return is_first


def _chosen(states: States, is_chosen: NDArray[np.bool_]) -> States:
    """Return some of the states."""
    if is_chosen.all():
        return states
    return States(
        states.lines[is_chosen], states.values, {name: one[is_chosen] for name, one in states.codes.items()}
    )
