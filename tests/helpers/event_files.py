"""Files of judgement events, a JSON object a line."""

from __future__ import annotations

from collections.abc import Iterable

from store.errors import FaultList
from store.event import EventChain, JudgementEvent, event_of_values, event_values
from store.formats.syntax.json_lines import json_line, read_json_lines


def read_events(path: str) -> list[JudgementEvent]:
    """Read a file of events whole, or raise all its faults."""
    faults = FaultList(path)
    chain, events = EventChain(faults), []
    for number, values in read_json_lines(path, faults):
        event = event_of_values(values, number, faults)
        if event is not None and chain.accepts(event, number):
            events.append(event)
    faults.raise_if_any()
    return events


def written(events: Iterable[JudgementEvent]) -> str:
    """Return the text of a file of events."""
    return "".join(f"{json_line(event_values(event))}\n" for event in events)
