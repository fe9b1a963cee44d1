"""`pooler.cli.console`: cells as programs and people see them, and files that are whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pooler.cli.console import Column, Format, Table, emit, write_json, write_lines
from store.errors import PoolerError
from tests.cli.command_line import controls

HOSTILE = 'a\x1b[31m\tb\n[bold]c[/bold] :smile: "d" \u202e'
TABLE = Table(
    "cells",
    [Column("text"), Column("number"), Column("share", digits=2), Column("flag"), Column("none")],
    [{"text": HOSTILE, "number": 12345, "share": 2 / 3, "flag": True, "none": None}],
    title="[red]title[/red]\x07",
    caption="caption\x9b31m\nsecond line",
)


def test_people_see_no_control_and_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """Cells, title and caption are pictures where they would steer; markup and emoji stay text."""
    emit([TABLE], Format.TABLE)
    shown = capsys.readouterr().out
    assert not controls(shown)
    for text in (
        "[red]title[/red]␇",
        'a␛[31m b [bold]c[/bold] :smile: "d" \ufffd',
        "caption\ufffd31m",
    ):
        assert text in shown
    assert "12,345" in shown
    assert " 0.67 " in shown
    assert " yes " in shown
    assert "second line" in shown.splitlines()


def test_programs_get_every_digit_and_raw_text(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has the text as it is; TSV has it on one line, without tabs, controls or quotes."""
    emit([TABLE], Format.JSON)
    [row] = json.loads(capsys.readouterr().out)
    assert row == TABLE.rows[0]
    emit([TABLE], Format.TSV)
    header, cells = capsys.readouterr().out.splitlines()
    assert header == "text\tnumber\tshare\tflag\tnone"
    assert cells == f'a␛[31m b [bold]c[/bold] :smile: "d" \ufffd\t12345\t{2 / 3!r}\ttrue\t'


def test_number_that_is_none_never_reaches_json() -> None:
    """NaN is a bug of the caller, not a line that no JSON reader takes."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        emit([Table("cells", [Column("x")], [{"x": float("nan")}])], Format.JSON)


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
