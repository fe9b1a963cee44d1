"""A collection migrated to this program's schema."""

from __future__ import annotations

from pooler.command import Place, screen
from pooler.messages import progress, say


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
    from store.keeping.backup import upgrade as migrate

    url = collection_url(str(collection))
    done = migrate(url, backs_up=not no_backup, progress=progress)
    kept = f"; the old state is in {done.backup}" if done.backup else "; no backup was made"
    if done.before != done.after:
        say(f"{display(url)}: schema {done.before} -> {done.after}{kept}")
    else:
        say(f"{display(url)} is up to date (schema {done.after})")
