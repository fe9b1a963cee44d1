"""`pooler unpool`: take a run out of the pools it fed."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption
from pooler.cli.render import Output, check_choice, render
from pooler.cli.signature import argument, command, option
from pooler.messages import say


@command
def unpool(
    output: Output,
    *,
    run: Annotated[
        str | None, argument("RUN", "Tag of a run; without it, the whole pool is withdrawn (--pool).")
    ] = None,
    pool: Annotated[str | None, option("--pool NAME", "Only from this pool.  [default: all]")] = None,
    dry_run: Annotated[bool, option("--dry-run", "Show what would leave the pools; change nothing.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Take a run out of the pools it fed, or withdraw a pool.

    Documents that only this run brought leave the pools. Their judgements stay and count as outside
    every pool; the same goes for the documents of a withdrawn pool. The run contributes to no later
    pool. Adaptive pools and samples keep their documents, because their choice depends on every run.

    Example: pooler unpool bm25-words --dry-run

    Example: pooler unpool --pool pool --dry-run
    """
    from pooler.results.pool import unpool as results

    output.check()
    check_choice(results.nothing_unpooled(), output)
    found = results.unpool(collection, run, pool=pool, dry_run=dry_run)
    if run is not None or not output.is_for_people:
        render(found, output)
    for words in found.words:
        say(words)
