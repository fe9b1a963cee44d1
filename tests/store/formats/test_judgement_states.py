"""`store.formats.judgements`: how documents stand, one by one."""

from __future__ import annotations

from typing import Any

import pytest

from store.errors import FaultList
from store.formats.judgements import STATE_FIELDS, StateReader, state_values
from store.records import Judgement, State

ONE = Judgement("51", "d1", "ann", State.JUDGED, 2, note="n", iteration="3")
VALUES = {
    "topic": "51",
    "docno": "d1",
    "judge": "ann",
    "state": "judged",
    "grade": 2,
    "reason": "",
    "note": "n",
    "iteration": "3",
}


def read(*rows: dict[str, Any]) -> tuple[list[Judgement | None], list[tuple[int | None, str, str]]]:
    """Return what is read of rows, and what is wrong with them."""
    faults = FaultList("f")
    reader = StateReader(faults)
    found = [reader.read(values, line) for line, values in enumerate(rows, start=1)]
    return found, [(one.line, one.code, one.message) for one in faults.kept]


def test_state_and_its_values_are_each_other() -> None:
    """The values have the documented names in their order, and are read back."""
    assert state_values(ONE) == VALUES
    assert tuple(VALUES) == STATE_FIELDS
    assert read(VALUES) == ([ONE], [])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grade": None}, "expected a grade in the state judged, got none"),
        ({"state": "cannot"}, "expected no grade in the state cannot, got 2"),
    ],
)
def test_state_and_grade_must_go_together(changes: dict[str, Any], message: str) -> None:
    """A judged document has a grade, and no other has one."""
    assert read(VALUES | changes) == ([None], [(1, "state", message)])


def test_document_stands_once_with_a_judge() -> None:
    """The second line of a document, topic and judge is a fault that names the first."""
    found, faults = read(VALUES, VALUES | {"judge": "bob"}, VALUES | {"grade": 0})
    assert [one is None for one in found] == [False, False, True]
    message = (
        "expected each document once a topic and judge, got topic `51` docno `d1` judge `ann`; line 1 has it"
    )
    assert faults == [(3, "duplicate", message)]


def test_names_and_values_are_checked() -> None:
    """A missing name, one too many and a value that cannot be are faults of their line."""
    bare = {name: value for name, value in VALUES.items() if name != "note"}
    assert [fault[:2] for fault in read(bare | {"age": 1}, VALUES | {"docno": "a b"})[1]] == [
        (1, "fields"),
        (1, "fields"),
        (2, "value"),
    ]
