"""`pooler restore`: make a collection of a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pooler.cli.console import counted, progress, say
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup; it stays as it is.")],
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Let the collection be there: it is saved beside itself, then replaced.",
        ),
    ] = False,
    with_erased: Annotated[
        bool,
        typer.Option("--with-erased", help="Let judges come back who were erased since."),
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Make a collection of a backup, where there is none or in place of one.

    The backup is checked first. With --replace the collection that is there is saved as
    FILE.replaced; one that is damaged is put aside as it is, as FILE.damaged. Nobody may be judging
    in it. A backup with judges who were erased there since is refused without --with-erased.

    Example: pooler restore wine-monday.backup --collection wine.db
    """
    from store.database import collection_url, display
    from store.restoring import restore as make

    url = collection_url(collection)
    with tidy_when_killed():
        done = make(file, url, replaces=replace, with_erased=with_erased, progress=progress)
    say(f"{display(url)}: {counted(done.backup.n_events, 'judgement event')} of {file}")
    if done.part_of is not None:
        say(f"it is {done.part_of}, not a whole collection; pooler merge brings it back there")
    if done.was_damaged:
        say(f"what was there is damaged; it is in {done.kept}, as it was")
    elif done.kept is not None:
        say(f"what was there is saved in {done.kept}")
