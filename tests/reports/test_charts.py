"""Drawings: whole, readable whatever they are made of, and true to their numbers; axes, texts and colours."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pooler.pages.charts import (
    COLOURS,
    N_SERIES,
    N_SHADES,
    SIZE,
    Axis,
    Chart,
    ChartLine,
    HeatMap,
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
from store.errors import ArgumentError
from tests.reports.boxes import SVG, advance, assert_readable, letters, squeezed

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


@st.composite
def heat_maps(draw_one: st.DrawFn) -> HeatMap:
    """Tables of any shape."""
    n_rows, n_columns = draw_one(st.integers(0, 4)), draw_one(st.integers(0, 6))

    def names(count: int) -> st.SearchStrategy[tuple[str, ...]]:
        return st.lists(LABELS, min_size=count, max_size=count).map(tuple)

    return HeatMap(
        "t",
        "d",
        draw_one(LABELS),
        draw_one(LABELS),
        draw_one(names(n_rows)),
        draw_one(names(n_columns)),
        tuple(draw_one(st.tuples(*[COUNTS] * n_columns)) for _ in range(n_rows)),
        tuple(draw_one(names(n_columns)) for _ in range(n_rows)),
        draw_one(LABELS),
    )


CHARTS: st.SearchStrategy[Chart] = bars() | DOTS | LINES | heat_maps()


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


@given(chart=heat_maps())
def test_heat_maps_lose_no_text(chart):
    """Headings and cells stand there, whole."""
    written = letters(drawn(chart))
    texts = [text for row in chart.texts for text in row]
    if chart.rows:
        texts += chart.columns
    assert all(squeezed(text) in written for text in [*texts, *chart.rows])


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


def test_shades_follow_the_counts():
    """Nothing is white, the most is darkest, and more is never lighter."""
    values = (0.0, 1.0, 10.0, 100.0, 1000.0)
    texts = tuple(f"{value:.0f}" for value in values)
    svg = drawn(HeatMap("t", "d", "r", "c", ("a",), texts, (values,), (texts,)))
    classes = [one.attrib["class"] for one in svg.findall(f"{SVG}rect")]
    shades = [one for one in classes if one.startswith("shade")]
    assert shades[0] == "shade-1"
    assert shades[-1] == "shade-5"
    assert shades == sorted(shades)


@pytest.mark.parametrize("chart", [
    Rows("t", "d", Axis("x"), ()),
    Rows("t", "d", Axis("x"), (), "dots"),
    HeatMap("t", "d", "r", "c", (), (), (), ()),
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
    """Text needs 4.5 with all it stands on; marks, axes and frames of gaps 3; shades go one way."""
    series = [f"series-{number}" for number in range(1, N_SERIES + 1)]
    shades = [f"shade-{number}" for number in range(1, N_SHADES + 1)]
    meet = [(4.5, one, behind) for one in ("text", "soft", "link") for behind in ("page", "panel", "band")]
    meet += [(3, one, behind) for one in (*series, "axis") for behind in ("page", "band")]
    meet += [(4.5, f"on-{one}", one) for one in shades]
    for least, one, behind in meet:
        assert contrast(colours[one], colours[behind]) >= least, (one, behind)
    away = [contrast(colours[one], colours["page"]) for one in shades]
    assert all(after > before + 0.1 for before, after in pairwise(away))
    assert len({colours[one] for one in series}) == N_SERIES


def test_stylesheet_defines_every_colour_in_both_schemes():
    """A property of one scheme alone would be invisible in the other; paper is white."""
    light, dark = stylesheet().split("@media screen and (prefers-color-scheme:dark)")
    assert all(f"--{name}:{colour};" in light for name, colour in LIGHT.items())
    assert all(f"--{name}:{colour};" in dark for name, colour in DARK.items())
