"""`pooler.reading.blocks`: the fields of a block of lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.reading.blocks import DOCNO, RANK, SCORE, TAG, TOPIC, SuspicionError, find_fields
from pooler.reading.columns import LONGEST_FIELD
from tests.strategies import RunText, damaged, run_texts


def with_end(content: bytes) -> bytes:
    """End the last line."""
    return content if content.endswith(b"\n") else content + b"\n"


def columns_of(block: bytes) -> list[list[bytes]]:
    """Find fields and give them column by column, without the second."""
    lines = find_fields(block)
    columns = [lines.column(field) for field in (TOPIC, DOCNO, RANK, SCORE, TAG)]
    return [[column[row] for row in range(len(lines))] for column in columns]


def obvious_columns(block: bytes) -> list[list[bytes]]:
    """Split line by line."""
    rows = [line.split() for line in block.split(b"\n")[:-1]]
    return [[row[field] for row in rows] for field in (0, 2, 3, 4, 5)]


@given(run_texts(tidy=True))
def test_fields_of_lines_in_order_are_found(text: RunText) -> None:
    """Between any blanks, with any line ends, the fields are those of splitting each line."""
    block = with_end(text.content)
    assert columns_of(block) == obvious_columns(block)


@given(st.data(), run_texts() | run_texts(lenient=True))
def test_fields_of_any_lines_are_found_or_suspicious(data: st.DataObject, text: RunText) -> None:
    """Whatever the bytes, the answer is right or none."""
    block = with_end(data.draw(damaged(text.content)))
    try:
        found = columns_of(block)
    except SuspicionError:
        return
    assert all(len(line.split()) == 6 for line in block.split(b"\n")[:-1])
    assert found == obvious_columns(block)


@given(st.lists(st.sampled_from([b"a", b"bc", b" ", b"  ", b"\t", b"\r", b"\n", b"\r\n"]), max_size=40))
def test_blanks_anywhere_are_right_or_suspicious(pieces: list[bytes]) -> None:
    """Leading, doubled and trailing blanks, and line ends among them, mislead nothing."""
    block = with_end(b"".join(pieces))
    is_in_order = all(len(line.split()) == 6 for line in block.split(b"\n")[:-1])
    if any(
        len(cell.split()) > 1
        for line in block.split(b"\n")
        if line.count(b"\t") == 5
        for cell in line.split(b"\t")
    ):
        with pytest.raises(SuspicionError):
            find_fields(block)
    elif is_in_order:
        assert columns_of(block) == obvious_columns(block)
    else:
        with pytest.raises(SuspicionError, match="six fields"):
            find_fields(block)


@pytest.mark.parametrize(
    "block",
    [
        b"1 Q0 a 1 1 t\n" * 3,
        b"1\tQ0\ta\t1\t1\tt\n" * 3,
        b"1 Q0 a 1 1 t\r\n" * 3,
        b"1 Q0\ta 1 1 t\n" * 3,
        b"1 Q0 a 1 1 t \n" * 3,
        b"1 Q0 a 1 1 t\n1 Q0 a 1 1 t\r\n",
        b"1 Q0 a 1 1 t\r\n1 Q0 a 1 1 t\n",
        b"1 Q0 a 1 1 t\r\n 1 Q0 a 1 1 t\r\n",
        b"1 Q0 a 1 1 t\r\r\n",
        b"\x0b1 Q0 a 1\x0c1 t\n",
    ],
)
def test_layouts_are_read(block: bytes) -> None:
    """Single blanks, tabs and Windows line ends, alone and mixed, are all in order."""
    assert columns_of(block) == obvious_columns(block)


@pytest.mark.parametrize(
    "block",
    [
        b"1 Q0 a 1 1\n1 Q0 b 2 0 t t\n",  # five and seven are twelve, as six and six are
        b"1  Q0 a 1 1\n1 Q0 b 2 0 t t\n",
        b"1  Q0 a 1 1 t 1 Q0 b 2 0 t\n\n",
        b"\n1  Q0 a 1 1 t\n1 Q0 b 2 0 t",
        b"1 Q0 a 1  t\n",  # as many blanks as between six fields
        b" Q0 a 1 1 t\n",
        b"1 Q0 a 1 1 \n",
        b"1 Q0 a 1 1 t\rx\n",  # blanks as of a Windows line end, and a field between
        b"1 Q0 a 1 1 t\r\n1 Q0 b 1 1 t\rx\n",
    ],
)
def test_other_numbers_of_fields_are_suspicious(block: bytes) -> None:
    """Counting all fields, or all blanks, is not enough to pass."""
    with pytest.raises(SuspicionError, match="six fields"):
        find_fields(block)


@pytest.mark.parametrize("code", [*range(9), *range(14, 32), 127])
@pytest.mark.parametrize("line", [b"1 Q0 a%cb 1 1 t\n", b"1  Q0 a%cb 1 1 t\n", b"1 Q0%ca 1 1 t\n"])
def test_controls_are_suspicious_in_any_layout(code: int, line: bytes) -> None:
    """No ASCII control that is no blank gets past, in a field or instead of a blank."""
    with pytest.raises(SuspicionError, match="control"):
        find_fields(b"1 Q0 a 1 1 t\n" + line % code)


def test_field_as_long_as_can_be_is_read_and_a_longer_one_is_not() -> None:
    """Very long fields are left to the reader that goes line by line."""
    docno = b"d" * LONGEST_FIELD
    assert columns_of(b"1 Q0 %b 1 1 t\n" % docno)[1] == [docno]
    with pytest.raises(SuspicionError, match="very long field"):
        find_fields(b"1 Q0 %bd 1 1 t\n" % docno)
