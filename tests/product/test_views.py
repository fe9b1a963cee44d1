"""Tables as results give them: what people see of a view, what programs read, how cells are sorted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from pooler.cli.render import Output, render
from pooler.result import Result, frozen_settings
from pooler.tables import Column, Table, View, render_view, written
from store.errors import ArgumentError, UnknownNameError

COLUMNS = [
    Column("run"),
    Column("map", "float", "MAP", "mean of AP"),
    Column("low", "float", show="never"),
    Column("high", "float", show="never"),
    Column("n", "int", "N", show="if_varied", usual=(0,)),
    Column("tags", "texts"),
    Column("reason", show="if_any"),
]
DATA = {
    "run": ["r2", "r10", "r1"],
    "map": np.array([0.25, np.nan, 0.5]),
    "low": [0.2, None, 0.4],
    "high": [0.3, None, 0.6],
    "n": [0, 0, 0],
    "tags": [["x", "y"], [], ["z"]],
    "reason": [None, "no-relevant", None],
}
RUNS = Table("runs", COLUMNS, DATA, "Runs", ["One run has no MAP."])
OTHER = Table("other", [Column("when", "moment")], {"when": [datetime(2026, 3, 1, 9, 30, tzinfo=UTC)]})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Found(Result):
    """Two tables."""

    settings: Mapping[str, Any] = field(default_factory=lambda: frozen_settings(depth=5))
    warnings: tuple[str, ...] = ()

    def _tables(self) -> Iterator[Table]:
        yield from (RUNS, OTHER)

    def facts(self) -> Mapping[str, Any]:
        """One."""
        return {"runs": 3}


def test_a_note_stands_under_the_first_of_its_tables() -> None:
    """A sentence is not said twice in one answer; a word such as `none` is each table's own."""

    @dataclass(frozen=True, slots=True, eq=False, repr=False)
    class Twice(Result):
        def _tables(self) -> Iterator[Table]:
            yield Table("a", COLUMNS, DATA, "A", ["Over 8 topics.", "none"])
            yield Table("b", COLUMNS, DATA, "B", ["none", "Over 8 topics.", "Of b."])

    first, second = Twice().views("a", "b")
    assert first.shown().notes == ["Over 8 topics.", "none"]
    assert second.shown().notes == ["none", "Of b."]
    assert Twice().table("b").notes == ["none", "Over 8 topics.", "Of b."]


def test_undefined_is_none_and_sorts_last_either_way() -> None:
    """NaN of an array is None; 9 is before 10 in names; equal cells keep their order."""
    assert RUNS.cells("map") == [0.25, None, 0.5]
    assert RUNS.sort("map").cells("run") == ["r2", "r1", "r10"]
    assert RUNS.sort("map", descending=True).cells("run") == ["r1", "r2", "r10"]
    assert RUNS.sort("run").cells("run") == ["r1", "r2", "r10"]
    assert RUNS.sort("n", descending=True).cells("run") == ["r2", "r10", "r1"]
    assert RUNS.where(np.array(DATA["map"]) > 0.3).cells("run") == ["r1"]
    with pytest.raises(ArgumentError, match="3 values"):
        RUNS.where([True])
    with pytest.raises(UnknownNameError, match="MAP"):
        RUNS.sort("MAP")


def test_people_see_what_says_something() -> None:
    """Hidden: what no cell says, what is the same in every row, what is for programs."""
    found = render_view(View(RUNS))
    assert [column.name for column in found.columns] == ["run", "map", "tags", "reason"]
    assert found.cells[1] == ["0.2500", "-", "0.5000"]
    assert found.cells[2] == ["x y", "-", "z"]
    assert found.caption == [
        "One run has no MAP.",
        "the same in every row: N 0",
        "MAP: mean of AP.",
        "no-relevant: no judge found a relevant document.",
    ]


def test_interval_is_one_column_or_why_there_is_none() -> None:
    """Both limits with the column's digits; the reason's code where they are undefined."""
    view = View(RUNS, ["run", Column("map_interval", heading="95 %", digits=2, interval=("low", "high"))])
    assert render_view(view).cells[1] == ["0.20 to 0.30", "no-relevant", "0.40 to 0.60"]


@pytest.mark.parametrize(
    ("cell", "column", "text"),
    [
        (None, Column("a"), "-"),
        (True, Column("a", "bool"), "yes"),
        (1 / 3, Column("a", "float", digits=3), "0.333"),
        (12345, Column("a", "int"), "12,345"),
        ("a\x1b[31m\nb", Column("a"), "a␛[31m b"),
        ([1, 2], Column("a", "ints"), "1 2"),
    ],
)
def test_cells_are_written_for_people(cell: Any, column: Column, text: str) -> None:
    """By their kind; nothing steers the terminal."""
    assert written(cell, column) == text


def test_notebook_shows_the_first_view() -> None:
    """A table with what people see; two lines of text elsewhere."""
    found = Found()
    page = found._repr_html_()
    assert page.count("<tr>") == 4
    assert '<th style="text-align:right">MAP</th>' in page
    assert "0.2500" in page
    assert repr(found).splitlines() == ["Found", "tables: runs, other"]


def test_instants_keep_microseconds_and_records_their_fields() -> None:
    """People see seconds of UTC and a number; JSON has everything, TSV the number; so have frames."""
    at = datetime(2026, 3, 1, 9, 30, 5, 7, tzinfo=UTC)
    table = Table(
        "events",
        [Column("at", "instant"), Column("passages", "records")],
        {"at": [at, at], "passages": [[{"start": 0, "text": "wine"}], []]},
    )
    assert render_view(View(table)).cells == [["2026-03-01 09:30:05 UTC"] * 2, ["1", "0"]]
    assert table.to_arrow().to_pylist() == table.to_records()
    assert table.to_polars().to_dicts() == table.to_records()
    assert table.to_pandas()["passages"].tolist() == table.cells("passages")
    assert table.to_pandas()["at"][0].microsecond == 7


def test_verdicts_are_grades_and_words() -> None:
    """Programs read either as it is; frames, which hold one kind, have text; 10 is after 9."""
    table = Table("t", [Column("outcome", "given_grade")], {"outcome": [10, "cannot", 9, None]})
    assert table.to_records()[:2] == [{"outcome": 10}, {"outcome": "cannot"}]
    assert table.sort("outcome").cells("outcome") == [9, 10, "cannot", None]
    text = ["10", "cannot", "9", None]
    assert table.to_arrow().to_pydict() == table.to_polars().to_dict(as_series=False) == {"outcome": text}
    assert table.to_pandas()["outcome"].tolist() == text


def test_what_is_the_same_in_the_rows_shown_is_said_of_these(capsys: pytest.CaptureFixture[str]) -> None:
    """Others may differ. LaTeX has a full stop between two notes."""

    class OneTable(Found):
        __slots__ = ()

        def _tables(self) -> Iterator[Table]:
            columns = [Column("n", "int"), Column("text", "bool", show="if_varied")]
            data = {"n": [1, 2, 3], "text": [False, False, True]}
            yield Table("runs", columns, data, notes=["3 runs"])

    render(OneTable(), Output(limit=2))
    said = ["The first 2 of 3 rows; --limit 3 shows all.", "3 runs", "the same in every row shown: text no"]
    assert capsys.readouterr().out.splitlines()[4:] == said
    render(OneTable(), Output(limit=1, fmt="latex"))
    assert "\\footnotesize The first of 3 rows; --limit 3 shows all. 3 runs.}" in capsys.readouterr().out
