"""A judge, as a rule a model, audited against people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np

from pooler.command import Cutoff, Given, Level, Option, Seed, Share, command
from pooler.commands.trust.audit_material import MeasureAudit, audited_grades, listed_models, measured_runs
from pooler.commands.trust.audit_tables import Audit
from pooler.judge_kinds import warn_about_voters
from pooler.messages import progress, warn
from pooler.result import frozen_settings
from pooler.sources.judgement_files import is_file, named_file
from pooler.sources.source import source_of
from store.analysis.agreement.intervals import FEW_TOPICS
from store.analysis.agreement.votes import level_index
from store.analysis.audit import (
    CONCLUSIONS,
    FEW_PAIRS,
    AlternativeTest,
    OddsRatio,
    alternative_test,
    bias,
    conclusions,
    cut_agreements,
    exposure_odds,
    favour,
    length_bias,
    order_agreement,
)
from store.analysis.significance.pairs import holm
from store.errors import ArgumentError, PoolerError
from store.grades import Aggregate
from store.grades.definition import QrelsDefinition
from store.records import Ties
from store.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.commands.trust.audit_material import AuditedGrades, AuditedRuns
    from pooler.sources.source import Measurable

    Judged: TypeAlias = Measurable
else:  # a collection is loaded for no type
    Judged = Annotated[object, Given("pooler.cli.options:AuditOptions", "source")]

MEASURES = ("AP", "P@10", "nDCG@10")


@command
def audit(
    source: Judged,
    model: Annotated[str, Option("JUDGE|FILE")],
    against: Annotated[
        str | Sequence[str],
        Option(
            "--against JUDGE", read=lambda _, texts: texts, repeated=True, default="all others of --qrels"
        ),
    ] = (),
    *,
    aggregate: Annotated[Aggregate | None, Option(default="none, for one person")] = None,
    ties: Ties | None = None,
    level: Level = None,
    model_level: Annotated[int | None, Option(default="that of people")] = None,
    measures: Annotated[
        str | Sequence[str],
        Option(
            "--measure -m MEASURE",
            "Repeatable; see `show measures`.",
            read=lambda _, texts: texts,
            repeated=True,
            default="AP, P@10, nDCG@10",
        ),
    ] = MEASURES,
    top: Annotated[int, Option("--top K", "Best runs to look at apart.", least=1)] = 10,
    alpha: Share = 0.05,
    epsilon: float = 0.2,
    nominal: bool = False,
    family: Annotated[str | None, Option("--family NAME", default="its name")] = None,
    uses: Annotated[
        str | Mapping[str, Iterable[str]] | None, Option("--runs FILE", read=lambda _, text: text)
    ] = None,
    circular: bool = False,
    cutoff: Cutoff = None,
    sample: Annotated[str | None, Option("--sample NAME", default="the only one")] = None,
    resamples: Annotated[int, Option(least=100, most=1_000_000)] = 2000,
    seed: Seed = 1,
) -> Audit:
    """Measure what changes where a model's grades replace people's.

    First a verdict in words; then, over the documents that both graded: grades and kappa by level, what
    each grade is worth, by length of document; how runs are scored and ordered, which groups of runs gain,
    which significant differences appear or vanish, and, of several people, the alternative annotator test. By
    name alone: `runs`, the scores of every run; `corrected` and `corrected_pairs`, scores and differences by
    a model that graded a whole pool, corrected by people's grades of a random sample of it, with intervals.

    Example: pooler audit gpt --against alice --against bob --aggregate min

    model : The judge that is audited, of any kind; with --qrels FILE a file may stand for its name.
    against : A person; may be repeated.
    aggregate : How people's grades become one.
    ties : How majority and median break ties.
    level : Least relevant grade, or the scale's level.
    model_level : The same of the audited judge.
    alpha : Level of significance of t tests, two-sided.
    epsilon : Alternative annotator test: by how much a person may be better and still be replaced; .2 for
        experts, .15 for skilled people, .1 for a crowd.
    nominal : In that test, treat grades as names without an order.
    family : Name of its model in runs.
    uses : TSV that lists the runs: file, tag, group, name, models (that the run uses, as gpt-4,llama;
        none; empty = unknown). Of a collection tag and models are read.
    circular : Rank runs that use the judge's own model, too.
    sample : Table `corrected`: the sampled pool.
    resamples : Times to resample topics.
    seed : Seed of resampling.

    Raises
    ------
    UnknownNameError
        If a judge, a run or a measure is not known.
    PoolerError
        If there is no document that both graded, if several people's grades have no rule, if `uses`
        contradicts what a run says, or if every run uses the audited judge's own model.

    Notes
    -----
    `uses` may be run to the models it uses, none = no model; default what a list of run files says.
    O(resamples (runs**2 + runs topics)) for each measure. Mean scores are rounded to 10 decimals before runs
    are put in order.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pooler.sources.source import source
    >>> with TemporaryDirectory() as folder:
    ...     for judge, grades in {"ann": (2, 0, 1), "bot": (2, 1, 1)}.items():
    ...         lines = [f"1 0 d{place} {grade}" for place, grade in enumerate(grades)]
    ...         _ = Path(folder, f"{judge}.qrels").write_text(chr(10).join(lines), encoding="utf-8")
    ...     found = audit(source(judgements=[f"{folder}/*.qrels"]), "bot", "ann")
    >>> found.grades.tables().sum(axis=0).tolist()
    [[0, 1, 0], [0, 1, 0], [0, 0, 1]]
    """
    whole = source_of(source)
    if whole.judgements and (is_file(model) or "=" in model):
        model = str(named_file(model).judge)
    if isinstance(uses, str):
        uses = None if whole.judgements else listed_models(uses)
    people = [against] if isinstance(against, str) else list(dict.fromkeys(against))
    measures = [measures] if isinstance(measures, str) else list(measures)
    if not measures:
        raise ArgumentError("measures", "must name one or more", measures)
    rule = QrelsDefinition(aggregate=aggregate, ties=ties)
    with whole.judging(of_scale=isinstance(level, str)) as opinions:
        scale = opinions.scale
        if not people:
            whose = whole.definition  # of the qrels of one judge this one
            voters = opinions.grades.voters(whose.judges, whose.kinds)
            people = [name for name in voters.voting if name != model]
            if "model" not in voters.counts:  # else it is said below who is one
                warn_about_voters(voters.without(model), "count together")
        level = QrelsDefinition().level_on(scale, level)
        model_level = level if model_level is None else model_level
        cuts = (level_index(scale, level), level_index(scale, model_level))
        grades = audited_grades(opinions, model, people, rule)
        if not grades.both.any():
            message = f"no document was graded by {model} and by {' or '.join(people)}"
            raise PoolerError(message, hint="an audit needs documents that both sides graded")
        family = model if family is None else family
        own: dict[str, Any] = {"level": level, "model_level": model_level, "family": family}
        runs = measured_runs(opinions, grades, measures, **own, uses=uses, cutoff=cutoff)
        drawn = {"seed": seed, "resamples": resamples}
        both, values = grades.both, np.array(scale.values, dtype=np.float64)
        of_model = np.where(grades.model < 0, np.nan, values[grades.model])
        test = alternative_test(grades.people, of_model, grades.topic_codes, epsilon=epsilon, nominal=nominal)
        of_people, lengths, codes = values[grades.human[both]], grades.lengths[both], grades.topic_codes[both]
        length = length_bias(lengths, of_people, of_model[both], codes, **drawn)
        by_measure: list[MeasureAudit] = []
        odds: dict[str, OddsRatio | None] = {}
        if runs is not None:
            ranked = np.ones(len(runs.tags), dtype=np.bool_) if circular else ~runs.is_circular
            if not ranked.any():
                message = f"every run uses {family}, the model of the audited judge"
                raise PoolerError(message, hint="--circular ranks these runs all the same")
            with progress("measures", len(runs.scores)) as advance:
                for one, (human, judged) in runs.scores.items():
                    part = _of_measure(one, human, judged, runs, ranked, top=top, alpha=alpha, **drawn)
                    by_measure.append(part)
                    advance(1)
            odds = {name: _odds(grades, runs, name, cuts[1], **drawn) for name in runs.families}
        _tell(grades, test, runs, circular=circular, family=family)
    own |= {"model": model, "against": people, "scale": list(scale.values), "uses": None}
    return Audit(
        grades=grades,
        audited=runs,
        source=whole,
        levels=tuple(cut_agreements(grades.tables(), **drawn)),
        length=length,
        test=test,
        by_measure=tuple(by_measure),
        odds=odds,
        settings=frozen_settings(**own),
    )


def _of_measure(
    name: str,
    by_people: NDArray[np.float64],
    by_model: NDArray[np.float64],
    runs: AuditedRuns,
    ranked: NDArray[np.bool_],
    *,
    top: int,
    alpha: float,
    seed: int,
    resamples: int,
) -> MeasureAudit:
    kept = np.isfinite(by_people).all(axis=0) & np.isfinite(by_model).all(axis=0)
    by_people, by_model = by_people[:, kept], by_model[:, kept]
    n_topics, n_left_out = by_people.shape[1], int(np.count_nonzero(~kept))
    if not n_topics:
        empty = np.full(len(runs.tags), np.nan)
        return MeasureAudit(name, 0, n_left_out, ranked, empty, empty)
    drawn = {"seed": seed, "resamples": resamples}
    human, model = by_people[ranked], by_model[ranked]
    kinds, turned = conclusions(human, model, alpha=alpha)
    gains = {what: favour(by_model - by_people, chosen, **drawn) for what, chosen in runs.members().items()}
    favours = {what: gain for what, gain in gains.items() if gain is not None}
    p_holm: dict[tuple[str, str], float] = {}
    for kind in ("group", "uses"):
        names = [what for what in favours if what[0] == kind]
        p_values = [favours[what].test.p for what in names]
        adjusted = holm([np.nan if p is None else p for p in p_values]).tolist()
        p_holm |= dict(zip(names, adjusted, strict=True))
    return MeasureAudit(
        name=name,
        n_topics=n_topics,
        n_left_out=n_left_out,
        ranked=ranked,
        human=by_people.mean(axis=1),
        model=by_model.mean(axis=1),
        order=order_agreement(human, model, top=top, **drawn),
        bias=bias(by_people, by_model, counted=ranked, **drawn),
        conclusions=tuple(
            (int((kinds == code).sum()), int(turned[kinds == code].sum())) for code in range(len(CONCLUSIONS))
        ),
        favours=favours,
        p_holm=p_holm,
    )


def _odds(
    grades: AuditedGrades, runs: AuditedRuns, family: str, cut: int, *, seed: int, resamples: int
) -> OddsRatio | None:
    of_family = runs.using(family)
    if of_family.all():
        return None
    by_family, by_others = np.stack([runs.first[:, those].any(axis=1) for those in (of_family, ~of_family)])
    kept = by_family | by_others
    rows, exposed = np.flatnonzero(grades.both)[kept], (by_family & ~by_others)[kept]
    relevant = grades.model[rows] >= cut
    people, topics = grades.human[rows], grades.topic_codes[rows]
    return exposure_odds(topics, people, exposed, relevant, seed=seed, resamples=resamples)


def _tell(
    grades: AuditedGrades, test: AlternativeTest, runs: AuditedRuns | None, *, circular: bool, family: str
) -> None:
    n_topics = np.unique(grades.topic_codes[grades.both]).size
    if n_topics < FEW_TOPICS:
        warn(f"{counted(n_topics, 'topic')}: intervals of fewer than {FEW_TOPICS} topics are too narrow")
    if few := sum(one.n < FEW_PAIRS for one in test.people):
        warn(
            f"{counted(few, 'person', 'people')} of {len(test.people)} with fewer than {FEW_PAIRS} documents:"
            " too few for the alternative annotator test"
        )
    if runs is not None and runs.is_circular.any():
        n = counted(int(runs.is_circular.sum()), "run")
        where = "ranked by it all the same" if circular else "reported apart and not ranked by it"
        warn(f"{n} with {family}, the model of the audited judge: {where}")
