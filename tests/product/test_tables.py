"""Tables as people, pages, papers, data frames and drawings have them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from pooler.cli.fit import draw
from pooler.tables import Column, Table, View, render_view
from store.errors import PoolerError
from tests.helpers.run import PAGE, Cli, controls, write, write_run

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


MARKDOWN = r"""| run | AP | P@1 |
| --- | ---: | ---: |
| 50%\_of\|runs | 1.0000 | 1.0000 |
| a&b | 0.5000 | 0.0000 |
"""
LATEX = r"""\begin{table}
\centering
\begin{tabular}{lrr}
\toprule
run & AP & P@1 \\
\midrule
50\%\_of|runs & 1.0000 & 1.0000 \\
a\&b & 0.5000 & 0.0000 \\
\bottomrule
\end{tabular}
\end{table}
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Two runs of one topic, their tags full of signs, and qrels: one finds x first, one second."""
    monkeypatch.chdir(tmp_path)
    Path("one").write_text("1 Q0 x 1 2 50%_of|runs\n1 Q0 y 2 1 50%_of|runs\n", "utf-8")
    Path("two").write_text("1 Q0 y 1 2 a&b\n1 Q0 x 2 1 a&b\n", "utf-8")
    Path("qrels").write_text("1 0 x 1\n1 0 y 0\n", "utf-8")
    return "--qrels", "./qrels", "one", "two"


@pytest.mark.parametrize(("form", "expected"), [("markdown", MARKDOWN), ("latex", LATEX)])
def test_signs_of_a_name_are_text(cli: Cli, files: tuple[str, ...], form: str, expected: str) -> None:
    """Nothing in a tag is read as markup; numbers stand to the right, as people see them."""
    assert cli("evaluate", *files, "-m", "AP", "-m", "P@1", "--format", form).fine().out == expected


def test_undefined_and_negative_numbers(cli: Cli, files: tuple[str, ...]) -> None:
    """A dash for what is undefined, a minus in mathematics; notes stand below each table."""
    shown = cli("compare", *files, "--format", "latex", "-m", "RR").fine().out
    first, second = shown.split("\n\n")
    assert r"1.0000 & 0.5000 & 0.5000 & -- & -- &" in first
    assert r"\caption{RR of A = 50\%\_of|runs and B = a\&b over 1 topic}" in first
    assert r"p $<$= 0.05" in second
    assert second.count(r"\parbox{\linewidth}{\footnotesize ") == 1
    marked = cli("compare", *files, "--format", "markdown", "-m", "RR").fine().out
    assert marked.startswith("**RR of A = 50%\\_of\\|runs and B = a&b over 1 topic**\n\n| mean A |")


VALUES = ("--value", "0=.1", "--value", "1=.8", "--value", "2=1")
COMMANDS = {
    "compare": ("compare", "bm25-words", "rm3-words-title", "--qrels", "strict"),
    "curves": ("evaluate", "curves", "--qrels", "strict"),
    "sensitivity": ("sensitivity", "--qrels", "strict", "--depth", "5"),
    "variation": ("variation", "--qrels", "strict", *VALUES),
    "pairs": ("variation", "--qrels", "strict", *VALUES, "--by", "pair"),
    "replay": ("replay", "--qrels", "strict", "--depth", "5", "-s", "take", "-s", "mtf"),
    "topics": ("design", "topics", "--qrels", "strict"),
    "depth": ("design", "depth", "--qrels", "strict"),
}


def texts(file: str | Path) -> list[str]:
    """Return what is written in a drawing, from top to bottom in each of its parts."""
    root = ElementTree.parse(file).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", COMMANDS)
def test_drawing_stands_beside_the_tables(cli: Cli, judged: Path, name: str) -> None:
    """Tables are what they are without it, for programs too; the file needs no style of elsewhere."""
    plain = cli(*COMMANDS[name]).fine()
    drawn = cli(*COMMANDS[name], "--plot", "a.svg").fine()
    assert (drawn.out, drawn.err) == (plain.out, plain.err)
    assert cli(*COMMANDS[name], "--plot", "b.svg", "--format", "json").fine().json()
    first = (judged / "a.svg").read_text("utf-8")
    assert first == (judged / "b.svg").read_text("utf-8")
    assert "var(" not in first
    assert len(texts("a.svg")) > 5
    ids = re.findall(r'id="([^"]+)"', first)
    assert len(ids) == len(set(ids))


def test_bars_are_the_changes_the_largest_first(cli: Cli, judged: Path) -> None:
    """A label and its number a row."""
    cli(*COMMANDS["sensitivity"], "--plot", "a.svg").fine()
    rows = cli(*COMMANDS["sensitivity"], "--format", "json").fine().json()
    rows.sort(key=lambda row: -row["change"])
    said = [text for text in texts("a.svg") if re.fullmatch(r"[a-z].*-.*|\d\.\d{4}", text)]
    assert said == [text for row in rows for text in (row["run"], f"{row['change']:.4f}")]


def test_six_lines_are_drawn_in_one_field(cli: Cli, judged: Path) -> None:
    """More strategies than that are several fields, each with its own legend."""
    names = ("take", "rrf", "borda", "mtf", "hedge", "max-mean", "mm-ns")
    options = [word for name in names for word in ("-s", name)]
    cli("replay", "--qrels", "strict", "--depth", "5", *options, "--plot", "a.svg").fine()
    assert texts("a.svg").count("judgements per topic") == 2
    assert set(names) <= {*texts("a.svg")}
    cli("replay", "--qrels", "strict", "--depth", "5", "-s", "take", "--plot", "b.svg").fine()
    assert texts("b.svg")[0] == "Relevant documents found: take"
    cli(*COMMANDS["curves"], "--plot", "c.svg").fine()
    said = texts("c.svg")
    assert "Precision by recall, the 6 best of 9 runs by mean precision" in said


def test_differences_are_drawn_beside_the_normal_curve(cli: Cli, judged: Path) -> None:
    """Of two runs; where there is no curve nothing is written, and that is said."""
    cli(*COMMANDS["compare"], "--plot", "a.svg").fine()
    said = texts("a.svg")
    assert "normal curve of the same mean and variance" in said
    assert any(text.startswith("The two curves are at most ") for text in said)
    write(judged / "q", "1 0 a 1", "2 0 b 0")
    files = [write_run(judged, name, {"1": "a", "2": "b"}) for name in "xy"]
    told = cli("compare", "--qrels", "./q", *files, "--plot", "b.svg").fine().err
    assert "b.svg: not written, since there is nothing to draw" in told
    assert not (judged / "b.svg").exists()


def test_a_drawing_replaces_a_drawing_alone(cli: Cli, judged: Path) -> None:
    """Any other file is refused before any work, by its name or by what is in it."""
    cli(*COMMANDS["sensitivity"], "--plot", "a.svg").fine()
    cli(*COMMANDS["sensitivity"], "--plot", "a.svg").fine()
    assert (judged / "a.svg").stat().st_mode & 0o077 == 0o044
    mine = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    (judged / "notes.svg").write_text(mine, "utf-8")
    for name, words in (
        ("notes.svg", "must be new, or a drawing that pooler made"),
        ("runs/bm25-words.run", "must be a file whose name ends in .svg"),
        ("gone/a.svg", "there is no folder gone"),
    ):
        assert words in cli(*COMMANDS["sensitivity"], "--plot", name).failed(1).err
    assert (judged / "notes.svg").read_text("utf-8") == mine


WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
FRAMED = Table(
    "all",
    [
        Column("run"), Column("map", "float"), Column("n", "int"), Column("whole", "int"),
        Column("fed", "bool"), Column("when", "moment"), Column("pools", "texts"), Column("ranks", "ints"),
    ],
    {
        "run": ["a", None], "map": [0.5, float("nan")], "n": [1, None], "whole": [1, 2],
        "fed": [True, None], "when": [WHEN, None], "pools": [["x", "y"], []], "ranks": [[1], []],
    },
)  # fmt: skip
RECORDS = [
    {
        "run": "a",
        "map": 0.5,
        "n": 1,
        "whole": 1,
        "fed": True,
        "when": WHEN,
        "pools": ["x", "y"],
        "ranks": [1],
    },
    {"run": None, "map": None, "n": None, "whole": 2, "fed": None, "when": None, "pools": [], "ranks": []},
]


def test_records_and_columns_need_no_library() -> None:
    """Undefined is None, whatever it was in an array."""
    assert FRAMED.to_records() == RECORDS
    assert FRAMED.to_dict() == {name: [row[name] for row in RECORDS] for name in RECORDS[0]}


def test_pandas_keeps_whole_numbers_whole() -> None:
    """An undefined cell makes no float of a column of integers, no object of one of booleans."""
    import pandas as pd

    frame = FRAMED.to_pandas()
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert kinds["n"] == "Int64"
    assert kinds["whole"] == "int64"
    assert kinds["fed"] == "boolean"
    assert kinds["map"] == "float64"
    assert kinds["when"] == "datetime64[us, UTC]"
    assert frame["n"].tolist() == [1, pd.NA]
    assert frame["map"].isna().tolist() == [False, True]
    assert frame["pools"].tolist() == [["x", "y"], []]
    assert frame["when"][0] == WHEN


def framed(table: Table) -> Any:
    """Let polars take a table by Arrow's own interface."""
    import polars as pl

    return pl.DataFrame(table)


def test_polars_has_null_where_a_cell_is_undefined() -> None:
    """Each kind has its type; by method, and by Arrow's own interface."""
    frame = FRAMED.to_polars()
    assert frame.to_dicts() == framed(FRAMED).to_dicts() == RECORDS
    assert str(frame.schema["ranks"]) == "List(Int64)"


def test_arrow_has_the_same() -> None:
    """Read back, the cells are those of the table."""
    import pyarrow as pa

    assert FRAMED.to_arrow().to_pylist() == RECORDS
    assert pa.table(FRAMED).to_pylist() == RECORDS


@pytest.mark.parametrize(
    ("name", "call", "package"),
    [
        ("pandas", Table.to_pandas, "pip install 'pandas'"),
        ("polars", Table.to_polars, "pip install 'polars'"),
        ("pyarrow", Table.to_arrow, "pip install 'pyarrow'"),
        ("pyarrow", framed, "pip install 'pyarrow'"),
    ],
)
def test_what_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch, name: str, call: Callable[[Table], Any], package: str
) -> None:
    """An error of one line with what to type; records need nothing."""
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PoolerError, match=f"{name} is not installed") as caught:
        call(FRAMED)
    assert caught.value.hint == package
    assert FRAMED.to_records() == RECORDS
