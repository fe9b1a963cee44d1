"""What an audit looks at, both sides' grades and scores of runs, and its numbers of one measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from pooler.commands.measure.measured import known_measure
from pooler.messages import warn
from pooler.reading.run_list import RunEntry
from pooler.sources.files import entries_of, named_runs
from pooler.sources.source import Opinions, opened_collection
from store.analysis.agreement.votes import NO_GRADE
from store.analysis.measures.names import MEASURES, evaluate
from store.analysis.rankings import graded_rankings
from store.errors import ArgumentError, PoolerError, UnknownNameError
from store.formats.run_header import NO_MODEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from store.analysis.agreement.votes import PopulationVotes
    from store.analysis.arrays import Grades, RankedDocuments
    from store.analysis.audit import Bias, Favour, OrderAgreement
    from store.collection import Collection
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
    for name in people:
        if kinds[name] == "model":
            warn(f"{name} is a model, not a person: this is an audit of one model against another")
        if kinds[name] == "adjudicator":
            warn(f"{name} is an adjudicator, who saw the others' opinions")
    found = opinions.grades.votes(names, least=1)
    votes = found.votes
    grid = np.full((votes.n_documents, len(names)), NO_GRADE, dtype=np.int64)
    grid[votes.documents, votes.judge_codes] = votes.places
    values = np.array(votes.scale_values, dtype=np.float64)
    human = grid[:, 1] if len(people) == 1 else _aggregated(found, people, opinions.scale, rule)
    return AuditedGrades(
        scale=opinions.scale,
        topics=votes.topics,
        topic_codes=votes.topic_codes,
        documents=found.document_numbers,
        human=human,
        model=grid[:, 0],
        people=np.where(grid[:, 1:] == NO_GRADE, np.nan, values[grid[:, 1:]]),
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
    declared = {
        tag: (one if isinstance(one, RunEntry) else RunEntry(one.file).with_header(one.header)).models
        for tag, one in known_runs.items()
    }
    if uses is not None:
        for tag in uses:
            if tag not in groups:
                raise UnknownNameError("run", tag, list(groups))
        for tag, models in uses.items():
            known, stated = declared.get(tag), tuple(models)
            if known is not None and set(known) != set(stated):
                quoted = [f"`{', '.join(one) or NO_MODEL}`" for one in (known, stated)]
                message = f"run `{tag}`: expected models {quoted[0]}, as it says itself, got {quoted[1]}"
                raise PoolerError(message, hint="leave the run out of `uses`, or correct what its file says")
            declared[tag] = stated
    return tuple(groups[tag] for tag in tags), tuple(declared.get(tag) for tag in tags)


def listed_models(listed: str, collection: str | Collection) -> dict[str, tuple[str, ...]]:
    """Return the models that a list says runs of a collection use, by tag.

    `PoolerError` where a line names no tag, `FormatError` where the header of a run contradicts it.
    """
    found = {}
    for one in entries_of((), listed):
        if one.models is None:
            continue
        if one.tag is None:
            hint = "a column `tag` says which run of the collection each line means"
            message = f"{listed}: expected the tag of `{one.file}`, got none"
            raise PoolerError(message, hint=hint)
        found[one.tag] = replace(one, group="")  # groups are the collection's
    with opened_collection(collection) as opened:
        for run in opened.runs.all():
            if run.tag in found:
                found[run.tag].with_header(run.header)
    return {tag: one.models or () for tag, one in found.items()}


def _put_forward(ranked: RankedDocuments, grades: AuditedGrades) -> NDArray[np.bool_]:
    topics, documents = grades.topic_codes[grades.both], grades.documents[grades.both]
    found = np.zeros((documents.size, len(ranked.tags)), dtype=np.bool_)
    for code in np.unique(topics).tolist():
        rows = np.flatnonzero(topics == code)
        for run, tag in enumerate(ranked.tags):
            ranking = ranked.rankings.get((tag, grades.topics[code]), documents[:0])
            found[rows, run] = np.isin(documents[rows], ranking[:FIRST])
    return found
