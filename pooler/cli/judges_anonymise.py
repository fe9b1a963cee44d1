"""`pooler judges anonymise`: nothing in the collection alone tells who a judge is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pooler.cli.asking import YesOption, ask
from pooler.cli.console import counted, say
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.scrubbed import tell_others, tell_scrubbed

if TYPE_CHECKING:
    from store.people import Anonymised


def anonymise(
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Judges.")],
    without_notes: Annotated[
        bool, typer.Option("--without-notes", help="Their notes and reasons go, too.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would change; write nothing.")
    ] = False,
    yes: YesOption = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Take from judges whatever tells who they are; the collection alone tells it no more.

    They get the first free of the names judge-1, judge-2, ... by chance. The machines and programs
    they worked with, the words they had marked, the day they were registered and the seeds of their
    orders are forgotten. Grades, times and - unless they are to go - notes stay, and so does each
    judge's identity number, by which merges know them: copies, backups and exports made before
    still tell who it was. `pooler export collection --anonymise` leaves the number out of what is
    published, and names too.

    Example: pooler judges anonymise alice bob --dry-run

    Example: pooler judges anonymise alice bob --yes
    """
    from store.collection import Collection

    wanted = list(dict.fromkeys(names))
    whom = counted(len(wanted), "judge")
    with Collection(collection) as opened:
        would = opened.anonymise_judges(wanted, dry_run=True)
        if dry_run:
            chance = ", by chance" if len(wanted) > 1 else ""
            say(f"{whom} would be renamed to the first free of judge-1, judge-2, ...{chance}:"
                f" {', '.join(wanted)}")  # fmt: skip
        if dry_run or not yes:
            _tell(would)
            _tell_notes(would.notes, gone=without_notes, would=dry_run)
        if dry_run:
            say("nothing was changed: this is --dry-run")
            return
        ask(f"Make {whom} anonymous: {', '.join(wanted)}?", yes=yes)
        done = opened.anonymise_judges(wanted, without_notes=without_notes)
        are = "are" if len(wanted) > 1 else "is"
        say(f"{whom} {are} {', '.join(done.names)} now; who is who is not kept here")
        if yes:
            _tell(done)
        _tell_notes(done.notes, gone=without_notes)
        if done.notes and not without_notes:
            say(f"pooler export judgements {' '.join(done.names)} --history shows them;"
                " --without-notes removes them")  # fmt: skip
        tell_scrubbed(opened.scrub())
    tell_others(
        "they still tell who it was, since they share an identity number with this collection;"
        " `pooler export collection --anonymise` leaves it out"
    )


def _tell(found: Anonymised) -> None:
    """Say what tells who the judges are."""
    parts = [
        counted(found.sittings, "sitting") + " with the machine or program"
        if found.sittings
        else "",
        counted(found.terms, "word") + " they had marked" if found.terms else "",
        counted(found.orders, "seed") + " of orders of theirs" if found.orders else "",
        counted(found.named.plans, "plan") + " that named them" if found.named.plans else "",
        f"names or rounds of {counted(len(found.named.pools), 'pool')}"
        if found.named.pools
        else "",
        f"rounds of {counted(found.named.events, 'event')}" if found.named.events else "",
    ]
    if any(parts):
        say("what told who they are: " + ", ".join(part for part in parts if part))


def _tell_notes(number: int, *, gone: bool, would: bool = False) -> None:
    """Say what becomes of notes and reasons, or would."""
    if number:
        what = counted(number, "note or reason", "notes and reasons")
        stay = "would stay" if would else "stays" if number == 1 else "stay"
        removed = "would be removed" if would else "removed"
        say(f"{what} of theirs " + (removed if gone else f"{stay}, and may name somebody"))
