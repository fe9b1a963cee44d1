"""`pooler report`: one page that tells whether a collection can be trusted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.console import check_place
from pooler.cli.measure.probability_options import ValueOption
from pooler.cli.options import PoolDepthOption
from pooler.cli.source_options import GivenPrinted as Given
from pooler.cli.source_options import on_given_runs
from pooler.telling import progress, say
from store.errors import ArgumentError
from store.text import counted

if TYPE_CHECKING:
    from pooler.cli.report.material import Material
    from pooler.report.page import Page, Section


@on_given_runs
def report(
    given: Given,
    *,
    out: Annotated[str, typer.Argument(metavar="OUT.html", help="The page; it is replaced.")],
    depth: PoolDepthOption = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Of the page.", show_default="the name")
    ] = None,
    values: ValueOption = None,
) -> None:
    """Write a page that shows whether the collection can be trusted, and how far.

    One HTML file that needs no network and no script: what the collection is, the pool, judging and
    agreement, what the pool owes to its runs, and how far scores and the order of runs can move.
    Below every figure are its numbers, and the command that prints them.

    Example: pooler report trust.html --judge alice

    Example: pooler report trust.html --qrels judgements/strict.qrels --runs runs.tsv --depth 5
    """
    from pooler.report.page import render
    from pooler.results.files import write_whole

    if given.names("fmt"):
        raise ArgumentError("--format", "is of tables; a report is one HTML page", given.fmt.value)
    check_place(out)
    if out == "-":
        raise ArgumentError("OUT.html", "must be a file", out)
    _check_no_run(out)
    html = render(_page(given, out, depth, title, values or []))
    write_whole(out, [html.removesuffix("\n")], private=True)
    say(f"{out}: {counted(len(html.encode()) // 1024, 'kB', 'kB')}, to be opened in a browser")


def _check_no_run(out: str) -> None:
    """Refuse to replace what is no page."""
    path = Path(out)
    if path.is_file() and not _is_page(path):
        requirement = "must be new, or a page: it is something else"
        raise ArgumentError("OUT.html", requirement, out)


def _is_page(path: Path) -> bool:
    """Tell whether a file begins as a page does, or is empty."""
    with path.open("rb") as file:
        start = file.read(100).lstrip().lower()
    return not start or start.startswith((b"<!doctype html", b"<html"))


def _page(given: Given, out: str, depth: int | None, title: str | None, values: list[str]) -> Page:
    """Make the page."""
    from pooler import __version__
    from pooler.cli.report import judges as report_judges
    from pooler.cli.report import pool as report_pool
    from pooler.cli.report import scores as report_scores
    from pooler.cli.report.material import JUDGED_AT, gather
    from pooler.report.page import Page, Points, Section
    from pooler.results.judge_kinds import mixture_sentence, models_sentence
    from pooler.results.measure.conclusions import conclusions
    from pooler.results.measure.diagnose import chosen_left

    extra = tuple(word for value in values for word in ("--value", value))
    with progress("report", 8) as advance:
        material = gather(given, depth, extra, out)
        advance(1)
        sections: list[Section | None] = []
        for make in (
            report_pool.what_it_is, report_pool.pool, report_pool.contributions,
            report_judges.judging, report_judges.agreement,
        ):  # fmt: skip
            sections.append(make(material))
            advance(1)
        missed = report_scores.unjudged(material)
        varied = report_scores.disagreement(material)
        advance(1)
        apart = report_scores.differences(material)
        sections += [missed.section, varied.section, None if apart is None else apart.section]
        advance(1)
    found = material.diagnosis
    told = [
        *_measured(material),
        *mixture_sentence(material.judged.kinds),
        *models_sentence(material.judged.models),
        *report_pool.other_pools(material),
        *conclusions(found, chosen_left(found), JUDGED_AT),
        *report_judges.agreement_words(material),
        *missed.words,
        *varied.words,
        *(() if apart is None else apart.words),
    ]
    short = Section("In short", (Points(tuple(told)),))
    name = _name(material)
    return Page(
        title or f"Can {name} be trusted?",
        "What the pool missed, which runs it favours, how far judges agree, and how far scores can"
        " move for all that. Below every figure are its numbers and the command that prints them."
        + _of_commands(material),
        (short, *map(_without_empty, filter(None, sections))),
        f"Written by pooler {__version__} on {datetime.now(UTC):%Y-%m-%d}.",
    )


def _measured(material: Material) -> list[str]:
    """Say of how much everything is said, and what would be otherwise with other topics."""
    given, found = material.given, material.diagnosis
    whose = ""
    if given.qrels is not None:
        whose = f" of {Path(given.qrels).name}"
    elif given.judge is not None:
        whose = f" of judge {given.judge}"
    n_judged, n_relevant = int(found.topics.judged.sum()), int(found.topics.relevant.sum())
    verb = "is" if n_relevant == 1 else "are"
    runs, topics = found.rankings.tags, found.rankings.topics
    return [
        f"{counted(len(runs), 'run')}, {counted(len(topics), 'topic')}"
        f" and {counted(n_judged, 'judgement')}{whose}, {n_relevant:,} of which {verb} relevant"
        f" (grade {material.judged.level} or more). Other topics would give other means: of what"
        " follows, only t tests and intervals over topics allow for that."
    ]


def _without_empty(section: Section) -> Section:
    """Put a sentence in place of a figure that has nothing to show."""
    from pooler.cli.report.figures import without_values
    from pooler.report.page import Figure

    blocks = [(without_values(one) or one) if isinstance(one, Figure) else one for one in section.blocks]
    return replace(section, blocks=tuple(blocks))


def _name(material: Material) -> str:
    """Name what the report is of."""
    if material.stored is not None:
        name = material.stored.name
        return "the collection" if name == "collection" else f"the collection {name}"
    return f"the judgements {Path(material.given.qrels or '').name}"


def _of_commands(material: Material) -> str:
    """Say what commands leave to the reader."""
    commands = material.commands
    said = ""
    if commands.reads_stdin:
        said += " In commands - stands for what this report read from standard input."
    if commands.leaves_password:
        said += " Commands leave out the password: it can stand in the variable PGPASSWORD."
    return said
