"""`pooler effort`: what judging cost, hasty decisions, and whether judges drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import emit
from pooler.cli.options import (
    DEFAULT_COLLECTION,
    CollectionOption,
    FormatOption,
    LevelOption,
    RelaxedOption,
    RigidOption,
)
from pooler.results.look import moment
from pooler.results.printed import Cell, Column, Format, Table
from store.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from store.judging.effort import DecidedDocument, Effort

COSTS = [
    Column("judge"),
    Column("sittings"),
    Column("active_s"),
    Column("decided"),
    Column("pace_s"),
    Column("dwell_lower_s"),
    Column("dwell_median_s"),
    Column("dwell_upper_s"),
    Column("low_dwell"),
    Column("dropped_keys"),
    Column("undone"),
    Column("imported"),
    Column("reason"),
]
QUICK = [
    Column("judge"),
    Column("topic"),
    Column("docno"),
    Column("state"),
    Column("grade"),
    Column("dwell_s", "dwell s", 1),
    Column("active_s", "active s", 1),
    Column("judged_at"),
]
DRIFT = [
    Column("judge"),
    Column("topic"),
    Column("measure"),
    Column("n"),
    Column("quarter_1", "1st", 2),
    Column("quarter_2", "2nd", 2),
    Column("quarter_3", "3rd", 2),
    Column("quarter_4", "4th", 2),
    Column("tau", digits=2),
    Column("p", digits=3),
    Column("reason"),
]
_BEST_FIRST = ("priority", "drawn")
"""Display orders in which the likely relevant documents come first."""


def effort(
    names: Annotated[list[str] | None, typer.Argument(metavar="JUDGE...", help="Default all judges.")] = None,
    below: Annotated[
        float, typer.Option("--below", min=0, metavar="SECONDS", help="A dwell below this is low.")
    ] = 1.0,
    list_: Annotated[bool, typer.Option("--list", help="The documents decided at a low dwell, too.")] = False,
    level: LevelOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    by_topic: Annotated[bool, typer.Option("--by-topic", help="Drift in every topic, too.")] = False,
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Report what judging cost each judge, which decisions were hasty, and who drifts.

    Dwell is how long a document was on the screen when it was decided; where a decision was taken
    back, the one that stands counts. Active time is without pauses, and has what was taken back.
    Drift compares the four quarters of each topic, in the order in which documents were first
    decided: share relevant, mean grade, median active seconds. tau rises above 0 or falls below
    with time, inside topics; p is how often chance alone would give as much. Of 20 trends without
    drift one has p below 0.05.

    Example: pooler effort --below 2 --list
    """
    from store.analysis.collapse import level_of
    from store.collection import Collection

    with Collection(collection) as opened:
        scale = opened.scale
        known = [judge.name for judge in opened.judges.all()]
        efforts = opened.progress.effort()
    for name in names or []:
        if name not in known:
            raise UnknownNameError("judge", name, known)
    cut = level_of(scale, level=level, rigid=rigid, relaxed=relaxed)
    cut = scale.relaxed if cut is None else cut
    chosen = [one for one in efforts if not names or one.judge in names]
    costs = costs_table(chosen, below)
    quick = Table("low_dwell", QUICK, title=f"Decided below {below:g} s")
    quick.rows += _quick(chosen, below, fmt)
    drift = Table("drift", DRIFT, title=f"Drift; relevant = grade {cut} or more")
    for one in chosen:
        drift.rows += _drift(one, cut, by_topic=by_topic)
    tables = [costs, *([quick] if list_ else []), drift]
    if fmt is Format.TABLE:
        _costs_for_people(costs, below)
        quick.caption = "" if quick.rows else "none"
        _drift_for_people(drift, chosen, by_topic=by_topic)
    emit(tables, fmt)


def costs_table(efforts: Sequence[Effort], below: float) -> Table:
    """Make the table of what judging cost, with every column; below `below` s a dwell is low."""
    return Table("effort", COSTS, [_costs(one, below) for one in efforts], title="Effort")


def _costs(one: Effort, below: float) -> dict[str, Cell]:
    """Add up what judging cost one judge."""
    from store.analysis.agreement.drift import quartiles

    row: dict[str, Cell] = {"judge": one.judge, "imported": one.elsewhere}
    if not one.sittings:
        return {**row, "decided": one.elsewhere, "reason": "no-times"}
    dwells = [document.dwell_ms / 1000 for document in one.documents if document.dwell_ms is not None]
    spent = [document.active_ms / 1000 for document in one.documents if document.active_ms is not None]
    spread = quartiles(dwells)
    return {
        **row,
        "sittings": one.sittings,
        "active_s": None if one.active_ms is None else one.active_ms / 1000,
        "decided": len(one.documents) + one.elsewhere,
        "pace_s": sum(spent) / len(spent) if spent else None,
        "dwell_lower_s": spread.lower,
        "dwell_median_s": spread.median,
        "dwell_upper_s": spread.upper,
        "low_dwell": sum(dwell < below for dwell in dwells) if dwells else None,
        "dropped_keys": one.dropped_keys,
        "undone": one.undone,
        "reason": None if dwells and spent else "no-times",
    }


def _quick(efforts: Sequence[Effort], below: float, fmt: Format) -> list[dict[str, Cell]]:
    """List the documents decided at a low dwell, in the order of the decisions."""
    return [
        {
            "judge": one.judge,
            "topic": document.topic,
            "docno": document.docno,
            "state": document.state.value,
            "grade": document.grade,
            "dwell_s": document.dwell_ms / 1000,
            "active_s": None if document.active_ms is None else document.active_ms / 1000,
            "judged_at": moment(document.judged_at, fmt),
        }
        for one in efforts
        for document in one.documents
        if document.dwell_ms is not None and document.dwell_ms < below * 1000
    ]


def _drift(one: Effort, level: int, *, by_topic: bool) -> list[dict[str, Cell]]:
    """Compare the quarters of a judge's topics; one row a measure, then one a topic and measure."""
    from store.analysis.agreement.drift import drift

    graded = [document for document in one.documents if document.grade is not None]
    timed = [document for document in graded if document.active_ms is not None]
    topics = {topic: number for number, topic in enumerate(_topics(graded))}
    rows: list[dict[str, Cell]] = []
    for topic in (None, *(topics if by_topic else ())):
        for measure, documents in (("relevant", graded), ("grade", graded), ("seconds", timed)):
            wanted = [each for each in documents if topic in (None, each.topic)]
            found = drift(
                [_measured(measure, each, level) for each in wanted],
                [topics[each.topic] for each in wanted],
                summary="median" if measure == "seconds" else "mean",
            )
            cells = {f"quarter_{number}": cell for number, cell in enumerate(found.quarters, 1)}
            row: dict[str, Cell] = {"judge": one.judge, "topic": topic, "measure": measure}
            row |= {"n": found.trend.n, **cells, "tau": found.trend.tau, "p": found.trend.p}
            no_times = not (timed if measure == "seconds" else one.documents)
            rows.append({**row, "reason": "no-times" if no_times else found.trend.reason})
    return rows


def _topics(documents: Sequence[DecidedDocument]) -> list[str]:
    """Return the topics in natural order, each once."""
    from store.text import natural_key

    return sorted({document.topic for document in documents}, key=natural_key)


def _measured(measure: str, document: DecidedDocument, level: int) -> float:
    """Return what a measure has of a graded document."""
    if measure == "seconds":
        return (document.active_ms or 0) / 1000
    grade = document.grade or 0
    return float(grade >= level) if measure == "relevant" else float(grade)


def _costs_for_people(costs: Table, below: float) -> None:
    """Make the table narrow enough for a terminal."""
    costs.columns = [
        Column("judge"),
        Column("sittings"),
        Column("minutes"),
        Column("decided"),
        Column("dwell", "dwell quartiles"),
        Column("low_dwell", f"<{below:g} s"),
        Column("dropped_keys", "dropped"),
        Column("undone"),
    ]
    costs.rows = [
        {**row, "minutes": _minutes(row.get("active_s")), "dwell": _quartiles(row)} for row in costs.rows
    ]
    lines = [
        "minutes: active, without pauses; dwell: seconds on the screen until decided",
        "dropped: grade keys too soon after the document appeared; undone: taken back",
    ]
    if timeless := [str(row["judge"]) for row in costs.rows if row.get("reason")]:
        lines.append(f"imported, so without times: {', '.join(timeless)}")
    costs.caption = "\n".join(lines) if costs.rows else "nobody has judged anything"


def _quartiles(row: Mapping[str, Cell]) -> str | None:
    """Write the quartiles of the dwell in one cell."""
    cells = [row.get(name) for name in ("dwell_lower_s", "dwell_median_s", "dwell_upper_s")]
    return None if cells[0] is None else "".join(f"{cell:5.1f}" for cell in cells)


def _minutes(active_s: Cell) -> int | None:
    """Round a time to minutes."""
    return round(active_s / 60) if isinstance(active_s, int | float) else None


def _drift_for_people(drift: Table, efforts: Sequence[Effort], *, by_topic: bool) -> None:
    """Leave out empty columns and judges nobody can say anything of; warn of the order."""
    drift.rows = [row for row in drift.rows if row["reason"] not in ("no-times", "fewer-than-4")]
    compared = {row["judge"] for row in drift.rows}
    used = {name for row in drift.rows for name, cell in row.items() if cell is not None}
    dropped = {"reason", "p", "tau"} - used | ({"topic"} - used)
    drift.columns = [column for column in drift.columns if column.name not in dropped]
    if by_topic:
        drift.rows = [{**row, "topic": row["topic"] or "all"} for row in drift.rows]
    lines = ["quarters of every topic; seconds: median active",
             "tau: above 0 rising, below 0 falling, inside topics"]  # fmt: skip
    if not drift.rows:
        lines = ["nobody has graded four documents of a topic at a desk"]
    elif too_few := [one.judge for one in efforts if one.judge not in compared]:
        lines.append(f"not four documents of a topic graded at a desk: {', '.join(too_few)}")
    biased = [
        one.judge for one in efforts if one.judge in compared and set(one.display_orders) & set(_BEST_FIRST)
    ]
    if biased:
        lines.append("likely relevant documents came first, so that grades fall without any drift:"
                     f"\n{', '.join(biased)}")  # fmt: skip
    drift.caption = "\n".join(lines)
