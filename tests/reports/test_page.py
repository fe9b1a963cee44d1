"""The page: one file, whole, safe, and built so that everyone can find their way."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooler.pages.charts import Axis, HeatMap, Row, Rows
from pooler.pages.page import Figure, PageColumn, PageTable, ReportPage, Section, render
from tests.reports.boxes import SVG, squeezed

HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)> \"'&\x00 漬物"
TEXT = st.just(HOSTILE) | st.text(max_size=30)


def figure(text: str = "a run", n_rows: int = 2) -> Figure:
    """Return a figure of which every text is the one given."""
    rows = tuple(Row(f"{text} {n}", (float(n),), (str(n),)) for n in range(n_rows))
    columns = (PageColumn(text), PageColumn(text, is_numeric=True))
    table = PageTable(text, columns, tuple((f"{text} {n}", str(n)) for n in range(n_rows)))
    return Figure(text, Rows(text, text, Axis(text), rows), table, text)


def page_of(text: str = "a run", n_rows: int = 2) -> ReportPage:
    """Return a page with a block of every kind, of which every text is the one given."""
    made = figure(text, n_rows)
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
    """The same figure may stand on a page several times."""
    root = parsed(page_of(n_rows=100))
    ids = [one.attrib["id"] for one in root.iter() if "id" in one.attrib]
    assert len(ids) == len(set(ids))
    for one in root.iter():
        assert set(one.get("aria-labelledby", "").split()) <= set(ids)
        if "href" in one.attrib:
            assert one.attrib["href"][1:] in ids
        if one.get("fill", "").startswith("url("):
            assert one.attrib["fill"][5:-1] in ids


def test_headings_are_in_order():
    """One first heading; no level is left out on the way down."""
    levels = [int(one.tag[1]) for one in parsed(page_of()).iter() if re.fullmatch("h[1-6]", one.tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_contents_lead_to_every_section_and_figure():
    """In the order of the page."""
    root = parsed(page_of())
    targets = [one.attrib["href"] for one in root.findall(".//nav//a")]
    assert targets == ["#s1", "#s1-5", "#s2", "#s2-1", "#s2-2"]


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
    made = Figure("h", chart, figure().table, "c")
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
