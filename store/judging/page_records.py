"""What a judging page says was done: one record an event, read from a file or of a request.

A record says what the judge did and on which revision; the state that follows, the round and, of a request,
the moment come from the desk.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from store.errors import ArgumentError, FaultList
from store.event import READERS, SHOWN
from store.fields import MOMENT, PASSAGES, PROSE, Reader, UnfitValueError, checked_values, or_none, whole
from store.judging.events import DECIDES
from store.records import Action, Decision

LONGEST_NOTE, LONGEST_REASON = 20_000, 1000
"""Characters that a page lets be typed."""


def _read_window(value: Any) -> str:
    """Read what a page calls a window; in a file it begins with the signature of the page's head."""
    if not isinstance(value, str) or not re.fullmatch("[0-9a-f]{16}", value):
        raise UnfitValueError("expected 16 hexadecimal digits")
    return value


_COPIED = ("topic", "docno", "revision", "action", "undoes", "grade", "reason")
RECORD: dict[str, Reader] = {
    "window": _read_window,
    "number": whole(1).read,
    "opened_at": MOMENT.read,
    **{name: READERS[name] for name in (*_COPIED, *SHOWN, "judged_at")},
    "note": or_none(PROSE.read),
    "passages": or_none(PASSAGES.read),
}
"""How the values of a record are read. `note` and `passages` (of the text as it was shown) are null where
they are not what was done; `opened_at` is when the window was; `revision` counts the judge's events on the
document, this one with them, as the page knows them."""
_VALUES = {"undoes": Action.UNDO, "grade": Action.JUDGE, "note": Action.NOTE, "passages": Action.MARK}
"""What comes with one action, and with no other."""
_DONE = (*DECIDES, Action.NOTE, Action.MARK, Action.UNDO)


def action_fault(known: Mapping[str, Any]) -> str | None:
    """Return why no judge did what a record says; ``None`` = one could."""
    action = known["action"]
    if action not in _DONE:
        return f"`action`: expected one of {', '.join(_DONE)}, got {action}"
    for name, of in _VALUES.items():
        if (known[name] is not None) != (action is of):
            return f"`{name}`: expected a value with the action {of}, and with no other"
    if bool(known["reason"]) != (action is Action.CANNOT):
        return f"`reason`: expected words with the action {Action.CANNOT}, and with no other"
    return None


def decision_of(known: Mapping[str, Any], **more: Any) -> Decision:
    """Return what a record decides, of an action that is no undo."""
    names = ("topic", "docno", "action", "grade", "reason", "note", "passages", *SHOWN)
    return Decision(**{name: known[name] for name in names}, **more)


class RecordAsked(NamedTuple):
    """What a window asks to be written."""

    decision: Decision
    undoes: int | None
    """The revision that an undo takes back."""
    keep: bool
    """What was decided elsewhere stands: this one is noted, and taken back at once."""
    guidelines: int | None
    topic_version: int | None
    """Versions that the judge read."""


def read_asked(values: Mapping[str, Any]) -> RecordAsked:
    """Read the request of a window; `ArgumentError`: no page writes it so."""
    faults = FaultList("record")
    record, versions, sha256 = values["record"], values["versions"], values.get("sha256")
    known = checked_values(record, RECORD, 1, faults) if isinstance(record, dict) else None
    fault = "expected a record" if known is None else action_fault(known)
    try:
        guidelines, topic_version = map(or_none(whole(1).read), versions)
    except (UnfitValueError, TypeError, ValueError):
        fault = fault or "expected two versions"
    if sha256 is not None and not (isinstance(sha256, str) and re.fullmatch("[0-9a-f]{64}", sha256)):
        fault = fault or "expected a hash"
    if known is None or fault is not None:
        raise ArgumentError("record", fault or "", record)
    if len(known["note"] or "") > LONGEST_NOTE or len(known["reason"]) > LONGEST_REASON:
        raise ArgumentError("note", f"must have at most {LONGEST_NOTE:,} characters", known["action"])
    decision = decision_of(known, seen_revision=known["revision"] - 1, document_sha256=sha256)
    keep = values.get("keep") is True
    return RecordAsked(decision, known["undoes"], keep, guidelines, topic_version)
