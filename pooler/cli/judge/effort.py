"""`pooler effort`: what judging cost, and hasty decisions."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option


@command
def effort(
    names: Annotated[list[str] | None, argument("JUDGE...", "Default: all judges.")] = None,
    below: Annotated[float, option("--below SECONDS", "A dwell below this counts as low.", min=0)] = 1.0,
    list_: Annotated[bool, option("--list", "Also list the documents decided at a low dwell.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Report what judging cost, and what was hasty.

    Dwell is how long a document was on the screen when it was decided; where a decision was taken back,
    the one that stands counts. Active time leaves out pauses but includes decisions taken back.

    Example: pooler effort --below 2 --list
    """
    from pooler.results.look.effort import effort as cost
    from store.collection import Collection

    output.check()
    with Collection(collection) as opened:
        found = cost(opened, judges=names or (), below=below)
    render(found, output, *(name for name in found.names() if list_ or name != "low_dwell"))
