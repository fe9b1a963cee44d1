"""Files of samples (prels) and of probabilities."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FormatError
from store.formats.pairs import ProbabilityRow, parse_probability, read_probabilities
from store.formats.prels import (
    NOT_SAMPLED,
    PrelsFormat,
    StatapRow,
    XinfapRow,
    read_statap,
    read_xinfap,
    write_statap,
    write_xinfap,
)
from tests.helpers.strategies import ids

topics = ids.filter(lambda text: not text.startswith("#"))
READERS = {"xinfap": read_xinfap, "statap": read_statap}

XINFAP = """\
51 0 d1 1 1
51 0 d2 1 0
51 0 d3 1 2
51 0 d4 2 -1
51 0 d5 2 1
51 0 d6 2 0
51 0 d7 2 -1
"""
"""The strata on which `sample_eval.pl` gives infAP 0.8056, as its file."""

STATAP = """\
10 GX225-79-9870332 1 1 0.568969759822883
10 GX253-98-16418961 0 1 0.165904710473544
9999 GX237-19-4725226 1 1 0.659520100607628
"""
"""Three lines of the Million Query track 2007, as ir_datasets' tests have them."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Name a file to be written."""
    return tmp_path / "prels"


def faults_of(kind: PrelsFormat, file: Path, content: str | bytes, *, lenient: bool = False) -> FormatError:
    """Return the error of a file with this content."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FormatError) as caught:
        READERS[kind](str(file), lenient=lenient)
    return caught.value


def codes(error: FormatError) -> list[tuple[int | None, str]]:
    """Return line and code of every fault."""
    return [(fault.line, fault.code) for fault in error.faults]


@pytest.mark.vector("sample_eval.pl")
def test_xinfap_columns_are_topic_iteration_docno_stratum_rel(file: Path) -> None:
    """Every line is a row; -1 is "not sampled", and no grade is changed."""
    file.write_text(XINFAP)
    read = read_xinfap(str(file))
    assert read.rows == [
        XinfapRow("51", "0", "d1", 1, 1, 1),
        XinfapRow("51", "0", "d2", 1, 0, 2),
        XinfapRow("51", "0", "d3", 1, 2, 3),
        XinfapRow("51", "0", "d4", 2, NOT_SAMPLED, 4),
        XinfapRow("51", "0", "d5", 2, 1, 5),
        XinfapRow("51", "0", "d6", 2, 0, 6),
        XinfapRow("51", "0", "d7", 2, NOT_SAMPLED, 7),
    ]
    assert read.sha256 == hashlib.sha256(XINFAP.encode()).hexdigest()
    assert read.n_trailing == 0


@pytest.mark.vector("ir_datasets, test of gov2/trec-mq-2007")
def test_statap_columns_are_topic_docno_rel_method_iprob(file: Path) -> None:
    """Every line is a row, and probabilities are read to the last digit."""
    file.write_text(STATAP)
    assert read_statap(str(file)).rows == [
        StatapRow("10", "GX225-79-9870332", 1, 1, 0.568969759822883, 1),
        StatapRow("10", "GX253-98-16418961", 0, 1, 0.165904710473544, 2),
        StatapRow("9999", "GX237-19-4725226", 1, 1, 0.659520100607628, 3),
    ]


def test_ids_are_text_and_odd_codes_are_kept(file: Path) -> None:
    """`001`, `NA` and a quote are ids; -2 is left to the caller; stratum 0 is a stratum."""
    file.write_text('001 2.5 NA 0 -2\n1\tA  "\t10 +3 \n')
    assert read_xinfap(str(file)).rows == [
        XinfapRow("001", "2.5", "NA", 0, -2, 1),
        XinfapRow("1", "A", '"', 10, 3, 2),
    ]
    file.write_text("1 a -2 0 1.0\n1 b 0 12 1e-05\n1 c 0 1 .5\n1 d 0 4 1\n")
    assert [row[2:5] for row in read_statap(str(file)).rows] == [
        (-2, 0, 1.0),
        (0, 12, 1e-05),
        (0, 1, 0.5),
        (0, 4, 1.0),
    ]


GOOD = {"xinfap": "1 0 a 1 1\n", "statap": "1 a 1 1 0.5\n"}


@pytest.mark.parametrize(
    ("kind", "line", "code", "message"),
    [
        ("xinfap", "1 0 b 1", "fields", "5 fields (topic iteration docno stratum rel), got 4"),
        ("xinfap", "1 0 b 1 1 x", "fields", "got 6"),
        ("xinfap", "# comment", "comment", "got a line that begins with `#`"),
        ("xinfap", "1 0 b -1 1", "stratum", "a stratum, an integer from 0 to 999999999, got `-1`"),
        ("xinfap", "1 0 b 1.0 1", "stratum", "got `1.0`"),
        ("xinfap", "1 0 b +1 1", "stratum", "got `+1`"),
        ("xinfap", "1 0 b 1000000000 1", "stratum", "got `1000000000`"),
        ("xinfap", "1 0 b ١ 1", "stratum", "got `١`"),
        ("xinfap", "1 0 b 1 1.0", "grade", "expected an integer rel, got `1.0`"),
        ("xinfap", "1 0 b 1 x", "grade", "got `x`"),
        ("xinfap", "1 0 b\u202e 1 1", "id", "without control characters"),
        ("xinfap", "1 \x07 b 1 1", "id", "without control characters"),
        ("xinfap", " #1 0 b 1 1", "id", "expected a topic that does not begin with `#`"),
        ("xinfap", "1 7 a 2 0", "duplicate", "got topic `1` docno `a`; line 1 has it"),
        ("statap", "1 b 1 1", "fields", "expected 5 fields (topic docno rel method iprob), got 4"),
        ("statap", "1 b 1.0 1 0.5", "grade", "expected an integer rel, got `1.0`"),
        ("statap", "1 b 1 -1 0.5", "method", "a method, an integer from 0 to 999999999, got `-1`"),
        ("statap", "1 b 1 x 0.5", "method", "got `x`"),
        ("statap", "1 b 1 1 0", "probability", "a number above 0 and at most 1, got `0`"),
        ("statap", "1 b 1 1 1.0000001", "probability", "got `1.0000001`"),
        ("statap", "1 b 1 1 -0.5", "probability", "got `-0.5`"),
        ("statap", "1 b 1 1 nan", "probability", "got `nan`"),
        ("statap", "1 b 1 1 1e-999", "probability", "got `1e-999`"),
        ("statap", "1 b 1 1 0_5", "probability", "got `0_5`"),
        ("statap", "1 b 1 1 50%", "probability", "got `50%`"),
        ("statap", "1 b 1 0 0.99", "probability", "expected iprob 1 with method 0, got `0.99`"),
        ("statap", "1 a 1 0 1", "duplicate", "got topic `1` docno `a`; line 1 has it"),
    ],
)
def test_line_that_is_no_row_is_a_fault(
    file: Path, kind: PrelsFormat, line: str, code: str, message: str
) -> None:
    """Nothing is repaired: the line is named, with what was expected."""
    error = faults_of(kind, file, f"{GOOD[kind]}{line}\n")
    assert codes(error) == [(2, code)]
    assert str(error).startswith(f"{file}:2: ")
    assert message in str(error)


@pytest.mark.parametrize("kind", ["xinfap", "statap"])
def test_invalid_utf8_and_damaged_gzip_are_faults(file: Path, kind: PrelsFormat) -> None:
    """A byte that is no UTF-8 is named; half a file is never read as a whole one."""
    good = GOOD[kind].encode()
    error = faults_of(kind, file, good + good.replace(b" a ", b" b\xff "))
    assert codes(error) == [(2, "utf8")]
    assert "0xff" in str(error)
    error = faults_of(kind, file, gzip.compress(good * 9)[:-9])
    assert "gzip" in {fault.code for fault in error.faults}


@pytest.mark.parametrize(
    ("kind", "content", "faults", "hint"),
    [
        ("statap", XINFAP, None, "all its lines could be xinfap lines (topic iteration docno stratum rel)"),
        ("xinfap", STATAP, [(1, "grade"), (2, "grade"), (3, "grade")],
         "could be statap lines (topic docno rel method iprob)"),
        # With every iprob 1 the lines fit, but the grades that stand for docnos repeat.
        ("xinfap", "1 a 0 0 1\n1 b 1 0 1\n1 c 0 0 1\n", [(3, "duplicate")], "could be statap lines"),
        # The grades that stand for probabilities are out of range, and iterations repeat.
        ("statap", "1 0 101 1 1\n1 0 102 1 0\n1 0 103 2 -1\n1 0 104 1 1\n",
         [(2, "probability"), (3, "probability"), (4, "duplicate")], "could be xinfap lines"),
        ("xinfap", "1 0 a 1\n1 0 b 0\n", [(1, "fields"), (2, "fields")],
         "all its lines have 4 fields, as those of a qrels file"),
        # A hint at another kind needs every line of the file.
        ("xinfap", XINFAP + "51 d8 0 1 0.5\n", [(8, "grade")], None),
    ],
)  # fmt: skip
def test_file_of_another_kind_is_refused_and_the_hint_names_it(
    file: Path, kind: PrelsFormat, content: str, faults: list[tuple[int, str]] | None, hint: str | None
) -> None:
    """The columns tell: nothing is read, and the hint says which kind it could be."""
    error = faults_of(kind, file, content)
    assert error.n_faults == 12 if faults is None else codes(error) == faults
    assert error.hint is None if hint is None else hint in str(error.hint)


# Writing


Rows = list[Any]
WRITERS: dict[str, Callable[[Rows, io.StringIO], None]] = {"xinfap": write_xinfap, "statap": write_statap}


def written(kind: str, rows: Iterable[Any]) -> str:
    """Return the bytes of a file."""
    stream = io.StringIO()
    WRITERS[kind](rows, stream)  # type: ignore[arg-type] - any rows, once
    return stream.getvalue()


def test_files_are_sorted_and_probabilities_lose_no_digit() -> None:
    """Topics in natural order, docnos bytewise, single blanks, LF; as many digits as it takes, 1 for 1."""
    rows: Rows = [
        XinfapRow("10", "0", "b", 2, NOT_SAMPLED),
        XinfapRow("9", "0.5", "é", 1, -2),
        XinfapRow("9", "A", "b10", 1, 0),
        XinfapRow("9", "0", "b9", 3, 2),
    ]
    assert written("xinfap", rows) == "9 A b10 1 0\n9 0 b9 3 2\n9 0.5 é 1 -2\n10 0 b 2 -1\n"
    rows = [
        StatapRow("10", "a", 1, 4, 0.1 + 0.2),
        StatapRow("9", "b", 0, 1, 1 / 3),
        StatapRow("9", "a", 2, 0, 1.0),
        StatapRow("9", "c", -1, 2, 1e-7),
    ]
    assert written("statap", rows) == (
        "9 a 2 0 1\n9 b 0 1 0.3333333333333333\n9 c -1 2 1e-07\n10 a 1 4 0.30000000000000004\n"
    )


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (XinfapRow("1", "0", "a b", 1, 1), "docno"),
        (XinfapRow("#1", "0", "b", 1, 1), "topic"),
        (XinfapRow("1", "", "b", 1, 1), "iteration"),
        (XinfapRow("1", "0", "b", -1, 1), "stratum"),
        (XinfapRow("1", "1", "a", 2, 1), "docno"),
        (StatapRow("1", "", 1, 1, 0.5), "docno"),
        (StatapRow("1", "b", 1, -1, 0.5), "method"),
        (StatapRow("1", "b", 1, 0, 0.5), "iprob"),
        (StatapRow("1", "b", 1, 1, 0.0), "iprob"),
        (StatapRow("1", "b", 1, 1, 1.5), "iprob"),
        (StatapRow("1", "b", 1, 1, float("nan")), "iprob"),
        (StatapRow("1", "a", 1, 1, 0.5), "docno"),
    ],
)
def test_row_that_could_not_be_read_back_is_refused_before_a_byte_is_written(
    row: XinfapRow | StatapRow, name: str
) -> None:
    """A file with a shifted column, or a document twice, is worse than none."""
    stream = io.StringIO()
    kind = "xinfap" if isinstance(row, XinfapRow) else "statap"
    good = XinfapRow("1", "0", "a", 1, 1) if kind == "xinfap" else StatapRow("1", "a", 1, 1, 0.5)
    with pytest.raises(ArgumentError) as caught:
        WRITERS[kind]([good, row], stream)
    assert caught.value.name == name
    assert stream.getvalue() == ""


grades = st.integers(-3, 9)
xinfap_rows = st.builds(XinfapRow, topics, ids, ids, st.integers(0, 10**9 - 1), grades)
statap_rows = st.builds(StatapRow, topics, ids, grades, st.integers(1, 99), st.floats(0, 1, exclude_min=True))


@pytest.mark.parametrize("kind", ["xinfap", "statap"])
@given(data=st.data(), random=st.randoms(use_true_random=False))
def test_what_is_written_is_read_back_and_order_does_not_matter(
    tmp_path: Path, kind: PrelsFormat, data: st.DataObject, random: Random
) -> None:
    """Reading a written file gives the same rows, probabilities to the last bit; shuffled, the same bytes."""
    drawn = xinfap_rows if kind == "xinfap" else statap_rows
    rows = data.draw(st.lists(drawn, min_size=1, unique_by=lambda row: (row.topic, row.docno)))
    text = written(kind, rows)
    random.shuffle(rows)
    assert written(kind, iter(rows)) == text
    file = tmp_path / "written"
    file.write_bytes(text.encode())
    assert {row[:5] for row in READERS[kind](str(file)).rows} == {row[:5] for row in rows}


def write(file: Path, content: str | bytes) -> str:
    """Write a file and return its name."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(file)


def probability_faults(file: str, *, lenient: bool = False) -> list[tuple[int | None, str, str]]:
    """Return line, message and code of every fault of a file."""
    with pytest.raises(FormatError) as refused:
        read_probabilities(file, lenient=lenient)
    return [(fault.line, fault.message, fault.code) for fault in refused.value.faults]


def test_lines_are_read_as_they_stand(tmp_path: Path) -> None:
    """Any ASCII blanks, blank lines, a byte order mark, both line ends; no end of the last line."""
    file = write(tmp_path / "p", "\ufeff051 d1 0.9\r\n\n\t51\td1  1e-3 \n51 é .5\n1 0 1\n2 a 0.")
    content = read_probabilities(file)
    assert content.rows == [
        ProbabilityRow(1, "051", "d1", 0.9),
        ProbabilityRow(3, "51", "d1", 0.001),
        ProbabilityRow(4, "51", "é", 0.5),
        ProbabilityRow(5, "1", "0", 1.0),
        ProbabilityRow(6, "2", "a", 0.0),
    ]
    assert content.n_trailing == 0


def test_every_fault_is_told_with_its_line(tmp_path: Path) -> None:
    """One pass tells all there is to correct, each with its kind."""
    content = (
        b"1 a 0.5\n1 b\n1 c 0.5 x\n# a comment\n1 d 1.01\n1 e -0.1\n1 f nan\n1 g 1_0\n1 h 0,5\n"
        b"1 a 0.25\n1 i\xff 0.5\n1 j\xe2\x80\x8b 0.5\n#t k 1\n2 a 0.5\n1 l \xff\n"
    )
    fields = "expected 3 fields (topic docno p), got "
    p = "expected a probability from 0 to 1, got "
    assert probability_faults(write(tmp_path / "p", content)) == [
        (2, f"{fields}2", "fields"),
        (3, f"{fields}4", "fields"),
        (4, f"{fields}a line that begins with `#`", "comment"),
        (5, f"{p}`1.01`", "probability"),
        (6, f"{p}`-0.1`", "probability"),
        (7, f"{p}`nan`", "probability"),
        (8, f"{p}`1_0`", "probability"),
        (9, f"{p}`0,5`", "probability"),
        (
            10,
            "expected each document once a topic, got topic `1` docno `a` with p 0.25; line 1 has"
            " it with p 0.5",
            "duplicate",
        ),
        (11, "expected UTF-8, got byte 0xff in `i\\xff`", "utf8"),
        (12, "expected an id without control characters, got 'j\\u200b'", "id"),
        (13, f"{fields}a line that begins with `#`", "comment"),
        (15, f"{p}`\\xff`", "probability"),
    ]


def test_qrels_are_known_for_what_they_are(tmp_path: Path) -> None:
    """Qrels in place of probabilities are one fault and a way out, not one a line."""
    file = write(tmp_path / "qrels", "\n1 0 d1 2\n1 0 d2 -1\n")
    for lenient in (False, True):
        with pytest.raises(FormatError, match="looks like a qrels file") as refused:
            read_probabilities(file, lenient=lenient)
        assert [fault.code for fault in refused.value.faults] == ["qrels"]
        assert "pooler variation --table probabilities" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("text", "p"),
    [
        ("0", 0.0), ("1", 1.0), ("+0.5", 0.5), (".5", 0.5), ("1.", 1.0), ("1e-400", 0.0),
        ("5E-1", 0.5), ("-0.0", 0.0), ("1.0000000000000000001", 1.0), ("1e999", None),
        ("inf", None), ("-1e-9", None), ("", None), (".", None), ("0x1", None), ("٠", None),
        (" 1", None), ("1e", None), ("0.5\n", None),
    ],
)  # fmt: skip
def test_numbers_are_decimal_ones_within_0_and_1(text: str, p: float | None) -> None:
    """What Python's own `float` would take beyond that is refused."""
    assert parse_probability(text) == p
    assert str(parse_probability(text)) != "-0.0"


@given(st.dictionaries(st.tuples(topics, ids), st.floats(0, 1), min_size=1, max_size=12))
def test_what_is_written_is_read(tmp_path: Path, rows: dict[tuple[str, str], float]) -> None:
    """Every float64 from 0 to 1 comes back to the last bit, ids byte for byte, in their order."""
    lines = [f"{topic} {docno} {p!r}\n" for (topic, docno), p in rows.items()]
    content = read_probabilities(write(tmp_path / "p", "".join(lines)))
    assert [((row.topic, row.docno), row.p) for row in content.rows] == list(rows.items())
    assert [row.line for row in content.rows] == list(range(1, len(rows) + 1))
