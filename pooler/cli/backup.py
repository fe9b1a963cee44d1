"""`pooler backup`: save a collection as one file, while judges work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pooler.cli.console import counted, progress, say
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The backup: a new file.")],
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Let FILE be an earlier backup of this collection; take its place."
        ),
    ] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Save the whole collection as one file, while judges work.

    The file is checked when it is written, and sealed with a checksum; it appears whole or not at
    all. Every judgement that was saved before is in it. A file copied by hand may lack what was
    judged last. `pooler restore FILE` makes a collection of it again.

    Example: pooler backup wine-monday.backup --collection wine.db
    """
    from store.backup import back_up
    from store.database import collection_url, display

    url = collection_url(collection)
    with tidy_when_killed():
        made = back_up(url, file, replaces=replace, progress=progress)
    size = f"{made.n_bytes / 1e6:,.1f} MB"
    say(f"{file}: {counted(made.n_events, 'judgement event')}, {size}; checked and sealed")
    say(f"back again: pooler restore {file} --collection {display(url)} --replace")
