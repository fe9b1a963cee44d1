"""`store.formats.judgements`: how documents stand, line by line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store.errors import FaultList
from store.formats.json_lines import json_line
from store.formats.judgements import STATE_FIELDS, read_judgements, state_values
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


Found = tuple[list[tuple[int, Judgement]], list[tuple[int | None, str, str]]]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Found]:
    """Return what is read of rows, with its lines, and what is wrong with them."""

    def reader(*rows: dict[str, Any]) -> Found:
        path = tmp_path / "f"
        path.write_text("".join(f"{json_line(values)}\n" for values in rows))
        faults = FaultList(str(path))
        found = read_judgements(str(path), "jsonl", faults)
        told = [(one.line, one.code, one.message) for one in faults.kept]
        return [*zip(found.lines, found.states, strict=True)], told

    return reader


def test_state_and_its_values_are_each_other(read: Callable[..., Found]) -> None:
    """The values have the documented names in their order, and are read back."""
    assert state_values(ONE) == VALUES
    assert tuple(VALUES) == STATE_FIELDS
    assert read(VALUES) == ([(1, ONE)], [])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grade": None}, "expected a grade in the state judged, got none"),
        ({"state": "cannot"}, "expected no grade in the state cannot, got 2"),
    ],
)
def test_state_and_grade_must_go_together(
    read: Callable[..., Found], changes: dict[str, Any], message: str
) -> None:
    """A judged document has a grade, and no other has one."""
    assert read(VALUES | changes) == ([], [(1, "state", message)])


def test_document_stands_once_with_a_judge(read: Callable[..., Found]) -> None:
    """The second line of a document, topic and judge is a fault that names the first."""
    found, faults = read(VALUES, VALUES | {"judge": "bob"}, VALUES | {"grade": 0})
    assert found == [(1, ONE), (2, replace(ONE, judge="bob"))]
    message = (
        "expected each document once a topic and judge, got topic `51` docno `d1` judge `ann`; line 1 has it"
    )
    assert faults == [(3, "duplicate", message)]


def test_line_without_a_state_is_not_the_first_of_its_document(read: Callable[..., Found]) -> None:
    """Where state and grade contradict each other nothing is said of a document, so nothing twice."""
    found, faults = read(VALUES | {"grade": None}, VALUES, VALUES)
    assert found == [(2, ONE)]
    assert [fault[:2] for fault in faults] == [(1, "state"), (3, "duplicate")]
    assert faults[1][2].endswith("; line 2 has it")


def test_names_and_values_are_checked(read: Callable[..., Found]) -> None:
    """A missing name, one too many and a value that cannot be are faults of their line."""
    bare = {name: value for name, value in VALUES.items() if name != "note"}
    assert [fault[:2] for fault in read(bare | {"age": 1}, VALUES | {"docno": "a b"})[1]] == [
        (1, "fields"),
        (1, "fields"),
        (2, "value"),
    ]
