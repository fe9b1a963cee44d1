"""Parts of a report on the judges: how far they have come, what it cost, and how far they agree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pooler.cli.fit import cell_text
from pooler.cli.report.commands import Commands
from pooler.cli.report.figures import Row, bars, dots, number, page_table, reason_words
from pooler.cli.report.material import Material, Stored
from pooler.report.drawing import Axis
from pooler.report.grid import HeatMap
from pooler.report.page import Figure, PageTable, Section
from pooler.results.judge_kinds import kinds_words, mixture_sentence
from pooler.results.printed import Cell, Column, Table
from store.text import counted

if TYPE_CHECKING:
    from pooler.results.agree.agreement import Coefficients

MOST_PAIRS = 45
"""Pairs of judges that a figure shows."""
FEW_SHARED = 20
"""Documents of a pair below which its kappa is drawn in grey."""
MOST_ON_A_MAP = 20
"""Judges of whom a map of every two can be read."""
_STATES = {"judged": "judged", "skipped": "put off", "cannot": "cannot be judged", "unjudged": "unjudged"}


def judging(material: Material) -> Section | None:
    """Show how far each judge has come and what judging cost."""
    stored = material.stored
    if stored is None or not stored.progress.rows:
        return None
    return Section("Judging", tuple(_judging(stored, material.commands)))


def _judging(stored: Stored, commands: Commands) -> Iterator[str | Figure]:
    """Yield the figures of judging."""
    owing = [row for row in stored.progress.rows if row.get("pooled") is not None]
    if owing:
        table = replace(stored.progress, rows=owing)
        title = "How far each judge has come"
        yield Figure(
            title,
            "A bar is what lies before the judge; what was put off and what is unjudged are still"
            " to be done.",
            bars(table, _STATES, title=title, axis=Axis("documents"), label=_judge,
                 is_stacked=True),
            page_table(stored.progress, caption="Documents of the pool by judge and state; grades"
                       " are of all that the judge has graded, pooled or not."),
            commands.of_collection("status"),
        )  # fmt: skip
    timed = [row for row in stored.costs.rows if row.get("dwell_median_s") is not None]
    if not timed:
        yield "Nobody judged here with the time taken, so nothing is known of what judging cost."
        return
    table = replace(stored.costs, rows=timed)
    title = "Time at the desk"
    yield Figure(
        title,
        "Active seconds of each judge, pauses left out.",
        bars(table, {"active_s": "active"}, title=title, axis=Axis("active time (seconds)"),
             label=_judge),
        page_table(stored.costs, caption="Times are in seconds."),
        commands.of_collection("effort"),
    )  # fmt: skip
    title = "Time on a document"
    yield Figure(
        title,
        "Half of a judge's documents were on the screen for a time within the line before they were"
        " decided; the dot is the median.",
        dots(table, "dwell_median_s", ("dwell_lower_s", "dwell_upper_s"), title=title,
             axis=Axis("time until decided (seconds)"), label=_judge),
        page_table(stored.costs, caption="Times are in seconds.",
                   interval=("dwell_median_s", "dwell_lower_s", "dwell_upper_s")),
        commands.of_collection("effort"),
    )  # fmt: skip


def agreement(material: Material) -> Section | None:
    """Show how far judges agree."""
    stored = material.stored
    if stored is None:
        text = (
            "The judgements are one grade a document, so nothing is known of how judges differ."
            " Of several judges' files `pooler agreement FILE FILE...` tells it."
        )
        return Section("Agreement of the judges", (text,))
    if stored.agreement is None:
        text = f"Nothing can be said of agreement: {stored.reason}."
        return Section("Agreement of the judges", (text,))
    return Section("Agreement of the judges", tuple(_agreement(stored, stored.agreement, material.commands)))


def _who(stored: Stored, made: Coefficients) -> str:
    """Count the judges, and say of which kind they are where they are not people."""
    names = set(made.judges.cells("judge"))
    kinds = Counter(str(row["kind"]) for row in stored.judges.rows if row["judge"] in names)
    of_kinds = "" if set(kinds) <= {"human"} else f" ({kinds_words(kinds)})"
    return f"{counted(len(names), 'judge')}{of_kinds}"


def agreement_words(material: Material) -> list[str]:
    """Say how far judges agree on what is relevant, of how many documents, and how sure that is."""
    stored = material.stored
    if stored is None or stored.agreement is None:
        why = "there is one grade a document" if stored is None else stored.reason
        return [f"How far judges agree is not known: {why}."]
    level = f"what is relevant (grade {stored.level} or more)"
    for row in stored.agreement.together:
        if row["level"] is None or row["coefficient"] != "alpha_nominal":
            continue
        if math.isnan(number(row, "value")):
            return [f"How far judges agree on {level} is not known: {reason_words(row)}."]
        value, low, high = (number(row, name) for name in ("value", "low", "high"))
        interval = "no interval" if math.isnan(low) else f"95% interval over topics {low:.2f} to"
        interval += "" if math.isnan(low) else f" {high:.2f}"
        return [
            f"Krippendorff's alpha of {_who(stored, stored.agreement)} on {level} is {value:.2f}"
            f" ({interval}; {counted(int(number(row, 'n')), 'document')} of"
            f" {counted(int(number(row, 'topics')), 'topic')}; 1 = all agree, 0 = as by chance)."
        ]
    return []


def _agreement(stored: Stored, made: Coefficients, commands: Commands) -> Iterator[str | Figure | PageTable]:
    """Yield the figures of agreement."""
    from pooler.results.agree.agreement import MEASURES, judges_columns, pair_columns
    from pooler.results.printed import printed_columns

    kind = "topic" if stored.has_intervals else "none"
    command = commands.of_collection(
        "agreement", "--level", str(stored.level), "--tables", "--interval", kind
    )
    binary = f"relevant = grade {stored.level} or more"
    yield from mixture_sentence(stored.kinds, "are measured together")
    if made.together:
        together = Table("all_judges", printed_columns(judges_columns(by_topic=False)), [
            {**row, "level": "grades" if row["level"] is None else binary,
             "coefficient": MEASURES[str(row["coefficient"])]}
            for row in made.together if row["coefficient"] in MEASURES
        ])  # fmt: skip
        yield page_table(
            together, caption="All judges together, with 95% intervals over topics where there are"
            " some. alpha, kappa, AC1: 1 = all agree, 0 = as by chance; overlap of all: documents"
            " relevant to every judge among those relevant to any, 0 = none; n: documents of two"
            " judges or more, for the overlap those of all",
            names=("level", "coefficient", "value", "low", "high", "n", "topics", "reason"),
            command=command, interval=("value", "low", "high"),
        )  # fmt: skip
    pairs = Table("pairs", printed_columns(pair_columns(by_topic=False)), list[Row](made.found))
    graded = replace(pairs, rows=[row for row in pairs.rows if row["level"] is None])
    at_level = replace(pairs, rows=[row for row in pairs.rows if row["level"] is not None])
    of_interval = " The line is its 95% interval over topics." if stored.has_intervals else ""
    figures = (
        (graded if stored.n_grades > 2 else replace(graded, rows=[]), "quadratic",
         "Cohen's kappa of the grades, quadratic weights"),
        (at_level, "kappa", f"Cohen's kappa, {binary}"),
    )  # fmt: skip
    axis = _kappa_axis([(table, name) for table, name, _ in figures])
    for table, name, title in figures:
        if table.rows:
            n_pairs, table = len(table.rows), _most_shared(table, name)
            which = (
                ""
                if n_pairs == len(table.rows)
                else (f" Of {n_pairs:,} pairs these share the most documents; the least agreeing come first.")
            )
            yield Figure(
                title,
                f"1 = the two judges agree always, 0 = as often as by chance.{of_interval}{which}"
                f" n: documents that both graded; fewer than {FEW_SHARED} are in grey, as they say"
                " little.",
                dots(table, name, (f"{name}_low", f"{name}_high"), title=title,
                     axis=axis, label=_pair, count="n", few=FEW_SHARED),
                page_table(table, interval=(name, f"{name}_low", f"{name}_high"),
                           names=("first", "second", "n", "raw", name, f"{name}_low",
                                  f"{name}_high", "overlap", "reason", "interval_reason"),
                           caption="n: documents graded by both; raw: share with the same grade;"
                                   " overlap: relevant to both among those relevant to either"),
                command,
            )  # fmt: skip
    judges = [str(judge) for judge in made.judges.cells("judge")]
    if 2 < len(judges) <= MOST_ON_A_MAP:
        yield _map_of_judges(judges, graded, command)
    if stored.cross_tables is not None and graded.rows:
        shared = max(graded.rows, key=lambda row: (number(row, "n"), -_raw(row)))
        yield _map_of_grades(stored.cross_tables, shared, command)


def _kappa_axis(tables: Sequence[tuple[Table, str]]) -> Axis:
    """Return one axis for figures that are read one beside the other, by fifths."""
    ends = [
        number(row, f"{name}{end}")
        for table, name in tables
        for row in table.rows
        if not math.isnan(number(row, name))
        for end in ("", "_low", "_high")
    ]
    known = [0.0, *(end for end in ends if not math.isnan(end))]
    low, high = math.floor(5 * min(known)) / 5, math.ceil(5 * max(known)) / 5
    return Axis("kappa", low, high if high > low else 1.0)


def _most_shared(pairs: Table, name: str) -> Table:
    """Keep as many pairs as can be read: those that share the most documents."""
    if len(pairs.rows) <= MOST_PAIRS:
        return pairs

    def agreed(row: Row) -> float:
        value = number(row, name)
        return math.inf if math.isnan(value) else value

    rows = sorted(pairs.rows, key=lambda row: (-number(row, "n"), agreed(row)))[:MOST_PAIRS]
    return replace(pairs, rows=sorted(rows, key=agreed))


def _map_of_judges(judges: list[str], graded: Table, command: str) -> Figure:
    """Show how often every two judges gave the same grade."""
    raw = {(row["first"], row["second"]): row.get("raw") for row in graded.rows}
    column = Column("raw", digits=2)

    def cell(first: str, second: str) -> Cell:
        return raw.get((first, second), raw.get((second, first)))

    cells = [[cell(one, other) for other in judges] for one in judges]
    title = "The same grade, judge by judge"
    chart = HeatMap(
        title,
        "Share of the documents that two judges graded to which both gave the same grade.",
        "judge", "judge", tuple(judges), tuple(judges),
        tuple(tuple(number({"raw": value}, "raw") for value in line) for line in cells),
        tuple(tuple(cell_text(value, column) for value in line) for line in cells),
        has_diagonal=True, reason="a judge with itself, or two who share no document",
    )  # fmt: skip
    table = page_table(graded, names=("first", "second", "n", "raw", "reason"),
                       caption="raw: share of the n documents with the same grade")  # fmt: skip
    how = "The stronger the shade, the more often the two judges gave the same grade."
    return Figure(title, how, chart, table, command)


def _map_of_grades(cross: Table, pair: Row, command: str) -> Figure:
    """Show which grades two judges gave to the same documents."""
    first, second = str(pair["first"]), str(pair["second"])
    rows = [row for row in cross.rows if (row["first"], row["second"]) == (first, second)]
    columns = [column for column in cross.columns if column.name.startswith("second_")]
    names = tuple(column.heading or column.name for column in columns)
    title = f"Where {first} and {second} differ"
    chart = HeatMap(
        title,
        f"Documents by the grades of {first} and of {second}.",
        f"grade of {first}", f"grade of {second}",
        tuple(str(row["first_grade"]) for row in rows), names,
        tuple(tuple(number(row, column.name) for column in columns) for row in rows),
        tuple(tuple(cell_text(row.get(column.name), column) for column in columns) for row in rows),
        has_diagonal=True,
    )  # fmt: skip
    return Figure(
        title,
        f"Cells off the frame are documents ({counted(int(number(pair, 'n')), 'document')} in all)"
        " to which the two gave different grades. Of the pairs that share the most documents,"
        " these two agree the least.",
        chart,
        page_table(replace(cross, rows=rows), caption=cross.title),
        command,
    )


def _raw(row: Row) -> float:
    """Return the share of documents with the same grade; 1 where there is none."""
    raw = number(row, "raw")
    return 1.0 if math.isnan(raw) else raw


def _judge(row: Row) -> str:
    """Name the row of a judge."""
    return str(row["judge"])


def _pair(row: Row) -> str:
    """Name the row of two judges."""
    return f"{row['first']}, {row['second']}"
