"""Figures of a report: what is drawn is what the table says."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pooler.pages.charts import HeatMap, LineChart, Rows, draw
from pooler.pages.page import Figure
from pooler.pages.report import chart_of, facts_table, figure, page_table, rounded
from pooler.tables import Column, Plot, Table

TABLE = Table.of_rows(
    "runs",
    [Column("run"), Column("n", "int", "documents", "how many"), Column("map", "float", "MAP", digits=3),
     Column("low", "float", digits=3), Column("high", "float", digits=3), Column("fed", "bool"),
     Column("none"), Column("reason")],
    [
        {"run": "a", "n": 1200, "map": 0.25, "low": 0.2, "high": 0.31, "fed": True},
        {"run": "b", "n": 0, "fed": False, "reason": "no-relevant"},
    ],
)  # fmt: skip
NAMES = ("v", "low", "high")


def test_cells_are_written_as_in_the_terminal() -> None:
    """Thousands, decimals, yes and no, a dash; columns without a cell are left out."""
    made = page_table(TABLE)
    headings = [column.heading for column in made.columns]
    assert headings == ["run", "documents", "MAP", "low", "high", "fed", "why undefined"]
    assert made.rows[0] == ("a", "1,200", "0.250", "0.200", "0.310", "yes", "-")
    assert made.rows[1] == ("b", "0", "-", "-", "-", "no", "no-relevant")
    assert [column.is_numeric for column in made.columns] == [False, *[True] * 4, False, False]
    assert made.caption.startswith("documents: how many. no-relevant: ")
    chosen = page_table(TABLE, ("map", "run", "unheard of"), caption="c", command="x")
    assert (chosen.rows[0], chosen.caption, chosen.command) == (("0.250", "a"), "c", "x")
    assert page_table(TABLE.head(0)).columns[0].heading == "run"


def test_facts_are_rows() -> None:
    """By what they are, or names with blanks; undefined a dash."""
    facts = {"pool_size": 1234, "tau": None, "mean": 0.5}
    limits = ("value", "low", "high")
    made = facts_table(facts, {"tau": "of an order"}, caption="c", command="x", interval=limits)
    assert made.rows == (("pool size", "1,234"), ("of an order", "-"), ("mean", "0.5000"))


def test_a_bar_is_a_cell() -> None:
    """Values, texts and the reason of what is undefined; never 0."""
    made = chart_of(Plot(table=TABLE, kind="bars", label=("run", "fed"), parts=("n", "map"), axis="x"))
    assert isinstance(made, Rows)
    first, second = made.rows
    assert (first.label, first.values, first.texts) == ("a, True", (1200, 0.25), ("1,200", "0.250"))
    assert second.values[0] == 0
    assert math.isnan(second.values[1])
    assert (second.texts, second.reason) == (("0", "-"), "no relevant document")
    assert made.parts == ("documents", "MAP")
    assert made.description == "x: from 0 (b, False) to 1200 (a, True)."


def test_a_stack_has_one_text() -> None:
    """The parts are written as a sum, since they add up."""
    made = chart_of(Plot(table=TABLE, kind="stacks", label="run", parts=("n", "fed")))
    assert isinstance(made, Rows)
    assert made.rows[0].texts == ("1,200 + yes",)
    assert made.kind == "stacks"


def test_a_dot_is_a_cell_between_two() -> None:
    """The value, both ends, and all three in words; the highest first where that is asked for."""
    made = chart_of(
        Plot(
            table=TABLE.take([1, 0]), kind="dots", label="run", value="map", low="low", high="high", by="map"
        )
    )
    assert isinstance(made, Rows)
    first, second = made.rows
    assert (first.values, first.interval) == ((0.25,), (0.2, 0.31))
    assert first.texts == ("0.250 [0.200, 0.310]",)
    assert math.isnan(second.values[0])
    assert (second.texts, second.reason) == (("-",), "no relevant document")


def test_a_line_is_a_column() -> None:
    """One point a row, in order."""
    made = chart_of(Plot(table=TABLE, kind="lines", label="n", parts=("map", "low"), stepped=("low",)))
    assert isinstance(made, LineChart)
    assert [line.label for line in made.lines] == ["MAP", "low"]
    assert made.lines[0].points[0] == (1200, 0.25)
    assert math.isnan(made.lines[0].points[1][1])
    assert [line.is_stepped for line in made.lines] == [False, True]
    assert (made.x_axis.label, made.y_axis.label) == ("documents", "MAP")


def test_a_grid_has_a_cell_for_every_part() -> None:
    """Rows down, parts across, and why a cell is empty."""
    plot = Plot(table=TABLE, kind="grid", label="run", parts=("low", "high"), words=("what", "why"), axis="e")
    made = chart_of(plot)
    assert isinstance(made, HeatMap)
    assert (made.rows, made.columns, made.values[0]) == (("a", "b"), ("low", "high"), (0.2, 0.31))
    assert made.texts == (("0.200", "0.310"), ("-", "-"))
    assert (made.row_title, made.column_title, made.description, made.reason) == ("run", "e", "what", "why")


def test_a_chart_without_a_value_says_so() -> None:
    """Those who do not see it are told; a figure whose every value is undefined is a sentence."""
    plot = Plot(table=TABLE.head(0), kind="bars", label="run", value="n", axis="x", title="Sizes")
    made = chart_of(plot)
    assert isinstance(made, Rows)
    assert made.description == "x: no value."
    undefined = replace(plot, table=TABLE.take([1]), value="map")
    assert figure(undefined, "", "", TABLE) == ("Sizes: every value is undefined: no relevant document.")
    assert isinstance(figure(replace(undefined, table=TABLE), "", "", TABLE), Figure)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        # Half the width is .02435, .235, 2.35 and 23.5: two digits of it are at place 3, 2, 1, 0.
        (0.4, 0.4487, ("0.412", "0.400", "0.449")),
        (0.2, 0.67, ("0.41", "0.20", "0.67")),
        (-1.0, 3.7, ("0.4", "-1.0", "3.7")),
        (-1.2, 45.8, ("0", "-1", "46")),
        # .0000005 would be of eight places; the command prints four.
        (0.4123, 0.412301, ("0.4123", "0.4123", "0.4123")),
        (0.4123, 0.4123, ("0.4123", "0.4123", "0.4123")),
        (None, 0.9, ("0.4123", "-", "0.9000")),
    ],
)
def test_digits_are_those_of_the_interval(
    low: float | None, high: float, expected: tuple[str, str, str]
) -> None:
    """Two digits of half the width, and never more than the command prints."""
    found = rounded(_intervals((0.4123, low, high)), NAMES)
    assert tuple(cells[0] for cells in found.values()) == expected


def test_digits_are_one_number_a_figure() -> None:
    """The widest interval says how many; a value without an interval has no more."""
    found = rounded(_intervals((0.8765, 0.8712, 0.8812), (0.4321, 0.1, 0.9), (-0.5, None, None)), NAMES)
    assert [" ".join(row) for row in zip(*found.values(), strict=True)] == [
        "0.88 0.87 0.88", "0.43 0.10 0.90", "-0.50 - -",
    ]  # fmt: skip


def test_few_documents_are_grey_and_counted() -> None:
    """The number stands beside the value; below the bound the row is grey."""
    table = Table.of_rows(
        "pairs",
        [Column("pair"), *(Column(name, "float") for name in NAMES), Column("n", "int")],
        [{"pair": "a, b", "v": 0.5, "low": 0.25, "high": 0.75, "n": 19},
         {"pair": "a, c", "v": 0.5, "low": 0.25, "high": 0.75, "n": 1020}],
    )  # fmt: skip
    made = chart_of(
        Plot(table=table, kind="dots", label="pair", value="v", low="low", high="high", few=("n", 20))
    )
    assert isinstance(made, Rows)
    value = "0.50 [0.25, 0.75], n"
    assert [one.texts for one in made.rows] == [(f"{value} 19",), (f"{value} 1,020",)]
    assert [one.is_faint for one in made.rows] == [True, False]
    drawing = draw(made, width=400, key="k")
    assert drawing.count('class="faint thick"') == drawing.count('class="line-1 thick"') == 3
    assert drawing.count('class="faint"') == drawing.count('class="fill-1"') == 1


def _intervals(*rows: tuple[float | None, ...]) -> Table:
    """Make a table of values and the ends of their intervals."""
    columns = [Column(name, "float") for name in NAMES]
    return Table.of_rows("values", columns, [dict(zip(NAMES, row, strict=True)) for row in rows])
