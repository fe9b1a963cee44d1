"""Files of judgement events, a JSON object a line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from store.errors import FaultList
from store.event import JudgementEvent
from store.formats.judgements import history_lines, read_judgements
from store.records import JudgeKind


def read_events(path: str) -> list[JudgementEvent]:
    """Read a file of events whole, or raise all its faults."""
    faults = FaultList(path)
    found = read_judgements(path, "jsonl", faults)
    faults.raise_if_any()
    return found.events


def written(events: Iterable[JudgementEvent]) -> str:
    """Return the text of a file of events."""
    kinds = defaultdict(lambda: JudgeKind.HUMAN)
    return "".join(f"{line}\n" for line in history_lines(events, kinds, "jsonl"))
