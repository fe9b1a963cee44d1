"""Variation: how far scores and the order of runs move when documents are judged anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pooler.messages import progress as report_progress
from pooler.results.judged import Judged
from pooler.results.measures.compare import normality_plot
from pooler.results.result import Progress, Result, collect_warnings, frozen_settings
from pooler.results.source import Measurable, source_of
from pooler.results.table import RUN, RUN_A, RUN_B, TOPIC, TOPICS_HIDDEN, Column, Plot, Table, View, hidden
from pooler.results.variation.probabilities import Probable, Values, load_probable, moments, say_empty
from store.analysis.arrays import graded_arrays
from store.analysis.measures.names import parse_measure
from store.analysis.measures.table import evaluate
from store.analysis.significance.normality import normality_picture, shapiro_wilk
from store.analysis.significance.pairs import check_pair
from store.analysis.significance.pairs import neighbours as neighbouring
from store.analysis.variation.collection import (
    CollectionVariation,
    Components,
    VariedPairs,
    pair_components,
    run_components,
)
from store.analysis.variation.lists import SUPPOSED, Empty, ProbableRankings
from store.analysis.variation.order import (
    NEAREST,
    Reversals,
    expected_tau,
    order_probabilities,
    reversals,
    simulated_reversals,
)
from store.analysis.variation.simulation import REPETITIONS, SimulatedMaps, simulate_maps
from store.errors import ArgumentError
from store.text import counted

MOST_PAIRS = 45
"""Pairs that are drawn; all of neighbours are."""
REACH = 0.05
"""Probability that the axis of pairs reaches at least: small ones have to look small."""
_UNJUDGED_WORDS = (
    "Unjudged documents may be relevant here: they count among all relevant ones and may move MAP far."
    " How likely that is, is unknown: these are guesses, not scores, and no interval includes the"
    " error of the guess."
)
_WHO_JUDGES = (
    "Judging again is assumed to decide each document independently: relevant with its probability p, the"
    " share of its judges, or the value of its grade. A judge who is stricter throughout would move all"
    " MAPs together, and further."
)
_NOTHING_VARIES = (
    "Every document is certainly relevant or certainly not, so nothing varies: nothing is known here"
    " about how judges differ."
)


_TOPIC_VARIANCE = Column(
    "topic_variance", "float", "sigma_mu^2", "variance of expected AP between topics, without judging"
)
_JUDGING_VARIANCE = Column(
    "judging_variance", "float", "sigma_d^2", "mean over topics of the variance of AP by judging"
)
_W = Column("w", "float", "W", "Shapiro and Wilk's test of whether expected AP by topic is normal")
_P_NORMALITY = Column("p_normality", "float", "p of W")
_SEEN_P = {
    "t2_removed": Column(
        "p_t2_removed",
        "float",
        "p without",
        "of the paired t test (eq. 9, two-sided) without that part of the variance",
    ),
    "t2_included": Column("p_t2_included", "float", "p with", "the same with that part"),
}


def variation(
    source: Measurable,
    *,
    values: Values | None = None,
    probabilities: str | None = None,
    unjudged: float | str = 0,
    extra_relevant: int = 0,
    empty: Empty = "given",
    pairs: bool = False,
    neighbours: bool = False,
    simulate: int | None = None,
    seed: int = 1,
    cutoff: int = 1000,
    progress: Progress | None = None,
) -> Variation:
    """Report how far MAP and the order of runs move when the documents are judged anew.

    A document that half of its judges find relevant is relevant with probability 1/2 in another
    judging, each document by itself. Mean, variance and covariance of MAP are computed exactly,
    where Kishida (2001, section 3.2) simulates. Intervals, and how likely two runs change places, are of
    the normal law with these moments; the 45 pairs nearest to a swap are simulated besides.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        What is measured. Of a collection those have a say who count by its qrels; one judge's
        grades give `judged` besides.
    values : mapping of int to float, optional
        What each grade of a judge is worth: the probability, in [0, 1], that the document is
        relevant; every grade of the scale. Default: the share of judges at the level; of qrels 1 at
        the level and 0 below, so that nothing varies.
    probabilities : str, optional
        A file of `topic docno p` instead; the runs need no judgements then.
    unjudged : float, optional
        How likely an unjudged document that a run retrieved is relevant: in [0, 1], or as a
        curve says that is fitted to the judged ones.
    extra_relevant : int, optional
        Relevant documents of each topic, from 0, that no run retrieved.
    empty : {"given", "zero"}, optional
        Judgings in which a topic has no relevant document: left out, or counted with an AP of 0.
    pairs : bool, optional
        Compare every two runs.
    neighbours : bool, optional
        Of the pairs keep runs that are next to each other by expected MAP, in their order.
    simulate : int, optional
        Judge by chance so many times, from 2, and simulate every run and pair. Default: with `pairs`, 20,000
        times, the 45 pairs nearest to a swap.
    seed : int, optional
        Of the simulation, from 0.
    cutoff : int, optional
        Ranks that are looked at.

    Returns
    -------
    Variation
        Mean, deviation and interval of every run's MAP; of pairs, how likely the order turns about.

    Raises
    ------
    PoolerError
        If there is one run and `pairs`; if nothing is judged or may be relevant; if no curve by
        rank can be fitted.
    ArgumentError
        If parameters exclude each other, or `neighbours` is given without `pairs`.

    Notes
    -----
    Eq. 9 of Kishida (2001) gives the t of pairs. O(runs^2 documents^2) a topic at most.

    Examples
    --------
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    >>> found = variation((runs, {"1": {"x": 1, "y": 0}}), values={0: 0, 1: 0.5})
    >>> found.mean.round(9).tolist()
    [1.0, 0.5]
    """
    with collect_warnings(progress) as collected:
        if neighbours and not pairs:
            raise ArgumentError("neighbours", "needs --pairs", None)
        found = source_of(source)
        judged = found.read if found.has_one_grade else None
        loaded = load_probable(
            found,
            values=values,
            probabilities=probabilities,
            unjudged=unjudged,
            extra_relevant=extra_relevant,
            empty=empty,
            cutoff=cutoff,
            judged=judged,
        )
        if pairs:
            check_pair(loaded.rankings.tags)
        result = variation_of(
            loaded,
            judged,
            empty=empty,
            pairs=pairs,
            neighbours=neighbours,
            simulate=simulate,
            seed=seed,
            tells_empty=True,
        )
    return replace(result, warnings=collected.warnings)


def variation_of(
    loaded: Probable,
    judged: Judged | None,
    *,
    empty: Empty = "given",
    pairs: bool = False,
    neighbours: bool = False,
    simulate: int | None = None,
    seed: int = 1,
    tells_empty: bool = False,
) -> Variation:
    """Do what `variation` does with what is read already."""
    probable = loaded.rankings
    topics, n_runs = probable.by_topic(), len(probable.tags)
    varied = moments(probable, empty)
    if tells_empty:
        say_empty(probable.topics, varied)
    scores = None if judged is None else _map_as_judged(judged, probable, empty)
    simulated = None
    if simulate is not None:
        with report_progress("simulations", simulate) as advance:
            simulated = simulate_maps(topics, repetitions=simulate, seed=seed, empty=empty, progress=advance)
    turned = reversals(varied) if n_runs > 1 else None
    tested = None
    if turned is not None and pairs:
        tested = pair_components(varied, (turned.first, turned.second))
        with report_progress("simulations", REPETITIONS) as advance:
            turned = simulated_reversals(
                topics, turned, seed=seed, empty=empty, simulated=simulated, progress=advance
            )
    parts = run_components(varied)
    low, high = np.clip(parts.interval(), 0.0, 1.0)
    reference = parts.mean if scores is None else scores
    return Variation(
        runs=probable.tags,
        topics=probable.topics,
        mean=parts.mean,
        sd=parts.by_judging,
        low=low,
        high=high,
        covariance=varied.covariance,
        judged=scores,
        share=parts.share,
        tau=float("nan") if turned is None else expected_tau(order_probabilities(varied), reference),
        varied=varied,
        parts=parts,
        turned=turned,
        tested=tested,
        simulated=simulated,
        n_left_out=loaded.n_left_out,
        is_guessed=_may_be_unjudged(probable),
        neighbours=neighbours,
        settings=frozen_settings(
            **loaded.settings,
            pairs=pairs,
            neighbours=neighbours,
            simulate=REPETITIONS if pairs and simulate is None else simulate,
            seed=seed,
        ),
    )


def _may_be_unjudged(probable: ProbableRankings) -> bool:
    return any(
        bool((~judged & (p > 0) & (ids != SUPPOSED)).any())
        for judged, p, ids in zip(probable.judged, probable.probabilities, probable.ids, strict=True)
    )


def _map_as_judged(judged: Judged, probable: ProbableRankings, empty: Empty) -> NDArray[np.float64]:
    """Compute MAP by the one set of judgements over the same topics; NaN where none has an AP."""
    name = parse_measure("AP", level=judged.level)
    rankings = graded_arrays(judged.ranked, judged.by_topic(), cutoff=probable.cutoff)
    (scores,) = evaluate(rankings, [name])
    place = {topic: column for column, topic in enumerate(rankings.topics)}
    columns = [place[topic] for topic in probable.topics if topic in place]
    if len(columns) < len(probable.topics):
        raise ArgumentError("judge", "must have judged every topic", len(columns))
    rows = [rankings.tags.index(tag) for tag in probable.tags]
    found = scores.values[np.ix_(rows, columns)]
    if empty == "zero":
        return np.asarray(np.nan_to_num(found).mean(axis=1))
    undefined = np.isnan(found).any(axis=0)
    if undefined.all():
        return np.full(len(rows), np.nan)
    return np.asarray((found[:, ~undefined] if undefined.any() else found).mean(axis=1))


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Variation(Result):
    """MAPs and the order of the runs in other judgings of the same topics.

    Tables: `variation`, a row a run; `pairs`, a row for two runs, where they were asked for; `topics`, a row
    a run and topic.
    """

    runs: Sequence[str]
    topics: Sequence[str]
    mean: NDArray[np.float64]
    """Expected MAP, shape (n_runs,), in [0, 1]."""
    sd: NDArray[np.float64]
    """Its standard deviation by judging, shape (n_runs,)."""
    low: NDArray[np.float64]
    """About 95% of judgings give a MAP between this and `high`, by the normal law, shape (n_runs,)."""
    high: NDArray[np.float64]
    covariance: NDArray[np.float64]
    """Of AP by judging, shape (n_topics, n_runs, n_runs)."""
    judged: NDArray[np.float64] | None
    """MAP by the one set of judgements, shape (n_runs,); ``None`` = none was chosen."""
    share: NDArray[np.float64]
    """Of the variance of single topics, what is by judging; NaN where there is none."""
    tau: float
    """Kendall's tau of the orders by another judging and as judged, or by `mean`, on average; NaN
    of one run."""
    varied: CollectionVariation = field(repr=False)
    parts: Components = field(repr=False)
    turned: Reversals | None = field(repr=False)
    """How likely every two runs change places, simulated with `pairs`; ``None`` = there is one run."""
    tested: VariedPairs | None = field(repr=False)
    """Paired t tests without and with the variance by judging; ``None`` = no pairs."""
    simulated: SimulatedMaps | None = field(repr=False)
    n_left_out: int
    """Topics in which no document can be relevant."""
    is_guessed: bool
    """Whether unjudged documents may be relevant."""
    neighbours: bool

    NAMES: ClassVar[tuple[str, ...]] = ("variation", "pairs", "topics")

    def names(self) -> tuple[str, ...]:
        """Return the tables that there are."""
        return tuple(name for name in self.NAMES if name != "pairs" or self.tested is not None)

    def _topics(self) -> Table:
        n_topics = len(self.topics)
        variances = np.diagonal(self.varied.covariance, axis1=1, axis2=2).T
        columns = {
            RUN: np.repeat(self.runs, n_topics).tolist(),
            TOPIC: [*self.topics] * len(self.runs),
            Column("mean", "float", "expected AP", "mu of the paper"): self.varied.mean.ravel(),
            Column("judging_variance", "float", "variance", "its variance by judging"): variances.ravel(),
        }
        return Table.of_columns("topics", columns)

    def facts(self) -> Mapping[str, Any]:
        """Return tau, where there are two runs."""
        return {} if np.isnan(self.tau) else {"tau": self.tau}

    def _views(self, name: str) -> Sequence[View]:
        table = self._table(name)
        by = "mean" if self.judged is None else "judged"
        if name != "variation":
            return [View(table)]
        rows = table.order(by, descending=True)
        shown = [RUN, _TOPIC_VARIANCE, _JUDGING_VARIANCE, _W, _P_NORMALITY]
        return [
            View(table, rows=rows),
            View(table, shown, rows=rows, title="Expected AP over topics", notes=[]),
        ]

    def conclusion(self) -> str:
        """Say how far another judging leaves the order of the runs as it is."""
        whose = "expected MAP" if self.judged is None else "MAP as judged"
        return (
            f"Between the order of the runs if judged again and their order by {whose}, Kendall's tau is"
            f" {self.tau:.2f} on average (1 = the same order)."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Return every run's interval, or of pairs how likely they turn about.

        Of one run also its expected APs by topic beside the normal curve, of two in pairs their differences.
        """
        if len(self.runs) == 1:
            picture = normality_picture(self.varied.mean[0])
            return (self.runs_plot(), *normality_plot(picture, "expected AP"))
        if self.tested is None or self.turned is None:
            return (self.runs_plot(),)
        normal: tuple[Plot, ...] = ()
        if len(self.runs) == 2:
            (first,), (second,) = self.turned.first, self.turned.second
            picture = normality_picture(self.varied.mean[first] - self.varied.mean[second])
            normal = normality_plot(picture, "expected difference")
        return (self._drawn_pairs(), *normal)

    def runs_plot(self) -> Plot:
        """Make the picture of runs, the highest first."""
        chain: list[int] = []
        if self.turned is not None:
            places = neighbouring(self.turned.first, self.turned.second)
            chain = [int(self.turned.first[place]) for place in places]
        # By the pairs, for they say who is ahead of whom; the last run is ahead of nobody.
        chain += [run for run in range(len(self.runs)) if run not in chain]
        columns = {
            RUN: [self.runs[run] for run in chain],
            Column("mean", "float"): self.mean[chain],
            Column("low", "float"): self.low[chain],
            Column("high", "float"): self.high[chain],
        }
        table = Table.of_columns("passed", columns)
        return Plot(
            table=table,
            kind="dots",
            label="run",
            value="mean",
            low="low",
            high="high",
            axis="MAP",
            title="Expected MAP",
            words=("expected MAP", "low to high, about 95% of outcomes"),
        )

    def _drawn_pairs(self) -> Plot:
        table = self._pairs()
        n_pairs = len(table)
        title = "How likely judging again is to put the second run above the first"
        if not self.neighbours:
            table = table.sort("reversed", descending=True).head(MOST_PAIRS)
            if n_pairs > len(table):
                title += f": the {len(table):,} most likely of {counted(n_pairs, 'pair')}"
        pairs = [f"{a} > {b}" for a, b in zip(table.cells("a"), table.cells("b"), strict=True)]
        columns = {Column("pair"): pairs, _chance("reversed"): table.cells("reversed")}
        drawn = Table.of_columns("reversed", columns)
        return Plot(table=drawn, kind="bars", label="pair", value="reversed", title=title, ends=(0, REACH))

    def _variation(self) -> Table:
        parts, n_runs = self.parts, len(self.runs)
        mean = f"mean MAP over {counted(parts.n_topics, 'topic')} if judges like these judged again"
        low = "MAP would lie from here to high about 95% of the time, by the normal distribution"
        share = (
            "how much of the variance of single topics comes from judging rather than from differences"
            " between them"
        )
        columns: dict[Column, Any] = {RUN: self.runs, TOPICS_HIDDEN: [parts.n_topics] * n_runs}
        if self.judged is not None:
            judged = Column("judged", "float", about="MAP by the judgements that were chosen")
            columns[judged] = self.judged
        columns |= {
            Column("mean", "float", "expected", mean): self.mean,
            Column("sd", "float", about="its standard deviation, with the same topics"): self.sd,
            Column("low", "float", about=low): self.low,
            Column("high", "float"): self.high,
            hidden("topic_variance"): parts.topic_variance,
            hidden("judging_variance"): parts.judging_variance,
            Column("share", "float", about=share): parts.share,
            hidden("map_variance"): parts.of_mean,
            **_normality(self.varied.mean),
        }
        if self.simulated is not None:
            columns |= {
                Column("mc_mean", "float", "simulated"): self.simulated.mean,
                Column("mc_sd", "float", "sd"): np.diagonal(self.simulated.covariance) ** 0.5,
            }
        columns |= {
            hidden("law", "text"): ["normal"] * n_runs,
            hidden("moments_error"): [self.varied.error] * n_runs,
        }
        varies = bool(np.any(self.sd > 0))
        notes = [
            self.conclusion() if varies and not np.isnan(self.tau) else "",
            _WHO_JUDGES if varies else _NOTHING_VARIES,
            _UNJUDGED_WORDS if self.is_guessed else "",
            "" if self.simulated is None else self._simulation(),
        ]
        return Table.of_columns("variation", columns, notes=[*filter(None, notes)])

    def _pairs(self) -> Table:
        """Make a row for two runs, the one with the higher mean first; neighbours by their means."""
        turned, tested = self.turned, self.tested
        assert turned is not None
        assert tested is not None
        parts = tested.components
        places = (
            neighbouring(turned.first, turned.second) if self.neighbours else np.arange(turned.first.size)
        )
        first, second = turned.first[places], turned.second[places]
        drawn = ~np.isnan(turned.simulated[places])
        share = "how much of the variance of the differences by topic comes from judging"
        columns: dict[Column, Any] = {
            RUN_A: [self.runs[run] for run in first],
            RUN_B: [self.runs[run] for run in second],
            TOPICS_HIDDEN: [parts.n_topics] * len(places),
            Column("difference", "float", "A - B", "expected difference in MAP"): parts.mean[places],
            Column("sd", "float", about="how far judging the same topics again would move it"): (
                parts.by_judging[places]
            ),
            hidden("topic_variance"): parts.topic_variance[places],
            hidden("judging_variance"): parts.judging_variance[places],
            Column("k", "float", "K", share, can_go=1): parts.share[places],
        }
        for name, p in tested.p_values().items():
            columns[hidden(name)] = getattr(tested, name)[places]
            columns[_SEEN_P.get(name) or hidden(f"p_{name}")] = p[places]
        columns |= {
            _chance("reversed", "how likely judging again is to put B above A, by the normal distribution"): (
                turned.reversed[places]
            ),
            Column("simulated", "float", about="share of random judgings that do"): turned.simulated[places],
            Column("simulated_error", "float", "+/-", "its standard error"): turned.error[places],
            hidden("law", "text"): np.where(drawn, "simulated", "normal").tolist(),
        }
        columns[hidden("moments_error")] = [self.varied.error] * len(places)
        columns |= _normality(self.varied.mean[first] - self.varied.mean[second])
        n_open = int((np.where(drawn, turned.simulated[places], turned.reversed[places]) >= 0.05).sum())
        of = " of neighbours" if self.neighbours else ""
        notes = [
            f"Of {counted(len(places), 'pair')}{of}, {n_open:,} may swap with a probability of 5% or more.",
            _UNJUDGED_WORDS if self.is_guessed else "",
            self._simulation(),
        ]
        return Table.of_columns("pairs", columns, notes=[*filter(None, notes)])

    def _simulation(self) -> str:
        settings, turned = self.settings, self.turned
        words = f"simulated: {settings['simulate']:,} random judgings, seed {settings['seed']}"
        is_part = self.simulated is None and turned is not None and turned.simulated.size > NEAREST
        return f"{words}; only the {NEAREST} pairs nearest to a swap." if is_part else f"{words}."


def _chance(name: str, about: str = "") -> Column:
    """Declare a column of probabilities by the normal law, which is right to two digits."""
    return Column(name, "float", about=about, digits=2, is_chance=True)


def _normality(scores: NDArray[np.float64]) -> dict[Column, list[float | None]]:
    """Test every row of expected scores by topic for normality; undefined below three topics."""
    tested = [shapiro_wilk(row) for row in scores]
    return {
        replace(_W, show="never"): [w for w, _ in tested],
        replace(_P_NORMALITY, show="never"): [p for _, p in tested],
    }
