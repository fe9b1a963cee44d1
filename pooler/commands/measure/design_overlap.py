"""How many documents judges must share for an interval of kappa of a width."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pooler.command import Given, Levels, Option, command
from pooler.commands.qrels.agreement_people import MOST_APART, apart_line, sharing
from pooler.commands.qrels.agreement_settings import AgreementOptions, fetch_chosen, pairs_of, resolve_levels
from pooler.messages import say
from pooler.reasons import REASONS as CODES
from pooler.result import Result, frozen_settings
from pooler.sources.source import source_of
from pooler.tables import DOCUMENTS, REASON, Column, Table, View
from store.analysis.agreement.sharing import LEAST_WIDTH, assumed_plan
from store.errors import ArgumentError

if TYPE_CHECKING:
    from pooler.sources.source import Measurable
    from store.analysis.agreement.sharing import OverlapPlan
    from store.analysis.agreement.votes import PopulationVotes

    Judged: TypeAlias = Measurable | None
else:  # a collection is loaded for no type
    Judged = Annotated[object, Given("pooler.cli.options:JudgesOptions", "source")]

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


def _assumed(name: str, text: str) -> tuple[float, float]:
    try:
        kappa, share = (float(part) for part in text.split(","))
    except ValueError:
        requirement = "must be a kappa and a share of relevant documents, as in 0.5,0.3"
        raise ArgumentError(name, requirement, text) from None
    return kappa, share


@command
def design_overlap(
    source: Judged = None,
    *judges: Annotated[str, Option(hidden=True)],
    width: Annotated[float, Option("--width W", least=LEAST_WIDTH, most=2)] = 0.2,
    assume: Annotated[
        tuple[float, float] | None, Option("--assume KAPPA,SHARE", read=_assumed, default="none")
    ] = None,
    levels: Levels = (),
    against: Annotated[str | None, Option("--against JUDGE")] = None,
) -> OverlapDesign:
    """Plan how many documents judges share, for an interval of kappa of a width.

    For every two judges, from what they shared so far: documents that each topic would need, and how many
    topics would do instead, for kappa and quadratic kappa of grades and for kappa at each level. --assume
    plans before anything is judged.

    Example: pooler design overlap alice bob --width 0.2

    Example: pooler design overlap --assume 0.5,0.3

    width : Width of the 95 % interval.
    assume : Before anything is judged: the kappa and the share of relevant documents to expect.
    against : Every other judge with this one alone.

    Raises
    ------
    ArgumentError
        If no two judges can have what is assumed.

    Examples
    --------
    >>> from pooler import design_overlap
    >>> design_overlap(assume=(0.5, 0.3)).table("assumed_plan").cells("documents")
    [343]
    """
    if assume is not None:
        if judges:
            raise ArgumentError("assume", "is for a plan before anybody judged, not with judges", assume)
        kappa, share = assume
        plan = assumed_plan(kappa, width, first_share=share)
        row = {"kappa": kappa, "share": share, "wanted": width, "documents": plan.documents}
        return OverlapDesign(
            rows=(row | {"warning": plan.warning},), settings=frozen_settings(assume=[kappa, share])
        )
    if source is None:
        raise ArgumentError("source", "must be given, or a kappa and a share assumed", None)
    with source_of(source).judging(of_scale=any(isinstance(one, str) for one in levels)) as opinions:
        scale = opinions.scale
        chosen = resolve_levels(scale, levels, all_of_them=True)
        shown = resolve_levels(scale, levels, all_of_them=False)
        options = AgreementOptions(scale, chosen, has_levels=bool(levels), kind="none")
        found_judges = fetch_chosen(opinions, judges, against)
        if erased := opinions.erased():
            say(erased)
    votes = found_judges.votes
    pairs = pairs_of(votes.votes.judges, against)
    return OverlapDesign(
        rows=tuple(_plan_rows(votes, pairs, width, options)),
        n_pairs=len(pairs),
        levels=shown,
        settings=frozen_settings(
            judges=list(votes.votes.judges),
            levels=list(chosen),
            scale=list(scale.values),
            **found_judges.voters.to_json(),
        ),
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
class OverlapDesign(Result):
    """How many documents judges share; table: `plan`, or `assumed_plan` before any is judged."""

    rows: tuple[Mapping[str, Any], ...]
    n_pairs: int = 0
    levels: tuple[int, ...] = ()
    """Those that people see."""

    def _tables(self) -> Iterator[Table]:
        if self.settings["assume"] is not None:
            note = (
                "A minimum, as if documents of a topic were unrelated; plan again after the first judgements."
            )
            yield Table.of_rows("assumed_plan", _ASSUMED, self.rows, notes=[note])
            return
        title = f"Documents to share for an interval of width {self.settings['width']}"
        yield Table.of_rows("plan", _PLAN, self.rows, title=title).seen_as(self._view(title))

    def _view(self, title: str) -> View:
        """Name the measure of a row in one column; of many pairs leave out those that share nothing."""
        every = [row for row in self.rows if row.get("level") in (None, *self.levels)]
        rows, n_apart = sharing(every) if self.n_pairs > MOST_APART else (every, 0)
        reference = self.settings["against"]
        seen = {row["reason"] for row in rows}
        notes = [
            apart_line(n_apart),
            *(f"{code}: {words}." for code, words in REASONS.items() if code in seen),
            "Based on the first shared documents: while they are few, the plan is rough.",
        ]
        hidden = {
            "first",
            "second",
            "kappa",
            "documents",
            "topics",
            "wanted",
            "coefficient",
            "level",
            "reason",
        }
        judges = [Column("first", heading="" if reference is None else "judge"), Column("second")]
        columns = [
            *judges[: 1 + (reference is None)],
            Column("measure"),
            *(column for column in _PLAN if column.name not in hidden),
            Column("why", heading="reason", show="if_any"),
        ]
        shown = [{**row, "measure": _measure(row), "why": row["reason"]} for row in rows]
        title = title if reference is None else f"{title}, with {reference}"
        return View(Table.of_rows("plan", columns, shown), title=title, notes=[one for one in notes if one])


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
