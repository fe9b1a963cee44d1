"""Plan how many topics to judge, how deep, and how many documents judges share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pooler.command import (
    Cutoff,
    Given,
    Levels,
    Measure,
    Measured,
    Option,
    Share,
    command,
    decimals,
    whole_numbers,
)
from pooler.commands.measure.measured import known_measure, measured
from pooler.commands.qrels.agreement import MOST_APART, apart_line, sharing
from pooler.commands.qrels.agreement_rows import AgreementOptions, fetch_chosen, pairs_of, resolve_levels
from pooler.messages import progress, say, warn
from pooler.reasons import REASONS
from pooler.result import Result, fields_of, frozen_settings
from pooler.sources.source import Source, opened_collection, source_of
from pooler.tables import DOCUMENTS, REASON, Column, Plot, Table, View
from store.analysis.agreement.sharing import LEAST_WIDTH, plan_overlap
from store.analysis.agreement.tables import pair_tables
from store.analysis.agreement.votes import collapse_table
from store.analysis.arrays import graded_arrays
from store.analysis.measures.names import MeasureName, Scores, evaluate
from store.analysis.pools.pace import LEAST_DECISIONS
from store.analysis.rankings import GradedRankings
from store.analysis.run_order import TIED_MAP, tau_ap
from store.analysis.significance.generalizability import order_on_new_topics, score_components
from store.analysis.significance.pairs import compare_pairs
from store.analysis.significance.power import (
    MOST_TOPICS,
    POWER,
    detectable_effect,
    expected_width,
    least_topics,
    score_variance,
    topics_for_power,
    topics_for_width,
)
from store.analysis.undiscovered import required_difference
from store.analysis.variation.collection import expected_tau, expected_tau_ap
from store.errors import ArgumentError, PoolerError
from store.records import JudgeKind
from store.text import counted, percent

if TYPE_CHECKING:
    from pooler.sources.source import Measurable
    from store.analysis.agreement.sharing import OverlapPlan
    from store.analysis.agreement.votes import PopulationVotes

TOPICS = (30, 50, 100, 150)
"""Numbers of topics that are shown beside those at hand."""
TARGET = 0.95
"""Reliability of the order from which on it counts as reached."""
ORDER = "E rho2"
DEPTHS = (1, 3, 5, 10, 20, 50, 100)
COMPARED = 10
"""Runs of an analysis of variance where there is no pilot."""
DRAWN = tuple(round(0.03 + 0.01 * place, 2) for place in range(13))
MOST_LINES = 6
"""Differences that a picture has, and lines that it tells apart."""
SAME_ORDER = 0.9
"""tau_AP from which on two orders count as one, as for tau (Voorhees 2001)."""
WELL_JUDGED = 0.9
"""Share of a pool below which a message says that the rest is unjudged."""
ANY, THESE = "any two runs", "two of these"

if TYPE_CHECKING:
    PilotSource: TypeAlias = Measurable | None
else:  # a collection is loaded for no type
    PilotSource = Annotated[object, Given("pooler.cli.options:PilotOptions", "source")]
Judged = Annotated[Source, Given("pooler.cli.options:JudgesOptions", "source")]
Differences = Annotated[
    Sequence[float],
    Option(
        "--difference D,...",
        "True differences of two mean scores to detect.",
        above=0,
        read=decimals,
        default="0.05,0.1",
    ),
]
Power = Annotated[float, Option(words="Wanted probability of a significant result, above alpha.", below=1)]


@command
def design_topics(
    source: PilotSource = None,
    *,
    variance: Annotated[
        Sequence[float], Option("--variance S2,...", above=0, read=decimals, default="that of the runs")
    ] = (),
    difference: Differences = (0.05, 0.1),
    width: Annotated[Sequence[float], Option("--width W,...", above=0, read=decimals, default="0.1")] = (
        0.1,
    ),
    compared: Annotated[
        int | None, Option("--compared M", least=2, default="those of the pilot, else 10")
    ] = None,
    topics: Annotated[
        Sequence[int] | None,
        Option("--topics L,...", least=2, read=whole_numbers, default="those at hand and 30,50,100,150"),
    ] = None,
    alpha: Share = 0.05,
    power: Power = POWER,
    measure: Measure = "AP",
    cutoff: Cutoff = None,
) -> TopicDesign:
    """Plan how many topics to judge, and tell what the topics at hand can show.

    The pilot is runs that have been judged: of this collection, of an earlier one, or files. --variance plans
    without any. The tables: topics that find a difference with the wanted power, by a paired t test, by a
    one-way analysis of variance, or as an interval; differences that so many topics find; and how far the
    order of the runs (E rho2) and their scores (Phi) would be the same with other topics.

    Example: pooler design topics --qrels alice --difference 0.05

    Example: pooler design topics --variance 0.03 --topics 50,100

    variance : In place of runs: variance over topics of the difference between two runs. The analysis of
        variance takes half of it as the variance of scores.
    difference : True differences of two mean scores to detect; in the analysis of variance, of the best run
        and the worst.
    width : Widths of the interval of a difference.
    compared : Runs that one analysis of variance compares.
    topics : What this many topics can show, and how reliable they are.
    alpha : Level of significance, two-sided; intervals cover 1 - alpha.

    Raises
    ------
    ArgumentError
        If neither runs nor variances are given, or both.
    PoolerError
        If there are fewer than two runs, or topics with a score in every run, or no score varies.

    Notes
    -----
    The topic set size design of Sakai (2016). Of a pilot, the variance for any two runs is twice the mean
    variance of the scores of one, as if scores were independent; for two runs like these it is the mean of
    what their pairs have.

    Examples
    --------
    >>> from pooler import design_topics
    >>> found = design_topics(variance=[0.05], difference=[0.1])
    >>> found.table("topics").select(["test", "topics", "observed"]).to_records()[0]
    {'test': 'paired t', 'topics': 42, 'observed': 22}
    """
    if (source is None) == (not variance):
        raise ArgumentError("variance", "must be given where there are no runs, and not with runs", variance)
    topics_for_power(1.0, alpha=alpha, power=power)  # refuses both
    if source is None:
        return TopicDesign(
            cases=tuple(("two runs", one) for one in variance),
            settings=frozen_settings(compared=compared or COMPARED, topics=[*(topics or TOPICS)]),
        )
    found = source_of(source)
    pilot = load_pilot(found, measure, cutoff)
    n_runs, n_topics = pilot.scores.shape
    these = float(compare_pairs(pilot.scores, tests=["t"]).variance.mean())
    cases = ((ANY, 2 * score_variance(pilot.scores)), (THESE if n_runs > 2 else "these two runs", these))
    if not cases[0][1]:
        message = "every run has the same score in all topics: nothing says how much scores vary"
        raise PoolerError(message, hint="pooler design topics --variance S2 plans without runs")
    return TopicDesign(
        runs=pilot.rankings.tags,
        n_topics=n_topics,
        scores=pilot.scores,
        cases=tuple(case for case in cases if case[1]),
        settings=frozen_settings(
            compared=compared or n_runs,
            topics=[*(topics or sorted({n_topics, *TOPICS}))],
            measure=str(pilot.measure),
            **found.settings(),
        ),
    )


@command
def design_depth(
    source: Measured,
    *,
    difference: Differences = (0.05, 0.1),
    depths: Annotated[
        Sequence[int] | None,
        Option(
            "--depths N,...", least=1, read=whole_numbers, default="1,3,5,10,... down to the pools', else 10"
        ),
    ] = None,
    seconds: Annotated[
        float | None, Option(above=0, default="the mean in the collection, as in `status effort`")
    ] = None,
    per_document: Annotated[int, Option("--per-document K", least=1)] = 1,
    alpha: Share = 0.05,
    power: Power = POWER,
    measure: Measure = "AP",
    cutoff: Cutoff = None,
) -> DepthDesign:
    """Plan how deep to pool: what pools of each depth would cost, in documents and hours.

    The pilot is runs that have been judged: of this collection, of an earlier one, or files. A pool of each
    depth is made of the runs that contribute, with the judgements that are there; what it costs to find a
    difference stands beside how far the order of the runs is from that by all judgements.

    Example: pooler design depth --qrels alice --difference 0.05 --seconds 40

    depths : Depths of pools whose costs are shown.
    seconds : Seconds a judgement takes.
    per_document : Judges of every document.
    alpha : Level of significance, two-sided.

    Raises
    ------
    PoolerError
        If there are fewer than two runs, or topics with a score in every run, or no score varies.

    Notes
    -----
    As for `design_topics`, of any two runs.

    Examples
    --------
    >>> from pooler import design_depth
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}, "2": {"y": 1.0}}, "b": {"1": {"y": 1.0}, "2": {"x": 1.0}}}
    >>> found = design_depth((runs, {"1": {"x": 1, "y": 0}, "2": {"x": 1, "y": 0}}), depths=[1])
    >>> found.table("depths").cells("pooled")
    [2.0, 2.0]
    """
    topics_for_power(1.0, alpha=alpha, power=power)  # refuses both
    pilot = load_pilot(source, measure, cutoff, docnos=True)
    if not score_variance(pilot.scores):
        raise PoolerError("every run has the same score in all topics: nothing says how much scores vary")
    if depths is None:
        deepest = max((one.depth for one in source.judged.pools), default=10)
        depths = sorted({deepest, *(one for one in DEPTHS if one < deepest)})
    pace = pace_of(source) if seconds is None else Pace(seconds)
    return DepthDesign(
        runs=pilot.rankings.tags,
        n_topics=pilot.scores.shape[1],
        n_feeding=len(pilot.feeding),
        of_depths=tuple(pilot_depths(pilot, depths)),
        pace=pace,
        settings=frozen_settings(
            measure=str(pilot.measure),
            depths=[*depths],
            seconds=None if pace is None else pace.seconds,
            **source.settings(),
        ),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class TopicDesign(Result):
    """How many topics are needed, and what topics can show.

    Tables: `topics`, a row a test and difference; `detectable`, a row a number of topics; with a pilot
    `reliability`, a row a number of topics: E rho2 and Phi, the share of the runs in the variance of mean
    scores, and the order to expect of new topics.
    """

    cases: Sequence[tuple[str, float]]
    """Of which runs a variance is, and the variance of the differences of two by topic; of a pilot the first
    takes their scores as independent, so that half of it is the variance of scores."""
    runs: Sequence[str] = ()
    """Of the pilot; empty = there is none."""
    n_topics: int = 0
    """Of the pilot."""
    scores: NDArray[np.float64] | None = None
    """Of the pilot, shape (n_runs, n_topics)."""

    SHOWN = None

    def _tables(self) -> Iterator[Table]:
        yield self._topics()
        yield self._detectable()
        if self.scores is not None:
            yield reliability_table(self.scores, self.settings["topics"], alpha=self.settings["alpha"])

    @property
    def _careful(self) -> Sequence[tuple[str, float]]:
        """The variances for runs of which nothing is known."""
        return self.cases[:1] if self.runs else self.cases

    def _topics(self) -> Table:
        alpha, power = self.settings["alpha"], self.settings["power"]
        about = f"true difference that is found at {alpha:g} with a probability of {power:g}; of an interval,"
        these = "what these two have" if len(self.runs) == 2 else "what pairs of them have on average"
        of = (
            f"any two runs: their scores taken as independent, which is careful; {self.cases[-1][0]}: {these}"
        )
        columns = [
            Column("test"),
            Column("runs", heading="of", about=of if self.runs else ""),
            Column("size", "float", "difference", f"{about} its width", digits=3),
            Column(
                "variance", "float", about="of differences by topic; in the analysis of variance, of scores"
            ),
            Column("topics", "int", about=f"least number for a power of {power:g}"),
            Column(
                "observed",
                "int",
                "power 1/2",
                "topics with which a difference as large is just significant when it is observed, as in"
                " eq. 23 of Kishida (2001)",
            ),
            REASON,
        ]
        rows = [
            dict(zip(("test", "runs", "size", "variance", "topics", "observed"), row, strict=False))
            for row in self._needed()
        ]
        for row in rows:
            row["reason"] = None if row["topics"] else "too-many-topics"
        return Table.of_rows("topics", columns, rows, notes=self._conclusion())

    def _needed(self) -> Iterator[tuple[Any, ...]]:
        """Yield test, runs, size, variance, topics: every test, variance and size."""
        alpha, power, compared = (self.settings[name] for name in ("alpha", "power", "compared"))
        sizes = self.settings["difference"]
        for (name, variance), size in product(self.cases, sizes):
            observed = _observed(size, variance, alpha)
            yield "paired t", name, size, variance, _found_by(self, size, variance), observed
        for (_, variance), size in product(self._careful, sizes):
            effect = size / math.sqrt(variance / 2)
            needed = topics_for_power(effect, n_runs=compared, alpha=alpha, power=power)
            yield "analysis of variance", counted(compared, "run"), size, variance / 2, needed
        for (name, variance), size in product(self._careful, self.settings["width"]):
            yield "interval", name, size, variance, topics_for_width(size / math.sqrt(variance), alpha=alpha)

    def _conclusion(self) -> list[str]:
        if not self.runs:
            return []
        power, size = self.settings["power"], max(self.settings["difference"])
        needed = [
            f"{f'{n:,}' if n else f'more than {MOST_TOPICS:,}'} topics between {name}"
            for name, n in ((name, _found_by(self, size, variance)) for name, variance in self.cases)
        ]
        found = [
            f"{_at_least(self.n_topics, variance, self.settings['alpha'], power):.3f} between {name}"
            for name, variance in self.cases
        ]
        return [
            f"To find a difference of {size:g} in {self.settings['measure']} with a probability of {power:g}"
            f" takes {', '.join(needed)}.",
            f"The {self.n_topics:,} topics here, of {counted(len(self.runs), 'run')}, find"
            f" {', '.join(found)}.",
        ]

    def _detectable(self) -> Table:
        alpha, power, compared = (self.settings[name] for name in ("alpha", "power", "compared"))
        rows = []
        for (_, variance), n in product(self._careful, self.settings["topics"]):
            row = {"variance": variance, "topics": n, "paired": _at_least(n, variance, alpha, power)}
            if self.runs and len(self.cases) > 1:
                row["these"] = _at_least(n, self.cases[1][1], alpha, power)
            effect = detectable_effect(n, n_runs=compared, alpha=alpha, power=power)
            row["anova"] = effect * math.sqrt(variance / 2)
            rows.append(row | {"width": expected_width(n, alpha=alpha) * math.sqrt(variance)})
        of_best = "least difference of best and worst, analysis of variance"
        columns = [
            Column("variance", "float", show="never" if self.runs else "always"),
            Column("topics", "int"),
            Column("paired", "float", self.cases[0][0], "least difference of two, paired t test"),
            Column("these", "float", self.cases[-1][0], show="if_any"),
            Column("anova", "float", f"{compared:,} runs", of_best),
            Column("width", "float", about=f"of the {1 - alpha:.0%} interval of a difference, on average"),
        ]
        title = f"What so many topics find with a probability of {power:g}"
        return Table.of_rows("detectable", columns, rows, title=title)

    def plots(self) -> tuple[Plot, ...]:
        """Return the topics that a smaller difference takes, and the reliability of the order by topics."""
        costs = _costs_plot(
            "topics",
            {
                f"variance {variance:g}" if not self.runs else name: [
                    _found_by(self, size, variance) for size in DRAWN
                ]
                for name, variance in self.cases
            },
        )
        if self.scores is None or score_components(self.scores).reason is not None:
            return costs
        alpha = self.settings["alpha"]
        return *costs, reliability_plot(self.table("reliability"), alpha=alpha)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DepthDesign(Result):
    """What pools of each depth cost; table: `depths`, a row a difference and depth, the cheapest first."""

    runs: Sequence[str]
    """Of the pilot."""
    n_topics: int
    """Of the pilot."""
    n_feeding: int
    """Runs of the pilot that pools are made of."""
    of_depths: Sequence[PilotDepth]
    pace: Pace | None
    """``None`` = how long a judgement takes is not known."""

    def _tables(self) -> Iterator[Table]:
        rows: list[dict[str, Any]] = []
        for size in self.settings["difference"]:
            costs = [self._cost(one, size) for one in self.of_depths]
            rows += sorted(costs, key=lambda row: row.get("documents", math.inf))
        judges, measure = self.settings["per_document"], self.settings["measure"]
        of_order = f"how far {self.n_topics:,} topics fix the order of the runs"
        columns = [
            Column("difference", "float", digits=3),
            Column("depth", "int"),
            Column("pooled", "float", about="documents a topic", digits=1),
            Column("judged", "float", about="those of them that are judged here", digits=1),
            Column("variance", "float", about="of the scores of a run, over topics", can_go=1),
            Column("order", "float", "E rho2", of_order, can_go=2),
            Column("topics", "int", about="needed for the difference, between any two runs"),
            Column("documents", "int", about="to judge"),
            Column(
                "hours", "float", about=f"of {counted(judges, 'judge')} a document", digits=1, show="if_any"
            ),
            Column("tau_ap", "float", "tau_AP", "with the order by all judgements", digits=3),
            Column("moved", "float", about=f"most that a mean {measure} would differ from that by all"),
            REASON,
        ]
        notes = [
            *self._cheapest(rows),
            "No hours: how long a judgement takes is not known; --seconds N tells.",
        ]
        if self.pace is not None:
            notes[-1] = self.pace.words()
        yield Table.of_rows("depths", columns, rows, title="Topics, depth and hours", notes=notes)

    def _cost(self, one: PilotDepth, size: float) -> dict[str, Any]:
        row = {"difference": size} | fields_of(one)
        if not one.variance > 0:
            return row | {"reason": "no-spread"}
        needed = _found_by(self, size, 2 * one.variance)
        if needed is None:
            return row | {"reason": "too-many-topics"}
        row |= {"topics": needed, "documents": round(needed * one.pooled)}
        if self.pace is not None:
            hours = needed * one.pooled * self.pace.seconds / 3600
            row["hours"] = hours * self.settings["per_document"]
        return row

    def _cheapest(self, rows: Sequence[dict[str, Any]]) -> list[str]:
        size = max(self.settings["difference"])
        known = [row for row in rows if row["difference"] == size and "topics" in row]
        if not known:
            return []
        same_order = [row for row in known if row["tau_ap"] >= SAME_ORDER]
        if same_order and not same_order[0]["n_below"]:
            words = (
                f"no depth is known to order the runs as deeper judgements would: beyond depth"
                f" {same_order[0]['depth']:,} nothing is judged, and its order is that of all judgements"
            )
        elif same_order:
            best = same_order[0]
            hours = f", {best['hours']:,.1f} hours" if "hours" in best else ""
            words = (
                f"depth {best['depth']:,} is the cheapest that orders the runs as all judgements do (tau_AP"
                f" {SAME_ORDER:g} or more): {best['topics']:,} topics, {best['documents']:,} documents{hours}"
            )
        else:
            words = f"no depth here orders the runs as all judgements do (tau_AP {SAME_ORDER:g} or more)"
            near = max(known, key=lambda row: np.nan_to_num(row["tau_ap"], nan=-1))
            if not np.isnan(near["tau_ap"]):
                words += f"; depth {near['depth']:,} comes nearest, {near['tau_ap']:.3f}"
        fewest, most = (end(row["topics"] for row in known) for end in (min, max))
        least = min(known, key=lambda row: row["judged"] / row["pooled"])
        unjudged = (
            f"{percent(least['pooled'] - least['judged'], least['pooled'])} at depth {least['depth']:,}"
        )
        return [
            *[f"Unjudged documents of a pool count as not relevant: {unjudged}."]
            * (least["judged"] < WELL_JUDGED * least["pooled"]),
            f"For a difference of {size:g}, {words}.",
            f"By depth, {fewest:,} to {most:,} topics are needed: pools of the first documents of"
            f" {counted(self.n_feeding, 'run')}. A shallow pool finds fewer relevant documents, and is"
            " less fair to runs that come later: neither is in these numbers.",
        ]

    def plots(self) -> tuple[Plot, ...]:
        """Return what a smaller difference costs by depth, in documents or hours."""
        unit = "documents" if self.pace is None else "hours"
        return _costs_plot(
            unit,
            {
                f"depth {one.depth}": [self._cost(one, size).get(unit) for size in DRAWN]
                for one in self.of_depths
            },
        )


def _costs_plot(unit: str, lines: dict[str, list[Any]]) -> tuple[Plot, ...]:
    """Draw what differences of `DRAWN` cost; lines that have gaps are left out."""
    parts = [name for name, costs in lines.items() if None not in costs][:MOST_LINES]
    if not parts:
        return ()
    columns = {Column("difference", "float", "difference that is found"): DRAWN}
    table = Table.of_columns("costs", columns | {Column(name, "float"): lines[name] for name in parts})
    title = f"{unit.capitalize()} that find a difference, by its size"
    return (Plot(table=table, kind="lines", label="difference", parts=parts, axis=unit, title=title),)


def _found_by(design: TopicDesign | DepthDesign, size: float, variance: float) -> int | None:
    how = {name: design.settings[name] for name in ("alpha", "power")}
    return topics_for_power(size / math.sqrt(variance), **how)


def _at_least(n_topics: int, variance: float, alpha: float, power: float) -> float:
    return detectable_effect(n_topics, alpha=alpha, power=power) * math.sqrt(variance)


def _observed(size: float, variance: float, alpha: float) -> int | None:
    """Return the least number of topics for which eq. 23 asks for no more than a difference."""
    return least_topics(lambda n: float(required_difference(variance, np.array(n), alpha=alpha)) <= size)


OVERLAP_REASONS = {
    "no-common-docs": "the judges share no document yet",
    "one-doc": REASONS["one-doc"],
    "single-grade": REASONS["single-grade"],
    "no-variation": "all documents weigh the same, as where judges always agree",
    "one-topic": "one topic says nothing about how topics differ",
    "one-doc-a-topic": "no topic has two documents, so topics and documents cannot be separated",
    "too-few-topics": "topics differ so much that more documents do not help",
}
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


@command
def design_overlap(
    source: Judged,
    *judges: Annotated[str, Option(hidden=True)],
    width: Annotated[float, Option("--width W", least=LEAST_WIDTH, most=2)] = 0.2,
    levels: Levels = (),
    against: Annotated[str | None, Option("--against JUDGE")] = None,
) -> OverlapDesign:
    """Plan how many documents judges share, for an interval of kappa of a width.

    For every two judges, from what they shared so far: documents that each topic would need, and how many
    topics would do instead, for kappa and quadratic kappa of grades and for kappa at each level.

    Example: pooler design overlap alice bob --width 0.2

    width : Width of the 95 % interval.
    against : Every other judge with this one alone.

    Raises
    ------
    PoolerError
        If there are no two judges who graded.
    """
    with source.judging(of_scale=any(isinstance(one, str) for one in levels)) as opinions:
        scale = opinions.scale
        chosen = resolve_levels(scale, levels, all_of_them=True)
        shown = resolve_levels(scale, levels, all_of_them=False)
        options = AgreementOptions(scale, chosen, resamples=0)
        votes, voters = fetch_chosen(opinions, judges, against)
        if erased := opinions.erased():
            say(erased)
    pairs = pairs_of(votes.votes.judges, against)
    return OverlapDesign(
        rows=tuple(_plan_rows(votes, pairs, width, options)),
        n_pairs=len(pairs),
        levels=shown,
        settings=frozen_settings(
            judges=list(votes.votes.judges), levels=list(chosen), scale=list(scale.values), **voters.to_json()
        ),
    )


def _plan_rows(
    population: PopulationVotes, pairs: Sequence[tuple[str, str]], width: float, options: AgreementOptions
) -> Iterator[dict[str, Any]]:
    for first, second in pairs:
        tables = pair_tables(population.votes, first=first, second=second)
        plans: list[tuple[int | None, str, OverlapPlan]] = []
        if len(options.scale.values) > 2:
            plans.append((None, "kappa", plan_overlap(tables, width)))
            plans.append((None, "quadratic", plan_overlap(tables, width, weights="quadratic")))
        for level, index in zip(options.levels, options.level_indices, strict=True):
            plans.append((level, "kappa", plan_overlap(collapse_table(tables, index), width)))
        for at, coefficient, plan in plans:
            row: dict[str, Any] = {"first": first, "second": second}
            row |= {"level": at, "coefficient": coefficient}
            row |= {"n": plan.n_documents, "topics": plan.n_topics, "width": plan.present_width}
            yield {**fields_of(plan), **row, "wanted": width, "or_topics": plan.topics}


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class OverlapDesign(Result):
    """How many documents judges share; table: `plan`."""

    rows: tuple[Mapping[str, Any], ...]
    n_pairs: int
    levels: tuple[int, ...]
    """Those that people see."""

    def _tables(self) -> Iterator[Table]:
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
            *(f"{code}: {words}." for code, words in OVERLAP_REASONS.items() if code in seen),
            "Based on the first shared documents: while they are few, the plan is rough.",
        ]
        judges = [Column("first", heading="" if reference is None else "judge"), Column("second")]
        columns = [
            *judges[: 1 + (reference is None)],
            Column("measure"),
            *(one for one in _PLAN if one.name in ("n", "width", "documents_per_topic", "or_topics")),
            Column("why", heading="reason", show="if_any"),
        ]
        shown = [{**row, "why": row["reason"], "measure": _measure_of(row)} for row in rows]
        title = title if reference is None else f"{title}, with {reference}"
        return View(Table.of_rows("plan", columns, shown), title=title, notes=[one for one in notes if one])


def _measure_of(row: Mapping[str, Any]) -> str:
    return str(row["coefficient"]) if row["level"] is None else f"kappa, {row['level']}+"


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """Scores of runs over the topics where all have one."""

    source: Source
    measure: MeasureName
    rankings: GradedRankings
    scores: NDArray[np.float64]
    """Shape (n_runs, n_topics)."""

    @property
    def feeding(self) -> Sequence[str]:
        """The runs that pools are made of: those of the pilot that contribute, or all, if none is said to."""
        judged, tags = self.source.judged, self.rankings.tags
        feeding = [tag for tag in judged.feeding if tag in tags] if judged.tells_feeding else []
        return feeding or tags


def load_pilot(source: Source, measure: str, cutoff: int | None, *, docnos: bool = False) -> Pilot:
    """Score the runs of a source; `PoolerError` for fewer than two runs or topics with a score.

    `docnos`: unjudged documents will have to be told apart, and the runs that contribute.
    """
    known_measure(measure)  # before anything is read
    level = (source.judged if docnos else source.numbered).level
    name = known_measure(measure, level=level)
    rankings, (found,) = measured(source, [name], cutoff)
    if len(rankings.tags) < 2:
        message = f"there is one run, `{rankings.tags[0]}`: a pilot needs two or more"
        raise PoolerError(message, hint="name another run; or pooler design topics --variance S2")
    scores = _common(found)
    n_without = len(rankings.topics) - scores.shape[1]
    if n_without:
        warn(f"{counted(n_without, 'topic')} of {len(rankings.topics):,} left out: no {name} there")
    n_missing = int((rankings.lengths == 0).any(axis=0).sum())
    if n_missing:
        warn(f"in {counted(n_missing, 'topic')} a run has no documents and scores as if it had found nothing")
    if scores.shape[1] < 2:
        message = f"{counted(scores.shape[1], 'topic')} with a score in every run: a pilot needs two or more"
        raise PoolerError(message, hint="pooler design topics --variance S2 plans without runs")
    return Pilot(source, name, rankings, scores)


def _common(found: Scores) -> NDArray[np.float64]:
    return np.asarray(found.values[:, np.isfinite(found.values).all(axis=0)])


@dataclass(frozen=True, slots=True)
class PilotDepth:
    """What a pilot would have been, had its pools been of one depth."""

    depth: int
    pooled: float
    """Documents of a pool, mean over topics."""
    judged: float
    """Those of them that are judged."""
    variance: float
    """Of scores within runs; NaN = fewer than two topics."""
    order: float
    """E rho^2 with these topics; NaN = not enough runs or topics."""
    tau_ap: float
    """Of the order of the runs, beside that of all judgements; NaN = all tied."""
    moved: float
    """By how much the mean score of a run changes at most."""
    n_below: int
    """Judged documents that its pool lacks."""


def pilot_depths(pilot: Pilot, depths: Sequence[int]) -> Iterator[PilotDepth]:
    """Cut judgements to the pools of some depths and score the runs again.

    A pool is the first documents of the runs that contribute; unjudged ones are counted, and stay unjudged.
    """
    judged = pilot.source.judged
    ranked, grades = judged.ranked, judged.by_topic()
    whole, cutoff = pilot.scores.mean(axis=1), max(pilot.rankings.cutoff, pilot.measure.cutoff or 0)
    with progress("depths", len(depths)) as advance:
        for depth in depths:
            kept, sizes, n_below = {}, [], 0
            for topic, (ids, given) in grades.items():
                tops = [ranked.rankings.get((tag, topic)) for tag in pilot.feeding]
                pool = np.unique(
                    np.concatenate([one[:depth] for one in tops if one is not None] or [ids[:0]])
                )
                mask = np.isin(ids, pool)
                kept[topic] = ids[mask], given[mask]
                sizes.append((pool.size, int(mask.sum())))
                n_below += int((~mask).sum())
            arrays = graded_arrays(ranked, kept, cutoff=cutoff)
            scores = _common(evaluate(arrays, [pilot.measure])[0])
            n_topics, (pooled, of_pool) = scores.shape[1], np.mean(sizes, axis=0).tolist()
            means = scores.mean(axis=1) if n_topics else np.full(len(whole), np.nan)
            tau = tau_ap(means, whole, tolerance=TIED_MAP).tau if n_topics else None
            parts = score_components(scores)
            yield PilotDepth(
                depth,
                pooled,
                of_pool,
                score_variance(scores) if n_topics > 1 else np.nan,
                float(parts.order().at(n_topics)[0]),
                np.nan if tau is None else tau,
                float(np.abs(means - whole).max()),
                n_below,
            )
            advance(1)


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a judgement takes."""

    seconds: float
    """Active time, the mean over decisions: what a total is made of."""
    n_decisions: int = 0
    """It rests on; 0 = it was told."""
    n_judges: int = 0

    def words(self) -> str:
        """Say what hours are made of."""
        words = f"{self.seconds:.4g} seconds a judgement"
        if not self.n_decisions:
            return f"{words}."
        decisions, judges = counted(self.n_decisions, "decision"), counted(self.n_judges, "judge")
        return f"{words}, the mean of {decisions} of {judges} (status effort)."


def pace_of(source: Source) -> Pace | None:
    """Return the pace of the people who judged in a collection; ``None`` = no, or too few, times.

    It is that of `pooler status effort`, over all of them.
    """
    if source.is_of_files:
        return None
    with opened_collection(source.collection) as opened:
        efforts = [one for one in opened.progress.effort() if one.kind != JudgeKind.MODEL]
    times = [[each.active_ms for each in one.documents if each.active_ms is not None] for one in efforts]
    spent = [each / 1000 for one in times for each in one]
    if len(spent) < LEAST_DECISIONS:
        return None
    return Pace(float(np.mean(spent)), len(spent), sum(map(bool, times)))


def reliability_table(scores: NDArray[np.float64], topics: Sequence[int], *, alpha: float = 0.05) -> Table:
    """Make a row for every number of topics; `scores`: shape (n_runs, n_topics), all finite."""
    found = score_components(scores)
    of = f"{1 - alpha:.0%}"
    columns: dict[Column, Any] = {Column("topics", "int"): topics}
    for name, heading, about, one in (
        ("order", ORDER, "how far so many topics fix the order of the runs, from 0 to 1", found.order(alpha)),
        ("level", "Phi", "how far they fix their scores", found.level(alpha)),
    ):
        value, low, high = one.at(topics)
        columns[Column(name, "float", heading, about, digits=3)] = value
        columns[Column(f"{name}_low", "float", of, digits=3)] = low
        columns[Column(f"{name}_high", "float", "to", digits=3)] = high
    means, above = scores.mean(axis=1), order_on_new_topics(scores, topics, found)
    about = "Kendall's tau to expect between the order here and that of so many new topics"
    columns[Column("tau", "float", about=about, digits=3)] = [expected_tau(one, means) for one in above]
    columns[Column("tau_ap", "float", "tau_AP", "the same, first places counting most", digits=3)] = [
        expected_tau_ap(one, means) for one in above
    ]
    columns[REASON] = [found.reason] * len(topics)
    title = "Reliability of the order and of the scores with so many topics"
    return Table.of_columns("reliability", columns, title=title, notes=reliability_notes(scores, alpha=alpha))


def reliability_notes(scores: NDArray[np.float64], *, alpha: float = 0.05) -> list[str]:
    """Say in sentences how far these topics fix the order of the runs, and how many would."""
    n_runs, n_topics = scores.shape
    found = score_components(scores)
    if found.reason is not None:
        return [f"How reliable the order of the runs is over topics is not known: {REASONS[found.reason]}."]
    order = found.order(alpha)
    value, low, high = (float(one) for one in order.at(n_topics))
    needed, _, most = order.needed(TARGET)
    words = f"With these {n_topics:,} topics {ORDER} is {value:.3f} ({low:.3f} to {high:.3f})"
    if needed is None:
        words += ": nothing shows that these runs differ at all."
    else:
        upper = f"{most:,} to be safe" if most is not None else "no number is safe"
        verb = "has reached" if value >= TARGET else "is short of"
        words += f", which {verb} {TARGET:g}: that takes {counted(needed, 'topic')}, {upper}."
    whole = sum(found.variances)
    of_run, of_topic, rest = (percent(one, whole) for one in found.variances)
    return [
        words,
        f"Of the variance of one score {of_run} comes from the run, {of_topic} from the topic, {rest} from"
        f" neither. The runs count as a sample of systems, and there are {n_runs:,}; among runs that are more"
        " alike, more topics are needed.",
    ]


def reliability_plot(table: Table, *, alpha: float = 0.05) -> Plot:
    """Draw the reliability of the order by topics."""
    return Plot(
        table=table,
        kind="dots",
        label="topics",
        value="order",
        low="order_low",
        high="order_high",
        axis=ORDER,
        ends=(0, 1),
        title="How far so many topics fix the order of the runs",
        words=(ORDER, f"{1 - alpha:.0%} interval"),
    )
