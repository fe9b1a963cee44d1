"""`store.formats.qrels`: grades as letters, in two files that differ in the last column."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FormatError
from store.formats.qrels import letters_of, read_ntcir2, write_ntcir2
from store.records import Grade, Qrel, Scale
from tests.helpers.world import make_scale, parse_scale
from tests.strategies import ids

NTCIR = parse_scale("ntcir")

RIGID = """\
0101\tA\tgakkai-0000011144\t1
0101\tB\tgakkai-0000058361\t0
0101\tC\tgakkai-0000058362\t0
0102\tS\tkaken-j-0849182400\t1
"""
"""By hand: the rigid file of the four grades, topics with zeros in front."""

RELAXED = RIGID.replace("58361\t0", "58361\t1")
"""The relaxed one: B is relevant, too."""


def faults_of(file: Path, content: str | bytes, scale: Scale = NTCIR) -> list[str]:
    """Return the lines of the error that a file gives."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(FormatError) as refused:
        read_ntcir2(str(file), scale)
    return [line.partition("/n:")[2] for line in refused.value.message.splitlines()]


@pytest.mark.parametrize(("content", "level"), [(RIGID, 2), (RELAXED, 1)])
def test_both_files_say_the_same_grades_and_come_back_byte_for_byte(
    tmp_path: Path, content: str, level: int
) -> None:
    """Letters are grades, the last column the level; both give the bytes of the file again."""
    file = tmp_path / "n"
    file.write_text(content, "utf-8", newline="")
    read = read_ntcir2(str(file), NTCIR)
    assert [(row.topic, row.docno, row.code) for row in read.rows] == [
        ("0101", "gakkai-0000011144", 2),
        ("0101", "gakkai-0000058361", 1),
        ("0101", "gakkai-0000058362", 0),
        ("0102", "kaken-j-0849182400", 3),
    ]
    rows = [Qrel(row.topic, row.docno, row.code) for row in read.rows]
    stream = io.StringIO()
    write_ntcir2(rows, NTCIR, level, stream)
    assert stream.getvalue() == content


def test_levels_of_the_scale_are_ntcirs_readings() -> None:
    """Rigid: S and A are relevant. Relaxed: S, A and B are. NTCIR-2's own files have no S."""
    rows = [Qrel("1", letter, grade) for grade, letter in letters_of(NTCIR).items()]
    flags = {}
    for name, level in (("rigid", NTCIR.rigid), ("relaxed", NTCIR.relaxed), ("none", None)):
        stream = io.StringIO()
        write_ntcir2(rows, NTCIR, level, stream)
        lines = [line.split("\t") for line in stream.getvalue().splitlines()]
        flags[name] = {letter: flag for _, letter, _, flag in lines}
    assert flags == {
        "rigid": {"S": "1", "A": "1", "B": "0", "C": "0"},
        "relaxed": {"S": "1", "A": "1", "B": "1", "C": "0"},
        "none": {"S": "0", "A": "0", "B": "0", "C": "0"},
    }


@given(
    rows=st.lists(
        st.builds(Qrel, ids.filter(lambda text: text[0] != "#"), ids, st.integers(0, 3), st.just("0")),
        min_size=1,
        max_size=6,
        unique_by=lambda row: (row.topic, row.docno),
    ),
    level=st.none() | st.integers(1, 3),
)
def test_what_is_written_is_read_back_in_its_order(
    rows: list[Qrel], level: int | None, tmp_path: Path
) -> None:
    """Any ids in any order come back."""
    stream = io.StringIO()
    write_ntcir2(rows, NTCIR, level, stream)
    (tmp_path / "n").write_text(stream.getvalue(), "utf-8", newline="")
    read = read_ntcir2(str(tmp_path / "n"), NTCIR)
    assert [Qrel(row.topic, row.docno, row.code) for row in read.rows] == rows


def test_every_fault_is_told_with_its_line(tmp_path: Path) -> None:
    """Fields, letters, flags and ids: all lines at once."""
    content = "1\tA\td1\t1\n1\tA\td2\n1\tX\td3\t0\n1\ta\td4\t1\n1\tB\td5\tyes\n# no\n"
    assert faults_of(tmp_path / "n", content) == [
        "2: expected 4 fields (topic letter docno relevant), got 3",
        "3: expected a letter of the scale (C, B, A, S), got `X`",
        "4: expected a letter of the scale (C, B, A, S), got `a`",
        "5: expected 0 or 1 in field 4, got `yes`",
        "6: expected 4 fields (topic letter docno relevant), got a line that begins with `#`",
    ]
    assert faults_of(tmp_path / "n", b"1\tA\td\xff\t1\n1\tA\td\x07\t1\n") == [
        "1: expected UTF-8, got byte 0xff at column 6",
        "2: expected an id without control characters, got 'd\\x07'",
    ]
    assert faults_of(tmp_path / "n", "\n") == [" expected `topic letter docno relevant` lines, got none"]


def test_last_column_must_be_one_cut_of_the_scale(tmp_path: Path) -> None:
    """A grade that is relevant here and not there is a fault, as is a lower one that is."""
    content = "1\tA\td1\t1\n1\tB\td2\t0\n1\tA\td3\t0\n1\tB\td4\t1\n1\tC\td5\t1\n1\tS\td6\t0\n"
    assert faults_of(tmp_path / "n", content) == [
        "3: expected 1 for A, as line 1 has 1 for A, got 0",
        "4: expected 0 for B, as line 2 has 0 for B, got 1",
        "5: expected 0 for C, as line 2 has 0 for B, got 1",
        "6: expected 1 for S, as line 1 has 1 for A, got 0",
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6))
def test_cut_is_refused_exactly_when_no_level_gives_it(lines: list[tuple[int, bool]]) -> None:
    """Tried one by one: a file is read when some level from none to all gives its last column."""
    content = "".join(
        f"1\t{'CBAS'[grade]}\td{number}\t{int(flag)}\n" for number, (grade, flag) in enumerate(lines)
    )
    fits = [
        level
        for level in range(5)
        if all((grade >= level) == flag for grade, flag in lines)
    ]  # fmt: skip
    with tempfile.NamedTemporaryFile("w", suffix=".n") as file:
        file.write(content)
        file.flush()
        if not fits:
            with pytest.raises(FormatError):
                read_ntcir2(file.name, NTCIR)
        else:
            assert len(read_ntcir2(file.name, NTCIR).rows) == len(lines)


def test_scale_without_letters_is_refused() -> None:
    """Digits are no letters; the hint names a scale that has them."""
    with pytest.raises(ArgumentError, match="has the keys '0', '1', '2', '3'") as refused:
        letters_of(parse_scale("0-3"))
    assert refused.value.hint is not None
    assert "--scale ntcir" in refused.value.hint
    for keys in ("cC", "é1", ("a", "")):
        grades = tuple(Grade(value, "x", key) for value, key in enumerate(keys))
        with pytest.raises(ArgumentError, match="must have a letter for every grade"):
            letters_of(make_scale(grades))


def test_rows_that_could_not_be_read_back_are_refused() -> None:
    """Grades off the scale and ids with blanks are refused before anything is written."""
    stream = io.StringIO()
    with pytest.raises(ArgumentError, match=r"`grade` must be one of .*, but got \[4\]"):
        write_ntcir2([Qrel("1", "d", 0), Qrel("1", "e", 4)], NTCIR, 1, stream)
    with pytest.raises(ArgumentError, match="`docno` cannot be written to a NTCIR-2 file"):
        write_ntcir2([Qrel("1", "d", 0), Qrel("1", "e f", 1)], NTCIR, 1, stream)
    with pytest.raises(ArgumentError, match="`topic` cannot be written to a NTCIR-2 file"):
        write_ntcir2([Qrel("#1", "d", 0)], NTCIR, 1, stream)
    assert stream.getvalue() == ""
