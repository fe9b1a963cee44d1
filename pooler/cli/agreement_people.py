"""The tables of `pooler agreement` for people: what matters, and what each number means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pooler.cli.agreement_settings import ALL_LABELS
from pooler.cli.console import Cell, Column, Table, counted

if TYPE_CHECKING:
    from pooler.cli.agreement_settings import Asked
    from store.analysis.populations import PopulationVotes

Row = Mapping[str, Cell]

MOST_PAIRS = 66
"""Pairs that people are shown: those of 12 judges."""
SHOWN_ENDS = 10
"""Of more pairs, the lowest and the highest."""
MOST_JUDGES = 20
"""Judges that are listed one by one."""
FEW_DOCUMENTS = 30
"""With fewer common documents the coefficients of a pair say little."""
SKEWED = 0.8
"""Share of one grade above which kappa falls for its sake, and AC1 stands beside it."""

MEASURES = {
    "alpha_ordinal": "alpha, ordinal",
    "alpha_nominal": "alpha, nominal",
    "alpha_interval": "alpha, interval",
    "fleiss": "Fleiss' kappa",
    "ac1": "AC1",
    "raw": "same grade",
    "macro_overlap": "overlap of all",
}
POPULATIONS = {
    "common": "documents that two judges or more graded",
    "listed": "documents that at least one of the judges graded",
    "pooled": "documents of the pools",
    "collection": "every document of the collection for every topic",
}
KINDS = {
    "topic": "other topics\n(topic bootstrap, {resamples} resamples, seed {seed})",
    "item": "other documents, if they were independent\n(item bootstrap, {resamples} resamples,"
    " seed {seed})",
    "asymptotic": "other documents, if they were independent\n(from the standard error)",
}
CODES = {
    "no-common-docs": "no document was graded by both, or by all",
    "one-doc": "one document says nothing about chance",
    "single-grade": "one and the same grade was used throughout",
    "no-relevant": "nobody found a relevant document",
    "one-topic": "one topic says nothing about other topics; --interval item takes documents",
    "no-variation": "the same number in every resample",
    "mostly-undefined": "most resamples have no number",
    "no-standard-error": "there is no standard error to make an interval of",
}
_KAPPA = (
    "N: documents both graded. same: share with the same grade.",
    "kappa: agreement beyond chance, 1 = always, 0 = as by chance.",
)
AUTHORS = {"landis-koch": "Landis-Koch", "ir-book": "IR book", "krippendorff": "Krippendorff"}


def judges_for_people(table: Table, population: PopulationVotes, asked: Asked) -> Table:
    """Show what each judge did, and say over which documents agreement is measured."""
    headings = {"outside": "left out", "unlisted": "taken"}
    empty = [
        name
        for name in ("outside", "skipped", "cannot", "unlisted")
        if not any(row[name] for row in table.rows)
    ]
    columns = [
        Column(column.name, headings.get(column.name, column.heading))
        for column in table.columns
        if column.name not in empty
    ]
    rows = table.rows if len(table.rows) <= MOST_JUDGES else []
    made = Table("judges", columns, rows, title=f"{counted(len(table.rows), 'judge')}")
    over = POPULATIONS[population.population]
    size = f"{population.n_documents:,} of {counted(population.n_topics, 'topic')}"
    lines = [f"Measured over {over}: {size}."]
    if population.default is not None and population.filled.any():
        grade = asked.scale.values[population.default]
        lines.append(f"taken: unjudged documents taken as grade {grade}, as --unlisted-as says.")
    left_out = [name for name in ("skipped", "cannot") if name not in empty]
    if left_out:
        lines.append(f"{' and '.join(left_out)}: looked at, no grade given, so not measured.")
    if "outside" not in empty:
        lines.append("left out: graded, but not among these documents.")
    if rows:
        shown = "taken ones too" if "unlisted" not in empty else "of those measured"
        lines.append(f"{', '.join(map(str, asked.scale.values))}: how often each grade was given,"
                     f" {shown}.")  # fmt: skip
    made.caption = "\n".join(lines)
    return made


def all_for_people(rows: Sequence[Row], n_judges: int, asked: Asked, *, skewed: bool) -> Table:
    """Show the agreement of all judges together."""
    columns = [Column("on", "agreement on"), Column("measure"), Column("value", digits=3)]
    columns += [Column("interval", "95 % interval")] if asked.kind != "none" else []
    columns += _band_column(asked)
    table = Table("all_judges", columns, title=f"All {n_judges} judges together")
    for row in rows:
        if row["topic"] != "all":
            continue
        level, name = row["level"], str(row["coefficient"])
        binary = level is not None or len(asked.scale.values) == 2
        if len(asked.scale.values) == 2 and level is None:
            continue
        wanted = ["alpha_nominal", "fleiss", "macro_overlap"] if binary else list(MEASURES)[:4]
        if name not in [*wanted, *(["ac1"] if skewed else [])]:
            continue
        measure = "alpha" if binary and name == "alpha_nominal" else MEASURES[name]
        on = "grades" if level is None else f"relevant: {level}+"
        table.rows.append(
            {**row, "on": on, "measure": measure, "interval": _interval(row, "low", "high")}
        )
    if any(row["reason"] for row in table.rows):
        table.columns = [*table.columns, Column("reason")]
    lines = ["alpha, Fleiss' kappa: 1 = all agree, 0 = as by chance."]
    if len(asked.scale.values) > 2:
        lines[0] += " Ordinal alpha takes near misses as less."
    if asked.levels:
        lines.append("overlap of all: documents relevant to everybody among those relevant to"
                     " anybody, mean of topics.")  # fmt: skip
    lines += _more_lines(asked, skewed=skewed)
    table.caption = "\n".join(lines)
    return table


def topics_for_people(rows: Sequence[Row], asked: Asked) -> Table:
    """Show the agreement of all judges topic by topic, one row a topic."""
    wanted: list[tuple[int | None, str, str]] = []
    if len(asked.scale.values) > 2:
        wanted.append((None, "alpha_ordinal", "alpha, ordinal"))
    for level in asked.levels:
        wanted += [(level, "alpha_nominal", f"alpha {level}+"),
                   (level, "macro_overlap", f"overlap {level}+")]  # fmt: skip
    name_of = {(level, name): f"{name}_{level}" for level, name, _ in wanted}
    columns = [Column("topic"), Column("n", "N")]
    columns += [Column(name_of[level, name], heading, 3) for level, name, heading in wanted]
    table = Table("all_judges", columns, title="All judges together, topic by topic")
    by_topic: dict[Cell, dict[str, Cell]] = {}
    for row in rows:
        name = name_of.get((_level(row), str(row["coefficient"])))
        if row["topic"] == "all" or name is None:
            continue
        made = by_topic.setdefault(row["topic"], {"topic": row["topic"], "n": row["n"]})
        made[name] = row["value"]
    table.rows = list(by_topic.values())
    table.caption = "N: documents of the topic with two grades or more."
    return table


def pairs_for_people(
    rows: Sequence[Row], asked: Asked, *, intervals: bool, binary: bool
) -> list[Table]:
    """Show pairs: agreement on grades, then, if it is wanted, on relevant or not."""
    graded = [row for row in rows if row["level"] is None]
    levels = [row for row in rows if row["level"] is not None]
    keys = [Column("first"), Column("second"), *([Column("topic")] if asked.by_topic else [])]
    has_intervals = intervals and not asked.by_topic
    tables = []
    if graded and len(asked.scale.values) > 2:
        shown = [
            {**row, "kappa_interval": _interval(row, "kappa_low", "kappa_high"),
             "quadratic_interval": _interval(row, "quadratic_low", "quadratic_high")}
            for row in graded
        ]  # fmt: skip
        names = [*keys, Column("n", "N"), Column("raw", "same", 3), Column("kappa", digits=3)]
        names += [Column("kappa_interval", "95 % interval")] * has_intervals
        names += [Column("quadratic", digits=3)]
        names += [Column("quadratic_interval", "95 % interval")] * has_intervals
        table = Table("pairs", names, list(shown), title="Pairs of judges: agreement on grades")
        lines = [*_KAPPA, "quadratic: kappa that takes near misses as less."]
        tables.append(_finish(table, lines, asked))
    if levels and (binary or not tables):
        shown = [
            {**row, "on": f"{row['level']}+",
             "kappa_interval": _interval(row, "kappa_low", "kappa_high"),
             "mean_overlap": row["overlap"] if asked.by_topic and row["topic"] != "all"
             else row["macro_overlap"],
             "overlap_interval": _interval(row, "macro_overlap_low", "macro_overlap_high")}
            for row in levels
        ]  # fmt: skip
        names = [*keys, Column("on", "relevant"), Column("n", "N"), Column("raw", "same", 3)]
        names += [Column("kappa", digits=3)]
        names += [Column("kappa_interval", "95 % interval")] * has_intervals
        names += [Column("mean_overlap", "overlap", 3)]
        if has_intervals and asked.kind == "topic":
            names.append(Column("overlap_interval", "95 % interval"))
        by_level = sorted(shown, key=lambda row: _place(row["level"])) if not asked.by_topic \
            else shown  # fmt: skip
        table = Table("pairs", names, list(by_level),
                      title="Pairs of judges: agreement on relevant or not")  # fmt: skip
        lines = [] if tables else list(_KAPPA)
        lines += ["relevant: grades that count as relevant. overlap: documents relevant to both"
                  " among those relevant", "to either, mean of topics."]  # fmt: skip
        tables.append(_finish(table, lines, asked))
    return tables


def ends_of(rows: Sequence[Row]) -> tuple[list[Row], str]:
    """Choose what people are shown of too many pairs, and say what the rest is like.

    Rows on all judges stay first; then come the pairs with the lowest and the highest kappas
    among those that share `FEW_DOCUMENTS`, or, where none does, among all.
    """
    levels = {row["level"] for row in rows}
    level = None if None in levels else min(levels, key=_place)
    whole = [
        row for row in rows if row["level"] == level and row.get("topic", "all") == "all"
        and is_judge(row["first"])
    ]  # fmt: skip
    measured = [row for row in whole if row["kappa"] is not None]
    enough = [row for row in measured if _number(row["n"]) >= FEW_DOCUMENTS]
    ranked = sorted(enough or measured, key=lambda row: _number(row["kappa"]))
    low, high = ranked[:SHOWN_ENDS], ranked[SHOWN_ENDS:][-SHOWN_ENDS:]
    middle = [_number(row["kappa"]) for row in ranked[len(low) : len(ranked) - len(high)]]
    place_of = {(row["first"], row["second"]): place for place, row in enumerate([*low, *high])}
    kept = [row for row in rows if not is_judge(row["first"])]
    chosen = [row for row in rows if (row["first"], row["second"]) in place_of]
    kept += sorted(chosen, key=lambda row: place_of[row["first"], row["second"]])
    words = (
        f"Of {counted(len(whole), 'pair')}: the {len(low)} lowest and {len(high)} highest kappas"
    )
    words += f" of those with {FEW_DOCUMENTS} documents or more." if enough else "."
    if middle:
        words += f"\nBetween them {counted(len(middle), 'pair')}, {middle[0]:.3f} to"
        words += f" {middle[-1]:.3f}, half of them below {middle[len(middle) // 2]:.3f}."
    if enough and len(measured) > len(enough):
        words += f" Fewer documents: {counted(len(measured) - len(enough), 'pair')}."
    if len(whole) > len(measured):
        words += f" No kappa: {counted(len(whole) - len(measured), 'pair')}."
    return kept, f"{words}\n--all-pairs shows every pair, --level N agreement on relevant or not."


def is_skewed(rows: Sequence[Row]) -> bool:
    """Tell whether one grade holds more than `SKEWED` of what some pair gave."""
    for row in rows:
        if row.get("topic", "all") != "all" or _number(row["n"]) < FEW_DOCUMENTS:
            continue
        sides = [str(row[name]).split("/") for name in ("first_marginals", "second_marginals")]
        given = [int(one) + int(other) for one, other in zip(*sides, strict=True)]
        if max(given) > SKEWED * sum(given):
            return True
    return False


def is_judge(name: Cell) -> bool:
    """Tell a judge from all labels or an aggregate, which stand in brackets."""
    return not str(name).startswith("(")


def _finish(table: Table, lines: Sequence[str], asked: Asked) -> Table:
    """Add the columns that only some tables need, and the caption."""
    skewed = is_skewed(table.rows)
    if skewed:
        table.columns = [*table.columns, Column("ac1", "AC1", 3)]
    table.columns = [*table.columns, *_band_column(asked)]
    if any(row["reason"] for row in table.rows):
        table.columns = [*table.columns, Column("reason")]
    if any(row["first"] == ALL_LABELS for row in table.rows):
        lines = [*lines, f"{ALL_LABELS}: every label of the others, each compared by itself."]
    table.caption = "\n".join([*lines, *_more_lines(asked, skewed=skewed)])
    return table


def _more_lines(asked: Asked, *, skewed: bool) -> list[str]:
    """Explain what not every table has."""
    lines = []
    if skewed:
        lines.append(f"AC1: shown as one grade holds more than {SKEWED:.0%} of some judges' grades;"
                     " kappa can be low for that alone.")  # fmt: skip
    if asked.bands is not None:
        lines.append(f"{AUTHORS[asked.bands]}: words of these authors for kappa or alpha; others"
                     " use others.")  # fmt: skip
    return lines


def interval_line(asked: Asked, *, intervals: bool) -> str:
    """Say once what the intervals are."""
    if asked.kind == "none":
        return ""
    kind = KINDS[asked.kind].format(resamples=f"{asked.resamples:,}", seed=asked.seed)
    line = f"95 % interval: where the number may lie with {kind}."
    return line if intervals else f"{line}\nNone for pairs: --interval topic computes them."


def code_lines(tables: Sequence[Table]) -> list[str]:
    """Explain the codes that stand where a number or an interval does not exist."""
    seen: dict[str, None] = {}
    for table in tables:
        for row in table.rows:
            for cell in (row.get("reason"), row.get("interval_reason")):
                seen |= dict.fromkeys(str(cell).split(", ") if cell else ())
    return [f"{code}: {CODES[code]}." for code in CODES if code in seen]


def _band_column(asked: Asked) -> list[Column]:
    """Name the column of words after their author."""
    return [] if asked.bands is None else [Column("band", AUTHORS[asked.bands])]


def _interval(row: Row, low: str, high: str) -> str | None:
    """Write an interval, or why there is none."""
    ends = row.get(low), row.get(high)
    if isinstance(ends[0], float) and isinstance(ends[1], float):
        return f"{ends[0]:.2f} to {ends[1]:.2f}"
    if row.get(low.removesuffix("_low") if low != "low" else "value") is None:
        return None
    reason = row.get("interval_reason")
    return None if reason is None else str(reason)


def _level(row: Row) -> int | None:
    """Return the level of a row; ``None`` = graded."""
    level = row["level"]
    return level if isinstance(level, int) else None


def _place(level: Cell) -> int:
    """Order levels; graded first."""
    return level if isinstance(level, int) else -(1 << 30)


def _number(cell: Cell) -> float:
    """Return a cell that holds a number."""
    return float(cell) if isinstance(cell, int | float) else 0.0
