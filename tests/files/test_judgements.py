"""Every judge's judgements as JSON lines and tab separated values: histories and states."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FaultList, FormatError
from store.event import FIELDS, JudgementEvent
from store.formats import JudgementsFormat
from store.formats.json_lines import NoObjectError, json_line, read_json_object
from store.formats.judgements import (
    STATE_FIELDS,
    escape_cell,
    history_lines,
    read_cell,
    read_judgements,
    state_lines,
)
from store.records import Action, JudgeKind, Judgement, Passage, State
from tests.helpers.judgement_events import histories, read_events, states, written

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


@pytest.mark.slow
@given(records=states().filter(bool), form=forms)
def test_states_are_read_back_and_written_the_same(
    records: list[Judgement], form: JudgementsFormat, tmp_path: Path
) -> None:
    """Every state comes back in either format, and its file has the same bytes again."""
    text = write(tmp_path / "f", state_lines(records, KINDS, form))
    again = [one for one in read(tmp_path / "f", form) if isinstance(one, Judgement)]
    assert again == records
    assert write(tmp_path / "g", state_lines(again, KINDS, form)) == text


@pytest.mark.slow
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


@pytest.mark.slow
def test_tsv_is_written_as_documented() -> None:
    """Tabs, line ends and backslashes have their escapes; what is not there is empty."""
    one = Judgement("1", "d", "a", State.CANNOT, None, reason="a\tb", note='\\ "é"\n\u202e\ud800')
    assert list(state_lines([one], KINDS, "tsv")) == [
        "topic\tdocno\tjudge\tkind\tstate\tgrade\treason\tnote\titeration",
        '1\td\ta\thuman\tcannot\t\ta\\tb\t\\\\ "é"\\n\\u202e\\ud800\t0',
    ]


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=()), max_size=8))
def test_cells_are_read_back(text: str) -> None:
    """Any text is a cell without tabs, line ends or what UTF-8 cannot hold, and comes back."""
    cell = escape_cell(text)
    assert "\t" not in cell
    assert cell.splitlines() == ([cell] if text else [])
    cell.encode("utf-8")
    assert read_cell(cell) == text


@pytest.mark.slow
def test_columns_and_keys_may_come_in_any_order(tmp_path: Path) -> None:
    """A table whose columns somebody moved is read the same, as is its line of JSON."""
    one = Judgement("1", "d", "a", State.JUDGED, 2)
    write(tmp_path / "f", ["grade\tjudge\ttopic\tdocno\tstate\tnote\treason\titeration",
                           "2\ta\t1\td\tjudged\t\t\t0"])  # fmt: skip
    assert read(tmp_path / "f", "tsv") == [one]
    write(tmp_path / "f", ['{"grade": 2, "judge": "a", "topic": "1", "docno": "d", "state":'
                           ' "judged", "note": "", "reason": "", "iteration": "0"}'])  # fmt: skip
    assert read(tmp_path / "f", "jsonl") == [one]


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_history_without_a_column_of_its_beginning_is_refused(tmp_path: Path) -> None:
    """Only what came later may be missing."""
    names = [name for name in FIELDS if name not in ("position", "topic_version")]
    write(tmp_path / "f", ["\t".join(names)])
    with pytest.raises(FormatError, match=r"got one without position$"):
        read(tmp_path / "f", "tsv")


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_history_with_a_line_of_another_kind_is_refused(tmp_path: Path) -> None:
    """The first line says what the file holds; a state among events lacks what events have."""
    one = Judgement("1", "d", "a", State.JUDGED, 2)
    [line] = state_lines([one], KINDS, "jsonl")
    write(tmp_path / "f", ['{"revision": 1}', line])
    with pytest.raises(FormatError, match=r"f:2: expected the key `revision`, got none"):
        read(tmp_path / "f", "jsonl")


ONE = Judgement("51", "d1", "ann", State.JUDGED, 2, note="n", iteration="3")


def test_a_document_stands_once_with_a_judge_where_state_and_grade_agree(tmp_path: Path) -> None:
    """A line that contradicts itself says nothing of its document, so it is not the first."""
    said = json.loads(next(iter(state_lines([ONE], KINDS, "jsonl"))))
    changes: list[dict[str, Any]] = [{"grade": None}, {}, {"judge": "bob"}, {"state": "cannot"}, {"grade": 0}]
    write(tmp_path / "f", [json.dumps(said | one) for one in changes])
    faults = FaultList("f")
    found = read_judgements(str(tmp_path / "f"), "jsonl", faults)
    states = [*zip(found.lines, found.states, strict=True)]
    assert states == [(2, ONE), (3, replace(ONE, judge="bob"))]
    assert [(one.line, one.code, one.message) for one in faults.kept] == [
        (1, "state", "expected a grade in the state judged, got none"),
        (4, "state", "expected no grade in the state cannot, got 2"),
        (5, "duplicate", "expected each document once a topic and judge, got topic `51` docno `d1` judge"
         " `ann`; line 2 has it"),
    ]  # fmt: skip


texts = st.text(st.characters(exclude_categories=()), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@given(st.dictionaries(texts, values, max_size=4))
def test_what_is_written_is_one_line_of_utf8_that_any_json_reader_reads_back(data: dict[str, object]) -> None:
    """A line has no line end and no lone surrogate, and says what JSON's own module says."""
    line = json_line(data)
    assert line.splitlines() == [line]
    line.encode("utf-8")
    plain = json.loads(json.dumps(data))  # joins surrogate pairs, as JSON must
    if len(plain) == len(data):
        assert json.loads(line) == read_json_object(line) == plain


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("é 日本", "é 日本"),
        ('a"b\\c\n\t\x1b', '\\"b\\\\c\\n\\t\\u001b'),
        ("\u202e\u2028\x7f\x9b", "\\u202e\\u2028\\u007f\\u009b"),
        ("\ud800 and \udc80", "\\ud800 and \\udc80"),
        ("\ud83d\ude00", "\U0001f600"),
    ],
)
def test_text_stands_as_it_is_unless_it_could_harm(text: str, written: str) -> None:
    """Letters of all languages stay; controls, line separators and lone surrogates are escaped."""
    assert written in json_line({"note": text})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a JSON object, got invalid JSON at column 1: expecting value"),
        ("{", "expected a JSON object, got invalid JSON at column 2: expecting property name"),
        ("[1]", "expected a JSON object, got an array"),
        ('"a"', "expected a JSON object, got text"),
        ("null", "expected a JSON object, got null"),
        ("true", "expected a JSON object, got true"),
        ("2.5", "expected a JSON object, got a number"),
        ('{"a": NaN}', "expected a JSON object, got NaN in it"),
        ('{"a": -Infinity}', "expected a JSON object, got -Infinity in it"),
        ('{"a": 1, "b": 2, "a": 1}', "expected each key once, got `a` twice"),
        ('{"a": {"b": 1, "b": 1}}', "expected each key once, got `b` twice"),
        ("[" * 100_000, "expected a JSON object, got too large a number or too deep a nesting"),
        ("1" * 5000, "expected a JSON object, got too large a number or too deep a nesting"),
    ],
)
def test_what_is_no_object_is_refused(text: str, message: str) -> None:
    """Everything but one JSON object with distinct keys is refused, and named."""
    with pytest.raises(NoObjectError) as refused:
        read_json_object(text)
    assert str(refused.value).startswith(message)
