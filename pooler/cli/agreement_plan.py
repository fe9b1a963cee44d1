"""`pooler agreement --plan`: how many documents judges must share for an interval of a width."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from pooler.cli.console import Cell, Column, Table
from store.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pooler.cli.agreement_settings import Asked
    from store.analysis.overlap_plan import OverlapPlan
    from store.analysis.populations import PopulationVotes

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


def plan_table(
    population: PopulationVotes, pairs: Sequence[tuple[str, str]], width: float, asked: Asked
) -> Table:
    """Plan for every pair: kappa and quadratic kappa of grades, kappa at each level."""
    from store.analysis.collapse import collapse_table
    from store.analysis.overlap_plan import plan_overlap
    from store.analysis.pair_tables import pair_tables

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


def plan_for_people(table: Table) -> Table:
    """Explain the plan."""
    shown = [{**row, "level": _measure(row)} for row in table.rows]
    hidden = ("coefficient", "topics", "wanted")
    columns = [
        Column("level", "measure") if column.name == "level" else column
        for column in table.columns
        if column.name not in hidden
    ]
    if not any(row["reason"] for row in table.rows):
        columns = [column for column in columns if column.name != "reason"]
    lines = [
        "N: documents shared so far. width: of the 95 % interval that they give by the plan's"
        " reckoning.",
        "per topic, documents: what these topics would need. or topics: how many topics with as"
        " many documents",
        "as now would do instead. too-few-topics: topics differ so much that more documents do not"
        " help.",
        "Judged by the first shared documents: with few of them the plan is rough.",
    ]
    return Table("plan", columns, list(shown), title=table.title, caption="\n".join(lines))


def assumed_table(assume: str, width: float) -> Table:
    """Plan before there are judgements, from an expected kappa and share of relevant documents.

    Raises
    ------
    ArgumentError
        If `assume` is not two numbers, or no judges can have them.
    """
    from store.analysis.overlap_plan import assumed_plan

    try:
        kappa, share = (float(part) for part in assume.split(","))
    except ValueError:
        requirement = "must be a kappa and a share of relevant documents, as in 0.5,0.3"
        raise ArgumentError("--assume", requirement, assume) from None
    plan = assumed_plan(kappa, width, first_share=share)
    columns = [Column("kappa", digits=2), Column("share", "relevant", 2),
               Column("wanted", "width", 2), Column("documents"), Column("warning")]  # fmt: skip
    caption = "Least number, as if documents of a topic were not alike; plan again from the first"
    table = Table("assumed_plan", columns, caption=f"{caption} judgements.")
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
