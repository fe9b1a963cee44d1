"""The page: one file, whole, safe; figures say what tables say, and commands what a source is of."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.pages.charts import Axis, HeatMap, LineChart, Row, Rows, draw
from pooler.pages.page import Figure, PageColumn, PageTable, ReportPage, Section, render
from pooler.pages.report import chart_of, facts_table, figure, page_table, rounded
from pooler.sources.command_lines import CommandLines
from pooler.sources.source import Source
from pooler.tables import Column, Plot, Table
from store.records import Qrel
from tests.reports.boxes import SVG, squeezed

HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)> \"'&\x00 漬物"
TEXT = st.just(HOSTILE) | st.text(max_size=30)


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
        texts[4], (PageColumn(texts[5]), PageColumn(texts[6])), ((texts[7], HOSTILE),), texts[14]
    )
    chart = Rows(texts[8], texts[9], Axis("x"), (Row("漬物ラン", (1.0,), ("1",)),))
    made = Figure(texts[11], chart, table, "pooler diagnose 'a b'.db")
    page = ReportPage(texts[0], texts[1], (Section(texts[2], (texts[3], points, table, made)),), texts[10])
    written = squeezed("".join(parsed(page).itertext()))
    expected = [*texts, HOSTILE, "漬物ラン", "pooler diagnose 'a b'.db"]
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


def test_drawing_that_has_grown_is_not_shrunk():
    """Forty grades do not fit the page."""
    names = tuple(f"grade {number}" for number in range(40))
    row = (1.0,) * 40
    chart = HeatMap("t", "d", "r", "c", names, names, (row,) * 40, (("1",) * 40,) * 40)
    made = Figure("h", chart, drawn_as().table, "c")
    (svg,) = parsed(ReportPage("t", "", (Section("s", (made,)),))).iter(f"{SVG}svg")
    assert svg.attrib["class"] == "grown"


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


def test_lines_are_columns_and_grids_have_a_cell_for_every_part() -> None:
    """One point a row, in order; rows down, parts across, and why a cell is empty."""
    made = chart_of(Plot(table=TABLE, kind="lines", label="n", parts=("map", "low"), stepped=("low",)))
    assert isinstance(made, LineChart)
    assert [line.label for line in made.lines] == ["MAP", "low"]
    assert made.lines[0].points[0] == (1200, 0.25)
    assert math.isnan(made.lines[0].points[1][1])
    assert [line.is_stepped for line in made.lines] == [False, True]
    assert (made.x_axis.label, made.y_axis.label) == ("documents", "MAP")
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
