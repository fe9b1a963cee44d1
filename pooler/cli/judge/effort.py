"""`pooler effort`: what judging cost, hasty decisions, and whether judges drift."""

from __future__ import annotations

from typing import Annotated

from pooler.cli.options import DEFAULT_COLLECTION, CollectionOption, LevelOption, RelaxedOption, RigidOption
from pooler.cli.render import Output, render
from pooler.cli.signature import argument, command, option


@command
def effort(
    names: Annotated[list[str] | None, argument("JUDGE...", "Default: all judges.")] = None,
    below: Annotated[float, option("--below SECONDS", "A dwell below this counts as low.", min=0)] = 1.0,
    list_: Annotated[bool, option("--list", "Also list the documents decided at a low dwell.")] = False,
    level: LevelOption = None,
    rigid: RigidOption = False,
    relaxed: RelaxedOption = False,
    by_topic: Annotated[bool, option("--by-topic", "Also show the drift in every topic.")] = False,
    collection: CollectionOption = DEFAULT_COLLECTION,
    *,
    output: Output,
) -> None:
    """Report what judging cost, what was hasty, and who drifts.

    Dwell is how long a document was on the screen when it was decided; where a decision was taken back,
    the one that stands counts. Active time leaves out pauses but includes decisions taken back. Drift
    compares the four quarters of each topic, in the order in which documents were first decided: share
    relevant, mean grade, median active seconds. tau is above 0 where values rise with time within
    topics, below 0 where they fall; p is how often chance alone would give as much. Of 20 trends
    without drift, one has p below 0.05.

    Example: pooler effort --below 2 --list
    """
    from pooler.results.look.effort import effort as cost
    from store.collection import Collection

    output.check()
    with Collection(collection) as opened:
        found = cost(
            opened,
            judges=names or (),
            below=below,
            level=level,
            rigid=rigid,
            relaxed=relaxed,
            by_topic=by_topic,
        )
    render(found, output, *(name for name in found.names() if list_ or name != "low_dwell"))
