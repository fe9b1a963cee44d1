"""Scores of runs by the audited judge, corrected by people's grades of a sample of a pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pooler.commands.measure.measured import known_measure
from pooler.sources.source import Source, opened_collection
from pooler.tables import DIFFERENCE, REASON, RUN, RUN_A, RUN_B, Column, Table, View, hidden
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
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from pooler.commands.trust.audit_material import AuditedGrades
    from store.analysis.arrays import Grades

FEW_WAITING = 0.1
"""Share of a sample without a grade above which it is hardly one any more."""
_DRAWS = "pooler pool --strategy uniform or stratified draws a sample"
_KNOWN = "P@k, RBP, DCG@k, AP and nDCG@k"
_SAMPLE = "for these topics: what drawing the sample leaves open"
_TOPICS = "for topics like these (t)"
_INTERVALS = (
    Column("interval", heading="95 %, sample", about=_SAMPLE, interval=("low", "high"), digits=3),
    Column(
        "topics_interval",
        heading="95 %, topics",
        about=_TOPICS,
        interval=("topics_low", "topics_high"),
        digits=3,
    ),
)
_LIMITS = [Column(name, "float") for name in ("low", "high", "topics_low", "topics_high")]


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """Corrected scores by measure, and what they rest on."""

    by_measure: Sequence[CorrectedMeasure]
    runs: Sequence[str]
    topics: Sequence[str]
    """Those where people graded a document of the sample."""
    notes: Sequence[str]

    def table(self, model: str) -> Table:
        """Make a row for every measure and run."""
        parts: list[dict[str, Any]] = []
        n_runs = len(self.runs)
        nothing = np.full(n_runs, np.nan)
        for one in self.by_measure:
            error = nothing if one.covariance is None else np.sqrt(np.diag(one.covariance))
            bounds = (nothing, nothing) if one.bounds is None else one.bounds
            errors = {way: float(np.sqrt(variance)) for way, variance in one.variances.items()}
            parts.append(
                {
                    "run": self.runs,
                    "by_model": one.by_model,
                    "score": one.scores,
                    "outside": nothing if one.outside is None else one.outside,
                    "lowest": bounds[0],
                    "highest": bounds[1],
                    "way": [one.way] * n_runs,
                    "se_calibrated": [errors.get("calibrated")] * n_runs,
                    "se_people": [errors.get("people")] * n_runs,
                    **self._with_limits(one, one.scores, error, one.by_topic),
                }
            )
        columns = [
            Column("measure"),
            RUN,
            Column("by_model", "float", f"by {model}", "the score of its grades alone, over the whole pool"),
            Column("score", "float", "corrected", "the same corrected by what people say of the sample"),
            hidden("standard_error"),
            *_LIMITS,
            Column(
                "lowest", "float", about="were sampled documents without a grade not relevant", show="if_any"
            ),
            Column("highest", "float", about="were they all of the highest grade", show="if_any"),
            *map(hidden, ("outside", "se_calibrated", "se_people")),
            hidden("way", "text"),
            REASON,
        ]
        table = Table("corrected", columns, _below(columns, parts), "Corrected scores", self.notes)
        # Of each measure the best run first.
        rows = sorted(table.order("score", descending=True), key=lambda row: row // n_runs)
        shown = ("measure", "run", "by_model", "score", *_INTERVALS, "lowest", "highest")
        return table.seen_as(View(table, shown, rows=rows))

    def pairs(self) -> Table:
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
        columns = [Column("measure"), RUN_A, RUN_B, DIFFERENCE, hidden("standard_error"), *_LIMITS, REASON]
        title = "Differences of corrected scores"
        table = Table("corrected_pairs", columns, _below(columns, parts), title)
        return table.seen_as(columns=["measure", RUN_A, RUN_B, DIFFERENCE, *_INTERVALS])

    def _with_limits(
        self,
        one: CorrectedMeasure,
        values: NDArray[np.float64],
        error: NDArray[np.float64],
        by_topic: NDArray[np.float64],
    ) -> dict[str, Any]:
        reasons = ["too-few-topics"] if len(self.topics) < 2 else []
        if one.covariance is None:
            reasons.insert(0, "not-linear")
        elif np.isnan(one.covariance).any():
            reasons.insert(0, "lone-judgement")
        low, high = topic_interval(by_topic)
        return {
            "measure": [one.name] * values.size,
            "standard_error": error,
            "low": values - NORMAL * error,
            "high": values + NORMAL * error,
            "topics_low": low,
            "topics_high": high,
            "reason": [", ".join(reasons) or None] * values.size,
        }


def _below(columns: Sequence[Column], parts: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {one.name: [cell for part in parts for cell in part[one.name]] for one in columns}


def correction(
    grades: AuditedGrades,
    source: Source,
    runs: Sequence[str],
    measures: Sequence[str],
    settings: Mapping[str, Any],
) -> Correction:
    """Correct scores by a sampled pool, by default the only one; see `store.analysis.corrected`.

    What is outside the pool counts as not relevant. `PoolerError` where the pool is no stratified simple
    random sample, or a stratum has no judged document; `ArgumentError` of a measure.
    """
    level, cutoff, model = settings["level"], settings["cutoff"] or 1000, settings["model"]
    people = grades.by_topic(grades.human, grades.human != NO_GRADE)
    of_model = grades.by_topic(grades.model, grades.model != NO_GRADE)
    with opened_collection(source.collection) as opened:
        name, pools = opened.grades.sampled_pools(people, settings["sample"])
        ranked = opened.runs.ranked(runs, order=source.order, docnos=False)
    if any(one.inclusion is None or one.strata is None for one in pools.values()):
        what = "inclusion probabilities and strata"
        message = f"pool `{name}` does not have {what}: what its judgements stand for is not known"
        raise PoolerError(message, hint=_DRAWS)
    kept = {topic: one for topic, one in pools.items() if one.graded.any()}
    if not kept:
        message = f"pool {name}: no sampled document is judged"
        raise PoolerError(message, hint="people judge the sample first")
    levels = np.union1d([0], np.maximum(grades.scale.values, 0))
    specs = [_spec(one, levels, level, cutoff) for one in measures]
    given = np.concatenate([one.grades[one.graded] for one in kept.values()])
    rankings = sampled_rankings(ranked.tags, ranked.rankings, kept, cutoff=cutoff)
    topics = np.repeat(np.arange(len(kept)), [one.documents.size for one in kept.values()])
    strata = _strata(name, kept)
    is_sampled = np.concatenate([one.states != NOT_SAMPLED for one in kept.values()])
    graded = np.concatenate([one.graded for one in kept.values()])
    population = Population(
        sample=drawn(topics, strata, graded),
        places=rankings.places,
        people=np.asarray(np.searchsorted(levels, np.clip(given, 0, levels[-1])), dtype=np.int64),
        model=_model_of(kept, of_model, levels),
        levels=levels,
        level=level,
        model_level=settings["model_level"],
    )
    if uncovered := population.sample.uncovered.tolist():
        rows = np.flatnonzero(strata == uncovered[0])
        where = f", topic {[*kept][topics[rows[0]]]}" if np.ptp(topics[rows]) == 0 else ""
        message = f"pool `{name}`{where}: no sampled document of a stratum of {rows.size:,} is judged"
        if len(uncovered) > 1:
            message += f", nor of {counted(len(uncovered) - 1, 'other stratum', 'other strata')}"
        raise PoolerError(message, hint="nothing stands for it: judge the sample to its end")
    found = corrected_measures(population, specs, whole=drawn(topics, strata, is_sampled))
    notes = _notes(name, model, population, found, int(np.count_nonzero(is_sampled)), len(pools) - len(kept))
    return Correction(found, rankings.tags, rankings.topics, notes)


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
        places = np.full(one.documents.size, NO_GRADE)
        if topic in grades:
            ids, of_ids = grades[topic]
            _, rows, at = np.intersect1d(one.documents, ids, assume_unique=True, return_indices=True)
            places[rows] = np.searchsorted(levels, np.maximum(of_ids[at], 0))
        found.append(places)
    return np.concatenate(found)


def _spec(text: str, levels: NDArray[np.int64], level: int, cutoff: int) -> MeasureSpec:
    name = known_measure(text, level=level)
    ranks = np.arange(1, min(name.cutoff or cutoff, cutoff) + 1)
    known = ("P", "RBP", "AP", "DCG", "nDCG")
    if name.name not in known or (name.name == "P" and name.cutoff is None):
        raise ArgumentError("measure", f"must be one of {_KNOWN} to be corrected", text)
    if name.rel not in (None, level):
        raise ArgumentError("measure", f"must have the level {level} of all", text)
    if name.name == "P":
        return MeasureSpec(text, "linear", np.full(ranks.size, 1 / int(name.cutoff or 1)))
    if name.name == "RBP":
        return MeasureSpec(text, "linear", np.asarray((1 - name.p) * name.p ** (ranks - 1.0)))
    if name.name == "AP":
        return MeasureSpec(text, "AP", 1.0 / ranks)
    worth = discounts(ranks.size, name.discount)
    gains = np.exp2(levels) - 1.0 if name.gain == "exponential" else levels.astype(np.float64)
    if name.name == "nDCG" and name.discount == "jarvelin":
        raise ArgumentError("measure", "must have the discount log2 to be corrected", text)
    return MeasureSpec(text, "nDCG" if name.name == "nDCG" else "linear", worth, gains)


def _notes(
    name: str,
    model: str,
    population: Population,
    found: Sequence[CorrectedMeasure],
    n_sampled: int,
    n_topics_without_grade: int,
) -> list[str]:
    n_pooled, n_judged = population.sample.topics.size, population.sample.judged.size
    pooled = counted(n_pooled, "document")
    notes = [
        f"People judged {n_judged:,} of {pooled} of pool {name} ({n_judged / n_pooled:.1%}); all else is by"
        f" {model}, corrected by their judgements."
    ]
    if n_topics_without_grade:
        notes.append(f"{counted(n_topics_without_grade, 'topic')} without a judged document left out.")
    if n_lost := n_sampled - n_judged:
        words = f"{n_lost:,} of {counted(n_sampled, 'sampled document')} without a grade: taken as lost at"
        words += " random within their strata"
        if n_lost > FEW_WAITING * n_sampled:
            words += f"; more than {FEW_WAITING:.0%}, so judge the rest before using these numbers"
        notes.append(f"{words}.")
    if n_without := int(np.count_nonzero(population.model == NO_GRADE)):
        notes.append(f"{model} did not grade {n_without:,} of {pooled}: nothing is expected of them.")
    if not population.is_learnable:
        notes.append(
            f"Fewer than {FEWEST} judged documents of some grade of {model}: too few to learn from, so"
            " people's judgements alone are used."
        )
    for one in found:
        if one.helped is not None:
            with_model, without = (one.variances[way] ** 0.5 for way in WAYS)
            words = f"{one.name}: standard errors of {with_model:.4f} (root mean square), {without:.4f} by"
            words += " people's judgements alone"
            notes.append(f"{words}{'.' if one.helped else ': the model did not help.'}")
        if one.kind == "nDCG":
            notes.append(
                f"{one.name}: its interval covers about .87 at a sample of 10 %, since the ideal list is"
                " estimated too short; DCG has none of this."
            )
    if any(one.kind == "linear" for one in found):
        notes.append(
            "Two runs are compared by the interval of their difference (table `corrected_pairs`), not by"
            " their two intervals."
        )
    return notes
