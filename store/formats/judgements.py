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
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from operator import getitem
from typing import Any

from store.errors import FaultList
from store.event import (
    ACTION_OF,
    EVENT,
    FIELDS,
    READERS,
    EventChain,
    JudgementEvent,
    event_of_values,
    event_values,
    grade_fault,
)
from store.fields import UnfitValueError, checked_values
from store.formats import JudgementsFormat
from store.formats.json_lines import json_line, read_json_lines
from store.formats.lines import read_text_lines
from store.formats.tables import Remembered
from store.records import Action, JudgeKind, Judgement
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


_NUMBERS = frozenset(one.name for one in EVENT if one.kind.name in ("int", "seed"))
_MAY_BE_NONE = frozenset(one.name for one in EVENT if one.may_be_none) - _NUMBERS
_ALWAYS = frozenset(one.name for one in EVENT if one.since == 1)
"""Columns that every history has; older ones lack the rest."""
_EARLIER = ("follows", "settled")
"""Columns of histories of programs before 0.3: how copies of a collection that went apart came together."""
_PASSAGES = "passages"
_KIND = "kind"
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
    """Yield the lines of a file of events, as they come and without line ends; `kinds` names every judge."""
    return _lines(map(event_values, events), kinds, _with_kind(FIELDS), form)


def state_lines(states: Iterable[Judgement], kinds: Kinds, form: JudgementsFormat) -> Iterator[str]:
    """Yield the lines of a file of current states, without line ends; see `history_lines`."""
    return _lines(map(state_values, states), kinds, _with_kind(STATE_FIELDS), form)


@dataclass(slots=True)
class JudgementsFile:
    """What a file of judgements of every judge holds: events or states."""

    lines: list[int] = field(default_factory=list)
    """Line numbers of the events or states."""
    events: list[JudgementEvent] = field(default_factory=list)
    states: list[Judgement] = field(default_factory=list)
    """Each document once a topic and judge."""
    kinds: dict[str, JudgeKind] = field(default_factory=dict)
    """What kind each judge is of, where a line says it."""
    n_of_copies: int = 0
    """Events that said how copies of a collection had come together, which was passed over."""


def read_judgements(path: str, form: JudgementsFormat, faults: FaultList) -> JudgementsFile:
    """Read a file of events or of states, as its first line says; faults are reported, the rest returned."""
    reader = _Reader(faults)
    if form == "jsonl":
        for number, values in read_json_lines(path, faults):
            reader.read(values, number)
    else:
        _read_tsv(path, reader, faults)
    found = reader.finish()
    if not found.lines and not faults:
        faults.add(None, "expected judgements, got none", "empty")
    return found


class _Reader:
    def __init__(self, faults: FaultList) -> None:
        self._faults = faults
        self._chain, self._earlier = EventChain(faults), _EarlierHistory()
        self._found = JudgementsFile()
        self._is_history: bool | None = None
        self._first_at: dict[tuple[str, str, str], int] = {}
        self._kind_at: dict[str, int] = {}

    def read(self, values: dict[str, Any], line: int) -> None:
        """Take the JSON values of a line, or report what is wrong with them."""
        if self._is_history is None:
            self._is_history = is_history(values)
        before = self._faults.count
        if _KIND in values:
            value, judge = values.pop(_KIND), values.get("judge")
            if value not in list(JudgeKind):
                got = repr(value)[:_SHOWN]
                message = f"`{_KIND}`: expected one of {', '.join(JudgeKind)}, got {got}"
                self._faults.add(line, message, _KIND)
            elif isinstance(judge, str):
                self._take_kind(judge, JudgeKind(value), line)
        if not self._is_history:
            known = checked_values(values, _READERS, line, self._faults)
            if known is not None:
                self._add_state(Judgement(**known), line, is_odd=self._faults.count > before)
            return
        event = event_of_values(self._earlier.in_one_line(values), line, self._faults)
        if event is not None and self._chain.accepts(event, line) and self._faults.count == before:
            self._found.lines.append(line)
            self._found.events.append(event)

    def read_state(self, known: dict[str, Any], line: int) -> None:
        """Take the values of a state, each of them read, and what kind the judge is of."""
        before, kind = self._faults.count, known.pop(_KIND, None)
        if kind is not None:
            self._take_kind(known["judge"], kind, line)
        self._add_state(Judgement(**known), line, is_odd=self._faults.count > before)

    def _take_kind(self, judge: str, kind: JudgeKind, line: int) -> None:
        known, first = self._found.kinds.setdefault(judge, kind), self._kind_at.setdefault(judge, line)
        if known is not kind:
            message = f"expected judge `{judge}` to be {known} as on line {first}, got {kind}"
            self._faults.add(line, message, _KIND)

    def _add_state(self, state: Judgement, line: int, *, is_odd: bool) -> None:
        """Take a state; one with a fault is none, but a second one is a duplicate of it."""
        if message := grade_fault(state.state, state.grade):
            self._faults.add(line, message, "state")
            return
        first = self._first_at.setdefault((state.topic, state.docno, state.judge), line)
        if first != line:
            message = (
                f"expected each document once a topic and judge, got topic `{state.topic}` docno"
                f" `{state.docno}` judge `{state.judge}`; line {first} has it"
            )
            self._faults.add(line, message, "duplicate")
        elif not is_odd:
            self._found.lines.append(line)
            self._found.states.append(state)

    def finish(self) -> JudgementsFile:
        self._found.n_of_copies = self._earlier.n_events
        return self._found


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
        by_state = ACTION_OF.get(str(state))
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


def _with_kind(names: tuple[str, ...]) -> tuple[str, ...]:
    place = names.index("judge") + 1
    return *names[:place], _KIND, *names[place:]


def _lines(
    rows: Iterable[dict[str, Any]], kinds: Kinds, names: tuple[str, ...], form: JudgementsFormat
) -> Iterator[str]:
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
    read_cells: list[Remembered[str]] = []
    for number, text in read_text_lines(path, faults):
        if not text:
            continue
        cells = text.split("\t")
        if not names:
            if not _is_header(cells):
                faults.add(number, _header_words(cells), "header")
                return
            names = cells
            if not is_history(names):
                read_cells = [Remembered(partial(_read_cell, name)) for name in names]
        elif len(cells) != len(names):
            message = f"expected {len(names)} cells between tabs, got {len(cells)}"
            faults.add(number, message, "fields")
        else:
            # Files have millions of states, and few different values: each is read once.
            with suppress(ValueError):
                if read_cells:
                    reader.read_state(dict(zip(names, map(getitem, read_cells, cells), strict=True)), number)
                    continue
            values, before = {}, faults.count
            for name, cell in zip(names, cells, strict=True):
                try:
                    values[name] = _value(name, cell)
                except UnfitValueError as error:
                    faults.add(number, f"`{name}`: {error}", "escape")
            if faults.count == before:
                reader.read(values, number)


def _read_cell(name: str, cell: str) -> Any:
    value = _value(name, cell)
    return JudgeKind(value) if name == _KIND else READERS[name](value)


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
        raise UnfitValueError(f"expected \\t, \\n, \\r, \\\\ or \\uXXXX, got `{cell}`")
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
