"""`pooler import collection`: an exported directory as a collection again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pooler.cli.console import counted, progress, say
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption


def whole_collection(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `pooler export collection` wrote.")
    ],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Make a new collection of an exported directory: the one that was exported.

    The hash of every file is checked first. On any fault nothing is made.

    Example: pooler import collection garden --collection garden.db
    """
    from store.directory.reading import read_directory

    with tidy_when_killed():
        read = read_directory(collection, folder, progress=progress)
    kinds = (("topics", "topic"), ("documents", "document"), ("runs", "run"), ("pools", "pool"),
             ("judges", "judge"), ("events", "judgement event"))  # fmt: skip
    what = ", ".join(counted(read.counts.get(name, 0), noun) for name, noun in kinds)
    say(f"made {read.where}: {what}")
    if read.readme_edited:
        say(f"{folder / 'README.md'} was edited since the export; nothing was read from it")
    if read.not_read:
        say(f"not of the export, and not read: {', '.join(read.not_read[:10])}")
