"""`store.formats.judgements`: histories and states as JSON lines and tab separated values."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FaultList, FormatError
from store.event import FIELDS, JudgementEvent
from store.formats import JudgementsFormat
from store.formats.judgements import (
    STATE_FIELDS,
    escape_cell,
    history_lines,
    read_cell,
    read_judgements,
    state_lines,
)
from store.records import JudgeKind, Judgement, State
from tests.store.formats.judgement_events import histories, states

pytestmark = pytest.mark.slow

KINDS = defaultdict(lambda: JudgeKind.ADJUDICATOR, a=JudgeKind.HUMAN)
FORMATS: list[JudgementsFormat] = ["jsonl", "tsv"]
HEADER = "\t".join(STATE_FIELDS)
LISTED = "topic, docno, judge, kind, state, grade, reason, note, iteration"
forms = st.sampled_from(FORMATS)


def write(file: Path, lines: Iterator[str] | list[str]) -> str:
    """Write lines to a file and return their text."""
    text = "".join(f"{line}\n" for line in lines)
    file.write_text(text, "utf-8", newline="")
    return text


def read(file: Path, form: JudgementsFormat) -> list[JudgementEvent | Judgement]:
    """Return what a file holds, or raise what is wrong with it."""
    faults = FaultList("f")
    found = read_judgements(str(file), form, faults)
    faults.raise_if_any()
    return [*found.events, *found.states]


@given(events=histories().filter(bool), form=forms)
def test_histories_are_read_back_and_written_the_same(
    events: list[JudgementEvent], form: JudgementsFormat, tmp_path: Path
) -> None:
    """Every event comes back in either format, and its file has the same bytes again."""
    text = write(tmp_path / "f", history_lines(events, KINDS, form))
    again = [one for one in read(tmp_path / "f", form) if isinstance(one, JudgementEvent)]
    assert again == events
    assert write(tmp_path / "g", history_lines(again, KINDS, form)) == text


@given(records=states().filter(bool), form=forms)
def test_states_are_read_back_and_written_the_same(
    records: list[Judgement], form: JudgementsFormat, tmp_path: Path
) -> None:
    """Every state comes back in either format, and its file has the same bytes again."""
    text = write(tmp_path / "f", state_lines(records, KINDS, form))
    again = [one for one in read(tmp_path / "f", form) if isinstance(one, Judgement)]
    assert again == records
    assert write(tmp_path / "g", state_lines(again, KINDS, form)) == text


@given(events=histories().filter(bool))
def test_tsv_is_a_plain_table_to_other_programs(events: list[JudgementEvent], tmp_path: Path) -> None:
    """Python's csv module, told that nothing is quoted, finds as many cells on every line."""
    write(tmp_path / "f", history_lines(events, KINDS, "tsv"))
    with (tmp_path / "f").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert rows[0] == [*FIELDS[:3], "kind", *FIELDS[3:]]
    assert len(rows) == len(events) + 1
    assert {len(row) for row in rows} == {len(FIELDS) + 1}
    assert [row[4] for row in rows[1:]] == [str(event.revision) for event in events]


def test_tsv_is_written_as_documented() -> None:
    """Tabs, line ends and backslashes have their escapes; what is not there is empty."""
    one = Judgement("1", "d", "a", State.CANNOT, None, reason="a\tb", note='\\ "é"\n\u202e\ud800')
    assert list(state_lines([one], KINDS, "tsv")) == [
        "topic\tdocno\tjudge\tkind\tstate\tgrade\treason\tnote\titeration",
        '1\td\ta\thuman\tcannot\t\ta\\tb\t\\\\ "é"\\n\\u202e\\ud800\t0',
    ]


@given(st.text(st.characters(exclude_categories=()), max_size=8))
def test_cells_are_read_back(text: str) -> None:
    """Any text is a cell without tabs, line ends or what UTF-8 cannot hold, and comes back."""
    cell = escape_cell(text)
    assert "\t" not in cell
    assert cell.splitlines() == ([cell] if text else [])
    cell.encode("utf-8")
    assert read_cell(cell) == text


def test_columns_and_keys_may_come_in_any_order(tmp_path: Path) -> None:
    """A table whose columns somebody moved is read the same, as is its line of JSON."""
    one = Judgement("1", "d", "a", State.JUDGED, 2)
    write(tmp_path / "f", ["grade\tjudge\ttopic\tdocno\tstate\tnote\treason\titeration",
                           "2\ta\t1\td\tjudged\t\t\t0"])  # fmt: skip
    assert read(tmp_path / "f", "tsv") == [one]
    write(tmp_path / "f", ['{"grade": 2, "judge": "a", "topic": "1", "docno": "d", "state":'
                           ' "judged", "note": "", "reason": "", "iteration": "0"}'])  # fmt: skip
    assert read(tmp_path / "f", "jsonl") == [one]


@given(events=histories().filter(bool), form=forms)
def test_files_from_before_a_column_was_there_are_read(
    events: list[JudgementEvent], form: JudgementsFormat, tmp_path: Path
) -> None:
    """The last key came later: without it the topic's text is not known."""
    plain = [replace(event, topic_version=None) for event in events]
    lines = list(history_lines(plain, KINDS, form))
    if form == "tsv":
        older = [line.rsplit("\t", 1)[0] for line in lines]
    else:
        older = [line.split(', "topic_version"')[0] + "}" for line in lines]
    write(tmp_path / "f", older)
    assert read(tmp_path / "f", form) == plain


def test_a_history_without_a_column_of_its_beginning_is_refused(tmp_path: Path) -> None:
    """Only what came later may be missing."""
    names = [name for name in FIELDS if name not in ("position", "topic_version")]
    write(tmp_path / "f", ["\t".join(names)])
    with pytest.raises(FormatError, match=r"got one without position$"):
        read(tmp_path / "f", "tsv")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "f: expected judgements, got none"),
        ([HEADER], "f: expected judgements, got none"),
        (
            ["topic\tdocno\tjudge\tstate\tgrade\treason\tnote"],
            f"f:1: expected a header with the columns {LISTED}, got one without iteration",
        ),
        ([f"{HEADER}\tage"], f"f:1: expected a header with the columns {LISTED}, got one with age"),
        ([f"{HEADER}\tnote"], f"f:1: expected a header with the columns {LISTED}, got one with a name twice"),
        ([HEADER, "1\td\ta\tjudged\t2"], "f:2: expected 8 cells between tabs, got 5"),
        ([HEADER, "1\td\ta\tjudged\ttwo\t\t\t0"], "f:2: `grade`: expected an integer, got 'two'"),
        (
            [HEADER, "1\td\ta\tjudged\t2\t\ta\\xb\t0"],
            "f:2: `note`: expected \\t, \\n, \\r, \\\\ or \\uXXXX, got `a\\xb`",
        ),
        (
            [HEADER, "1\td\ta\tjudged\t2\t\tends\\\t0"],
            "f:2: `note`: expected \\t, \\n, \\r, \\\\ or \\uXXXX, got `ends\\`",
        ),
    ],
)
def test_tables_that_are_damaged_are_refused_by_line(tmp_path: Path, lines: list[str], message: str) -> None:
    """The header, the number of cells, numbers and escapes are checked."""
    write(tmp_path / "f", lines)
    with pytest.raises(FormatError) as refused:
        read(tmp_path / "f", "tsv")
    assert refused.value.message.splitlines() == [message]


@pytest.mark.parametrize("form", FORMATS)
def test_every_line_says_of_what_kind_its_judge_is(tmp_path: Path, form: JudgementsFormat) -> None:
    """The kind goes through the file with its judge; lines without it are read as before."""
    one, other = (Judgement("1", "d", judge, State.JUDGED, 2) for judge in "ab")
    write(tmp_path / "f", state_lines([one, other], KINDS, form))
    found = read_judgements(str(tmp_path / "f"), form, FaultList("f"))
    assert found.kinds == {"a": JudgeKind.HUMAN, "b": JudgeKind.ADJUDICATOR}
    write(tmp_path / "f", [HEADER, "1\td\ta\tjudged\t2\t\t\t0"])
    found = read_judgements(str(tmp_path / "f"), "tsv", FaultList("f"))
    assert (found.kinds, found.lines, found.states) == ({}, [2], [one])


def test_kinds_that_are_none_or_differ_are_refused_by_line(tmp_path: Path) -> None:
    """A judge has one kind in a file, and it is one of four."""
    values = {"topic": "1", "docno": "d", "judge": "a", "state": "judged", "grade": 2,
              "reason": "", "note": "", "iteration": "0"}  # fmt: skip
    lines = [
        values | {"kind": "human"},
        values | {"docno": "e", "kind": "robot"},
        values | {"docno": "f", "kind": None},
        values | {"docno": "g", "kind": "model"},
        values | {"docno": "h"},
    ]
    write(tmp_path / "f", list(map(json.dumps, lines)))
    with pytest.raises(FormatError) as refused:
        read(tmp_path / "f", "jsonl")
    assert refused.value.message.splitlines() == [
        "f:2: `kind`: expected one of human, model, imported, adjudicator, got 'robot'",
        "f:3: `kind`: expected one of human, model, imported, adjudicator, got None",
        "f:4: expected judge `a` to be human as on line 1, got model",
    ]


def test_history_with_a_line_of_another_kind_is_refused(tmp_path: Path) -> None:
    """The first line says what the file holds; a state among events lacks what events have."""
    one = Judgement("1", "d", "a", State.JUDGED, 2)
    [line] = state_lines([one], KINDS, "jsonl")
    write(tmp_path / "f", ['{"revision": 1}', line])
    with pytest.raises(FormatError, match=r"f:2: expected the key `revision`, got none"):
        read(tmp_path / "f", "jsonl")


def test_other_formats_are_refused() -> None:
    """A format is jsonl or tsv."""
    with pytest.raises(ArgumentError, match="`format` must be jsonl or tsv, but got 'csv'"):
        state_lines([], {}, "csv")  # type: ignore[arg-type]
