"""Reading guidelines: UTF-8, as it is, or a fault with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from store.errors import FormatError, PoolerError
from store.formats.texts import read_guidelines


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"# A\r\n\r\nb", "# A\r\n\r\nb"),
        (b"\xef\xbb\xbf# A\n", "# A\n"),
        (gzip.compress("判定\n".encode(), mtime=0), "判定\n"),
        (b"\x00\x1b[31m", "\x00\x1b[31m"),
    ],
    ids=["line-ends", "byte-order-mark", "gzip", "controls"],
)
def test_text_is_read_as_it_is(tmp_path: Path, raw: bytes, text: str) -> None:
    """Line ends and control characters stay; a byte order mark is no text."""
    path = tmp_path / "g.md"
    path.write_bytes(raw)
    assert read_guidelines(str(path)) == text


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"a\nb\n\xffc", r"g\.md:3: expected UTF-8, got byte 0xff"),
        (b" \n\t\n", r"g\.md: expected guidelines, got no text"),
        (b"", r"g\.md: expected guidelines, got no text"),
        (gzip.compress(b"a" * 1000, mtime=0)[:-12], r"g\.md: "),
    ],
    ids=["latin", "blank", "empty", "cut-off"],
)
def test_faults_are_named(tmp_path: Path, raw: bytes, message: str) -> None:
    """Another encoding, no text, and damaged compression are faults."""
    path = tmp_path / "g.md"
    path.write_bytes(raw)
    with pytest.raises(FormatError, match=message) as caught:
        read_guidelines(str(path))
    assert caught.value.n_faults == 1


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(PoolerError, match="no such file"):
        read_guidelines(str(tmp_path / "no.md"))
