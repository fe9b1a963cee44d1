"""Whole histories as JSON lines, whole and damaged."""

from __future__ import annotations

import gzip
import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from store.errors import ArgumentError, FormatError
from store.event import EVENT, FIELDS, JudgementEvent
from store.records import Action, Passage, State
from tests.helpers.event_files import read_events, written
from tests.store.formats.judgement_events import histories

FIRST = JudgementEvent(
    topic="051",
    docno="FT911-3",
    judge="ann",
    revision=1,
    action=Action.JUDGE,
    undoes=None,
    state=State.JUDGED,
    grade=-2,
    reason="",
    note="lone \ud800, é",
    iteration="0.5",
    passages=(Passage(4, 3, "pea"),),
    display_order="random",
    order_seed=2**40,
    position=0,
    shown_at=datetime(2026, 3, 1, 9, 29, 58, 500_000, tzinfo=UTC),
    judged_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC),
    dwell_ms=1500,
    active_ms=1200,
    dropped_keys=2,
    guideline_version=1,
    document_sha256="ab" * 32,
    sitting=1,
)
LINE = (
    '{"topic": "051", "docno": "FT911-3", "judge": "ann", "kind": "human", "revision": 1, "action": "judge",'
    ' "undoes": null, "state": "judged", "grade": -2, "reason": "", "note": "lone \\ud800, é",'
    ' "iteration": "0.5", "passages": [[4, 3, "pea"]], "display_order": "random",'
    ' "order_seed": 1099511627776, "position": 0,'
    ' "shown_at": "2026-03-01T09:29:58.500000+00:00", "judged_at": "2026-03-01T09:30:00+00:00",'
    ' "dwell_ms": 1500, "active_ms": 1200, "dropped_keys": 2, "guideline_version": 1,'
    ' "document_sha256": "' + "ab" * 32 + '", "sitting": 1,'
    ' "topic_version": null, "view": null}\n'
)


def faults_of(file: Path, *lines: str) -> list[tuple[int | None, str, str]]:
    """Return line, code and message of all that is wrong with a file."""
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    with pytest.raises(FormatError) as refused:
        read_events(str(file))
    return [(fault.line, fault.code, fault.message) for fault in refused.value.faults]


def changed(**changes: Any) -> str:
    """Return the line of the first event with other values."""
    return json.dumps({**json.loads(LINE), **changes})


def test_event_is_written_as_documented(tmp_path: Path) -> None:
    """The keys stand in their order, moments are ISO in UTC, and gzip is seen through."""
    assert written([FIRST]) == LINE
    (tmp_path / "e").write_bytes(gzip.compress(b"\n" + LINE.encode()))
    assert read_events(str(tmp_path / "e")) == [FIRST]
    assert tuple(json.loads(LINE)) == (*FIELDS[:3], "kind", *FIELDS[3:])


@given(events=histories().filter(bool))
def test_what_is_written_is_read_back_and_written_the_same(
    events: list[JudgementEvent], tmp_path: Path
) -> None:
    """read(write(x)) == x and write(read(f)) == f, for texts of any characters."""
    file, text = tmp_path / "e", written(events)
    file.write_text(text, "utf-8", newline="")
    assert read_events(str(file)) == events
    assert written(read_events(str(file))) == text


def test_moments_of_any_zone_become_utc(tmp_path: Path) -> None:
    """Half past nine in Tokyo is half past midnight; a naive moment is never written."""
    tokyo = timezone(timedelta(hours=9))
    local = replace(FIRST, judged_at=datetime(2026, 3, 1, 9, 30, tzinfo=tokyo), shown_at=None)
    assert '"judged_at": "2026-03-01T00:30:00+00:00"' in written([local])
    (tmp_path / "e").write_text(changed(judged_at="2026-03-01T09:30:00+09:00"), "utf-8")
    assert read_events(str(tmp_path / "e"))[0].judged_at == local.judged_at
    with pytest.raises(ArgumentError, match="`moment` must have a time zone"):
        written([replace(FIRST, judged_at=datetime(2026, 3, 1, 9, 30))])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topic": ""}, "`topic`: expected an id, got nothing"),
        ({"topic": "#1"}, "`topic`: expected a topic that does not begin with `#`"),
        ({"topic": 51}, "`topic`: expected text, got 51"),
        ({"docno": "a b"}, "`docno`: expected an id without blanks, got 'a b'"),
        ({"judge": "\u202eann"}, "`judge`: expected an id without control characters"),
        ({"judge": None}, "`judge`: expected text, got null"),
        ({"revision": 0}, "`revision`: expected an integer of at least 1, got 0"),
        ({"revision": True}, "`revision`: expected an integer, got true"),
        ({"revision": 1.0}, "`revision`: expected an integer, got 1.0"),
        ({"action": "grade"}, "`action`: expected one of judge, skip, cannot, note, mark, undo,"),
        ({"action": []}, "`action`: expected one of judge, skip"),
        ({"state": "tied"}, "`state`: expected one of unjudged, skipped, cannot, judged, got"),
        ({"state": {}}, "`state`: expected one of unjudged"),
        ({"grade": "2"}, "`grade`: expected an integer, got '2'"),
        ({"grade": 2**31}, "`grade`: expected an integer from -2147483647 to 2147483647, got 2147483"),
        ({"reason": None}, "`reason`: expected text, got null"),
        ({"iteration": ""}, "`iteration`: expected an id, got nothing"),
        ({"passages": None}, "`passages`: expected a list of passages, got null"),
        ({"passages": [[0, 2, "pea"]]}, "`passages`: expected passages as [start, length, text of"),
        ({"passages": [[-1, 3, "pea"]]}, "`passages`: expected passages as [start, length"),
        ({"passages": [[0, 0, ""]]}, "`passages`: expected passages as [start, length"),
        ({"passages": [[True, 3, "pea"]]}, "`passages`: expected passages as [start, length"),
        ({"passages": [[0, 3]]}, "`passages`: expected passages as [start, length"),
        ({"display_order": ""}, "`display_order`: expected text or null, got an empty text"),
        ({"position": -1}, "`position`: expected an integer of at least 0, got -1"),
        ({"judged_at": None}, "`judged_at`: expected a moment like 2026-03-01T09:30:00+00:00, got null"),
        ({"judged_at": "yesterday"}, "`judged_at`: expected a moment like 2026-03-01T09:30:00+00"),
        ({"judged_at": "2026-03-01T09:30:00"}, "`judged_at`: expected a moment like"),
        ({"judged_at": "0001-01-01T00:00:00+14:00"}, "`judged_at`: expected a moment like"),
        ({"dropped_keys": None}, "`dropped_keys`: expected an integer, got null"),
        ({"guideline_version": 0}, "`guideline_version`: expected an integer of at least 1, got 0"),
        ({"sitting": 0}, "`sitting`: expected an integer of at least 1, got 0"),
    ],
)
def test_values_that_cannot_be_are_faults_with_their_name(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    """Each value is checked on its own: what was expected, and what was got."""
    [(line, code, got)] = faults_of(tmp_path / "e", changed(**changes))
    assert (line, code) == (1, "value")
    assert got.startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grade": None}, "expected a grade in the state judged, got none"),
        ({"action": "note", "state": "unjudged"}, "expected no grade in the state unjudged, got -2"),
        ({"action": "skip"}, "expected the state skipped after the action skip, got judged"),
        ({"action": "undo"}, "expected a revision in `undoes` of the action undo, got null"),
        ({"undoes": 1}, "expected null in `undoes` of the action judge, got 1"),
        ({"action": "undo", "undoes": 1}, "expected a revision before 1 in `undoes`, got 1"),
    ],
)
def test_parts_that_contradict_each_other_are_faults(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    """Action, state, grade and what is undone must go together."""
    assert faults_of(tmp_path / "e", changed(**changes)) == [(1, "state", message)]


def test_revisions_rise_by_one_for_each_document_and_judge(tmp_path: Path) -> None:
    """A revision left out and one that comes twice are faults; other judges have their own."""
    lines = [
        changed(),
        changed(judge="bob"),
        changed(revision=3),
        changed(revision=4),
        changed(revision=4),
        changed(docno="new", revision=2),
    ]
    of_ann = "of topic `051` docno `FT911-3` judge `ann`, got"
    assert faults_of(tmp_path / "e", *lines) == [
        (3, "revision", f"expected revision 2 {of_ann} 3"),
        (5, "revision", f"expected revision 5 {of_ann} 4"),
        (6, "revision", "expected revision 1 of topic `051` docno `new` judge `ann`, got 2"),
    ]


def test_every_fault_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    """Broken JSON, missing and unknown keys, bad values: all lines at once, blank ones passed."""
    bare = json.loads(LINE)
    del bare["note"], bare["sitting"]
    lines = [
        "",
        "{",
        json.dumps(bare | {"colour": 1, "age": 2}),
        changed(topic="", grade="x"),
        '{"topic": "1", "topic": "1"}',
        "[]",
    ]
    known = ", ".join(FIELDS)
    found = faults_of(tmp_path / "e", *lines)
    assert [(line, code) for line, code, _ in found] == [
        (2, "json"),
        *[(3, "fields")] * 4,
        *[(4, "value")] * 2,
        *[(5, "json"), (6, "json")],
    ]
    assert [message for line, _, message in found if line == 3] == [
        "expected the key `note`, got none",
        "expected the key `sitting`, got none",
        f"unknown key `age`; known: {known}",
        f"unknown key `colour`; known: {known}",
    ]


def test_bytes_that_are_no_utf8_are_a_fault(tmp_path: Path) -> None:
    """A file in another encoding is refused by line and byte."""
    (tmp_path / "e").write_bytes(LINE.encode() + b'{"note": "\xe9"}\n')
    with pytest.raises(FormatError, match=r"e:2: expected UTF-8, got byte 0xe9 at column 11"):
        read_events(str(tmp_path / "e"))


def test_every_field_of_the_record_has_its_row_in_the_table() -> None:
    """The table and the record name the same fields in the same order, and agree on what may be none."""
    assert [one.name for one in fields(JudgementEvent)] == list(FIELDS)
    assert {one.name for one in EVENT if one.may_be_none} == {
        one.name for one in fields(JudgementEvent) if str(one.type).endswith("| None")
    }
