"""The verdict in words: what follows from the numbers of an audit, and by whose threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from store.analysis.agreement.intervals import FEW_TOPICS
from store.analysis.audit.annotators import rejections
from store.analysis.audit.levels import cut_gain
from store.analysis.audit.orders import CONCLUSIONS
from store.text import counted

if TYPE_CHECKING:
    from pooler.commands.trust.audit_material import AuditedGrades, MeasureAudit
    from store.analysis.agreement.intervals import Interval
    from store.analysis.audit.annotators import AlternativeTest
    from store.analysis.audit.levels import CutAgreement

FEW_DOCUMENTS = 100
"""Documents that both sides graded, below which there is no verdict."""
LEAST_WINNING = 0.5
LEAST_TOP_TAU = 0.5

ALTERNATIVE = "Calderon, Reichart and Dror 2025"
CEILING = "people's own order on resampled topics; Voorhees 2001 asks .9, people reach .938 (Voorhees 2000)"
CONVENTION = "convention of this program"
HOLM = "t tests over topics, Holm"
PLAIN_T = "paired t tests, not adjusted"
BOOTSTRAP = "bootstrap over topics"


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence, with its number, and the threshold it was held against."""

    says: str
    measure: str | None = None
    number: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class BetterCuts:
    """Levels of the two, one of them as declared, with a higher kappa than both as declared."""

    human: int
    model: int
    kappa: float
    gain: Interval
    """By how much it is higher."""
    declared: float


def better_cuts(
    grades: AuditedGrades, levels: Sequence[CutAgreement], settings: Mapping[str, Any]
) -> BetterCuts | None:
    """Find the best other level of people at the judge's own, or the reverse; ``None`` = none is better."""
    values = grades.scale.values
    declared = values.index(settings["level"]), values.index(settings["model_level"])
    at = {(one.human, one.model): one.kappa for one in levels if one.kappa is not None}
    if declared not in at:
        return None
    others = {cut: kappa for cut, kappa in at.items() if cut[0] == declared[0] or cut[1] == declared[1]}
    best = max(others, key=others.__getitem__)
    if best == declared:
        return None
    drawn = {name: settings[name] for name in ("seed", "resamples")}
    gain = cut_gain(grades.tables(), best, declared, **drawn)
    return BetterCuts(values[best[0]], values[best[1]], others[best], gain, at[declared])


def clustered(test: AlternativeTest) -> int:
    """Count the people who can be replaced where topics are the units, at the false discovery rate of 5 %."""
    return sum(rejections([one.p_of_topics for one in test.people], 0.05))


def verdict(
    grades: AuditedGrades,
    levels: Sequence[CutAgreement],
    test: AlternativeTest,
    by_measure: Sequence[MeasureAudit],
    runs: Sequence[str],
    settings: Mapping[str, Any],
) -> tuple[Finding, ...]:
    """Return the verdict, the most important first; of too few topics or documents that there is none."""
    both = grades.both
    n_topics = int(np.unique(grades.topic_codes[both]).size)
    n_documents = int(np.count_nonzero(both))
    few = []
    if n_topics < FEW_TOPICS:
        says = f"No verdict: fewer than {FEW_TOPICS} topics have a document that both graded"
        few.append(Finding(says, None, n_topics, threshold=FEW_TOPICS, source=CONVENTION))
    if n_documents < FEW_DOCUMENTS:
        says = f"No verdict: both graded fewer than {FEW_DOCUMENTS} documents"
        few.append(Finding(says, None, n_documents, threshold=FEW_DOCUMENTS, source=CONVENTION))
    if few:
        return tuple(few)
    of_runs = (one for part in by_measure for one in _favours(part, runs, settings["alpha"]))
    against = [*_replacing(test), *of_runs]
    headline = Finding("Cannot replace people, for the reasons that follow")
    if not any(one.number is not None for one in against):
        headline = Finding("Nothing here says that people cannot be replaced; that is no proof that they can")
    better = better_cuts(grades, levels, settings)
    orders = [one for part in by_measure for one in _orders(part)]
    return (headline, *against, *_levels(better, by_measure, settings), *orders)


def _replacing(test: AlternativeTest) -> list[Finding]:
    if test.winning_rate is None:
        why = "one person graded" if test.reason == "one-human" else "no two people graded the same documents"
        says = f"Whether it does as well as one more person is not known: {why}"
        return [Finding(says, threshold=LEAST_WINNING, source=ALTERNATIVE)]
    of_all = f"of {len(test.people)} people"
    if test.winning_rate < LEAST_WINNING:
        says = f"It does not do as well as one more person: too small a share {of_all} can be replaced"
        return [Finding(says, None, test.winning_rate, threshold=LEAST_WINNING, source=ALTERNATIVE)]
    # Only what speaks against is among the reasons.
    says = f"It does as well as one more person: {test.winning_rate:.2f} {of_all} can be replaced"
    return [Finding(f"{says}, and {clustered(test)} with topics as units", source=ALTERNATIVE)]


def _favours(part: MeasureAudit, runs: Sequence[str], alpha: float) -> list[Finding]:
    said = []
    if part.bias is not None:
        p_values = part.bias.p_holm
        off = np.flatnonzero(p_values <= alpha)
        if off.size:
            most = off[np.argsort(p_values[off], kind="stable")]
            names = ", ".join(runs[row] for row in most[:3]) + (", ..." if off.size > 3 else "")
            says = f"{counted(off.size, 'run')} of {len(runs):,} gain more or less than the others: {names}"
            number = float(p_values[most[0]])
            said.append(Finding(says, part.name, number, threshold=alpha, source=f"p of the first; {HOLM}"))
    for (kind, name), gain in part.favours.items():
        p, difference = part.p_holm[kind, name], gain.test.difference
        if not p <= alpha or difference is None:
            continue
        who = f"Runs of group {name}" if kind == "group" else f"Runs that use {name}"
        says = f"{who} gain {'more' if difference > 0 else 'less'} than the others (p {p:.4f} by Holm)"
        if part.bias is not None and (part.bias.correlation or 0) < 0:
            says += ", where good runs gain least, as at a ceiling"
        limits = gain.interval
        said.append(Finding(says, part.name, difference, limits.low, limits.high, 0.0, HOLM))
    if part.conclusions:
        n_turned = part.conclusions[CONCLUSIONS.index("opposite")][0]
        if n_turned:
            says = "Pairs of runs differ significantly by both, in opposite directions"
            said.append(Finding(says, part.name, n_turned, threshold=0, source=PLAIN_T))
    return said


def _levels(
    better: BetterCuts | None, by_measure: Sequence[MeasureAudit], settings: Mapping[str, Any]
) -> list[Finding]:
    said = []
    level, model_level = settings["level"], settings["model_level"]
    if better is not None and better.gain.low is not None and better.gain.low > 0:
        says = (
            f"Its relevant ({model_level}+) is people's {better.human}+, not {level}+: the scale has drifted"
        )
        if better.human == level:
            says = f"People's relevant ({level}+) is its {better.model}+, not {model_level}+"
        gain = better.kappa - better.declared
        source = f"gain in kappa, from {better.declared:.4f} to {better.kappa:.4f}; {BOOTSTRAP}"
        said.append(Finding(says, None, gain, better.gain.low, better.gain.high, 0.0, source))
    for part in by_measure:
        if part.bias is None or part.bias.interval.low is None or part.bias.interval.high is None:
            continue
        mean, low, high = part.bias.mean, part.bias.interval.low, part.bias.interval.high
        if low > 0 or high < 0:
            says = f"Its scores are not people's: too {'high' if mean > 0 else 'low'} on the average of runs"
            said.append(Finding(says, part.name, mean, low, high, 0.0, BOOTSTRAP))
    return said


def _orders(part: MeasureAudit) -> list[Finding]:
    order = part.order
    if order is None or order.tau.tau is None:
        return []
    said = []
    if order.ceiling is not None:
        how = "about as" if order.tau.tau >= order.ceiling else "less well than"
        says = f"Orders these runs {how} another set of topics would"
        source, limits = f"tau-b; {CEILING}", order.tau_interval
        said.append(Finding(says, part.name, order.tau.tau, limits.low, limits.high, order.ceiling, source))
    limits, tau = order.tau_top_interval, order.tau_top.tau
    if tau is not None and limits.low is not None:
        is_known = limits.low >= LEAST_TOP_TAU
        says = f"Says {'something' if is_known else 'nothing'} about the order of the best {order.n_top} runs"
        source = f"lower limit of tau-b; {CONVENTION}"
        said.append(Finding(says, part.name, tau, limits.low, limits.high, LEAST_TOP_TAU, source))
    return said
