"""`pooler copy`: a collection into another place, or onto the other engine."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.console import counted, progress, say
from pooler.cli.interrupts import tidy_when_killed


def copy(
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="SQLite file or postgresql:// URL to read.")
    ],
    target: Annotated[
        str,
        typer.Argument(
            metavar="TO", help="A new SQLite file, or the postgresql:// URL of an empty database."
        ),
    ],
) -> None:
    """Copy a whole collection: from a file to a server, or back.

    One state is read and all of it is written, or nothing. `pooler export collection` gives the
    same bytes at both places. Judges who work at FROM meanwhile are not in the copy: let them go on
    at TO.

    Example: pooler copy wine.db postgresql://judging@server/wine
    """
    from store.copying import copy_collection
    from store.database import collection_url, display

    urls = collection_url(source), collection_url(target)
    with tidy_when_killed():
        done = copy_collection(*urls, progress=progress)
    n_events = counted(done.counts["judgement"], "judgement event")
    say(f"{display(urls[1])}: {n_events}, {counted(done.n_rows, 'row')} in all")
