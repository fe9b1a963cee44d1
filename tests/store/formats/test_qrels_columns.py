"""Qrels files as columns: what the strict reader reads, or nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import FormatError, PoolerError
from store.formats.qrels import Numbering, read_qrels, read_qrels_columns

Line = tuple[str, str, int]
_WORDS = st.sampled_from(["1", "01", "d1", "D-2", "NA", '"x"', "#3", "日本", "a\u00a0b", "-1", "0"])
_BLANKS = st.sampled_from([" ", "\t", "  ", " \t", "\x0b", "\r", "\n", "\x00", "\x85"])
_CODES = st.sampled_from(["0", "1", "2", "-1", "+3", "007", "2.0", "1.7", "x", "9" * 19])
_LINES = st.one_of(
    st.tuples(_WORDS, _WORDS, _WORDS, _CODES).map(" ".join),
    st.tuples(_WORDS, _BLANKS, _WORDS, _BLANKS, _WORDS, _BLANKS, _CODES).map("".join),
    st.lists(_WORDS, max_size=6).map(" ".join),
)


def columns_of(path: Path, topics: Numbering[str], docnos: Numbering[str]) -> list[Line] | None:
    """Read columns; return topic, docno and code of every line."""
    found = read_qrels_columns(str(path), topics, docnos)
    if found is None:
        return None
    names = list(topics), list(docnos)
    return [
        (names[0][topic], names[1][docno], code)
        for topic, docno, code in zip(
            found.topics.tolist(), found.docnos.tolist(), found.codes.tolist(), strict=True
        )
    ]


@given(
    lines=st.lists(_LINES, max_size=6),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
    start=st.sampled_from(["", "\ufeff", "\n"]),
)
def test_columns_are_what_the_strict_reader_reads(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, start: str
) -> None:
    """Whatever a file holds: the same lines as `read_qrels`, or nothing and no number spent."""
    path = tmp_path_factory.getbasetemp() / "any.qrels"
    path.write_text(start + end.join(lines), "utf-8", newline="")
    topics, docnos = Numbering[str](), Numbering[str]({"there before": 0})
    found = columns_of(path, topics, docnos)
    if found is None:
        assert (list(topics), list(docnos)) == ([], ["there before"])
        return
    rows = read_qrels(str(path)).rows
    assert found == [(row.topic, row.docno, row.code) for row in rows]
    assert "there before" in docnos


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_faultless_file_is_read_as_columns(tmp_path: Path, pack: type[bytes]) -> None:
    """Tabs, several blanks, blank lines, no last line end, and signs are no reason to stop."""
    path = tmp_path / "q.qrels"
    path.write_bytes(pack(b"10\t0\td1\t2\r\n\n  9 Q0  d1 -1 \n9 0 d2 +3"))
    topics, docnos = Numbering[str](), Numbering[str]()
    lines = [("10", "d1", 2), ("9", "d1", -1), ("9", "d2", 3)]
    assert columns_of(path, topics, docnos) == lines
    assert (dict(topics), dict(docnos)) == ({"10": 0, "9": 1}, {"d1": 0, "d2": 1})


@pytest.mark.parametrize(
    "text",
    ["1 0 d1", "1 0 d1 1 2\n", "1 0 d1 1.0\n", "# 0 d1 1\n", "1 0 d1 1\n1 0 d1 1\n", "", "\n",
     "1 0 d1 1\n1 0\nd2 1\n", "1 0 d1\n1 2 0 d1 1\n", "1 0 d1 1 2 0 d2 1\n", "1 0 d\x7f 1\n"],
)  # fmt: skip
def test_what_needs_words_is_left_to_the_strict_reader(tmp_path: Path, text: str) -> None:
    """Faults, and what is warned of, floats and repeated lines, are not for columns."""
    path = tmp_path / "q.qrels"
    path.write_text(text, "utf-8", newline="")
    assert read_qrels_columns(str(path), Numbering[str](), Numbering[str]()) is None
    if text.endswith("1.0\n"):
        assert read_qrels(str(path)).n_float_grades == 1
    elif text == "1 0 d1 1\n1 0 d1 1\n":
        assert read_qrels(str(path)).n_same == 1
    else:
        with pytest.raises(FormatError, match=r"q\.qrels:"):
            read_qrels(str(path))


def test_damaged_and_missing_files(tmp_path: Path) -> None:
    """A truncated gzip file is left to the strict reader; a missing one is told at once."""
    path = tmp_path / "q.gz"
    path.write_bytes(gzip.compress(b"1 0 d1 1\n" * 1000)[:-9])
    assert read_qrels_columns(str(path), Numbering[str](), Numbering[str]()) is None
    assert read_qrels_columns("-", Numbering[str](), Numbering[str]()) is None
    path.unlink()
    assert read_qrels_columns(str(path), Numbering[str](), Numbering[str]()) is None
    with pytest.raises(PoolerError, match="no such file"):
        read_qrels(str(path))
