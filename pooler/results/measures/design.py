"""How many topics a collection needs, how deep its pools, and what the topics at hand can show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pooler.results.measures.pilot import (
    TOPICS,
    Pace,
    PilotDepth,
    known_depth,
    load_pilot,
    pace_of,
    pilot_depths,
)
from pooler.results.result import Progress, Result, frozen, heard
from pooler.results.source import Source, source_of
from pooler.results.table import REASON, Column, Plot, Table
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
from store.analysis.undiscovered.required import required_difference
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection

DIFFERENCES = (0.05, 0.1)
WIDTHS = (0.1,)
DEPTHS = (1, 3, 5, 10, 20, 50, 100)
COMPARED = 10
"""Runs of an analysis of variance where there is no pilot."""
_DRAWN = tuple(round(0.03 + 0.01 * place, 2) for place in range(13))
"""Differences that a picture has."""
SAME_ORDER = 0.9
"""tau_AP from which on two orders count as one, as for tau (Voorhees 2001)."""
ANY, THESE = "any two runs", "these runs"


def design(
    source: Source | Collection | tuple[Any, Any] | None = None,
    *,
    variance: Sequence[float] = (),
    difference: Sequence[float] = DIFFERENCES,
    width: Sequence[float] = WIDTHS,
    compared: int | None = None,
    topics: Sequence[int] | None = None,
    alpha: float = 0.05,
    power: float = POWER,
    measure: str = "AP",
    depths: Sequence[int] | None = None,
    seconds: float | None = None,
    per_document: int = 1,
    cutoff: int | None = None,
    progress: Progress | None = None,
) -> Design:
    """Plan how many topics to judge, and how deep; say what the topics at hand can show.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels), optional
        The pilot, which tells how much scores vary; without, `variance` is needed.
    variance : sequence of float, optional
        Without a pilot: variance over topics of the difference of two runs, each above 0.
    difference : sequence of float, optional
        True differences of two mean scores that are to be found, each above 0; of an analysis of variance,
        of the best run and the worst.
    width : sequence of float, optional
        Of the interval of a difference, upper less lower limit, each above 0.
    compared : int, optional
        Runs that one analysis of variance compares, from 2; default those of the pilot, else 10.
    topics : sequence of int, optional
        Numbers of topics, from 2, whose power is shown the other way round; default those of the pilot
        and 30, 50, 100, 150.
    alpha : float, optional
        Level of significance, two-sided, in (0, 1); intervals cover 1 - it.
    power : float, optional
        Wanted probability of a significant result, above `alpha` and below 1.
    measure : str, optional
        As for `evaluate`.
    depths : sequence of int, optional
        With a pilot: depths of pools, from 1, of which costs are shown. Default 1, 3, 5, 10, ... down to the
        depth of the collection's pools, or, where none is known, 10.
    seconds : float, optional
        A judgement takes, above 0; default the mean of those of the collection, see `effort`.
    per_document : int, optional
        Judges of every document, from 1.
    cutoff : int, optional
        As for `evaluate`.

    Returns
    -------
    Design
        Topics needed, differences that can be found, and with a pilot what depths cost.

    Raises
    ------
    ArgumentError
        If a number is out of its range, or neither runs nor variances are given, or both.
    PoolerError
        If there are fewer than two runs, or topics with a score in every run.
    UnknownNameError
        If the measure is not known.

    Notes
    -----
    The topic set size design of Sakai (2016). Of a pilot, the variance for any two runs is twice the mean
    variance of the scores of one, as if scores were independent; for two runs like these it is the mean of
    what their pairs have.

    Examples
    --------
    >>> found = design(variance=[0.05], difference=[0.1])
    >>> found.table("topics").select(["test", "topics", "observed"]).to_records()[0]
    {'test': 'paired t', 'topics': 42, 'observed': 22}
    """
    if (source is None) == (not variance):
        raise ArgumentError("variance", "must be given where there are no runs, and not with runs", variance)
    _check_all(
        variance=variance, difference=difference, width=width, seconds=[] if seconds is None else [seconds]
    )
    for name, numbers, least in (
        ("compared", [] if compared is None else [compared], 2),
        ("topics", topics or [], 2),
        ("depths", depths or [], 1),
        ("per_document", [per_document], 1),
    ):
        if any(number < least for number in numbers):
            raise ArgumentError(name, f"must be integers >= {least}", min(numbers))
    topics_for_power(1.0, alpha=alpha, power=power)
    chosen = {"difference": [*difference], "width": [*width], "alpha": alpha, "power": power}
    if source is None:
        if depths is not None or seconds is not None:
            name = "depths" if depths is not None else "seconds"
            raise ArgumentError(name, "is for runs, which make the pools", depths or seconds)
        cases = tuple(Case("two runs", one, one / 2) for one in variance)
        settings = frozen(
            variance=[*variance], compared=compared or COMPARED, topics=[*(topics or TOPICS)], **chosen
        )
        return Design(cases=cases, settings=settings)
    with heard(progress) as said:
        found = source_of(source)
        pilot = load_pilot(found, measure, cutoff, docnos=True)
        n_runs, n_topics = pilot.scores.shape
        own = score_variance(pilot.scores)
        pairs = compare_pairs(pilot.scores, tests=["t"])
        cases = (Case(ANY, 2 * own, own), Case(THESE, float(pairs.variance.mean()), None))
        if depths is None:
            deepest = known_depth(found) or 10
            depths = sorted({deepest, *(one for one in DEPTHS if one < deepest)})
        pace = Pace(seconds) if seconds is not None else pace_of(found)
        of_depths = tuple(pilot_depths(pilot, depths))
    chosen |= {"compared": compared or n_runs, "topics": [*(topics or sorted({n_topics, *TOPICS}))]}
    chosen |= {
        "measure": str(pilot.measure),
        "depths": [*depths],
        "per_document": per_document,
        "cutoff": cutoff,
    }
    chosen["seconds"] = None if pace is None else pace.seconds
    return Design(
        runs=pilot.runs,
        n_topics=n_topics,
        n_feeding=len(pilot.feeding),
        cases=cases,
        of_depths=of_depths,
        pace=pace,
        settings=frozen(**chosen, **found.settings()),
        warnings=said.warnings,
    )


def _check_all(**numbers: Sequence[float]) -> None:
    """Raise `ArgumentError` for a number that is not above 0."""
    for name, values in numbers.items():
        for value in values:
            if not (math.isfinite(value) and value > 0):
                raise ArgumentError(name, "must be above 0", value)


@dataclass(frozen=True, slots=True)
class Case:
    """Of which runs a variance is."""

    name: str
    differences: float
    """Variance of the differences of two runs by topic; 0 = they never differ."""
    scores: float | None
    """Of the scores of one run; ``None`` = an analysis of variance is of the other case."""

    def topics(self, difference: float, alpha: float, power: float) -> int | None:
        """Return the topics that find a difference; ``None`` = too many, or there is no variance."""
        if self.differences == 0:
            return None
        return topics_for_power(difference / math.sqrt(self.differences), alpha=alpha, power=power)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Design(Result):
    """How many topics are needed, and what topics can show.

    Tables: `topics`, a row a test and difference; `detectable`, a row a number of topics; with a pilot
    `depths`, a row a difference and depth of the pools.
    """

    cases: Sequence[Case]
    runs: Sequence[str] = ()
    """Of the pilot; empty = there is none."""
    n_topics: int = 0
    """Of the pilot."""
    n_feeding: int = 0
    """Runs of the pilot that pools are made of."""
    of_depths: Sequence[PilotDepth] = ()
    pace: Pace | None = None
    """``None`` = how long a judgement takes is not known."""

    NAMES: ClassVar[tuple[str, ...]] = ("topics", "detectable", "depths")

    def names(self) -> tuple[str, ...]:
        """Return the names of the tables there are."""
        return self.NAMES if self.of_depths else self.NAMES[:2]

    def shown(self) -> tuple[str, ...]:
        """Return what `pooler design` shows."""
        return self.names()

    @property
    def _measure(self) -> str:
        return str(self.settings.get("measure", "the measure"))

    def _called(self, case: Case) -> str:
        """Say of which runs a case is."""
        return "these two runs" if case.name == THESE and len(self.runs) == 2 else case.name

    def _topics(self) -> Table:
        """Make a row for every test, or interval, and size."""
        alpha, power = self.settings["alpha"], self.settings["power"]
        about = f"true difference that is found at {alpha:g} with a probability of {power:g}; of an interval,"
        columns = [
            Column("test"),
            Column("of", about="" if not self.runs else self._of_words()),
            Column("size", "float", "difference", f"{about} its width", digits=3),
            Column(
                "variance", "float", about="of differences by topic; of an analysis of variance, of scores"
            ),
            Column("topics", "int", about=f"least number for a power of {power:g}"),
            Column(
                "observed",
                "int",
                "power 1/2",
                "topics with which a difference as large is just significant when it is observed, as in"
                " required-difference (eq. 23 of Kishida 2001)",
            ),
            REASON,
        ]
        return Table.of_rows("topics", columns, self._needed(), notes=self._conclusion())

    def _of_words(self) -> str:
        """Explain the cases of a pilot."""
        these = "what these two have" if len(self.runs) == 2 else "what pairs of them have on average"
        return f"any two runs: their scores taken as independent, which is careful; these runs: {these}"

    def _needed(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of every test, sizes and variances."""
        alpha, power, compared = (self.settings[name] for name in ("alpha", "power", "compared"))
        sizes, careful = self.settings["difference"], [case for case in self.cases if case.scores is not None]
        for case in self.cases:
            spread = case.differences
            for size in sizes:
                row = _row("paired t", self._called(case), size, spread, case.topics(size, alpha, power))
                yield row | {"observed": _observed(size, spread, alpha) if spread else None}
        for case in careful:
            for size in sizes:
                needed = None
                if case.scores:
                    effect = size / math.sqrt(case.scores)
                    needed = topics_for_power(effect, n_runs=compared, alpha=alpha, power=power)
                yield _row("analysis of variance", counted(compared, "run"), size, case.scores or 0.0, needed)
        for case in careful:
            spread = case.differences
            for size in self.settings["width"]:
                needed = topics_for_width(size / math.sqrt(spread), alpha=alpha) if spread else None
                yield _row("interval", self._called(case), size, spread, needed)

    def _conclusion(self) -> list[str]:
        """Say what is needed for the largest difference, and what the topics at hand find."""
        if not self.runs or not all(case.differences for case in self.cases):
            return []
        alpha, power, size = self.settings["alpha"], self.settings["power"], max(self.settings["difference"])
        careful, these = (one.topics(size, alpha, power) for one in self.cases)
        many = f"more than {MOST_TOPICS:,}"
        found = _at_least(self.n_topics, self.cases[0].differences, alpha, power)
        return [
            f"A difference of {size:g} in {self._measure} is found with a probability of {power:g} by"
            f" {f'{careful:,}' if careful else many} topics between any two runs, by"
            f" {f'{these:,}' if these else many} between two runs as alike as these.",
            f"The {self.n_topics:,} topics of {counted(len(self.runs), 'run')} here find {found:.3f}.",
        ]

    def _detectable(self) -> Table:
        """Make a row for every number of topics and variance."""
        alpha, power, compared = (self.settings[name] for name in ("alpha", "power", "compared"))
        rows = []
        cases = self.cases[:1] if self.runs else self.cases
        for case in cases:
            for n in self.settings["topics"]:
                row: dict[str, Any] = {"variance": case.differences, "topics": n}
                row["paired"] = _at_least(n, case.differences, alpha, power)
                if self.runs:
                    row["these"] = _at_least(n, self.cases[1].differences, alpha, power)
                effect = detectable_effect(n, n_runs=compared, alpha=alpha, power=power)
                row["anova"] = effect * math.sqrt(case.scores or 0.0)
                row["width"] = expected_width(n, alpha=alpha) * math.sqrt(case.differences)
                rows.append(row if case.differences else {"topics": n, "reason": "no-spread"})
        title = f"What so many topics find with a probability of {power:g}"
        columns = [
            Column("variance", "float", show="never" if self.runs else "always"),
            Column("topics", "int"),
            Column(
                "paired", "float", ANY if self.runs else "paired t", "least difference of two, paired t test"
            ),
            Column("these", "float", "these two runs" if len(self.runs) == 2 else THESE, show="if_any"),
            Column(
                "anova",
                "float",
                f"{compared:,} runs",
                "least difference of best and worst, analysis of variance",
            ),
            Column("width", "float", about=f"of the {1 - alpha:.0%} interval of a difference, on average"),
            REASON,
        ]
        return Table.of_rows("detectable", columns, rows, title=title)

    def _depths(self) -> Table:
        """Make a row for every difference and depth, the cheapest first."""
        rows = []
        for size in self.settings["difference"]:
            costs = [self._cost(one, size) for one in self.of_depths]
            rows += sorted(costs, key=lambda row: math.inf if row["documents"] is None else row["documents"])
        judges = self.settings["per_document"]
        hours = "of judging" + (f", {judges:,} judges a document" if judges > 1 else "")
        n = f"{self.n_topics:,} topics"
        columns = [
            Column("difference", "float", digits=3),
            Column("depth", "int"),
            Column("pooled", "float", about="documents a topic", digits=1),
            Column("judged", "float", about="those of them that are judged here", digits=1),
            Column("variance", "float", about="of the scores of a run, over topics", can_go=1),
            Column(
                "order",
                "float",
                "E rho2",
                f"how far {n} fix the order of the runs; see --reliability",
                can_go=2,
            ),
            Column("topics", "int", about="needed for the difference, between any two runs"),
            Column("documents", "int", about="to judge"),
            Column("hours", "float", about=hours, digits=1, show="if_any"),
            Column("tau_ap", "float", "tau_AP", "with the order by all judgements", digits=3),
            Column(
                "moved", "float", "moved", f"most that a mean {self._measure} would differ from that by all"
            ),
            REASON,
        ]
        return Table.of_rows(
            "depths",
            columns,
            rows,
            title="Topics, depth and hours",
            notes=[*self._cheapest(rows), self._pace_words()],
        )

    def _cost(self, one: PilotDepth, size: float) -> dict[str, Any]:
        """Return what pools of one depth cost."""
        row: dict[str, Any] = {
            "difference": size,
            "depth": one.depth,
            "pooled": one.pooled,
            "judged": one.judged,
        }
        row |= {"variance": one.variance, "order": one.order, "tau_ap": one.tau_ap, "moved": one.moved}
        row |= {"documents": None, "hours": None, "topics": None}
        if math.isnan(one.variance):
            return row | {"reason": "too-few-topics"}
        needed = Case("", 2 * one.variance, None).topics(size, self.settings["alpha"], self.settings["power"])
        if needed is None:
            return row | {"reason": "too-many-topics" if one.variance else "no-spread"}
        documents = needed * one.pooled
        hours = None
        if self.pace is not None:
            hours = documents * self.pace.seconds / 3600 * self.settings["per_document"]
        return row | {"topics": needed, "documents": round(documents), "hours": hours}

    def _cheapest(self, rows: Sequence[dict[str, Any]]) -> list[str]:
        """Say which depth costs least for the largest difference, and what it changes."""
        size = max(self.settings["difference"])
        known = [row for row in rows if row["difference"] == size and row["topics"] is not None]
        fewest, most = (end((row["topics"] for row in known), default=0) for end in (min, max))
        alike = [row for row in known if row["tau_ap"] >= SAME_ORDER]
        closest = max((row["tau_ap"] for row in known if row["tau_ap"] == row["tau_ap"]), default=math.nan)
        said = f"no depth here orders the runs as all judgements do: tau_AP is {closest:.3f} at most"
        if alike:
            best = alike[0]
            hours = "" if best["hours"] is None else f", {best['hours']:,.1f} hours"
            said = (
                f"depth {best['depth']:,} is the cheapest that orders the runs as all judgements do (tau_AP"
                f" {SAME_ORDER:g} or more): {counted(best['topics'], 'topic')},"
                f" {counted(best['documents'], 'document')}{hours}"
            )
        topics = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        return [
            f"For a difference of {size:g}, {said}.",
            f"From the shallowest to the deepest, {topics} topics are needed: pools of the first documents of"
            f" {counted(self.n_feeding, 'run')}. A shallow pool finds fewer relevant documents, and is"
            " less fair to runs that come later: neither is in these numbers.",
        ] * bool(known)

    def _pace_words(self) -> str:
        """Say what hours are made of."""
        if self.pace is None:
            return "No hours: how long a judgement takes is not known here; --seconds N says it."
        if not self.pace.n_decisions:
            return f"{self.pace.seconds:g} seconds a judgement."
        decisions = counted(self.pace.n_decisions, "decision")
        judges = counted(self.pace.n_judges, "judge")
        return f"{self.pace.seconds:.1f} seconds a judgement, the mean of {decisions} of {judges} (effort)."

    def plots(self) -> tuple[Plot, ...]:
        """Return what a smaller difference costs: documents or hours by depth, or topics by variance."""
        across = Column("difference", "float", "difference that is found")
        lines: dict[Column, list[float]] = {}
        if self.of_depths:
            unit = "documents" if self.pace is None else "hours"
            for one in self.of_depths[:6]:
                costs = [self._cost(one, size)[unit] for size in _DRAWN]
                if None not in costs:
                    lines[Column(f"depth {one.depth}", "float")] = costs
        else:
            alpha, power, unit = self.settings["alpha"], self.settings["power"], "topics"
            for case in self.cases[:6]:
                needed = [case.topics(size, alpha, power) for size in _DRAWN]
                if None not in needed:
                    lines[Column(f"variance {case.differences:g}", "float")] = [float(n or 0) for n in needed]
        if not lines:
            return ()
        table = Table.of_columns("costs", {across: _DRAWN, **lines})
        parts = [column.name for column in lines]
        title = f"{unit.capitalize()} that find a difference, by its size"
        return (Plot(table=table, kind="lines", label="difference", parts=parts, axis=unit, title=title),)


def _row(test: str, of: str, size: float, variance: float, needed: int | None) -> dict[str, Any]:
    """Return a row of the topics that are needed."""
    reason = None if needed else "too-many-topics" if variance else "no-spread"
    return {"test": test, "of": of, "size": size, "variance": variance, "topics": needed, "reason": reason}


def _at_least(n_topics: int, variance: float, alpha: float, power: float) -> float:
    """Return the least difference of two runs that so many topics find."""
    return detectable_effect(n_topics, alpha=alpha, power=power) * math.sqrt(variance)


def _observed(size: float, variance: float, alpha: float) -> int | None:
    """Return the least number of topics for which eq. 23 asks for no more than a difference."""
    return least_topics(lambda n: float(required_difference(variance, np.array(n), alpha=alpha)) <= size)
