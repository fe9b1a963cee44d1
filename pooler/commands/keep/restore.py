"""A collection made of a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pooler.command import Option, Place, command
from pooler.messages import progress, say
from pooler.result import Done, frozen_settings
from store.text import counted


@command
def restore(
    collection: Place,
    file: Annotated[str | Path, Option("FILE", "A backup; it stays as it is.")],
    *,
    replace: bool = False,
    with_erased: bool = False,
) -> Done:
    """Make a collection from a backup: a new one, or in place of one.

    A collection moves to a server, or back to a file, by `pooler backup` at the one and `pooler restore`
    at the other, whose postgresql:// URL is --collection. The backup is checked first. With --replace the
    existing collection is saved as FILE.replaced; a damaged one is set aside as it is, as FILE.damaged.
    No judge may be at work in it. A backup with judges who have been erased since is refused without
    --with-erased.

    Example: pooler restore friday.backup --collection again.db

    replace : Replace the existing collection, after saving it next to itself.
    with_erased : Bring back judges who have been erased since.
    """
    from store.db.engine import collection_url, display
    from store.keeping.backup import restore as make

    url = collection_url(str(collection))
    done = make(Path(file), url, replaces=replace, with_erased=with_erased, progress=progress)
    say(f"{display(url)}: {counted(done.backup.n_events, 'judgement event')} of {file}")
    if done.was_damaged:
        say(f"what was there is damaged; it is kept as it was in {done.kept}")
    elif done.kept is not None:
        say(f"what was there is saved in {done.kept}")
    return Done(counts=frozen_settings(events=done.backup.n_events, kept=done.kept))
