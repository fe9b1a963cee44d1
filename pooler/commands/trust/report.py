"""One page that tells whether a collection can be trusted: what stands on it, and writing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pooler.command import Cutoff, Measured, Option, PoolDepth, command
from pooler.commands.trust.conclusions import Alarm, Comfort
from pooler.commands.trust.report_page import on_judges, on_pool, on_scores
from pooler.commands.trust.report_page.material import MOST_DRAWN, Material, gather
from pooler.commands.trust.report_page.verdicts import AGREEMENT, ORDER, REUSE, agreement, order, reuse
from pooler.files import check_place
from pooler.judge_kinds import models_sentence, voters_sentence
from pooler.messages import progress
from pooler.pages.page import Points, ReportPage, Section, Verdict
from pooler.pages.report import Report, check_replaceable, written_by
from store.errors import ArgumentError
from store.text import counted


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
    values: Annotated[
        Mapping[int, float] | Sequence[str] | None,
        Option("--value GRADE=P", read=lambda _, texts: texts, repeated=True),
    ] = None,
    limit: Annotated[
        int, Option("--limit RUNS", "Runs, or pairs of runs, of one chart.", least=1)
    ] = MOST_DRAWN,
    cutoff: Cutoff = None,
) -> Report:
    """Write a page that shows how far the collection can be trusted.

    One HTML file that needs no network and no script. Its first lines answer whether a new run can be
    scored fairly, how far the order of the runs can change, and whether judges agree; the rest is what
    these answers rest on. Each figure comes with its numbers and the command that prints them.

    Example: pooler report trust.html --qrels alice

    Example: pooler report trust.html --qrels judgements/strict.qrels --runs runs.tsv --depth 5

    values : The probability, from 0 to 1, that a document a judge gave this grade is relevant. Repeat for
        every grade of the scale. Default: the share of judges at or above the level.

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
    if path == "-":
        raise ArgumentError("path", "must be a file", path)
    if path is not None:
        check_place(str(path))
        check_replaceable(path)
    texts = [f"{grade}={p}" for grade, p in values.items()] if isinstance(values, Mapping) else values
    with progress("report", 7) as advance:
        material = gather(source, depth, list(texts or ()), cutoff, "" if path is None else str(path), limit)
        advance(1)
        missed, again = on_scores.unjudged(material), on_scores.disagreement(material)
        advance(1)
        apart, others = on_scores.differences(material), on_scores.other_topics(material)
        advance(1)
        parts: dict[str, list[Section | None]] = {
            REUSE: [on_pool.contributions(material), on_pool.pool(material)],
            ORDER: [missed.section, again.section, *(one.section for one in (apart, others) if one)],
            AGREEMENT: [on_judges.agreement(material)],
        }
        advance(1)
        answers = (reuse(material), order(material, missed, again), agreement(material.stored))
        verdicts = sorted(answers, key=lambda one: -one.concern)
        advance(1)
        sections = [
            *(section for one in verdicts for section in parts[one.name]),
            on_scores.curves(material),
            on_judges.models(material),
            on_judges.judging(material),
            on_pool.what_it_is(material),
        ]
        advance(1)
    sentences = [
        *map(Alarm, on_pool.other_pools(material)),
        *map(Alarm, voters_sentence(material.judged.voters)),
        *map(
            Alarm, models_sentence(material.judged.voters.models if material.judged.voters.is_named else ())
        ),
        *_measured(material),
        *material.diagnosis.conclusions,
        *missed.words,
        *(() if apart is None else apart.words),
        *(() if others is None else others.words),
    ]
    made = Report(_page(material, title, (_in_short(sentences), *filter(None, sections)), tuple(verdicts)))
    if path is not None:
        made.write(path)
    return made


def _in_short(sentences: Sequence[str]) -> Section:
    """List what there is to say: first what alarms, last what reassures."""
    blocks: list[str | Points] = []
    headings: dict[type[str], str]
    headings = {Alarm: "What alarms:", str: "What else is known:", Comfort: "What reassures:"}
    for kind, heading in headings.items():
        points = [one for one in sentences if kind is type(one)]
        blocks += [heading, Points(tuple(points))] if points else []
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
    title = title or f"Can {_name(material)} be trusted?"
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


def _name(material: Material) -> str:
    if material.stored is not None:
        name = material.stored.name
        return "the collection" if name == "collection" else f"the collection {name}"
    qrels = material.source.option("qrels")
    return f"the judgements {Path(qrels).name}" if isinstance(qrels, str) else "these judgements"
