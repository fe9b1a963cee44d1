"""How far scores and the order of runs move when documents are judged anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pooler.command import Cutoff, Given, Option, Seed, command
from pooler.commands.measure.compare import normality_plot
from pooler.messages import progress
from pooler.result import Later, Result, frozen_settings
from pooler.sources.judged import Judged
from pooler.sources.probabilities import Probable, Values, load_probable, moments, probabilities_of, say_empty
from pooler.sources.source import Source
from pooler.tables import DOCNO, RUN, RUN_A, RUN_B, TOPIC, TOPICS_HIDDEN, Column, Plot, Table, View, hidden
from store.analysis.arrays import graded_arrays
from store.analysis.measures.names import evaluate, parse_measure
from store.analysis.significance.pairs import check_pair
from store.analysis.significance.pairs import neighbours as neighbouring
from store.analysis.significance.t_tests import normality_picture, shapiro_wilk
from store.analysis.variation.collection import (
    NEAREST,
    CollectionVariation,
    Components,
    Reversals,
    VariedPairs,
    expected_tau,
    order_probabilities,
    pair_components,
    reversals,
    run_components,
    simulated_reversals,
)
from store.analysis.variation.moments import SUPPOSED, Empty, ProbableRankings
from store.analysis.variation.simulation import REPETITIONS, SimulatedMaps, simulate_maps
from store.errors import ArgumentError
from store.text import counted

Varied = Annotated[Source, Given("pooler.cli.options:ProbableOptions", "source")]
"""Runs, and judgements unless a file of probabilities takes their place."""
ValuesOption = Annotated[
    Values | None,
    Option(
        "--value GRADE=P",
        "How likely a document of this grade is relevant, from 0 to 1; for every grade of the scale.",
        read=lambda _name, texts: texts,
        repeated=True,
        default="the share of judges at or above the level",
    ),
]
ProbabilitiesOption = Annotated[
    str | Path | None,
    Option(
        "--probabilities FILE",
        "Read them from a file, `topic docno p`, as the table `probabilities` in tsv; RUN may then be files.",
    ),
]
Unjudged = Annotated[
    float,
    Option(
        "--unjudged P", "How likely an unjudged document that a run retrieved is relevant.", least=0, most=1
    ),
]
EmptyOption = Annotated[
    Empty,
    Option(
        "--empty",
        "Where judging again leaves a topic without a relevant document: leave that outcome out (given), or"
        " count AP as 0, as trec_eval does (zero). An unjudged topic never counts.",
    ),
]
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
_OF_ONE = (
    "MAP as judged is by the grades of {} alone; all else is by those of all judges who count where no"
    " qrels are named."
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
_NORMALITY = (
    Column("w", "float", "W", "Shapiro and Wilk's test of whether expected AP by topic is normal"),
    Column("p_normality", "float", "p of W"),
)
_SEEN_P = {
    "t2_removed": Column(
        "p_t2_removed",
        "float",
        "p without",
        "of the paired t test (eq. 9, two-sided) without that part of the variance",
    ),
    "t2_included": Column("p_t2_included", "float", "p with", "the same with that part"),
}


@command
def variation(
    source: Varied,
    *,
    values: ValuesOption = None,
    probabilities: ProbabilitiesOption = None,
    unjudged: Unjudged = 0,
    extra_relevant: Annotated[int, Option("--extra-relevant K", least=0)] = 0,
    empty: EmptyOption = "given",
    by: Literal["run", "pair"] = "run",
    neighbours: bool = False,
    simulate: Annotated[
        int | None, Option("--monte-carlo M", least=2, default="20,000 for the 45 pairs nearest to a swap")
    ] = None,
    seed: Seed = 1,
    cutoff: Cutoff = None,
) -> Variation:
    """Show how far judging again would move MAP and the order of runs.

    A document that half of its judges find relevant is relevant with probability 1/2, and judging again
    would give another MAP. Its moments are exact, where Kishida (2001, section 3.2) simulates; intervals and
    swaps are by the normal law. Rulings play no part. The table `probabilities` has that of each document.

    Example: pooler variation --by pair --level 1 --plot pairs.svg

    Example: pooler variation --qrels judgements/strict.qrels runs/*.run --value 0=0 --value 1=.8 --value 2=1

    extra_relevant : Relevant documents per topic that no run retrieved; 1 as in the paper's section 4.3.
    by : What a row is of; of a pair: the part of judging in its variance, p with and without it.
    neighbours : Of the pairs only runs next to each other by expected MAP.
    simulate : Judge M times at random, as the paper does.
    seed : Of the random judgings.

    Raises
    ------
    PoolerError
        If there is one run, by pair; if nothing is judged or may be relevant.

    Notes
    -----
    Eq. 9 of Kishida (2001) gives the t of pairs. O(runs^2 documents^2) a topic at most.

    Examples
    --------
    >>> from pooler import variation
    >>> runs = {"a": {"1": {"x": 2.0, "y": 1.0}}, "b": {"1": {"y": 2.0, "x": 1.0}}}
    >>> found = variation((runs, {"1": {"x": 1, "y": 0}}), values={0: 0, 1: 0.5})
    >>> found.mean.round(9).tolist()
    [1.0, 0.5]
    """
    judged = source.read if source.names_qrels else None
    loaded = load_probable(
        source,
        values=values,
        probabilities=probabilities,
        unjudged=unjudged,
        extra_relevant=extra_relevant,
        empty=empty,
        cutoff=cutoff or 1000,
        judged=judged,
    )
    if by == "pair":
        check_pair(loaded.rankings.tags)
    how: dict[str, Any] = {"empty": empty, "by": by, "neighbours": neighbours, "simulate": simulate}
    made = variation_of(loaded, judged, source=source, seed=seed, **how)
    say_empty(made.topics, made.varied)
    return made


def variation_of(
    loaded: Probable,
    judged: Judged | None,
    *,
    source: Source,
    empty: Empty = "given",
    by: str = "run",
    neighbours: bool = False,
    simulate: int | None = None,
    seed: int = 1,
) -> Variation:
    """Do what `variation` does with what is read already."""
    probable = loaded.rankings
    topics, n_runs = probable.by_topic(), len(probable.tags)
    varied = moments(probable, empty)
    scores = None if judged is None else _map_as_judged(judged, probable, empty)
    simulated = None
    if simulate is not None:
        with progress("simulations", simulate) as advance:
            simulated = simulate_maps(topics, repetitions=simulate, seed=seed, empty=empty, progress=advance)
    turned = reversals(varied) if n_runs > 1 else None
    tested = None
    if turned is not None and by == "pair":
        tested = pair_components(varied, (turned.first, turned.second))
        with progress("simulations", REPETITIONS) as advance:
            how: dict[str, Any] = {"seed": seed, "empty": empty, "progress": advance}
            turned = simulated_reversals(topics, turned, simulated=simulated, **how)
    is_guessed = any(
        bool((~judged & (p > 0) & (ids != SUPPOSED)).any())
        for judged, p, ids in zip(probable.judged, probable.probabilities, probable.ids, strict=True)
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
        is_guessed=is_guessed,
        source=source,
        settings=frozen_settings(
            **loaded.settings,
            by=by,
            neighbours=neighbours,
            simulate=REPETITIONS if by == "pair" and simulate is None else simulate,
            seed=seed,
        ),
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

    Tables: `variation`, a row a run; `topics`, a row a run and topic; of `by` ``"pair"`` `pairs`, a row for
    two runs; `probabilities`, a row a judged document.
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
    """How likely every two runs change places, simulated by pair; ``None`` = there is one run."""
    tested: VariedPairs | None = field(repr=False)
    """Paired t tests without and with the variance by judging; ``None`` = no pairs."""
    simulated: SimulatedMaps | None = field(repr=False)
    is_guessed: bool
    """Whether unjudged documents may be relevant."""
    source: Source = field(repr=False)

    HAS_TOPICS = True

    def _tables(self) -> Iterator[Later]:
        if self.tested is not None:
            yield Later(self._pairs)
        yield Later(self._variation, by_name=self.tested is not None)
        yield Later(self._topics, by_name=True)
        yield Later(self._probabilities, by_name=True)

    def _probabilities(self) -> Table:
        rows = probabilities_of(self.source, self.settings["values"], self.settings["probabilities"])
        about = "how likely the document is relevant"
        columns = dict(zip([TOPIC, DOCNO, Column("p", "float", about=about)], rows, strict=True))
        return Table.of_columns("probabilities", columns)

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
        # By the pairs, which say which run is ahead of which; the last is ahead of none.
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
        if not self.settings["neighbours"]:
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
        columns[hidden("law", "text")] = ["normal"] * n_runs
        columns[hidden("moments_error")] = [self.varied.error] * n_runs
        varies = bool(np.any(self.sd > 0))
        sole = None if self.judged is None else self.source.definition.sole
        notes = [
            self.conclusion() if varies and not np.isnan(self.tau) else "",
            "" if sole is None else _OF_ONE.format(sole),
            _WHO_JUDGES if varies else _NOTHING_VARIES,
            _UNJUDGED_WORDS if self.is_guessed else "",
            "" if self.simulated is None else self._simulation(),
        ]
        table = Table.of_columns("variation", columns, notes=[*filter(None, notes)])
        rows = table.order("mean" if self.judged is None else "judged", descending=True)
        shown = [RUN, _TOPIC_VARIANCE, _JUDGING_VARIANCE, *_NORMALITY]
        return table.seen_as(
            View(table, rows=rows), View(table, shown, rows=rows, title="Expected AP over topics", notes=[])
        )

    def _pairs(self) -> Table:
        """Make a row for two runs, the one with the higher mean first; neighbours by their means."""
        turned, tested = self.turned, self.tested
        assert turned is not None
        assert tested is not None
        parts = tested.components
        is_next = self.settings["neighbours"]
        places = neighbouring(turned.first, turned.second) if is_next else np.arange(turned.first.size)
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
        of = " of neighbours" if is_next else ""
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
    unseen = [replace(one, show="never") for one in _NORMALITY]
    return {one: [*cells] for one, cells in zip(unseen, zip(*shapiro_wilk(scores), strict=True), strict=True)}
