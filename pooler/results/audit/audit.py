"""A judge, as a rule a model, audited against people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pooler.messages import progress as report_progress
from pooler.messages import warn
from pooler.results.audit.material import MeasureAudit, audited_grades, measured_runs
from pooler.results.audit.tables import Audit
from pooler.results.result import Progress, collect_warnings, frozen_settings
from pooler.results.source import Source, source_of
from store.analysis.agreement.intervals import FEW_TOPICS
from store.analysis.audit.annotators import FEW_PAIRS, AlternativeTest, alternative_test
from store.analysis.audit.bias import OddsRatio, bias, exposure_odds, favour
from store.analysis.audit.levels import cut_agreements
from store.analysis.audit.orders import CONCLUSIONS, conclusions, order_agreement
from store.analysis.collapse import level_index
from store.analysis.significance.pairs import holm
from store.errors import ArgumentError, PoolerError
from store.text import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pooler.results.audit.material import AuditedGrades, AuditedRuns, MeasuredBoth
    from store.collection import Collection
    from store.grades.definition import QrelsDefinition

MEASURES = ("AP", "P@10", "nDCG@10")
TOP = 10
RESAMPLES = 2000


def audit(
    source: Source | Collection,
    model: str,
    against: str | Sequence[str],
    *,
    rule: QrelsDefinition | None = None,
    level: int | None = None,
    model_level: int | None = None,
    measures: str | Sequence[str] = MEASURES,
    top: int = TOP,
    alpha: float = 0.05,
    epsilon: float = 0.2,
    nominal: bool = False,
    family: str | None = None,
    uses: Mapping[str, Iterable[str]] | None = None,
    circular: bool = False,
    cutoff: int | None = None,
    resamples: int = RESAMPLES,
    seed: int = 1,
    progress: Progress | None = None,
) -> Audit:
    """Say what a judge's grades, as a rule a model's, do in place of people's.

    Everything is over the documents that both sides graded: grades, scores, and the orders of runs.
    Mean scores are rounded to 10 decimals before runs are put in order.

    Parameters
    ----------
    source : Source or Collection
        Judgements of several judges (``pooler.source(runs, judgements=[...])``, or a collection), and
        the runs to score; without runs grades alone are compared.
    model : str
        The judge that is audited, of any kind.
    against : str or sequence of str
        The person, or several.
    rule : Qrels, optional
        How several people's grades become one: `rule` and `ties`; rulings have no part in it.
    level, model_level : int, optional
        Least grade that counts as relevant, of people and of the audited judge; default the relaxed
        level of the scale, and for the judge that of people.
    measures : str or sequence of str, optional
        Named as in `evaluate`.
    top : int, optional
        How many of the best runs are looked at apart, from 1; with those tied with the last.
    alpha : float, optional
        Level of all t tests, two-sided, in (0, 1).
    epsilon : float, optional
        Of the alternative annotator test: by how much a person may be better and still be replaced,
        in [0, 1): .2 of experts, .15 of skilled people, .1 of a crowd.
    nominal : bool, optional
        There, grades are names without an order.
    family : str, optional
        What runs call the model of the audited judge; default its name.
    uses : mapping of str to iterable of str, optional
        Run to the models it uses, none = no model; default what a list of run files, or a header, says.
        What contradicts that is refused.
    circular : bool, optional
        Rank runs that use the audited judge's own model, too; otherwise they are reported apart.
    cutoff : int, optional
        Ranks that are looked at; as for `evaluate`.
    resamples, seed : int, optional
        Of the bootstrap over topics.

    Returns
    -------
    Audit
        A verdict in words, and every number behind it.

    Raises
    ------
    UnknownNameError
        If a judge, a run or a measure is not known.
    ArgumentError
        If an argument cannot be used.
    PoolerError
        If there is no document that both graded, if several people's grades have no rule, if `uses`
        contradicts what a run says, or if every run uses the audited judge's own model.

    Notes
    -----
    O(resamples (runs**2 + runs topics)) for each measure.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pooler.results.source import source
    >>> with TemporaryDirectory() as folder:
    ...     for judge, grades in {"ann": (2, 0, 1), "bot": (2, 1, 1)}.items():
    ...         lines = [f"1 0 d{place} {grade}" for place, grade in enumerate(grades)]
    ...         _ = Path(folder, f"{judge}.qrels").write_text(chr(10).join(lines), encoding="utf-8")
    ...     found = audit(source(judgements=[f"{folder}/*.qrels"]), "bot", "ann")
    >>> found.grades.tables().sum(axis=0).tolist()
    [[0, 1, 0], [0, 1, 0], [0, 0, 1]]
    """
    people = [against] if isinstance(against, str) else list(dict.fromkeys(against))
    measures = [measures] if isinstance(measures, str) else list(measures)
    _check(top=top, alpha=alpha, measures=measures, resamples=resamples)
    with collect_warnings(progress) as collected, source_of(source).judging() as opinions:
        scale = opinions.scale
        level = scale.relaxed if level is None else level
        model_level = level if model_level is None else model_level
        cuts = (level_index(scale, level), level_index(scale, model_level))
        grades = audited_grades(opinions, model, people, rule)
        if not grades.both.any():
            message = f"no document was graded by {model} and by {' or '.join(people)}"
            raise PoolerError(message, hint="an audit needs documents that both sides graded")
        family = model if family is None else family
        runs = measured_runs(
            opinions,
            grades,
            measures,
            level=level,
            model_level=model_level,
            family=family,
            uses=uses,
            cutoff=cutoff,
        )
        drawn = {"seed": seed, "resamples": resamples}
        levels = cut_agreements(grades.tables(), **drawn)
        test = alternative_test(
            grades.people,
            np.where(grades.model < 0, np.nan, np.array(scale.values, dtype=np.float64)[grades.model]),
            grades.topic_codes,
            epsilon=epsilon,
            nominal=nominal,
        )
        by_measure: list[MeasureAudit] = []
        odds: dict[str, OddsRatio | None] = {}
        if runs is not None:
            ranked = np.ones(len(runs.tags), dtype=np.bool_) if circular else ~runs.is_circular
            if not ranked.any():
                message = f"every run uses {family}, the model of the audited judge"
                raise PoolerError(message, hint="--circular ranks these runs all the same")
            with report_progress("measures", len(runs.measures)) as advance:
                for one in runs.measures:
                    by_measure.append(_of_measure(one, runs, ranked, top=top, alpha=alpha, **drawn))
                    advance(1)
            odds = {name: _odds(grades, runs, name, cuts[1], **drawn) for name in runs.families}
        _tell(grades, test, runs, circular=circular, family=family)
    settings = frozen_settings(
        model=model,
        against=people,
        aggregate=None if rule is None else rule.aggregate,
        ties=None if rule is None else rule.ties,
        level=level,
        model_level=model_level,
        scale=list(scale.values),
        measures=measures,
        top=top,
        alpha=alpha,
        epsilon=epsilon,
        nominal=nominal,
        family=family,
        circular=circular,
        cutoff=cutoff,
        resamples=resamples,
        seed=seed,
    )
    return Audit(
        grades=grades,
        audited=runs,
        levels=tuple(levels),
        test=test,
        by_measure=tuple(by_measure),
        odds=odds,
        settings=settings,
        warnings=collected.warnings,
    )


def _check(*, top: int, alpha: float, measures: Sequence[str], resamples: int) -> None:
    if top < 1:
        raise ArgumentError("top", "must be at least 1", top)
    if not 0 < alpha < 1:
        raise ArgumentError("alpha", "must be between 0 and 1", alpha)
    if not measures:
        raise ArgumentError("measures", "must name one or more", measures)
    if resamples < 1:
        raise ArgumentError("resamples", "must be at least 1", resamples)


def _of_measure(
    one: MeasuredBoth,
    runs: AuditedRuns,
    ranked: NDArray[np.bool_],
    *,
    top: int,
    alpha: float,
    seed: int,
    resamples: int,
) -> MeasureAudit:
    n_topics = one.human.shape[1]
    if not n_topics:
        empty = np.full(len(runs.tags), np.nan)
        return MeasureAudit(one.name, 0, one.n_left_out, ranked, empty, empty)
    drawn = {"seed": seed, "resamples": resamples}
    human, model = one.human[ranked], one.model[ranked]
    kinds, turned = conclusions(human, model, alpha=alpha)
    gains = {what: favour(one.model - one.human, chosen, **drawn) for what, chosen in runs.members().items()}
    favours = {what: gain for what, gain in gains.items() if gain is not None}
    p_holm: dict[tuple[str, str], float] = {}
    for kind in ("group", "uses"):
        names = [what for what in favours if what[0] == kind]
        p_values = [favours[what].test.p for what in names]
        adjusted = holm([np.nan if p is None else p for p in p_values]).tolist()
        p_holm |= dict(zip(names, adjusted, strict=True))
    return MeasureAudit(
        name=one.name,
        n_topics=n_topics,
        n_left_out=one.n_left_out,
        ranked=ranked,
        human=one.human.mean(axis=1),
        model=one.model.mean(axis=1),
        order=order_agreement(human, model, top=top, **drawn),
        bias=bias(one.human, one.model, counted=ranked, **drawn),
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
    both = grades.both
    parts: list[NDArray[np.int64]] = []
    for code, topic in enumerate(grades.topics):
        if topic not in runs.first:
            continue
        first = runs.first[topic]
        by_family = np.asarray(first[:, of_family].any(axis=1))
        by_others = np.asarray(first[:, ~of_family].any(axis=1))
        rows = np.flatnonzero(both & (grades.topic_codes == code))
        kept = by_family | by_others
        exposed = by_family & ~by_others
        human, model = grades.human[rows][kept], grades.model[rows][kept]
        parts.append(np.stack([np.full(human.size, code), human, exposed[kept], model >= cut]))
    topics, people, exposed, relevant = np.concatenate(parts, axis=1)
    return exposure_odds(topics, people, exposed > 0, relevant > 0, seed=seed, resamples=resamples)


def _tell(
    grades: AuditedGrades, test: AlternativeTest, runs: AuditedRuns | None, *, circular: bool, family: str
) -> None:
    n_topics = np.unique(grades.topic_codes[grades.both]).size
    if n_topics < FEW_TOPICS:
        warn(f"{counted(n_topics, 'topic')}: with fewer than {FEW_TOPICS} intervals are too narrow")
    if few := sum(one.n < FEW_PAIRS for one in test.people):
        warn(
            f"{counted(few, 'person', 'people')} of {len(test.people)} with fewer than {FEW_PAIRS} documents:"
            " too few for the alternative annotator test"
        )
    if runs is not None and runs.is_circular.any():
        n = counted(int(runs.is_circular.sum()), "run")
        where = "ranked by it all the same" if circular else "reported apart and not ranked by it"
        warn(f"{n} with {family}, the model of the audited judge: {where}")
