"""`store.formats.tables`: tables whose columns the user names."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FaultList, FormatError, UnknownNameError
from store.formats.scale import settle_repeats
from store.formats.tables import GradedRow, parse_columns, read_columns
from tests.strategies import ids

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"


def write(file: Path, *lines: str) -> str:
    """Write lines to a file and return its name."""
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")
    return str(file)


def faults_of(file: str, columns: str, **options: str) -> list[str]:
    """Return the lines of the error that a file gives, once no document is let come twice."""
    faults = FaultList(file)
    read = read_columns(file, parse_columns(columns), faults=faults, **options)  # type: ignore[arg-type]
    settle_repeats(read.rows, lambda row: (0, row.code), "refuse", faults)
    with pytest.raises(FormatError) as refused:
        faults.raise_if_any()
    return [line.partition("/t:")[2] for line in refused.value.message.splitlines()]


def test_columns_are_read() -> None:
    """Names come with commas in the order of the file; any number of columns is passed over."""
    assert parse_columns("topic,iteration,docno,judge,grade") == (
        *("topic", "iteration", "docno", "judge", "grade"),
    )
    assert parse_columns("-, grade ,-,docno") == ("-", "grade", "-", "docno")


@pytest.mark.parametrize(
    "text", ["", "docno", "grade", "docno,grade,grade", "docno,topic", "docno,,", "docno,,grade"]
)
def test_other_columns_are_refused(text: str) -> None:
    """A name twice or empty, and a table without docno or grade are refused."""
    with pytest.raises(ArgumentError, match="`columns` must name each column of the file once"):
        parse_columns(text)


@pytest.mark.parametrize(("text", "name"), [("docno,worker,grade", "worker"), ("docno;grade", "docno;grade")])
def test_unknown_columns_are_refused_with_those_there_are(text: str, name: str) -> None:
    """The names that a column may have are listed, and how to pass over one that has none."""
    with pytest.raises(UnknownNameError, match=f"unknown column `{name}`; known: ") as refused:
        parse_columns(text)
    assert set(refused.value.known) == {"docno", "grade", "iteration", "judge", "topic"}
    assert refused.value.hint == "`-` skips a column: --columns docno,judge,-,grade"


def test_faults_may_be_gathered_for_other_checks(tmp_path: Path) -> None:
    """Given a list of faults, the reader tells them there and returns the rows without one."""
    file = write(tmp_path / "t", "item label", "d1 3", "d2", "d1 2", "d3 0")
    faults = FaultList("t")
    read = read_columns(file, parse_columns("docno,grade"), topic="1", judge="a", faults=faults)
    assert [(fault.line, fault.code) for fault in faults.kept] == [*[(1, "grade"), (3, "fields")]]
    assert [(row.line, row.docno) for row in read.rows] == [(2, "d1"), (4, "d1"), (5, "d3")]


def test_what_no_column_says_is_given_once(tmp_path: Path) -> None:
    """Topic, judge and iteration are those of all lines, unless a column says them."""
    file = write(tmp_path / "t", "d1 7 3", "d2\t9\t-1", "d1  9 2.0")
    read = read_columns(file, parse_columns("docno,judge,grade"), topic="web", iteration="2")
    assert read.rows == [
        GradedRow(1, "web", "2", "d1", "7", 3),
        GradedRow(2, "web", "2", "d2", "9", -1),
        GradedRow(3, "web", "2", "d1", "9", 2),
    ]
    assert read.n_float_grades == 1
    file = write(tmp_path / "t", "2 web d1 1 x")
    read = read_columns(file, parse_columns("grade,topic,docno,iteration,-"), judge="ann")
    assert read.rows == [GradedRow(1, "web", "1", "d1", "ann", 2)]


def test_column_that_is_passed_over_may_hold_any_text_between_tabs(tmp_path: Path) -> None:
    """Where tabs make as many fields as there are columns, blanks within them separate nothing."""
    file = write(tmp_path / "t", "d1\tnot about tea\t0", "d2\t\t1")
    read = read_columns(file, parse_columns("docno,-,grade"), topic="1", judge="ann")
    assert [(row.docno, row.code) for row in read.rows] == [("d1", 0), ("d2", 1)]


def test_every_fault_is_told_with_its_line(tmp_path: Path) -> None:
    """Header lines, missing fields, ids, grades and judgements that come twice are faults."""
    file = write(tmp_path / "t", "item worker label", "d1 7 3", "d1 8 3", "d1 7 2", "d1 7",
                 "d\u200b 7 1", "d3 7 1.5", "d4 \u202e 1", "# d5 1")  # fmt: skip
    assert faults_of(file, "docno,judge,grade", topic="1") == [
        "1: expected an integer grade, got `label`",
        "4: expected each document once a topic and judge, got topic `1` docno `d1` judge `7` with"
        " grade 2; line 2 has it with grade 3",
        "5: expected 3 fields (docno judge grade), got 2",
        "6: expected an id without control characters, got 'd\\u200b'",
        "7: expected an integer grade, got `1.5`",
        "8: expected an id without control characters, got '\\u202e'",
        "9: expected 3 fields (docno judge grade), got a line that begins with `#`",
    ]


def test_judge_is_named_in_no_message_where_no_column_says_it(tmp_path: Path) -> None:
    """Of one judge's table a document may stand once a topic."""
    file = write(tmp_path / "t", "1 d1 3", "2 d1 3", "1 d1 0")
    assert faults_of(file, "topic,docno,grade") == [
        "3: expected each document once a topic, got topic `1` docno `d1` with grade 0; line 1 has"
        " it with grade 3"
    ]


def test_options_that_a_column_says_already_are_refused(tmp_path: Path) -> None:
    """A topic or judge is said once, and is an id."""
    file = write(tmp_path / "t", "1 d1 ann 3")
    columns = parse_columns("topic,docno,judge,grade")
    with pytest.raises(ArgumentError, match="`topic` is already given by a column"):
        read_columns(file, columns, topic="1")
    with pytest.raises(ArgumentError, match="`judge` is already given by a column"):
        read_columns(file, columns, judge="bob")
    with pytest.raises(ArgumentError, match="`topic` must be given: no column holds it"):
        read_columns(file, parse_columns("-,docno,judge,grade"))
    with pytest.raises(ArgumentError, match="`topic` must be one word"):
        read_columns(file, parse_columns("-,docno,judge,grade"), topic="a b")


@given(
    rows=st.lists(
        st.tuples(ids.filter(lambda text: text[0] != "#"), ids, ids, st.integers(-2, 9)),
        min_size=1,
        max_size=6,
        unique_by=lambda row: row[:3],
    ),
    order=st.permutations(["topic", "docno", "judge", "grade", "-"]),
    blank=st.sampled_from([" ", "\t", "   ", " \t "]),
)
def test_columns_in_any_order_say_the_same(
    rows: list[tuple[str, str, str, int]], order: list[str], blank: str, tmp_path: Path
) -> None:
    """Whichever way the columns stand and are separated, the rows are the same."""
    lines = []
    for topic, docno, judge, grade in rows:
        cells = {"topic": topic, "docno": docno, "judge": judge, "grade": str(grade), "-": "x"}
        lines.append(blank.join(cells[name] for name in order))
    # What would begin a comment stands behind a blank.
    lines = [f" {line}" if line.startswith("#") else line for line in lines]
    read = read_columns(write(tmp_path / "t", *lines), order)
    assert [(row.topic, row.docno, row.judge, row.code) for row in read.rows] == rows


@pytest.mark.vector("web-crowd, PROVENANCE.md: zhangyuc/SpectralMethodsMeetEM, commit 6204f5f")
def test_web_crowd_has_the_counts_of_its_provenance() -> None:
    """15,567 labels of 177 workers on 2,665 items; labels and reference labels by grade."""
    folder = DATA / "web-crowd"
    if not folder.exists():
        pytest.skip("web-crowd is absent")
    names = parse_columns("docno,judge,grade")
    rows = read_columns(str(folder / "web_crowd.txt.gz"), names, topic="web").rows
    assert len(rows) == 15_567
    assert len({row.judge for row in rows}) == 177
    assert len({row.docno for row in rows}) == 2_665
    by_grade = Counter(row.code for row in rows)
    assert by_grade == {1: 1858, 2: 2249, 3: 2831, 4: 3268, 5: 5361}
    names = parse_columns("docno,grade")
    rows = read_columns(str(folder / "web_truth.txt.gz"), names, topic="web", judge="truth").rows
    assert Counter(row.code for row in rows) == {1: 330, 2: 481, 3: 689, 4: 534, 5: 619}
