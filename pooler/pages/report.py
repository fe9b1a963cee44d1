"""One page that tells whether a collection can be trusted: what stands on it, and writing it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pooler.commands.trust.conclusions import Alarm, Comfort
from pooler.messages import progress, say
from pooler.pages import on_judges, on_pool, on_scores
from pooler.pages.material import MOST_DRAWN, Material, gather
from pooler.pages.page import Points, ReportPage, Section, Verdict, render
from pooler.pages.verdicts import AGREEMENT, ORDER, REUSE, agreement, order, reuse
from pooler.results.files import write_whole
from pooler.results.judge_kinds import models_sentence, voters_sentence
from pooler.results.source import Source, source_of
from pooler.version import __version__
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from store.collection import Collection


def report(
    source: Source | Collection | tuple[Any, Any],
    path: str | Path | None = None,
    *,
    depth: int | None = None,
    title: str | None = None,
    values: Mapping[int, float] | Sequence[str] | None = None,
    cutoff: int | None = None,
    limit: int = MOST_DRAWN,
) -> Report:
    """Make a page that shows whether a collection can be trusted, and how far.

    Three answers first: can a new run be scored fairly, how far can the order of the runs change,
    do judges agree; each with its number, the threshold and where that is from, what alarms first.
    Then what they rest on. Below every figure are its numbers, and the command that prints them,
    where runs and judgements are files or of a collection.

    Parameters
    ----------
    source : Source, Collection or (runs, qrels)
        What is looked at.
    path : str or Path, optional
        File to write; what is no page is not replaced. Default: nothing is written.
    depth : int, optional
        Of the pool, from 1. Default the collection's pools', or what the judgements look like.
    title : str, optional
        Of the page. Default the name of the collection, or of the qrels.
    values : mapping of int to float, optional
        What each grade is worth to another judge: the probability, in [0, 1], that the document is
        relevant. Default: the share of judges at the level.
    cutoff : int, optional
        Ranks that are looked at. Default 1,000.
    limit : int, optional
        Runs, or pairs of runs, of one chart, from 1: the most telling ones; tables have all.

    Returns
    -------
    Report
        Its sections, and the page as HTML that needs no network and no script.

    Raises
    ------
    ArgumentError
        If the path is there and no page, or `limit` is below 1.
    PoolerError
        If there are no runs or no judgements, or a file cannot be read or written.
    """
    if limit < 1:
        raise ArgumentError("limit", "must be 1 or more", limit)
    if path is not None:
        check_replaceable(path)
    texts = [f"{grade}={p}" for grade, p in values.items()] if isinstance(values, Mapping) else values
    with progress("report", 7) as advance:
        material = gather(
            source_of(source), depth, list(texts or ()), cutoff, "" if path is None else str(path), limit
        )
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


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A page: its sections of sentences, tables and figures, and what a browser shows."""

    page: ReportPage

    @property
    def sections(self) -> tuple[Section, ...]:
        """What stands on the page; the first says it in short."""
        return self.page.sections

    @cached_property
    def html(self) -> str:
        """The page as one file."""
        return render(self.page)

    def write(self, path: str | Path) -> None:
        """Write the page to a file that its owner alone can read; a file that is there must be a page."""
        check_replaceable(path)
        write_whole(str(path), [self.html.removesuffix("\n")], private=True)
        say(f"{path}: {counted(len(self.html.encode()) // 1024, 'kB', 'kB')}, to be opened in a browser")

    def __repr__(self) -> str:
        titles = ", ".join(section.title for section in self.sections)
        return f"Report: {self.page.title}\nsections: {titles}"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html)}" style="width:100%;height:40em;border:0"></iframe>'


def check_replaceable(path: str | Path) -> None:
    """Raise `ArgumentError` for a file that is there, not empty, and no page."""
    path = Path(path)
    if not path.is_file():
        return
    with path.open("rb") as file:
        start = file.read(100).lstrip().lower()
    if start and not start.startswith((b"<!doctype html", b"<html")):
        raise ArgumentError("path", "must be new, or a page: it is something else", str(path))


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


def written_by() -> str:
    """Say by what a page is written, and when."""
    return f"Written by pooler {__version__} on {datetime.now(UTC):%Y-%m-%d}."


def _measured(material: Material) -> list[str]:
    found, option = material.diagnosis.found, material.source.option
    whose = ""
    if isinstance(option("qrels"), str):
        whose = f" of {Path(option('qrels')).name}"
    elif option("policy") is not None and option("policy").judge is not None:
        whose = f" of judge {option('policy').judge}"
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
