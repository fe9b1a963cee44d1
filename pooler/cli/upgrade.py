"""`pooler upgrade`: bring a collection's schema up to date."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.console import progress, say
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption


def upgrade(
    no_backup: Annotated[
        bool,
        typer.Option(
            "--no-backup",
            help="Save nothing first: where pg_dump, or you, have done so. A postgresql:// "
            "collection needs it.",
        ),
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Back up a collection and migrate it to this program's schema.

    Tables, columns and indexes that are missing are made, too; what else is not as the schema has
    it is told. The backup of a collection file is FILE.SCHEMA.backup beside it, checked before the
    first step (pooler restore makes a collection of it again). All steps are taken, or none. A
    server's collection is saved by the server's own tools: pg_dump, and then --no-backup here.

    Example: pooler upgrade --collection wine.db
    """
    from store.database import collection_url, display
    from store.upgrade import upgrade as migrate

    url = collection_url(collection)
    with tidy_when_killed():
        done = migrate(url, backs_up=not no_backup, progress=progress)
    kept = f"; the old state is in {done.backup}" if done.backup else "; no backup was made"
    if done.before != done.after:
        say(f"{display(url)}: schema {done.before} -> {done.after}{kept}")
    elif done.mended:
        say(f"{display(url)}: schema {done.after} was mended{kept}")
    else:
        say(f"{display(url)} is up to date (schema {done.after})")
    for told in done.mended:
        say(f"{told}: mended")
    for told in done.left:
        say(f"{told}: left as it is")
