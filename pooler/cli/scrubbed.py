"""`pooler judges scrub`, and words on what is kept elsewhere of what was removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pooler.cli.console import say, warn
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption

if TYPE_CHECKING:
    from store.scrubbing import Scrubbed

_SAID = {
    "done": "the file was written anew: no byte of what was removed is left there",
    "not-here": "PostgreSQL keeps removed rows on its disk until they are vacuumed:"
    " VACUUM FULL, and its logs and archives, are for whoever runs the server",
}
_IN_USE = (
    "another program has the collection open, and the file or its log may hold what was removed:"
    " pooler judges scrub, when it is closed"
)


def scrub(collection: CollectionOption = DEFAULT_COLLECTION) -> None:
    """Write the collection's file anew, without the bytes of what was removed from it.

    Erasing and anonymising do so by themselves; this is for when another program was in the way, or
    it was interrupted.

    Example: pooler judges scrub
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        tell_scrubbed(opened.scrub())


def tell_scrubbed(scrubbed: Scrubbed) -> None:
    """Say what has become of the bytes."""
    if scrubbed.value in _SAID:
        say(_SAID[scrubbed.value])
    else:
        warn(_IN_USE)


def tell_others(what: str) -> None:
    """Say that backups, exports and copies are not reached; `what` is in them."""
    say(f"backups, exports and copies made before are as they were: {what}")
