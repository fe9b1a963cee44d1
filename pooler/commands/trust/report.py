"""One page that tells whether a collection can be trusted: what stands on it, and writing it.

It begins with a decision about runs; reuse, order of the runs, agreement follow, beside their thresholds.

References
----------
.. [1] E. M. Voorhees, "Evaluation by highly relevant documents", *SIGIR* 2001, 74-82,
   doi:10.1145/383952.383963: a tau of 0.9 or more is as good as the same order, one below 0.8 a
   noticeable change. The 0.9 is of E. M. Voorhees, "Variations in relevance judgments and the
   measurement of retrieval effectiveness", *Information Processing & Management* 36(5), 2000, 697-716.
.. [2] K. Sparck Jones, "Automatic indexing", *Journal of Documentation* 30(4), 1974, 393-432: a
   difference of 5% is noticeable.
.. [3] K. Krippendorff, *Content Analysis*, 2nd ed., Sage 2004, section 11.4: rely on an alpha of 0.8 or
   more, conclude tentatively from 0.667.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np

from pooler.command import Cutoff, Measured, Option, PoolDepth, command
from pooler.commands.measure.measured import known_measure, measured
from pooler.commands.measure.verdict import Referee
from pooler.commands.qrels.agreement import AgreementResult
from pooler.commands.qrels.agreement_rows import judges_rows
from pooler.commands.trust import report_sections as sections_of
from pooler.commands.trust.conclusions import SUFFERS, Alarm, Comfort, losing
from pooler.commands.trust.report_material import MOST_DRAWN, Material, Stored, gather
from pooler.commands.trust.variation import ValuesOption
from pooler.files import check_place
from pooler.judge_kinds import kinds_words, models_sentence, voters_sentence
from pooler.messages import Listener, listening, progress
from pooler.pages.page import Figure, PageTable, ReportPage, Section, Verdict
from pooler.pages.report import Report, check_replaceable, reason_words, written_by
from pooler.reasons import REASONS as UNDEFINED
from store.analysis.pools.diagnosis import overlaps
from store.judging.kinds import is_mixed
from store.text import counted, percent

SAME_ORDER, CHANGED_ORDER = 0.9, 0.8
"""Kendall's tau from which on two orders count as one, and below which they differ noticeably [1]_."""
RELIABLE, TENTATIVE = 0.8, 0.667
"""Krippendorff's alpha from which on one may rely on judgements, or conclude tentatively [3]_."""
DECISION, REUSE, ORDER, AGREEMENT = "Decision", "Reuse", "Order of the runs", "Agreement"
_OF_TAU = f"tau {SAME_ORDER} or more is as good as the same order, below {CHANGED_ORDER} noticeably another"
_OF_TAU += " (Voorhees 2001)"
_OF_ALPHA = f"alpha {RELIABLE} or more is reliable, from {TENTATIVE} on tentative (Krippendorff 2004)"
_NO_AP = "No run has an AP, as no topic has a relevant document."
_FINE, _UNKNOWN, _DOUBTFUL, _BAD = range(4)
"""How much a verdict alarms."""


@command
def report(
    source: Measured,
    path: Annotated[
        str | Path | None,
        Option("OUT.html", "The page to write; an existing page is replaced.", required=True),
    ] = None,
    *,
    depth: PoolDepth = None,
    title: Annotated[str | None, Option("--title TEXT", "Title of the page.", default="the name")] = None,
    values: ValuesOption = None,
    limit: Annotated[
        int, Option("--limit RUNS", "Runs, or pairs of runs, of one chart.", least=1)
    ] = MOST_DRAWN,
    cutoff: Cutoff = None,
) -> Report:
    """Write how far to trust a collection, or pages for participants.

    `pooler report runs DIR` writes a page a run, to hand out; this command writes one page on the collection.
    One HTML file that needs no network and no script. Its first lines answer which runs are the best, whether
    a new run can be scored fairly, how far the order can change, and whether judges agree; the rest is their
    grounds. Each figure comes with its numbers and the command that prints them.

    Example: pooler report trust.html --qrels alice

    Example: pooler report trust.html --qrels judgements/strict.qrels --runs runs.tsv --depth 5

    Raises
    ------
    ArgumentError
        If the path is there and no page.
    PoolerError
        If there are no runs or no judgements, or a file cannot be read or written.

    Notes
    -----
    Without a path nothing is written; a notebook shows the page. `limit` keeps the most telling runs; tables
    have all.
    """
    if path is not None:
        check_place(str(path))
        check_replaceable(path)
    texts = [f"{grade}={p}" for grade, p in values.items()] if isinstance(values, Mapping) else values
    with progress("report", 7) as advance, source.opened() as held:
        material = gather(held, source, depth, list(texts or ()), cutoff, str(path or ""), limit)
        advance(1)
        missed, again = sections_of.unjudged(material), sections_of.disagreement(material)
        advance(1)
        apart, others = sections_of.differences(material), sections_of.other_topics(material)
        advance(1)
        parts: dict[str, list[Section | None]] = {
            REUSE: [
                _section("What the pool owes to its runs", sections_of.contributions(material)),
                _section("The pool", sections_of.pool(material)),
            ],
            ORDER: [missed.section, again.section, *(one.section for one in (apart, others) if one)],
            AGREEMENT: [_section("Agreement of the judges", sections_of.agreement(material))],
        }
        advance(1)
        answers = (_reuse(material), _order(material, missed, again), _agreement(material.stored))
        verdicts = sorted(answers, key=lambda one: -one.concern)
        advance(1)
        sections = [
            *(section for one in verdicts for section in parts[one.name]),
            _section("Models against people", sections_of.models(material)),
            _section("Judging", sections_of.judging(material)),
            _section("What this report is about", sections_of.what_it_is(material)),
        ]
        advance(1)
    voters = material.judged.voters
    sentences = [
        *map(Alarm, sections_of.other_pools(material)),
        *map(Alarm, voters_sentence(voters)),
        *map(Alarm, models_sentence(voters.models if voters.is_named else ())),
        *_measured(material),
        *material.diagnosis.conclusions,
        *missed.words,
        *(() if apart is None else apart.words),
        *(() if others is None else others.words),
    ]
    shown = (_in_short(sentences), *filter(None, sections))
    trust = " ".join(f"{one.name}: {one.answer}." for one in answers[:2])
    decision = [replace(one, text=f"{one.text} {trust}") for one in _decision(material)]
    made = Report(_page(material, title, shown, (*decision, *verdicts)))
    if path is not None:
        made.write(path)
    return made


def _section(title: str, blocks: Iterable[str | PageTable | Figure]) -> Section | None:
    found = tuple(blocks)
    return Section(title, found) if found else None


def _in_short(sentences: Sequence[str]) -> Section:
    """List what there is to say: first what alarms, last what reassures."""
    blocks: list[str | tuple[str, ...]] = []
    headings: dict[type[str], str]
    headings = {Alarm: "What alarms:", str: "What else is known:", Comfort: "What reassures:"}
    for kind, heading in headings.items():
        points = tuple(one for one in sentences if kind is type(one))
        blocks += [heading, points] if points else []
    return Section("In short", tuple(blocks))


def _page(
    material: Material, title: str | None, sections: tuple[Section, ...], verdicts: tuple[Verdict, ...]
) -> ReportPage:
    commands = material.commands
    lead = "Below every figure are its numbers"
    lead += "." if commands.is_in_memory else " and the command that prints them."
    if commands.reads_stdin:
        lead += " In commands, - stands for what this report read from standard input."
    if commands.leaves_password:
        lead += " Commands leave out the password; the variable PGPASSWORD can hold it."
    qrels = material.source.option("qrels")
    name = f"the judgements {Path(qrels).name}" if isinstance(qrels, str) else "these judgements"
    if material.stored is not None:
        stored = material.stored.name
        name = "the collection" if stored == "collection" else f"the collection {stored}"
    title = title or f"Can {name} be trusted?"
    return ReportPage(title, lead, sections, written_by(), verdicts)


def _measured(material: Material) -> list[str]:
    found, option = material.diagnosis.found, material.source.option
    whose = ""
    if material.source.is_of_files:
        whose = f" of {Path(option('qrels')).name}" if isinstance(option("qrels"), str) else ""
    elif (judge := material.source.definition.sole) is not None:
        whose = f" of judge {judge}"
    else:
        whose = f" (qrels {material.source.named_qrels.label})"
    n_judged, n_relevant = int(found.topics.judged.sum()), int(found.topics.relevant.sum())
    verb = "is" if n_relevant == 1 else "are"
    runs, topics = found.rankings.tags, found.rankings.topics
    return [
        f"{counted(len(runs), 'run')}, {counted(len(topics), 'topic')}"
        f" and {counted(n_judged, 'judgement')}{whose}, {n_relevant:,} of which {verb} relevant"
        f" (grade {material.judged.level} or more). Other topics would give other means; in this"
        " report, only t tests and intervals over topics allow for that."
    ]


def _decision(material: Material) -> list[Verdict]:
    """Say which run is better by AP, or of several which are the best (Bonferroni); nothing without AP."""
    tags, cutoff = material.diagnosis.found.rankings.tags, material.commands.cutoff
    with listening(Listener()):  # what there is to say is on the page
        name = known_measure("AP", level=material.source.level)
        _, (scores,) = measured(material.source, [name], cutoff)
    if len(tags) < 2 or not np.isfinite(scores.overall).any():
        return []
    referee = Referee(source=material.source, cutoff=cutoff, alpha=0.05 / (len(tags) - 1))
    if len(tags) > 2:
        return [Verdict(DECISION, *referee.of_best(tags, name, scores))]
    found = referee.of_pair((tags[0], tags[1]), {name: scores.values})
    return [Verdict(DECISION, found.answer, f"{found.details}.")]


def _reuse(material: Material) -> Verdict:
    found, left = material.diagnosis.found, material.diagnosis.left_out
    pool = found.pool
    if pool is None or left is None:
        return _unknown(REUSE, material.diagnosis.conclusions[0])
    if left.mean_loss is None:
        return _unknown(REUSE, _NO_AP)
    tau, lose = left.errors.tau_b, losing(pool, left)
    n_runs, n_topics = int(pool.contributing.sum()), int((found.topics.relevant > 0).sum())
    one = "group of runs" if left is pool.by_group else "run"
    who = f"each {one} that fed the pool" if n_runs > 1 else "the run that fed the pool"
    order = f"the order has no tau ({UNDEFINED.get(tau.reason or '', tau.reason)})"
    if tau.tau is not None:
        order = f"Kendall's tau to the present order is {_rounded(tau.tau)}"
    loss = f"no run loses {percent(SUFFERS, 1)} of its AP or more"
    if lose.size:
        most = percent(float(np.nanmax(-left.scores.relative()[lose])), 1)
        verb = "loses" if lose.size == 1 else "lose"
        loss = f"{lose.size:,} of {counted(n_runs, 'run')} {verb} {percent(SUFFERS, 1)} of AP or more"
        loss += f" ({most} at most)"
    text = f"Without what {who} alone brought, as if it had come late, {order}, and {loss}."
    if pool.n_unjudged:
        verb = "is" if pool.n_unjudged == 1 else "are"
        text += f" {counted(pool.n_unjudged, 'document')} of the pool {verb} not judged."
    mark = f"{_OF_TAU}; a loss of {percent(SUFFERS, 1)} is noticeable (Sparck Jones 1974)"
    n = ", ".join([counted(n_runs, "run"), counted(n_topics, "topic"), *_judged_by(material)])
    if (tau.tau is not None and tau.tau < SAME_ORDER) or (tau.tau is None and lose.size):
        return Verdict(REUSE, "not fair to new runs", text, mark, n, _BAD)
    if lose.size:
        return Verdict(REUSE, "not fair to every new run", text, mark, n, _DOUBTFUL)
    if pool.n_unjudged:
        answer = "fair to runs like these, as far as the pool is judged"
        return Verdict(REUSE, answer, text, mark, n, _DOUBTFUL)
    return Verdict(REUSE, "fair to runs like these", text, mark, n, _FINE)


def _order(material: Material, missed: sections_of.SectionPart, again: sections_of.SectionPart) -> Verdict:
    found = material.diagnosis.found
    if len(found.rankings.tags) < 2:
        return _unknown(ORDER, "There is one run only, so there is no order.")
    lower, scores, upper = found.scores.bounds.means()
    met = overlaps(lower, scores, upper)
    if np.isnan(scores).all():
        return _unknown(ORDER, _NO_AP)
    known = {part.about: part.tau for part in (missed, again) if not math.isnan(part.tau)}
    taus = ", ".join(f"{_rounded(tau)} {about}" for about, tau in known.items())
    sentences = [f"Kendall's tau to the present order is {taus}."] if known else []
    sentences += [
        f"{part.about[:1].upper()}{part.about[1:]}: {part.why}." for part in (missed, again) if part.why
    ]
    sentences.append(
        f"Whatever all unjudged documents of their lists are, {met.n_settled:,} of"
        f" {counted(met.n_all_pairs, 'pair')} of runs are sure to keep their order: a limit, no forecast."
    )
    n_topics = int((found.topics.relevant > 0).sum())
    n_runs = counted(len(found.rankings.tags), "run")
    n = ", ".join([n_runs, counted(n_topics, "topic"), *_judged_by(material)])
    lowest = min(known.values(), default=math.nan)
    answer, concern = "unknown", _UNKNOWN
    if lowest < CHANGED_ORDER:
        answer, concern = "changes noticeably", _BAD
    elif lowest < SAME_ORDER:
        answer, concern = "moves", _DOUBTFUL
    elif known:
        answer, concern = "holds", _FINE
        if len(known) == 1:
            tried = next(iter(known)).partition(" (")[0]
            answer, concern = f"holds {tried}; nothing else could be tried", _UNKNOWN
    return Verdict(ORDER, answer, " ".join(sentences), _OF_TAU if known else "", n, concern)


def _agreement(stored: Stored | None) -> Verdict:
    if stored is None:
        return _unknown(AGREEMENT, "There is one grade per document: of one judge, or of all together.")
    if isinstance(stored.agreement, str):
        return _unknown(AGREEMENT, f"{stored.agreement[:1].upper()}{stored.agreement[1:]}.")
    answers, texts, concerns = [], [], []
    for kind, found in stored.by_kind.items():
        answer, text, concern = _of_kind(stored, kind, found)
        several = kinds_words({kind: 2}).removeprefix("2 ")
        answers.append(f"{answer} among {several}" if len(stored.by_kind) > 1 else answer)
        texts.append(text)
        concerns.append(concern)
    mark = _OF_ALPHA if any(one != _UNKNOWN for one in concerns) else ""
    return Verdict(AGREEMENT, ", ".join(answers), f"{'. '.join(texts)}.", mark, "", max(concerns))


def _of_kind(stored: Stored, kind: str, found: AgreementResult | str) -> tuple[str, str, int]:
    if isinstance(found, str):
        return "unknown", found, _UNKNOWN
    who = kinds_words({kind: len(found.judges)})
    level = f"what is relevant (grade {stored.level} or more)"
    # Of two judges the tables have no coefficients of all together.
    together = found.together or judges_rows(found.votes, found.options)
    [row] = [one for one in together if one["level"] is not None and one["coefficient"] == "alpha_nominal"]
    value, low = row["value"], row.get("low")
    if value is None:
        why = reason_words(str(row["reason"]))
        return "unknown", f"Krippendorff's alpha of {who} on {level} is undefined: {why}", _UNKNOWN
    interval = "no interval" if low is None else f"95% interval over topics {low:.2f} to {row['high']:.2f}"
    n = f"{counted(row['n'], 'document')}, {counted(row['topics'], 'topic')}"
    text = f"Krippendorff's alpha of {who} on {level} is {_rounded(value)} ({interval}; N: {n})"
    if value >= RELIABLE:
        return "reliable", text, _FINE
    return ("tentative", text, _DOUBTFUL) if value >= TENTATIVE else ("too low", text, _BAD)


def _unknown(name: str, why: str) -> Verdict:
    return Verdict(name, "unknown", why, concern=_UNKNOWN)


def _judged_by(material: Material) -> Sequence[str]:
    voters = material.judged.voters
    counts, models = voters.counts, voters.models
    if is_mixed(counts):
        return [f"judged by {kinds_words(counts)} together"]
    return [f"judged by {counted(len(models), 'model')}"] if models else []


def _rounded(value: float) -> str:
    """Write two digits of a number, more where it would seem to reach a threshold that it misses."""
    for digits in (2, 3, 4):
        text = f"{value:.{digits}f}"
        if all((float(text) >= at) == (value >= at) for at in (SAME_ORDER, CHANGED_ORDER, TENTATIVE)):
            return text
    return f"{value:.6f}"
