"""`pooler judges rename`: another name for a judge."""

from __future__ import annotations

from typing import Annotated

import typer

from pooler.cli.console import counted, say
from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption


def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The judge.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="One word that is no judge's.")],
    collection: CollectionOption = DEFAULT_COLLECTION,
) -> None:
    """Give a judge another name: the same judge, with everything judged so far.

    Copies of the collection know the judge as the same when they are merged. Names of pools, rounds
    and files that hold the old name stay, and are named.

    Example: pooler judges rename ann anna
    """
    from store.collection import Collection

    with Collection(collection) as opened:
        done = opened.rename_judge(old, new)
    say(f"judge {old} is {new} now")
    if done.plans:
        say(f"{counted(done.plans, 'plan')} named the judge, and do so by the new name")
    for live in done.live:
        where = f" on {live.host}" if live.host else ""
        say(f"{new} is at work{where}: all is saved under the new name, and the screen shows the"
            " old one until it is closed")  # fmt: skip
    if done.left.pools:
        say(f"the old name stays in pools that were named after it: {', '.join(done.left.pools)}")
    if done.left.events:
        say(f"the old name stays in the round of {counted(done.left.events, 'event')}")
