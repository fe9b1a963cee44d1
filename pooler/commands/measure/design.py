"""Plan how many topics to judge, how deep, and how many documents judges share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Given, Measure, Measured, Option, Share, command, decimals, whole_numbers
from pooler.commands.measure.pilot import (
    TOPICS,
    Pace,
    PilotDepth,
    known_depth,
    load_pilot,
    pace_of,
    pilot_depths,
)
from pooler.commands.measure.reliability import reliability_plot, reliability_table
from pooler.result import Result, fields_of, frozen_settings
from pooler.sources.source import source_of
from pooler.tables import REASON, Column, Plot, Table
from store.analysis.significance.generalizability import score_components
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
from store.analysis.undiscovered.pairs import required_difference
from store.errors import ArgumentError, PoolerError
from store.text import counted, percent

if TYPE_CHECKING:
    from pooler.sources.source import Measurable

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
    Pilot: TypeAlias = Measurable | None
else:  # a collection is loaded for no type
    Pilot = Annotated[object, Given("pooler.cli.options:PilotOptions", "source")]
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
    source: Pilot = None,
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
        runs=pilot.runs,
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
        deepest = known_depth(source) or 10
        depths = sorted({deepest, *(one for one in DEPTHS if one < deepest)})
    pace = pace_of(source) if seconds is None else Pace(seconds)
    return DepthDesign(
        runs=pilot.runs,
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
        """Make a row for every test, or interval, and size."""
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
        """Say what is needed for the largest difference, and what the topics at hand find."""
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
        """Make a row for every number of topics and variance."""
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
        """Say which depth costs least for the largest difference, and what it changes."""
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
    """Return the topics that find a difference of two runs; ``None`` = too many."""
    how = {name: design.settings[name] for name in ("alpha", "power")}
    return topics_for_power(size / math.sqrt(variance), **how)


def _at_least(n_topics: int, variance: float, alpha: float, power: float) -> float:
    """Return the least difference of two runs that so many topics find."""
    return detectable_effect(n_topics, alpha=alpha, power=power) * math.sqrt(variance)


def _observed(size: float, variance: float, alpha: float) -> int | None:
    """Return the least number of topics for which eq. 23 asks for no more than a difference."""
    return least_topics(lambda n: float(required_difference(variance, np.array(n), alpha=alpha)) <= size)
