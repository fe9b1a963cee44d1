"""The words of `pooler agreement` for people: what numbers, codes and intervals mean."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pooler.cli.console import Cell, Column, Table, counted

if TYPE_CHECKING:
    from pooler.cli.agreement_settings import Asked
    from store.analysis.populations import PopulationVotes

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
    "item": "other documents, if they were independent (item bootstrap, {resamples} resamples,"
    " seed {seed})",
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
    "kappa: agreement beyond chance, 1 = always, 0 = as by chance, below 0 = less often than by"
    " chance.",
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
