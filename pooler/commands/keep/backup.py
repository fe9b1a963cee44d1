"""A collection saved as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pooler.command import Option, Place, command
from pooler.messages import progress, say
from pooler.result import Done, frozen_settings
from store.text import counted


@command
def backup(
    collection: Place,
    file: Annotated[str | Path, Option("FILE", "The backup: a new file.")],
    *,
    replace: bool = False,
) -> Done:
    """Save the whole collection as one file, while judges work.

    The file is checked once written and sealed with a checksum; it appears whole or not at all. It has
    every judgement saved before it was started. (A file copied by hand may lack the latest judgements.)
    `pooler restore FILE` turns it into a collection again.

    Example: pooler backup monday.backup

    replace : Replace FILE, if it is an earlier backup of this collection.
    """
    from store.db.engine import collection_url, display
    from store.keeping.backup import back_up

    url = collection_url(str(collection))
    made = back_up(url, Path(file), replaces=replace, progress=progress)
    size = f"{made.n_bytes / 1e6:,.1f} MB"
    say(f"{file}: {counted(made.n_events, 'judgement event')}, {size}; checked and sealed")
    say(f"to restore: pooler restore {file} --collection {display(url)} --replace")
    return Done(counts=frozen_settings(events=made.n_events, bytes=made.n_bytes))
