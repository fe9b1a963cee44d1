"""`pooler export work`: one judge's documents as a small collection, to be handed out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pooler.cli.console import counted, progress, say, warn
from pooler.cli.interrupts import tidy_when_killed
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption


def work(
    judge: Annotated[str, typer.Option(metavar="NAME", help="Whose documents.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="A new SQLite file, like ann.db.")
    ],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Make a collection of one judge's documents, to be judged on another machine.

    In it are what lies before the judge - topics, documents with their texts, guidelines - and what
    the judge did to them so far; no run, no rank, and nothing of other judges. `pooler judge` works
    on it; `pooler merge FILE` takes it back, and only what was judged.

    Example: pooler export work --judge ann --out ann.db
    """
    from pooler import __version__
    from store.database import collection_url, display
    from store.merged_collection import MergedCollection

    named = display(collection_url(collection))
    with MergedCollection(collection) as opened, tidy_when_killed():
        made = opened.hand_out(judge, out, program=f"pooler {__version__}", progress=progress)
    left = f"{made.unjudged:,} unjudged" + (f", {made.skipped:,} skipped" if made.skipped else "")
    say(
        f"{out}: {counted(made.documents, 'document')} of {counted(made.topics, 'topic')},"
        f" {left}; {counted(made.events, 'event')} of `{judge}` so far"
    )
    if made.without_text:
        warn(f"{counted(made.without_text, 'document')} without a text: pooler import docs FILE"
             " brings them, then make the file anew")  # fmt: skip
    if made.elsewhere:
        say(f"{counted(made.elsewhere, 'more document')} could come to `{judge}` here, to be"
            " claimed or drawn; they are not in it")  # fmt: skip
    say(f"there: pooler judge --judge {judge} --collection {out}")
    whole = "" if collection == DEFAULT_COLLECTION else f" --collection {named}"
    say(f"back again: pooler merge {out}{whole}")
