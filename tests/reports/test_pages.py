"""Pages and charts: whole, safe, readable without eyes or colours, true to the numbers of tables."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pooler.pages.charts import (
    COLOURS,
    N_SERIES,
    SIZE,
    Axis,
    Chart,
    ChartLine,
    LineChart,
    Row,
    Rows,
    Sheet,
    draw,
    draw_in_pieces,
    escaped,
    make_scale,
    stylesheet,
    text_width,
    tick_labels,
    ticks,
    wrapped_label,
)
from pooler.pages.page import Figure, PageColumn, PageTable, ReportPage, Section, render
from pooler.pages.report import chart_of, facts_table, figure, page_table, rounded
from pooler.sources.command_lines import CommandLines
from pooler.sources.source import Source
from pooler.tables import Column, Plot, Table
from store.errors import ArgumentError
from store.records import Qrel
from tests.helpers.text_boxes import SVG, advance, assert_readable, letters, squeezed

HOSTILE_TEXT = "</style><script>alert(1)</script><img src=x onerror=alert(1)> \"'&\x00 漬物"
TEXT = st.just(HOSTILE_TEXT) | st.text(max_size=30)


def drawn_as(text: str = "a run", n_rows: int = 2) -> Figure:
    """Return a figure of which every text is the one given."""
    rows = tuple(Row(f"{text} {n}", (float(n),), (str(n),)) for n in range(n_rows))
    columns = (PageColumn(text), PageColumn(text, is_numeric=True))
    table = PageTable(text, columns, tuple((f"{text} {n}", str(n)) for n in range(n_rows)))
    return Figure(text, Rows(text, text, Axis(text), rows), table, text)


def page_of(text: str = "a run", n_rows: int = 2) -> ReportPage:
    """Return a page with a block of every kind, of which every text is the one given."""
    made = drawn_as(text, n_rows)
    alone = replace(made.table, command=text)
    blocks = (text, (text, text), made.table, alone, made)
    sections = (Section(text, blocks), Section(text, (made, made)))
    return ReportPage(text, text, sections, text)


def parsed(page: ReportPage) -> ET.Element:
    """Return a page that has been parsed as XML."""
    return ET.fromstring(render(page))


class Tags(HTMLParser):
    """The elements and attributes that a reader of HTML finds."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)


@given(TEXT)
def test_any_text_leaves_the_page_whole(text):
    """Well-formed, with the elements and attributes of a page with harmless texts."""
    html = render(page_of(text))
    ET.fromstring(html)
    found, usual = Tags(), Tags()
    found.feed(html)
    usual.feed(render(page_of("漬" * 60 + " -")))
    assert found.tags <= usual.tags
    assert "script" not in found.tags
    assert found.attributes <= usual.attributes


def test_every_text_is_on_the_page():
    """Title, lead, paragraph, list, captions, headings, cells, commands and footer."""
    texts = [f"text{n}" for n in range(15)]
    points = (texts[12], texts[13])
    table = PageTable(
        texts[4], (PageColumn(texts[5]), PageColumn(texts[6])), ((texts[7], HOSTILE_TEXT),), texts[14]
    )
    chart = Rows(texts[8], texts[9], Axis("x"), (Row("漬物ラン", (1.0,), ("1",)),))
    made = Figure(texts[11], chart, table, "pooler diagnose 'a b'.db")
    page = ReportPage(texts[0], texts[1], (Section(texts[2], (texts[3], points, table, made)),), texts[10])
    written = squeezed("".join(parsed(page).itertext()))
    expected = [*texts, HOSTILE_TEXT, "漬物ラン", "pooler diagnose 'a b'.db"]
    assert all(squeezed(text) in written for text in expected)


def test_page_needs_nothing_else():
    """No script, no address but the name of SVG, nothing that is loaded."""
    html = render(page_of())
    assert "<script" not in html
    assert not re.findall(r"""\b(?:src|srcset|data|action)=|@import|javascript:""", html)
    assert set(re.findall(r"https?://[^\"' ]+", html)) == {"http://www.w3.org/2000/svg"}
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)"', html))
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))


def test_ids_are_unique_and_references_lead_somewhere():
    """The same figure may stand on a page several times; contents are in the order of the page."""
    root = parsed(page_of(n_rows=100))
    ids = [one.attrib["id"] for one in root.iter() if "id" in one.attrib]
    assert len(ids) == len(set(ids))
    for one in root.iter():
        assert set(one.get("aria-labelledby", "").split()) <= set(ids)
        if "href" in one.attrib:
            assert one.attrib["href"][1:] in ids
    targets = [one.attrib["href"] for one in root.findall(".//nav//a")]
    assert targets == ["#s1", "#s1-5", "#s2", "#s2-1", "#s2-2"]
    levels = [int(one.tag[1]) for one in root.iter() if re.fullmatch("h[1-6]", one.tag)]
    assert (levels.count(1), levels[0]) == (1, 1)
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_page_can_be_used_without_eyes_and_without_a_mouse():
    """Language, skip link first, names of drawings, headings of tables, boxes to scroll in."""
    root = parsed(page_of())
    assert root.attrib["lang"] == "en"
    body = root.find("body")
    assert body is not None
    assert body[0].attrib == {"class": "skip", "href": "#main"}
    assert len(root.findall(".//main")) == 1
    for svg in root.iter(f"{SVG}svg"):
        assert svg.attrib["role"] == "img"
        assert svg.find(f"{SVG}title") is not None
    for table in root.iter("table"):
        assert table.find("caption") is not None
        assert {one.get("scope") for one in table.iter("th")} == {"col", "row"}
    for box in root.findall(".//div[@class='scroll']"):
        assert box.attrib["tabindex"] == "0"
        assert box.attrib["role"] == "region"
        assert box.attrib["aria-label"]


def test_figure_has_its_table_folded_below_and_its_command():
    """The numbers are at hand, not in the way."""
    found = parsed(page_of()).findall(".//figure")
    assert len(found) == 3
    for one in found:
        folded = one.find("details")
        assert folded is not None
        assert "open" not in folded.attrib
        assert folded.find(".//table") is not None
        assert one.find(".//code") is not None
        assert one.find("figcaption/p") is not None


def test_every_chart_is_drawn_once_and_scrolls_in_its_box():
    """In a narrow window it keeps its size; the page itself stays as wide as the window is."""
    html = render(page_of())
    for one in ET.fromstring(html).iter("figure"):
        (box,) = one.findall("div")
        assert (box.attrib["class"], box.attrib["role"], box.attrib["tabindex"]) == ("drawing", "region", "0")
        assert [float(svg.attrib["width"]) for svg in one.iter(f"{SVG}svg")] == [720]
    whole, narrow = html.split("@media screen and (max-width:640px)")
    assert ".drawing{overflow-x:auto}" in whole
    assert ".drawing svg{max-width:none}" in narrow.split("@media")[0]


def test_row_of_other_cells_than_columns_is_refused():
    """A number under the wrong heading would be a wrong number."""
    table = PageTable("c", (PageColumn("a"), PageColumn("b")), (("1",),))
    with pytest.raises(ValueError, match="zip"):
        render(ReportPage("t", "", (Section("s", (table,)),)))


def test_a_long_command_is_folded_and_blanks_stay() -> None:
    """What is copied is what was written, two blanks as well; a long one does not fill the page."""
    table = PageTable("c", (PageColumn("a"),), (("1",),), "pooler diagnose 'two  blanks'")
    short = render(ReportPage("t", "", (Section("s", (table,)),)))
    assert "<code>pooler diagnose &#x27;two  blanks&#x27;</code>" in short
    assert "white-space:pre-wrap" in short
    hyphens = replace(table, command="pooler diagnose --order docno-asc")
    page = render(ReportPage("t", "", (Section("s", (hyphens,)),)))
    assert "<code>pooler diagnose <span>--order</span> <span>docno-asc</span></code>" in page
    assert ".command span{white-space:nowrap}" in page
    assert "<summary>" not in short
    long = replace(table, command="pooler diagnose" + 100 * " a.run")
    assert (
        "<summary>The same numbers (615 characters of a command)</summary>"
        in render(ReportPage("t", "", (Section("s", (long,)),)))
    )  # fmt: skip


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
    """By names with blanks, and what they are; undefined a dash."""
    facts = {"pool_size": 1234, "tau": None, "mean": 0.5}
    limits = ("value", "low", "high")
    made = facts_table(facts, {"tau": "of an order"}, caption="c", command="x", interval=limits)
    assert made.rows == (("pool size", "1,234", ""), ("tau", "-", "of an order"), ("mean", "0.5000", ""))


def test_rows_of_charts_are_cells() -> None:
    """Values, texts, the reason of what is undefined, never 0; a stack has a sum, a dot its ends."""
    made = chart_of(Plot(table=TABLE, kind="bars", label=("run", "fed"), parts=("n", "map"), axis="x"))
    assert isinstance(made, Rows)
    first, second = made.rows
    assert (first.label, first.values, first.texts) == ("a, True", (1200, 0.25), ("1,200", "0.250"))
    assert (second.values[0], math.isnan(second.values[1])) == (0, True)
    assert (second.texts, second.reason) == (("0", "-"), "no relevant document")
    assert made.parts == ("documents", "MAP")
    assert made.description == "x: from 0 (b, False) to 1200 (a, True)."
    made = chart_of(Plot(table=TABLE, kind="stacks", label="run", parts=("n", "fed")))
    assert isinstance(made, Rows)
    assert (made.rows[0].texts, made.kind) == (("1,200 + yes",), "stacks")
    dots = Plot(
        table=TABLE.take([1, 0]), kind="dots", label="run", value="map", low="low", high="high", by="map"
    )
    made = chart_of(dots)
    assert isinstance(made, Rows)
    first, second = made.rows
    assert (first.values, first.interval, first.texts) == ((0.25,), (0.2, 0.31), ("0.250 [0.200, 0.310]",))
    assert math.isnan(second.values[0])
    assert (second.texts, second.reason) == (("-",), "no relevant document")


def test_lines_are_columns() -> None:
    """One point a row, in order."""
    made = chart_of(Plot(table=TABLE, kind="lines", label="n", parts=("map", "low"), stepped=("low",)))
    assert isinstance(made, LineChart)
    assert [line.label for line in made.lines] == ["MAP", "low"]
    assert made.lines[0].points[0] == (1200, 0.25)
    assert math.isnan(made.lines[0].points[1][1])
    assert [line.is_stepped for line in made.lines] == [False, True]
    assert (made.x_axis.label, made.y_axis.label) == ("documents", "MAP")


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


def test_no_password_is_shown() -> None:
    """The URL stays what it was without it, and the page says so."""
    for url, shown in (
        ("postgresql://u:s3cret@host:1/db?options=-csearch_path%3Dx",
         "'postgresql://u@host:1/db?options=-csearch_path%3Dx'"),
        ("postgresql://u@host/db?password=s3cret&sslmode=require",
         "'postgresql://u@host/db?sslmode=require'"),
    ):  # fmt: skip
        commands = CommandLines(Source(collection=url), {})
        assert commands.leaves_password
        assert commands.of_collection("status") == f"pooler status --collection {shown}"


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (Source(), ""),
        (Source(collection="collection.db"), ""),
        (Source(["a", "b"], collection="x.db", level="rigid"), "--level rigid --collection x.db a b"),
        (Source(qrels="ann"), "--qrels ann"),
        (Source(qrels="official@2", level=2), "--qrels official@2 --level 2"),
        (Source(["a.run"], qrels="./q", scale="0-3", level="relaxed", order="docno-asc", lenient=True),
         "--qrels ./q --level relaxed --order docno-asc --scale 0-3 --lenient a.run"),
        (Source(qrels="./q", listed="runs.tsv"), "--qrels ./q --runs runs.tsv"),
    ],
)  # fmt: skip
def test_a_command_names_what_a_source_is_of(source: Source, options: str) -> None:
    """Every option that is not the default, and no other."""
    assert CommandLines(source, {}).of_runs("diagnose") == f"pooler diagnose {options}".rstrip()


def test_what_is_in_memory_has_no_command() -> None:
    """No command line could name it."""
    assert CommandLines(Source(["a.run"], qrels=[Qrel("1", "d", 1)]), {}).of_runs("diagnose") == ""


def test_the_cutoff_and_values_stand_in_commands() -> None:
    """As they were given."""
    commands = CommandLines(Source(), {}, cutoff=20, values=("0=.1", "1=.9"))
    assert commands.of_probabilities("variation", "--by", "pair") == (
        "pooler variation --by pair --value 0=.1 --value 1=.9 --cutoff 20"
    )


WIDTHS = (350.0, 720.0)
HOSTILE = ("<script>alert(1)</script>", "a&amp;b\"'", "日本語形態素解析ラン", "\x1b[31mred\ud800", "W" * 120)
NAN = math.nan

LABELS = st.sampled_from(HOSTILE) | st.text(max_size=40)
VALUES = st.sampled_from([0.0, -1.0, 1e-9, 1e300, NAN, math.inf]) | st.floats(-1e6, 1e6)
COUNTS = st.sampled_from([0.0, 1e-9, 1e300, NAN]) | st.floats(0, 1e6)
AXES = st.builds(Axis, LABELS, with_zero=st.booleans())


@st.composite
def bars(draw_one: st.DrawFn) -> Rows:
    """Bars of any parts, side by side or end to end."""
    n_parts = draw_one(st.integers(1, 4))
    is_stacked = draw_one(st.booleans())
    numbers = COUNTS if is_stacked else VALUES
    n_texts = st.sampled_from([1, n_parts])
    row = n_texts.flatmap(
        lambda n: st.builds(Row, LABELS, st.tuples(*[numbers] * n_parts), st.tuples(*[LABELS] * n), LABELS)
    )
    rows = tuple(draw_one(st.lists(row, max_size=5)))
    parts = tuple(draw_one(st.lists(LABELS, min_size=n_parts, max_size=n_parts)))
    return Rows("t", "d", draw_one(AXES), rows, "stacks" if is_stacked else "bars", parts)


DOT = st.builds(Row, LABELS, st.tuples(VALUES), st.tuples(LABELS), LABELS, st.tuples(VALUES, VALUES))
DOTS = st.builds(Rows, LABELS, LABELS, AXES, st.lists(DOT, max_size=5).map(tuple), st.just("dots"))
POINTS = st.lists(st.tuples(VALUES, VALUES), max_size=20).map(
    lambda points: tuple(sorted(points, key=lambda point: (math.isnan(point[0]), point[0])))
)
LINES = st.builds(
    LineChart,
    LABELS,
    LABELS,
    AXES,
    AXES,
    st.lists(st.builds(ChartLine, LABELS, POINTS, st.booleans()), min_size=1, max_size=6).map(tuple),
)


CHARTS: st.SearchStrategy[Chart] = bars() | DOTS | LINES


def drawn(chart: Chart, width: float = 720.0) -> ET.Element:
    """Return a drawing that has been parsed."""
    return ET.fromstring(draw(chart, width=width, key="k"))


def markers(svg: ET.Element) -> list[ET.Element]:
    """Return the marks of dots and of points on lines; lines behind them are paths, too."""
    return [one for one in svg.findall(f"{SVG}path") if "transform" in one.attrib]


def one_bar(value: float, text: str = "v", reason: str = "") -> Rows:
    """Return a chart of one bar beside one of 100."""
    axis = Axis("documents", 0, 100)
    return Rows("t", "d", axis, (Row("a", (value,), (text,), reason), Row("b", (100.0,), ("100",))))


def dots_of(tags: list[str]) -> Rows:
    """Return a forest plot of runs."""
    rows = tuple(
        Row(
            tag,
            (0.4 - n / 1000,),
            (f"{0.4 - n / 1000:.4f} [0.3800, 0.4200]",),
            interval=(0.38 - n / 1000, 0.42),
        )
        for n, tag in enumerate(tags)
    )
    return Rows("MAP", "d", Axis("MAP", with_zero=False), rows, "dots")


@pytest.mark.parametrize("width", WIDTHS)
@given(chart=CHARTS)
def test_anything_gives_a_whole_drawing_where_no_text_is_cut_or_meets_another(width, chart):
    """Hostile labels, NaN, infinity, the very large and the very small, at both widths."""
    svg = drawn(chart, width)
    assert_readable(svg)
    assert svg.attrib["role"] == "img"
    named = [one.attrib["id"] for one in svg if one.tag in {f"{SVG}title", f"{SVG}desc"}]
    assert svg.attrib["aria-labelledby"].split() == named
    for one in svg.iter():
        numbers = [one.attrib[name] for name in ("x", "y", "width", "height") if name in one.attrib]
        assert all(math.isfinite(float(number)) for number in numbers)
        assert float(one.get("width", 0)) >= 0
        assert float(one.get("height", 0)) >= 0
        assert "nan" not in one.get("points", "")
    assert {one.tag.removeprefix(SVG) for one in svg.iter()} <= {
        "svg", "title", "desc", "defs", "pattern", "rect", "path", "line", "polyline", "text"
    }  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
@given(chart=bars() | DOTS)
def test_rows_lose_no_label_value_or_reason(width, chart):
    """Every label, every value and the reason of every gap stand there, whole."""
    written = letters(drawn(chart, width))
    for row in chart.rows:
        assert squeezed(row.label) in written
        for text in row.texts:
            assert squeezed(text) in written
        if not row.is_whole:
            assert squeezed(row.reason or "undefined") in written


@given(chart=LINES)
def test_lines_lose_no_name_and_say_what_is_missing(chart):
    """A line that is interrupted is explained below."""
    written = letters(drawn(chart))
    if len(chart.lines) > 1:
        assert all(squeezed(line.label) in written for line in chart.lines)
    for line in chart.lines:
        missing = sum(not (math.isfinite(x) and math.isfinite(y)) for x, y in line.points)
        if missing:
            assert squeezed(f"{missing} missing: undefined") in written


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("n_runs", [9, 143])
def test_forest_plot_is_readable_for_few_and_for_many_runs(width, n_runs):
    """Each row has its height; the drawing grows, and nothing meets."""
    chart = dots_of([f"udel_fang_run{number}" for number in range(n_runs)])
    pieces = [ET.fromstring(one) for one in draw_in_pieces(chart, width=width, key="k")]
    assert len(pieces) == (1 if n_runs == 9 else 4)
    for piece in pieces:
        assert_readable(piece)
    written = "".join(map(letters, pieces))
    assert all(f"udel_fang_run{number}" in written for number in range(n_runs))
    assert sum(len(markers(piece)) for piece in pieces) == n_runs


def test_pieces_have_fewer_rows_where_each_has_several_bars():
    """Forty rows of three bars are as high as a hundred and twenty; end to end they are not."""
    rows = tuple(Row(f"run {n}", (1.0, 2.0, 3.0), ("1", "2", "3")) for n in range(40))
    chart = Rows("Parts", "", Axis("documents"), rows, parts=("a", "b", "c"))
    assert len(draw_in_pieces(chart, width=720, key="k")) == 4
    stacked = replace(chart, kind="stacks", rows=tuple(replace(r, texts=("6",)) for r in rows))
    assert len(draw_in_pieces(stacked, width=720, key="k")) == 1


def test_pieces_share_axis_and_columns():
    """A dot at the same value stands at the same place in every piece."""
    chart = dots_of(["a", *["b" * 30] * 99])
    same = replace(chart, rows=tuple(replace(row, values=(0.3,)) for row in chart.rows))
    found = draw_in_pieces(same, width=720, key="k")
    places = {path.attrib["transform"].split()[0] for one in found for path in markers(ET.fromstring(one))}
    assert len(found) == 3
    assert len(places) == 1
    ids = [one.attrib["id"] for svg in found for one in ET.fromstring(svg) if "id" in one.attrib]
    assert len(ids) == len(set(ids)) == 6


def rectangles(chart: Rows, *classes: str) -> list[tuple[float, float]]:
    """Return where bars begin and how long they are."""
    found = drawn(chart).findall(f"{SVG}rect")
    return [
        (float(one.attrib["x"]), float(one.attrib["width"])) for one in found if one.get("class") in classes
    ]


def test_bars_are_as_long_as_their_values():
    """40 of 100 is 40 % of it; -3 ends where 3 begins; parts of a stack touch and add up."""
    (_, short), (_, long) = rectangles(one_bar(40.0), "fill-1")
    assert short / long == pytest.approx(0.4, abs=0.001)
    chart = Rows("t", "d", Axis("x"), (Row("a", (-3.0,), ("-3",)), Row("b", (3.0,), ("3",))))
    (low, wide), (zero, _) = rectangles(chart, "fill-1")
    assert low + wide == pytest.approx(zero, abs=0.11)
    rows = (Row("a", (10.0, 20.0, 70.0), ("100",)), Row("b", (100.0, 0.0, 0.0), ("100",)))
    chart = Rows("t", "d", Axis("x", 0, 100), rows, "stacks", ("p", "q", "r"))
    found = rectangles(chart, "fill-1", "paper line-2", "paper line-3")
    (x1, w1), (x2, w2), (x3, w3), (_, whole) = found[3:7]  # after the legend
    assert (x1 + w1, x2 + w2) == pytest.approx((x2, x3), abs=0.2)
    assert w1 + w2 + w3 == pytest.approx(whole, abs=0.3)


def test_gap_is_no_bar_of_no_length():
    """NaN is drawn as a place without a value, with its reason; 0 is a value."""
    gap, zero = drawn(one_bar(NAN, "–", "no judgements")), drawn(one_bar(0.0))
    assert [one.get("class") for one in gap.findall(f"{SVG}rect")].count("gap") == 1
    assert "nojudgements" in letters(gap)
    assert [one.get("class") for one in zero.findall(f"{SVG}rect")].count("gap") == 0
    assert "undefined" in letters(drawn(one_bar(NAN)))


def test_interval_lies_where_its_ends_are():
    """From 0.2 to 0.6 around 0.4 on an axis from 0 to 1."""
    chart = Rows("t", "d", Axis("x", 0, 1), (Row("a", (0.4,), ("0.4",), interval=(0.2, 0.6)),), "dots")
    lines = [one for one in drawn(chart).findall(f"{SVG}line") if "thick" in one.get("class", "")]
    low, high = float(lines[0].attrib["x1"]), float(lines[0].attrib["x2"])
    middle = float(markers(drawn(chart))[0].attrib["transform"][10:].split()[0])
    assert (low + high) / 2 == pytest.approx(middle, abs=0.11)


def test_lines_have_gaps_and_steps():
    """Two stretches around a missing point; a distribution jumps at its values and nowhere else."""
    line = ChartLine("a", ((0, 1), (1, 2), (2, NAN), (3, 3), (4, 4)))
    svg = drawn(LineChart("t", "d", Axis("x"), Axis("y"), (line,)))
    assert len(svg.findall(f"{SVG}polyline")) == 2
    assert "a:1missing:undefined" in letters(svg)
    svg = drawn(LineChart("t", "d", Axis("x"), Axis("y"), (ChartLine("a", ((0, 0), (1, 1)), True),)))
    [first, corner, last] = [one.split(",") for one in svg.find(f"{SVG}polyline").attrib["points"].split()]
    assert (first[1], corner[0]) == (corner[1], last[0])


def test_series_differ_without_colour():
    """Every line has dashes and a marker of its own, every bar a pattern."""
    lines = tuple(ChartLine(str(n), ((0, n), (1, n))) for n in range(6))
    svg = drawn(LineChart("t", "d", Axis("x"), Axis("y"), lines))
    assert len({one.get("stroke-dasharray") for one in svg.iter(f"{SVG}polyline")}) == 6
    assert len({one.attrib["d"] for one in markers(svg)}) == 6
    row = Row("a", (1, 2, 3, 4, 5, 6), ("1",))
    svg = drawn(Rows("t", "d", Axis("x"), (row,), parts=tuple("abcdef")))
    # By direction and length, wherever it stands; the first bar is filled.
    hatched = {
        one.attrib["class"]: frozenset(re.findall(r"l(\d\S* \S+?)(?=M|$)", one.attrib["d"]))
        for one in svg.iter(f"{SVG}path")
        if "hatch" in one.attrib["class"]
    }
    assert len(hatched) == 5
    assert len({*hatched.values()}) == 5
    assert "pattern" not in draw(Rows("t", "d", Axis("x"), (row,), parts=tuple("abcdef")), width=400,
                                 key="k")  # fmt: skip


@pytest.mark.parametrize("series", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("width", [0.0, 0.4, 3.0, 11.0, 200.3])
def test_hatching_stays_within_its_bar(series: int, width: float) -> None:
    """No line of a bar leaves it, however short it is; none is drawn where there is no bar."""
    sheet = Sheet(400, "k")
    sheet.bar(10, 20, width, 11, series)
    drawing = ET.fromstring(sheet.finished("t", "d", 50))
    moves = [
        [float(part) for part in re.split("[Ml ]", line)[1:]]
        for path in drawing.iter(f"{SVG}path")
        for line in re.findall("M[^M]+", path.attrib["d"])
    ]
    assert bool(moves) == (width > 0) or (series == 5 and width < 4)
    for x, y, right, down in moves:
        assert 9.9 <= x <= x + right <= 10 + width + 0.11
        assert 19.9 <= min(y, y + down) <= max(y, y + down) <= 31.11


@pytest.mark.parametrize("chart", [
    Rows("t", "d", Axis("x"), ()),
    Rows("t", "d", Axis("x"), (), "dots"),
])  # fmt: skip
def test_chart_without_data_says_so(chart):
    """An empty figure would look like a mistake."""
    assert "nothingtoshow" in letters(drawn(chart))


def test_more_parts_than_can_be_told_apart_are_refused():
    """The message says how many there may be."""
    chart = Rows("t", "d", Axis("x"), (), parts=tuple("abcdefg"))
    with pytest.raises(ArgumentError, match="`parts` must be 1 to 6"):
        draw(chart, width=720, key="k")


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        ("0", "1", 6, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ("0", "1", 5, ["0.0", "0.5", "1.0"]),
        ("0", "143", 6, ["0", "50", "100"]),
        ("0", "143", 8, ["0", "20", "40", "60", "80", "100", "120", "140"]),
        ("-0.06", "0.01", 8, ["-0.06", "-0.05", "-0.04", "-0.03", "-0.02", "-0.01", "0.00", "0.01"]),
        ("-3", "3", 5, ["-2", "0", "2"]),
        ("0", "22669", 6, ["0", "5,000", "10,000", "15,000", "20,000"]),
        ("0", "1e-9", 6, ["0", "2e-10", "4e-10", "6e-10", "8e-10", "1e-9"]),
        ("0", "2.5e8", 6, ["0", "5e7", "1e8", "1.5e8", "2e8", "2.5e8"]),
        ("0.279", "0.326", 6, ["0.28", "0.29", "0.30", "0.31", "0.32"]),
    ],
)
def test_ticks_are_those_of_a_hand(low, high, most, expected):
    """Multiples of 1, 2 or 5 times a power of ten, as many as allowed, all written alike."""
    assert tick_labels(ticks(Decimal(low), Decimal(high), most=most)) == expected


@given(FINITE, FINITE, st.integers(3, 10))
def test_ticks_lie_in_the_range_evenly_and_are_not_too_many(one, other, most):
    """Checked in exact fractions of the range, whatever it is."""
    low, high = Decimal(min(one, other)), Decimal(max(one, other))
    assume(high - low > max(abs(low), abs(high)) * Decimal("1e-9"))
    found = ticks(low, high, most=most)
    assert 1 <= len(found) <= most
    assert all(low <= mark <= high for mark in found)
    steps = {after - before for before, after in pairwise(found)}
    assert len(steps) <= 1
    for step in steps:
        assert step.normalize().as_tuple().digits in {(1,), (2,), (5,)}


@given(st.lists(st.floats(), max_size=8), st.booleans(), st.floats(0, 500), st.floats(501, 900))
def test_everything_finite_has_a_place_between_the_ends(values, with_zero, start, stop):
    """From none to the largest float, with NaN and infinity among them."""
    scale = make_scale(values, Axis("x", with_zero=with_zero), start, stop)
    marks = scale.marks
    assert scale.low < scale.high
    assert marks
    for value in filter(math.isfinite, values):
        assert start - 1e-6 <= scale.place(value) <= stop + 1e-6
    assert len(set(tick_labels(marks))) == len(marks)


@given(st.floats(-100, 100), st.floats(-100, 100))
def test_places_are_in_the_order_of_the_values(one, other):
    """Upwards the place falls."""
    scale = make_scale([one, other], Axis("x"), 200, 0)
    low, high = sorted([one, other])
    assert scale.place(low) >= scale.place(high)


def test_ends_that_are_given_stay_unless_data_lie_beyond():
    """A probability goes from 0 to 1, whatever was found; no value is drawn where it is not."""
    scale = make_scale([0.42, 0.44], Axis("p", 0, 1), 0, 100)
    assert (scale.low, scale.high, scale.place(0.42)) == (0, 1, pytest.approx(42))
    scale = make_scale([-0.3, 1.7], Axis("p", 0, 1), 0, 100)
    assert scale.low <= Decimal("-0.3")
    assert scale.high >= Decimal("1.7")


@pytest.mark.parametrize("value", [0.0, 7.0, -7.0, 1e-9, 1e300])
def test_one_value_has_room_around_it(value):
    """An axis of no length would divide by it."""
    scale = make_scale([value, value], Axis("x", with_zero=False), 0, 100)
    marks = scale.marks
    assert 0 <= scale.place(value) <= 100
    assert len(marks) >= 2


ANY = st.text(max_size=60) | st.text(alphabet="<>&\"'ab漬 -_.]\x00\x1b\ud800\uffff", max_size=60)


@given(ANY)
def test_any_text_can_stand_in_an_element_and_an_attribute(text):
    """It comes back as it is shown."""
    parsed = ET.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert squeezed(parsed.text or "") == squeezed(text) == squeezed(parsed.attrib["b"])


@given(ANY, st.floats(5, 300))
def test_lines_fit_and_lose_nothing_but_blanks(text, room):
    """A single character is the least that a line can hold."""
    lines = wrapped_label(text, room)
    assert squeezed("".join(lines)) == squeezed(text)
    assert all(text_width(line) <= room or len(line) == 1 for line in lines)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E) | st.sampled_from("漬物あア")))
def test_width_is_never_less_than_in_a_wide_font(text):
    """The widths of DejaVu Sans, and 1 for characters that are as wide as they are high."""
    assert text_width(text) >= SIZE * advance(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.4200 [0.3927, 0.4473]", ["0.4200 [0.3927,", "0.4473]"]),
        ("12,733 of 22,669", ["12,733 of", "22,669"]),
        ("bm25-title-only-run", ["bm25-title-", "only-run"]),
        ("a -0.0488 change", ["a -0.0488", "change"]),
    ],
)
def test_numbers_stay_whole(text, expected):
    """A line ends at a blank or a joint, not in a number."""
    assert wrapped_label(text, 122) == expected


LIGHT, DARK = ({name: pair[scheme] for name, pair in COLOURS.items()} for scheme in (0, 1))


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2, from 1 to 21."""
    darker, lighter = sorted([luminance(one), luminance(other)])
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_of_known_colours_is_that_of_the_standard():
    """Black on white is 21; #767676 on white is the well-known least grey for text, 4.54."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_can_be_read_and_told_apart(colours):
    """Text needs 4.5 with all it stands on; marks, axes and frames of gaps 3."""
    series = [f"series-{number}" for number in range(1, N_SERIES + 1)]
    meet = [(4.5, one, behind) for one in ("text", "soft", "link") for behind in ("page", "panel", "band")]
    meet += [(3, one, behind) for one in (*series, "axis") for behind in ("page", "band")]
    for least, one, behind in meet:
        assert contrast(colours[one], colours[behind]) >= least, (one, behind)
    assert len({colours[one] for one in series}) == N_SERIES


def test_stylesheet_defines_every_colour_in_both_schemes():
    """A property of one scheme alone would be invisible in the other; paper is white."""
    light, dark = stylesheet().split("@media screen and (prefers-color-scheme:dark)")
    assert all(f"--{name}:{colour};" in light for name, colour in LIGHT.items())
    assert all(f"--{name}:{colour};" in dark for name, colour in DARK.items())
