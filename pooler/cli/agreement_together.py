"""The tables of `pooler agreement` for people on all judges together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from pooler.cli.agreement_words import (
    Row,
    band_column,
    bands_line,
    interval_cell,
    legend,
    skew_line,
)
from pooler.cli.console import Cell, Column, Table

if TYPE_CHECKING:
    from pooler.cli.agreement_settings import Asked

MEASURES = {
    "alpha_ordinal": "alpha, ordinal",
    "alpha_nominal": "alpha, nominal",
    "alpha_interval": "alpha, interval",
    "fleiss": "Fleiss' kappa",
    "ac1": "AC1",
    "macro_overlap": "overlap of all",
}
GRADED = ("alpha_ordinal", "alpha_nominal", "alpha_interval", "fleiss")
BINARY = ("alpha_nominal", "fleiss", "macro_overlap")


def all_for_people(
    rows: Sequence[Row], n_judges: int, asked: Asked, *, skewed: Collection[Cell]
) -> Table:
    """Show the agreement of all judges together.

    Parameters
    ----------
    rows : sequence of Row
        Of all judges; those of single topics are passed over.
    n_judges : int
        How many they are.
    asked : Asked
        What was to be computed.
    skewed : collection of int or None
        Levels at which one grade prevails, ``None`` = graded: AC1 is shown there.
    """
    has_intervals = asked.kind != "none"
    columns = [Column("on"), Column("measure"), Column("value", digits=3)]
    columns += [Column("interval", "95 %")] * has_intervals
    columns += [Column("n", "N"), Column("topics"), *band_column(asked)]
    table = Table("all_judges", columns, title=f"All {n_judges} judges together")
    two_grades = len(asked.scale.values) == 2
    for row in rows:
        level, name = row["level"], str(row["coefficient"])
        if row["topic"] != "all" or (two_grades and level is None):
            continue
        wanted = (*(GRADED if level is None else BINARY), *(["ac1"] if level in skewed else []))
        if name not in wanted:
            continue
        binary = level is not None
        measure = "alpha" if binary and name == "alpha_nominal" else MEASURES[name]
        shown = {**row, "on": f"relevant {level}+" if binary else "grades", "measure": measure}
        if row["value"] is not None and row.get("low") is None and not row.get("interval_reason"):
            shown["interval_reason"] = _no_interval(name, asked)
        table.rows.append({**shown, "interval": interval_cell(shown, "low", "high")})
    if not has_intervals and any(row["reason"] for row in table.rows):
        table.columns = [*table.columns, Column("reason")]
    measures = {str(row["measure"]) for row in table.rows}
    lines = ["alpha, Fleiss' kappa: 1 = all agree, 0 = as by chance, below 0 = less than by chance;"
             " N: documents with two graders or more."]  # fmt: skip
    if "alpha, ordinal" in measures:
        lines.append("alpha, ordinal: a near miss counts less than a far one.")
    if "overlap of all" in measures:
        lines.append("overlap of all: documents relevant to everybody among those relevant to"
                     " anybody, mean of the topics that have one; N: documents that everybody"
                     " graded.")  # fmt: skip
    if "AC1" in measures:
        lines.append(skew_line(binary=None not in skewed or two_grades))
    table.caption = legend([*lines, bands_line(asked)])
    return table


def topics_for_people(rows: Sequence[Row], asked: Asked) -> Table:
    """Show the agreement of all judges topic by topic, one row a topic."""
    wanted: list[tuple[int | None, str, str]] = []
    if len(asked.scale.values) > 2:
        wanted.append((None, "alpha_ordinal", "alpha"))
    for level in asked.levels:
        wanted += [(level, "alpha_nominal", f"alpha {level}+"),
                   (level, "macro_overlap", f"overlap {level}+")]  # fmt: skip
    name_of = {(level, name): f"{name}_{level}" for level, name, _ in wanted}
    columns = [Column("topic"), Column("n", "N")]
    columns += [Column(name_of[level, name], heading, 3) for level, name, heading in wanted]
    by_topic: dict[Cell, dict[str, Cell]] = {}
    reasons: dict[Cell, dict[str, None]] = {}
    for row in rows:
        of_row = row["level"] if isinstance(row["level"], int) else None
        name = name_of.get((of_row, str(row["coefficient"])))
        if row["topic"] == "all" or name is None:
            continue
        made = by_topic.setdefault(row["topic"], {"topic": row["topic"], "n": row["n"]})
        made[name] = row["value"]
        codes = reasons.setdefault(row["topic"], {})
        if row["reason"]:
            codes[str(row["reason"])] = None
    for topic, made in by_topic.items():
        made["reason"] = ", ".join(reasons[topic]) or None
    columns += [Column("reason")] * any(reasons.values())
    table = Table("all_judges", columns, list(by_topic.values()),
                  title="All judges together, topic by topic")  # fmt: skip
    lines = ["N: documents of the topic with two graders or more."]
    if asked.levels:
        lines.append("overlap is over those that everybody graded.")
    lines += ["reason: of every dash in the row."] if any(reasons.values()) else []
    table.caption = legend([" ".join(lines)])
    return table


def _no_interval(name: str, asked: Asked) -> str | None:
    """Say why a number has no interval of the kind that was asked for."""
    if asked.kind == "none":
        return None
    return "topics-only" if name == "macro_overlap" else "no-standard-error"
