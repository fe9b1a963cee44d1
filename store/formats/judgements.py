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
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TextIO

from store.errors import ArgumentError, FaultList
from store.event import EVENT, FIELDS, READERS, EventChain, JudgementEvent, event_of_values, event_values
from store.fields import checked_values
from store.formats import JudgementsFormat
from store.formats.json_lines import json_line, read_json_lines
from store.formats.lines import read_text_lines
from store.records import JudgeKind, Judgement, State
from store.text import BIDI_CONTROLS

STATE_FIELDS = ("topic", "docno", "judge", "state", "grade", "reason", "note", "iteration")
"""Names of the values of a state, in the order in which they are written."""

_READERS = {name: READERS[name] for name in STATE_FIELDS}


def state_values(judgement: Judgement) -> dict[str, Any]:
    """Turn a state into JSON values, by the names of `STATE_FIELDS`."""
    values: dict[str, Any] = {name: getattr(judgement, name) for name in STATE_FIELDS}
    values["state"] = judgement.state.value
    return values


class StateReader:
    """Turn JSON values into states; each document stands once with a judge.

    Faults are told by code: ``fields`` (a name is missing or unknown), ``value``, ``state`` (state and
    grade do not go together), ``duplicate``.
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


_NUMBERS = frozenset(one.name for one in EVENT if one.kind.name == "int")
_MAY_BE_NONE = frozenset(one.name for one in EVENT if one.may_be_none) - _NUMBERS
_ALWAYS = frozenset(one.name for one in EVENT if one.since == 1)
"""Columns that every history has; older ones lack the rest."""
_PASSAGES = "passages"
_KIND = "kind"
_SHOWN = 80
"""Characters of an odd value that a message shows."""

_INTEGER = re.compile(r"-?[0-9]{1,10}", re.ASCII)
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


def iterate_judgements(
    path: str, form: JudgementsFormat, faults: FaultList
) -> Iterator[tuple[int, JudgementEvent | Judgement, JudgeKind | None]]:
    """Read a file of events or of current states: its first line says which it is.

    The kind of judge is ``None`` where a line does not say it; a line with a fault is not yielded.
    """
    _check(form)
    rows = read_json_lines(path, faults) if form == "jsonl" else _tsv_values(path, faults)
    events, states, kinds = EventChain(faults), StateReader(faults), _KindReader(faults)
    is_history: bool | None = None
    for number, values in rows:
        if is_history is None:
            is_history = "revision" in values or "action" in values
        before = faults.count
        kind = kinds.take(values, number)
        if is_history:
            event = event_of_values(values, number, faults)
            if event is not None and events.accepts(event, number) and faults.count == before:
                yield number, event, kind
            continue
        state = states.read(values, number)
        if state is not None and faults.count == before:
            yield number, state, kind
    if is_history is None and not faults:
        faults.add(None, "expected judgements, got none", "empty")


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
        self._known: dict[str, tuple[JudgeKind, int]] = {}

    def take(self, values: dict[str, Any], line: int) -> JudgeKind | None:
        """Take the kind out of the values of a line; ``None`` when there is none or a fault."""
        if _KIND not in values:
            return None
        value, judge = values.pop(_KIND), values.get("judge")
        if value not in list(JudgeKind):
            listed = ", ".join(JudgeKind)
            got = repr(value)[:_SHOWN]
            self._faults.add(line, f"`{_KIND}`: expected one of {listed}, got {got}", _KIND)
            return None
        kind = JudgeKind(value)
        if isinstance(judge, str):
            known, first = self._known.setdefault(judge, (kind, line))
            if known is not kind:
                message = f"expected judge `{judge}` to be {known} as on line {first}, got {kind}"
                self._faults.add(line, message, _KIND)
        return kind


def _with_kind(names: tuple[str, ...]) -> tuple[str, ...]:
    """Put the name of the kind behind that of the judge."""
    place = names.index("judge") + 1
    return *names[:place], _KIND, *names[place:]


def _check(form: str) -> None:
    """Refuse a format that is not known."""
    if form not in ("jsonl", "tsv"):
        raise ArgumentError("format", "must be jsonl or tsv", form)


def _lines(
    rows: Iterable[dict[str, Any]], kinds: Kinds, names: tuple[str, ...], form: JudgementsFormat
) -> Iterator[str]:
    """Write rows of JSON values, with the kinds of their judges."""
    _check(form)
    whole = (row | {_KIND: kinds[row["judge"]].value} for row in rows)
    if form == "jsonl":
        return (json_line({name: row[name] for name in names}) for row in whole)
    cells = ("\t".join(_cell(name, row[name]) for name in names) for row in whole)
    return chain(["\t".join(names)], cells)


def _cell(name: str, value: Any) -> str:
    """Write one value."""
    if value is None:
        return ""
    if name == _PASSAGES:
        return escape_cell(json.dumps(value, ensure_ascii=False)) if value else ""
    return escape_cell(value) if isinstance(value, str) else str(value)


def _tsv_values(path: str, faults: FaultList) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read tab separated values as the JSON values they stand for."""
    names: list[str] = []
    for number, text in read_text_lines(path, faults):
        if not text:
            continue
        cells = text.split("\t")
        if not names:
            if not _is_header(cells):
                faults.add(number, _header_words(cells), "header")
                return
            names = cells
        elif len(cells) != len(names):
            message = f"expected {len(names)} cells between tabs, got {len(cells)}"
            faults.add(number, message, "fields")
        else:
            before = faults.count
            values = {
                name: _value(name, cell, number, faults) for name, cell in zip(names, cells, strict=True)
            }
            if faults.count == before:
                yield number, values


def _is_header(cells: list[str]) -> bool:
    """Say whether a line names the columns of events or of states, each once."""
    named = set(cells) - {_KIND}
    of_events = named >= _ALWAYS and named <= {*FIELDS}
    return len(cells) == len(set(cells)) and (of_events or named == {*STATE_FIELDS})


def _header_words(cells: list[str]) -> str:
    """Say what is wrong with a header."""
    is_history = bool({"revision", "action"} & set(cells))
    wanted = FIELDS if is_history else STATE_FIELDS
    missing = [name for name in wanted if name not in cells and (name in _ALWAYS or not is_history)]
    wanted = _with_kind(wanted)
    unknown = sorted(set(cells) - set(wanted))
    got = f"without {', '.join(missing)}" if missing else "with a name twice"
    if unknown:
        got = f"with {', '.join(unknown)}" + (f" and {got}" if missing else "")
    return f"expected a header with the columns {', '.join(wanted)}, got one {got}"


def _value(name: str, cell: str, line: int, faults: FaultList) -> Any:
    """Read one cell as a JSON value."""
    if name in _NUMBERS:
        if not cell:
            return None
        return int(cell) if _INTEGER.fullmatch(cell) else cell
    text = read_cell(cell)
    if text is None:
        faults.add(line, f"`{name}`: expected \\t, \\n, \\r, \\\\ or \\uXXXX, got `{cell}`", "escape")
        return None
    if not text and name in _MAY_BE_NONE:
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


def write_events(events: Iterable[JudgementEvent], stream: TextIO) -> None:
    r"""Write events, one JSON object a line, in the order given; the stream must be UTF-8, ``newline="\n"``.

    Equal events are equal bytes: keys in the order of `FIELDS`, moments in UTC with microseconds where
    there are any, text escaped as by `json_line`. A moment without a time zone raises `ArgumentError`.
    """
    stream.writelines(f"{json_line(event_values(event))}\n" for event in events)


def iterate_events(path: str, faults: FaultList) -> Iterator[tuple[int, JudgementEvent]]:
    """Yield events with their line numbers, from 1; a line with a fault is not yielded."""
    events = EventChain(faults)
    for number, values in read_json_lines(path, faults):
        event = event_of_values(values, number, faults)
        if event is not None and events.accepts(event, number):
            yield number, event
