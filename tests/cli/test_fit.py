"""Tables at a width: what folds, what goes, and what never breaks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len

from pooler.cli.fit import draw
from pooler.tables import Column, Table, View, render_view
from tests.helpers.run import PAGE, controls

OnTerminal = Callable[[Callable[[], object]], list[str]]

HOSTILE = 'a\x1b[31m\tb\n[bold]c[/bold] :smile: "d" \u202e'
TABLE = Table.of_rows(
    "cells",
    [Column("text"), Column("number", "int"), Column("share", "float", digits=2), Column("flag", "bool"),
     Column("none")],
    [{"text": HOSTILE, "number": 12345, "share": 2 / 3, "flag": True}],
    title="[red]title[/red]\x07",
    notes=["caption\x9b31m", "second line"],
)  # fmt: skip


def emit(table: Table) -> None:
    """Draw a table on stdout."""
    draw(render_view(View(table)), sys.stdout)


def test_people_see_no_control_and_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """Cells, title and caption are pictures where they would steer; markup and emoji stay text."""
    emit(TABLE)
    shown = capsys.readouterr().out
    assert not controls(shown)
    for text in ("[red]title[/red]␇", 'a␛[31m b [bold]c[/bold] :smile: "d" \ufffd', "caption\ufffd31m"):
        assert text in shown
    assert "12,345" in shown
    assert " 0.67 " in shown
    assert " yes " in shown
    assert "second line" in shown.splitlines()


def scores(n_numbers: int, *columns: Column, **cells: Any) -> Table:
    """Return a table of two runs and some numbers of six digits."""
    numbers = [Column(f"n{number}", "float") for number in range(n_numbers)]
    rows = [
        {"run": run, **cells, **{one.name: 0.5 for one in numbers}}
        for run in ("bm25-words", "late-tfidf-bigrams")
    ]
    return Table.of_rows("scores", [Column("run"), *numbers, *columns], rows)


def test_columns_move_together_before_a_name_breaks(on_terminal: OnTerminal) -> None:
    """Two blanks between columns are one where the row would not fit otherwise."""
    wide = on_terminal(lambda: emit(scores(7)))
    assert wide[0].startswith("run                     n0      n1")
    close = on_terminal(lambda: emit(scores(8)))
    assert close[0].startswith("run                    n0     n1")
    assert (len(close), max(map(len, close))) == (4, 18 + 8 * 7)


def test_names_break_at_their_joints(on_terminal: OnTerminal) -> None:
    """Where even that is too wide a name goes on below, after a hyphen and not within a word."""
    lines = on_terminal(lambda: emit(scores(9)))
    assert [line.split()[0] for line in lines[2:]] == ["bm25-words", "late-tfidf-", "bigrams"]
    assert max(map(len, lines)) <= PAGE


def test_numbers_never_break(on_terminal: OnTerminal) -> None:
    """With too many of them a row is wider than the terminal, and every number is whole."""
    lines = on_terminal(lambda: emit(scores(20)))
    assert max(map(len, lines)) > PAGE
    assert [line.split().count("0.5000") for line in lines].count(20) == 2


def test_heading_of_several_words_takes_several_lines(on_terminal: OnTerminal) -> None:
    """Long headings over short numbers give way first, and stand just above their line."""
    columns = [Column(f"m{number}", "int", "documents judged") for number in range(5)]
    table = scores(1, *columns, **{one.name: 1 for one in columns})
    first, second, line, *rows = on_terminal(lambda: emit(table))
    assert first.split() == ["documents"] * 5
    assert second.split() == ["run", "n0", *["judged"] * 5]
    assert (set(line), len(rows)) == ({"─"}, 2)


def test_column_that_can_go_goes_and_is_named(
    on_terminal: OnTerminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a terminal without room for it the caption says so; a pipe has it."""
    table = scores(8, Column("sha256", can_go=1), sha256="0" * 12)
    lines = on_terminal(lambda: emit(table))
    assert "sha256" not in lines[0]
    assert lines[-1] == "columns left out because the terminal is too narrow: sha256"
    emit(table)
    assert "0" * 12 in capsys.readouterr().out


def test_dates_break_between_day_and_time_at_most(on_terminal: OnTerminal) -> None:
    """A date is one word."""
    table = scores(9, Column("made"), made="2026-03-01 09:30")
    lines = on_terminal(lambda: emit(table))
    assert [line.split()[-1] for line in lines[2:4]] == ["2026-03-01", "09:30"]


def test_words_around_a_wide_table_fit_the_terminal(
    on_terminal: OnTerminal, capsys: pytest.CaptureFixture[str]
) -> None:
    """Title and caption are broken at blanks, however wide the table is, and fold in a pipe, too."""
    words = ("a sentence of many words " * 6).strip()
    table = replace(scores(20), title=words, notes=[words])
    lines = on_terminal(lambda: emit(table))
    told = [line for line in lines if "sentence" in line or "words" in line.split()]
    assert max(map(len, told)) <= PAGE
    assert " ".join(told).split() == (words.split()) * 2
    draw(render_view(View(table)), sys.stdout, folds=False)
    assert capsys.readouterr().out.splitlines().count(words) == 2


def test_japanese_breaks_between_characters(on_terminal: OnTerminal) -> None:
    """Words without blanks are broken by their width, and no line begins with a full stop."""
    title = "摘む位置や花芽の扱いを、長く続けるための方法。"
    lines = on_terminal(lambda: emit(scores(7, Column("title"), title=title)))
    assert max(map(cell_len, lines)) <= PAGE
    parts = [line.split()[-1] for line in lines[2:] if not line.endswith("0")]
    assert "".join(parts) == title * 2
    assert not any(part.startswith(("、", "。")) for part in parts)
