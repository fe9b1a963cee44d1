"""`pooler.cli.console`: words on stderr, and files that are whole."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pooler import messages
from pooler.files import write_json, write_lines
from pooler.messages import OnTerminal as Stderr
from store.errors import PoolerError

OnTerminal = Callable[[Callable[[], object]], list[str]]


def test_words_on_stderr_fit_a_terminal_and_are_one_line_elsewhere(
    on_terminal: OnTerminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long warning is broken at blanks on a terminal; a path in it, and a pipe, are not."""
    path = "/a/long/way/to/" + "x" * 90
    message = f"bm25-words: already there, and left out of pools; --replace lets it contribute {path}"
    lines = on_terminal(lambda: Stderr().warn(message))
    assert lines == [
        "warning: bm25-words: already there, and left out of pools; --replace lets it",
        "contribute",
        path,
    ]
    Stderr().warn(message)
    assert capsys.readouterr().err == f"warning: {message}\n"
    assert on_terminal(lambda: Stderr().say("  indented " + "word " * 20)) == [
        "  indented " + " ".join(["word"] * 14),
        "  " + " ".join(["word"] * 6),
    ]


def test_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    """When the lines break off the old file stays, and no other is left."""
    target = tmp_path / "out.txt"
    target.write_text("old\n", "utf-8")

    def broken() -> Iterator[str]:
        yield "new"
        message = "the lines break off"
        raise PoolerError(message)

    with pytest.raises(PoolerError, match="break off"):
        write_lines(str(target), broken())
    assert target.read_text("utf-8") == "old\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    """A file is readable for whom the umask lets, not for its owner only."""
    before = os.umask(0o022)
    try:
        write_lines(str(tmp_path / "out.txt"), ["x"])
    finally:
        os.umask(before)
    assert (tmp_path / "out.txt").stat().st_mode & 0o777 == 0o644


def test_device_is_written_through(tmp_path: Path) -> None:
    """A device takes the lines; it is not replaced by a file."""
    write_lines("/dev/null", ["x"])
    assert not Path("/dev/null").is_file()


def test_json_file_escapes_what_utf8_cannot_say(tmp_path: Path) -> None:
    """A lone surrogate, as in a file name of other bytes, is a JSON escape in a UTF-8 file."""
    write_json(str(tmp_path / "m.json"), {"file": "caf\udce9", "tag": "é"})
    content = (tmp_path / "m.json").read_bytes().decode("utf-8")
    assert json.loads(content) == {"file": "caf\udce9", "tag": "é"}
    assert "é" in content


def test_a_terminal_that_waits_is_told_until_a_word_comes(
    on_terminal: OnTerminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silent work says that it goes on, and takes that back; work that speaks in time, and a file, do not."""
    monkeypatch.setattr(messages, "SILENCE_S", 0.01)

    def work(*, is_silent: bool) -> None:
        words = Stderr()
        with words.patience():
            time.sleep(0.2 * is_silent)
            words.say("done")

    assert on_terminal(lambda: work(is_silent=True)) == ["working ...", "\x1b[Kdone"]
    assert on_terminal(lambda: work(is_silent=False)) == ["done"]
