"""A collection saved as one file, made of one again, and migrated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pooler.command import Option, Place, command, screen
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


@screen
def upgrade(collection: Place, *, no_backup: bool = False) -> None:
    """Back up a collection and migrate it to this program's schema.

    The backup of a collection file is FILE.SCHEMA.backup beside it, checked before the first step
    (pooler restore turns it into a collection again). All steps are taken, or none. A collection on a
    server is backed up by the server's own tools: pg_dump, and then --no-backup here. What pooler 0.2.0
    and earlier wrote is carried over by files: docs/upgrade.md.

    Example: pooler upgrade

    no_backup : Do not back up first, because pg_dump or you have done so. Required for a postgresql://
        collection.
    """
    from store.db.engine import collection_url, display
    from store.keeping.upgrade import upgrade as migrate

    url = collection_url(str(collection))
    done = migrate(url, backs_up=not no_backup, progress=progress)
    kept = f"; the old state is in {done.backup}" if done.backup else "; no backup was made"
    if done.before != done.after:
        say(f"{display(url)}: schema {done.before} -> {done.after}{kept}")
    else:
        say(f"{display(url)} is up to date (schema {done.after})")
