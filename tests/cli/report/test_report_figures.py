"""Figures of a report: what is drawn is what the table says."""

from __future__ import annotations

import math

import pytest

from pooler.cli.report.figures import bars, dots, facts_table, in_order, lines, page_table, rounded
from pooler.report.charts import draw
from pooler.report.drawing import Axis
from pooler.results.printed import Column, Table

TABLE = Table(
    "runs",
    (Column("run"), Column("n", "documents"), Column("map", "MAP", 3), Column("low"),
     Column("high"), Column("fed"), Column("none"), Column("reason")),
    [
        {"run": "a", "n": 1200, "map": 0.25, "low": 0.2, "high": 0.31, "fed": True},
        {"run": "b", "n": 0, "map": None, "low": None, "high": None, "fed": False,
         "reason": "no-relevant"},
    ],
    caption="n: how\nmany",
)  # fmt: skip

NAMES = ("v", "low", "high")


def test_cells_are_written_as_in_the_terminal() -> None:
    """Thousands, decimals, yes and no, a dash; columns without a cell are left out."""
    made = page_table(TABLE)
    headings = [column.heading for column in made.columns]
    assert headings == ["run", "documents", "MAP", "low", "high", "fed", "reason"]
    assert made.rows[0] == ("a", "1,200", "0.250", "0.2000", "0.3100", "yes", "-")
    assert made.rows[1] == ("b", "0", "-", "-", "-", "no", "no-relevant")
    assert [column.is_numeric for column in made.columns] == [False, *[True] * 4, False, False]
    assert made.caption == "n: how many"
    chosen = page_table(TABLE, names=("map", "run", "unheard of"), caption="c", command="x")
    assert (chosen.rows[0], chosen.caption, chosen.command) == (("0.250", "a"), "c", "x")


def test_facts_are_rows() -> None:
    """Names with blanks, undefined a dash."""
    made = facts_table({"pool_size": 1234, "tau": None, "mean": 0.5}, caption="c", command="x")
    assert made.rows == (("pool size", "1,234"), ("tau", "-"), ("mean", "0.5000"))


def test_a_bar_is_a_cell() -> None:
    """Values, texts and the reason of what is undefined; never 0."""
    made = bars(TABLE, {"n": "documents", "map": "MAP"}, title="t", axis=Axis("x"),
                label=lambda row: f"run {row['run']}")  # fmt: skip
    first, second = made.rows
    assert (first.label, first.values, first.texts) == ("run a", (1200, 0.25), ("1,200", "0.250"))
    assert second.values[0] == 0
    assert math.isnan(second.values[1])
    assert (second.texts, second.reason) == (("0", "-"), "no relevant document")
    assert made.parts == ("documents", "MAP")
    assert made.description == "x: from 0 (run b) to 1200 (run a)."


def test_a_stack_has_one_text() -> None:
    """The parts are written as a sum, since they add up."""
    made = bars(TABLE, {"n": "documents", "fed": "fed"}, title="t", axis=Axis("x"),
                label=lambda row: str(row["run"]), is_stacked=True)  # fmt: skip
    assert made.rows[0].texts == ("1,200 + yes",)
    assert made.is_stacked


def test_a_dot_is_a_cell_between_two() -> None:
    """The value, both ends, and all three in words."""
    made = dots(TABLE, "map", ("low", "high"), title="t", axis=Axis("MAP"),
                label=lambda row: str(row["run"]))  # fmt: skip
    first, second = made.rows
    assert (first.value, first.low, first.high) == (0.25, 0.2, 0.31)
    assert first.text == "0.250 [0.200, 0.310]"
    assert math.isnan(second.value)
    assert (second.text, second.reason) == ("-", "no relevant document")


def test_a_line_is_a_column() -> None:
    """One point a row, in order."""
    made = lines(TABLE, "n", {"map": "MAP", "low": "least"}, title="t", x_axis=Axis("n"),
                 y_axis=Axis("MAP"), stepped=frozenset({"low"}))  # fmt: skip
    assert [line.label for line in made.lines] == ["MAP", "least"]
    assert made.lines[0].points[0] == (1200, 0.25)
    assert math.isnan(made.lines[0].points[1][1])
    assert [line.is_stepped for line in made.lines] == [False, True]


def test_a_chart_without_a_value_says_so() -> None:
    """Those who do not see it are told."""
    empty = Table("runs", TABLE.columns, [])
    made = bars(empty, {"n": "documents"}, title="t", axis=Axis("x"), label=str)
    assert made.description == "x: no value."


@pytest.mark.parametrize(("order", "expected"), [({"b": 0, "a": 1}, "ba"), ({"b": 0}, "ba"),
                                                 ({"a": 0}, "ab")])  # fmt: skip
def test_rows_in_another_order(order: dict[str, int], expected: str) -> None:
    """Runs that the order lacks come last."""
    assert "".join(str(row["run"]) for row in in_order(TABLE, "run", dict(order)).rows) == expected


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
    row = {"v": 0.4123, "low": low, "high": high}
    texts = {name: "-" if value is None else f"{value:.4f}" for name, value in row.items()}
    assert tuple(rounded([row], NAMES, [texts])[0].values()) == expected


def test_digits_are_one_number_a_figure() -> None:
    """The widest interval says how many; a value without an interval has no more."""
    rows = [{"v": 0.8765, "low": 0.8712, "high": 0.8812}, {"v": 0.4321, "low": 0.1, "high": 0.9},
            {"v": -0.5, "low": None, "high": None}]  # fmt: skip
    texts = [{name: "-" if one is None else f"{one:.4f}" for name, one in row.items()}
             for row in rows]  # fmt: skip
    found = [" ".join(row.values()) for row in rounded(rows, NAMES, texts)]
    assert found == ["0.88 0.87 0.88", "0.43 0.10 0.90", "-0.50 - -"]


def test_few_documents_are_grey_and_counted() -> None:
    """The number stands beside the value; below the bound the row is grey."""
    columns = [Column("pair"), Column("kappa"), Column("low"), Column("high"), Column("n")]
    rows = [
        {"pair": "a, b", "kappa": 0.5, "low": 0.25, "high": 0.75, "n": 19},
        {"pair": "a, c", "kappa": 0.5, "low": 0.25, "high": 0.75, "n": 1020},
    ]
    made = dots(Table("pairs", columns, rows), "kappa", ("low", "high"), title="t",
                axis=Axis("kappa"), label=lambda row: str(row["pair"]), count="n",
                few=20)  # fmt: skip
    value = "0.50 [0.25, 0.75], n"
    assert [one.text for one in made.rows] == [f"{value} 19", f"{value} 1,020"]
    assert [one.is_faint for one in made.rows] == [True, False]
    drawing = draw(made, width=400, key="k")
    assert drawing.count('class="faint thick"') == drawing.count('class="line-1 thick"') == 3
    assert drawing.count('class="faint"') == drawing.count('class="fill-1"') == 1
