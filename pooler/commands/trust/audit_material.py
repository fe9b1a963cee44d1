"""What an audit looks at: both sides' grades and scores of runs; scores corrected by people's grades."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pooler.commands.measure.measured import known_measure
from pooler.messages import warn
from pooler.reading.run_list import NO_MODEL, RunEntry
from pooler.sources.files import entries_of, named_runs
from pooler.sources.source import Opinions, Source, opened_collection
from pooler.tables import DIFFERENCE, REASON, RUN, RUN_A, RUN_B, Column, Table, View, hidden, listed
from store.analysis.agreement.votes import NO_GRADE
from store.analysis.corrected import (
    FEWEST,
    NORMAL,
    WAYS,
    CorrectedMeasure,
    MeasureSpec,
    Population,
    corrected_measure,
    drawn,
)
from store.analysis.measures.average_precision import topic_interval
from store.analysis.measures.gain import discounts
from store.analysis.measures.names import MEASURES, evaluate
from store.analysis.measures.sampled import NOT_SAMPLED, SampledPool, sampled_rankings
from store.analysis.rankings import graded_rankings
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.text import counted

if TYPE_CHECKING:
    from store.analysis.agreement.votes import PopulationVotes
    from store.analysis.arrays import Grades, RankedDocuments
    from store.analysis.audit import Bias, Favour, OrderAgreement
    from store.grades.definition import QrelsDefinition
    from store.records import Run, Scale, StoredRun

FIRST = 10
"""Documents of a run that it is taken to have put forward."""


@dataclass(frozen=True, slots=True, eq=False)
class AuditedGrades:
    """What people and the audited judge said of the documents that somebody of them graded."""

    scale: Scale
    topics: tuple[str, ...]
    topic_codes: NDArray[np.int64]
    """Shape (n_documents,): index into `topics`."""
    documents: NDArray[np.int64]
    """Shape (n_documents,): ids, as in the rankings."""
    human: NDArray[np.int64]
    """Shape (n_documents,): index into the scale, of people's one grade; `NO_GRADE` = none."""
    model: NDArray[np.int64]
    """The same of the audited judge."""
    people: NDArray[np.float64]
    """Shape (n_documents, n_people): values of the scale; NaN = none."""
    lengths: NDArray[np.int64]
    """Shape (n_documents,): characters of the text, as stored; -1 = there is no text."""
    counts: Mapping[str, int]
    """What happened to documents, in words, and how many there are."""

    @property
    def both(self) -> NDArray[np.bool_]:
        """Shape (n_documents,): documents that people and the audited judge graded."""
        return np.asarray((self.human != NO_GRADE) & (self.model != NO_GRADE))

    def tables(self) -> NDArray[np.int64]:
        """Count documents that both graded by topic, people's grade and the other."""
        q, both = len(self.scale.values), self.both
        cells = (self.topic_codes[both] * q + self.human[both]) * q + self.model[both]
        n_topics = len(self.topics)
        return np.bincount(cells, minlength=n_topics * q * q).reshape(n_topics, q, q)

    def by_topic(self, places: NDArray[np.int64], kept: NDArray[np.bool_]) -> Grades:
        """Return ids and grades, of people or of the other, of some documents that they graded."""
        values = np.array(self.scale.values, dtype=np.int64)
        found = {}
        for code in np.unique(self.topic_codes[kept]).tolist():
            rows = kept & (self.topic_codes == code)
            found[self.topics[code]] = (self.documents[rows], values[places[rows]])
        return found


def audited_grades(
    opinions: Opinions, model: str, people: Sequence[str], rule: QrelsDefinition
) -> AuditedGrades:
    """Gather grades; several people's become one by a rule, which must then be there."""
    names = [model, *people]
    kinds = {judge.name: judge.kind.value for judge in opinions.grades.judges()}
    for name in names:
        if name not in kinds:
            raise UnknownNameError("judge", name, list(kinds))
    if not people:
        message = f"against whom is {model} audited?"
        raise PoolerError(message, hint="name each with --against JUDGE, or qrels that count some")
    if model in people:
        raise ArgumentError("against", "must not be the audited judge", model)
    models = [name for name in people if kinds[name] == "model"]
    if models:
        is_one = len(models) == 1
        are = "is a model, not a person" if is_one else "are models, not people"
        whom = "another" if is_one else "others"
        warn(f"{listed(models)} {are}: this is an audit of one model against {whom}")
    for name in people:
        if kinds[name] == "adjudicator":
            warn(f"{name} is an adjudicator, who saw the others' opinions")
    found = opinions.grades.votes(names, least=1)
    votes = found.votes
    grid = np.full((votes.n_documents, len(names)), NO_GRADE, dtype=np.int64)
    grid[votes.documents, votes.judge_codes] = votes.places
    values = np.array(votes.scale_values, dtype=np.float64)
    numbers = found.document_numbers.tolist()
    known = {} if opinions.collection is None else opinions.collection.documents.lengths(set(numbers))
    human = grid[:, 1] if len(people) == 1 else _aggregated(found, people, opinions.scale, rule)
    return AuditedGrades(
        scale=opinions.scale,
        topics=votes.topics,
        topic_codes=votes.topic_codes,
        documents=found.document_numbers,
        human=human,
        model=grid[:, 0],
        people=np.where(grid[:, 1:] == NO_GRADE, np.nan, values[grid[:, 1:]]),
        lengths=np.array([known.get(number, -1) for number in numbers], dtype=np.int64),
        counts=_counts(found, grid, human, names),
    )


def _aggregated(
    found: PopulationVotes, people: Sequence[str], scale: Scale, rule: QrelsDefinition
) -> NDArray[np.int64]:
    """Make one grade of several people's; rulings have no part in it."""
    from store.grades.qrels import outcome_of, votes_alone

    if rule.aggregate is None:
        message = f"{len(people)} people graded: which of their grades counts?"
        raise PoolerError(message, hint="--aggregate majority --ties low makes one grade of them")
    if rule.aggregate == "sum":
        raise ArgumentError("aggregate", "must give grades of the scale", f"{rule.aggregate}")
    rule.check()
    rule.check_scale(scale)
    outcome = outcome_of(votes_alone(found.votes, people, scale), rule)
    places = np.searchsorted(np.array(scale.values), outcome.grades)
    return np.where(outcome.is_given, places, NO_GRADE).astype(np.int64)


def _counts(
    found: PopulationVotes, grid: NDArray[np.int64], human: NDArray[np.int64], names: Sequence[str]
) -> dict[str, int]:
    model, has_model, has_human = names[0], grid[:, 0] != NO_GRADE, human != NO_GRADE
    has_person = (grid[:, 1:] != NO_GRADE).any(axis=1)
    counts = {
        "graded by both": int(np.count_nonzero(has_model & has_human)),
        "topics of these": int(np.unique(found.votes.topic_codes[has_model & has_human]).size),
        f"graded by {model} alone": int(np.count_nonzero(has_model & ~has_person)),
        "graded by people alone": int(np.count_nonzero(~has_model & has_person)),
        "people disagree, no grade of theirs": int(np.count_nonzero(has_person & ~has_human)),
    }
    for place, name in enumerate(names):
        counts[f"skipped by {name}"] = int(found.skipped[place])
        counts[f"could not be judged by {name}"] = int(found.cannot[place])
    always = ("graded by both", "topics of these", f"graded by {model} alone", "graded by people alone")
    return {what: n for what, n in counts.items() if n or what in always}


@dataclass(frozen=True, slots=True, eq=False)
class AuditedRuns:
    """The runs, what is known of them, and how both sides score them."""

    tags: tuple[str, ...]
    groups: tuple[str, ...]
    """Of each run; empty = none."""
    models: tuple[tuple[str, ...] | None, ...]
    """Models that each run uses; ``None`` = not said."""
    is_circular: NDArray[np.bool_]
    """Shape (n_runs,): runs that use the audited judge's own model."""
    scores: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]
    """By measure, of people's grades and of the judge's, shape (n_runs, n_topics); NaN = undefined."""
    first: NDArray[np.bool_]
    """Shape (n_both, n_runs): which runs have a document that both graded among their first."""

    @property
    def families(self) -> list[str]:
        """The models that runs use, by name."""
        return sorted({name for one in self.models for name in one or ()})

    def using(self, family: str) -> NDArray[np.bool_]:
        """Say which runs use a model."""
        return np.array([family in (one or ()) for one in self.models], dtype=np.bool_)

    def members(self) -> dict[tuple[str, str], NDArray[np.bool_]]:
        """Return which runs are of a group, and which use a model."""
        groups = sorted({group for group in self.groups if group})
        found = {("group", name): np.array([one == name for one in self.groups]) for name in groups}
        return found | {("uses", name): self.using(name) for name in self.families}


@dataclass(frozen=True, slots=True, eq=False)
class MeasureAudit:
    """What the audited judge does to one measure; no topic has it = everything is ``None``."""

    name: str
    n_topics: int
    n_left_out: int
    ranked: NDArray[np.bool_]
    """Shape (n_runs,): runs that have a place; the others use the audited judge's own model."""
    human: NDArray[np.float64]
    """Shape (n_runs,): mean scores by people's grades, and by the other's; NaN without a topic."""
    model: NDArray[np.float64]
    order: OrderAgreement | None = None
    bias: Bias | None = None
    conclusions: tuple[tuple[int, int], ...] = ()
    """Pairs of ranked runs of every one of `CONCLUSIONS`, and of these how many turn."""
    favours: Mapping[tuple[str, str], Favour] = field(default_factory=dict)
    """By what is meant, ``group`` or ``uses``, and its name."""
    p_holm: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Their p, adjusted for their number; NaN = undefined."""


def measured_runs(
    opinions: Opinions,
    grades: AuditedGrades,
    measures: Sequence[str],
    *,
    level: int,
    model_level: int,
    family: str,
    uses: Mapping[str, Iterable[str]] | None,
    cutoff: int | None,
) -> AuditedRuns | None:
    """Score the runs by both sides; ``None`` where no run is named."""
    stored = opinions.collection
    if stored is None:
        ranked = opinions.source.rankings
    else:
        tags = [run for run in opinions.source.option("runs") if isinstance(run, str)]
        ranked = stored.runs.ranked(tags, order=opinions.source.order, docnos=False)
    if not ranked.tags:
        return None
    groups, models = _declared(opinions, ranked.tags, uses)
    names = list(dict.fromkeys(measures))
    both = [[known_measure(one, level=cut) for one in names] for cut in (level, model_level)]
    for name in both[0]:
        if MEASURES[name.name].is_sum:
            raise ArgumentError("measure", "must be means over topics, not counts", str(name))
    human, model = (grades.by_topic(places, grades.both) for places in (grades.human, grades.model))
    looked = max(cutoff or 1000, *(name.cutoff or 0 for name in both[0]))
    scores = []
    for given, wanted in zip((human, model), both, strict=True):
        rankings = graded_rankings(list(given), ranked.tags, ranked.rankings, given, cutoff=looked)
        scores.append([one.values for one in evaluate(rankings, wanted)])
    return AuditedRuns(
        tags=ranked.tags,
        groups=groups,
        models=models,
        is_circular=np.array([family in (one or ()) for one in models], dtype=np.bool_),
        scores=dict(zip(names, zip(*scores, strict=True), strict=True)),
        first=_put_forward(ranked, grades),
    )


def _declared(
    opinions: Opinions, tags: Sequence[str], uses: Mapping[str, Iterable[str]] | None
) -> tuple[tuple[str, ...], tuple[tuple[str, ...] | None, ...]]:
    source = opinions.source
    runs: Iterable[tuple[str, RunEntry | Run | StoredRun]]
    if opinions.collection is not None:
        runs = [(run.tag, run) for run in opinions.collection.runs.all()]  # those not named, too
    else:
        runs = zip(tags, named_runs(source.option("runs"), source.option("listed")), strict=True)
    known_runs = dict(runs)
    groups = {tag: one.group for tag, one in known_runs.items()}
    declared = {tag: one.models if isinstance(one, RunEntry) else None for tag, one in known_runs.items()}
    if uses is not None:
        for tag in uses:
            if tag not in groups:
                raise UnknownNameError("run", tag, list(groups))
        for tag, models in uses.items():
            known, stated = declared.get(tag), tuple(models)
            if known is not None and set(known) != set(stated):
                quoted = [f"`{', '.join(one) or NO_MODEL}`" for one in (known, stated)]
                message = (
                    f"run `{tag}`: expected models {quoted[0]}, as the list of runs says, got {quoted[1]}"
                )
                raise PoolerError(message, hint="leave the run out of `uses`, or correct the list of runs")
            declared[tag] = stated
    return tuple(groups[tag] for tag in tags), tuple(declared.get(tag) for tag in tags)


def listed_models(listed: str) -> dict[str, tuple[str, ...]]:
    """Return the models that a list says runs of a collection use, by tag; each of its lines names one."""
    found = {}
    for one in entries_of((), listed):
        if one.models is None:
            continue
        if one.tag is None:
            hint = "a column `tag` says which run of the collection each line means"
            raise PoolerError(f"{listed}: expected the tag of `{one.file}`, got none", hint=hint)
        found[one.tag] = one.models
    return found


def _put_forward(ranked: RankedDocuments, grades: AuditedGrades) -> NDArray[np.bool_]:
    topics, documents = grades.topic_codes[grades.both], grades.documents[grades.both]
    found = np.zeros((documents.size, len(ranked.tags)), dtype=np.bool_)
    for code in np.unique(topics).tolist():
        rows = np.flatnonzero(topics == code)
        for run, tag in enumerate(ranked.tags):
            ranking = ranked.rankings.get((tag, grades.topics[code]), documents[:0])
            found[rows, run] = np.isin(documents[rows], ranking[:FIRST])
    return found


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
        raise PoolerError(f"pool {name}: no sampled document is judged", hint="people judge the sample first")
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
    whole = drawn(topics, strata, is_sampled)
    found = [corrected_measure(population, spec, whole=whole) for spec in specs]
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
    if name.name not in known or name.condensed or (name.name == "P" and name.cutoff is None):
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
