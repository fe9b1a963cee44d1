"""`pooler agreement --plan`: how many documents judges must share for an interval of a width."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from pooler.results.agree.people import CODES, MOST_APART, apart_line, legend, sharing
from pooler.results.printed import Cell, Column, Table
from store.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pooler.results.agree.settings import Asked
    from store.analysis.agreement.populations import PopulationVotes
    from store.analysis.agreement.sharing import OverlapPlan

_COLUMNS = (
    Column("first"),
    Column("second"),
    Column("level"),
    Column("coefficient"),
    Column("n", "N"),
    Column("topics"),
    Column("kappa", digits=3),
    Column("width", digits=2),
    Column("wanted", digits=2),
    Column("documents_per_topic", "per topic"),
    Column("documents"),
    Column("or_topics", "or topics"),
    Column("reason"),
)

REASONS = {
    "no-common-docs": "the judges share no document yet",
    "one-doc": CODES["one-doc"],
    "single-grade": CODES["single-grade"],
    "no-variation": "every document weighs the same, as where judges always agree",
    "one-topic": "one topic says nothing about how topics differ",
    "one-doc-a-topic": "no topic has two documents, so topics and documents cannot be told apart",
    "too-few-topics": "topics differ so much that more documents do not help",
}


def plan_table(
    population: PopulationVotes, pairs: Sequence[tuple[str, str]], width: float, asked: Asked
) -> Table:
    """Plan for every pair: kappa and quadratic kappa of grades, kappa at each level."""
    from store.analysis.agreement.sharing import plan_overlap
    from store.analysis.agreement.tables import pair_tables
    from store.analysis.collapse import collapse_table

    table = Table("plan", list(_COLUMNS), title=f"Documents to share for an interval {width} wide")
    for first, second in pairs:
        tables = population.total(partial(pair_tables, first=first, second=second))
        named: dict[str, Cell] = {"first": first, "second": second, "wanted": width}
        if len(asked.scale.values) > 2:
            kappa = plan_overlap(tables, width)
            quadratic = plan_overlap(tables, width, weights="quadratic")
            table.rows += [
                {**named, "coefficient": "kappa", **_row(kappa)},
                {**named, "coefficient": "quadratic", **_row(quadratic)},
            ]
        for level, index in zip(asked.levels, asked.level_indices, strict=True):
            plan = plan_overlap(collapse_table(tables, index), width)
            row = {**named, "level": level, "coefficient": "kappa", **_row(plan)}
            table.rows.append(row)
    return table


def plan_for_people(table: Table, *, reference: str | None, n_pairs: int) -> Table:
    """Leave out what follows from the rest, and explain the plan.

    Parameters
    ----------
    table : Table
        Of `plan_table`.
    reference : str or None
        The second judge of every pair.
    n_pairs : int
        Of more than `MOST_APART` those that share nothing are counted only.
    """
    rows, n_apart = sharing(table.rows) if n_pairs > MOST_APART else (table.rows, 0)
    has_reasons = any(row["reason"] for row in rows)
    hidden = {"kappa", "documents", "topics", "wanted", "coefficient"}
    hidden |= set() if reference is None else {"second"}
    hidden |= set() if has_reasons else {"reason"}
    headings = {"level": "measure", "width": "width", "or_topics": "topics"}
    headings |= {} if reference is None else {"first": "judge"}
    columns = [
        Column(column.name, headings.get(column.name, column.heading), column.digits)
        for column in table.columns
        if column.name not in hidden
    ]
    shown = [{**row, "level": _measure(row)} for row in rows]
    title = table.title if reference is None else f"{table.title}, with {reference}"
    seen = {str(row["reason"]) for row in rows if row["reason"]}
    lines = [
        apart_line(n_apart),
        "N: documents shared so far. width: of the 95 % interval that they give by the plan's reckoning.",
        "per topic: documents that each of these topics would need. topics: how many topics, with"
        " as many documents each as now, would do instead.",
        *(f"{code}: {words}." for code, words in REASONS.items() if code in seen),
        "Judged by the first shared documents: with few of them the plan is rough.",
    ]
    return Table("plan", columns, list(shown), title=title, caption=legend(lines))


def assumed_table(assume: str, width: float) -> Table:
    """Plan before there are judgements, from an expected kappa and share of relevant documents.

    Raises
    ------
    ArgumentError
        If `assume` is not two numbers, or no judges can have them.
    """
    from store.analysis.agreement.sharing import assumed_plan

    try:
        kappa, share = (float(part) for part in assume.split(","))
    except ValueError:
        requirement = "must be a kappa and a share of relevant documents, as in 0.5,0.3"
        raise ArgumentError("--assume", requirement, assume) from None
    plan = assumed_plan(kappa, width, first_share=share)
    columns = [Column("kappa", digits=2), Column("share", "relevant", 2),
               Column("wanted", "width", 2), Column("documents"), Column("warning")]  # fmt: skip
    caption = "Least number, as if documents of a topic were not alike; plan again from the first"
    table = Table("assumed_plan", columns, caption=legend([f"{caption} judgements."]))
    table.rows.append({"kappa": kappa, "share": share, "wanted": width,
                       "documents": plan.documents, "warning": plan.warning})  # fmt: skip
    return table


def pairs_of(judges: Sequence[str], reference: str | None) -> list[tuple[str, str]]:
    """Return every two judges, or each with the reference."""
    if reference is None:
        return list(combinations(judges, 2))
    return [(judge, reference) for judge in judges if judge != reference]


def _measure(row: Mapping[str, Cell]) -> str:
    """Name what is planned for: a coefficient of grades, or kappa at a level."""
    return str(row["coefficient"]) if row.get("level") is None else f"kappa, {row['level']}+"


def _row(plan: OverlapPlan) -> dict[str, Cell]:
    """Turn a plan into cells."""
    return {
        "n": plan.n_documents,
        "topics": plan.n_topics,
        "kappa": plan.kappa,
        "width": plan.present_width,
        "documents_per_topic": plan.documents_per_topic,
        "documents": plan.documents,
        "or_topics": plan.topics,
        "reason": plan.reason,
    }
