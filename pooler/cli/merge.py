"""`pooler merge`: copies of a collection that were worked on apart, brought together again."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pooler.cli.conflict_file import check_new, read_takes, write_conflicts
from pooler.cli.console import ExitCode, Format, counted, progress, say, warn
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.merge_report import emit_report, say_what_came
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, FormatOption
from pooler.cli.scrubbed import tell_others, tell_scrubbed


class RuleName(StrEnum):
    """The rules of `store.merging.settling`, which is not imported for `--help`."""

    LATEST = "latest"
    EARLIEST = "earliest"
    HIGHEST = "highest"
    LOWEST = "lowest"
    UNJUDGED = "unjudged"


def merge(
    others: Annotated[
        list[str],
        typer.Argument(
            metavar="OTHER...", help="Copies: SQLite files or postgresql:// URLs; only read."
        ),
    ],
    settle: Annotated[
        RuleName | None,
        typer.Option(
            help="Where one judge decided differently on two copies: the latest or the earliest"
            " decision stands, the highest or the lowest grade, or the document goes back to the"
            " judge (unjudged).",
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
    fmt: FormatOption = Format.TABLE,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Take in what was done on copies of the collection: by judges elsewhere, in parts handed out.

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
    from store.merged_collection import MergedCollection
    from store.merging.histories import Wanted
    from store.merging.settling import BY_HAND, Rule

    if conflicts is not None:
        check_new(conflicts)
    rule = None if settle is None else Rule(settle.value)
    with MergedCollection(collection) as opened, tidy_when_killed():
        takes = {} if settle_by is None else read_takes(settle_by, opened.scale)
        wanted = Wanted(rule, takes)
        done = opened.merge(others, wanted, dry_run=dry_run, progress=progress)
    found = done.open_conflicts
    if settle_by is not None and not takes:
        warn(f"{settle_by} settles none: its column `take` is empty")
    if conflicts is not None:
        by_hand = [one for one in done.conflicts if one.settled == BY_HAND]
        write_conflicts(conflicts, found, by_hand if found else ())
        say(f"{conflicts}: {_listed(len(found), len(by_hand) if found else 0)}")
    emit_report(done, fmt)
    if not found:
        say_what_came(done, dry_run=dry_run)
        if done.is_done and (done.erased or done.n_emptied):
            _scrub(collection)
        return
    say(f"{counted(len(found), 'conflict')}: one judge, one document, different decisions;"
        " nothing was merged")  # fmt: skip
    if conflicts is None:
        say("hint: --settle RULE settles all of them; --conflicts FILE writes a list to be filled"
            " in for --settle-by")  # fmt: skip
    else:
        say("hint: fill in the column `take`, then the same command with"
            f" --settle-by {conflicts} in place of --conflicts")  # fmt: skip
    raise typer.Exit(ExitCode.DATA)


def _listed(n_open: int, n_by_hand: int) -> str:
    """Say how many conflicts a list has."""
    more = f", and {n_by_hand:,} settled by hand with what was taken" if n_by_hand else ""
    return f"{counted(n_open, 'conflict')}{more}"


def _scrub(collection: str) -> None:
    """Write the file anew without the bytes of what was removed from it."""
    from store.staffed_collection import StaffedCollection

    with StaffedCollection(collection) as opened:
        tell_scrubbed(opened.scrub())
    tell_others("what was removed here is in them, and a merge brings none of it back")
