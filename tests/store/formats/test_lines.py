"""Bytes and lines of files: plain, gzip, standard input, damaged."""

from __future__ import annotations

import gc
import gzip
import io
import subprocess
import sys
import unicodedata
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import FaultList, PoolerError
from store.fields import id_fault
from store.formats.lines import open_bytes, read_text_lines


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Give a place for one file."""
    return tmp_path / "lines.txt"


def lines_of(file: Path, content: bytes) -> tuple[list[tuple[int, str]], FaultList]:
    """Read the lines of a file and its faults."""
    file.write_bytes(content)
    faults = FaultList(str(file))
    return list(read_text_lines(str(file), faults)), faults


def test_lines_lose_their_ends_and_nothing_else(file: Path) -> None:
    """LF, CRLF and a missing last newline give the same lines; blanks and lone CR stay."""
    lines, faults = lines_of(file, b" a \n\r\nb\rc\r\n\xe6\x9d\xb1\t\x0b\x00\x85"[:-1] + b"\nd")
    assert lines == [(1, " a "), (2, ""), (3, "b\rc"), (4, "東\t\x0b\x00"), (5, "d")]
    assert not faults


def test_characters_that_are_line_ends_elsewhere_end_no_line(file: Path) -> None:
    """Line numbers are those of every editor: U+2028, U+0085 and form feed are text."""
    lines, _ = lines_of(file, "a\u2028b\u0085c\x0cd\x1ce\n".encode())
    assert lines == [(1, "a\u2028b\u0085c\x0cd\x1ce")]


def test_byte_order_mark_is_dropped_from_the_first_line_only(file: Path) -> None:
    """One mark goes, wherever else it stands it is text."""
    lines, _ = lines_of(file, b"\xef\xbb\xbf\xef\xbb\xbfa\n\xef\xbb\xbfb\n")
    assert lines == [(1, "\ufeffa"), (2, "\ufeffb")]


def test_invalid_utf8_is_a_fault_and_its_line_is_left_out(file: Path) -> None:
    """The lines around it keep their numbers; the byte and its column are named."""
    lines, faults = lines_of(file, b"a\nxy\xffz\nb\n")
    assert lines == [(1, "a"), (3, "b")]
    assert [(fault.line, fault.code) for fault in faults.kept] == [(2, "utf8")]
    assert faults.kept[0].message == "expected UTF-8, got byte 0xff at column 3"


def test_gzip_is_seen_by_its_bytes_not_its_name(file: Path) -> None:
    """Members one after the other are one file; a plain file may be called .gz."""
    content = gzip.compress(b"a\nb") + gzip.compress(b"c\nd\n")
    assert lines_of(file, content)[0] == [(1, "a"), (2, "bc"), (3, "d")]
    assert lines_of(file.with_suffix(".gz"), b"plain\n")[0] == [(1, "plain")]


def test_empty_files_have_no_lines(file: Path) -> None:
    """Nothing, and nothing compressed, are both empty."""
    assert lines_of(file, b"")[0] == []
    assert lines_of(file, gzip.compress(b""))[0] == []


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-4], "gzip data ends too early: the file is truncated"),
        (lambda data: data[: len(data) // 2], "gzip data ends too early: the file is truncated"),
        (lambda data: data[:-8] + b"\0\0\0\0" + data[-4:], "gzip data is damaged"),
        (lambda data: data + b"trailing", "gzip data is damaged"),
        (lambda data: data[:10] + b"\xff" * 40 + data[50:], "gzip data is damaged"),
    ],
    ids=["no length", "half", "checksum", "trailing", "inside"],
)
def test_damaged_gzip_is_one_fault(file: Path, damage: object, message: str) -> None:
    """However the compression is broken, it is told once, after the lines that came through."""
    data = gzip.compress(b"".join(b"line %d\n" % number for number in range(10_000)))
    lines, faults = lines_of(file, damage(data))  # type: ignore[operator]
    assert [fault.code for fault in faults.kept] == ["gzip"]
    assert message in faults.kept[0].message
    assert faults.kept[0].line is None
    assert all(line.startswith("line ") for _, line in lines)


def test_gzip_leaves_no_file_open(file: Path) -> None:
    """A reader that is closed has closed the file beneath the decompressor too."""
    file.write_bytes(gzip.compress(b"a\n"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with open_bytes(str(file)) as stream:
            assert stream.read() == b"a\n"
        del stream
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_standard_input_of_a_process_is_read(compress: type[bytes]) -> None:
    """`-` works on a real pipe, compressed or not."""
    program = (
        "from store.errors import FaultList\n"
        "from store.formats.lines import read_text_lines\n"
        "print(list(read_text_lines('-', FaultList('-'))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=compress(b"\xef\xbb\xbfa\r\nb"),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().strip() == "[(1, 'a'), (2, 'b')]"


def test_standard_input_of_one_byte_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for gzip's two bytes takes none away."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a")))
    assert list(read_text_lines("-", FaultList("-"))) == [(1, "a")]


def test_file_that_cannot_be_opened_is_told_in_one_line(tmp_path: Path) -> None:
    """A missing file and a folder are errors of the user, with the path first."""
    with pytest.raises(PoolerError, match=r"none: no such file or directory$"):
        open_bytes(str(tmp_path / "none"))
    with pytest.raises(PoolerError, match="is a directory"):
        open_bytes(str(tmp_path))


def test_path_with_a_nul_is_told_in_one_line() -> None:
    """Even a path no file can have is no traceback."""
    with pytest.raises(PoolerError):
        open_bytes("a\0b")


BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def steers(character: str) -> bool:
    """Tell, by the Unicode database alone, whether a character may not stand in an id."""
    return (
        character.isspace()
        or unicodedata.category(character) in ("Cc", "Cs")
        or unicodedata.bidirectional(character) in BIDI
        or character in "\u061c\u200e\u200f"  # the three bidirectional marks
        or character in "\u200b\u2060\ufeff"  # blanks without a width
    )


def test_id_fault_knows_every_character_of_the_basic_plane() -> None:
    """Blanks, controls, bidirectional controls and surrogates are faults; nothing else is."""
    wrong = [
        hex(code) for code in range(0x10000) if (id_fault(f"a{chr(code)}b") is not None) != steers(chr(code))
    ]
    assert wrong == []


@given(st.text(min_size=1))
def test_id_fault_is_a_matter_of_characters(text: str) -> None:
    """A text is an id if none of its characters is a fault."""
    assert (id_fault(text) is not None) == any(steers(character) for character in text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected an id, got nothing"),
        ("a b", "expected an id without blanks, got 'a b'"),
        ("a\u3000b", "expected an id without blanks"),
        ("a\x00b", r"expected an id without control characters, got 'a\x00b'"),
        ("a\u2066b", r"expected an id without control characters, got 'a\u2066b'"),
        ("a\ud800b", r"expected valid Unicode in an id, got 'a\ud800b'"),
    ],
)
def test_id_fault_says_what_is_wrong(text: str, message: str) -> None:
    """The message shows the id escaped, so that the message itself steers no terminal."""
    assert message in str(id_fault(text))


@pytest.mark.parametrize("text", ["001", "NA", "null", '"x', "2681119#1", "東京", "é", "a/b.c_d-e"])
def test_id_fault_leaves_ids_alone_that_trip_other_programs(text: str) -> None:
    """What has no blank and steers nothing is an id."""
    assert id_fault(text) is None


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5).map(
        lambda lines: [line.replace("\n", "").rstrip("\r") for line in lines]
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_lines_written_are_lines_read(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], end: str, zipped: bool
) -> None:
    """Any text survives, with either line end, compressed or not."""
    content = "".join(text + end for text in texts).encode()
    file = tmp_path_factory.getbasetemp() / "written.txt"
    lines, faults = lines_of(file, gzip.compress(content) if zipped else content)
    if texts:
        texts[0] = texts[0].removeprefix("\ufeff")
    assert [text for _, text in lines] == texts
    assert not faults
