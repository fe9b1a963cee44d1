"""Qrels as TREC, NTCIR-2 and NTCIREVAL have them, and tables whose columns are named."""

from __future__ import annotations

import collections
import gzip
import hashlib
import io
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FaultList, FormatError
from store.formats.qrels import (
    QrelCells,
    letters_of,
    qrels_blocks,
    read_ntcir2,
    read_ntcireval,
    read_plain_qrels,
    read_qrels,
    write_ntcir2,
    write_ntcireval,
)
from store.formats.scale import settle_repeats
from store.formats.tables import GradedRow, parse_columns, read_columns
from store.records import Grade, Qrel
from tests.helpers.shared_data import shared_data
from tests.helpers.strategies import ids
from tests.helpers.world import make_scale, parse_scale

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
any_ids = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Z"], exclude_characters=BIDI + "\u200b\u2060\ufeff"),
    min_size=1,
)
topics = any_ids.filter(lambda text: text[0] not in "#\ufeff")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a place for one qrels file."""
    return tmp_path / "qrels"


def faults_of(file: Path, text: str | bytes, *, lenient: bool = False) -> FormatError:
    """Read a damaged file and return its error."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError) as caught:
        read_qrels(str(file), lenient=lenient)
    return caught.value


def codes(error: FormatError) -> list[tuple[int | None, str]]:
    """Return line and code of every fault."""
    return [(fault.line, fault.code) for fault in error.faults]


def test_rows_keep_every_column_in_file_order(file: Path) -> None:
    """Ids that trip other programs, any iteration, tabs, blanks and no last newline are read."""
    text = (
        "001 0 NA 1\n"
        '1\t0.5\t"x\t0\n'
        "\n"
        "  東京  A   2681119#1   -2  \n"
        "NA 0 5/1438042988718.8_2015-00068 +3\n"
        "NA 0 0012 0\n"
        "NA 0 12 2"
    )
    file.write_text(text, "utf-8")
    read = read_qrels(str(file))
    assert read.rows == [
        GradedRow(1, "001", "0", "NA", "", 1),
        GradedRow(2, "1", "0.5", '"x', "", 0),
        GradedRow(4, "東京", "A", "2681119#1", "", -2),
        GradedRow(5, "NA", "0", "5/1438042988718.8_2015-00068", "", 3),
        GradedRow(6, "NA", "0", "0012", "", 0),
        GradedRow(7, "NA", "0", "12", "", 2),
    ]
    assert (read.n_float_grades, read.n_trailing) == (0, 0)
    assert read.sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_byte_order_mark_crlf_and_gzip_change_no_row(file: Path) -> None:
    """The hash is of the uncompressed file, byte order mark and all."""
    dressed = b"\xef\xbb\xbf301 0 a 1\r\n\r\n302 0 a 0\r\n"
    expected = [GradedRow(1, "301", "0", "a", "", 1), GradedRow(3, "302", "0", "a", "", 0)]
    for content in (dressed, gzip.compress(dressed)):
        file.write_bytes(content)
        read = read_qrels(str(file))
        assert read.rows == expected
        assert read.sha256 == hashlib.sha256(dressed).hexdigest()


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("1 0 b", "fields", "expected 4 fields (topic iteration docno grade), got 3"),
        ("b", "fields", "got 1"),
        ("1 0 b 1 x", "fields", "got 5"),
        ("1 0 b 1.7", "grade", "expected an integer grade, got `1.7`"),
        ("1 0 b abc", "grade", "expected an integer grade, got `abc`"),
        ("1 0 b 1e0", "grade", "got `1e0`"),
        ("1 0 b 1_0", "grade", "got `1_0`"),
        ("1 0 b ١", "grade", "got `١`"),
        ("1 0 b nan", "grade", "got `nan`"),
        ("1 0 b -", "grade", "got `-`"),
        ("1 0 b 9999999999999999999", "grade", "got `9999999999999999999`"),
        ("1 0 b\x00 1", "id", "expected an id without control characters"),
        ("1 0 b\u202e 1", "id", "expected an id without control characters"),
        ("1 0 b\u3000c 1", "id", "expected an id without blanks"),
        ("1 0\x07 b 1", "id", "expected an id without control characters"),
        ("1\x1b 0 b 1", "id", "expected an id without control characters"),
        ("\ufeff1 0 b 1", "id", "byte order mark"),
    ],
)
def test_line_that_is_no_judgement_is_a_fault(file: Path, line: str, code: str, message: str) -> None:
    """Nothing is repaired or cut off: the line is named, with what was expected."""
    error = faults_of(file, f"1 0 a 1\n{line}\n1 0 c 1\n")
    assert codes(error) == [(2, code)]
    assert str(error).startswith(f"{file}:2: ")
    assert message in str(error)


@pytest.mark.parametrize("line", [b"1 0 b\xff 1", b"\xff 0 b 1", b"1 \xff 0 1"])
def test_invalid_utf8_is_a_fault_that_names_the_byte(file: Path, line: bytes) -> None:
    """In any column that is kept, invalid UTF-8 is told once."""
    error = faults_of(file, b"1 0 a 1\n" + line + b"\n")
    assert codes(error) == [(2, "utf8")]
    assert "expected UTF-8, got byte 0xff in `" in str(error)


def test_all_faults_of_a_file_come_at_once_in_order(file: Path) -> None:
    """The first 25 are shown, the rest counted, and no row is returned."""
    error = faults_of(file, "1 0 a x\n1 0\n1 0 b\x01 1.5\n" + "1 0 a b\n" * 40)
    assert codes(error)[:4] == [(1, "grade"), (2, "fields"), (3, "id"), (3, "grade")]
    assert (len(error.faults), error.n_faults) == (25, 44)


def test_second_grade_of_a_document_is_a_fault_naming_both_lines(file: Path) -> None:
    """It is never dropped or preferred; iterations do not matter; all of them come at once."""
    error = faults_of(file, "1 0 a 1\n2 0 a 1\n1 7 a 0\n1 0 a 1\n1 0 a 2\n1 0 b x\n")
    assert codes(error) == [(3, "duplicate"), (5, "duplicate"), (6, "grade")]
    assert error.faults[0].message == (
        "expected each document once a topic, got topic `1` docno `a` with grade 0;"
        " line 1 has it with grade 1"
    )


def test_line_that_says_what_an_earlier_one_says_is_counted_once(file: Path) -> None:
    """The first line is the row; the others are counted, and the first of them is named."""
    text = "1 0 a 1\n2 0 a 1\n1 0 b -1\n\n1 7 a 1.0\n1 0 b -1\n1 0 a 1 x\n"
    file.write_text(text)
    read = read_qrels(str(file), lenient=True)
    assert read.rows == [
        GradedRow(1, "1", "0", "a", "", 1),
        GradedRow(2, "2", "0", "a", "", 1),
        GradedRow(3, "1", "0", "b", "", -1),
    ]
    assert (read.n_same, read.first_same) == (3, 5)
    assert (read.n_float_grades, read.n_trailing) == (0, 0)
    file.write_text("1 0 a 1\n2 0 a 1\n")
    read = read_qrels(str(file))
    assert (read.n_same, read.first_same) == (0, 0)


def test_judge_column_makes_documents_unique_per_judge(file: Path) -> None:
    """Two grades of a document by one judge are a fault, by two judges they are not."""
    file.write_text("1 ann a 1\n1 bob a 0\n1 ann b 0\n")
    rows = read_qrels(str(file), judge_column=2).rows
    assert [(row.judge, row.docno, row.code) for row in rows] == [
        ("ann", "a", 1),
        ("bob", "a", 0),
        ("ann", "b", 0),
    ]
    file.write_text("1 ann a 1\n1 bob a 0\n1 bob a 1\n")
    with pytest.raises(FormatError, match=r"qrels:3: expected each document once a topic and judge"):
        read_qrels(str(file), judge_column=2)


def test_lenient_reading_ignores_trailing_text_and_any_reading_comments(file: Path) -> None:
    """Lines that begin with `#` are none, and leniently what follows the fourth field is put up with."""
    file.write_text("# by hand\n1 0 a 1\n\n#1 0 b 1\n1 0 #c 2 or so\n1 0 d 0 \n")
    read = read_qrels(str(file), lenient=True)
    assert read.rows == [
        GradedRow(2, "1", "0", "a", "", 1),
        GradedRow(5, "1", "0", "#c", "", 2),
        GradedRow(6, "1", "0", "d", "", 0),
    ]
    assert read.n_trailing == 1
    # A comment on top is one behind a byte order mark too, and need be no UTF-8.
    for lenient in (True, False):
        file.write_bytes(b"\xef\xbb\xbf# caf\xe9\n1 0 a 1" + (b" caf\xe9" if lenient else b"") + b"\n")
        assert read_qrels(str(file), lenient=lenient).rows == [GradedRow(2, "1", "0", "a", "", 1)]


@pytest.mark.parametrize(
    ("line", "code"),
    [("1 0 b", "fields"), (" # b", "fields"), ("1 0 b 1.7", "grade"), ("1 0 a 2", "duplicate")],
)
def test_lenient_reading_still_refuses_what_has_no_meaning(file: Path, line: str, code: str) -> None:
    """Lenient is about decoration: a grade is never guessed."""
    assert codes(faults_of(file, f"1 0 a 1\n{line}\n", lenient=True)) == [(2, code)]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff", "# a\n# b\n"])
def test_empty_file_is_a_fault(file: Path, text: str, lenient: bool) -> None:
    """No judgements are not zero judgements, and comments are none."""
    error = faults_of(file, text, lenient=lenient)
    assert codes(error) == [(None, "empty")]
    assert str(error) == f"{file}: expected `topic iteration docno grade` lines, got none"


# Writing


def written(rows: Sequence[QrelCells]) -> str:
    """Return the bytes of a file."""
    return "".join(f"{lines}\n" for lines in qrels_blocks(rows))


def test_written_file_has_single_blanks_and_keeps_iterations() -> None:
    """Rows as they come, single blanks, LF."""
    rows = [("009", "0", "x", 3), ("9", "A", "B", 2), ("9", "0.5", "é", -2)]
    assert written(rows) == "009 0 x 3\n9 A B 2\n9 0.5 é -2\n"


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (("1", "0", "a b", 1), "docno"),
        (("1", "0", "", 1), "docno"),
        (("#1", "0", "a", 1), "topic"),
        (("", "0", "a", 1), "topic"),
        (("1", "round 1", "a", 1), "iteration"),
        (("1", "", "a", 1), "iteration"),
    ],
)
def test_row_that_could_not_be_read_back_is_refused_before_a_byte_is_written(
    row: QrelCells, name: str
) -> None:
    """A file with a shifted column is worse than none."""
    with pytest.raises(ArgumentError, match=f"`{name}` cannot be written to a qrels file"):
        next(qrels_blocks([("0", "0", "a", 1), row]))


@given(
    st.dictionaries(
        st.tuples(topics, any_ids), st.tuples(st.integers(-(10**17), 10**17), any_ids), min_size=1
    )
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, grades: dict[tuple[str, str], tuple[int, str]]
) -> None:
    """Reading a written file gives the same judgements."""
    rows = [(topic, iteration, docno, code) for (topic, docno), (code, iteration) in grades.items()]
    file = tmp_path_factory.getbasetemp() / "written.qrels"
    file.write_bytes(written(rows).encode())
    read = read_qrels(str(file))
    assert [(row.topic, row.iteration, row.docno, row.code) for row in read.rows] == rows


# Real files; counts from each folder's PROVENANCE.md


def by_code(name: str) -> dict[int, int]:
    """Count the rows of a real file by code."""
    return collections.Counter(row.code for row in read_qrels(str(shared_data(name))).rows)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("trec-covid-r1/qrels-rnd1.txt.gz", {0: 6339, 1: 1115, 2: 1237}),
        ("acordar/qrels.txt.gz", {0: 6942, 1: 2362, 2: 1367}),
        ("miracl-ja-dev/qrels.miracl-v1.0-ja-dev.tsv.gz", {0: 6564, 1: 1790}),
        ("trec-eval-test/qrels.rel_level.gz", {-1: 304, 0: 2818, 1: 462, 2: 14, 3: 77, 4: 6}),
    ],
)
def test_real_qrels_have_the_counts_of_their_provenance(name: str, counts: dict[int, int]) -> None:
    """Every line of a real file is a row, with its code."""
    assert by_code(name) == counts


def test_trec_covid_iterations_are_rounds() -> None:
    """The second column is not an integer there, and is kept."""
    rows = read_qrels(str(shared_data("trec-covid-r1/qrels-rnd1.txt.gz"))).rows
    assert collections.Counter(row.iteration for row in rows) == {"1": 6064, "0.5": 2627}


def test_wtr_grades_written_as_floats_are_read_as_integers() -> None:
    """All 6,949 grades are written 0.0, 1.0 or 2.0."""
    read = read_qrels(str(shared_data("wtr-pool/rel_table_qrels.txt.gz")))
    assert collections.Counter(row.code for row in read.rows) == {0: 4703, 1: 1271, 2: 975}
    assert read.n_float_grades == 6949


def test_trec_eval_judgement_groups_are_judges() -> None:
    """Three groups share 3,733 pairs: read as judges they are whole, else they contradict."""
    path = str(shared_data("trec-eval-test/qrels.123.gz"))
    rows = read_qrels(path, judge_column=2).rows
    assert collections.Counter(row.judge for row in rows) == {"0": 3681, "1": 3681, "2": 3000}
    pairs = collections.Counter((row.topic, row.docno) for row in rows)
    assert collections.Counter(pairs.values()) == {3: 2948, 2: 733, 1: 52}
    with pytest.raises(FormatError, match=r"got those of 3 in column 2: 0, 1, 2\n") as caught:
        read_qrels(path)
    assert codes(caught.value) == [(None, "judges")]
    assert "--judge-column 2 " in str(caught.value.hint)


@pytest.mark.parametrize(
    ("plain", "commented", "marked"),
    [
        ("qrels.test.gz", "qrels.test.with-comments.gz", ("CR93E-1860", "CR#93E-1860")),
        ("qrels.123.gz", "qrels.comments.123.gz", ("CR93E-3103", "CR93E-3103#37")),
    ],
)
def test_trec_eval_comments_are_ignored(plain: str, commented: str, marked: tuple[str, str]) -> None:
    """Three comment lines change nothing; the one docno with a `#`, put there to test, stays."""
    rows = read_qrels(str(shared_data(f"trec-eval-test/{plain}")), judge_column=2).rows
    path = str(shared_data(f"trec-eval-test/{commented}"))
    read = read_qrels(path, judge_column=2)
    pairs = zip(rows, read.rows, strict=True)
    differing = [(row, other) for row, other in pairs if row[1:] != other[1:]]
    assert [(row.docno, other.docno) for row, other in differing] == [marked]


def test_cranfield_has_three_columns() -> None:
    """A file without an iteration column is read, and what its columns were taken for is said."""
    read = read_qrels(str(shared_data("cranfield/cranqrel")), keep_repeats=True)
    assert len(read.rows) == 1837
    assert read.rows[0] == GradedRow(1, "1", "0", "184", "", 2)
    assert read.layout.taken.startswith(
        "columns between blanks, without a header, taken for topic, docno, grade"
    )


def test_one_line_of_a_run_among_judgements_is_a_fault_of_its_own(tmp_path: Path) -> None:
    """Only where all lines are a run's is the file one."""
    path = tmp_path / "x.qrels"
    path.write_text("1 0 a 1\n1 Q0 b 2 0.5 bm25\n")
    with pytest.raises(FormatError, match=r"x\.qrels:2: expected 4 fields"):
        read_qrels(str(path))
    assert len(read_qrels(str(path), lenient=True).rows) == 2


@pytest.mark.parametrize(
    ("content", "is_plain"),
    [
        (b"9 0 d1 2\n9 0 d2 -1\n10 Q0 d1 +0\n", True),
        (b"9\t0\td1\t2\n9\t0\td2\t0", True),
        (b"", False),
        (b"\n", False),
        (b"9 0 d1 2\n\n9 0 d2 1\n", False),
        (b"9 0 d1 2\r\n9 0 d2 1\r\n", False),
        (b"9  0 d1 2\n", False),
        (b"9  d1 2\n9 0 0 d2 1\n", False),
        (b"9 0 d1\x0c 2\n", False),
        (b"9 0 d\x1c1 2\n", False),
        (b"9 0 d1 2.0\n", False),
        (b"9 0 d1 1.7\n", False),
        (b"9 0 d1 2\n9 0 d1 2\n", False),
        (b"9 0 d1 2\n9 0 d1 1\n", False),
        (b"9 0 d1 2\n8 0 d1 2\n9 0 d2 2\n", False),
        (b"9 0 d1 2\n# 0 d2 1\n", False),
        ("9 0 dé 2\n".encode(), False),
        (b"\xef\xbb\xbf9 0 d1 2\n", False),
        (b"9 0 " + b"d" * 5000 + b" 2\n", False),
        (b"topic iteration docno grade\n9 0 d1 2\n", False),
        (b"red shoes\td1\t3\n", False),
        (b"1, 0, d1, 3\n", False),
        (b"9 Q0 d1 1 0.5 tag\n", False),
    ],
)
def test_a_file_without_a_peculiarity_is_read_by_columns(file: Path, content: bytes, is_plain: bool) -> None:
    """The quick reader takes what has nothing to be told of it, and says the same; it leaves the rest."""
    for stored in (content, gzip.compress(content)):
        file.write_bytes(stored)
        found = read_plain_qrels(str(file))
        assert (found is not None) == is_plain
        if found is not None:
            rows = read_qrels(str(file)).rows
            assert [*found] == [Qrel(row.topic, row.docno, row.code, row.iteration) for row in rows]


def test_damaged_gzip_and_what_is_read_once_are_left_to_the_other_reader(file: Path) -> None:
    """Half of a compressed file, a folder and standard input are no plain files."""
    file.write_bytes(gzip.compress(b"9 0 d1 2\n" * 100)[:-20])
    assert [read_plain_qrels(one) for one in (str(file), str(file.parent), "-")] == [None] * 3


NTCIR = parse_scale("ntcir")


def faults_told(file: Path, content: str | bytes, read: Callable[[str], object]) -> list[str]:
    """Return the lines of the error that a file gives, without its name."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(FormatError) as refused:
        read(str(file))
    return [line.partition(f"/{file.name}:")[2] for line in refused.value.message.splitlines()]


read_letters = partial(read_ntcir2, scale=NTCIR)


def test_every_fault_of_ntcir2_is_told_with_its_line(tmp_path: Path) -> None:
    """Fields, letters, flags and ids: all lines at once."""
    content = "1\tA\td1\t1\n1\tA\td2\n1\tX\td3\t0\n1\ta\td4\t1\n1\tB\td5\tyes\n# no\n"
    assert faults_told(tmp_path / "n", content, read_letters) == [
        "2: expected 4 fields (topic letter docno relevant), got 3",
        "3: expected a letter of the scale (C, B, A, S), got `X`",
        "4: expected a letter of the scale (C, B, A, S), got `a`",
        "5: expected 0 or 1 in field 4, got `yes`",
        "6: expected 4 fields (topic letter docno relevant), got a line that begins with `#`",
    ]
    content = b"1\tA\td\xff\t1\n1\tA\td\x07\t1\n"
    assert faults_told(tmp_path / "n", content, read_letters) == [
        "1: expected UTF-8, got byte 0xff at column 6",
        "2: expected an id without control characters, got 'd\\x07'",
    ]
    assert faults_told(tmp_path / "n", "\n", read_letters) == [
        " expected `topic letter docno relevant` lines, got none"
    ]


def test_last_column_must_be_one_cut_of_the_scale(tmp_path: Path) -> None:
    """A grade that is relevant here and not there is a fault, as is a lower one that is."""
    content = "1\tA\td1\t1\n1\tB\td2\t0\n1\tA\td3\t0\n1\tB\td4\t1\n1\tC\td5\t1\n1\tS\td6\t0\n"
    assert faults_told(tmp_path / "n", content, read_letters) == [
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


grades = {"ntcir2": st.integers(0, 3), "ntcireval": st.integers(0, 10**9 - 1)}


@pytest.mark.parametrize("form", grades)
@given(data=st.data(), level=st.none() | st.integers(1, 3))
def test_what_ntcir_has_is_read_back_in_its_order(
    form: str, data: st.DataObject, level: int | None, tmp_path: Path
) -> None:
    """Any ids in any order come back as they were, whatever the level of the last column."""
    row = st.builds(Qrel, ids.filter(lambda text: text[0] != "#"), ids, grades[form], st.just("0"))
    rows = data.draw(st.lists(row, min_size=1, max_size=6, unique_by=lambda one: (one.topic, one.docno)))
    stream, file = io.StringIO(), tmp_path / "n"
    if form == "ntcir2":
        write_ntcir2(rows, NTCIR, level, stream)
    else:
        write_ntcireval(rows, stream)
    file.write_text(stream.getvalue(), "utf-8", newline="")
    read = read_letters(str(file)) if form == "ntcir2" else read_ntcireval(str(file))
    assert [Qrel(row.topic, row.docno, row.code) for row in read.rows] == rows


def test_every_fault_of_ntcireval_is_told_with_its_line(tmp_path: Path) -> None:
    """Levels that are none, and fields: all lines at once."""
    content = "1 d1 L1\n1 d2 2\n1 d3 L-1\n1 d4 L01\n1 d5 l1\n1 d6 L²\n1 d7\n1 d9 L1 x\n"
    assert faults_told(tmp_path / "n", content, read_ntcireval) == [
        "2: expected a level like L2, got `2`",
        "3: expected a level like L2, got `L-1`",
        "4: expected a level like L2, got `L01`",
        "5: expected a level like L2, got `l1`",
        "6: expected a level like L2, got `L²`",
        "7: expected 3 fields (topic docno level), got 2",
        "8: expected 3 fields (topic docno level), got 4",
    ]


def test_negative_grades_and_ids_that_could_not_be_read_back_are_refused() -> None:
    """No level is negative; nothing is written of rows with such a grade."""
    stream = io.StringIO()
    with pytest.raises(ArgumentError, match=r"`grade` cannot be written as a level .* \[-2\]"):
        write_ntcireval([Qrel("1", "d", 0), Qrel("1", "e", -2)], stream)
    with pytest.raises(ArgumentError, match="`docno` cannot be written to a NTCIREVAL file"):
        write_ntcireval([Qrel("1", "d", 0), Qrel("1", "", 2)], stream)
    assert stream.getvalue() == ""


def write(file: Path, *lines: str) -> str:
    """Write lines to a file and return its name."""
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")
    return str(file)


def column_faults(file: str, columns: str, **options: str) -> list[str]:
    """Return the lines of the error that a file gives, once no document is let come twice."""
    faults = FaultList(file)
    read = read_columns(file, parse_columns(columns), faults=faults, **options)  # type: ignore[arg-type]
    settle_repeats(read.rows, lambda row: (0, row.code), "refuse", faults)
    with pytest.raises(FormatError) as refused:
        faults.raise_if_any()
    return [line.partition("/t:")[2] for line in refused.value.message.splitlines()]


@pytest.mark.parametrize(
    "text", ["", "docno", "grade", "docno,grade,grade", "docno,topic", "docno,,", "docno,,grade"]
)
def test_other_columns_are_refused(text: str) -> None:
    """A name twice or empty, and a table without docno or grade are refused."""
    with pytest.raises(ArgumentError, match="`columns` must name each column of the file once"):
        parse_columns(text)


def test_column_that_is_passed_over_may_hold_any_text_between_tabs(tmp_path: Path) -> None:
    """Where tabs make as many fields as there are columns, blanks within them separate nothing."""
    file = write(tmp_path / "t", "d1\tnot about tea\t0", "d2\t\t1")
    read = read_columns(file, parse_columns("docno,-,grade"), topic="1", judge="ann")
    assert [(row.docno, row.code) for row in read.rows] == [("d1", 0), ("d2", 1)]


def test_every_fault_of_a_table_is_told_with_its_line(tmp_path: Path) -> None:
    """Header lines, missing fields, ids, grades and judgements that come twice are faults."""
    file = write(tmp_path / "t", "item worker label", "d1 7 3", "d1 8 3", "d1 7 2", "d1 7",
                 "d\u200b 7 1", "d3 7 1.5", "d4 \u202e 1", "# d5 1")  # fmt: skip
    assert column_faults(file, "docno,judge,grade", topic="1") == [
        "1: expected an integer grade, got `label`",
        "4: expected each document once a topic and judge, got topic `1` docno `d1` judge `7` with"
        " grade 2; line 2 has it with grade 3",
        "5: expected 3 fields (docno judge grade), got 2",
        "6: expected an id without control characters, got 'd\\u200b'",
        "7: expected an integer grade, got `1.5`",
        "8: expected an id without control characters, got '\\u202e'",
        "9: expected 3 fields (docno judge grade), got a line that begins with `#`",
    ]


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
