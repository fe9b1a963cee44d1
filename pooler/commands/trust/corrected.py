"""A model's scores of runs, corrected by people's grades of a sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pooler.commands.measure.measured import known_measure
from pooler.messages import say, warn
from pooler.result import Progress, Result, collect_warnings, facts_view, frozen_settings
from pooler.sources.source import Source, opened_collection, source_of
from pooler.tables import DIFFERENCE, REASON, RUN, RUN_A, RUN_B, TOPIC, Column, Table, View, hidden
from store.analysis.corrected import (
    FEWEST,
    NO_GRADE,
    NORMAL,
    WAYS,
    CorrectedMeasure,
    MeasureSpec,
    Population,
    corrected_measures,
    drawn,
    topic_interval,
)
from store.analysis.measures.gain import discounts
from store.analysis.measures.sampled import NOT_SAMPLED, SampledPool, sampled_rankings
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.records import JudgeKind
from store.text import counted

if TYPE_CHECKING:
    from store.analysis.arrays import Grades
    from store.collection import Collection

MEASURES = ("P@10", "RBP", "AP")
FEW_WAITING = 0.1
"""Share of a sample without a grade above which it is hardly one any more."""
_DRAWS = "pooler pool --strategy uniform or stratified draws a sample"
_INTERVALS = (
    Column(
        "interval",
        heading="95 %, sample",
        about="for these topics: what drawing the sample leaves open",
        interval=("low", "high"),
        digits=3,
    ),
    Column(
        "topics_interval",
        heading="95 %, topics",
        about="for topics like these (t)",
        interval=("topics_low", "topics_high"),
        digits=3,
    ),
)
_LIMITS = (
    hidden("standard_error"),
    *(Column(name, "float") for name in ("low", "high", "topics_low", "topics_high")),
)
_OF_ERRORS = "root of the mean variance over runs, for these topics"
_WORTH = (
    Column("measure"),
    Column("way", about="what is expected of documents that people did not judge"),
    *(
        Column(f"se_{way}", "float", f"s.e. {way}", _OF_ERRORS if way == WAYS[0] else "", can_go=1)
        for way in WAYS
    ),
    Column(
        "helped", "bool", about="whether the model's grades leave less open than people's judgements alone"
    ),
    Column("outside", "float", about="mean share of weight on documents outside the pool", can_go=1),
    REASON,
)
_KNOWN = "P@k, RBP, DCG@k, sDCG@k, AP and nDCG@k"


def corrected(
    source: Source | Collection,
    model: str,
    *,
    pool: str | None = None,
    measures: str | Sequence[str] = MEASURES,
    model_level: int | None = None,
    cutoff: int = 1000,
    progress: Progress | None = None,
) -> Corrected:
    """Correct a model's scores of runs by people's grades of a sample.

    The model graded all pooled documents, people those of a sample with known probabilities. What people
    say of the sample beyond what the model's grades let expect stands for the rest.

    `measures` are P, RBP, DCG, AP and nDCG as in `evaluate`, and sDCG: DCG divided by the gain of a list with
    nothing but the best grade, so in [0, 1]. `pool` is a sampled pool with strata and inclusion
    probabilities, by default the only one; `model_level` the least grade of the model that counts as
    relevant, by default that of people; `cutoff` how many documents of a ranking count.

    Raises
    ------
    UnknownNameError
        If there is no such judge, pool or measure.
    ArgumentError
        If the judge is no model, or its own judgements are those that correct it; or of a measure.
    PoolerError
        If the source is no collection, the pool has no inclusion probabilities or its strata are no simple
        random samples, or a stratum has no judged document.

    Notes
    -----
    What is expected of a document that people did not judge is the share of people's grades at its grade by
    the model; nothing, where fewer than 30 documents of some grade of the model are judged.
    `store.analysis.corrected` has the methods. AP and nDCG have the interval of topics alone. What
    is outside the pool counts as not relevant. O(runs^2 judged) a measure.
    """
    names = [measures] if isinstance(measures, str) else list(dict.fromkeys(measures))
    whole = copy(source_of(source))
    whole.apart = model
    if whole.is_of_files or whole.judgements:
        message = "corrected scores need a collection: a sampled pool, and people's and a model's judgements"
        raise PoolerError(message, hint="import the files into a collection first")
    with collect_warnings(progress) as collected:
        judged = whole.numbered
        _check_people(judged.voters, model)
        with opened_collection(whole.collection) as opened:
            of_model = _grades_of_model(opened, model)
            name, pools = opened.grades.sampled_pools(judged.by_topic(), pool)
            values = opened.scale.values
            if model_level is not None:
                opened.scale.check_level(model_level)
        if any(one.inclusion is None or one.strata is None for one in pools.values()):
            what = "inclusion probabilities and strata"
            message = f"pool `{name}` does not have {what}: what its judgements stand for is not known"
            raise PoolerError(message, hint=_DRAWS)
        kept = {topic: one for topic, one in pools.items() if one.graded.any()}
        if not kept:
            message = f"pool {name}: no sampled document is judged"
            raise PoolerError(message, hint="people judge the sample first")
        levels = np.union1d([0], np.maximum(values, 0))
        specs = [_spec(one, levels, judged.level, cutoff) for one in names]
        grades = np.concatenate([one.grades[one.graded] for one in kept.values()])
        people = np.asarray(np.searchsorted(levels, np.clip(grades, 0, levels[-1])), dtype=np.int64)
        rankings = sampled_rankings(judged.ranked.tags, judged.ranked.rankings, kept, cutoff=cutoff)
        topics = np.repeat(np.arange(len(kept)), [one.documents.size for one in kept.values()])
        strata = _strata(name, kept)
        states = np.concatenate([one.states for one in kept.values()])
        graded = np.concatenate([one.graded for one in kept.values()])
        population = Population(
            sample=drawn(topics, strata, graded),
            places=rankings.places,
            people=people,
            model=_model_of(kept, of_model, levels),
            levels=levels,
            level=judged.level,
            model_level=judged.level if model_level is None else model_level,
        )
        sample = Sampled(
            pool=name,
            model=model,
            people=tuple(sorted(judged.voters.voting)),
            n_topics_without_grade=len(pools) - len(kept),
            n_sampled=int(np.count_nonzero(states != NOT_SAMPLED)),
            population=population,
        )
        _check_covered(sample, list(kept), strata)
        found = corrected_measures(population, specs, whole=drawn(topics, strata, states != NOT_SAMPLED))
        _tell(sample)
    settings = frozen_settings(
        with_model=model,
        pool=pool,
        measures=names,
        cutoff=cutoff,
        **whole.settings(),
        model_level=population.model_level,
    )
    return Corrected(
        runs=rankings.tags,
        topics=rankings.topics,
        by_measure=tuple(found),
        sample=sample,
        settings=settings,
        warnings=collected.warnings,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """The sample, and whose grades these are."""

    pool: str
    model: str
    people: tuple[str, ...]
    n_topics_without_grade: int
    n_sampled: int
    population: Population = field(repr=False)

    @property
    def n_pooled(self) -> int:
        """Documents that the sample is of."""
        return int(self.population.sample.topics.size)

    @property
    def n_judged(self) -> int:
        """Documents that people graded."""
        return int(self.population.sample.judged.size)

    @property
    def n_without_model(self) -> int:
        """Documents that the model did not grade."""
        return int(np.count_nonzero(self.population.model == NO_GRADE))


def _grades_of_model(opened: Collection, name: str) -> Grades:
    """Return the grades of a judge of kind model, by topic and document id; nothing graded is an error."""
    from store.grades.definition import QrelsDefinition

    kinds = {judge.name: judge.kind for judge in opened.grades.judges()}
    if name not in kinds:
        raise UnknownNameError("judge", name, list(kinds))
    if kinds[name] is not JudgeKind.MODEL:
        requirement = f"must be a judge of kind model, not {kinds[name].value}"
        raise ArgumentError("model", requirement, name, hint="`pooler show judges` says who is of which kind")
    found = opened.grades.sole(QrelsDefinition(judges=(name,), without_rulings=True))
    if found is None:
        message = f"{name} has graded nothing"
        raise PoolerError(message, hint="a model grades all pooled documents first")
    return found.by_topic


def _check_people(heard_: Any, model: str) -> None:
    if model in heard_.names:
        requirement = "must not be among those whose judgements correct it"
        raise ArgumentError("model", requirement, model, hint="source(..., qrels=NAME) names the person")
    kinds = {one.name: one.kind.value for one in heard_.judges if one.name in heard_.graders}
    for name in sorted(name for name, kind in kinds.items() if kind == "model"):
        warn(f"{name} is a model, not a person: these are corrections of one model by another")


def _strata(name: str, pools: Mapping[str, SampledPool]) -> NDArray[np.int64]:
    """Give every stratum of a topic a number from 0; refuse samples of random sizes."""
    sampled = np.concatenate([one.states != NOT_SAMPLED for one in pools.values()])
    inclusion = np.concatenate([np.asarray(one.inclusion) for one in pools.values()])
    parts = [
        np.stack([np.full(one.documents.size, topic), np.asarray(one.strata)])
        for topic, one in enumerate(pools.values())
    ]
    codes = np.unique(np.concatenate(parts, axis=1), axis=1, return_inverse=True)[1].reshape(-1)
    shares = (np.bincount(codes, sampled) / np.bincount(codes))[codes]
    if not np.allclose(shares[sampled], inclusion[sampled], atol=1e-9):
        message = f"pool `{name}` is no stratified simple random sample: sizes of its strata are random"
        raise PoolerError(message, hint=_DRAWS)
    return np.asarray(codes, dtype=np.int64)


def _model_of(
    pools: Mapping[str, SampledPool], grades: Grades, levels: NDArray[np.int64]
) -> NDArray[np.int64]:
    found = []
    for topic, one in pools.items():
        ids, of_ids = grades.get(topic, (np.empty(0, np.int64), np.empty(0, np.int64)))
        known = np.append(ids, -1)  # they ascend
        at = np.searchsorted(known[:-1], one.documents)
        places = np.append(np.searchsorted(levels, np.maximum(of_ids, 0)), NO_GRADE)
        found.append(np.where(known[at] == one.documents, places[at], NO_GRADE))
    return np.concatenate(found)


def _spec(text: str, levels: NDArray[np.int64], level: int, cutoff: int) -> MeasureSpec:
    is_scaled = text.lower().startswith("sdcg")
    name = known_measure(text[1:] if is_scaled else text, level=level)
    ranks = np.arange(1, min(name.cutoff or cutoff, cutoff) + 1)
    known = ("P", "RBP", "AP", "DCG", "nDCG")
    if name.name not in known or (name.name == "P" and name.cutoff is None):
        raise ArgumentError("measure", f"must be one of {_KNOWN} to be corrected", text)
    if name.rel not in (None, level):
        raise ArgumentError(
            "measure",
            f"must have the level {level} of all",
            text,
            hint=f"source(..., level={name.rel}) sets it for all",
        )
    if name.name == "P":
        return MeasureSpec(str(name), "linear", np.full(ranks.size, 1 / int(name.cutoff or 1)))
    if name.name == "RBP":
        return MeasureSpec(str(name), "linear", np.asarray((1 - name.p) * name.p ** (ranks - 1.0)))
    if name.name == "AP":
        return MeasureSpec(str(name), "AP", 1.0 / ranks)
    worth = discounts(ranks.size, name.discount)
    gains = np.exp2(levels) - 1.0 if name.gain == "exponential" else levels.astype(np.float64)
    if name.name == "nDCG":
        if name.discount == "jarvelin":
            raise ArgumentError("measure", "must have the discount log2 to be corrected", text)
        return MeasureSpec(str(name), "nDCG", worth, gains)
    if is_scaled:
        return MeasureSpec("s" + str(name), "linear", worth / (worth.sum() * gains[-1]), gains)
    return MeasureSpec(str(name), "linear", worth, gains)


def _check_covered(sample: Sampled, topics: Sequence[str], strata: NDArray[np.int64]) -> None:
    population = sample.population.sample
    if not population.uncovered.size:
        return
    rows = np.flatnonzero(strata == population.uncovered[0])
    where = f", topic {topics[population.topics[rows[0]]]}" if np.ptp(population.topics[rows]) == 0 else ""
    others = population.uncovered.size - 1
    message = f"pool `{sample.pool}`{where}: no sampled document of a stratum of {rows.size:,} is judged"
    message += f", nor of {counted(others, 'other stratum', 'other strata')}" if others else ""
    raise PoolerError(message, hint="nothing stands for it: judge the sample to its end")


def _tell(sample: Sampled) -> None:
    if sample.n_topics_without_grade:
        n_topics = counted(sample.n_topics_without_grade, "topic")
        say(f"pool {sample.pool}: {n_topics} without a judged document left out")
    if n_lost := sample.n_sampled - sample.n_judged:
        words = (
            f"{n_lost:,} of {counted(sample.n_sampled, 'sampled document')} without a grade: taken as lost at"
        )
        words += " random within their strata"
        if n_lost > FEW_WAITING * sample.n_sampled:
            words += f"; more than {FEW_WAITING:.0%}, so judge the rest before using these numbers"
        warn(words)
    if n_without := sample.n_without_model:
        warn(
            f"{sample.model} did not grade {n_without:,} of {counted(sample.n_pooled, 'pooled document')}:"
            " nothing is expected of them"
        )
    if not sample.population.is_learnable:
        warn(
            f"fewer than {FEWEST} judged documents of some grade of {sample.model}: too few to learn from, so"
            " people's judgements alone are used"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Corrected(Result):
    """A model's scores, corrected.

    Tables: `runs`, a row a measure and run; `measures`, what the model's grades are worth; `pairs`,
    differences of every two runs; `by_topic`.
    """

    runs: Sequence[str]
    topics: Sequence[str]
    by_measure: tuple[CorrectedMeasure, ...]
    sample: Sampled = field(repr=False)

    SHOWN = 2

    def facts(self) -> Mapping[str, Any]:
        """Return whose grades the scores are of."""
        sample = self.sample
        return {
            "sample": f"pool {sample.pool}",
            "model": sample.model,
            "people": ", ".join(sample.people),
            "topics": len(self.topics),
            "topics_without_grade": sample.n_topics_without_grade,
            "pooled": sample.n_pooled,
            "sampled": sample.n_sampled,
            "judged_by_people": sample.n_judged,
            "human_share": sample.n_judged / sample.n_pooled,
            "without_model_grade": sample.n_without_model,
            "strata": int(np.count_nonzero(sample.population.sample.sizes)),
        }

    def _tables(self) -> Iterator[Table]:
        facts = {name: fact for name, fact in self.facts().items() if fact}
        share = facts["human_share"]
        facts["human_share"] = f"{share:.1%}" if share >= 0.001 else "under 0.1%"
        runs = self._runs()
        # Of each measure the best run first.
        rows = sorted(runs.order("score", descending=True), key=lambda row: row // len(self.runs))
        scores = ("measure", "run", "by_model", "score")
        columns: list[str | Column] = [*scores, *_INTERVALS, "lowest", "highest"]
        yield runs.seen_as(facts_view(facts), View(runs, columns, rows=rows))
        yield self._measures()
        yield self._pairs().seen_as(columns=["measure", RUN_A, RUN_B, DIFFERENCE, *_INTERVALS])
        yield self._by_topic()

    def _runs(self) -> Table:
        model, n_runs = self.sample.model, len(self.runs)
        parts: list[dict[str, Any]] = []
        for one in self.by_measure:
            nothing = np.full(n_runs, np.nan)
            error = nothing if one.covariance is None else np.sqrt(np.diag(one.covariance))
            bounds = (nothing, nothing) if one.bounds is None else one.bounds
            parts.append(
                {
                    "run": self.runs,
                    "by_model": one.by_model,
                    "score": one.scores,
                    "outside": nothing if one.outside is None else one.outside,
                    "lowest": bounds[0],
                    "highest": bounds[1],
                    **self._with_limits(one, one.scores, error, one.by_topic),
                }
            )
        columns = [
            Column("measure"),
            RUN,
            Column("by_model", "float", f"by {model}", "the model's own score, of its grades alone"),
            Column("score", "float", "corrected", "the same corrected by what people say of the sample"),
            *_LIMITS,
            Column(
                "outside",
                "float",
                about="share of the measure's weight on documents outside the pool, counted as not relevant",
                show="never",
            ),
            Column(
                "lowest", "float", about="were sampled documents without a grade not relevant", show="if_any"
            ),
            Column("highest", "float", about="were they all of the highest grade", show="if_any"),
            REASON,
        ]
        return Table("runs", columns, _below(columns, parts), "Corrected scores", self._words())

    def _with_limits(
        self,
        one: CorrectedMeasure,
        values: NDArray[np.float64],
        error: NDArray[np.float64],
        by_topic: NDArray[np.float64],
    ) -> dict[str, Any]:
        low, high = topic_interval(by_topic)
        return {
            "measure": [one.name] * values.size,
            "standard_error": error,
            "low": values - NORMAL * error,
            "high": values + NORMAL * error,
            "topics_low": low,
            "topics_high": high,
            "reason": [self._why(one)] * values.size,
        }

    def _measures(self) -> Table:
        rows = []
        for one in self.by_measure:
            row: dict[str, Any] = {"measure": one.name, "way": one.way, "helped": one.helped}
            row |= {f"se_{way}": float(np.sqrt(variance)) for way, variance in one.variances.items()}
            outside = one.outside
            row |= {"outside": None if outside is None else float(outside.mean()), "reason": self._why(one)}
            rows.append(row)
        return Table.of_rows("measures", _WORTH, rows, title="What the model's grades are worth")

    def _pairs(self) -> Table:
        """Make a row for every measure and two runs, the one ahead first."""
        parts: list[dict[str, Any]] = []
        for one in self.by_measure:
            order = np.argsort(-np.round(one.scores, 10), kind="stable")
            upper = np.triu_indices(order.size, 1)
            first, second = order[upper[0]], order[upper[1]]
            variance = np.full(first.size, np.nan)
            if one.covariance is not None:
                own = np.diag(one.covariance)
                variance = np.maximum(own[first] + own[second] - 2 * one.covariance[first, second], 0.0)
            difference = one.scores[first] - one.scores[second]
            by_topic = one.by_topic[first] - one.by_topic[second]
            pairs = {"a": [self.runs[run] for run in first], "b": [self.runs[run] for run in second]}
            limits = self._with_limits(one, difference, np.sqrt(variance), by_topic)
            parts.append({**pairs, "difference": difference, **limits})
        columns = [Column("measure"), RUN_A, RUN_B, DIFFERENCE, *_LIMITS, REASON]
        return Table("pairs", columns, _below(columns, parts), "Differences of corrected scores")

    def _by_topic(self) -> Table:
        n_topics = len(self.topics)
        values = np.concatenate([one.by_topic.ravel() for one in self.by_measure])
        columns: dict[Column, Any] = {
            Column("measure"): [
                one.name for one in self.by_measure for _ in range(len(self.runs) * n_topics)
            ],
            RUN: [run for _ in self.by_measure for run in self.runs for _ in self.topics],
            TOPIC: [*self.topics] * (len(self.runs) * len(self.by_measure)),
            Column("score", "float", "corrected"): values,
            REASON: ["no-relevant" if is_none else None for is_none in np.isnan(values).tolist()],
        }
        return Table.of_columns("by_topic", columns, title="by topic")

    def _why(self, one: CorrectedMeasure) -> str | None:
        reasons = ["too-few-topics"] if len(self.topics) < 2 else []
        if one.covariance is None:
            reasons.insert(0, "not-linear")
        elif np.isnan(one.covariance).any():
            reasons.insert(0, "lone-judgement")
        return ", ".join(reasons) or None

    def _words(self) -> list[str]:
        sample = self.sample
        n_pooled, share = counted(sample.n_pooled, "pooled document"), sample.n_judged / sample.n_pooled
        words = [
            f"People judged {sample.n_judged:,} of {n_pooled} ({share:.1%}); all else is by {sample.model},"
            " corrected by their judgements."
        ]
        if useless := [one.name for one in self.by_measure if one.helped is False]:
            words.append(f"The model did not help: as much is left open without it ({', '.join(useless)}).")
        words += [
            f"{one.name}: its interval covers about .87 at a sample of 10 %, since the ideal list is"
            " estimated too short; sDCG has none of this."
            for one in self.by_measure
            if one.kind == "nDCG"
        ]
        if any(one.kind == "linear" for one in self.by_measure):
            words.append(
                "Two runs are compared by the interval of their difference (table `pairs`), not by their two"
                " intervals."
            )
        return words


def _below(columns: Sequence[Column], parts: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {one.name: [cell for part in parts for cell in part[one.name]] for one in columns}
