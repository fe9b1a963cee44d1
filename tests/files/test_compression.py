"""Bytes and lines of files: plain, gzip, xz, bz2, zstd, standard input, damaged."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
import time
import tracemalloc
import unicodedata
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import FaultList, FormatError, PoolerError
from store.fields import id_fault
from store.formats.compression import DamagedDataError, uncompressed
from store.formats.lines import open_bytes, read_text_lines


def zstd(content: bytes) -> bytes:
    """Compress to a frame with a checksum, its length not stated, as the `zstd` program does."""
    zstandard = pytest.importorskip("zstandard", reason="the package zstandard is absent")
    compressor = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return compressor.compress(content) + compressor.flush()


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zstd": zstd,
}
LINES = b"".join(b"line %d\n" % number**3 for number in range(20_000))
each_kind = pytest.mark.parametrize("kind", COMPRESSORS)


def read(data: bytes) -> bytes:
    """Read the content of a file of these bytes."""
    with uncompressed(io.BufferedReader(io.BytesIO(data)), "x") as file:
        return file.read()


@pytest.mark.slow
@each_kind
@given(parts=st.lists(st.binary(max_size=50) | st.just(bytes(600_000)), max_size=3))
def test_members_one_after_another_are_one_content(kind: str, parts: list[bytes]) -> None:
    """Any content comes back, from as many members as it was compressed in."""
    compress = COMPRESSORS[kind]
    assert read(compress(b"") + b"".join(map(compress, parts))) == b"".join(parts)


@pytest.mark.slow
@each_kind
def test_what_is_before_damage_comes_before_it(kind: str) -> None:
    """A member is read though the one behind it is damaged, and the damage is told for good."""
    compress = COMPRESSORS[kind]
    with uncompressed(io.BufferedReader(io.BytesIO(compress(b"a") + compress(b"bc")[:-1])), "x") as content:
        assert content.read1(1) == b"a"
        for _ in range(2):
            with pytest.raises(DamagedDataError, match="truncated"):
                content.read()


@pytest.mark.slow
@each_kind
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-4], "ends too early: the file is truncated"),
        (lambda data: data[: len(data) // 2], "ends too early: the file is truncated"),
        (lambda data: data[:7], "ends too early: the file is truncated"),
        (lambda data: data + b"trailing bytes", "is damaged: "),
        (lambda data: data[:40] + b"\xff" * 400 + data[440:], "is damaged: "),
        (lambda data: data[:-4] + bytes([data[-4] ^ 1]) + data[-3:], "is damaged: "),
    ],
    ids=["four bytes", "half", "beginning", "trailing", "inside", "end"],
)
def test_damage_is_told_after_what_came_through(
    kind: str, damage: Callable[[bytes], bytes], message: str, tmp_path: Path
) -> None:
    """However the compression is broken, it is one fault; what precedes a cut is right."""
    file = tmp_path / "x"
    file.write_bytes(damage(COMPRESSORS[kind](LINES)))
    faults = FaultList(str(file))
    lines = [text for _, text in read_text_lines(str(file), faults)]
    assert [(fault.line, fault.code) for fault in faults.kept] == [(None, kind)]
    assert faults.kept[0].message.startswith(f"{kind} data {message}")
    if "truncated" in message:
        assert LINES.decode().startswith("\n".join(lines))


@pytest.mark.slow
@each_kind
def test_every_cut_is_seen(kind: str) -> None:
    """A file that ends anywhere but at its end is no shorter file."""
    data = COMPRESSORS[kind](b"one\ntwo\n")
    for end in range(6, len(data)):
        with pytest.raises(DamagedDataError, match=f"^{kind} data ends too early"):
            read(data[:end])
    assert read(data) == b"one\ntwo\n"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_bytes"), [("gzip", 3), ("gzip", 512), ("xz", 4), ("xz", 512)])
def test_padding_after_a_member_is_passed_over(kind: str, n_bytes: int) -> None:
    """Zero bytes where the format allows them, between members and at the end, are no content."""
    data = COMPRESSORS[kind](b"one") + bytes(n_bytes)
    assert read(data) == b"one"
    assert read(data + bytes(100_000) + data) == b"oneone"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_bytes"), [("bz2", 4), ("zstd", 4)])
def test_padding_no_format_allows_is_damage(kind: str, n_bytes: int) -> None:
    """Zero bytes the format knows nothing of are damage, at the end and before a member."""
    data = COMPRESSORS[kind](b"one") + bytes(n_bytes)
    for damaged in (data, data + COMPRESSORS[kind](b"one")):
        with pytest.raises(DamagedDataError, match=f"^{kind} data is damaged"):
            read(damaged)


@pytest.mark.slow
def test_skippable_zstd_frame_is_passed_over() -> None:
    """A file that begins with a frame to be skipped is still a zstd file."""
    frame = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note"
    assert read(frame + zstd(b"one")) == b"one"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gzip", "xz", "bz2"])
def test_content_a_thousand_times_its_data_takes_little_memory(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file of much content comes in pieces: nothing holds all of it."""
    monkeypatch.setenv("POOLER_MOST_MB", "1000")
    data = COMPRESSORS[kind](bytes(1 << 26))
    assert len(data) < 1 << 17
    n_bytes = 0
    tracemalloc.start()
    try:
        with uncompressed(io.BufferedReader(io.BytesIO(data)), "x") as file:
            while piece := file.read1(1 << 20):
                n_bytes += len(piece)
        assert tracemalloc.get_traced_memory()[1] < 1 << 24  # xz itself takes 8 MiB
    finally:
        tracemalloc.stop()
    assert n_bytes == 1 << 26


@pytest.mark.slow
@each_kind
def test_closing_closes_the_file(kind: str, tmp_path: Path) -> None:
    """A reader that is closed has closed the file beneath it."""
    file = tmp_path / "x"
    file.write_bytes(COMPRESSORS[kind](b"a\n"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with open_bytes(str(file)) as stream:
            assert stream.read() == b"a\n"
        del stream
        gc.collect()
    assert [str(warning.message) for warning in caught] == []


@pytest.mark.slow
@each_kind
def test_standard_input_is_seen_through(kind: str) -> None:
    """`-` works on a pipe of compressed bytes."""
    program = "from store.formats.lines import open_bytes\nprint(sum(map(len, open_bytes('-'))))\n"
    done = subprocess.run(
        [sys.executable, "-c", program], input=COMPRESSORS[kind](LINES), capture_output=True, check=True
    )
    assert int(done.stdout) == len(LINES)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@each_kind
def test_pipe_that_gives_a_byte_at_a_time_is_read(kind: str, tmp_path: Path) -> None:
    """Data that comes slowly is the same data."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    data = COMPRESSORS[kind](b"one\n")

    def write() -> None:
        with pipe.open("wb", buffering=0) as file:
            for byte in data:
                file.write(bytes([byte]))
                time.sleep(0.001)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with open_bytes(str(pipe)) as file:
            assert file.read() == b"one\n"
    finally:
        writer.join()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("beginning", "name"), [(b"PK\3\4", "a zip archive"), (b"PAR1\x15", "a Parquet file")]
)
def test_what_is_not_read_is_named(beginning: bytes, name: str, tmp_path: Path) -> None:
    """Archives and tables of other programs are named by what they are, whatever the file is called."""
    file = tmp_path / "x.run"
    file.write_bytes(beginning + bytes(40))
    with pytest.raises(FormatError, match=f"expected text, got {name}") as caught:
        open_bytes(str(file))
    assert caught.value.hint == "unpack it, or write it as text, first"


@pytest.mark.slow
def test_zstd_without_its_package_names_what_to_install(tmp_path: Path) -> None:
    """Only a zstd file needs the package, and then one line says so."""
    file = tmp_path / "x.zst"
    file.write_bytes(zstd(b"1 Q0 a 1 2 t\n"))
    program = (
        "import sys\n"
        "sys.modules['zstandard'] = None\n"
        "from store.errors import PoolerError\n"
        "from store.formats.lines import open_bytes\n"
        "try:\n"
        "    open_bytes(sys.argv[1])\n"
        "except PoolerError as error:\n"
        "    print(error.message, '|', error.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == (
        f"{file}: zstd files need the Python package `zstandard` | pip install zstandard"
    )
    assert done.stderr == ""


@pytest.mark.slow
def test_nothing_is_loaded_for_plain_files() -> None:
    """Reading plain and gzip files loads no other decompressor."""
    program = (
        "import sys\n"
        "import store.formats.lines\n"
        "print(sorted({'lzma', 'zstandard', 'bz2', 'gzip'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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


def test_empty_files_have_no_lines(file: Path) -> None:
    """Nothing, and nothing compressed, are both empty."""
    assert lines_of(file, b"")[0] == []
    assert lines_of(file, gzip.compress(b""))[0] == []


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
