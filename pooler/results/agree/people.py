"""What people see of agreement: pairs, judges, definitions."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pooler.results.agree.settings import ALL_LABELS
from pooler.results.judge_kinds import kinds_words
from pooler.results.printed import Cell, Column, Table
from store.text import counted

if TYPE_CHECKING:
    from pooler.results.agree.settings import Asked
    from store.analysis.agreement.populations import PopulationVotes

Row = Mapping[str, Cell]

LINE = 80
"""Characters of a line of words."""
SKEWED = 0.8
"""Share of one grade above which kappa falls for its sake, and AC1 stands beside it."""

POPULATIONS = {
    "common": "those that two judges or more graded",
    "listed": "those that at least one of the judges graded",
    "pooled": "those of the pools",
    "collection": "every document of the collection for every topic",
}
KINDS = {
    "topic": "other topics (topic bootstrap, {resamples} resamples, seed {seed})",
    "item": "other documents, if they were independent (item bootstrap, {resamples} resamples, seed {seed})",
    "asymptotic": "other documents, if they were independent (from the standard error)",
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
    "topics-only": "a mean of topics has an interval with --interval topic only",
}
KAPPA = (
    "N: documents both graded. same: share with the same grade.",
    "kappa: agreement beyond chance, 1 = always, 0 = as by chance, below 0 = less often than by chance.",
)
AUTHORS = {"landis-koch": "Landis-Koch", "ir-book": "IR book", "krippendorff": "Krippendorff"}


def legend(lines: Iterable[str]) -> str:
    """Fold lines of words at blanks so that none is longer than `LINE`; leave out empty ones.

    Examples
    --------
    >>> print(legend(["a few words", "", "b" * 70 + " and no more words"]))
    a few words
    bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb and no
    more words
    """
    folded = [
        textwrap.fill(line, LINE, break_long_words=False, break_on_hyphens=False)
        for text in lines
        for line in text.split("\n")
    ]
    return "\n".join(line for line in folded if line)


def population_line(population: PopulationVotes) -> str:
    """Say over how many documents agreement is measured, and which."""
    size = f"{counted(population.n_documents, 'document')} of"
    size += f" {counted(population.n_topics, 'topic')}"
    return f"Measured over {size}: {POPULATIONS[population.population]}."


def skew_line(*, binary: bool) -> str:
    """Say why AC1 stands there."""
    what = "relevant or not relevant" if binary else "one grade"
    return (
        f"AC1: beside kappa where {what} holds more than {100 * SKEWED:.0f} % of what some pair"
        " gave; kappa can be low for that alone."
    )


def bands_line(asked: Asked) -> str:
    """Say whose words for a kappa are shown; empty when none are."""
    if asked.bands is None:
        return ""
    return f"{AUTHORS[asked.bands]}: words of these authors for kappa or alpha; others use others."


def band_column(asked: Asked) -> list[Column]:
    """Name the column of words after their author."""
    return [] if asked.bands is None else [Column("band", AUTHORS[asked.bands])]


def interval_line(asked: Asked) -> str:
    """Say what the intervals are."""
    kind = KINDS[asked.kind].format(resamples=f"{asked.resamples:,}", seed=asked.seed)
    return f"95 %: the interval in which the number may lie with {kind}."


def interval_cell(row: Row, low: str, high: str) -> str | None:
    """Write an interval, or why there is none: or no number to begin with."""
    ends = row.get(low), row.get(high)
    if isinstance(ends[0], float) and isinstance(ends[1], float):
        return f"{ends[0]:.2f} to {ends[1]:.2f}"
    reason = row.get("reason") or row.get("interval_reason")
    return None if reason is None else str(reason)


def shows_intervals(table: Table) -> bool:
    """Tell whether some row of a table shows an interval, not only a reason for none."""
    is_shown = any(column.name == "interval" for column in table.columns)
    return is_shown and any(" to " in str(row.get("interval")) for row in table.rows)


def code_lines(tables: Sequence[Table]) -> list[str]:
    """Explain the codes that stand where a number or an interval does not exist."""
    seen: dict[str, None] = {}
    for table in tables:
        # A row has reasons of intervals that people are not shown, too.
        names = [column.name for column in table.columns]
        shown = [name for name in names if name == "reason" or name.endswith("interval")]
        for row in table.rows:
            for cell in map(row.get, shown):
                seen |= dict.fromkeys(str(cell).split(", ") if cell else ())
    return [f"{code}: {CODES[code]}." for code in CODES if code in seen]


MOST_PAIRS = 66
"""Pairs that people are shown: those of 12 judges."""
SHOWN_ENDS = 10
"""Of more pairs, the lowest and the highest."""
MOST_APART = 10
"""Of more pairs, those without a common document are counted only."""
MOST_JUDGES = 20
"""Judges that are listed one by one."""
FEW_DOCUMENTS = 30
"""With fewer common documents the coefficients of a pair say little."""


def judges_for_people(
    table: Table, population: PopulationVotes, asked: Asked, kinds: Mapping[str, int]
) -> Table:
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
    title = counted(len(table.rows), "judge") + (f" ({kinds_words(kinds)})" if kinds else "")
    made = Table("judges", columns, rows, title=title)
    lines = [population_line(population)]
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
    made.caption = legend(lines)
    return made


def pairs_for_people(
    rows: Sequence[Row], asked: Asked, *, intervals: bool, binary: bool, reference: str | None
) -> list[Table]:
    """Show pairs: agreement on grades, then, if it is wanted, on relevant or not.

    Parameters
    ----------
    rows : sequence of Row
        Of pairs, as for programs.
    asked : Asked
        What was to be computed.
    intervals : bool
        Whether pairs have intervals; topic by topic they are not shown.
    binary : bool
        Whether agreement on relevant or not is wanted beside that on grades.
    reference : str or None
        The second judge of every pair, who is named in the title then.
    """
    graded = [row for row in rows if row["level"] is None]
    levels = [row for row in rows if row["level"] is not None]
    has_intervals = intervals and not asked.by_topic
    title = "Pairs of judges: agreement on" if reference is None \
        else f"Each judge with {reference}: agreement on"  # fmt: skip
    tables = []
    if graded and len(asked.scale.values) > 2:
        skewed = bool(skewed_levels(graded))
        # Beside AC1 or words there is no room for the second interval.
        second = has_intervals and not skewed and asked.bands is None
        columns = [*_first_columns(graded, asked, reference), Column("kappa", digits=3)]
        columns += [Column("interval", "95 %")] * has_intervals
        columns += [Column("quadratic", digits=3)]
        columns += [Column("quadratic_interval", "95 %")] * second
        table = Table("pairs", columns, list(graded), title=f"{title} grades")
        lines = [*KAPPA, "quadratic: kappa in which a near miss counts less than a far one."]
        if has_intervals and not second:
            lines.append("The interval of quadratic is in json and tsv.")
        tables.append(_finish(table, lines, asked, skewed=skewed, binary=False))
    if levels and (binary or not tables):
        by_level = levels if asked.by_topic else sorted(levels, key=lambda row: _place(row["level"]))
        skewed = bool(skewed_levels(levels))
        columns = _first_columns(levels, asked, reference)
        columns.insert(1 if reference is not None else 2, Column("at"))
        columns.append(Column("kappa", digits=3))
        columns += [Column("interval", "95 %")] * has_intervals
        columns.append(Column("mean_overlap", "overlap", 3))
        table = Table("pairs", columns, list(by_level), title=f"{title} relevant or not")
        lines = [] if tables else list(KAPPA)
        lines.append("at 1+: grades of 1 or more count as relevant. overlap: documents relevant to"
                     " both among those relevant to either, mean of topics.")  # fmt: skip
        if has_intervals and asked.kind == "topic":
            lines[-1] += " Its interval is in json and tsv."
        tables.append(_finish(table, lines, asked, skewed=skewed, binary=True))
    return tables


def _first_columns(rows: Sequence[Row], asked: Asked, reference: str | None) -> list[Column]:
    """Name the columns that say which pair it is, and how often they agree."""
    columns = [Column("first"), Column("second")] if reference is None \
        else [Column("first", "judge")]  # fmt: skip
    columns += [Column("topic")] * asked.by_topic
    n = Column("n", "N")
    if any(map(_has_few, rows)):
        width = max(len(_n_cell(row)) for row in rows)
        n = Column("n_marked", f"{'N':>{width - 1}}")
    return [*columns, n, Column("raw", "same", 3)]


def _finish(table: Table, lines: Sequence[str], asked: Asked, *, skewed: bool, binary: bool) -> Table:
    """Add the cells and columns that only people need, and the caption."""
    width = max(len(_n_cell(row)) for row in table.rows)
    table.rows = [
        {**row, "at": f"{row['level']}+", "n_marked": _n_cell(row).rjust(width),
         "interval": interval_cell(row, "kappa_low", "kappa_high"),
         "quadratic_interval": None if row["reason"]
         else interval_cell(row, "quadratic_low", "quadratic_high"),
         "mean_overlap": row.get("overlap") if row["topic"] != "all"
         else row.get("macro_overlap")}
        for row in table.rows
    ]  # fmt: skip
    columns = [*table.columns, *[Column("ac1", "AC1", 3)] * skewed, *band_column(asked)]
    if all(column.name != "interval" for column in columns):
        columns += [Column("reason")] * any(row["reason"] for row in table.rows)
    table.columns = columns
    lines = list(lines)
    if any(map(_has_few, table.rows)):
        lines.append(f"*: fewer than {FEW_DOCUMENTS} documents, so the row says little.")
    if any(row["first"] == ALL_LABELS for row in table.rows):
        lines.append(f"{ALL_LABELS}: every label of the others, each compared by itself; its N"
                     " counts labels, not documents.")  # fmt: skip
    lines += [skew_line(binary=binary)] if skewed else []
    table.caption = legend([*lines, bands_line(asked)])
    return table


def sharing(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """Leave out the pairs that share no document, and count them."""
    apart = {
        (row["first"], row["second"])
        for row in rows
        if row["n"] == 0 and is_judge(row["first"]) and row.get("topic", "all") == "all"
    }
    return [row for row in rows if (row["first"], row["second"]) not in apart], len(apart)


def apart_line(number: int) -> str:
    """Say how many pairs are left out; empty when none is.

    Examples
    --------
    >>> apart_line(27), apart_line(1), apart_line(0)
    ('27 pairs share no document.', '1 pair shares no document.', '')
    """
    if number == 0:
        return ""
    return f"{counted(number, 'pair')} {'shares' if number == 1 else 'share'} no document."


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
    words = f"Of {counted(len(whole), 'pair')}: the {len(low)} lowest and {len(high)} highest kappas"
    words += f" of those with {FEW_DOCUMENTS} documents or more." if enough else "."
    if middle:
        words += f"\nBetween them {counted(len(middle), 'pair')}, {middle[0]:.3f} to"
        words += f" {middle[-1]:.3f}, half of them below {middle[len(middle) // 2]:.3f}."
    if enough and len(measured) > len(enough):
        words += f" Fewer documents: {counted(len(measured) - len(enough), 'pair')}."
    if len(whole) > len(measured):
        words += f" No kappa: {counted(len(whole) - len(measured), 'pair')}."
    return kept, f"{words}\n--all-pairs shows every pair, --level N agreement on relevant or not."


def skewed_levels(rows: Sequence[Row]) -> set[Cell]:
    """Return the levels, ``None`` = graded, at which one grade holds most of what a pair gave.

    More than `SKEWED`, by pairs that share `FEW_DOCUMENTS` or more.
    """
    found = set()
    for row in rows:
        if row.get("topic", "all") != "all" or _number(row["n"]) < FEW_DOCUMENTS:
            continue
        sides = [str(row[name]).split("/") for name in ("first_marginals", "second_marginals")]
        given = [int(one) + int(other) for one, other in zip(*sides, strict=True)]
        if max(given) > SKEWED * sum(given):
            found.add(row["level"])
    return found


def is_judge(name: Cell) -> bool:
    """Tell a judge from all labels or an aggregate, which stand in brackets."""
    return not str(name).startswith("(")


def _has_few(row: Row) -> bool:
    """Tell whether a pair shares few documents; of single topics that is no news."""
    return row["topic"] == "all" and _number(row["n"]) < FEW_DOCUMENTS


def _n_cell(row: Row) -> str:
    """Write the number of documents, with an asterisk or its room."""
    return f"{_number(row['n']):,.0f}{'*' if _has_few(row) else ' '}"


def _place(level: Cell) -> int:
    """Order levels; graded first."""
    return level if isinstance(level, int) else -(1 << 30)


def _number(cell: Cell) -> float:
    """Return a cell that holds a number."""
    return float(cell) if isinstance(cell, int | float) else 0.0
