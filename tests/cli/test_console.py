"""`pooler.cli.console`: cells as programs and people see them, and files that are whole."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from pooler.cli.console import emit, write_json, write_lines
from pooler.results.printed import Column, Format, Table
from pooler.streams import OnTerminal as Stderr
from store.errors import PoolerError
from tests.cli.command_line import PAGE, controls

OnTerminal = Callable[[Callable[[], object]], list[str]]

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
    for text in ("[red]title[/red]␇", 'a␛[31m b [bold]c[/bold] :smile: "d" \ufffd', "caption\ufffd31m"):
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


def scores(n_numbers: int, *columns: Column, **cells: str) -> Table:
    """Return a table of two runs and some numbers of six digits."""
    numbers = [Column(f"n{number}") for number in range(n_numbers)]
    table = Table("scores", [Column("run"), *numbers, *columns])
    for run in ("bm25-words", "late-tfidf-bigrams"):
        table.rows.append({"run": run, **cells, **{one.name: 0.5 for one in numbers}})
    return table


def test_columns_move_together_before_a_name_breaks(on_terminal: OnTerminal) -> None:
    """Two blanks between columns are one where the row would not fit otherwise."""
    wide = on_terminal(lambda: emit([scores(7)], Format.TABLE))
    assert wide[0].startswith("run                     n0      n1")
    close = on_terminal(lambda: emit([scores(8)], Format.TABLE))
    assert close[0].startswith("run                    n0     n1")
    assert (len(close), max(map(len, close))) == (4, 18 + 8 * 7)


def test_names_break_at_their_joints(on_terminal: OnTerminal) -> None:
    """Where even that is too wide a name goes on below, after a hyphen and not within a word."""
    lines = on_terminal(lambda: emit([scores(9)], Format.TABLE))
    assert [line.split()[0] for line in lines[2:]] == ["bm25-words", "late-tfidf-", "bigrams"]
    assert max(map(len, lines)) <= PAGE


def test_numbers_never_break(on_terminal: OnTerminal) -> None:
    """With too many of them a row is wider than the terminal, and every number is whole."""
    lines = on_terminal(lambda: emit([scores(20)], Format.TABLE))
    assert max(map(len, lines)) > PAGE
    assert [line.split().count("0.5000") for line in lines].count(20) == 2


def test_heading_of_several_words_takes_several_lines(on_terminal: OnTerminal) -> None:
    """Long headings over short numbers give way first, and stand just above their line."""
    table = scores(1)
    columns = [Column(f"m{number}", "documents judged") for number in range(5)]
    table.columns = [*table.columns, *columns]
    table.rows = [{**row, **{one.name: 1 for one in columns}} for row in table.rows]
    first, second, line, *rows = on_terminal(lambda: emit([table], Format.TABLE))
    assert first.split() == ["documents"] * 5
    assert second.split() == ["run", "n0", *["judged"] * 5]
    assert (set(line), len(rows)) == ({"─"}, 2)


def test_column_that_can_go_goes_and_is_named(
    on_terminal: OnTerminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal without room for it the caption says so; a pipe and programs have it."""
    table = scores(8, Column("sha256", can_go=True), sha256="0" * 12)
    lines = on_terminal(lambda: emit([table], Format.TABLE))
    assert "sha256" not in lines[0]
    assert lines[-1] == "left out, the terminal is too narrow: sha256"
    for fmt in Format:
        emit([table], fmt)
        assert "0" * 12 in capsys.readouterr().out


def test_dates_break_between_day_and_time_at_most(on_terminal: OnTerminal) -> None:
    """A date is one word."""
    table = scores(9, Column("made"), made="2026-03-01 09:30")
    lines = on_terminal(lambda: emit([table], Format.TABLE))
    assert [line.split()[-1] for line in lines[2:4]] == ["2026-03-01", "09:30"]


def test_words_around_a_wide_table_fit_the_terminal(
    on_terminal: OnTerminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """Title and caption are broken at blanks, however wide the table is; in a pipe they are not."""
    words = "a sentence of many words " * 6
    table = scores(20)
    table.title = table.caption = words.strip()
    lines = on_terminal(lambda: emit([table], Format.TABLE))
    told = [line for line in lines if "sentence" in line or "words" in line.split()]
    assert max(map(len, told)) <= PAGE
    assert " ".join(told).split() == (words * 2).split()
    emit([table], Format.TABLE)
    assert capsys.readouterr().out.splitlines().count(words.strip()) == 2


def test_japanese_breaks_between_characters(on_terminal: OnTerminal) -> None:
    """Words without blanks are broken by their width, and no line begins with a full stop."""
    title = "摘む位置や花芽の扱いを、長く続けるための方法。"
    table = scores(7, Column("title"), title=title)
    lines = on_terminal(lambda: emit([table], Format.TABLE))
    assert max(map(cell_len, lines)) <= PAGE
    parts = [line.split()[-1] for line in lines[2:] if not line.endswith("0")]
    assert "".join(parts) == title * 2
    assert not any(part.startswith(("、", "。")) for part in parts)


def test_words_on_stderr_fit_a_terminal_and_are_one_line_elsewhere(
    on_terminal: OnTerminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long warning is broken at blanks on a terminal; a path in it, and a pipe, are not."""
    path = "/a/long/way/to/" + "x" * 90
    message = f"bm25-words: there already, and left out of pools; --replace lets it contribute {path}"
    lines = on_terminal(lambda: Stderr().warn(message))
    assert lines == [
        "warning: bm25-words: there already, and left out of pools; --replace lets it",
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
