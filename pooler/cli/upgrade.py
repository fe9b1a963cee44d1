"""`pooler upgrade`: bring a collection's schema up to date."""

from __future__ import annotations

from pooler.cli.console import say
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption


def upgrade(collection: CollectionOption = DEFAULT_COLLECTION) -> None:
    """Back up a collection and migrate it to this program's schema.

    Example: pooler upgrade --collection wine.db
    """
    from store.database import collection_url, display
    from store.upgrade import upgrade as migrate

    url = collection_url(collection)
    done = migrate(url)
    if done.before == done.after:
        say(f"{display(url)} is up to date (schema {done.after})")
        return
    kept = f"; the old state is in {done.backup}" if done.backup else ""
    say(f"{display(url)}: schema {done.before} -> {done.after}{kept}")
