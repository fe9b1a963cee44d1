"""`pooler merge`: take in what was done on copies, and settle where they differ."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.collect.judges import tell_others, tell_scrubbed
from pooler.cli.console import ExitCode, write_lines
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, check_choice, render
from pooler.cli.signature import argument, command, option
from pooler.results.keep import merge as results
from pooler.telling import say, warn
from store.text import counted


@command
def merge(
    others: Annotated[
        list[str],
        argument("OTHER...", "Copies: SQLite files, postgresql:// URLs, or what a page saved; only read."),
    ],
    settle: Annotated[
        results.RuleName | None,
        option(
            "--settle",
            "What stands where one judge decided differently on two copies: the latest or the earliest"
            " decision, the highest or the lowest grade, or none: the document goes back to the judge"
            " (unjudged).",
        ),
    ] = None,
    settle_by: Annotated[
        str | None,
        option(
            "--settle-by FILE",
            "Settle by hand: the file of --conflicts with its column `take` filled in: a grade, skip,"
            " unjudged, cannot, or a rule (latest, earliest, highest, lowest). Takes precedence over"
            " --settle.",
        ),
    ] = None,
    conflicts: Annotated[
        str | None,
        option(
            "--conflicts FILE",
            "Write the conflicts that nothing settles as TSV, with an empty column `take`; with --settle-by"
            " also those settled by hand.",
        ),
    ] = None,
    dry_run: Annotated[bool, option("--dry-run", "Show what would come in; change nothing.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Bring in what was done on copies of the collection.

    Copies are copied files (`pooler backup`, `pooler copy`), parts made by `pooler export work`, what
    its pages saved, or databases; they are only read. Every event keeps its judge, time and sitting.
    New documents, runs, pools, guidelines, judges and assignments of a copy come in as well; a judge or
    notes erased there are erased here. Either all of it is taken in, or nothing. The order of merging
    does not matter, and merging twice changes nothing.

    Where one judge worked on the same document in two copies, a decision wins against a skip, and a
    changed grade against a mere note. Two different decisions are a conflict: without --settle or
    --settle-by nothing is merged, all conflicts are listed, and the exit code is 1. Both decisions stay
    in the history. What was settled by hand stays settled, until a copy brings a decision that was not
    known then.

    Example: pooler merge ann.db ben.db --dry-run

    Example: pooler merge ann.db ben.db --settle latest
    """
    from store.keeping.merge.copies import Merged

    output.check(tables=results.MergeResult.NAMES)
    nothing = results.MergeResult(merged=Merged([], [], []), settings={"dry_run": dry_run})
    check_choice(nothing, output, *nothing.names())
    if conflicts is not None:
        results.check_new(conflicts)
    with tidy_when_killed():
        found = results.merge(collection, others, settle=settle, settle_by=settle_by, dry_run=dry_run)
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
            "hint: --settle RULE settles all of them; --conflicts FILE writes a list to fill in for"
            " --settle-by"
        )
    else:
        say(
            f"hint: fill in the column `take`, then run the same command with --settle-by {conflicts}"
            " instead of --conflicts"
        )
    raise typer.Exit(ExitCode.DATA)


def _scrub(collection: str) -> None:
    """Write the file anew without the bytes of what was removed from it."""
    from store.collection import Collection

    with Collection(collection) as opened:
        tell_scrubbed(opened.erasures.scrub())
    tell_others("they still hold what was removed here, but a merge brings none of it back")
