"""`pooler check`: every fault of every run file, with line numbers."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.console import ExitCode
from pooler.cli.options import LenientOption, OrderOption, RunsOption, TrackRulesOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option
from pooler.messages import say
from store.text import counted


@command
def check(
    output: Output,
    *,
    runs: Annotated[
        list[str] | None, argument("RUN...", "- is stdin; .gz, .xz, .bz2, .zst are fine.")
    ] = None,
    listed: RunsOption = None,
    depth: Annotated[
        int | None, option("--depth -N", "Also report ties at this cut, and short topics.", min=1)
    ] = None,
    order: OrderOption = "trec",
    strict: Annotated[bool, option("--strict", "Warnings also fail the check.")] = False,
    lenient: LenientOption = False,
    collection: Annotated[
        str | None,
        option("--collection PATH|URL", "Also report topics and docnos that this collection does not know."),
    ] = None,
    rules: TrackRulesOption = None,
) -> None:
    """Check run files: exit code 0 if there is no fault, otherwise 1.

    With --rules FILE also check the rules of a track: a row for each run, then the rules it breaks. Exit
    code 0: all runs are accepted; 4: some break a rule that only warns; 1: some are refused.

    Faults: not six fields, a score that is not a finite number, a document twice in a topic, a topic
    split by another, two tags, an unknown topic or docno (with --collection), control characters or
    invalid UTF-8 in an id, a header of `ir_metadata` that is no YAML or contradicts the
    run, an empty file, damaged gzip. Warnings: ties, ranks that contradict the scores, ranks from 0, short
    or missing topics, field 2 not Q0.

    Example: pooler check runs/*.run --depth 100
    """
    from pooler.results.pool.check import check_runs

    output.check(tables=["submissions", "check"] if rules is not None else ())
    found = check_runs(
        *(runs or []),
        depth=depth,
        listed=listed,
        order=order,
        lenient=lenient,
        collection=collection,
        rules=rules,
    )
    render(found, output)
    n_bad = sum(report.n_faults > 0 for report in found.reports)
    faults = f"{n_bad:,} with faults ({found.n_faults:,} in all)" if n_bad else "none with a fault"
    summary = f"{counted(len(found.reports), 'file')}, {faults}, {counted(len(found.warnings), 'warning')}"
    say(summary if rules is None else found.verdicts())
    if not found.ok or (strict and found.warnings):
        raise typer.Exit(ExitCode.DATA)
    if found.is_warned:
        raise typer.Exit(ExitCode.WARNED)
