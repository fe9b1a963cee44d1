r"""Judgements of all judges, events or states, JSONL or TSV, from the event's fields.

A file holds either the whole history, one event a line with the values of
`store.event`, or how documents stand now, one line a document and judge with
those of `STATE_FIELDS`. After the judge each line has his or her ``kind``, of
`store.records.JudgeKind`; a file may be without.

JSON lines are one object a line. Tab separated values have a header that names the columns. In
their cells ``\t``, ``\n``, ``\r`` and ``\\`` are a tab, the two line ends and a backslash, and
``\uXXXX`` is any other character that could steer a terminal or that UTF-8 has no bytes for;
quotation marks mean nothing. An empty cell is an empty text or, where there may be none, no value.
Passages are a JSON list, written as any other text is.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import getitem, itemgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from store.errors import ArgumentError, FaultList
from store.event import EVENT, FIELDS, READERS, EventChain, JudgementEvent, event_of_values, event_values
from store.fields import UnfitValueError, checked_values
from store.formats import JudgementsFormat
from store.formats.json_lines import json_line, read_json_lines
from store.formats.lines import read_text_lines
from store.formats.qrels import Numbering
from store.formats.tables import Remembered
from store.records import Action, JudgeKind, Judgement, State
from store.text import BIDI_CONTROLS

STATE_FIELDS = ("topic", "docno", "judge", "state", "grade", "reason", "note", "iteration")
"""Names of the values of a state, in the order in which they are written."""
KEY_FIELDS = STATE_FIELDS[:3]
"""What no two states of a file have in common."""

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

    Faults are reported by code: ``fields`` (a name is missing or unknown), ``value``, and at the end
    ``state`` (state and grade do not go together) and ``duplicate``.
    """

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._lines = array("q")
        self._codes = array("i")
        self._odd: set[int] = set()
        self.numbers = {name: Numbering[Any]() for name in STATE_FIELDS}
        """Of the values of each column, which the caller that adds codes fills."""

    def read(self, values: Mapping[str, Any], line: int, *, is_odd: bool = False) -> None:
        """Take the JSON values of a line, or report what is wrong with them; see `add`."""
        known = checked_values(values, _READERS, line, self._faults)
        if known is not None:
            self.add((self.numbers[name][known[name]] for name in STATE_FIELDS), line, is_odd=is_odd)

    def add(self, codes: Iterable[int], line: int, *, is_odd: bool = False) -> None:
        """Take the codes of a line, in the order of `STATE_FIELDS`.

        One that is odd has a fault that was reported: it is no state, but a second one is a duplicate of it.
        """
        self._codes.extend(codes)
        self._lines.append(line)
        if is_odd:
            self._odd.add(line)

    def finish(self) -> States:
        """Return what has no fault; report states and grades that contradict each other, and duplicates."""
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
        """Return which lines are the first of their topic, docno and judge; report the others."""
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
    if is_chosen.all():
        return states
    return States(
        states.lines[is_chosen], states.values, {name: one[is_chosen] for name, one in states.codes.items()}
    )


_NUMBERS = frozenset(one.name for one in EVENT if one.kind.name in ("int", "seed"))
_MAY_BE_NONE = frozenset(one.name for one in EVENT if one.may_be_none) - _NUMBERS
_ALWAYS = frozenset(one.name for one in EVENT if one.since == 1)
"""Columns that every history has; older ones lack the rest."""
_EARLIER = ("follows", "settled")
"""Columns of histories of programs before 0.3: how copies of a collection that went apart came together."""
_PASSAGES = "passages"
_KIND = "kind"
_WHO = ("judge", _KIND)
_SHOWN = 80
"""Characters of an odd value that a message shows."""

_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_TO_ESCAPE = re.compile(f"[\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff{BIDI_CONTROLS}]")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
_LONG = {escape: character for character, escape in _SHORT.items()}
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.|$)", re.DOTALL)


Kinds = Mapping[str, JudgeKind]
"""What kind each judge is of, by name."""


def history_lines(events: Iterable[JudgementEvent], kinds: Kinds, form: JudgementsFormat) -> Iterator[str]:
    """Yield the lines of a file of events, as they come and without line ends; `kinds` names every judge.

    `ArgumentError` is raised if `form` is not known, or a moment has no time zone.
    """
    return _lines(map(event_values, events), kinds, _with_kind(FIELDS), form)


def state_lines(states: Iterable[Judgement], kinds: Kinds, form: JudgementsFormat) -> Iterator[str]:
    """Yield the lines of a file of current states, without line ends; see `history_lines`."""
    return _lines(map(state_values, states), kinds, _with_kind(STATE_FIELDS), form)


@dataclass(slots=True)
class JudgementsFile:
    """What a file of judgements of every judge holds: events or states."""

    lines: list[int] = field(default_factory=list)
    """Line numbers of `events`."""
    events: list[JudgementEvent] = field(default_factory=list)
    states: States = field(default_factory=lambda: States.of(()))
    kinds: dict[str, JudgeKind] = field(default_factory=dict)
    """What kind each judge is of, where a line says it."""
    n_of_copies: int = 0
    """Events that said how copies of a collection had come together, which was passed over."""


def read_judgements(path: str, form: JudgementsFormat, faults: FaultList) -> JudgementsFile:
    """Read a file of events or of current states: its first line says which it is.

    Faults are reported, and what has none is returned.
    """
    _check(form)
    reader = _Reader(faults)
    if form == "jsonl":
        for number, values in read_json_lines(path, faults):
            reader.read(values, number)
    else:
        _read_tsv(path, reader, faults)
    found = reader.finish()
    if not found.events and not len(found.states) and not faults:
        faults.add(None, "expected judgements, got none", "empty")
    return found


class _Reader:
    """Reads the lines of a file that names every judge."""

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._kinds, self._chain, self._states = _KindReader(faults), EventChain(faults), StateReader(faults)
        self._found = JudgementsFile()
        self._earlier = _EarlierHistory()
        self._is_history: bool | None = None

    def read(self, values: dict[str, Any], line: int) -> None:
        if self._is_history is None:
            self._is_history = is_history(values)
        before = self._faults.count
        self._kinds.take(values, line)
        if not self._is_history:
            self._states.read(values, line, is_odd=self._faults.count > before)
            return
        event = event_of_values(self._earlier.in_one_line(values), line, self._faults)
        if event is not None and self._chain.accepts(event, line) and self._faults.count == before:
            self._found.lines.append(line)
            self._found.events.append(event)

    def reader_of_cells(self, names: list[str]) -> Callable[[list[str], int], bool]:
        """Return what takes a line of cells, of states, without looking twice at a cell of a column.

        It returns whether it did: `read` reports what is wrong with a line that it does not take.
        """
        states, kinds, faults = self._states, self._kinds, self._faults
        remembered = [Remembered(partial(_code_of_cell, name, states.numbers[name])) for name in STATE_FIELDS]
        chosen = itemgetter(*map(names.index, STATE_FIELDS))
        judge_at, kind_at = names.index("judge"), names.index(_KIND) if _KIND in names else None
        agreed: set[tuple[str, str]] = set()

        def take(cells: list[str], line: int) -> bool:
            is_odd = False
            try:
                codes = [*map(getitem, remembered, chosen(cells))]
                if kind_at is not None and (who := (cells[judge_at], cells[kind_at])) not in agreed:
                    before = faults.count
                    kinds.take({name: _value(name, cell) for name, cell in zip(_WHO, who, strict=True)}, line)
                    is_odd = faults.count > before
                    if not is_odd:
                        agreed.add(who)
            except UnfitValueError:
                return False
            states.add(codes, line, is_odd=is_odd)
            return True

        return take

    def finish(self) -> JudgementsFile:
        self._found.states = self._states.finish()
        self._found.kinds = self._kinds.known
        self._found.n_of_copies = self._earlier.n_events
        return self._found


_BY_STATE: dict[str, Action] = {
    State.JUDGED: Action.JUDGE,
    State.SKIPPED: Action.SKIP,
    State.CANNOT: Action.CANNOT,
    State.UNJUDGED: Action.REOPEN,
}


class _EarlierHistory:
    """Reads histories of programs before 0.3, of events that went apart on copies as one line of revisions.

    There the seed of an order was a part of its name: `random:7`.
    An event that settled copies, and one whose state came of another revision than the one before it, is read
    by its state: as the decision that leaves it.
    """

    def __init__(self) -> None:
        self.n_events = 0
        self._apart: set[tuple[str, ...]] = set()

    def in_one_line(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values of an event without how copies came together."""
        order, _, seed = str(values.get("display_order")).partition(":")
        if order == "random" and seed.isdecimal():
            values |= {"display_order": order, "order_seed": int(seed)}
        earlier = [values.pop(name, None) for name in _EARLIER]
        action, state, undoes = (values.get(name) for name in ("action", "state", "undoes"))
        by_state = _BY_STATE.get(str(state))
        pair = tuple(str(values.get(name)) for name in KEY_FIELDS)
        is_apart = action == "settle" or any(one is not None for one in earlier)
        self.n_events += is_apart
        if not is_apart and (undoes is None or (*pair, str(undoes)) not in self._apart):
            return values
        self._apart.add((*pair, str(values.get("revision"))))
        if by_state and action in ("settle", Action.UNDO, Action.NOTE, Action.MARK):
            values |= {"action": by_state.value, "undoes": None}
            if action == "settle":
                values["display_order"] = None
        return values


def _code_of_cell(name: str, numbers: Numbering[Any], cell: str) -> int:
    return numbers[READERS[name](_value(name, cell))]


def is_history(names: Container[str]) -> bool:
    """Return whether what has these names is an event, and no state."""
    return "revision" in names or "action" in names


def escape_cell(text: str) -> str:
    """Write text as a cell of tab separated values."""
    return _TO_ESCAPE.sub(lambda found: _SHORT.get(found[0], f"\\u{ord(found[0]):04x}"), text)


def read_cell(cell: str) -> str | None:
    """Read what `escape_cell` wrote; ``None`` = a backslash begins nothing known."""
    if "\\" not in cell:
        return cell
    if any(len(one) != 6 and one not in _LONG for one in _ESCAPE.findall(cell)):
        return None
    return _ESCAPE.sub(lambda found: _LONG.get(found[0]) or chr(int(found[0][2:], 16)), cell)


class _KindReader:
    """Reads what kind each judge is of, and sees that a file does not contradict itself."""

    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._first_at: dict[str, int] = {}
        self.known: dict[str, JudgeKind] = {}

    def take(self, values: dict[str, Any], line: int) -> None:
        if _KIND not in values:
            return
        value, judge = values.pop(_KIND), values.get("judge")
        if value not in list(JudgeKind):
            listed = ", ".join(JudgeKind)
            got = repr(value)[:_SHOWN]
            self._faults.add(line, f"`{_KIND}`: expected one of {listed}, got {got}", _KIND)
        elif isinstance(judge, str):
            kind = JudgeKind(value)
            known, first = self.known.setdefault(judge, kind), self._first_at.setdefault(judge, line)
            if known is not kind:
                message = f"expected judge `{judge}` to be {known} as on line {first}, got {kind}"
                self._faults.add(line, message, _KIND)


def _with_kind(names: tuple[str, ...]) -> tuple[str, ...]:
    place = names.index("judge") + 1
    return *names[:place], _KIND, *names[place:]


def _check(form: str) -> None:
    if form not in ("jsonl", "tsv"):
        raise ArgumentError("format", "must be jsonl or tsv", form)


def _lines(
    rows: Iterable[dict[str, Any]], kinds: Kinds, names: tuple[str, ...], form: JudgementsFormat
) -> Iterator[str]:
    _check(form)
    whole = (row | {_KIND: kinds[row["judge"]].value} for row in rows)
    if form == "jsonl":
        return (json_line({name: row[name] for name in names}) for row in whole)
    cells = ("\t".join(_cell(name, row[name]) for name in names) for row in whole)
    return chain(["\t".join(names)], cells)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if name == _PASSAGES:
        return escape_cell(json.dumps(value, ensure_ascii=False)) if value else ""
    return escape_cell(value) if isinstance(value, str) else str(value)


def _read_tsv(path: str, reader: _Reader, faults: FaultList) -> None:
    names: list[str] = []
    take: Callable[[list[str], int], bool] | None = None
    for number, text in read_text_lines(path, faults):
        if not text:
            continue
        cells = text.split("\t")
        if not names:
            if not _is_header(cells):
                faults.add(number, _header_words(cells), "header")
                return
            names = cells
            take = None if is_history(names) else reader.reader_of_cells(names)
        elif len(cells) != len(names):
            message = f"expected {len(names)} cells between tabs, got {len(cells)}"
            faults.add(number, message, "fields")
        elif take is None or not take(cells, number):
            _read_cells(names, cells, number, reader, faults)


def _read_cells(names: list[str], cells: list[str], line: int, reader: _Reader, faults: FaultList) -> None:
    values, before = {}, faults.count
    for name, cell in zip(names, cells, strict=True):
        try:
            values[name] = _value(name, cell)
        except UnfitValueError as error:
            faults.add(line, f"`{name}`: {error}", "escape")
    if faults.count == before:
        reader.read(values, line)


def _is_header(cells: list[str]) -> bool:
    named = set(cells) - {_KIND}
    of_events = named >= _ALWAYS and named <= {*FIELDS, *_EARLIER}
    return len(cells) == len(set(cells)) and (of_events or named == {*STATE_FIELDS})


def _header_words(cells: list[str]) -> str:
    of_events = is_history(cells)
    wanted = FIELDS if of_events else STATE_FIELDS
    missing = [name for name in wanted if name not in cells and (name in _ALWAYS or not of_events)]
    wanted = _with_kind(wanted)
    unknown = sorted(set(cells) - set(wanted))
    got = f"without {', '.join(missing)}" if missing else "with a name twice"
    if unknown:
        got = f"with {', '.join(unknown)}" + (f" and {got}" if missing else "")
    return f"expected a header with the columns {', '.join(wanted)}, got one {got}"


def _value(name: str, cell: str) -> Any:
    if name in _NUMBERS or name == _EARLIER[0]:
        if not cell:
            return None
        return int(cell) if _INTEGER.fullmatch(cell) else cell
    text = read_cell(cell)
    if text is None:
        message = f"expected \\t, \\n, \\r, \\\\ or \\uXXXX, got `{cell}`"
        raise UnfitValueError(message)
    if not text and (name in _MAY_BE_NONE or name in _EARLIER):
        return None
    return _passages(text) if name == _PASSAGES else text


def _passages(text: str) -> Any:
    """Read a JSON list; what is none is left to be refused with its name."""
    if not text:
        return []
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
