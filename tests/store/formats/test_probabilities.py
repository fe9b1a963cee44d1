"""`store.formats.pairs`: how likely documents are relevant, from a file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import FormatError, PoolerError
from store.formats.pairs import ProbabilityRow, parse_probability, read_probabilities
from tests.strategies import ids


def write(file: Path, content: str | bytes) -> str:
    """Write a file and return its name."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(file)


def faults_of(file: str, *, lenient: bool = False) -> list[tuple[int | None, str, str]]:
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


def test_compressed_file_is_seen_through(tmp_path: Path) -> None:
    """Gzip is known by its first bytes; damaged data is a fault, not a trace."""
    data = gzip.compress(b"1 a 0.25\n" * 1, mtime=0)
    assert read_probabilities(write(tmp_path / "p", data)).rows == [ProbabilityRow(1, "1", "a", 0.25)]
    ((_, message, code),) = faults_of(write(tmp_path / "q", data[:-6]))
    assert (code, "ends too early" in message) == ("gzip", True)


def test_every_fault_is_told_with_its_line(tmp_path: Path) -> None:
    """One pass tells all there is to correct, each with its kind."""
    content = (
        b"1 a 0.5\n1 b\n1 c 0.5 x\n# a comment\n1 d 1.01\n1 e -0.1\n1 f nan\n1 g 1_0\n1 h 0,5\n"
        b"1 a 0.25\n1 i\xff 0.5\n1 j\xe2\x80\x8b 0.5\n#t k 1\n2 a 0.5\n1 l \xff\n"
    )
    fields = "expected 3 fields (topic docno p), got "
    p = "expected a probability from 0 to 1, got "
    assert faults_of(write(tmp_path / "p", content)) == [
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


def test_lenient_reading_passes_over_comments_and_what_follows(tmp_path: Path) -> None:
    """As other readers do: comments and text after the third field; all else stays a fault."""
    file = write(tmp_path / "p", "# topic docno p\n1 a 0.5 7\n1 b 1 # sure\n\n")
    content = read_probabilities(file, lenient=True)
    assert [row.p for row in content.rows] == [0.5, 1.0]
    assert content.n_trailing == 2
    assert [code for *_, code in faults_of(file)] == ["comment", "fields", "fields"]
    assert faults_of(write(tmp_path / "q", "1 a 2 7 x\n"), lenient=True)[0][2] == "probability"


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_file_without_a_line_is_refused(tmp_path: Path, content: str) -> None:
    """No probability at all is a mistake."""
    expected = "expected `topic docno p` lines, got none"
    assert faults_of(write(tmp_path / "p", content)) == [(None, expected, "empty")]


def test_qrels_are_known_for_what_they_are(tmp_path: Path) -> None:
    """Qrels in place of probabilities are one fault and a way out, not one a line."""
    file = write(tmp_path / "qrels", "\n1 0 d1 2\n1 0 d2 -1\n")
    for lenient in (False, True):
        with pytest.raises(FormatError, match="looks like a qrels file") as refused:
            read_probabilities(file, lenient=lenient)
        assert [fault.code for fault in refused.value.faults] == ["qrels"]
        assert "pooler variation --table probabilities" in str(refused.value.hint)


def test_missing_file_is_told(tmp_path: Path) -> None:
    """A file that cannot be opened is told by name."""
    with pytest.raises(PoolerError, match="no such file"):
        read_probabilities(str(tmp_path / "none"))


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


topics = ids.filter(lambda text: not text.startswith("#"))


@given(st.dictionaries(st.tuples(topics, ids), st.floats(0, 1), min_size=1, max_size=12))
def test_what_is_written_is_read(tmp_path: Path, rows: dict[tuple[str, str], float]) -> None:
    """Every float64 from 0 to 1 comes back to the last bit, ids byte for byte, in their order."""
    lines = [f"{topic} {docno} {p!r}\n" for (topic, docno), p in rows.items()]
    content = read_probabilities(write(tmp_path / "p", "".join(lines)))
    assert [((row.topic, row.docno), row.p) for row in content.rows] == list(rows.items())
    assert [row.line for row in content.rows] == list(range(1, len(rows) + 1))
