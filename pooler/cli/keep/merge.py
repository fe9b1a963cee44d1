"""`pooler merge`: what was done on copies comes in; where they differ, somebody says what stands."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pooler.cli.collect.judges import tell_others, tell_scrubbed
from pooler.cli.console import ExitCode, write_lines
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, check_choice, render
from pooler.cli.signature import command
from pooler.telling import say, warn
from store.text import counted


class RuleName(StrEnum):
    """The rules of `store.keeping.merge.settle`, which is not imported for `--help`."""

    LATEST = "latest"
    EARLIEST = "earliest"
    HIGHEST = "highest"
    LOWEST = "lowest"
    UNJUDGED = "unjudged"


@command
def merge(
    others: Annotated[
        list[str],
        typer.Argument(metavar="OTHER...", help="Copies: SQLite files or postgresql:// URLs; only read."),
    ],
    settle: Annotated[
        RuleName | None,
        typer.Option(
            help="Where one judge decided differently on two copies: the latest or the earliest"
            " decision stands, the highest or the lowest grade, or the document goes back to the"
            " judge (unjudged)."
        ),
    ] = None,
    settle_by: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Settle by hand: the list of --conflicts, its column `take` filled in with a"
            " grade, skip, unjudged, cannot, or a rule: latest, earliest, highest or lowest."
            " Goes before --settle.",
        ),
    ] = None,
    conflicts: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Write what nothing settles as TSV, with an empty column `take`; with --settle-by"
            " also what is settled by hand.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would come, and change nothing.")
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Take in what was done on copies of the collection.

    Copies are files that were copied (`pooler backup`, `pooler copy`), parts made by `pooler export
    work`, or databases; they are only read. Every event keeps its judge, time and sitting. What was
    made new on a copy comes too: documents, runs, pools, guidelines, judges, places; what was
    erased there, a judge or notes, goes here. All of it is taken in, or nothing. Any order of
    merging gives the same, and merging twice changes nothing.

    Where one judge went on with one document on two copies, a decision stands against a skip, and a
    grade changed on one copy against a note on the other. Two decisions that differ are a conflict:
    without --settle or --settle-by nothing is merged, all of them are listed, and the exit code is
    1. Both decisions stay in the history. So does what was settled by hand: it stands, and once a
    copy brings a decision not known then, it is one of the two that differ.

    Example: pooler merge ann.db bob.db --dry-run

    Example: pooler merge ann.db bob.db --settle latest
    """
    from pooler.results.keep import merge as results
    from store.keeping.merge.copies import Merged

    output.check(tables=results.MergeResult.NAMES)
    nothing = results.MergeResult(merged=Merged([], [], []), settings={"dry_run": dry_run})
    check_choice(nothing, output, *nothing.names())
    if conflicts is not None:
        results.check_new(conflicts)
    rule: results.RuleName | None = None if settle is None else settle.value
    with tidy_when_killed():
        found = results.merge(collection, others, settle=rule, settle_by=settle_by, dry_run=dry_run)
    n_open = len(found.open_conflicts)
    if conflicts is not None:
        write_lines(conflicts, found.conflict_lines(), private=True)
        n_by_hand = len(found.settled_by_hand) if n_open else 0
        more = f", and {n_by_hand:,} settled by hand with what was taken" if n_by_hand else ""
        say(f"{conflicts}: {counted(n_open, 'conflict')}{more}")
    render(found, output, *(found.names() if output.chooses_columns else ()))
    for words in found.doubts():
        warn(words)
    say(found.words())
    if not n_open:
        if found.is_done and (found.merged.erased or found.merged.n_emptied):
            _scrub(collection)
        return
    if conflicts is None:
        say(
            "hint: --settle RULE settles all of them; --conflicts FILE writes a list to be filled"
            " in for --settle-by"
        )
    else:
        say(
            "hint: fill in the column `take`, then the same command with"
            f" --settle-by {conflicts} in place of --conflicts"
        )
    raise typer.Exit(ExitCode.DATA)


def _scrub(collection: str) -> None:
    """Write the file anew without the bytes of what was removed from it."""
    from store.collection import Collection

    with Collection(collection) as opened:
        tell_scrubbed(opened.erasures.scrub())
    tell_others("what was removed here is in them, and a merge brings none of it back")
