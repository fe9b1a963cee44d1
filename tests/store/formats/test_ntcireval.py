"""`store.formats.qrels`: three columns, the grade as L0 to Ln."""

from __future__ import annotations

import gzip
import hashlib
import io
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import ArgumentError, FormatError
from store.formats.qrels import read_ntcireval, write_ntcireval
from store.records import Qrel
from tests.strategies import ids

WWW = """\
0001 clueweb12-0000tw-13-04988 L0
0001 clueweb12-0000wb-16-37427 L4
0001 clueweb12-0001wb-40-32733 L1
"""
"""By hand, in the shape of the NTCIR WWW qrels: sums of two judges' grades."""


def faults_of(file: Path, content: str | bytes, *, lenient: bool = False) -> list[str]:
    """Return the lines of the error that a file gives."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(FormatError) as refused:
        read_ntcireval(str(file), lenient=lenient)
    return [line.partition("/n:")[2] for line in refused.value.message.splitlines()]


def test_levels_are_grades_and_come_back_byte_for_byte(tmp_path: Path) -> None:
    """Lk is grade k, of a sum of grades too; the file has the same bytes again."""
    file = tmp_path / "n"
    file.write_bytes(gzip.compress(WWW.encode()))
    table = read_ntcireval(str(file))
    assert [(row.topic, row.code) for row in table.rows] == [("0001", 0), ("0001", 4), ("0001", 1)]
    assert table.sha256 == hashlib.sha256(WWW.encode()).hexdigest()
    stream = io.StringIO()
    write_ntcireval([Qrel(row.topic, row.docno, row.code) for row in table.rows], stream)
    assert stream.getvalue() == WWW


@given(
    rows=st.lists(
        st.builds(
            partial(Qrel, iteration="0"),
            ids.filter(lambda text: text[0] != "#"), ids, st.integers(0, 10**9 - 1),
        ),
        min_size=1,
        max_size=6,
        unique_by=lambda row: (row.topic, row.docno),
    ),
)  # fmt: skip
def test_what_is_written_is_read_back_in_its_order(rows: list[Qrel], tmp_path: Path) -> None:
    """Any ids in any order come back as they were."""
    stream = io.StringIO()
    write_ntcireval(rows, stream)
    (tmp_path / "n").write_text(stream.getvalue(), "utf-8", newline="")
    table = read_ntcireval(str(tmp_path / "n"))
    assert [Qrel(row.topic, row.docno, row.code) for row in table.rows] == rows


def test_every_fault_is_told_with_its_line(tmp_path: Path) -> None:
    """Levels that are none, and fields: all lines at once."""
    content = "1 d1 L1\n1 d2 2\n1 d3 L-1\n1 d4 L01\n1 d5 l1\n1 d6 L²\n1 d7\n1 d9 L1 x\n"
    assert faults_of(tmp_path / "n", content) == [
        "2: expected a level like L2, got `2`",
        "3: expected a level like L2, got `L-1`",
        "4: expected a level like L2, got `L01`",
        "5: expected a level like L2, got `l1`",
        "6: expected a level like L2, got `L²`",
        "7: expected 3 fields (topic docno level), got 2",
        "8: expected 3 fields (topic docno level), got 4",
    ]


def test_lenient_reading_passes_comments_and_what_follows(tmp_path: Path) -> None:
    """Leniently, # lines and fields after the third are ignored, and counted."""
    file = tmp_path / "n"
    file.write_bytes(b"\xef\xbb\xbf# made by hand\r\n\r\n1 d1 L1 sure\r\n1\td2\tL0\r\n")
    table = read_ntcireval(str(file), lenient=True)
    assert [(row.line, row.docno, row.code) for row in table.rows] == [(3, "d1", 1), (4, "d2", 0)]
    assert table.n_trailing == 1
    assert faults_of(file, "1 d1\n", lenient=True) == ["1: expected 3 fields (topic docno level),"
                                                       " got 2"]  # fmt: skip


def test_empty_and_damaged_files_are_refused(tmp_path: Path) -> None:
    """A file without lines, and one that gzip cannot read to its end, are no qrels."""
    file = tmp_path / "n"
    file.write_bytes(b"\n \n")
    with pytest.raises(FormatError, match="n: expected `topic docno level` lines, got none"):
        read_ntcireval(str(file))
    file.write_bytes(gzip.compress(WWW.encode() * 50)[:-20])
    with pytest.raises(FormatError, match=r"n:\d+: "):
        read_ntcireval(str(file))


def test_negative_grades_and_ids_that_could_not_be_read_back_are_refused() -> None:
    """No level is negative; nothing is written of rows with such a grade."""
    stream = io.StringIO()
    with pytest.raises(ArgumentError, match=r"`grade` cannot be written as a level .* \[-2\]"):
        write_ntcireval([Qrel("1", "d", 0), Qrel("1", "e", -2)], stream)
    with pytest.raises(ArgumentError, match="`docno` cannot be written to a NTCIREVAL file"):
        write_ntcireval([Qrel("1", "d", 0), Qrel("1", "", 2)], stream)
    assert stream.getvalue() == ""
