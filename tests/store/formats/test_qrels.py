"""Qrels files: what is read, what is refused, and that what is written is read back."""

from __future__ import annotations

import collections
import gzip
import hashlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FaultList, FormatError, PoolerError
from store.formats.qrels import QrelCells, qrels_blocks, read_plain_qrels, read_qrels
from store.formats.tables import GradedRow
from store.records import Qrel

DATA = Path(__file__).resolve().parents[3].parent / "shared" / "data"

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ids = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Z"], exclude_characters=BIDI + "\u200b\u2060\ufeff"),
    min_size=1,
)
topics = ids.filter(lambda text: text[0] not in "#\ufeff")


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


def test_integral_floats_are_integers_and_counted(file: Path) -> None:
    """`2.0` is the grade 2, and the caller learns how many were written so."""
    file.write_text("1 0 a 2.0\n1 0 b 1\n1 0 c -1.00\n1 0 d 0.\n")
    read = read_qrels(str(file))
    assert [row.code for row in read.rows] == [2, 1, -1, 0]
    assert read.n_float_grades == 3


def test_byte_order_mark_crlf_and_gzip_change_no_row(file: Path) -> None:
    """The hash is of the uncompressed file, byte order mark and all."""
    dressed = b"\xef\xbb\xbf301 0 a 1\r\n\r\n302 0 a 0\r\n"
    expected = [GradedRow(1, "301", "0", "a", "", 1), GradedRow(3, "302", "0", "a", "", 0)]
    for content in (dressed, gzip.compress(dressed)):
        file.write_bytes(content)
        read = read_qrels(str(file))
        assert read.rows == expected
        assert read.sha256 == hashlib.sha256(dressed).hexdigest()


def test_standard_input_is_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads standard input, gzip too."""
    for content in (b"1 0 a 1\n", gzip.compress(b"1 0 a 1\n")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert read_qrels("-").rows == [GradedRow(1, "1", "0", "a", "", 1)]


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


def test_exchanged_columns_are_told_where_all_grades_are_alike(file: Path) -> None:
    """`topic docno 0 grade`: the lines are no repeats of a document named `0`."""
    error = faults_of(file, "1 a 0 1\n1 b 0 1\n1 c 0 1\n")
    assert codes(error) == [(None, "exchanged")]
    assert "got `0` in column 3 of all 3 lines" in str(error)


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


@pytest.mark.parametrize("column", [0, 1, 3, 4, 5, -1])
def test_judge_column_must_be_the_second(file: Path, column: int) -> None:
    """The other columns are taken."""
    with pytest.raises(ArgumentError, match=f"`judge_column` must be 2, .* got {column}"):
        read_qrels(str(file), judge_column=column)


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


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_empty_file_is_a_fault(file: Path, text: str) -> None:
    """No judgements are not zero judgements."""
    error = faults_of(file, text)
    assert codes(error) == [(None, "empty")]
    assert str(error) == f"{file}: expected `topic iteration docno grade` lines, got none"


@pytest.mark.parametrize("lenient", [False, True])
def test_comments_alone_are_an_empty_file(file: Path, lenient: bool) -> None:
    """A file of comments holds no judgement."""
    assert codes(faults_of(file, "# a\n# b\n", lenient=lenient)) == [(None, "empty")]


@pytest.mark.slow
def test_truncated_or_damaged_gzip_is_a_fault(file: Path) -> None:
    """Half a file is never read as a whole one."""
    whole = gzip.compress("".join(f"1 0 d{n} 1\n" for n in range(100_000)).encode())
    assert [fault.code for fault in faults_of(file, whole[:-9]).faults] == ["gzip"]
    assert "the file is truncated" in str(faults_of(file, whole[: len(whole) // 2]))
    damaged = bytearray(whole)
    damaged[-6] ^= 0xFF  # in the length or checksum that closes the file
    assert "gzip data is damaged" in str(faults_of(file, bytes(damaged)))


def test_missing_file_is_told(tmp_path: Path) -> None:
    """What is not there is said in one line."""
    with pytest.raises(PoolerError, match="none: no such file"):
        read_qrels(str(tmp_path / "none"))


# Writing


def written(rows: Sequence[QrelCells]) -> str:
    """Return the bytes of a file."""
    return "".join(f"{lines}\n" for lines in qrels_blocks(rows))


def test_written_file_has_single_blanks_and_keeps_iterations() -> None:
    """Rows as they come, single blanks, LF."""
    rows = [("009", "0", "x", 3), ("9", "A", "B", 2), ("9", "0.5", "é", -2)]
    assert written(rows) == "009 0 x 3\n9 A B 2\n9 0.5 é -2\n"


def test_nothing_to_write_writes_nothing() -> None:
    """No judgements are no bytes."""
    assert written([]) == ""


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


@given(st.dictionaries(st.tuples(topics, ids), st.tuples(st.integers(-(10**17), 10**17), ids), min_size=1))
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


def real(name: str) -> str:
    """Return a real file's path, or skip."""
    if not (DATA / name).is_file():
        pytest.skip(f"{name} is not beside the project")
    return str(DATA / name)


def by_code(name: str) -> dict[int, int]:
    """Count the rows of a real file by code."""
    return collections.Counter(row.code for row in read_qrels(real(name)).rows)


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
    rows = read_qrels(real("trec-covid-r1/qrels-rnd1.txt.gz")).rows
    assert collections.Counter(row.iteration for row in rows) == {"1": 6064, "0.5": 2627}


def test_wtr_grades_written_as_floats_are_read_as_integers() -> None:
    """All 6,949 grades are written 0.0, 1.0 or 2.0."""
    read = read_qrels(real("wtr-pool/rel_table_qrels.txt.gz"))
    assert collections.Counter(row.code for row in read.rows) == {0: 4703, 1: 1271, 2: 975}
    assert read.n_float_grades == 6949


def test_trec_eval_judgement_groups_are_judges() -> None:
    """Three groups share 3,733 pairs: read as judges they are whole, else they contradict."""
    path = real("trec-eval-test/qrels.123.gz")
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
    rows = read_qrels(real(f"trec-eval-test/{plain}"), judge_column=2).rows
    path = real(f"trec-eval-test/{commented}")
    read = read_qrels(path, judge_column=2)
    pairs = zip(rows, read.rows, strict=True)
    differing = [(row, other) for row, other in pairs if row[1:] != other[1:]]
    assert [(row.docno, other.docno) for row, other in differing] == [marked]


def test_cranfield_has_three_columns() -> None:
    """A file without an iteration column is read, and what its columns were taken for is said."""
    read = read_qrels(real("cranfield/cranqrel"), keep_repeats=True)
    assert len(read.rows) == 1837
    assert read.rows[0] == GradedRow(1, "1", "0", "184", "", 2)
    assert read.layout.taken.startswith(
        "columns between blanks, without a header, taken for topic, docno, grade"
    )


@pytest.mark.parametrize("lenient", [False, True])
def test_run_given_as_qrels_is_told_in_one_line(tmp_path: Path, lenient: bool) -> None:
    """Forty lines of a run are one fault, also where lenient reading would take ranks as grades."""
    path = tmp_path / "x.run"
    path.write_text("".join(f"1 Q0 d{rank} {rank} {-rank / 2} bm25\n" for rank in range(40)))
    with pytest.raises(FormatError, match=r"looks like a run file \(6 columns") as caught:
        read_qrels(str(path), lenient=lenient)
    assert [(fault.line, fault.code) for fault in caught.value.faults] == [(None, "run")]
    assert "`pooler import runs FILE`" in (caught.value.hint or "")
    faults = FaultList(str(path))
    assert read_qrels(str(path), lenient=lenient, faults=faults).rows == []
    assert faults.count == 1


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
