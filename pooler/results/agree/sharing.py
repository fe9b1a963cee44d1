"""`pooler agreement --plan`: how many documents judges must share for an interval of a width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pooler.results.agree.people import MOST_APART, apart_line, sharing
from pooler.results.agree.settings import AgreementOptions, fetch_chosen, measured_of, resolve_levels
from pooler.results.reasons import REASONS as CODES
from pooler.results.result import Result, collect_warnings, frozen_settings
from pooler.results.source import Source, source_of
from pooler.results.table import DOCUMENTS, REASON, Column, Table, View
from store.errors import ArgumentError

if TYPE_CHECKING:
    from store.analysis.agreement.sharing import OverlapPlan
    from store.analysis.agreement.votes import PopulationVotes
    from store.collection import Collection

REASONS = {
    "no-common-docs": "the judges share no document yet",
    "one-doc": CODES["one-doc"],
    "single-grade": CODES["single-grade"],
    "no-variation": "all documents weigh the same, as where judges always agree",
    "one-topic": "one topic says nothing about how topics differ",
    "one-doc-a-topic": "no topic has two documents, so topics and documents cannot be separated",
    "too-few-topics": "topics differ so much that more documents do not help",
}
_ASSUMED = (
    Column("kappa", "float", digits=2),
    Column("share", "float", "relevant", digits=2),
    Column("wanted", "float", "width", digits=2),
    DOCUMENTS,
    Column("warning"),
)
_PLAN = (
    Column("first"),
    Column("second"),
    Column("level", "int"),
    Column("coefficient"),
    Column("n", "int", "N", "documents shared so far"),
    Column("topics", "int"),
    Column("kappa", "float", digits=3),
    Column("width", "float", about="of the 95 % interval that they give according to the plan", digits=2),
    Column("wanted", "float", digits=2),
    Column("documents_per_topic", "int", "per topic", "documents that each of these topics would need"),
    DOCUMENTS,
    Column(
        "or_topics", "int", "topics", "how many topics, with as many documents each as now, would do instead"
    ),
    REASON,
)


def plan_sharing(
    source: Source | Collection | None,
    width: float,
    *,
    assume: tuple[float, float] | None = None,
    judges: Sequence[str] | None = None,
    kinds: Sequence[str] = (),
    levels: Sequence[int | str] = (),
    every_level: bool = True,
    against: str | None = None,
) -> SharingPlan:
    """Plan how many documents judges must share for an interval of kappa this wide.

    Parameters
    ----------
    source : Source, Collection or None
        What judges shared so far; ``None`` with `assume`.
    width : float
        Of the 95 % interval, above 0 and at most 2.
    assume : (float, float), optional
        Before anything is judged: the kappa and the share of relevant documents to expect.
    judges, kinds, levels, every_level, against
        As for `agreement`.

    Returns
    -------
    SharingPlan
        For every pair kappa and quadratic kappa of grades, and kappa at each level.

    Raises
    ------
    ArgumentError
        If the width is none, or no two judges can have what is assumed.

    Examples
    --------
    >>> plan_sharing(None, 0.2, assume=(0.5, 0.3)).table("assumed_plan").cells("documents")
    [343]
    """
    from store.analysis.agreement.sharing import LEAST_WIDTH, assumed_plan

    if not LEAST_WIDTH <= width <= 2:
        raise ArgumentError("plan", f"must be a width from {LEAST_WIDTH} to 2", width)
    if assume is not None:
        kappa, share = assume
        plan = assumed_plan(kappa, width, first_share=share)
        row = {"kappa": kappa, "share": share, "wanted": width, "documents": plan.documents}
        settings = frozen_settings(width=width, assume=[kappa, share])
        return SharingPlan(rows=(row | {"warning": plan.warning},), settings=settings)
    assert source is not None
    is_word = any(isinstance(one, str) for one in levels)
    with collect_warnings() as collected, source_of(source).judging(of_scale=is_word) as opinions:
        scale = opinions.scale
        chosen = resolve_levels(scale, levels, all_of_them=every_level)
        options = AgreementOptions(scale, chosen, has_levels=bool(levels), kind="none")
        found_judges = fetch_chosen(opinions, judges, against, kinds=kinds)
        votes = found_judges.votes
        erased = opinions.erased()
    pairs = pairs_of(votes.votes.judges, against)
    rows = tuple(_plan_rows(votes, pairs, width, options))
    settings = frozen_settings(
        width=width,
        against=against,
        judges=list(votes.votes.judges),
        levels=list(options.levels),
        scale=list(scale.values),
        **found_judges.voters.to_json(),
    )
    return SharingPlan(
        rows=rows,
        n_pairs=len(pairs),
        settings=settings,
        erased=erased,
        warnings=collected.warnings,
        measured=measured_of(votes, scale, options.levels, voters=found_judges.voters, against=against),
    )


def _plan_rows(
    population: PopulationVotes, pairs: Sequence[tuple[str, str]], width: float, options: AgreementOptions
) -> Iterator[dict[str, Any]]:
    from store.analysis.agreement.sharing import plan_overlap
    from store.analysis.agreement.tables import pair_tables
    from store.analysis.collapse import collapse_table

    for first, second in pairs:
        tables = pair_tables(population.votes, first=first, second=second)
        named: dict[str, Any] = {"first": first, "second": second, "wanted": width}
        if len(options.scale.values) > 2:
            yield {**named, "coefficient": "kappa", **_row(plan_overlap(tables, width))}
            quadratic = plan_overlap(tables, width, weights="quadratic")
            yield {**named, "coefficient": "quadratic", **_row(quadratic)}
        for level, index in zip(options.levels, options.level_indices, strict=True):
            plan = plan_overlap(collapse_table(tables, index), width)
            yield {**named, "level": level, "coefficient": "kappa", **_row(plan)}


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SharingPlan(Result):
    """How many documents judges must share; table: `plan`, or `assumed_plan` before any is judged."""

    rows: tuple[Mapping[str, Any], ...]
    n_pairs: int = 0
    erased: str = ""
    """How much of erased judges is gone, in words."""
    measured: Mapping[str, Any] = field(default_factory=dict)
    """Whose judgements of which documents, in the words of the settings of `agreement`."""

    def names(self) -> tuple[str, ...]:
        """Return the name of the one table."""
        return ("assumed_plan",) if "assume" in self.settings else ("plan",)

    def _table(self, name: str) -> Table:
        if name == "assumed_plan":
            note = (
                "A minimum, as if documents of a topic were unrelated; plan again after the first judgements."
            )
            return Table.of_rows(name, _ASSUMED, self.rows, notes=[note])
        title = f"Documents to share for an interval of width {self.settings['width']}"
        return Table.of_rows(name, _PLAN, self.rows, title=title)

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        if name == "assumed_plan":
            return [View(table)]
        rows, n_apart = sharing(self.rows) if self.n_pairs > MOST_APART else (list(self.rows), 0)
        reference = self.settings["against"]
        seen = {row["reason"] for row in rows}
        notes = [
            apart_line(n_apart),
            *(f"{code}: {words}." for code, words in REASONS.items() if code in seen),
            "Based on the first shared documents: while they are few, the plan is rough.",
        ]
        hidden = {"kappa", "documents", "topics", "wanted", "coefficient", "level"}
        hidden |= set() if reference is None else {"second"}
        columns = [column for column in table.columns if column.name not in hidden]
        if reference is not None:
            columns[0] = Column("first", heading="judge")
        columns.insert(1 if reference is not None else 2, Column("measure"))
        declared = [column for column in columns if column.name != "reason"]
        declared.append(Column("why", heading="reason", show="if_any"))
        shown = [{**row, "measure": _measure(row), "why": row["reason"]} for row in rows]
        title = table.title if reference is None else f"{table.title}, with {reference}"
        return [View(Table.of_rows(name, declared, shown), title=title, notes=[one for one in notes if one])]


def pairs_of(judges: Sequence[str], reference: str | None) -> list[tuple[str, str]]:
    """Return every two judges, or each with the reference."""
    if reference is None:
        return list(combinations(judges, 2))
    return [(judge, reference) for judge in judges if judge != reference]


def _measure(row: Mapping[str, Any]) -> str:
    return str(row["coefficient"]) if row.get("level") is None else f"kappa, {row['level']}+"


def _row(plan: OverlapPlan) -> dict[str, Any]:
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
